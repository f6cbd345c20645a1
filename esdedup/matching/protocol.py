"""What a matcher is, and the free settings of a scan, which choose one: where candidates come from, what makes a pair
of them, and what makes a cluster of pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from esdedup.clustering.linkages import LINKAGES, Linkage
from esdedup.errors import SettingsError
from esdedup.matching.verify.protocol import VERIFIERS, PairRule, Verifier
from esdedup.options import Choice, Options, Registry, option, sort_out

if TYPE_CHECKING:
    from esdedup.matching.engine import Engine, Found, MatchContext
    from esdedup.matching.signers.text_signer import TextSigner

ACROSS = ("any", "documents", "sources")
KEEPS = ("first", "longest", "none")


class Evidence(Protocol):
    """Questions to the store about the two texts; each is answered when it is asked."""

    def paired(self) -> bool:
        """Whether the last scan made a pair of them."""

    def all_hot(self) -> bool:
        """Whether they share tokens, and each of those is held by more texts than are compared with each other."""


@dataclass(frozen=True)
class Matcher(Choice):
    """Finds candidates among the texts of a store, and verifies them."""

    verifiers: ClassVar[tuple[str, ...]]
    """How its candidates can be verified."""

    by_tokens: ClassVar[bool]
    """Whether the texts of its pairs have a token in common. Then only what shares a token with a changed text needs to
    be looked at again."""

    counts_tokens: ClassVar[bool]
    """Whether `shared_tokens` of its pairs counts tokens, and not something else."""

    @abstractmethod
    def find(self, engine: Engine, context: MatchContext) -> Found:
        """Find the pairs among the texts that the engine holds; the engine keeps them."""

    @abstractmethod
    def explain(self, found: Mapping[str, Any], scanning: Scanning, evidence: Evidence) -> str:
        """The verdict on two distinct texts, in words, from what was measured of them."""

    def check_files(self) -> None:
        """Raise an error where a file that it needs is missing or of no use."""

    def files_state(self) -> int | None:
        """A number that changes with the files it needs; None where it needs none."""
        return None

    def check_adding(self, address: str) -> None:
        """Raise `StoreError` where nothing can be added to results of this matcher, with what to do instead."""

    def caution(self) -> str | None:
        """What to know about `similar`, which looks for shared tokens, after a scan by this matcher."""
        return None

    def measures(self, signer: TextSigner, one: str, two: str) -> dict[str, Any]:
        """What only this matcher measures of two texts, for `explain`."""
        return {}


MATCHERS: Registry[Matcher] = Registry(
    "candidates",
    {
        "tokens": "esdedup.matching.lsh.matcher:Tokens",
        "exact": "esdedup.matching.exact.matcher:AllPairs",
        "projection": "esdedup.papers.projection.matcher:Projection",
        "agreement": "esdedup.papers.agreement.matcher:Agreement",
        "queries": "esdedup.papers.queries.matcher:Queries",
    },
)


_CHOICES: tuple[Registry[Any], ...] = (LINKAGES, VERIFIERS, MATCHERS)


@dataclass(frozen=True)
class Scanning(Options):
    """What a scan is asked to find. Made by `Scanning.of` from flat options."""

    jaccard: float = option(0.8, "Lowest Jaccard similarity of a pair.", unit="S", low=0, high=1, above=True)
    word_edit_distance: int | None = option(
        None, "Most words that may differ in a pair.", unit="N", low=0, high=10_000, usual="no limit"
    )
    across: str = option("any", "Only find pairs between different documents or sources.", choices=ACROSS)
    keep: str | None = option(None, "Which text of a cluster is its centre.", choices=KEEPS)
    kinds: bool = option(True, "Classify clusters by kind.")
    linkage: Linkage = field(default_factory=lambda: LINKAGES.make(LINKAGES.names[0], {}))
    verifier: Verifier = field(default_factory=lambda: VERIFIERS.make(VERIFIERS.names[0], {}))
    matcher: Matcher = field(default_factory=lambda: MATCHERS.make(MATCHERS.names[0], {}))
    ignore: tuple[int, ...] = ()  # content hashes: clusters with one of these texts are known and wanted

    def check_together(self) -> None:
        """The verifier can verify the matcher's candidates, within the limit on words."""
        if self.verifier.name not in self.matcher.verifiers:
            able = [matcher.name for matcher in MATCHERS if self.verifier.name in matcher.verifiers]
            if len(self.matcher.verifiers) == 1:
                [needed] = self.matcher.verifiers
                raise SettingsError(f"candidates {self.matcher.name} needs verify {needed}; it is {self.verifier.name}")
            raise SettingsError(
                f"verify {self.verifier.name} needs candidates {' or '.join(able)}; it is {self.matcher.name}"
            )
        self.verifier.check_with(self.word_edit_distance)

    @classmethod
    def all_names(cls) -> frozenset[str]:
        """The options of every linkage, verifier and matcher among them."""
        of_choices = (registry.option_names() | {registry.option} for registry in _CHOICES)
        return cls.names().union({"ignore"}, *of_choices)

    @classmethod
    def of(cls, **given: Any) -> Scanning:
        """Settings of flat options, those of what is chosen among them; None leaves an option to its default.

        Raises `SettingsError` for a value outside its range, or an option that does not apply to what is chosen.
        """
        given = {name: value for name, value in given.items() if value is not None}
        chosen = {registry.option: given.pop(registry.option, registry.names[0]) for registry in _CHOICES}
        own, *of_choices = sort_out(
            given, cls.names() | {"ignore"}, *(registry.option_names() for registry in _CHOICES)
        )
        made = []
        for registry, options in zip(_CHOICES, of_choices, strict=True):
            for name, value in options.items():
                registry.declared()[name][0][1].check(value)  # what is wrong with a value is said first
            made.append(registry.make(chosen[registry.option], options))
        linkage, verifier, matcher = made
        found = cls(**own, linkage=linkage, verifier=verifier, matcher=matcher)
        for registry, options in zip(_CHOICES, of_choices, strict=True):
            registry.refuse_others(chosen[registry.option], options)
        return found

    @property
    def rule(self) -> PairRule:
        """What makes a pair of a candidate."""
        return PairRule(self.jaccard, self.word_edit_distance, self.verifier)

    def reached(self, found: Mapping[str, Any], compared: str = "shingles") -> str:
        """In words, why two texts with the measures `found` are a pair; `compared` is what the matcher compares."""
        return self.verifier.reached(found, self.jaccard, compared)

    def missed(self, found: Mapping[str, Any]) -> str:
        """In words, why two texts with the measures `found` cannot be a pair; empty if they can."""
        most = self.word_edit_distance
        if most is not None and found["word_edit_distance"] > most:
            edits = f"{found['word_edit_distance']} words differ, and at most {most} may"
        else:
            edits = ""
        return self.verifier.missed(found, self.jaccard) or edits

    def replaced(self, given: Mapping[str, Any]) -> Scanning:
        """These settings with some replaced; options of what is not chosen any more are forgotten."""
        asked = {name: value for name, value in given.items() if value is not None}
        held = self.flat()
        for registry in _CHOICES:
            if asked.get(registry.option, held[registry.option]) != held[registry.option]:
                held = {name: value for name, value in held.items() if name not in registry.option_names()}
        return Scanning.of(**{**held, **asked})

    def flat(self) -> dict[str, Any]:
        """The settings as flat options: `Scanning.of` makes them again."""
        held: dict[str, Any] = {declared.name: getattr(self, declared.name) for declared in self.declared()}
        held["ignore"] = self.ignore
        for registry, chosen in zip(_CHOICES, (self.linkage, self.verifier, self.matcher), strict=True):
            held[registry.option] = chosen.name
            held |= {declared.name: getattr(chosen, declared.name) for declared in chosen.declared()}
        return held

    def described(self) -> dict[str, Any]:
        """The settings by their command-line names; those not set are left out."""
        held = super().described()
        for registry, chosen in zip(_CHOICES, (self.linkage, self.verifier, self.matcher), strict=True):
            held |= {registry.option: chosen.name, **chosen.described()}
        return held | ({"ignore": [f"{value:016x}" for value in self.ignore]} if self.ignore else {})

    @classmethod
    def from_described(cls, named: Mapping[str, Any]) -> Scanning:
        """The settings of which `named` is the description."""
        values = {name.replace("-", "_"): value for name, value in named.items()}
        return cls.of(**values | {"ignore": tuple(int(value, 16) for value in named.get("ignore", []))})
