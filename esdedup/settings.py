"""What a run is told: frozen settings (saved with the tokens), free ones, and how to read sources.

Every value is checked when the object is made; a value outside its range raises `SettingsError`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from esdedup.errors import SettingsError, UsageError

HASH_SCHEME = 1
"""Version of everything that turns a text into tokens: raise it when any token changes."""

UNITS = ("sentence", "record")
NORMALIZATIONS = ("none", "lower", "words", "stem", "expanded")
LINKAGES = ("single", "star")
VERIFICATIONS = ("exact", "cosine", "words", "none")
CANDIDATES = ("tokens", "exact", "projection", "agreement", "queries")
QUERIES = ("shingles", "signature")
ACROSS = ("any", "documents", "sources")
KEEPS = ("first", "longest", "none")
KINDS = ("template", "identical", "copyediting", "drift", "references", "other")
FORMATS = ("wikipedia", "tsv", "csv", "jsonl", "parquet", "text", "lines")
REVISIONS = ("latest", "all")
WIKITEXT_PATHS = ("fast", "reference")

_OF_PROJECTION = ("vectors", "vector_length", "signature_bits", "permutations", "window", "hamming")
_OF_QUERIES = ("query_by", "same_first_word", "top", "reciprocal")
HEEDED_BY = {
    **dict.fromkeys(_OF_PROJECTION, ("projection",)),
    **dict.fromkeys(_OF_QUERIES, ("queries",)),
    "agreement": ("agreement",),
    "signature": ("agreement", "queries"),
}
"""Which sources of candidates heed an option; all heed those that do not stand here."""

VERIFIED_BY = {"cosine": ("projection", "queries"), "words": ("queries",)}
"""Which sources of candidates can be verified so; all but `exact`, which is, also by `none`."""

_SHOWN = 60
_SURROGATE = re.compile("[\ud800-\udfff]")

_BYTE_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


@dataclass(frozen=True, slots=True)
class Shingling:
    """`char:N` (N consecutive Unicode code points) or `word:N` (N consecutive Unicode words)."""

    kind: str
    length: int

    @classmethod
    def parse(cls, text: str) -> Shingling:
        """Read `char:12` or `word:3`; `SettingsError` for anything else."""
        match = re.fullmatch(r"(char|word):([1-9][0-9]?)", text) if isinstance(text, str) else None
        if match is None:
            raise SettingsError(f"shingle is {_shown(text)}; allowed: char:N or word:N with N from 1 to 99")
        return cls(match[1], int(match[2]))


@dataclass(frozen=True, slots=True)
class Signing:
    """The frozen settings: what a store's sentences and tokens were made with.

    With `draw` unset, tokens are `bands` independent bands of `rows` minhash values each; with `hashes`,
    `draw` and `draws` set, each of `draws` tokens is a random choice of `draw` values from one pool of
    `hashes` (the scheme of Weissman et al. 2014, section 3).
    """

    unit: str = "sentence"
    lang: str = "en"
    min_chars: int = 75
    max_chars: int = 600
    normalize: str = "none"
    shingle: str = "char:12"
    bands: int | None = 10
    rows: int | None = 4
    hashes: int | None = None
    draw: int | None = None
    draws: int | None = None
    hash_bits: int = 60
    seed: int = 1123456

    def __post_init__(self) -> None:
        _choice("unit", self.unit, UNITS)
        _choice("normalize", self.normalize, NORMALIZATIONS)
        Shingling.parse(self.shingle)
        if not _is_text(self.lang, r"[a-z]{2,3}([-_][A-Za-z0-9]+)*"):
            raise SettingsError(f"lang is {_shown(self.lang)}; give a language code such as en, de or zh")
        _range("min-chars", self.min_chars, 0, 1_000_000)
        _range("max-chars", self.max_chars, 1, 10_000_000)
        if self.min_chars > self.max_chars:
            raise SettingsError(
                f"min-chars {self.min_chars} is greater than max-chars {self.max_chars}; "
                "allowed: min-chars up to max-chars"
            )
        _range("hash-bits", self.hash_bits, 16, 60)
        _range("seed", self.seed, 0, 2**63 - 1)
        pool = (self.hashes, self.draw, self.draws)
        if any(value is not None for value in pool):
            if None in pool:
                raise SettingsError("hashes, draw and draws go together: give all three or none")
            object.__setattr__(self, "bands", None)
            object.__setattr__(self, "rows", None)
            _range("hashes", self.hashes, 1, 1024)
            _range("draw", self.draw, 1, self.hashes or 1)
            _range("draws", self.draws, 1, 64)
        else:
            _range("bands", self.bands, 1, 64)
            _range("rows", self.rows, 1, 64)

    @property
    def tokens(self) -> int:
        """Tokens a sentence gets."""
        return self.draws or self.bands or 0

    def describe(self) -> dict[str, Any]:
        """The settings in use by their command-line names, with the hash scheme's version."""
        named = {name.replace("_", "-"): value for name, value in asdict(self).items() if value is not None}
        return {**named, "hash-scheme": HASH_SCHEME}


