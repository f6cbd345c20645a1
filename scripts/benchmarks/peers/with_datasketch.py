"""datasketch: MinHash in bulk, MinHashLSH, candidates unverified."""

import numpy as np
from datasketch import MinHash, MinHashLSH
from serving import BANDS, ROWS, Arrays, clusters, serve, shingles


def job(texts: list[str]) -> Arrays:
    tokens = ([shingle.encode() for shingle in shingles(text)] for text in texts)
    signatures = MinHash.bulk(tokens, num_perm=BANDS * ROWS)
    index = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    for number, signature in enumerate(signatures):
        index.insert(number, signature, check_duplication=False)
    return clusters([index.query(signature) for signature in signatures])


def documents(texts: list[str]) -> Arrays:
    """As the page about MinHash LSH shows it: sets of words, 128 permutations, threshold 0.5."""
    signatures = MinHash.bulk([{word.encode() for word in text.split()} for text in texts], num_perm=128)
    index = MinHashLSH(threshold=0.5, num_perm=128)
    kept = np.ones(len(texts), np.bool_)
    for number, signature in enumerate(signatures):
        if index.query(signature):
            kept[number] = False
        else:
            index.insert(number, signature)
    return {"kept": kept}


def nearest(texts: list[str], asked: int) -> Arrays:
    """The most similar text for each of the last ones, of those with an estimated Jaccard of 0.5 or more; or -1."""
    signatures = MinHash.bulk([[part.encode() for part in shingles(text.lower())] for text in texts], num_perm=128)
    index = MinHashLSH(threshold=0.5, num_perm=128)
    stored = len(texts) - asked
    for number, signature in enumerate(signatures[:stored]):
        index.insert(number, signature, check_duplication=False)
    first = np.full(asked, -1)
    for number, signature in enumerate(signatures[stored:]):
        found = index.query(signature)
        if found:
            first[number] = max(found, key=lambda other: signature.jaccard(signatures[other]))
    return {"first": first}


serve({"nearest": nearest, "job": job, "documents": documents})
