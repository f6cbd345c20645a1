"""esdedup: near-duplicate sentences in large text collections, found, verified and clustered.

>>> import esdedup
>>> summary = esdedup.run("dump.xml.bz2", out="found", jaccard=0.9)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

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
    from esdedup.pipeline.cleaning import dedupe
    from esdedup.pipeline.evaluating import evaluate
    from esdedup.pipeline.in_memory import cluster_texts
    from esdedup.pipeline.meanings import drift, fill, lineage, templates
    from esdedup.pipeline.planning import plan
    from esdedup.pipeline.questions import clusters, explain, overlap, similar, suggest
    from esdedup.pipeline.reporting import report
    from esdedup.pipeline.verbs import add, drop, index, remove, run, scan, status
    from esdedup.settings import Settings
    from esdedup.stores.opening import open_store

_HOMES = (
    {
        "Settings": "esdedup.settings",
        "cluster_texts": "esdedup.pipeline.in_memory",
        "dedupe": "esdedup.pipeline.cleaning",
        "evaluate": "esdedup.pipeline.evaluating",
        "open_store": "esdedup.stores.opening",
        "plan": "esdedup.pipeline.planning",
        "report": "esdedup.pipeline.reporting",
    }
    | dict.fromkeys(("drift", "fill", "lineage", "templates"), "esdedup.pipeline.meanings")
    | dict.fromkeys(("clusters", "explain", "overlap", "similar", "suggest"), "esdedup.pipeline.questions")
)


def __getattr__(name: str) -> Any:
    """Import a verb when it is first used: `import esdedup` itself costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'esdedup' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "esdedup.pipeline.verbs")), name)
