"""Edits that make near copies: other words, typos, other case and punctuation, and whole paragraphs.

Every edit returns a text that differs from the one it is given, as long as that has a word of four letters or more.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from scripts.wiki.english.grammar import pool

_WORD = re.compile(r"\d+|[^\W\d_]{4,}")
_PLAIN = re.compile(r"[a-z]{4,}")
_MOST_CHANGED = 0.14
"""Share of a short text that one changed word may be."""
_ADDED = ("new", "old", "fine", "large", "small", "good", "rare", "early", "late", "so-called")
_MONTHS = pool("month")
_NAMES = pool("place") + pool("first_name")
_WORDS = tuple(word for name in ("image", "plain", "quality") for word in pool(name) if word.isalpha())


def _other(word: str, random_numbers: random.Random) -> str:
    """Return another word of the same sort: a number for a number, a name for a name."""
    if word.isdigit():
        choices: Sequence[str] = pool("year") if len(word) == 4 else pool("day")
    else:
        choices = _MONTHS if word in _MONTHS else _NAMES if word[0].isupper() else _WORDS
    other = choices[random_numbers.randrange(len(choices))]
    return other if other != word else _other(word, random_numbers)


def words_changed(text: str, share: float, random_numbers: random.Random) -> str:
    """Return `text` with this share of its words replaced, scattered over all of it."""
    words = list(_WORD.finditer(text))
    count = max(1, round(share * (text.count(" ") + 1)))
    chosen = sorted(random_numbers.sample(range(len(words)), min(count, len(words))))
    parts: list[str] = []
    done = 0
    for place in chosen:
        begin, end = words[place].span()
        parts += (text[done:begin], _other(text[begin:end], random_numbers))
        done = end
    return "".join([*parts, text[done:]])


def word_changed(text: str, random_numbers: random.Random) -> str:
    """Return `text` with another word for one of its words, neither of them long for the text."""
    words = list(_WORD.finditer(text))
    room = max(int(len(text) * _MOST_CHANGED) - 1, min(len(word[0]) for word in words))
    short = [word for word in words if len(word[0]) <= room]
    word = short[random_numbers.randrange(len(short))]
    others = (_other(word[0], random_numbers) for _ in range(50))
    other = next((other for other in others if len(other) <= room), word[0][:-1])
    return text[: word.start()] + other + text[word.end() :]


def word_added(text: str, random_numbers: random.Random) -> str:
    """Return `text` with an adjective more."""
    words = list(_PLAIN.finditer(text))
    at = words[random_numbers.randrange(len(words))].start()
    return f"{text[:at]}{random_numbers.choice(_ADDED)} {text[at:]}"


def typo(text: str, random_numbers: random.Random) -> str:
    """Return `text` with two letters of a word in the wrong order, or one letter missing."""
    words = list(_PLAIN.finditer(text))
    word = words[random_numbers.randrange(len(words))]
    at = word.start() + random_numbers.randrange(1, len(word[0]) - 1)
    if text[at] == text[at + 1] or random_numbers.random() < 0.5:
        return text[:at] + text[at + 1 :]
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def recased(text: str, random_numbers: random.Random) -> str:
    """Return `text` in other case, and without its commas or its last sign."""
    plain = text.replace(", ", " ") if random_numbers.random() < 0.5 else text.rstrip(".?")
    return plain.upper() if random_numbers.random() < 0.4 else plain.lower()


def paragraph_moved(text: str, random_numbers: random.Random) -> str:
    """Return `text` with one of its paragraphs in another place."""
    paragraphs = text.split("\n\n")
    place = _small(paragraphs, random_numbers)
    moved = paragraphs.pop(place)
    others = [other for other in range(len(paragraphs) + 1) if other != place]
    paragraphs.insert(random_numbers.choice(others), moved)
    return "\n\n".join(paragraphs)


def paragraph_removed(text: str, random_numbers: random.Random) -> str:
    """Return `text` without one of its paragraphs."""
    paragraphs = text.split("\n\n")
    del paragraphs[_small(paragraphs, random_numbers)]
    return "\n\n".join(paragraphs)


def paragraph_added(text: str, paragraph: str, random_numbers: random.Random) -> str:
    """Return `text` with one paragraph more."""
    paragraphs = text.split("\n\n")
    paragraphs.insert(random_numbers.randrange(len(paragraphs) + 1), paragraph)
    return "\n\n".join(paragraphs)


def _small(paragraphs: Sequence[str], random_numbers: random.Random) -> int:
    """Return the place of a paragraph that is at most a tenth of the text, or of the shortest one."""
    most = max(sum(map(len, paragraphs)) // 10, min(map(len, paragraphs)))
    return random_numbers.choice([place for place, each in enumerate(paragraphs) if len(each) <= most])
