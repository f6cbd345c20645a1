"""Read the columns of sources by which copies are preferred."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from esdedup.columns.records import Skips
from esdedup.errors import SourceError, UsageError
from esdedup.formats.locations import Source
from esdedup.formats.stream import DocumentStream
from esdedup.keeping.protocol import ColumnPolicy, Policies
from esdedup.keeping.ranking import nothing_to_compare

if TYPE_CHECKING:
    from esdedup.keeping.protocol import Keys


def read_values(policies: Policies, sources: Sequence[Source], threads: int) -> dict[str, list[Keys]]:
    """Read the columns that policies compare: the keys of all records of each source, by their number. It takes 8
    bytes a record and column.

    Raises `UsageError` for a source that has no such column, and if no record has a value that can be compared.
    """
    found = {}
    for policy in policies.columns:
        keys = [_keys_of(source, policy, threads) for source in sources]
        if all(np.isnan(each).all() for each in keys):
            raise UsageError(nothing_to_compare(policy))
        found[policy.words] = keys
    return found


def _keys_of(source: Source, policy: ColumnPolicy, threads: int) -> Keys:
    asked = f"--keep {policy.words}"
    form, name = source.format.of_values(policy.column, asked)
    places, held = [np.empty(0, np.int64)], [np.empty(0)]
    try:
        with DocumentStream(replace(source, format=form), Skips(), threads=threads) as stream, suppress(SourceError):
            for batch in stream:  # damage is said when the source is read
                places.append(batch["place"].to_numpy())
                held.append(policy.keys(batch[name]))
    except UsageError as error:  # of a column that is not there
        raise UsageError(str(error).replace("--text-column", asked)) from error
    at = np.concatenate(places)
    keys = np.full(int(at.max(initial=-1)) + 1, np.nan)
    keys[at] = np.concatenate(held)
    return keys
