"""Clusters of near-duplicates in which it is known which copy a careful person would keep."""

from scripts.survivors.planting import Cluster, Copy, clusters, part

__all__ = ["Cluster", "Copy", "clusters", "part"]
