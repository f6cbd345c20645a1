"""Which columns of a table contain the id, the title and the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from esdedup.columns.labels import ALL, label_of, labelled_text
from esdedup.errors import UsageError
from esdedup.formats.protocol import Format
from esdedup.options import option
from esdedup.text.markup import MARKUPS

LINE = "line"
"""As an id column: the line number, starting at 1."""

_IDS = ("id", "_id", "docid", "doc_id", "document_id", "unique_id", "rec_id", "record_id", "key")
_TITLES = ("title",)
_TEXTS = ("text", "sentence", "content")
_SHOWN = 20
_WIDTH = 40


def _column(help: str) -> Any:
    expected = "allowed: a name, a dotted path or a number from 1"
    return option(None, help, unit="COLUMN", pattern=r"(?s:.+)", expected=expected)


@dataclass(frozen=True, slots=True)
class Columns:
    """Column indices from 0. `id` None means the line number, `title` None means no title. The `more` columns follow
    the text. With `labels`, one for each column of the text, values are labelled.
    """

    id: int | None
    title: int | None
    text: int
    more: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def last(self) -> int:
        """The highest index that is needed."""
        return max(self.id or 0, self.title or 0, self.text, *self.more)

    def texts(self, cells: Sequence[str]) -> str:
        """Return the text of a record from all its text columns. Raises `IndexError` if it has too few columns."""
        if self.labels:
            there = len(cells)
            values = (cells[place] if place < there else "" for place in (self.text, *self.more))
            return labelled_text(self.labels, values)
        text = cells[self.text]
        return " ".join([text, *(cells[place] for place in self.more)]) if self.more else text

    def record(self, cells: Sequence[str], number: int) -> tuple[str, str, str] | str:
        """Return id, title and text of the record at line `number`, or the reason why it is skipped."""
        try:
            text = self.texts(cells)
        except IndexError:
            text = ""
        if not text or text.isspace():
            return "no_text"
        identifier = str(number) if self.id is None else cells[self.id] if self.id < len(cells) else ""
        title = cells[self.title] if self.title is not None and self.title < len(cells) else ""
        return (identifier, title, text) if identifier else "no_id"


@dataclass(frozen=True)
class TableFormat(Format):
    """A format whose records have columns: names, dotted paths or numbers from 1."""

    family = "tables"

    id_column: str | None = _column("Column of ids: a name, dotted path or number from 1; or line, for line numbers.")
    title_column: str | None = _column("Column of titles.")
    text_column: str | None = _column(
        "Column of texts: a name or path, as messages[].content. Several, parted by commas, are joined; '*' is all but "
        "the id, each labelled with its name."
    )
    ids: str | None = option(
        None, "Where an id means one record: in its source, or across all sources (a corpus in shards).",
        choices=("source", "across"), usual="source",
    )  # fmt: skip

    markup: str | None = option(
        None, "Markup of the texts, which is removed before they are compared.", choices=MARKUPS.names, usual="none",
    )  # fmt: skip

    @property
    def cleaner(self) -> str | None:
        """What removes the markup."""
        return self.markup

    @property
    def drops_sentences(self) -> bool:
        """Sentences of texts with markup are not where they are in the texts."""
        return self.cleaner is None

    @property
    def ids_across(self) -> bool:
        """True with `--ids across`."""
        return self.ids == "across"

    @property
    def text_columns(self) -> Sequence[str]:
        """The named one, or those with a usual name."""
        return (self.text_column,) if self.text_column else _TEXTS

    def of_values(self, column: str, asked: str) -> tuple[Format, str]:
        """As `Format.of_values`: the values are read as if they were the texts."""
        del asked
        return replace(self, text_column=column), "text"

    def place_of(self, column: str, names: Sequence[str], label: str, asked: str) -> int:
        """Return the place of a column: by its name if the table has `names`, or by its number. `asked` is the option
        that names it.
        """
        return _find(column, names, label, asked) if names else _number(column, label)

    def unnamed(self, label: str) -> Columns:
        """Return the columns of a table without a header: numbers from 1, by default id 1 and text 2."""
        if self.text_column == ALL:
            raise UsageError(
                f"{label}: --text-column '*' needs names of columns; give --header if the first line has them"
            )
        text, *more = (_number(column, label) for column in (self.text_column or "2").split(","))
        identifier = None if self.id_column == LINE else _number(self.id_column or "1", label)
        title = _number(self.title_column, label) if self.title_column else None
        return Columns(identifier, title, text, tuple(more))

    def named(self, names: Sequence[str], label: str, *, positional: bool = False) -> Columns:
        """Return the columns of a table with these names: the given ones, or else the usual names.

        Without a usual name for the id, the id is the line number. Without one for the text, `UsageError` lists the
        names found. With `positional`, the first and second column are used instead.
        """
        more: list[int] = []
        if self.text_column == ALL and ALL not in names:
            return self._all(names, label)
        if self.text_column:
            whole = self.text_column in names  # a name may contain a comma
            parts = [self.text_column] if whole else self.text_column.split(",")
            text, *more = (_find(part, names, label, "--text-column") for part in parts)
        elif (found := _usual(_TEXTS, names)) is not None:
            text = found
        elif positional and len(names) > 1:
            text = 1
        else:
            raise UsageError(
                f"{label}: no column named {', '.join(_TEXTS[:-1])} or {_TEXTS[-1]}; name the column of "
                f"the text with --text-column, or match rows of persons or products with --preset records; columns: "
                f"{_listed(names)}{_advice(names)}"
            )
        identifier = self._identifier(names, label)
        if identifier is None and self.id_column is None and positional and text != 0:
            identifier = 0
        if self.title_column:
            return Columns(identifier, _find(self.title_column, names, label, "--title-column"), text, tuple(more))
        title = _usual(_TITLES, names)
        return Columns(identifier, None if title == text else title, text, tuple(more))

    def _identifier(self, names: Sequence[str], label: str) -> int | None:
        if self.id_column == LINE:
            return None
        return _find(self.id_column, names, label, "--id-column") if self.id_column else _usual(_IDS, names)

    def _all(self, names: Sequence[str], label: str) -> Columns:
        """Return the columns of a record: all but the ids, each with its label."""
        identifier = self._identifier(names, label)
        title = _find(self.title_column, names, label, "--title-column") if self.title_column else None
        if title is None:
            title = _usual(_TITLES, names)
        places = [place for place in range(len(names)) if place != identifier]
        if not places:
            raise UsageError(f"{label}: no column besides the ids (--text-column '*'); columns: {_listed(names)}")
        if len(names) == 1 and (advice := _advice(names)):
            raise UsageError(f"{label}: there is only one column{advice}")
        labels = tuple(label_of(names[place], at) for at, place in enumerate(places, 1))
        return Columns(identifier, title, places[0], tuple(places[1:]), labels)


def several_texts(label: str) -> UsageError:
    """Return the error for a change of a text that stands in several columns, or in a list."""
    return UsageError(
        f"{label}: nothing can be taken out of a text of several columns, or of a list; use --unit record, or name one "
        "column with --text-column"
    )


def _usual(expected: Sequence[str], names: Sequence[str]) -> int | None:
    folded = [name.strip().casefold() for name in names]
    return next((folded.index(name) for name in expected if name in folded), None)


def _find(column: str, names: Sequence[str], label: str, asked: str) -> int:
    for name in (column, column.removesuffix("[]")):  # a column of lists is its values
        if name in names:
            return names.index(name)
    stripped = [name.strip() for name in names]
    if column.strip() in stripped:
        return stripped.index(column.strip())
    if _is_number(column) and 1 <= int(column) <= len(names):
        return int(column) - 1
    raise UsageError(f"{label}: no column {column!r} ({asked}); columns: {_listed(names)}{_advice(names)}")


def _number(column: str, label: str) -> int:
    if not (_is_number(column) and 1 <= int(column) <= 10**6):
        raise UsageError(
            f"{label}: column {column!r} is not a number from 1, and the table has no header; "
            "give a number, or --header if the first line contains the names"
        )
    return int(column) - 1


def _is_number(column: str) -> bool:
    # Python refuses to parse integers of thousands of digits
    return column.isascii() and column.isdigit() and len(column) < 19


def _advice(names: Sequence[str]) -> str:
    """Advise another separator if a table seems to have a single column, or UTF-16 if it seems to be that."""
    if names and "\0" in names[0]:
        return f"; if it is UTF-16, give --encoding utf-16-{'be' if names[0][0] == chr(0) else 'le'}"
    found = [sign for sign in ";|," if len(names) == 1 and sign in names[0]]
    return f"; if {found[0]!r} separates them, give --separator {found[0]!r}" if found else ""


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(name if len(name) <= _WIDTH else f"{name[:_WIDTH]}…" for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown}, … ({len(names)} in all)"
