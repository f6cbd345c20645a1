"""The records of a scan: sentences, of one table or of two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from esdedup.columns.arrays import Numbers


class Rows(NamedTuple):
    """Records: the text of each, and where the second of two tables begins, if there are two."""

    text: Numbers
    first_right: int | None


def rows_of(text: Numbers, group: Numbers) -> Rows:
    """Return the records of sentences, by their texts and the groups in which these are compared with others (-1: with
    all). Of two groups, each is a table. Of one table, identical records are two at most.
    """
    groups = np.unique(group)
    if len(groups) == 2 and groups[0] >= 0:
        right = (group == groups[1]).astype(np.int64)
        pairs = np.unique(np.stack([right, text]), axis=1)
        return Rows(pairs[1], int((pairs[0] == 0).sum()))
    return Rows(np.repeat(np.arange(text.max(initial=-1) + 1), np.minimum(np.bincount(text), 2)), None)
