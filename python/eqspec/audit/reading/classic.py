"""Operators of `ai.onnx.ml` that exports of scikit-learn have around a network: Scaler, Normalizer and others.

    Scaler        (x - offset) scale, of every feature or of all alike
    Normalizer    x / sum |x| or x / root of sum x^2, over the features of a sample
    ZipMap        names its entries, in their order
    ArrayFeatureExtractor    features at stored places, counted from 0

Of a sample of zeros a Normalizer divides by nothing here, while runtimes leave it as it is: so nothing is known there.
"""

from __future__ import annotations

import numpy as np
import onnx

from ..rounding import Refused
from . import affine, statistics
from .program import Given, Operand, Operands, Program, real
from .value import Value


def computed(program: Program, node: onnx.NodeProto, opset: int, operands: Operands, given: Given) -> Operand:
    """The result of such an operator of real numbers (samples, features)."""
    x, at = real(operands, 0), operands[1] if len(operands) == 2 else None
    if node.op_type == "ZipMap":
        return x
    if len(x.shape) != 2:
        raise Refused(f"a {node.op_type} of a value with other axes than samples and features")
    if node.op_type == "Scaler" and given.keys() == {"offset", "scale"}:
        offset, scale = (np.array(given[name], np.float64) for name in ("offset", "scale"))
        if any(part.size not in (1, x.shape[1]) for part in (offset, scale)):
            raise Refused("a Scaler of another number of features than its value has")
        return affine.elementwise(program, "Mul", [affine.elementwise(program, "Sub", [x, offset]), scale])
    if node.op_type == "ArrayFeatureExtractor" and isinstance(at, np.ndarray) and isinstance(x, Value):
        if at.dtype != np.int64 or not at.size or at.min() < 0 or at.max() >= x.shape[1]:
            raise Refused("features at places that there are not")
        return program.taken(x, x.places[:, at.ravel()])
    sizes = {b"L1": 1, b"L2": 2}
    if node.op_type == "Normalizer" and isinstance(x, Value) and given.get("norm", b"MAX") in sizes:
        how = {"axis": 1, "p": sizes[given["norm"]]}
        return statistics.normalised(program, "LpNormalization", x, opset, [x], how)
    raise Refused(f"the auditor does not read {node.op_type} {node.name!r} of {node.domain!r} in this way")
