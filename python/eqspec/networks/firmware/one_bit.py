"""Dense layers whose inputs have one bit, which stands for -1 (0) and 1, as those behind a binary activation have.

data_binary    the weight, or its negative: the product with -1 or 1
both_binary    weights of one bit as well: 1 where input and weight are the same bit, else 0. The accumulator counts
               these; twice the count less the number of inputs is the sum of the products
"""

from __future__ import annotations

import numpy as np

from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.builder import Value
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import integers
from eqspec.networks.firmware.layer import Layer
from eqspec.networks.firmware.sums import Sums
from eqspec.networks.firmware.weights import Weights


def is_bit(of: FixedPoint) -> bool:
    """Whether products take a number of this type for -1 or 1."""
    return of.whole and not of.signed and of.width == 1


def dense(
    layer: Layer, product: str, given: Value, matrix: Integers, of: FixedPoint, bias: Weights, accumulator: FixedPoint
) -> None:
    """A matrix (outputs, inputs) times the inputs, and a bias, in an accumulator."""
    builder, inputs = layer.project.builder, matrix.shape[1]
    builder.refuse = layer.fail
    if product != ("both_binary" if is_bit(of) else "data_binary"):
        layer.fail(f"products by {product} of inputs of one bit and {of.text}", "write the project again")
    layer.project.templates.check("nnet_mult.h", product, "cast")
    index, name = np.arange(inputs)[None], f"{layer.name}.accum_t"
    if product == "data_binary":
        signs = builder.scaled(given, _all(inputs, 2), 0, _all(inputs, -1), 0)
        sums = Sums(index, matrix, of.bits, bias.integers, bias.type.bits)
        layer.gives(builder.added(signs, sums, accumulator, name), argument=1, template=1)
        return
    if not accumulator.wraps or accumulator.bits < 0:
        layer.fail(f"{name} is {accumulator.text}, which does not count", "use a type that wraps and holds 1")
    # a == w is a where w is 1, and 1 - a where it is 0. An accumulator that wraps has the same of both.
    zeros = integers([int(row.size - row.sum()) for row in matrix])
    counted = Sums(index, integers(2 * matrix - 1), 0, bias.integers + (zeros << bias.type.bits), bias.type.bits)
    count = builder.added(given, counted, accumulator, name)
    outputs = len(matrix)
    summed = builder.scaled(count, _all(outputs, 2), 0, _all(outputs, -inputs), 0)
    # Not in the type of the accumulator: so many bits hold every sum of so many signs, and a bias may leave them.
    of_sum = FixedPoint.of((inputs - 1).bit_length() + 2, (inputs - 1).bit_length() + 2)
    if not summed.lattice.on_grid(of_sum).all():
        layer.fail("fractions in a sum of bits, which ap_int cuts off", "give it a bias of whole numbers")
    layer.gives(builder.assigned(summed, of_sum, f"{layer.name} of the sum"), argument=1, template=1)


def _all(size: int, number: int) -> Integers:
    return integers([number] * size)
