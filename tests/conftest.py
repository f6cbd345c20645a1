"""What all tests share: where the real data is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.elastic import elastic_prefix, elastic_url, short_lived, three_nodes  # noqa: F401 (fixtures)

# the first example may compile a kernel
settings.register_profile("esdedup", deadline=None)
settings.load_profile("esdedup")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The shared folder of real data; without it the test skips, except under CI, where it fails."""
    folder = Path(os.environ.get("ESDEDUP_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        message = f"no real data at {folder}; set ESDEDUP_TEST_DATA"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder
