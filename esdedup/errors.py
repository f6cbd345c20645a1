"""All errors, as one tree. Each message says what happened, where, and what to do.

EsdedupError                    could not be done (exit code 1)
├── UsageError                  wrong usage (exit code 2)
│   └── SettingsError           a setting outside its allowed range
├── SourceError                 a source is missing, damaged or of an unknown format
│   └── SourceChangedError      it is not what was read of it
├── VectorsError                a file of word vectors is missing, damaged or unusable
├── UnparsablePageError         the reference cleaner of wikitext failed on a page
├── NothingCompared         every text was left out; the result is attached
├── EvaluationError             the truth file cannot be read, or names unknown sentences
├── EngineError             Spark or Java is missing, or a task failed for good
├── NodeError                   the local Elasticsearch cannot be started or stopped
├── KibanaError                 Kibana cannot be reached, or refuses the dashboard
├── OutLockedError              another command writes to the folder for the results
└── StoreError                  the store cannot be used
    ├── NotAStoreError          the file or index was not made by esdedup
    ├── StoreVersionError       the store was written by a newer version
    ├── StoreSettingsError      the store holds tokens made with other settings
    ├── StoreSourcesError       the store holds other sources than the ones named
    └── StoreLockedError        another process holds the store
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class EsdedupError(Exception):
    """Root of the tree. Raised directly only if no subclass fits."""

    exit_code = 1
    page = "bugs"
    """The page of the documentation that says more."""


class UsageError(EsdedupError):
    """The command or call is not valid."""

    exit_code = 2
    page = "commands"


class SettingsError(UsageError):
    """A setting is outside its range, or two settings contradict each other."""


class SourceError(EsdedupError):
    """A source is missing, damaged or of an unknown format.

    Documents before the damage are delivered before this is raised.
    """

    page = "sources"


class SourceChangedError(SourceError):
    """A source is not what it was when it was read, or changed meanwhile. Nothing is written of it."""

    @classmethod
    def at(cls, label: object) -> SourceChangedError:
        """Return the error for a source."""
        return cls(f"{label}: has changed since it was read; run again with --fresh")


class VectorsError(EsdedupError):
    """A file of word vectors is missing, damaged, not in word2vec's format, or about other words."""


class UnparsablePageError(EsdedupError):
    """The reference cleaner of wikitext failed on one page, or exceeded its time limit."""


class NothingCompared(EsdedupError):  # noqa: N818  # it is a result as well
    """Texts were read, and every one was left out. `result` is what the verb would have returned."""

    page = "units"

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


class EvaluationError(EsdedupError):
    """A file of true pairs or clusters cannot be read, or names sentences that the store does not have."""


class EngineError(EsdedupError):
    """An engine cannot be started, or one of its tasks failed again and again."""

    page = "spark"

    @classmethod
    def unseen(cls, path: object) -> EngineError:
        """Return the error for a file or folder that is not where a task runs."""
        return cls(f"a worker does not see {path}: it must be on storage that all workers share")


class NodeError(EsdedupError):
    """The local Elasticsearch cannot be downloaded, started or stopped."""

    page = "elasticsearch"


class KibanaError(EsdedupError):
    """Kibana cannot be reached, or refuses the import."""

    page = "kibana"


class OutLockedError(EsdedupError):
    """Another command writes to the same folder. The message names its process."""


class StoreError(EsdedupError):
    """The store cannot be opened, read or written."""

    page = "reliability"

    @classmethod
    def no_store(cls, address: object) -> StoreError:
        """Return the error for an address where there is none."""
        return cls(f"{address}: there is no store; make one with esdedup run or esdedup index")


class NotAStoreError(StoreError):
    """The address exists, but was not made by esdedup."""


class StoreVersionError(StoreError):
    """The store's schema or hash scheme is newer than this version of esdedup."""


class StoreSettingsError(StoreError):
    """The store's frozen settings differ from the given ones. The message names both values."""


class StoreSourcesError(StoreError):
    """This store has a finished run over other sources. The message names `--fresh`."""


class StoreLockedError(StoreError):
    """Another process writes to this store; the message names it."""


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Raise `UsageError` with the line that installs an extra, if one of its packages cannot be imported inside."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(f"{what} needs {error.name}; run pip install 'esdedup[{extra}]'") from error
