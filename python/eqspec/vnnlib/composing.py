"""Networks made of networks in memory: two side by side, and affine functions behind the outputs.

Shapes: layers l with weight (m_l, n_l); `side_by_side` gives outputs [f; g], `behind` matrix y + shift in place of
the outputs y. Nothing is written to a file on the way, because a file has no place for the errors of folded layers.

Sound because errors are kept where layers are only put together, and where two affine maps become one every operation
is one of `enclosure`, so the errors grow by what they are multiplied with and by what is rounded anew. Graphs stand one
after the other, and affine functions of their outputs are a step behind them: there nothing is rounded at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InputError
from eqspec.networks import AffineLayer, Network, align
from eqspec.networks import enclosure as en
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.program import INPUTS, Step, Term, Tile, renumbered

Array = NDArray[np.float64]


def side_by_side(reference: Network, candidate: Network) -> list[AffineLayer]:
    """Both networks as one: the first layers on top of each other, the others block by block.

    InputError where inputs or outputs differ in number.
    """
    first, second = align(reference, candidate)
    return [
        AffineLayer(
            _joined(a.weight, b.weight, apart=number > 0),
            np.concatenate([a.bias, b.bias]),
            _joined_errors(a.weight_error, b.weight_error, a.weight, b.weight, apart=number > 0),
            _joined_errors(a.bias_error, b.bias_error, a.bias, b.bias, apart=False),
        )
        for number, (a, b) in enumerate(zip(first.layers, second.layers, strict=True))
    ]


def behind(layers: Sequence[AffineLayer], matrix: Array, shift: Array) -> list[AffineLayer]:
    """The layers with matrix (k, O) y + shift (k,) in place of their outputs y (O,); the last two maps become one.

    InputError where the numbers leave the range of float64.
    """
    *before, last = layers
    try:
        with np.errstate(all="ignore"):  # whatever is not finite raises OverflowError
            weight = en.matmul(Enclosure(matrix), Enclosure(last.weight, last.weight_error))
            bias = en.matmul(Enclosure(matrix), Enclosure(last.bias[:, None], _column(last.bias_error)))
            bias = en.add(bias, Enclosure(shift[:, None]))
    except OverflowError:
        message = "weights times the coefficients of the asserts leave the range of float64"
        raise InputError(f"{message}; divide the asserts by their largest coefficient") from None
    error = None if bias.error is None else np.ascontiguousarray(bias.error[:, 0])
    made = AffineLayer(np.ascontiguousarray(weight.value), np.ascontiguousarray(bias.value[:, 0]), weight.error, error)
    return [*before, made]


def steps_behind(networks: Sequence[Network], matrix: Array, shift: Array) -> tuple[Step, ...]:
    """The steps of the networks with matrix [y_1; y_2; ...] + shift behind them, in place of their outputs y.

    matrix (k, O_1 + O_2 + ...), shift (k,); the steps give k numbers.
    """
    steps: list[Step] = []
    terms, column = [], 0
    for network in networks:
        place = {INPUTS: INPUTS} | {n: len(steps) + n for n in range(len(network.steps))}
        steps += [renumbered(step, place) for step in network.steps]
        part = np.ascontiguousarray(matrix[:, column : column + network.output_size])
        terms.append(Term(len(steps) - 1, Tile.dense(part)))
        column += network.output_size
    return (*steps, Step(tuple(terms), shift, None, "identity"))


def _column(error: Array | None) -> Array | None:
    return None if error is None else error[:, None]


def _joined_errors(a: Array | None, b: Array | None, like_a: Array, like_b: Array, *, apart: bool) -> Array | None:
    if a is None and b is None:
        return None
    return _joined(np.zeros_like(like_a) if a is None else a, np.zeros_like(like_b) if b is None else b, apart=apart)


def _joined(a: Array, b: Array, *, apart: bool) -> Array:
    """One on top of the other, or with `apart` each in columns of its own."""
    if not apart:
        return np.concatenate([a, b])
    joined = np.zeros((a.shape[0] + b.shape[0], a.shape[1] + b.shape[1]))
    joined[: a.shape[0], : a.shape[1]] = a
    joined[a.shape[0] :, a.shape[1] :] = b
    return joined
