"""Contradictions: slots of a cluster in which its sentences state different facts about the same subject."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from esdedup.analysis.changes import CHANGES
from esdedup.analysis.comparing import ClusterTexts, Compared, Member, compare, hold_each, page_of
from esdedup.analysis.judging import LEAST_LISTED
from esdedup.analysis.names import CONTRADICTION, NEGATION, OPPOSITE, ORDER, TEMPLATE, UPDATE
from esdedup.analysis.slots import SUBJECT, Frame, Slot
from esdedup.analysis.spelling import same_time, spelled_alike
from esdedup.analysis.stale import corrections
from esdedup.analysis.subjects import STANDING
from esdedup.analysis.values import DATE, NOTHING, WORDS, Value, difference, read_value, same_value
from esdedup.analysis.values import NAME as NAME_TYPE
from esdedup.analysis.word_forms import NAME, Measures
from esdedup.analysis.word_meanings import are_opposites, excludes, lexicon
from esdedup.columns.cuts import roots, unite

_MOST_VALUES = 200
"""Number of values of one slot that are compared, most common first."""

_STATEMENT = ("id", "source", "document", "title", "revision", "timestamp", "text")

_MOST_SENTENCES = 20
"""Number of sentences that are named for a value."""


class _Differing(NamedTuple):
    """A slot with different values, and the pair of texts that most likely contradict each other there."""

    slot: Slot
    groups: list[list[int]]
    pair: int
    fact: str


def contradictions(cluster: dict[str, Any], *, stale: bool = False) -> list[dict[str, Any]]:
    """Return the contradictions in one cluster; see `contradictions_of`."""
    return next(contradictions_of([cluster], stale=stale))


def contradictions_of(clusters: Sequence[dict[str, Any]], *, stale: bool = False) -> Iterator[list[dict[str, Any]]]:
    """Yield the contradictions in each cluster in the format of clusters.jsonl.

    Sentences of a template of three texts or more contradict each other if they name the same subject. Each
    contradiction has the cluster's id, the frame, the slot with its type, the `fact` that differs, the `subject`,
    whether it is an update, and `values`
    (text, count, sentences with this value, first and last time): first the two that most likely contradict each other,
    each beginning with the sentence in which it does, then the most common ones. It has the `majority` and the `newest`
    value as indices into `values` (null if there is none), the `difference` of the first two values if they are
    numbers, a `confidence` and `why`. If members say what is `current`, only those that are `stale` may be chosen:
    corrections that did not arrive.
    """
    for cluster, held in zip(clusters, hold_each(clusters), strict=True):
        everywhere = [list(range(len(held.texts)))]
        several = cluster["kind"] == TEMPLATE and len(held.texts) > 2
        groups = _of_one_subject(held.aligned.frame, held.members) if several else everywhere
        frame = held.aligned.frame.text()
        yield [
            {"cluster": cluster["id"], **row, "frame": frame}
            for places in groups
            for row in contradictions_among(held, compare(held, places), places, stale=stale)
        ]


def confidences(clusters: Sequence[dict[str, Any]]) -> list[list[float]]:
    """Return the confidence of each contradiction in each of such clusters."""
    return [[row["confidence"] for row in rows] for rows in contradictions_of(clusters)]


def contradictions_among(
    held: ClusterTexts, compared: Compared, places: Sequence[int], *, stale: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the contradictions among the texts with these indices, which are `compared` with each other; or only those
    that are `stale`, one for each value that was corrected.
    """
    counts = {place: len(held.members[place]) for place in places}
    moved = compared.changed[:, [CHANGES.index(name) for name in ("only moved", "opposites")]].any()
    differing = []
    for slot in held.aligned.frame.slots:
        values = {place: slot.value(place) for place in places}
        groups = _by_value(values, counts, bool(moved))
        if len(groups) > 1 and (found := _surest(slot, values, groups, compared)) is not None:
            differing.append(found)
    for found in _deciding(differing):
        told = _told(found, compared, held)
        if stale:
            yield from (told | {"stale": correction} for correction in _stale(found, compared, held))
        else:
            yield told


