"""Namespaces of page titles, and redirects by their text, for exports that do not declare them."""

from __future__ import annotations

import re
from collections.abc import Mapping

CANONICAL = {
    -2: "Media", -1: "Special", 1: "Talk", 2: "User", 3: "User talk", 4: "Project", 5: "Project talk",
    6: "File", 7: "File talk", 8: "MediaWiki", 9: "MediaWiki talk", 10: "Template", 11: "Template talk",
    12: "Help", 13: "Help talk", 14: "Category", 15: "Category talk",
}  # fmt: skip
"""The names that every wiki accepts. They are used if the export has no names."""

_ALIASES = {"image": 6, "image talk": 7}

# the words that begin a redirect in wikis of large languages
_REDIRECT_WORDS = (
    "redirect", "weiterleitung", "redirection", "redirección", "redireccion", "redirecionamento", "rinvia",
    "doorverwijzing", "omdirigering", "omdiriger", "viderestilling", "ohjaus", "uudelleenohjaus", "patrz",
    "przekieruj", "tam", "přesměruj", "presmeruj", "átirányítás", "yönlendirme", "alih", "lencong", "đổi",
    "перенаправление", "перенапр", "перенаправлення", "пренасочване", "виж", "преусмери", "تحويل",
    "تغییر_مسیر", "تغییرمسیر", "הפניה", "重定向", "転送", "リダイレクト", "넘겨주기", "ανακατευθυνση",
)  # fmt: skip
_REDIRECT = re.compile(rf"\s*[#＃](?:{'|'.join(map(re.escape, _REDIRECT_WORDS))})(?![^\W_])", re.IGNORECASE)


def is_redirect(text: str) -> bool:
    """Return whether the first word of the wikitext makes it a redirect."""
    return _REDIRECT.match(text) is not None


class Titles:
    """Finds a title's namespace by its prefix."""

    def __init__(self, namespaces: Mapping[int, str]) -> None:
        names = {_folded(name): key for key, name in (namespaces or CANONICAL).items() if name}
        self._names = {**_ALIASES, **names}

    def namespace(self, title: str) -> int:
        """Return the number of the namespace, 0 for articles."""
        prefix, colon, _ = title.partition(":")
        return self._names.get(_folded(prefix), 0) if colon else 0


def _folded(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).casefold()
