"""Exact evaluation of a network at a rational point, as integers over one common denominator.

A vector is (lower, upper, exponent, denominator): arrays of Python integers with real value n 2^exponent /
denominator. A layer's float64 numbers are integers over one power of two, so a layer costs one integer matrix-vector
product and no gcd. Layers with errors give intervals: for an interval of weights [V, W] and of inputs [x, y] that is
one point or non-negative (it has passed a ReLU),
    lower = V+ x - V- y,   upper = W+ y - W- x      (x >= 0; a point is split into its positive and negative part),
the tightest interval of the product, since every weight occurs once.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[Any]
"""An object array of Python integers, so that nothing overflows."""


class Layer(Protocol):
    """What an exact evaluation needs of a layer."""

    @property
    def weight(self) -> Array: ...  # noqa: D102
    @property
    def bias(self) -> Array: ...  # noqa: D102
    @property
    def weight_error(self) -> Array | None: ...  # noqa: D102
    @property
    def bias_error(self) -> Array | None: ...  # noqa: D102


def to_integers(*arrays: Array) -> tuple[list[Integers], int]:
    """Finite float64 arrays as integers n and one exponent e, exactly: array = n 2^e."""
    parts = [np.frexp(a) for a in arrays]
    used = [e[m != 0] for m, e in parts]
    exponent = min((int(e.min()) - 53 for e in used if e.size), default=0)
    integers = []
    for mantissa, e in parts:
        whole = np.ldexp(mantissa, 53).astype(np.int64).astype(object)
        shift = np.where(mantissa != 0, e - 53 - exponent, 0).astype(object)
        integers.append(whole << shift)
    return integers, exponent


class IntegerLayer:
    """A layer prepared for exact evaluation: interval ends of weight (m, n) and bias (m,) as integers."""

    def __init__(self, layer: Layer) -> None:
        self.exact = layer.weight_error is None and layer.bias_error is None
        if self.exact:
            (self._weight,), self._weight_exponent = to_integers(layer.weight)
            (self._low_bias,), self._bias_exponent = to_integers(layer.bias)
            self._high_bias = self._low_bias
            low = high = self._weight
        else:
            weight_error = np.zeros_like(layer.weight) if layer.weight_error is None else layer.weight_error
            bias_error = np.zeros_like(layer.bias) if layer.bias_error is None else layer.bias_error
            (weight, radius), self._weight_exponent = to_integers(layer.weight, weight_error)
            (bias, bias_radius), self._bias_exponent = to_integers(layer.bias, bias_error)
            low, high = weight - radius, weight + radius
            self._low_bias, self._high_bias = bias - bias_radius, bias + bias_radius
        self._signed = tuple((np.maximum(end, 0), np.maximum(-end, 0)) for end in (low, high)) if not self.exact else ()
        self._split: tuple[Integers, Integers] | None = None

    def apply(self, point: Vector) -> Vector:
        """The layer's outputs on an interval vector that is one point or non-negative."""
        if self.exact and point.upper is point.lower:
            low = high = self._weight.dot(point.lower)
        else:
            low, high = self._apply_interval(point)
        exponent, bias_exponent = self._weight_exponent + point.exponent, self._bias_exponent
        common = min(exponent, bias_exponent)
        shift, bias_shift = exponent - common, bias_exponent - common
        lower = (low << shift) + ((self._low_bias * point.denominator) << bias_shift)
        same = high is low and self._high_bias is self._low_bias
        upper = lower if same else (high << shift) + ((self._high_bias * point.denominator) << bias_shift)
        return Vector(lower, upper, common, point.denominator)

    def _apply_interval(self, point: Vector) -> tuple[Integers, Integers]:
        if self.exact:
            self._split = self._split or (np.maximum(self._weight, 0), np.maximum(-self._weight, 0))
            (low_plus, low_minus) = (high_plus, high_minus) = self._split
        else:
            (low_plus, low_minus), (high_plus, high_minus) = self._signed
        if point.upper is point.lower:
            plus, minus = np.maximum(point.lower, 0), np.maximum(-point.lower, 0)
            low = low_plus.dot(plus) - low_minus.dot(plus) - high_plus.dot(minus) + high_minus.dot(minus)
            high = high_plus.dot(plus) - high_minus.dot(plus) - low_plus.dot(minus) + low_minus.dot(minus)
        else:
            low = low_plus.dot(point.lower) - low_minus.dot(point.upper)
            high = high_plus.dot(point.upper) - high_minus.dot(point.lower)
        return low, high


class Vector:
    """An interval vector, [lower, upper] 2^exponent / denominator; `upper is lower` for a point."""

    def __init__(self, lower: Integers, upper: Integers, exponent: int, denominator: int) -> None:
        self.lower, self.upper, self.exponent, self.denominator = lower, upper, exponent, denominator

    @classmethod
    def of(cls, point: Sequence[Fraction]) -> Vector:
        """A rational point."""
        denominator = lcm(*(x.denominator for x in point))
        twos = (denominator & -denominator).bit_length() - 1
        integers = np.array([x.numerator * (denominator // x.denominator) for x in point] + [None], dtype=object)[:-1]
        return cls(integers, integers, -twos, denominator >> twos)

    def relu(self) -> Vector:
        """max(0, x) elementwise."""
        lower = np.maximum(self.lower, 0)
        upper = lower if self.upper is self.lower else np.maximum(self.upper, 0)
        return Vector(lower, upper, self.exponent, self.denominator)

    def fractions(self) -> list[tuple[Fraction, Fraction]]:
        """The intervals as rationals."""
        unit = Fraction(2) ** self.exponent / self.denominator
        return [(low * unit, high * unit) for low, high in zip(self.lower.tolist(), self.upper.tolist(), strict=True)]


def evaluate(layers: Sequence[IntegerLayer], point: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Intervals (lo, hi) of each output at one rational input, ReLU between the layers."""
    vector = Vector.of(point)
    for layer in layers[:-1]:
        vector = layer.apply(vector).relu()
    return layers[-1].apply(vector).fractions()
