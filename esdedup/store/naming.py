"""SQL for names: the ids of sentences as shown in results, and the groups of sources."""

from __future__ import annotations

from esdedup.columns.database import ROW_BYTES, Database

SOURCE_GROUPS = "SELECT number, min(number) OVER (PARTITION BY name, qualified) AS group_id, name FROM sources"
"""Files of one folder share their source's name. Together they are one group, identified by its smallest number."""

NAMED = """(
    SELECT d.number, d.rowid AS row, s.name AS source, s.history, d.title,
        try_cast(d.key AS UBIGINT) AS numeral,  -- ids that are numbers come first, in their order
        CASE WHEN s.qualified THEN s.name || '/' ELSE '' END || d.key
            || CASE WHEN d.occurrence > 1 THEN '#' || d.occurrence ELSE '' END AS id
    FROM documents d JOIN sources s ON s.number = d.source
)"""
"""The documents with their ids as shown in results. It is no view: a store in a file holds tables only."""


def sentence_id(unit: str) -> str:
    """SQL for a sentence's id: `DOCUMENT:POSITION`, or only the document's if the units are records."""
    return "n.id" if unit == "record" else "n.id || ':' || s.position"


_BYTES = 2**23  # of texts that are read at once
_FEW = 200_000
"""So many sentences, and their documents, are looked up by their rows: a join would read all names."""


def rank_members(db: Database, unit: str, table: str, texts: str, *, shared: bool = False) -> None:
    """Make `table`: every sentence of the texts that `texts` selects, with its names. With `shared`, other connections
    see the table.

    `turn` 1 is a text's first occurrence, 2 its second, 3 any other: by source and document. Numeric ids are sorted as
    numbers (line 9 comes before line 10).
    """
    chosen, named = f"sentences SEMI JOIN ({texts}) w USING (hash)", NAMED
    row_bytes = ROW_BYTES + 4 * _text_bytes(db)
    few = min(_FEW, db.memory // row_bytes)
    rows = db.table(f"SELECT rowid AS row, document FROM {chosen} LIMIT {few + 1}")
    if len(rows) <= few:
        db.create("few_sentences", rows, temporary=True)
        held = "SELECT rowid AS row FROM documents WHERE number IN (SELECT document FROM few_sentences)"
        db.create("few_documents", db.table(held), temporary=True)  # rows of a query inside another crash DuckDB 2.0
        chosen, named = "sentences", f"(SELECT * FROM {NAMED} WHERE row IN (SELECT row FROM few_documents))"
        parts = ["rowid IN (SELECT row FROM few_sentences)"]
    else:
        parts = db.parts("hash", db.count(f"SELECT count(*) FROM {chosen}"), row_bytes)
    # no sorting and no windows: the sentences of one text may not fit in memory
    queries = (
        f"""
        WITH chosen AS (
            SELECT s.*, n.source, n.id AS named, n.title, CASE WHEN n.history THEN s.contributor END AS who,
                {sentence_id(unit)} AS id,
                {{'source': n.source, 'numeral': n.numeral, 'id': n.id, 'position': s.position}} AS key
            FROM (SELECT * FROM {chosen} WHERE {part}) s JOIN {named} n ON n.number = s.document
        )
        SELECT c.hash, c.id, c.source, c.named AS document, c.title, c.position, c.text, c.revision, c.timestamp,
            c.last_revision, c.who AS contributor, c.document AS number,
            coalesce(list_position(f.two, c.key), 3) AS turn
        FROM chosen c JOIN (SELECT hash, min(key, 2) AS two FROM chosen GROUP BY hash) f USING (hash)
        """
        for part in parts
    )
    db.gather(table, queries, temporary=not shared)


def at_once(db: Database, most: int) -> int:
    """Return how many sentences are read at once: `most`, or fewer if texts are long."""
    return min(most, 1 + _BYTES // _text_bytes(db))


def _text_bytes(db: Database) -> int:
    """Return how long texts are on average, as far as the first of them show it."""
    return max(1, db.count("SELECT ceil(avg(strlen(text))) FROM (SELECT text FROM sentences LIMIT 2000)"))
