"""Stores that somebody might send: files that would read, write or run what they should not, or say what cannot be.

    python -m tests.support.hostile_stores DIR

makes all of them in DIR, beside the sound store that they are made of, and a file whose contents none of them may show.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

import esdedup
from esdedup.store.schemas import KEYED_TABLES, TABLES
from tests.support.dumps import dump
from tests.support.towns import LOOSE, pages

CANARY = "canary-f00d-that-no-command-may-show"
"""What the file holds that these stores try to read."""

TEXTS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\x1b[2J\x1b]0;title\x07 bell",
    "line\nend\r\nand\rmore\u2028and\u2029more",
    "nul\x00nul",
    "\u202ereversed\u202c \u2066isolated\u2069 \u200e\u200f\u061c",
    "\x9b31m C1 and DEL \x7f \x85",
    "../../../etc/passwd",
    "%2e%2e%2f%00?query#fragment&a=b;c",
    "=cmd|' /C calc'!A0",
    "{{ 7 * 7 }} ${7*7} {% raw %}",
    "'; DROP TABLE sentences; --",
    "]]> &amp; &#x1b; <!--",
)
"""Titles, ids and texts of well-formed stores."""


@dataclass(frozen=True)
class Hostile:
    """A store. Every command must refuse it if `refused`; otherwise a command may refuse it, or work."""

    name: str
    path: Path
    refused: bool = True
    works: bool = False  # every command must work


def make(folder: Path) -> Iterator[Hostile]:
    """Make every store in a folder."""
    sound = make_sound(folder)
    canary = folder / "canary.csv"
    canary.write_text(f"text,title\n{CANARY},{CANARY}\n")
    told = {"canary": canary, "folder": folder}
    for group, refused in ((FOREIGN, True), (LEDGERS, True), (VALUES, False)):
        for name, statements in group.items():
            path = _copy(sound, folder / f"{name}.duckdb")
            with duckdb.connect(str(path)) as connection:
                for statement in statements:
                    connection.execute(_filled(statement, told))
            yield Hostile(name, path, refused)
    for name, damage in FILES.items():
        path = folder / f"{name}.duckdb"
        path.write_bytes(damage(sound.read_bytes()))
        yield Hostile(name, path)
    yield Hostile("log-of-random-bytes", _with_log(_copy(sound, folder / "log-of-random-bytes.duckdb")), False)
    for number, text in enumerate(TEXTS):
        path = _copy(sound, folder / f"text-{number:02}.duckdb")
        with duckdb.connect(str(path)) as connection:
            put_text(connection, text)
        yield Hostile(f"text {text!r}", path, refused=False, works=True)


def make_sound(folder: Path) -> Path:
    """Make a store with clusters, contradictions, templates and lineage."""
    folder.mkdir(parents=True, exist_ok=True)
    source, out = dump(folder / "wiki.xml", pages()), folder / "sound"
    esdedup.run(source, out=out, report=False, quiet=True, revisions="all", **LOOSE)
    return out / "store.duckdb"


def put_text(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Put a text into every column that a person sees."""
    connection.execute("UPDATE documents SET title = title || ? || number, key = key || ?", [text, text])
    connection.execute("UPDATE sentences SET text = text || ?, contributor = ?, language = ?", [text, text, text[:8]])
    connection.execute("UPDATE sentences SET last_contributor = ?", [text])
    connection.execute("UPDATE clusters SET kind_reason = kind_reason || ?, frame = frame || ?", [text, text])
    [(number, told)] = connection.execute("SELECT number, told FROM sources").fetchall()
    saved = json.loads(told)
    saved |= {"name": f"{saved['name']}{text}", "path": f"{saved['path']}{text}"}
    saved["fingerprint"] += text
    saved["skips"] = {"counts": {text: 1, "no_text": 1}, "places": {"no_text": [text], text: [text]}}
    connection.execute(
        "UPDATE sources SET name = ?, told = ?, qualified = true WHERE number = ?",
        [saved["name"], json.dumps(saved | {"qualified": True}), number],
    )


def _copy(sound: Path, path: Path) -> Path:
    shutil.copyfile(sound, path)
    return path


def _with_log(path: Path) -> Path:
    path.with_name(f"{path.name}.wal").write_bytes(random.Random(3).randbytes(5_000))
    return path


def _filled(statement: str, told: dict[str, Path]) -> str:
    for name, path in told.items():
        statement = statement.replace(f"<{name}>", str(path))
    return statement


def _replaced(table: str, by: str) -> list[str]:
    """Statements that put something else in the place of a table."""
    return [f"CREATE TABLE kept AS SELECT * FROM {table}", f"DROP TABLE {table}", by]


