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
from eqspec.networks.derived import DerivedNetwork
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.network import LargestIntermediate, Network
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.program import INPUTS
from eqspec.networks.readers import network_file as reading
from eqspec.networks.readers import onnx_reader
from eqspec.networks.readers.steps import Steps, steps_of
from eqspec.networks.roundoff import LARGEST, Roundoff
from eqspec.networks.units import Reading
from eqspec.networks.value_ranges import Interval, before, behind, sizes, symmetric


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


def overflow(network: Network, inputs: Array, given: Array, box: Interval | None = None) -> str | None:
    """Where a float32 runtime might leave its range, None if it cannot.

    `inputs` (I,) bounds |x| for the steps as they are, `given` (I,) what the file itself is given: another number
    where a normalisation was put in front. `box` are the ends of x, where they are known.
    """
    intermediates = network.largest_intermediates
    ranges, grown = {INPUTS: symmetric(inputs) if box is None else box}, [_largest(intermediates[0], given)]
    for number, step in enumerate(network.steps):
        with np.errstate(all="ignore"):
            # a value in the graph has parts over some of the units so far; what this step reads is a part of it
            largest = grown[-1] if network.is_chain else sum(grown)
            if not largest <= LARGEST:
                return f"layer {number} of {network.source} may compute numbers of about {largest:.1e}"
            summed = before(step, ranges)
            ranges[number] = behind(step.function, summed)
            # of a norm squares are summed up, and an exponential may leave the range where its argument is far inside
            values = np.concatenate([sizes(summed), sizes(ranges[number])])
            if not (values <= LARGEST).all():
                return f"layer {number} of {network.source} may compute numbers of about {values.max():.1e}"
            if number + 1 < len(network.steps):
                grown.append(_largest(intermediates[number + 1], sizes(ranges[number])))
    return None


def _largest(intermediate: LargestIntermediate, sizes: Array) -> float:
    with np.errstate(all="ignore"):
        return float(intermediate.coefficients @ np.maximum(sizes, 1.0) + intermediate.constant)
