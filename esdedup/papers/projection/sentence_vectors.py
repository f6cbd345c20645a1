"""Vectors of the texts of a scan: a first pass counts their words, then the vectors of any texts can be added up.

The scan's database has three tables. `worded` (number, words) has the words of each text as hashes, in order. `counted`
(word, stem, texts) has a row for each word of each slice of texts. `vocabulary` has the words with a vector, and their
weight or their position in the file.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.errors import VectorsError
from esdedup.matching.signing import Signing
from esdedup.matching.verify.edits import in_parts
from esdedup.papers.projection.hyperplanes import Sums, add_hashed, add_rows, hashed_key
from esdedup.papers.projection.projection_options import ProjectionOptions
from esdedup.papers.projection.word_vectors import Vectors, VectorsFile
from esdedup.text.topics import topic_words


class SentenceVectors:
    """Word vectors and their sums. They come from a file or, without one, are drawn from the seed and weighted by
    rarity.

    The sum of a text's word vectors has the same direction as their mean, and only directions are compared. `budget`
    limits the bytes of word vectors while they are added. Raises `VectorsError` if the file is unusable.
    """

    def __init__(self, db: Database, signing: Signing, options: ProjectionOptions, budget: int, threads: int) -> None:
        self._db = db
        self._lang = signing.word_lang
        self._file = None if options.vectors is None else VectorsFile(options.vectors)
        self.length = options.vector_length if self._file is None else self._file.length
        self.state = 0 if self._file is None else self._file.state
        self._key = hashed_key(signing.seed)
        self._rows = max(1, budget // (4 * self.length))
        self._threads = threads
        db.execute("CREATE TABLE IF NOT EXISTS worded (number INTEGER, words UBIGINT[])")
        db.execute("CREATE TABLE IF NOT EXISTS counted (word UBIGINT, stem UBIGINT, texts BIGINT)")

    def read(self, first: int, texts: pa.LargeStringArray) -> None:
        """Put the words of texts, numbered from `first`, into `worded` and `counted`."""
        found = topic_words(texts, self._lang, stemmed=self._file is None)
        numbers = np.arange(first, first + len(texts), dtype=np.int32)
        words = pa.LargeListArray.from_arrays(pa.array(found.offsets), pa.array(found.words))
        self._db.insert("worded", pa.table({"number": numbers, "words": words}))
        self._db.insert("counted", pa.table({"word": found.distinct, "stem": found.stems, "texts": found.texts}))

    def choose_vocabulary(self, texts: int) -> int:
        """Make `vocabulary` after the words of all `texts` texts were read. Return the number of words with
        a vector.
        """
        if self._file is None:
            # never 0, even for a word of all texts: a text of only such words has a direction too
            self._db.execute(
                f"CREATE OR REPLACE TABLE vocabulary AS SELECT word, ln(1 + {texts}::DOUBLE / sum(texts)) AS weight "
                "FROM counted GROUP BY word"
            )
            return self._db.count("SELECT count(*) FROM vocabulary")
        self._db.execute(
            "CREATE OR REPLACE TABLE wanted AS SELECT word FROM counted UNION SELECT stem AS word FROM counted"
        )
        self._db.execute("CREATE OR REPLACE TABLE entries (word UBIGINT, place BIGINT)")
        for words, places in self._file.entries():
            self._db.create("arrived", pa.table({"word": words, "place": places}), temporary=True)
            self._db.execute("INSERT INTO entries SELECT word, place FROM arrived SEMI JOIN wanted USING (word)")
        self._db.execute(
            """
            CREATE OR REPLACE TABLE vocabulary AS
            WITH known AS (SELECT word, min(place) AS place FROM entries GROUP BY word),
                asked AS (SELECT word, min(stem) AS stem FROM counted GROUP BY word)
            SELECT a.word, coalesce(itself.place, stem.place) AS place FROM asked a
            LEFT JOIN known itself ON itself.word = a.word LEFT JOIN known stem ON stem.word = a.stem
            WHERE coalesce(itself.place, stem.place) IS NOT NULL;
            DROP TABLE entries; DROP TABLE wanted; DROP TABLE IF EXISTS arrived
            """
        )
        found = self._db.count("SELECT count(*) FROM vocabulary")
        if not found and self._db.count("SELECT count(*) FROM counted"):
            raise VectorsError(
                f"--vectors {self._file.path}: none of its {self._file.words:,} words is in these texts (words are "
                "looked up in lower case, then by their stems); use vectors of the right language"
            )
        return found

    def sums(self, words: Hashes, offsets: Offsets) -> Sums:
        """Return the sum of the vectors of each text's words, shape (n, length), in the layout of `worded`."""
        sums = np.zeros((len(offsets) - 1, self.length), np.float64)
        distinct, codes = np.unique(words, return_inverse=True)
        self._db.create("asked", pa.table({"word": distinct}), temporary=True)
        known = self._db.arrays("SELECT * FROM asked JOIN vocabulary USING (word) ORDER BY word")
        place = np.full(len(distinct), -1)
        place[np.searchsorted(distinct, known["word"])] = np.arange(len(known["word"]))
        codes = place[codes]
        if self._file is None:
            weights = known["weight"][codes]
            in_parts(
                self._threads,
                len(sums),
                lambda begin, end: add_hashed(words, weights, offsets[begin : end + 1], self._key, sums[begin:end]),
            )
            return sums
        reached = offsets[:-1].copy()
        for first in range(0, len(known["place"]), self._rows):
            self._add(self._file.rows(known["place"][first : first + self._rows]), first, codes, offsets, reached, sums)
        return sums

    def _add(self, rows: Vectors, first: int, codes: Numbers, offsets: Offsets, reached: Offsets, sums: Sums) -> None:
        in_parts(
            self._threads,
            len(sums),
            lambda begin, end: add_rows(
                rows, first, codes, offsets[begin : end + 1], reached[begin:end], sums[begin:end]
            ),
        )
