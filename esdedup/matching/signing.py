"""The frozen settings of a store's sentences and tokens. They are saved with the tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from esdedup.errors import SettingsError
from esdedup.matching.signers.protocol import SIGNERS, Signer
from esdedup.options import Options, option, shown_value, sort_out
from esdedup.text.splitting import Splitting

HASH_SCHEME = 1
"""Version of everything that turns a text into tokens. Increase it when any token changes."""

UNITS = ("sentence", "record")
NORMALIZATIONS = ("none", "lower", "words", "stem", "expanded")

_SIGNER = SIGNERS.names[0]
_SHINGLE = r"(char|word):([1-9][0-9]?)"


@dataclass(frozen=True, slots=True)
class Shingling:
    """`char:N` (N consecutive Unicode code points) or `word:N` (N consecutive Unicode words)."""

    kind: str
    length: int

    @classmethod
    def parse(cls, text: str) -> Shingling:
        """Parse `char:12` or `word:3`. Raises `SettingsError` for anything else."""
        match = re.fullmatch(_SHINGLE, text) if isinstance(text, str) else None
        if match is None:
            raise SettingsError(f"shingle is {shown_value(text)}; {_SHINGLES}")
        return cls(match[1], int(match[2]))


_SHINGLES = "allowed: char:N or word:N with N from 1 to 99"


@dataclass(frozen=True)
class Signing(Options):
    """What is compared, and how it is signed."""

    unit: str = option("sentence", "What is compared.", choices=UNITS)
    lang: str = option(
        "en", "Language of the text, for splitting and stemming.", unit="CODE",
        pattern=r"[a-z]{2,3}([-_][A-Za-z0-9]+)*", expected="give a language code such as en, de or zh",
    )  # fmt: skip
    min_chars: int = option(
        75, "Skip units shorter than N characters (they are not compared).", unit="N", low=0, high=1_000_000
    )
    max_chars: int = option(
        600, "Skip units longer than N characters (they are not compared).", unit="N", low=1, high=10_000_000
    )
    normalize: str = option(
        "none", "How a text is normalized before it is shingled.", unit="FORM", choices=NORMALIZATIONS
    )
    shingle: str = option(
        "char:12", "Shingles of N characters (char:N) or N words (word:N).", unit="KIND:N", pattern=_SHINGLE,
        expected=_SHINGLES,
    )  # fmt: skip
    hash_bits: int = option(60, "Number of bits of a MinHash value.", unit="N", low=16, high=60)
    seed: int = option(1123456, "Seed of the hash functions.", unit="N", low=0, high=2**63 - 1)
    signer: Signer = field(default_factory=lambda: SIGNERS.make(_SIGNER, {}))

    def check_together(self) -> None:
        """Check that min_chars is not greater than max_chars."""
        if self.min_chars > self.max_chars:
            raise SettingsError(
                f"min-chars {self.min_chars} is greater than max-chars {self.max_chars}; "
                "allowed: min-chars up to max-chars"
            )

    @classmethod
    def all_names(cls) -> frozenset[str]:
        """Return the names of all options, including those of every signer."""
        return cls.names() | SIGNERS.option_names() | {SIGNERS.option}

    @classmethod
    def of(cls, **given: Any) -> Signing:
        """Make settings from flat options, including those of the signer. None means the default.

        Raises `SettingsError` for a value outside its range, or for an option of another signer.
        """
        given = {name: value for name, value in given.items() if value is not None}
        chosen = given.pop(SIGNERS.option, _SIGNER)
        own, of_signers = sort_out(given, cls.names(), SIGNERS.option_names())
        SIGNERS.refuse_others(chosen, of_signers)
        return cls(**own, signer=SIGNERS.make(chosen, of_signers))

    @property
    def splitting(self) -> Splitting:
        """How texts are split into units."""
        return Splitting(self.unit, self.lang)

    @property
    def tokens(self) -> int:
        """Number of tokens of a text."""
        return self.signer.tokens

    def saved(self) -> dict[str, Any]:
        """Return the settings as flat options, from which `Signing.of` makes them again."""
        own = {declared.name: getattr(self, declared.name) for declared in self.declared()}
        of_signer = {declared.name: getattr(self.signer, declared.name) for declared in self.signer.declared()}
        named = {} if self.signer.name == _SIGNER else {SIGNERS.option: self.signer.name}
        last = {name: own.pop(name) for name in ("hash_bits", "seed")}  # in reading order: after the signer
        return {**own, **named, **of_signer, **last}

    def described(self) -> dict[str, Any]:
        """Return the settings in use by their command-line names, with the version of the hash scheme."""
        named = {name.replace("_", "-"): value for name, value in self.saved().items() if value is not None}
        return {**named, "hash-scheme": HASH_SCHEME}


def freeze(stored: Signing | None, asked: Mapping[str, Any]) -> Signing:
    """Return signing settings with the values of `asked`. Others come from `stored` or, without a store, from the
    defaults.
    """
    if stored is None:
        return Signing.of(**asked)
    given = {name: value for name, value in asked.items() if value is not None}
    chosen = given.pop(SIGNERS.option, stored.signer.name)
    own, of_signers = sort_out(given, Signing.names(), SIGNERS.option_names())
    SIGNERS.refuse_others(chosen, of_signers)
    same = chosen == stored.signer.name
    signer = stored.signer.with_options(of_signers) if same else SIGNERS.make(chosen, of_signers)
    return replace(stored, **own, signer=signer)
