"""A network as every float32 runtime computes it: the same graph, its layers with radii for what may be rounded.

ONNX models are read again with `roundoff`. Layers that came from elsewhere (.nnet, arrays) are taken as what they are:
a matrix product, a bias, a ReLU. `overflow` tells where a box allows numbers that float32 may not hold.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from eqspec.errors import NetworkError
from eqspec.networks import affine as af
from eqspec.networks import products
from eqspec.networks.curve_definitions import DEFINITIONS
from eqspec.networks.curves import Curve, Curves, Pieces
from eqspec.networks.derived import DerivedNetwork
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.network import LargestIntermediate, Network
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.program import Function, Tile
from eqspec.networks.readers import network_file as reading
from eqspec.networks.readers import onnx_reader
from eqspec.networks.readers.steps import Steps, steps_of
from eqspec.networks.roundoff import LARGEST, Roundoff
from eqspec.networks.units import Reading


def in_float32(network: Network) -> Network:
    """The network, which must be as it was read, with errors that cover every float32 runtime.

    Raises NetworkError where its file is gone or changed, computes in 16 bits, or holds numbers beyond float32.
    """
    if network.arithmetic == "float32":
        return network
    if isinstance(network, DerivedNetwork):
        return DerivedNetwork.of(_rounded(network), network.derivation)
    return _rounded(network)


def _rounded(network: Network) -> Network:
    with np.errstate(all="ignore"):
        if network.content is not None:
            return _again(network, network.content)
        if Path(network.source).suffix.lower() == ".onnx":
            return _again(network, reading.content(network.source))
        if network.casts:
            message = "it is firmware in fixed-point arithmetic, in which float32 rounds nothing"
            raise NetworkError(network.source, message, fix="compare it in real arithmetic")
        return _layer_by_layer(network)


def _again(network: Network, content: bytes) -> Network:
    rounded = onnx_reader.read(
        network.source, content, "float32", network.chosen, network.dequantised, network.fixed or None
    )
    if rounded.sha256 != network.sha256:
        raise NetworkError(network.source, "the file has changed since it was read", fix="read it again")
    return replace(rounded, content=network.content)


def _layer_by_layer(network: Network) -> Network:
    if not network.is_chain:
        message = "it is a graph that was not read from a file, so what float32 rounds in it is not known"
        raise NetworkError(network.source, message, fix="give the ONNX file itself")
    if any(layer.weight_error is not None or layer.bias_error is not None for layer in network.layers):
        message = "its layers were folded from operators that are not known, so neither is what float32 rounds"
        raise NetworkError(network.source, message, fix="give the ONNX file itself")
    try:
        unit = _evaluate(network, Roundoff())[1].gamma()
        made, roundoff = _evaluate(network, Roundoff(unit))
    except (OverflowError, UnreadableError) as error:
        raise NetworkError(network.source, f"{error}", fix="rescale the weights") from error
    largest = tuple(roundoff.largest_intermediate(units) for units in made.sources)
    return replace(network, steps=made.steps, arithmetic="float32", largest_intermediates=largest)


def _evaluate(network: Network, roundoff: Roundoff) -> tuple[Steps, Roundoff]:
    """Each layer as the product, the sum and the ReLU that it is."""
    reading = Reading(roundoff.unit, roundoff.precision.tiny if roundoff.unit else 0.0)
    inputs = reading.new(network.input_size, "identity", [], plain=True)
    value = roundoff.given(af.select(inputs, np.arange(network.input_size).reshape(1, -1)))
    for number, layer in enumerate(network.layers):
        if number:
            value = af.relu(value)
        weight = roundoff.constant(Enclosure(np.ascontiguousarray(layer.weight.T)))
        value = roundoff.computed(products.matmul(value, weight), layer.weight.shape[1] + 2)
        value = roundoff.computed(af.shift(value, roundoff.constant(Enclosure(layer.bias))), 3)
    return steps_of(inputs, value), roundoff


def overflow(network: Network, inputs: Array, given: Array) -> str | None:
    """Where a float32 runtime might leave its range, None if it cannot.

    `inputs` (I,) bounds |x| for the steps as they are, `given` (I,) what the file itself is given: another number
    where a normalisation was put in front.
    """
    intermediates = network.largest_intermediates
    sizes, grown = [inputs], [_largest(intermediates[0], given)]
    for number, step in enumerate(network.steps):
        with np.errstate(all="ignore"):
            # a value in the graph has parts over some of the units so far; what this step reads is a part of it
            largest = grown[-1] if network.is_chain else sum(grown)
            if not largest <= LARGEST:
                return f"layer {number} of {network.source} may compute numbers of about {largest:.1e}"
            size = np.abs(step.bias) if step.bias_error is None else np.abs(step.bias) + step.bias_error
            for term in step.terms:
                size = size + _absolute(term.tile).apply(sizes[term.source + 1][:, None])[:, 0]
            sizes.append(_bent(step.function, size * 1.001))
            if number + 1 < len(network.steps):
                grown.append(_largest(intermediates[number + 1], sizes[-1]))
    return None


def _bent(function: Function, sizes: Array) -> Array:
    """How large what functions give gets."""
    if not isinstance(function, Curves):
        return sizes
    made = np.array(sizes)
    for curve, rows in function.groups(len(sizes)):
        if curve.name == "pieces":
            parts = Pieces.of(curve.parameters)
            at_zero = abs(float(DEFINITIONS["pieces"].value(np.zeros(1), curve.parameters)[0]))
            made[rows] = (max(map(abs, parts.slopes)) * sizes[rows] + at_zero) * 1.001
        elif curve.name == "quantiser":
            _, _, low, high, unit, base, *_ = curve.parameters
            made[rows] = unit * max(abs(low - base), abs(high - base)) * 1.001
        else:
            made[rows] = _largest_value(curve, sizes[rows]) * 1.001
    return made


def _largest_value(curve: Curve, sizes: Array) -> Array:
    """At most |f(x)| for |x| up to these sizes."""
    match curve.name:
        case "exp":
            return np.exp(sizes)
        case "square":
            return np.asarray(sizes * sizes)
        case "power":
            return np.asarray(np.power(np.maximum(1.0, sizes), curve.parameters[0]))
        case "elu" | "celu" | "selu":
            return np.asarray((sizes + abs(curve.parameters[0])) * max(1.0, *map(abs, curve.parameters[1:]), 1.0))
        case _:
            return np.asarray(sizes + 1.0)


def _largest(intermediate: LargestIntermediate, sizes: Array) -> float:
    with np.errstate(all="ignore"):
        return float(intermediate.coefficients @ np.maximum(sizes, 1.0) + intermediate.constant)


def _absolute(tile: Tile) -> Tile:
    weight = np.abs(tile.weight)
    return Tile(tile.index, weight if tile.weight_error is None else weight + tile.weight_error)
