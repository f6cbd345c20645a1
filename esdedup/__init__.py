"""esdedup: near-duplicate sentences in large text collections, found, verified and clustered.

>>> import esdedup
>>> summary = esdedup.run("dump.xml.bz2", out="found", jaccard=0.9)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from esdedup._version import __version__ as __version__

__all__ = [
    "Settings",
    "add",
    "cluster_texts",
    "clusters",
    "dedupe",
    "drift",
    "drop",
    "evaluate",
    "explain",
    "fill",
    "index",
    "lineage",
    "open_store",
    "overlap",
    "plan",
    "remove",
    "report",
    "run",
    "scan",
    "similar",
    "status",
    "suggest",
    "templates",
]

if TYPE_CHECKING:
    from esdedup.jobs.dedupe import dedupe
    from esdedup.jobs.evaluating import evaluate
    from esdedup.jobs.in_memory import cluster_texts
    from esdedup.jobs.meanings import drift, fill, lineage, templates
    from esdedup.jobs.planning import plan
    from esdedup.jobs.questions import clusters, explain, overlap, similar, suggest
    from esdedup.jobs.reporting import report
    from esdedup.jobs.verbs import add, drop, index, remove, run, scan, status
    from esdedup.settings import Settings
    from esdedup.store.registry import open_store

_HOMES = (
    {
        "Settings": "esdedup.settings",
        "cluster_texts": "esdedup.jobs.in_memory",
        "dedupe": "esdedup.jobs.dedupe",
        "evaluate": "esdedup.jobs.evaluating",
        "open_store": "esdedup.store.registry",
        "plan": "esdedup.jobs.planning",
        "report": "esdedup.jobs.reporting",
    }
    | dict.fromkeys(("drift", "fill", "lineage", "templates"), "esdedup.jobs.meanings")
    | dict.fromkeys(("clusters", "explain", "overlap", "similar", "suggest"), "esdedup.jobs.questions")
)


def __getattr__(name: str) -> Any:
    """Import a verb when it is first used: `import esdedup` itself costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'esdedup' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "esdedup.jobs.verbs")), name)
