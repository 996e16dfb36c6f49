"""Operators of ai.onnx.ml, which classical models are exported with, where they are affine or end in a Softmax.

A LinearClassifier gives its scores x W' + b, their softmax, or each one's sigmoid. Where it has two classes whose rows
are each other's negatives, the sigmoids (s(-z), s(z)) are the softmax of (0, z). A Normalizer that divides what a
softmax gives by its sum divides by 1. ZipMap and labels are set aside before (`readers.onnx_ends`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto

from eqspec.networks.expansion.graph_pieces import AGAIN, Pieces, attributes, counts
from eqspec.networks.expansion.in_place import InPlace
from eqspec.networks.onnx_tensor import UnreadableError


def numbers_of(given: dict[str, Any], name: str) -> NDArray[np.float32]:
    """An attribute's numbers, which must be finite."""
    numbers = np.asarray(list(given.get(name, ())), np.float32)
    if not np.isfinite(numbers).all():
        raise UnreadableError(f"{name} are not finite", "repair the training or the export that made it")
    return numbers


def _matrix(given: dict[str, Any], rows: int) -> NDArray[np.float32]:
    weights = numbers_of(given, "coefficients")
    if rows < 1 or not weights.size or weights.size % rows:
        raise UnreadableError(f"{weights.size} coefficients for {rows} scores", AGAIN)
    return np.asarray(weights.reshape(rows, -1))


def linear_classifier(pieces: Pieces, node: NodeProto) -> None:
    """LinearClassifier, apart from its label."""
    known = ("classlabels_ints", "classlabels_strings", "coefficients", "intercepts", "multi_class", "post_transform")
    given = attributes(node, known)
    counts(node, (1, 1), (2, 2))
    if node.output[0] in pieces.read:
        message = "the label of a classifier is used, which jumps from class to class"
        raise UnreadableError(message, "end the model at its scores or probabilities")
    classes = max(len(given.get("classlabels_ints", ())), len(given.get("classlabels_strings", ())))
    offsets = numbers_of(given, "intercepts")
    rows = offsets.size or classes
    weights, transform = _matrix(given, rows), given.get("post_transform", "NONE")
    offsets = offsets if offsets.size else np.zeros(rows, np.float32)
    if rows != classes or rows < 2:
        raise UnreadableError(f"{rows} scores for {classes} classes, which runtimes complete", AGAIN)
    output = node.output[1]
    opposite = rows == 2 and bool((weights[0] == -weights[1]).all()) and bool(offsets[0] == -offsets[1])
    as_softmax = transform == "SOFTMAX" or (transform == "LOGISTIC" and opposite)
    if transform == "LOGISTIC" and opposite:
        weights, offsets = (
            a * np.array([0, 1], np.float32).reshape(2, *(1,) * (a.ndim - 1)) for a in (weights, offsets)
        )
        pieces.notes.append(f"the two sigmoids of {output!r} are read as a Softmax of two scores, the first of them 0")
    inputs = [pieces.real(node, 0), pieces.constant(weights, output), pieces.constant(offsets, output)]
    direct = transform == "NONE"
    scores = pieces.add(node, "Gemm", inputs, output if direct else "", transB=1)
    if as_softmax:
        pieces.softmax(node, scores, output)
    elif transform == "LOGISTIC":
        pieces.add(node, "Sigmoid", [scores], output)
    elif not direct:
        raise UnreadableError(f"post_transform {transform!r}", "export it with NONE, LOGISTIC or SOFTMAX")


def linear_regressor(pieces: Pieces, node: NodeProto) -> None:
    """LinearRegressor."""
    given = attributes(node, ("coefficients", "intercepts", "post_transform", "targets"))
    counts(node, (1, 1), (1, 1))
    if given.get("post_transform", "NONE") != "NONE":
        raise UnreadableError(f"post_transform {given['post_transform']!r}", "export it with NONE")
    targets = int(given.get("targets", 1))
    weights, offsets = _matrix(given, targets), numbers_of(given, "intercepts")
    if offsets.size not in (0, targets):
        raise UnreadableError(f"{offsets.size} intercepts for {targets} targets", AGAIN)
    output = node.output[0]
    inputs = [pieces.real(node, 0), pieces.constant(weights, output)]
    inputs += [pieces.constant(offsets, output)] if offsets.size else []
    pieces.add(node, "Gemm", inputs, output, transB=1)


def scaler(pieces: Pieces, node: NodeProto) -> None:
    """Scaler: (x - offset) scale, for every feature or for all."""
    given = attributes(node, ("offset", "scale"))
    counts(node, (1, 1), (1, 1))
    offset, scale, output = numbers_of(given, "offset"), numbers_of(given, "scale"), node.output[0]
    if not offset.size or not scale.size:
        raise UnreadableError("no offset or no scale", AGAIN)
    if offset.size != scale.size:
        raise UnreadableError(f"{offset.size} offsets beside {scale.size} scales", AGAIN)
    moved = pieces.add(node, "Sub", [pieces.real(node, 0), pieces.constant(offset, output)])
    pieces.add(node, "Mul", [moved, pieces.constant(scale, output)], output)


