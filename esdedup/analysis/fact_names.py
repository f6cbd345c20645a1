"""The names of facts that differ, beside the types of values, and of the ways in which texts contradict each other."""

from __future__ import annotations

NEGATION, OPPOSITE, ORDER = "negation", "opposite", "order"
CONTRADICTION, UPDATE = "contradiction", "update"
