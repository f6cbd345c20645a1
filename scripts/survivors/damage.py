"""Damage as corpora show it: crawled pages, scanned newspapers, PDFs, exported wikis, mail archives.

Every damage takes a text and a `Work`, and returns the text unchanged where it does not apply to its language.
"""

from __future__ import annotations

import quopri
import random
import re
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import TypeVar

from scripts.survivors.originals import JOINED, LANGUAGES, filled, sentences, words

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Work:
    """How to damage a text: in which language it is, and the strength, from 1 (barely visible) to 3 (heavy)."""

    rng: random.Random
    language: str
    strength: int

    def some(self, found: Sequence[T], share: float) -> list[T]:
        """Return one of what was found, this share of it, or four times as much, in their order."""
        count = (1, max(2, round(share * len(found))), max(5, round(4 * share * len(found))))[self.strength - 1]
        return [found[at] for at in sorted(self.rng.sample(range(len(found)), min(count, len(found))))]

    def lines(self, sort: str) -> list[str]:
        """Return lines of boilerplate, more for a greater strength."""
        pool = words(self.language)[sort]
        count = min(len(pool), (1, 2, 5)[self.strength - 1])
        return [filled(line, self.language, self.rng) for line in self.rng.sample(pool, count)]


Damage = Callable[[str, Work], str]
New = Callable[[str, Work], str]

_WORD = r"[^\W\d_]{5,}"
_GAP = r"(?<=\w) (?=\w)"
_JOINED_GAP = r"(?<=[^\W\d_])(?=[^\W\d_])"
_REPEATABLE = "that|had|very|is|nous|vous|très|die|das|der|den|sehr|muy"
_SENTENCE = r"[^.!?。！？\n]{12,}[.!?。！？]+"


def _at(pattern: str, new: New | str, share: float = 0.05, joined: str | None = None) -> Damage:
    """Damage at some of the places that `pattern` finds; `joined` is the pattern for languages without spaces."""

    def damage(text: str, work: Work) -> str:
        wanted = joined if joined is not None and work.language in JOINED else pattern
        changed = [
            (each, made)
            for each in re.finditer(wanted, text)
            if (made := new if isinstance(new, str) else new(each[0], work)) != each[0]
        ]
        for each, made in reversed(work.some(changed, share)):
            text = text[: each.start()] + made + text[each.end() :]
        return text

    return damage


def _of_sentences(change: Callable[[str], str]) -> Damage:
    """Change one sentence, a third of them, or everything."""
    some = _at(_SENTENCE, lambda text, _: change(text), 0.35)
    return lambda text, work: change(text) if work.strength == 3 else some(text, work)


def _spaced(damage: Damage) -> Damage:
    """Apply damage only in languages with spaces: the others have hardly any words with case, only foreign names."""
    return lambda text, work: text if work.language in JOINED else damage(text, work)


# -- scanned pages ------------------------------------------------------------------------------------------
_CLEAR = "l>1 o>0 w>vv I>l O>0 ü>ii ß>B é>6 ы>ьі о>0 з>3 ν>v ο>0 η>n ώ>o 日>曰 ー>一 口>ロ 二>ニ "
"""Signs and what they are misread as; hardly ever does this make another word."""
_DOUBTFUL = (
    "m>rn d>cl rn>m h>b e>c c>e li>h cl>d f>ſ i>ì u>n n>u t>f S>5 B>8 ä>a ö>o à>a Д>Л щ>ш й>и ш>щ и>н п>н т>г ρ>p τ>t "
    "υ>u 土>士 己>已 人>入 大>犬 未>末 了>丁 り>リ シ>ツ ン>ソ は>ほ ば>ぱ 有>冇 天>夭"
)


def _letters(text: str, work: Work) -> str:
    pairs = (_CLEAR if work.strength == 1 else _CLEAR + _DOUBTFUL).split()
    known = {pair.split(">")[0]: pair.split(">")[1] for pair in pairs}
    return _at("|".join(sorted(known, key=lambda key: (-len(key), key))), lambda one, _: known[one], 0.01)(text, work)


def _broken(sign: str) -> New:
    def new(word: str, work: Work) -> str:
        at = len(word) // 2 if work.language in JOINED else work.rng.randrange(2, len(word) - 2)
        return word[:at] + sign.lstrip("-¬" if work.language in JOINED else "") + word[at:]

    return new


def _header(gap: str, work: Work) -> str:
    title = filled("{t}", work.language, work.rng).upper()
    number = str(work.rng.randrange(3, 400))
    return work.rng.choice([f"\n{number}\n", f"\n\n{number}   {title}\n\n", f"\n{title}  ·  {number}\n", f" {number} "])