def _remade(table: str, columns: str) -> list[str]:
    """Statements that make a table again with other columns."""
    return [f"CREATE TABLE kept AS SELECT * FROM {table}", f"DROP TABLE {table}", f"CREATE TABLE {table} ({columns})",
            "DROP TABLE kept"]  # fmt: skip


_SENTENCES = ", ".join(
    f"{name} {kind}"
    for name, kind in (
        ("document", "INTEGER"), ("position", "INTEGER"), ("hash", "UBIGINT"), ("text", "VARCHAR"),
        ("language", "VARCHAR"), ("tokens", "BIGINT[]"), ("revision", "BIGINT"), ("timestamp", "VARCHAR"),
        ("contributor", "VARCHAR"), ("last_revision", "BIGINT"), ("last_timestamp", "VARCHAR"),
        ("last_contributor", "VARCHAR"),
    )
)  # fmt: skip
_READ = "SELECT content FROM read_text('<canary>')"

FOREIGN: dict[str, list[str]] = {
    **{
        f"view-for-{table}": _replaced(table, f"CREATE VIEW {table} AS SELECT * FROM kept")
        for table in sorted({*TABLES, *KEYED_TABLES})
    },
    "view-reads-text": _replaced(
        "sentences", f"CREATE VIEW sentences AS SELECT * REPLACE (({_READ}) AS text) FROM kept"
    ),
    "view-reads-titles": _replaced(
        "documents", f"CREATE VIEW documents AS SELECT * REPLACE (({_READ}) AS title) FROM kept"
    ),
    "view-reads-settings": _replaced(
        "about", f"CREATE VIEW about AS SELECT key, CASE WHEN key = 'state' THEN ({_READ}) ELSE value END AS value "
        "FROM kept"
    ),
    "view-reads-csv": ["CREATE VIEW named AS SELECT * FROM read_csv('<canary>')"],
    "view-reads-blob": ["CREATE VIEW keyed AS SELECT * FROM read_blob('<canary>')"],
    "view-reads-parts": ["CREATE VIEW parts AS SELECT * FROM glob('<folder>/*')"],
    "view-of-file": ["CREATE VIEW direct AS SELECT * FROM '<canary>'"],
    "macro-lower": ["CREATE MACRO lower(x) AS (SELECT content FROM read_text('<canary>'))"],
    "macro-count": ["CREATE MACRO count(x) AS 0"],
    "macro-contains": ["CREATE MACRO contains(a, b) AS true"],
    "macro-concat": ['CREATE MACRO "||"(a, b) AS (SELECT content FROM read_text(\'<canary>\'))'],
    "macro-list-sort": ["CREATE MACRO list_sort(x) AS x"],
    "macro-min": ["CREATE MACRO min(x) AS (SELECT content FROM read_text('<canary>'))"],
    "macro-coded": ["CREATE MACRO try_strptime(a, b) AS (SELECT content FROM read_text('<canary>'))"],
    "macro-never-called": ["CREATE MACRO harmless(x) AS x"],
    "macro-tables": ["CREATE MACRO duckdb_tables() AS TABLE SELECT 'about' AS table_name"],
    "macro-views": [
        "CREATE MACRO duckdb_views() AS TABLE SELECT 'x' AS view_name WHERE false",
        "CREATE MACRO duckdb_functions() AS TABLE SELECT 'x' AS function_name WHERE false",
        "CREATE VIEW hidden AS SELECT * FROM read_text('<canary>')",
    ],
    "macro-of-a-table": ["CREATE MACRO sources() AS TABLE SELECT * FROM read_text('<canary>')"],
    "schema": ["CREATE SCHEMA other"],
    "schema-with-table": ["CREATE SCHEMA other", "CREATE TABLE other.sentences AS FROM sentences"],
    "schema-with-view": ["CREATE SCHEMA other", "CREATE VIEW other.sentences AS SELECT * FROM read_text('<canary>')"],
    "schema-with-macro": ["CREATE SCHEMA other", "CREATE MACRO other.lower(x) AS x"],
    "schema-called-system": ['CREATE SCHEMA "duckdb_views"', 'CREATE TABLE "duckdb_views".x (a INTEGER)'],
    "table-of-others": ["CREATE TABLE mine AS SELECT 1 AS one"],
    "table-with-odd-name": ['CREATE TABLE "a\nb\x1b[2J" (a INTEGER)'],
    "type-enum": ["CREATE TYPE mood AS ENUM ('a', 'b')"],
    "type-alias": ["CREATE TYPE number AS INTEGER"],
    "sequence": ["CREATE SEQUENCE counter"],
    "index": ["CREATE INDEX by_hash ON sentences (hash)"],
    "index-unique": ["CREATE UNIQUE INDEX by_number ON documents (number)"],
    "trigger": [
        "CREATE TABLE log (a INTEGER)",
        "CREATE TRIGGER t AFTER INSERT ON sentences FOR EACH STATEMENT INSERT INTO log VALUES (1)",
    ],
    "generated-column": _remade("sentences", _SENTENCES.replace(
        "text VARCHAR", "text VARCHAR GENERATED ALWAYS AS (language || 'x')")),
    "default-sequence": ["CREATE SEQUENCE counter", "ALTER TABLE origins ALTER edits SET DEFAULT nextval('counter')"],
    "default-function": ["ALTER TABLE stale ALTER existed SET DEFAULT (random() > 0.5)"],
    "default-value": ["ALTER TABLE documents ALTER title SET DEFAULT 'x'"],
    "check": _remade("seen", "document INTEGER, position INTEGER, revision BIGINT, timestamp VARCHAR, contributor "
                     "VARCHAR, last_revision BIGINT, last_timestamp VARCHAR, last_contributor VARCHAR, "
                     "CHECK (length(timestamp) > 0)"),
    "foreign-key": ["DROP TABLE cluster_texts", "CREATE TABLE referred (id UBIGINT PRIMARY KEY)", "CREATE TABLE "
                    "cluster_texts (hash UBIGINT, cluster UBIGINT, FOREIGN KEY (hash) REFERENCES referred (id))"],
    "not-null": ["ALTER TABLE documents ALTER number SET NOT NULL"],
    "collation": _remade("about", "key VARCHAR COLLATE nocase PRIMARY KEY, value VARCHAR NOT NULL"),
    "column-of-another-type": ["ALTER TABLE sentences ALTER text TYPE BLOB"],
    "column-of-numbers": ["ALTER TABLE documents ALTER key TYPE INTEGER USING 1"],
    "column-of-structs": ["ALTER TABLE documents ALTER title TYPE STRUCT(a VARCHAR) USING {'a': title}"],
    "column-missing": ["ALTER TABLE sentences DROP COLUMN tokens"],
    "column-more": ["ALTER TABLE sentences ADD COLUMN more VARCHAR"],
    "column-renamed": ["ALTER TABLE pairs RENAME COLUMN jaccard TO similarity"],
    "column-name-as-statement": _remade("stale", '"hash UBIGINT, existed BOOLEAN, tokens" BIGINT[]'),
    "settings-without-key": _remade("about", "key VARCHAR, value VARCHAR"),
    "settings-twice": ["CREATE TABLE kept AS FROM about", "DROP TABLE about",
                       "CREATE TABLE about AS FROM kept UNION ALL FROM kept", "DROP TABLE kept"],
    "table-missing": ["DROP TABLE cluster_texts"],
    "tables-missing": ["DROP TABLE documents", "DROP TABLE sources"],
    "settings-missing": ["DROP TABLE about"],
}  # fmt: skip
"""What does not belong into a store, as statements."""


