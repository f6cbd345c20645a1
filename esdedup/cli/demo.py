"""`demo`: a small wiki with planted clusters, and what a run finds in it."""

from __future__ import annotations

import bz2
import io
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from esdedup.cli.defaults import Command
from esdedup.cli.shared_options import OUTPUT, json_option, resource_options, talk_options
from esdedup.errors import EsdedupError
from esdedup.files import as_word, whole_file
from esdedup.plurals import plural
from esdedup.terminal import printable_lines

if TYPE_CHECKING:
    from esdedup.demo.checking import Found


@click.command(cls=Command)
@click.option(
    "-o", "--out", metavar="DIR", type=click.Path(path_type=Path), default=Path("demo-out"), show_default=True,
    help="Folder for the files.", panel=OUTPUT,
)  # fmt: skip
@json_option
@resource_options
@talk_options
def demo(out: Path, as_json: bool, **options: Any) -> None:
    """Run on a made-up wiki with planted clusters of every kind, all revisions, and report what was found.

    The wiki, demo.xml.bz2, and the planted clusters, demo.truth.jsonl, are written to DIR.

    \b
    Example:
      esdedup demo --out demo-out
    """
    import esdedup
    from esdedup.cli.show import summary_text
    from esdedup.demo.checking import check
    from esdedup.demo.samples import shipped
    from esdedup.jobs.lakes import store_in
    from esdedup.terminal import json_line

    wiki, truth = out / "demo.xml.bz2", out / "demo.truth.jsonl"
    contents = {wiki: shipped("wiki.xml.bz2"), truth: bz2.decompress(shipped("wiki.truth.jsonl.bz2"))}
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path, content in contents.items():
            with whole_file(path) as part:
                part.write_bytes(content)
    except OSError as error:
        raise EsdedupError(f"{error.filename or out}: {error.strerror}; use a writable location") from error
    summary = esdedup.run(wiki, out=out, revisions="all", fresh=True, **options)
    store = store_in(out, options.get("engine") or "local")
    clusters = (cluster.to_dict() for cluster in esdedup.clusters(store=store))
    found = check(truth, clusters, summary["settings"]["jaccard"])
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
