"""Both networks on a region as one mixed-integer program, for HiGHS through scipy: a second way to the oracle's maxima.

Columns: x, then for each network and hidden layer the post-activations y and phases b in {0, 1}, then the outputs.
With lo <= w.y' + c <= up by interval arithmetic, y = relu(w.y' + c) is y >= 0, y >= w.y' + c, y <= up b and
y <= w.y' + c - lo (1 - b). Strict constraints are taken as non-strict. Accurate to the solver's tolerances only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from oracle.pairs import Pair
from oracle.pieces import Layers

Number = Fraction | float | int


class TwinProgram:
    """The encoding of a pair on its region."""

    def __init__(self, pair: Pair) -> None:
        self._low, self._high = [float(a) for a in pair.lower], [float(a) for a in pair.upper]
        self._binary = [0] * len(pair.lower)
        self._rows: list[tuple[dict[int, float], float]] = []
        inputs = list(range(len(pair.lower)))
        for constraint in pair.constraints:
            self._at_least(
                {i: -float(c) for i, c in zip(inputs, constraint.coefficients, strict=True)}, -constraint.bound
            )
        self._outputs = [self._encode(layers, inputs) for layers in (pair.candidate, pair.reference)]

    def maximum(
        self, direction: Sequence[Number], guards: Sequence[tuple[Sequence[Number], Number]] = ()
    ) -> float | None:
        """Of direction . (g, f) where row . f >= bound for every guard (row, bound); None if no input meets them."""
        columns = len(self._low)
        objective = np.zeros(columns)
        for index, coefficient in zip([*self._outputs[0], *self._outputs[1]], direction, strict=True):
            objective[index] -= float(coefficient)
        rows = [*self._rows]
        for row, bound in guards:
            rows.append(({o: float(c) for o, c in zip(self._outputs[1], row, strict=True)}, float(bound)))
        matrix = np.zeros((len(rows), columns))
        for number, (terms, _) in enumerate(rows):
            for index, coefficient in terms.items():
                matrix[number, index] += coefficient
        found = milp(
            objective,
            integrality=np.array(self._binary),
            bounds=Bounds(np.array(self._low), np.array(self._high)),
            constraints=LinearConstraint(matrix, lb=np.array([bound for _, bound in rows])) if rows else (),
            options={"mip_rel_gap": 1e-9},
        )
        assert found.status in (0, 2), found.message
        return None if found.status == 2 else float(-found.fun)

    def _encode(self, layers: Layers, inputs: list[int]) -> list[int]:
        for number, (weight, bias) in enumerate(layers):
            made = []
            for row, constant in zip(weight.tolist(), bias.tolist(), strict=True):
                low, high = self._range(row, inputs, constant)
                pre = dict(zip(inputs, row, strict=True))
                if number == len(layers) - 1:
                    made.append(self._column(low, high))
                    self._at_least({made[-1]: 1.0} | {i: -c for i, c in pre.items()}, constant)
                    self._at_least({made[-1]: -1.0} | pre, -constant)
                    continue
                made.append(post := self._column(0.0, max(high, 0.0)))
                phase = self._column(0.0, 1.0, binary=True)
                self._at_least({post: 1.0} | {i: -c for i, c in pre.items()}, constant)
                self._at_least({post: -1.0, phase: max(high, 0.0)}, 0.0)
                self._at_least({post: -1.0, phase: min(low, 0.0)} | pre, min(low, 0.0) - constant)
            inputs = made
        return inputs

    def _range(self, row: Sequence[float], inputs: Sequence[int], constant: float) -> tuple[float, float]:
        ends = [sorted((c * self._low[i], c * self._high[i])) for c, i in zip(row, inputs, strict=True)]
        return constant + sum(low for low, _ in ends) - 1e-9, constant + sum(high for _, high in ends) + 1e-9

    def _column(self, low: float, high: float, *, binary: bool = False) -> int:
        self._low.append(low)
        self._high.append(high)
        self._binary.append(int(binary))
        return len(self._low) - 1

    def _at_least(self, terms: dict[int, float], bound: Number) -> None:
        self._rows.append((terms, float(bound)))
