"""The operators of ONNX that are read, one family to a file. `OPERATORS` has them by name.

An operator is a function from a node with evaluated inputs (`operator_call`) to the values of its outputs.
"""

from eqspec.networks.operators import (
    batch_normalization,
    casting,
    constant,
    elementwise,
    matrix_products,
    relu,
    selection,
    shapes,
    softmax,
)
from eqspec.networks.operators.operator_call import Operator

_FAMILIES = (batch_normalization, casting, constant, elementwise, matrix_products, relu, selection, shapes, softmax)

OPERATORS: dict[str, Operator] = {name: read for family in _FAMILIES for name, read in family.OPERATORS.items()}
