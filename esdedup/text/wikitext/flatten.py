"""Convert a page, as mwparserfromhell reads it, to flat wikitext: only marks, no templates, tables, links or tags."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mwparserfromhell import nodes

from esdedup.text.folded_names import fold
from esdedup.text.wikitext import rules
from esdedup.text.wikitext.formula import formula_text
from esdedup.text.wikitext.plain_lines import (
    APART,
    COMMENT,
    GONE,
    HOLE,
    LOWERED,
    RAISED,
    SOFT,
    SPLIT,
    SURE_HOLE,
    hole,
    protect,
)
from esdedup.text.wikitext.rules import TAGS, Names
from esdedup.text.wikitext.tags import CODE, PARAGRAPHS, kind_of
from esdedup.text.wikitext.template_pass import GROWTH
from esdedup.text.wikitext.templates.patterns import SIGNS, fill

# Tags that the parser left in the text: unpaired ones, which MediaWiki treats as tags anyway.
_TAG = re.compile(r"</?([A-Za-z0-9]+)(?=[\s/>])[^<>]*>")

_MARKS = re.compile("[\udc00-\udcff]")
_DIGIT_LAST = re.compile(r"[0-9]\Z")
_NUMBERS = re.compile("[ |+,.-]*[0-9][0-9 |+,.-]*")
_BLANK = f" \t\r\n\v\f{GONE}"

_MARK_OF_TAG = {
    rules.RAISED: APART,
    rules.LOWERED: APART,
    rules.BLOCK: SPLIT,
    rules.BREAK: SOFT,
    rules.TABLE: SPLIT,
    rules.TRANSPARENT: "",
}
_SIGNS = dict(zip(map(ord, SIGNS), (SPLIT, RAISED, LOWERED, APART), strict=True)) | {
    ord(char): protect(char) for char in "|="
}
_MARK_OF_OPENING = {rules.RAISED: RAISED, rules.LOWERED: LOWERED}


def flatten(code: Any, names: Names) -> str:
    """Return the flat wikitext of `code`, a `Wikicode`."""
    found: list[str] = []
    before = ""
    for node in code.nodes:
        kind = type(node)
        flat = _READERS[kind](node, names)
        if kind is nodes.Template:
            if flat.startswith(HOLE) and _DIGIT_LAST.search(before) and _is_number(node, names):
                flat = SURE_HOLE + flat[1:]
            before = flat
        else:
            before = str(node) if kind is nodes.Text else ""
        found.append(flat)
    return "".join(found)


def _text(node: nodes.Text, names: Names) -> str:
    return _TAG.sub(_stray_tag, str(node.value))


def _stray_tag(match: re.Match[str]) -> str:
    kind = TAGS.get(match[1].lower())
    encloses = kind in (rules.DROP, rules.LITERAL, rules.LITERAL_BLOCK, rules.FORMULA)
    if kind is None or (encloses and not match[0].startswith("</") and not match[0].endswith("/>")):
        return match[0]
    return _MARK_OF_TAG.get(kind, GONE) if match[0].startswith("</") else _opening(kind)


def _opening(kind: int) -> str:
    return _MARK_OF_OPENING.get(kind) or _MARK_OF_TAG.get(kind, GONE)


def _gone(node: Any, names: Names) -> str:
    return GONE


def _template(node: nodes.Template, names: Names) -> str:
    title, colon, first = flatten(node.name, names).replace(COMMENT, "").partition(":")
    patterns = names.patterns(title)
    if patterns is None:
        return hole(str(node)[2:-2])
    arguments = {"1": first.strip(_BLANK)} if colon else {}
    size = _size(f"{{{{{title}{colon}{first}}}}}")
    for parameter in node.params:
        name = fold(str(parameter.name))
        given = flatten(parameter.value, names).replace(COMMENT, "")
        size += _size(f"|{given}") + (len(str(parameter.name).encode()) + 1) * parameter.showkey
        value = given.strip(_BLANK)
        arguments[name] = value.replace("|", protect("|")).replace("=", protect("="))
    filled = fill(patterns, arguments, _SIGNS)
    if filled is None or _size(filled) > size + GROWTH:
        return hole(str(node)[2:-2], sure=True)
    return filled or GONE


def _is_number(node: nodes.Template, names: Names) -> bool:
    """Whether the arguments are numbers, such as a power of ten that belongs to what is before the template."""
    given = "|".join(f"{each.name}=" * each.showkey + flatten(each.value, names) for each in node.params)
    return _NUMBERS.fullmatch(given) is not None


def _size(flat: str) -> int:
    """Return the bytes of flat wikitext, as the fast cleaner writes it: a mark is one byte, a hole three."""
    return (
        len(flat.encode("utf-8", "surrogatepass"))
        - 2 * len(_MARKS.findall(flat))
        - 6 * (flat.count(HOLE) + flat.count(SURE_HOLE))
    )


def _comment(node: nodes.Comment, names: Names) -> str:
    return COMMENT


def _entity(node: nodes.HTMLEntity, names: Names) -> str:
    return str(node)


def _heading(node: nodes.Heading, names: Names) -> str:
    marks = "=" * node.level
    return f"{marks}{flatten(node.title, names)}{marks}"


def _external_link(node: nodes.ExternalLink, names: Names) -> str:
    if not node.brackets:
        return flatten(node.url, names)
    return f"{GONE}{flatten(node.title, names)}" if node.title is not None else GONE


def _wikilink(node: nodes.Wikilink, names: Names) -> str:
    if not str(node.title):
        return str(node)  # `[[]]` is text
    if names.drops_link(str(node.title)):
        return GONE
    if node.text is not None and str(node.text).strip():
        return GONE + flatten(node.text, names)
    title, _, shown = flatten(node.title, names).partition("|")  # a template may write the bar
    return GONE + (shown or title.lstrip(" ").removeprefix(":"))


def _tag(node: nodes.Tag, names: Names) -> str:
    name = str(node.tag).strip().lower()
    if node.wiki_markup and name != "table":
        # The marks of lists and rules are read with their line; those of bold and italic are removed.
        return GONE + flatten(node.contents, names) + GONE if node.contents else str(node.wiki_markup)
    kind = TAGS.get(name)
    contents = flatten(node.contents, names) if node.contents is not None else ""
    if kind is None:
        return _unknown(node, contents)
    if kind == rules.DROP:
        return GONE
    if kind == rules.FORMULA:
        return _formula(str(node.contents or ""))
    if kind in (rules.TABLE, rules.BREAK):
        return SPLIT if kind == rules.TABLE else SOFT + contents
    if kind in (rules.LITERAL, rules.LITERAL_BLOCK):
        literal = protect(str(node.contents or ""))
        if kind == rules.LITERAL:
            return GONE + literal.replace("\n", " ") + GONE
        return SPLIT + literal.replace("\n", SOFT) + SPLIT
    mark = _MARK_OF_TAG.get(kind, GONE)
    return f"{_opening(kind)}{contents}{'' if node.self_closing else mark}"


def _unknown(node: nodes.Tag, contents: str) -> str:
    if node.invalid:
        return str(node)
    if node.self_closing:
        return GONE
    content = str(node.contents)
    kind = kind_of(content)
    mark = SPLIT if kind == PARAGRAPHS else GONE
    return hole(content) if kind == CODE else f"{mark}{contents}{mark}"


def _formula(formula: str) -> str:
    shown = formula_text(formula)
    return protect(shown) if shown else hole(formula)


_READERS: dict[type, Callable[[Any, Names], str]] = {
    nodes.Text: _text,
    nodes.Template: _template,
    nodes.Argument: _gone,
    nodes.Comment: _comment,
    nodes.HTMLEntity: _entity,
    nodes.Heading: _heading,
    nodes.ExternalLink: _external_link,
    nodes.Wikilink: _wikilink,
    nodes.Tag: _tag,
}