def _specks(gap: str, work: Work) -> str:
    signs = "~|^_.,;:'`•■«<\\"
    return gap + "".join(work.rng.choice(signs) for _ in range(work.rng.randrange(2, 5))) + gap


def _columns(text: str, work: Work) -> str:
    """Two columns, read across."""
    lines = textwrap.wrap(text, 26 if work.language in JOINED else 44)
    half = (len(lines) + 1) // 2
    pairs = zip(lines[:half], [*lines[half:], ""], strict=False)
    return "\n".join(f"{one} {two}".rstrip() for one, two in pairs) if work.strength > 1 else text


# -- parts lost ---------------------------------------------------------------------------------------------
_KEPT = {1: (0.9, 0.95), 2: (0.72, 0.88), 3: (0.5, 0.68)}


def _place(text: str, work: Work, pattern: str) -> int:
    """Return the place nearest to where a cut is due among those after which `pattern` stands."""
    due = work.rng.uniform(*_KEPT[work.strength]) * len(text)
    return min((found.start() for found in re.finditer(pattern, text)), key=lambda at: abs(at - due), default=0)


def _cut(end: str, pattern: str = r"(?<=\w\w)(?=\w\w)") -> Damage:
    def damage(text: str, work: Work) -> str:
        at = _place(text, work, pattern)
        more = work.rng.choice(words(work.language)["more"])
        return text[:at].rstrip() + end.replace("MORE", more) if 40 < at < len(text) - 8 else text

    return damage


def _beheaded(begin: str, pattern: str) -> Damage:
    def damage(text: str, work: Work) -> str:
        due = (1 - work.rng.uniform(*_KEPT[work.strength])) * len(text)
        places = [found.start() for found in re.finditer(pattern, text)]
        at = min(places, key=lambda place: abs(place - due), default=0)
        return begin + text[at:].lstrip() if 5 < at < len(text) - 40 else text

    return damage


