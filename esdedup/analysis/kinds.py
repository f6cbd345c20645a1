"""Classify a cluster with a list of rules. The first rule that holds gives the kind, the reason and the confidence.

The kinds are those of Weissman et al. 2014, section 4.1. The confidence of a rule is the share of hand-labelled
clusters of the design half (scripts/benchmarks/kinds.tsv) that it classified correctly, with one right and one wrong
cluster added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from esdedup.analysis.differences import DIFFERENCES
from esdedup.analysis.kind_names import KINDS
from esdedup.analysis.looks import LOOKS
from esdedup.analysis.subjects import SUBJECTS
from esdedup.analysis.word_forms import Measures
from esdedup.columns.arrays import Numbers

TEMPLATE, _, COPYEDITING, DRIFT, REFERENCES, OTHER = KINDS

Columns = dict[str, Any]
"""One array for each feature, with a value for each cluster."""


class Rule(NamedTuple):
    """If it `holds`, a cluster is of this `kind`."""

    kind: str
    confidence: float
    reason: str
    holds: Callable[[Columns], Any]


def classify(differences: Measures, looks: Measures, subjects: Measures) -> Numbers:
    """Return the index in `RULES` of the first rule that holds, for m clusters of two or more distinct texts; shape
    (m,).
    """
    columns = dict(zip(DIFFERENCES + LOOKS + SUBJECTS, np.hstack([differences, looks, subjects]).T, strict=True))
    decided = np.full(len(differences), len(RULES) - 1)
    open_ = np.ones(len(differences), np.bool_)
    for place, rule in enumerate(RULES):
        holds = rule.holds(columns) & open_
        decided[holds] = place
        open_ &= ~holds
    return decided


def _reworded(c: Columns) -> Any:
    return c["word conflicts"] + c["word extras"] + c["name extras"]


def _changes(c: Columns) -> Any:
    return c["number conflicts"] + c["name conflicts"] + c["number extras"] + _reworded(c)


def _listed(c: Columns) -> Any:
    cut_off = (c["cut"] == 1) & (c["versions"] < 0.5) & (_changes(c) > 0)
    fragments = (c["listing"] >= 1) | cut_off | ((c["sentence"] == 0) & (c["words"] <= 7))
    return fragments & (c["title in slot"] < 0.5) & ((c["swaps"] < 0.5) | (c["together"] < 0.5))


def _updated(c: Columns) -> Any:
    renamed = (c["name conflicts"] >= 0.3) & (c["swaps"] >= c["name conflicts"])
    only = (c["number conflicts"] >= 0.5) | renamed
    only &= (_reworded(c) + c["number extras"] == 0) & (c["fixed"] >= 0.8)
    return (c["versions"] >= 0.5) & (only | (c["figure swaps"] >= 0.3))


def _only_small(c: Columns) -> Any:
    return (_changes(c) == 0) & (c["title in slot"] == 0) & (c["together"] < 0.5)


def _named_or_not(c: Columns) -> Any:
    conflicts = c["number conflicts"] + c["name conflicts"] + c["word conflicts"] + c["number extras"]
    return (c["begins apart"] == 1) & (conflicts == 0) & (c["name extras"] > 0) & (c["word extras"] > 0)


def _other_figure(c: Columns) -> Any:
    known = (c["fixed names"] >= 1) & ((c["fixed numbers"] >= 1) | (c["words"] >= 15)) & (c["fixed"] >= 0.85)
    plain = (_reworded(c) == 0) | (c["fixed names"] >= 4)
    return (c["number conflicts"] >= 0.5) & (c["name conflicts"] == 0) & known & plain


def _other_name(c: Columns) -> Any:
    known = (c["fixed names"] >= 1) & (c["words"] >= 15) & (c["fixed"] >= 0.85) & (c["begins apart"] == 0)
    only = _reworded(c) + c["number conflicts"] + c["number extras"] == 0
    # similar titles are those of a family of subjects, each with its own name
    return (c["name conflicts"] >= 0.5) & known & only & (c["titles alike"] < 0.2)


def _one_word_apart(c: Columns) -> Any:
    short = (c["words"] < 20) | (c["name conflicts"] > 0)
    return (c["swaps"] >= 0.5) & (c["word extras"] + c["name extras"] == 0) & short


RULES = (
    Rule(
        REFERENCES, 0.78, "it reads like an entry of a bibliography",
        lambda c: (c["citation"] >= 1.2)
        | ((c["citation"] >= 1) & (c["sentence"] == 0))
        | ((c["citation"] >= 0.2) & (c["imprint"] == 1) & (c["versions"] < 0.5)),
    ),
    Rule(OTHER, 0.8, "pieces of a list or of a menu, not sentences", _listed),
    Rule(DRIFT, 0.75, "the same document at another time, with another number or name", _updated),
    Rule(
        DRIFT, 0.67, "one side negates what the other says",
        lambda c: (c["negations"] >= 0.5) & (c["title in slot"] == 0),
    ),
    Rule(COPYEDITING, 0.98, "the same document at another time, in other words", lambda c: c["versions"] >= 0.5),
    Rule(COPYEDITING, 0.94, "nothing but signs, capitals or spelling differs", _only_small),
    Rule(COPYEDITING, 0.63, "one side names its subject, and the other does not", _named_or_not),
    Rule(TEMPLATE, 0.93, "what differs stands in the titles of the documents", lambda c: c["title in slot"] >= 0.5),
    Rule(DRIFT, 0.75, "the same names with another figure", _other_figure),
    Rule(DRIFT, 0.5, "the same figures and names, but for one name", _other_name),
    Rule(TEMPLATE, 0.91, "the same frame with other figures", lambda c: c["number conflicts"] >= 0.5),
    Rule(TEMPLATE, 0.67, "the same frame with one word for another", _one_word_apart),
    Rule(
        TEMPLATE, 0.67, "the same frame with other names",
        lambda c: (c["name conflicts"] >= 0.5) & (c["word conflicts"] + c["word extras"] < 0.5),
    ),
    Rule(COPYEDITING, 0.71, "the same said twice in one document, in other words", lambda c: c["together"] >= 0.5),
    Rule(COPYEDITING, 0.63, "the same said in other words", lambda c: c["words"] >= 0),
)  # fmt: skip
