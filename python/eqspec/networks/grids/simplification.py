"""A program as what it is on a region: quantisers that round nothing there are gone, others have the levels that occur.

Of every row the analysis knows what its function is between the ends of its interval and on its grid: affine, piecewise
linear, a quantiser that saturates outside of the levels that occur, or what it was. A step all of whose rows are the
identity has no function any more, and small ones become part of the matrices of the steps that read them. The result
equals the program at every point of the region, and only there; a search on the region has fewer steps to relax.

Sound because a number is replaced only by a float that is the same number: factors, knots and products that no float
holds leave everything as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve, Curves, pieces
from eqspec.networks.enclosure import Array
from eqspec.networks.grain import grain, sums_are_exact
from eqspec.networks.grids.analysis import RELU, Analysis
from eqspec.networks.grids.functions import Known
from eqspec.networks.program import Function, Step, Term, Tile

_IDENTITY = pieces((0.0,), (1.0, 1.0), 0.0)
_MOST_ENTRIES = 1 << 20
"""The most entries of a matrix that a small step is written out as."""


def simplified(steps: Sequence[Step], known: Analysis) -> tuple[Step, ...]:
    """The program with the functions that it has on the region of the analysis."""
    plain = [
        step if found.functions is None else replace(step, function=_function(step.function, found.functions))
        for step, found in zip(steps, known.steps, strict=True)
    ]
    lines = [_lines(found.functions) for found in known.steps]
    return _without_affine(plain, lines, len(known.atoms.inputs))


def _function(function: Function, found: Sequence[Known]) -> Function:
    given = function if isinstance(function, Curves) else Curves.all(RELU)
    curves = [_curve(given.at(row), one) for row, one in enumerate(found)]
    if all(curve == _IDENTITY for curve in curves):
        return "identity"
    return "relu" if all(curve == RELU for curve in curves) else Curves.of_rows(curves)


def _lines(found: Sequence[Known] | None) -> tuple[Array, Array] | None:
    """Factor and offset of each row, if all functions are affine; None where no float holds one, or some are not."""
    if found is None:
        return None
    numbers = [_floats(one.affine) if one.affine is not None else None for one in found]
    table = [line for line in numbers if line is not None]
    if len(table) < len(found):
        return None
    made = np.array(table)
    return np.ascontiguousarray(made[:, 0]), np.ascontiguousarray(made[:, 1])


def _curve(curve: Curve, known: Known) -> Curve:
    """The function of a row, simpler if floats can say it."""
    if known.affine is not None:
        factor, offset = known.affine
        numbers = _floats([factor, offset])
        return curve if numbers is None else pieces((0.0,), (numbers[0], numbers[0]), numbers[1])
    if known.bent is not None:
        numbers = _floats([*known.bent.knots, *known.bent.slopes, known.bent.value])
        if numbers is None:
            return curve
        count = len(known.bent.knots)
        made = pieces(numbers[:count], numbers[count:-1], numbers[-1])
        return curve if len(made.parameters) > len(curve.parameters) and curve.name == "pieces" else made
    return curve if known.quantiser is None else known.quantiser.curve


def _floats(numbers: Sequence[Fraction]) -> list[float] | None:
    """The numbers as floats, None if one is none."""
    try:
        found = [float(x) for x in numbers]
    except OverflowError:
        return None
    return found if all(Fraction(x) == y for x, y in zip(found, numbers, strict=True)) else None


# Steps without a function, as matrices of what they read.


@dataclass(frozen=True)
class _Matrices:
    """bias + sum over new sources of matrix times what they give."""

    terms: dict[int, Array]
    bias: Array


def _without_affine(
    steps: Sequence[Step], lines: Sequence[tuple[Array, Array] | None], inputs: int
) -> tuple[Step, ...]:
    """Without steps whose functions are all affine (`lines`), where they are small and nothing is rounded."""
    made: list[Step] = []
    place: dict[int, int] = {-1: -1}
    waiting: dict[int, _Matrices] = {}
    columns = {-1: inputs}

    def put(number: int, step: Step) -> None:
        made.append(step)
        place[number] = len(made) - 1
        columns[len(made) - 1] = step.rows

    def settle(number: int) -> None:
        """A waiting step is made one of its own."""
        matrices = waiting.pop(number)
        terms = tuple(Term(source, Tile.dense(matrix)) for source, matrix in matrices.terms.items())
        put(number, Step(terms, matrices.bias, None, "identity"))

    for number, step in enumerate(steps):
        line = lines[number]
        affine = number < len(steps) - 1 and (step.function == "identity" or line is not None)
        if affine or any(source in waiting for source in step.sources):
            matrices = _as_matrices(step, place, waiting, columns)
            scaled = matrices if matrices is None or line is None else _scaled(matrices, *line)
            if scaled is not None and affine:
                waiting[number] = scaled
                continue
            if matrices is not None:
                terms = tuple(Term(source, Tile.dense(matrix)) for source, matrix in matrices.terms.items())
                put(number, replace(step, terms=terms, bias=matrices.bias, names=None))
                continue
        for source in step.sources:
            if source in waiting:
                settle(source)
        put(number, replace(step, terms=tuple(Term(place[term.source], term.tile) for term in step.terms)))
    return tuple(made)


def _as_matrices(
    step: Step, place: dict[int, int], waiting: dict[int, _Matrices], columns: dict[int, int]
) -> _Matrices | None:
    """A step's sums as matrices of steps that are made; None where that is too large, or rounds a number."""
    if not step.exact:
        return None
    bias, terms = step.bias, dict[int, Array]()
    for term in step.terms:
        inner = waiting.get(term.source)
        width = len(inner.bias) if inner is not None else columns[place[term.source]]
        if step.rows * width > _MOST_ENTRIES or term.tile.products > _MOST_ENTRIES:
            return None
        matrix = _matrix(term.tile, width)
        if matrix is None:
            return None
        parts = {place[term.source]: matrix} if inner is None else {}
        if inner is not None:
            moved = _product(matrix, inner.bias[:, None])
            total = None if moved is None else _sum(bias, moved[:, 0])
            products = {source: _product(matrix, factor) for source, factor in inner.terms.items()}
            if total is None or any(product is None for product in products.values()):
                return None
            bias = total
            parts = {source: product for source, product in products.items() if product is not None}
        for source, part in parts.items():
            added = part if source not in terms else _sum(terms[source], part)
            if added is None:
                return None
            terms[source] = added
    return _Matrices(terms, np.ascontiguousarray(bias))


