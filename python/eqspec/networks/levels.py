"""Integers that depend on the input: what a quantiser gives before anybody says what its levels stand for.

A tensor of `Levels` is taken from a `Rule`, which knows how its integers k come about and writes unit (k - base) as an
affine value for whatever unit and base a reader asks for. So a quantiser and the dequantiser behind it are one function
of one variable, whose result is scale (k - zero) without another rounding, also where the two have different scales;
and the same integers can be the outputs of a network, unit 1 and base 0. Nothing is made before it is asked for.

    Quantised    k = R(x / scale + zero) cut off at low .. high, plus a shift: all quantisers, and integer inputs
    Computed     the integers are an affine value already: sums of products of integers
    Through      what does not decrease and moves with unit and base: a maximum over windows
    Joined       the integers of several tensors, one behind the other

Shapes: the entries of a rule are flat; a tensor of levels says by `index` which of them each of its entries is. `unit`
and `base` broadcast to the shape of the tensor, are exact float64 numbers, and units are positive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves, pieces
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.matrices import Indices, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.quantiser import Quantiser, Rounding, problem


class Rule(Protocol):
    """How integers come about."""

    @property
    def size(self) -> int:
        """How many they are."""
        ...

    def meaning(self, unit: Array, base: Array) -> Affine:
        """unit (k - base), flat."""
        ...


@dataclass(frozen=True, eq=False)
class Levels:
    """Integers of one type: `index` has the shape of the tensor; all of them are between `low` and `high`."""

    rule: Rule
    index: Indices
    low: int
    high: int

    @classmethod
    def of(cls, rule: Rule, shape: tuple[int, ...], low: int, high: int) -> Levels:
        """All integers of a rule, in their order."""
        return cls(rule, np.arange(rule.size).reshape(shape), low, high)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the tensor."""
        return self.index.shape

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(self.index.size)

    def rearranged(self, f: Callable[[NDArray[Any]], NDArray[Any]]) -> Levels:
        """The same integers elsewhere."""
        moved = np.asarray(f(self.index))
        check_value(moved.shape)
        return Levels(self.rule, moved, self.low, self.high)

    def meaning(self, unit: Array | float, base: Array | float) -> Affine:
        """unit (k - base) for every entry."""
        units, bases = (np.broadcast_to(np.asarray(a, np.float64), self.shape) for a in (unit, base))
        found = self._of_rule(units, bases)
        if found is not None:
            whole = self.rule.meaning(*found)
            return af.rearrange(whole, lambda p: p[self.index])
        # One integer stands in several places and means something else in each.
        integers = af.rearrange(self.rule.meaning(*self._plain()), lambda p: p[self.index])
        return meant(integers, units, bases)

    def _plain(self) -> tuple[Array, Array]:
        return np.ones(self.rule.size), np.zeros(self.rule.size)

    def _of_rule(self, units: Array, bases: Array) -> tuple[Array, Array] | None:
        """Unit and base of every integer of the rule; None where one would have two."""
        made = []
        for wanted in (units, bases):
            fill = wanted.reshape(-1)[0] if wanted.size else 1.0
            whole = np.full(self.rule.size, fill)
            whole[self.index] = wanted
            if (whole[self.index] != wanted).any():
                return None
            made.append(whole)
        return made[0], made[1]


def told_apart(*columns: Array) -> tuple[list[list[float]], Indices]:
    """The different rows of a table, and which of them each of its rows is."""
    if all(len(a) and (a == a[0]).all() for a in columns):
        return [[float(a[0]) for a in columns]], np.zeros(len(columns[0]), np.intp)
    kinds, of_row = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return kinds.tolist(), of_row.reshape(-1)


def meant(integers: Affine, unit: Array, base: Array) -> Affine:
    """unit (k - base) of integers that are an affine value."""
    moved = af.shift(integers, en.exactly(-base)) if base.any() else integers
    return moved if (unit == 1.0).all() else af.scale(moved, en.exactly(unit))


