"""The words of texts that show their topic: lower case, no stop words, no numbers, no signs, and their stems.

As in Meng and Zheng ("Similar Sentence Detection Using MinHash and Random Projection on Wikipedia", section 4.2.2).
Each distinct word of a column is processed only once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.hashing import Hashes, Offsets, content_hashes
from esdedup.text.normalize import normalize, stems
from esdedup.text.words import find_words

_ENGLISH = """
a about above after again against all also although am among an and another any are aren't around as at
be became because become been before being below between both but by
can can't cannot could couldn't did didn't do does doesn't doing don't done down during
each either else etc even ever every few for from further
had hadn't has hasn't have haven't having he he'd he'll he's hence her here here's hers herself him himself his how
however i i'd i'll i'm i've if in indeed instead into is isn't it it'd it'll it's its itself just
least less let's like many may me might mine more most much must my myself
neither never no nor not now of off often on once one only onto or other others otherwise our ours ourselves out over
own per perhaps quite rather same she she'd she'll she's should shouldn't since so some such
than that that's the their theirs them themselves then there there's therefore these they they'd they'll they're they've
this those though through thus to together too toward towards
under until up upon us very via was wasn't we we'd we'll we're we've were weren't what what's when where whether which
while who who's whoever whole whom whose why will with within without won't would wouldn't
yet you you'd you'll you're you've your yours yourself yourselves
d ll m re s t ve
"""

_BY_LANGUAGE = {"en": frozenset(_ENGLISH.split())}
_NONE: frozenset[str] = frozenset()


def stop_words(lang: str) -> frozenset[str]:
    """Return the stop words of a language (`en`, `en-GB`), in lower case; empty if there is no list."""
    return _BY_LANGUAGE.get(lang.split("-")[0].split("_")[0], _NONE)


class TopicWords(NamedTuple):
    """Words of n texts as 64-bit hashes: text i has `words[offsets[i]:offsets[i + 1]]`, sorted by hash, and repeated as
    in the text. For each of the `distinct` words (sorted by hash), `stems` is the hash of its stem, and `texts` is the
    number of texts that contain it.
    """

    words: Hashes
    offsets: Offsets
    distinct: Hashes
    stems: Hashes
    texts: Offsets


def topic_words(column: pa.LargeStringArray, lang: str, *, stemmed: bool) -> TopicWords:
    """Return the words of each text, without stop words, numbers and signs. With `stemmed`, also return their stems.

    Words of a language that Snowball does not know are their own stems.
    """
    found, bounds = find_words(normalize(column, "lower", lang))
    coded = pa.array(found, pa.large_string()).dictionary_encode()
    del found
    spelled = coded.dictionary
    lettered = pc.and_not(pc.match_substring_regex(spelled, r"\p{L}"), pc.match_substring_regex(spelled, r"\p{N}"))
    stops = pc.is_in(pc.replace_substring(spelled, "’", "'"), pa.array(sorted(stop_words(lang)), pa.large_string()))
    kept = pc.and_not(lettered, stops).to_numpy(zero_copy_only=False).astype(np.bool_)
    stem_hashes = _hashes(text_column(stems(spelled.to_pylist(), lang)))
    hashes = stem_hashes if stemmed else _hashes(spelled)
    codes = coded.indices.to_numpy(zero_copy_only=False)
    chosen = kept[codes] if len(codes) else np.empty(0, np.bool_)
    holder = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))[chosen]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(holder, minlength=len(bounds) - 1)))).astype(np.int64)
    words = hashes[codes[chosen]]
    order = np.lexsort((words, holder))  # the same order of words for texts with the same words
    words, holder = words[order], holder[order]
    distinct, first = np.unique(hashes[kept], return_index=True)
    new = np.ones(len(words), np.bool_)
    new[1:] = (words[1:] != words[:-1]) | (holder[1:] != holder[:-1])
    texts = np.bincount(np.searchsorted(distinct, words[new]), minlength=len(distinct)).astype(np.int64)
    return TopicWords(words, offsets, distinct, stem_hashes[kept][first], texts)


def _hashes(column: pa.LargeStringArray) -> Hashes:
    return content_hashes(*text_buffers(column))
