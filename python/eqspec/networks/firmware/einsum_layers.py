"""Sums over several axes of a tensor (EinsumDense), of arrays: dense layers between two transpositions.

    einsum_dense   the entries, transposed, are I L0 rows of C numbers. Row l of block i is multiplied by matrix i,
                   a dense layer of C inputs and L1 outputs with a bias of its own; the I L0 rows of L1 results are
                   transposed once more

By strategy, the matrices are weights and each row a dense layer in its accumulator, or functions of adders (`adders`):
these give sums of the accumulator's type, to which the bias is added, in the same type.

    template <typename inp_t, typename out_t>
    void einsum_dense3_da_kernel(inp_t inp_tpose[12], out_t out_tpose[20], int l0) {
        einsum_3_da_0_of_1(&inp_tpose[(0 * 4 + l0) * 3], &out_tpose[(0 * 4 + l0) * 5]);
    }
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.firmware import adders, entry_types, moving_layers
from eqspec.networks.firmware.builder import Value
from eqspec.networks.firmware.declarations import Configuration
from eqspec.networks.firmware.lattices import integers
from eqspec.networks.firmware.layer import SPEED, Layer
from eqspec.networks.firmware.size_limits import MAX_PRODUCTS
from eqspec.networks.firmware.sum_layers import factors_of, matrix_of, refuse_bits
from eqspec.networks.firmware.sums import Sums
from eqspec.networks.firmware.tokens import Words
from eqspec.networks.firmware.windows import Windows

_AGAIN = "write the project again"


class _Einsum:
    """What both strategies share: sizes and orders."""

    def __init__(self, layer: Layer, kernel: str) -> None:
        self.layer = layer
        sizes = ("n_inplace", "n_free_data", "n_free_kernel", "n_contract")
        orders = ("tpose_inp_conf", "tpose_out_conf")
        read = (*sizes, *orders, "accum_t", "bias_t", "strategy", kernel)
        layout = ("io_type", "reuse_factor", "parallelization_factor")
        self.configuration: Configuration = layer.configuration("", read, layout)
        if layer.word:
            layer.fail("it is called with a stream", "write the project with io_parallel")
        layer.project.templates.check("nnet_einsum_dense.h", "einsum_dense")
        layer.project.templates.check("nnet_transpose.h", "transpose")
        declared = layer.project.declared
        self.blocks, self.rows, self.outputs, self.inputs = (
            declared.member_number(self.configuration, name) for name in sizes
        )
        if min(self.blocks, self.rows, self.outputs, self.inputs) < 1:
            layer.fail("it has no rows, no inputs or no outputs", _AGAIN)
        if self.blocks * self.rows * self.outputs * self.inputs > MAX_PRODUCTS:
            layer.fail("it has too many products", f"networks of up to {MAX_PRODUCTS} are decided")
        self.given_size = self.blocks * self.rows * self.inputs
        self.size = self.blocks * self.rows * self.outputs
        names = [declared.member_name(self.configuration, name) for name in orders]
        (self._before, _), (self._behind, _) = (moving_layers.order_of(layer, name) for name in names)
        for order, size in ((self._before, self.given_size), (self._behind, self.size)):
            if len(order) != size:
                layer.fail(f"it transposes {len(order)} numbers, of which there are {size}", _AGAIN)
        refuse_bits(layer)
        layer.project.builder.refuse = layer.fail

    def entries(self, block: int) -> Windows:
        """The entries of each row of a block (L0, C), by their places in what is read."""
        places = np.arange(self.rows * self.inputs) + block * self.rows * self.inputs
        return self._before[places].reshape(self.rows, self.inputs)

    def places(self, block: int, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where the results of some rows of a block stand, in front of the last transposition."""
        first = (block * self.rows + rows) * self.outputs
        return (first[:, None] + np.arange(self.outputs)).reshape(-1)

    def together(self, parts: list[tuple[Value, NDArray[np.intp]]]) -> Value:
        """The results of all rows, of which each part has some."""
        if len(parts) == 1 and (parts[0][1] == np.arange(self.size)).all():
            return parts[0][0]
        return entry_types.together(self.layer.project.builder, parts, self.size)

    def gives(self, value: Value) -> None:
        """Results, transposed."""
        self.layer.gives(value.taken(self._behind), argument=1, template=1)


def einsum_dense(layer: Layer) -> None:
    """Dense layers between two transpositions: with weights, or of adders."""
    if len(layer.call.arguments) == 3:
        layer.check_call(3, 3)
        _of_adders(layer, _Einsum(layer, "da_kernel"))
    else:
        layer.check_call(3, 4)
        _of_weights(layer, _Einsum(layer, "dense_conf"))


