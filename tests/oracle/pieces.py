"""The linear pieces of two ReLU networks on a region: every joint phase pattern that occurs, and where it does.

A network is a list of (weight, bias), ReLU after every layer but the last. Over a polytope on which the phases of a
layer are fixed, the next layer's pre-activations are affine; a neuron that takes both signs at the vertices cuts the
polytope in two, one that does not has one phase (an affine function is extreme at vertices). So patterns that do not
occur are never entered. Parts where a neuron is 0 throughout are not cut off: there both phases are the same function.

The pieces cover the region, and on each of them both networks are given by integer rows over one denominator, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from oracle.polytope import Polytope, Row, multiply, whole

Layers = Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]
"""(weight (m, n), bias (m,)) by layer."""


@dataclass(frozen=True)
class Piece:
    """A polytope and the outputs on it: functionals `reference[o]` and `candidate[o]`, all over `denominator`."""

    polytope: Polytope
    reference: tuple[Row, ...]
    candidate: tuple[Row, ...]
    denominator: int

    def shifted(self, reference: Sequence[Fraction], candidate: Sequence[Fraction]) -> Piece:
        """The same piece with these numbers (O,) added to the outputs."""
        shifts, factor = whole([*reference, *candidate])

        def moved(rows: Sequence[Row], by: Sequence[int]) -> tuple[Row, ...]:
            return tuple(
                (*(a * factor for a in row[:-1]), row[-1] * factor + shift * self.denominator)
                for row, shift in zip(rows, by, strict=True)
            )

        first, second = shifts[: len(reference)], shifts[len(reference) :]
        return Piece(
            self.polytope, moved(self.reference, first), moved(self.candidate, second), self.denominator * factor
        )


@dataclass(frozen=True)
class _Affine:
    """An affine layer with integer coefficients: rows over (inputs, 1), all of them times `factor`."""

    rows: tuple[Row, ...]
    factor: int

    @classmethod
    def of(cls, weight: NDArray[np.float64], bias: NDArray[np.float64]) -> _Affine:
        numbers = [[Fraction(c) for c in (*w, b)] for w, b in zip(weight.tolist(), bias.tolist(), strict=True)]
        flat, factor = whole([number for row in numbers for number in row])
        width = weight.shape[1] + 1
        return cls(tuple(flat[at : at + width] for at in range(0, len(flat), width)), factor)

    def after(self, inputs: Sequence[Row], denominator: int, size: int) -> tuple[Row, ...]:
        """This layer of functionals over x (`size` coordinates), which come times `denominator`."""
        one = (0,) * size + (denominator,)
        made = []
        for row in self.rows:
            terms = [
                (c, functional) for c, functional in zip(row, [*inputs, one], strict=True) if c and any(functional)
            ]
            made.append(tuple(sum(c * functional[at] for c, functional in terms) for at in range(size + 1)))
        return tuple(made)


def pieces(region: Polytope, reference: Layers, candidate: Layers) -> Iterator[Piece]:
    """All pieces of both networks on the region."""
    if not region:
        return
    size = len(region.vertices[0][0]) - 1
    first, second = ([_Affine.of(w, b) for w, b in layers] for layers in (reference, candidate))
    one, other = _denominator(first), _denominator(second)
    for part, f in _pieces(region, first, size):
        for polytope, g in _pieces(part, second, size):
            yield Piece(polytope, _times(f, other), _times(g, one), one * other)


def _denominator(layers: Sequence[_Affine]) -> int:
    product = 1
    for layer in layers:
        product *= layer.factor
    return product


def _times(rows: Sequence[Row], factor: int) -> tuple[Row, ...]:
    return tuple(tuple(a * factor for a in row) for row in rows)


def _pieces(region: Polytope, layers: Sequence[_Affine], size: int) -> Iterator[tuple[Polytope, tuple[Row, ...]]]:
    inputs = tuple(tuple(int(i == j) for j in range(size + 1)) for i in range(size))

    def descend(
        polytope: Polytope, depth: int, values: Sequence[Row], denominator: int
    ) -> Iterator[tuple[Polytope, tuple[Row, ...]]]:
        layer = layers[depth]
        made = layer.after(values, denominator, size)
        if depth == len(layers) - 1:
            yield polytope, made
            return
        for part, active in _phases(polytope, made):
            kept = [row if on else (0,) * (size + 1) for row, on in zip(made, active, strict=True)]
            yield from descend(part, depth + 1, kept, denominator * layer.factor)

    yield from descend(region, 0, inputs, 1)


def _phases(polytope: Polytope, rows: Sequence[Row]) -> list[tuple[Polytope, list[bool]]]:
    """The parts of the polytope by which functionals are positive."""
    parts: list[tuple[Polytope, list[bool]]] = [(polytope, [])]
    for row in rows:
        refined = []
        for part, active in parts:
            heights = [multiply(row, point) for point in part.points]
            if max(heights) <= 0:
                refined.append((part, [*active, False]))
            elif min(heights) >= 0:
                refined.append((part, [*active, True]))
            else:
                refined.append((part.cut(row), [*active, True]))
                refined.append((part.cut(tuple(-a for a in row)), [*active, False]))
        parts = refined
    return parts
