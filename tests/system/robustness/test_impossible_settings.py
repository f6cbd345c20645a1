"""Settings that cannot be: exit code 2, and one line with what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from esdedup.errors import SettingsError
from esdedup.jobs.settings import Settings
from tests.support.commands import said
from tests.support.records import records, table
from tests.system.robustness.helpers import child, one_line, only_line

OPTIONS: dict[tuple[str, ...], str] = {
    ("--rows", "0"): "rows is 0; allowed: 1 to 64",
    ("--rows", "65"): "rows is 65; allowed: 1 to 64",
    ("--bands", "0"): "bands is 0; allowed: 1 to 64",
    ("--bands", "65"): "bands is 65; allowed: 1 to 64",
    ("--bands", "-1"): "bands is -1; allowed: 1 to 64",
    ("--jaccard", "0"): "jaccard is 0.0; allowed: greater than 0, up to 1",
    ("--jaccard", "1.01"): "jaccard is 1.01; allowed: greater than 0, up to 1",
    ("--jaccard", "nan"): "jaccard is nan; allowed: greater than 0, up to 1",
    ("--jaccard", "-inf"): "jaccard is -inf; allowed: greater than 0, up to 1",
    ("--jaccard", "much"): "'much' is not a number",
    ("--hashes", "20", "--draw", "21", "--draws", "5"): "draw is 21; allowed: 1 to 20",
    ("--hashes", "20", "--draw", "10", "--draws", "65"): "draws is 65; allowed: 1 to 64",
    ("--hashes", "20"): "give all three or none",
    ("--hashes", "9", "--draw", "3", "--draws", "3", "--rows", "2"): "not both",
    ("--min-chars", "9", "--max-chars", "3"): "allowed: min-chars up to max-chars",
    ("--min-chars", "-1"): "min-chars is -1; allowed: 0 to 1000000",
    ("--max-chars", "0"): "max-chars is 0; allowed: 1 to 10000000",
    ("--memory", "64MiB"): "allowed: 256MiB to 1PiB",
    ("--memory", "much"): "write it as 512MiB, 1GiB or 2GB",
    ("--memory", "-1GiB"): "write it as 512MiB, 1GiB or 2GB",
    ("--memory", "9" * 15 + "GiB"): "allowed: 256MiB to 1PiB",
    ("--memory", "9" * 400): "write it as 512MiB, 1GiB or 2GB",
    ("--workers", "0"): "workers is 0; allowed: 1 to 1024",
    ("--workers", "1.5"): "'1.5' is not a whole number",
    ("--seed", "9" * 30): "allowed: 0 to 9223372036854775807",
    ("--hash-bits", "61"): "hash-bits is 61; allowed: 16 to 60",
    ("--shingle", "char:0"): "allowed: char:N or word:N with N from 1 to 99",
    ("--lang", "日本"): "give a language code such as en, de or zh",
    ("--limit", "-1"): "limit is -1; allowed: 0 to",
    ("--separator", "ab"): "allowed: one character",
    ("--separator", "\n"): "allowed: one character",
    ("--source-name", "a b"): "allowed: no slash, no white space",
    ("--id-column", ""): "allowed: a name, a dotted path or a number from 1",
    ("--text-column", "9" * 5000): "give a number",
    ("--namespaces", "0,x"): "allowed: numbers separated by commas, as in 0,14",
    ("--word-edit-distance", "-1"): "word-edit-distance is -1; allowed: 0 to 10000",
    ("--normalize", "upper"): "'none', 'fold', 'fold-accents', 'lower', 'words', 'stem'",
    ("--unit", "page"): "'auto', 'sentence', 'paragraph', 'line', 'record'",
    ("--linkage", "complete"): "'single', 'star'",
    ("--table", "xml"): "'jsonl', 'parquet'",
    ("--preset", "nobody"): "weissman",
    ("--candidates", "agreement", "--agreement", "1"): "agreement is 1.0; allowed: 0 up to",
    ("--candidates", "agreement", "--agreement", "nan"): "agreement is nan; allowed",
    ("--signature", "0"): "signature is 0; allowed: 1 to 1024",
    ("--nothing",): "No such option '--nothing'",
}

CONFIGS = {
    'bands = "many"': "'--bands': 'many' is not a whole number",
    "bands = 1.5": "'--bands': '1.5' is not a whole number",
    "bands = 70": "bands is 70; allowed: 1 to 64",
    "bands = true": "'--bands': ",
    "bands = {a = 1}": "'--bands': ",
    "jaccard = [0.5]": "'--jaccard': '[0.5]' is not a number",
    "jaccard = nan": "allowed: greater than 0, up to 1",
    "memory = 5": "allowed: 256MiB to 1PiB",
    "normalize = 3": "'none', 'fold', 'fold-accents', 'lower', 'words', 'stem'",
    'keep-going = "perhaps"': "'--keep-going': 'perhaps' is not a valid boolean",
    "[run]\nbands = 3": "there is no option run",
    "jacard = 0.9": "there is no option jacard",
    "bands = ": "write one option a line",
    "bands = 3\nbands = 4": "write one option a line",
    "a = " + "[" * 100_000: "write one option a line",
    "bands = " + "9" * 5000: "write one option a line",
    "\0": "write one option a line",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return table(tmp_path_factory.mktemp("settings") / "a.tsv", records(51, 20))


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options)[:40])
def test_impossible_options(source: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    line = one_line(said("run", source, "--out", tmp_path / "out", *options), 2)
    assert OPTIONS[options] in line
    assert len(line) < 400 + sum(map(len, options))


@pytest.mark.parametrize("text", CONFIGS, ids=lambda text: text[:20])
def test_impossible_config_files(source: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    arguments = ("run", source, "--out", tmp_path / "out", "--config", tmp_path / "mine.toml")
    assert CONFIGS[text] in one_line(said(*arguments), 2)


def test_what_a_shell_sees(source: Path, tmp_path: Path) -> None:
    answer = child("run", source, "--out", "out", "--normalize", "upper", cwd=tmp_path)
    line = one_line(answer, 2)
    assert line.endswith("(see esdedup run --help)\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [("run",), ("scan",), ("nothing",), ("clusters", "--limit", "x"), ("--nothing",)])
def test_incomplete_commands_are_one_line(arguments: tuple[str, ...]) -> None:
    assert "--help)" in one_line(said(*arguments), 2)


@pytest.mark.parametrize("verb", ["similar", "suggest", "remove", "explain"])
def test_arguments_that_are_no_utf_8(undisturbed: Path, tmp_path: Path, verb: str) -> None:
    store = tmp_path / "s.duckdb"
    store.write_bytes((undisturbed / "out" / "store.duckdb").read_bytes())
    more = ("r1",) if verb == "explain" else ()
    answer = said(verb, "\udcff", *more, "--store", store)
    # nothing is called so
    assert answer.code in (0, 1)
    if answer.code:
        only_line(answer.err)


@pytest.mark.parametrize(
    "options",
    [
        {"bands": "10"}, {"bands": True}, {"bands": 10.0}, {"bands": 10**5000}, {"jaccard": "0.8"}, {"jaccard": True},
        {"memory": 2.0**30}, {"memory": b"1GiB"}, {"workers": "2"}, {"shingle": 12}, {"lang": 7}, {"unit": ["record"]},
        {"namespaces": 0}, {"namespaces": ["0"]}, {"separator": 9}, {"separator": "\ud800"}, {"text_column": 2},
        {"header": "yes"}, {"limit": 1.5}, {"source_name": 5}, {"seed": None, "rows": []},
    ],
    ids="-".join,
)  # fmt: skip
def test_python_callers_get_one_line_too(options: dict[str, object]) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.of(**options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
