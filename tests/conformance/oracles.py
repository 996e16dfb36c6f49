"""What others make of a model: onnxruntime without its optimiser, onnx's reference implementation, onnx's checker.

An answer is an array, or the words with which the model was refused.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

Answer = NDArray[Any] | str


class Shape(OpRun):
    """The operator as its definition has it: onnx's own does not clamp what lies before the first axis."""

    def _run(self, data: NDArray[Any], start: int | None = None, end: int | None = None) -> tuple[NDArray[np.int64]]:
        rank = data.ndim
        ends = [0 if start is None else start, rank if end is None else end]
        first, last = (min(max(i + rank if i < 0 else i, 0), rank) for i in ends)
        return (np.array(data.shape[first:last], np.int64),)


def by_onnxruntime(model: onnx.ModelProto, inputs: list[NDArray[Any]]) -> list[Answer]:
    """The first output at each input."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return [np.asarray(session.run(None, {"x": x})[0]) for x in inputs]
    except Exception as error:  # its exceptions have no common class
        return [str(error)] * len(inputs)


def by_reference(model: onnx.ModelProto, inputs: list[NDArray[Any]]) -> list[Answer]:
    """The first output at each input."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluator = ReferenceEvaluator(model, new_ops=[Shape])
            return [np.asarray(evaluator.run(None, {"x": x})[0]) for x in inputs]  # type: ignore[index]
    except Exception as error:  # whatever numpy raises
        return [f"{type(error).__name__}: {error}"] * len(inputs)


def complaint_of_checker(model: onnx.ModelProto) -> str | None:
    """Why onnx calls a model invalid, shapes and types included."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # of several classes
        return str(error)
    return None
