"""Compiled templates are kept; what cannot be read or written is compiled again."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Environment

from esdedup.columns.kernels import cache_root
from esdedup.output.html import environment

TEMPLATE = "report.html"


def fresh(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    monkeypatch.setenv("ESDEDUP_CACHE_DIR", str(folder))
    cache_root.cache_clear()
    environment.cache_clear()
    return environment()


def test_they_are_kept_and_damage_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        fresh(tmp_path, monkeypatch).get_template(TEMPLATE)
        kept = [path for path in tmp_path.glob("templates-*/*") if path.is_file()]
        assert kept
        for path in kept:
            path.write_bytes(path.read_bytes()[:25])
        fresh(tmp_path, monkeypatch).get_template(TEMPLATE)
        assert all(path.stat().st_size > 25 for path in kept)
        for path in kept:
            path.unlink()
            path.mkdir()  # nobody can write there, not even root
        fresh(tmp_path, monkeypatch).get_template(TEMPLATE)
    finally:
        monkeypatch.undo()
        cache_root.cache_clear()
        environment.cache_clear()
