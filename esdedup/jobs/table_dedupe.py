"""Compare the rows of a table in memory, once for all thresholds, and cluster texts in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.clustering.clusters import find_roots
from esdedup.clustering.linkages import Linkage
from esdedup.columns.arrays import Flags, Numbers, text_buffers
from esdedup.columns.hashing import Hashes, content_hashes
from esdedup.columns.tables import table_of, texts_of
from esdedup.engines import make_engine
from esdedup.errors import UsageError
from esdedup.jobs.accounting import bounds_in_words
from esdedup.jobs.against import private_scan
from esdedup.jobs.progress_bar import Bar
from esdedup.jobs.scanning import named_pairs
from esdedup.jobs.settings import Settings, stars_around_what_is_kept
from esdedup.matching.engine import SIGNATURES, MatchContext, Sentences
from esdedup.matching.groups import Groups, group_tokens, hot_tokens, token_lists
from esdedup.matching.lsh.block import Block, collide_block
from esdedup.matching.lsh.collide import HOT_LIMIT, Similarities
from esdedup.matching.signers.minhash_kernels import Tokens
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
    if (settings.reading.given and not files) or settings.scanning.of_sources:
        raise UsageError(
            "options of sources, across and one-per-source do not apply to a table in memory; write it to a file first"
        )
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
        pairs = pa.Table.from_batches(list(named_pairs(scratch, scanning)), PAIRS)
    a, b = (np.searchsorted(distinct, pairs[end].to_numpy()) for end in ("a", "b"))
    jaccard = np.nan_to_num(pairs["jaccard"].to_numpy(zero_copy_only=False).astype(np.float64))
    reference, closest = _closest(a, b, jaccard, new, stands_there)
    among = new[a] & new[b]
    first_old = np.full(len(distinct), -1)
    there = which[len(rows.hash) :]
    first_old[there[::-1]] = np.arange(len(there))[::-1]  # the last assignment stays
    compared = Compared(
        rows.number, which[: len(rows.hash)], distinct, a[among], b[among], jaccard[among], stands_there,
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


class TextClusters(NamedTuple):
    """Clusters of a list of texts.

    `label` (n,) is equal for texts of one cluster: the index of its first text. `a`, `b`, `jaccard` are the verified
    pairs of distinct texts, by the indices of their first occurrences, a < b, sorted by these.
    """

    label: npt.NDArray[np.int64]
    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    jaccard: npt.NDArray[np.float64]
    candidates: int


def cluster_texts(texts: Any, options: Mapping[str, Any]) -> TextClusters:
    """Cluster `texts` unchanged: nothing is split, trimmed or dropped. They may also be the column `text` of a table,
    or its only column of strings. `options` as in `Settings.of`.

    Empty texts, and texts that are empty after normalization, match nothing. Memory: about 2 kB for each text of 200
    characters that collides, 200 bytes for the others.
    """
    if isinstance(texts, str):
        raise UsageError("cluster_texts was given one string; give a list of texts, as in ['One text.', 'Another.']")
    column = texts_of(table_of(texts), None).fill_null("").combine_chunks()
    settings = Settings.of(**options)
    if settings.scanning.of_sources:
        raise UsageError(
            "across and one-per-source need documents or sources, and a list of texts has none; use a store"
        )
    if not settings.scanning.matcher.by_tokens:  # it needs more than the tokens of a text
        raise UsageError(f"candidates {settings.scanning.matcher.name} needs a store: use index and scan, or run")
    signer, threads = TextSigner(freeze(None, {USUAL_UNIT: "record", **settings.frozen})), settings.resources.processes
    rule = settings.scanning_of(signer.signing.unit).rule
    hashes = content_hashes(*text_buffers(column))
    # distinct texts in the order of their hashes, each represented by its first occurrence
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    distinct = column.take(pa.array(first))
    tokens, worded = _sign(signer, distinct, threads)
    groups = group_tokens(tokens)
    active = np.unique(groups.members)
    active = active[worded[active]]
    local = np.full(len(distinct), -1)
    local[active] = np.arange(len(active))
    groups = _without(groups, local)
    nowhere, all_stale = np.full(len(active), -1), np.ones(len(active), np.bool_)
    block = Block(active, distinct.take(pa.array(active)), tokens[active], nowhere, all_stale)
    hot = hot_tokens(groups, block.tokens, HOT_LIMIT)
    parts = list(collide_block(block, groups, hot, signer, rule, threads, edits=False))
    pairs, candidates = pa.concat_tables(part for part, _ in parts), sum(count for _, count in parts)
    a, b = first[pairs["a"].to_numpy()], first[pairs["b"].to_numpy()]
    a, b = np.minimum(a, b), np.maximum(a, b)
    jaccard = pairs["jaccard"].to_numpy(zero_copy_only=False)
    root = find_roots(len(distinct), pairs["a"].to_numpy(), pairs["b"].to_numpy(), jaccard, settings.scanning.linkage)
    least = np.full(len(distinct), len(column))
    np.minimum.at(least, root, first)
    label = np.where(worded[which], least[root[which]], np.arange(len(column)))
    order = np.lexsort((b, a))
    return TextClusters(label, a[order], b[order], jaccard[order], candidates)


def _sign(signer: TextSigner, texts: pa.LargeStringArray, threads: int) -> tuple[Tokens, npt.NDArray[np.bool_]]:
    """Return the tokens of each text, and whether it has any shingle."""

    def part(begin: int, end: int) -> tuple[Tokens, npt.NDArray[np.bool_]]:
        views = signer.views(texts.slice(begin, end - begin))
        return signer.tokens(views), views.worded

    cuts = np.linspace(0, len(texts), (4 * threads if threads > 1 else 1) + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(part, cuts[:-1], cuts[1:]))
    return np.concatenate([tokens for tokens, _ in parts]), np.concatenate([worded for _, worded in parts])


def _without(groups: Groups, local: npt.NDArray[np.int64]) -> Groups:
    """Return the groups with their members renumbered by `local`. Members with number -1 are dropped."""
    members = local[groups.members]
    kept = np.concatenate(([0], np.cumsum(members >= 0)))
    return Groups(kept[groups.starts], members[members >= 0], groups.columns)
