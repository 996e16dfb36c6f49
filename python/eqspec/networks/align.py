"""Two networks in step: the same depth, and the same width in every layer, without changing either function.

Graphs are paired step by step where they have one structure, else by the shapes of their steps; see `merging`. Chains:
Width: the thinner layer gets neurons with zero weights and zero bias, whose outputs nothing reads. Depth: the
shallower network gets identity layers after its last ReLU, where values are never negative, so that relu(x) = x
exactly. A network without any ReLU first gets one: y = relu(y) - relu(-y).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eqspec.errors import InputError
from eqspec.networks.graph_rewriting import TooLargeError
from eqspec.networks.merging import Pairs, merged, of_one_form, pairs_by_shape, same_structure
from eqspec.networks.names import define
from eqspec.networks.network import AffineLayer, Array, Network
from eqspec.networks.program import Step


def align(a: Network, b: Network) -> tuple[Network, Network]:
    """Both networks with the same number of layers and the same width of each.

    Raises InputError where inputs or outputs differ in number.
    """
    for what, first, second in (("inputs", a.input_size, b.input_size), ("outputs", a.output_size, b.output_size)):
        if first != second:
            raise InputError(f"networks do not compare: {a.source} has {first} {what}, {b.source} has {second}")
    if not (a.is_chain and b.is_chain):
        pairs = [(n, n) for n in range(len(a.steps))]
        if not (of_one_form(a.steps, b.steps) or same_structure(a.steps, b.steps)):
            pairs = pairs_by_shape(a.steps, b.steps)
        return in_step(a, b, b.steps, pairs)
    depth = max(len(a.layers), len(b.layers))
    first_layers, second_layers = _deepen(a.layers, depth), _deepen(b.layers, depth)
    widths = [max(x.bias.size, y.bias.size) for x, y in zip(first_layers, second_layers, strict=True)]
    return a.with_layers(_pad_widths(first_layers, widths)), b.with_layers(_pad_widths(second_layers, widths))


def in_step(a: Network, b: Network, steps: Sequence[Step], pairs: Pairs) -> tuple[Network, Network]:
    """Both networks as programs of one length, with these steps for the second one's."""
    try:
        first, second = merged(a.steps, steps, pairs)
    except TooLargeError:  # to write one out with more rows; then only steps of equal rows stand together
        alike = [(i, k) for i, k in pairs if a.steps[i].rows == steps[k].rows]
        first, second = merged(a.steps, steps, alike)
    return (
        replace(a, steps=tuple(first), largest_intermediates=(), casts=()),
        replace(b, steps=tuple(second), largest_intermediates=(), casts=()),
    )


def _deepen(layers: tuple[AffineLayer, ...], depth: int) -> tuple[AffineLayer, ...]:
    if len(layers) == depth:
        return layers
    if len(layers) == 1:
        layers = _with_relu(layers[0])
    *hidden, last = layers
    width = last.weight.shape[1]
    return (*hidden, *(AffineLayer(np.eye(width), np.zeros(width)) for _ in range(depth - len(layers))), last)


def _with_relu(layer: AffineLayer) -> tuple[AffineLayer, AffineLayer]:
    """An affine map as two layers: y = relu(y) - relu(-y)."""

    def twice(error: Array | None) -> Array | None:
        return None if error is None else np.concatenate([error, error])

    weight, bias = np.concatenate([layer.weight, -layer.weight]), np.concatenate([layer.bias, -layer.bias])
    outputs = layer.bias.size
    difference = np.concatenate([np.eye(outputs), -np.eye(outputs)], axis=1)
    names = None if layer.names is None else (*layer.names, *(define("negate", name) for name in layer.names))
    twofold = AffineLayer(weight, bias, twice(layer.weight_error), twice(layer.bias_error), names)
    return twofold, AffineLayer(difference, np.zeros(outputs))


def _pad_widths(layers: tuple[AffineLayer, ...], widths: list[int]) -> tuple[AffineLayer, ...]:
    """Zero rows up to the widths, and the zero columns that read them."""
    inputs = layers[0].weight.shape[1]
    return tuple(
        _padded(layer, rows, columns)
        for layer, rows, columns in zip(layers, widths, [inputs, *widths[:-1]], strict=True)
    )


def _padded(layer: AffineLayer, rows: int, columns: int) -> AffineLayer:
    def pad(a: Array) -> Array:
        missing = [(0, rows - a.shape[0])] + [(0, columns - n) for n in a.shape[1:]]
        return np.pad(a, missing) if any(after for _, after in missing) else a

    def pad_error(a: Array | None) -> Array | None:
        return None if a is None else pad(a)

    # A name is of a function of all units to come, of which it reads none: columns of zeros do not change it.
    names = None if layer.names is None else layer.names + (None,) * (rows - len(layer.names))
    errors = pad_error(layer.weight_error), pad_error(layer.bias_error)
    return AffineLayer(pad(layer.weight), pad(layer.bias), *errors, names)
