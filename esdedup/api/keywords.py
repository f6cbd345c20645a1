"""The options of the verbs as types: made by `python scripts/keywords.py` from their declarations."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypedDict


class ReadingOptions(TypedDict, total=False):
    """How sources are read. None means the default."""

    format: (
        Literal["wikipedia", "tsv", "csv", "jsonl", "json", "parquet", "arrow", "text", "lines", "warc", "snapshot"]
        | None
    )
    """Format of the sources. Default: by their names."""

    source_name: str | None
    """Name of the source; document ids become NAME/ID."""

    limit: int | None
    """Read only the first N documents of each source."""

    part: str | None
    """Load one of N parts, each on its own machine: by page id, or line, modulo N."""

    max_text: int | None
    """Skip texts larger than SIZE, and lines or cells that hold them (they are not compared). Default: 64MiB, at
    most 1/16 of the memory."""

    contributors: bool | None
    """Keep the contributor of each revision. Only with format "wikipedia". Default: True."""

    namespaces: tuple[int, ...] | None
    """Namespaces of a wiki to read. Only with format "wikipedia". Default: 0."""

    revisions: Literal["latest", "all"] | None
    """Revisions of a page to read. With all, each sentence is kept once a page, with its first and last revision.
    Only with format "wikipedia". Default: 'latest'."""

    wikitext: Literal["fast", "reference"] | None
    """Cleaner that removes wiki markup. Only with format "wikipedia". Default: 'fast'."""

    id_column: str | None
    """Column of ids: a name, dotted path or number from 1; or line, for line numbers. Only with format "tsv",
    "csv", "jsonl", "json", "parquet", "arrow" or "snapshot"."""

    title_column: str | None
    """Column of titles. Only with format "tsv", "csv", "jsonl", "json", "parquet", "arrow" or "snapshot"."""

    text_column: str | None
    """Column of texts: a name or path, as messages[].content. Several, parted by commas, are joined; '*' is all but
    the id, each labelled with its name. Only with format "tsv", "csv", "jsonl", "json", "parquet", "arrow" or
    "snapshot"."""

    ids: Literal["source", "across"] | None
    """Where an id means one record: in its source, or across all sources (a corpus in shards). Only with format
    "tsv", "csv", "jsonl", "json", "parquet", "arrow" or "snapshot". Default: source."""

    markup: Literal["wikitext", "html"] | None
    """Markup of the texts, which is removed before they are compared. Only with format "tsv", "csv", "jsonl",
    "json", "parquet", "arrow" or "snapshot". Default: none."""

    encoding: str | None
    """Encoding of the source, such as cp1252, latin-1, utf-16 or shift_jis. Only with format "tsv", "csv", "jsonl",
    "json", "text", "lines" or "snapshot". Default: 'utf-8'."""

    separator: str | None
    """Column separator. Only with format "tsv" or "csv". Default: tab in TSV, comma in CSV."""

    header: bool | None
    """Whether the first line contains the column names. Only with format "tsv" or "csv". Default: in CSV."""

    max_quoted_lines: int | None
    """Lines that a record with quotes may span; more are an error: a quote is not closed. Only with format "csv".
    Default: 10,000."""


class SigningOptions(TypedDict, total=False):
    """What is compared, and how it is signed: frozen with a store's first document. None means the default."""

    unit: Literal["auto", "sentence", "paragraph", "line", "record"] | None
    """What is compared. Default: auto: sentence for dumps and texts, record for tables."""

    lang: str | None
    """Language of the text, for splitting and stemming. Default: auto: what the dump says, else what each text
    shows, else en."""

    templates: str | None
    """More wiki templates, and what a reader sees of them (TOML)."""

    min_chars: int | None
    """Skip units shorter than N characters (they are not compared). Default: 75 for sentences in scripts with
    spaces, else by script and unit."""

    max_chars: int | None
    """Skip units longer than N characters (they are not compared). Default: 600 for sentences in scripts with
    spaces, else by script and unit."""

    normalize: Literal["none", "fold", "fold-accents", "lower", "words", "stem", "expanded"] | None
    """How a text is normalized before it is shingled. Default: none for sentences, else fold."""

    shingle: str | None
    """Shingles of N characters (char:N) or N words (word:N). Default: by unit, script and length."""

    hash_bits: int | None
    """Number of bits of a MinHash value. Default: 60."""

    seed: int | None
    """Seed of the hash functions. Default: 1123456."""

    signer: Literal["minhash"] | None
    """minhash (minimum hash values, in bands or draws)."""

    bands: int | None
    """Number of tokens of a text. Default: 10 for sentences, else 28."""

    rows: int | None
    """Number of MinHash values in a token. Default: 4 for sentences, else 5."""

    hashes: int | None
    """Draw tokens from a pool of N MinHash values, instead of bands."""

    draw: int | None
    """Number of values of the pool in a token."""

    draws: int | None
    """Number of tokens of a text, drawn from the pool."""


