"""The names of a wiki in one table for compiled code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text import folded_names
from esdedup.text.wikitext import rules
from esdedup.text.wikitext.marks import GONE
from esdedup.text.words import LETTERS, hash_table, key_of, mix

Numbers = npt.NDArray[np.int64]

# One table serves all kinds of names: the hash of a name starts from its kind. Kinds differ above the bits of any
# character, so no first character can make up for the difference between two kinds.
ENTITY, TAG, NAMESPACE, SECTION, MAGIC_WORD, SCHEME, TEMPLATE, TEMPLATES, ARGUMENT, VALUE, TEX, VARIANT = (
    constant(kind << 32) for kind in range(1, 13)
)


class Tables(NamedTuple):
    """What compiled code knows of a wiki: `keys` and `values` of all names, which `find` searches, the `letters` that
    names are folded to, and the `code` of the programs of templates.
    """

    keys: Numbers
    values: Numbers
    letters: Numbers
    code: Numbers


_SPACE = constant(32)

_DIRECTION_MARKS = np.zeros(0x2030, dtype=np.bool_)
_DIRECTION_MARKS[[ord(char) for char in folded_names.DIRECTION_MARKS]] = True

_LAST_FOLDED = folded_names.LAST_FOLDED


@compiled
def folded_key(text: Bytes, start: int, end: int, kind: int, letters: Numbers) -> int:
    """Return the key of the name in text[start:end], folded as in `folded_names.fold`."""
    key: int = np.int64(kind)  # type: ignore[assignment]  # which wraps
    space = False
    empty = True
    i = start
    while i < end:
        code = int(text[i])
        i += 1
        if code == GONE:
            continue
        if code >= 0xE0 and code < 0xF0 and i + 1 < end:
            code = (code & 15) << 12 | (int(text[i]) & 63) << 6 | (int(text[i + 1]) & 63)
            i += 2
            if code < 0x2030 and _DIRECTION_MARKS[code]:
                continue
        elif code >= 0xC2 and code < 0xE0 and i < end:
            code = (code & 31) << 6 | (int(text[i]) & 63)
            i += 1
        elif code >= 0xF0 and code < 0xF5 and i + 2 < end:
            code = (code & 7) << 18 | (int(text[i]) & 63) << 12 | (int(text[i + 1]) & 63) << 6
            code |= int(text[i + 2]) & 63
            i += 3
        if code == 32 or code == 95 or code == 9 or code == 10 or code == 13 or code == 160:
            space = True
            continue
        if space and not empty:
            key = mix(key, _SPACE)
        space = False
        empty = False
        key = mix(key, int(letters[code]) if code < _LAST_FOLDED else code)
    return key


def tables_of(wiki: rules.Names, templates: Mapping[str, int], code: Numbers, symbols: Mapping[str, int]) -> Tables:
    """Return the tables of a wiki. `templates` are the places in `code` of programs of templates, by folded name;
    `symbols` the commands of formulas.
    """
    entries: dict[int, int] = {}
    groups: tuple[tuple[int, Mapping[str, int]], ...] = (
        (ENTITY, rules.ENTITIES),
        # the kind in the low byte, above it the number of the tag
        (TAG, {name: number << 8 | kind for number, (name, kind) in enumerate(rules.TAGS.items())}),
        (NAMESPACE, dict.fromkeys(wiki.dropped_links, 1)),
        (SECTION, dict.fromkeys(rules.SECTIONS, 1)),
        (MAGIC_WORD, dict.fromkeys(rules.MAGIC_WORDS, 1)),
        (SCHEME, dict.fromkeys(rules.SCHEMES, 1)),
        (TEX, symbols),
        (VARIANT, wiki.variants | ({"": len(wiki.variants)} if wiki.variants else {})),
        (TEMPLATE, {name: place for name, place in templates.items() if not name.endswith("*")}),
        (TEMPLATES, {name[:-1]: place for name, place in templates.items() if name.endswith("*")}),
    )
    for kind, group in groups:
        entries.update((key_of(kind, name), value) for name, value in group.items())
    return Tables(*hash_table(entries), LETTERS, code)
