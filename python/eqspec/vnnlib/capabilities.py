"""What `eqspec-vnnlib supports` says: the capabilities of chapter 5 of the VNN-LIB 2.0 standard, and what is supported.

An element type is claimed where what is proved holds for every runtime that computes in it (`float32`), or where the
query consents to real numbers (`real`). An operator is claimed for float32 where it is known what runtimes round.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from eqspec.networks.operators import OPERATORS, QUANTISING, curves, normalizations, softmax
from eqspec.networks.readers.onnx_definition import REVIEWED_OPSET
from eqspec.networks.readers.onnx_model import OLDEST_OPSET

FLOAT32, REAL = "float32", "real"
_OVER_THE_REALS = {*curves.OPERATORS, *normalizations.OPERATORS, *softmax.OPERATORS, *QUANTISING}
_OVER_THE_REALS |= {"ReduceL2", "ReduceSumSquare"}
"""Smooth functions and quantisers: no standard says how a runtime rounds the former, and what is rounded before the
latter may move a level."""

CAPABILITIES = {
    "onnx-opset-versions": "the oldest and the newest opset",
    "onnx-element-types": "element types that answers are sound for",
    "onnx-operators": "operators, each with its element types",
    "vnnlib-versions": "the oldest and the newest version of VNN-LIB",
    "hidden-node-theories": "NH: no hidden nodes",
    "multiple-input-output-theories": "SIO: one input and one output",
    "multiple-network-theories": "one network, or two of any kind",
    "multiple-node-comparison-theories": "SNC: an input is not compared with an output of its network",
    "arithmetic-complexity-theories": "up to linear arithmetic",
    "optimised-disjunctive-reasoning": "whether alternatives are decided together",
    "serialise-assignments": "whether assignments are written to files",
    "unsat-proofs": "whether proofs of unsat are written in the format of the standard",
}
"""The capabilities that a solver is asked for, and what the answer is about."""
ALSO = {"multiple-inputs-output-theories": "multiple-input-output-theories"}
"""Capabilities that the standard writes in two ways."""


def supported(capability: str) -> Sequence[str]:
    """The lines that answer a question for one of the `CAPABILITIES`."""
    match capability:
        case "onnx-opset-versions":
            return [str(OLDEST_OPSET), str(max(REVIEWED_OPSET, onnx.defs.onnx_opset_version()))]
        case "onnx-element-types":
            return [FLOAT32, REAL]
        case "onnx-operators":
            return [_operator(name) for name in sorted({*OPERATORS, *QUANTISING})]
        case "vnnlib-versions":
            return ["1.0", "2.0"]
        case "hidden-node-theories":
            return ["NH"]
        case "multiple-input-output-theories":
            return ["SIO"]
        case "multiple-network-theories":
            return ["SNET", "MENET", "MINET", "MNET"]
        case "multiple-node-comparison-theories":
            return ["SNC"]
        case "arithmetic-complexity-theories":
            return ["BND", "COUT", "LIN"]
        case _:
            return ["false"]


def _operator(name: str) -> str:
    return f"{name} {REAL}" if name in _OVER_THE_REALS else f"{name} {FLOAT32} {REAL}"
