"""How likely it is that two similar texts state different facts.

Two logistic regressions (one for texts in which words have moved) over the terms below give the odds by what changed
between the texts. Three more weigh where they stand: on two pages, in two revisions of one, or in two documents of one
title. Their weights were fitted to labelled pairs by `scripts/fit_judgements.py`, so of what is called 0.8, about 8 in
10 are right. docs/truth.md has the figures.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from esdedup.analysis.changes import CHANGES
from esdedup.analysis.subjects import STANDING
from esdedup.analysis.word_forms import Measures

MOST, LEAST = 0.97, 0.01
"""No judgement is surer than this."""

LEAST_LISTED = 0.45
"""Less likely contradictions are not listed."""

_SHORT = 10
"""A text with fewer words rarely names what it is about."""


class Weights(NamedTuple):
    """Weights of the terms of one regression, with the constant last."""

    still: Measures
    moved: Measures
    places: Measures
    times: Measures
    titles: Measures


def terms(changes: Measures) -> dict[str, Measures]:
    """Return the terms of a regression for n rows of `CHANGES`, by name; each of shape (n,)."""
    c = dict(zip(CHANGES, changes.T, strict=True))
    figures = c["numbers"] + c["years"]
    opposites = c["opposites"] + c["mere negations"]
    conflicts = figures + c["names"] + opposites + c["dates"] + c["more numbers"] + c["units"]
    only_words = (conflicts == 0) & (c["words"] > 0)
    exchanged = c["exchanged numbers"] + c["exchanged names"] + c["exchanged words"]
    length = np.minimum(c["length"], 60) / 20
    little = c["little swaps"] + c["little more"] + c["spellings"]
    found = {
        "a number": figures > 0,
        "two numbers": figures > 1,
        "a number only": (figures > 0) & (c["slots"] == 1),
        "one number for one": c["number swaps"] > 0,
        "a year only": (c["years"] > 0) & (c["numbers"] == 0) & (c["slots"] == 1),
        "a date": c["dates"] > 0,
        "a date and a number": (c["dates"] > 0) & (figures > 0),
        "a date and an opposite": (c["dates"] > 0) & (opposites > 0),
        "a name": c["names"] > 0,
        "two names": c["names"] > 1,
        "one name for one": c["name swaps"] > 0,
        "a whole name": c["whole names"] > 0,
        "a name at the beginning": c["names at the beginning"] > 0,
        "an opposite": opposites > 0,
        "a share": c["shares"] > 0,
        "a unit": c["units"] > 0,
        "a unit and a number": (c["units"] > 0) & (figures > 0),
        "a negation among other words": c["negations"] > c["mere negations"],
        "another word": only_words,
        "another word in a long text": only_words * length,
        "no conflict": (conflicts == 0) & (c["words"] == 0),
        "more numbers": c["more numbers"] > 0,
        "more names": c["more names"] > 0,
        "added words": np.minimum(c["added"], 6) / 3,
        "little swaps": c["little swaps"] > 0,
        "little more": c["little more"] > 0,
        "spellings": c["spellings"] > 0,
        "nothing but these": c["slots"] <= little,
        "one slot": c["slots"] == 1,
        "slots": np.minimum(c["slots"], 4) / 4,
        "length": length,
        "length, with a figure": length * (figures > 0),
        "length, with a date": length * (c["dates"] > 0),
        "changed words": np.minimum(c["changed"] / np.maximum(c["length"], 1), 1),
        "moved words": np.minimum(c["moved"], 4) / 4,
        "exchanged numbers": c["exchanged numbers"] > 0,
        "exchanged names": c["exchanged names"] > 0,
        "exchanged words": c["exchanged words"] > 0,
        "exchanges": np.minimum(exchanged, 3),
    }
    return {name: np.asarray(values, np.float64) for name, values in found.items()}


def by_the_texts(changes: Measures) -> Measures:
    """Return how likely it is, by the texts alone, that they state different facts; shape (n,), 0 to 1."""
    rows = with_constant(terms(changes))
    weights = weights_of_terms()
    moved = changes[:, CHANGES.index("moved")] > 0
    return _likely(np.where(moved, rows @ weights.moved, rows @ weights.still))


def with_constant(named: dict[str, Measures]) -> Measures:
    """Return terms as columns, and a last one of ones."""
    columns = list(named.values())
    return np.column_stack([*columns, np.ones(len(columns[0]))])


@cache
def weights_of_terms() -> Weights:
    """Return the weights of all regressions."""
    tables = tomllib.loads(files("esdedup.analysis").joinpath("weights.toml").read_text("utf-8"))
    return Weights(*(np.array(list(tables[name].values()), np.float64) for name in Weights._fields))


def judged(changes: Measures, standing: Measures, texts: Measures, frames: Measures) -> Measures:
    """Return how likely it is that two texts state different facts about the same subject; shape (n,), 0 to 1.

    `texts` is the number of texts in their cluster, `frames` that of clusters with its frame: the more there are, the
    more likely they follow a pattern. Texts
    that are in one document at the same time are siblings: what differs tells them apart. Texts that name each other's
    title say the same, and those that name their own title speak of different things. Of a short
    text on pages that share nothing else, the page is the subject.
    """
    likely = by_the_texts(changes)
    together, versions, revised, crossed, named_apart, named_alike, copied = (
        standing[:, STANDING.index(name)] > 0
        for name in (
            "together", "versions", "revisions", "crossed titles", "titles in slots", "title in frame", "equal",
        )
    )  # fmt: skip
    of_page = (changes[:, CHANGES.index("shorter")] < _SHORT) & ~named_alike & ~copied
    apart = _likely(with_constant(place_terms(changes, standing, texts, frames, likely)) @ weights_of_terms().places)
    later = _likely(with_constant(time_terms(changes, likely)) @ weights_of_terms().times)
    named = _likely(with_constant(title_terms(likely)) @ weights_of_terms().titles)
    return np.where(
        together | crossed | ((named_apart | of_page) & ~versions),
        0.0,
        np.where(revised, later, np.where(versions, named, apart)),
    )


def _likely(odds: Measures) -> Measures:
    return np.asarray(np.clip(1 / (1 + np.exp(-odds)), LEAST, MOST))


def title_terms(likely: Measures) -> dict[str, Measures]:
    """Return the term of the regression for texts of two documents with one title."""
    return {"by the texts": np.log(likely / (1 - likely))}


def time_terms(changes: Measures, likely: Measures) -> dict[str, Measures]:
    """Return the terms of the regression for texts of two revisions of a page."""
    c = dict(zip(CHANGES, changes.T, strict=True))
    figures = c["numbers"] + c["years"] + c["dates"]
    opposites = c["opposites"] + c["mere negations"]
    named = {
        "a number": figures > 0,
        "a date": c["dates"] > 0,
        "names differ": c["names"] > 0,
        "one name for one": c["name swaps"] > 0,
        "whole names differ": c["whole names"] > 0,
        "an opposite": opposites > 0,
        "a negation among other words": c["negations"] > c["mere negations"],
        "a unit": c["units"] > 0,
        "a share": c["shares"] > 0,
        "words differ": c["words"] > 0,
        "only words": figures + c["names"] + opposites == 0,
        "moved words": np.minimum(c["moved"], 4) / 4,
        "one slot": c["slots"] == 1,
    }
    found = {name: np.asarray(values, np.float64) for name, values in named.items()}
    return {"by the texts": np.log(likely / (1 - likely)), **found}


def place_terms(
    changes: Measures, standing: Measures, texts: Measures, frames: Measures, likely: Measures
) -> dict[str, Measures]:
    """Return the terms of the regression for texts on two pages."""
    where = dict(zip(STANDING, standing.T, strict=True))
    c = dict(zip(CHANGES, changes.T, strict=True))
    return {
        "by the texts": np.log(likely / (1 - likely)),
        "texts": np.log2(np.clip(texts, 2, 64)) - 1,
        "other clusters with the frame": np.log2(np.clip(frames, 1, 16)) / 2,
        "title in slot": where["title in slot"],
        "numbered titles": where["numbered titles"],
        "numbered titles, a figure": where["numbered titles"] * (c["numbers"] + c["years"] + c["dates"] > 0),
        "moved words": c["moved"] > 0,
        "moved words, title in slot": where["title in slot"] * (c["moved"] > 0),
        "titles alike": where["titles alike"],
        "title in frame": where["title in frame"],
        "unnamed subject": c["unnamed subject"],
        "equal sentences": np.log2(1 + np.minimum(where["equal"], 15)) / 2,
        "differing sentences": np.log2(np.clip(where["varied"], 1, 16)) / 2,
        "named by both": where["named by both"] / 100,
        "mostly differing": (where["varied"] > 1) & (where["varied"] > where["equal"]),
        "slots": np.minimum(c["slots"] - 1, 3) / 3,
        "two numbers": (c["numbers"] + c["years"] > 1).astype(np.float64),
        "length": np.minimum(c["length"], 40) / 20,
        "names in common": np.minimum(c["names in common"], 4) / 4,
        "no names in common": (c["names in common"] <= 0).astype(np.float64),
        "an opposite": (c["opposites"] + c["mere negations"] > 0).astype(np.float64),
        "names differ": (c["names"] > 0).astype(np.float64),
        "whole names differ": (c["whole names"] > 0).astype(np.float64),
        "a date": (c["dates"] > 0).astype(np.float64),
        "a unit": (c["units"] > 0).astype(np.float64),
    }
