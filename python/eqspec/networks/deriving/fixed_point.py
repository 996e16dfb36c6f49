"""A float network in fixed-point arithmetic, as hls4ml's C++ would compute it.

A step of the network is a layer: a matrix, or a convolution, and a bias, followed by ReLU or nothing. As `nnet::dense`
and `nnet::conv_2d_cl` do it, every product of an input and a weight is assigned to the accumulator's type by itself,
and so is the bias; their sum in that type is assigned to the type of results, and what ReLU gives is assigned to it
again. The builder of firmware that was read from a folder (`firmware/builder`) makes these steps, so there is one
meaning of fixed-point arithmetic, and it is compared with hls4ml's simulation in the tests.

A weight is what hls4ml writes to its files and C++ reads from them: the decimal with as many digits behind the point as
the type has bits there, assigned to the type (so AP_TRN cuts off, and a negative weight is rounded downwards).

Each step has to be one layer of the file: where the reader folded several operators into one, hls4ml would round behind
each of them. So the graph of the file is asked which operators there are. A step that only moves numbers computes
nothing and needs no type.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import DerivationError
from eqspec.networks.deriving.float_graph import FloatGraph, Links, float_graph
from eqspec.networks.deriving.layers import LAYERS, attribute, weight_place
from eqspec.networks.deriving.precision import FixedPointFormat
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.builder import Builder, Refuse, Value
from eqspec.networks.firmware.finishing import finished
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.sums import Sums
from eqspec.networks.network import Array, Network
from eqspec.networks.program import Step, Tile, content

_CHAINS = "networks whose layers follow one another are quantised to fixed point: dense layers, convolutions and ReLU"
_MOVES = ("Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
_OF_VECTORS = ("Add", "Dropout", "Gemm", "Identity", "LogSoftmax", "MatMul", "Relu", "Softmax")
_ENDS = ("LogSoftmax", "Softmax")


def in_fixed_point(network: Network, types: FixedPointFormat) -> Network:
    """The network in these types. DerivationError for what hls4ml computes in another way, or not at all."""
    layer = 0

    def refuse(message: str, fix: str) -> NoReturn:
        where = f"layer {layer}: " if layer else "inputs: "
        raise DerivationError(network.source, where + message, fix=fix)

    every, in_order = _all_are_layers(network), _all_are_dense(network)
    of = types.roles
    builder = Builder(network.input_size, refuse)
    value = builder.entered(of["inputs"], "input_t", np.arange(network.input_size))
    for number, step in enumerate(network.steps):
        layer = number + 1
        tile = _tile(step, number, refuse)
        rows = None if every else _moved(step, tile)
        order = np.arange(tile.taps)[:, None] if in_order and tile.positions == 1 else None
        value = _assigned(builder, value, step, tile, rows, order, of, f"layer{layer}")
    steps, casts = finished(builder, value)
    digest = hashlib.sha256(f"fixed point {network.identity} {types.text}\n".encode())
    for part in content(network.steps):
        digest.update(part)
    notes = (*network.notes, f"its layers are computed as hls4ml does it, in {types.text}")
    return replace(
        network,
        steps=steps,
        source=f"{network.source} as {types.text}",
        sha256=digest.hexdigest(),
        notes=notes,
        content=None,
        casts=casts,
    )


def _all_are_layers(network: Network) -> bool:
    """Whether every step is a layer, also one whose matrix only moves numbers; else those are none that do.

    Graphs whose steps are not their layers are refused: dense or convolution, bias, ReLU, and a Softmax at the end.
    """
    graph = float_graph(network)
    if len(graph.inputs) > 1:
        names = " and ".join(repr(value.name) for value in graph.inputs)
        message = f"it takes {len(graph.inputs)} inputs, {names}, and fixed point is for networks of one"
        raise graph.refuse(message, "export a network of one input, which holds what each of these takes")
    links = graph.links()
    layers = 0
    for node in graph.nodes:
        layers += node.op_type in LAYERS
        known = node.op_type in (*LAYERS, *_MOVES, "Relu") or links.layer_of_bias(node) is not None
        if not known and not (node.op_type in _ENDS and network.stripped):
            raise graph.refuse("it is not quantised to fixed point", _CHAINS, node)
        if node.op_type == "Gemm" and {attribute(node, "alpha", 1.0), attribute(node, "beta", 1.0)} != {1.0}:
            raise graph.refuse("a Gemm with alpha or beta", "take them into its weights and bias", node)
        before = links.makers.get(node.input[0])
        if node.op_type == "Relu" and before is not None and before.op_type == "Relu":
            raise graph.refuse("a ReLU of a ReLU", "leave the second out, which changes nothing", node)
    computing = sum(_moved(step, step.terms[0].tile) is None for step in network.steps if step.terms)
    if layers != computing and not _are_layers(graph, links, network):
        message = f"it has {layers} layers, and some follow one another without a ReLU: they are read as {computing}"
        raise graph.refuse(message, "multiply their matrices before exporting, as hls4ml would round behind each")
    return layers != computing


def _all_are_dense(network: Network) -> bool:
    """Whether nothing but dense layers of vectors is there, whose inputs hls4ml adds up in the order of the file.

    What images become it adds up in another one, with channels behind the places.
    """
    return all(node.op_type in _OF_VECTORS for node in float_graph(network).nodes)


def _are_layers(graph: FloatGraph, links: Links, network: Network) -> bool:
    """Whether the steps are the layers one by one, each with its weights and the ReLU behind it.

    As many steps as layers are not enough: a ReLU of the inputs is a step, and two layers may be read as one.
    """
    layers = list[tuple[NDArray[np.float64], bool]]()
    for node in graph.nodes:
        if node.op_type in LAYERS:
            weights = links.constants.get(node.input[weight_place(node, links.constants)])
            if weights is None:
                return False
            layers.append((weights, False))
        elif node.op_type == "Relu":
            if not layers or layers[-1][1]:
                return False
            layers[-1] = layers[-1][0], True
    return len(layers) == len(network.steps) and all(
        step.terms and (step.function == "relu") == rectified and _same_numbers(step.terms[0].tile.weight, weights)
        for step, (weights, rectified) in zip(network.steps, layers, strict=True)
    )


def _same_numbers(a: Array, b: Array) -> bool:
    """Whether they hold the same numbers but for zeros, in any order."""
    return np.array_equal(np.sort(a[a != 0], axis=None), np.sort(b[b != 0], axis=None))


def _tile(step: Step, number: int, refuse: Refuse) -> Tile:
    """What the one term of a step does to the step before it."""
    if step.function not in ("identity", "relu"):
        refuse(f"its function is {step.function}", _CHAINS)
    if step.sources != (number - 1,):
        refuse("it adds or joins what several layers give, or reads an earlier one", _CHAINS)
    if not step.exact:
        fix = "export the network with these operators folded, or without them in front of or behind its layers"
        refuse("its weights were folded from several operators and rounded, and hls4ml would round each of them", fix)
    tile = step.terms[0].tile
    if tile.groups > 1:
        refuse("it is a convolution in groups, an average or a scaling of its inputs", _CHAINS)
    return tile


def _assigned(
    builder: Builder,
    value: Value,
    step: Step,
    tile: Tile,
    rows: NDArray[np.intp] | None,
    order: NDArray[np.intp] | None,
    of: dict[str, FixedPoint],
    name: str,
) -> Value:
    """What a step gives, in the order of its rows; `rows` says which entries it takes if it only moves them, `order`
    how hls4ml adds up, where that is known.
    """
    rectified = step.function == "relu"
    if rows is not None:
        if (rows < 0).any():
            builder.refuse("it pads with zeros by itself", "let the convolution behind it pad")
        moved = value.taken(rows)
        return builder.assigned(moved, of["results"], f"{name}.result_t", rectified=True) if rectified else moved
    by_position = step.bias.reshape(tile.outputs, tile.positions)
    if (by_position != by_position[:, :1]).any():
        builder.refuse("its bias differs from position to position", "export the network without what was folded in")
    weights = _written(tile.weight[0], of["weights"])
    bias = _written(by_position[:, 0], of["biases"])
    sums = Sums(tile.index[0].astype(np.intp), weights, of["weights"].bits, bias, of["biases"].bits, order)
    summed = builder.added(value, sums, of["accumulators"], f"{name}.accum_t")
    found = builder.assigned(summed, of["results"], f"{name}.result_t")
    if rectified:
        found = builder.assigned(found, of["results"], f"{name}.relu.result_t", rectified=True)
    # The entries of sums lie position by position, the rows of a step output by output.
    return found.taken(np.arange(step.rows).reshape(tile.positions, tile.outputs).T.reshape(-1))


def _moved(step: Step, tile: Tile) -> NDArray[np.intp] | None:
    """Which entry each row of a step is, -1 for 0; None where a step computes something."""
    taken = tile.weight[0] != 0.0
    if tile.groups > 1 or step.bias.any() or not ((tile.weight == 1.0) | (tile.weight == 0.0)).all():
        return None
    if not (taken.sum(axis=1) == 1).all():
        return None
    rows: NDArray[np.intp] = tile.index[0][:, taken.argmax(axis=1)].T.reshape(-1).astype(np.intp)
    return rows


def _written(numbers: Array, of: FixedPoint) -> Integers:
    """Weights as the C++ of a project has them."""
    digits = max(0, of.bits)
    written = [float(f"{number:.{digits}f}") for number in numbers.reshape(-1).tolist()]
    return of.stored(np.array(written)).reshape(numbers.shape)
