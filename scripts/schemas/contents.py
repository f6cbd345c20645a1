"""Every file and every answer that has a schema: its class, and who writes it."""

from __future__ import annotations

from typing import Any, NamedTuple

from esdedup.output.contents import (
    comparisons,
    dedupe_answers,
    job_answers,
    meaning_answers,
    node_answers,
    quality_answers,
)


class Content(NamedTuple):
    """A file, or an answer of `--json`. `row` is the class of each line, or of all of it."""

    schema: str
    row: Any
    title: str
    written_by: str
    purpose: str


FILES = (
    Content(
        "clusters", comparisons.StoredCluster, "`clusters.jsonl`, `clusters.parquet`", "`run`, `scan`, `add`",
        "One line for each cluster, with all its sentences. The largest come first; clusters of one size are in the "
        "order of their ids.",
    ),
    Content(
        "pairs", comparisons.Pair, "`pairs.jsonl`, `pairs.parquet`", "`run`, `scan`, `add`",
        "One line for each pair of different texts that are near-duplicates, by `a` and `b`.",
    ),
    Content(
        "summary", job_answers.Summary, "`summary.json`", "`run`, `scan`, `add`",
        "One object: what was read, what was found, with which settings, and how long it took.",
    ),
    Content(
        "drops", dedupe_answers.Drop, "`drops.jsonl`", "`dedupe`",
        "One line for each text that is dropped, in reading order: which text is kept instead, and why.",
    ),
    Content(
        "cleaned-pages", dedupe_answers.CleanedPage, "`DUMP.jsonl`", "`dedupe`, if the source is a wiki dump",
        "One line for each page that has text left.",
    ),
    Content(
        "documents", comparisons.Document, "`FILE.jsonl`, `FILE.parquet`", "`extract`",
        "One line for each document that has text. With `--sentences`, one line for each sentence that would be "
        "compared, with the fields of `suggest`.",
    ),
    Content(
        "annotation", dedupe_answers.Note, "The field `esdedup` of a record", "`dedupe --annotate`",
        "A field that is added to each record. In CSV and Parquet files it is a column with the JSON as text. It is an "
        "object if whole records are compared, or a list with an object for each clustered sentence.",
    ),
    Content(
        "frames", meaning_answers.FrameRow, "`frames.jsonl`", "`templates --out`",
        "One line for each template. Its table is a file of its own, `CLUSTER.csv` or `CLUSTER.parquet`.",
    ),
    Content(
        "planted-clusters", quality_answers.PlantedCluster, "`demo.truth.jsonl`", "`demo`",
        "One line for each cluster that the demo has planted in its wiki.",
    ),
)  # fmt: skip

ANSWERS = (
    Content("run", job_answers.Summary, "`run`, `scan`", "", "The content of `summary.json`."),
    Content("index", job_answers.Indexed, "`index`", "", "What the store contains, and what was read."),
    Content("add", job_answers.Added, "`add`", "", "The content of `summary.json`, and what is new."),
    Content("extract", job_answers.Extracted, "`extract`", "", "What was written."),
    Content("remove", job_answers.Removed, "`remove`", "", "What was deleted, and what is left."),
    Content("status", job_answers.Status, "`status`", "", "What the store contains."),
    Content("doctor", job_answers.Examined, "`doctor`", "", "What was checked, what is wrong, and what mends it."),
    Content("suggest", comparisons.Completion, "`suggest`", "", "One line for each text, best first."),
    Content("similar", comparisons.Hit, "`similar`", "", "One line for each sentence, most similar first."),
    Content(
        "similar-to-each", comparisons.Answer, "`similar --file`", "", "One line for each question, in their order."
    ),
    Content("explain", comparisons.Explanation, "`explain`", "", "Measures of two sentences, and the verdict."),
    Content(
        "clusters-listed", comparisons.Cluster, "`clusters`", "",
        "One line for each cluster, as in `clusters.jsonl`; with `--since`, also how it has changed.",
    ),
    Content("overlap", comparisons.OverlapRow, "`overlap`", "", "One line for each pair of documents or sources."),
    Content("drift", meaning_answers.Contradiction, "`drift`", "", "One line for each contradiction."),
    Content("templates", meaning_answers.Template, "`templates`", "", "One line for each template."),
    Content("lineage", meaning_answers.Lineage, "`lineage`", "", "Trees of copies, and who added them."),
    Content("dedupe", dedupe_answers.Written, "`dedupe`", "", "What was written and dropped."),
    Content("evaluate", quality_answers.Evaluation, "`evaluate`", "", "Scores of clusters and pairs."),
    Content("plan", quality_answers.Plan, "`plan`", "", "Ways to sign texts, compared."),
    Content("report", job_answers.Reported, "`report`", "", "The files that were written."),
    Content("demo", quality_answers.DemoRun, "`demo`", "", "What was found of what was planted."),
    Content("kibana-import", job_answers.Imported, "`kibana import`", "", "What was imported or written."),
    Content("node-start", node_answers.NodeStarted, "`node start`", "", "The node that runs."),
    Content("node-status", node_answers.NodeStatus, "`node status`", "", "The node of a data folder."),
    Content("node-stop", node_answers.NodeStopped, "`node stop`", "", "Whether a node has ended."),
)  # fmt: skip
