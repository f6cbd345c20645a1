"""What a new user types first: the right answer, or a line that says what was left out and by which option."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path

import pytest

import esdedup
from tests.support.commands import Said, said
from tests.support.corpus import sentence

_SOURCE = random.Random(17)
SENTENCES = [sentence(_SOURCE, 14) for _ in range(400)]
"""Unlike each other."""
CHINESE = "北京是中华人民共和国的首都和直辖市位于华北平原的北部背靠燕山毗邻天津市和河北省是全国的政治中心"


def json_lines(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def articles(path: Path, copies: int = 2) -> Path:
    texts = [" ".join(SENTENCES[start : start + 10]) + " She was 86." for start in range(0, 300, 10)]
    return json_lines(path, [{"id": str(n), "text": text} for n, text in enumerate(texts * copies)])


def first_line(answer: Said) -> str:
    return answer.out.splitlines()[0]


def test_articles_that_stand_there_twice_are_dropped_as_wholes(tmp_path: Path) -> None:
    source = articles(tmp_path / "docs.jsonl")
    answer = said("dedupe", source, "-o", tmp_path / "x")
    assert (answer.code, answer.err) == (0, "")
    assert first_line(answer) == "60 records in · 30 kept · 30 dropped (30 identical) · 0 not compared"
    assert (tmp_path / "x" / "docs.jsonl").read_text() == articles(tmp_path / "once.jsonl", 1).read_text()


def test_a_bound_that_leaves_everything_out_is_an_error_that_names_it(tmp_path: Path) -> None:
    source = articles(tmp_path / "docs.jsonl")
    for verb in ("dedupe", "run"):
        answer = said(verb, source, "--max-chars", "600", "-o", tmp_path / verb)
        assert answer.code == 1
        assert answer.err == "esdedup: none of 60 records was compared: 60 longer than --max-chars 600\n"
        assert "not compared: 60 longer than --max-chars 600" in answer.out
        assert "Next:" not in answer.out
    assert (tmp_path / "dedupe" / "docs.jsonl").read_bytes() == source.read_bytes()
    summary = json.loads((tmp_path / "run" / "summary.json").read_text("utf-8"))
    assert summary["records"] == {"in": 60, "compared": 0, "not_compared": {"longer than --max-chars 600": 60}}


def test_rows_are_not_called_sentences(tmp_path: Path) -> None:
    source = json_lines(tmp_path / "a.jsonl", [{"text": text} for text in SENTENCES[:3] * 2])
    assert "sentence" not in said("run", source, "-o", tmp_path / "x").out
    assert "sentence" not in said("index", source, "--store", tmp_path / "s.duckdb").out
    assert "records read: 6" in repr(esdedup.status(store=tmp_path / "s.duckdb"))
    told = (tmp_path / "x" / "report.html").read_text("utf-8")
    assert "records read</th>" in told
    assert "sentences read" not in told


def test_the_preset_of_records_against_a_reference(tmp_path: Path) -> None:
    old = json_lines(tmp_path / "orgs.jsonl", [{"id": str(n), "text": SENTENCES[n]} for n in range(20)])
    new = json_lines(tmp_path / "dups.jsonl", [{"id": str(n), "text": SENTENCES[n]} for n in (3, 50)])
    answer = said("dedupe", new, "--against", old, "--preset", "records-cosine", "-o", tmp_path / "x")
    assert (answer.code, "1 dropped (1 in reference)" in answer.out) == (0, True)
    for verb in ("dedupe", "run"):
        answer = said(verb, new, "--preset", "records-cosine", "--jaccard", "0.9", "-o", tmp_path / verb)
        assert (answer.code, "the threshold is cosine" in answer.err) == (2, True)


def test_explain_names_the_threshold_that_counts(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": SENTENCES[0]}, {"id": "b", "text": SENTENCES[0].replace(" ", " x ", 1)}]
    said("run", json_lines(tmp_path / "a.jsonl", rows), "--preset", "records-cosine", "-o", tmp_path / "x")
    answer = said("explain", "a", "b", "--store", tmp_path / "x" / "store.duckdb").out
    assert "cosine" in answer
    assert "(at least" not in answer


def test_short_rows_are_deduplicated(tmp_path: Path) -> None:
    rows = [f"{n}\t{text[:30]}\n" for n, text in enumerate(SENTENCES[:200] + SENTENCES[:90])]
    source = tmp_path / "rows.tsv"
    source.write_text("".join(rows), "utf-8")
    answer = said("dedupe", source, "-o", tmp_path / "x", "--json")
    records = json.loads(answer.out)["records"]
    assert records["in"] == 290
    assert records["dropped"]["identical"] == 90
    assert records["not_compared"] == {}


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        ("documents", "--verify exact --jaccard 0.5"),
        ("weissman", "--verify exact"),
        ("records-cosine", "one source: --across any"),
    ],
)
def test_presets_deduplicate_and_say_how(tmp_path: Path, preset: str, words: str) -> None:
    rows = [{"id": str(n), "text": text} for n, text in enumerate(SENTENCES[:50] + SENTENCES[:20] + SENTENCES[:20])]
    answer = said("dedupe", json_lines(tmp_path / "a.jsonl", rows), "-o", tmp_path / "x", "--preset", preset)
    assert answer.code == 0
    assert words in answer.err
    assert first_line(answer) == "90 records in · 50 kept · 40 dropped (40 identical) · 0 not compared"


def test_several_columns_of_text_and_none(tmp_path: Path) -> None:
    rows = [{"key": str(n), "name": SENTENCES[n // 2][:40], "city": "Rome"} for n in range(40)]
    source = json_lines(tmp_path / "a.jsonl", rows)
    found = said("dedupe", source, "-o", tmp_path / "x", "--text-column", "name,city")
    assert first_line(found) == "40 records in · 20 kept · 20 dropped (20 identical) · 0 not compared"
    for verb in ("dedupe", "run"):
        answer = said(verb, source, "-o", tmp_path / verb)
        assert answer.code == 1
        assert "{key, name, city}; name the column of the text with --text-column" in answer.err
        assert "none of 40 records was compared: 40 without text (--text-column)" in answer.err


def test_another_encoding_is_hinted_at_and_read(tmp_path: Path) -> None:
    source = tmp_path / "latin.csv"
    source.write_bytes(
        b"id,name\n" + "".join(f"{n},Café {SENTENCES[n // 2][:30]}\n" for n in range(60)).encode("cp1252")
    )
    answer = said("dedupe", source, "-o", tmp_path / "x", "--text-column", "name")
    assert answer.code == 1
    assert "60 of 60 records are not valid UTF-8" in answer.err
    assert "--encoding cp1252" in answer.err
    found = said("dedupe", source, "-o", tmp_path / "y", "--text-column", "name", "--encoding", "cp1252")
    assert (found.code, found.err) == (0, "")
    assert "30 kept · 30 dropped (30 identical)" in first_line(found)
    assert (tmp_path / "y" / "latin.csv").read_bytes().decode("cp1252").splitlines()[1] == f"0,Café {SENTENCES[0][:30]}"


@pytest.mark.parametrize("unit", ["record", "sentence"])
def test_chinese_is_compared_with_the_defaults(tmp_path: Path, unit: str) -> None:
    rows = [{"id": "1", "text": CHINESE}, {"id": "2", "text": CHINESE.replace("北部", "南部")}]
    answer = said("run", json_lines(tmp_path / "a.jsonl", rows), "--unit", unit, "-o", tmp_path / "x", "--json")
    assert json.loads(answer.out)["counts"]["pairs"] == 1


def test_repeated_ids_are_renamed_and_lengths_name_their_option(tmp_path: Path) -> None:
    rows = [{"id": "same", "text": text} for text in [*SENTENCES[:5], "short"]]
    answer = said("run", json_lines(tmp_path / "a.jsonl", rows), "--min-chars", "75", "-o", tmp_path / "x", "--json")
    summary = json.loads(answer.out)
    assert summary["renamed"] == 5
    assert "repeated_id" not in summary["skipped"]
    assert summary["records"] == {"in": 6, "compared": 5, "not_compared": {"shorter than --min-chars 75": 1}}


def test_next_is_only_suggested_where_it_would_print_something(tmp_path: Path) -> None:
    different = json_lines(tmp_path / "a.jsonl", [{"id": "1", "text": "One thing."}, {"id": "2", "text": "Another."}])
    assert "Next:" not in said("run", different, "-o", tmp_path / "x").out
    alike = json_lines(tmp_path / "b.jsonl", [{"id": "1", "text": "One thing."}, {"id": "2", "text": "one thing"}])
    assert "Next: esdedup clusters" in said("run", alike, "-o", tmp_path / "y").out


def test_advice_can_be_copied_although_a_path_has_spaces(tmp_path: Path) -> None:
    folder = tmp_path / "my collection"
    folder.mkdir()
    store = folder / "all of it.duckdb"
    assert said("index", articles(folder / "docs.jsonl"), "--store", store).code == 0
    for words in (("status",), ("clusters",)):
        answer = said(*words, "--store", store)
        told = next(line for line in (answer.out + answer.err).splitlines() if "esdedup scan" in line)
        command = shlex.split(told[told.index("esdedup scan") :])[1:]
        assert command == ["scan", "--store", str(store)]
    ran = said(*command)
    told = next(line for line in ran.out.splitlines() if line.startswith("Next: "))
    assert said(*shlex.split(told)[2:]).code == 0


def test_similar_says_why_it_finds_nothing(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("\n\n".join(SENTENCES[:20]))
    said("run", source, "-o", tmp_path / "x")
    answer = said("similar", "xxqqzz", "--store", tmp_path / "x" / "store.duckdb")
    assert answer.err == "esdedup: no stored text has a word, or four letters of one, in common with this one\n"
    answer = said("suggest", "qz", "--store", tmp_path / "x" / "store.duckdb")
    assert "type one more to find words inside" in answer.err


def test_plan_warns_of_what_finds_too_little_and_of_few_pairs(tmp_path: Path) -> None:
    rows = [{"id": str(n), "text": text} for n, text in enumerate(SENTENCES[:60])]
    answer = said("plan", json_lines(tmp_path / "a.jsonl", rows), "--schemes", "2x8", "--recall", "0.1")
    assert answer.code == 0
    assert "finds only" in answer.err
    assert "so the recalls are rough" in answer.err


def test_quiet_prints_nothing_but_errors(tmp_path: Path) -> None:
    source = articles(tmp_path / "docs.jsonl")
    for verb in (("dedupe", source, "-o", tmp_path / "x"), ("run", source, "-o", tmp_path / "y")):
        answer = said(*verb, "--quiet")
        assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert json.loads(said("dedupe", source, "-o", tmp_path / "z", "--quiet", "--json").out)["records"]["kept"] == 30


def test_an_option_given_twice_is_refused(tmp_path: Path) -> None:
    source = json_lines(tmp_path / "a.jsonl", [{"name": "One", "city": "Rome"}])
    answer = said("dedupe", source, "-o", tmp_path / "x", "--text-column", "name", "--text-column", "city")
    assert answer.code == 2
    assert "--text-column is given more than once; give it once" in answer.err


def test_an_option_is_no_value_of_the_option_before_it(tmp_path: Path) -> None:
    source = json_lines(tmp_path / "a.jsonl", [{"text": "One"}])
    answer = said("dedupe", source, "-o", tmp_path / "x", "--certificate", "--fresh")
    assert (answer.code, answer.err) == (2, "esdedup: --certificate needs a value before --fresh\n")
    assert not (tmp_path / "x").exists()


def test_a_column_that_no_record_has_is_named(tmp_path: Path) -> None:
    source = json_lines(tmp_path / "a.jsonl", [{"name": "One", "city": "Rome"}, {"name": "Two"}])
    answer = said("dedupe", source, "-o", tmp_path / "x", "--text-column", "name,town")
    assert (answer.code, "no record has 'town' (--text-column)" in answer.err) == (0, True)
    assert said("dedupe", source, "-o", tmp_path / "y", "--text-column", "name,city").err == ""


def test_empty_files_alone_are_said(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    for verb in ("dedupe", "run"):
        answer = said(verb, tmp_path / "empty.txt", "-o", tmp_path / verb)
        assert (answer.code, answer.err) == (1, "esdedup: there is no text in the sources: nothing was compared\n")
    assert (tmp_path / "dedupe" / "empty.txt").read_text() == ""
    (tmp_path / "text.txt").write_text("One.")
    both = tmp_path / "empty.txt", tmp_path / "text.txt"
    assert said("dedupe", *both, "-o", tmp_path / "y").code == 0, "one of several is no mistake"


def test_another_separator_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;text\n1;One\n")
    assert "give --separator ';'" in said("dedupe", tmp_path / "a.csv", "-o", tmp_path / "x").err


def test_explain_names_the_shingles(tmp_path: Path) -> None:
    rows = [{"id": "short", "text": SENTENCES[0]}, {"id": "long", "text": " ".join(SENTENCES[:4])}]
    store = tmp_path / "s.duckdb"
    assert said("run", json_lines(tmp_path / "a.jsonl", rows), "-o", tmp_path / "x", "--store", store).code == 0
    answer = said("explain", "short", "long", "--store", store).out
    assert "compared by         char:3 (those of A are char:3, those of B char:4)" in answer


@pytest.mark.parametrize("verb", ["run", "dedupe"])
def test_results_are_not_written_into_a_source(tmp_path: Path, verb: str) -> None:
    (tmp_path / "rows").mkdir()
    json_lines(tmp_path / "rows" / "a.jsonl", [{"text": "One"}])
    answer = said(verb, tmp_path / "rows", "-o", tmp_path / "rows" / "out")
    assert (answer.code, "is inside the source" in answer.err) == (2, True)
    assert not (tmp_path / "rows" / "out").exists()


def test_lists_of_nothing_say_so(tmp_path: Path) -> None:
    source = tmp_path / "one.tsv"
    source.write_text(f"1\t{SENTENCES[0]}\n", "utf-8")
    said("run", source, "--out", tmp_path / "out")
    store = tmp_path / "out" / "store.duckdb"
    for command, line in (
        ("clusters", "no clusters found"),
        ("templates", "no templates found"),
        ("drift", "no contradictions"),
    ):
        assert said(command, "--store", store)[:2] == (0, f"{line}\n")
        assert said(command, "--store", store, "--json")[:2] == (0, "")


def test_a_list_that_is_cut_says_that_there_are_more(tmp_path: Path) -> None:
    rows = [f"{n}\t{text}\n" for n, text in enumerate(SENTENCES[:21] * 2)]
    (tmp_path / "rows.tsv").write_text("".join(rows), "utf-8")
    assert said("run", tmp_path / "rows.tsv", "--unit", "record", "-o", tmp_path / "x").code == 0
    store = tmp_path / "x" / "store.duckdb"
    for command in (["clusters"], ["clusters", "--json"], ["overlap"]):
        cut = said(*command, "--store", store)
        assert (cut.code, cut.err) == (0, "esdedup: there are more than these 20; list more with --limit\n")
        whole = said(*command, "--store", store, "--limit", "21")
        assert (whole.code, whole.err) == (0, "")
        assert whole.out.startswith(cut.out)
        assert whole.out != cut.out
        assert said(*command, "--store", store, "--quiet").err == ""


def test_fill_without_a_slot_names_what_may_stand_in_braces(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("name,number\nLorn,12\n")
    for frame, message in (
        ("nothing to fill", "the frame has no slot; write the name of a column"),
        ("{name} in {year}", "the frame has a slot {year}, but the table has no such column; it has name, number"),
    ):
        answer = said("fill", frame, tmp_path / "towns.csv")
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.startswith(f"esdedup: {message}")
