"""rensa: R-MinHash in one batch call, its own LSH, candidates unverified; and the batch call alone."""

from serving import BANDS, ROWS, THRESHOLD, Arrays, clusters, serve, shingles, use_cores

use_cores()

import time  # noqa: E402

import numpy as np  # noqa: E402
from rensa import RMinHash, RMinHashLSH  # noqa: E402

SEED = 1


def job(texts: list[str]) -> Arrays:
    signatures = RMinHash.from_token_sets(map(shingles, texts), BANDS * ROWS, SEED)
    index = RMinHashLSH(THRESHOLD, BANDS * ROWS, BANDS)
    index.insert_many(signatures)
    return clusters(index.query_all(signatures))


def sign(texts: list[str], hashes: int) -> Arrays:
    RMinHash.digest_matrix_from_token_sets([shingles(text) for text in texts], hashes, SEED)
    return {}


def sign_shingles(texts: list[str], hashes: int) -> Arrays:
    prepared = [shingles(text) for text in texts]
    began = time.perf_counter()
    RMinHash.digest_matrix_from_token_sets(prepared, hashes, SEED)
    return {"seconds": time.perf_counter() - began}


def values(texts: list[str], hashes: int) -> Arrays:
    matrix = RMinHash.digest_matrix_from_token_sets([shingles(text) for text in texts], hashes, SEED)
    return {"values": np.array(matrix.to_rows(), np.uint32)}


serve({"job": job, "sign": sign, "sign_shingles": sign_shingles, "values": values})
