"""Support vectors: sums of kernels, which are functions of one variable of what is affine in squares.

RBF      exp(-g |x - s|^2),  |x - s|^2 = sum of x_j^2 - 2 s x + |s|^2, so that all vectors share the squares
POLY     (g s x + c)^d       SIGMOID   tanh(g s x + c)       LINEAR   s x

A classifier gives a score for each pair of classes i < j, the sum of the kernels of their vectors: those of class i
with row j - 1 of the coefficients, those of class j with row i. Of two classes it gives the negative score and the
score. Its probabilities are what an iteration ends with, and are refused.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto

from eqspec.networks.expansion.classifiers import numbers_of
from eqspec.networks.expansion.graph_pieces import AGAIN, Pieces, attributes, counts
from eqspec.networks.onnx_tensor import UnreadableError

_KNOWN = (
    "classlabels_ints", "classlabels_strings", "coefficients", "kernel_params", "kernel_type", "n_supports",
    "one_class", "post_transform", "prob_a", "prob_b", "rho", "support_vectors", "vectors_per_class",
)  # fmt: skip
_SCORES = "end the model at its scores: export it with probability=False, or with raw scores"


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


def svm_classifier(pieces: Pieces, node: NodeProto) -> None:
    """SVMClassifier, apart from its label: a score for each pair of classes."""
    given = attributes(node, _KNOWN)
    counts(node, (1, 1), (2, 2))
    if node.output[0] in pieces.read:
        raise UnreadableError("the label of a classifier is used, which jumps from class to class", _SCORES)
    if given.get("prob_a") or given.get("prob_b"):
        raise UnreadableError("probabilities of support vectors, which runtimes find by an iteration", _SCORES)
    if given.get("post_transform", "NONE") != "NONE":
        raise UnreadableError(f"post_transform {given['post_transform']!r}", "export it with NONE")
    sizes, rho = [int(n) for n in given.get("vectors_per_class", ())], numbers_of(given, "rho")
    weights, vectors = numbers_of(given, "coefficients"), numbers_of(given, "support_vectors")
    classes, count = len(sizes), sum(sizes)
    labels = max(len(given.get("classlabels_ints", ())), len(given.get("classlabels_strings", ())))
    pairs = classes * (classes - 1) // 2
    fits = classes == labels >= 2 and min(sizes) >= 0 < count and rho.size == pairs
    if not fits or weights.size != (classes - 1) * count or not vectors.size or vectors.size % count:
        message = f"{weights.size} coefficients and {rho.size} offsets for {count} vectors of {classes} classes"
        raise UnreadableError(message, AGAIN)
    if classes == 2 and not (weights < 0).any():
        raise UnreadableError("two classes without a negative coefficient, whose scores runtimes complete", AGAIN)
    output = node.output[1]
    kernels = _kernels(pieces, node, pieces.real(node, 0), vectors.reshape(count, -1))
    of_pairs = _pairs(weights.reshape(classes - 1, count), sizes)
    if classes == 2:
        of_pairs, rho = (np.concatenate([-a, a], axis=-1) for a in (of_pairs, rho))
    made = pieces.add(node, "MatMul", [kernels, pieces.constant(of_pairs, output)])
    pieces.add(node, "Add", [made, pieces.constant(rho, output)], output)


def _pairs(weights: NDArray[np.float32], sizes: list[int]) -> NDArray[np.float32]:
    """The weight of every vector in the score of each pair of classes (count, pairs)."""
    ends = np.concatenate([[0], np.cumsum(sizes)])
    pairs = list(combinations(range(len(sizes)), 2))
    made = np.zeros((len(pairs), weights.shape[1]), np.float32)
    for row, (i, j) in zip(made, pairs, strict=True):
        row[ends[i] : ends[i + 1]] = weights[j - 1, ends[i] : ends[i + 1]]
        row[ends[j] : ends[j + 1]] = weights[i, ends[j] : ends[j + 1]]
    return np.ascontiguousarray(made.T)


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


EXPANSIONS = {"SVMClassifier": svm_classifier, "SVMRegressor": svm_regressor}
