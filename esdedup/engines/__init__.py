"""Where does matching run? One folder for each engine, and the registry. The protocol is `esdedup.matching.engine`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from esdedup.errors import SettingsError
from esdedup.options import Implementations, shown_value
from esdedup.resources import MASTERS

if TYPE_CHECKING:
    from esdedup.columns.database import Database
    from esdedup.matching.engine import Engine, Sentences
    from esdedup.resources import Resources

_SHARE = 5
"""The arrays of one function may take one such part of the memory."""

_MASTER = r"(?:[^\s,/:\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}"
_PLACES = {
    "spark": r"spark|local\[(?:[1-9][0-9]{0,3}|\*)(?:, ?[1-9][0-9]?)?\]|yarn|k8s://\S+"
    rf"|spark://{_MASTER}(?:,{_MASTER})*"
}
"""The values of `--engine` with which an engine runs, for those that have others than their name."""


class Engines(Implementations["Engine"]):
    """Engines by where they run."""

    def check(self, name: str) -> None:
        """Raise `SettingsError` for a place where no engine runs. Nothing is imported."""
        if not isinstance(name, str) or self._at(name) not in self._locations:
            if isinstance(name, str) and name.startswith("spark:"):
                raise SettingsError(
                    f"{self.option} is {shown_value(name)}; the address of a master has a host and a port, such as "
                    "spark://localhost:7077"
                )
            raise SettingsError(
                f"{self.option} is {shown_value(name)}; allowed: {', '.join(self._locations)}, {MASTERS}"
            )

    def __getitem__(self, name: str) -> type[Engine]:
        """Return the engine that runs at a place."""
        self.check(name)
        return self.imported(self._at(name))

    def _at(self, place: str) -> str:
        """Return the name of the engine that runs at a place."""
        return next((name for name, places in _PLACES.items() if re.fullmatch(places, place)), place)


ENGINES = Engines(
    "engine", {"local": "esdedup.engines.local.engine:LocalEngine", "spark": "esdedup.engines.spark.engine:SparkEngine"}
)


def place_of(engine: object) -> object:
    """Return the value of `--engine` that stands for a Spark session of the caller; anything else as it is."""
    if not type(engine).__module__.startswith("pyspark."):
        return engine
    from esdedup.engines.spark.session import use

    return use(engine)


def make_engine(resources: Resources, scratch: Database, sentences: Sentences) -> Engine:
    """Return the engine that resources name, for one scan."""
    made = ENGINES[resources.engine]
    return made(scratch, sentences, resources.memory // _SHARE, resources.processes, resources.engine)
