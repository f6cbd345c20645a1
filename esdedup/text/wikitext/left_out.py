"""What a cleaner leaves out of a page, and why: the wikitext beside the text that became of it.

What was left out is found by comparing the two, so it is true of any cleaner. The reason is what stands there in the
wikitext. This is for looking at single pages: it takes a second for a long one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from esdedup.text.folded_names import fold
from esdedup.text.wikitext.rules import DROP, FORMULA, SCHEMES, SECTIONS, TABLE, TAGS, Names
from esdedup.text.wikitext.tags import CODE, kind_of

KEPT, LEFT_OUT, ADDED = "=", "-", "+"
_MARKUP = "markup"

_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(
    rf"[{_SPACELESS}]|[^\W{_SPACELESS}]+|(?m:^)[*#:;]+|'{{2,}}|={{2,}}|\[\[|\]\]|{{{{|}}}}|&#?\w+;|[^\w\s]"
)
_NEVER = re.compile(r"'{2,}|={2,}|\[\[|\]\]|\{\{|\}\}")  # marks that are never kept
_HOLE = re.compile("[\U000e0100-\U000e01ef]")  # invisible signs that tell holes apart
_SURE = 3  # equal words after which two places are taken for the same
_PARTS = 8  # of one word
_FAR = 60  # words that a cleaner may add in one place
_CLOSED = {"{{": "}}", "[[": "]]", "{|": "|}"}
_WHOLE = {name for name, kind in TAGS.items() if kind in (DROP, FORMULA, TABLE)}
_MARK = re.compile(
    r"<!--.*?(?:-->|\Z)|\{\{|\}\}|\[\[|\]\]|^[ \t:]*\{\||^[ \t]*\|\}|</?([a-zA-Z][a-zA-Z0-9]*)[^<>]*>",
    re.MULTILINE | re.DOTALL,
)
_HEADING = re.compile(r"^(={1,6})[ \t]*(\S.*?)[ \t]*\1[ \t]*$", re.MULTILINE)
_ADDRESS = re.compile(rf"(\[(?:{'|'.join(map(re.escape, SCHEMES))})[^\s\[\]]*)[^\[\]\n]*(\])", re.IGNORECASE)
_NAME = re.compile(r"[^|{}\[\]<>\n]*")


class Run(NamedTuple):
    """A piece of a page: `=` kept, `-` left out, with the reason, or `+` added by the cleaner."""

    kind: str
    text: str
    why: str = ""


class _Span(NamedTuple):
    begin: int
    end: int
    why: str
    whole: bool  # nothing in it is kept


def runs(page: str, cleaned: str, names: Names) -> list[Run]:
    """Return the wikitext of a page in pieces, with what the cleaner made of each. Joined, all but those that were
    added are the page.
    """
    constructs = [*_constructs(page, names), *_addresses(page)]
    spans = _outermost(constructs)
    words = list(_WORD.finditer(page))
    open_to = [at for at, word in enumerate(words) if not _is_gone(page, word, _at(spans, word.start()))]
    theirs = _WORD.findall(_HOLE.sub("", cleaned))
    kept = {open_to[at]: there for at, there in _aligned([unescape(words[at][0]) for at in open_to], theirs)}
    shown = [words[at].start() for at in sorted(kept)]
    spans = _outermost([*(span for span in _sections(page) if not _stays(span, words, shown)), *constructs])
    head = page[: words[0].start()] if words else page
    found = [Run(KEPT, head)]
    reached = 0
    for at, word in enumerate(words):
        start = word.start()
        text = page[start : words[at + 1].start() if at + 1 < len(words) else len(page)]
        there = kept.get(at)
        if there is None:
            span = _at(spans, start)
            found.append(Run(LEFT_OUT, text, span.why if span else _plain_reason(word[0])))
            continue
        if there > reached:
            if found[-1].kind == LEFT_OUT:  # what was added stands in its place, before the space
                bare = found[-1].text.rstrip()
                text = found[-1].text[len(bare) :] + text
                found[-1] = found[-1]._replace(text=bare)
            found.append(Run(ADDED, " ".join(theirs[reached:there])))
        found.append(Run(KEPT, text))
        reached = there + 1
    if reached < len(theirs):
        found.append(Run(ADDED, " ".join(theirs[reached:])))
    return _joined(found)


def _stays(section: _Span, words: list[re.Match[str]], shown: list[int]) -> bool:
    """Whether a section is in the text, where the words that begin at `shown` are: at least its heading is."""
    begins = bisect_left(shown, section.begin)
    first = bisect_left(words, section.begin, key=lambda word: word.start())
    heading = next(word for word in words[first:] if word[0][0] != "=")
    return begins < len(shown) and shown[begins] <= heading.start()


def _is_gone(page: str, word: re.Match[str], span: _Span | None) -> bool:
    """Whether a word cannot be kept: in a construct that is left out as a whole, or a mark."""
    begins_line = word.start() == 0 or page[word.start() - 1] == "\n"
    return (
        (span is not None and span.whole)
        or bool(_NEVER.fullmatch(word[0]))
        or unescape(word[0]).isspace()
        or (begins_line and word[0][0] in "*#:;")
    )


def _aligned(ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int]]:
    """Yield which of our words are which of theirs, in order. After a difference, three equal words make a new start,
    the nearest ones.
    """
    places: dict[tuple[str, ...], list[int]] = {}
    for at in range(len(ours)):
        places.setdefault(tuple(ours[at : at + _SURE]), []).append(at)
    at = there = 0
    while at < len(ours) and there < len(theirs):
        if ours[at] == theirs[there]:
            yield at, there
            at, there = at + 1, there + 1
            continue
        if theirs[there].startswith(ours[at]):
            end = _parts_end(ours, at, theirs[there])
            yield from ((part, there) for part in range(at, end))
            if end > at:
                at, there = end, there + 1
                continue
        best: tuple[int, int, int] | None = None
        for beyond in range(there, min(there + _FAR, len(theirs))):
            known = places.get(tuple(theirs[beyond : beyond + _SURE]), [])
            where = bisect_left(known, at)
            if where < len(known):
                cost = known[where] - at + beyond - there
                best = min(best or (cost + 1, 0, 0), (cost, known[where], beyond))
        if best is None:
            there += 1  # what stands only there
            continue
        _, at, there = best


def _parts_end(ours: list[str], at: int, word: str) -> int:
    """Return where the words end that make up `word`, as in `[[mill]]s` or `H<sub>2</sub>O`; `at` if none do."""
    joined = ""
    for end in range(at, min(at + _PARTS, len(ours))):
        joined += ours[end]
        if joined == word:
            return end + 1
        if not word.startswith(joined):
            break
    return at


def marked(found: list[Run]) -> str:
    """Return the pieces as text: `[-left out-](why)`, `[-markup-]`, `[+added+]`, and what is kept as it is."""
    shown = []
    for run in found:
        bare = run.text.rstrip()
        space = run.text[len(bare) :]
        if run.kind == LEFT_OUT:
            shown.append(f"[-{bare}-]" + f"({run.why})" * (run.why != _MARKUP) + space)
        else:
            shown.append(f"[+{bare}+]{space}" if run.kind == ADDED else run.text)
    return "".join(shown)


def _plain_reason(word: str) -> str:
    return "text" if word[0].isalnum() else _MARKUP


def _joined(found: list[Run]) -> list[Run]:
    joined: list[Run] = []
    for run in found:
        if joined and joined[-1].kind == run.kind and joined[-1].why == run.why:
            joined[-1] = joined[-1]._replace(text=joined[-1].text + run.text)
        elif run.text:
            joined.append(run)
    return joined


def _sections(page: str) -> list[_Span]:
    """Return the sections that a cleaner drops for their headings."""
    headings = [(match.start(), len(match[1]), match[2]) for match in _HEADING.finditer(page)]
    found = []
    for number, (begin, level, name) in enumerate(headings):
        if fold(name.strip("' ")) in SECTIONS:
            ends = (start for start, depth, _ in headings[number + 1 :] if depth <= level)
            found.append(_Span(begin, next(ends, len(page)), f"section {name}", False))
    return found


def _addresses(page: str) -> Iterator[_Span]:
    """Yield what goes of links to other places: the address, and the bracket behind its caption."""
    for match in _ADDRESS.finditer(page):
        yield _Span(*match.span(1), "address", True)
        yield _Span(*match.span(2), _MARKUP, True)


def _constructs(page: str, names: Names) -> list[_Span]:
    """Return templates, links, tables, notes and comments, in the order of their ends."""
    found: list[_Span] = []
    opened: list[tuple[str, int]] = []
    for match in _MARK.finditer(page):
        mark = match[0].strip(" \t:")
        name = (match[1] or "").lower()
        if mark.startswith("<!--"):
            found.append(_Span(*match.span(), "comment", True))
        elif name in _WHOLE and not mark.startswith("</"):
            if mark.endswith("/>"):
                found.append(_Span(*match.span(), _of_tag(name), True))
            else:
                opened.append((f"</{name}", match.start()))
        elif name and name not in TAGS:
            found += _unknown(page, match, name, opened)
        elif name:
            closing = mark.startswith("</") and name in _WHOLE
            if not closing:
                found.append(_Span(*match.span(), f"tag {name}", True))
            elif begun := _close(opened, f"</{name}"):
                found.append(_Span(begun[1], match.end(), _of_tag(name), TAGS[name] != FORMULA))
        elif mark in _CLOSED:
            opened.append((_CLOSED[mark], match.start()))
        elif begun := _close(opened, mark):
            found.append(_reason(page, begun[1], match.end(), mark, names))
    return found


def _unknown(page: str, match: re.Match[str], name: str, opened: list[tuple[str, int]]) -> Iterator[_Span]:
    """Yield what goes of a tag that is not known: nothing if it is never closed, all if it holds code."""
    if match[0].endswith("/>"):
        yield _Span(*match.span(), f"tag {name}", True)
    elif not match[0].startswith("</"):
        opened.append((f"</{name}", match.start()))
    elif begun := _close(opened, f"</{name}"):
        content = page.index(">", begun[1]) + 1
        if kind_of(page[content : match.start()]) == CODE:
            yield _Span(begun[1], match.end(), f"tag {name}: code", True)
        else:
            yield _Span(begun[1], content, f"tag {name}", True)
            yield _Span(*match.span(), f"tag {name}", True)


def _close(opened: list[tuple[str, int]], mark: str) -> tuple[str, int] | None:
    """Take what a mark closes from the stack, if it is among the last few, with what is open inside it."""
    for depth in range(1, min(len(opened), 8) + 1):
        if opened[-depth][0] == mark:
            begun = opened[-depth]
            del opened[-depth:]
            return begun
    return None


def _of_tag(name: str) -> str:
    return {"ref": "note", "references": "notes", "math": "formula"}.get(name, f"tag {name}")


def _reason(page: str, begin: int, end: int, mark: str, names: Names) -> _Span:
    if mark == "|}":
        return _Span(begin, end, "table", True)
    title = _NAME.match(page, begin + 2)
    name = " ".join(title[0].split()) if title else ""
    if mark == "}}":
        known = names.patterns(name.partition(":")[0]) is not None
        return _Span(begin, end, f"template {name}" if known else f"template {name}: not known", not known)
    if names.drops_link(name):
        return _Span(begin, end, "file, category or other language", True)
    caption = page.rfind("|", begin, end) + 1
    return _Span(begin, caption or begin, "link", True)


def _outermost(spans: list[_Span]) -> list[_Span]:
    """Return the spans that are not inside others, in order."""
    kept: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.begin, -span.end)):
        if span.end > span.begin and (not kept or span.begin >= kept[-1].end):
            kept.append(span)
    return kept


def _at(spans: list[_Span], place: int) -> _Span | None:
    """Return the span at a place."""
    number = bisect_right(spans, place, key=lambda span: span.begin) - 1
    return spans[number] if number >= 0 and spans[number].end > place else None
