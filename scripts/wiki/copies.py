"""Streams of generated texts with planted copies: documents, short rows, and texts that leaked from a reference.

The same arguments give the same texts, and the first ones do not depend on the count. Memory is bounded.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from scripts.wiki import text_edits as edits
from scripts.wiki.article_subjects import subject_of
from scripts.wiki.clauses import SentenceMaker
from scripts.wiki.english.names import name_of


class Text(NamedTuple):
    """A text with its number; a copy also has the number of its origin, and the kind of copy."""

    number: int
    text: str
    origin: int | None = None
    kind: str = ""


DOCUMENT_KINDS = (
    *("identical", "words_5", "words_10", "paragraph_moved", "paragraph_added", "paragraph_removed", "header_footer"),
)
ROW_KINDS = ("identical", "word_changed", "typo", "case_punctuation", "word_added")
LEAK_KINDS = ("identical", "word_changed", "case_punctuation", "inside")

_COPIED_DOCUMENTS = 0.14
_IDENTICAL_ROWS, _NEAR_ROWS = 0.10, 0.05
_WAITING = 256
"""Originals that may still be copied. Each is copied once at most."""
_PASSAGES = 4
"""One reference of so many is a passage."""
_BLOCK = 1000
"""Texts of a reference that are made together."""
_SHORTEST_CHANGED = 45
"""Characters of the shortest row of which there are near copies."""


def documents(count: int, seed: int = 1, shortest: int = 1000, longest: int = 50_000) -> Iterator[Text]:
    """Yield documents of `shortest` to `longest` characters in paragraphs, 14 % of them copies of an earlier one.

    The copies are of the `DOCUMENT_KINDS` in equal shares. Those with other words have 5 % or 10 % of them changed; the
    others have a block of up to a tenth of the text added, removed or moved.
    """
    random_numbers = random.Random(f"documents {seed}")
    maker = SentenceMaker(random_numbers)
    waiting: list[Text] = []
    for number in range(count):
        if waiting and random_numbers.random() < _COPIED_DOCUMENTS:
            origin = waiting.pop(random_numbers.randrange(len(waiting)))
            kind = random_numbers.choice(DOCUMENT_KINDS)
            yield Text(number, _edited_document(origin.text, kind, maker, random_numbers), origin.number, kind)
        else:
            maker.about(subject_of(random_numbers.randrange(2**16)))
            length = int(shortest * (longest / shortest) ** random_numbers.random())
            document = Text(number, _document(length, maker, random_numbers))
            _keep(waiting, document, random_numbers)
            yield document


def short_rows(count: int, seed: int = 1) -> Iterator[Text]:
    """Yield rows of 20 to 200 characters; 10 % are identical to an earlier one, and 5 % differ from one by one edit.

    The edits are the last four of the `ROW_KINDS`, in equal shares.
    """
    random_numbers = random.Random(f"rows {seed}")
    maker = SentenceMaker(random_numbers)
    rows = maker.lines("row")
    change: dict[str, Callable[[str, random.Random], str]] = {
        "word_changed": edits.word_changed,
        "typo": edits.typo,
        "case_punctuation": edits.recased,
        "word_added": edits.word_added,
    }
    waiting: list[Text] = []
    draw = random_numbers.random
    for number in range(count):
        chance = draw()
        if chance >= _IDENTICAL_ROWS + _NEAR_ROWS or not waiting:
            row = Text(number, next(rows))
            _keep(waiting, row, random_numbers)
            yield row
            continue
        origin = waiting.pop(int(draw() * len(waiting)))
        if chance < _IDENTICAL_ROWS or len(origin.text) < _SHORTEST_CHANGED:
            yield Text(number, origin.text, origin.number, "identical")
        else:
            kind = ROW_KINDS[1 + int(draw() * len(change))]
            yield Text(number, change[kind](origin.text, random_numbers), origin.number, kind)


def references(count: int, seed: int = 1) -> Iterator[Text]:
    """Yield the texts of a reference collection: questions of 40 to 200 characters, and passages with one inside."""
    for first in range(0, count, _BLOCK):
        for text, _ in _block_of_references(first, min(_BLOCK, count - first), seed):
            yield text


def new_texts(count: int, references: int, seed: int = 1, every: int = 10) -> Iterator[Text]:
    """Yield new texts. One of each `every` leaked from `references(references, seed)`, and has its `origin` there.

    The leaks are of the `LEAK_KINDS` in equal shares. The others are sentences, and questions like the references.
    """
    random_numbers = random.Random(f"new {seed}")
    maker = SentenceMaker(random_numbers)
    own = maker.lines("question")
    leaking: dict[bool, list[tuple[Text, str]]] = {False: [], True: []}
    leak_at = 0
    for number in range(count):
        if number % every == 0:
            leak_at = number + random_numbers.randrange(every)
        if number != leak_at:
            maker.about(subject_of(random_numbers.randrange(2**16)))
            yield Text(number, next(own) if random_numbers.random() < 0.5 else _passage(maker, random_numbers))
            continue
        kind = LEAK_KINDS[number // every % len(LEAK_KINDS)]
        inside = kind == "inside"
        while not leaking[inside]:
            first = _BLOCK * random_numbers.randrange(-(-references // _BLOCK))
            block = list(_block_of_references(first, min(_BLOCK, references - first), seed))
            random_numbers.shuffle(block)
            for text, question in block:
                leaking[text.text != question].append((text, question))
        origin, question = leaking[inside].pop()
        yield Text(number, _LEAKS[kind](question, random_numbers), origin.number, kind)


def _block_of_references(first: int, count: int, seed: int) -> Iterator[tuple[Text, str]]:
    """Yield references, each with its question. Every fourth is a passage with the question inside."""
    random_numbers = random.Random(f"references {seed} {first}")
    maker = SentenceMaker(random_numbers)
    lines = maker.lines("question")
    for number in range(first, first + count):
        question = next(lines)
        text = question
        if number % _PASSAGES == _PASSAGES - 1:
            maker.about(subject_of(random_numbers.randrange(2**16)))
            text = f"{_passage(maker, random_numbers)} {question} {_passage(maker, random_numbers)}"
        yield Text(number, text), question


_LEAKS: dict[str, Callable[[str, random.Random], str]] = {
    "identical": lambda text, _: text,
    "word_changed": edits.word_changed,
    "case_punctuation": edits.recased,
    "inside": lambda text, _: text,
}


def _passage(maker: SentenceMaker, random_numbers: random.Random) -> str:
    return " ".join(maker.sentence(90) for _ in range(random_numbers.randrange(1, 4)))


def _keep(waiting: list[Text], text: Text, random_numbers: random.Random) -> None:
    """Add a text to those that may be copied, in the place of one of them if there are enough."""
    if len(waiting) < _WAITING:
        waiting.append(text)
    else:
        waiting[int(random_numbers.random() * _WAITING)] = text


def _document(length: int, maker: SentenceMaker, random_numbers: random.Random) -> str:
    """Return paragraphs, each at most about a tenth of the text."""
    paragraphs: list[str] = []
    total = 0
    while total < length:
        sentences = [maker.sentence()]
        room = length * random_numbers.uniform(0.02, 0.07)
        while sum(map(len, sentences)) < min(room, 1200):
            sentences.append(maker.sentence())
        paragraphs.append(" ".join(sentences))
        total += len(paragraphs[-1]) + 2
    return "\n\n".join(paragraphs)


def _edited_document(text: str, kind: str, maker: SentenceMaker, random_numbers: random.Random) -> str:
    def paragraph(share: float) -> str:
        sentences = [maker.sentence()]
        while sum(map(len, sentences)) < share * len(text) - 200:
            sentences.append(maker.sentence())
        return " ".join(sentences)

    change: dict[str, Callable[[], str]] = {
        "identical": lambda: text,
        "words_5": partial(edits.words_changed, text, 0.05, random_numbers),
        "words_10": partial(edits.words_changed, text, 0.10, random_numbers),
        "paragraph_moved": partial(edits.paragraph_moved, text, random_numbers),
        "paragraph_added": lambda: edits.paragraph_added(text, paragraph(0.1), random_numbers),
        "paragraph_removed": partial(edits.paragraph_removed, text, random_numbers),
        "header_footer": lambda: f"{_header(random_numbers)}\n\n{text}\n\n{paragraph(0.05)}",
    }
    return change[kind]()


def _header(random_numbers: random.Random) -> str:
    return f"{name_of(random_numbers.randrange(2**16))} Archive, document {random_numbers.randrange(10**6)}"
