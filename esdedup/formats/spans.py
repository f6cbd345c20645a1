"""Split a large source into spans that are read on their own, where its streams begin."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from esdedup.formats.compression.opener import first_bytes
from esdedup.formats.compression.protocol import Span, compression_of
from esdedup.formats.locations import Source

SPAN_BYTES = 64 * 2**20
"""Size of a span, as it lies on disk."""


def split(source: Source) -> list[Source]:
    """Return a source as spans of about `SPAN_BYTES`, in order; the source itself if it cannot be split.

    A span may begin where a stream of the compressed file does, if the format lets one begin with what is there.
    """
    path, count = source.path, source.size // SPAN_BYTES
    compression = None if path is None else compression_of(path.suffix)
    if path is None or compression is None or count < 2:
        return [source]
    first, seams = b"", [Span(0)]
    for place in compression.seams(path, [source.size * part // count for part in range(1, count)]):
        first = first or first_bytes(path)
        around = source.format.seam(first, first_bytes(path, place))
        if around is not None:
            seams[-1] = seams[-1]._replace(end=place, after=around[1])
            seams.append(Span(place, before=around[0]))
    if len(seams) == 1:
        return [source]
    ends = [two.begin - one.begin for one, two in pairwise([*seams, Span(source.size)])]
    return [replace(source, span=span, size=size) for span, size in zip(seams, ends, strict=True)]