def _set(key: str, value: str) -> list[str]:
    escaped = value.replace("'", "''")
    return [f"INSERT OR REPLACE INTO about VALUES ('{key}', '{escaped}')"]


def _settings(**values: object) -> list[str]:
    changes = json.dumps(values).replace("'", "''")
    return [f"UPDATE about SET value = json_merge_patch(value, '{changes}') WHERE key = 'signing'"]


LEDGERS: dict[str, list[str]] = {
    "schema-is-a-word": _set("schema", '"seven"'),
    "schema-is-negative": _set("schema", "-1"),
    "schema-is-endless": _set("schema", "9" * 5_000),
    "schema-is-infinite": _set("schema", "1e400"),
    "schema-is-deep": _set("schema", "[" * 200_000),
    "schema-is-of-tomorrow": _set("schema", "97"),
    "schema-is-of-yesterday": _set("schema", "7"),
    "settings-are-a-list": _set("signing", "[]"),
    "settings-are-deep": _set("signing", '{"a":' * 100_000),
    "settings-name-a-file": _settings(templates="<canary>"),
    "settings-name-a-device": _settings(templates="/dev/zero"),
    "settings-of-a-language": _settings(lang="../../etc"),
    "settings-of-a-unit": _settings(unit="\x1b[2J"),
    "settings-unknown": _settings(evil=1),
    "settings-out-of-range": _settings(bands=10**9),
    "settings-of-classes": _settings(classes=[{"a": 1}]),
    "settings-are-null": _set("signing", "null"),
}
"""Settings that cannot be, as statements. No command goes on with them."""

