"""Operators of com.microsoft.nchwc, which onnxruntime writes at its highest level of optimisation.

A value of theirs has its channels in blocks of b, filled up with channels that nothing reads; its shape (N, C, ...)
says the filled number C. In which order memory holds them matters to nobody but the operators themselves, so such a
value is read as the plain one of C channels, and

    ReorderInput     channels of zeros are put behind those of a plain value, whose channels may stand last
    ReorderOutput    the first channels, which may be put last
    Conv             the plain one, its stored weights put back in order; with a sum and a function, as FusedConv
    pools, Upsample  the plain ones

With o, i channels and s places of the kernel, weights lie in memory as (o / b, i / b, s, i of a block, o of a block),
or as (o / b, i, s, o of a block) where fewer than b channels go into a group: one for each channel, or a plain value.

How large blocks are follows from the processor that a file runs on, not from the file. onnxruntime is asked for those
of this one, which a note says. Plain operators that onnxruntime leaves between blocked values work entry by entry, or
put channels behind each other; any other use of a blocked value is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

from eqspec.networks.expansion import fused
from eqspec.networks.expansion.graph_pieces import Pieces, attributes, counts
from eqspec.networks.expansion.in_place import InPlace
from eqspec.networks.onnx_tensor import UnreadableError

DOMAIN = "com.microsoft.nchwc"
PLAIN_FIX = "save the model with graph_optimization_level ORT_ENABLE_EXTENDED or below"
_ENTRIES = {
    "Clip", "Elu", "FastGelu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "QuickGelu", "Relu", "Selu",
    "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu",
}  # fmt: skip
"""Functions of every entry, whose other inputs are constants."""
_OF_SEVERAL = ("Add", "Mul", "Sum")
_POOLS = ("auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "storage_order", "strides")


@cache
def block() -> int:
    """How many channels a block has on this processor. UnreadableError where onnxruntime has no blocks."""
    # In a process that reads no such file nothing else here needs it.
    from eqspec.networks.without_telemetry import onnxruntime

    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 4, 1, 1]), ("y", None))
    ]
    graph = helper.make_graph([helper.make_node("ReorderInput", ["x"], ["y"], domain=DOMAIN)], "g", ends[:1], ends[1:])
    imports = [helper.make_opsetid("", 11), helper.make_opsetid(DOMAIN, 1)]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        content = helper.make_model(graph, opset_imports=imports, ir_version=7).SerializeToString()
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        (filled,) = session.run(None, {"x": np.ones((1, 4, 1, 1), np.float32)})
    except Exception as error:  # onnxruntime raises classes of its own
        raise UnreadableError("onnxruntime has no blocks of channels on this processor", PLAIN_FIX) from error
    if filled.shape not in ((1, 8, 1, 1), (1, 16, 1, 1)):
        raise UnreadableError(f"onnxruntime fills 4 channels up to the shape {filled.shape} here", PLAIN_FIX)
    return int(filled.shape[1])


def reorder_input(made: InPlace) -> None:
    """ReorderInput: channels of zeros behind those of a plain value."""
    last = int(attributes(made.node, ("channels_last",)).get("channels_last", 0))
    counts(made.node, (1, 1), (1, 1))
    shape, value = made.shape(0, 4), made.given(0)
    channels = shape[-1] if last else shape[1]
    if last:
        value = made.turned(value, 0, 3, 1, 2)
    more = -channels % block()
    if more:
        places = shape[1:3] if last else shape[2:]
        zeros = made.constant(np.zeros((shape[0], more, *places), np.float32))
        made.of("Concat", value, zeros, to=made.wanted(0), axis=1)
    else:
        made.of("Identity", value, to=made.wanted(0))


def reorder_output(made: InPlace) -> None:
    """ReorderOutput: the first channels of a value in blocks."""
    given = attributes(made.node, ("channels", "channels_last"))
    counts(made.node, (1, 1), (1, 1))
    shape, channels = made.shape(0, 4), int(given.get("channels", 0))
    if channels < 1 or channels + -channels % block() != shape[1]:
        message = f"{channels} channels in blocks of {block()}, as they are on this processor, are not {shape[1]}"
        raise UnreadableError(message, PLAIN_FIX)
    value = made.part(made.given(0), 0, channels, 1)
    if int(given.get("channels_last", 0)):
        made.of("Transpose", value, to=made.wanted(0), perm=[0, 2, 3, 1])
    else:
        made.of("Identity", value, to=made.wanted(0))


def entry_by_entry(made: InPlace) -> None:
    """Add, Sum or Mul of values in blocks, which lie alike in memory where their shapes are equal."""
    if len({made.shape(index) for index in range(len(made.node.input))}) > 1:
        raise UnreadableError("values in blocks of channels have other shapes", PLAIN_FIX)
    made.of(made.node.op_type, *made.node.input, to=made.wanted(0))


def _weights(stored: TensorProto, group: int) -> tuple[NDArray[np.float32], bool]:
    """The weights (o, i, places) of a Conv in their order, and whether it takes a plain value."""
    if stored.data_location == TensorProto.EXTERNAL or stored.data_type != TensorProto.FLOAT:
        raise UnreadableError("weights in blocks that are not stored in the file as float32", PLAIN_FIX)
    weights, size = numpy_helper.to_array(stored), block()
    outputs, inputs, *places = weights.shape
    of_blocks = inputs >= size
    if (
        len(places) != 2
        or outputs % size
        or (of_blocks and inputs % size)
        or (not of_blocks and group not in (1, outputs))
    ):
        message = f"weights of shape {weights.shape} in {group} groups do not lie in blocks of {size} channels"
        raise UnreadableError(message, PLAIN_FIX)
    if of_blocks:
        turned = weights.reshape(outputs // size, inputs // size, -1, size, size).transpose(0, 4, 1, 3, 2)
    elif group == 1 or inputs == 1:
        turned = weights.reshape(outputs // size, inputs, -1, size).transpose(0, 3, 1, 2)
    else:
        raise UnreadableError(f"{group} groups of {inputs} channels", PLAIN_FIX)
    return np.ascontiguousarray(turned).reshape(weights.shape), not of_blocks and group == 1


def convolution(pieces: Pieces, node: NodeProto) -> None:
    """Conv, whose weights are put back in order; it takes a plain value of few channels, or one in blocks."""
    stored = pieces.stored(node.input[1])
    if stored is None:
        raise UnreadableError("weights in blocks that are computed", PLAIN_FIX)
    group = next((int(a.i) for a in node.attribute if a.name == "group"), 1)
    weights, plain = _weights(stored, group)
    _check_taken(pieces, [node.input[0]], blocked=not plain)
    _check_taken(pieces, [name for name in node.input[3:] if name], blocked=True)
    fused_node = NodeProto()
    fused_node.CopyFrom(node)
    fused_node.input[1] = pieces.constant(weights, node.output[0])
    fused.fused_convolution(pieces, fused_node)
    _leave(pieces, node)


def pool(pieces: Pieces, node: NodeProto) -> None:
    """A pool over the places of every channel."""
    counts(node, (1, 1), (1, 1))
    _check_taken(pieces, node.input, blocked=True)
    pieces.add(node, node.op_type, node.input, node.output[0], **attributes(node, _POOLS))
    _leave(pieces, node)


def upsample(pieces: Pieces, node: NodeProto) -> None:
    """Upsample: Resize by whole factors, of which the nearest place is the one before."""
    given = attributes(node, ("coordinate_transformation_mode", "mode", "scales"))
    counts(node, (1, 1), (1, 1))
    _check_taken(pieces, node.input, blocked=True)
    scales = [int(scale) for scale in given.get("scales", ())]
    places, mode = str(given.get("coordinate_transformation_mode", "asymmetric")), str(given.get("mode", "nearest"))
    if len(scales) != 4 or scales[:2] != [1, 1] or min(scales) < 1 or (mode == "nearest" and places != "asymmetric"):
        raise UnreadableError(f"places enlarged by {scales}, {mode} and {places}", PLAIN_FIX)
    factors = pieces.constant(np.array(scales, np.float32), node.output[0])
    if pieces.opset >= 11:
        how = {"coordinate_transformation_mode": places, "mode": mode, "nearest_mode": "floor"}
        pieces.add(node, "Resize", [node.input[0], "", factors], node.output[0], **how)
    elif pieces.opset >= 9 and places == "asymmetric":
        name = "Resize" if pieces.opset == 10 else "Upsample"
        pieces.add(node, name, [node.input[0], factors], node.output[0], mode=mode)
    else:
        raise UnreadableError(f"places enlarged, {places}, in a file of opset {pieces.opset}", PLAIN_FIX)
    _leave(pieces, node)


def reorder(pieces: Pieces, node: NodeProto) -> None:
    """ReorderInput and ReorderOutput, which are written out once shapes are known."""
    entering = node.op_type == "ReorderInput"
    _check_taken(pieces, node.input, blocked=not entering)
    pieces.nodes.append(node)
    pieces.changed = True
    if entering:
        _leave(pieces, node)


def passed(pieces: Pieces, node: NodeProto) -> NodeProto:
    """A node of another domain, as it is read: one that takes values in blocks gives them, or is refused."""
    here = [name in pieces.blocked for name in node.input]
    if any(attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for attribute in node.attribute):
        raise UnreadableError("branches or bodies beside values in blocks of channels", PLAIN_FIX)
    if not any(here):
        return node
    joins = node.op_type == "Concat" and [(a.name, a.i) for a in node.attribute] == [("axis", 1)]
    one = node.op_type in _ENTRIES and here[0] and not any(here[1:])
    if not all(here) and not one:
        raise UnreadableError("values with and without blocks of channels meet", PLAIN_FIX)
    if not (joins or one or node.op_type in _OF_SEVERAL):
        raise UnreadableError("it reads a value whose channels lie in blocks", PLAIN_FIX)
    _leave(pieces, node)
    if node.op_type not in _OF_SEVERAL:
        return node
    named = NodeProto()
    named.CopyFrom(node)
    named.domain = DOMAIN
    return named


def _check_taken(pieces: Pieces, names: Sequence[str], *, blocked: bool) -> None:
    if any((name in pieces.blocked) != blocked for name in names):
        raise UnreadableError(f"it takes a value {'without' if blocked else 'in'} blocks of channels", PLAIN_FIX)


def _leave(pieces: Pieces, node: NodeProto) -> None:
    """Mark what a node gives as a value in blocks."""
    if not pieces.blocked:
        pieces.notes.append(
            f"channels lie in blocks of {block()}, as onnxruntime has them on this processor: on one with other blocks "
            "the file is another function"
        )
    pieces.blocked.update(node.output)
    if pieces.output in pieces.blocked:
        raise UnreadableError("the output of the model lies in blocks of channels", PLAIN_FIX)


EXPANSIONS: dict[str, Callable[[Pieces, NodeProto], None]] = {
    "Conv": convolution,
    **dict.fromkeys(("AveragePool", "GlobalAveragePool", "GlobalMaxPool", "MaxPool"), pool),
    **dict.fromkeys(("ReorderInput", "ReorderOutput"), reorder),
    "Upsample": upsample,
}
IN_PLACE: dict[str, Callable[[InPlace], None]] = {
    "ReorderInput": reorder_input,
    "ReorderOutput": reorder_output,
    **dict.fromkeys(_OF_SEVERAL, entry_by_entry),
}
