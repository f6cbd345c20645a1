"""`plan`: which settings find enough, and what they cost, from theory and from a sample of your data."""

from __future__ import annotations

import json
import logging
import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from esdedup.engines import ENGINES
from esdedup.errors import StoreError, UsageError
from esdedup.evaluation.forecast import RunCost, forecast
from esdedup.evaluation.sample import Curve, Sample, expected_curve, true_pairs
from esdedup.evaluation.schemes import UNLIKE, Scheme, SchemeTrial, expected_recall, recommended, schemes_of
from esdedup.files import whole_file
from esdedup.formats.reading_options import Reading
from esdedup.jobs.preconditions import Address, check_count, require_committed
from esdedup.jobs.progress_bar import Bar
from esdedup.jobs.settings import Settings
from esdedup.jobs.source_reading import find_sources
from esdedup.jobs.steps import make_folder
from esdedup.jobs.table_dedupe import TextClusters, cluster_texts
from esdedup.jobs.trials import Trials, trial_runs
from esdedup.matching.signers.minhash import MinHash
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing, freeze
from esdedup.matching.units import MOST_CHARS, UNITS
from esdedup.output.plots import draw_curves
from esdedup.store.registry import address_of, open_store

MANY = 1_000_000
"""The number of sentences that a scheme is recommended for, unless `sentences` is given."""

log = logging.getLogger("esdedup")

_GOOD_RECALL = 0.95
_ENOUGH_PAIRS = 100

_SHINGLES = ("unit", "lang", "normalize", "shingle", "hash_bits", "seed")
_SCHEME = {"bands", "rows", "hashes", "draw", "draws"}


class Wanted(NamedTuple):
    """What a plan is for; see `esdedup.plan`."""

    tokens: int | None
    schemes: str | None
    recall: float
    sample: int
    sentences: int | None
    cores: int | None

    def check(self) -> None:
        """Raise `UsageError` for a value out of range."""
        check_count("sentences", self.sentences)
        if not isinstance(self.sample, int) or self.sample < 1:
            raise UsageError(f"sample is {self.sample!r}; allowed: 1 or more")
        if not 0 < self.recall <= 1:
            raise UsageError(f"recall is {self.recall!r}; allowed: greater than 0, up to 1")
        if self.tokens is not None and not 1 <= self.tokens <= 64:
            raise UsageError(f"tokens is {self.tokens!r}; allowed: 1 to 64")


