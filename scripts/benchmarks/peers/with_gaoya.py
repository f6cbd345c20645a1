"""gaoya: all cores, its own shingles, pairs by estimated Jaccard."""

from gaoya.minhash import MinHashStringIndex
from serving import BANDS, ROWS, SHINGLE, THRESHOLD, Arrays, clusters, serve


def job(texts: list[str], bands: int = BANDS) -> Arrays:
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=THRESHOLD,
        num_bands=bands,
        band_size=ROWS,
        analyzer="char",
        ngram_range=(SHINGLE, SHINGLE),
        id_container="vec",
    )
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    return clusters(index.par_bulk_query(texts))


serve({"job": job})
