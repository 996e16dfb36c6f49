"""A Loop that runs a number of times that is known, round by round.

tf2onnx writes one for the recurrent layers of Keras. One round is the nodes of the body, followed by the Loop with one
round done, so whether there is another one is asked of constants once these are evaluated. What a round adds to a
result, one entry of its first axis, goes along as an input behind those that the body carries from round to round.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import GraphProto, NodeProto, helper, numpy_helper

from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import Value
from eqspec.networks.readers.onnx_bodies import AGAIN, body_of, own_names, stacked, written_out

MOST_ROUNDS = 2_000
"""Rounds that are written out, those of all loops of a graph and its branches together."""
_DONE = "eqspec_rounds"
"""The attribute of a Loop that says how many rounds were done."""


def done(node: NodeProto) -> int:
    """How many rounds of a Loop were done."""
    return next((int(a.i) for a in node.attribute if a.name == _DONE), 0)


def unrolled(node: NodeProto, given: Sequence[Value | None], number: int, opset: int) -> list[NodeProto]:
    """The next round of a Loop and the Loop behind it, or its results. Raises UnreadableError.

    `number` tells this round from all others of the graph.
    """
    rounds = done(node)
    body = body_of(node)
    if len(given) < 2 or len(body.input) < 2:
        raise UnreadableError("a body that does not fit the node", AGAIN)
    carried, results = len(body.input) - 2, len(body.output) - 1
    added = results - carried
    if added < 0 or len(node.output) > results or len(node.input) != 2 + carried + rounds * added:
        raise UnreadableError("a body that does not fit the node", AGAIN)
    most, condition = _known(given[0]), _known(given[1])
    if (most is None or rounds < most) and condition in (None, 1):
        if not rounds and (most is None or most > MOST_ROUNDS) and _goes_on(body):
            raise UnreadableError(
                "a loop of too many rounds", f"export the model with at most {MOST_ROUNDS}, or unroll the loop"
            )
        return _round(node, body, rounds, number, carried)
    if not rounds and any(node.output[carried:]):
        raise UnreadableError("a loop that never runs, whose results are asked for", AGAIN)
    made = [
        helper.make_node("Identity", [a], [b]) for a, b in zip(node.input[2:], node.output[:carried], strict=False) if b
    ]
    for place, output in enumerate(node.output[carried:]):
        if output:
            names = node.input[2 + carried + place :: added] if added else []
            made += stacked(names, output, number, opset)
    return made


def _goes_on(body: GraphProto) -> bool:
    """Whether the body hands its condition on as it is, so that only the number of rounds ends the loop.

    What all rounds give is handed on from each to the next, so a loop is not written out in vain: that takes seconds.
    """
    copies = {node.output[0]: node.input[0] for node in body.node if node.op_type == "Identity" and not node.domain}
    name = body.output[0].name
    while name in copies:
        name = copies.pop(name)
    return bool(name == body.input[1].name)


def _known(value: Value | None) -> int | None:
    if value is None:
        return None
    if not isinstance(value, np.ndarray) or value.size != 1:
        raise UnreadableError(
            "how often it runs depends on the input, or is not known", "unroll the loop when exporting"
        )
    return int(value.reshape(-1)[0])


def _round(node: NodeProto, body: GraphProto, rounds: int, number: int, carried: int) -> list[NodeProto]:
    inputs = [value.name for value in body.input]
    new = {old: f"{old}/eqspec round {number}" for old in [*own_names(body), *inputs[:2]]}
    new |= dict(zip(inputs[2:], node.input[2:], strict=False))
    start = (np.array(rounds, np.int64), np.array(True))
    made = [
        helper.make_node("Constant", [], [new[name]], value=numpy_helper.from_array(value))
        for name, value in zip(inputs[:2], start, strict=True)
    ]
    made += written_out(body, new)
    ends = [new.get(value.name, value.name) for value in body.output]
    rest = NodeProto()
    rest.CopyFrom(node)
    del rest.input[:], rest.attribute[:]
    rest.input.extend([node.input[0], *ends[: 1 + carried], *node.input[2 + carried :], *ends[1 + carried :]])
    rest.attribute.extend(a for a in node.attribute if a.name == "body")
    rest.attribute.append(helper.make_attribute(_DONE, rounds + 1))
    return [*made, rest]
