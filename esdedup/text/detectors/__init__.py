"""What tells the language of a text by its letters: libraries, of which some have no wheels for some machines.

Their answers differ, so a store remembers which one has told its languages.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType

from esdedup.errors import SettingsError
from esdedup.options import shown_value
from esdedup.text.detectors.protocol import Detector

CLD2, PROFILES = "cld2", "profiles"

_PACKAGES = MappingProxyType({CLD2: "pycld2", PROFILES: "resiliparse"})
"""Detectors and the packages that they need, the best one first: of 1,376 paragraphs in six languages, 1,345 and 1,335
are told.
"""


def installed() -> str:
    """Return the name of the best detector that can be used here."""
    return next((name for name, package in _PACKAGES.items() if find_spec(package)), CLD2)


def detector(name: str) -> Detector:
    """Return a detector. Raises `SettingsError` if there is none of this name, or its package is not installed."""
    if name not in _PACKAGES:
        raise SettingsError(f"languages is {shown_value(name)}; allowed: {', '.join(_PACKAGES)}")
    package = _PACKAGES[name]
    try:
        found: Detector = import_module(f"{__name__}.{name}")
    except ImportError as error:
        raise SettingsError(
            f"the languages of these texts are told by {package}, which is not installed: pip install {package} "
            "(without a wheel for this machine, that needs a C++ compiler), or make the store anew"
        ) from error
    return found
