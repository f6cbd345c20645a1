"""What an operator of a server may do to a store's indices, and what comes of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from elasticsearch import Elasticsearch, NotFoundError

KINDS = ("documents", "sentences", "state", "pairs", "clusters", "members", "stale")
RESULTS = KINDS[3:]


@dataclass
class Site:
    """A store on a server, and a client of the operator's own."""

    client: Elasticsearch
    prefix: str
    url: str
    kept: dict[str, Any] = field(default_factory=dict)

    def index(self, kind: str) -> str:
        """The index of a kind, wherever its aliases point."""
        names = list(self.client.indices.get(index=f"{self.prefix}-{kind}-*", expand_wildcards="all"))
        [name] = [name for name in names if len(name) == len(f"{self.prefix}-{kind}-") + 21]
        return name

    def hits(self, index: str) -> list[dict[str, Any]]:
        """Every document of an index, with its id and what is in `_source`."""
        self.client.indices.refresh(index=index)
        found = self.client.search(index=index, size=10_000, sort=["_doc"])["hits"]["hits"]
        return [dict(hit) for hit in found]

    def write(self, index: str, hits: list[dict[str, Any]]) -> None:
        """Write documents from their `_source`, as `_reindex` and `_update_by_query` do."""
        lines: list[Any] = []
        for hit in hits:
            lines += [{"index": {"_id": hit["_id"]}}, hit["_source"]]
        for begin in range(0, len(lines), 1_000):
            answer = self.client.bulk(index=index, operations=lines[begin : begin + 1_000], refresh=True)
            assert not answer["errors"], answer

    def copied(self, source: str, target: str, *, settings: dict[str, Any] | None = None, mapped: bool = True) -> None:
        """Make `target` from the documents of `source`, as an operator does with `_reindex`."""
        [description] = self.client.indices.get(index=source).values()
        mappings = description["mappings"] if mapped else {}
        hits = self.hits(source)
        self.client.indices.create(index=target, mappings=mappings, settings=settings or {})
        self.write(target, hits)


@dataclass(frozen=True)
class Action:
    """Something that is done to a store.

    Without a `line`, a scan gives the same bytes as before. With one, every command says it, `mend` does what it
    advises, and then they do. `changes` names an action after which other sentences are stored: then the results are
    those of a store that is loaded with them.
    """

    name: str
    do: Callable[[Site], Any]
    line: str | None = None
    mend: Callable[[Site], Any] | None = None
    said: str | None = None
    """What a scan warns of."""
    answers: bool = True
    """Whether readers answer before it is mended."""
    writes: bool = False
    """Whether it is tried to write to the store afterwards, as what is done is about writing."""


def _delete_index(kind: str) -> Callable[[Site], Any]:
    return lambda site: site.client.indices.delete(index=site.index(kind))


def _delete_alias(kind: str) -> Callable[[Site], Any]:
    return lambda site: site.client.indices.delete_alias(index=site.index(kind), name=f"{site.prefix}-{kind}")


def _delete_own_alias(kind: str) -> Callable[[Site], Any]:
    return lambda site: site.client.indices.delete_alias(index=site.index(kind), name=f"{site.index(kind)}-own")


def _settings(kind: str, settings: dict[str, Any]) -> Callable[[Site], Any]:
    return lambda site: site.client.indices.put_settings(index=site.index(kind), settings=settings)


def _close(kind: str) -> Callable[[Site], Any]:
    return lambda site: site.client.indices.close(index=site.index(kind))


def _open(kind: str) -> Callable[[Site], Any]:
    def open_(site: Site) -> None:
        site.client.indices.open(index=site.index(kind), wait_for_active_shards=1)
        site.client.cluster.health(index=site.index(kind), wait_for_status="yellow")

    return open_


def _add_field(kind: str) -> Callable[[Site], Any]:
    return lambda site: site.client.indices.put_mapping(
        index=site.index(kind), properties={"@timestamp": {"type": "date"}, "note": {"type": "keyword"}}
    )


def _add_subfield(site: Site) -> None:
    text = {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}}
    site.client.indices.put_mapping(index=site.index("sentences"), properties={"text": text})


def _ignore_above(size: int) -> Callable[[Site], Any]:
    def change(site: Site) -> None:
        title = {"type": "keyword", "ignore_above": size, "fields": {"text": {"type": "text"}}}
        site.client.indices.put_mapping(index=site.index("sentences"), properties={"title": title})

    return change


