"""datasketch: MinHash in bulk, MinHashLSH, candidates unverified."""

from datasketch import MinHash, MinHashLSH
from serving import BANDS, ROWS, Arrays, clusters, serve, shingles


def job(texts: list[str]) -> Arrays:
    tokens = ([shingle.encode() for shingle in shingles(text)] for text in texts)
    signatures = MinHash.bulk(tokens, num_perm=BANDS * ROWS)
    index = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    for number, signature in enumerate(signatures):
        index.insert(number, signature, check_duplication=False)
    return clusters([index.query(signature) for signature in signatures])


serve({"job": job})