@dataclass(frozen=True, slots=True)
class Scanning:
    """The free settings of one scan."""

    jaccard: float = 0.8
    word_edit_distance: int | None = None
    linkage: str = "single"
    verify: str = "exact"
    across: str = "any"
    ignore: tuple[int, ...] = ()  # content hashes: clusters with one of these texts are known and wanted
    keep: str | None = None  # which texts become the centres of stars; None: the most similar to others
    kinds: bool = True  # whether clusters are judged
    candidates: str = "tokens"  # which pairs are looked at
    # of candidates by agreement and by queries; None for others, and until it is known which
    signature: int | None = None  # minhash values (200, and 20 for queries)
    agreement: float | None = None  # the share of them that must be exceeded (0.5)
    # of candidates by projection only:
    vectors: str | None = None  # a file of word vectors; None: vectors drawn from the seed
    vector_length: int = 400  # of vectors that are drawn
    signature_bits: int = 100
    permutations: int = 10
    window: int = 10  # signatures before it that each one is compared with, in each permutation
    hamming: int = 5  # bits that may differ
    cosine: float = 0.9  # least similarity of a pair, with verify cosine
    # of candidates by queries only:
    query_by: str = "shingles"
    same_first_word: bool = False
    top: int = 10  # matches of each record that are looked at
    reciprocal: bool = False  # whether a pair must be the best match of both

    def __post_init__(self) -> None:
        if not isinstance(self.jaccard, int | float) or self.jaccard is True or not 0 < self.jaccard <= 1:
            raise SettingsError(f"jaccard is {_shown(self.jaccard)}; allowed: greater than 0, up to 1")
        if self.word_edit_distance is not None:
            _range("word-edit-distance", self.word_edit_distance, 0, 10_000)
        _choice("linkage", self.linkage, LINKAGES)
        _choice("verify", self.verify, VERIFICATIONS)
        _choice("across", self.across, ACROSS)
        _choice("candidates", self.candidates, CANDIDATES)
        if self.keep is not None:
            _choice("keep", self.keep, KEEPS)
        if not isinstance(self.kinds, bool):
            raise SettingsError(f"kinds is {_shown(self.kinds)}; allowed: true, false")
        if self.verify == "none" and self.word_edit_distance is not None:
            raise SettingsError("word-edit-distance needs verify exact; it is none")
        if self.candidates == "exact" and self.verify != "exact":
            raise SettingsError(f"candidates exact needs verify exact; it is {self.verify}")
        if self.verify in VERIFIED_BY and self.candidates not in VERIFIED_BY[self.verify]:
            allowed = " or ".join(VERIFIED_BY[self.verify])
            raise SettingsError(f"verify {self.verify} needs candidates {allowed}; it is {self.candidates}")
        if self.verify == "words" and self.word_edit_distance is None:
            raise SettingsError("verify words needs word-edit-distance; it is not set")
        self._check_signature()
        self._check_projection()
        self._check_queries()

    def _check_signature(self) -> None:
        """And set what is not set, or forget what is not heeded: the last scan may have been another one."""
        share, values = self.agreement, {"agreement": 200, "queries": 20}.get(self.candidates)
        if self.signature is not None:
            _range("signature", self.signature, 1, 1024)
        if share is not None and (not isinstance(share, int | float) or share is True or not 0 <= share < 1):
            raise SettingsError(f"agreement is {_shown(share)}; allowed: 0 up to, not including, 1")
        share = (0.5 if share is None else float(share)) if self.candidates == "agreement" else None
        object.__setattr__(self, "signature", values and (self.signature or values))
        object.__setattr__(self, "agreement", share)

    def _check_projection(self) -> None:
        if self.vectors is not None and not _is_text(self.vectors, r"(?s:.+)"):
            raise SettingsError(f"vectors is {_shown(self.vectors)}; name a file of word vectors")
        _range("vector-length", self.vector_length, 1, 4096)
        _range("signature-bits", self.signature_bits, 1, 128)
        _range("permutations", self.permutations, 1, 1000)
        _range("window", self.window, 1, 1000)
        _range("hamming", self.hamming, 0, self.signature_bits)
        if not isinstance(self.cosine, int | float) or self.cosine is True or not 0 < self.cosine <= 1:
            raise SettingsError(f"cosine is {_shown(self.cosine)}; allowed: greater than 0, up to 1")

    def _check_queries(self) -> None:
        _choice("query-by", self.query_by, QUERIES)
        _range("top", self.top, 1, 1000)
        for name in ("same_first_word", "reciprocal"):
            if not isinstance(getattr(self, name), bool):
                raise SettingsError(f"{name.replace('_', '-')} is {_shown(getattr(self, name))}; allowed: true, false")

    def refuse_unheeded(self, asked: Mapping[str, Any]) -> None:
        """`SettingsError` where one of the options asked for would make no difference."""
        for name in asked:
            sources = HEEDED_BY.get(name, CANDIDATES)
            if self.candidates not in sources:
                needed = " or ".join(sources)
                raise SettingsError(f"{name.replace('_', '-')} needs candidates {needed}; it is {self.candidates}")
        if "cosine" in asked and self.verify != "cosine":
            raise SettingsError(f"cosine needs verify cosine; it is {self.verify}")

    def describe(self) -> dict[str, Any]:
        """The settings by their command-line names; those not set are left out."""
        told = asdict(self)
        for name, sources in HEEDED_BY.items():
            if self.candidates not in sources:
                del told[name]
        if self.verify != "cosine":
            del told["cosine"]
        if self.vectors is not None:
            told.pop("vector_length", None)  # the file knows
        named = {name.replace("_", "-"): value for name, value in told.items() if value not in (None, ())}
        return named | ({"ignore": [f"{value:016x}" for value in self.ignore]} if self.ignore else {})

    @classmethod
    def described(cls, named: Mapping[str, Any]) -> Scanning:
        """The settings of which `named` is the description."""
        values = {name.replace("-", "_"): value for name, value in named.items()}
        return cls(**values | {"ignore": tuple(int(value, 16) for value in named.get("ignore", []))})


