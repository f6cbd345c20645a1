from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from esdedup.errors import SettingsError
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.rules import Names
from esdedup.text.wikitext.templates.known import known_templates, read_templates
from esdedup.text.wikitext.worker import clean

_FINGERPRINT = re.compile(r"[\U000e0100-\U000e01ef]")
FAST = FastCleaner(Names(site="en.wikipedia"))


def test_both_paths_fill_patterns_alike() -> None:
    pieces = [
        "{1}",
        "{2}",
        "{a|1}",
        "{3|2|1}",
        "[ ({2})]",
        "[{a}, {3}]",
        "{*; }",
        "{2*-}",
        "{1=one|two}",
        "{!3}",
        "{?2}",
        "{2:month}",
        "=|",
        " x ",
        "[[",
        "é",
    ]
    values = [
        "one",
        " two ",
        "",
        "a=b",
        "[[link|label]]",
        "a=",
        "é",
        "{{nowrap|in}}",
        "<!-- c -->",
        "1=three",
        "3",
        "Sept.",
        "{{=}}",
        "a{{!}}b",
    ]
    chance, held = random.Random(5), 0
    for _ in range(400):
        texts = ["".join(chance.choices(pieces, k=chance.randint(1, 3))) for _ in range(chance.randint(1, 3))]
        names = Names(site="en.wikipedia", templates=json.dumps({"ordu": texts}))
        page = "He is {{ordu|" + "|".join(chance.choices(values, k=chance.randint(0, 4))) + "}} there."
        # a hole with a template in it has another fingerprint in the reference path
        fast, reference = (
            _FINGERPRINT.sub("", text) for text in (FastCleaner(names).clean(page), clean(page, names, True))
        )
        assert fast == reference, (texts, page)
        held += "…" not in fast  # longer than the room of the template
    assert held > 250


def test_a_template_is_the_same_text_wherever_it_stands() -> None:
    added = {"ordu": ["the mill of {1} by the river"], "long": ["{1}, " + 50 * "very " + "long"]}
    names = Names(site="en.wikipedia", templates=json.dumps(added))
    fast = FastCleaner(names)
    sentence = "It is {{ordu|Arlen}} and {{ordu|{{lang|fr|Brumo}}}}."
    shown = "It is the mill of Arlen by the river and the mill of Brumo by the river."
    before = "Many {{unknown template|with|arguments}} stand here."
    for page in (sentence, f"{before}\n\n{sentence}", f"{sentence}\n\n{before}", 200 * f"{sentence}\n\n"):
        cleaned = fast.clean(page)
        assert set(cleaned.split("\n\n")) - {fast.clean(before)} == {shown}
        assert fast.clean(page) == clean(page, names, True)
    much = 3000 * "{{ordu|{{ordu|{{ordu|x}}}}}} "
    assert fast.clean(much).count("by the river") == 9000
    assert "…" in fast.clean("It is {{long|x}} there."), "a page cannot become as long as it likes"
    assert fast.clean("It is {{long|x}} there.") == clean("It is {{long|x}} there.", names, True)


def test_two_holes_are_different_and_the_same_one_is_not() -> None:
    one, other, again = (
        FAST.clean(f"The value of {cut} is high.") for cut in ("{{ordu|1}}", "{{ordu|2}}", "{{ordu|1}}")
    )
    assert one == again != other
    formulas = {FAST.clean(f"The value of <math>\\ordu{{{number}}}</math> is high.") for number in range(50)}
    assert len(formulas) == 50
    assert {_FINGERPRINT.sub("", text) for text in formulas} == {"The value of … is high."}


def test_the_templates_of_the_package_can_be_read() -> None:
    for site in ("", "en.wikipedia", "fr.wikipedia", "en.wiktionary", "de.wikivoyage"):
        assert len(known_templates(site)) > 500


def test_no_template_makes_different_statements_identical() -> None:
    """Whatever is known: its first argument is shown, or is a hole that tells it from others."""
    for site in ("", "en.wikipedia", "fr.wikipedia", "en.wiktionary", "en.wikivoyage"):
        names = Names(site=site)
        cleaner = FastCleaner(names)
        for name, patterns in names.templates.items():
            of_text = [each for each in patterns if any(getattr(part, "names", ()) == ("1",) for part in each)]
            if not of_text or any(all(isinstance(part, str) for part in each) for each in patterns):
                continue  # some are shown without an argument, too: {{circa|lk=on}}
            called = name.replace("*", "xx")
            for sign in ("{{=}}", "{{!}}", "{{(}}", "{{nowrap|v{{=}}v}}", "<sup>2</sup>"):
                one, other = (cleaner.clean(f"It is {{{{{called}|F {sign} {law}}}}} there.") for law in ("ma", "mc"))
                assert one != other, (site, name, sign)
            assert "…" in cleaner.clean(f"It is {{{{{called}|F = ma}}}} there."), (site, name)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lang = ", "not TOML"),
        ("lang = 1", "lang needs a pattern"),
        ("lang = [1]", "lang needs a pattern"),
        ('lang = "{}"', "alone"),
        ('lang = "{|1}"', "names no argument"),
        ('lang = "[{1}"', "[ without ]"),
        ('lang = "{1}]"', "] without ["),
        ('lang = "[a[b]]"', "nested"),
    ],
)
def test_a_file_with_a_mistake_is_named_with_it(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=re.escape(words)) as found:
        read_templates(path)
    assert str(path) in str(found.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml"):
        read_templates(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "page",
    [
        "{{nowrap|" * 20_000 + "x" * 200_000 + "}}" * 20_000,
        "{{nowrap|" + "a|" * 200_000 + "}}",
        "{{x}} " * 100_000,
        "{{" + "a-" * 100_000 + "}}",
        "<math>x</math>" * 50_000,
        "<math>" * 50_000,
        "({{cn}}" * 100_000,
    ],
)
def test_hostile_pages_are_cleaned(page: str) -> None:
    assert len(FAST.clean(page)) < 3 * len(page)
