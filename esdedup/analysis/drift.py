"""Contradictions: slots of a cluster in which its sentences state different facts about the same subject."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from esdedup.analysis.frames import framed
from esdedup.analysis.slots import SUBJECT, Frame, Slot
from esdedup.analysis.values import (
    DATE,
    NAME,
    NOTHING,
    NUMBER,
    QUANTITY,
    WORDS,
    Value,
    difference,
    read_value,
    same_value,
)
from esdedup.columns.components import roots, unite

_TRUST = {NUMBER: 0.95, QUANTITY: 0.95, DATE: 0.9, NAME: 0.6, WORDS: 0.3}
"""How often another value of this type is another fact."""

_OF_A_TEMPLATE = 0.5
_OF_TWO_PAGES = 0.5
_OF_TWO_DATES = 0.5

_MOST_VALUES = 200
"""Number of values of one slot that are compared, most common first."""

_MOST_SENTENCES = 20
"""Number of sentences that are named for a value."""

_NEGATIVES = {"not", "never", "no", "cannot", "without"}


def contradictions(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the contradictions in one cluster of kind drift or template, in the format of clusters.jsonl.

    Sentences of a template contradict each other if they name the same subject. Each contradiction has the cluster's
    id, the frame, the slot with its type, and `values` (text, count, the first sentences with this value, first and
    last time). It has the `majority` and the `newest` value as indices into `values` (null if there is none), the
    `difference` of the two most common values if they are numbers, and a `confidence`.
    """
    frame, texts = framed(cluster)
    members_of: dict[str, list[dict[str, Any]]] = {}
    for member in cluster["members"]:
        members_of.setdefault(member["text"], []).append(member)
    members = [members_of[text] for text in texts]
    groups = _of_one_subject(frame, members) if cluster["kind"] == "template" else [range(len(texts))]
    text = frame.text()
    return [row | {"frame": text} for places in groups for row in _among(cluster, frame, members, places)]


def confidences(cluster: dict[str, Any]) -> list[float]:
    """Return the confidence of each contradiction in such a cluster."""
    return [row["confidence"] for row in contradictions(cluster)]


def _among(
    cluster: dict[str, Any], frame: Frame, members: Sequence[Sequence[dict[str, Any]]], places: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield the contradictions among the texts with these indices, which fill the frame in the order of their
    `members`.
    """
    sentences = {place: members[place] for place in places}
    differing = {}
    for slot in frame.slots:
        values = {place: slot.value(place) for place in places}
        groups = _by_value(values, {place: len(sentences[place]) for place in places})
        if len(groups) > 1:
            differing[slot.name] = (slot, values, groups)
    dated = any(slot.type == DATE for slot, _, _ in differing.values())
    for slot, values, groups in differing.values():
        valued = [(_value(values, group, sentences), group) for group in groups]
        valued.sort(key=lambda pair: (-pair[0]["count"], pair[0]["value"]))
        rows = [row for row, _ in valued]
        pages = [{_page(one) for place in group for one in sentences[place]} for _, group in valued[:2]]
        first, second = (read_value(row["value"], slot.before, slot.behind) for row in rows[:2])
        times = [row["last"] or "" for row in rows]
        yield {
            "cluster": cluster["id"],
            "slot": slot.name,
            "type": slot.type,
            "majority": 0 if 2 * rows[0]["count"] > sum(row["count"] for row in rows) else None,
            "newest": times.index(max(times)) if max(times) and times.count(max(times)) == 1 else None,
            "difference": difference(first, second),
            "confidence": round(_confidence(cluster, slot, len(differing), dated, pages[0].isdisjoint(pages[1])), 3),
            "values": rows,
        }


def _of_one_subject(frame: Frame, members: Sequence[Sequence[dict[str, Any]]]) -> Iterator[list[int]]:
    """Yield groups of two or more texts of a template that name the same subject.

    Yields nothing if titles distinguish the texts, because then the frame has more than one subject.
    """
    subjects = [slot for slot in frame.slots if slot.name.rstrip("0123456789") == SUBJECT]
    others = [slot for slot in frame.slots if slot not in subjects]
    if not subjects:
        return
    places: dict[tuple[str, ...], list[int]] = {}
    for place in range(len(members)):
        named = tuple(" ".join(slot.fillers[place].casefold().split()) for slot in subjects)
        places.setdefault(named, []).append(place)
    for named, some in places.items():
        fillers = [slot.fillers[place].strip().casefold() for slot in others for place in some]
        where = [_page(members[place][-1]).casefold() for _ in others for place in some]
        in_title = sum(bool(text) and text in title for text, title in zip(fillers, where, strict=True))
        if any(named) and len(some) > 1 and 2 * in_title < len(some):
            yield some


def _page(member: dict[str, Any]) -> str:
    return str(member["title"] or member["document"])


def _by_value(values: Mapping[int, Value], counts: Mapping[int, int]) -> list[list[int]]:
    """Group the indices of texts with the same value. The order of the texts does not matter.

    If there are very many values, the most common ones are compared. Empty values are left out, unless others negate.
    """
    by_text: dict[str, list[int]] = {}
    negated = any(value.text.casefold() in _NEGATIVES for value in values.values())
    for place, value in values.items():
        if value.type != NOTHING or negated:
            by_text.setdefault(value.text, []).append(place)
    commonest = sorted(by_text, key=lambda text: (-sum(counts[place] for place in by_text[text]), text))[:_MOST_VALUES]
    alike = [
        (one, two)
        for one, two in combinations(range(len(commonest)), 2)
        if not negated and same_value(values[by_text[commonest[one]][0]], values[by_text[commonest[two]][0]])
    ]
    parent = np.arange(len(commonest), dtype=np.int32)
    unite(parent, *np.array(alike, np.int64).reshape(-1, 2).T)
    groups: dict[int, list[int]] = {}
    for text, root in zip(commonest, roots(parent, np.arange(len(commonest))).tolist(), strict=True):
        groups.setdefault(root, []).extend(by_text[text])
    return list(groups.values())


def _value(
    values: Mapping[int, Value], places: Sequence[int], sentences: Mapping[int, Sequence[dict[str, Any]]]
) -> dict[str, Any]:
    """Return one value in its most common form, and the sentences that have it."""
    most = min(places, key=lambda place: (-len(sentences[place]), values[place].text))
    members = sorted((one for place in places for one in sentences[place]), key=lambda one: one["id"].encode())
    times = sorted(member["timestamp"] for member in members if member["timestamp"])
    return {
        "value": values[most].text,
        "count": len(members),
        "first": times[0] if times else None,
        "last": times[-1] if times else None,
        "sentences": [
            {name: member[name] for name in ("id", "source", "document", "title", "revision", "timestamp", "text")}
            for member in members[:_MOST_SENTENCES]
        ],
    }


def _confidence(cluster: dict[str, Any], slot: Slot, differing: int, dated: bool, two_pages: bool) -> float:
    """Return the confidence of a contradiction, derived from that of the kind.

    It is lower for words than for figures, if much else differs, and for two pages or dates. One page is about one
    subject, two pages may be about two. And a fact of one year may be different in the next. The confidence that a
    cluster is a template says nothing about its rows.
    """
    trust = _TRUST.get(slot.type, 0.3) * 0.9 ** (differing - 1)
    kind = cluster["kind_confidence"] if cluster["kind"] == "drift" else _OF_A_TEMPLATE
    of_two_dates = _OF_TWO_DATES if dated and differing > 1 else 1.0
    return float(kind) * trust * (_OF_TWO_PAGES if two_pages else 1.0) * of_two_dates
