"""The kinds of clusters, in the order in which they are listed."""

from __future__ import annotations

KINDS = ("template", "identical", "copyediting", "drift", "references", "other")
