"""What the files of `--out` and the answers of `--json` contain, declared once.

Each class declares the fields of one JSON object: a line of a file, an answer, or an object inside of these. A field is
an annotation and a sentence below it. A default of `MISSING` marks a field that only some objects have. The results of
the Python verbs inherit from these classes, and the columns of Parquet files are made from them. So are
JSON Schemas, by `json_schema.schema_of`, and the page docs/files.md, by `python -m scripts.files_page`.
"""
