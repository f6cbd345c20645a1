"""Groups of command-line options made from declarations: see `esdedup.options`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import rich_click as click

from esdedup.cli.option_makers import Decorator, bundle, choice_options, complete_files, one_option
from esdedup.cli.shared_options import READING, resource_options
from esdedup.clustering.linkages import LINKAGES
from esdedup.formats.protocol import FORMATS
from esdedup.formats.reading_options import Reading
from esdedup.matching.protocol import MATCHERS, Scanning
from esdedup.matching.signers.protocol import SIGNERS
from esdedup.matching.signing import Signing
from esdedup.matching.verify.protocol import VERIFIERS
from esdedup.options import Option


def _of(declared: Iterable[Option], panel: str, *but: str) -> list[Decorator]:
    return [one_option(option, panel) for option in declared if option.name not in but]


_SIGNING, _SCANNING = "What is compared", "Finding pairs"


def format_options() -> list[Decorator]:
    """Make the options of all formats, each once. Formats of one family share a panel."""
    found = []
    for owners in FORMATS.declared().values():
        families = dict.fromkeys(FORMATS[name].family for name, _ in owners)
        names = [name for name, _ in owners]
        some = names != [each.name for each in FORMATS if each.family in families]
        option = replace(owners[0][1], help=owners[0][1].help + some * f" Applies to {' and '.join(names)}.")
        found.append(one_option(option, f"Reading {' or '.join(families)}"))
    return found


_FORMAT_HELP = f"Format of the sources: {', '.join(f'{each.name} ({each.summary})' for each in FORMATS)}."
source_options = bundle(
    *(
        one_option(replace(option, help=_FORMAT_HELP) if option.name == FORMATS.option else option, READING)
        for option in Reading.declared()
        if option.name != "part"
    ),
    *format_options(),
)
part_option = bundle(*_of([option for option in Reading.declared() if option.name == "part"], READING))
signing_options = bundle(
    *_of(Signing.declared(), _SIGNING),
    *choice_options(SIGNERS, "How texts are signed", _SIGNING),
)
jaccard_option = bundle(*_of([option for option in Scanning.declared() if option.name == "jaccard"], _SCANNING))
scan_options = bundle(
    *_of(Scanning.declared(), _SCANNING, "keep", "kinds"),
    click.option(
        "--ignore", metavar="FILE", panel=_SCANNING, shell_complete=complete_files,
        help="File of texts or cluster ids to ignore, one per line.",
    ),
    *choice_options(LINKAGES, "How pairs become clusters", _SCANNING),
    *choice_options(VERIFIERS, "How candidates are verified", _SCANNING),
    *choice_options(MATCHERS, "Where candidates come from", _SCANNING),
    click.option("--exact", is_flag=True, default=None, panel=_SCANNING, help="Short for --candidates exact."),
)  # fmt: skip
kinds_option = bundle(*_of([option for option in Scanning.declared() if option.name == "kinds"], _SCANNING))

GROUPS = {
    "IndexOptions": (source_options, part_option, signing_options, resource_options),
    "FindOptions": (scan_options, kinds_option, resource_options),
    "DedupeOptions": (source_options, signing_options, scan_options, resource_options),
    "RunOptions": (source_options, signing_options, scan_options, kinds_option, resource_options),
}
"""The options in a verb's `**options`, by their type."""