def _of_weights(layer: Layer, sizes: _Einsum) -> None:
    declared, builder = layer.project.declared, layer.project.builder
    name = declared.member_name(sizes.configuration, "dense_conf")
    read = ("n_in", "n_out", "accum_t", "bias_t", "weight_t", "kernel", "product")
    product = layer.configuration("dense_config", read, SPEED, name)
    inputs, outputs = (declared.member_number(product, one) for one in ("n_in", "n_out"))
    if (inputs, outputs) != (sizes.inputs, sizes.outputs):
        layer.fail(f"{name} multiplies {inputs} by {outputs}, it {sizes.inputs} by {sizes.outputs}", _AGAIN)
    layer.project.templates.check("nnet_dense.h", "dense")
    accumulator, of_bias = (declared.member_type(product, one) for one in ("accum_t", "bias_t"))
    of_weight = declared.member_type(product, "weight_t", of_weights=True)
    stored = layer.weights(layer.call.arguments[2], of_weight, sizes.blocks * outputs * inputs).integers
    bias = layer.weights(layer.call.arguments[3], of_bias, sizes.size).integers.reshape(-1, sizes.rows, outputs)
    given = layer.given(sizes.given_size)
    parts = list[tuple[Value, NDArray[np.intp]]]()
    for block, weights in enumerate(stored.reshape(sizes.blocks, -1)):
        matrix = factors_of(layer, product, matrix_of(layer, product, weights, inputs, outputs), of_weight)
        entries = sizes.entries(block)
        of_bias_rows: dict[tuple[int, ...], list[int]] = {}
        for row, numbers in enumerate(bias[block].tolist()):
            of_bias_rows.setdefault(tuple(numbers), []).append(row)
        for numbers, rows in of_bias_rows.items():
            some = np.array(rows)
            sums = Sums(entries[some], matrix, of_weight.bits, integers(numbers), of_bias.bits)
            summed = builder.added(given, sums, accumulator, f"{layer.name}.accum_t")
            parts.append((summed, sizes.places(block, some)))
    sizes.gives(sizes.together(parts))


def _of_adders(layer: Layer, sizes: _Einsum) -> None:
    declared, builder = layer.project.declared, layer.project.builder
    accumulator, of_bias = (declared.member_type(sizes.configuration, name) for name in ("accum_t", "bias_t"))
    bias = layer.weights(layer.call.arguments[2], of_bias, sizes.size).integers
    functions = _functions(layer, sizes)
    given = layer.given(sizes.given_size)
    parts = list[tuple[Value, NDArray[np.intp]]]()
    for block, name in enumerate(functions):
        definition = layer.project.adders[name]
        function = adders.read_sums(layer, definition)
        if (function.size, len(function.outputs)) != (sizes.inputs, sizes.outputs):
            layer.fail(f"{name} has other sizes than {sizes.inputs} and {sizes.outputs}", _AGAIN)
        summed = adders.multiplied(layer, definition, function, given, sizes.entries(block))
        parts.append((summed, sizes.places(block, np.arange(sizes.rows))))
    stored = builder.assigned(sizes.together(parts), accumulator, f"{layer.name}.accum_t")
    with_bias = builder.scaled(stored, integers([1] * sizes.size), 0, bias, of_bias.bits)
    sizes.gives(builder.assigned(with_bias, accumulator, f"{layer.name}.accum_t with its bias"))


def _functions(layer: Layer, sizes: _Einsum) -> list[str]:
    """The function of adders of each block, which the kernel calls with the numbers of a row."""
    declared = layer.project.declared
    strategy = declared.member_name(sizes.configuration, "strategy")
    name, types = declared.member_function(sizes.configuration, "da_kernel")
    expected = (layer.given_type, declared.member_type(sizes.configuration, "accum_t"))
    if strategy != adders.STRATEGY or types != expected or name not in layer.project.adders:
        layer.fail(f"{name} with strategy {strategy} is not read, is for other types, or is defined twice", _AGAIN)
    definition = layer.project.adders[name]
    head, body = (Words.of(definition.path, part) for part in (definition.parameters, definition.statements))
    head.expect("(", "inp_t", "inp_tpose", "[", str(sizes.given_size), "]", ",")
    head.expect("out_t", "out_tpose", "[", str(sizes.size), "]", ",", "int", "l0", ")")
    found = list[str]()
    for block in range(sizes.blocks):
        line = body.next.line
        found.append(body.name("a function of adders"))
        if found[-1] not in layer.project.adders:
            body.fail(line, f"{found[-1]} is no function of adders, or is defined twice", _AGAIN)
        row = ("[", "(", str(block), "*", str(sizes.rows), "+", "l0", ")", "*")
        body.expect("(", "&", "inp_tpose", *row, str(sizes.inputs), "]", ",")
        body.expect("&", "out_tpose", *row, str(sizes.outputs), "]", ")", ";")
    for words in (head, body):
        if words.next.text:
            words.refuse("the end of the kernel")
    return found
