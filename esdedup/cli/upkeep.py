"""`status`, `doctor`, `remove`, `drop`: the commands that maintain a store."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import rich_click as click

import esdedup
from esdedup.cli.made import command
from esdedup.cli.printing import show
from esdedup.cli.shared_options import STORE, STORES, any_store_option, optional_store
from esdedup.errors import EsdedupError, UsageError
from esdedup.files import as_word
from esdedup.plurals import plural
from esdedup.terminal import printable_lines

if TYPE_CHECKING:
    from esdedup.output.contents.job_answers import Status

_LANGUAGES = 12  # shown on a line; --json has all of them


@command(esdedup.status, store=any_store_option)
def status(store: str, as_json: bool, quiet: bool) -> None:  # noqa: D103 (it says what the verb says)
    state = esdedup.status(store=store)
    show(state, as_json, lambda: "\n".join(_status_lines(state)))


def _languages_text(languages: Mapping[str, int]) -> str:
    """Return the most frequent languages with their counts, and what all others have."""
    counts = list(languages.items())
    shown = [f"{code} {count:,}" for code, count in counts[:_LANGUAGES]]
    if rest := counts[_LANGUAGES:]:
        shown.append(f"{len(rest)} others {sum(count for _, count in rest):,}")
    return ", ".join(shown)


def _status_lines(state: Status) -> Iterator[str]:
    from esdedup.cli.show import count_lines, counts_text
    from esdedup.terminal import printable

    yield f"{state['store']}  {state['disk_bytes'] / 2**20:,.1f} MiB"
    yield counts_text(state)
    if state["languages"]:
        yield "languages: " + _languages_text(state["languages"])
    yield "settings: " + _settings_text(state["settings"])
    for source in state["sources"]:
        read = plural(source["documents"], "document")
        yield f"source: {printable(source['name'])}  {read}  {printable(source['path'])}"
    scanned = state["last_scan"]
    if scanned is None:
        yield f"not scanned; next: esdedup scan --store {as_word(state['store'])}"
    else:
        yield "last scan: " + _settings_text(scanned["scanning"])
        yield from count_lines(scanned["counts"], state["settings"]["unit"])
    if state["unfinished"]:
        yield f"unfinished: {printable(state['unfinished'])}"


def _settings_text(settings: Mapping[str, Any]) -> str:
    from esdedup.matching.units import setting_in_words

    return ", ".join(f"{name} {setting_in_words(value)}" for name, value in settings.items())


@command(esdedup.remove)
def remove(documents: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Give the ids of documents as results show them, or - to read them from standard input, one per line. If an id is
    unknown, the others are still removed, and the exit code is 1.

    \b
    Example:
      esdedup remove 1204 news/8817 --store news.duckdb
    """
    from esdedup.cli.show import count_lines

    if documents == ("-",):
        lines = sys.stdin.buffer.read().decode("utf-8", "replace").splitlines()
        documents = tuple(line.strip() for line in lines if line.strip())
    done = esdedup.remove(*documents, **options)
    counts = count_lines(done["counts"], done["unit"])
    first = f"removed {plural(done['removed'], 'document')}"
    show(done, as_json, lambda: "\n".join([first, *counts]), quiet=options["quiet"])
    if done["unknown"]:
        named = ", ".join(done["unknown"][:5]) + (" …" if len(done["unknown"]) > 5 else "")
        ids = plural(len(done["unknown"]), "unknown document id")
        raise EsdedupError(f"{ids}: {named}; the rest is done")


@command(
    esdedup.doctor,
    optional_store(f"{STORES}; or set ESDEDUP_STORE. Without one, what is installed is checked."),
)
def doctor(as_json: bool, **options: Any) -> None:
    """Exit code 1 if something is wrong and not mended.

    \b
    Example:
      esdedup doctor --store http://127.0.0.1:9200/wiki --repair
    """
    from esdedup.cli.show import checks_text

    done = esdedup.doctor(**options)
    show(done, as_json, lambda: checks_text(done), quiet=options["quiet"])
    if done.problems:
        first = done.problems[0]
        rest = f" (and {len(done.problems) - 1} more)" if len(done.problems) > 1 else ""
        advice = f"; {first['advice']}" if first["advice"] else ""
        raise EsdedupError(f"{first['name']}: {first['problem']}{rest}{advice}")


@command(
    esdedup.drop,
    click.option("--yes", is_flag=True, help="Confirm the deletion.", panel=STORE),
    store=any_store_option,
    as_json=False,
)
def drop(store: str, yes: bool, quiet: bool) -> None:  # noqa: D103 (it says what the verb says)
    if not yes:
        raise UsageError(f"drop deletes everything esdedup made in {store}; add --yes to confirm")
    esdedup.drop(store=store)
    if not quiet:
        click.echo(printable_lines(f"{store}: dropped"))
