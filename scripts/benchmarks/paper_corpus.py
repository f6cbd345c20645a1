"""Documents of the length of news articles, a few of them near-duplicates of others, the same ones every time.

`python -m scripts.benchmarks.paper_corpus COUNT FILE GOLDEN` writes `id<TAB>text` lines, and the clusters of two and
more documents, one a line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

WORDS = 60_000
"""Words of the vocabulary; the word of rank r is drawn with a probability in proportion to 1 / (r + 2.7)."""

DOCUMENT_WORDS = 228
"""Words of a document on average: about 1,590 bytes, like shared/data/nearup/articles_1000.train (1,586)."""

PHRASES = 0.35
"""The chance that behind a word comes the one that often does: unrelated documents have as many pairs of words in
common as those articles, where 1.2 of 100 minhash values agree."""

PLANTED = 50
"""One document in so many has a near-duplicate, in which two to ten percent of the words are others."""

_CONTRACTIONS = ("don't", "it's", "can't", "I'm", "won't", "they're", "that's", "we've", "isn't", "he'd")
_ONSETS = ("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "pl", "ch", "sh")
_NUCLEI = ("a", "e", "i", "o", "u", "ea", "ou", "io")
_CODAS = ("", "", "n", "r", "s", "t", "l", "nd", "ng", "ck")


def vocabulary(source: np.random.Generator) -> list[str]:
    """Distinct words by rank: the frequent ones are short."""
    words = dict.fromkeys(_CONTRACTIONS)
    while len(words) < WORDS:
        syllables = 1 + int(source.integers(0, 1 + min(2, len(words) // 1200)))
        parts = [
            _ONSETS[source.integers(len(_ONSETS))]
            + _NUCLEI[source.integers(len(_NUCLEI))]
            + _CODAS[source.integers(len(_CODAS))]
            for _ in range(syllables)
        ]
        words["".join(parts)] = None
    ranked = list(words)
    # a contraction among the two hundred most frequent words, here and there
    for at, word in enumerate(_CONTRACTIONS):
        other = 20 * (at + 1)
        ranked[at], ranked[other] = ranked[other], word
    return ranked


def documents(count: int, seed: int = 5) -> Iterator[tuple[str, str, int]]:
    """Rows (id, text, the number of the document that it is a near-duplicate of, or its own)."""
    source = np.random.default_rng(seed)
    words = np.array(vocabulary(source), object)
    chances = np.cumsum(1 / (np.arange(WORDS) + 2.7))
    chances /= chances[-1]
    following = np.searchsorted(chances, source.random(WORDS))
    waiting: list[tuple[int, np.ndarray]] = []
    for number in range(count):
        # what is repeated comes some documents later
        if waiting and source.random() < 1 / PLANTED:
            origin, drawn = waiting.pop(int(source.integers(len(waiting))))
            drawn = drawn.copy()
            others = max(1, int(len(drawn) * source.uniform(0.02, 0.10)))
            drawn[source.integers(0, len(drawn), others)] = np.searchsorted(chances, source.random(others))
        else:
            length = max(30, int(source.normal(DOCUMENT_WORDS, DOCUMENT_WORDS / 3)))
            origin, drawn = number, np.searchsorted(chances, source.random(length))
            led = np.flatnonzero(source.random(length - 1) < PHRASES)
            drawn[led + 1] = following[drawn[led]]
            if source.random() < 2 / PLANTED:
                waiting.append((number, drawn))
        yield f"t{number}", _text(words[drawn].tolist(), source), origin


def write_documents(count: int, path: Path, golden: Path) -> None:
    """Write the lines and their clusters, which are also those that there are by the words that were changed."""
    clusters: dict[int, list[str]] = {}
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for name, text, origin in documents(count):
            out.write(f"{name}\t{text}\n")
            clusters.setdefault(origin, []).append(name)
    with golden.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(" ".join(names) + "\n" for names in clusters.values() if len(names) > 1)


def _text(words: list[str], source: np.random.Generator) -> str:
    sentences = []
    begin = 0
    while begin < len(words):
        end = begin + int(source.integers(8, 31))
        sentence = " ".join(words[begin:end])
        sentences.append(sentence[0].upper() + sentence[1:] + ".")
        begin = end
    return " ".join(sentences)


if __name__ == "__main__":
    write_documents(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
