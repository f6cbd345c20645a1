"""A generated wiki as a MediaWiki export of any size, district by district, with the planted truth beside it."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, TextIO

from esdedup.errors import UsageError
from scripts.wiki.article_subjects import Subject, subject_of
from scripts.wiki.clauses import SentenceMaker
from scripts.wiki.english.names import name_of
from scripts.wiki.markup import Fragments, dressed
from scripts.wiki.plants import Plant, Planter

DISTRICT = 100
"""Articles that are planned together. Planted clusters never span two districts."""

_BLOCK = 10
_BETWEEN = 4
"""Pages after each block of articles that are not articles: three redirects and one of another namespace."""

_SIZES = (9, 12, 15, 17, 19, 21, 23, 25, 28, 30, 32, 34, 36, 38, 41, 44, 48, 54, 62, 72)
"""Number of sentences of an article, without planted ones."""

_HEADINGS = {
    kind: tuple(headings.split(", "))
    for kind, headings in {
        "town": "History, Geography, Economy, Buildings, Churches, Transport, Culture, Education, Population, "
        "Government, Farming, Trade, Notable people, Later years, Recent years, Origins, Sport",
        "building": "History, Architecture, Exterior, Interior, Gardens, Owners, Restoration, Furnishings, "
        "Collections, Building, Later use, Bells and organ, Excavations, Reception, Present use, Origins, Art",
        "bridge": "History, Design, Construction, Opening, Traffic, Tolls, Repairs, Damage, Earlier crossings, "
        "Ferry, Materials, Approaches, Wartime, Wildlife, In art, Later changes, Present use",
        "river": "Course, Geography, Hydrology, Floods, Fishing, Navigation, Mills, Wildlife, Dams, Bridges, "
        "Pollution, Trade, Settlements, Conservation, Measurements, In literature, History",
        "scholar": "Early life, Education, Career, Research, Teaching, Travels, Publications, Honours, Legacy, "
        "Family, Later years, Students, Discoveries, Collections, Disputes, Reception, Methods",
        "artist": "Early life, Education, Career, Style, Works, Travels, Patrons, Exhibitions, Honours, Legacy, "
        "Family, Later years, Teaching, Reception, Friends, Studio, Influence",
        "company": "History, Products, Founding, Owners, Factories, Workers, Strikes, Exports, Finances, "
        "Branches, Decline, Later years, Advertising, Research, Management, Growth, Legacy",
        "club": "History, Founding, Ground, Players, Managers, Rivals, Supporters, Records, Cup matches, "
        "Youth teams, Finances, Women's team, Colours, Early years, Recent seasons, Members, Honours",
        "railway": "History, Route, Construction, Stations, Engines, Traffic, Accidents, Bridges, Tunnels, Owners, "
        "Fares, Closure, Preservation, Freight, Branches, Planning, Legacy",
        "work": "Plot, Characters, Writing, Themes, Reception, Publication, Adaptations, Style, Setting, "
        "Origins, Performances, Translations, Manuscript, Analysis, Awards, Influence, Background",
        "school": "History, Founding, Campus, Departments, Students, Teachers, Library, Research, Buildings, "
        "Sport, Admissions, Finances, Traditions, Early years, Recent years, Alumni, Branches",
    }.items()
}
_COMMENTS = ("add a source", "fix a date", "expand", "copy-edit", "new section", "fix a link", "update figures", "typo")

_EARLIER = 500_000
"""An earlier revision has an id that is so much smaller."""

_COPIED_BEHIND = 9
"""So many articles behind another one, one has a passage of it."""

_PASSAGE = 4
"""Sentences of a copied passage."""

_LONG_ENOUGH = 80
"""Characters of each of them."""

_SHORT = len("inn.")
"""After so short a word, a full stop before a number may be that of an abbreviation."""

_END_OF_TEXT = "== References ==\n{{Reflist}}\n\n"

_Draw = Callable[[], float]

HEADER = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" \
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.mediawiki.org/xml/export-0.11/ \
http://www.mediawiki.org/xml/export-0.11.xsd" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Demopedia</sitename>
    <dbname>demowiki</dbname>
    <base>https://demo.example/wiki/Main_Page</base>
    <generator>MediaWiki 1.43.0</generator>
    <case>first-letter</case>
    <namespaces>
      <namespace key="-2" case="first-letter">Media</namespace>
      <namespace key="-1" case="first-letter">Special</namespace>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
      <namespace key="2" case="first-letter">User</namespace>
      <namespace key="4" case="first-letter">Demopedia</namespace>
      <namespace key="6" case="first-letter">File</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
      <namespace key="14" case="first-letter">Category</namespace>
    </namespaces>
  </siteinfo>
"""
_PAGE = """  <page>
    <title>{title}</title>
    <ns>{namespace}</ns>
    <id>{id}</id>
{redirect}{revisions}  </page>
"""
_REVISION = """    <revision>
      <id>{revision}</id>
      <parentid>{parent}</parentid>
      <timestamp>{timestamp}</timestamp>
      <contributor>
        <username>{user}</username>
        <id>{user_id}</id>
      </contributor>
      <comment>{comment}</comment>
      <origin>{revision}</origin>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="{bytes}" sha1="{sha1}" xml:space="preserve">{text}</text>
      <sha1>{sha1}</sha1>
    </revision>
"""


