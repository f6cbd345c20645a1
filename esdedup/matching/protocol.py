"""The protocol of a matcher, and the settings of a scan: where candidates come from, which candidates are pairs, and
how pairs become clusters.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, get_args

from esdedup.clustering.linkages import LINKAGES, Linkage
from esdedup.errors import SettingsError
from esdedup.keeping.protocol import split_policies
from esdedup.matching.verify.protocol import VERIFIERS, PairRule, Verifier
from esdedup.options import Choice, Options, Registry, option, sort_out

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.matching.engine import Engine, Found, MatchContext
    from esdedup.matching.signers.text_signer import TextSigner

Across = Literal["any", "documents", "sources"]
ACROSS: tuple[str, ...] = get_args(Across)


class Evidence(Protocol):
    """Queries to the store about two texts. Each runs only if it is called."""

    def pair(self) -> Mapping[str, Any] | None:
        """Return them as a pair of the last scan, if they are one."""

    def all_hot(self) -> bool:
        """Return whether they share tokens, and all of these are hot: more texts have them than are compared with each
        other.
        """

    def learned(self) -> dict[str, Any] | None:
        """Return what the matcher of the last scan learned; see `Found`."""

    def texts(self) -> pa.Table:
        """Return all texts (hash, group_id, text), a row for each sentence."""


@dataclass(frozen=True)
class Matcher(Choice):
    """Finds candidates among the texts of a store, and verifies them."""

    verifiers: ClassVar[tuple[str, ...]]
    """The verifiers that can verify its candidates."""

    by_tokens: ClassVar[bool]
    """Whether the texts of a pair share a token. Then only texts that share a token with a changed text must be
    compared again.
    """

    counts_tokens: ClassVar[bool]
    """Whether `shared_tokens` of its pairs counts tokens."""

    of_records: ClassVar[bool] = False
    """Whether it compares the fields of records, so that a text has names and values."""

    runs_anywhere: ClassVar[bool]
    """Whether it runs on every engine. Otherwise it works in the database of the local one."""

    @abstractmethod
    def find(self, engine: Engine, context: MatchContext) -> Found:
        """Find the pairs among the texts that the engine holds. The engine stores them."""

    @abstractmethod
    def explain(self, found: Mapping[str, Any], scanning: Scanning, evidence: Evidence) -> str:
        """Return the verdict on two distinct texts in words, based on their measures."""

    def check_files(self) -> None:
        """Raise an error if a file that it needs is missing or unusable."""

    def files_state(self) -> int | None:
        """Return a number that changes with the files that it needs; None if it needs none."""
        return None

    def check_adding(self, address: str) -> None:
        """Raise `StoreError` if nothing can be added to results of this matcher; the message says what to
        do instead.
        """

    def caution(self) -> str | None:
        """Return what the user should know about `similar`, which looks for shared tokens, after a scan by this
        matcher.
        """
        return None

    def threshold(self) -> float | None:
        """Return the lowest Jaccard similarity that its own measure stands for; None if it has no such measure."""
        return None

    def measures(self, signer: TextSigner, one: str, two: str, evidence: Evidence) -> dict[str, Any]:
        """Return measures of two texts that only this matcher has, for `explain`."""
        return {}


MATCHERS: Registry[Matcher] = Registry(
    "candidates",
    {
        "tokens": "esdedup.matching.lsh.matcher:Tokens",
        "exact": "esdedup.matching.exact.matcher:AllPairs",
        "records": "esdedup.matching.records.matcher:Records",
        "projection": "esdedup.papers.projection.matcher:Projection",
        "agreement": "esdedup.papers.agreement.matcher:Agreement",
        "queries": "esdedup.papers.queries.matcher:Queries",
    },
)


_CHOICES: tuple[Registry[Any], ...] = (LINKAGES, VERIFIERS, MATCHERS)


@dataclass(frozen=True)
class Scanning(Options):
    """The settings of a scan. `Scanning.of` makes them from flat options."""

    jaccard: float = option(
        0.8, "Minimum Jaccard similarity of a pair.", unit="S", low=0, high=1, above=True,
        usual="0.8 for sentences, else 0.7",
    )  # fmt: skip
    word_edit_distance: int | None = option(
        None, "Maximum word edit distance of a pair.", unit="N", low=0, high=10_000, usual="no limit"
    )
    across: str = option("any", "Only find pairs between different documents or sources.", choices=ACROSS)
    one_per_source: bool | None = option(
        None, "At most one text of each source in a cluster, by the best assignment: links tables without duplicates.",
        usual="any number",
    )  # fmt: skip
    keep: str | None = option(None, "Which text is the centre of a cluster.", unit="POLICY")
    kinds: bool = option(True, "Classify clusters by kind.")
    linkage: Linkage = field(default_factory=lambda: LINKAGES.make(LINKAGES.names[0], {}))
    verifier: Verifier = field(default_factory=lambda: VERIFIERS.make(VERIFIERS.names[0], {}))
    matcher: Matcher = field(default_factory=lambda: MATCHERS.make(MATCHERS.names[0], {}))
    ignore: tuple[int, ...] = ()  # content hashes: clusters with one of these texts are ignored

    def check_together(self) -> None:
        """Check that the verifier can verify the matcher's candidates, within the limit on words; and the policies."""
        if self.keep is not None:
            split_policies(self.keep)
        if self.verifier.name not in self.matcher.verifiers:
            able = [matcher.name for matcher in MATCHERS if self.verifier.name in matcher.verifiers]
            if len(self.matcher.verifiers) == 1:
                [needed] = self.matcher.verifiers
                raise SettingsError(
                    f"candidates {self.matcher.name} needs verify {needed}; now verify is {self.verifier.name}"
                )
            raise SettingsError(
                f"verify {self.verifier.name} needs candidates {' or '.join(able)}; "
                f"now candidates is {self.matcher.name}"
            )
        self.verifier.check_with(self.word_edit_distance)

    @classmethod
    def all_names(cls) -> frozenset[str]:
        """Return the names of all options, including those of every linkage, verifier and matcher."""
        of_choices = (registry.option_names() | {registry.option} for registry in _CHOICES)
        return cls.names().union({"ignore"}, *of_choices)

    @classmethod
    def of(cls, **given: Any) -> Scanning:
        """Make settings from flat options, including those of the chosen implementations. None means the default.

        Raises `SettingsError` for a value outside its range, or for an option that does not apply.
        """
        given = {name: value for name, value in given.items() if value is not None}
        asked = frozenset(given)
        chosen = {registry.option: given.pop(registry.option, registry.names[0]) for registry in _CHOICES}
        if VERIFIERS.option not in asked and (able := MATCHERS[chosen[MATCHERS.option]].verifiers):
            chosen[VERIFIERS.option] = able[0]  # records have only one
        names = [cls.names() | {"ignore"}, *(registry[chosen[registry.option]].names() for registry in _CHOICES)]
        others = bool(given.keys() - frozenset().union(*names))
        if others:  # only then the other implementations are imported
            names[1:] = [registry.option_names() for registry in _CHOICES]
        own, *of_choices = sort_out(given, *names)
        made = []
        for registry, options in zip(_CHOICES, of_choices, strict=True):
            for name, value in options.items() if others else ():
                registry.declared()[name][0][1].check(value)  # a wrong value is reported first
            made.append(registry.make(chosen[registry.option], options))
        linkage, verifier, matcher = made
        found = cls(**own, linkage=linkage, verifier=verifier, matcher=matcher)
        for registry, options in zip(_CHOICES, of_choices, strict=True) if others else ():
            registry.refuse_others(chosen[registry.option], options)
        return found

    @property
    def of_sources(self) -> bool:
        """Whether it matters in which document or source a text stands."""
        return self.across != "any" or bool(self.one_per_source)

    @property
    def rule(self) -> PairRule:
        """The rule by which a candidate is a pair."""
        return PairRule(self.jaccard, self.word_edit_distance, self.verifier)

    def reached(self, found: Mapping[str, Any], compared: str = "shingles") -> str:
        """Explain why two texts with the measures `found` are a pair. `compared` names what the matcher compares."""
        return self.verifier.reached(found, self.jaccard, compared)

    def missed(self, found: Mapping[str, Any]) -> str:
        """Explain why two texts with the measures `found` cannot be a pair; empty if they can."""
        most = self.word_edit_distance
        if most is not None and found["word_edit_distance"] > most:
            edits = f"{found['word_edit_distance']} words differ, and at most {most} may"
        else:
            edits = ""
        return self.verifier.missed(found, self.jaccard) or edits

    def replaced(self, given: Mapping[str, Any]) -> Scanning:
        """Return these settings with some replaced. Options of implementations that are no longer chosen
        are dropped.
        """
        asked = {name: value for name, value in given.items() if value is not None}
        held = self.flat()
        for registry in _CHOICES:
            if asked.get(registry.option, held[registry.option]) != held[registry.option]:
                held = {name: value for name, value in held.items() if name not in registry.option_names()}
        return Scanning.of(**{**held, **asked})

    def flat(self) -> dict[str, Any]:
        """Return the settings as flat options, from which `Scanning.of` makes them again."""
        held: dict[str, Any] = {declared.name: getattr(self, declared.name) for declared in self.declared()}
        held["ignore"] = self.ignore
        for registry, chosen in zip(_CHOICES, (self.linkage, self.verifier, self.matcher), strict=True):
            held[registry.option] = chosen.name
            held |= {declared.name: getattr(chosen, declared.name) for declared in chosen.declared()}
        return held

    def described(self) -> dict[str, Any]:
        """Return the settings by their command-line names, without those that are not set."""
        held = super().described()
        for registry, chosen in zip(_CHOICES, (self.linkage, self.verifier, self.matcher), strict=True):
            held |= {registry.option: chosen.name, **chosen.described()}
        return held | ({"ignore": [f"{value:016x}" for value in self.ignore]} if self.ignore else {})

    @classmethod
    def from_described(cls, named: Mapping[str, Any]) -> Scanning:
        """Return the settings that `named` describes."""
        unsaved = MATCHERS[named.get(MATCHERS.option, MATCHERS.names[0])].unsaved
        values = {name.replace("-", "_"): value for name, value in named.items() if name not in unsaved}
        return cls.of(**values | {"ignore": tuple(int(value, 16) for value in named.get("ignore", []))})
