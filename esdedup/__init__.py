"""Find copied and near-duplicate sentences in large text collections.

Change a store: `run`, `index`, `scan`, `add`, `remove`, `doctor`, `drop`. Ask it: `status`, `similar`,
`similar_to_each`, `suggest`, `explain`, `clusters`, `overlap`. What clusters mean: `drift`, `templates`, `fill`,
`lineage`. Deduplicate: `dedupe`, `cluster_texts`; `verify` checks its certificate. `link` compares records field by
field. Quality: `plan`, `evaluate`, `report`. `extract` takes the text out of sources, `split` cuts it into sentences.
`open_store` opens a store for many questions. `sample` makes small sets of data to try them on.

>>> import esdedup
>>> summary = esdedup.run("dump.xml.bz2", out="found", jaccard=0.9)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from esdedup._version import __version__ as __version__

__all__ = [
    "NothingCompared",
    "Settings",
    "add",
    "cluster_texts",
    "clusters",
    "dedupe",
    "doctor",
    "drift",
    "drop",
    "evaluate",
    "explain",
    "extract",
    "fill",
    "index",
    "lineage",
    "link",
    "open_store",
    "overlap",
    "plan",
    "remove",
    "report",
    "run",
    "sample",
    "scan",
    "similar",
    "similar_to_each",
    "split",
    "status",
    "suggest",
    "templates",
    "verify",
]

if TYPE_CHECKING:
    from esdedup.api.asking import clusters, explain, overlap, similar, similar_to_each, suggest
    from esdedup.api.changing import add, index, remove, run, scan
    from esdedup.api.cluster_meaning import drift, fill, lineage, templates
    from esdedup.api.deduplicating import cluster_texts, dedupe
    from esdedup.api.keeping import doctor, drop, status
    from esdedup.api.linking import link
    from esdedup.api.quality import evaluate, plan, report, verify
    from esdedup.api.text_extraction import extract, split
    from esdedup.demo.samples import sample
    from esdedup.errors import NothingCompared
    from esdedup.jobs.settings import Settings
    from esdedup.store.registry import open_store

_HOMES = {
    "api.asking": ("clusters", "explain", "overlap", "similar", "similar_to_each", "suggest"),
    "api.changing": ("add", "index", "remove", "run", "scan"),
    "api.keeping": ("doctor", "drop", "status"),
    "api.cluster_meaning": ("drift", "fill", "lineage", "templates"),
    "api.deduplicating": ("cluster_texts", "dedupe"),
    "api.linking": ("link",),
    "api.quality": ("evaluate", "plan", "report", "verify"),
    "api.text_extraction": ("extract", "split"),
    "demo.samples": ("sample",),
    "errors": ("NothingCompared",),
    "jobs.settings": ("Settings",),
    "store.registry": ("open_store",),
}


def __getattr__(name: str) -> Any:
    """Import what is used when it is first used: `import esdedup` itself costs nothing."""
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"esdedup.{home}"), name)
            return value
    raise AttributeError(f"module 'esdedup' has no attribute {name!r}")
