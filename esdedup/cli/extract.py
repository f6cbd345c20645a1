"""`extract`: the command that takes the text out of sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

import esdedup
from esdedup.cli.declared import signing_options, source_options
from esdedup.cli.made import command
from esdedup.cli.option_makers import AnyPath
from esdedup.cli.printing import raise_damage, show
from esdedup.cli.shared_options import OUTPUT, resource_options
from esdedup.terminal import printable_lines

_OF_TOKENS = ("normalize", "shingle", "hash_bits", "seed", "signer", "bands", "rows", "hashes", "draw", "draws")


@command(
    esdedup.extract,
    click.option(
        "-o", "--out", metavar="FILE", type=AnyPath(path_type=Path, allow_dash=True), panel=OUTPUT,
        help="File to write: .jsonl or .txt, also compressed (.jsonl.zst), or .parquet. With - JSON Lines are printed.",
    ),
    click.option(
        "--sentences", is_flag=True, panel=OUTPUT,
        help="Write the sentences that would be compared, not whole documents.",
    ),
    click.option(
        "--page", metavar="TITLE", panel=OUTPUT,
        help="Print the page with this title or id, instead of writing a file.",
    ),
    click.option(
        "--dropped", is_flag=True, panel=OUTPUT,
        help="Print what is left out and why: marked in the text with --page, otherwise counts.",
    ),
    groups=(source_options, signing_options, resource_options),
    hidden=_OF_TOKENS,
)  # fmt: skip
def extract(
    sources: tuple[str, ...], out: Path | None, page: str | None, dropped: bool, as_json: bool, **options: Any
) -> None:
    """In text files, an empty line follows each document. If the command is killed, run it again to finish it.

    \b
    Example:
      esdedup extract enwiki-latest-pages-articles.xml.bz2 -o enwiki.jsonl.zst
    """
    from esdedup.cli.show import extracted_text, left_out_text
    from esdedup.jobs.extracting import left_out, page_text
    from esdedup.terminal import json_line

    if page is not None or dropped:
        name = "--dropped" if page is None else "--page"
        if out is not None or as_json or options["sentences"]:
            raise click.UsageError(f"{name} prints text; omit --out, --sentences and --json")
        read = {name: value for name, value in options.items() if name not in ("sentences", "keep_going", "quiet")}
        if page is None:
            click.echo(printable_lines(left_out_text(*left_out(sources, read))))
        else:
            click.echo(printable_lines(page_text(sources, page, read, dropped=dropped)))
        return
    if out is None:
        raise click.UsageError("Missing option '--out'; for example --out found.jsonl, or --page TITLE")
    if str(out) == "-":
        for row in esdedup.extract(*sources, **options):
            click.echo(json_line(row.to_dict()))
        return
    done = esdedup.extract(*sources, out=out, **options)
    show(done, as_json, lambda: extracted_text(done), quiet=options["quiet"])
    raise_damage(done["damaged"])