def _update(kind: str, document: dict[str, Any]) -> Callable[[Site], Any]:
    def update(site: Site) -> None:
        index = site.index(kind)
        site.client.update(index=index, id=site.hits(index)[3]["_id"], doc=document, refresh=True)

    return update


def _update_title(site: Site) -> None:
    # the title that it has, so that results stay the same: what matters is that it is written again
    index = site.index("sentences")
    hit = site.hits(index)[3]
    site.client.update(
        index=index, id=hit["_id"], doc={"title": hit["_source"]["title"]}, detect_noop=False, refresh=True
    )


def _write_again(kind: str) -> Callable[[Site], Any]:
    return lambda site: site.write(site.index(kind), site.hits(site.index(kind)))


def _delete_document(kind: str) -> Callable[[Site], Any]:
    def delete(site: Site) -> None:
        index = site.index(kind)
        site.client.delete(index=index, id=site.hits(index)[2]["_id"], refresh=True)

    return delete


def _delete_all(kind: str) -> Callable[[Site], Any]:
    def delete(site: Site) -> None:
        index = site.index(kind)
        lines = [{"delete": {"_id": hit["_id"]}} for hit in site.hits(index)]
        site.client.bulk(index=index, operations=lines, refresh=True)

    return delete


def _restore(kind: str) -> Callable[[Site], Any]:
    """Delete an index and make it again from its documents, under its name: `_reindex` there and back."""

    def restore(site: Site) -> None:
        index = site.index(kind)
        [description] = site.client.indices.get(index=index).values()
        hits = site.hits(index)
        site.client.indices.delete(index=index)
        site.client.indices.create(index=index, mappings=description["mappings"], aliases=description["aliases"])
        site.write(index, hits)

    return restore


def _moved(kind: str, shards: int) -> Callable[[Site], Any]:
    """Write an index again under another name, delete it, and give its name and aliases to the new one."""

    def move(site: Site) -> None:
        index = site.index(kind)
        [description] = site.client.indices.get(index=index).values()
        moved = f"moved-{index}"
        site.copied(index, moved, settings={"index.number_of_shards": shards})
        site.client.indices.delete(index=index)
        aliases: dict[str, Any] = {**description["aliases"], index: {}}
        site.client.indices.update_aliases(
            actions=[{"add": {"index": moved, "alias": name, **how}} for name, how in aliases.items()]
        )

    return move


def _clone(site: Site) -> None:
    index = site.index("sentences")
    site.client.indices.put_settings(index=index, settings={"index.blocks.write": True})
    site.client.indices.clone(index=index, target=f"{index}-copy")
    site.client.indices.put_settings(index=index, settings={"index.blocks.write": None})


def _shrunk(site: Site) -> None:
    """Shrink in the usual way: a new index takes the place of the old one."""
    index = site.index("sentences")
    [description] = site.client.indices.get(index=index).values()
    target = f"shrunk-{index}"
    site.client.indices.put_settings(index=index, settings={"index.blocks.write": True})
    site.client.indices.clone(index=index, target=target, settings={"index.blocks.write": None})
    site.client.cluster.health(index=target, wait_for_status="yellow")
    aliases: dict[str, Any] = {**description["aliases"], index: {}}
    site.client.indices.delete(index=index)
    site.client.indices.update_aliases(
        actions=[{"add": {"index": target, "alias": name, **how}} for name, how in aliases.items()]
    )


def _template(template: dict[str, Any]) -> Callable[[Site], Any]:
    def put(site: Site) -> None:
        patterns = [f"{site.prefix}-*"]
        site.client.indices.put_index_template(
            name=f"{site.prefix}-company", index_patterns=patterns, priority=900, **template
        )
        site.client.indices.delete(index=site.index("pairs"))  # results are made again under the template

    return put


def forget_template(site: Site) -> None:
    """Delete the template of an action."""
    with suppress(NotFoundError):
        site.client.indices.delete_index_template(name=f"{site.prefix}-company")


def _alias_to_other(site: Site) -> None:
    site.client.indices.create(index=f"other-{site.prefix}")
    site.client.indices.put_alias(index=f"other-{site.prefix}", name=f"{site.prefix}-sentences")


def _no_alias_to_other(site: Site) -> None:
    site.client.indices.delete_alias(index=f"other-{site.prefix}", name=f"{site.prefix}-sentences")


