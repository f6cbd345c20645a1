"""HTML from templates: no text can become markup, and a missing name is an error."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from esdedup._version import __version__
from esdedup.columns.kernels import cache_root
from esdedup.matching.units import setting_in_words
from esdedup.output import skips
from esdedup.output.record_counts import in_words
from esdedup.plurals import plural

_PACKAGE = "esdedup.output"

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_STEPS = (("", 1), (" k", 10**3), (" M", 10**6), (" G", 10**9), (" T", 10**12))


@cache
def environment(*packages: str) -> Environment:
    """Return the templates of these packages (each in its folder `templates`) and of this one; the first match is used.

    Everything is escaped, characters that HTML does not allow are replaced by visible signs, and a missing name is an
    error. Filters: `number` (1,234,567), `short` (1.2 M), `percent` (of a share: 12.3%), `plural`,
    `setting` (its value in words), `records` (their counts in lines), and the measures of `skips`.
    """
    found = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, _PACKAGE)]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_Kept(),
    )
    found.filters |= {"number": number, "short": short, "percent": percent, "plural": plural}
    found.filters |= {"setting": setting_in_words, "records": lambda counts, unit: in_words(counts, unit).splitlines()}
    found.filters |= {
        "confidence": skips.confidence,
        "likeness": skips.likeness,
        "hundredths": skips.hundredths,
    }
    return found


class _Kept(FileSystemBytecodeCache):
    """Keeps compiled templates for the next command: to compile them takes a tenth of a second. It does without files
    that cannot be read or written.
    """

    def __init__(self) -> None:
        folder = cache_root() / f"templates-{__version__}"
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
        super().__init__(str(folder))

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load what was kept, if it is whole."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # whatever a damaged file raises
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it, if that is possible."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def style() -> str:
    """Return the style sheet that all pages share."""
    return (resources.files(_PACKAGE) / "templates" / "style.css").read_text("utf-8")


def page(name: str, values: Mapping[str, Any]) -> str:
    """Return a page of a file of its own: the template `name` with these values, the style sheet and its hash."""
    look = Markup(style())
    digest = base64.b64encode(hashlib.sha256(look.encode()).digest()).decode()
    return environment().get_template(name).render({**values, "style": look, "style_hash": digest})


def number(value: int | None) -> str:
    """Format a count with thousands separators; a dash if it is unknown."""
    return "–" if value is None else f"{value:,}"


def short(value: float) -> str:
    """Format a count or a size with at most three digits: 950, 1.2 k, 34 M."""
    step = next((step for step in _STEPS if abs(value) < 999.5 * step[1]), _STEPS[-1])
    scaled = value / step[1]
    return f"{scaled:.1f}{step[0]}" if step[1] > 1 and abs(scaled) < 9.95 else f"{scaled:.0f}{step[0]}"


def percent(share: float) -> str:
    """Format a share of one: 12.3%. Only nothing is 0%, and only all is 100%."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def visible(text: str) -> str:
    """Replace each character that HTML does not allow with a visible sign."""
    return _UNSEEN.sub(_sign, text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\ufffd"


def _finalized(value: Any) -> Any:
    """Return what represents a value in a page: markup unchanged, other text without what HTML does not allow."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