def planned(
    sources: list[str], store: Address | None, wanted: Wanted, options: dict[str, Any], *, out: Address | None,
    keep_going: bool, quiet: bool,
) -> dict[str, Any]:  # fmt: skip
    """Compare signing schemes, on a sample of `sources` or of what is in `store`, or in theory only."""
    wanted.check()
    if "-" in sources:
        raise UsageError(
            "plan must read sources several times, which standard input does not allow; save it to a file first"
        )
    settings = Settings.of(**options)
    sentences, cores = wanted.sentences, wanted.cores
    if cores is not None and not (isinstance(cores, int) and cores > 0 and _is_elsewhere(settings)):
        raise UsageError(f"cores is {cores!r}; allowed: 1 or more, with --engine on a cluster")
    signing = {name: value for name, value in settings.frozen.items() if name not in _SCHEME}
    named = None if wanted.schemes is None else [Scheme.parse(part) for part in wanted.schemes.split(",")]
    with ExitStack() as stack:
        trials: dict[str, Trials] = {}
        if sources:
            names, options = sources, {**options, "keep_going": keep_going}
            files = len(find_sources(names, settings.reading, keep_going)[0])
            made = stack.enter_context(
                trial_runs(names, options, files, runs=1 if sentences is None else 2, quiet=quiet)
            )
            trials[address_of(made.store).kind] = made
        sampled = made.store if sources else store
        if sampled is None and sentences is not None:
            raise UsageError("a forecast needs a sample; give a source or a --store")
        found = None if sampled is None else _sample(sampled, signing, wanted.sample, settings)
        unit = _unit(settings) if found is None else found.signing.unit
        schemes = named or schemes_of(wanted.tokens or UNITS[unit].signer_options["bands"])
        if own := _own(settings):
            schemes = [own, *(scheme for scheme in schemes if scheme != own)]
        if found is not None and sentences is not None:
            if not sources:
                (names, options), files = _as_source(stack, found, options), 1
                made = stack.enter_context(trial_runs(names, options, files, quiet=quiet))
                trials[address_of(made.store).kind] = made
            if store is not None and (kind := address_of(store).kind) not in trials:
                trials[kind] = stack.enter_context(trial_runs(names, options, files, str(store), quiet=quiet))
        if found is not None:
            _clustered(
                found.texts.slice(0, 2).to_pylist(), found, schemes[0]
            )  # warm up the compiled code, which is not timed below
        threshold = settings.scanning_of(unit).jaccard if found is None else found.threshold
        curves = [_curve(scheme, found, threshold) for scheme in schemes]
        with Bar("compare", len(curves), "scheme", not quiet and found is not None) as bar:
            compared = [_try(curve, found, threshold) for curve in _shown(curves, bar)]
        best = recommended(compared, wanted.recall, MANY if sentences is None else sentences)
        exact = None if found is None else _exact_seconds(found)
        enough = best.found() >= wanted.recall
        _warn(best, found, wanted.sample)
        cheaper = exact is not None and (not enough or (best.seconds is not None and exact < best.seconds))
        if out is not None:
            make_folder(Path(out))
            with whole_file(Path(out) / "s-curve.png") as part:
                draw_curves(curves, threshold, part)
        return {
            "unit": unit,
            "threshold": threshold,
            "sample": None if found is None else {"texts": len(found.texts), "true_pairs": len(found.similarities)},
            "schemes": [_row(one) for one in compared],
            "exact": None if exact is None else {"seconds": round(exact, 3)},
            "recommended": "exact" if cheaper else str(best.scheme),
            "reached": enough or cheaper,
            "cheapest": str(best.scheme),
            "curve": _curve_rows(next(curve for curve in curves if curve.scheme == best.scheme)),
            "forecast": {
                kind: _forecast(trial.costs, sentences, settings, cores)
                for kind, trial in trials.items()
                if sentences is not None
            },
        }


def _warn(best: SchemeTrial, found: Sample | None, asked: int) -> None:
    """Warn of a recommendation that finds too little, or rests on too little."""
    if best.expected < _GOOD_RECALL:
        log.warning("%s finds only %.1f %% of the pairs; ask for more with --recall", best.scheme, 100 * best.expected)
    if found is not None and len(found.similarities) < _ENOUGH_PAIRS:
        log.warning(
            "the sample of %s texts has only %d pairs at or above Jaccard %g, so the recalls are rough%s",
            f"{len(found.texts):,}", len(found.similarities), found.threshold,
            "; take a larger --sample" if len(found.texts) >= asked else "; there are no more texts",
        )  # fmt: skip


def _own(settings: Settings) -> Scheme | None:
    """Return the scheme that the options select."""
    if not _SCHEME & settings.frozen.keys():
        return None
    signer = MinHash(**{name: settings.frozen[name] for name in _SCHEME & settings.frozen.keys()})
    return Scheme(signer.tokens, signer.rows or signer.draw or 1, signer.hashes)


def _sample(address: Address, shingles: dict[str, Any], count: int, settings: Settings) -> Sample:
    """Return a sample of the texts of a store."""
    with open_store(address, read_only=True) as store:
        require_committed(store)
        least = store.corpus.sample(count)
        if not len(least):
            raise StoreError(f"{store.address}: it has no sentences to plan with")
        texts = store.corpus.texts_in_order(least)
        signing = freeze(store.signing, {**shingles, **Scheme(10, 4).options()})
    return Sample.of(texts, signing, settings.scanning_of(signing.unit).jaccard, settings.resources)


