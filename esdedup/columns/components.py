"""Union-find on a flat array: which numbers are connected.

For each number, `parent` has a smaller or equal number of the same component. So the root of a component is its
smallest number, whatever the order of the unions (Tarjan 1975, with path halving).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esdedup.columns.arrays import Numbers
from esdedup.columns.kernels import compiled

Parents = npt.NDArray[np.int32]


@compiled
def find(parent: Parents, number: int) -> int:
    """Return the smallest number of the component that contains `number`."""
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number


@compiled
def unite(parent: Parents, a: Numbers, b: Numbers) -> None:
    """Unite a[i] with b[i] for every i."""
    for index in range(len(a)):
        one, two = find(parent, a[index]), find(parent, b[index])
        if one < two:
            parent[two] = one
        elif two < one:
            parent[one] = two


@compiled
def unite_runs(parent: Parents, keys: Numbers, numbers: Numbers, last_key: int, last_number: int) -> None:
    """Unite the numbers of adjacent equal keys.

    `last_key` and `last_number` are those of the row before, so a table may come in batches.
    """
    for index in range(len(keys)):
        if keys[index] == last_key:
            one, two = find(parent, last_number), find(parent, numbers[index])
            if one < two:
                parent[two] = one
            elif two < one:
                parent[one] = two
        last_key, last_number = keys[index], numbers[index]


@compiled
def roots(parent: Parents, numbers: Numbers) -> Numbers:
    """Return the root of each of `numbers`."""
    out = np.empty(len(numbers), np.int64)
    for index in range(len(numbers)):
        out[index] = find(parent, numbers[index])
    return out
