"""What each function of hls4ml computes, as hls4ml's own templates say (firmware/nnet_utils of a project).

    dense          every product of an input and a weight, and every bias, assigned to accum_t; their sum in accum_t;
                   assigned to the result's type. With strategy latency weights are stored input by input, with
                   resource output by output
    normalize      scale times input plus bias, exactly, assigned to the result's type
    relu, linear, leaky_relu, relu1, relu6, prelu
                   the function of each entry, exactly, assigned to the result's type
    softmax        at the end of a network, left out: the outputs are its scores

Every layer names the members of its configuration that say what is computed, and those that say how fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import numpy as np

from eqspec.networks import curves as cv
from eqspec.networks.curves import Curves
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.builder import Builder, Sums, Value
from eqspec.networks.firmware.calls import Array, Call, Function
from eqspec.networks.firmware.declarations import ArrayOf, Configuration, Declarations, check_members
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import Lattice, integers
from eqspec.networks.firmware.tokens import Word, Words
from eqspec.networks.firmware.weights import Weights

_SPEED = (
    "io_type", "strategy", "reuse_factor", "n_zeros", "n_nonzeros", "multiplier_limit", "store_weights_in_bram", "index_t",
)  # fmt: skip
"""Members that say how hardware is laid out. (What a strategy computes, its kernel says.)"""
_TABLES = ("table_size", "table_t")
_KERNELS = {
    "nnet::DenseLatency": "inputs first",
    "nnet::DenseResource_rf_leq_nin": "outputs first",
    "nnet::DenseResource_rf_gt_nin_rem0": "outputs first",
}
_PRODUCTS = ("nnet::product::mult", "nnet::product::weight_ternary", "nnet::product::weight_binary")


@dataclass
class Project:
    """Everything that was read of a project, while its layers are taken one after the other."""

    declared: Declarations
    function: Function
    weights: dict[str, Weights]
    builder: Builder
    values: dict[str, Value]
    softmax: str | None = None
    """The array that a Softmax left out would give."""


@dataclass(frozen=True)
class Layer:
    """One call, with what its parts mean."""

    project: Project
    call: Call

    @property
    def name(self) -> str:
        """As hls4ml calls it; else as what it gives."""
        if self.call.layer:
            return self.call.layer
        arguments = [words[0].text for words in self.call.arguments if len(words) == 1]
        given = [name for name in arguments if name in self.project.function.arrays]
        return (given[-1] if given else self.call.function).removesuffix("_out")

    def fail(self, message: str, fix: str) -> NoReturn:
        """NetworkError about this call."""
        where = f"{self.name} (nnet::{self.call.function})"
        return Words(self.project.function.path, "").fail(self.call.line, f"{where}: {message}", fix)

    def configuration(self, base: str, read: Sequence[str], harmless: Sequence[str]) -> Configuration:
        """The configuration, whose members have to be known."""
        (name,) = self.call.templates[-1][:1]
        found = self.project.declared.configurations.get(name.text)
        if found is None:
            self.fail(f"there is no configuration {name.text}", "write the project again")
        check_members(found, base, read, harmless)
        return found

    def check_call(self, templates: int, arguments: int) -> None:
        """Whether it is called with so many templates and arguments."""
        found = len(self.call.templates), len(self.call.arguments)
        if found != (templates, arguments) or not all(self.call.templates) or not all(self.call.arguments):
            said = f"{found[0]} templates and {found[1]} arguments, {templates} and {arguments} expected"
            self.fail(said, "write the project again")

    def array(self, argument: tuple[Word, ...], template: tuple[Word, ...]) -> tuple[Array, FixedPoint]:
        """An array with the type of its entries, which the call has to name too."""
        words = Words.of(self.project.function.path, argument)
        name = words.name("the name of an array")
        found = self.project.function.array(words, name, self.call.line)
        said = self.project.declared.type(Words.of(self.project.function.path, template))
        if said != found.type:
            self.fail(f"it is called for another type than {name} has", "write the project again")
        return found, found.type.of if isinstance(found.type, ArrayOf) else found.type

    def given(self, size: int, *, argument: int = 0, template: int = 0) -> Value:
        """The value that it reads, of so many entries."""
        array, _ = self.array(self.call.arguments[argument], self.call.templates[template])
        value = self.project.values.get(array.name)
        if value is None:
            self.fail(f"it reads {array.name}, which nothing has given yet", "write the project again")
        self._check_size(array, size)
        if value.size != size:
            self.fail(f"it reads {size} numbers, {array.name} has {value.size}", "write the project again")
        return value

    def gives(self, value: Value, *, argument: int, template: int, rectified: bool = False) -> None:
        """Assign a value to the array that it writes."""
        array, of = self.array(self.call.arguments[argument], self.call.templates[template])
        if array.name in self.project.values:
            self.fail(f"it gives {array.name}, which has been given already", "write the project again")
        self._check_size(array, value.size)
        builder = self.project.builder
        builder.refuse = self.fail
        made = builder.assigned(value, of, f"{self.name}.result_t", rectified=rectified)
        self.project.values[array.name] = made

    def _check_size(self, array: Array, size: int) -> None:
        if array.size is not None and array.size != size:
            self.fail(f"{array.name} has {array.size} entries, its configuration says {size}", "write the project again")

    def weights(self, argument: tuple[Word, ...], of: FixedPoint, size: int) -> Weights:
        """An array of weights, whose type its configuration names too."""
        name = argument[0].text if len(argument) == 1 else ""
        found = self.project.weights.get(name)
        if found is None:
            shown = " ".join(word.text for word in argument)
            self.fail(f"there are no weights {shown!r}", "weights are read from firmware/weights")
        if found.type.same_as != of.same_as:
            self.fail(f"{name} is {found.type.text}, its configuration says {of.text}", "write the project again")
        if len(found.integers) != size:
            self.fail(f"{name} has {len(found.integers)} numbers, {size} are used", "write the project again")
        return found


def _dense(layer: Layer) -> None:
    layer.check_call(3, 4)
    read = ("n_in", "n_out", "accum_t", "bias_t", "weight_t", "kernel", "product")
    configuration = layer.configuration("dense_config", read, _SPEED)
    declared = layer.project.declared
    inputs, outputs = (declared.member_number(configuration, n) for n in ("n_in", "n_out"))
    accumulator, of_bias, of_weight = (declared.member_type(configuration, n) for n in ("accum_t", "bias_t", "weight_t"))
    given = layer.given(inputs)
    weights = layer.weights(layer.call.arguments[2], of_weight, inputs * outputs)
    bias = layer.weights(layer.call.arguments[3], of_bias, outputs)
    if _is_bit(given_type(layer)):
        layer.fail("inputs of one bit stand for -1 and 1 there, which is not read", "use ap_int<2>")
    matrix = _matrix(layer, configuration, weights.integers, inputs, outputs)
    factors = _factors(layer, configuration, matrix, of_weight)
    sums = Sums(np.arange(inputs)[None], factors, of_weight.bits, bias.integers, of_bias.bits)
    layer.project.builder.refuse = layer.fail
    summed = layer.project.builder.added(given, sums, accumulator, f"{layer.name}.accum_t")
    layer.gives(summed, argument=1, template=1)


def given_type(layer: Layer) -> FixedPoint:
    """The type of the entries that a layer reads."""
    return layer.array(layer.call.arguments[0], layer.call.templates[0])[1]


def _is_bit(of: FixedPoint) -> bool:
    return of.whole and of.width == 1


def _matrix(
    layer: Layer, configuration: Configuration, integers_: Integers, inputs: int, outputs: int
) -> Integers:
    """The weights by output and input, as the kernel takes them from its array."""
    kernel, _ = layer.project.declared.member_name(configuration, "kernel")
    order = _KERNELS.get(kernel)
    if order is None:
        fix = "use strategy Latency or Resource, whose code is part of hls4ml"
        layer.fail(f"the kernel {kernel} is not read", fix)
    if order == "inputs first":
        return np.ascontiguousarray(integers_.reshape(inputs, outputs).T)
    reuse = layer.project.declared.member_number(configuration, "reuse_factor")
    few = kernel.endswith("leq_nin")
    fits = inputs % reuse == 0 if few else reuse % inputs == 0 and reuse > inputs
    if reuse < 1 or not fits:
        fix = "give it a reuse factor that divides its inputs, or a multiple of their number"
        layer.fail(f"the reuse factor {reuse} does not fit {inputs} inputs", fix)
    return np.ascontiguousarray(integers_.reshape(outputs, inputs))


def _factors(layer: Layer, configuration: Configuration, weights: Integers, of: FixedPoint) -> Integers:
    """What inputs are multiplied by, by the function that makes products."""
    product, _ = layer.project.declared.member_name(configuration, "product")
    if product not in _PRODUCTS:
        layer.fail(f"products by {product} are not read", f"these are: {', '.join(_PRODUCTS)}")
    if product.endswith("weight_binary"):  # 0 and 1 stand for -1 and 1
        if not _is_bit(of):
            layer.fail(f"{product} with weights of type {of.text}", "write the project again")
        return integers(2 * weights - 1)
    if product.endswith("weight_ternary") and (of.bits != 0 or max(abs(int(w)) for w in weights.reshape(-1)) > 1):
        layer.fail(f"{product} with weights other than -1, 0 and 1", "write the project again")
    return weights


def _normalize(layer: Layer) -> None:
    layer.check_call(3, 4)
    read = ("n_in", "n_filt", "n_scale_bias", "bias_t", "scale_t", "product")
    configuration = layer.configuration("batchnorm_config", read, _SPEED)
    declared = layer.project.declared
    size = declared.member_number(configuration, "n_in")
    channels = declared.member_number(configuration, "n_filt")
    channels = size if channels == -1 else channels
    if channels < 1 or size % channels:
        layer.fail(f"{size} entries are no multiple of {channels} channels", "write the project again")
    of_scale, of_bias = (declared.member_type(configuration, n) for n in ("scale_t", "bias_t"))
    given = layer.given(size)
    scales = layer.weights(layer.call.arguments[2], of_scale, channels)
    bias = layer.weights(layer.call.arguments[3], of_bias, channels)
    if _is_bit(given_type(layer)):
        layer.fail("inputs of one bit stand for -1 and 1 there, which is not read", "use ap_int<2>")
    factors = _factors(layer, configuration, scales.integers, of_scale)
    of_entry = np.arange(size) % channels
    layer.project.builder.refuse = layer.fail
    scaled = layer.project.builder.scaled(given, factors[of_entry], of_scale.bits, bias.integers[of_entry], of_bias.bits)
    layer.gives(scaled, argument=1, template=1)


def _activation(layer: Layer, *parameters: str) -> Value:
    """What an activation reads."""
    configuration = layer.configuration("activ_config", ("n_in",), (*_SPEED, *_TABLES, *parameters))
    return layer.given(layer.project.declared.member_number(configuration, "n_in"))


def _linear(layer: Layer) -> None:
    layer.check_call(3, 2)
    layer.gives(_activation(layer), argument=1, template=1)


def _relu(layer: Layer) -> None:
    layer.check_call(3, 2)
    layer.gives(_activation(layer), argument=1, template=1, rectified=True)


def _relu_up_to(most: int) -> Callable[[Layer], None]:
    def capped(layer: Layer) -> None:
        layer.check_call(3, 2)
        given = _activation(layer)
        one = given.lattice.positive()
        cap = most << max(0, one.bits)
        wide = one.at(0)
        ends = (np.minimum(wide.least, cap), np.minimum(wide.most, cap))
        step = np.where(wide.most > cap, np.gcd(wide.step, cap - wide.least), wide.step)
        after = Lattice(integers(ends[0]), integers(ends[1]), integers(np.where(ends[0] == ends[1], 0, step)), wide.bits)
        layer.project.builder.refuse = layer.fail
        value = layer.project.builder.function(given, Curves.all(cv.clip(0.0, float(most))), after)
        layer.gives(value, argument=1, template=1)

    return capped


def _leaky_relu(layer: Layer) -> None:
    layer.check_call(4, 3)
    given = _activation(layer, "param_t")
    of = layer.project.declared.type(Words.of(layer.project.function.path, layer.call.templates[1]))
    if isinstance(of, ArrayOf):
        layer.fail("its slope is an array", "write the project again")
    written = "".join(word.text for word in layer.call.arguments[1])
    try:
        slope = of.holds(Fraction(float(written)))
    except (ValueError, OverflowError):
        layer.fail(f"its slope {written[:40]!r} is no number", "write the project again")
    _bent(layer, given, integers([slope] * given.size), of, result=2)


def _prelu(layer: Layer) -> None:
    layer.check_call(4, 3)
    given = _activation(layer, "param_t")
    of = layer.project.declared.type(Words.of(layer.project.function.path, layer.call.templates[1]))
    if isinstance(of, ArrayOf):
        layer.fail("its slopes are an array of arrays", "write the project again")
    slopes = layer.weights(layer.call.arguments[1], of, given.size)
    _bent(layer, given, slopes.integers, of, result=2)


def _bent(layer: Layer, given: Value, slopes: Integers, of: FixedPoint, *, result: int) -> None:
    """x where it is positive, slope x elsewhere."""
    builder = layer.project.builder
    builder.refuse = layer.fail
    factors = builder.floats(slopes, of.bits)
    curves = Curves.of_rows([cv.leaky(float(s)) for s in factors])
    after = _behind_bend(given.lattice, slopes, of.bits)
    layer.gives(builder.function(given, curves, after), argument=result, template=result)


def _behind_bend(before: Lattice, slopes: Integers, bits: int) -> Lattice:
    """What x and, below 0, slope x may be."""
    wide = before.at(before.bits + bits)
    below = [ends * slopes << (wide.bits - before.bits - bits) for ends in (before.least, np.minimum(before.most, 0))]
    grid = np.gcd(wide.step, wide.least)
    for numbers in (before.step, before.least):
        grid = np.gcd(grid, numbers * slopes << (wide.bits - before.bits - bits))
    bends = before.least < 0
    least = np.where(bends, np.minimum(*below), wide.least)
    most = np.where(bends, np.maximum(np.maximum(*below), np.where(wide.most > 0, wide.most, below[0])), wide.most)
    step = np.where(least == most, 0, np.where(bends, grid, wide.step))
    return Lattice(integers(least), integers(most), integers(step), wide.bits)


def _softmax(layer: Layer) -> None:
    """Left out where nothing reads it: its scores stand for it."""
    layer.check_call(3, 2)
    array, _ = layer.array(layer.call.arguments[0], layer.call.templates[0])
    result, _ = layer.array(layer.call.arguments[1], layer.call.templates[1])
    value = layer.project.values.get(array.name)
    if value is None:
        layer.fail(f"it reads {array.name}, which nothing has given yet", "write the project again")
    name = layer.call.templates[-1][0].text
    configuration = layer.project.declared.configurations.get(name)
    if configuration is None or configuration.base != "activ_config":
        layer.fail(f"there is no configuration {name}", "write the project again")
    sizes = [layer.project.declared.member_number(configuration, n) for n in ("n_in", "n_slice") if n in configuration.members]
    if any(size != value.size for size in sizes):
        layer.fail("it is over some of its entries alone", "a Softmax over all of them can be left out")
    layer.project.values[result.name] = value
    layer.project.softmax = result.name


LAYERS: dict[str, Callable[[Layer], None]] = {
    "dense": _dense,
    "leaky_relu": _leaky_relu,
    "linear": _linear,
    "normalize": _normalize,
    "prelu": _prelu,
    "relu": _relu,
    "relu1": _relu_up_to(1),
    "relu6": _relu_up_to(6),
    "softmax": _softmax,
}
