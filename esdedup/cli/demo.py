"""`demo`: a small wiki with planted clusters, and what a run finds in it."""

from __future__ import annotations

import io
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from esdedup.cli.completion import complete_files
from esdedup.cli.defaults import Command
from esdedup.cli.shared_options import OUTPUT, json_option, resource_options, talk_options
from esdedup.errors import EsdedupError, UsageError
from esdedup.files import as_word
from esdedup.plurals import plural
from esdedup.terminal import printable_lines

if TYPE_CHECKING:
    from esdedup.demo.checking import Found


@click.command(cls=Command)
@click.option(
    "--articles", type=int, default=200, show_default=True, metavar="N", help="Number of articles.", panel="The wiki"
)
@click.option(
    "--demo-seed", type=int, default=1, show_default=True, metavar="S", help="Seed of the generator.", panel="The wiki"
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path("demo-out"),
    show_default=True,
    help="Folder for the files.",
    panel=OUTPUT,
)
@click.option(
    "--only-generate", is_flag=True, help="Write the wiki and its planted clusters; run nothing.", panel="The wiki"
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=complete_files,
    help="With --only-generate: the wiki's file; - is standard output.",
    panel="The wiki",
)
@json_option
@resource_options
@talk_options
def demo(
    articles: int, demo_seed: int, out: Path, only_generate: bool, output: str | None, as_json: bool, **options: Any
) -> None:
    """Make a wiki with planted clusters of every kind, run on it with all revisions, and report what was found.

    With --only-generate, the wiki is written and nothing is run. The planted clusters go to a file beside it that
    ends in .truth.jsonl (in DIR if the wiki goes to standard output).

    \b
    Examples:
      esdedup demo --articles 500
      esdedup demo --only-generate --articles 150000 -o large.xml
    """
    if output is not None and not only_generate:
        raise UsageError("-o applies to --only-generate only; use --out DIR for the folder of a full demo")
    if articles < 1:
        raise UsageError(f"--articles {articles}: allowed: 1 or more")
    if only_generate:
        wiki, truth = _generate(articles, demo_seed, out, output)
        if not options["quiet"]:
            click.echo(f"esdedup: wrote {wiki} and {truth}", err=True)
        return
    wiki, truth = _generate(articles, demo_seed, out, None)
    _run(wiki, truth, out, as_json, options)


def _generate(articles: int, seed: int, out: Path, output: str | None) -> tuple[str, Path]:
    """Write the wiki and its truth. Return their paths."""
    from esdedup.demo.wiki import generate
    from esdedup.demo.writing import generate_files, truth_beside
    from esdedup.files import whole_file

    try:
        if output == "-":
            out.mkdir(parents=True, exist_ok=True)
            truth = out / "demo.truth.jsonl"
            with whole_file(truth) as part, part.open("w", encoding="utf-8", newline="\n") as lines:
                generate(articles, seed, sys.stdout.buffer, lines)
                sys.stdout.buffer.flush()
            return "standard output", truth
        wiki = out / "demo.xml.bz2" if output is None else Path(output)
        wiki.parent.mkdir(parents=True, exist_ok=True)
        generate_files(articles, seed, wiki)
        return str(wiki), truth_beside(wiki)
    except BrokenPipeError:
        raise
    except OSError as error:
        name = error.filename if error.filename is not None else output or out
        raise EsdedupError(f"{name}: {error.strerror}; use a writable location") from error


def _run(wiki: str, truth: Path, out: Path, as_json: bool, options: dict[str, Any]) -> None:
    import esdedup
    from esdedup.cli.show import summary_text
    from esdedup.demo.checking import check
    from esdedup.jobs.lakes import store_in
    from esdedup.terminal import json_line

    summary = esdedup.run(wiki, out=out, revisions="all", fresh=True, **options)
    store = store_in(out, options.get("engine") or "local")
    found = check(
        truth, (cluster.to_dict() for cluster in esdedup.clusters(store=store)), summary["settings"]["jaccard"]
    )
    if as_json:
        click.echo(json_line({"summary": summary.to_dict(), "found": asdict(found), "complete": found.complete}))
    elif not options["quiet"]:
        click.echo(printable_lines(summary_text(summary, out, store)))
        click.echo()
        click.echo(_found_text(found))
        click.echo(f"\nLook at it: esdedup serve --store {as_word(store)}")
    if not found.complete:
        missed = sum(kind.missed for kind in found.kinds)
        raise EsdedupError(
            f"{missed} planted pairs missed, {found.mixed} clusters mix plants; compare {truth} with {out}"
        )


def _found_text(found: Found) -> str:
    text = io.StringIO()
    text.write(f"{'planted kind':<14}{'plants':>8}{'pairs':>8}{'found':>8}{'missed':>8}\n")
    for kind in found.kinds:
        text.write(f"{kind.kind:<14}{kind.plants:>8,}{kind.pairs:>8,}{kind.found:>8,}{kind.missed:>8,}\n")
    unplanted, strangers = plural(found.unplanted, "cluster"), plural(found.strangers, "sentence")
    text.write(f"not planted: {unplanted}, and {strangers} in planted ones\n")
    missed = sum(kind.missed for kind in found.kinds)
    every = "every planted pair found" if not missed else f"{plural(missed, 'planted pair')} missed"
    mixing = "no cluster mixes" if not found.mixed else plural(found.mixed, "cluster mixes", "clusters mix")
    return text.getvalue() + f"{every}; {mixing} two plants or more"
