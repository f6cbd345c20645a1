"""Every file and every answer: its class, who writes it, and what makes an example of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from esdedup.output.contents import (
    certificate_answers,
    comparisons,
    dedupe_answers,
    job_answers,
    meaning_answers,
    node_answers,
    quality_answers,
)


class Content(NamedTuple):
    """A file, or an answer of `--json`. `row` is the class of each line, or of all of it.

    `example` is the path of such a file, or the commands of which the last one answers so. They run one after another,
    in one folder that has `towns.xml`.
    """

    name: str
    row: Any
    title: str
    written_by: str
    purpose: str
    example: str = ""


FILES = (
    Content(
        "clusters", comparisons.StoredCluster, "`clusters.jsonl`, `clusters.parquet`", "`run`, `scan`, `add`",
        "One line for each cluster, with all its sentences. The largest come first; clusters of one size are in the "
        "order of their ids.",
        "found/clusters.jsonl",
    ),
    Content(
        "pairs", comparisons.Pair, "`pairs.jsonl`, `pairs.parquet`", "`run`, `scan`, `add`",
        "One line for each pair of different texts that are near-duplicates, by `a` and `b`.",
        "found/pairs.jsonl",
    ),
    Content(
        "summary", job_answers.Summary, "`summary.json`", "`run`, `scan`, `add`",
        "One object: what was read, what was found, with which settings, and how long it took.",
        "found/summary.json",
    ),
    Content(
        "drops", dedupe_answers.Drop, "`drops.jsonl`", "`dedupe`",
        "One line for each text that is dropped, in reading order: which text is kept instead, and why.",
        "clean/drops.jsonl",
    ),
    Content(
        "certificate", certificate_answers.Certificate, "The file that `--certificate` names", "`dedupe --certificate`",
        "One object: what was there, what was written, and what was lost. `verify` checks it.",
    ),
    Content(
        "certificate-rows", certificate_answers.CertifiedRow, "`NAME.HASH.jsonl` beside a certificate",
        "`dedupe --certificate`",
        "One line for each removed text, in reading order: where it stood, and the text that is kept instead.",
    ),
    Content(
        "cleaned-pages", dedupe_answers.CleanedPage, "`DUMP.jsonl`", "`dedupe`, if the source is a wiki dump",
        "One line for each page that has text left.",
        "clean/towns.jsonl",
    ),
    Content(
        "documents", comparisons.Document, "`FILE.jsonl`, `FILE.parquet`", "`extract`",
        "One line for each document that has text. With `--sentences`, one line for each sentence that would be "
        "compared, with the fields of `suggest`.",
        "towns.jsonl",
    ),
    Content(
        "annotation", dedupe_answers.Note, "The field `esdedup` of a record", "`dedupe --annotate`",
        "A field that is added to each record. In CSV and Parquet files it is a column with the JSON as text. It is "
        "an object if whole records are compared, or a list with an object for each clustered sentence.",
    ),
    Content(
        "frames", meaning_answers.FrameRow, "`frames.jsonl`", "`templates --out`",
        "One line for each template. Its table is a file of its own, `CLUSTER.csv` or `CLUSTER.parquet`.",
        "tables/frames.jsonl",
    ),
    Content(
        "planted-clusters", quality_answers.PlantedCluster, "`demo.truth.jsonl`", "`demo`",
        "One line for each cluster that the demo has planted in its wiki.",
    ),
)  # fmt: skip

ANSWERS = (
    Content(
        "run", job_answers.Summary, "`run`, `scan`", "",
        "The content of `summary.json`.",
        "run towns.xml --out found --revisions all --jaccard 0.7",
    ),
    Content(
        "index", job_answers.Indexed, "`index`", "",
        "What the store contains, and what was read.",
        "index towns.xml --limit 3 --store few.duckdb",
    ),
    Content(
        "add", job_answers.Added, "`add`", "",
        "The content of `summary.json`, and what is new.",
        "scan --out earlier --jaccard 0.7 --store few.duckdb\nadd towns.xml --matches 1 --store few.duckdb",
    ),
    Content(
        "extract", job_answers.Extracted, "`extract`", "",
        "What was written.",
        "extract towns.xml -o towns.jsonl",
    ),
    Content(
        "status", job_answers.Status, "`status`", "",
        "What the store contains.",
        "status --store found/store.duckdb",
    ),
    Content(
        "doctor", job_answers.Examined, "`doctor`", "",
        "What was checked, what is wrong, and what mends it.",
        "doctor --store found/store.duckdb",
    ),
    Content(
        "suggest", comparisons.Completion, "`suggest`", "",
        "One line for each text, best first.",
        "suggest 'in 1904' --store found/store.duckdb",
    ),
    Content(
        "similar", comparisons.Hit, "`similar`", "",
        "One line for each sentence, most similar first.",
        "similar 'The mills were closed in the winter after the great flood, and their machines were sold.' --store "
        "found/store.duckdb",
    ),
    Content(
        "similar-to-each", comparisons.Answer, "`similar --file`", "",
        "One line for each question, in their order.",
        "similar --file questions.jsonl --store found/store.duckdb",
    ),
    Content(
        "explain", comparisons.Explanation, "`explain`", "",
        "Measures of two sentences, and the verdict.",
        "explain 1:1 4:0 --store found/store.duckdb",
    ),
    Content(
        "clusters-listed", comparisons.Cluster, "`clusters`", "",
        "One line for each cluster, as in `clusters.jsonl`; with `--since`, also how it has changed.",
        "clusters --since earlier --store few.duckdb",
    ),
    Content(
        "remove", job_answers.Removed, "`remove`", "",
        "What was deleted, and what is left.",
        "remove 4 --store few.duckdb",
    ),
    Content(
        "overlap", comparisons.OverlapRow, "`overlap`", "",
        "One line for each pair of documents or sources.",
        "overlap --store found/store.duckdb",
    ),
    Content(
        "drift", meaning_answers.Contradiction, "`drift`", "",
        "One line for each contradiction.",
        "drift --store found/store.duckdb",
    ),
    Content(
        "stale", meaning_answers.StaleFact, "`drift --stale`", "",
        "One line for each correction that did not arrive.",
        "drift --stale --store found/store.duckdb",
    ),
    Content(
        "templates", meaning_answers.Template, "`templates`", "",
        "One line for each template.",
        "templates --out tables --store found/store.duckdb\ntemplates --store found/store.duckdb",
    ),
    Content(
        "lineage", meaning_answers.Lineage, "`lineage`", "",
        "Trees of copies, and who added them.",
        "lineage --limit 1 --store found/store.duckdb",
    ),
    Content(
        "verify", certificate_answers.Verified, "`verify`", "",
        "What is not true of a certificate, and what was not checked.",
        "dedupe towns.xml -o proven --certificate cert.json\nverify cert.json",
    ),
    Content(
        "dedupe", dedupe_answers.Written, "`dedupe`", "",
        "What was written and dropped.",
        "dedupe towns.xml --out marked --annotate --jaccard 0.7\ndedupe towns.xml --out clean --jaccard 0.7",
    ),
    Content(
        "evaluate", quality_answers.Evaluation, "`evaluate`", "",
        "Scores of clusters and pairs.",
        "evaluate --truth exact --golden found/clusters.txt --store found/store.duckdb",
    ),
    Content(
        "plan", quality_answers.Plan, "`plan`", "",
        "Ways to sign texts, compared.",
        "plan --schemes 10x4",
    ),
    Content(
        "report", job_answers.Reported, "`report`", "",
        "The files that were written.",
        "report --out report --store found/store.duckdb",
    ),
    Content(
        "demo", quality_answers.DemoRun, "`demo`", "",
        "What was found of what was planted.",
    ),
    Content(
        "kibana-import", job_answers.Imported, "`kibana import`", "",
        "What was imported or written.",
        "kibana import --out towns.ndjson --store http://127.0.0.1:9200/towns",
    ),
    Content(
        "node-start", node_answers.NodeStarted, "`node start`", "",
        "The node that runs.",
    ),
    Content(
        "node-status", node_answers.NodeStatus, "`node status`", "",
        "The node of a data folder.",
        "node status --data node",
    ),
    Content(
        "node-stop", node_answers.NodeStopped, "`node stop`", "",
        "Whether a node has ended.",
    ),
)  # fmt: skip
