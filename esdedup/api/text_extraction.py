"""The text of sources as a reader sees it, and sentences of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from esdedup.api.sources import Address, check_options
from esdedup.api.table_sources import named_sources

if TYPE_CHECKING:
    from esdedup.api.keywords import IndexOptions
    from esdedup.output.contents.comparisons import Document, Sentence
    from esdedup.output.contents.job_answers import Extracted


@overload
def extract(
    *sources: Any, out: Address, sentences: bool = False, keep_going: bool = False,
    columns: str | Sequence[str] | None = None, quiet: bool = False, **options: Unpack[IndexOptions],
) -> Extracted: ...  # fmt: skip
@overload
def extract(
    *sources: Any, out: None = None, sentences: Literal[False] = False, keep_going: bool = False,
    columns: str | Sequence[str] | None = None, quiet: bool = False, **options: Unpack[IndexOptions],
) -> Iterator[Document]: ...  # fmt: skip
@overload
def extract(
    *sources: Any, out: None = None, sentences: Literal[True], keep_going: bool = False,
    columns: str | Sequence[str] | None = None, quiet: bool = False, **options: Unpack[IndexOptions],
) -> Iterator[Sentence]: ...  # fmt: skip
def extract(
    *sources: Any,
    out: Address | None = None,
    sentences: bool = False,
    keep_going: bool = False,
    columns: str | Sequence[str] | None = None,
    quiet: bool = False,
    **options: Unpack[IndexOptions],
) -> Extracted | Iterator[Document] | Iterator[Sentence]:
    """Take the text out of sources, as a reader sees it: of wiki dumps without markup.

    Documents without text are left out.

    Args:
        sources: Files, folders or patterns; a list holds paths, never patterns. Or one table in memory.
        out: File to write: JSON Lines (.jsonl) or plain text (.txt), which may be compressed, or Parquet (.parquet).
            Repeat the call to finish a killed job. Default: yield what is extracted.
        sentences: Extract the units that would be compared, instead of documents.
        keep_going: Skip missing and damaged sources, and continue; they are listed under `damaged`.
        columns: Columns of a table whose texts are extracted. Default: `text`, or the only column of strings.
        quiet: Show no progress.
        options: Options of reading, signing and resources, see `esdedup.api.keywords.IndexOptions`.

    Returns:
        With `out`, counts of what was written. Otherwise an iterator over documents, or sentences.

    Raises:
        UsageError: An option is unknown, out of range or does not apply.
        SourceError: A source is missing or damaged.

    Example:
        >>> [document.title for document in esdedup.extract("dump.xml.bz2")]  # doctest: +SKIP
    """
    check_options(options)
    if out is None:
        return _rows(sources, sentences, keep_going, columns, quiet, dict(options))
    from esdedup.formats.remote.remote_path import path_of
    from esdedup.jobs.extracting import extract_to
    from esdedup.output.contents.job_answers import Extracted
    from esdedup.output.remote_folder import sent

    with named_sources(sources, columns, dict(options)) as (names, reading), sent(path_of(out)) as file:
        done = extract_to(list(names), file, reading, sentences=sentences, keep_going=keep_going, quiet=quiet)
    return Extracted.of(done | {"file": str(out)})


def _rows(
    sources: Sequence[Any], sentences: bool, keep_going: bool, columns: str | Sequence[str] | None, quiet: bool,
    options: dict[str, Any],
) -> Iterator[Any]:  # fmt: skip
    from esdedup.jobs.extracting import extraction
    from esdedup.output.contents.comparisons import Document, Sentence

    kind = Sentence if sentences else Document
    with named_sources(sources, columns, options) as (names, reading):
        begun, _ = extraction(list(names), reading, sentences=sentences, keep_going=keep_going, quiet=quiet)
        for table in begun.tables():
            yield from map(kind.of, table.to_pylist())


def split(text: str, lang: str = "auto") -> list[str]:
    """Split a text into its sentences: all of them, in order, before any bound on their length.

    An empty line ends a sentence; a single line break counts as a space. White space is collapsed. Apart from white
    space, the sentences joined are the text.

    Args:
        text: The text.
        lang: Its language, as an ISO 639 code. `auto` finds it by the letters of the text.

    Returns:
        The sentences, without white space around them.

    Raises:
        UsageError: `text` is not a string, or `lang` is neither a code nor `auto`.

    Example:
        >>> esdedup.split("Dr. Smith came. It rained.")
        ['Dr. Smith came.', 'It rained.']
    """
    from esdedup.errors import UsageError
    from esdedup.text.segment import split as split_units
    from esdedup.text.splitting import AUTO, CODE, Splitting

    if not isinstance(text, str):
        raise UsageError(f"split takes a text, not {type(text).__name__}")
    if not (isinstance(lang, str) and re.fullmatch(f"{AUTO}|{CODE}", lang)):
        raise UsageError(f"lang is {lang!r}; allowed: a code such as en or de, or auto")
    pieces = (" ".join(piece.split()) for piece in split_units(text, Splitting("sentence", lang)))
    return [piece for piece in pieces if piece]
