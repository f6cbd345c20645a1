"""The indices of a store: dated generations behind aliases, made from `mappings/`, and only ours ever deleted.

A generation of the corpus is made of `state`, `documents` and `sentences`; the results of a scan are `pairs`,
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
"""In the order in which they are made and deleted: a generation that has a state is whole."""

RESULTS = ("pairs", "clusters", "members", "stale")

WORKING = ("records",)
"""What a scan makes to ask, and deletes when it has its answers."""

_KINDS = CORPUS + RESULTS + WORKING

_CLAIM = "unfinished"
"""The alias of the generation that is being made: a server lets no two indices of an alias be written."""

_STAMP = "[0-9]{8}t[0-9]{12}"
_DEFAULT_REPLICAS = {"index.auto_expand_replicas": "0-1"}  # one where there is a second node to hold it


class Indices:
    """Names, makes, swaps and deletes the indices of one prefix."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._prefix = connection.address.prefix
        self._known: dict[str, Any] | None = None
        self._names = re.compile(rf"{re.escape(self._prefix)}-({'|'.join(_KINDS)})-({_STAMP})")

    def alias(self, kind: str) -> str:
        """The name under which the live index of a kind is found."""
        return f"{self._prefix}-{kind}"

    def name(self, kind: str, generation: str) -> str:
        """The name of an index itself."""
        return f"{self._prefix}-{kind}-{generation}"

    def generations(self, kind: str) -> list[str]:
        """Every generation of an index that esdedup made, the oldest first."""
        return sorted(
            match[2]
            for index, description in self._all().items()
            if (match := self._names.fullmatch(index)) and match[1] == kind and "esdedup" in _meta(description)
        )

    def live(self, kind: str) -> str | None:
        """The generation that the alias of a kind stands for; `NotAStoreError` where it is something of others."""
        alias = self.alias(kind)
        found = [
            index
            for index, description in self._all().items()
            if index == alias or alias in description.get("aliases", {})
        ]
        ours = [match[2] for match in map(self._names.fullmatch, found) if match is not None and match[1] == kind]
        if len(ours) != len(found) or len(found) > 1:
            raise NotAStoreError(
                f"{self._connection.address}: {alias} is no alias that esdedup made; name another prefix"
            )
        return ours[0] if ours else None

    def _all(self) -> dict[str, Any]:
        """Every index whose name begins like ours, as the server tells of it; asked for once between changes."""
        if self._known is None:
            try:
                found = self._connection.ask("GET", f"/{self._prefix}-*", filter_path="*.aliases,*.mappings")
            except GoneError:  # one was deleted as we asked
                return self._all()
            self._known = dict(found)
        return self._known

    def forget(self) -> None:
        """Ask the server again what there is: somebody else has changed it."""
        self._known = None

    def _description(self, index: str) -> dict[str, Any]:
        if index not in self._all():
            raise StoreError(f"{self._connection.address}: {gone(f'no such index [{index}]')}")
        return dict(self._all()[index])

    def make(self, kinds: Iterable[str], meta: Mapping[str, Any], *, loading: bool = False) -> str:
        """Make an index of each kind, as a new generation: its name. With `loading`, as cheap to fill as can be.

        `StoreLockedError` where another command, which was quicker, takes it for left over and deletes it.
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
                    f"{self._connection.address}: another command has deleted {index} as soon as it was made; run "
                    "this one again when that has ended"
                ) from error
            except BadRequestError as error:
                if error.message != "resource_already_exists_exception":  # else only the answer was lost
                    reason = reason_of(error.body)
                    raise StoreError(f"{self._connection.address}: cannot make {index}: {reason}") from error
        self._known = None
        return generation

    def mapping(self, kind: str) -> dict[str, Any]:
        """What `mappings/` says of a kind."""
        return dict(json.loads(mapping_text(f"{kind}.json")))

    def meta(self, index: str) -> dict[str, Any]:
        """What esdedup wrote into an index's `_meta` when it made it."""
        return dict(_meta(self._description(index))["esdedup"])

    def set_meta(self, index: str, meta: Mapping[str, Any]) -> None:
        """Replace what esdedup wrote into an index's `_meta`."""
        self._connection.ask("PUT", f"/{index}/_mapping", {"_meta": {"esdedup": meta}})
        self._known = None

    def check_mapping(self, kind: str, generation: str) -> None:
        """`StoreError` where somebody has changed the fields of an index."""
        index = self.name(kind, generation)
        there, ours = self._description(index)["mappings"].get("properties", {}), self.mapping(kind)["properties"]
        changed = sorted(name for name in there.keys() | ours.keys() if not _same(there.get(name), ours.get(name)))
        if changed:
            raise StoreError(
                f"{self._connection.address}: somebody has changed the mapping of {index} ({', '.join(changed)}); "
                "index again with --fresh"
            )

    def restore(self, generation: str) -> None:
        """End the cheap way of loading: refresh as usual, and with the copies that are asked for now, or were then."""
        index = self.name("sentences", generation)
        asked = _asked_replicas()
        copies = self.meta(index)["replicas"] if asked is None else asked
        settings: dict[str, Any] = {"index.refresh_interval": None} | (_DEFAULT_REPLICAS if copies is None else {})
        if copies is not None:
            settings |= {"index.auto_expand_replicas": False, "index.number_of_replicas": copies}
        self._connection.ask("PUT", f"/{index}/_settings", settings)

    def relax(self, generation: str) -> None:
        """Begin to load: no refresh before the end. Copies stay: they hold what is there already."""
        self._connection.ask(
            "PUT", f"/{self.name('sentences', generation)}/_settings", {"index.refresh_interval": "-1"}
        )

    def refresh(self, *names: str) -> None:
        """Let searches see what was written."""
        self._connection.ask("POST", f"/{','.join(names)}/_refresh")

    def swap(self, generations: Mapping[str, str | None], *, only_first: bool = False) -> None:
        """Make these generations, by kind, the live ones, by one call; None: no index is live any more.

        `StoreLockedError` where another command comes between; with `only_first`, where any is live already.
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
            if generation not in (None, before):  # a server lets no two indices of an alias be written
                actions.append({"add": {"index": self.name(kind, generation), "alias": alias, "is_write_index": True}})
        self._change_aliases(actions, lambda: self._lives(target) == target, "replaces or drops")

    def claim(self, generation: str) -> None:
        """Let a new generation be the one that is being made; `StoreLockedError` where there is one already."""
        added = {"index": self.name("state", generation), "alias": self.alias(_CLAIM)}
        actions = [{"add": {**added, "is_write_index": True, "is_hidden": True}}]
        self._change_aliases(actions, lambda: self.claimed() == generation, "begins to replace")

    def _change_aliases(self, actions: list[dict[str, Any]], done: Callable[[], bool], otherwise: str) -> None:
        try:
            self._connection.ask("POST", "/_aliases", {"actions": actions}, raising=(400, 404, 500))
        except ApiError as error:
            self._known = None
            if not done():  # else only the answer was lost
                raise StoreLockedError(
                    f"{self._connection.address}: another command {otherwise} this store ({reason_of(error.body)}); "
                    "run this one again when that has ended"
                ) from error
        self._known = None

    def claimed(self) -> str | None:
        """The generation that is being made."""
        alias = self.alias(_CLAIM)
        found = [index for index, description in self._all().items() if alias in description.get("aliases", {})]
        return next((match[2] for match in map(self._names.fullmatch, found) if match is not None), None)

    def unclaim(self, generation: str) -> None:
        """End the claim of a generation that is made."""
        if self.claimed() == generation:
            index = self.name("state", generation)
            self._connection.ask("DELETE", f"/{index}/_alias/{self.alias(_CLAIM)}", missing=True)
            self._known = None

    def _lives(self, kinds: Iterable[str]) -> dict[str, str | None]:
        return {kind: self.live(kind) for kind in kinds}

    def delete(self, kinds: Iterable[str], generations: Iterable[str] | None = None) -> None:
        """Delete generations of these kinds, all of them if none are named."""
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
            except GoneError:  # of several, one went as we asked, and then none is deleted
                self.delete(kinds, chosen)

    def bytes_on_disk(self) -> int:
        """What all generations take on disk, copies included."""
        names = [self.name(kind, generation) for kind in _KINDS for generation in self.generations(kind)]
        total = 0
        for some in _few(names):
            answer = self._connection.ask("GET", f"/{','.join(some)}/_stats/store", filter_path="_all.total.store")
            total += int(answer["_all"]["total"]["store"]["size_in_bytes"])
        return total


def own_name(index: str) -> str:
    """The alias through which an index is written: what comes late must not make an index anew that was deleted."""
    return f"{index}-own"


def _few(names: list[str]) -> Iterator[list[str]]:
    """Names in portions that fit in the first line of a request, 4 kB long."""
    for begin in range(0, len(names), 20):
        yield names[begin : begin + 20]


def _shape() -> dict[str, Any]:
    """Shards and copies, by `ES_SHARDS` and `ES_REPLICAS` where they are set."""
    replicas = _asked_replicas()
    shape = _DEFAULT_REPLICAS if replicas is None else {"index.number_of_replicas": replicas}
    shards = _number("ES_SHARDS", 1)
    return {**shape, **({} if shards is None else {"index.number_of_shards": shards})}


def _relaxed() -> dict[str, Any]:
    """No refresh and, unless copies were asked for, none of those while a new index is filled."""
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
    """What the maker of an index wrote about it."""
    return dict(description.get("mappings", {}).get("_meta", {}))


def _same(there: Any, ours: Any) -> bool:
    """Whether a server's field is the one that was asked for: servers leave out what is the default anyway."""
    if isinstance(there, dict) and isinstance(ours, dict):
        return all(_same(there.get(name), value) for name, value in ours.items() if name not in _DEFAULTS) and all(
            name in ours or name in _DEFAULTS for name in there
        )
    return bool(there == ours)


_DEFAULTS = ("enabled",)