def _scaled(matrices: _Matrices, factors: Array, offsets: Array) -> _Matrices | None:
    """Rows times factors plus offsets, if nothing is rounded."""
    made = {source: _times(factors[:, None], matrix) for source, matrix in matrices.terms.items()}
    bias = _times(factors, matrices.bias)
    total = None if bias is None else _sum(bias, offsets)
    if total is None:
        return None
    terms = {source: matrix for source, matrix in made.items() if matrix is not None}
    return _Matrices(terms, np.ascontiguousarray(total)) if len(terms) == len(made) else None


def _times(factors: Array, numbers: Array) -> Array | None:
    """The elementwise product, if nothing in it is rounded."""
    made = np.ascontiguousarray(factors * numbers)
    return made if sums_are_exact(np.abs(made), grain(factors) + grain(numbers)).all() else None


def _matrix(tile: Tile, columns: int) -> Array | None:
    """A tile written out; None where weights of one entry do not add up exactly."""
    matrix = tile.matrix(columns)
    sizes = Tile(tile.index, np.abs(tile.weight)).matrix(columns)
    return matrix if sums_are_exact(sizes, grain(tile.weight)).all() else None


def _product(first: Array, second: Array) -> Array | None:
    """The product, if nothing in it is rounded."""
    fine = grain(first) + grain(second)
    return np.ascontiguousarray(first @ second) if sums_are_exact(np.abs(first) @ np.abs(second), fine).all() else None


def _sum(first: Array, second: Array) -> Array | None:
    """The sum, if it is not rounded."""
    fine = min(grain(first), grain(second))
    return np.asarray(first + second) if sums_are_exact(np.abs(first) + np.abs(second), fine).all() else None
