"""What an ordinary run of the tests leaves out, and `scripts/test full` does: more of the same, and slower."""

from __future__ import annotations

import os

FULL = os.environ.get("ESDEDUP_TESTS") == "full"
