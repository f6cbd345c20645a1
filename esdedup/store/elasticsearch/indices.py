"""The indices of a store: dated generations behind aliases, made from `mappings/`. Only indices of esdedup are deleted.

A generation of the corpus consists of `state`, `documents` and `sentences`. The results of a scan are `pairs`,
`clusters`, `members` and `stale`. `PREFIX-sentences` is the alias of `PREFIX-sentences-DATE`, and so on.
"""

from __future__ import annotations

import datetime
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from elasticsearch import ApiError, BadRequestError

from esdedup.errors import NotAStoreError, StoreError, StoreLockedError, UsageError
from esdedup.store.elasticsearch.answers import GoneError, gone, reason_of
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.own_fields import (
    FieldDifference,
    different_fields,
    has_lookup,
    is_earlier,
    without_lookup,
)
from esdedup.store.schemas import SCHEMA_VERSION, mapping_text

log = logging.getLogger("esdedup")

CORPUS = ("documents", "sentences", "state")
"""In the order of creation and deletion: a generation with a state is complete."""

RESULTS = ("pairs", "clusters", "members", "stale")

WORKING = ("records",)
"""Indices that a scan makes for its queries and deletes afterwards."""

_READ_AT_ONCE = ("documents", "state")
"""Indices that are read while they are being filled."""

_KINDS = CORPUS + RESULTS + WORKING

_CLAIM = "unfinished"
"""The alias of the generation that is being made. A server does not let two indices of an alias be the write index."""

_STAMP = "[0-9]{8}t[0-9]{12}"

_LOADING = {"index.refresh_interval": "-1"}
"""How an index is filled: without refreshes."""
_CODECS = ("default", "best_compression", "legacy_best_compression")
"""How a server can write documents to disk. The second needs zstd, which `esdedup node` lacks; the third is slower."""
_DEFAULT_REPLICAS = {"index.auto_expand_replicas": "0-1"}  # one if a second node can hold it


