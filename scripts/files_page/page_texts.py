"""The prose of docs/files.md."""

from __future__ import annotations

HEAD = """\
# Files and answers

This page describes the files that esdedup writes, and what commands print with `--json`. It is made from the
declarations in [esdedup/output/contents](../esdedup/output/contents/__init__.py) by `python -m scripts.files_page`.
The examples are real output for [towns.xml](examples/towns.xml); only durations and sizes are replaced.

JSON is in UTF-8. In `.jsonl` files, each line is one JSON object. Every object has every field in its table, except for
those marked *optional*, and no others. `a[].b` is the field `b` of each object in the list `a`.

Each file and answer has a class in Python, and each class a [JSON Schema](https://json-schema.org) (draft 2020-12):

```python
import json

import jsonschema

from esdedup.output.contents.comparisons import Pair
from esdedup.output.contents.json_schema import schema_of

schema = schema_of(Pair)
for line in open("found/pairs.jsonl", encoding="utf-8"):
    jsonschema.validate(json.loads(line), schema)
```

## Why are there fewer pairs than clusters?

`pairs.jsonl` has pairs of *different* texts. Copies of one text are not pairs. They are members of one cluster. Each
text of a pair is named by the id of its first sentence.

For example, a run may report 3 pairs and 21 clusters, and then say `18 of 21 clusters: only copies of one text, which
are not counted as pairs`. In these 18 clusters, `distinct` is 1 and `kind` is `identical`. The 3 pairs are between the
different texts of the other 3 clusters.

For everything that was found, read `clusters.jsonl`. For the similarity of texts that differ, read `pairs.jsonl`.

## Which files can be read?

| format | endings | note |
|---|---|---|
| MediaWiki dumps | `.xml`, `.xml-p1p9` | Parts of one wiki are one source; of a page, the newest revision counts. |
| JSON Lines | `.jsonl`, `.ndjson` | A comma may follow an object. |
| JSON | `.json` | An array of objects, or objects one after another. It is streamed. |
| CSV | `.csv` | A quote that is never closed is an error. A record may span 10,000 lines (`--max-quoted-lines`). |
| TSV | `.tsv`, `.tab` | No quotes. |
| Parquet | `.parquet`, `.pq` | Views of strings are read and written, too. |
| Arrow | `.arrow`, `.arrows`, `.ipc`, `.feather` | IPC files and streams; Feather of version 2. |
| text | `.txt`, `.text`; `--format lines` | A file, or each line, is a document. |

All may be compressed (`.gz`, `.bz2`, `.xz`, `.lzma`, `.zst`, `.7z`). A byte order mark of UTF-16 or UTF-32 goes before
`--encoding`. The lines of a file end in LF, in CR LF, or in CR alone. What is written again has the encoding and the
line ends of the source.

`--text-column` names a column, a dotted path (`meta.body`), or the values of lists (`messages[].content`). The texts of
a list are joined by line ends.

### The next month of a wiki

The wiki of a dump is the `dbname` in its siteinfo. `run` reads the parts of an export, and `add` those of the next
month, however they are cut. Pages that have changed are replaced. Pages that are not in the new export are counted and
stay; `add --complete` removes them. To compare two dates of a wiki instead, read each with its own `--source-name`. Do
the same for dumps whose `dbname` is wrong.

A table that is added to a store that has others gets ids of its own (`NAME/ID`), so that its rows replace no others.
The same file again is the same source. With `--ids across`, an id means one record in all sources.

## Which files are there?"""

OTHER_FILES = (
    ("`clusters.txt`", "`run`, `scan`, `add`",
     "The ids of each cluster on one line, separated by spaces. White space and control characters in an id are "
     "percent-encoded. `evaluate --golden` reads this format."),
    ("`cluster-sizes.png`", "`run`, `scan`, `add`, `report`", "A plot of the sizes of clusters."),
    ("`report.html`", "`run`, `scan`, `add`, `report`", "A page about the results, which needs no other file."),
    ("`cluster-sizes.svg`, `kinds.png`, `kinds.svg`", "`report`", "The plots of the page."),
    ("`store.duckdb`", "`run`, `dedupe`",
     "The store, if `--store` names no other: a DuckDB file, see [below](#the-store-in-duckdb)."),
    ("`SOURCE`", "`dedupe`",
     "Each source without its duplicates: same name, format and compression. A wiki dump becomes `DUMP.jsonl`."),
    ("`.esdedup.json`", "`dedupe`", "The names of the files that esdedup wrote there: `--fresh` removes these."),
    ("`CLUSTER.csv`, `CLUSTER.parquet`", "`templates --out`",
     "The table of a template: `id`, `document`, `title`; a column for each slot as written; for numbers and dates "
     "also `SLOT_value`; `fits`: whether the frame and the row reproduce the sentence."),
    ("`FILE`", "`lineage --graphml`",
     "The trees of copies as a GraphML graph: a node for each sentence, an edge from each parent to its copy."),
    ("`s-curve.png`", "`plan --out`", "A plot of what each scheme finds."),
    ("`FILE.ndjson`", "`kibana import --out`", "The objects for Kibana's Saved Objects page."),
    ("`demo.xml.bz2`", "`demo`", "The wiki that the demo makes."),
)  # fmt: skip

REASONS_HEAD = """\
With `--table parquet`, `run`, `scan` and `add` write `.parquet` files with the same fields instead of `.jsonl` files.

CSV that esdedup composes (`templates --out`, downloads of the page) is safe in a spreadsheet: a cell that begins like a
formula gets a leading apostrophe. `fill` leaves it out again. Sources that `dedupe` writes again are not touched.

## The store in DuckDB

You can read a store with DuckDB: its tables `documents` and `sentences` hold titles and texts. Do not put views or
tables of your own into the file. esdedup refuses a file with anything that it did not make, because a view or a macro
from a stranger would run as part of esdedup. Keep them in another file that attaches the store:

```sql
-- duckdb mine.duckdb
ATTACH 'found/store.duckdb' AS store (READ_ONLY);
CREATE VIEW titles AS SELECT title FROM store.documents;
```

A store that somebody sends you cannot read or write other files on your machine when esdedup opens it. In the DuckDB
shell it can: attach it, and then run `SET enable_external_access = false` before you query it.

## Why was something skipped?

`skipped` in summaries and answers counts by these reasons:"""

FILES_HEAD = "## Files"

ANSWERS_HEAD = """\
## Answers of `--json`

Commands that list something print one object on each line. The other commands print one object."""
