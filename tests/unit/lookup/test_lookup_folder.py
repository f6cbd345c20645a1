"""The folder of a lookup follows a store: what is new is found, and what is gone takes nobody's place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.hashing import Hashes, content_hashes
from esdedup.lookup import lookup_folder, text_blocks
from esdedup.lookup.gram_lists import GramLists
from esdedup.lookup.grams import grams_of
from esdedup.lookup.lookup_folder import LookupFolder, StoredTexts
from esdedup.lookup.search import Found, Lookup
from esdedup.lookup.text_blocks import TEXTS
from esdedup.lookup.text_rows import Rows

ALIKE = [f"the same beginning number {number}" for number in range(100, 140)]


NO_ROWS = Rows(0, 0, lambda low, high: iter(()))


def hashes_of(texts: Sequence[str]) -> Hashes:
    return content_hashes(*text_buffers(text_column(texts)))


def stored(texts: Sequence[str], state: str) -> StoredTexts:
    """What a store that has these texts says of them."""
    there = hashes_of(texts)

    def novel(known: Hashes, first: int) -> Iterator[pa.RecordBatch]:
        new = np.isin(there, known, invert=True)
        column = text_column([text for text, is_new in zip(texts, new, strict=True) if is_new])
        yield pa.record_batch([pa.array(there[new]), column], schema=TEXTS)

    return StoredTexts(state, (), 0, novel, lambda known: known[~np.isin(known, there)], NO_ROWS)


def updated(folder: LookupFolder, texts: Sequence[str], state: str) -> Lookup:
    """The lookup after the store has come to have these texts."""
    folder.update(stored(texts, state), 1, lambda _: None)
    read = folder.read(state)
    assert read is not None
    return Lookup(read.segments)


def begin_so(lookup: Lookup, most: int) -> list[str]:
    found: list[str] = lookup.beginning("thesame", most).texts.to_pylist()
    return found


def alike(lookup: Lookup, text: str, most: int) -> Found:
    return lookup.alike(grams_of(text_column([text]))[0], most, 0.01)


def test_what_is_gone_takes_nobody_s_place(tmp_path: Path) -> None:
    folder, texts = LookupFolder(tmp_path / "l"), ALIKE
    assert begin_so(updated(folder, texts, "one"), 2) == texts[:2]
    lookup = updated(folder, texts[5:], "two")
    assert begin_so(lookup, 2) == texts[5:7]
    assert lookup.beginning("thesame", 2).left_out == 33
    assert len(begin_so(lookup, 100)) == 35
    found = alike(lookup, texts[0], 10)
    assert (len(found.texts), found.left_out) == (10, 25)
    assert len(list(folder.path.glob("*.texts"))) == len(list(folder.path.glob("*.gone"))) == 1
    assert begin_so(updated(folder, texts, "three"), 2) == texts[:2]  # they are back
    assert not list(folder.path.glob("*.gone"))


def test_what_is_gone_is_left_out_when_segments_are_joined(tmp_path: Path) -> None:
    folder = LookupFolder(tmp_path / "l")
    for number in range(16):
        updated(folder, ALIKE[: number + 1], str(number))
    lookup = updated(folder, ALIKE[2:18], "joined")
    assert begin_so(lookup, 100) == ALIKE[2:18]
    assert sorted(file.suffix for file in folder.path.iterdir()) == [
        "",
        ".ends",
        ".grams",
        ".held",
        ".json",
        ".rows",
        ".steps",
        ".texts",
    ]
    read = folder.read("joined")
    assert read is not None
    assert sum(map(len, read.segments)) == 16


@pytest.mark.parametrize("damage", ["cut", "noise", "nothing", "texts"])
def test_a_damaged_list_of_what_is_gone(tmp_path: Path, damage: str) -> None:
    folder = LookupFolder(tmp_path / "l")
    updated(folder, ALIKE, "one")
    updated(folder, ALIKE[5:], "two")
    [gone], [texts] = (list(folder.path.glob(f"*.{kind}")) for kind in ("gone", "texts"))
    if damage == "nothing":
        gone.unlink()
    else:
        whole = gone.read_bytes()
        gone.write_bytes({"cut": whole[: len(whole) // 2], "noise": b"?" * 500, "texts": texts.read_bytes()}[damage])
    assert folder.read("two") is None
    assert begin_so(updated(folder, ALIKE[5:], "two"), 1) == ALIKE[5:6]


def test_texts_that_cannot_be_unpacked_are_written_again_when_segments_are_joined(tmp_path: Path) -> None:
    folder = LookupFolder(tmp_path / "l")
    updated(folder, ALIKE[:20], "one")
    [first] = folder.path.glob("*.texts")
    for number in range(15):
        updated(folder, ALIKE[: 21 + number], str(number))
    damaged = first.read_bytes().replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0")  # the first bytes of compressed texts
    assert damaged != first.read_bytes()
    first.write_bytes(damaged)
    assert begin_so(updated(folder, ALIKE, "joined"), 100) == ALIKE
    assert len(list(folder.path.glob("*.texts"))) == 1


@settings(max_examples=25, deadline=None)
@given(states=st.lists(st.sets(st.integers(0, 39)), min_size=1, max_size=25), block=st.sampled_from([4, 2**16]))
def test_it_is_as_if_it_had_just_been_made(
    tmp_path_factory: pytest.TempPathFactory, states: list[set[int]], block: int
) -> None:
    folder = LookupFolder(tmp_path_factory.mktemp("lookup"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "MOST_TEXTS", block)
        if block == 4:  # several segments, whose lists are joined
            patch.setattr(lookup_folder, "_BLOCKS", 1)
            patch.setattr(lookup_folder, "_MOST_BLOCKS", 4)
            patch.setattr(lookup_folder, "_MANY", 2)
        for number, state in enumerate(states):
            texts = [ALIKE[at] for at in sorted(state)]
            lookup = updated(folder, texts, str(number))
            assert begin_so(lookup, 7) == texts[:7]
            assert sorted(alike(lookup, "beginning", 50).texts.to_pylist()) == texts


@pytest.mark.parametrize("damage", ["", "partial.json", "segment"])
def test_a_killed_update_goes_on_after_the_last_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(text_blocks, "MOST_TEXTS", 4)
    monkeypatch.setattr(lookup_folder, "MOST_TEXTS", 4)
    monkeypatch.setattr(lookup_folder, "_BLOCKS", 2)
    folder = LookupFolder(tmp_path / "l")
    updated(folder, ALIKE[:5], "one")
    there = hashes_of(ALIKE)
    asked: list[int] = []

    def novel(known: Hashes, first: int) -> Iterator[pa.RecordBatch]:
        asked.append(len(known))
        new = np.flatnonzero(np.isin(there, known, invert=True))
        for at in range(0, len(new), 4):
            rows = new[at : at + 4]
            yield pa.record_batch([pa.array(there[rows]), text_column([ALIKE[row] for row in rows])], schema=TEXTS)

    def follow(done: int) -> None:
        if done > 24:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.update(StoredTexts("two", (), 0, novel, lambda known: known[:0], NO_ROWS), 1, follow)
    assert folder.read("one") is not None  # who has the store as it was goes on asking
    if damage == "partial.json":
        (folder.path / damage).write_text('["../x", 7]', "utf-8")
    if damage == "segment":
        for file in folder.path.glob("*.ends"):
            file.write_bytes(file.read_bytes()[:-40])
    folder.update(StoredTexts("two", (), 0, novel, lambda known: known[:0], NO_ROWS), 1, lambda _: None)
    assert asked[0] == 5
    assert asked[1] == {"": 13, "partial.json": 5, "segment": 0}[damage]
    read = folder.read("two")
    assert read is not None
    assert begin_so(Lookup(read.segments), 100) == ALIKE
    assert not (folder.path / "partial.json").exists()


def test_no_text_is_there_twice_after_a_killed_update_that_began_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_blocks, "MOST_TEXTS", 4)
    monkeypatch.setattr(lookup_folder, "MOST_TEXTS", 4)
    monkeypatch.setattr(lookup_folder, "_BLOCKS", 2)
    folder = LookupFolder(tmp_path / "l")
    updated(folder, ALIKE[:24], "one")
    rest = ALIKE[10:]  # so much is gone that it is made anew

    def follow(done: int) -> None:
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.update(stored(rest, "two"), 1, follow)
    assert (folder.path / "partial.json").exists()
    lookup = updated(folder, rest, "two")
    assert begin_so(lookup, 100) == rest


@pytest.mark.parametrize("killed", [False, True])
def test_lists_of_many_segments_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: bool) -> None:
    monkeypatch.setattr(text_blocks, "MOST_TEXTS", 4)
    for name, value in {"MOST_TEXTS": 4, "_BLOCKS": 1, "_MOST_BLOCKS": 4, "_MANY": 2}.items():
        monkeypatch.setattr(lookup_folder, name, value)
    folder = LookupFolder(tmp_path / "l")
    if killed:
        write, calls = GramLists.write, []

        def dying(path: Path, parts: Iterator[GramLists]) -> None:
            calls.append(path)
            if len(calls) == 12:  # ten are written, and one is joined
                raise KeyboardInterrupt
            write(path, parts)

        monkeypatch.setattr(GramLists, "write", dying)
        with pytest.raises(KeyboardInterrupt):
            updated(folder, ALIKE, "one")
    lookup = updated(folder, ALIKE, "one")
    assert [len(list(folder.path.glob(f"*.{kind}"))) for kind in ("texts", "steps")] == [10, 3]
    assert begin_so(lookup, 100) == ALIKE
    for text in ALIKE:
        assert alike(lookup, text, 1).texts.to_pylist() == [text]


def test_blocks_that_are_full_of_bytes_are_not_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "MOST_BYTES", 400)
    monkeypatch.setattr(lookup_folder, "MOST_BYTES", 400)
    monkeypatch.setattr(lookup_folder, "_SMALL_BLOCKS", 1)
    folder, texts = LookupFolder(tmp_path / "l"), [f"The same {at:03} {'long text ' * 12}" for at in range(30)]
    updated(folder, texts[:-1], "one")
    written = set(folder.path.glob("*.texts"))
    assert begin_so(updated(folder, texts, "two"), 30) == texts
    assert written < set(folder.path.glob("*.texts"))
