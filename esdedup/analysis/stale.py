"""Corrections that did not arrive: a page has changed a fact, and other pages still say what it said before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from esdedup.analysis.comparing import ClusterTexts, Member, page_of, title_of

_MOST_FRAMES = 2
"""What stands in more clusters is a pattern: its values are equal by chance."""


class _Change(NamedTuple):
    """A page says `new` since the time of `member`, and no longer `old`; both are indices of values."""

    old: int
    new: int
    before: Member
    member: Member


def corrections(held: ClusterTexts, groups: Sequence[Sequence[int]], *, named: bool) -> Iterator[dict[str, Any]]:
    """Yield the first change of each value that other pages have not made.

    `groups` are the texts of each value. Members say whether they are `current`, of which `wiki` they are, and who
    wrote them (`contributor`). Where the texts have no names in common (`named`), another page counts if it has the old
    text as it was, or names a title.
    """
    if held.frames > _MOST_FRAMES:
        return
    stated = [[member for place in group for member in held.members[place]] for group in groups]
    told: set[int] = set()
    for change in sorted(_changes(stated), key=lambda change: (_time(change.member), change.member["id"])):
        updated = {_page(member) for member in stated[change.new] if member["current"]}
        still = [
            member
            for member in stated[change.old]
            if member["current"] and _page(member) not in updated and not _came_later(member, change)
            if named or member["text"] == change.before["text"] or _names_title(change, member)
        ]
        if still and change.old not in told:
            told.add(change.old)
            yield {
                "page": page_of(change.member),
                "old": change.old,
                "new": change.new,
                **{name: change.member[name] for name in ("revision", "timestamp", "contributor")},
                "before": change.before["text"],
                "after": change.member["text"],
                "standing": still,
            }


def _page(member: Member) -> tuple[str, str]:
    """Return what tells pages apart: language editions have pages of one title."""
    return member["wiki"], page_of(member)


def _changes(stated: Sequence[Sequence[Member]]) -> Iterator[_Change]:
    """Yield each value that a page no longer has, with the one that it has now."""
    pages: dict[tuple[str, str], dict[int, list[Member]]] = defaultdict(lambda: defaultdict(list))
    for value, members in enumerate(stated):
        for member in members:
            pages[_page(member)][value].append(member)
    for values in pages.values():
        now = [value for value, members in values.items() if any(member["current"] for member in members)]
        if len(now) != 1:
            continue
        first = {value: min(members, key=_time) for value, members in values.items()}
        for value in values.keys() - set(now):
            if _time(first[value]) < _time(first[now[0]]):
                yield _Change(value, now[0], first[value], first[now[0]])


def _time(member: Member) -> tuple[str, int]:
    return member["timestamp"] or "", member["revision"] or 0


def _came_later(member: Member, change: _Change) -> bool:
    """Whether a page began to state the value after the change, as far as its revisions tell."""
    return member["last_revision"] is not None and _time(member) > _time(change.member)


def _names_title(change: _Change, member: Member) -> bool:
    """Whether a text names the title of the page that has changed, or of its own."""
    titles = (title_of(one["title"], one["document"]).casefold() for one in (change.member, member))
    return any(title and title in member["text"].casefold() for title in titles)
