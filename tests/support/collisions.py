"""A scan on the local engine, with texts in and pairs of texts out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.database import Database
from esdedup.columns.hashing import content_hashes
from esdedup.engines import ENGINES
from esdedup.matching.engine import SIGNATURES, Found, MatchContext, Sentences
from esdedup.matching.groups import token_lists
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.store.ranking_joins import rank_by_joins

AMPLE = 2**28

TIGHT = 60_000  # bytes: a few dozen texts at once

Row = tuple[str, str, float | None, int | None, int]


def collide(
    texts: list[str],
    *,
    scanning: Scanning | None = None,
    signing: Signing | None = None,
    budget: int = AMPLE,
    threads: int = 2,
    group_ids: list[int] | None = None,
    hot_limit: int = 2000,
    scratch: Database | None = None,
    engine: str = "local",
    stale: list[str] | None = None,
) -> tuple[list[Row], Found]:
    signer = TextSigner(signing or Signing())
    column = text_column(texts)
    data, offsets = text_buffers(column)
    hashes = content_hashes(data, offsets)
    text_of = dict(zip(hashes.tolist(), texts, strict=True))
    tokens = signer.tokens(signer.views(column))
    columns = [
        pa.array(hashes),
        pa.array(group_ids or [-1] * len(texts), pa.int64()),
        pa.array(np.diff(offsets), pa.int32()),
        token_lists(tokens),
    ]

    def fetch(wanted: pa.Table) -> Iterator[pa.RecordBatch]:
        found = wanted["hash"].combine_chunks()
        yield pa.record_batch({"hash": found, "text": [text_of[value] for value in found.to_pylist()]})

    changed = (
        None if stale is None else pa.table({"hash": np.unique(content_hashes(*text_buffers(text_column(stale))))})
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        scratch or Database(memory=2**27, threads=threads, spill=Path(folder) / "spill") as db,
    ):
        asked = scanning or Scanning()
        batch = pa.record_batch(columns, SIGNATURES)
        sentences = Sentences(
            signer.signing.tokens, lambda _: [(0, pa.table(batch.columns, SIGNATURES))], fetch, changed,
            rank=rank_by_joins,
        )  # fmt: skip
        made = ENGINES[engine](db, sentences, budget, threads, engine)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("esdedup.matching.lsh.collide.HOT_LIMIT", hot_limit)
            collided = asked.matcher.find(made, MatchContext(signer.signing, asked.rule, threads))
        rows: list[Row] = []
        for one, two, *scores in db.rows(
            "SELECT one.hash, two.hash, jaccard, word_edit_distance, shared_tokens FROM pairs p "
            "JOIN texts one ON one.number = p.a JOIN texts two ON two.number = p.b"
        ):
            assert one < two
            a, b = sorted([text_of[one], text_of[two]])
            rows.append((a, b, *scores))
    return sorted(rows), collided
