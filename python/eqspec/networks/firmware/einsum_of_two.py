"""Sums of products of two values over several axes (einsum), of arrays.

Both values are transposed, to I blocks of L0 and of L1 rows of C numbers. The result of row l of the first and row m of
the second value of a block is the sum of the products of their entries; all results are transposed once more.

A product is added to the accumulator at once and has no type of its own. Where the accumulator rounds it, the sum is
that of rounded products, if it rounds downwards or halves upwards: what is a number of the type is then added in front
of rounding or behind it alike. Others are refused, and so is one that saturates and that a product may leave.
"""

from __future__ import annotations

import numpy as np

from eqspec.networks.firmware import moving_layers
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import Lattice, integers
from eqspec.networks.firmware.layer import Layer
from eqspec.networks.firmware.one_bit import is_bit
from eqspec.networks.firmware.size_limits import MAX_NEURONS
from eqspec.networks.firmware.sum_layers import product_of
from eqspec.networks.firmware.sums import Sums
from eqspec.networks.quantiser import Rounding

_AGAIN = "write the project again"
_SIZES = ("n_inplace", "n_free0", "n_free1", "n_contract")
_ORDERS = ("tpose_inp0_config", "tpose_inp1_config", "tpose_out_conf")
_LAYOUT = ("io_type", "strategy", "reuse_factor", "multiplier_limit", "store_weights_in_bram")


def einsum(layer: Layer) -> None:
    """Products of rows of two values, transposed before and behind."""
    layer.check_call(4, 3)
    configuration = layer.configuration("", (*_SIZES, *_ORDERS, "accum_t", "product"), _LAYOUT)
    if layer.word or layer.words_of(1):
        layer.fail("it is called with a stream", "write the project with io_parallel")
    templates, declared, builder = layer.project.templates, layer.project.declared, layer.project.builder
    templates.check("nnet_einsum.h", "einsum")
    templates.check("nnet_transpose.h", "transpose")
    blocks, rows, columns, inner = sizes = [declared.member_number(configuration, name) for name in _SIZES]
    products = blocks * rows * columns * inner
    if min(sizes) < 1 or products > MAX_NEURONS:
        layer.fail(f"{products} products of two values", f"networks of up to {MAX_NEURONS} neurons are decided")
    if (product := product_of(layer, configuration)) != "mult":
        layer.fail(f"products by {product} are not read", "give its inputs more than two bits")
    templates.check("nnet_mult.h", "mult")
    orders = [moving_layers.order_of(layer, declared.member_name(configuration, name))[0] for name in _ORDERS]
    shapes = (blocks, rows, inner), (blocks, columns, inner), (blocks, rows, columns)
    for order, shape in zip(orders, shapes, strict=True):
        if len(order) != np.prod(shape):
            layer.fail(f"it transposes {len(order)} numbers, of which there are {np.prod(shape)}", _AGAIN)
    of_both = [layer.array(layer.call.arguments[place], layer.call.templates[place])[1] for place in (0, 1)]
    if any(is_bit(of) for of in of_both):
        layer.fail("inputs of one bit are not read", "use ap_int<2>")
    first = layer.given(len(orders[0]))
    second = layer.given(len(orders[1]), argument=1, template=1)
    every = (blocks, rows, columns, inner)
    of_first = np.broadcast_to(orders[0].reshape(blocks, rows, 1, inner), every).reshape(-1)
    of_second = np.broadcast_to(orders[1].reshape(blocks, 1, columns, inner), every).reshape(-1)
    builder.refuse = layer.fail
    multiplied = builder.product(first.taken(of_first), second.taken(of_second))
    accumulator = declared.member_type(configuration, "accum_t")
    _check_accumulator(layer, multiplied.lattice, accumulator)
    places = np.arange(products).reshape(-1, inner)
    sums = Sums(places, integers([[1] * inner]), 0, integers([0]), 0)
    summed = builder.added(multiplied, sums, accumulator, f"{layer.name}.accum_t")
    layer.gives(summed.taken(orders[2]), argument=2, template=2)


def _check_accumulator(layer: Layer, products: Lattice, of: FixedPoint) -> None:
    """Refuse an accumulator in which a sum is not that of products that it stores."""
    by_itself = of.rounding in (Rounding.FLOOR, Rounding.HALF_UP) and not of.whole
    if not by_itself and not products.on_grid(of).all():
        fix = f"give it {products.bits} bits behind the point, which hold every product, or AP_TRN"
        layer.fail(f"{layer.name}.accum_t is {of.text}, which rounds sums by what they are", fix)
    if not of.wraps and not products.levels(of).inside(of).all():
        layer.fail(f"{layer.name}.accum_t is {of.text}, which a product may leave", "use AP_WRAP there, or more bits")