class ScanOptions(TypedDict, total=False):
    """Where candidates come from, what makes a pair of them, and what makes a cluster. None means the default."""

    jaccard: float | None
    """Minimum Jaccard similarity of a pair. Default: 0.8 for sentences, else 0.7."""

    word_edit_distance: int | None
    """Maximum word edit distance of a pair. Default: no limit."""

    across: Literal["any", "documents", "sources"] | None
    """Only find pairs between different documents or sources. Default: 'any'."""

    one_per_source: bool | None
    """At most one text of each source in a cluster, by the best assignment: links tables without duplicates.
    Default: any number."""

    ignore: str | Path | None
    """File of texts or cluster ids to ignore, one per line."""

    exact: bool | None
    """Short for candidates="exact"."""

    linkage: Literal["single", "star"] | None
    """single (connected components), star (a centre with its neighbours)."""

    verify: Literal["exact", "cosine", "probability", "words", "none"] | None
    """exact (by exact Jaccard similarity), cosine (by the cosine of vectors), probability (by the probability that
    two records are the same), words (by words that differ), none (every candidate is a pair)."""

    cosine: float | None
    """Minimum cosine of a pair. Only with verify "cosine". Default: 0.9."""

    candidates: Literal["tokens", "exact", "records", "projection", "agreement", "queries"] | None
    """tokens (texts that share a signature token), exact (all pairs, nothing left to chance), records (records with
    values in common, compared field by field), projection (sentence vectors whose signatures differ in few bits),
    agreement (texts whose signatures mostly agree), queries (best matches of each record, as by a search
    engine)."""

    min_probability: float | None
    """Least probability of a pair. Only with candidates "records". Default: that of the highest expected F1."""

    fields: str | None
    """What is guessed wrong: COLUMN:KIND is the kind of a column, ONE=TWO are columns of two tables that mean the
    same, and FIRST+LAST=NAME if two are one there. Only with candidates "records"."""

    labels: str | Path | None
    """CSV of pairs that are known, as `review` writes it. Only with candidates "records"."""

    review: str | Path | None
    """Write the least certain pairs to a CSV, to say which are the same. Only with candidates "records"."""

    vectors: str | Path | None
    """File of word vectors in word2vec's format. Only with candidates "projection". Default: drawn from the
    seed."""

    vector_length: int | None
    """Length of randomly drawn word vectors. Only with candidates "projection". Default: 400."""

    signature_bits: int | None
    """Number of bits of a signature (random hyperplanes). Only with candidates "projection". Default: 100."""

    permutations: int | None
    """Number of random bit orders in which signatures are sorted. Only with candidates "projection". Default:
    10."""

    window: int | None
    """Number of neighbors that a signature is compared with, in each order. Only with candidates "projection".
    Default: 10."""

    hamming: int | None
    """Maximum number of bits that differ in a candidate. Only with candidates "projection". Default: 5."""

    signature: int | None
    """Number of MinHash values of a text. Only with candidates "agreement" or "queries". Default: 200 with
    agreement. Default: 20 with queries."""

    agreement: float | None
    """Pairs agree on more than this share of the values. Only with candidates "agreement". Default: 0.5."""

    query_by: Literal["shingles", "signature"] | None
    """Terms of a query. Only with candidates "queries". Default: 'shingles'."""

    same_first_word: bool | None
    """Only find records with the same first word. Only with candidates "queries". Default: False."""

    top: int | None
    """Number of matches of a record that are verified. Only with candidates "queries". Default: 10."""

    reciprocal: bool | None
    """Only keep pairs that are each other's best match. Only with candidates "queries". Default: False."""


class KindsOption(TypedDict, total=False):
    """Whether clusters are classified. None means the default."""

    kinds: bool | None
    """Classify clusters by kind. Default: True."""


class ResourceOptions(TypedDict, total=False):
    """What the job may use of the machine. None means the default."""

    workers: int | None
    """Number of processes. Default: one per core."""

    memory: int | str | None
    """Memory that all processes may use together. Default: 1GiB."""

    engine: str | None
    """Where pairs are found: local, without Spark; local[N] or local[*], Spark on N or all cores of this machine;
    spark://HOST:PORT, yarn or k8s://HOST:PORT, a cluster; or spark, the master that Spark's configuration names.
    The result is the same. Default: 'local'."""


class PresetOption(TypedDict, total=False):
    """A preset. None means the default."""

    preset: str | None
    """Name of a preset, whose options hold where no other is given."""


class IndexOptions(ReadingOptions, SigningOptions, ResourceOptions, PresetOption, total=False):
    """Options of `index`."""


class FindOptions(ScanOptions, KindsOption, ResourceOptions, PresetOption, total=False):
    """Options of `scan`."""


class DedupeOptions(ReadingOptions, SigningOptions, ScanOptions, ResourceOptions, PresetOption, total=False):
    """Options of `dedupe`."""


class TableOptions(SigningOptions, ScanOptions, ResourceOptions, PresetOption, total=False):
    """Options of `dedupe` for a table in memory."""


class RunOptions(DedupeOptions, KindsOption, total=False):
    """Options of `run` and `add`."""
