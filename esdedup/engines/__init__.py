"""Where does matching run? One folder for each engine, and the registry. The protocol is `esdedup.matching.engine`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from esdedup.options import Implementations

if TYPE_CHECKING:
    from esdedup.matching.engine import Engine

ENGINES: Implementations[Engine] = Implementations("engine", {"local": "esdedup.engines.local.engine:LocalEngine"})
