"""Stop words: one short list for each language; other languages have none.

The last line contains the remains of words that are cut at an apostrophe, as in 1990's.
"""

from __future__ import annotations

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
