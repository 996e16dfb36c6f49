"""Notes for the user about a network that was read: its inputs, what is rounded, what onnxruntime computes otherwise.

A note says what the reader did or assumed. None of them changes the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx import NodeProto

from eqspec.networks import pair_saturation
from eqspec.networks.network import Port, places_of
from eqspec.networks.readers import rewritten_weights, rounded_inputs, softmax_on_levels
from eqspec.networks.readers.onnx_graph import Graph
from eqspec.networks.readers.onnx_names import name_of
from eqspec.networks.readers.steps import Steps
from eqspec.networks.runtime_functions import ASSUMPTION, is_assumed


def about_inputs(ports: Sequence[Port], batch: int | None) -> Iterator[str]:
    """How the vector of inputs is made of those of the file; `batch` is the fixed batch size that was set aside."""
    if len(ports) > 1:
        yield f"the inputs are one vector: {places_of(ports)}"
    if batch is not None:
        names = " and ".join(repr(port.name) for port in ports)
        yield f"the first axis of input {names} (size {batch}) is the batch; one sample is read"


def about_rounding(made: Steps, unit: float) -> Iterator[str]:
    """What is rounded, and what is assumed of it; `unit` is the relative error of a float32 sum, 0 over the reals."""
    if unit:
        yield _of_float32(made, unit)
        if any(is_assumed(step.function) for step in made.steps):
            yield f"assumed of float32: {ASSUMPTION}"
    elif not all(step.exact for step in made.steps):
        yield "operators were folded with rounding; the rounding is part of what is proved"


def _of_float32(made: Steps, unit: float) -> str:
    exact = sum(step.exact for step in made.steps)
    if exact == len(made.steps):
        return "float32 rounds nothing: all sums and products are exact"
    rounds = f"float32 rounds: each sum and product may be off by {unit:.2g} of its terms"
    return f"{rounds}; {exact} of {len(made.steps)} steps are exact" if exact else rounds


def about_onnxruntime(graph: Graph, pairs: Sequence[NodeProto]) -> Iterator[str]:
    """What onnxruntime computes otherwise; `pairs` are the nodes in which sums of two products may saturate."""
    of_weights, of_bias = rewritten_weights.concerned(graph)
    rounded = rounded_inputs.concerned(graph.nodes, graph.initializers)
    for nodes, note in (
        (of_weights, rewritten_weights.NOTE),
        (of_bias, rewritten_weights.OF_BIAS),
        (rounded, rounded_inputs.NOTE),
        (softmax_on_levels.concerned(graph), softmax_on_levels.NOTE),
        (pairs, pair_saturation.NOTE),
    ):
        if nodes:
            yield f"{nodes[0].op_type} {name_of(nodes[0])!r}: {note}"
