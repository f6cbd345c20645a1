"""A small collection with whatever a page may stumble over."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.benchmarks.history import planted, write_history
from scripts.wiki.writing import generate_files

SCRIPT = "The page said <script>alert(1)</script> & \"quoted\" 'things' to everybody who opened it in the morning."
BOLD = "The page said <b>alert(2)</b> & \"quoted\" 'things' to everybody who opened it in the morning."
ARABIC = "القاهرة هي عاصمة جمهورية مصر العربية وأكبر مدنها، وتقع على ضفاف نهر النيل في شمال البلاد منذ القدم."
HEBREW = "ירושלים היא עיר הבירה של מדינת ישראל והעיר הגדולה ביותר בה, ורבים עולים אליה בכל שנה ושנה מכל העולם."
LONG = "A very long sentence " + "that goes on and on about the same old bridge over the river " * 9 + "ends here."
CONTROLS = "A bell\x07 rings, a vertical\x0b tab and a delete\x7f stand between words of an otherwise plain sentence."
EMOJI = "The family 👩‍👩‍👧‍👦 flew to 🇫🇷 with a 🧑🏽‍🚀 and ate 🥐🥐🥐 on the roof of the hotel every single morning."
FORMULA = '=HYPERLINK("http://evil.example","click") is what the cell of this sheet says to all who look at it.'
BRIDGE = "The old bridge over the river Lorn was built in {} and carries some {} carts a day."

TITLES = {
    "script": '"><script>alert("title")</script>',
    "slashes": "a/b//../../etc/passwd?x=1#y",
    "../..": "../../etc",
    "per%2Fcent": "100% {title} {{ 7 * 7 }}",
    "rtl": "‏القاهرة‏",
    "=cmd": "@SUM(A1)",
    "é \U0001f600": "Émoji 😀 title",
    "long": "x" * 400,
    "two\nlines\r\n": "A title\nin two lines",
}


def _edited(text: str) -> str:
    """The text with its last word but one doubled."""
    words = text.split(" ")
    return " ".join([*words[:-1], words[-2], words[-1]])


def articles() -> list[dict[str, str]]:
    """The articles that were written by hand, each with sentences that stand elsewhere, too."""
    odd = [SCRIPT, ARABIC, HEBREW, LONG, CONTROLS, EMOJI, FORMULA]
    held: dict[str, list[str]] = {name: [] for name in TITLES}
    names = list(TITLES)
    for at, text in enumerate(odd):
        held[names[at]].append(text)
        held[names[at + 1]].append(_edited(text))
        held[names[(at + 3) % len(names)]].append(text)
    held["script"].append(BOLD)
    for at, name in enumerate(names):
        held[name].append(BRIDGE.format(1790 + at % 2, 400 + at % 3))
    return [{"id": name, "title": TITLES[name], "text": "\n\n".join(texts)} for name, texts in held.items()]


def write_sources(folder: Path) -> list[Path]:
    """A made-up wiki, articles written by hand, and pages with histories."""
    wiki = folder / "wiki.xml"
    generate_files(60, 1, wiki)
    odd = folder / "odd.jsonl"
    odd.write_text("".join(json.dumps(row) + "\n" for row in articles()), "utf-8")
    history = write_history(folder / "history.xml", planted(4, 11)[0])
    return [wiki, odd, history]


OPTIONS = {"unit": "sentence", "revisions": "all", "jaccard": 0.7, "workers": 1}
"""Of the run over these sources."""
