"""Check everything that a store on a server promises, and mend it."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from contextlib import closing
from itertools import chain
from typing import Any
from urllib.parse import quote

import numpy as np
from elasticsearch import ApiError

from esdedup.errors import EsdedupError
from esdedup.matching.signing import Signing
from esdedup.plurals import plural
from esdedup.store.elasticsearch.address import ServerAddress
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.generations import OpenGeneration, live_generation
from esdedup.store.elasticsearch.holds import Hold, is_dead
from esdedup.store.elasticsearch.indices import CORPUS, RESULTS, Indices, own_name
from esdedup.store.elasticsearch.journal import State
from esdedup.store.elasticsearch.ledger import ServerLedger
from esdedup.store.elasticsearch.mending import STRANGE, Mender, sentence_counts
from esdedup.store.elasticsearch.reading import Fields, Hits, Reader
from esdedup.store.elasticsearch.rebuilding import Rebuilding
from esdedup.store.elasticsearch.resigning import number_of, sign_again
from esdedup.store.elasticsearch.rows import NAMED, OURS
from esdedup.store.schemas import check_readable, saved_signing
from esdedup.store.store import Check

_SAMPLE, _RUN = 500, 50
_REBUILT = {*(f"index of {kind}" for kind in CORPUS), "tokens", "documents of sentences"}
_READING = ("read", "view_index_metadata")
_PRIVILEGES = ("read", "write", "create_index", "delete_index", "manage", "view_index_metadata", "monitor")


class Examination:
    """Checks of the store at an address. Nothing is changed but by `repair`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._indices = Indices(connection)
        self._address = str(connection.address)
        self._repair = f"esdedup doctor --repair --store {self._address}"

    def checks(self) -> Iterator[Check]:
        """Yield every check. The later ones need the earlier ones."""
        yield self._privileges()
        generation = self._generation()
        if generation is None:
            yield Check("store", "there is no store", "make one with esdedup run or esdedup index")
            return
        corpus = list(self._corpus(generation))
        yield from corpus
        if any(check.problem for check in corpus):
            yield Check("other checks", advice="they need every index above", made=False)
            return
        meta = self._indices.meta(self._indices.name("sentences", generation))
        try:
            check_readable(self._address, meta["schema"], meta["hash-scheme"])
            signing = saved_signing(self._address, meta["signing"])
        except EsdedupError as error:
            yield Check("version", str(error))
            return
        opened = self._opened(generation, signing)
        yield self._aliases(opened)
        yield self._documents_of_others(opened)
        yield self._unsigned(opened)
        yield self._counts(opened)
        yield from self._sample(opened)
        lost = opened.lost_results()
        yield Check("results", lost and f"no results: {lost}", lost and f"{self._repair}, or scan it again")
        yield self._left_over(opened)
        yield self._writers(opened)

    def repair(self, broken: Collection[str]) -> None:
        """Mend what a writer cannot: lost indices and fields, wrong tokens, documents of others, what was left over.

        `broken` are the names of the checks that found something.
        """
        generation = self._generation()
        if generation is None:
            return
        sentences = self._indices.name("sentences", generation)
        if not self._indices.exists(sentences) or self._indices.is_closed(sentences):
            return
        name = self._indices.name("state", generation)
        hold = None
        if self._indices.exists(name) and not self._indices.is_closed(name):
            self._indices.own([name])
            hold = Hold(State(self._connection, name), self._address)  # nobody may write meanwhile
        try:
            if _REBUILT.intersection(broken):
                Rebuilding(self._connection, self._indices, generation).make()
            else:
                self._tidy(generation)
        finally:
            if hold is not None:
                hold.release()

    def _tidy(self, generation: str) -> None:
        """Delete documents of others, and indices that killed commands left."""
        for kind in ("documents", "sentences"):
            index = self._indices.name(kind, generation)
            self._indices.own([index])
            self._indices.refresh(index)
            self._delete(index, Reader(self._connection).written_since(index, None, Fields(source=True), STRANGE))
        meta = self._indices.meta(index)
        opened = self._opened(generation, saved_signing(self._address, meta["signing"]))
        self._delete(index, ([hit for hit in hits if number_of(hit) is None] for hits in _mender(opened).of_others()))
        states = set(self._indices.generations("state"))
        for kind in CORPUS:
            self._indices.delete([kind], set(self._indices.generations(kind)) - states)

    def _delete(self, index: str, pages: Iterator[Hits]) -> None:
        for hit in chain.from_iterable(list(pages)):
            routing = {"routing": hit["_routing"]} if "_routing" in hit else {}
            self._connection.ask("DELETE", _path(index, hit["_id"]), missing=True, **routing)
        self._indices.refresh(index)

    def _opened(self, generation: str, signing: Signing) -> OpenGeneration:
        return OpenGeneration(self._connection, self._indices, generation, signing, 2**28, 1)

    def _generation(self) -> str | None:
        """Return the live generation, or that of the sentences if the state is lost."""
        found = live_generation(self._indices) or self._indices.live("sentences")
        kept = self._indices.generations("sentences")
        return found or (kept[-1] if kept else None)

    # -- single checks --------------------------------------------------------------------------------------

    def _privileges(self) -> Check:
        pattern = f"{self._connection.address.prefix}-*"
        asked = {"index": [{"names": [pattern], "privileges": list(_PRIVILEGES)}]}
        try:
            answer = self._connection.ask("POST", "/_security/user/_has_privileges", asked, raising=(400, 405))
        except ApiError:
            return Check("privileges", advice="the server has no security, or not Elasticsearch's", made=False)
        held = answer.get("index", {}).get(pattern, {})
        missing = [name for name in _PRIVILEGES if not held.get(name)]
        if not set(missing).intersection(_READING):
            return Check("privileges" if not missing else "privileges (of a reader)")
        return Check(
            "privileges", f"the credentials lack {', '.join(missing)} on {pattern}",
            "grant them; see docs/elasticsearch.md",
        )  # fmt: skip

    def _corpus(self, generation: str) -> Iterator[Check]:
        for kind in CORPUS:
            name = self._indices.name(kind, generation)
            again = lost = f"{self._repair} makes the index again"
            if kind == "sentences":
                lost = "restore it from a snapshot, or index the sources again with --fresh"
            if not self._indices.exists(name):
                yield Check(f"index of {kind}", f"{name} is gone", lost)
            elif self._indices.is_closed(name):
                yield Check(f"index of {kind}", f"{name} is closed", f"open it (POST /{name}/_open)")
            elif not self._indices.has_meta(name):
                yield Check(f"index of {kind}", f"the _meta of {name} was changed", again)
            elif differences := self._indices.differences(kind, generation):
                yield Check(f"index of {kind}", f"{name}: {differences[0]}", again)
            elif kind == "sentences" and self._indices.is_earlier(generation):
                yield Check(f"index of {kind}", f"{name} was made by an earlier version, and takes more disk", again)
            else:
                yield Check(f"index of {kind}")

    def _aliases(self, opened: OpenGeneration) -> Check:
        wrong = []
        for kind, name in opened.names.items():
            generation = opened.generation if kind in CORPUS else opened.results
            if not self._indices.exists(name):
                continue  # said elsewhere
            if self._indices.live(kind) != generation:
                wrong.append(self._indices.alias(kind))
            if not self._indices.has_own(name):
                wrong.append(own_name(name))
        problem = f"missing aliases: {', '.join(wrong)}" if wrong else None
        return Check("aliases", problem, (wrong and f"{self._repair}, or any command that writes") or None)

    def _documents_of_others(self, opened: OpenGeneration) -> Check:
        names = [opened.names[kind] for kind in ("documents", "sentences")]
        count = sum(opened.reader.count(name, STRANGE) for name in names)
        documents = plural(count, "document")
        problem = f"{documents} of others in {' and '.join(names)}" if count else None
        return Check("documents of others", problem, f"{self._repair} deletes them" if count else None)

    def _unsigned(self, opened: OpenGeneration) -> Check:
        count = 0
        for hits in _mender(opened).of_others():
            ours = [hit for hit in hits if number_of(hit) is not None]
            count += len(hits) - len(ours) + int(sign_again(ours, opened.signing).wrong.sum())
        sentences = plural(count, "sentence was", "sentences were")
        problem = f"{sentences} changed outside esdedup, and not signed again" if count else None
        return Check("signed sentences", problem, f"{self._repair}, or any command that writes" if count else None)

    def _counts(self, opened: OpenGeneration) -> Check:
        if opened.state.get("started") is not None:
            return Check("counts", "a run is not finished", "run the same command again")
        kept, held = sentence_counts(opened)
        if kept == held:
            return Check("counts")
        return Check(
            "counts", f"the documents have {plural(kept, 'sentence')}, and {plural(held, 'is', 'are')} stored",
            f"{self._repair}, then index their sources again",
        )  # fmt: skip

    def _sample(self, opened: OpenGeneration) -> Iterator[Check]:
        """Sign some sentences again, and look for their documents."""
        index, chance = opened.names["sentences"], random.Random(0)
        hits: list[dict[str, Any]] = []
        if opened.reader.count(index, OURS) <= _SAMPLE:
            hits = [hit for some in opened.reader.read_all(index, NAMED, OURS) for hit in some]
        else:
            for _ in range(_SAMPLE // _RUN):  # short runs, by content hash
                begin = {"range": {"hash": {"gte": chance.randrange(-(2**63), 2**63)}}}
                body = {"size": _RUN, "query": begin, "sort": ["hash"], **NAMED.body()}
                hits += opened.reader.search(index, body)["hits"]["hits"]
        hits = [hit for hit in hits if "tokens" in hit["_source"]]
        wrong = int(sign_again(hits, opened.signing).wrong.sum()) if hits else 0
        yield Check(
            "tokens", f"sentences with wrong tokens: {wrong:,}, in a sample of {len(hits):,}" if wrong else None,
            f"{self._repair} signs all of them again" if wrong else None,
        )  # fmt: skip
        numbers = np.unique([hit["_source"]["document_number"] for hit in hits]) if hits else np.empty(0, np.int64)
        pages = opened.reader.look_up(opened.names["documents"], "number", numbers, Fields(columns=("number",)))
        begun = opened.state.get("started") is not None  # sentences are written before their documents
        orphans = 0 if begun else len(numbers) - sum(len(page) for page in pages)
        problem = f"documents that are gone: {orphans:,}, in a sample of {len(numbers):,}" if orphans else None
        yield Check(
            "documents of sentences", problem,
            f"{self._repair} makes them again from their sentences" if orphans else None,
        )  # fmt: skip

    def _left_over(self, opened: OpenGeneration) -> Check:
        indices, states = self._indices, set(self._indices.generations("state"))
        left = [
            indices.name(kind, generation)
            for kind in CORPUS
            for generation in indices.generations(kind)
            if generation not in states
        ]
        left += [
            indices.name(kind, generation)
            for kind in RESULTS
            if not self._holders(opened)
            for generation in indices.generations(kind)
            if generation != opened.results
            and indices.meta(indices.name(kind, generation)).get("corpus") == opened.generation
        ]
        problem = f"left by killed commands: {', '.join(left)}" if left else None
        return Check("indices left over", problem, f"{self._repair} deletes them" if left else None)

    def _holders(self, opened: OpenGeneration) -> list[dict[str, Any]]:
        """Return the writers that are not known to be dead."""
        holders = (opened.state.piece("hold") or {}).get("holders", {})
        return [one for one in holders.values() if not is_dead(one)]

    def _writers(self, opened: OpenGeneration) -> Check:
        told = [f"process {one['process']} on {one['host']} since {one['since']}" for one in self._holders(opened)]
        return Check(
            "writers", f"being written by {'; '.join(told)}" if told else None, "wait for it" if told else None
        )


def examine(address: ServerAddress) -> list[Check]:
    """Return every check of the store at an address."""
    with closing(Connection(address)) as connection:
        return list(Examination(connection).checks())


def repair(address: ServerAddress, broken: Collection[str]) -> None:
    """Mend the store at an address as far as it can be done before it is opened. `broken` are names of checks."""
    with closing(Connection(address)) as connection:
        Examination(connection).repair(broken)


def _mender(opened: OpenGeneration) -> Mender:
    return Mender(opened, ServerLedger(opened.state, opened.address))


def _path(index: str, identity: str) -> str:
    return f"/{own_name(index)}/_doc/{quote(identity, safe='')}"
