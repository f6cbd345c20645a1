"""Write the certificate of a job that has removed duplicates: what was there, what was written, and what became of
each removed text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup._version import __version__
from esdedup.errors import EsdedupError
from esdedup.evaluation.recall import measured_recall
from esdedup.files import compact_json, whole_file
from esdedup.formats.remote.remote_path import path_of
from esdedup.jobs.contradicting import contradicted
from esdedup.jobs.losses import losses_of
from esdedup.jobs.other_values import FIRST, note_other_values
from esdedup.jobs.rewriting import Writing
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.verify.compare import jaccards_of
from esdedup.output.certificate_page import certificate_page
from esdedup.output.drops import Verdicts
from esdedup.output.out_folder import OutFolder
from esdedup.resources import Resources
from esdedup.store.store import Store

FORMAT = 1
_WORST = 20
"""Removals on the page."""
_NAMED = 10
"""Texts that a warning names one by one."""
_HALF, _HUNDREDTH = 0.5, 0.01


@dataclass(frozen=True)
class Certified:
    """What a certificate is made of, besides the store."""

    path: Path
    folder: OutFolder
    writings: Sequence[Writing]
    files: Sequence[str]  # paths of the outputs that were written
    settings: Mapping[str, Any]
    records: Mapping[str, Any]
    sources: Sequence[Mapping[str, Any]]
    names: Mapping[int, str]  # of the sources, by their number
    resources: Resources
    report: bool

    def write(self, store: Store, verdicts: Verdicts) -> None:
        """Write the certificate, and beside it the rows of the removed texts."""
        records = self.writings if store.signing.splitting.whole else []
        differing, facts = verdicts.differing(), contradicted(store, verdicts.near())
        columns = dict.fromkeys(name for writing in records for name in writing.source.format.text_columns)
        lost = _lost(store, differing, list(columns))
        verdicts.note_lost(lost.table)
        others = note_other_values(verdicts, records, self.resources.processes)
        rows, written = self._rows(verdicts), set(self.files)
        compared = sum(source["compared"] for source in self.sources)
        held = {
            "certificate": FORMAT,
            "esdedup": __version__,
            "unit": store.signing.unit,
            "settings": self.settings,
            "inputs": [
                {
                    "number": writing.read.number,
                    "source": writing.read.name,
                    "path": str(writing.source.path),
                    **digest_of(path_of(writing.source.path)),
                    "reading": writing.read.reading(),
                }
                for writing in self.writings
            ],
            "outputs": [
                {"input": writing.read.number, "path": writing.name, **digest_of(self.folder.path / writing.name)}
                for writing in self.writings
                if str(self.folder.shown / writing.name) in written
            ],
            "folder": str(self.folder.shown),
            "rows": rows,
            "records": self.records,
            "sources": self.sources,
            "lost": {"rows": lost.rows, "sentences": lost.sentences, "first": lost.first, **others.described()},
            "recall": measured_recall(store, self.resources, verdicts.set_apart()),
            "contradictions": int(facts["copies"].to_numpy().sum()),
            "warnings": [
                *self._warnings(),
                *verdicts.large_clusters(_HUNDREDTH * compared),
                *_said_otherwise(facts),
                *_far_ends(store, verdicts),
            ],
        }
        held["checksum"] = checksum_of(held)
        self._write(self.path, json.dumps(held, ensure_ascii=False, indent=1) + "\n")
        if self.report:
            self._write(self.path.with_suffix(".html"), certificate_page(held, _worst(store, differing, lost.table)))

    def _write(self, path: Path, text: str) -> None:
        try:
            with whole_file(path) as part:
                part.write_text(text, "utf-8", newline="\n")
        except OSError as error:
            raise EsdedupError(f"--certificate {path}: {error.strerror}; use a writable path") from error

    def _rows(self, verdicts: Verdicts) -> dict[str, Any]:
        digest, count = hashlib.sha256(), 0
        beside = self.path.with_suffix(".rows")
        try:
            with whole_file(beside) as part, part.open("wb") as lines:
                for row in verdicts.drops(self.names, places=True):
                    line = compact_json(row).encode() + b"\n"
                    digest.update(line)
                    lines.write(line)
                    count += 1
            named = self.path.with_name(f"{self.path.stem}.{digest.hexdigest()[:16]}.jsonl")
            beside.replace(named)
        except OSError as error:
            raise EsdedupError(f"--certificate {self.path}: {error.strerror}; use a writable path") from error
        return {"path": named.name, "rows": count, "sha256": digest.hexdigest()}

    def _warnings(self) -> Iterator[str]:
        for source in self.sources:
            dropped = sum(source["dropped"].values())
            if dropped > _HALF * source["compared"]:
                yield f"{source['name']}: {dropped:,} of {source['compared']:,} texts were removed"


def _said_otherwise(facts: pa.Table) -> Iterator[str]:
    """Name removed texts that state another fact than the kept one."""
    for row in facts.slice(0, _NAMED).to_pylist():
        yield f"{row['id']}: removed, though it states another fact than {row['kept']} (--keep-contradictions)"
    if facts.num_rows > _NAMED:
        yield f"… {facts.num_rows - _NAMED:,} more that state another fact"


def _worst(store: Store, differing: pa.Table, lost: pa.Table) -> list[dict[str, Any]]:
    """Return the removals that lose most, with both texts."""
    by = [("lost", "descending"), ("cluster", "ascending"), ("hash", "ascending")]
    worst: list[dict[str, Any]] = differing.append_column("lost", lost["lost"]).sort_by(by).slice(0, _WORST).to_pylist()
    held = [row[end] for row in worst for end in ("hash", "kept_hash") if row[end] is not None]
    hashes = np.unique(np.array(held, np.uint64))
    texts = dict(zip(hashes.tolist(), store.corpus.texts_in_order(hashes).to_pylist(), strict=True))
    for row in worst:
        row |= {"text": texts[row["hash"]], "kept_text": texts.get(row["kept_hash"], row["reference_text"])}
    return worst


def _far_ends(store: Store, verdicts: Verdicts) -> Iterator[str]:
    """Name clusters of which two removed texts are not alike, though each is like the kept one."""
    ends = verdicts.ends()
    hashes, places = np.unique(np.stack([ends["a"].to_numpy(), ends["b"].to_numpy()]), return_inverse=True)
    one, two = places.reshape(2, -1)
    alike = jaccards_of(TextSigner(store.signing), store.corpus.texts_in_order(hashes), one, two)
    far = np.flatnonzero(alike < _HALF * Scanning.from_described(store.ledger.last_scanning() or {}).jaccard)
    for row in ends.take(pa.array(far[:_NAMED])).to_pylist():
        ends = " and ".join(sorted((row["a_id"], row["b_id"])))
        yield f"cluster {row['cluster']:016x}: {ends} were removed from it, and are not alike"
    if len(far) > _NAMED:
        yield f"… {len(far) - _NAMED:,} more clusters with ends that are not alike"


@dataclass(frozen=True)
class _Losses:
    table: pa.Table  # hash, kept_hash, lost
    rows: int
    sentences: int
    first: list[dict[str, Any]]


def _lost(store: Store, differing: pa.Table, text_columns: Sequence[str]) -> _Losses:
    """Compare all removed texts that differ from the kept one with it."""
    counts = [np.empty(0, np.int64)]
    first: list[dict[str, Any]] = []
    for part, lost in losses_of(store, differing, text_columns):
        counts.append(lost.counts)
        for pair in np.flatnonzero(lost.counts)[: FIRST - len(first)].tolist():
            texts = lost.sentences.filter(pa.array(lost.pair == pair)).to_pylist()
            first.append({"id": part["id"][pair].as_py(), "kept": part["kept"][pair].as_py(), "sentences": texts})
    count, copies = np.concatenate(counts), differing["copies"].to_numpy()
    table = differing.select(["hash", "kept_hash"]).append_column("lost", pa.array(count, pa.int32()))
    return _Losses(table, int(copies[count > 0].sum()), int((count * copies).sum()), first)


def digest_of(path: Path) -> dict[str, Any]:
    """Return the size of a file, and the SHA-256 of its bytes."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def bytes_of(text: str) -> bytes:
    """Return a text as it is hashed beside others."""
    return f"{text}\0".encode("utf-8", "surrogatepass")


def checksum_of(held: Mapping[str, Any]) -> str:
    """Return the checksum of a certificate, from all its other fields."""
    rest = {name: value for name, value in held.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":"), default=str).encode()).hexdigest()
