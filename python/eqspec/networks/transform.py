"""Networks from networks: an affine map in front of the inputs, the outputs turned round."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from eqspec.errors import InputError, NetworkError
from eqspec.networks import enclosure as en
from eqspec.networks import exact
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.names import Name, define, elementwise, of_floats, of_rows
from eqspec.networks.network import AffineLayer, Network


def compose_affine(network: Network, scale: Sequence[Fraction], shift: Sequence[Fraction]) -> Network:
    """The network x -> network(scale * x + shift), elementwise; what is rounded goes into the first layer's errors.

    Raises InputError where scale or shift have another length than the inputs, NetworkError where the weights leave the
    range of float64.
    """
    for name, numbers in (("scale", scale), ("shift", shift)):
        if len(numbers) != network.input_size:
            raise InputError(
                f"{name}: {len(numbers)} numbers given, {network.input_size} are accepted by {network.source}"
            )
    if all(s == 1 for s in scale) and not any(shift):
        return network
    first = network.layers[0]
    try:
        weight = en.multiply(
            Enclosure(first.weight, first.weight_error), en.from_fractions([Fraction(s) for s in scale])
        )
        bias = _shifted_bias(first, [Fraction(s) for s in shift])
    except OverflowError as error:
        fix = "check the normalisation: its numbers are too large for these weights"
        raise NetworkError(
            network.source, "the first layer leaves the range of float64 when the normalisation is folded in", fix=fix
        ) from error
    names = None if network.arithmetic == "float32" else _composed_names(first, scale, shift)
    layer = AffineLayer(np.ascontiguousarray(weight.value), bias.value, weight.error, bias.error, names)
    return network.with_layers([layer, *network.layers[1:]])


def _composed_names(layer: AffineLayer, scale: Sequence[Fraction], shift: Sequence[Fraction]) -> tuple[Name, ...]:
    """Each row's function of x is given by its function of scale x + shift, and by these exact numbers."""
    exact_rows = names_of_rows(layer)
    numbers = ";".join(f"{Fraction(s)},{Fraction(t)}" for s, t in zip(scale, shift, strict=True)).encode()
    given = define("normalisation", numbers)
    return tuple(define("composed", name, given) for name in exact_rows)


def names_of_rows(layer: AffineLayer) -> tuple[Name, ...]:
    """What each row is, with its entry of the bias: its name, or its numbers where they are exact."""
    inexact = np.zeros(len(layer.bias), bool)
    if layer.weight_error is not None:
        inexact |= layer.weight_error.any(axis=1)
    if layer.bias_error is not None:
        inexact |= layer.bias_error > 0
    stored = elementwise("row", layer.bias.shape, of_rows(layer.weight), of_floats(layer.bias))
    known = layer.names or (None,) * len(layer.bias)
    numbers = known if stored is None else stored.tolist()
    return tuple(name if off else number for name, number, off in zip(known, numbers, inexact.tolist(), strict=True))


def _shifted_bias(layer: AffineLayer, shift: list[Fraction]) -> Enclosure:
    """weight shift + bias, exactly as rationals, then rounded once; the weights' errors act on |shift|."""
    outputs = exact.evaluate([exact.IntegerLayer(layer)], shift)
    return en.from_intervals(outputs)


def negate_outputs(network: Network) -> Network:
    """The network x -> -network(x), exact."""
    last = network.layers[-1]
    names = None if last.names is None else tuple(define("negate", name) for name in last.names)
    turned = AffineLayer(-last.weight, -last.bias, last.weight_error, last.bias_error, names)
    return network.with_layers([*network.layers[:-1], turned])
