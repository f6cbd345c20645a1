"""Undamaged texts: passages made of our own clauses in eight languages, and real prose if a folder of it is given."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import esdedup
from scripts.benchmarks.blemishes import has_markup, is_hole
from scripts.wiki.article_subjects import subject_of
from scripts.wiki.clauses import SentenceMaker

LANGUAGES = ("en", "de", "fr", "es", "ru", "el", "ja", "zh")
JOINED = ("ja", "zh")
"""Languages without spaces between words."""

SHORTEST, LONGEST = 200, 2500
_REAL_SHARE = 0.75
_NEAR = 0.25
"""Similarity at which two originals are too much alike to be in different clusters."""
_WIKIS = {
    **{f"berlin/{language}.xml.bz2": language for language in ("de", "es", "fr", "it", "et", "ru", "zh")},
    "enwiki-head-a.xml": "en",
    "enwiki-composers-2009.xml.bz2": "en",
    "bgwiki-3-pages.xml.bz2": "bg",
    "elwiki-2023-head.xml.bz2": "el",
    "jawiki-2023-head.xml.bz2": "ja",
    "ukwiki-2023-head.xml.bz2": "uk",
}
_TREEBANKS = ("en", "de", "es", "fr", "ja", "zh")
_DOCUMENTS = 60
_PASSAGES = {True: 12, False: 3}
"""Most passages of a document: of an article that is alone in its file, and of others."""
_END = re.compile(r"[.!?。！？][”\"»」)）]*$")
_UNSURE = re.compile(r"\ufffd|formula_\d|\t|Ã|\*\*\*|[(（][,;、]| {2}")


class Original(NamedTuple):
    """A text as its author left it."""

    text: str
    language: str


@cache
def words(language: str) -> dict[str, tuple[str, ...]]:
    """Return the clauses, names and boilerplate of a language, by sort; English ones for a language that has none."""
    sections = Path(__file__).with_name("words.txt").read_text("utf-8").split("\n[")
    by_language = {section.strip("[")[:2]: section.splitlines()[1:] for section in sections}
    found: dict[str, tuple[str, ...]] = {}
    for line in by_language.get(language, by_language["en"]):
        sort, _, choices = line.partition(" ")
        found[sort] = found.get(sort, ()) + tuple(choices.split(" | "))
    return found


def filled(text: str, language: str, rng: random.Random) -> str:
    """Return `text` with names and numbers in its slots: {t}own, {p}erson, {y}ear, {n}umber and a smaller nu{m}ber."""

    def value(slot: re.Match[str]) -> str:
        match slot[1]:
            case "t" | "p":
                return rng.choice(words(language)["town" if slot[1] == "t" else "person"])
            case "y":
                return str(rng.randrange(1720, 1996))
            case "n":
                return str(rng.randrange(20, 90) * 10 + rng.randrange(5, 10))
        return str(rng.randrange(2, 19) * 10 + rng.randrange(5, 10))

    return re.sub(r"\{([tpynm])\}", value, text)


def sentences(language: str, count: int, rng: random.Random) -> list[str]:
    """Return different sentences; English ones come from two generators."""
    if language == "en" and rng.random() < 0.4:
        maker = SentenceMaker(rng)
        maker.about(subject_of(rng.randrange(2**16)))
        return [maker.sentence(80) for _ in range(max(2, count // 2))]
    pool = words(language)
    made = rng.sample(pool["alone"], min(2, count // 3))
    for main in rng.sample(pool["main"], count - len(made)):
        text = rng.choice(pool["open"])
        for part in (main, rng.choice(pool["tail"])):
            text += part if language in JOINED or part[0] in ",;" else f" {part}"
        made.append(text + ("。" if language in JOINED else "."))
    rng.shuffle(made)
    return [filled(sentence, language, rng) for sentence in made]


def passage(language: str, rng: random.Random) -> str:
    """Return sentences in one or several paragraphs, some with a title."""
    text = ""
    for sentence in sentences(language, rng.randrange(4, 10) + 2 * (language in JOINED), rng):
        between = "" if language in JOINED else " "
        text += (rng.choice(["\n\n", "\n"]) if rng.random() < 0.25 else between) + sentence if text else sentence
    return f"{filled('{t}', language, rng)}, {rng.randrange(1700, 1990)}\n\n{text}" if rng.random() < 0.3 else text


class Originals:
    """Hands out texts, none of them like an earlier one."""

    def __init__(self, data: Path | None, seed: int) -> None:
        self._real = dict[str, list[Original]]()
        self.capitals: list[Original] = []
        """Real notices with whole sentences in capitals."""
        if data is not None:
            rng = random.Random(f"real {seed}")
            for text in _real(data, rng):
                self._real.setdefault(text.language, []).append(text)
            notices = [Original(text, "en") for text in _notices(data)]
            self.capitals = [each for each in notices if sum(map(str.isupper, each.text)) > 0.2 * len(each.text)]
            for pool in (*self._real.values(), self.capitals):
                rng.shuffle(pool)
        self._seen = dict[str, list[set[str]]]()

    def take(self, rng: random.Random) -> Original:
        """Return a text in any language."""
        for _ in range(40):
            if self._real and rng.random() < _REAL_SHARE:
                language = rng.choice(sorted(self._real))
                pool = self._real[language]
                text = pool.pop() if pool else Original("", language)
            else:
                language = rng.choice(LANGUAGES)
                text = Original(passage(language, rng), language)
            if self.is_new(text):
                break
        return text

    def is_new(self, original: Original) -> bool:
        """Return whether a text of a good length is unlike all earlier ones, and remember it."""
        if not SHORTEST * 0.6 ** (original.language in JOINED) <= len(original.text) <= LONGEST:
            return False
        pieces = {original.text[at : at + 8] for at in range(len(original.text))}
        seen = self._seen.setdefault(original.language, [])
        if any(len(pieces & other) > _NEAR * len(pieces | other) for other in seen):
            return False
        seen.append(pieces)
        return True


def _real(data: Path, rng: random.Random) -> Iterator[Original]:
    for name, language in _WIKIS.items():
        documents = list(esdedup.extract(data / "wiki" / name, quiet=True, limit=_DOCUMENTS))
        for document in documents:
            left = _PASSAGES[len(documents) == 1]
            text, room = "", rng.randrange(200, 1600)
            for paragraph in document.text.split("\n\n"):
                text = f"{text}\n\n{paragraph}" if text else paragraph
                if len(text) >= room and left:
                    yield from _sound(text, language)
                    text, room, left = "", rng.randrange(200, 1600), left - 1
    for language in _TREEBANKS:
        between = "" if language in JOINED else " "
        for line in (data / "treebanks" / f"{language}.jsonl").read_text("utf-8").splitlines():
            yield from _sound(between.join(json.loads(line)), language)
    for text in rng.sample(list(_notices(data)), 40):
        yield from _sound(text, "en")


def _sound(text: str, language: str) -> Iterator[Original]:
    """Yield a text in which nothing is doubtful."""
    doubtful = _UNSURE.search(text) or has_markup(text) or is_hole(text, language)
    if not doubtful and _END.search(text) and len(text) <= LONGEST:
        yield Original(text, language)


def _notices(data: Path) -> list[str]:
    """Return notices of licences, one of each group."""
    with gzip.open(data / "documents" / "licence-notices.jsonl.gz", "rt", encoding="utf-8") as lines:
        groups = {row["group"]: row["text"] for row in map(json.loads, lines)}
    return [text for text in groups.values() if text[-1] == "." and not re.search(r"[#*<{%]|(?:^|\s)//|^\s", text)]
