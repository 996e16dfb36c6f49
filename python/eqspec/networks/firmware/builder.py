"""The steps of a program of fixed-point arithmetic: sums, functions, and assignments to types where they matter.

A value is some rows of a step with the set of numbers that each may be (`lattices`). An assignment to a type becomes a
`Quantiser` behind these rows, or nothing at all where the type holds every number that can occur. Where it cannot be
left, a type that wraps is written as one that saturates: both are the same there, and the latter is monotone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Array
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import Lattice, Marks, integers
from eqspec.networks.firmware.size_limits import MAX_NEURONS, MAX_PRODUCTS
from eqspec.networks.firmware.sums import Products, Sums
from eqspec.networks.network import Cast
from eqspec.networks.program import INPUTS, Function, Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding

Refuse = Callable[[str, str], NoReturn]
"""What raises the error about the place that is being read: a message and a fix."""
_EXACT = 1 << 53
_LEVELS = 1 << 50
"""The largest level of a quantiser."""
_MOST_SHIFT = 900
"""Bits in front of or behind the point of which a power of two is a float64 far from both ends."""


@dataclass(frozen=True, eq=False)
class Value:
    """Entries of a network's value: rows of a step, and the numbers that they may be."""

    step: int
    rows: NDArray[np.intp]
    lattice: Lattice

    @property
    def size(self) -> int:
        """How many entries it has."""
        return len(self.rows)

    def taken(self, entries: NDArray[np.intp]) -> Value:
        """Some of its entries."""
        return Value(self.step, self.rows[entries], self.lattice.taken(entries))


