"""The page and the plots of results."""

from __future__ import annotations

from pathlib import Path

from esdedup.files import whole_file
from esdedup.jobs.steps import make_folder
from esdedup.jobs.summary import REPORT, described
from esdedup.output.drawing import FORMS
from esdedup.output.histogram import draw_cluster_sizes
from esdedup.output.kinds_plot import draw_kinds
from esdedup.output.report_page import report_page
from esdedup.output.sizes import sizes_of_kinds
from esdedup.store.store import Store


def write_report(store: Store, folder: Path) -> list[Path]:
    """Write the results of a store to a folder, as a page and plots. Return their paths. The same results give the same
    bytes.

    report.html needs no other file and no network: counts, kinds, sizes, the most contradictory and the largest
    clusters, templates, what was skipped, the settings and the commands to reproduce it. Beside it are
    cluster-sizes.png and .svg and, if clusters were classified, kinds.png and .svg.
    """
    make_folder(folder)
    pages = {REPORT: report_page(store, described(store)).encode()}
    sizes = store.results.sizes()
    of_kinds = sizes_of_kinds(store)
    for form in FORMS:
        pages[f"cluster-sizes.{form}"] = draw_cluster_sizes(sizes, form)
        if of_kinds:
            pages[f"kinds.{form}"] = draw_kinds(of_kinds, form)
        else:
            (folder / f"kinds.{form}").unlink(missing_ok=True)  # from earlier results, and outdated
    for name, content in pages.items():
        with whole_file(folder / name) as part:
            part.write_bytes(content)
    return [folder / name for name in pages]