@dataclass(frozen=True, slots=True)
class Resources:
    """What the whole process tree may use: `workers` processes, `memory` bytes."""

    workers: int | None = None
    memory: int = 2**30

    def __post_init__(self) -> None:
        _range("workers", self.processes, 1, 1024)
        if type(self.memory) is not int or not 2**28 <= self.memory <= 2**50:
            raise SettingsError(f"memory is {_shown(self.memory)} bytes; allowed: 256MiB to 1PiB")

    @property
    def processes(self) -> int:
        """Workers asked for, or one a core."""
        return available_cores() if self.workers is None else self.workers


@dataclass(frozen=True, slots=True)
class Reading:
    """How sources are read. `None` means: by the source's name, or the format's own habit.

    Columns are names, dotted paths (JSON) or numbers from 1; `id_column` may be `line`, and `text_column` several,
    parted by commas, of a table in lines.
    """

    format: str | None = None
    separator: str | None = None
    header: bool | None = None
    id_column: str | None = None
    title_column: str | None = None
    text_column: str | None = None
    namespaces: tuple[int, ...] = (0,)
    revisions: str = "latest"
    wikitext: str = "fast"
    contributors: bool = True
    source_name: str | None = None
    limit: int | None = None
    part: str | None = None

    def __post_init__(self) -> None:
        if self.part is not None:
            Part.parse(self.part)
        if self.format is not None:
            _choice("format", self.format, FORMATS)
        _choice("revisions", self.revisions, REVISIONS)
        _choice("wikitext", self.wikitext, WIKITEXT_PATHS)
        if self.separator is not None and not _is_text(self.separator, r"[^\r\n\"]"):
            raise SettingsError(f"separator is {_shown(self.separator)}; allowed: one character, no quote or line end")
        for name in ("id_column", "title_column", "text_column"):
            column = getattr(self, name)
            if column is not None and not _is_text(column, r"(?s:.+)"):
                raise SettingsError(
                    f"{name.replace('_', '-')} is {_shown(column)}; allowed: a name, a dotted path or a number from 1"
                )
        if self.header is not None and not isinstance(self.header, bool):
            raise SettingsError(f"header is {_shown(self.header)}; allowed: true or false")
        if not isinstance(self.namespaces, tuple | list) or any(type(number) is not int for number in self.namespaces):
            raise SettingsError(f"namespaces is {_shown(self.namespaces)}; allowed: integers, as in (0, 14)")
        if self.limit is not None:
            _range("limit", self.limit, 0, 2**62)
        if self.source_name is not None and not _is_text(self.source_name, r"[^/\s]+"):
            raise SettingsError(f"source-name is {_shown(self.source_name)}; allowed: no slash, no white space")


