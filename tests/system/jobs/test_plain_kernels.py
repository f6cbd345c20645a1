"""For little data Python runs the kernels itself: each call gives what compiled code gives, to the bit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import esdedup
from esdedup.columns import kernels
from tests.support.full import FULL

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "docs" / "examples"
SCRIPTS = [
    "北京是中华人民共和国的首都和直辖市位于华北平原的北部背靠燕山毗邻天津市和河北省。",
    "北京是中华人民共和国的首都和直辖市位于华北平原的北部背靠燕山毗邻天津市。",
    "Мост через реку был построен в 1898 году и служил городу до лета 1954 года.",
    "Мост через реку был построен в 1898 году и служил городу до лета 1956 года.",
    "تم بناء الجسر في عام ١٨٩٨ وكان يحمل الترام حتى صيف عام ١٩٥٤ في المدينة القديمة.",
    "تم بناء الجسر في عام ١٨٩٨ وكان يحمل الترام حتى صيف عام ١٩٥٦ في المدينة القديمة.",
    "Straße ＦＵＬＬ １２３ ﬁne ΟΔΟΣ ½ 10⁸ a\u0301 Ａ ｶﾞ",
    "STRASSE full 123 fine οδος ½ 10⁸ á a が",
]
MOST_VALUES, MOST_CALLS = 60_000, 40 if FULL else 15


def copied(value: Any) -> Any:
    if isinstance(value, tuple):
        parts = [copied(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy() if isinstance(value, np.ndarray) else value


def equal(one: Any, two: Any) -> bool:
    if isinstance(one, tuple) and isinstance(two, tuple):
        return len(one) == len(two) and all(map(equal, one, two))
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
    return bool(one == two or (one != one and two != two))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Every call of a kernel runs both ways; how many did, by name."""
    done: Counter[str] = Counter()

    def both(kernel: Any, *arguments: Any, **named: Any) -> Any:
        made, size = kernel.make(), kernels._size(arguments)
        name = f"{kernel._function.__module__}.{kernel._function.__name__}"
        if size > MOST_VALUES or done[name] >= MOST_CALLS:
            return made(*arguments, **named)
        done[name] += 1
        given, by_name = copied(arguments), {key: copied(value) for key, value in named.items()}
        plain = kernel._run_plain(size, *given, **by_name)
        compiled = made(*arguments, **named)
        assert equal(plain, compiled), name
        assert equal(given, tuple(arguments)), f"{name} changes its arguments otherwise"
        return compiled

    monkeypatch.setattr(kernels._Kernel, "__call__", both)
    return done


def test_python_finds_what_compiled_code_finds(tmp_path: Path, calls: Counter[str]) -> None:
    sources = {"scripts": tmp_path / "scripts.tsv", "facts": EXAMPLES / "facts.tsv", "towns": EXAMPLES / "towns.xml"}
    sources["scripts"].write_text("".join(f"{at}\t{text}\n" for at, text in enumerate(SCRIPTS)), "utf-8")
    quiet: dict[str, Any] = {"report": False, "quiet": True, "workers": 1}
    choices: list[dict[str, Any]] = [
        {"exact": True},
        {"unit": "sentence", "min_chars": 0, "normalize": "fold-accents"},
        {"candidates": "agreement", "linkage": "star"},
        {"candidates": "projection", "verify": "none"},
    ]
    for name, source in sources.items():
        for at, options in enumerate(choices if FULL or name == "scripts" else choices[:2]):
            jaccard = {} if options.get("verify") else {"jaccard": 0.5}
            esdedup.run(source, out=tmp_path / f"{name}-{at}", **quiet, **jaccard, **options)
        store = tmp_path / f"{name}-1" / "store.duckdb"
        assert esdedup.similar("The bridge was built in 1898", store=store, limit=5) is not None
        esdedup.suggest("the bri", store=store)
    # so many near-duplicates that their numbers do not fit into the smallest integers
    rows = [f"Bridge {at} over the river was built of red brick, and it is in use to this day." for at in range(140)]
    for more in ({"contained": 0.8}, {"exact": True}):
        esdedup.dedupe(rows, quiet=True, **more)
    esdedup.plan(sources["facts"], schemes="10x4", quiet=True)
    assert len(calls) > 40
    assert sum(calls.values()) > 400
