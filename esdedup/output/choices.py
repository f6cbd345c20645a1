"""What a caller can choose of the files that are written: each choice once, for types, checks and the command line."""

from __future__ import annotations

from typing import Literal, get_args

Table = Literal["jsonl", "parquet", "none"]
TABLE_FORMATS: tuple[str, ...] = get_args(Table)
"""Formats of pairs and clusters."""

By = Literal["documents", "sources"]
OVERLAPS: tuple[str, ...] = get_args(By)
"""What `overlap` compares."""
