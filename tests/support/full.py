"""What an ordinary run of the tests leaves out, and `scripts/test full` does: more of the same, and slower."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

FULL = os.environ.get("ESDEDUP_TESTS") == "full"


def few(cases: Iterable[Any], *places: int) -> list[Any]:
    """Cases for `parametrize`, of which an ordinary run tries only those at these places."""
    return [
        case
        if place in places
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.full)
        for place, case in enumerate(cases)
    ]
