"""Writes docs/python.md from signatures and docstrings; with --check, fails if it is out of date."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import esdedup
from esdedup.api import keywords
from scripts.files_page.contents import ANSWERS, FILES
from scripts.files_page.page import anchor_of

PAGE = Path(__file__).parents[1] / "docs" / "python.md"
HOMES = {
    "api.deduplicating": "Deduplicate",
    "api.changing": "Change a store",
    "api.asking": "Ask a store",
    "api.cluster_meaning": "What clusters mean",
    "api.linking": "Match records",
    "api.quality": "Plan, measure and check",
    "api.text_extraction": "Take out text",
    "api.keeping": "Look after a store",
    "store.registry": "Open a store",
    "demo.samples": "Data to try it on",
}
OBJECTS = (
    "output.contents.base:Result", "output.contents.base:Rows", "api.deduplicated:Deduplicated", "api.linking:Linked",
    "jobs.table_dedupe:TextClusters", "demo.samples:Sample", "demo.samples:Planted", "errors:NothingCompared",
)  # fmt: skip
HEAD = """# Python

Every command is also a function: `import esdedup`. This page is made by `python -m scripts.python_page` from
signatures and docstrings. The [Python tutorial](tutorials/python.md) shows how they work together.

What functions raise is in `esdedup.errors`; each of these is an `EsdedupError`. Functions that take `**options` take
those of the [groups of options](#options) that they name. `Address` is a path, or the address of a store on a server.
"""
OPTIONS = """## Options

Options have the names of the [command line](commands.md), with `_` instead of `-`. None means the default. Presets
set them, too.
"""
SECTIONS = re.compile(r"^(Args|Returns|Raises|Example):\n", re.MULTILINE)


def page() -> str:
    """The page."""
    parts = [HEAD]
    for home, title in HOMES.items():
        names = [name for name in esdedup._HOMES[home] if name in esdedup.__all__]
        parts.append(f"## {title}\n")
        parts += [_function(name, getattr(esdedup, name)) for name in names]
    parts += [OPTIONS, *_options()]
    parts.append("## What functions return\n")
    parts += [_class(*home.split(":")) for home in OBJECTS]
    return "\n".join(parts)


def _function(name: str, function: Any) -> str:
    parts = _sections(inspect.getdoc(function) or "")
    parameters = inspect.signature(function).parameters.values()
    words = dict(_arguments(parts.get("Args", "")))
    rows = [
        f"| `{parameter.name}` | {_type(parameter.annotation)} | {_linked(words[parameter.name])} |"
        for parameter in parameters
    ]
    given = inspect.signature(function).return_annotation
    returned = _linked(_flat(parts.get("Returns", "")))
    text = [f"### {name}", f"```text\nesdedup.{_call(name, list(parameters))}\n```", parts[""]]
    text.append("\n".join(["| parameter | type | meaning |", "|---|---|---|", *rows]))
    text.append(f"Returns {_answer(given)}. {returned}".strip() if given != "None" else "Returns nothing.")
    if "Raises" in parts:
        text.append("\n".join(f"- Raises `{error}`: {said}" for error, said in _arguments(parts["Raises"])))
    if "Example" in parts:
        text.append(f"```pycon\n{parts['Example'].replace('  # doctest: +SKIP', '')}\n```")
    return "\n\n".join(text) + "\n"


def _sections(docstring: str) -> dict[str, str]:
    first, *others = SECTIONS.split(docstring)
    found = {"": first.strip()}
    for name, body in zip(others[::2], others[1::2], strict=True):
        found[name] = textwrap.dedent(body).strip()
    return found


def _arguments(body: str) -> Iterator[tuple[str, str]]:
    """Names and what is said of them."""
    for part in re.split(r"\n(?=\S)", body):
        if part:
            name, _, words = part.partition(":")
            yield name, _flat(words)


def _flat(words: str) -> str:
    return " ".join(words.split())


def _call(name: str, parameters: list[inspect.Parameter]) -> str:
    """How a function is called: names and defaults."""
    words, starred = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words += ["*"]
            starred = True
        starred |= parameter.kind is parameter.VAR_POSITIONAL
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        words.append(f"{stars}{parameter.name}{default}")
    return textwrap.fill(f"{name}({', '.join(words)})", 88, subsequent_indent="    ", break_on_hyphens=False)


def _type(annotation: Any) -> str:
    """A type in words that stand in a table."""
    words = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    if found := re.fullmatch(r"Unpack\[(\w+)\]", words):
        return f"[{found[1]}](#{found[1].lower()})"
    if choices := re.search(r"Literal\[(.*?)\]", words):
        listed = ", ".join(f"`{each}`" for each in choices[1].split(", "))
        return words.replace(choices[0], listed).replace(" | ", " or ")
    return " or ".join(f"`{part}`" for part in re.split(r" \| (?![^\[]*\])", words)).replace(" | ", " or ")


def _answer(annotation: str) -> str:
    """The type of an answer, and where its fields are described."""
    sections = {
        each.row.__name__: f"files.md#{anchor_of(each.title)}" for each in FILES + ANSWERS if type(each.row) is type
    }
    sections |= {name: f"#{name.lower()}" for name in (home.partition(":")[2] for home in OBJECTS)}
    links = [f"[{name}]({sections[name]})" for name in re.findall(r"\w+", annotation) if name in sections]
    return f"`{annotation}`" + (f" ({', '.join(links)})" if links else "")


def _linked(words: str) -> str:
    """Words that point at a group of options lead there."""
    words = re.sub(r"`esdedup\.api\.keywords\.(\w+)`", lambda found: f"[{found[1]}](#{found[1].lower()})", words)
    return re.sub(r"docs/(\w+\.md)", r"[\1](\1)", words).replace("|", "\\|")


def _options() -> Iterator[str]:
    """The groups of options, from their types."""
    for node in ast.parse(inspect.getsource(keywords)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        said = ast.get_docstring(node) or ""
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        words = [each.value.value for each in node.body if isinstance(each, ast.Expr)
                 and isinstance(each.value, ast.Constant)]  # fmt: skip
        text = [f"### {node.name}", said.removesuffix(" None means the default.")]
        bases = [base.id for base in node.bases if isinstance(base, ast.Name) and base.id != "TypedDict"]
        if bases:
            text[-1] += f" Those of {', '.join(f'[{base}](#{base.lower()})' for base in bases)}."
        if fields:
            rows = [
                f"| `{ast.unparse(field.target)}` | {_type(ast.unparse(field.annotation).removesuffix(' | None'))} | "
                f"{_linked(_flat(str(meaning)))} |"
                for field, meaning in zip(fields, words[1:], strict=True)
            ]
            text.append("\n".join(["| option | type | meaning |", "|---|---|---|", *rows]))
        yield "\n\n".join(text) + "\n"


def _class(home: str, name: str) -> str:
    kind = getattr(import_module(f"esdedup.{home}"), name)
    text = [f"### {name}", inspect.getdoc(kind) or ""]
    rows = []
    for member, value in vars(kind).items():
        if member.startswith("_") or not isinstance(value, (FunctionType, property, cached_property)):
            continue
        words = inspect.getdoc(value) or ""
        shown = f"{member}{_arguments_of(value)}" if isinstance(value, FunctionType) else member
        rows.append(f"| `{shown}` | {_flat(_sections(words)['']).replace('|', chr(92) + '|')} |")
    if rows:
        text.append("\n".join(["| name | meaning |", "|---|---|", *rows]))
    return "\n\n".join(text) + "\n"


def _arguments_of(function: Any) -> str:
    return "(" + _call("", list(inspect.signature(function).parameters.values())[1:]).strip("()") + ")"


if __name__ == "__main__":
    made = page()
    if "--check" not in sys.argv:
        PAGE.write_text(made, "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != made:
        sys.exit(f"{PAGE} is out of date; run python -m scripts.python_page")
