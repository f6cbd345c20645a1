"""`doctor` without a store says what is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import esdedup
from esdedup._version import __version__
from esdedup.errors import UsageError
from esdedup.jobs import installation
from tests.support.commands import said


def test_what_is_here_is_named() -> None:
    found = esdedup.doctor()
    assert found.store is None
    assert found.problems == []
    names = [check.name for check in found.checks]
    assert names[0].startswith(f"esdedup {__version__}, CPython 3.")
    assert any("duckdb" in name and "pyarrow" in name for name in names)
    assert "languages are told by cld2" in names


def test_what_is_missing_has_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_version", lambda name: None if name in ("duckdb", "uvicorn") else "1")
    found = esdedup.doctor()
    [problem] = found.problems
    assert (problem.problem, problem.advice) == ("missing: duckdb", "pip install duckdb")
    [web] = [check for check in found.checks if check.name == "esdedup[web]"]
    assert not web.made
    assert web.advice == "pip install 'esdedup[web]', if you need it"


def test_repair_needs_a_store() -> None:
    with pytest.raises(UsageError, match="repair mends a store"):
        esdedup.doctor(repair=True)


def test_a_store_in_the_environment_is_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESDEDUP_STORE", str(tmp_path / "no.duckdb"))
    assert "no.duckdb" in said("doctor").err
