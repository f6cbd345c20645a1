"""How sources are read: options of formats, and what stores remember of them."""

from __future__ import annotations

import pytest

from esdedup.errors import SettingsError, UsageError
from esdedup.formats.reading_options import Reading


def test_what_stores_remember_keeps_its_text() -> None:
    """Another text would make a store read again every source that it has."""
    assert str(Reading().remembered()) == (
        "{'format': None, 'separator': None, 'header': None, 'id_column': None, 'title_column': None, "
        "'text_column': None, 'contributors': True, 'namespaces': (0,), 'revisions': 'latest', 'wikitext': 'fast', "
        "'limit': None}"
    )
    reading = Reading.of(source_name="x", part="1/2", limit=7, namespaces=(0, 14), header=False, revisions="all")
    assert str(reading.remembered()) == (
        "{'format': None, 'separator': None, 'header': False, 'id_column': None, 'title_column': None, "
        "'text_column': None, 'contributors': True, 'namespaces': (0, 14), 'revisions': 'all', 'wikitext': 'fast', "
        "'limit': 7}"
    )


def test_each_format_takes_its_own_options() -> None:
    reading = Reading.of(separator=";", text_column="b", wikitext=None)
    assert reading.format_named("csv").described() == {
        "encoding": "utf-8", "separator": ";", "text-column": "b",
    }  # fmt: skip
    assert reading.format_named("parquet").described() == {"text-column": "b"}
    assert reading.format_named("lines").described() == {"encoding": "utf-8"}
    assert Reading.of(**reading.flat()).flat() == reading.flat()


def test_values_are_checked() -> None:
    for options in ({"separator": "ab"}, {"revisions": "some"}, {"namespaces": "0"}, {"format": "pdf"}):
        with pytest.raises(SettingsError):
            Reading.of(**options)
    with pytest.raises(UsageError, match="no such option: seperator"):
        Reading.of(seperator=";")
