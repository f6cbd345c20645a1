"""Contradictions in one cluster: whatever the order of its members, and however many they are."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from esdedup.analysis.changes import CHANGES
from esdedup.analysis.drift import contradictions
from esdedup.analysis.judging import place_terms, weights_of_terms
from esdedup.analysis.subjects import STANDING
from esdedup.analysis.word_forms import split_words
from esdedup.analysis.word_meanings import meant
from tests.support.linear import assert_linear
from tests.unit.analysis.helpers import cluster, found


def test_order_changes_no_value() -> None:
    counts = ("20,000", "20,900", "19,100", "35", "thirty-six", "35.0")
    texts = [f"The old city counts {count} people." for count in counts]
    source, answers = random.Random(1), set()
    for _ in range(6):
        source.shuffle(texts)
        [row] = found(texts)
        answers.add(tuple((value["value"], value["count"]) for value in row["values"]))
    assert len(answers) == 1


def test_very_many_values_take_linear_time() -> None:
    def differ(count: int) -> None:
        [row] = found([f"The old city counts {number} people." for number in range(100_001, 100_001 + count)])
        assert row["newest"] is None or row["values"][row["newest"]]

    assert_linear(differ, 500, 2_000)


def test_what_one_side_negates_is_told() -> None:
    [row] = found(["The bridge was built in stone.", "The bridge was not built in stone."])
    assert sorted(value["value"] for value in row["values"]) == ["", "not"]


def test_the_values_that_contradict_each_other_come_first() -> None:
    counts = ("20,000", "20,000", "20,010", "20,010", "thirty-six", "36")
    [row] = found([f"The {'very ' * (n % 2)}old city counts {count} people." for n, count in enumerate(counts)])
    assert {value["value"] for value in row["values"][:2]} & {"thirty-six", "36"}
    assert row["difference"]


def test_short_years_of_a_text_alone() -> None:
    assert found(["It sailed in 1942–43 to the sea.", "It sailed in 1942–1943 to the sea."]) == []
    assert found(["It sailed in 1999–00 to the sea.", "It sailed in 1999–2000 to the sea."]) == []
    assert found(["It sailed in 1936-9 to the sea.", "It sailed in 1936-1939 to the sea."]) == []
    assert found(["It sailed in 1942–43 to the sea.", "It sailed in 1942–1944 to the sea."]) != []
    alone, behind = (
        split_words(pa.array([text, "43 men came."], pa.large_string())) for text in ("It was", "In 1942–")
    )
    assert meant(alone).hash[-4] == meant(behind).hash[-4]  # whatever text is before


def test_common_words_of_names_hide_no_difference() -> None:
    [row] = found([f"The bridge was built by Alexander {name} in stone." for name in ("Berg", "Holt")])
    assert [value["value"] for value in row["values"]] == ["Alexander Berg", "Alexander Holt"]


def test_mere_negations_are_surer_than_negations_among_other_words() -> None:
    [mere] = found(["The bridge was built in stone.", "The bridge was not built in stone."])
    rest = found(["The bridge was free for all.", "The bridge was without any toll for all."])
    assert all(row["confidence"] < mere["confidence"] for row in rest)


def test_the_date_may_explain_it() -> None:
    apart = found(["The rate was 5% in May 2014 there.", "The rate was 6% in June 2015 there."])
    alone = found(["The rate was 5% in May 2014 there.", "The rate was 6% in May 2014 there."])
    assert all(row["confidence"] < alone[0]["confidence"] for row in apart)


def test_rounding_and_omission_are_no_contradictions() -> None:
    assert found(["It has 1,234 seats in all.", "It has 1,200 seats in all.", "It has seats in all."]) == []


def test_one_page_is_surer_than_two() -> None:
    texts = [f"The old city of Aram on the river Elst counts {count} people in nine districts." for count in (35, 36)]
    [same] = found(texts)
    two = cluster(texts)
    two["members"][1]["title"] = "New city"
    [apart] = contradictions(two)
    assert same["confidence"] > apart["confidence"] + 0.3
    assert (same["subject"], same["fact"], same["change"]) == ("Old city", "number", "update")
    assert same["why"] == "one page at two times: another number, in the same words"
    assert (apart["change"], apart["why"][:10]) == ("contradiction", "two pages:")


def test_a_page_that_is_named_is_the_subject() -> None:
    """`The old city` is another one on each of two pages; Elst is not."""
    texts = [f"The old city of Elst counts {count} people." for count in (35, 36)]
    named = cluster(texts)
    named["members"][0]["title"], named["members"][1]["title"] = "Elst", "History of the region"
    [row] = contradictions(named)
    unnamed = cluster([text.replace(" of Elst", "") for text in texts])
    unnamed["members"][1]["title"] = "New city"
    assert contradictions(unnamed) == []
    assert row["confidence"] > 0.5


def test_siblings_in_one_revision_contradict_nobody() -> None:
    texts = ["The easy course has five obstacles in it.", "The easy course has twelve obstacles in it."]
    whole = cluster(texts)
    for member in whole["members"]:
        member |= {"document": "7", "revision": 3}
    assert contradictions(whole) == []
    whole["members"][1]["revision"] = 4
    [row] = contradictions(whole)
    assert (row["change"], row["why"]) == ("update", "one page at two times: another number, in the same words")
    whole["members"][0]["last_revision"] = 5  # it was still there
    assert contradictions(whole) == []


def test_the_same_number_in_another_form_is_no_contradiction() -> None:
    assert found(["She won the fourth race of the year.", "She won the 4th race of the year."]) == []
    [row] = found(["She won the fourth race of the year.", "She won the 5th race of the year."])
    assert row["confidence"] > 0.5


SAME_TIME = [
    ("It was built in the 1960s.", "It was built in the 1960's."),
    ("It was built in 1971.", "It was built in the early 1970s."),
    ("It was built in 1971.", "It was built in the 70s."),
    ("He brought it to the US by boat.", "He brought it to the United States by boat."),
    ("It was led by the Confederación Nacional del Trabajo.", "It was led by the CNT."),
]
OTHER_TIME = [
    ("It was built in the 1960s.", "It was built in the 1970s."),
    ("It was built in 1981.", "It was built in the 1970s."),
    ("It was built in 1875.", "It was built in the 1970s."),
    ("He brought it to the UK by boat.", "He brought it to the United States by boat."),
    ("Most of the towns have a market.", "Some of the towns have a market."),
]


@pytest.mark.parametrize("texts", SAME_TIME)
def test_a_less_precise_or_shorter_form_is_no_contradiction(texts: tuple[str, str]) -> None:
    assert found(texts) == []


@pytest.mark.parametrize("texts", OTHER_TIME)
def test_another_decade_country_or_share_is_a_contradiction(texts: tuple[str, str]) -> None:
    assert len(found(texts)) == 1


def test_a_decade_hides_no_contradiction_between_its_years() -> None:
    [row] = found([f"The bridge was built in {time} of stone." for time in ("1971", "1975", "the 1970s")])
    assert {value["value"] for value in row["values"][:2]} == {"1971", "1975"}
    assert found(["The race was 1960 m long.", "The race was 60 km long."]) != []


def test_the_sentences_that_contradict_each_other_come_first() -> None:
    texts = [
        "The bridge over the river was built of stone in 1790 by the old bishop of the town and all of his men.",
        "The bridge over the river was built of stone in 1790.",
        "The bridge over the river was built of stone in 1791.",
    ]
    [row] = found(texts)
    assert sorted(value["sentences"][0]["text"] for value in row["values"][:2]) == sorted(texts[1:])


def test_exchanged_names_are_one_contradiction() -> None:
    [row] = found(["The regiment left Boston in 1777 for Geneva.", "The regiment left Geneva in 1777 for Boston."])
    assert row["fact"] == "order"
    assert row["confidence"] > 0.5


def test_words_that_have_only_moved_are_a_contradiction_though_they_leave_an_empty_slot() -> None:
    texts = [
        "He was born in Arkansas and later moved to Carter County, Tennessee.",
        "He was born in Carter County, Tennessee and moved to Arkansas later.",
    ]
    [row] = found(texts)
    assert row["fact"] == "order"
    assert "" in [value["value"] for value in row["values"]]
    assert found([texts[0], texts[0].replace(" later", "")]) == []


def test_an_opposite_is_told_in_words() -> None:
    [row] = found(["Aram counts more than 200 people.", "Aram counts less than 200 people."])
    assert (row["fact"], row["why"]) == (
        "opposite", "one page at two times: one says the opposite of the other, in the same words"
    )  # fmt: skip


def test_a_large_template_takes_linear_time() -> None:
    def differ(subjects: int) -> None:
        texts = [f"The town of {name} has {count} seats." for name in map(_name, range(subjects)) for count in (17, 23)]
        large = cluster(texts) | {"kind": "template"}
        for number, member in enumerate(large["members"]):
            member["title"] = _name(number // 2)
        assert len(contradictions(large)) == subjects

    assert_linear(differ, 50, 400)


def _name(number: int) -> str:
    return "".join("BCDFGHKLMN"[int(digit)] + "aeiouaeiou"[int(digit)] for digit in f"{number:04}").capitalize()


def test_more_texts_never_make_a_contradiction_likelier() -> None:
    """Clusters are ruled out as if each had two texts."""
    names = list(
        place_terms(*(np.ones((1, len(some))) for some in (CHANGES, STANDING)), *np.ones((2, 1)), np.full(1, 0.5))
    )
    assert weights_of_terms().places[names.index("texts")] <= 0


SAME = [
    ("About a third of the people of Aram work there.", "About 33 % of the people of Aram work there."),
    ("The mean of Aram in March is 34 °F.", "The mean of Aram in March is 1.1 °C."),
    ("He left Aram on 20 June 1991 for good.", "He left Aram on 20.06.1991 for good."),
    ("The town of Aram had 61,900 people.", "The town of Aram had about 62,000 people."),
    ("Peter II of Aram was crowned there.", "Peter the Second of Aram was crowned there."),
    ("It was built in Aram in Oct 1912.", "It was built in Aram in October 1912."),
    ("The garrison of Ft. Aram was taken that day.", "The garrison of Fort Aram was taken that day."),
    ("The house of J. Aram was built that year.", "The house of John Aram was built that year."),
    ("Aram fue fundada en los años 1920.", "Aram fue fundada en los años veinte."),
    ("Aram fut fondée dans la décennie 1920.", "Aram fut fondée dans les années vingt."),
    ("Han avled den 29 augusti 1944 i Aram.", "Han avled den 29/8 1944 i Aram."),
    ("It sold about 6 million of them in Aram.", "It sold 6.4 million of them in Aram."),
    ("阿蘭では約40%の人口が減少した。", "阿蘭では約4割の人口が減少した。"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_facts_in_another_form(one: str, two: str) -> None:
    assert found([one, two]) == []


OTHER = [
    ("The bridge of Aram is 950 km long.", "The bridge of Aram is 950 mi long."),
    ("El puente de Aram mide 950 metros.", "El puente de Aram mide 950 pies."),
    ("A quarter of the people of Aram speak it.", "40 % of the people of Aram speak it."),
    ("Half of the houses of Aram were burnt.", "Most of the houses of Aram were burnt."),
    ("Peter II of Aram was crowned there.", "Peter III of Aram was crowned there."),
    ("He was married in the city of Aram.", "He was unmarried in the city of Aram."),
    ("It is the largest lake of all Aram.", "It is the smallest lake of all Aram."),
    ("A cidade de Aram é a maior do vale.", "A cidade de Aram é a menor do vale."),
    ("De stad Aram verloor de strijd om de haven.", "De stad Aram won de strijd om de haven."),
    ("Місто Арам є найбільшим у країні.", "Місто Арам є найменшим у країні."),
    ("She came from Santa Cruz to Aram.", "She came from San Juan to Aram."),
]


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_facts_that_are_others(one: str, two: str) -> None:
    [row] = found([one, two])
    assert row["confidence"] > 0.5


def test_what_pages_share_tells_a_pattern_from_a_copy() -> None:
    """Equal sentences speak for a copied passage, differing ones and equal links for pages of one pattern."""
    texts = [f"The town of Aram has a market on the square and {count} people in its districts." for count in (350, 36)]
    two = cluster(texts)
    two["members"][0]["title"], two["members"][1]["title"] = "Oram", "Elst"
    sure = {}
    for name, shared in (("nothing", None), ("copied", [0, 1, 6, 1, 0]), ("pattern", [0, 1, 0, 6, 60])):
        rows = contradictions(two | {"shared": shared})
        sure[name] = rows[0]["confidence"] if rows else 0.0
    assert sure["copied"] > sure["nothing"] > sure["pattern"] == 0.0
    assert contradictions(two | {"frames": 12}) == []
