"""The operators of ONNX that are read, one family to a file. `OPERATORS` has them by name.

An operator is a function from a node with evaluated inputs (`operator_call`) to the values of its outputs.
"""

from eqspec.networks.operators import (
    batch_normalization,
    casting,
    constant,
    convolution,
    curves,
    elementwise,
    functions,
    matrix_products,
    normalizations,
    pooling,
    rearranging,
    reductions,
    relu,
    resizing,
    scattering,
    selection,
    shapes,
    softmax,
)
from eqspec.networks.operators.operator_call import Operator

_FAMILIES = (
    batch_normalization, casting, constant, convolution, curves, elementwise, functions, matrix_products,
    normalizations, pooling, rearranging, reductions, relu, resizing, scattering, selection, shapes, softmax,
)  # fmt: skip

OPERATORS: dict[str, Operator] = {name: read for family in _FAMILIES for name, read in family.OPERATORS.items()}

REFUSED: dict[str, tuple[str, str]] = {
    "GRU": (
        "it goes over a sequence, with products of values that depend on the input",
        "compare a feed-forward model",
    ),
    "LSTM": (
        "it goes over a sequence, with products of values that depend on the input",
        "compare a feed-forward model",
    ),
    "Loop": ("a loop has no fixed number of steps", "unroll the loop when exporting"),
    "NonZero": ("its result has a shape that depends on the input", "use a mask that is multiplied"),
    "RNN": ("it goes over a sequence", "unroll the sequence, or compare a feed-forward model"),
    "Scan": ("a loop over a sequence is not read", "unroll the loop when exporting"),
    "TopK": ("which entries it gives depends on the input", "end the model before it, at the scores"),
    "Unique": ("its result has a shape that depends on the input", "end the model before it"),
    "NonMaxSuppression": ("its result has a shape that depends on the input", "end the model before it, at the scores"),
}
"""Operators on values that depend on the input that no program of steps expresses: why, and what to do."""
