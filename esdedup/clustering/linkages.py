"""Linkages: how verified pairs become clusters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from esdedup.options import Choice, Registry

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers

    Edges = Callable[[Numbers], Iterable[tuple[Numbers, Numbers]]]


@dataclass(frozen=True)
class Linkage(Choice):
    """Decides which texts of a connected component form one cluster."""

    chains: ClassVar[bool]
    """Whether two texts of a cluster may be connected only by a chain of other texts."""

    @abstractmethod
    def roots(self, connected: Numbers, edges: Edges, centre_order: Callable[[], Numbers]) -> Numbers:
        """Return the smallest index in the cluster of each text, shape (texts,).

        `connected` (texts,) is the smallest index in each text's connected component. `centre_order` returns every
        index, in the order in which texts may become centres. For such an order, `edges` yields the ends of all pairs
        as indices, in batches, as `esdedup.clustering.stars.star_roots` wants them. Both are called only if needed.
        """


@dataclass(frozen=True)
class SingleLinkage(Linkage):
    """Connected components."""

    name = "single"
    summary = "connected components"
    chains = True

    def roots(self, connected: Numbers, edges: Edges, centre_order: Callable[[], Numbers]) -> Numbers:
        """Return the connected components unchanged."""
        return connected


@dataclass(frozen=True)
class StarLinkage(Linkage):
    """A centre with its neighbours: every text has a verified pair with the centre."""

    name = "star"
    summary = "a centre with its neighbours"
    chains = False

    def roots(self, connected: Numbers, edges: Edges, centre_order: Callable[[], Numbers]) -> Numbers:
        """Return stars; see `esdedup.clustering.stars`."""
        from esdedup.clustering.stars import star_roots

        return star_roots(edges(centre_order()), len(connected))


LINKAGES: Registry[Linkage] = Registry(
    "linkage",
    {
        "single": "esdedup.clustering.linkages:SingleLinkage",
        "star": "esdedup.clustering.linkages:StarLinkage",
    },
)
