"""Small corpora of our own with near-duplicates, and exact truth by definition."""

from __future__ import annotations

import random
from itertools import combinations

SYLLABLES = [
    "ba",
    "cor",
    "del",
    "fin",
    "gra",
    "hol",
    "im",
    "jas",
    "kel",
    "lor",
    "mun",
    "nep",
    "or",
    "pil",
    "qua",
    "rin",
]


def word(source: random.Random) -> str:
    return "".join(source.choices(SYLLABLES, k=source.randint(1, 4)))


def sentence(source: random.Random, words: int = 18) -> str:
    return " ".join(word(source) for _ in range(words)).capitalize() + "."


def edited(source: random.Random, text: str, edits: int) -> str:
    words = text.split(" ")
    for _ in range(edits):
        at = source.randrange(len(words))
        words[at] = word(source)
    return " ".join(words)


def corpus(seed: int, texts: int = 300) -> list[str]:
    """Sentences, a third of them edited versions of others, some of them equal."""
    source = random.Random(seed)
    made: list[str] = []
    while len(made) < texts:
        if made and source.random() < 0.35:
            made.append(edited(source, source.choice(made), source.choice([0, 1, 1, 2, 3])))
        else:
            made.append(sentence(source, source.randint(10, 40)))
    return made


def template(seed: int, members: int, edits: int = 1) -> list[str]:
    """Distinct sentences of one frame."""
    source = random.Random(seed)
    frame = sentence(source, 40).split(" ")
    made = set()
    while len(made) < members:
        words = list(frame)
        for at in range(edits):
            words[5 + 9 * at] = word(source) + word(source)
        made.add(" ".join(words))
    return sorted(made)


def shingle_set(text: str, length: int = 12) -> frozenset[str]:
    if len(text) <= length:
        return frozenset([text]) if text else frozenset()
    return frozenset(text[at : at + length] for at in range(len(text) - length + 1))


def jaccard(one: str, two: str) -> float:
    a, b = shingle_set(one), shingle_set(two)
    return len(a & b) / len(a | b) if a and b else 0.0


def true_pairs(texts: list[str], threshold: float) -> dict[tuple[str, str], float]:
    """Every pair of distinct texts at or above the threshold, by definition."""
    sets = {text: shingle_set(text) for text in texts}
    found = {}
    for one, two in combinations(sorted(sets), 2):
        similarity = len(sets[one] & sets[two]) / len(sets[one] | sets[two])
        if similarity >= threshold:
            found[one, two] = similarity
    return found
