"""Find records that share most terms with another one, by joins in a scratch database.

The input is `records` (number, hash, words, first_word, group_id, terms). If `first_word` is empty, every record may
match every other. Records with the same `group_id` never match, unless it is negative. The output is `ranked` (a, b,
score): for each record the best others with a larger number, by the number of common terms, and then by the smallest
number.
"""

from __future__ import annotations

from esdedup.columns.database import Database

_RECORDS_AT_ONCE = 10_000


def create_ranked(scratch: Database) -> None:
    """Create the empty table `ranked`."""
    scratch.execute("CREATE OR REPLACE TABLE ranked (a INTEGER, b INTEGER, score INTEGER)")


def rank_by_joins(scratch: Database, top: int) -> None:
    """Fill `ranked` with up to `top` others of each record."""
    create_ranked(scratch)
    scratch.execute(
        "CREATE OR REPLACE TEMP TABLE terms_of AS "
        "SELECT DISTINCT number, first_word, group_id, unnest(terms) AS term FROM records"
    )
    records = scratch.count("SELECT max(number) + 1 FROM records")
    for first in range(0, records, _RECORDS_AT_ONCE):
        scratch.execute(
            """
            INSERT INTO ranked
            SELECT asked.number, held.number, count(*)
            FROM terms_of asked JOIN terms_of held
            ON held.term = asked.term AND held.first_word = asked.first_word AND held.number > asked.number
            AND (held.group_id < 0 OR held.group_id <> asked.group_id)
            WHERE asked.number >= $1 AND asked.number < $2
            GROUP BY asked.number, held.number
            QUALIFY row_number() OVER (PARTITION BY asked.number ORDER BY count(*) DESC, held.number) <= $3
            """,
            [first, first + _RECORDS_AT_ONCE, top],
        )
    scratch.execute("DROP TABLE terms_of")
