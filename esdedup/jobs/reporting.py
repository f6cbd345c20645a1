"""The verb that makes a page and plots of results."""

from __future__ import annotations

from pathlib import Path

from esdedup.files import whole_file
from esdedup.jobs.preconditions import Address
from esdedup.jobs.questions import opened_results
from esdedup.jobs.steps import make_folder
from esdedup.jobs.summary import REPORT, described
from esdedup.output.drawing import FORMS
from esdedup.output.histogram import draw_cluster_sizes
from esdedup.output.kinds_plot import draw_kinds
from esdedup.output.report_page import report_page
from esdedup.output.sizes import sizes_of_kinds
from esdedup.store.store import Store


def report(*, store: Address | Store, out: Address) -> list[Path]:
    """Write the results of `store` to the folder `out`, as a page and plots. Return their paths.

    report.html needs no other file and no network: counts, kinds, sizes, the most contradictory and the largest
    clusters, templates, what was skipped, the settings and the commands to reproduce it. Beside it are
    cluster-sizes.png and .svg and, if clusters were classified, kinds.png and .svg. The same results give the same
    bytes. Raise `StoreError` if nothing was scanned, or something has changed since.
    """
    folder = Path(out)
    with opened_results(store) as opened:
        make_folder(folder)
        pages = {REPORT: report_page(opened, described(opened)).encode()}
        sizes = opened.results.sizes()
        of_kinds = sizes_of_kinds(opened)
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
