"""Policies that compare the values of a column. A value that is missing, or cannot be read, loses."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.database import private_database
from esdedup.keeping.protocol import ColumnPolicy

if TYPE_CHECKING:
    from esdedup.keeping.protocol import Keys

_MICROSECONDS = 1_000_000
_NO_TIME = 1e14  # seconds, or milliseconds
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def _numbers(values: pa.Array) -> Keys:
    """Return values as numbers: those of texts if they are written as numbers."""
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values = pc.utf8_trim_whitespace(values)
        values = pc.if_else(pc.fill_null(pc.match_substring_regex(values, _NUMBER), False), values, None)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return np.full(len(values), np.nan)
    found: Keys = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)
    found[~np.isfinite(found)] = np.nan
    return found


def _times(values: pa.Array) -> Keys:
    """Return values as seconds since 1970: dates and times, texts in a form of ISO 8601, years, and seconds or
    milliseconds since then.
    """
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _times_of_texts(values)
    if pa.types.is_floating(kind):  # as pandas makes whole numbers of which some are missing
        whole = pc.if_else(pc.less(pc.abs(values), _NO_TIME), values, None).cast(pa.float64())
        return _times_of_texts(whole.cast(pa.decimal128(38, 6), safe=False).cast(pa.string()))
    if pa.types.is_integer(kind):
        return _times_of_texts(values.cast(pa.string()))
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return np.full(len(values), np.nan)
    zone = getattr(kind, "tz", None)
    return _seconds(values.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64()))


def _times_of_texts(values: pa.Array) -> Keys:
    # DuckDB reads more forms than Arrow, and gives null for what is no date instead of an error
    with private_database() as db:
        texts = pc.replace_substring_regex(pc.utf8_trim_whitespace(values), r"^(\d+)\.0+$", r"\1")
        db.create("texts", pa.table({"text": texts, "turn": np.arange(len(values))}))
        found = db.table(
            r"SELECT CASE WHEN regexp_full_match(text, '\d{4}(-\d\d)?') "
            "THEN epoch_us(try_cast(rpad(text, 7, '-01') || '-01' AS TIMESTAMP)) "
            r"WHEN regexp_full_match(text, '\d{8}') THEN epoch_us(try_strptime(text, '%Y%m%d')) "
            r"WHEN regexp_full_match(text, '\d{9,10}(\.\d+)?') THEN (text::DECIMAL(38, 6) * 1000000)::BIGINT "
            r"WHEN regexp_full_match(text, '\d{12,13}(\.\d+)?') THEN (text::DECIMAL(38, 6) * 1000)::BIGINT "
            # as a plain timestamp, an offset is read and left out
            r"WHEN regexp_full_match(text, '.*\d:\d\d.*[+-]\d\d(:?\d\d)?') "
            "THEN epoch_us(try_cast(text AS TIMESTAMPTZ)) "
            "ELSE epoch_us(try_cast(text AS TIMESTAMP)) END AS time FROM texts ORDER BY turn"
        )
    return _seconds(found["time"])


def _seconds(microseconds: Any) -> Keys:
    found: Keys = microseconds.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) / _MICROSECONDS
    return found


class _Highest(ColumnPolicy):
    """Prefers the highest value of what another policy prefers the lowest of."""

    def keys(self, values: pa.Array) -> Keys:
        return -super().keys(values)  # type: ignore[safe-super]

    def shown(self, key: float) -> Any:
        return super().shown(-key)  # type: ignore[safe-super]


class Oldest(ColumnPolicy):
    """The earliest date or time."""

    name = "oldest"
    summary = "the earliest date in a column"

    def keys(self, values: pa.Array) -> Keys:
        return _times(values)

    def shown(self, key: float) -> Any:
        if np.isnan(key):
            return None
        try:
            return datetime.datetime.fromtimestamp(key, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        except (OverflowError, ValueError, OSError):  # before the year 1, or after 9999
            return key


class Newest(_Highest, Oldest):
    """The latest date or time."""

    name = "newest"
    summary = "the latest date in a column"


class Lowest(ColumnPolicy):
    """The lowest number."""

    name = "lowest"
    summary = "the lowest number in a column"

    def keys(self, values: pa.Array) -> Keys:
        return _numbers(values)

    def shown(self, key: float) -> Any:
        return None if np.isnan(key) else int(key) if key == int(key) else float(key)


class Best(_Highest, Lowest):
    """The highest number."""

    name = "best"
    summary = "the highest number in a column"


class Prefer(ColumnPolicy):
    """A value of a column that stands earlier in a list. One that is not in the list loses."""

    name = "prefer"
    summary = "the value of a column that you name first"

    @property
    def column(self) -> str:
        return self.argument.partition("=")[0]

    @property
    def _listed(self) -> list[str]:
        return [value.strip() for value in self.argument.partition("=")[2].split(",")]

    def keys(self, values: pa.Array) -> Keys:
        try:
            texts = values.cast(pa.large_string())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            return np.full(len(values), np.nan)
        places = pc.index_in(texts, pa.array(self._listed, pa.large_string()))
        found: Keys = places.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return found

    def shown(self, key: float) -> Any:
        return None if np.isnan(key) else self._listed[int(key)]