def normalizer(pieces: Pieces, node: NodeProto) -> None:
    """Normalizer, by the sum of sizes or the root of the sum of squares; behind a Softmax it divides by 1."""
    given = attributes(node, ("norm",))
    counts(node, (1, 1), (1, 1))
    softmax = next((n for n in pieces.nodes if n.op_type == "Softmax" and n.output[0] == node.input[0]), None)
    norm = given.get("norm", "MAX")
    if norm == "L1" and softmax is not None:
        pieces.add(node, "Identity", [node.input[0]], node.output[0])
        return
    if norm not in ("L1", "L2"):
        message = (
            f"it divides by the norm {norm!r}, the largest entry for some runtimes and the largest size for others"
        )
        raise UnreadableError(message, "normalise before the model, or by L1 or L2")
    pieces.add(node, "LpNormalization", [pieces.real(node, 0)], node.output[0], axis=-1, p=int(norm[1]))


def feature_vectorizer(pieces: Pieces, node: NodeProto) -> None:
    """FeatureVectorizer: all inputs one behind the other, each of as many columns as it is said to have.

    Of an input with more of them runtimes leave the others out, and one with fewer they fill up. So each goes through a
    Split into one part of that size, which no other input has.
    """
    sizes = attributes(node, ("inputdimensions",)).get("inputdimensions")
    counts(node, (1, 10_000), (1, 1))
    joined = [pieces.real(node, index) for index in range(len(node.input))]
    if sizes is not None and len(sizes) != len(joined):
        raise UnreadableError(f"{len(sizes)} sizes of {len(joined)} inputs", AGAIN)
    for index, size in enumerate(sizes or ()):
        if pieces.opset < 13:
            joined[index] = pieces.add(node, "Split", [joined[index]], axis=1, split=[size])
        else:
            whole = pieces.constant(np.array([size], np.int64), node.output[0])
            joined[index] = pieces.add(node, "Split", [joined[index], whole], axis=1)
    pieces.add(node, "Concat", joined, node.output[0], axis=1)


def array_feature_extractor(made: InPlace) -> None:
    """ArrayFeatureExtractor: entries along the last axis, at places of any shape; of one axis it makes a row."""
    attributes(made.node, ())
    counts(made.node, (2, 2), (1, 1))
    rank, wholes = len(made.shape(0)), made.wholes.get(1, [])
    if wholes and min(wholes) < 0:
        raise UnreadableError(f"the place {min(wholes)}, which onnxruntime refuses", "count columns from 0")
    if not rank or 0 in made.shape(1):
        raise UnreadableError("a value without axes, or no places", AGAIN)
    flat = made.reshaped(made.given(1), -1)
    if rank > 1:
        made.of("Gather", made.given(0), flat, to=made.wanted(0), axis=rank - 1)
    else:
        made.of("Reshape", made.of("Gather", made.given(0), flat), made.whole(1, -1), to=made.wanted(0))


def imputer(pieces: Pieces, node: NodeProto) -> None:
    """Imputer that replaces NaN or an infinity: no real number is one, so it changes none."""
    of_integers = ("imputed_value_int64s", "replaced_value_int64")  # the latter stands there as a default as well
    given = attributes(node, ("imputed_value_floats", "replaced_value_float", *of_integers))
    if "imputed_value_floats" not in given or len(given.get(of_integers[0], ())):
        raise UnreadableError("it replaces integers", "put it in front of the model, and leave it out of the file")
    counts(node, (1, 1), (1, 1))
    replaced = given.get("replaced_value_float", 0.0)
    if np.isfinite(replaced):
        message = f"it replaces the number {replaced:.6g}, and jumps there"
        raise UnreadableError(message, "put it in front of the model, and leave it out of the file")
    pieces.notes.append(f"{node.op_type} {node.name!r} replaces what is missing, and no real number is: it is left out")
    pieces.add(node, "Identity", [pieces.real(node, 0)], node.output[0])


def binarizer(pieces: Pieces, node: NodeProto) -> None:
    """Binarizer: 1 above a threshold, 0 elsewhere."""
    given = attributes(node, ("threshold",))
    counts(node, (1, 1), (1, 1))
    threshold = pieces.constant(np.array(given.get("threshold", 0.0), np.float32), node.output[0])
    above = pieces.add(node, "Greater", [pieces.real(node, 0), threshold])
    pieces.add(node, "Cast", [above], node.output[0], to=TensorProto.FLOAT)


def one_hot_encoder(pieces: Pieces, node: NodeProto) -> None:
    """OneHotEncoder of integers: which category an entry is; where it is none of them, all are 0 or runtimes stop."""
    given = attributes(node, ("cats_int64s", "cats_strings", "zeros"))
    counts(node, (1, 1), (1, 1))
    categories = np.asarray(list(given.get("cats_int64s", ())), np.int64)
    if not categories.size or given.get("cats_strings"):
        raise UnreadableError("it tells texts apart", "encode texts as integers before the model")
    if pieces.opset < 11:
        raise UnreadableError("categories in an opset before 11", "export the model with a newer opset")
    output = node.output[0]
    whole = pieces.add(node, "Cast", [node.input[0]], to=TensorProto.INT64)
    if pieces.opset < 13:
        column = pieces.add(node, "Unsqueeze", [whole], axes=[-1])
    else:
        column = pieces.add(node, "Unsqueeze", [whole, pieces.constant(np.array([-1]), output)])
    equal = pieces.add(node, "Equal", [column, pieces.constant(categories, output)])
    pieces.add(node, "Cast", [equal], output, to=TensorProto.FLOAT)


EXPANSIONS = {
    "Binarizer": binarizer,
    "FeatureVectorizer": feature_vectorizer,
    "Imputer": imputer,
    "LinearClassifier": linear_classifier,
    "LinearRegressor": linear_regressor,
    "Normalizer": normalizer,
    "OneHotEncoder": one_hot_encoder,
    "Scaler": scaler,
}