def generate(articles: int, seed: int, out: BinaryIO, truth: TextIO, *, history: bool = True) -> None:
    """Write an export with `articles` articles to `out`, and its planted clusters as JSON Lines to `truth`.

    With `history`, some articles have an earlier revision that states another fact, which some others still state, and
    some have a passage of another article. The same arguments give the same bytes. The first articles do not depend on
    the total number.
    """
    if articles < 1:
        raise UsageError(f"articles is {articles}; allowed: 1 or more")
    fragments = Fragments()
    out.write(HEADER.encode())
    plants = 0
    for first in range(0, articles, DISTRICT):
        district = _District(first, min(DISTRICT, articles - first), seed, fragments, history)
        out.writelines(district.pages())
        truth.writelines(district.truth(plants))
        plants += district.plants
    out.write(b"</mediawiki>\n")


def page_id(article: int) -> int:
    """Return the page id of the article with this number, from 0."""
    return article + 1 + _BETWEEN * (article // _BLOCK)


class _District:
    """Articles that are planned together. The first `count` of them are written."""

    def __init__(self, first: int, count: int, seed: int, fragments: Fragments, history: bool) -> None:
        self._first = first
        self._count = count
        self._fragments = fragments
        self._random = random.Random(f"{seed} {first}")
        self._subjects = [subject_of(first + place) for place in range(DISTRICT)]
        self._maker = SentenceMaker(self._random)
        plants = Planter(random.Random(f"{seed} {first} planted"), self._subjects).plan()
        self._plants = [plant for plant in plants if history or not plant.update]
        self._history = history
        self._stale: set[int] = set()
        self._own: list[tuple[str, str]] = []  # a passage that no other article has: texts with markup and without
        self._borrowed: list[list[str]] = [[] for _ in range(DISTRICT)]  # what articles have of others, with markup
        self._planted: list[list[tuple[str, str]]] = [[] for _ in range(DISTRICT)]
        self._earlier: dict[str, str] = {}  # what an article said before it said this
        self._rewritten: list[tuple[str, str]] = []
        for plant in self._plants:
            if plant.update:
                self._earlier[plant.members[1][1]] = plant.members[0][1]
                for article, text, _ in plant.members[2:]:
                    self._borrowed[article].append(text)
                    self._stale.add(article)
            for article, text, _ in plant.members[1:2] if plant.update else plant.members:
                self._planted[article].append((plant.kind, text))

    @property
    def plants(self) -> int:
        """How many planted clusters there are, with those of articles that are written."""
        return len(self._plants)

    def truth(self, number: int) -> Iterator[str]:
        """Yield one line for each planted cluster of which two or more members are written; the first has `number`."""
        for place, plant in enumerate(self._plants):
            members = [
                {"document": str(page_id(self._first + article)), "text": text} | ({"cells": cells} if cells else {})
                for article, text, cells in (plant.members if plant.update else sorted(plant.members))
                if article < self._count
            ]
            if len(members) > 1:
                line = {"plant": number + place, "kind": plant.kind, "update": plant.update, "members": members}
                yield json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"

    def pages(self) -> Iterator[bytes]:
        """Yield the articles, with other pages in between."""
        for place in range(self._count):
            number = self._first + place
            subject = self._subjects[place]
            self._rewritten.clear()
            self._own.clear()
            text = self._article(number, subject, self._planted[place])
            if self._borrowed[place]:
                section = f"== Background ==\n{' '.join(self._borrowed[place])}\n\n"
                text = text.replace(_END_OF_TEXT, section + _END_OF_TEXT)
            if self._history and place % _BLOCK == 0:
                self._lend(place)
            earlier = text
            for new, old in self._rewritten:
                earlier = earlier.replace(new, old)
            versions = [earlier, text] if self._rewritten else [text]
            yield self._page(page_id(number), subject.title, versions, age=int(place in self._stale))
            if number % _BLOCK == _BLOCK - 1:
                yield from self._pages_between(number)

    def _lend(self, place: int) -> None:
        """Plant the passage of an article in another one."""
        copied = place + _COPIED_BEHIND
        self._borrowed[copied] += [line for line, _ in self._own]
        self._plants += [Plant("identical", ((place, text, ()), (copied, text, ()))) for _, text in self._own]

    def _pages_between(self, number: int) -> Iterator[bytes]:
        identifier = page_id(number)
        for offset in range(1, _BETWEEN):
            target = subject_of(number - offset)
            alias = f"{target.title} ({target.noun})"
            text = f"#REDIRECT [[{target.title}]]\n\n{{{{R from move}}}}"
            yield self._page(identifier + offset, alias, [text], target.title)
        talk = f"== {_capital(self._maker.phrase())} ==\n{self._maker.sentence(120)} [[User:{self._maker.place()}]]"
        yield self._page(identifier + _BETWEEN, f"Talk:{subject_of(number).title}", [talk], namespace=1)

    def _page(
        self, identifier: int, title: str, versions: Sequence[str], redirect: str = "", namespace: int = 0, age: int = 0
    ) -> bytes:
        """Return a page with its revisions, one in a year, the last one `age` years before the others."""
        draw = self._random.random
        last = 1_000_000 + 7 * identifier + int(draw() * 7)
        user = int(draw() * 5000)
        return _PAGE.format(
            title=title,
            namespace=namespace,
            id=identifier,
            redirect=f'    <redirect title="{redirect}" />\n' if redirect else "",
            revisions="".join(
                _revision(text, identifier, last - _EARLIER * before, 2024 - before, user + before)
                for before, text in reversed(list(enumerate(reversed(versions), age)))
            ),
        ).encode()

    # -- one article ----------------------------------------------------------------------------------------------

    def _article(self, number: int, subject: Subject, planted: list[tuple[str, str]]) -> str:
        draw = self._random.random
        fragments, title = self._fragments, subject.title
        self._maker.about(subject)
        parts = [_one(fragments.heads[subject.kind], draw)]
        if number % 2:
            parts.append(_one(fragments.infoboxes[subject.kind], draw).replace("%s", title))
        sections = self._sections([text for kind, text in planted if kind != "references"], draw)
        table_at = int(draw() * len(sections)) if number * 7 % 37 < 7 else -1
        headings = self._random.sample(_HEADINGS[subject.kind], len(sections))
        for place, section in enumerate(sections):
            if place:
                parts.append(f"== {headings[place]} ==\n")
                if draw() < 0.5:
                    parts.append(f"{{{{Main|{headings[place]} of {title}}}}}\n")
            if draw() < 0.55:
                parts.append(_one(fragments.files, draw))
            parts.append(section)
            if place == table_at:
                parts.append(_one(fragments.tables, draw))
        works = [text for kind, text in planted if kind == "references"]
        if works or number % 5 == 0:
            works += [self._work() for _ in range(2)]
            parts += ["== Works ==\n", *(f"* {_italic_title(work)}\n" for work in works), "\n"]
        parts.append(self._end(subject, draw))
        return "".join(parts)

    def _sections(self, planted: list[str], draw: _Draw) -> list[str]:
        """Return sections of paragraphs with marked-up sentences. The planted ones are anywhere."""
        plans, count = self._fragments.plans, len(self._fragments.plans)
        maker = self._maker
        texts = [maker.sentence() for _ in range(_SIZES[int(draw() * len(_SIZES))])]
        cut = []
        for text in planted:
            if text[-1] == ".":
                texts.insert(int(draw() * (len(texts) + 1)), text)
            else:
                cut.append(text)
        for place in range(1, len(texts)):
            while place and texts[place][0].isdigit() and len(texts[place - 1].rpartition(" ")[2]) <= _SHORT:
                texts[place - 1 : place + 1] = texts[place], texts[place - 1]
                place -= 1
        lines = []
        for text in texts:
            plan = plans[int(draw() * count)]
            lines.append(dressed(text, plan))
            if text in self._earlier:
                self._rewritten.append((lines[-1], dressed(self._earlier[text], plan)))
        own = list(zip(lines, texts, strict=True))[1:]
        for at in range(0 if self._own else len(own) - _PASSAGE):
            some = own[at : at + _PASSAGE]
            if all(len(text) >= _LONG_ENOUGH and text not in planted for _, text in some):
                self._own = some
                break
        lines[0] = f"{maker.lead()} {lines[0]}"
        paragraphs = [" ".join(lines[start : start + 4]) + "\n\n" for start in range(0, len(lines), 4)]
        paragraphs += [f"{text}\n* {maker.person()}\n* {maker.person()}\n\n" for text in cut]
        return ["".join(paragraphs[start : start + 3]) for start in range(0, len(paragraphs), 3)]

    def _work(self) -> str:
        maker = self._maker
        authors = f"{maker.person()} and {maker.person()}"
        return f"{authors}: {maker.treatise(60)}, {maker.place()} Press, {maker.place()}, {maker.word('year')}."

    def _end(self, subject: Subject, draw: _Draw) -> str:
        fragments, maker = self._fragments, self._maker
        parts = []
        if draw() < 0.5:
            parts += ["== See also ==\n", *(f"* [[{maker.place()}]]\n" for _ in range(3)), "\n"]
        parts.append(_END_OF_TEXT)
        if draw() < 0.5:
            parts += ["== External links ==\n", *(_one(fragments.outside, draw) for _ in range(3)), "\n"]
        navigation = f"{_capital(subject.noun)} articles of {maker.place()}"
        parts.append(f"{{{{{navigation}}}}}\n{{{{Authority control}}}}\n{{{{DEFAULTSORT:{subject.title}}}}}\n")
        parts += [_one(fragments.categories[subject.kind], draw) + "\n" for _ in range(2)]
        return "".join(parts)


def _revision(text: str, page: int, revision: int, year: int, user: int) -> str:
    data, minute = text.encode(), page % 1440
    return _REVISION.format(
        revision=revision,
        parent=revision - 5,
        timestamp=f"{year}-0{1 + page % 9}-{1 + page % 28:02}T{minute // 60:02}:{minute % 60:02}:00Z",
        user=name_of(user),
        user_id=user,
        comment=f"/* History */ {_COMMENTS[user % len(_COMMENTS)]}",
        bytes=len(data),
        sha1=_base_36(int.from_bytes(hashlib.sha1(data, usedforsecurity=False).digest(), "big")),
        text=text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"),
    )


def _one(pool: Sequence[str], draw: _Draw) -> str:
    return pool[int(draw() * len(pool))]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _italic_title(work: str) -> str:
    """Return a cited work with its title, from the colon to the first comma, in italics."""
    author, _, rest = work.partition(": ")
    title, comma, imprint = rest.partition(", ")
    return f"{author}: ''{title}''{comma}{imprint}"


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def _base_36(number: int) -> str:
    digits = ""
    for _ in range(31):
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits
