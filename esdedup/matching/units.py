"""What is compared: sentences, paragraphs, lines or records; and the defaults that belong to each.

A record may be a name or a book, in any script. So its texts are divided into classes, by script and by the number of
their different shingles. Each class has bounds and a shingle of its own. `docs/units.md` has the measurements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from esdedup.errors import SettingsError
from esdedup.options import shown_value
from esdedup.plurals import plural
from esdedup.text.splitting import SCRIPTS

MOST_CHARS = 10_000_000


@dataclass(frozen=True, slots=True)
class TextClass:
    """Texts that are compared by one kind of shingle.

    Its texts are mostly in `script` (one of `SCRIPTS`, or any), and have fewer than `below` different
    shingles of this kind, if that is set. A text belongs to the first class that fits. Whether one stands inside a
    longer text is decided by the shingles `inside`, if they differ: a long text has nearly every short shingle.
    """

    shingle: str
    min_chars: int
    max_chars: int
    script: str = "any"
    below: int | None = None
    inside: str | None = None

    def fits(self, script: str) -> bool:
        """Whether texts of this group of scripts may belong to the class."""
        return self.script in ("any", script)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit, and its defaults."""

    name: str
    summary: str
    classes: tuple[TextClass, ...]
    normalize: str
    signer_options: Mapping[str, int]
    jaccard: float


_SENTENCES = (
    TextClass("char:12", 75, 600, "spaced"),
    TextClass("char:2", 25, 300, "ideographs"),
    TextClass("char:2", 40, 600, "unspaced"),
)
_WHOLE = (
    TextClass("char:3", 0, MOST_CHARS, "spaced", below=100, inside="char:8"),
    TextClass("char:4", 0, MOST_CHARS, "spaced", below=1000, inside="char:8"),
    TextClass("char:5", 0, MOST_CHARS, "spaced", inside="char:8"),
    TextClass("char:2", 0, MOST_CHARS, "ideographs", inside="char:4"),
    TextClass("char:3", 0, MOST_CHARS, "unspaced", inside="char:8"),
)
_BANDS = {"bands": 28, "rows": 5}

UNITS: dict[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit("sentence", "the sentences of a text", _SENTENCES, "none", {"bands": 10, "rows": 4}, 0.8),
        Unit("paragraph", "paragraphs, separated by an empty line", _WHOLE, "fold", _BANDS, 0.7),
        Unit("line", "the lines of a text", _WHOLE, "fold", _BANDS, 0.7),
        Unit("record", "whole texts: rows or documents", _WHOLE, "fold", _BANDS, 0.7),
    )
}
"""The units by name, the default of a dump first."""


def usual_class(classes: Iterable[TextClass]) -> TextClass:
    """Return the class whose bounds and shingle are shown where there is room for one: that of long texts in scripts
    with spaces.
    """
    return [each for each in classes if each.fits(SCRIPTS[0])][-1]


def changed_classes(
    classes: tuple[TextClass, ...], shingle: str | None, min_chars: int | None, max_chars: int | None
) -> tuple[TextClass, ...]:
    """Return classes with these values. A value that is set replaces every choice by length or script.

    Classes that no longer differ become one.
    """
    if shingle is not None:
        classes = tuple(replace(each, shingle=shingle, inside=None) for each in classes if each.below is None)
    if min_chars is not None:
        classes = tuple(replace(each, min_chars=min_chars) for each in classes)
    if max_chars is not None:
        classes = tuple(replace(each, max_chars=max_chars) for each in classes)
    if len({replace(each, script="any") for each in classes}) == 1:
        return (replace(classes[0], script="any"),)
    return classes


def saved_classes(classes: Iterable[TextClass]) -> list[dict[str, Any]]:
    """Return classes as JSON."""
    return [{**asdict(replace(each, inside=None)), "inside": each.inside or each.shingle} for each in classes]


def setting_in_words(value: Any) -> str:
    """Format the value of a setting for reading: of classes of texts, what differs."""
    if isinstance(value, list | tuple):
        classes = [each for each in value if isinstance(each, Mapping)]
        return "; ".join(map(_class_in_words, classes)) if classes else plural(len(value), "text")
    return "yes" if value is True else "no" if value is False else "none" if value is None else str(value)


def _class_in_words(saved: Mapping[str, Any]) -> str:
    names = {"script": "{} scripts", "shingle": "{}", "below": "fewer than {} shingles"}
    parts = [form.format(saved[name]) for name, form in names.items() if saved.get(name) not in (None, "any")]
    return f"{', '.join(parts)}, {saved['min_chars']:,} to {saved['max_chars']:,} characters"


def read_classes(saved: Iterable[Mapping[str, Any]]) -> tuple[TextClass, ...]:
    """Return classes from their JSON. Raises `SettingsError` if they are not valid."""
    try:
        return tuple(TextClass(**each) for each in saved)
    except TypeError:
        raise SettingsError(f"classes is {shown_value(saved)}; these are not classes of texts") from None
