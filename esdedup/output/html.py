"""HTML from templates: nothing that stands in a text can become markup, and nothing that is missing stays unseen."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_PACKAGE = "esdedup.output"

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_STEPS = (("", 1), (" k", 10**3), (" M", 10**6), (" G", 10**9), (" T", 10**12))


@cache
def environment(*packages: str) -> Environment:
    """Templates of these packages, each in its folder `templates`, and of this room: the first that has a name.

    Everything is escaped, characters that HTML does not allow are shown as such, and a name that is not there is an
    error. Filters: `number` (1,234,567), `short` (1.2 M), `percent` (of a share: 12.3%), `plural`.
    """
    found = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, _PACKAGE)]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"number": number, "short": short, "percent": percent, "plural": plural}
    return found


def style() -> str:
    """The style sheet that all pages share."""
    return (resources.files(_PACKAGE) / "templates" / "style.css").read_text("utf-8")


def number(value: int | None) -> str:
    """A count with its thousands parted; a dash for one that is not known."""
    return "–" if value is None else f"{value:,}"


def short(value: float) -> str:
    """A count or a size in three digits at most: 950, 1.2 k, 34 M."""
    step = next((step for step in _STEPS if abs(value) < 999.5 * step[1]), _STEPS[-1])
    scaled = value / step[1]
    return f"{scaled:.1f}{step[0]}" if step[1] > 1 and abs(scaled) < 9.95 else f"{scaled:.0f}{step[0]}"


def percent(share: float) -> str:
    """A share of one: 12.3%, and never 0% or 100% of what is not nothing or not all."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count and what is counted: 1 cluster, 2,000 clusters."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def visible(text: str) -> str:
    """The text with a sign in the place of each character that HTML does not allow."""
    return _UNSEEN.sub(_sign, text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\ufffd"


def _finalized(value: Any) -> Any:
    """What stands for a value in a page: markup as it is, all other text without what HTML does not allow."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
