"""Reads the cases of the folder beside it; the format is described in its README.txt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "cases"

_HEAD = re.compile(r"#### case (.+?)(?: \(fast only: (.+)\))?")
_CHARACTER = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")


@dataclass(frozen=True)
class Case:
    topic: str
    name: str
    wikitext: str
    text: str
    fast_only: str | None


def read_cases() -> list[Case]:
    """All of them; an `AssertionError` where the folder, or one of its files, has none."""
    topics = {path.stem: _read(path) for path in sorted(FOLDER.glob("*.txt")) if path.name != "README.txt"}
    assert topics, f"no cases in {FOLDER}"
    assert all(topics.values()), f"no cases of {[topic for topic, cases in topics.items() if not cases]}"
    return [case for cases in topics.values() for case in cases]


def _read(path: Path) -> list[Case]:
    cases = []
    _, *parts = re.split(r"(?m)^(?=#### case )", path.read_text(encoding="utf-8"))
    for part in parts:
        head, _, body = part.partition("\n")
        match = _HEAD.fullmatch(head)
        wikitext, mark, text = body.partition("#### text\n")
        if match is None or not mark:
            raise ValueError(f"{path.name}: cannot read the case {head!r}")
        name, reason = match.groups()
        cases.append(Case(path.stem, name, _characters(wikitext), _characters(text), reason))
    return cases


def _characters(text: str) -> str:
    return _CHARACTER.sub(lambda match: chr(int(match[1], 16)), text.strip("\n"))