def _surest(
    slot: Slot, values: Mapping[int, Value], groups: Sequence[Sequence[int]], compared: Compared
) -> _Differing | None:
    """Return the pair of texts with different values in a slot that most likely contradict each other.

    An empty value contradicts another one if that negates, if words have only moved from there, or if its opposite
    stands elsewhere.
    """
    group_of = {place: number for number, group in enumerate(groups) for place in group}
    sides = [np.array([group_of.get(place, -1) for place in side.tolist()]) for side in (compared.one, compared.two)]
    likely = np.where((sides[0] >= 0) & (sides[1] >= 0) & (sides[0] != sides[1]), compared.likely, 0.0)
    empty = np.array([values[group[0]].type == NOTHING for group in groups])
    if empty.any() and not _is_negated(values):
        added = (empty[sides[0]] | empty[sides[1]]) & (compared.changed[:, CHANGES.index("only moved")] == 0)
        opposed = compared.changed[:, CHANGES.index("opposites")] > 0
        apart = np.array([opposed.any() and excludes(values[group[0]].text) for group in groups])
        elsewhere = (apart[sides[0]] | apart[sides[1]]) & opposed
        likely = np.where(added & ~elsewhere, 0.0, likely)
    pair = int(np.argmax(likely)) if len(likely) else 0
    if not len(likely) or likely[pair] < LEAST_LISTED:
        return None
    texts = [values[int(side[pair])].text for side in (compared.one, compared.two)]
    if same_time(*texts):
        return None
    written = _unshared(*texts)
    turned = compared.changed[pair, [CHANGES.index(name) for name in ("opposites", "negations", "numbers")]].any()
    if (
        not turned
        and slot.type in (NAME_TYPE, WORDS)
        and not any(map(str.isdigit, "".join(written)))
        and spelled_alike(*written)
    ):
        return None
    # only values that contradict another one about as likely are told
    surest = np.zeros(len(groups))
    for side in sides:
        np.maximum.at(surest, side[side >= 0], likely[side >= 0])
    told = [list(group) for group, sure in zip(groups, surest, strict=True) if 2 * sure >= likely[pair]]
    return _Differing(slot, told, pair, _fact(slot, texts, compared.changed[pair]))


def _unshared(one: str, two: str) -> tuple[str, str]:
    """Return two texts without the words that both have."""
    ones, twos = one.split(), two.split()
    return " ".join(word for word in ones if word not in twos), " ".join(word for word in twos if word not in ones)


def _fact(slot: Slot, values: Sequence[str], changed: Measures) -> str:
    """Return what sort of fact differs."""
    words = [value.casefold().split() for value in values]
    negated = [any(word in lexicon().negatives for word in some) for some in words]
    if negated[0] != negated[1]:
        return NEGATION
    if are_opposites(*values) or (changed[CHANGES.index("opposites")] and "" in map(str.strip, values)):
        return OPPOSITE
    if changed[CHANGES.index("moved")] and slot.type not in ("number", "quantity", "date"):
        return ORDER
    return slot.type


def _deciding(differing: Sequence[_Differing]) -> Iterator[_Differing]:
    """Yield the slots that state facts: other words only if nothing else differs, and dates only if they are not the
    time of another fact. Exchanged words are told once, and so are opposites that stand in two slots.
    """
    facts = [found for found in differing if found.fact != WORDS] or differing
    facts = [found for found in facts if found.fact != DATE] or facts
    told = set()
    for found in facts:
        halved = found.fact == OPPOSITE and any(not found.slot.value(group[0]).text for group in found.groups)
        if found.fact not in told:
            yield found
        if halved or found.fact == ORDER:
            told.add(found.fact)


def _told(found: _Differing, compared: Compared, held: ClusterTexts) -> dict[str, Any]:
    """Return one contradiction."""
    slot, pair = found.slot, found.pair
    sure = {int(side[pair]) for side in (compared.one, compared.two)}
    rows = [
        (sure.isdisjoint(group), _value({place: slot.value(place) for place in group}, group, held.members, sure))
        for group in found.groups
    ]
    rows.sort(key=lambda row: (row[0], -row[1]["count"], row[1]["value"]))
    valued = [row for _, row in rows]
    first, second = (read_value(row["value"], slot.before, slot.behind) for row in valued[:2])
    most = max(range(len(valued)), key=lambda place: valued[place]["count"])
    times = [row["last"] or "" for row in valued]
    sides = [held.members[int(side[pair])] for side in (compared.one, compared.two)]
    when = sorted({member["timestamp"] for side in sides for member in side if member["timestamp"]})
    versions = bool(compared.stand[pair, STANDING.index("versions")])
    change = UPDATE if versions and len(when) > 1 else CONTRADICTION
    return {
        "slot": slot.name,
        "type": slot.type,
        "fact": found.fact,
        "subject": _subject(sides, held, int(compared.one[pair])),
        "change": change,
        "majority": most if 2 * valued[most]["count"] > sum(row["count"] for row in valued) else None,
        "newest": times.index(max(times)) if max(times) and times.count(max(times)) == 1 else None,
        "difference": difference(first, second),
        "confidence": round(float(compared.likely[pair]), 3),
        "why": _why(found.fact, versions, change, compared.changed[pair]),
        "values": valued,
    }


