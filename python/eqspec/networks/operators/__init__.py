"""The operators of ONNX that are read, one family to a file. `OPERATORS` has them by name.

An operator is a function from a node with evaluated inputs (`operator_call`) to the values of its outputs.
"""

from eqspec.networks.operators import (
    batch_normalization,
    casting,
    channels_last,
    comparisons,
    constant,
    convolution,
    curves,
    einsum,
    elementwise,
    functions,
    grid_sampling,
    integer_arithmetic,
    integer_division,
    level_operators,
    linear_quantisation,
    lookup,
    masking,
    matrix_products,
    normalizations,
    norms,
    places,
    pooling,
    qonnx,
    rearranging,
    recurrent,
    reductions,
    relu,
    remainders,
    resizing,
    runtime_quantised,
    scattering,
    selection,
    shapes,
    softmax,
    sorting,
    spectra,
    varying_masks,
)
from eqspec.networks.operators.operator_call import Operator

_FAMILIES = (
    batch_normalization, casting, comparisons, constant, convolution, curves, einsum, elementwise, functions,
    grid_sampling, matrix_products, normalizations, norms, places, pooling, rearranging, recurrent, reductions, relu,
    remainders, resizing, scattering, selection, shapes, softmax, sorting, spectra,
)  # fmt: skip

OPERATORS: dict[str, Operator] = {name: read for family in _FAMILIES for name, read in family.OPERATORS.items()}
OPERATORS["Where"] = integer_arithmetic.where  # which may choose among constant integers

QUANTISING: dict[str, Operator] = {
    name: read
    for family in (linear_quantisation, runtime_quantised, qonnx, channels_last)
    for name, read in family.OPERATORS.items()
}
"""Quantisers and operators on their levels, by name with the domain where it is not the standard one."""

ON_LEVELS: dict[str, Operator] = {
    **level_operators.OPERATORS,
    **integer_division.OPERATORS,
    "Gather": lookup.gather,
    "GatherElements": lookup.gather_elements,
    "GatherND": lookup.gather_many,
    "OneHot": lookup.one_hot,
}
"""In place of those of the same names, where an input is levels that depend on the input of the network."""

ON_MASKED = masking.ON_MASKED
"""The only ones that are read where an input holds minus infinity, in place of those of the same names."""

ON_HIDDEN = varying_masks.ON_HIDDEN
"""The same where the input says which entries are minus infinity."""

OF_INTEGERS = level_operators.OF_INTEGERS

REFUSED: dict[str, tuple[str, str]] = {
    "NonZero": ("its result has a shape that depends on the input", "use a mask that is multiplied"),
    "Unique": ("its result has a shape that depends on the input", "end the model before it"),
    "NonMaxSuppression": ("its result has a shape that depends on the input", "end the model before it, at the scores"),
}
"""Operators on values that depend on the input that no program of steps expresses: why, and what to do."""