_SCAN = '{"summary": {"scanning": {%s}, "counts": {}}}'

VALUES: dict[str, list[str]] = {
    "scan-is-a-list": _set("scan", "[]"),
    "scan-without-summary": _set("scan", "{}"),
    "scan-is-deep": _set("scan", '{"summary":' * 100_000),
    "scan-names-vectors": _set("scan", _SCAN % '"candidates": "projection", "vectors": "<canary>"'),
    "scan-names-a-device": _set("scan", _SCAN % '"candidates": "projection", "vectors": "/dev/zero"'),
    "scan-of-unknown-options": _set("scan", _SCAN % '"evil": 1'),
    "scan-ignores-numbers": _set("scan", _SCAN % '"ignore": [1, null]'),
    "scan-of-negative-counts": _set("scan", '{"summary": {"scanning": {}, "counts": {"pairs": -1}}}'),
    "run-of-unknown-sources": _set("started", '{"sources": [77], "first": 0}'),
    "run-of-negative-documents": _set("started", '{"sources": [0], "first": -5}'),
    "run-that-is-a-word": _set("read", '"x"'),
    "job-of-another-verb": _set("running", '{"verb": "\\u001b[2J", "names": []}'),
    "job-that-is-a-number": _set("running", "7"),
    "state-is-a-number": _set("state", "7"),
    "tables-of-others": _set("tables", '["sentences; COPY (SELECT 1) TO \'<folder>/written\'", 7]'),
    "source-is-null": ["UPDATE sources SET told = NULL"],
    "source-is-deep": [f"UPDATE sources SET told = '{'[' * 100_000}'"],
    "source-is-a-number": ["UPDATE sources SET told = '7'"],
    "source-of-two-names": ["UPDATE sources SET name = 'another'"],
    "source-of-negative-counts": ["UPDATE sources SET told = json_merge_patch(told, '{\"documents\": -7}')"],
    "source-outside": [
        "UPDATE sources SET told = json_merge_patch(told, '{\"path\": \"../../../etc/passwd\"}')"
    ],
    "source-that-is-the-file": ["UPDATE sources SET told = json_merge_patch(told, '{\"path\": \"<canary>\"}')"],
    **{
        f"fingerprint-{name}": [
            "UPDATE sources SET told = json_merge_patch(told, "
            f"json_object('fingerprint', '1 bytes, changed at 1, read with ' || {value}))"
        ]
        for name, value in {
            "that-is-deep": "repeat('[', 60000)",
            "of-signs": "repeat('-', 60000) || '1'",
            "that-is-long": "repeat('a', 1000000)",
            "that-calls": "'__import__(''os'').system(''touch <folder>/written'')'",
            "of-an-unknown-format": "'{''format'': ''evil''}'",
            "of-a-list": "'{''format'': [], 7: 8, ''header'': {}}'",
            "of-control": "'{''separator'': ''' || chr(27) || '[2J''}'",
        }.items()
    },
    "no-sources": ["DELETE FROM sources"],
    "no-documents": ["DELETE FROM documents"],
    "no-sentences": ["DELETE FROM sentences"],
    "no-texts-of-clusters": ["DELETE FROM cluster_texts"],
    "no-clusters": ["DELETE FROM clusters"],
    "texts-are-null": ["UPDATE sentences SET text = NULL"],
    "texts-are-empty": ["UPDATE sentences SET text = ''"],
    "texts-are-one": ["UPDATE sentences SET text = 'one and the same'"],
    "hashes-are-null": ["UPDATE sentences SET hash = NULL"],
    "documents-of-sentences-are-null": ["UPDATE sentences SET document = NULL WHERE rowid % 3 = 0"],
    "hashes-are-one": ["UPDATE sentences SET hash = 1"],
    "tokens-are-null": ["UPDATE sentences SET tokens = NULL"],
    "tokens-are-few": ["UPDATE sentences SET tokens = [1]"],
    "tokens-hold-null": ["UPDATE sentences SET tokens = [NULL, -1, 9223372036854775807]"],
    "positions-are-negative": ["UPDATE sentences SET position = -position - 1"],
    "positions-are-null": ["UPDATE sentences SET position = NULL"],
    "numbers-are-negative": ["UPDATE documents SET number = -number - 1"],
    "numbers-are-null": ["UPDATE documents SET number = NULL"],
    "numbers-are-one": ["UPDATE documents SET number = 1"],
    "keys-are-null": ["UPDATE documents SET key = NULL"],
    "keys-are-empty": ["UPDATE documents SET key = ''"],
    "occurrences-are-huge": ["UPDATE documents SET occurrence = 2147483647"],
    "counts-are-negative": ["UPDATE documents SET sentences = -2147483648"],
    "counts-are-huge": ["UPDATE documents SET sentences = 2147483647"],
    "places-are-null": ["UPDATE documents SET place = NULL"],
    "revisions-are-huge": ["UPDATE sentences SET revision = 9223372036854775807, last_revision = -9223372036854775808"],
    "times-are-words": ["UPDATE sentences SET timestamp = 'yesterday', last_timestamp = ''"],
    "times-are-far": [
        "UPDATE sentences SET timestamp = '9999-12-31T23:59:59Z', last_timestamp = '0001-01-01T00:00:00Z'"
    ],
    "sizes-are-huge": ["UPDATE clusters SET size = 9223372036854775807, distinct_texts = 9223372036854775807"],
    "sizes-are-negative": ["UPDATE clusters SET size = -1, distinct_texts = -1"],
    "sizes-are-null": ["UPDATE clusters SET size = NULL"],
    "similarities-are-no-numbers": ["UPDATE clusters SET min_jaccard = 'nan'", "UPDATE pairs SET jaccard = 'inf'"],
    "confidences-are-no-numbers": ["UPDATE clusters SET kind_confidence = 'nan', contradiction = '-inf'"],
    "representatives-are-missing": ["UPDATE clusters SET representative = 1"],
    "edges-are-missing": ["UPDATE clusters SET weakest_a = 1, weakest_b = 2"],
    "kinds-are-unknown": ["UPDATE clusters SET kind = '<b>evil</b>' || chr(27)"],
    "kinds-are-null": ["UPDATE clusters SET kind = NULL"],
    "reasons-are-null": ["UPDATE clusters SET kind_reason = NULL, kind_confidence = NULL"],
    "frames-are-null": ["UPDATE clusters SET frame = NULL"],
    "frames-are-odd": ["UPDATE clusters SET frame = '{subject} {{ {number' || chr(27) || repeat('{a}', 10000)"],
    "contradictions-are-many": ["UPDATE clusters SET contradictions = 2147483647, contradiction = 1"],
    "copies-are-many": ["UPDATE clusters SET copies = 2147483647"],
    "ignored-are-null": ["UPDATE clusters SET ignored = NULL"],
    "pairs-of-unknown-texts": ["UPDATE pairs SET a = 1, b = 2"],
    "pairs-are-null": ["UPDATE pairs SET a = NULL"],
    "pairs-of-one-text": ["UPDATE pairs SET b = a"],
    "probabilities-are-no-numbers": ["UPDATE pairs SET probability = 'nan'"],
    "distances-are-negative": ["UPDATE pairs SET word_edit_distance = -1, shared_tokens = -1"],
    "origins-are-circles": ["UPDATE origins SET parent_document = document, parent_position = position"],
    "origins-are-nowhere": ["UPDATE origins SET document = 99, parent_document = -1"],
    "origins-are-null": ["UPDATE origins SET document = NULL"],
    "texts-in-two-clusters": ["INSERT INTO cluster_texts SELECT hash, (SELECT max(id) FROM clusters) FROM sentences"],
    "titles-are-null": ["UPDATE documents SET title = NULL"],
    "titles-are-long": ["UPDATE documents SET title = repeat('x', 1000000)"],
}  # fmt: skip
"""Values that cannot be, or are unusual, as statements: a command works, or refuses them."""

FILES: dict[str, Callable[[bytes], bytes]] = {
    "cut-at-a-third": lambda data: data[: len(data) // 3],
    "cut-in-the-header": lambda data: data[:6_000],
    "random-bytes": lambda data: random.Random(1).randbytes(100_000),
    "random-bytes-behind-the-header": lambda data: data[:12_288] + random.Random(2).randbytes(len(data) - 12_288),
    "sqlite": lambda data: b"SQLite format 3\0" + bytes(8_000),
    "parquet": lambda data: b"PAR1" + bytes(8_000) + b"PAR1",
    "zip": lambda data: b"PK\x03\x04" + bytes(8_000),
    "text": lambda data: b"id,text\n1,a text of a few words\n" * 200,
    "zeros": lambda data: bytes(50_000),
    "page": lambda data: b"<!doctype html><script>alert(1)</script>" * 200,
}
"""Other files under the name of a store."""


def main() -> None:
    folder = Path(sys.argv[1])
    begin = time.perf_counter()
    made = list(make(folder))
    sys.stdout.write(f"{len(made)} stores in {folder}, in {time.perf_counter() - begin:.0f} s\n")


if __name__ == "__main__":
    main()
