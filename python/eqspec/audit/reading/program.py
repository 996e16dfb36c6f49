"""A network as a program of steps, made while its file is read.

v_s = an exact value over the inputs and earlier steps, and X_s = f_s(v_s), row by row, or v_s. What is affine is folded
into the value that reads it as long as that does not name more units than both; else a step without a function stands
between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ..functions import BENT, Curves
from ..opening import limits
from ..rounding import Array, Refused
from .effort import Effort
from .number import ONE, ZERO, Number
from .value import CONSTANT, INPUTS, Part, Value, distinct, units

MOST_PARTS, MOST_PRODUCTS = 24, 1 << 18
Operand = Value | Array
"""A value, or constants: floats that are exact, or Numbers."""
Operands = Sequence[Operand | None]
"""Those of a node, None where one is left out."""
Given = Mapping[str, Any]
"""Its attributes by their names."""


@dataclass(frozen=True)
class Step:
    """A value, of one axis, and the functions that follow: of all rows, of each, or none."""

    value: Value
    curves: Curves = ()


class Program:
    """`steps` so far, and what is `said` about their ends.

    Inputs and units are at most `sizes` by their sources; where nothing can overflow, 0.
    """

    def __init__(self, kind: type[Number], sizes: Sequence[float]) -> None:
        self.kind, self.effort, self.steps = kind, Effort(kind), list[Step]()
        self.sizes = {INPUTS: np.array(sizes), CONSTANT: np.ones(1)}
        self._named, self.asked, self.said = 0, list[Value](), list[str]()
        self.origins: dict[Value, tuple[str, Sequence[Operand]]] = {}
        self.held = set[float]()  # what values may be on whole regions: ends of clips, constants

    def units(self, source: int, shape: tuple[int, ...]) -> Value:
        """What a source gives, which is computed: as it is, but for what an underflow may lose of its products."""
        if not self.kind.rounds:
            return units(source, shape, np.ones((1, 1)))
        one, nothing = self.kind(ONE, ONE, 0, 1.0), self.kind(ZERO, self.kind.lost(ZERO), 0, 0.0)
        value, rows = units(source, shape, np.array([[one]], object)), np.arange(prod(shape))
        lost = Part(CONSTANT, rows, 0 * rows[:, None], 0 * rows, np.array([[nothing]], object))
        return Value(shape, (*value.parts, lost))

    def constant(self, constants: Array) -> Value:
        """Constants as a value."""
        which, kernels = self._few(constants)
        rows = np.flatnonzero(kernels != 0.0 if kernels.dtype != object else np.ones(len(kernels)))
        rows = np.flatnonzero(np.isin(which, rows))
        self.effort.name(len(rows))
        part = Part(CONSTANT, rows, np.zeros((len(rows), 1), np.int32), which[rows], kernels[:, None])
        return Value(constants.shape, (part,) if len(rows) else ())

    def value(self, operand: Operand) -> Value:
        """An operand as a value."""
        return operand if isinstance(operand, Value) else self.constant(operand)

    def _few(self, constants: Array) -> tuple[Array, Array]:
        """Which (N,) of few constants each of these is."""
        flat = constants.ravel()
        told = np.array([id(number) for number in flat], np.int64) if flat.dtype == object else flat
        _, first, which = np.unique(told, return_index=True, return_inverse=True)
        return which.ravel(), self.effort.kernels(flat[first])

    def taken(self, value: Value, places: Array) -> Value:
        """The entries at these places, 0 where a place is -1."""
        self.effort.name(places.size, 1 + sum(part.index.shape[1] for part in value.parts))
        return value.taken(places)

    def turned(self, x: Operand, order: Sequence[int]) -> Operand:
        """Its axes in another order."""
        return self.taken(x, x.places.transpose(order)) if isinstance(x, Value) else x.transpose(order)

    def scaled(self, value: Value, constants: Array) -> Value:
        """Times constants, which may have more axes, or longer ones."""
        shape = np.broadcast_shapes(value.shape, constants.shape)
        self.effort.name(*shape)
        which, weights = self._few(np.broadcast_to(constants, shape))
        return self.sums(value, np.broadcast_to(value.places, shape)[..., None], which, weights[:, None])

    def constant_where(self, value: Value, constants: Array) -> Value:
        """Constants that have no value where this value has none: it stays, without weight."""
        return self.added(self.scaled(value, np.array(0.0)), constants)

    def negative(self, x: Operand) -> Any:
        """Its negative, a value or constants as it is."""
        return self.scaled(x, np.array(-1.0)) if isinstance(x, Value) else self.effort.done(np.negative, x)

    def apart(self, first: Operand, second: Operand) -> Value:
        """first - second."""
        return self.added(first, self.negative(second))

    def sums(self, value: Value, taps: Array, which: Array, weights: Array) -> Value:
        """Sums of entries at places taps (..., t), -1 for none, times the weights (c, t) of each sum, `which` (N,)."""
        shape, places = taps.shape[:-1], taps.reshape(-1, taps.shape[-1])
        self.effort.name(*places.shape)
        weights = self.effort.kernels(weights)
        found = [(part, part.at(places, value.size)) for part in value.parts]
        # What is affine twice names the product of both numbers of units, but where all taps name the same ones.
        wide = [(part.index.shape[1], _alike(part, at)) for part, at in found]
        costs = [len(at) * k * (1 if alike else at.shape[1]) for (k, alike), (_, at) in zip(wide, found, strict=True)]
        work = max((weights.size * k for k, alike in wide if alike and k > 1), default=0)
        kept = places.size + sum(part.entries for part in value.parts)
        if not value.simple and (sum(costs) > kept or (work > MOST_PRODUCTS and places.shape[1] > 1)):
            return self.sums(self.step(value), taps, which, weights)
        self.effort.name(sum(costs))
        made = [self._summed(part, at, which.ravel(), weights) for part, at in found if (at >= 0).any()]
        return Value(shape, tuple(self._joined(made)))

    def _summed(self, part: Part, at: Array, which: Array, weights: Array) -> Part:
        rows = np.flatnonzero((at >= 0).any(axis=1))
        at, which, one, alike = at[rows], which[rows], part.source == CONSTANT, _alike(part, at)
        kinds = np.where(at >= 0, part.kind[at], -1)
        if not (one or alike):  # what a kernel has where no unit is named does not count
            usual = np.zeros(weights.shape, kinds.dtype)
            np.maximum.at(usual, (which[:, None], np.arange(at.shape[1])), kinds)
            kinds = np.where(kinds < 0, usual[which], kinds)
        first, kind = distinct(np.concatenate([which[:, None], kinds], axis=1))
        kernels = np.concatenate([part.kernels, np.zeros((1, part.kernels.shape[1]))])  # the last of all, for -1
        if part.kernels.dtype == object:
            kernels[-1] = self.kind(ZERO, ZERO, 0, 0.0)
        products = self.effort.times(weights[which[first]][:, :, None], kernels[kinds[first]])
        if one or alike:
            index, terms = part.index[_first(at)], self.effort.summed(products, 1)
        else:
            index = np.where(at[:, :, None] >= 0, part.index[at], -1).reshape(len(rows), -1)
            terms = products.reshape(len(first), -1)
        return Part(part.source, rows, index, kind, self.effort.rounded(terms, at.shape[1] - 1, one))

    def added(self, *operands: Operand) -> Value:
        """The sum of values and constants."""
        values, shape = [self.value(one) for one in operands], np.broadcast_shapes(*(one.shape for one in operands))
        values = [self.taken(one, np.broadcast_to(one.places, shape)) for one in values]
        parts = self._joined([part for value in values for part in value.parts])
        count = len(values) - 1
        found = Value(shape, tuple(
            Part(p.source, p.rows, p.index, p.kind, self.effort.rounded(p.kernels, count, p.source == CONSTANT))
            for p in parts
        ))  # fmt: skip
        return found if len(parts) <= MOST_PARTS else self.step(found)

    def stacked(self, operands: Sequence[Operand]) -> Value:
        """The entries of all of them, one behind the other."""
        parts, size = list[Part](), 0
        for value in map(self.value, operands):
            parts += [Part(p.source, p.rows + size, p.index, p.kind, p.kernels) for p in value.parts]
            size += value.size
        self.effort.name(sum(part.entries for part in parts))
        return Value((size,), tuple(self._joined(parts)))

    def _joined(self, parts: Sequence[Part]) -> list[Part]:
        """Parts of one source as one part, where they have no row in common, or are of the same units."""
        made: list[Part] = []
        for part in parts:
            for n, other in enumerate(made):
                if (both := self._both(other, part)) is not None:
                    made[n] = both
                    break
            else:
                made.append(part)
        return made

    def _both(self, a: Part, b: Part) -> Part | None:
        if a.source != b.source or a.index.shape[1] != b.index.shape[1]:
            return None
        if not np.intersect1d(a.rows, b.rows, assume_unique=True).size:
            order = np.argsort(rows := np.concatenate([a.rows, b.rows]))
            index, kind = np.concatenate([a.index, b.index]), np.concatenate([a.kind, b.kind + len(a.kernels)])
            kernels = np.concatenate([self._like(a.kernels, b), self._like(b.kernels, a)])
            return Part(a.source, rows[order], index[order], kind[order], kernels)
        same = np.array_equal(a.rows, b.rows) and np.array_equal(a.index, b.index)
        if not same and a.source != CONSTANT:
            return None
        rows = np.union1d(a.rows, b.rows)
        kinds = np.full((len(rows), 2), -1)
        kinds[np.searchsorted(rows, a.rows), 0], kinds[np.searchsorted(rows, b.rows), 1] = a.kind, b.kind
        first, kind = distinct(kinds)
        padded = []
        for part, which in zip((a, b), kinds[first].T, strict=True):
            none = self.kind(ZERO, ZERO, 0, 0.0) if part.kernels.dtype == object else 0.0
            padded.append(np.concatenate([part.kernels, np.full((1, part.kernels.shape[1]), none)])[which])
        index = a.index if same else np.zeros((len(rows), 1), np.int32)
        return Part(a.source, rows, index, kind, self.effort.plus(*padded))

    def _like(self, kernels: Array, other: Part) -> Array:
        return self.effort.numbers(kernels) if other.kernels.dtype == object else kernels

    def step(self, value: Value, curves: Curves = (), size: Callable[[Array], Array] | None = None) -> Value:
        """The units of a new step that computes this value; `size` bounds functions whose rounding is seen to."""
        number, flat = len(self.steps), value.reshaped((value.size,))
        self._named += value.size + sum(part.entries for part in value.parts)
        if number == limits.STEPS or self._named > limits.UNITS // 4:
            raise Refused(f"it has more than the {limits.STEPS} layers that the auditor reads, or larger ones")
        self.sizes[number] = self._sizes(flat)
        if self.kind.rounds and curves not in ((), BENT):
            self.sizes[number] = (size or self._behind(curves))(self.sizes[number])
        self.steps.append(Step(flat, curves))
        return self.units(number, value.shape)

    def _behind(self, curves: Curves) -> Callable[[Array], Array]:
        """Sizes behind functions that no runtime rounds: linear pieces of slope 0, 1 and -1."""
        for curve in set(curves):
            n = int(curve.parameters[0]) if curve.name == "pieces" else 0
            if not n or not {*curve.parameters[n + 1 : 2 * n + 2]} <= {-1.0, 0.0, 1.0}:
                raise Refused(f"the auditor does not know what {curve.name} is in float32")
        return lambda size: np.asarray(size + max(2.0 * abs(p) for curve in curves for p in curve.parameters[1:]))

    def settled(self, value: Value) -> Value:
        """The same of single units, for what is read more than once."""
        return value if value.simple else self.step(value)

    def _sizes(self, value: Value) -> Array:
        """At most what is computed on the way to each entry, 0 where nothing can overflow."""
        total = np.zeros(value.size)
        for part in value.parts if self.kind.rounds else ():
            weights = np.array([number.size for number in part.kernels.ravel()]).reshape(part.kernels.shape)
            least = np.append(np.maximum(1.0, self.sizes[part.source]), 0.0)
            total[part.rows] += (weights[part.kind] * least[part.index]).sum(axis=1)
        if (total * 1.001 > self.kind.largest).any():
            raise Refused("float32 might overflow on the way")
        return 1.001 * total


def real(operands: Sequence[Any], index: int) -> Operand:
    """An operand that is a value, or constants that are no integers."""
    found = operands[index] if index < len(operands) else None
    if not (isinstance(found, Value) or (isinstance(found, np.ndarray) and found.dtype.kind in "fO")):
        raise Refused("integers are only read as places, sizes and axes, and minus infinity in front of a Softmax")
    return found


def optional(operands: Sequence[Any], index: int) -> Operand | None:
    """The same of one that may be left out."""
    return real(operands, index) if index < len(operands) and operands[index] is not None else None


def constants(operands: Sequence[Any], index: int) -> Array:
    """Constants that are no integers."""
    found = real(operands, index)
    if isinstance(found, Value):
        raise Refused("the auditor reads constant weights, kernels, slopes and ends alone")
    return found


def _first(at: Array) -> Array:
    """Of each sum, the first row that it takes."""
    return np.asarray(at[np.arange(len(at)), (at >= 0).argmax(axis=1)])


def _alike(part: Part, at: Array) -> bool:
    """Whether all rows that a sum takes are of the same units, one by one."""
    if part.source == CONSTANT or at.shape[1] == 1:
        return True
    _, units = distinct(part.index)
    return bool((units[at] == units[_first(at)][:, None])[at >= 0].all())
