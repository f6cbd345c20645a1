"""An end of the process that a test can catch."""

from __future__ import annotations


class KilledError(Exception):
    """Stands for the end of the process."""
