"""Check everything that a store in a file promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from esdedup.columns.arrays import text_column
from esdedup.errors import StoreError
from esdedup.files import as_word
from esdedup.matching.groups import token_lists
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.store.duckdb.store import FileStore
from esdedup.store.store import Check

if TYPE_CHECKING:
    from esdedup.columns.database import Database
    from esdedup.matching.signing import Signing

_SAMPLE = 500
_AGAIN = "restore a copy of the file, or index the sources again with --fresh"


def examine(path: Path) -> Iterator[Check]:
    """Yield every check of the store in a file."""
    try:
        store = FileStore(path, read_only=True)
    except StoreError as error:
        yield Check("store", str(error))
        return
    with store:
        yield Check("store")
        yield from _checks(store.database, f"esdedup scan --store {as_word(path)}")
        yield _tokens(store.database, store.signing)
        begun = store.ledger.unfinished_job()
        yield Check("job", f"esdedup {begun} has not ended" if begun else None, begun and "run the same command again")


def _checks(db: Database, scan: str) -> Iterator[Check]:
    for name, query, words, advice in (
        (
            "documents of sentences", "sentences s ANTI JOIN documents d ON d.number = s.document",
            "sentences without a document", _AGAIN,
        ),
        ("tokens of sentences", "sentences WHERE tokens IS NULL", "sentences without tokens", _AGAIN),
        (
            "texts of pairs", "(SELECT unnest([a, b]) AS hash FROM pairs) p ANTI JOIN sentences s USING (hash)",
            "texts of pairs that are not stored", scan,
        ),
        (
            "texts of clusters", "cluster_texts c ANTI JOIN sentences s USING (hash)",
            "texts of clusters that are not stored", scan,
        ),
        (
            "clusters of texts", "cluster_texts c ANTI JOIN clusters k ON k.id = c.cluster",
            "texts of clusters that are not there", scan,
        ),
    ):  # fmt: skip
        count = db.count(f"SELECT count(*) FROM {query}")
        yield Check(name, f"{words}: {count:,}" if count else None, advice if count else None)


def _tokens(db: Database, signing: Signing) -> Check:
    rows = db.rows(f"SELECT text, tokens FROM sentences USING SAMPLE reservoir({_SAMPLE} ROWS) REPEATABLE (1)")
    wrong = 0
    if rows:
        signer = TextSigner(signing)
        again = token_lists(signer.tokens(signer.views(text_column([text for text, _ in rows])))).to_pylist()
        wrong = sum(one != held for one, (_, held) in zip(again, rows, strict=True))
    problem = f"sentences with wrong tokens: {wrong:,}, in a sample of {len(rows):,}" if wrong else None
    return Check("tokens", problem, _AGAIN if wrong else None)
