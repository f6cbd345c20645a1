"""What several of these tests compare with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.test_run import records, table
from tests.robustness.helpers import said


@pytest.fixture(scope="package")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source `a.tsv` of records, and a whole run over it in `out`."""
    folder = tmp_path_factory.mktemp("undisturbed")
    source = table(folder / "a.tsv", records(31, 600))
    assert said("run", source, "--out", folder / "out", "--unit", "record").code == 0
    return folder
