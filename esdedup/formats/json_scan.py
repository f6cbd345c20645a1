"""Where the values of a JSON text begin and end, in one pass over its bytes."""

from __future__ import annotations

import numpy as np

from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled


@compiled
def find_values(data: Bytes, first: int, state: Numbers, in_array: bool) -> Numbers:
    """Return where values begin and end, shape (n, 2), of those that end in data[first:].

    `state` goes from one call to the next: how deep the place is in values, whether it is in a string, whether behind a
    backslash, where the value begins that it is in (-1 for none), and whether the array has ended. Commas and white
    space part values.
    """
    found = np.empty((len(data) - first + 1, 2), np.int64)
    count = 0
    depth, inside, escaped, begin = state[0], state[1], state[2], state[3]
    at = first
    while at < len(data) and state[4] == 0:
        byte = data[at]
        if inside:
            if escaped:
                escaped = 0
            elif byte == 92:
                escaped = 1
            elif byte == 34:
                inside = 0
        elif byte == 34:
            inside = 1
            begin = at if begin < 0 else begin
        elif byte == 123 or byte == 91:
            begin = at if begin < 0 else begin
            depth += 1
        elif byte == 125 or byte == 93:
            if depth > 0:
                depth -= 1
                if depth == 0:
                    found[count, 0], found[count, 1] = begin, at + 1
                    count += 1
                    begin = -1
            else:
                if begin >= 0:
                    found[count, 0], found[count, 1] = begin, at
                    count += 1
                    begin = -1
                if in_array:
                    state[4] = 1
        elif depth == 0 and (byte == 44 or byte == 32 or (byte >= 9 and byte <= 13)):
            if begin >= 0:
                found[count, 0], found[count, 1] = begin, at
                count += 1
                begin = -1
        elif begin < 0:
            begin = at
        at += 1
    state[0], state[1], state[2], state[3] = depth, inside, escaped, begin
    return found[:count].copy()
