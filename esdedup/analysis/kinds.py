"""Classify a cluster with a list of rules. The first rule that holds gives the kind, the reason and the confidence.

The kinds are those of Weissman et al. 2014, section 4.1. The confidence of a rule is the share of hand-labelled
clusters of the design half (kinds.tsv and truth.tsv in scripts/benchmarks) that it classified correctly, with one right
and one wrong cluster added. That of a contradiction is its likelihood.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from esdedup.analysis.changes import CHANGES
from esdedup.analysis.judging import LEAST_LISTED
from esdedup.analysis.looks import LOOKS
from esdedup.analysis.names import KINDS
from esdedup.analysis.subjects import STANDING, SUBJECTS
from esdedup.analysis.word_forms import Measures
from esdedup.columns.arrays import Flags, Numbers

TEMPLATE, _, COPYEDITING, DRIFT, REFERENCES, OTHER, _ = KINDS

SHARED = ("equal", "varied")
"""What two documents share, by the names in `STANDING`."""

Columns = dict[str, Any]
"""One array for each feature, with a value for each cluster."""

_MOST = 3.0
"""More changes of one sort in one text count as this many."""

_LIKELY, _LIKELY_MOVED, _LIKELY_WORDS = 0.5, 0.5, 0.8
"""A contradiction that is at least as likely as this one decides the kind. The second one is for texts in which words
have moved, the third one if only words differ.
"""

_SHORT = 8
"""A heading has so many words at most."""

_ALIKE = 0.65
"""Titles with this share of their words in common or more are of one pattern."""


class Rule(NamedTuple):
    """If it `holds`, a cluster is of this `kind`."""

    kind: str
    confidence: float | None  # None: as likely as the contradiction, or as that there is none
    reason: str
    holds: Callable[[Columns], Any]


class Decided(NamedTuple):
    """What m clusters are."""

    kinds: list[str]
    confidences: list[float]
    reasons: list[str]
    examined: Flags  # templates, and those in which a contradiction that may be listed is suspected


def classify(
    owner: Numbers, changed: Measures, stand: Measures, likely: Measures, looks: Measures, subjects: Measures,
    frames: Measures,
) -> Decided:  # fmt: skip
    """Return what m clusters of two or more distinct texts are.

    For each text but the representative, `owner` is its cluster, `changed` what changed (rows of `CHANGES`), `stand`
    how it stands to the representative (rows of `STANDING`), and `likely` how likely it is that it states another fact.
    `frames` is the number of clusters with the frame of each.
    """
    count = len(looks)
    others = np.bincount(owner, minlength=count)
    columns = {
        name: np.bincount(owner, np.minimum(values, _MOST), count) / others
        for name, values in zip(CHANGES, changed.T, strict=True)
    }
    columns |= dict(zip(LOOKS + SUBJECTS, np.hstack([looks, subjects]).T, strict=True))
    columns |= {name: np.bincount(owner, stand[:, STANDING.index(name)], count) / others for name in SHARED}
    columns |= {"others": others.astype(np.float64), "frames": frames, "contradicted": np.zeros(count)}
    np.maximum.at(columns["contradicted"], owner, likely)
    decided = np.full(count, len(RULES) - 1)
    open_ = np.ones(count, np.bool_)
    for place, rule in enumerate(RULES):
        holds = rule.holds(columns) & open_
        decided[holds] = place
        open_ &= ~holds
    rules = [RULES[place] for place in decided]
    likelihoods = columns["contradicted"].tolist()  # that of a template: that there is no contradiction
    return Decided(
        [rule.kind for rule in rules],
        [
            rule.confidence or round(likelihood if rule.kind == DRIFT else 1 - likelihood, 3)
            for rule, likelihood in zip(rules, likelihoods, strict=True)
        ],
        [rule.reason for rule in rules],
        np.array([rule.kind == TEMPLATE for rule in rules], np.bool_)
        | ((columns["contradicted"] >= LEAST_LISTED) & ~np.isin([rule.kind for rule in rules], (REFERENCES, OTHER))),
    )


def _figures(c: Columns) -> Any:
    return c["numbers"] + c["years"] + c["dates"]


def _facts(c: Columns) -> Any:
    exchanged = c["exchanged numbers"] + c["exchanged names"] + c["exchanged words"]
    return _figures(c) + c["names"] + c["opposites"] + c["negations"] + exchanged


def _conflicts(c: Columns) -> Any:
    return _figures(c) + c["names"] + c["words"] + c["opposites"] + c["more numbers"]


def _reworded(c: Columns) -> Any:
    return c["words"] + c["more words"] + c["more names"]


def _changes(c: Columns) -> Any:
    return _figures(c) + c["names"] + c["more numbers"] + _reworded(c) + c["moved"]


def _cited(c: Columns) -> Any:
    dense = (c["citation"] >= 1.2) | ((c["citation"] >= 1) & (c["sentence"] == 0))
    imprint = (c["citation"] >= 0.2) & (c["imprint"] == 1) & (c["versions"] < 0.5)
    cites = (c["cites"] > 0) & (dense | imprint)
    return (c["code"] < 3) & (cites | (c["numbered work"] > 0) | (c["author"] == 1))


def _listed(c: Columns) -> Any:
    cut_off = (c["cut"] == 1) & (c["versions"] < 0.5) & (_changes(c) > 0)
    short = (c["sentence"] == 0) & (c["words in it"] <= 4)
    code = (c["code"] >= 1) & (c["sentence"] == 0)
    fragments = (c["listing"] >= 1) | code | cut_off | short
    data = (c["code"] >= 3) | ((c["braced"] == 1) & (c["ended"] == 0))
    return data | (fragments & (c["title in slot"] < 0.5) & ((_swaps(c) < 0.5) | (c["together"] < 0.5)))


def _headings(c: Columns) -> Any:
    """Whether texts are short and have no full stop, or one entry of a list says more than another one."""
    series = (c["numbered titles"] > 0) | (_figures(c) > 0)
    on_pages = (c["words in it"] <= _SHORT) & (c["together"] < 0.5) & (c["versions"] < 0.5) & ~series
    longer = (c["together"] >= 0.5) & (_conflicts(c) == 0) & (_reworded(c) > 0)
    return (c["ended"] == 0) & (on_pages | longer)


def _least_likely(c: Columns) -> Any:
    return np.where(c["moved"] > 0, _LIKELY_MOVED, np.where(_facts(c) > 0, _LIKELY, _LIKELY_WORDS))


def _siblings(c: Columns) -> Any:
    differing = _figures(c) + c["names"] + c["words"] + c["opposites"]
    return (c["together"] >= 0.5) & (c["together"] > c["versions"]) & (differing >= 0.5)


def _on_many_pages(c: Columns) -> Any:
    """Whether three pages or more say it, and share one name at most: with more, one fact was copied and edited."""
    return (c["pages"] >= 3) & (c["together"] < 0.5) & (_changes(c) >= 0.5) & (c["fixed names"] <= 1)


def _two_pages(c: Columns) -> Any:
    """Whether two pages say it with other figures, and nothing else speaks for a pattern."""
    alone = (c["others"] == 1) & (c["pages"] == 2) & (c["frames"] <= 1) & (c["varied"] <= 1)
    return alone & (c["versions"] < 0.5) & (c["together"] < 0.5) & (_figures(c) >= 0.5)


def _swaps(c: Columns) -> Any:
    return c["number swaps"] + c["name swaps"] + c["word swaps"]


def _only_small(c: Columns) -> Any:
    return (_changes(c) == 0) & (c["title in slot"] == 0) & (c["together"] < 0.5)


def _named_or_not(c: Columns) -> Any:
    conflicts = _figures(c) + c["names"] + c["words"] + c["more numbers"]
    return (c["begins apart"] == 1) & (conflicts == 0) & (c["more names"] > 0) & (c["more words"] > 0)


def _one_word_apart(c: Columns) -> Any:
    short = (c["words in it"] < 20) | (c["names"] > 0)
    return (_swaps(c) >= 0.5) & (c["more words"] + c["more names"] == 0) & short


RULES = (
    Rule(REFERENCES, 0.91, "it reads like an entry of a bibliography", _cited),
    Rule(OTHER, 0.89, "pieces of a list, of a menu or of code, not sentences", _listed),
    Rule(OTHER, 0.92, "headings or entries of a list, not sentences", _headings),
    Rule(
        DRIFT, None, "the same said of the same, with another fact",
        lambda c: (c["contradicted"] >= _least_likely(c)) & (c["title in slot"] < 0.5),
    ),
    Rule(
        COPYEDITING, 0.75, "each page leaves out its own title and names the other's",
        lambda c: (c["crossed titles"] == 1) & (c["slots"] <= 1),
    ),
    Rule(
        TEMPLATE, 0.94, "the same frame on pages of a series",
        lambda c: (c["numbered titles"] >= 0.5) & (c["versions"] < 0.5) & (_conflicts(c) + c["more names"] >= 0.5),
    ),
    Rule(TEMPLATE, 0.78, "one document says it of several things", _siblings),
    Rule(COPYEDITING, 0.95, "the same document at another time, in other words", lambda c: c["versions"] >= 0.5),
    Rule(COPYEDITING, 0.88, "only signs, capitals, spelling or little words differ", _only_small),
    Rule(COPYEDITING, 0.6, "one side names its subject, and the other does not", _named_or_not),
    Rule(TEMPLATE, 0.93, "what differs stands in the titles of the documents", lambda c: c["title in slot"] >= 0.5),
    Rule(TEMPLATE, None, "two pages say it with other figures", _two_pages),
    Rule(TEMPLATE, 0.93, "the same frame with other figures", lambda c: _figures(c) >= 0.5),
    Rule(TEMPLATE, 0.58, "the same frame with one word for another", _one_word_apart),
    Rule(
        TEMPLATE, 0.33, "the same frame with other names",
        lambda c: (c["names"] >= 0.5) & (c["words"] + c["more words"] < 0.5),
    ),
    Rule(
        TEMPLATE, 0.88, "the same frame on pages with similar titles",
        lambda c: (c["titles alike"] >= _ALIKE) & (c["together"] < 0.5),
    ),
    Rule(TEMPLATE, 0.83, "the same frame on three or more pages", _on_many_pages),
    Rule(COPYEDITING, 0.79, "the same said twice in one document, in other words", lambda c: c["together"] >= 0.5),
    Rule(COPYEDITING, 0.71, "the same said in other words", lambda c: c["words in it"] >= 0),
)  # fmt: skip
