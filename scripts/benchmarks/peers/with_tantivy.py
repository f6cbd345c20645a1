"""tantivy: an index of texts by words or by groups of four letters, and the first hit of each question (BM25)."""

import tempfile
import time
from pathlib import Path

import numpy as np
import tantivy
from serving import Arrays, serve


def search(texts: list[str], asked: int, letters: bool) -> Arrays:
    """The last `asked` texts are the questions. Seconds are those of building the index."""
    kind = tantivy.Tokenizer.ngram(4, 4, False) if letters else tantivy.Tokenizer.simple()
    analyzer = tantivy.TextAnalyzerBuilder(kind).filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.ascii_fold())
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name="ours", index_option="freq")
    builder.add_integer_field("number", stored=True)
    stored = len(texts) - asked
    built = analyzer.build()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        index = tantivy.Index(builder.build(), path=folder)
        index.register_tokenizer("ours", built)
        writer = index.writer(heap_size=300_000_000, num_threads=2)
        for number, text in enumerate(texts[:stored]):
            writer.add_document(tantivy.Document(text=[text], number=[number]))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        took = time.perf_counter() - began
        searcher = index.searcher()
        first, waits = np.full(asked, -1), np.zeros(asked)
        for at, text in enumerate(texts[stored:]):
            began = time.perf_counter()
            terms = dict.fromkeys(built.analyze(text))
            clauses = [(tantivy.Occur.Should, tantivy.Query.term_query(index.schema, "text", term)) for term in terms]
            hits = searcher.search(tantivy.Query.boolean_query(clauses), 100, count=False).hits
            if hits:
                first[at] = searcher.doc(hits[0][1])["number"][0]
            waits[at] = time.perf_counter() - began
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
    return {"first": first, "waits": waits, "bytes": size, "seconds": took}


serve({"search": search})