@dataclass
class Builder:
    """The steps so far, and what they are assignments to. `refuse` is about the layer that is being read."""

    inputs: int
    refuse: Refuse
    steps: list[Step] = field(default_factory=list)
    casts: list[Cast] = field(default_factory=list)

    def entered(self, of: FixedPoint, name: str, rows: NDArray[np.intp]) -> Value:
        """Some of the inputs, which are any real numbers, assigned to a type."""
        if of.whole:
            fix = f"use {_rounding(of)}, which rounds as it says"
            self.refuse(f"{name} is {of.text}; what the simulation makes of a fraction there is not certain", fix)
        size = len(rows)
        kind = Curves.all(self._quantiser(of, of.low, of.high, wraps=of.wraps))
        step = self.new((Term(INPUTS, Tile.rearranged(rows)),), np.zeros(size), kind)
        self.casts.append(Cast(step, slice(0, size), name, of.text))
        return Value(step, np.arange(size), Lattice.of_type(of, size))

    def assigned(self, value: Value, of: FixedPoint, name: str, *, rectified: bool = False) -> Value:
        """A value assigned to a type; `rectified`: max(0, value)."""
        before = value.lattice.positive() if rectified else value.lattice
        changes = bool(rectified and (value.lattice.least < 0).any())
        on_grid, inside = before.on_grid(of), before.levels(of).inside(of)
        after = before.assigned(of)
        if (on_grid & inside).all():
            return replace(self.function(value, "relu", before) if changes else value, lattice=after)
        if of.whole and not on_grid.all():
            fix = f"use {_rounding(of)}, which rounds as it says"
            self.refuse(
                f"{name} is {of.text}, to which fractions are assigned; which way that rounds is not certain", fix
            )
        wrapping = ~inside if of.wraps else np.zeros(value.size, bool)
        if changes and (of.signed or of.wraps):
            # What max(0, x) cuts off there is no number that leaves its type: `never saturates` does not count it.
            value, changes = self.function(value, "relu", before), False
        low, high = self._ends(of, before.levels(of), wrapping, name)
        # Behind max(0, x) no level below 0 is met, and 0 is: cutting off there is the same, and one function less.
        plain = self._quantiser(of, max(low, 0) if changes else low, high, wraps=False)
        kinds = Curves.all(plain)
        if wrapping.any():
            wrapped = self._quantiser(of, low, high, wraps=True)
            kinds = Curves.all(wrapped) if wrapping.all() else Curves((plain, wrapped), wrapping.astype(np.int32))
        made = self.function(value, kinds, after)
        self.casts.append(Cast(made.step, slice(0, self.steps[made.step].rows), name, of.text))
        return made

    def function(self, value: Value, function: Function, lattice: Lattice) -> Value:
        """A function of each entry, with the numbers that it gives."""
        rows = self.inputs if value.step == INPUTS else self.steps[value.step].rows
        if rows == value.size and (np.sort(value.rows) == np.arange(rows)).all():
            # All rows of a step, in the order of the step: so it may become the function of that step.
            placed = function.taken(np.argsort(value.rows)) if isinstance(function, Curves) else function
            return Value(self._behind(value.step, rows, placed), value.rows, lattice)
        step = self.new((Term(value.step, Tile.rearranged(value.rows)),), np.zeros(value.size), function)
        return Value(step, np.arange(value.size), lattice)

    def added(self, value: Value, sums: Sums, accumulator: FixedPoint | None, name: str) -> Value:
        """The sums of a layer, in an accumulator; without one, the exact sums."""
        positions, outputs = len(sums.index), len(sums.weights)
        if positions * sums.weights.size > MAX_PRODUCTS:
            message = f"{positions * sums.weights.size} products; networks of up to {MAX_PRODUCTS} are decided"
            self.refuse(message, "use a smaller network")
        found = Products(value.lattice, sums, accumulator)
        if accumulator is not None and not (accumulator.wraps or found.partial.inside(accumulator).all()):
            return self._saturated(value, sums, found, accumulator, name)
        direct, bias = self.floats(found.direct, sums.weight_bits), self.floats(found.bias, found.bits)
        index = np.where(sums.index < 0, -1, value.rows[sums.index])
        terms = []
        if direct.any() or not found.pairs:
            # Weights that are all 0 as well: what they multiply is stored all the same, and may leave its type.
            terms.append(Term(value.step, Tile(_narrow(index[None]), direct[None])))
        if found.pairs:
            assert accumulator is not None
            step = self._rounded_products(value, sums, found, accumulator, name)
            terms.append(Term(step, Tile(_narrow(found.taps), np.ones((outputs, 1, found.taps.shape[2])))))
        made = self.new(tuple(terms), np.repeat(bias, positions))
        rows = np.arange(outputs * positions).reshape(outputs, positions).T.reshape(-1)
        summed = Value(made, rows, found.sums)
        return summed if accumulator is None else self.assigned(summed, accumulator, name)

    def _saturated(self, value: Value, sums: Sums, found: Products, of: FixedPoint, name: str) -> Value:
        """The sums of a layer in an accumulator that may saturate on the way: part by part, in the kernel's order.

        A part ends where a sum may have reached an end of the type. Within a part no sum does, so that its order does
        not matter; behind it the sum is cut off, and the next part begins with what is left.
        """
        if sums.order is None:
            fix = "use AP_WRAP there, with as many bits as the sum needs"
            self.refuse(f"{name} is {of.text}, and a partial sum may reach its ends", fix)
        positions, outputs = len(sums.index), len(sums.weights)
        rounded = self._rounded_products(value, sums, found, of, name) if found.pairs else INPUTS
        products = [one.levels(of) for one in found.each]
        least, most, steps = (
            np.stack([getattr(one, what) for one in products]).reshape(outputs * positions, -1)
            for what in ("least", "most", "step")
        )
        bias = np.repeat(found.bias, positions)
        so_far = Lattice(bias, bias, integers(np.zeros(len(bias))), of.bits)
        place, part = INPUTS, list[int]()
        for taps in sums.order.tolist():
            part += taps
            so_far = so_far.sum_with(Lattice(least[:, taps], most[:, taps], steps[:, taps], of.bits).summed(), 1)
            if so_far.inside(of).all():
                continue
            kind = Curves.all(self._quantiser(of, of.low, of.high, wraps=False))
            place, part = self._part(value, sums, found, (rounded, place), part, kind), []
            self.casts.append(Cast(place, slice(0, len(bias)), f"{name} of a partial sum", of.text))
            so_far = so_far.assigned(of)
        if part:
            place = self._part(value, sums, found, (rounded, place), part, "identity")
        rows = np.arange(outputs * positions).reshape(outputs, positions).T.reshape(-1)
        return Value(place, rows, so_far.taken(rows))

    def _part(
        self, value: Value, sums: Sums, found: Products, before: tuple[int, int], part: list[int], function: Function
    ) -> int:
        """The step of a part of a sum: `before` are the step of rounded products and that of the sum so far."""
        rounded, so_far = before
        outputs, positions, _ = found.pair_of.shape
        bias = np.repeat(self.floats(found.bias, found.bits), positions)
        terms = []
        if so_far != INPUTS:
            bias = np.zeros(len(bias))
            terms.append(Term(so_far, Tile.rearranged(np.arange(len(bias)))))
        direct, pairs = self.floats(found.direct[:, part], sums.weight_bits), found.pair_of[:, :, part]
        index = np.where(sums.index[:, part] < 0, -1, value.rows[sums.index[:, part]])
        if direct.any() or not found.pairs:
            terms.append(Term(value.step, Tile(_narrow(index[None]), direct[None])))
        if (pairs >= 0).any():
            terms.append(Term(rounded, Tile(_narrow(pairs), np.ones((outputs, 1, len(part))))))
        return self.new(tuple(terms), bias, function)

    def divided(self, value: Value, counts: Integers, of: FixedPoint) -> Value:
        """Each entry, of this type, divided by a whole number of its own and cut off towards zero at its last digit."""
        before = value.lattice
        kinds = {count: self._divider(of, int(count), before) for count in set(counts.tolist())}
        least, most = (_towards_zero(ends, counts) for ends in (before.least, before.most))
        step = np.where(least == most, 0, np.where(counts == 1, before.step, 1))
        after = Lattice(least, most, integers(step), of.bits)
        if all(count == 1 for count in kinds):
            return value
        return self.function(value, Curves.of_rows([kinds[count] for count in counts.tolist()]), after)

    def _divider(self, of: FixedPoint, count: int, before: Lattice) -> Curve:
        most = max(int(np.abs(before.least).max()), int(np.abs(before.most).max()))
        if abs(of.bits) > _MOST_SHIFT or most > _LEVELS:
            self.refuse(f"{of.text} has more than 51 bits, or its point lies too far away", "use a narrower type")
        unit = 2.0**-of.bits
        return Quantiser(count * unit, -most, most, Rounding.ZERO, unit=unit).curve

    def combined(self, first: Value, second: Value, sign: int) -> Value:
        """first + sign second, entry by entry, exactly."""
        terms = (
            Term(first.step, Tile(_narrow(first.rows.reshape(1, -1, 1)), np.ones((1, 1, 1)))),
            Term(second.step, Tile(_narrow(second.rows.reshape(1, -1, 1)), np.full((1, 1, 1), float(sign)))),
        )
        step = self.new(terms, np.zeros(first.size))
        return Value(step, np.arange(first.size), first.lattice.sum_with(second.lattice, sign))

    def with_zeros(self, value: Value, entries: NDArray[np.intp]) -> Value:
        """Some entries, and 0 where it is -1."""
        there = entries >= 0
        rows = np.where(there, value.rows[entries], -1)
        step = self.new((Term(value.step, Tile.rearranged(rows)),), np.zeros(len(rows)))
        known = value.lattice.taken(np.maximum(entries, 0))
        parts = [integers(np.where(there, part, 0)) for part in (known.least, known.most, known.step)]
        return Value(step, np.arange(len(rows)), Lattice(parts[0], parts[1], parts[2], known.bits))

    def joined(self, first: Value, second: Value) -> Value:
        """The entries of both, one behind the other."""
        nothing = [np.full(value.size, -1) for value in (first, second)]
        rows = np.concatenate([first.rows, nothing[1]]), np.concatenate([nothing[0], second.rows])
        terms = (Term(first.step, Tile.rearranged(rows[0])), Term(second.step, Tile.rearranged(rows[1])))
        step = self.new(terms, np.zeros(len(rows[0])))
        return Value(step, np.arange(len(rows[0])), first.lattice.followed_by(second.lattice))

    def largest(self, value: Value, windows: NDArray[np.intp]) -> Value:
        """The largest entry of each window (P, K)."""
        found = value.taken(windows[:, 0])
        for column in windows.T[1:]:
            found = self.larger(found, value.taken(column))
        return found

    def larger(self, first: Value, second: Value, *, sign: int = 1) -> Value:
        """max(a, b) = b + relu(a - b) of entries of both; with sign -1 the lesser, b - relu(b - a)."""
        positions = np.arange(first.size)
        ones = np.ones((1, 1, 1))
        both = (
            Term(first.step, Tile(_narrow(first.rows.reshape(1, -1, 1)), sign * ones)),
            Term(second.step, Tile(_narrow(second.rows.reshape(1, -1, 1)), -sign * ones)),
        )
        above = self.new(both, np.zeros(first.size), "relu")
        terms = (
            Term(second.step, Tile(_narrow(second.rows.reshape(1, -1, 1)), ones)),
            Term(above, Tile(_narrow(positions.reshape(1, -1, 1)), sign * ones)),
        )
        step = self.new(terms, np.zeros(first.size))
        x, y = first.lattice.at(second.lattice.bits), second.lattice.at(first.lattice.bits)
        lattice = x.larger(y) if sign > 0 else x.negative().larger(y.negative()).negative()
        return Value(step, positions, lattice)

    def product(self, first: Value, second: Value) -> Value:
        """The products of entries of both, as files have them: s^2 - t^2 with s = (u + v) / 2 and t = (u - v) / 2."""
        halves = np.full((1, 1, 1), 0.5)
        places = np.arange(first.size).reshape(1, -1, 1)
        terms = list[Term]()
        for sign in (1, -1):
            sides = (
                Term(first.step, Tile(_narrow(first.rows.reshape(1, -1, 1)), halves)),
                Term(second.step, Tile(_narrow(second.rows.reshape(1, -1, 1)), sign * halves)),
            )
            square = self.new(sides, np.zeros(first.size), Curves.all(Curve("square")))
            terms.append(Term(square, Tile(_narrow(places), np.full((1, 1, 1), float(sign)))))
        step = self.new(tuple(terms), np.zeros(first.size))
        return Value(step, np.arange(first.size), first.lattice.product_with(second.lattice))

    def scaled(self, value: Value, factors: Integers, factor_bits: int, bias: Integers, bias_bits: int) -> Value:
        """Each entry times a constant of its own, and a constant added to it, exactly."""
        index = value.rows.reshape(-1, 1, 1)
        tile = Tile(_narrow(index), self.floats(factors, factor_bits).reshape(-1, 1, 1))
        step = self.new((Term(value.step, tile),), self.floats(bias, bias_bits))
        return Value(step, np.arange(value.size), value.lattice.times(factors, factor_bits).plus(bias, bias_bits))

    def _rounded_products(self, value: Value, sums: Sums, found: Products, of: FixedPoint, name: str) -> int:
        """The step of the products that the accumulator rounds."""
        entries = np.array([entry for entry, _ in found.pairs])
        weights = integers([weight for _, weight in found.pairs])
        if len(entries) > MAX_NEURONS:
            message = (
                f"{name} is {of.text}, which rounds products: each of {len(entries)} is a row of its own, and networks "
                f"of up to {MAX_NEURONS} are decided"
            )
            more = found.exact_bits - of.bits
            fix = f"give {name} {found.exact_bits} bits behind the point, {more} more than now: they hold every product"
            self.refuse(message, fix)
        products = value.lattice.taken(entries).times(weights, sums.weight_bits)
        rounded = products.levels(of)
        low, high = (of.low, of.high) if not of.wraps else (int(rounded.least.min()), int(rounded.most.max()))
        tile = Tile(
            _narrow(value.rows[entries].reshape(-1, 1, 1)), self.floats(weights, sums.weight_bits).reshape(-1, 1, 1)
        )
        if max(-low, high) > _LEVELS:
            self.refuse(f"{name} is {of.text}, which rounds numbers of more than 51 bits", "use a narrower type")
        kind = self._quantiser(of, low, high, wraps=False)
        step = self.new((Term(value.step, tile),), np.zeros(len(entries)), Curves.all(kind))
        if not of.wraps and not rounded.inside(of).all():
            self.casts.append(Cast(step, slice(0, len(entries)), f"{name} of a product", of.text))
        return step

    def _behind(self, step: int, rows: int, function: Function) -> int:
        """A step with a function of all rows of another one."""
        return self.new((Term(step, Tile.rearranged(np.arange(rows))),), np.zeros(rows), function)

    def new(self, terms: tuple[Term, ...], bias: Array, function: Function = "identity") -> int:
        """Another step."""
        self.steps.append(Step(terms, np.ascontiguousarray(bias, np.float64), None, function))
        neurons = sum(step.rows for step in self.steps if step.function != "identity")
        products = sum(step.products for step in self.steps)
        if neurons > MAX_NEURONS or products > MAX_PRODUCTS:
            message = f"the network has {neurons} neurons and {products} products up to here"
            fix = f"networks of up to {MAX_NEURONS} neurons and {MAX_PRODUCTS} products are decided"
            self.refuse(message, f"{fix}; accumulators that hold every product exactly need no neurons for them")
        return len(self.steps) - 1

    def _ends(self, of: FixedPoint, levels: Lattice, wrapping: Marks, name: str) -> tuple[int, int]:
        """Where levels are cut off or wrapped: the ends of the type, or of what occurs where these are no floats."""
        if max(-of.low, of.high) <= _LEVELS:
            return of.low, of.high
        least, most = int(levels.least.min()), int(levels.most.max())
        if wrapping.any() or not of.low <= least <= most <= of.high or max(-least, most) > _LEVELS:
            self.refuse(f"{name} is {of.text}, which more than 51 bits leave", "use a type of at most 51 bits")
        return least, most

    def _quantiser(self, of: FixedPoint, low: int, high: int, *, wraps: bool) -> Curve:
        if abs(of.bits) > _MOST_SHIFT or max(-low, high) > _LEVELS:
            self.refuse(f"{of.text} has more than 51 bits, or its point lies too far away", "use a narrower type")
        return Quantiser(2.0**-of.bits, low, high, of.rounding, wraps=wraps).curve

    def floats(self, numbers: Integers, bits: int) -> Array:
        """Integers times 2^-bits as float64, which they have to be exactly."""
        flat = [int(n) for n in numbers.reshape(-1)]
        if abs(bits) > _MOST_SHIFT or not all(_is_float(n) for n in flat):
            self.refuse("a weight has more than 53 bits, or its point lies too far away", "use a narrower type")
        found: Array = np.ldexp(np.array([float(n) for n in flat]), -bits).reshape(numbers.shape)
        return found


def _towards_zero(numbers: Integers, counts: Integers) -> Integers:
    """numbers / counts, cut off towards zero."""
    return integers(np.where(numbers >= 0, numbers // counts, -(-numbers // counts)))


def _rounding(of: FixedPoint) -> str:
    """The type of fixed point that holds the same numbers as ap_int or ap_uint."""
    return f"{'ap_fixed' if of.signed else 'ap_ufixed'}<{of.width},{of.integer}>"


def _is_float(number: int) -> bool:
    """Whether an integer is a float64 of moderate size."""
    return abs(number) <= _EXACT or (number.bit_length() <= _MOST_SHIFT and int(float(number)) == number)


def _narrow(index: NDArray[np.intp]) -> NDArray[np.int32]:
    return np.ascontiguousarray(index, np.int32)
