"""Any history of adds, replacements and removals ends in the same bytes as one run over what is left."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

import esdedup
from esdedup.output.result_files import export_results
from tests.support.corpus import edited, sentence, template
from tests.support.full import FULL
from tests.support.stores import Stores

STEPS, STEPS_A_HISTORY = (400, 20) if FULL else (8, 8)


def pool() -> list[str]:
    """Sentences of which many are near-duplicates, a frame with many fillings, and some equal but for one letter."""
    source = random.Random(7)
    bases = [sentence(source, 20) for _ in range(12)]
    return bases + [edited(source, base, 1) for base in bases for _ in range(2)] + template(3, 30)


POOL = pool()
TEXTS = st.lists(st.sampled_from(POOL), min_size=1, max_size=4)
NAMES = st.tuples(st.sampled_from("ab"), st.integers(0, 11))
BATCHES = st.dictionaries(NAMES, TEXTS, min_size=1, max_size=6)
OPTIONS = st.fixed_dictionaries(
    {
        "across": st.sampled_from(["any", "documents", "sources"]),
        "linkage": st.sampled_from(["single", "star"]),
        "verify": st.sampled_from(["exact", "exact", "none"]),
        "bands": st.sampled_from([4, 10]),
    }
)


class Histories(RuleBasedStateMachine):
    """A store that documents come to and leave, beside a list of what it should hold."""

    addresses: Callable[[Path], str]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = self.addresses(self.folder)
        self.held: dict[tuple[str, int], list[str]] = {}
        self.options: dict[str, Any] = {}
        self.files = 0
        self.scanned = False
        self.changed = False

    def teardown(self) -> None:
        try:
            if self.changed:
                self.compare()
        finally:
            shutil.rmtree(self.folder)

    @initialize(options=OPTIONS, first=BATCHES)
    def begin(self, options: dict[str, Any], first: dict[tuple[str, int], list[str]]) -> None:
        self.options = options
        self.bring(first, scan=True)

    @rule(batch=BATCHES, scan=st.booleans())
    def bring(self, batch: dict[tuple[str, int], list[str]], scan: bool) -> None:
        """New documents and changed ones; with `scan` results are brought up to date at once."""
        self.held |= batch
        self.changed = True
        for name in sorted({name for name, _ in batch}):
            source = self.write({key: texts for key, texts in batch.items() if key[0] == name}, name)
            frozen = {"bands": self.options["bands"], "min_chars": 10, "source_name": name, "workers": 1}
            if scan and not self.scanned:
                esdedup.add(source, store=self.store, **frozen, **self.free())
                self.scanned = True
            elif scan:
                esdedup.add(source, store=self.store, **frozen)  # with the options of the scan before
            else:
                esdedup.index(source, store=self.store, **frozen)

    @rule(data=st.data())
    @precondition(lambda self: len(self.held) > 1)
    def take(self, data: st.DataObject) -> None:
        """Documents leave."""
        leaving = data.draw(st.lists(st.sampled_from(sorted(self.held)), min_size=1, max_size=5, unique=True))
        if len(leaving) == len(self.held):
            leaving.pop()
        for key in leaving:
            del self.held[key]
        done = esdedup.remove(*(f"{name}/{number}" for name, number in leaving), store=self.store, workers=1)
        assert (done["removed"], done["unknown"]) == (len(leaving), [])
        self.changed = True

    @rule()
    @precondition(lambda self: self.changed)
    def compare(self) -> None:
        """The results are those of one run."""
        self.changed = False
        last = esdedup.status(store=self.store)["last_scan"]
        if not last["current"]:
            esdedup.add(self.write({}, "a"), store=self.store, source_name="a", workers=1, min_chars=10)
        with esdedup.open_store(self.store, read_only=True) as store:
            export_results(store, self.folder / "grown")
            counts = {**store.corpus.counts(), **(store.results.last_scan() or {})["counts"]}
        sources = []
        for name in sorted({name for name, _ in self.held}):
            path = self.folder / f"{name}.tsv"
            self.write({key: texts for key, texts in self.held.items() if key[0] == name}, name).replace(path)
            sources.append(path)
        frozen = {"bands": self.options["bands"], "min_chars": 10, "workers": 1}
        naming = {"source_name": sources[0].stem} if len(sources) == 1 else {}
        new = self.folder / "once.duckdb"
        new.unlink(missing_ok=True)
        esdedup.index(*sources, store=new, **frozen, **naming)
        once = esdedup.scan(store=new, workers=1, **self.free())
        with esdedup.open_store(new, read_only=True) as store:
            export_results(store, self.folder / "once")
        for name in ("clusters.jsonl", "pairs.jsonl", "clusters.txt"):
            assert (self.folder / "grown" / name).read_bytes() == (self.folder / "once" / name).read_bytes(), name
        if counts["candidates"] is None:
            counts["candidates"] = once["counts"]["candidates"]
        assert counts == once["counts"]

    def free(self) -> dict[str, Any]:
        return {name: self.options[name] for name in ("across", "linkage", "verify")}

    def write(self, batch: dict[tuple[str, int], list[str]], name: str) -> Path:
        self.files += 1
        path = self.folder / f"{self.files}" / f"{name}.tsv"
        path.parent.mkdir()
        path.write_text("".join(f"{number}\t{' '.join(texts)}\n" for (_, number), texts in sorted(batch.items())))
        return path


@pytest.mark.both_stores
def test_histories(monkeypatch: pytest.MonkeyPatch, stores: Stores) -> None:
    class Here(Histories):
        addresses = staticmethod(stores.at)

    # groups become hot at a size that these few documents reach
    monkeypatch.setattr("esdedup.matching.lsh.collide.HOT_LIMIT", 5)
    monkeypatch.setattr("esdedup.jobs.updating.HOT_LIMIT", 5)
    monkeypatch.setattr("esdedup.matching.lsh.block.HOT_WINDOW", 2)
    # and any share of changed texts is worked in
    monkeypatch.setattr("esdedup.store.ledger.WHOLE_SCAN_FROM", 10)
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=max(1, STEPS // STEPS_A_HISTORY),
            stateful_step_count=STEPS_A_HISTORY,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