def _holed(text: str, work: Work) -> str:
    at = _place(text, work, r"(?<=\w)(?=\w)")
    lost = len(text) - at
    begin = work.rng.randrange(len(text) // 8, max(len(text) // 8 + 1, at))
    return text[:begin] + work.rng.choice([" ", "\n", " [...] ", ""]) + text[begin + max(12, lost) :]


# -- parts added --------------------------------------------------------------------------------------------
def _around(before: bool, after: bool) -> Damage:
    def damage(text: str, work: Work) -> str:
        between = work.rng.choice(["\n", "\n\n", " "])
        return between.join([*work.lines("before") * before, text, *work.lines("after") * after])

    return damage


def _amid(gap: str, work: Work) -> str:
    return work.rng.choice(["\n\n", "\n", " "]).join(["", *work.lines(work.rng.choice(["before", "after"]))[:2], ""])


def _page_break(gap: str, work: Work) -> str:
    page = work.rng.randrange(2, 40)
    marks = ("<<< PAGE BREAK >>>", "\f", f"--- Page {page} of {page + 9} ---", f"[page {page}]", f"===== {page} =====")
    mark = work.rng.choice((*marks, f"Page | {page}", f"- {page} -", "* * * * *\f", f"[[{page}]]"))
    return mark if mark == "\f" else f"\n{mark}\n"


def _foreign(text: str, work: Work) -> str:
    other = work.rng.choice([each for each in LANGUAGES if each != work.language])
    made = sentences(other, 6, work.rng)[: work.strength]
    pool = [*words(other)["before"], *words(other)["after"]]
    added = made if work.rng.random() < 0.6 else [filled(each, other, work.rng) for each in work.some(pool, 0.2)]
    between = _at(r"(?<=[.!?。！？]) |(?<=[。！？])(?!$)|$", f" {' '.join(added)} ")
    return between(text, replace(work, strength=1)).strip()


def _twice(text: str, work: Work) -> str:
    return text + work.rng.choice(["\n\n", "\n", " "]) + text if work.strength == 3 else text


# -- signs --------------------------------------------------------------------------------------------------
_HTML = (
    "<b>{}</b>",
    "<i>{}</i>",
    '<span style="color:#333">{}</span>',
    '<a href="/wiki/{}">{}</a>',
    "<em>{}",
    "{}<br />",
)
_WIKI = (
    "[[{}]]",
    "'''{}'''",
    "[[{}|{}]]",
    '{}<ref name="b" />',
    "{}{{{{citation needed}}}}",
    "{}]]",
    "{{{{lang|{}}}}}",
)
_MARKDOWN = ("**{}**", "[{}](http://www.example.org/{})", "_{}_", "`{}`", "{}[^3]", "![{}](img.png)", "\\_{}")
_LATEX = (
    "\\textit{{{}}}",
    "\\emph{{{}}}",
    "{}~\\cite{{a12}}",
    "$\\mathrm{{{}}}$",
    "\\footnote{{{}}}",
    "\\index{{{}}}{}",
)
_CHAT = ("[b]{}[/b]", "[url=http://example.org]{}[/url]", "[quote]{}", "[i]{}[/i]")


def _marked(forms: Sequence[str]) -> Damage:
    def new(word: str, work: Work) -> str:
        form = work.rng.choice(forms)
        return form.format(*[word] * form.count("{}"), *[word])

    return _at(r"[^\W\d_]{4,}", new, 0.06, r"[^\W\d_]{2,3}")


def _tags(text: str, work: Work) -> str:
    inner = escape(text).replace("\n\n", "</p>\n<p>")
    whole = f'<div class="content"><p>{inner}</p></div>' if work.strength == 3 else f"<p>{inner}</p>"
    return whole if work.strength > 1 else f"{text}</p>"


def _misread(encodings: Sequence[str], times: int, text: str) -> str:
    for _ in range(times):
        text = text.encode(encodings[0], "replace").decode(encodings[1], "replace")
    return text


_WESTERN = (
    "utf-8 cp1252",
    "utf-8 latin-1",
    "utf-8 mac-roman",
    "utf-8 cp437",
    "cp1252 cp1251",
    "cp1252 utf-8",
    "cp1252 mac-roman",
)
_CYRILLIC = ("cp1251 koi8-r", "koi8-r cp1251", "cp1251 latin-1", "utf-8 cp1251", "utf-8 cp1252", "cp866 cp1251")
_MISREAD = {
    **dict.fromkeys(("ru", "uk", "bg"), _CYRILLIC),
    "el": ("iso8859-7 latin-1", "utf-8 iso8859-7", "utf-8 cp1252"),
    "ja": ("utf-8 shift_jis", "euc_jp shift_jis", "utf-8 cp1252", "shift_jis latin-1"),
    "zh": ("utf-8 gbk", "gbk latin-1", "utf-8 cp1252", "gbk big5"),
}


def _mojibake(times: int) -> Damage:
    def damage(text: str, work: Work) -> str:
        pair = work.rng.choice(_MISREAD.get(work.language, _WESTERN)) if times == 1 else "utf-8 cp1252"
        return _of_sentences(partial(_misread, pair.split(), times))(text, work)

    return damage


def _unaccented(letter: str, work: Work) -> str:
    if letter in "ёЁ":  # often written without its dots
        return letter
    return "".join(sign for sign in unicodedata.normalize("NFD", letter) if not unicodedata.combining(sign))


def _printable(text: str) -> str:
    return quopri.encodestring(text.encode()).decode()


def _escaped(text: str) -> str:
    return text.encode("unicode_escape").decode("ascii").replace('"', '\\"')


def _quoted(text: str, work: Work) -> str:
    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, 66) or [""]]
    some = set(work.some(range(len(lines)), 0.4))
    if work.strength == 3:
        return "\n".join(f">> {line}" for line in lines)
    return "\n".join(f"> {line}" if number in some else line for number, line in enumerate(lines))


def _mail(text: str, work: Work) -> str:
    person, year = filled("{p}", work.language, work.rng), work.rng.randrange(1996, 2019)
    before = [f"On 3 Nov {year}, {person} wrote:", f"From: {person} <list@example.org>\nSubject: Re: Re: (no subject)"]
    after = [
        "-- \nSent from my phone",
        "_______________________________\nUnsubscribe: http://lists.example.org/options",
    ]
    return f"{work.rng.choice(before)}\n\n{text}" if work.rng.random() < 0.5 else f"{text}\n\n{work.rng.choice(after)}"


def _inside(sign: str) -> Damage:
    return _at(_JOINED_GAP, sign, 0.02)


