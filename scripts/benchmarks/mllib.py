"""python -m scripts.benchmarks.mllib TEXTS OUT MASTER: what Spark's own MinHashLSH finds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.ml.feature import HashingTF, MinHashLSH
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

SHINGLE = 12
"""Characters, as in esdedup."""

FEATURES = 2**22
TABLES = 3
"""With one minimum each, two texts of Jaccard 0.8 meet in 1 - 0.2 ** 3 = 0.992 of cases; with two tables in 0.96."""

THRESHOLD = 0.8


def main() -> None:
    source, out, master = sys.argv[1:]
    options = {"spark.ui.enabled": "false", "spark.driver.memory": "8g"}
    spark = SparkSession.builder.master(master).config(map=options).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    text = sql.col("text")
    places = sql.sequence(sql.lit(1), sql.greatest(sql.lit(1), sql.length(text) - (SHINGLE - 1)))
    shingles = sql.array_distinct(sql.transform(places, lambda place: sql.substring(text, place, sql.lit(SHINGLE))))
    rows = spark.read.parquet(source).select("id", shingles.alias("shingles"))
    sets = (
        HashingTF(numFeatures=FEATURES, binary=True, inputCol="shingles", outputCol="features").transform(rows).cache()
    )
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=TABLES, seed=1).fit(sets)
    found = model.approxSimilarityJoin(sets, sets, 1 - THRESHOLD + 1e-9, "distance")
    pairs = found.select(sql.col("datasetA.id").alias("a"), sql.col("datasetB.id").alias("b")).where("a < b").distinct()
    Path(out).write_text("".join(json.dumps({"a": row.a, "b": row.b}) + "\n" for row in pairs.collect()), "utf-8")


if __name__ == "__main__":
    main()