@dataclass(frozen=True, eq=False)
class Quantised:
    """k = R(x / scale + zero) cut off at low .. high, plus shift; all but x and R are flat arrays by entry of x.

    `missed` (flat, or one for all) is how far the number that a runtime rounds to k may lie from x, besides what x may
    be off by itself.
    """

    argument: Affine
    scale: Array
    zero: Array
    low: Array
    high: Array
    shift: Array
    rounding: Rounding = Rounding.HALF_EVEN
    missed: Array = field(default_factory=lambda: np.zeros(1))
    _made: dict[bytes, Affine] = field(default_factory=dict, init=False, repr=False)

    @property
    def size(self) -> int:
        """How many integers there are."""
        return self.argument.size

    def meaning(self, unit: Array, base: Array) -> Affine:
        """A function of the argument, made once for each unit and base."""
        key = unit.tobytes() + base.tobytes()
        if key not in self._made:
            reading = self.argument.parts[0].units.reading
            reading.structured = True
            reading.check_neurons(reading.neurons + self.size)
            columns = self.scale, self.zero, self.low, self.high, unit, base - self.shift
            kinds, of_row = told_apart(*columns)
            curves = Curves(tuple(self._curve(kind) for kind in kinds), of_row.astype(np.int32))
            if len(kinds) == 1:
                curves = Curves.all(curves.kinds[0])
            made = af.curve(self._as_divided(), curves, started=False)
            self._made[key] = af.rearrange(made, lambda p: p.reshape(-1))
        return af.started(self._made[key])

    def _as_divided(self) -> Affine:
        x = self.argument
        if not self.missed.any():
            return x
        missed = np.broadcast_to(self.missed, (x.size,)).reshape(x.shape)
        bias = en.enclose(x.bias.value, en.add_up(x.bias.radius, missed))
        return Affine(x.parts, bias, roundings=x.roundings)  # not the same value: it has no steps of its own yet

    def _curve(self, numbers: Sequence[float]) -> Curve:
        scale, zero, low, high, unit, base = numbers
        curve = Quantiser(scale, int(low), int(high), self.rounding, zero, unit=unit, base=base).curve
        wrong = problem(curve.parameters)
        if wrong is not None:
            raise UnreadableError(f"a quantiser: {wrong}", "quantise to fewer bits, with smaller zero points")
        return curve

    def at_least(self, bound: Array | int) -> Quantised:
        """The larger of the integers and a bound, which may lie anywhere."""
        return replace(
            self, low=np.maximum(self.low, bound - self.shift), high=np.maximum(self.high, bound - self.shift)
        )

    def at_most(self, bound: Array | int) -> Quantised:
        """The smaller of the integers and a bound, which may lie anywhere."""
        return replace(
            self, low=np.minimum(self.low, bound - self.shift), high=np.minimum(self.high, bound - self.shift)
        )


@dataclass(frozen=True, eq=False)
class Computed:
    """Integers that are an affine value, of any shape.

    Those of one group are different, whatever the input is: `groups` has a number for each, None if nothing is known.
    """

    integers: Affine
    groups: Indices | None = None

    @property
    def size(self) -> int:
        """How many they are."""
        return self.integers.size

    def meaning(self, unit: Array, base: Array) -> Affine:
        """The levels shifted and scaled."""
        integers = af.rearrange(self.integers, lambda p: p.reshape(-1))
        return meant(af.started(integers) if integers.exact else integers, unit, base)


@dataclass(frozen=True, eq=False)
class Through:
    """A function of other levels that commutes with every increasing affine map of them all: a maximum."""

    given: Levels
    size: int
    function: Callable[[Affine], Affine]
    _made: dict[tuple[float, float, float], Affine] = field(default_factory=dict, init=False, repr=False)

    def meaning(self, unit: Array, base: Array) -> Affine:
        """The function of what the given levels mean, where that is one unit and base; else by the integers."""
        if len(unit) and (unit == unit[0]).all() and (base == base[0]).all():
            return self._of(float(unit[0]), float(base[0]))
        return meant(self._of(1.0, 0.0), unit, base)

    def _of(self, unit: float, base: float) -> Affine:
        made = self.given.meaning(unit, base)
        key = unit, base, made.unit
        if key not in self._made:
            self._made[key] = af.rearrange(self.function(made), lambda p: p.reshape(-1))
        return self._made[key]


@dataclass(frozen=True, eq=False)
class Joined:
    """The integers of several tensors, one behind the other."""

    parts: tuple[Levels, ...]

    @property
    def size(self) -> int:
        """How many they are."""
        return sum(part.size for part in self.parts)

    def meaning(self, unit: Array, base: Array) -> Affine:
        """What those of every part mean, one behind the other."""
        ends = np.cumsum([part.size for part in self.parts])[:-1]
        units, bases = np.split(unit, ends), np.split(base, ends)
        made = [
            part.meaning(u.reshape(part.shape), b.reshape(part.shape))
            for part, u, b in zip(self.parts, units, bases, strict=True)
        ]
        return af.stack(made)


def limited(levels: Levels, low: int | None, high: int | None) -> Levels:
    """Integers not below `low`, then not above `high`: quantisers get other ends, sums a function of their own."""
    rule: Rule
    match levels.rule:
        case Quantised() as quantised:
            above = quantised if low is None else quantised.at_least(low)
            rule = above if high is None else above.at_most(high)
        case Through(given, size, function):
            rule = Through(limited(given, low, high), size, function)
        case Joined(parts):
            rule = Joined(tuple(limited(part, low, high) for part in parts))
        case Computed(integers, _):
            rule = Computed(_cut_off(_cut_off(integers, low, (0.0, 1.0)), high, (1.0, 0.0)))
        case other:
            raise AssertionError(other)
    # An end may lie beyond the integers that these were taken to be between.
    most = levels.high if low is None else max(levels.high, low)
    least = levels.low if high is None else min(levels.low, high)
    return replace(levels, rule=rule, low=least, high=most)


def _cut_off(integers: Affine, end: int | None, slopes: tuple[float, float]) -> Affine:
    """The integers on one side of an end, which has the slope 1, and the end elsewhere."""
    if end is None:
        return integers
    if af.depends_on_nothing(integers):
        value = (np.maximum if slopes[1] else np.minimum)(integers.bias.value, float(end))
        return replace(integers, bias=Enclosure(value, integers.bias.error))
    return af.curve(integers, Curves.all(pieces((float(end),), slopes, float(end))))
