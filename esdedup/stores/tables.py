"""Arrow tables from rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa


def table_of_rows(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """A table of rows, perhaps none, whose values stand in the order of the schema."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table([pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)], schema)
