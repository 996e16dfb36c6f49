"""Layers that are functions of each entry: linear, ReLUs, hard and binary functions; and softmax at the end.

Each computes its function exactly and assigns it to the result's type. A softmax is a table in the firmware. At the end
of a network it is left out: the outputs are its scores.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eqspec.networks import curves as cv
from eqspec.networks.curves import Curves
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.builder import Value
from eqspec.networks.firmware.declarations import ArrayOf
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import Lattice, integers
from eqspec.networks.firmware.layer import SPEED, Layer
from eqspec.networks.firmware.tokens import Words
from eqspec.networks.quantiser import Quantiser, Rounding

_TABLES = ("table_size", "table_t")
_ABOVE = Quantiser(1.0, 0, 1, Rounding.CEIL).curve
"""1 above 0, else 0."""


def _activation(layer: Layer, *parameters: str) -> Value:
    """What an activation reads."""
    configuration = layer.configuration("activ_config", ("n_in",), (*SPEED, *_TABLES, *parameters))
    layer.rests_on("nnet_activation", layer.call.function)
    return layer.given(layer.project.declared.member_number(configuration, "n_in"))


def linear(layer: Layer) -> None:
    """x."""
    layer.check_call(3, 2)
    layer.gives(_activation(layer), argument=1, template=1, word=layer.word)


def relu(layer: Layer) -> None:
    """max(0, x)."""
    layer.check_call(3, 2)
    layer.gives(_activation(layer), argument=1, template=1, rectified=True, word=layer.word)


def thresholded_relu(layer: Layer) -> None:
    """x above the threshold of the call, else 0."""
    layer.check_call(4, 3)
    given = _activation(layer, "param_t")
    threshold, of = layer.parameter()
    if threshold == 0:
        layer.gives(given, argument=2, template=2, rectified=True, word=layer.word)
        return
    builder = layer.project.builder
    builder.refuse = layer.fail
    moved = builder.scaled(given, _all(given, 1), 0, _all(given, -threshold), of.bits)
    above = builder.function(moved, "relu", moved.lattice.positive())
    passed = builder.function(moved, Curves.all(_ABOVE), Lattice(_all(given, 0), _all(given, 1), _all(given, 1), 0))
    jump = builder.scaled(passed, _all(given, threshold), of.bits, _all(given, 0), 0)
    layer.gives(builder.combined(above, jump, 1), argument=2, template=2, word=layer.word)


def hard(factor: int, shift: int) -> Callable[[Layer], None]:
    """A line of the configuration, cut off at 0 and 1, times a whole number and moved by another one."""

    def read(layer: Layer) -> None:
        layer.check_call(3, 2)
        configuration = layer.configuration("", ("n_in", "slope", "shift"), SPEED)
        layer.rests_on("nnet_activation", layer.call.function)
        declared = layer.project.declared
        given = layer.given(declared.member_number(configuration, "n_in"))
        (slope, of_slope), (moved, of_shift) = (layer.constant(configuration, name) for name in ("slope", "shift"))
        builder = layer.project.builder
        builder.refuse = layer.fail
        line = builder.scaled(given, _all(given, slope), of_slope.bits, _all(given, moved), of_shift.bits)
        value = builder.function(line, Curves.all(cv.clip(0.0, 1.0)), _clipped(line.lattice, 1))
        if (factor, shift) != (1, 0):
            value = builder.scaled(value, _all(given, factor), 0, _all(given, shift), 0)
        layer.gives(value, argument=1, template=1, word=layer.word)

    return read


def binary_tanh(layer: Layer) -> None:
    """1 from 0 on, else -1; in a type of one bit 1 and 0."""
    layer.check_call(3, 2)
    given = _activation(layer)
    layer.project.templates.check("nnet_activation.h", "binary_cast")
    of = layer.array(layer.call.arguments[1], layer.call.templates[1])[1]
    bit = of.whole and not of.signed and of.width == 1
    kind = Quantiser(1.0, 0, 1, Rounding.FLOOR, 1.0, unit=1.0 if bit else 2.0, base=0.0 if bit else 0.5).curve
    least, step = (0, 1) if bit else (-1, 2)
    layer.project.builder.refuse = layer.fail
    after = Lattice(_all(given, least), _all(given, 1), _all(given, step), 0)
    layer.gives(layer.project.builder.function(given, Curves.all(kind), after), argument=1, template=1, word=layer.word)


def ternary_tanh(layer: Layer) -> None:
    """2 x in the type of x, of a stream x itself: 1 above 1, 0 above -1, else -1."""
    layer.check_call(3, 2)
    stored = given = _activation(layer)
    builder = layer.project.builder
    builder.refuse = layer.fail
    if not layer.word:
        twice = builder.scaled(given, _all(given, 2), 0, _all(given, 0), 0)
        stored = builder.assigned(twice, layer.given_type, f"{layer.name} of 2 x")
    kind = Quantiser(2.0, -1, 1, Rounding.HALF_DOWN, unit=1.0).curve
    after = Lattice(_all(given, -1), _all(given, 1), _all(given, 1), 0)
    layer.gives(builder.function(stored, Curves.all(kind), after), argument=1, template=1, word=layer.word)


def _all(value: Value, number: int) -> Integers:
    """The same number for every entry."""
    return integers([number] * value.size)


def _clipped(lattice: Lattice, most: int) -> Lattice:
    """What is left of numbers between 0 and a whole number."""
    wide = lattice.positive().at(0)
    cap = most << wide.bits
    ends = (np.minimum(wide.least, cap), np.minimum(wide.most, cap))
    step = np.where(wide.most > cap, np.gcd(wide.step, np.abs(cap - wide.least)), wide.step)
    return Lattice(integers(ends[0]), integers(ends[1]), integers(np.where(ends[0] == ends[1], 0, step)), wide.bits)


def relu_up_to(most: int) -> Callable[[Layer], None]:
    """min(max(0, x), most)."""

    def capped(layer: Layer) -> None:
        layer.check_call(3, 2)
        if layer.word:
            layer.fail("it is not read of streams", "use a Clip, or io_parallel")
        given = _activation(layer)
        layer.project.templates.check("nnet_activation.h", "relu_max")
        after = _clipped(given.lattice, most)
        layer.project.builder.refuse = layer.fail
        value = layer.project.builder.function(given, Curves.all(cv.clip(0.0, float(most))), after)
        layer.gives(value, argument=1, template=1, word=layer.word)

    return capped


def leaky_relu(layer: Layer) -> None:
    """x where it is positive, elsewhere the slope of the call times x."""
    layer.check_call(4, 3)
    given = _activation(layer, "param_t")
    slope, of = layer.parameter()
    _bent(layer, given, _all(given, slope), of, result=2)


def prelu(layer: Layer) -> None:
    """x where it is positive, elsewhere a slope of each entry times x."""
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
    layer.gives(builder.function(given, curves, after), argument=result, template=result, word=layer.word)


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


def softmax(layer: Layer) -> None:
    """Left out: its scores stand for it. That nothing reads it, `project` sees to."""
    layer.check_call(3, 2)
    array, _ = layer.array(layer.call.arguments[0], layer.call.templates[0])
    result, _ = layer.array(layer.call.arguments[1], layer.call.templates[1])
    value = layer.project.values.get(array.name)
    if value is None:
        layer.fail(f"it reads {array.name}, which nothing has given yet", "write the project again")
    layer.take(array)
    name = layer.call.templates[-1][0].text
    configuration = layer.project.declared.configurations.get(name)
    if configuration is None or configuration.base != "activ_config":
        layer.fail(f"there is no configuration {name}", "write the project again")
    sizes = [
        layer.project.declared.member_number(configuration, n)
        for n in ("n_in", "n_slice")
        if n in configuration.members
    ]
    if any(size != value.size for size in sizes):
        layer.fail("it is over some of its entries alone", "a Softmax over all of them can be left out")
    layer.project.values[result.name] = value
    layer.project.softmaxes.add(result.name)
