"""datatrove: its example of MinHash deduplication, on the cores of this machine."""

import json
import os
import tempfile
from pathlib import Path

import numpy as np
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.typeshelper import Languages
from loguru import logger
from serving import Arrays, serve

CONFIG = MinhashConfig(hash_config=HashConfig(precision=64), num_buckets=14, hashes_per_bucket=8)


def documents(texts: list[str]) -> Arrays:
    logger.remove()
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "in").mkdir()
        for part in range(cores):
            with (folder / "in" / f"{part}.jsonl").open("w") as lines:
                for number in range(part, len(texts), cores):
                    lines.write(json.dumps({"id": str(number), "text": texts[number]}) + "\n")
        names = ("signatures", "buckets", "remove", "kept")
        signatures, buckets, remove, kept = (str(folder / name) for name in names)
        reader = JsonlReader(str(folder / "in"))
        stages = (
            ([reader, MinhashDedupSignature(signatures, config=CONFIG, language=Languages.english)], cores),
            ([MinhashDedupBuckets(signatures, buckets, config=CONFIG)], CONFIG.num_buckets),
            ([MinhashDedupCluster(buckets, remove, config=CONFIG)], 1),
            ([reader, MinhashDedupFilter(remove), JsonlWriter(kept, compression=None)], cores),
        )
        for number, (pipeline, tasks) in enumerate(stages):
            LocalPipelineExecutor(
                pipeline, tasks=tasks, workers=min(tasks, cores), logging_dir=str(folder / "logs" / str(number))
            ).run()
        stays = np.zeros(len(texts), np.bool_)
        for path in Path(kept).glob("*.jsonl"):
            for line in path.read_text("utf-8").splitlines():
                stays[int(json.loads(line)["id"])] = True
    return {"kept": stays}


if __name__ == "__main__":  # its workers import this file again
    serve({"documents": documents})
