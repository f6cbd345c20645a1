"""The names of kinds of clusters, of facts and of changes, in the order in which they are listed."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["template", "identical", "copyediting", "drift", "references", "other", "record"]
KINDS: tuple[str, ...] = get_args(Kind)
TEMPLATE, RECORD = KINDS[0], KINDS[-1]


NEGATION, OPPOSITE, ORDER = "negation", "opposite", "order"
CONTRADICTION, UPDATE = "contradiction", "update"
