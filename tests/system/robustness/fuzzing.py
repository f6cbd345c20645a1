"""What the fuzzing tests share: seeds as examples, and changes to bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import example
from hypothesis import strategies as st

SEEDS = Path(__file__).parent / "seeds"

Test = Callable[..., None]
Change = tuple[str, float, float, bytes]


def with_seeds(ending: str, *more: Any) -> Callable[[Test], Test]:
    """Every seed of this ending as an example, with the other arguments of the test."""

    def decorate(test: Test) -> Test:
        for path in sorted(SEEDS.glob(f"*{ending}")):
            data = path.read_bytes()
            test = example(data.decode() if ending == ".wiki" else data, *more)(test)
        return test

    return decorate


def changes(tokens: list[bytes], most: int) -> st.SearchStrategy[list[Change]]:
    """Up to `most` changes; `tokens` are what is put in."""
    places = st.floats(0, 1)
    how = st.sampled_from(["insert", "delete", "copy", "cut", "behead"])
    return st.lists(st.tuples(how, places, places, st.sampled_from(tokens)), max_size=most)


def changed(data: bytes, made: list[Change]) -> bytes:
    """The bytes with the changes made one after another."""
    for how, one, two, token in made:
        first, last = sorted((int(one * len(data)), int(two * len(data))))
        match how:
            case "insert":
                data = data[:first] + token + data[first:]
            case "delete":
                data = data[:first] + data[min(last, first + 40) :]
            case "copy":
                data = data[:last] + data[first:last] + data[last:]
            case "cut":
                data = data[:last]
            case "behead":
                data = data[first:]
    return data
