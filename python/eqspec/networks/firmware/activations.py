"""Layers that are functions of each entry: linear, ReLUs of all kinds, leaky_relu, prelu; and softmax at the end.

Each computes its function exactly and assigns it to the result's type. A softmax is a table in the firmware. At the end
of a network it is left out: the outputs are its scores.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite

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

_TABLES = ("table_size", "table_t")


def _activation(layer: Layer, *parameters: str) -> Value:
    """What an activation reads."""
    configuration = layer.configuration("activ_config", ("n_in",), (*SPEED, *_TABLES, *parameters))
    layer.rests_on("nnet_activation", layer.call.function)
    return layer.given(layer.project.declared.member_number(configuration, "n_in"))


def linear(layer: Layer) -> None:
    """x."""
    layer.check_call(3, 2)
    layer.gives(_activation(layer), argument=1, template=1)


def relu(layer: Layer) -> None:
    """max(0, x)."""
    layer.check_call(3, 2)
    layer.gives(_activation(layer), argument=1, template=1, rectified=True)


def thresholded_relu(layer: Layer) -> None:
    """x above the threshold of the call, else 0: of Keras' ReLU, whose threshold is 0."""
    layer.check_call(4, 3)
    given = _activation(layer, "param_t")
    written = "".join(word.text for word in layer.call.arguments[1])
    if _number(written) != 0.0:
        layer.fail(f"a threshold of {written[:40]} is not read", "use one of 0")
    layer.gives(given, argument=2, template=2, rectified=True)


def relu_up_to(most: int) -> Callable[[Layer], None]:
    """min(max(0, x), most)."""

    def capped(layer: Layer) -> None:
        layer.check_call(3, 2)
        if layer.word:
            layer.fail("it is not read of streams", "use a Clip, or io_parallel")
        given = _activation(layer)
        layer.project.templates.check("nnet_activation.h", "relu_max")
        one = given.lattice.positive()
        cap = most << max(0, one.bits)
        wide = one.at(0)
        ends = (np.minimum(wide.least, cap), np.minimum(wide.most, cap))
        step = np.where(wide.most > cap, np.gcd(wide.step, cap - wide.least), wide.step)
        after = Lattice(
            integers(ends[0]), integers(ends[1]), integers(np.where(ends[0] == ends[1], 0, step)), wide.bits
        )
        layer.project.builder.refuse = layer.fail
        value = layer.project.builder.function(given, Curves.all(cv.clip(0.0, float(most))), after)
        layer.gives(value, argument=1, template=1)

    return capped


def leaky_relu(layer: Layer) -> None:
    """x where it is positive, elsewhere the slope of the call times x."""
    layer.check_call(4, 3)
    given = _activation(layer, "param_t")
    of = layer.project.declared.type(Words.of(layer.project.function.path, layer.call.templates[1]))
    if isinstance(of, ArrayOf):
        layer.fail("its slope is an array", "write the project again")
    written = "".join(word.text for word in layer.call.arguments[1])
    slope = _number(written)
    if not isfinite(slope):
        layer.fail(f"its slope {written[:40]!r} is no finite number", "write the project again")
    _bent(layer, given, of.stored(np.full(given.size, slope)), of, result=2)


def _number(written: str) -> float:
    """A number as C++ has it; infinite where it is none."""
    try:
        return float(written)
    except ValueError:
        return inf


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


def softmax(layer: Layer) -> None:
    """Left out: its scores stand for it. That nothing reads it, `project` sees to."""
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
    sizes = [
        layer.project.declared.member_number(configuration, n)
        for n in ("n_in", "n_slice")
        if n in configuration.members
    ]
    if any(size != value.size for size in sizes):
        layer.fail("it is over some of its entries alone", "a Softmax over all of them can be left out")
    layer.project.values[result.name] = value
    layer.project.softmax = result.name