class Part(NamedTuple):
    """One of several machines that load one corpus together: number (from 1) of so many."""

    number: int
    parts: int

    @classmethod
    def parse(cls, text: str | None) -> Part:
        """Read `I/N`, or None for the only one; `SettingsError` for anything else."""
        if text is None:
            return cls(1, 1)
        match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text) if isinstance(text, str) else None
        if match is None or not 1 <= int(match[1]) <= int(match[2]) <= 1024:
            raise SettingsError(f"part is {_shown(text)}; allowed: I/N with I from 1 to N, and N up to 1024")
        return cls(int(match[1]), int(match[2]))


@dataclass(frozen=True, slots=True)
class Settings:
    """All options of a call. `frozen` and `free` (of scanning) hold only what was asked for: a store knows the rest
    of its own."""

    frozen: dict[str, Any] = field(default_factory=dict)
    free: dict[str, Any] = field(default_factory=dict)
    scanning: Scanning = field(default_factory=Scanning)
    reading: Reading = field(default_factory=Reading)
    resources: Resources = field(default_factory=Resources)

    @classmethod
    def of(cls, **options: Any) -> Settings:
        """Sort options by name into their groups; those that are None are left to their defaults.

        Raises `UsageError` for a name that is no option, `SettingsError` for a value out of range.
        """
        given = {name: value for name, value in options.items() if value is not None}
        if given.pop("exact", False) and given.setdefault("candidates", "exact") != "exact":  # the short word for it
            raise SettingsError(f"exact, or candidates {given['candidates']}: not both")
        if isinstance(given.get("vectors"), os.PathLike):
            given["vectors"] = os.fspath(given["vectors"])
        if isinstance(given.get("vectors"), str) and given["vectors"]:
            given["vectors"] = str(Path(given["vectors"]).absolute())  # the next command may come from another folder
        if isinstance(given.get("memory"), str):
            given["memory"] = parse_memory(given["memory"])
        groups: list[dict[str, Any]] = []
        for group in (Signing, Scanning, Reading, Resources):
            names = {item.name for item in fields(group)}
            groups.append({name: given.pop(name) for name in sorted(names & given.keys())})
        if given:
            raise UsageError(f"no such option: {', '.join(sorted(given))}")
        frozen, scanning, reading, resources = groups
        freeze(None, frozen)
        settings = cls(frozen, scanning, Scanning(**scanning), Reading(**reading), Resources(**resources))
        settings.scanning.refuse_unheeded(scanning)
        return settings


def freeze(stored: Signing | None, asked: Mapping[str, Any]) -> Signing:
    """Signing settings as `asked`, everything else as `stored` or, without a store, by default."""
    banded = {"bands", "rows"} & asked.keys()
    pooled = {"hashes", "draw", "draws"} & asked.keys()
    if banded and pooled:
        raise SettingsError("bands and rows, or hashes, draw and draws: not both")
    if stored is None:
        return Signing(**asked)
    if banded and stored.hashes is not None:
        return replace(stored, **{"bands": 10, "rows": 4, "hashes": None, "draw": None, "draws": None, **asked})
    return replace(stored, **asked)


def available_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parse_memory(text: str) -> int:
    """Bytes named by `1GiB`, `512MB`, `800m`; `SettingsError` for anything else."""
    match = re.fullmatch(r"\s*([0-9]{1,18}(?:\.[0-9]+)?)\s*([kmg]?i?)b?\s*", text.lower())
    if match is None or match[2] not in _BYTE_UNITS:
        raise SettingsError(f"memory is {_shown(text)}; write it as 512MiB, 1GiB or 2GB")
    return int(float(match[1]) * _BYTE_UNITS[match[2]])


def _choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise SettingsError(f"{name} is {_shown(value)}; allowed: {', '.join(allowed)}")


def _range(name: str, value: object, low: int, high: int) -> None:
    # neither True nor a number of numpy's: the store saves settings as JSON
    if type(value) is not int:
        raise SettingsError(f"{name} is {_shown(value)}; allowed: an integer, {low} to {high}")
    if not low <= value <= high:
        raise SettingsError(f"{name} is {_shown(value)}; allowed: {low} to {high}")


def _is_text(value: object, pattern: str) -> bool:
    """Whether `value` is a string of this form, all of it, that UTF-8 can carry."""
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None and _SURROGATE.search(value) is None


def _shown(value: object) -> str:
    """A value as a message shows it: short, and also if it is a number of ten thousand digits."""
    try:
        text = repr(value)
    except ValueError:
        return "too large a number"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
