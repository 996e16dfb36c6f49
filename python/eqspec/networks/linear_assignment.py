"""Which row goes with which: the assignment of least total cost, by shortest augmenting paths.

R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
Computing 38 (1987). A row whose cheapest column no row before it takes begins there. Every other row needs one path,
found by Dijkstra's algorithm on costs that dual prices keep non-negative: O(n^3) operations, of which numpy does the
innermost n at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def assign(costs: NDArray[np.float64]) -> list[int]:
    """The column of each row, no column twice, with the least sum of finite costs (n, m), n <= m."""
    rows, columns = costs.shape
    if not rows:
        return []
    # With the least cost of each row as its price, no cost less prices is negative, and those of these pairs are 0.
    row_price, column_price = costs.min(axis=1), np.zeros(columns)
    row_of = np.full(columns, -1)
    taken, by = np.unique(costs.argmin(axis=1), return_index=True)
    row_of[taken] = by
    unassigned = np.ones(rows, bool)
    unassigned[by] = False
    for start in np.flatnonzero(unassigned).tolist():
        reached, before = np.full(columns, np.inf), np.full(columns, -1)
        done = np.zeros(columns, bool)
        row, column, length = start, -1, 0.0
        while row >= 0:
            if column >= 0:
                done[column] = True
            path = length + costs[row] - row_price[row] - column_price
            better = ~done & (path < reached)
            reached[better], before[better] = path[better], column
            column = int(np.argmin(np.where(done, np.inf, reached)))
            length = float(reached[column])
            row = int(row_of[column])
        row_price[start] += length
        passed = np.flatnonzero(done)
        row_price[row_of[passed]] += length - reached[passed]
        column_price[passed] -= length - reached[passed]
        while column >= 0:
            previous = int(before[column])
            row_of[column] = start if previous < 0 else row_of[previous]
            column = previous
    found = [-1] * rows
    for column, row in enumerate(row_of.tolist()):
        if row >= 0:
            found[row] = column
    return found
