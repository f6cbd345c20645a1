"""The frozen settings of a store's sentences and tokens. They are saved with the tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from esdedup.errors import SettingsError
from esdedup.matching.signers.protocol import SIGNERS, Signer
from esdedup.matching.units import (
    MOST_CHARS,
    UNITS,
    TextClass,
    changed_classes,
    read_classes,
    saved_classes,
    usual_class,
)
from esdedup.options import Options, option, shown_value, sort_out
from esdedup.text.detectors import CLD2, installed
from esdedup.text.splitting import AUTO, CODE, DEFAULT, TEXT_SCHEME, Splitting
from esdedup.text.wikitext.templates.known import saved_templates

HASH_SCHEMES = (2, 3)
"""Versions of everything that turns a text into tokens. Increase the last when any token changes. Scheme 3 is scheme 2
with another `fold`, so texts that are not folded have tokens of scheme 2.
"""

_FOLDED = ("fold", "fold-accents")

NORMALIZATIONS = ("none", *_FOLDED, "lower", "words", "stem", "expanded")

USUAL_UNIT = "usual_unit"
"""Among requested settings: the unit of a new store if none is requested."""

_CLASSES = "classes"
_TEXT_SCHEME, _HASH_SCHEME, _LANGUAGES = "text_scheme", "hash_scheme", "languages"
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

    def __str__(self) -> str:
        return f"{self.kind}:{self.length}"


_SHINGLES = "allowed: char:N or word:N with N from 1 to 99"


@dataclass(frozen=True)
class Signing(Options):
    """What is compared, and how it is signed."""

    unit: str = option(
        "sentence", "What is compared.", choices=(AUTO, *UNITS),
        usual="auto: sentence for dumps and texts, record for tables",
    )  # fmt: skip
    lang: str = option(
        AUTO, "Language of the text, for splitting and stemming.", unit="CODE",
        pattern=f"{AUTO}|{CODE}", expected="give a language code such as en, de or zh, or auto",
        usual="auto: what the dump says, else what each text shows, else en",
    )  # fmt: skip
    templates: str | None = option(
        None, "More wiki templates, and what a reader sees of them (TOML).", unit="FILE",
    )  # fmt: skip
    min_chars: int | None = option(
        None, "Skip units shorter than N characters (they are not compared).", unit="N", low=0, high=1_000_000,
        usual="75 for sentences in scripts with spaces, else by script and unit",
    )  # fmt: skip
    max_chars: int | None = option(
        None, "Skip units longer than N characters (they are not compared).", unit="N", low=1, high=MOST_CHARS,
        usual="600 for sentences in scripts with spaces, else by script and unit",
    )  # fmt: skip
    normalize: str | None = option(
        None, "How a text is normalized before it is shingled.", unit="FORM", choices=NORMALIZATIONS,
        usual="none for sentences, else fold",
    )  # fmt: skip
    shingle: str | None = option(
        None, "Shingles of N characters (char:N) or N words (word:N).", unit="KIND:N", pattern=_SHINGLE,
        expected=_SHINGLES, usual="by unit, script and length",
    )  # fmt: skip
    hash_bits: int = option(60, "Number of bits of a MinHash value.", unit="N", low=16, high=60)
    seed: int = option(1123456, "Seed of the hash functions.", unit="N", low=0, high=2**63 - 1)
    signer: Signer = field(default_factory=lambda: SIGNERS.make(_SIGNER, {}))
    classes: tuple[TextClass, ...] = ()
    text_scheme: int = TEXT_SCHEME
    """Version of the cleaning and splitting that made the units."""
    hash_scheme: int | None = None
    """Version of what made the tokens; by default, the one of the form."""
    languages: str = field(default_factory=installed)
    """What tells the languages of texts: one of `esdedup.text.detectors`."""

    def check_together(self) -> None:
        """Fill in what is not set: the defaults of the unit. Check that min_chars is not greater than max_chars."""
        unit = UNITS["sentence" if self.unit == AUTO else self.unit]
        asked = (self.shingle, self.min_chars, self.max_chars)
        classes = self.classes or changed_classes(unit.classes, *asked)
        usual = usual_class(classes)
        filled = {
            "unit": unit.name,
            "classes": classes,
            "normalize": self.normalize or unit.normalize,
            "shingle": usual.shingle,
            "min_chars": usual.min_chars,
            "max_chars": usual.max_chars,
            "hash_scheme": self.hash_scheme or HASH_SCHEMES[(self.normalize or unit.normalize) in _FOLDED],
            "templates": None if self.templates is None else saved_templates(self.templates),
        }
        for name, value in filled.items():
            object.__setattr__(self, name, value)
        for each in classes:
            if each.min_chars > each.max_chars:
                raise SettingsError(
                    f"min-chars {each.min_chars} is greater than max-chars {each.max_chars}; "
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
        classes, text_scheme = read_classes(given.pop(_CLASSES, ())), given.pop(_TEXT_SCHEME, TEXT_SCHEME)
        hash_scheme, languages = given.pop(_HASH_SCHEME, None), given.pop(_LANGUAGES, None) or installed()
        chosen = given.pop(SIGNERS.option, _SIGNER)
        own, of_signers = sort_out(given, cls.names(), SIGNERS.option_names())
        SIGNERS.refuse_others(chosen, of_signers)
        found = cls(**own, classes=classes, text_scheme=text_scheme, hash_scheme=hash_scheme, languages=languages)
        signer = SIGNERS.make(chosen, UNITS[found.unit].signer_options).with_options(of_signers)
        return replace(found, signer=signer)

    @property
    def splitting(self) -> Splitting:
        """How texts are split into units."""
        return Splitting(self.unit, self.lang, by=self.languages)

    @property
    def word_lang(self) -> str:
        """The language of stems and stop words. It must be one for all texts: equal texts have equal tokens."""
        return DEFAULT if self.lang == AUTO else self.lang

    @property
    def shingling(self) -> Shingling:
        """The shingles of the usual class."""
        return Shingling.parse(str(self.shingle))

    @property
    def form(self) -> str:
        """How texts are normalized."""
        return str(self.normalize)

    @property
    def scheme(self) -> int:
        """Version of what made the tokens."""
        return self.hash_scheme or HASH_SCHEMES[-1]

    @property
    def tokens(self) -> int:
        """Number of columns of tokens: those of the signer, for each kind of shingle."""
        return self.signer.tokens * len({each.shingle for each in self.classes})

    def saved(self) -> dict[str, Any]:
        """Return the settings as flat options, from which `Signing.of` makes them again."""
        own = {declared.name: getattr(self, declared.name) for declared in self.declared()}
        of_signer = {declared.name: getattr(self.signer, declared.name) for declared in self.signer.declared()}
        named = {} if self.signer.name == _SIGNER else {SIGNERS.option: self.signer.name}
        last = {name: own.pop(name) for name in ("hash_bits", "seed")}  # in reading order: after the signer
        classes = {_CLASSES: saved_classes(self.classes)} if len(self.classes) > 1 else {}
        schemes = {_TEXT_SCHEME: self.text_scheme} | ({} if self.scheme == 2 else {_HASH_SCHEME: self.scheme})
        told = {} if self.languages == CLD2 else {_LANGUAGES: self.languages}
        return {**own, **named, **of_signer, **last, **classes, **schemes, **told}

    def described(self) -> dict[str, Any]:
        """Return the settings in use by their command-line names, with the version of the hash scheme."""
        named = {name.replace("_", "-"): value for name, value in self.saved().items() if value is not None}
        return {**named, "hash-scheme": self.scheme}


def freeze(stored: Signing | None, asked: Mapping[str, Any]) -> Signing:
    """Return signing settings with the values of `asked`. Others come from `stored` or, without a store, from the
    defaults.
    """
    given = {name: value for name, value in asked.items() if value is not None}
    usual = given.pop(USUAL_UNIT, None)
    if given.get("unit") == AUTO:
        del given["unit"]
    if stored is None:
        return Signing.of(**{"unit": usual, **given})
    saved = given.pop(_CLASSES, ())
    for scheme in (_TEXT_SCHEME, _HASH_SCHEME, _LANGUAGES):
        given.pop(scheme, None)
    chosen = given.pop(SIGNERS.option, stored.signer.name)
    own, of_signers = sort_out(given, Signing.names(), SIGNERS.option_names())
    SIGNERS.refuse_others(chosen, of_signers)
    same = chosen == stored.signer.name
    signer = stored.signer.with_options(of_signers) if same else SIGNERS.make(chosen, of_signers)
    asked_classes = (own.get(name) for name in ("shingle", "min_chars", "max_chars"))
    classes = read_classes(saved) or changed_classes(stored.classes, *asked_classes)
    return replace(stored, **own, signer=signer, classes=classes)
