"""A function of one variable behind an affine form: the result as a form again, over a new atom where it has to be.

What a function is on a region is said in one way only, as far as that is simple, so that two networks that write one
function differently get one atom:

* a quantiser whose argument lies on its grid rounds nothing: it is affine, or a clip (statement 8 of the manual);
* one that wraps, but all of whose levels lie within one turn, is one that saturates nowhere, shifted;
* of the levels low .. high only those count that occur; one level is a constant;
* a monotone quantiser of a clip (a ReLU among them) is a quantiser of what was clipped, with fewer levels;
* roundings that agree on the grid of the argument are one rounding, and integers are taken out of the argument where
  the rounding does not see them;
* of a piecewise linear function only the knots count that lie inside the interval; one behind the other are one; and
  f(a x + b), a > 0, is f of x with other knots. What is left has slope 1 behind the last knot and is 0 at the first.

Sound because each is an identity of functions on the interval and grid of the argument, in rationals.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, lcm
from typing import TypeAlias

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import exact_curves
from eqspec.networks.curves import Curve
from eqspec.networks.grids.atoms import Atom, Atoms, Grid, common_step, union
from eqspec.networks.grids.forms import Forms
from eqspec.networks.grids.piecewise_linear import Bent
from eqspec.networks.quantiser import Quantiser, Rounding, rounded

_BITS = 64
"""Behind the point, of functions that give no rationals."""
_NO_TIES = {Rounding.HALF_EVEN, Rounding.HALF_AWAY, Rounding.HALF_ZERO, Rounding.HALF_DOWN}
_ABOVE_ZERO = {
    Rounding.ZERO: Rounding.FLOOR,
    Rounding.AWAY: Rounding.CEIL,
    Rounding.HALF_AWAY: Rounding.HALF_UP,
    Rounding.HALF_ZERO: Rounding.HALF_DOWN,
}
_BELOW_ZERO = {
    Rounding.ZERO: Rounding.CEIL,
    Rounding.AWAY: Rounding.FLOOR,
    Rounding.HALF_AWAY: Rounding.HALF_DOWN,
    Rounding.HALF_ZERO: Rounding.HALF_UP,
}


Single: TypeAlias = tuple[int | None, Fraction, Fraction]
"""a times an atom plus b, as (atom, a, b); (None, 0, b) for a constant."""


@dataclass(frozen=True)
class Known:
    """What a function of a row is on the region.

    `form` is its value: a form of one row, or one of a single atom. As a function of the row's sum it is `affine`
    (factor, offset), `bent`, a quantiser that neither wraps nor has levels that do not occur, or what it was (all
    None). `levels` are the least and the largest one in front of what brings them into the type.
    """

    form: Forms | Single
    affine: tuple[Fraction, Fraction] | None = None
    bent: Bent | None = None
    quantiser: Quantiser | None = None
    levels: tuple[int, int] | None = None


def known(curve: Curve, form: Forms, row: int, grid: Grid, atoms: Atoms) -> Known:
    """The function of a row of forms, of which the grid is known."""
    if curve.name == "quantiser":
        return _quantised(Quantiser.of(curve), form, row, grid, atoms)
    if curve.name == "pieces" and grid.low < grid.high:
        return _bent(Bent.of(curve), form, row, grid, atoms)
    if curve.name == "floor":
        return _floor(form, row, grid, atoms)
    ends = exact_curves.on_interval(curve, (grid.low, grid.high), _BITS)
    if ends[0] == ends[1]:
        return _constant(ends[0])
    rational = curve.name in ("sign", "thresholded")
    step: Fraction | None = None
    origin = Fraction(0)
    if curve.name == "sign":
        step = Fraction(1)
    elif curve.name == "thresholded" and grid.step is not None:
        step, origin = union([(Fraction(0), Fraction(0)), (grid.step, grid.origin)])
    whole = form.taken(np.array([row]))
    key = (curve, whole.key(0))
    return Known(valued(key, Grid(*ends, step, origin), atoms, None if rational else _BITS))


def _constant(value: Fraction) -> Known:
    return Known((None, Fraction(0), value), (Fraction(0), value))


def _floor(form: Forms, row: int, grid: Grid, atoms: Atoms) -> Known:
    """A quantiser of steps of 1 that leaves its type nowhere."""
    unbounded = Quantiser(1.0, floor(grid.low), floor(grid.high), Rounding.FLOOR)
    return replace(_quantised(unbounded, form, row, grid, atoms), quantiser=None, levels=None)


def valued(key: Hashable, grid: Grid, atoms: Atoms, bits: int | None) -> Single:
    """A new atom, or of the one that is known, for a number with this grid.

    The atom counts in units that make ends and grid integers, or of 2^-bits with the interval rounded outward.
    """
    if bits is not None:
        unit = Fraction(1, 1 << bits)
    else:
        parts = (grid.low, grid.high) if grid.step is None else (grid.low, grid.high, grid.step, grid.origin)
        unit = Fraction(1, lcm(*(part.denominator for part in parts)))
    number = atoms.number((key, unit))
    if number is None:
        step, origin = (Fraction(0), Fraction(0)) if grid.step is None else (grid.step / unit, grid.origin / unit)
        made = Atom(floor(grid.low / unit), ceil(grid.high / unit), int(step), int(origin), loose=grid.step is None)
        number = atoms.add((key, unit), made)
    return number, unit, Fraction(0)


# Quantisers.


def _quantised(q: Quantiser, form: Forms, row: int, grid: Grid, atoms: Atoms) -> Known:
    scale, zero = Fraction(q.scale), Fraction(q.zero)
    unit = scale if q.unit is None else Fraction(q.unit)
    base = zero if q.base is None else Fraction(q.base)
    t = grid.times(1 / scale, zero)
    least, most = rounded(t.low, q.rounding), rounded(t.high, q.rounding)
    span = q.high - q.low + 1
    turn = (least - q.low) // span
    if q.wraps and (most - q.low) // span != turn:
        return replace(_wrapped(q, form, row, t, (unit, base), atoms), levels=(least, most))
    if q.wraps:  # k - turn span = k' is the level: as if the type were where the levels are
        low, high, base = least, most, base + turn * span
    else:
        low, high = (min(max(k, q.low), q.high) for k in (least, most))
    if low == high:
        return replace(_constant(unit * (low - base)), levels=(least, most))
    if t.integral and (low, high) == (least, most):
        factor, offset = unit / scale, unit * (zero - base)
        return Known(form.scaled(row, factor, offset), (factor, offset), levels=(least, most))
    if t.integral:
        # Of the sum: the clip at the ends of the type.
        ends = (low - zero) * scale, (high - zero) * scale
        factor, offset = unit / scale, unit * (zero - base)
        clip = Bent.clip(*ends, factor)
        return replace(_bent(replace(clip, value=clip.value + offset), form, row, grid, atoms), levels=(least, most))
    same = Quantiser(q.scale, low, high, q.rounding, q.zero, unit=float(unit), base=float(base))
    exact = Fraction(float(base)) == base and max(-low, high) <= 1 << 53
    # From here on as a function of what was clipped, and with the rounding that stands for all that agree with it.
    argument = _Argument(form, row, 1 / scale, zero, t)
    argument = _unclipped(argument, atoms)
    rounding, offset = _one_rounding(q.rounding, argument.grid, low, high)
    shift = _invisible(rounding, argument.constant + offset)
    low, high, base = low - shift, high - shift, base - shift
    argument = argument.plus(offset - shift)
    key = ("quantiser", rounding, low, high, argument.row_form.key(0))
    number = atoms.number(key)
    if number is None:
        number = atoms.add(key, Atom(low, high, *_level_grid(rounding, argument.grid, low, high)))
    return Known((number, unit, -unit * base), quantiser=same if exact else None, levels=(least, most))


def _wrapped(q: Quantiser, form: Forms, row: int, t: Grid, result: tuple[Fraction, Fraction], atoms: Atoms) -> Known:
    """Levels of more than one turn: any level of the type may come out."""
    unit, base = result
    argument = _Argument(form, row, 1 / Fraction(q.scale), Fraction(q.zero), t)
    rounding, offset = _one_rounding(q.rounding, t, 0, 0, signs=False)
    argument = argument.plus(offset)
    key = ("wrapped", rounding, q.low, q.high, argument.row_form.key(0))
    number = atoms.number(key)
    if number is None:
        number = atoms.add(key, Atom(q.low, q.high, *_level_grid(rounding, argument.grid, q.low, q.high, wraps=True)))
    return Known((number, unit, -unit * base))


@dataclass(frozen=True)
class _Argument:
    """factor times a row of forms, plus offset, with its grid."""

    form: Forms
    row: int
    factor: Fraction
    offset: Fraction
    grid: Grid

    @property
    def constant(self) -> Fraction:
        """Where all atoms are 0."""
        return Fraction(self.form.constants[self.row], self.form.denominators[self.row]) * self.factor + self.offset

    @property
    def row_form(self) -> Forms:
        """The argument as a form of one row."""
        return self.form.scaled(self.row, self.factor, self.offset)

    def plus(self, offset: Fraction) -> _Argument:
        """The argument with a number added."""
        grid = self.grid.times(Fraction(1), offset)
        return _Argument(self.form, self.row, self.factor, self.offset + offset, grid)


def _unclipped(argument: _Argument, atoms: Atoms) -> _Argument:
    """The argument without the clips that are its only atom: for monotone functions whose levels are known."""
    while (number := argument.form.single(argument.row)) is not None:
        inner = atoms[number].inner
        entry = argument.form.coefficients[argument.form.entries(argument.row)][0]
        slope = argument.factor * Fraction(entry, argument.form.denominators[argument.row])
        if not isinstance(inner, _Inner) or not inner.bent.clips or slope <= 0:
            return argument
        ((steep, offset),) = ((a, b) for _, _, a, b in inner.bent.segments() if a)
        slope *= inner.units
        factor, constant = slope * steep, slope * offset + argument.constant
        argument = _Argument(inner.form, 0, factor, constant, inner.form.grids(atoms)[0].times(factor, constant))
    return argument


def _one_rounding(rounding: Rounding, t: Grid, low: int, high: int, *, signs: bool = True) -> tuple[Rounding, Fraction]:
    """One rounding for all that agree on the grid of an argument, and what to add to the argument for it.

    With levels cut off at low >= 0, what a rounding does to negative numbers does not matter, as long as it leaves them
    at 0 or below; so at high <= 0 with positive ones.
    """
    if signs and (low >= 0 or high <= 0):
        rounding = (_ABOVE_ZERO if low >= 0 else _BELOW_ZERO).get(rounding, rounding)
    if rounding in _NO_TIES and not _ties(t):
        rounding = Rounding.HALF_UP
    offset = Fraction(0)
    if rounding is Rounding.HALF_UP:
        rounding, offset = Rounding.FLOOR, Fraction(1, 2)
    elif rounding is Rounding.HALF_DOWN:
        rounding, offset = Rounding.CEIL, Fraction(-1, 2)
    if t.step is None:
        return rounding, offset
    origin = t.origin + offset
    if rounding is Rounding.CEIL:  # on multiples of 1 / d
        d = lcm(t.step.denominator, origin.denominator)
        rounding, up = Rounding.FLOOR, Fraction(d - 1, d)
        offset, origin = offset + up, origin + up
    if rounding is Rounding.FLOOR:
        # The remainders of 1 are at least this one.
        offset -= origin % common_step(t.step, Fraction(1))
    return rounding, offset


def _ties(t: Grid) -> bool:
    """Whether the middle of two integers may lie on the grid: origin + step n = m + 1/2 for integers n, m."""
    if t.step is None:
        return True
    return (t.origin - Fraction(1, 2)) % common_step(t.step, Fraction(1)) == 0


def _invisible(rounding: Rounding, constant: Fraction) -> int:
    """The integer in a constant that comes out of the rounding as it went in."""
    if rounding in (Rounding.FLOOR, Rounding.CEIL, Rounding.HALF_UP, Rounding.HALF_DOWN):
        return floor(constant)
    return 2 * floor(constant / 2) if rounding is Rounding.HALF_EVEN else 0


def _level_grid(rounding: Rounding, t: Grid, low: int, high: int, *, wraps: bool = False) -> tuple[int, int]:
    """Step and origin of the levels: coarser than 1 where the argument moves by several levels at once."""
    if t.step is None or t.step.denominator != 1 or rounding not in (Rounding.FLOOR, Rounding.CEIL):
        return 1, 0
    first = rounded(t.origin, rounding)
    if wraps:
        return int(common_step(t.step, Fraction(high - low + 1))), first
    return int(
        union([(t.step, Fraction(first)), (Fraction(0), Fraction(low)), (Fraction(0), Fraction(high))])[0]
    ), first


# Piecewise linear functions.


@dataclass(frozen=True)
class _Inner:
    """An atom is `units` times this function of a form of one row."""

    form: Forms
    bent: Bent
    units: Fraction


def _bent(bent: Bent, form: Forms, row: int, grid: Grid, atoms: Atoms) -> Known:
    bent = bent.within(grid.low, grid.high)
    if not bent.knots:
        return Known(form.scaled(row, bent.slopes[0], bent.value), (bent.slopes[0], bent.value))
    whole, function = form.taken(np.array([row])), bent
    while (number := whole.single(0)) is not None and isinstance(inner := atoms[number].inner, _Inner):
        factor = Fraction(whole.coefficients[0], whole.denominators[0]) * inner.units
        constant = Fraction(whole.constants[0], whole.denominators[0])
        function = function.behind(Bent((), (factor,), constant)).behind(inner.bent)
        whole = inner.form
    ends = whole.grids(atoms)[0]
    function = function.within(ends.low, ends.high)
    # whole = factor primitive + constant
    common = int(np.gcd.reduce(whole.coefficients))
    factor = Fraction(abs(common), whole.denominators[0])
    constant = Fraction(whole.constants[0], whole.denominators[0])
    function = function.scaled(factor, constant)
    primitive = whole.scaled(0, 1 / factor, -constant / factor)
    ends = primitive.grids(atoms)[0]
    if not function.knots:
        return Known(primitive.scaled(0, function.slopes[0], function.value), bent=bent)
    *_, last = (slope for slope in function.slopes if slope)
    plain = Bent(function.knots, tuple(slope / last for slope in function.slopes), Fraction(0))
    value = _range(plain, ends)
    number, units = _kept(("bent", plain, primitive.key(0)), value, _Inner(primitive, plain, Fraction(1)), atoms)
    return Known((number, last / units, function.value), bent=bent)


def _kept(key: Hashable, value: Grid, inner: _Inner, atoms: Atoms) -> tuple[int, int]:
    """The atom, new or known, that remembers what it is, and how many of its units are 1."""
    parts = (value.low, value.high) if value.step is None else (value.low, value.high, value.step, value.origin)
    units = lcm(*(part.denominator for part in parts))
    number = atoms.number(key)
    if number is None:
        step, origin = (0, 0) if value.step is None else (int(value.step * units), int(value.origin * units))
        made = Atom(
            int(value.low * units), int(value.high * units), step, origin,
            loose=value.step is None, inner=replace(inner, units=Fraction(units)),
        )  # fmt: skip
        number = atoms.add(key, made)
    return number, units


def _range(bent: Bent, ends: Grid) -> Grid:
    """What is known of the function of a number."""
    at = [ends.low, ends.high, *(knot for knot in bent.knots if ends.low < knot < ends.high)]
    values = [bent(x) for x in at]
    if ends.step is None:
        return Grid(min(values), max(values), None)
    parts = [
        (abs(slope) * ends.step, slope * ends.origin + offset)
        for start, end, slope, offset in bent.segments()
        if (end is None or end > ends.low) and (start is None or start < ends.high)
    ]
    return Grid(min(values), max(values), *union(parts))
