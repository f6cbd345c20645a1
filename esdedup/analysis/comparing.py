"""Compare the texts of one cluster with each other: what changed, where they stand, and how likely they contradict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from esdedup.analysis.changes import changes
from esdedup.analysis.judging import judged
from esdedup.analysis.subjects import NO_LINKS, Places, SharedDocuments, standing, title_words
from esdedup.analysis.templates import FramedTexts, framed_each
from esdedup.analysis.word_forms import Measures
from esdedup.columns.arrays import Numbers, text_column
from esdedup.store.cluster_kinds import PLACES

MOST_COMPARED = 24
"""Number of texts of which each is compared with each, those that most sentences have first."""

_NUMBER = re.compile(r"(.*/)?[0-9]+(#[0-9]+)?")

SHARED_NUMBERS = ("one", "two", "equal", "varied", "named")
"""What a cluster says of each two of its documents, which are numbered in the order of their ids."""

Member = dict[str, Any]


class ClusterTexts(NamedTuple):
    """The texts of a cluster: aligned, with what their words mean, and where they stand."""

    aligned: FramedTexts
    texts: list[str]
    members: list[list[Member]]
    places: Places
    frames: int  # clusters with the frame of this one


class Compared(NamedTuple):
    """Pairs of texts: indices, what changed, how they stand to each other, and how likely they contradict."""

    one: Numbers
    two: Numbers
    changed: Measures
    stand: Measures
    likely: Measures


def hold_each(clusters: Sequence[dict[str, Any]]) -> Iterator[ClusterTexts]:
    """Align clusters in the format of clusters.jsonl."""
    for cluster, (aligned, texts) in zip(clusters, framed_each(clusters), strict=True):
        members: dict[str, list[Member]] = {}
        for member in cluster["members"]:
            members.setdefault(member["text"], []).append(member)
        some = [members[text] for text in texts]
        yield ClusterTexts(aligned, texts, some, _places(some, cluster.get("shared")), cluster.get("frames") or 1)


def compare(held: ClusterTexts, places: Sequence[int]) -> Compared:
    """Compare each of the texts with these indices with each, if they are not too many."""
    chosen = sorted(places, key=lambda place: (-len(held.members[place]), held.texts[place]))[:MOST_COMPARED]
    one, two = (np.array(chosen, np.int64)[side] for side in np.triu_indices(len(chosen), 1))
    words, alignment = held.aligned.words, held.aligned.alignment
    changed = changes(words, held.aligned.known, np.array([0, len(held.texts)]), alignment, one, two)
    stand = standing(words, alignment, held.places, one, two)
    texts, frames = np.full(len(one), len(places)), np.full(len(one), held.frames)
    return Compared(one, two, changed, stand, judged(changed, stand, texts, frames))


def _places(members: Sequence[Sequence[Member]], shared: Sequence[int] | None) -> Places:
    """Return where the texts stand. `shared` is as `SHARED_IN_CLUSTERS` gives it."""
    ids = sorted({member["document"] for some in members for member in some}, key=str.encode)
    numbers = {("document", identity): number for number, identity in enumerate(ids, 1)}
    named, documents = (np.zeros((len(members), PLACES), np.uint64) for _ in range(2))
    since, till = (np.zeros((len(members), PLACES), np.int64) for _ in range(2))
    titles = []
    for place, some in enumerate(members):
        titles.append(" ".join(dict.fromkeys(title_of(one["title"], one["document"]) for one in some[:PLACES])))
        for at, member in enumerate(some[:PLACES]):
            for table, key in ((named, ("title", page_of(member))), (documents, ("document", member["document"]))):
                table[place, at] = numbers.setdefault(key, len(numbers) + 1)
            ends = member["revision"] or 0, member.get("last_revision") or member["revision"] or 0
            since[place, at], till[place, at] = min(ends), max(ends)
    if len(shared or []) % len(SHARED_NUMBERS) or any(number is None for number in shared or []):
        raise ValueError("what the documents of a cluster share is damaged")
    one, two, *counts = np.array(shared or [], np.int64).reshape(-1, len(SHARED_NUMBERS)).T
    pairs = SharedDocuments.of(one + 1, two + 1, *counts)
    firsts = documents[:, 0].astype(np.int64)
    return Places(title_words(text_column(titles)), named, documents, since, till, firsts, pairs, NO_LINKS)


def page_of(member: Member) -> str:
    """Return the title of a member's document, or else its id."""
    return str(member["title"] or member["document"])


def title_of(title: str | None, document: str) -> str:
    """Return the title, or else an id that may name a subject; a number does not."""
    return title or ("" if _NUMBER.fullmatch(document) else document)
