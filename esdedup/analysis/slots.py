"""A cluster as a frame: fixed words, and slots with a name and a type that each text fills differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from esdedup.analysis.align import Alignment
from esdedup.analysis.values import DATE, NAME, NOTHING, NUMBER, QUANTITY, WORDS, Value, read_value
from esdedup.analysis.whole_slots import Filled, ValueWords, grown
from esdedup.analysis.word_forms import SIGN, ListedWords

SUBJECT = "subject"
"""The name of a slot that titles identify."""

_LOOKED_AT = 50
"""Number of fillers that decide the type of a slot."""


Span = tuple[int, int]
"""Begin and end in the bytes of all texts."""


class Slot(NamedTuple):
    """A position that texts fill differently. `fillers` has one filler for each text, with the white space
    around it.
    """

    name: str
    type: str
    before: str  # the adjacent fixed words, empty at the ends
    behind: str
    fillers: tuple[str, ...]

    def value(self, place: int) -> Value:
        """Return the value of the text at index `place` of the cluster."""
        return read_value(self.fillers[place].strip(), self.before, self.behind)


class Frame(NamedTuple):
    """Fixed texts, one more than slots: a sentence is `fixed[0]`, a filler, `fixed[1]`, and so on."""

    fixed: tuple[str, ...]
    slots: tuple[Slot, ...]

    def text(self) -> str:
        """The frame with the names of slots in braces. Braces in the text are doubled."""
        pieces = [_escaped(self.fixed[0])]
        for slot, fixed in zip(self.slots, self.fixed[1:], strict=True):
            lead, trail = _space_around(slot.fillers)
            pieces.append(f"{lead}{{{slot.name}}}{trail}{_escaped(fixed)}")
        return "".join(pieces)


def frame_of(words: ListedWords, centre: int, spans: Sequence[Sequence[Span]], titles: Sequence[str] = ()) -> Frame:
    """Return the frame of a cluster with the representative `centre` and slots at these `spans`.

    With `titles` (one for each text), a slot that mostly contains words of the titles is called `subject`.
    """
    bounds = [(0, words.texts[centre]), *(some[-1] for some in spans), (words.texts[centre + 1], 0)]
    fixed = tuple(words.text(end, begin) for (_, end), (begin, _) in pairwise(bounds))
    filled = [tuple(words.text(begin, end) for begin, end in some[:-1]) for some in spans]
    names: Counter[str] = Counter()
    named = []
    for place, fillers in enumerate(filled):
        before, behind = _last_word(fixed[place]), _first_word(fixed[place + 1])
        kind = _type_of(fillers, before, behind)
        name = SUBJECT if any(titles) and _is_subject(fillers, titles) else kind
        names[name] += 1
        named.append(Slot(name if names[name] == 1 else f"{name}{names[name]}", kind, before, behind, fillers))
    return Frame(fixed, tuple(named))


def slot_spans(
    words: ListedWords, flags: ValueWords, texts: range, centre: int, alignment: Alignment, slots: range
) -> list[list[Span]]:
    """Return the position of each slot of a cluster in each of its `texts` (or the first of them), then in the
    representative.

    Slots take in what belongs to their values; `flags` are those of `value_words`. A slot that always contains the same
    forms of words becomes several slots.
    """
    count, own = len(texts), centre - texts.start
    aligned: list[Filled] = []
    for at in alignment.fillers[slots.start : slots.stop].tolist():
        first, last = (
            [*side[at : at + count].tolist(), int(side[at + own])] for side in (alignment.first, alignment.last)
        )
        aligned.append(list(zip(first, last, strict=True)))
    found: list[list[Span]] = []
    ends = words.offsets[centre], words.offsets[centre + 1]
    for filled in grown(words, flags, ends, aligned):
        for spans in _parts(words, [*texts, centre], filled):
            # white space between two slots belongs to the first one
            found.append(
                spans
                if not found
                else [(max(begin, till), end) for (begin, end), (_, till) in zip(spans, found[-1], strict=True)]
            )
    return found


def _parts(words: ListedWords, texts: Sequence[int], filled: Sequence[tuple[int, int]]) -> Iterator[list[Span]]:
    """Yield the bytes of a slot in each text; several parts if all texts have the same forms, as in `1990 Ada`."""
    short = any(last - first < 2 for first, last in filled)  # a part needs a word, and there are two
    runs = [] if short else [_runs(words, first, last) for first, last in filled]
    forms = {tuple(form for form, _, _ in some) for some in runs}
    first_forms = next(iter(forms), ())
    if len(forms) != 1 or len(first_forms) < 2 or SIGN in first_forms or _is_figure(words, filled):
        yield [_span(words, text, first, last) for text, (first, last) in zip(texts, filled, strict=True)]
        return
    for part in range(len(first_forms)):
        spans = []
        for text, (first, last), some in zip(texts, filled, runs, strict=True):
            begin, end = _span(words, text, first, last)
            _, low, high = some[part]
            spans.append(
                (
                    begin if part == 0 else words.begin[low],
                    end if part + 1 == len(first_forms) else words.end[high - 1],
                )
            )
        yield spans


def _runs(words: ListedWords, first: int, last: int) -> list[tuple[int, int, int]]:
    """Return runs of words of one form: form, first, last."""
    runs: list[tuple[int, int, int]] = []
    for word in range(first, last):
        form = words.form[word]
        if runs and runs[-1][0] == form:
            runs[-1] = (form, runs[-1][1], word + 1)
        else:
            runs.append((form, word, word + 1))
    return runs


def _is_figure(words: ListedWords, filled: Sequence[tuple[int, int]]) -> bool:
    """Return whether a whole slot is one date or quantity."""
    texts = (words.text(words.begin[first], words.end[last - 1]) for first, last in filled[:_LOOKED_AT])
    return all(read_value(text).type in (DATE, QUANTITY, NUMBER) for text in texts)


def _span(words: ListedWords, text: int, first: int, last: int) -> Span:
    """Return the bytes between the fixed words around words `first:last`, with the white space on both sides."""
    low, high = words.offsets[text], words.offsets[text + 1]
    begin = words.texts[text] if first == low else words.end[first - 1]
    end = words.texts[text + 1] if last == high else words.begin[last]
    return begin, end


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _space_around(fillers: Sequence[str]) -> tuple[str, str]:
    """Return the white space that most fillers begin and end with."""
    filled = [filler for filler in fillers if filler.strip()] or [""]
    leads = [filler[: len(filler) - len(filler.lstrip())] for filler in filled]
    trails = [filler[len(filler.rstrip()) :] for filler in filled]
    return _commonest(leads), _commonest(trails)


def _commonest(texts: Sequence[str]) -> str:
    return texts[0] if len(set(texts)) == 1 else Counter(texts).most_common(1)[0][0]


def _last_word(text: str) -> str:
    return next(iter(text.split()[::-1]), "")


def _first_word(text: str) -> str:
    return next(iter(text.split()), "")


def _type_of(fillers: Sequence[str], before: str, behind: str) -> str:
    """Return the most common type of the fillers that are not empty. Bare years among other numbers are numbers."""
    values = [read_value(filler.strip(), before, behind) for filler in fillers[:_LOOKED_AT]]
    types = Counter(value.type for value in values)
    del types[NOTHING]
    if not types:
        return WORDS
    if types[NUMBER] and types[DATE] and all(value.readings for value in values if value.type == DATE):
        types[NUMBER] += types.pop(DATE)
    if types[NUMBER] and types[QUANTITY]:
        types[QUANTITY] += types.pop(NUMBER)
    order = (NUMBER, QUANTITY, DATE, NAME, WORDS)
    return max(types, key=lambda kind: (types[kind], -order.index(kind)))


def _is_subject(fillers: Sequence[str], titles: Sequence[str]) -> bool:
    """Return whether most fillers share a word of three letters or more, which not all have, with their title."""
    shared = 0
    fixed = set.intersection(*(set(_folded_words(filler)) for filler in fillers)) if len(fillers) > 1 else set()
    for filler, title in zip(fillers, titles, strict=True):
        folded = title.casefold()
        own = (word for word in _folded_words(filler) if word not in fixed)
        shared += any(len(word) >= 3 and word[: max(3, len(word) * 2 // 3)] in folded for word in own)
    return 2 * shared > len(fillers)


def _folded_words(text: str) -> Iterator[str]:
    return iter(text.casefold().replace('"', " ").split())
