"""A table in memory as a source of `run`, `index` or `add`: it is written to a file of the user's cache meanwhile."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from esdedup.api.sources import has_columns, held, source_names
from esdedup.errors import UsageError
from esdedup.files import user_cache

_NAME = "table"


@contextmanager
def named_sources(
    sources: Sequence[Any], columns: Any, options: dict[str, Any], *, needs_ids: bool = False
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield the names of sources, and the options to read them. One of them may be a table, if it is alone.

    A table is written to a file for that time. Its path depends on nothing but the content, so the same call continues
    a killed job. With `needs_ids` they join what a store has. Raises `UsageError` for options that do not apply, and
    then for a table without ids.
    """
    from esdedup.jobs.presets import with_preset, with_preset_of_table

    sources = list(map(held, sources))
    data = _table_alone(sources)
    count = 0 if needs_ids else len(sources)  # what is added joins other sources
    if data is None:
        if columns is not None:
            raise UsageError("columns applies to a table in memory; for files use text_column='name,city'")
        yield list(source_names(sources)), with_preset(options, count)
        return
    options, columns = with_preset_of_table(options, columns, count)
    from esdedup.columns.tables import ID, TEXT, ids_of, table_of, texts_of

    for name in ("text_column", "format"):
        if options.get(name) is not None:
            raise UsageError(f"{name} does not apply to a table in memory; name the columns of the text with columns=")
    table, id_column = table_of(data), options.pop("id_column", None)
    if needs_ids and id_column is None and ID not in table.names:
        raise UsageError("the table has no column 'id'; name that of the ids with id_column=, so that none is replaced")
    # row numbers say nothing about other tables; neither do ids of a source that has a name
    has_ids = id_column is not None or ID in table.names
    across = "across" if has_ids and options.get("source_name") is None else "source"
    texts, ids = texts_of(table, columns, id_column), ids_of(table, id_column)
    found = {ID: [None if each is None else str(each) for each in ids], TEXT: texts}
    with _written(found) as path:
        yield (
            [str(path)],
            {"ids": across, **options, "id_column": ID, "text_column": TEXT},
        )


def _table_alone(sources: Sequence[Any]) -> Any:
    """Return the table among the sources, if there is one. A list of dicts is a table; of anything else, files."""
    tables = [
        each
        for each in sources
        if has_columns(each) or (isinstance(each, list | tuple) and any(isinstance(item, dict) for item in each))
    ]
    if tables and len(sources) > 1:
        raise UsageError("a table in memory must be the only source; put several together first")
    return tables[0] if tables else None


@contextmanager
def _written(columns: dict[str, Any]) -> Iterator[Path]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = user_cache() / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=tables, suffix=".part")
    os.close(descriptor)
    part = Path(name)
    try:
        pq.write_table(pa.table(columns).combine_chunks(), part)
        with part.open("rb") as file:
            folder = tables / hashlib.file_digest(file, "sha256").hexdigest()
        folder.mkdir(exist_ok=True)
        os.utime(part, (0, 0))  # a store knows a file by its path, size and time
        path = part.replace(folder / f"{_NAME}.parquet")
    finally:
        part.unlink(missing_ok=True)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()