def _stale(found: _Differing, compared: Compared, held: ClusterTexts) -> Iterator[dict[str, Any]]:
    """Yield where values still stand that a page has corrected."""
    named = bool(compared.changed[found.pair, CHANGES.index("names in common")] > 0)
    for told in corrections(held, found.groups, named=named):
        old, new = (
            found.slot.value(max(found.groups[told[which]], key=lambda place: len(held.members[place]))).text
            for which in ("old", "new")
        )
        standing = [{name: member[name] for name in _STATEMENT} for member in told["standing"]]
        yield told | {"old": old, "new": new, "standing": standing}


def _subject(sides: Sequence[Sequence[Member]], held: ClusterTexts, place: int) -> str | None:
    """Return what two texts are about: the title that they share, or the first name that both have."""
    shared = set.intersection(*({page_of(member) for member in side} for side in sides))
    if shared:
        return min(shared)
    words, slotted = held.aligned.words, held.aligned.alignment.slotted
    low, high = int(words.offsets[place]), int(words.offsets[place + 1])
    named = (held.aligned.known.form[low:high] == NAME) & ~slotted[low:high]
    if not named.any():
        return None
    first = int(np.argmax(named))
    length = int(np.argmin(np.append(named[first:], False)))
    return bytes(words.data[words.begin[low + first] : words.end[low + first + length - 1]]).decode()


def _why(fact: str, versions: bool, change: str, changed: Measures) -> str:
    """Return in words why two texts are taken to contradict each other."""
    where = "one page at two times" if change == UPDATE else "two documents of one title" if versions else "two pages"
    what = {
        NEGATION: "one negates what the other says",
        OPPOSITE: "one says the opposite of the other",
        ORDER: "the same words in exchanged places",
        WORDS: "another word",
    }.get(fact, f"another {fact}")
    more = int(changed[CHANGES.index("slots")]) - 1
    rest = "in the same words" if more <= 0 else "and other words differ, too"
    return f"{where}: {what}, {rest}"


def _of_one_subject(frame: Frame, members: Sequence[Sequence[Member]]) -> Iterator[list[int]]:
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
        where = [page_of(members[place][-1]).casefold() for _ in others for place in some]
        in_title = sum(bool(text) and text in title for text, title in zip(fillers, where, strict=True))
        if any(named) and len(some) > 1 and 2 * in_title < len(some):
            yield some


def _is_negated(values: Mapping[int, Value]) -> bool:
    """Return whether one of the values is a mere negation, such as "do not"."""
    known = lexicon()
    words = (set(value.text.casefold().split()) for value in values.values())
    return any(some & known.negatives and some - known.negatives <= known.function for some in words)


def _by_value(values: Mapping[int, Value], counts: Mapping[int, int], moved: bool) -> list[list[int]]:
    """Group the indices of texts with the same value. The order of the texts does not matter.

    If there are very many values, the most common ones are compared. Empty values are left out, unless others negate or
    there are texts in which words have only `moved`, or which have opposites: those leave an empty slot.
    """
    by_text: dict[str, list[int]] = {}
    negated = _is_negated(values)
    for place, value in values.items():
        if value.type != NOTHING or negated or moved:
            by_text.setdefault(value.text, []).append(place)
    commonest = sorted(by_text, key=lambda text: (-sum(counts[place] for place in by_text[text]), text))[:_MOST_VALUES]
    alike = [
        (one, two)
        for one, two in combinations(range(len(commonest)), 2)
        if not negated and _are_one(values[by_text[commonest[one]][0]], values[by_text[commonest[two]][0]])
    ]
    parent = np.arange(len(commonest), dtype=np.int32)
    unite(parent, *np.array(alike, np.int64).reshape(-1, 2).T)
    groups: dict[int, list[int]] = {}
    for text, root in zip(commonest, roots(parent, np.arange(len(commonest))).tolist(), strict=True):
        groups.setdefault(root, []).extend(by_text[text])
    return list(groups.values())


def _are_one(one: Value, two: Value) -> bool:
    """Return whether two values are the same, and neither of them is empty."""
    return NOTHING not in (one.type, two.type) and same_value(one, two)


def _value(
    values: Mapping[int, Value], places: Sequence[int], sentences: Sequence[Sequence[Member]], sure: set[int]
) -> dict[str, Any]:
    """Return one value in its most common form, and the sentences that have it: those of the `sure` texts first."""
    most = min(places, key=lambda place: (-len(sentences[place]), values[place].text))
    named = ((place not in sure, one["id"].encode(), one) for place in places for one in sentences[place])
    members = [one for _, _, one in sorted(named, key=lambda row: row[:2])]
    times = sorted(member["timestamp"] for member in members if member["timestamp"])
    return {
        "value": values[most].text,
        "count": len(members),
        "first": times[0] if times else None,
        "last": times[-1] if times else None,
        "sentences": [{name: member[name] for name in _STATEMENT} for member in members[:_MOST_SENTENCES]],
    }
