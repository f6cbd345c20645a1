"""Linkages: what makes a cluster of verified pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from esdedup.options import Choice, Registry

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers

    Edges = Callable[[], tuple[Numbers, Numbers]]


@dataclass(frozen=True)
class Linkage(Choice):
    """Says which texts of a connected component are one cluster."""

    chains: ClassVar[bool]
    """Whether two texts of a cluster may be tied by a chain of others alone."""

    @abstractmethod
    def roots(self, connected: Numbers, edges: Edges, turns: Callable[[], Numbers]) -> Numbers:
        """The least place of the cluster of each text, shape (texts,).

        `connected` is the least place of each text's connected component. `edges` gives the ends of all pairs, as
        places, and `turns` every place in the order in which texts may become centres; each is asked where needed.
        """


@dataclass(frozen=True)
class SingleLinkage(Linkage):
    """Connected components."""

    name = "single"
    summary = "connected components"
    chains = True

    def roots(self, connected: Numbers, edges: Edges, turns: Callable[[], Numbers]) -> Numbers:
        """The components as they are."""
        return connected


@dataclass(frozen=True)
class StarLinkage(Linkage):
    """A centre with its neighbours: every text has a verified pair with the centre."""

    name = "star"
    summary = "a centre with its neighbours"
    chains = False

    def roots(self, connected: Numbers, edges: Edges, turns: Callable[[], Numbers]) -> Numbers:
        """Stars, see `esdedup.clustering.stars`."""
        from esdedup.clustering.stars import star_roots

        return star_roots(*edges(), turns())


LINKAGES: Registry[Linkage] = Registry(
    "linkage",
    {
        "single": "esdedup.clustering.linkages:SingleLinkage",
        "star": "esdedup.clustering.linkages:StarLinkage",
    },
)
