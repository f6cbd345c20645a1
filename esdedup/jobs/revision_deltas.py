"""Find the parts of a batch that are new to its pages: only these are cleaned, split and signed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, text_buffers, text_column
from esdedup.columns.hashing import Hashes, content_hashes
from esdedup.jobs.known_documents import KnownDocuments, Unchanged
from esdedup.jobs.prepare import BatchPlan, cleaner_of
from esdedup.text.wikitext.blocks import Blocks, PageBlocks, WholeTexts
from esdedup.text.wikitext.linked import link_filters


@dataclass(frozen=True, slots=True)
class RevisionDelta:
    """The new texts of a batch, and which texts its rows consist of.

    A document is one text. A page's revisions consist of blocks, numbered within the page. `texts` are the blocks that
    are new to the page, with `page` (equal for texts of one page, and not decreasing), `row` (the first row that has
    it), and `number`. `seen` are the numbers of all blocks of all rows in order, `seen_row` their rows.
    """

    contents: Hashes  # for each row: its text and title as read, and the way it was read
    plan: BatchPlan  # the remaining work on the texts
    texts: pa.LargeStringArray
    page: Numbers
    row: Numbers
    number: Numbers
    seen: Numbers
    seen_row: Numbers
    links: pa.BinaryArray
    """What each row names, as `esdedup.text.wikitext.linked` says; of the revisions of a page, the last row here."""
    unchanged: Unchanged | None = None
    """Rows that are stored as they are. Their text is left out."""


class DeltaReader:
    """Reads batches in order. It remembers the blocks of the last page, and leaves out what is `known`."""

    def __init__(self, known: KnownDocuments | None = None) -> None:
        self._known = known
        self._key: str | None = None
        self._page: PageBlocks | WholeTexts = WholeTexts()

    def read(self, batch: pa.RecordBatch, plan: BatchPlan) -> RevisionDelta:
        """Return the revision delta of the next batch (schema `DOCUMENTS`)."""
        contents = _contents(batch, plan)
        rows = np.arange(batch.num_rows)
        if not plan.merge_revisions:
            texts, unchanged = batch["text"], None
            if self._known:
                unchanged = self._known.unchanged(batch, contents)
            if unchanged is not None:
                texts = pc.if_else(pa.array(unchanged.rows), pa.scalar("", pa.large_string()), texts)
            nothing = np.zeros_like(rows)
            links = pa.nulls(batch.num_rows, pa.binary()) if plan.cleaner is None else link_filters(batch["text"])
            return RevisionDelta(contents, plan, texts, rows, rows, nothing, nothing, rows, links, unchanged)
        cleaner = cleaner_of(plan)
        # a record is a whole revision
        tables = cleaner.tables if cleaner is not None and not plan.signing.splitting.whole else None
        keys = batch["id"].to_pylist()
        begins = [row for row in range(len(keys)) if row == 0 or keys[row] != keys[row - 1]]
        found: list[Blocks] = []
        for begin, end in zip(begins, [*begins[1:], len(keys)], strict=True):
            if keys[begin] != self._key:
                self._key = keys[begin]
                self._page = WholeTexts() if tables is None else PageBlocks(tables)
            found.append(self._page.read(batch["text"].slice(begin, end - begin)))
        row = np.concatenate([blocks.row + begin for blocks, begin in zip(found, begins, strict=True)])
        return RevisionDelta(
            contents,
            plan if tables is None else replace(plan, cleaner=None),
            pa.concat_arrays([blocks.texts for blocks in found]),
            np.searchsorted(begins, row, side="right"),
            row,
            np.concatenate([blocks.number for blocks in found]),
            np.concatenate([blocks.seen for blocks in found]),
            np.concatenate([blocks.seen_row + begin for blocks, begin in zip(found, begins, strict=True)]),
            _links_of_last(batch, begins, plan),
        )


def _links_of_last(batch: pa.RecordBatch, begins: list[int], plan: BatchPlan) -> pa.BinaryArray:
    """Return what the last row of each page names, whose rows begin at these places; null for the others."""
    nothing = pa.nulls(batch.num_rows, pa.binary())
    if plan.cleaner is None:
        return nothing
    last = np.zeros(batch.num_rows, np.bool_)
    last[np.array([*begins[1:], batch.num_rows]) - 1] = True
    chosen = pa.array(last)
    return pc.replace_with_mask(nothing, chosen, link_filters(batch["text"].filter(chosen)))


def _contents(batch: pa.RecordBatch, plan: BatchPlan) -> Hashes:
    titles = batch["title"].fill_null("").cast(pa.large_string())
    way = content_hashes(*text_buffers(text_column([plan.cleaner or ""])))[0]
    # an odd factor, so that a title does not cancel out an equal text
    named = content_hashes(*text_buffers(titles)) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(content_hashes(*text_buffers(batch["text"])) ^ named ^ way)
