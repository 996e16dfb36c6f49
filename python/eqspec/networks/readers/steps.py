"""From values to the program: every vector of units becomes a step, and the result is the last one.

Units that nothing reads are left out. An identity that one function alone reads, whole and in its order, becomes the
argument of that function. What is over plain units alone is written as a matrix, as wide as these are now: the layers
of a fully connected network; but a function of the units themselves, a quantised input, reads them one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import affine as af
from eqspec.networks import matrices as mx
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curves
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.matrices import Selection
from eqspec.networks.program import INPUTS, Function, Step, Term, Tile
from eqspec.networks.units import MAX_PRODUCTS, Units, check_held


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps, and the units that terms may read: first the inputs, then the values of each step but the last."""

    steps: tuple[Step, ...]
    sources: tuple[Units, ...]


def steps_of(inputs: Units, result: Affine) -> Steps:
    """The program that computes a result from the inputs."""
    result = af.rearrange(result, lambda p: p.reshape(-1))
    if result.rigid is not None and result.rigid.order is not None:
        result = af.as_units(result)
    arguments = {id(units): _argument(units) for units in inputs.reading.units if units is not inputs}
    needed, readers = _needed(result, arguments)
    units = [u for u in inputs.reading.units if id(u) in needed and u is not inputs]
    fused = _fused([*(arguments[id(u)] for u in units), result], readers)
    kept = [u for u in units if id(u) not in fused]
    number = {id(u): n for n, u in enumerate(kept)} | {id(inputs): INPUTS}
    values = [(arguments[id(u)], u.function) for u in kept] + [(result, "identity")]
    steps = list[Step]()
    for value, function in values:
        whole = _whole(value)
        if whole is not None and id(whole) in fused:
            value = arguments[id(whole)]
        steps.append(_step(value, function, number))
    if inputs.reading.structured:
        _check_products(steps)
        inputs.reading.check_neurons(sum(step.rows for step in steps if step.function != "identity"))
    return Steps(tuple(steps), (inputs, *kept))


def _argument(units: Units) -> Affine:
    return units.blocks[0] if len(units.blocks) == 1 else af.stack(units.blocks)


def _needed(result: Affine, arguments: dict[int, Affine]) -> tuple[set[int], Counter[int]]:
    """The units that the result depends on, and how many terms read each."""
    found, waiting = set[int](), [result]
    readers = Counter[int]()
    while waiting:
        for part in waiting.pop().parts:
            readers[id(part.units)] += 1
            if id(part.units) not in found:
                found.add(id(part.units))
                if id(part.units) in arguments:
                    waiting.append(arguments[id(part.units)])
    return found, readers


def _fused(values: Sequence[Affine], readers: Counter[int]) -> set[int]:
    """The identities that become the argument of the one function that reads them."""
    wholes = [_whole(value) for value in values]
    return {id(units) for units in wholes if units is not None and readers[id(units)] == 1}


def _whole(value: Affine) -> Units | None:
    """The units with the identity that a value is, all of them in their order."""
    index = af.whole_units(value)
    if index is None or (index.ravel() != np.arange(index.size)).any():
        return None
    return value.parts[0].units


def _check_products(steps: Sequence[Step]) -> None:
    products = sum(step.products for step in steps)
    if products > MAX_PRODUCTS:
        message = f"one evaluation of the network costs {products} products; networks of up to {MAX_PRODUCTS}"
        raise mx.TooLargeError(f"{message} are read")
    check_held(sum(term.tile.index.size + 2 * term.tile.weight.size for step in steps for term in step.terms))


def _step(value: Affine, function: Function, number: dict[int, int]) -> Step:
    order = None if value.rigid is None else value.rigid.order
    written_out = not isinstance(function, Curves)
    terms = [Term(number[id(part.units)], _tile(part, value, order, written_out=written_out)) for part in value.parts]
    bias = mx.moved(value.bias, lambda a: np.ascontiguousarray(mx.in_tile_order(a.reshape(-1), order)))
    bias_error = None if bias.error is None or not bias.error.any() else bias.error
    exact = bias_error is None and all(term.tile.weight_error is None for term in terms)
    called: tuple[bytes | None, ...] = ()
    if not exact and value.names is not None and not value.unit:
        called = tuple(mx.in_tile_order(value.names.reshape(-1), order).tolist())
    return Step(tuple(terms), bias.value, bias_error, function, called if any(called) else None)


def _tile(part: af.Part, value: Affine, order: mx.Indices | None, *, written_out: bool) -> Tile:
    """A part as the tile of a step whose rows are those of the rigid tiles; a small selection may be `written_out`."""
    matrix, width = part.matrix, part.units.size
    small = written_out and part.units.plain and value.size * width <= af.MOST_WRITTEN_OUT
    if isinstance(matrix, Selection) and not small:
        made = mx.as_tile(matrix, order)  # whose rows are in this order already
        return Tile(np.ascontiguousarray(made.index, np.int32), *_numbers(made.weight))
    if isinstance(matrix, mx.Tiled):
        index = matrix.index if not matrix.loose or order is None else _inverse(matrix.index, order)
        return Tile(np.ascontiguousarray(index, np.int32), *_numbers(matrix.weight))
    rows = mx.moved(mx.dense_rows(matrix, value.shape, width), lambda a: a.reshape(value.size, width))
    return Tile.dense(*_numbers(mx.moved(rows, lambda a: mx.in_tile_order(a, order))))


def _inverse(index: mx.Indices, order: mx.Indices) -> mx.Indices:
    return mx.in_tile_order(index[0], order)[None]


def _numbers(a: Enclosure) -> tuple[Array, Array | None]:
    error = None if a.error is None or not a.error.any() else np.ascontiguousarray(a.error)
    return np.ascontiguousarray(a.value), error