FAMILIES: dict[str, dict[str, Damage]] = {
    "ocr": {
        "letters": _letters,
        "hyphens": _at(r"[^\W\d_]{6,}", _broken("- "), 0.05, r"[^\W\d_]{4,}"),
        "line ends": _at(r"[^\W\d_]{6,}", _broken("-\n"), 0.05, r"[^\W\d_]{4,}"),
        "not signs": _at(r"[^\W\d_]{6,}", _broken("¬\n"), 0.05, r"[^\W\d_]{4,}"),
        "spaced": _at(_WORD, lambda word, _: " ".join(word), 0.05, r"[^\W\d_]{3,}"),
        "headers": _at(_GAP, _header, 0.01, _JOINED_GAP),
        "specks": _at(_GAP, _specks, 0.02, _JOINED_GAP),
        "columns": _columns,
    },
    "cut end": {
        "in a word": _cut(""),
        "in a sentence": _cut("", r"(?<=\w)(?=,? \w)"),
        "after a sentence": _cut("", r"(?<=[.。]) |(?<=。)(?!$)"),
        "dots": _cut("…", r"(?<=\w)(?=\W)"),
        "three dots": _cut("..."),
        "brackets": _cut(" [...]", r"(?<=\w)(?=,? \w)"),
        "more": _cut("… MORE"),
    },
    "cut start": {
        "in a word": _beheaded("", r"(?<=\w\w)(?=\w\w)"),
        "in a sentence": _beheaded("", r"(?<=\w),? (?=\w)|[、，]"),
        "dots": _beheaded("…", r"(?<=\w)(?=\W)"),
        "middle": _holed,
    },
    "boilerplate": {
        "before": _around(True, False),
        "after": _around(False, True),
        "both": _around(True, True),
        "amid": _at(r"(?<=[.!?]) |\n", _amid, 0, r"(?<=[。！？])(?!$)"),
    },
    "pages": {"breaks": _at(_GAP, _page_break, 0.015, _JOINED_GAP)},
    "doubled": {
        "word": _at(rf"(?i)\b(?!(?:{_REPEATABLE})\b)[^\W\d_]{{2,}}\b", lambda word, _: f"{word} {word}", 0.02, "(?!)"),
        "stutter": _at(_WORD, lambda word, _: word[:4] * 2 + word, 0.03, r"[^\W\d_]{2}"),
        "letters": _at(_WORD, lambda word, _: "".join(sign * 2 for sign in word), 0.05, r"[^\W\d_]{3,}"),
        "sentence": _at(_SENTENCE, lambda text, _: f"{text} {text}", 0.1),
        "line": _at(r"(?m)^.{20,}$", lambda text, _: f"{text}\n{text}", 0.3),
        "all": _twice,
    },
    "markup": {
        "html": _marked(_HTML),
        "tags": _tags,
        "entities": _at(_GAP, "&nbsp;", 0.05, _JOINED_GAP),
        "entities twice": _at(_GAP, "&amp;nbsp;", 0.05, _JOINED_GAP),
        "letters as entities": _at(
            r"[^\x00-\x7f]|['\"&]", lambda sign, _: escape(sign) if sign in "'\"&" else f"&#{ord(sign)};", 0.2
        ),
        "wikitext": _marked(_WIKI),
        "markdown": _marked(_MARKDOWN),
        "latex": _marked(_LATEX),
        "forum": _marked(_CHAT),
        "escapes": _of_sentences(_escaped),
    },
    "mail": {"quoted": _quoted, "printable": _of_sentences(_printable), "frame": _mail},
    "mojibake": {"once": _mojibake(1), "of another pair": _mojibake(1), "twice": _mojibake(2)},
    "stray signs": {
        "replacement": _at(r"[^\W\d_]", "\ufffd", 0.02),
        "question marks": _at(r"[^\x00-\x7f]", "?", 0.25),
        "control": _at(_JOINED_GAP, lambda _, work: work.rng.choice("\x02\x08\x0e\x1f\x7f\x96"), 0.01),
        "soft hyphens": _inside("\u00ad"),
        "zero width": _at(_JOINED_GAP, lambda _, work: work.rng.choice("\u200b\ufeff\u2060\u200e"), 0.02),
        "glyph numbers": _at(r"[^\W\d_]", lambda _, work: f"(cid:{work.rng.randrange(3, 200)})", 0.015),
        "ligatures": _at(r"f[fil]|ff[il]", " ", 0.3),
    },
    "run together": {
        "words": _at(_GAP, "", 0.06),
        "sentences": _at(r"(?<=[.!?,]) (?=\w)", "", 0.3),
        "all words": _spaced(_of_sentences(lambda text: text.replace(" ", ""))),
        "paragraphs": _at(r"\n+", "", 0.5),
    },
    "flattened": {
        "capitals": _spaced(_of_sentences(str.upper)),
        "small letters": _spaced(_of_sentences(str.lower)),
        "punctuation": _of_sentences(partial(re.sub, r"[.,;:!?()“”„«»。、，；'’-]", "")),
        "accents": _at(r"[^\W\d_\u3040-\u30ff]", _unaccented, 0.3),
        "figures": _of_sentences(partial(re.sub, r"\d", "")),
        "spelt out of order": _at(_WORD, lambda word, _: word[0] + word[2] + word[1] + word[3:], 0.03, "(?!)"),
    },
    "mixed": {"sentence": _foreign},
}  # fmt: skip
