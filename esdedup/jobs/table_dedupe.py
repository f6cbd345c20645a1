"""Compare the rows of a table in memory, once for all thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.clustering.linkages import Linkage
from esdedup.columns.arrays import Flags, Numbers, text_buffers
from esdedup.columns.hashing import Hashes, content_hashes
from esdedup.engines import make_engine
from esdedup.errors import UsageError
from esdedup.jobs.accounting import bounds_in_words
from esdedup.jobs.against import private_scan
from esdedup.jobs.progress_bar import Bar
from esdedup.jobs.scanning import named_pairs
from esdedup.jobs.settings import Settings, stars_around_what_is_kept
from esdedup.matching.engine import SIGNATURES, MatchContext, Sentences
from esdedup.matching.groups import token_lists
from esdedup.matching.lsh.collide import Similarities
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import USUAL_UNIT, Signing, freeze
from esdedup.output.skips import NO_TEXT
from esdedup.store.ranking_joins import rank_by_joins
from esdedup.store.schemas import PAIRS
from esdedup.text.segment import segment

_ROWS_AT_ONCE = 20_000
_NO_TEXT = f"{NO_TEXT} (columns)"
_NEW, _OLD = -1, 0  # old texts are one group, which is not compared within itself


class Rows(NamedTuple):
    """The rows of a table that are compared, and why others are not."""

    number: Numbers  # of each compared row
    hash: Hashes
    length: Numbers  # characters
    texts: pa.LargeStringArray
    not_compared: dict[str, int]


@dataclass(frozen=True)
class Compared:
    """The distinct texts of the compared rows, in the order of their hashes, and the pairs among them."""

    row: Numbers  # of the table, for each compared row
    text: Numbers  # of each compared row
    length: Numbers  # characters, of each compared row
    hash: Hashes  # of each text
    a: Numbers  # a < b, texts
    b: Numbers
    jaccard: Similarities
    there: Flags  # of each text: a reference has it
    reference: npt.NDArray[np.int64]  # of each text: a text of a reference, or -1
    reference_jaccard: Similarities
    linkage: Linkage
    texts: pa.LargeStringArray  # in the order of their hashes


def settings_for(options: Mapping[str, Any], *, files: bool) -> Settings:
    """Return the settings for a table in memory. With `files`, options of sources apply to references.

    Raises `UsageError` for options that need a source or a store.
    """
    settings = Settings.of(**options)
    if (settings.reading.given and not files) or settings.scanning.across != "any":
        raise UsageError("options of sources, and across, do not apply to a table in memory; write it to a file first")
    return stars_around_what_is_kept(replace(settings, frozen={USUAL_UNIT: "record", **settings.frozen}))


def signing_of(settings: Settings) -> Signing:
    """Return how rows are signed. Raises `UsageError` for another unit than rows."""
    signing = freeze(None, settings.frozen)
    if not signing.splitting.whole:
        raise UsageError(f"unit is {signing.unit}; a table in memory is compared by its rows: omit unit")
    return signing


def rows_of(texts: pa.ChunkedArray, signer: TextSigner) -> Rows:
    """Return the rows of a column of texts that can be compared."""
    held: list[tuple[Numbers, Hashes, Numbers, pa.LargeStringArray]] = []
    words, counts = bounds_in_words(signer.signing), dict.fromkeys((_NO_TEXT, "too_short", "too_long"), 0)
    for begin in range(0, len(texts), _ROWS_AT_ONCE):
        part = texts.slice(begin, _ROWS_AT_ONCE).fill_null("").to_pylist()
        units = segment(part, signer.signing.splitting)
        low, high = signer.bounds(units.texts)
        short, long = units.length < low, units.length > high
        counts[_NO_TEXT] += len(part) - len(units.length)
        counts["too_short"] += int(short.sum())
        counts["too_long"] += int(long.sum())
        fits = np.flatnonzero(~short & ~long)
        kept = units.texts.take(pa.array(fits))
        held.append((begin + units.document[fits], content_hashes(*text_buffers(kept)), units.length[fits], kept))
    numbers, hashes, lengths, kept_texts = zip(*held, strict=True) if held else ([], [], [], [])
    return Rows(
        np.concatenate([np.empty(0, np.int64), *numbers]),
        np.concatenate([np.empty(0, np.uint64), *hashes]),
        np.concatenate([np.empty(0, np.int64), *lengths]),
        pa.concat_arrays([pa.array([], pa.large_string()), *kept_texts]),
        {words.get(reason, reason): count for reason, count in counts.items() if count},
    )


def compare_rows(
    rows: Rows, old: Rows | None, settings: Settings, signing: Signing, *, quiet: bool
) -> tuple[Compared, Numbers]:
    """Compare rows with each other and with those of a reference.

    Also return the first row of the reference that has each text, -1 for none; shape (texts,).
    """
    scanning, resources = settings.scanning_of(signing.unit), settings.resources
    signer = TextSigner(signing)
    hashes = rows.hash if old is None else np.concatenate([rows.hash, old.hash])
    texts = rows.texts if old is None else pa.concat_arrays([rows.texts, old.texts])
    distinct, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    new = np.zeros(len(distinct), np.bool_)
    new[which[: len(rows.hash)]] = True
    stands_there = np.zeros(len(distinct), np.bool_)
    stands_there[which[len(rows.hash) :]] = True

    def signatures(_: set[int]) -> Iterable[tuple[int, pa.Table]]:
        for number, begin in enumerate(range(0, len(distinct), _ROWS_AT_ONCE)):
            part = slice(begin, begin + _ROWS_AT_ONCE)
            column = texts.take(pa.array(first[part]))
            yield (
                number,
                pa.table(
                    [
                        pa.array(distinct[part]),
                        pa.array(np.where(new[part], _NEW, _OLD), pa.int64()),
                        pa.array(np.diff(text_buffers(column)[1]), pa.int32()),
                        token_lists(signer.tokens(signer.views(column))),
                    ],
                    SIGNATURES,
                ),
            )

    def fetch(wanted: pa.Table) -> Iterator[pa.RecordBatch]:
        places = first[np.searchsorted(distinct, wanted["hash"].to_numpy())]
        column = wanted["hash"].combine_chunks()
        yield pa.record_batch({"hash": column, "text": texts.take(pa.array(places))})

    with private_scan(resources, len(distinct)) as scratch, Bar("compare", 0, "range", not quiet) as bar:
        wanted = None if old is None else pa.table({"hash": distinct[new]})
        sentences = Sentences(signing.tokens, signatures, fetch, wanted, bar.follow, rank_by_joins)
        engine = make_engine(resources, scratch, sentences)
        scanning.matcher.find(engine, MatchContext(signing, scanning.rule, resources.processes))
        pairs = pa.Table.from_batches(list(named_pairs(scratch)), PAIRS)
    a, b = (np.searchsorted(distinct, pairs[end].to_numpy()) for end in ("a", "b"))
    jaccard = np.nan_to_num(pairs["jaccard"].to_numpy(zero_copy_only=False).astype(np.float64))
    reference, closest = _closest(a, b, jaccard, new, stands_there)
    among = new[a] & new[b]
    first_old = np.full(len(distinct), -1)
    there = which[len(rows.hash) :]
    first_old[there[::-1]] = np.arange(len(there))[::-1]  # the last assignment stays
    compared = Compared(
        rows.number, which[: len(rows.hash)], rows.length, distinct, a[among], b[among], jaccard[among], stands_there,
        reference, closest, scanning.linkage, texts.take(pa.array(first)),
    )  # fmt: skip
    return compared, first_old


def _closest(
    a: Numbers, b: Numbers, jaccard: Similarities, new: Flags, old: Flags
) -> tuple[npt.NDArray[np.int64], Similarities]:
    """Return for each text the old text that it is identical with or closest to, -1 for none; and their Jaccard."""
    reference, closest = np.full(len(new), -1, np.int64), np.zeros(len(new))
    ends = [(a, b), (b, a)]
    rows = [(one[new[one] & old[two]], two[new[one] & old[two]], jaccard[new[one] & old[two]]) for one, two in ends]
    ours, theirs, near = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    order = np.lexsort((-theirs, near))  # the last assignment stays: the closest, and of these the first
    reference[ours[order]], closest[ours[order]] = theirs[order], near[order]
    same = np.flatnonzero(new & old)
    reference[same], closest[same] = same, 1.0
    return reference, closest
