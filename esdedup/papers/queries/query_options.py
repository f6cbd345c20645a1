"""The options of queries for records."""

from __future__ import annotations

from dataclasses import dataclass

from esdedup.options import Options, option

TERMS = ("shingles", "signature")


@dataclass(frozen=True)
class QueryOptions(Options):
    """The terms of a query, and which of its results are used."""

    signature: int = option(20, "Number of MinHash values of a text.", unit="N", low=1, high=1024)
    query_by: str = option("shingles", "Terms of a query.", choices=TERMS)
    same_first_word: bool = option(False, "Only find records with the same first word.", off="any-first-word")
    top: int = option(10, "Number of matches of a record that are verified.", unit="N", low=1, high=1000)
    reciprocal: bool = option(False, "Only keep pairs that are each other's best match.", off="one-sided")
