"""What is dropped, what is kept and what breaks a line: the rules of both cleaners."""

from __future__ import annotations

import html.entities
from collections.abc import Mapping, Sequence

from esdedup.text.folded_names import fold
from esdedup.text.wikitext import languages
from esdedup.text.wikitext.templates.known import known_templates, load_templates
from esdedup.text.wikitext.templates.patterns import Pattern, parse

# What happens to an HTML or extension tag.
DROP = 1  # removed with its content, which is not read as wikitext
LITERAL = 2  # removed; its content is text as it is
LITERAL_BLOCK = 3  # the same, in its own block
INLINE = 4  # removed; its content stays in the line
BLOCK = 5  # removed; its content is its own block
BREAK = 6  # becomes a soft line break
TABLE = 7  # removed with its content, which is read as wikitext
TRANSPARENT = 8  # removed as if it had never been there
FORMULA = 9  # becomes text if it is short and simple, else a hole
RAISED = 10  # like INLINE, but 10<sup>8</sup> is not 108
LOWERED = 11


def _kinds(groups: Mapping[int, str]) -> dict[str, int]:
    return {name: kind for kind, names in groups.items() for name in names.split()}


TAGS: dict[str, int] = _kinds(
    {
        DROP: "categorytree charinsert dynamicpagelist gallery graph hiero imagemap includeonly"
        " indicator inputbox mapframe maplink phonos quiz ref references score source"
        " syntaxhighlight templatedata timeline",
        LITERAL: "nowiki",
        LITERAL_BLOCK: "pre",
        INLINE: "a abbr acronym b bdi bdo big blink cite code data del dfn em font i ins kbd langconvert mark"
        " nobr q rb rp rt rtc ruby s samp section seo small span strike strong templatestyles time"
        " translate tt tvar u var wbr",
        BLOCK: "blockquote caption center col colgroup dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p poem tbody"
        " td tfoot th thead tr ul",
        BREAK: "br",
        TABLE: "table",
        FORMULA: "ce chem math mathchem",
        RAISED: "sup",
        LOWERED: "sub",
        TRANSPARENT: "noinclude onlyinclude",
    }
)
"""Kind by name. A tag of any other name is text."""

ENTITIES: dict[str, int] = {
    name[:-1]: ord(value) for name, value in html.entities.html5.items() if name.endswith(";") and len(value) == 1
}
"""Code point by name, for every entity that represents one character."""

SCHEMES: tuple[str, ...] = (
    *(
        "//",
        "http://",
        "https://",
        "ftp://",
        "ftps://",
        "sftp://",
        "git://",
        "gopher://",
        "irc://",
        "ircs://",
    ),
    *("mms://", "nntp://", "redis://", "ssh://", "svn://", "telnet://", "worldwind://", "bitcoin:", "geo:"),
    *("magnet:", "mailto:", "matrix:", "news:", "sip:", "sips:", "sms:", "tel:", "urn:", "xmpp:"),
)
"""What must follow `[` to open an external link."""


def _folded(by_language: Mapping[str, str]) -> frozenset[str]:
    return frozenset(fold(name) for names in by_language.values() for name in names.split("|"))


SECTIONS = _folded(languages.SECTIONS)
MAGIC_WORDS = _folded(languages.MAGIC_WORDS)

_MEDIA, _FILE, _CATEGORY = -2, 6, 14


class Names:
    """Names of one wiki: those of its dump's `<siteinfo>`, and those known from all wikis."""

    def __init__(
        self,
        namespaces: Mapping[int, str] | None = None,
        templates: str | None = None,
        site: str = "",
        language: str = "",
    ) -> None:
        self.site = site
        """Language and kind of the wiki, such as `en.wikipedia`; empty if they are not known."""
        self.language = language
        """What the dump says about its language."""
        codes = languages.VARIANTS.get(site.rpartition(".")[0] or language.lower(), "").split()
        self.variants: dict[str, int] = {code: rank for rank, code in enumerate(codes)}
        """The variants of the wiki's language, with the one that is shown first; empty if it has none."""
        self.namespaces: dict[int, str] = dict(namespaces or {})
        """The dump's own names, by number."""
        self.added = templates
        """Templates that a user has added, as a store saves them."""
        parsed = {name: tuple(map(parse, texts)) for name, texts in load_templates(templates).items()}
        self.templates: dict[str, Sequence[Pattern]] = {**known_templates(site), **parsed}
        """What a reader sees of templates, by folded name."""
        own = [self.namespaces.get(number, "") for number in (_MEDIA, _FILE, _CATEGORY)]
        known = _folded(languages.NAMESPACES) | frozenset(map(fold, languages.INTERLANGUAGE.split()))
        self.dropped_links: frozenset[str] = (known | frozenset(map(fold, own))) - {""}
        """Folded prefixes of links that are removed with their captions: files, categories, other languages."""

    def patterns(self, template: str) -> Sequence[Pattern] | None:
        """Return what a reader sees of a template. `lang-*` is for every name that begins with `lang-`."""
        name = fold(template)
        beginning, hyphen, _ = name.rpartition("-")
        return self.templates.get(name) or (self.templates.get(f"{beginning}-*") if hyphen else None)

    def drops_link(self, title: str) -> bool:
        """Return whether `[[title]]` is a file, a category or the same article in another language."""
        prefix, colon, _ = title.partition(":")
        return bool(colon) and fold(prefix) in self.dropped_links
