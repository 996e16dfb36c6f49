"""A Scan over sequences of a known length, step by step: its body once for each entry of what it goes over.

skl2onnx writes one for distances between points, older exporters one for recurrent layers. Opset 8 has a Scan of
another form, which is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import GraphProto, NodeProto, helper, numpy_helper

from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import Value
from eqspec.networks.operators.shapes import shape_of_value
from eqspec.networks.readers.onnx_bodies import AGAIN, body_of, own_names, stacked, written_out

MOST = 5_000
"""The most nodes of all steps together."""


def unrolled(node: NodeProto, given: Sequence[Value | None], number: int, opset: int) -> list[NodeProto]:
    """The nodes of all steps, which end in the outputs of the Scan. Raises UnreadableError.

    `number` tells this Scan from all others of the graph.
    """
    if opset < 9:
        raise UnreadableError("a Scan of opset 8", "export with opset 9 or newer")
    body = body_of(node)
    sequences = next((int(a.i) for a in node.attribute if a.name == "num_scan_inputs"), 0)
    states = len(node.input) - sequences
    if states < 0 or sequences < 1 or len(body.input) != len(node.input):
        raise UnreadableError("a body that does not fit the node", AGAIN)
    if len(body.output) < states or len(node.output) > len(body.output) or any(v is None for v in given):
        raise UnreadableError("a body that does not fit the node", AGAIN)
    results = len(body.output) - states
    axes, backwards = _lists(node, "scan_input_axes", "scan_input_directions", sequences)
    out_axes, out_backwards = _lists(node, "scan_output_axes", "scan_output_directions", results)
    lengths = {_length(value, axis) for value, axis in zip(given[states:], axes, strict=True)}
    if len(lengths) != 1 or not min(lengths):
        raise UnreadableError(f"sequences of {' and '.join(map(str, sorted(lengths)))} entries", AGAIN)
    (length,) = lengths
    if length * (len(body.node) + len(body.initializer) + 2 * sequences) > MOST:
        raise UnreadableError(f"{length} steps of {len(body.node)} nodes, in all more than {MOST}", "use fewer steps")
    made, carried, parts = list[NodeProto](), list(node.input[:states]), list[list[str]]()
    for step in range(length):
        taken = list[str]()
        for place, (axis, back) in enumerate(zip(axes, backwards, strict=True)):
            made += _entry(node, states + place, length - 1 - step if back else step, axis, number, step)
            taken.append(made[-1].output[0])
        nodes, ends = _step(body, [*carried, *taken], number, step)
        made += nodes
        carried, found = ends[:states], ends[states:]
        parts.append(found)
    made += [helper.make_node("Identity", [a], [b]) for a, b in zip(carried, node.output, strict=False) if b]
    for place, output in enumerate(node.output[states:]):
        if output:
            names = [found[place] for found in parts]
            names = names[::-1] if out_backwards[place] else names
            made += stacked(names, output, number, opset, out_axes[place])
    return made


def _lists(node: NodeProto, axes: str, directions: str, count: int) -> tuple[list[int], list[int]]:
    found = {a.name: list(a.ints) for a in node.attribute}
    given, ways = found.get(axes) or [0] * count, found.get(directions) or [0] * count
    if len(given) != count or len(ways) != count or not set(ways) <= {0, 1}:
        raise UnreadableError(f"{axes} and {directions} that do not fit the body", AGAIN)
    return given, ways


def _length(value: Value | None, axis: int) -> int:
    assert value is not None
    shape = shape_of_value(value)
    if not -len(shape) <= axis < len(shape):
        raise UnreadableError(f"axis {axis} of a value with {len(shape)} axes", AGAIN)
    return shape[axis]


def _entry(node: NodeProto, index: int, place: int, axis: int, number: int, step: int) -> list[NodeProto]:
    """One entry of a sequence, without the axis that it lies on."""
    name = f"{node.input[index]}/eqspec scan {number} {step} {index}"
    where = helper.make_node("Constant", [], [f"{name} place"], value=numpy_helper.from_array(np.array(place)))
    return [where, helper.make_node("Gather", [node.input[index], f"{name} place"], [name], axis=axis)]


def _step(body: GraphProto, given: Sequence[str], number: int, step: int) -> tuple[list[NodeProto], list[str]]:
    new = {old: f"{old}/eqspec scan {number} {step}" for old in own_names(body)}
    new |= dict(zip((value.name for value in body.input), given, strict=True))
    return written_out(body, new), [new.get(value.name, value.name) for value in body.output]
