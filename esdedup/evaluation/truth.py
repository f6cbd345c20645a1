"""Find all true pairs among some texts, exactly, to measure a plan."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Numbers, text_buffers
from esdedup.columns.database import Database
from esdedup.columns.hashing import content_hashes
from esdedup.engines import make_engine
from esdedup.matching.engine import SIGNATURES, MatchContext, Sentences
from esdedup.matching.groups import token_lists
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.resources import Resources


class TruePairs(NamedTuple):
    """Pairs as indices into the column of texts, a < b, and their Jaccard; each of shape (pairs,)."""

    a: Numbers
    b: Numbers
    jaccard: npt.NDArray[np.float64]


def true_pairs(texts: pa.LargeStringArray, signer: TextSigner, jaccard: float, resources: Resources) -> TruePairs:
    """Return all pairs of distinct texts at or above `jaccard`, sorted by (a, b). They are compared on this machine."""
    hashes = content_hashes(*text_buffers(texts))
    order = np.argsort(hashes, kind="stable")
    tokens = signer.signing.tokens
    lengths = np.diff(text_buffers(texts)[1])
    columns = [
        pa.array(hashes),
        pa.array(np.full(len(texts), -1)),
        pa.array(lengths, pa.int32()),
        # all texts are compared, so tokens are not used
        token_lists(np.zeros((len(texts), tokens), np.int64)),
    ]

    def fetch(requested: pa.Table) -> Iterator[pa.RecordBatch]:
        places = order[np.searchsorted(hashes[order], requested["hash"].to_numpy())]
        yield pa.record_batch({"hash": requested["hash"].combine_chunks(), "text": texts.take(pa.array(places))})

    with (
        tempfile.TemporaryDirectory(prefix="esdedup-") as spill,
        Database(memory=resources.memory * 2 // 5, threads=resources.processes, spill=Path(spill)) as db,
    ):
        scanning = Scanning.of(jaccard=jaccard, candidates="exact")
        sentences = Sentences(tokens, lambda _: [(0, pa.table(columns, SIGNATURES))], fetch)
        engine = make_engine(replace(resources, engine="local"), db, sentences)
        scanning.matcher.find(engine, MatchContext(signer.signing, scanning.rule, resources.processes))
        found = db.arrays(
            "SELECT one.hash AS one, two.hash AS two, jaccard FROM pairs p "
            "JOIN texts one ON one.number = p.a JOIN texts two ON two.number = p.b"
        )
    ends = [order[np.searchsorted(hashes[order], found[name])] for name in ("one", "two")]
    a, b = np.minimum(*ends), np.maximum(*ends)
    by_index = np.lexsort((b, a))
    return TruePairs(a[by_index], b[by_index], found["jaccard"][by_index])
