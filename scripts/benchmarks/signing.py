"""Text to tokens on one core, against rensa's batch call over the same shingles."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

from esdedup.columns.arrays import text_column
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from scripts.benchmarks.bench import Bench, interleaved, ratio, seconds
from scripts.benchmarks.peer import Peer, PeerError
from scripts.benchmarks.rows import Row, at_least, without_value
from scripts.benchmarks.sample import Sample, read_sample

RECALL = 0.98
FEWEST_ROWS = 3
"""With fewer values to a token nearly every text is a candidate of every other."""

MOST_HASHES = 64


def measure(bench: Bench) -> list[Row]:
    sample = read_sample(bench.data, bench.small)
    truth = _only_pairs(sample)
    plan = _fewest(lambda hashes, rows: _recall(truth, _sign(truth.texts, _bands(hashes, rows))))
    jobs: dict[str, Callable[[], float]] = {
        "128": partial(seconds, partial(_sign, sample.texts, _bands(128, 4))),
        "fewest": partial(seconds, partial(_sign, sample.texts, _bands(*plan))),
        "papers": partial(seconds, partial(_sign, sample.texts, Signing.of(hashes=20, draw=10, draws=10))),
    }
    try:
        with Peer("with_rensa", truth.texts, cores=1) as peer:
            signatures = _Signatures(peer)
            rensa_plan = _fewest(lambda hashes, rows: _recall(truth, signatures.tokens(hashes, rows)))
        with Peer("with_rensa", sample.texts, cores=1) as peer:
            for job in ("sign", "sign_shingles"):
                jobs[f"{job} 128"] = partial(peer.run, job, hashes=128)
                jobs[f"{job} fewest"] = partial(peer.run, job, hashes=rensa_plan[0])
            times = interleaved(jobs, bench.runs)
    except PeerError as error:
        times = interleaved(jobs, bench.runs)
        return [
            *_speeds(times, plan, len(sample.texts)),
            without_value("128 hashes, times rensa", str(error), "≥ 3"),
            without_value(f"fewest hashes for candidate recall {RECALL}, times rensa", str(error), "≥ 6"),
        ]
    rows = _speeds(times, plan, len(sample.texts))
    few = f"candidate recall {RECALL} ({plan[0]} hashes, rensa {_described(*rensa_plan)})"
    for what, case, aim in (("128 hashes", "128", 3.0), (few, "fewest", 6.0)):
        sign, prepared = times[f"sign {case}"], times[f"sign_shingles {case}"]
        rows += [
            Row(f"{what}: rensa, from text", len(sample.texts) / median(sign), "sentences/s"),
            at_least(f"{what}: times rensa, both from text", ratio(sign, times[case]), "x", aim),
            Row(f"{what}: times rensa, which is given lists of shingles", ratio(prepared, times[case]), "x"),
        ]
    return rows


def _speeds(times: dict[str, list[float]], plan: tuple[int, int], count: int) -> list[Row]:
    few = f"fewest hashes for candidate recall {RECALL}, {FEWEST_ROWS} or more to a band: {_described(*plan)}"
    return [
        Row("128 hashes (32 bands of 4), one core", count / median(times["128"]), "sentences/s"),
        Row(f"{few}, one core", count / median(times["fewest"]), "sentences/s"),
        Row("the papers' 20 hashes, 10 draws of 10, one core", count / median(times["papers"]), "sentences/s"),
    ]


def _described(hashes: int, rows: int) -> str:
    return f"{hashes // rows} bands of {rows}"


def _bands(hashes: int, rows: int) -> Signing:
    return Signing.of(bands=hashes // rows, rows=rows)


def _sign(texts: list[str], signing: Signing) -> Tokens:
    signer = TextSigner(signing)
    return signer.tokens(signer.views(text_column(texts)))


class _Signatures:
    """The peer's minhash values, of which only the latest number is kept."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._hashes = 0
        self._values = np.empty((0, 0), np.uint32)

    def tokens(self, hashes: int, rows: int) -> Tokens:
        """A number for each band of each text, equal where all values of the band are."""
        if hashes != self._hashes:
            self._values, self._hashes = self._peer.result("values", hashes=hashes)["values"], hashes
        bands = np.split(self._values, hashes // rows, axis=1)
        return np.stack([np.unique(band, axis=0, return_inverse=True)[1].ravel() for band in bands], axis=1)


def _fewest(recall: Callable[[int, int], float]) -> tuple[int, int]:
    """The fewest hashes, and rows to a band, whose candidates hold the wanted share of the true pairs."""
    for hashes in range(FEWEST_ROWS, MOST_HASHES + 1):
        for rows in range(FEWEST_ROWS, hashes + 1):
            if hashes % rows == 0 and recall(hashes, rows) >= RECALL:
                return hashes, rows
    raise ValueError(f"no {MOST_HASHES} hashes reach a candidate recall of {RECALL}")


def _recall(sample: Sample, tokens: Tokens) -> float:
    return float((tokens[sample.a] == tokens[sample.b]).any(axis=1).mean())


def _only_pairs(sample: Sample) -> Sample:
    """The texts that stand in a true pair."""
    kept, where = np.unique(np.concatenate((sample.a, sample.b)), return_inverse=True)
    a, b = np.split(where, 2)
    return Sample([sample.texts[index] for index in kept], a, b, sample.jaccard)