def _as_source(stack: ExitStack, found: Sample, options: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the texts of a sample as a file, and the options to read it."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="esdedup-plan-"))
    path = Path(folder) / "sample.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        for number, text in enumerate(found.texts.to_pylist()):
            lines.write(json.dumps({"id": str(number), "text": text}) + "\n")
    rest = {name: value for name, value in options.items() if name not in Reading.all_names()}
    columns = {"format": "jsonl", "id_column": "id", "text_column": "text"}
    whole = {"unit": "record", "min_chars": 0, "max_chars": MOST_CHARS}
    return [str(path)], {**rest, **columns, **_shingles(found.signing), **whole}


def _shingles(signing: Signing) -> dict[str, Any]:
    """Return the options that make shingles as `signing` does."""
    chosen_by_text = {"shingle"} if len({each.shingle for each in signing.classes}) > 1 else set()
    return {name: getattr(signing, name) for name in _SHINGLES if name not in chosen_by_text}


def _unit(settings: Settings) -> str:
    """Return the requested unit; sentences if none is."""
    return freeze(None, settings.frozen).unit


def _try(curve: Curve[Scheme], found: Sample | None, threshold: float) -> SchemeTrial:
    scheme = curve.scheme
    if found is None:
        recall = expected_recall(scheme, np.empty(0), threshold)
        return SchemeTrial(scheme, recall, float(scheme.chance(np.array(UNLIKE))))
    seconds, answer = _clustered(found.texts.to_pylist(), found, scheme)
    alike = int(np.nansum(curve.recall * curve.pairs))
    texts = len(found.texts)
    return SchemeTrial(
        scheme,
        expected_recall(scheme, found.similarities, threshold),
        max(0, answer.candidates - alike) / max(1, texts * (texts - 1) // 2),
        len(answer.a) / len(found.similarities) if len(found.similarities) else None,
        answer.candidates,
        answer.candidates - len(answer.a),
        seconds,
    )


def _clustered(texts: list[str], found: Sample, scheme: Scheme) -> tuple[float, TextClusters]:
    """Return the clusters of texts by a scheme, and the seconds that finding them took."""
    clock = perf_counter()
    limits = {"jaccard": found.threshold, "workers": found.resources.processes}
    answer = cluster_texts(texts, {**limits, **_shingles(found.signing), **scheme.options()})
    return perf_counter() - clock, answer


def _exact_seconds(found: Sample) -> float:
    """Return the seconds that comparing all with all takes at the threshold."""
    clock = perf_counter()
    true_pairs(found.texts, TextSigner(found.signing), found.threshold, found.resources)
    return perf_counter() - clock


def _shown(curves: Sequence[Curve[Scheme]], bar: Bar) -> Iterator[Curve[Scheme]]:
    """Yield curves, and show the scheme of each."""
    for done, curve in enumerate(curves):
        bar.reach(done, str(curve.scheme))
        yield curve


def _curve(scheme: Scheme, found: Sample | None, threshold: float) -> Curve[Scheme]:
    return expected_curve(scheme, threshold) if found is None else found.curve(scheme)


def _row(one: SchemeTrial) -> dict[str, Any]:
    return {
        "scheme": str(one.scheme),
        "tokens": one.scheme.tokens,
        "hashes": one.scheme.hashes,
        "expected_recall": round(one.expected, 6),
        "recall": None if one.recall is None else round(one.recall, 6),
        "candidates": one.candidates,
        "false_candidates": one.false_candidates,
        "seconds": None if one.seconds is None else round(one.seconds, 3),
    }


def _curve_rows(curve: Curve[Scheme]) -> list[dict[str, Any]]:
    return [
        {
            "jaccard": round(float(jaccard), 6),
            "expected": round(float(expected), 6),
            "pairs": int(pairs),
            "recall": None if math.isnan(recall) else round(float(recall), 6),
        }
        for jaccard, expected, pairs, recall in zip(*curve[1:], strict=True)
    ]


def _is_elsewhere(settings: Settings) -> bool:
    return ENGINES[settings.resources.engine].makes_lakes


def _forecast(runs: list[RunCost], sentences: int, settings: Settings, cores: int | None) -> dict[str, Any]:
    what = forecast(runs, sentences, settings.resources.memory, cores)
    return {**_cost(what), "cores": cores, "runs": [_cost(run) for run in runs]}


def _cost(run: RunCost) -> dict[str, Any]:
    return {
        "sentences": run.sentences,
        "seconds": round(run.seconds, 3),
        "memory_bytes": run.memory,
        "disk_bytes": run.disk,
        "task_seconds": round(run.task_seconds, 3),
        "shuffled_bytes": run.shuffled,
    }