class Indices:
    """Names, creates, swaps and deletes the indices of one prefix."""

    def __init__(self, connection: Connection, *, lookup: bool = True) -> None:
        self.connection = connection
        self.lookup = lookup
        """Whether sentences can be looked up in the indices that are made."""
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
        found: dict[str, bool] = {}
        for index, description in self._all().items():
            if (match := self._names.fullmatch(index)) is not None:
                found[match[2]] = found.get(match[2], False) or "esdedup" in _meta(description)
        # all indices of a date are made together: somebody may have overwritten what one of them says about itself
        return sorted(one for one, ours in found.items() if ours and self.name(kind, one) in self._all())

    def live(self, kind: str) -> str | None:
        """Return the generation behind the alias of a kind. Raise `NotAStoreError` if esdedup did not make it."""
        alias = self.alias(kind)
        found = {
            index: description.get("index", index)
            for index, description in self._all().items()
            if index == alias or alias in description.get("aliases", {})
        }
        ours = {
            index: match[2]
            for index in found
            if (match := self._names.fullmatch(index)) is not None and match[1] == kind
        }
        foreign = sorted(set(found.values()) - {found[index] for index in ours})
        if foreign or len(ours) > 1:
            which = foreign or sorted(ours)
            raise NotAStoreError(
                f"{self.connection.address}: the alias {alias} points to {', '.join(which)}, "
                + ("which esdedup did not make" if foreign else "and only one of them can be the store's")
                + "; remove it from the alias, or choose another prefix"
            )
        return next(iter(ours.values()), None)

    def _all(self) -> dict[str, Any]:
        """Return the server's description of every index with our prefix. It is cached until something changes."""
        if self._known is None:
            settings = ("uuid", "number_of_shards", "verified_before_close")
            what = ",".join(["*.aliases", "*.mappings", *(f"*.settings.index.{name}" for name in settings)])
            try:
                # others may have hidden or closed an index
                found = self.connection.ask("GET", f"/{self._prefix}-*", expand_wildcards="all", filter_path=what)
            except GoneError:  # one was deleted during the request
                return self._all()
            self._known = dict(found)
            # an index that was written again under another name, with our name as its alias
            for index, description in found.items():
                for alias in description.get("aliases", {}):
                    if self._names.fullmatch(alias):
                        self._known.setdefault(alias, {**description, "index": index})
        return self._known

    def forget(self) -> None:
        """Clear the cache, because another process has changed the indices."""
        self._known = None

    def _description(self, index: str) -> dict[str, Any]:
        if index not in self._all():
            raise GoneError(f"{self.connection.address}: {gone(f'no such index [{index}]')}")
        return dict(self._all()[index])

    def make(
        self, kinds: Iterable[str], meta: Mapping[str, Any], *, loading: bool = False, shards: int | None = None
    ) -> str:
        """Make an index of each kind as a new generation and return its name. `loading` makes it cheap to fill. The
        sentences get so many `shards`, or as many as are asked for.

        Raise `StoreLockedError` if another command takes the generation for an abandoned one and deletes it.
        """
        now = datetime.datetime.now(datetime.UTC)
        generation = now.strftime("%Y%m%dt%H%M%S%f")
        ours = {"schema": SCHEMA_VERSION, "replicas": _asked_replicas(), **meta}
        for kind in kinds:
            index = self.name(kind, generation)
            mapping, shape = self.mapping(kind), _shape()
            if kind == "sentences":
                mapping = mapping if self.lookup else without_lookup(mapping)
                shape |= {} if shards is None else {"index.number_of_shards": shards}
            body = {
                "settings": {**shape, **(_relaxed() if loading and kind not in _READ_AT_ONCE else {})},
                "mappings": {**mapping, "_meta": {"esdedup": ours}},
                "aliases": {own_name(index): {"is_hidden": True}},
            }
            try:
                self.connection.ask("PUT", f"/{index}", body, raising=(400,), wait_for_active_shards=1)
            except GoneError as error:
                raise StoreLockedError(
                    f"{self.connection.address}: another command has deleted the new index {index}; run "
                    "this one again when that has ended"
                ) from error
            except BadRequestError as error:
                if error.message != "resource_already_exists_exception":  # otherwise only the answer was lost
                    raise StoreError(f"{self.connection.address}: {_refusal(index, reason_of(error.body))}") from error
        self._known = None
        return generation

    def mapping(self, kind: str) -> dict[str, Any]:
        """Return the mapping of a kind from `mappings/`."""
        return dict(json.loads(mapping_text(f"{kind}.json")))

    def meta(self, index: str) -> dict[str, Any]:
        """Return what esdedup wrote into an index's `_meta` when it made the index."""
        meta = _meta(self._description(index))
        if "esdedup" not in meta:
            raise StoreError(
                f"{self.connection.address}: what esdedup wrote into the _meta of {index} is gone; "
                f"run esdedup doctor --repair --store {self.connection.address}"
            )
        return dict(meta["esdedup"])

    def has_meta(self, index: str) -> bool:
        """Whether an index says that esdedup made it."""
        return "esdedup" in _meta(self._description(index))

    def shards(self, index: str) -> int:
        """Return the number of shards of an index."""
        return int(self._description(index)["settings"]["index"].get("number_of_shards", 1))

    def set_meta(self, index: str, meta: Mapping[str, Any]) -> None:
        """Replace what esdedup wrote into an index's `_meta`."""
        self.connection.ask("PUT", f"/{index}/_mapping", {"_meta": {"esdedup": meta}})
        self._known = None

    def differences(self, kind: str, generation: str) -> list[FieldDifference]:
        """Return the fields of an index that are not as esdedup made them."""
        return different_fields(self._description(self.name(kind, generation))["mappings"], self.mapping(kind))

    def is_earlier(self, generation: str) -> bool:
        """Whether the sentences are indexed as they were by an earlier version."""
        return is_earlier(self._description(self.name("sentences", generation))["mappings"])

    def has_lookup(self, generation: str) -> bool:
        """Whether the sentences can be looked up."""
        return has_lookup(self._description(self.name("sentences", generation))["mappings"])

    def check_mapping(self, kind: str, generation: str) -> None:
        """Raise `StoreError` if fields that esdedup needs were changed."""
        for difference in self.differences(kind, generation):
            raise StoreError(
                f"{self.connection.address}: {self.name(kind, generation)}: {difference}; "
                f"run esdedup doctor --repair --store {self.connection.address}"
            )

    def uuid(self, index: str) -> str:
        """Return the server's own id of an index, which changes when the index is made again or restored."""
        return str(self._description(index)["settings"]["index"]["uuid"])

    def exists(self, index: str) -> bool:
        """Whether an index is there."""
        return index in self._all()

    def is_closed(self, index: str) -> bool:
        """Whether somebody has closed an index."""
        settings = self._description(index)["settings"]["index"]
        return bool(settings.get("verified_before_close") == "true")

    def restore(self, index: str) -> None:
        """End bulk loading: restore the defaults and the replicas, as set now or when the index was made."""
        asked = _asked_replicas()
        copies = self.meta(index)["replicas"] if asked is None else asked
        settings: dict[str, Any] = dict.fromkeys(_LOADING) | (_DEFAULT_REPLICAS if copies is None else {})
        if copies is not None:
            settings |= {"index.auto_expand_replicas": False, "index.number_of_replicas": copies}
        self.connection.ask("PUT", f"/{index}/_settings", settings)

    def relax(self, index: str) -> None:
        """Begin bulk loading: no refresh before the end. Replicas are kept, since they hold existing documents."""
        self.connection.ask("PUT", f"/{index}/_settings", _LOADING)

    def refresh(self, *names: str) -> None:
        """Make what was written visible to searches."""
        self.connection.ask("POST", f"/{','.join(names)}/_refresh")

    def count(self, name: str) -> int:
        """Return the number of documents of an index."""
        return int(self.connection.ask("GET", f"/{name}/_count")["count"])

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
                index = self._concrete(self.name(kind, before))
                actions.append({"remove": {"index": index, "alias": alias, "must_exist": True}})
            if generation not in (None, before):  # a server does not let two indices of an alias be the write index
                index = self._concrete(self.name(kind, generation))
                actions.append({"add": {"index": index, "alias": alias, "is_write_index": True}})
        self._change_aliases(actions, lambda: self._lives(target) == target, "replaces or drops")

    def own(self, names: Iterable[str]) -> None:
        """Give indices the alias through which they are written, where somebody has deleted it."""
        missing = [name for name in names if not self.has_own(name)]
        actions = [
            {"add": {"index": self._concrete(name), "alias": own_name(name), "is_hidden": True}} for name in missing
        ]
        if actions:
            self._change_aliases(actions, lambda: False, "replaces or drops")

    def has_own(self, name: str) -> bool:
        """Whether an index has the alias through which it is written."""
        return own_name(name) in self._description(name).get("aliases", {})

    def _concrete(self, name: str) -> str:
        """Return the name of the index itself, if `name` is an alias that somebody gave it."""
        return str(self._all().get(name, {}).get("index", name))

    def claim(self, generation: str) -> None:
        """Claim a generation as the one being made. Raise `StoreLockedError` if another one is claimed."""
        added = {"index": self.name("state", generation), "alias": self.alias(_CLAIM)}
        actions = [{"add": {**added, "is_write_index": True, "is_hidden": True}}]
        self._change_aliases(actions, lambda: self.claimed() == generation, "begins to replace")

    def _change_aliases(self, actions: list[dict[str, Any]], done: Callable[[], bool], otherwise: str) -> None:
        try:
            self.connection.ask("POST", "/_aliases", {"actions": actions}, raising=(400, 404, 500))
        except ApiError as error:
            self._known = None
            if not done():  # otherwise only the answer was lost
                raise StoreLockedError(
                    f"{self.connection.address}: another command {otherwise} this store ({reason_of(error.body)}); "
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
            self.connection.ask("DELETE", f"/{index}/_alias/{self.alias(_CLAIM)}", missing=True)
            self._known = None

    def _lives(self, kinds: Iterable[str]) -> dict[str, str | None]:
        return {kind: self.live(kind) for kind in kinds}

    def delete(self, kinds: Iterable[str], generations: Iterable[str] | None = None) -> None:
        """Delete generations of these kinds; without `generations`, all of them."""
        chosen = None if generations is None else set(generations)
        names = [
            name
            for kind in kinds
            for generation in self.generations(kind)
            if (chosen is None or generation in chosen) and self._is_index(name := self.name(kind, generation))
        ]
        for some in _few(names):
            self._known = None
            try:
                self.connection.ask("DELETE", f"/{','.join(some)}", ignore_unavailable="true")
            except GoneError:  # one was deleted during the request, and then none is deleted
                self.delete(kinds, chosen)

    def _is_index(self, name: str) -> bool:
        """Whether this is an index, and not an alias that somebody gave to an index of theirs. That one stays, but not
        our aliases: with them, it would be part of a store that is gone.
        """
        described = self._all()[name]
        index, kind = described.get("index"), name.split("-")[-2]
        if index is not None:
            ours = described["aliases"].keys() & {name, own_name(name), self.alias(kind)}
            actions = [{"remove": {"index": index, "alias": alias}} for alias in sorted(ours)]
            self._change_aliases(actions, lambda: False, "replaces or drops")
            log.warning("%s stays, because esdedup did not make it; delete it yourself", index)
        return index is None

    def bytes_on_disk(self) -> int:
        """Return the disk space of all generations, including replicas."""
        names = [self.name(kind, generation) for kind in _KINDS for generation in self.generations(kind)]
        total = 0
        for some in _few(names):
            answer = self.connection.ask("GET", f"/{','.join(some)}/_stats/store", filter_path="_all.total.store")
            total += int(answer["_all"]["total"]["store"]["size_in_bytes"])
        return total


def _refusal(index: str, reason: str) -> str:
    """Say why a server does not make an index."""
    if (template := re.search(r"template \[(.+?)\] that creates data streams", reason)) is None:
        return f"cannot make {index}: {reason}"
    return (
        f"cannot make {index}: the prefix falls under the template {template[1]} for data streams; choose another "
        "prefix, or give the template another pattern"
    )


def own_name(index: str) -> str:
    """Return the alias through which an index is written: a late request must not recreate a deleted index."""
    return f"{index}-own"


def _few(names: list[str]) -> Iterator[list[str]]:
    """Split names into groups that fit in the request line, which is limited to 4 kB."""
    for begin in range(0, len(names), 20):
        yield names[begin : begin + 20]


def _shape() -> dict[str, Any]:
    """Return the number of shards and replicas and the codec, as set in `ES_SHARDS`, `ES_REPLICAS` and `ES_CODEC`."""
    replicas, codec = _asked_replicas(), os.environ.get("ES_CODEC")
    shape = _DEFAULT_REPLICAS if replicas is None else {"index.number_of_replicas": replicas}
    shards = _number("ES_SHARDS", 1)
    if codec and codec not in _CODECS:
        raise UsageError(f"ES_CODEC is {codec!r}; allowed: {', '.join(_CODECS)}")
    asked = {"index.codec": codec or None, "index.number_of_shards": shards}
    return {**shape, **{name: value for name, value in asked.items() if value is not None}}


def _relaxed() -> dict[str, Any]:
    """Settings for filling a new index. It has no replicas, unless they were requested."""
    if _asked_replicas() is not None:
        return _LOADING
    return _LOADING | {"index.auto_expand_replicas": False, "index.number_of_replicas": 0}


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