def type_a_document(site: Site) -> None:
    typed = {"text": "What somebody typed into the console."}
    site.client.index(index=site.index("sentences"), document=typed, refresh=True)


def _delete_foreign(site: Site) -> None:
    index = site.index("sentences")
    for hit in site.hits(index):
        if not hit["_id"].isdigit():
            site.client.delete(index=index, id=hit["_id"], refresh=True)


def _runtime(site: Site) -> None:
    site.client.indices.put_mapping(index=site.index("sentences"), runtime={"text": {"type": "keyword"}})


def _no_runtime(site: Site) -> None:
    site.client.indices.put_mapping(index=site.index("sentences"), runtime={"text": None})


def _watermark(site: Site) -> None:
    for kind in KINDS:
        site.client.indices.put_settings(index=site.index(kind), settings={"index.blocks.read_only_allow_delete": True})


def _no_watermark(site: Site) -> None:
    for kind in KINDS:
        site.client.indices.put_settings(index=site.index(kind), settings={"index.blocks.read_only_allow_delete": None})


def _merge_segments(site: Site) -> None:
    site.client.indices.forcemerge(index=site.index("sentences"), max_num_segments=1)


def _flush(site: Site) -> None:
    site.client.indices.flush(index=f"{site.prefix}-*")
    site.client.indices.clear_cache(index=f"{site.prefix}-*")


def _note_a_sentence(site: Site) -> None:
    _add_field("sentences")(site)
    _update("sentences", {"note": "seen"})(site)


def _own_alias(site: Site) -> None:
    site.client.indices.put_alias(index=site.index("sentences"), name=f"mine-{site.prefix}")


def _own_index(site: Site) -> None:
    site.client.indices.create(index=f"{site.prefix}-notes")


def _snapshot(site: Site) -> None:
    """Take a snapshot, change things, and go back to it."""
    repository = f"snapshots-{site.prefix}"
    client = site.client.options(request_timeout=60)
    client.snapshot.create_repository(name=repository, repository={"type": "fs", "settings": {"location": repository}})
    indices = ",".join(site.index(kind) for kind in KINDS)
    client.snapshot.create(
        repository=repository, snapshot="one", indices=indices, include_global_state=False, wait_for_completion=True
    )
    _update("sentences", {"text": "Something else entirely, which nobody has ever said in any article."})(site)
    for kind in KINDS:
        client.indices.delete(index=site.index(kind))
    client.snapshot.restore(repository=repository, snapshot="one", indices=indices, wait_for_completion=True)
    client.snapshot.delete(repository=repository, snapshot="one")
    client.snapshot.delete_repository(name=repository)


_REPLICAS = {"index.auto_expand_replicas": False, "index.number_of_replicas": 2}
_READ_ONLY = {"index.blocks.write": True}
_WRITABLE = {"index.blocks.write": None}
_FIELDS = {"template": {"mappings": {"properties": {"@timestamp": {"type": "date"}}}}}
_SHAPE = {"index.number_of_shards": 3, "index.refresh_interval": "60s"}
_BLOCKED = "the server does not accept writes .* fix this and run the same command again"
_CLOSED = r"the index \S+ is closed; open it \(POST /\S+/_open\) and try again"
_AGAIN = "were made again or restored; reading all of them"
_REPAIR = "run esdedup doctor --repair"
_TITLE = rf'the field title is .*"ignore_above": 20.*, and esdedup needs .*8000.*; {_REPAIR}'
_SHADOWED = f"the field text is computed by a runtime field, and esdedup needs .*; {_REPAIR}"
_OTHER = "the alias .*-sentences points to other-.*, which esdedup did not make; remove it from the alias"
_STREAMS = "falls under the template .* for data streams; choose another prefix"
_TYPED = f"has a document that esdedup did not write .*; delete it, or {_REPAIR}"

