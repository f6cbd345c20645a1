"""Writes esdedup/api/keywords.py from the declarations of options; with --check, fails if it is out of date."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from esdedup.clustering.linkages import LINKAGES
from esdedup.formats.protocol import FORMATS
from esdedup.formats.reading_options import Reading
from esdedup.matching.protocol import MATCHERS, Scanning
from esdedup.matching.signers.protocol import SIGNERS
from esdedup.matching.signing import Signing
from esdedup.matching.verify.protocol import VERIFIERS
from esdedup.options import Option, Registry
from esdedup.resources import Resources

MODULE = Path(__file__).parents[1] / "esdedup" / "api" / "keywords.py"
HEAD = '''"""The options of the verbs as types: made by `python scripts/keywords.py` from their declarations."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypedDict
'''
PATHS = {"labels", "review", "vectors"}  # files: also as Path
WORDED = {"memory"}  # also as text
NOT_OF_SCANS = {"keep", "kinds"}
OF_SCANS = [
    ("ignore", "str | Path | None", "File of texts or cluster ids to ignore, one per line."),
    ("exact", "bool | None", 'Short for candidates="exact".'),
]


def module() -> str:
    parts = [
        _group("ReadingOptions", "How sources are read.", _lines(Reading.declared()) + _of_implementations(FORMATS)),
        _group("SigningOptions", "What is compared, and how it is signed: frozen with a store's first document.",
               _lines(Signing.declared()) + _choice(SIGNERS)),
        _group("ScanOptions", "Where candidates come from, what makes a pair of them, and what makes a cluster.",
               [*_lines(option for option in Scanning.declared() if option.name not in NOT_OF_SCANS), *OF_SCANS,
                *_choice(LINKAGES), *_choice(VERIFIERS), *_choice(MATCHERS)]),
        _group("KindsOption", "Whether clusters are classified.",
               _lines(option for option in Scanning.declared() if option.name == "kinds")),
        _group("ResourceOptions", "What the job may use of the machine.", _lines(Resources.declared())),
        _group("PresetOption", "A preset.", [("preset", "str | None", "Name of a preset, whose options hold where no "
               "other is given.")]),
        _join("IndexOptions", "Options of `index`.", "ReadingOptions", "SigningOptions", "ResourceOptions",
              "PresetOption"),
        _join("FindOptions", "Options of `scan`.", "ScanOptions", "KindsOption", "ResourceOptions", "PresetOption"),
        _join("DedupeOptions", "Options of `dedupe`.", "ReadingOptions", "SigningOptions", "ScanOptions",
              "ResourceOptions", "PresetOption"),
        _join("TableOptions", "Options of `dedupe` for a table in memory.", "SigningOptions", "ScanOptions",
              "ResourceOptions", "PresetOption"),
        _join("RunOptions", "Options of `run` and `add`.", "DedupeOptions", "KindsOption"),
    ]  # fmt: skip
    text = HEAD + "".join(parts)
    if find_spec("ruff") is None:
        sys.exit("ruff is not installed in this environment; run ./scripts/check once, and then . .venv/bin/activate")
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(MODULE), "-"],
        input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def _lines(declared: Iterable[Option]) -> list[tuple[str, str, str]]:
    return [(option.name, _type(option), _words(option)) for option in declared]


def _choice(registry: Registry[Any]) -> list[tuple[str, str, str]]:
    """The option that names an implementation, and the options of all of them."""
    named = ", ".join(f"{each.name} ({each.summary})" for each in registry)
    literal = ", ".join(f'"{name}"' for name in registry.names)
    return [(registry.option, f"Literal[{literal}] | None", f"{named}."), *_of_implementations(registry)]


def _of_implementations(registry: Registry[Any]) -> list[tuple[str, str, str]]:
    lines = []
    for name, owners in registry.declared().items():
        declared, usual = owners[0][1], {owner: _usual(option) for owner, option in owners}
        words = declared.help
        if len(registry.names) > 1:
            words += f" Only with {registry.option} {_listed(usual)}."
        if len(set(usual.values())) == 1:
            words += _usual(declared)
        else:
            words += "".join(f"{text.rstrip('.')} with {owner}." for owner, text in usual.items())
        lines.append((name, _type(declared), words))
    return lines


def _type(option: Option) -> str:
    if option.choices:
        kind = f"Literal[{', '.join(chr(34) + choice + chr(34) for choice in option.choices)}]"
    else:
        kind = "tuple[int, ...]" if option.type is tuple else option.type.__name__
    if option.name in PATHS:
        kind += " | Path"
    if option.name in WORDED:
        kind += " | str"
    return f"{kind} | None"


def _listed(names: Iterable[str]) -> str:
    *some, last = (f'"{name}"' for name in names)
    return f"{', '.join(some)} or {last}" if some else last


def _usual(option: Option) -> str:
    usual = option.usual or (None if option.default is None else repr(option.default))
    return f" Default: {usual}." if usual else ""


def _words(option: Option) -> str:
    return option.help + _usual(option)


def _docstring(words: str) -> str:
    return textwrap.fill(f'"""{words}"""', 116, initial_indent="    ", subsequent_indent="    ")


def _group(name: str, what: str, lines: list[tuple[str, str, str]]) -> str:
    body = "".join(f"    {field}: {kind}\n{_docstring(words)}\n\n" for field, kind, words in lines)
    return f'\n\nclass {name}(TypedDict, total=False):\n    """{what} None means the default."""\n\n{body}'


def _join(name: str, what: str, *parts: str) -> str:
    return f'\n\nclass {name}({", ".join(parts)}, total=False):\n    """{what}"""\n'


if __name__ == "__main__":
    made = module()
    if "--check" not in sys.argv:
        MODULE.write_text(made, "utf-8")
    elif not MODULE.exists() or MODULE.read_text("utf-8") != made:
        sys.exit(f"{MODULE} is out of date; run python scripts/keywords.py")
