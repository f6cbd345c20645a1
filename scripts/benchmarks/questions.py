"""Questions to a collection: its texts as people mistype, shorten and remember them, and as they begin to type them."""

from __future__ import annotations

import random
import re
import string
import unicodedata
from collections.abc import Callable, Sequence

LANGUAGES = {
    "cyrillic": "абвгдежзийклмнопрстуфхцчшщыьэюя",
    "greek": "αβγδεζηθικλμνξοπρστυφχψω",
}
_ENDINGS = (("ies", "y"), ("es", "ing"), ("s", ""), ("ed", "ing"), ("ing", "ed"), ("e", "es"), ("y", "ies"), ("", "s"))


class Questions:
    """Makes questions from texts. `words` replace those of a text."""

    def __init__(self, words: Sequence[str], seed: int) -> None:
        self._words = words
        self._source = random.Random(seed)

    def replaced(self, text: str, count: int) -> str:
        words = text.split()
        for at in self._source.sample(range(len(words)), min(count, len(words))):
            words[at] = self._source.choice(self._words)
        return " ".join(words)

    def mistyped(self, text: str, count: int) -> str:
        signs = list(text)
        for _ in range(count):
            at = self._source.randrange(len(signs) - 1)
            how = self._source.randrange(4)
            if how == 0:
                signs[at] = self._letter(signs[at])
            elif how == 1:
                del signs[at]
            elif how == 2:
                signs.insert(at, self._letter(signs[at]))
            else:
                signs[at], signs[at + 1] = signs[at + 1], signs[at]
        return "".join(signs)

    def _letter(self, beside: str) -> str:
        """A letter of the same script."""
        name = unicodedata.name(beside, "").partition(" ")[0].lower()
        return self._source.choice(LANGUAGES.get(name, string.ascii_lowercase))

    def shuffled(self, text: str) -> str:
        words = text.split()
        self._source.shuffle(words)
        return " ".join(words)

    def joined(self, text: str) -> str:
        words = text.split(" ")
        for _ in range(min(3, len(words) - 1)):
            at = self._source.randrange(len(words) - 1)
            words[at : at + 2] = [words[at] + words[at + 1]]
        return " ".join(words)

    def parted(self, text: str) -> str:
        for _ in range(3):
            at = self._source.randrange(1, len(text) - 1)
            text = f"{text[:at]} {text[at:]}"
        return text

    def inflected(self, text: str) -> str:
        """Another ending of two long words."""
        words = text.split()
        long = [at for at, word in enumerate(words) if len(word) > 4 and word[-1:].isalpha()]
        for at in self._source.sample(long, min(2, len(long))):
            end, other = next(pair for pair in _ENDINGS if words[at].endswith(pair[0]))
            words[at] = words[at][: len(words[at]) - len(end)] + other
        return " ".join(words)

    def of_all_kinds(self) -> dict[str, tuple[Callable[[str], str], float]]:
        """Each kind of question, and the share of originals in first place to reach."""
        return {
            "1 word replaced": (lambda text: self.replaced(text, 1), 0.97),
            "2 words replaced": (lambda text: self.replaced(text, 2), 0.97),
            "3 words replaced": (lambda text: self.replaced(text, 3), 0.97),
            "3 typing errors": (lambda text: self.mistyped(text, 3), 0.97),
            "capitals": (str.upper, 0.97),
            "no punctuation": (without_signs, 0.97),
            "5 words replaced": (lambda text: self.replaced(text, 5), 0.95),
            "6 typing errors": (lambda text: self.mistyped(text, 6), 0.95),
            "first 60 %": (lambda text: text[: len(text) * 6 // 10], 0.95),
            "no accents": (without_accents, 0.95),
            "3 pairs of words joined": (self.joined, 0.95),
            "parted in 3 places": (self.parted, 0.95),
            "2 words in another inflection": (self.inflected, 0.95),
            "words shuffled": (self.shuffled, 0.88),
            "first 40 %": (lambda text: text[: len(text) * 4 // 10], 0.88),
            "last 50 %": (lambda text: text[len(text) // 2 :], 0.88),
        }

    def typed(self) -> dict[str, tuple[Callable[[str], str], float]]:
        """Each way to begin to type a text, and the share among the first 5 to reach."""
        return {
            "15 characters": (lambda text: text[:15], 0.95),
            "25 characters with one typing error": (lambda text: self.mistyped(text[:25], 1), 0.85),
            "words 2 to 6": (lambda text: " ".join(text.split()[1:6]), 0.85),
            "25 characters without a sign": (lambda text: without_signs(text[:25]), 0.95),
        }


def without_signs(text: str) -> str:
    return re.sub(r"[^\w\s]", "", text)


def without_accents(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))
