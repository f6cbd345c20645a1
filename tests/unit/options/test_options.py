"""An option is checked by its declaration, and a registry tells whose it is."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from typing import Any

import pytest

from esdedup.clustering.linkages import LINKAGES
from esdedup.errors import SettingsError, UsageError
from esdedup.formats.reading_options import Reading
from esdedup.matching.protocol import MATCHERS, Scanning
from esdedup.matching.signers.protocol import SIGNERS
from esdedup.matching.signing import Signing, freeze
from esdedup.matching.verify.protocol import VERIFIERS
from esdedup.options import Options, option


@dataclass(frozen=True)
class Sample(Options):
    share: float = option(0.5, "A share.", low=0, high=1, above=True)
    part: float = option(0.5, "A part.", low=0, high=1, below=True)
    count: int | None = option(None, "A count.", low=1, high=9)
    kind: str = option("one", "A kind.", choices=("one", "two"))
    flag: bool = option(False, "A flag.")
    name: str | None = option(None, "A name.", pattern="[a-z]+", expected="give small letters")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"share": 0}, "share is 0; allowed: greater than 0, up to 1"),
        ({"share": 1.5}, "share is 1.5; allowed: greater than 0, up to 1"),
        ({"share": math.nan}, "share is nan; allowed: greater than 0, up to 1"),
        ({"share": True}, "share is True; allowed"),
        ({"share": "0.5"}, "share is '0.5'; allowed"),
        ({"part": 1}, "part is 1; allowed: 0 up to, not including, 1"),
        ({"part": math.nan}, "part is nan"),
        ({"count": 0}, "count is 0; allowed: 1 to 9"),
        ({"count": 2.0}, "count is 2.0; allowed: an integer, 1 to 9"),
        ({"count": 10**5000}, "count is too large a number"),
        ({"kind": "three"}, "kind is 'three'; allowed: one, two"),
        ({"kind": None}, "kind is None; allowed: one, two"),
        ({"flag": 1}, "flag is 1; allowed: true, false"),
        ({"name": "A"}, "name is 'A'; give small letters"),
        ({"name": "a\ud800"}, "name is"),
    ],
)
def test_a_value_outside_its_range_is_an_error_that_says_what_is_allowed(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as error:
        Sample(**given)
    assert str(error.value).startswith(message)


def test_values_in_range_are_kept() -> None:
    held = Sample(share=1, part=0, count=9, kind="two", flag=True, name="abc")
    assert held.described() == {"share": 1, "part": 0, "count": 9, "kind": "two", "flag": True, "name": "abc"}
    assert Sample().described() == {"share": 0.5, "part": 0.5, "kind": "one", "flag": False}


@pytest.mark.parametrize("registry", [LINKAGES, VERIFIERS, MATCHERS, SIGNERS], ids=lambda registry: registry.option)
def test_every_implementation_is_found_by_its_name_and_travels(registry: Any) -> None:
    for name in registry.names:
        chosen = registry.make(name, {"word_edit_distance": 3})
        assert chosen.name == name
        assert chosen.summary
        assert not chosen.summary.endswith(".")
        assert pickle.loads(pickle.dumps(chosen)) == chosen
    with pytest.raises(SettingsError, match=f"{registry.option} is 'nothing'; allowed: "):
        registry["nothing"]


def test_an_option_of_two_implementations_is_one_option() -> None:
    for registry in (LINKAGES, VERIFIERS, MATCHERS, SIGNERS):
        for name, owners in registry.declared().items():
            told = {(declared.type, declared.help, declared.choices) for _, declared in owners}
            assert len(told) == 1, f"{name} is declared in two ways"


def test_every_help_is_a_sentence() -> None:
    declared = [*Signing.declared(), *Scanning.declared()]
    for registry in (LINKAGES, VERIFIERS, MATCHERS, SIGNERS):
        declared += [each for owners in registry.declared().values() for _, each in owners]
    for each in declared:
        assert each.help[0].isupper(), each.name
        assert each.help.endswith("."), each.name
        assert each.type is bool or each.choices or each.unit, f"{each.name} has no unit"


def test_settings_survive_their_description() -> None:
    for given in (
        {},
        {"candidates": "projection", "verify": "cosine", "cosine": 0.7, "hamming": 3, "across": "sources"},
        {"candidates": "agreement", "agreement": 0.25, "verify": "none"},
        {"candidates": "queries", "verify": "words", "word_edit_distance": 2, "top": 5, "reciprocal": True},
        {"candidates": "exact", "linkage": "star", "jaccard": 0.55, "ignore": (1, 2**64 - 1)},
    ):
        asked = Scanning.of(**given)
        assert Scanning.from_described(asked.described()) == asked
        assert pickle.loads(pickle.dumps(asked)) == asked


def test_what_is_frozen_is_replaced_as_it_was_asked_for() -> None:
    stored = Signing.of(bands=8, rows=3, unit="record")
    assert Signing.of(**stored.saved()) == stored
    assert freeze(stored, {"rows": 5}).signer.described() == {"bands": 8, "rows": 5}
    pooled = freeze(stored, {"hashes": 20, "draw": 4, "draws": 6})
    assert pooled.signer.described() == {"hashes": 20, "draw": 4, "draws": 6}
    assert pooled.unit == "record"
    assert freeze(pooled, {"bands": 5}).signer.described() == {"bands": 5, "rows": 4}
    assert freeze(pooled, {"draw": 3}).signer.described() == {"hashes": 20, "draw": 3, "draws": 6}
    with pytest.raises(SettingsError, match="not both"):
        freeze(stored, {"bands": 5, "hashes": 20, "draw": 4, "draws": 6})
    with pytest.raises(UsageError, match="no such option: bandz"):
        freeze(stored, {"bandz": 5})


def test_an_option_that_the_named_format_does_not_have_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"namespaces needs .*format wikipedia"):
        Reading.of(format="tsv", namespaces=(1,))
    # without a format, each source takes the options that apply to it
    assert Reading.of(namespaces=(1,), separator=";").format is None
