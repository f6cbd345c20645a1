"""A table in memory, compared with itself and with reference collections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.tables import Table, ids_of, table_of, texts_of
from esdedup.jobs.against import read_references
from esdedup.jobs.drop_rules import DropRules
from esdedup.jobs.table_dedupe import Compared, compare_rows, rows_of, settings_for, signing_of
from esdedup.jobs.table_drops import Containing, Held, batches_of
from esdedup.matching.containment import MEMORY_SHARE, find_containing
from esdedup.matching.signers.text_signer import TextSigner


@dataclass(frozen=True)
class ComparedTable:
    """A table and what was found, kept so that other thresholds need no second comparison."""

    table: Table
    texts: pa.ChunkedArray
    ids: list[Any]
    old_ids: list[Any]  # of the texts of references, by number of the text
    old_texts: list[Any]
    compared: Compared
    containing: Containing | None
    holds: Held | None
    only: bool  # whether nothing is dropped but for a reference
    not_compared: dict[str, int]
    keep: str
    threshold: float


def compare_table(
    data: Any, old: Any, rules: DropRules, options: Mapping[str, Any], *, columns: str | Sequence[str] | None,
    id_column: str | None, quiet: bool,
) -> ComparedTable:  # fmt: skip
    """Compare the rows of a table with each other, with those of the table `old`, and with sources or stores.

    Raises `UsageError` for options that do not apply to tables.
    """
    old_files = [str(each) for each in rules.against]
    rules.check(references=bool(old_files) or old is not None)
    settings = settings_for(options, files=bool(old_files))
    old_ids: list[Any] = []
    old_texts: list[Any] = []
    if old_files:
        old_ids, old_texts, settings = read_references(old_files, settings, rules.against_text_column, quiet=quiet)
    elif old is not None:
        reference = table_of(old)
        old_ids, old_texts = (
            ids_of(reference, id_column),
            texts_of(reference, rules.against_text_column or columns, id_column).to_pylist(),
        )
    signing = signing_of(settings)
    signer = TextSigner(signing)
    table = table_of(data)
    texts = texts_of(table, columns, id_column)
    rows = rows_of(texts, signer)
    old_rows = rows_of(pa.chunked_array([old_texts], pa.large_string()), signer) if old_texts else None
    compared, first_old = compare_rows(rows, old_rows, settings, signing, quiet=quiet)
    if old_rows is not None:
        first_old = np.where(first_old < 0, -1, old_rows.number[first_old])
    ids_there, texts_there = (
        [None if row < 0 else column[row] for row in first_old.tolist()] for column in (old_ids, old_texts)
    )
    budget, threads = settings.resources.memory // MEMORY_SHARE, settings.resources.processes
    inside = None
    if rules.contained is not None:
        inside = Containing(compared.texts, signing, rules.contained, budget, threads)
    holds = None
    if rules.containing is not None:
        order = np.concatenate([np.flatnonzero(compared.there), np.arange(len(compared.texts))])
        inner = int(compared.there.sum())
        found, share = find_containing(
            lambda: batches_of(compared.texts, order), signing, len(order), inner, rules.containing, budget, threads
        )
        found = np.where(compared.there, -1, np.where(found < 0, -1, order[found]))
        holds = found, np.where(found < 0, np.nan, share)
    threshold = settings.scanning_of(signing.unit).jaccard
    return ComparedTable(
        table, texts, ids_of(table, id_column), ids_there, texts_there, compared, inside, holds, rules.against_only,
        rows.not_compared, rules.keep, threshold,
    )  # fmt: skip