ACTIONS: list[Action] = [
    *(Action(f"delete the index of {kind}", _delete_index(kind), answers=False) for kind in RESULTS),
    *(
        Action(f"delete the alias PREFIX-{kind}", _delete_alias(kind), writes=kind in ("state", "members"))
        for kind in KINDS
    ),
    *(Action(f"delete the write alias of {kind}", _delete_own_alias(kind), writes=True) for kind in KINDS[1:3]),
    *(Action(f"delete one document of {kind}", _delete_document(kind), answers=False) for kind in RESULTS[:3]),
    Action("delete all documents of members", _delete_all("members"), answers=False),
    *(
        Action(f"close the index of {kind}", _close(kind), _CLOSED, _open(kind), answers=False)
        for kind in ("sentences", "documents", "clusters")
    ),
    Action(
        "make the index of sentences read-only",
        _settings("sentences", _READ_ONLY),
        mend=_settings("sentences", _WRITABLE),
    ),
    Action(
        "make the index of the state read-only", _settings("state", _READ_ONLY), _BLOCKED, _settings("state", _WRITABLE)
    ),
    Action("let the disk reach its flood watermark", _watermark, _BLOCKED, _no_watermark),
    Action("merge the segments of sentences", _merge_segments),
    Action("change the replicas of sentences", _settings("sentences", _REPLICAS)),
    Action("change the refresh interval of sentences", _settings("sentences", {"index.refresh_interval": "120s"})),
    Action("hide the index of sentences", _settings("sentences", {"index.hidden": True})),
    Action("clone the index of sentences beside it", _clone),
    Action("put a clone of sentences in its place", _shrunk, writes=True),
    Action("flush, and clear caches", _flush),
    Action("restore a snapshot", _snapshot, said=_AGAIN),
    Action("update a sentence (a new field)", _note_a_sentence),
    Action("update a sentence (nothing new)", _update_title),
    Action("update all sentences by query", _write_again("sentences")),
    Action("update all documents by query", _write_again("documents")),
    Action("update all members by query", _write_again("members")),
    Action("write sentences to a new index of the same name", _restore("sentences"), said=_AGAIN),
    Action("write documents to a new index of the same name", _restore("documents")),
    Action("write the state to a new index of the same name", _restore("state")),
    Action(
        "write sentences to an index of another name, with three shards",
        _moved("sentences", 3),
        said=_AGAIN,
        writes=True,
    ),
    Action("write members to an index of another name", _moved("members", 1), writes=True),
    *(Action(f"add fields to {kind}", _add_field(kind)) for kind in KINDS),
    Action("add a keyword to the text of sentences", _add_subfield),
    Action("change a field of sentences", _ignore_above(20), _TITLE, _ignore_above(8000), answers=False),
    Action("shadow a field by a runtime field", _runtime, _SHADOWED, _no_runtime, answers=False),
    Action("add an alias of one's own", _own_alias),
    Action("add an index of one's own with the prefix", _own_index),
    Action("point the alias of sentences to another index too", _alias_to_other, _OTHER, _no_alias_to_other),
    Action("a template of the company that adds fields", _template(_FIELDS), answers=False),
    Action(
        "a template that sets shards, a slow refresh and an alias",
        _template({"template": {"settings": _SHAPE, "aliases": {"everything": {}}}}),
        answers=False,
    ),
    Action("a template for data streams", _template({"data_stream": {}}), _STREAMS, forget_template, answers=False),
    Action("type a document into the index of sentences", type_a_document, _TYPED, _delete_foreign),
]


NOT_TRIED = (
    "`_reindex`, `_update_by_query` and `_delete_by_query` as such (the node lacks them): documents are written again "
    "from `_source`, which is what they do",
    "index lifecycle policies, data streams, rollover, cross-cluster replication, security (modules of x-pack)",
    "a real disk that is full at the server: the blocks that a server sets then are set",
)


def table() -> str:
    """The table of docs/reliability.md."""
    rows = ["| action | afterwards |", "|---|---|"]
    for action in ACTIONS:
        outcome = "the same results"
        if action.line is not None:
            outcome = f"one line: `{_shown(action.line)}`; then the same results"
        elif action.mend is not None:
            outcome = "the same results; writing is refused by a line until it is undone"
        elif action.said is not None:
            outcome = f"`{_shown(action.said)}`; the same results"
        elif not action.answers:
            outcome = "readers: `no results`; a scan gives the same results"
        rows.append(f"| {action.name} | {outcome} |")
    return "\n".join(rows) + "\n"


def _shown(pattern: str) -> str:
    """A pattern as a person reads it."""
    for regular, plain in ((r"\S+", "…"), (r"\(", "("), (r"\)", ")"), (".*", "…")):
        pattern = pattern.replace(regular, plain)
    return pattern


if __name__ == "__main__":
    sys.stdout.write(table())
