"""Programs of steps as an ONNX file of matrices: Gemm, Add, Relu, and the operators that other functions are.

A tile is written as the matrix that it is, so this is for small graphs; larger ones are refused with their size. All
numbers are those of the steps, stored as float32 where all of them are float32, else as float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Network
from eqspec.networks.curves import Curves
from eqspec.networks.program import INPUTS, Step, Tile
from eqspec.vnnlib import onnx_functions

Array = NDArray[np.float64]
OPSET, IR_VERSION = 13, 8
MOST = 1 << 22
"""Numbers that all matrices of a file may hold together."""


@dataclass(frozen=True, eq=False)
class ExactProgram:
    """Steps without errors and small enough to be written as matrices. `exact_program` makes them."""

    steps: tuple[Step, ...]
    inputs: int


def exact_program(network: Network, fix: str) -> ExactProgram:
    """The steps for a file. InputError, with this fix, where one is only known up to an error, or all are too large."""
    steps, inputs = network.steps, network.input_size
    sizes = [inputs, *(step.rows for step in steps)]
    entries = sum(step.rows * sizes[term.source + 1] for step in steps for term in step.terms)
    if entries > MOST:
        raise InputError(
            f"{network.source} is a graph whose steps would hold {entries} numbers as matrices, and {MOST} are written "
            f"at most; {fix}"
        )
    for number, step in enumerate(steps):
        if not step.exact:
            raise InputError(
                f"step {number} of {network.source} was folded from several operators and rounded, so a file of it "
                f"would be about another network; {fix}"
            )
        if any(_reads_twice(term.tile) for term in step.terms):
            raise InputError(f"step {number} of {network.source} adds one value twice, so its matrix is rounded; {fix}")
        if not onnx_functions.can_be_written(step.function):
            raise InputError(
                f"step {number} of {network.source} gives {step.function}, which is not an operator of ONNX; {fix}"
            )
    return ExactProgram(steps, inputs)


def _reads_twice(tile: Tile) -> bool:
    """Whether some row reads an entry with two of its taps, so that their weights would have to be added."""
    ordered = np.sort(tile.index, axis=2)
    return bool(((ordered[:, :, 1:] == ordered[:, :, :-1]) & (ordered[:, :, 1:] >= 0)).any())


def write_program(program: ExactProgram, path: Path, comment: str, rows: Array | None = None) -> int:
    """Write steps over an input X of shape [1, I] with an output Y of shape [1, O].

    With `rows` (O, outputs of the last step), rows y is the output.

    Returns O. OSError where the file cannot be written.
    """
    arrays = [a for step in program.steps for a in (step.bias, *(t.tile.weight for t in step.terms))]
    short = all(_is_short(a) for a in [*arrays, *([] if rows is None else [rows])])
    kind, element = (np.float32, TensorProto.FLOAT) if short else (np.float64, TensorProto.DOUBLE)
    nodes: list[NodeProto] = []
    stored: list[TensorProto] = []

    def keep(name: str, values: Array) -> str:
        stored.append(numpy_helper.from_array(values.astype(kind), name))
        return name

    names, opset = ["X"], OPSET
    sizes = [program.inputs, *(step.rows for step in program.steps)]
    for number, step in enumerate(program.steps):
        total = _sum(number, step, names, sizes, nodes, keep)
        if step.function == "relu":
            nodes.append(helper.make_node("Relu", [total], [f"relu_{number}"], f"relu_{number}"))
            total = f"relu_{number}"
        elif isinstance(step.function, Curves):
            total = onnx_functions.write(step.function, total, number, nodes, keep)
            opset = max(opset, onnx_functions.since(step.function))
        names.append(total)
    outputs = program.steps[-1].rows
    if rows is not None:
        outputs = len(rows)
        nodes.append(helper.make_node("Gemm", [names[-1], keep("W_rows", rows)], ["rows"], "gemm_rows", transB=1))
        names.append("rows")
    nodes.append(helper.make_node("Identity", [names[-1]], ["Y"], "outputs"))
    made = (("X", program.inputs), ("Y", outputs))
    tensors = [helper.make_tensor_value_info(name, element, [1, size]) for name, size in made]
    graph = helper.make_graph(nodes, "eqspec", tensors[:1], tensors[1:], stored, comment)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=IR_VERSION)
    path.write_bytes(model.SerializeToString())
    return outputs


def _sum(
    number: int, step: Step, names: Sequence[str], sizes: Sequence[int], nodes: list[NodeProto], keep: object
) -> str:
    """The nodes of a step before its function, and the name of their result."""
    assert callable(keep)
    total: str = keep(f"b_{number}", step.bias[None])
    for place, term in enumerate(step.terms):
        weight = keep(f"W_{number}_{place}", term.tile.matrix(sizes[term.source - INPUTS]))
        result = f"sum_{number}_{place}"
        given = [names[term.source - INPUTS], weight, total]
        nodes.append(helper.make_node("Gemm", given, [result], f"gemm_{number}_{place}", transB=1))
        total = result
    return total


def _is_short(numbers: Array) -> bool:
    with np.errstate(over="ignore"):
        return bool((numbers.astype(np.float32).astype(np.float64) == numbers).all())
