"""The indices of a store: dated generations behind aliases, made from `mappings/`. Only indices of esdedup are deleted.

A generation of the corpus consists of `state`, `documents` and `sentences`. The results of a scan are `pairs`,
`clusters`, `members` and `stale`. `PREFIX-sentences` is the alias of `PREFIX-sentences-DATE`, and so on.
"""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from elasticsearch import ApiError, BadRequestError

from esdedup.errors import NotAStoreError, StoreError, StoreLockedError, UsageError
from esdedup.store.elasticsearch.answers import GoneError, gone, reason_of
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.schemas import SCHEMA_VERSION, mapping_text

CORPUS = ("documents", "sentences", "state")
"""In the order of creation and deletion: a generation with a state is complete."""

RESULTS = ("pairs", "clusters", "members", "stale")

WORKING = ("records",)
"""Indices that a scan makes for its queries and deletes afterwards."""

_KINDS = CORPUS + RESULTS + WORKING

_CLAIM = "unfinished"
"""The alias of the generation that is being made. A server does not let two indices of an alias be the write index."""

_STAMP = "[0-9]{8}t[0-9]{12}"
_DEFAULT_REPLICAS = {"index.auto_expand_replicas": "0-1"}  # one if a second node can hold it


class Indices:
    """Names, creates, swaps and deletes the indices of one prefix."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._prefix = connection.address.prefix
        self._known: dict[str, Any] | None = None
        self._names = re.compile(rf"{re.escape(self._prefix)}-({'|'.join(_KINDS)})-({_STAMP})")

    def alias(self, kind: str) -> str:
        """Return the alias of the live index of a kind."""
        return f"{self._prefix}-{kind}"

    def name(self, kind: str, generation: str) -> str:
        """Return the name of an index."""
        return f"{self._prefix}-{kind}-{generation}"

    def generations(self, kind: str) -> list[str]:
        """Return every generation of an index that esdedup made, oldest first."""
        return sorted(
            match[2]
            for index, description in self._all().items()
            if (match := self._names.fullmatch(index)) and match[1] == kind and "esdedup" in _meta(description)
        )

    def live(self, kind: str) -> str | None:
        """Return the generation behind the alias of a kind. Raise `NotAStoreError` if esdedup did not make it."""
        alias = self.alias(kind)
        found = [
            index
            for index, description in self._all().items()
            if index == alias or alias in description.get("aliases", {})
        ]
        ours = [match[2] for match in map(self._names.fullmatch, found) if match is not None and match[1] == kind]
        if len(ours) != len(found) or len(found) > 1:
            raise NotAStoreError(
                f"{self._connection.address}: esdedup did not make the alias {alias}; choose another prefix"
            )
        return ours[0] if ours else None

    def _all(self) -> dict[str, Any]:
        """Return the server's description of every index with our prefix. It is cached until something changes."""
        if self._known is None:
            try:
                found = self._connection.ask("GET", f"/{self._prefix}-*", filter_path="*.aliases,*.mappings")
            except GoneError:  # one was deleted during the request
                return self._all()
            self._known = dict(found)
        return self._known

    def forget(self) -> None:
        """Clear the cache, because another process has changed the indices."""
        self._known = None

    def _description(self, index: str) -> dict[str, Any]:
        if index not in self._all():
            raise StoreError(f"{self._connection.address}: {gone(f'no such index [{index}]')}")
        return dict(self._all()[index])

    def make(self, kinds: Iterable[str], meta: Mapping[str, Any], *, loading: bool = False) -> str:
        """Make an index of each kind as a new generation and return its name. `loading` makes it cheap to fill.

        Raise `StoreLockedError` if another command takes the generation for an abandoned one and deletes it.
        """
        now = datetime.datetime.now(datetime.UTC)
        generation = now.strftime("%Y%m%dt%H%M%S%f")
        ours = {"schema": SCHEMA_VERSION, "replicas": _asked_replicas(), **meta}
        for kind in kinds:
            index = self.name(kind, generation)
            body = {
                "settings": {**_shape(), **(_relaxed() if loading and kind == "sentences" else {})},
                "mappings": {**self.mapping(kind), "_meta": {"esdedup": ours}},
                "aliases": {own_name(index): {"is_hidden": True}},
            }
            try:
                self._connection.ask("PUT", f"/{index}", body, raising=(400,), wait_for_active_shards=1)
            except GoneError as error:
                raise StoreLockedError(
                    f"{self._connection.address}: another command has deleted the new index {index}; run "
                    "this one again when that has ended"
                ) from error
            except BadRequestError as error:
                if error.message != "resource_already_exists_exception":  # otherwise only the answer was lost
                    reason = reason_of(error.body)
                    raise StoreError(f"{self._connection.address}: cannot make {index}: {reason}") from error
        self._known = None
        return generation

    def mapping(self, kind: str) -> dict[str, Any]:
        """Return the mapping of a kind from `mappings/`."""
        return dict(json.loads(mapping_text(f"{kind}.json")))

    def meta(self, index: str) -> dict[str, Any]:
        """Return what esdedup wrote into an index's `_meta` when it made the index."""
        return dict(_meta(self._description(index))["esdedup"])

    def set_meta(self, index: str, meta: Mapping[str, Any]) -> None:
        """Replace what esdedup wrote into an index's `_meta`."""
        self._connection.ask("PUT", f"/{index}/_mapping", {"_meta": {"esdedup": meta}})
        self._known = None

    def check_mapping(self, kind: str, generation: str) -> None:
        """Raise `StoreError` if the fields of an index were changed."""
        index = self.name(kind, generation)
        there, ours = self._description(index)["mappings"].get("properties", {}), self.mapping(kind)["properties"]
        changed = sorted(name for name in there.keys() | ours.keys() if not _same(there.get(name), ours.get(name)))
        if changed:
            raise StoreError(
                f"{self._connection.address}: the mapping of {index} was changed ({', '.join(changed)}); "
                "index again with --fresh"
            )

    def restore(self, generation: str) -> None:
        """End bulk loading: restore the refresh interval and the replicas, as set now or when the index was made."""
        index = self.name("sentences", generation)
        asked = _asked_replicas()
        copies = self.meta(index)["replicas"] if asked is None else asked
        settings: dict[str, Any] = {"index.refresh_interval": None} | (_DEFAULT_REPLICAS if copies is None else {})
        if copies is not None:
            settings |= {"index.auto_expand_replicas": False, "index.number_of_replicas": copies}
        self._connection.ask("PUT", f"/{index}/_settings", settings)

    def relax(self, generation: str) -> None:
        """Begin bulk loading: no refresh before the end. Replicas are kept, since they hold existing documents."""
        self._connection.ask(
            "PUT", f"/{self.name('sentences', generation)}/_settings", {"index.refresh_interval": "-1"}
        )

    def refresh(self, *names: str) -> None:
        """Make what was written visible to searches."""
        self._connection.ask("POST", f"/{','.join(names)}/_refresh")

    def count(self, name: str) -> int:
        """Return the number of documents of an index."""
        return int(self._connection.ask("GET", f"/{name}/_count")["count"])

    def swap(self, generations: Mapping[str, str | None], *, only_first: bool = False) -> None:
        """Make these generations, by kind, live in a single request. None means that no index is live any more.

        Raise `StoreLockedError` if another command interferes or, with `only_first`, if any is live already.
        """
        target = dict(generations)
        if self._lives(target) == target:
            return
        self._known = None
        actions: list[dict[str, Any]] = []
        for kind, before in self._lives(target).items():
            alias, generation = self.alias(kind), target[kind]
            if before not in (None, generation) and not only_first:
                actions.append({"remove": {"index": self.name(kind, before), "alias": alias, "must_exist": True}})
            if generation not in (None, before):  # a server does not let two indices of an alias be the write index
                actions.append({"add": {"index": self.name(kind, generation), "alias": alias, "is_write_index": True}})
        self._change_aliases(actions, lambda: self._lives(target) == target, "replaces or drops")

    def claim(self, generation: str) -> None:
        """Claim a generation as the one being made. Raise `StoreLockedError` if another one is claimed."""
        added = {"index": self.name("state", generation), "alias": self.alias(_CLAIM)}
        actions = [{"add": {**added, "is_write_index": True, "is_hidden": True}}]
        self._change_aliases(actions, lambda: self.claimed() == generation, "begins to replace")

    def _change_aliases(self, actions: list[dict[str, Any]], done: Callable[[], bool], otherwise: str) -> None:
        try:
            self._connection.ask("POST", "/_aliases", {"actions": actions}, raising=(400, 404, 500))
        except ApiError as error:
            self._known = None
            if not done():  # otherwise only the answer was lost
                raise StoreLockedError(
                    f"{self._connection.address}: another command {otherwise} this store ({reason_of(error.body)}); "
                    "run this command again after it ends"
                ) from error
        self._known = None

    def claimed(self) -> str | None:
        """Return the generation that is being made."""
        alias = self.alias(_CLAIM)
        found = [index for index, description in self._all().items() if alias in description.get("aliases", {})]
        return next((match[2] for match in map(self._names.fullmatch, found) if match is not None), None)

    def unclaim(self, generation: str) -> None:
        """End the claim of a completed generation."""
        if self.claimed() == generation:
            index = self.name("state", generation)
            self._connection.ask("DELETE", f"/{index}/_alias/{self.alias(_CLAIM)}", missing=True)
            self._known = None

    def _lives(self, kinds: Iterable[str]) -> dict[str, str | None]:
        return {kind: self.live(kind) for kind in kinds}

    def delete(self, kinds: Iterable[str], generations: Iterable[str] | None = None) -> None:
        """Delete generations of these kinds; without `generations`, all of them."""
        chosen = None if generations is None else set(generations)
        names = [
            self.name(kind, generation)
            for kind in kinds
            for generation in self.generations(kind)
            if chosen is None or generation in chosen
        ]
        for some in _few(names):
            self._known = None
            try:
                self._connection.ask("DELETE", f"/{','.join(some)}", ignore_unavailable="true")
            except GoneError:  # one was deleted during the request, and then none is deleted
                self.delete(kinds, chosen)

    def bytes_on_disk(self) -> int:
        """Return the disk space of all generations, including replicas."""
        names = [self.name(kind, generation) for kind in _KINDS for generation in self.generations(kind)]
        total = 0
        for some in _few(names):
            answer = self._connection.ask("GET", f"/{','.join(some)}/_stats/store", filter_path="_all.total.store")
            total += int(answer["_all"]["total"]["store"]["size_in_bytes"])
        return total


