"""A network on a region, row by row, as affine forms over atoms; and which levels its quantisers have there.

Sums are added exactly. What a function gives is said in one way where that is easy, so that networks which write the
same function differently get the same atoms:

* a quantiser of what lies on its grid and within its levels is affine, and a ReLU if only its lowest one cuts off; one
  that has a single level there is constant; a ReLU of a form is one of the same without a common factor;
* of its levels only those count that occur; what a ReLU in front of it cuts off they cut off as well, since a rounding
  R never decreases: R(max(v, 0) a + b) = max(R(a v + b), R(b)) for a > 0;
* where no argument is in the middle of two integers all roundings to the nearest are one, and integers (of ties to
  even: even ones) go through a rounding to the nearest even, down or up;
* a function that is linear on the whole interval is that line.

Each is an identity on what is known of the argument, so atoms of one key are one function. Where two networks write one
function in other ways their forms differ, and nothing follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import floor, gcd, lcm
from typing import Any

import numpy as np

from ..functions import RELU, Curve, behind, shape
from ..functions.levels import CEIL, FLOOR, HALF_AWAY, HALF_EVEN, HALF_ZERO, ROUNDINGS, cut_off
from ..functions.shape import LINEAR
from ..opening import limits
from ..reading import INPUTS, Step
from ..reading.tiles import exactly
from ..reading.value import CONSTANT
from ..rounding import Refused
from .atoms import ONE, ZERO, Atoms, Form, Grid, common

NEAREST = (HALF_EVEN, HALF_AWAY, HALF_ZERO)
TOO_FINE = "its exact numbers have no common denominator of a size that the auditor computes with"


class Network:
    """The forms of a network's outputs; `saturates` says whether a quantiser may cut something off."""

    def __init__(self, steps: Sequence[Step], inputs: Sequence[Form], atoms: Atoms, late: Callable[[], None]) -> None:
        """`late` is called now and then, and may refuse to go on."""
        self.atoms, self.saturates, self._work = atoms, False, 0
        values = {INPUTS: list(inputs), CONSTANT: [Form(1)]}
        for number, step in enumerate(steps):
            forms = self._sums(step, values, late)
            if step.curves:
                curves = step.curves if len(step.curves) > 1 else step.curves * len(forms)
                forms = [self._behind(curve, form) for curve, form in zip(curves, forms, strict=True)]
            values[number] = forms
        self.outputs = values[len(steps) - 1]

    def _sums(self, step: Step, values: Mapping[int, Sequence[Form]], late: Callable[[], None]) -> list[Form]:
        """The rows of a step, in front of its functions: sums of integers over one denominator."""
        read = []
        for part in step.value.parts:
            exact, missing = exactly(part.kernels)
            if missing is not None and missing.any():
                raise Refused("a weight is not known exactly, so that decisions by grids say nothing")
            kernels, below = _whole([[_rational(w) for w in row] for row in exact.tolist()])
            read.append((part, values[part.source], kernels, below))
        whole = lcm(*(below * form.denominator for _, given, _, below in read for form in given))
        if whole.bit_length() > limits.BITS:
            raise Refused(TOO_FINE)
        sums: list[list[Any]] = [[0, {}] for _ in range(step.value.size)]
        for part, given, kernels, below in read:
            scales = [whole // (below * form.denominator) for form in given]
            for row, units, kind in zip(part.rows.tolist(), part.index.tolist(), part.kind.tolist(), strict=True):
                late()
                terms = sums[row][1]
                for unit, weight in zip(units, kernels[kind], strict=True):
                    if unit >= 0 and weight:
                        form, factor = given[unit], weight * scales[unit]
                        sums[row][0] += factor * form.constant
                        for atom, c in form.terms.items():
                            terms[atom] = terms.get(atom, 0) + factor * c
                        self._work += 1 + len(form.terms)
                if self._work > limits.TERMS:
                    raise Refused("exact forms of its sums would be larger than the auditor computes with")
        return [Form.of(constant, terms, whole) for constant, terms in sums]

    def _behind(self, curve: Curve, form: Form) -> Form:
        """A function of a form."""
        grid = self.atoms.grid(form)
        if curve.name == "levels":
            return self._levels(curve, form, grid)
        if grid.low < grid.high and not shape(curve).jumps:
            for piece in shape(curve).pieces:
                if piece.kind == LINEAR and piece.exact and piece.low <= grid.low and grid.high <= piece.high:
                    return form.times(*piece.exact)
        low, high = (ends[0] for ends in behind((curve,), *(np.array([x], object) for x in (grid.low, grid.high))))
        if low == high:
            return Form.number(low)
        return self._relu(form) if curve == RELU else self.atoms.of((curve, form.key), Grid(low, high))

    def _relu(self, form: Form) -> Form:
        """max(0, form) of a form with values on both sides of 0: the form without its common factor, times that."""
        common_factor = gcd(form.constant, *form.terms.values())
        factor = Fraction(common_factor, form.denominator)
        form = Form.of(form.constant, form.terms, common_factor)
        grid = self.atoms.grid(form)
        step = None if grid.step is None else common(grid.step, grid.origin)  # of the grid and 0
        return self.atoms.of((RELU, form.key), Grid(ZERO, grid.high, step), form).times(factor)

    def _levels(self, curve: Curve, form: Form, grid: Grid) -> Form:
        """The level of a form, which is known to be in `grid`."""
        scale, zero, *ends, number = curve.parameters
        lowest, highest, rounding = (int(x) for x in (*ends, number))
        form = form.times(1 / Fraction(scale), Fraction(zero))
        grid = self.atoms.grid(form)
        least, most = ROUNDINGS[rounding](grid.low), ROUNDINGS[rounding](grid.high)
        self.saturates |= not lowest <= least <= most <= highest
        low, high = (cut_off(k, lowest, highest) for k in (least, most))
        if low == high:
            return Form(low)
        if grid.integral and (low, high) == (least, most):
            return form
        if grid.integral and high == most:
            return self._relu(form.times(ONE, Fraction(-low))).times(ONE, Fraction(low))
        while len(form.terms) == 1 and (atom := next(iter(form.terms))) in self.atoms.inner and form.terms[atom] > 0:
            form = self.atoms.inner[atom].times(Fraction(form.terms[atom], form.denominator), form.at_0)
        grid = self.atoms.grid(form)
        free = rounding in (FLOOR, CEIL)
        if rounding in NEAREST and not grid.ties:
            rounding, free = HALF_EVEN, True
        whole = floor(form.at_0) if free else 2 * floor(form.at_0 / 2) if rounding == HALF_EVEN else 0
        form = form.times(ONE, Fraction(-whole))
        key = "levels", rounding, low - whole, high - whole, form.key
        found = self.atoms.of(key, Grid(Fraction(low - whole), Fraction(high - whole), ONE))
        return found.times(ONE, Fraction(whole))


def _whole(rows: list[list[Fraction]]) -> tuple[list[list[int]], int]:
    """Integers, and what they are to be divided by."""
    common = lcm(*{x.denominator for row in rows for x in row})
    if common.bit_length() > limits.BITS:
        raise Refused(TOO_FINE)
    return [[x.numerator * (common // x.denominator) for x in row] for row in rows], common


def _rational(weight: Any) -> Fraction:
    """A weight that is a float or an exact rational."""
    if isinstance(weight, float | Fraction):
        return Fraction(weight)
    raise Refused("a weight is no rational number, so that decisions by grids say nothing")
