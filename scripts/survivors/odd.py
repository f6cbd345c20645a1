"""Texts that look damaged, and are as their authors wrote them: code, poems, lists, quoted faults."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from scripts.survivors.originals import LANGUAGES, Original, Originals, filled, sentences

ALIKE = {
    "code": {"markup", "mail"},
    "read more": {"boilerplate", "cut end", "mixed"},
    "names": {"mojibake", "mixed", "flattened"},
    "capitals": {"flattened"},
    "quoted signs": {"mojibake", "stray signs"},
    "compounds": {"ocr"},
    "repeats": {"doubled"},
    "poem": {"doubled", "flattened", "run together"},
    "list": {"doubled", "pages", "run together", "mail"},
}
"""Kinds of odd texts, and the families of damage that look like them: damaged copies have others."""


@cache
def _pieces(sort: str) -> dict[str, list[str]]:
    """Return the pieces of odd texts of a sort, by language."""
    found: dict[str, list[str]] = {}
    text = Path(__file__).with_name("odd.txt").read_text("utf-8")
    for line in text.partition(f"[{sort}]\n")[2].partition("\n[")[0].splitlines():
        found.setdefault(line[:2], []).extend(line[3:].replace("\\n", "\n").split(" | "))
    return found


def odd_text(kind: str, rng: random.Random, originals: Originals) -> Original:
    """Return a new text that looks like damage."""
    for _ in range(60):
        if kind == "capitals" and originals.capitals and rng.random() < 0.6:
            text = originals.capitals.pop()
        elif kind == "poem":
            text = _poem(rng)
        elif kind == "list":
            text = _list(rng)
        else:
            text = _with_pieces(kind, rng)
        if originals.is_new(text):
            break
    return text


def _with_pieces(kind: str, rng: random.Random) -> Original:
    """Sentences with one or two odd ones among them."""
    language = rng.choice(list(_pieces(kind)))
    pieces = _pieces(kind)[language]
    texts = sentences(language, rng.randrange(3, 7), rng)
    for piece in rng.sample(pieces, min(len(pieces), rng.randrange(1, 3))):
        made = filled(piece, language, rng)
        texts.insert(rng.randrange(len(texts) + 1), made.upper() if kind == "capitals" else made)
    between = "" if language in ("ja", "zh") else rng.choice([" ", "\n\n"])
    return Original(between.join(texts), language)


def _poem(rng: random.Random) -> Original:
    language = rng.choice(list(_pieces("refrains")))
    refrain = filled(rng.choice(_pieces("refrains")[language]), language, rng)
    title, stanzas = filled("{t}", language, rng), []
    for _ in range(rng.randrange(3, 6)):
        verses = [filled(verse, language, rng) for verse in rng.sample(_pieces("verses")[language], 3)]
        stanzas.append(",\n".join([refrain, *(verse[0].upper() + verse[1:] for verse in verses)]) + f";\n{refrain}.")
    return Original("\n\n".join([title, *stanzas]), language)


def _list(rng: random.Random) -> Original:
    language = rng.choice(LANGUAGES)
    form = rng.choice(
        ["- {p} ({y}), {t}", "{number}. {p}, {t}, {y}–{y}: {n}", "* {t} ({p}) ..... {m}", "{t}\t{y}\t{n}"]
    )
    items = [filled(form.replace("{number}", str(number)), language, rng) for number in range(1, rng.randrange(8, 20))]
    return Original("\n".join([sentences(language, 4, rng)[0], "", *items]), language)