def own_name(index: str) -> str:
    """Return the alias through which an index is written: a late request must not recreate a deleted index."""
    return f"{index}-own"


def _few(names: list[str]) -> Iterator[list[str]]:
    """Split names into groups that fit in the request line, which is limited to 4 kB."""
    for begin in range(0, len(names), 20):
        yield names[begin : begin + 20]


def _shape() -> dict[str, Any]:
    """Return the number of shards and replicas, as set in `ES_SHARDS` and `ES_REPLICAS`."""
    replicas = _asked_replicas()
    shape = _DEFAULT_REPLICAS if replicas is None else {"index.number_of_replicas": replicas}
    shards = _number("ES_SHARDS", 1)
    return {**shape, **({} if shards is None else {"index.number_of_shards": shards})}


def _relaxed() -> dict[str, Any]:
    """Settings for filling a new index: no refresh and, unless they were requested, no replicas."""
    if _asked_replicas() is not None:
        return {"index.refresh_interval": "-1"}
    return {"index.refresh_interval": "-1", "index.auto_expand_replicas": False, "index.number_of_replicas": 0}


def _asked_replicas() -> int | None:
    return _number("ES_REPLICAS", 0)


def _number(variable: str, least: int) -> int | None:
    given = os.environ.get(variable)
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 5 and int(given) >= least):
        raise UsageError(f"{variable} is {given!r}; allowed: a number from {least}")
    return int(given)


def _meta(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the creator of an index wrote into its `_meta`."""
    return dict(description.get("mappings", {}).get("_meta", {}))


def _same(there: Any, ours: Any) -> bool:
    """Whether a server's field is as requested. Servers leave out default values."""
    if isinstance(there, dict) and isinstance(ours, dict):
        return all(_same(there.get(name), value) for name, value in ours.items() if name not in _DEFAULTS) and all(
            name in ours or name in _DEFAULTS for name in there
        )
    return bool(there == ours)


_DEFAULTS = ("enabled",)
