"""Regression by support vectors: sums of kernels, which are functions of one variable of what is affine in squares.

RBF      exp(-g |x - s|^2),  |x - s|^2 = sum of x_j^2 - 2 s x + |s|^2, so that all vectors share the squares
POLY     (g s x + c)^d       SIGMOID   tanh(g s x + c)       LINEAR   s x
"""

from __future__ import annotations

import numpy as np
from onnx import NodeProto

from eqspec.networks.expansion.classifiers import numbers_of
from eqspec.networks.expansion.graph_pieces import AGAIN, Pieces, attributes, counts
from eqspec.networks.onnx_tensor import UnreadableError

_KNOWN = (
    "coefficients", "kernel_params", "kernel_type", "n_supports", "one_class", "post_transform", "rho",
    "support_vectors",
)  # fmt: skip


def svm_regressor(pieces: Pieces, node: NodeProto) -> None:
    """SVMRegressor."""
    given = attributes(node, _KNOWN)
    counts(node, (1, 1), (1, 1))
    if given.get("one_class", 0) or given.get("post_transform", "NONE") != "NONE":
        raise UnreadableError("a sign or a transform of the result", "export the regression itself")
    count, weights = int(given.get("n_supports", 0)), numbers_of(given, "coefficients")
    vectors, rho = numbers_of(given, "support_vectors"), numbers_of(given, "rho")
    if rho.size != 1 or count < 0 or not weights.size or (count and (weights.size != count or vectors.size % count)):
        message = f"{weights.size} coefficients and {vectors.size} numbers for {count} vectors"
        raise UnreadableError(message, AGAIN)
    output, x = node.output[0], pieces.real(node, 0)
    values = _kernels(pieces, node, x, vectors.reshape(count, -1)) if count else x
    made = pieces.add(node, "MatMul", [values, pieces.constant(weights.reshape(-1, 1), output)])
    pieces.add(node, "Add", [made, pieces.constant(rho, output)], output)


def _kernels(
    pieces: Pieces, node: NodeProto, x: str, vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]]
) -> str:
    """The kernel of x and each vector (N, count)."""
    given, like = attributes(node, _KNOWN), node.output[0]
    kind = given.get("kernel_type", "LINEAR")
    parameters = numbers_of(given, "kernel_params")
    if kind not in ("LINEAR", "POLY", "RBF", "SIGMOID") or (kind != "LINEAR" and parameters.size != 3):
        raise UnreadableError(f"the kernel {kind!r} with {parameters.size} parameters", AGAIN)

    def stored(numbers: object) -> str:
        return pieces.constant(np.asarray(numbers, np.float32), like)

    turned = stored(vectors.T)
    products = pieces.add(node, "MatMul", [x, turned])
    if kind == "LINEAR":
        return products
    gamma, offset, degree = parameters.tolist()
    if kind == "RBF":
        ones = stored(np.ones((1, vectors.shape[1])))
        own = pieces.add(node, "MatMul", [ones, pieces.add(node, "Mul", [turned, turned])])
        squares = pieces.add(node, "MatMul", [pieces.add(node, "Mul", [x, x]), stored(np.ones((vectors.shape[1], 1)))])
        twice = pieces.add(node, "Mul", [products, stored(2.0)])
        distance = pieces.add(node, "Sub", [pieces.add(node, "Add", [squares, own]), twice])
        return pieces.add(node, "Exp", [pieces.add(node, "Mul", [distance, stored(-gamma)])])
    line = pieces.add(node, "Add", [pieces.add(node, "Mul", [products, stored(gamma)]), stored(offset)])
    return pieces.add(node, "Tanh", [line]) if kind == "SIGMOID" else pieces.add(node, "Pow", [line, stored(degree)])


EXPANSIONS = {"SVMRegressor": svm_regressor}
