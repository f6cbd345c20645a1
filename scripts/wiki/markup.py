"""Markup as editors write it: pools of fragments made once, and how they are put around a plain sentence.

Cleaning the page removes everything that is added here, so the sentence stays as it was.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from scripts.wiki.article_subjects import KINDS
from scripts.wiki.clauses import SentenceMaker

# Averages for one sentence.
_LINKS, _PIPED = 1.8, 0.4
_ITALICS = 0.42
_REFS, _NAMED_AGAIN = 0.49, 0.3
_COMMENTS = 0.025
_SHORTENED = 0.09
_SPACES = 0.095

_FIELDS = (
    *("area", "length", "height", "members", "visitors", "budget", "region", "district", "county", "owner", "partner"),
    *(
        "rank",
        "code",
        "website_code",
        "archive",
        "capacity",
        "elevation",
        "registry",
        "twin",
        "predecessor",
        "successor",
    ),
)
_PLURALS = {
    "town": "Towns and villages", "building": "Historic buildings", "bridge": "Bridges", "river": "Rivers",
    "scholar": "Scholars", "artist": "Artists", "company": "Companies", "club": "Football clubs",
    "railway": "Railways", "work": "Works set", "school": "Schools and universities",
}  # fmt: skip

_PLANS = 4096
_NBSP = "&nbsp;"
_SHORT = 5
"""Letters of words that are rarely linked: the next word is."""

MarkupPlan = tuple[tuple[tuple[float, str, str], ...], str]
"""The markup of a sentence: where (0 to 1), what is before and after the word there; and what is at the end."""


Item = TypeVar("Item")


class Fragments:
    """Pools of markup, the same for every dump."""

    def __init__(self) -> None:
        self._numbers = random.Random("fragments")
        self._maker = SentenceMaker(self._numbers)
        self.refs = self._pool(2048, self._reference)
        self.plans = self._pool(_PLANS, self._plan)
        self.files = self._pool(512, self._file)
        self.tables = self._pool(64, self._table)
        self.outside = self._pool(512, self._outside_link)
        self.infoboxes = {kind: [self._infobox(kind) for _ in range(64)] for kind in KINDS}
        self.categories = {kind: [self._category(kind) for _ in range(128)] for kind in KINDS}
        self.heads = {kind: [self._head(kind) for _ in range(64)] for kind in KINDS}

    def _pool(self, count: int, make: Callable[[], Item]) -> list[Item]:
        return [make() for _ in range(count)]

    def _capital_phrase(self) -> str:
        phrase = self._maker.phrase()
        return phrase[0].upper() + phrase[1:]

    def _year(self) -> str:
        return self._maker.word("year")

    def _how_often(self, mean: float) -> int:
        """Return a whole number, `mean` on average, plus or minus one or two."""
        draw = self._numbers.random
        return int(mean * 2 * draw() + draw())

    def _date(self) -> str:
        month = self._numbers.choice(("January", "March", "April", "June", "August", "October", "December"))
        return f"{self._numbers.randrange(1, 29)} {month} {self._numbers.randrange(1990, 2024)}"

    def _address(self) -> str:
        path = "/".join(self._maker.word("image") for _ in range(self._numbers.randrange(2, 5)))
        query = f"?id={self._numbers.randrange(10**5)}&page={self._numbers.randrange(300)}"
        return f"https://www.{self._maker.place().lower()}.example/{path}" + query * (self._numbers.random() < 0.15)

    def _citation(self) -> str:
        first, last = self._maker.person().split(" ")
        common = f"|last={last} |first={first} |title={self._maker.treatise(40)}"
        if self._numbers.random() < 0.9:
            common += f" |quote={self._maker.sentence(90)}"
        style = self._numbers.randrange(3)
        if style == 0:
            address = self._address()
            return (
                f"{{{{cite web |url={address} {common} |archive-url=https://archive.example/web/{address}"
                f" |website={self._maker.word('paper').removeprefix('the ')}"
                f" |date={self._date()} |access-date={self._date()}}}}}"
            )
        if style == 1:
            pages = self._numbers.randrange(10, 400)
            return (
                f"{{{{cite book {common} |publisher={self._maker.place()} University Press |location="
                f"{self._maker.place()} |year={self._numbers.randrange(1950, 2024)} |pages={pages}–{pages + 7}"
                f" |isbn=978-0-{self._numbers.randrange(10**4):04}-{self._numbers.randrange(10**4):04}-1}}}}"
            )
        return (
            f"{{{{cite journal {common} |journal={self._maker.place()} Quarterly |volume="
            f"{self._numbers.randrange(1, 90)} |issue={self._numbers.randrange(1, 5)} |date={self._date()}"
            f" |doi=10.{self._numbers.randrange(1000, 9999)}/{self._numbers.randrange(10**6)}}}}}"
        )

    def _reference(self) -> str:
        chance = self._numbers.random()
        name = f' name="{self._maker.place()}{self._year()}"' if chance < 0.5 else ""
        if chance < 0.88:
            return f"<ref{name}>{self._citation()}</ref>"
        return f"<ref{name}>[{self._address()} {self._capital_phrase()} of {self._maker.place()}], {self._date()}</ref>"

    def _plan(self) -> MarkupPlan:
        around: list[tuple[str, str]] = []
        for _ in range(self._how_often(_LINKS)):
            target = f"[[{self._capital_phrase()}|" if self._numbers.random() < _PIPED else "[["
            around.append((target, "]]"))
        around += [("''", "''")] * self._how_often(_ITALICS)
        around += [("", _NBSP)] * (self._numbers.random() < _SPACES)
        self._numbers.shuffle(around)
        width = 0.9 / max(len(around), 1)
        marks = tuple((width * (place + self._numbers.random()), *pair) for place, pair in enumerate(around))
        after = ""
        for _ in range(self._how_often(_REFS)):
            if self._numbers.random() < _NAMED_AGAIN:
                after += f'<ref name="{self._maker.place()}{self._year()}" />'
            else:
                after += self._numbers.choice(self.refs)
        if self._numbers.random() < _SHORTENED:
            name = self._maker.place()
            after += f"{{{{sfn|{name}|{self._year()}|p={self._numbers.randrange(1, 500)}}}}}"
        if self._numbers.random() < _COMMENTS:
            after += f"<!-- see the {self._maker.phrase()} in {self._maker.place()} -->"
        return marks, after

    def _infobox(self, kind: str) -> str:
        """An infobox with `%s` for the title."""
        maker = self._maker
        lines = [
            f"{{{{Infobox {kind}",
            "| name = %s",
            f"| image = %s in {self._year()}.jpg",
            f"| caption = The {maker.phrase()} in {self._year()}",
            f"| country = [[{maker.place()}]]",
            f"| established = {{{{start date|{self._year()}|5|3}}}}",
        ]
        for field in self._numbers.sample(_FIELDS, self._numbers.randrange(4, 10)):
            value = self._numbers.choice((maker.word("n"), f"[[{maker.place()}]]"))
            lines.append(f"| {field} = {value}")
        return "\n".join([*lines, "}}\n"])

    def _category(self, kind: str) -> str:
        return f"[[Category:{_PLURALS[kind]} {self._numbers.choice(('of', 'in', 'near'))} {self._maker.place()}]]"

    def _file(self) -> str:
        caption = self._maker.sentence(40)
        words = caption.split(" ")
        words[1] = f"[[{words[1]}]]"
        name = f"{self._capital_phrase()} in {self._maker.place()} {self._year()}"
        return f"[[File:{name}.jpg|thumb|upright|{' '.join(words)}]]\n"

    def _table(self) -> str:
        rows = ['{| class="wikitable sortable"', f"|+ Figures for {self._maker.place()}", "! Name !! Year !! Number"]
        for _ in range(self._numbers.randrange(8, 24)):
            cell = f"[[{self._maker.place()}]]" if self._numbers.random() < 0.3 else self._maker.phrase()
            rows += ["|-", f"| {cell} || {self._year()} || {self._maker.word('n')}"]
        return "\n".join([*rows, "|}\n\n"])

    def _outside_link(self) -> str:
        return f"* [{self._address()} {self._capital_phrase()} of {self._maker.place()}]\n"

    def _head(self, kind: str) -> str:
        """The markup at the top of an article."""
        parts = [f"{{{{Short description|{kind.capitalize()} near {self._maker.place()}}}}}\n"]
        if self._numbers.random() < 0.5:
            parts.append(f"{{{{Use dmy dates|date=March {self._numbers.randrange(2012, 2024)}}}}}\n")
        if self._numbers.random() < 0.2:
            parts.append(f"{{{{About|the {kind}||{self._maker.place()}}}}}\n")
        return "".join(parts)


def dressed(text: str, plan: MarkupPlan) -> str:
    """Return `text` with the plan's marks around its words, and the markup after it."""
    marks, after = plan
    if not marks:
        return text + after
    length = len(text)
    parts = []
    done = 0
    for place, begin, end in marks:
        at = text.find(" ", int(place * length)) + 1
        stop = text.find(" ", at)
        if 0 < stop < at + _SHORT:
            at, stop = stop + 1, text.find(" ", stop + 1)
        word = text[at:stop]
        if at >= done and stop > 0 and word.isalnum():
            parts.append(f"{text[done:at]}{begin}{word}{end}")
            done = stop + 1 if end is _NBSP else stop
    return "".join(parts) + text[done:] + after
