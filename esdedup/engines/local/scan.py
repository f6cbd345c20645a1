"""A scan that runs only on the local engine: it works in the engine's database, in stages that run once each."""

from __future__ import annotations

from esdedup.columns.database import Database
from esdedup.engines.local.engine import LocalEngine
from esdedup.matching.engine import Engine, MatchContext


class LocalScan:
    """What such scans have in common. Raise `UsageError` for another engine."""

    def __init__(self, engine: Engine, context: MatchContext) -> None:
        self._engine: LocalEngine = engine.local()
        self._db: Database = self._engine.db
        self._context = context
        self._signer = context.signer
        self._rule = context.rule
        self._budget = self._engine.budget
        self._threads = self._engine.threads
