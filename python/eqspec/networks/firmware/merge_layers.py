"""Layers of two values: sum, difference, product, average, the larger and the lesser, and one behind the other.

Each is computed exactly and assigned to the result's type.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.builder import Builder, Value
from eqspec.networks.firmware.lattices import integers
from eqspec.networks.firmware.layer import Layer

_SIZES = ("n_elem", "n_elem1", "n_elem2")


def added(builder: Builder, first: Value, second: Value) -> Value:
    """The sum."""
    return builder.combined(first, second, 1)


def subtracted(builder: Builder, first: Value, second: Value) -> Value:
    """The difference."""
    return builder.combined(first, second, -1)


def multiplied(builder: Builder, first: Value, second: Value) -> Value:
    """The product."""
    return builder.product(first, second)


def averaged(builder: Builder, first: Value, second: Value) -> Value:
    """Half of the sum."""
    both = builder.combined(first, second, 1)
    return builder.scaled(both, _all(both, 1), 1, _all(both, 0), 0)


def larger(builder: Builder, first: Value, second: Value) -> Value:
    """The larger entry of both."""
    return builder.larger(first, second)


def lesser(builder: Builder, first: Value, second: Value) -> Value:
    """The lesser entry of both."""
    return builder.larger(first, second, sign=-1)


def _all(value: Value, number: int) -> Integers:
    return integers([number] * value.size)


def merged(combine: Callable[[Builder, Value, Value], Value]) -> Callable[[Layer], None]:
    """A function of two values of equal size, entry by entry."""

    def read(layer: Layer) -> None:
        layer.check_call(4, 3)
        layer.rests_on("nnet_merge", layer.call.function)
        configuration = layer.configuration("merge_config", _SIZES, ("reuse_factor",))
        members = [name for name in _SIZES if name in configuration.members]
        sizes = {layer.project.declared.member_number(configuration, name) for name in members}
        if len(sizes) != 1:
            layer.fail(f"values of sizes {sorted(sizes)} are not read together", "give both values the same shape")
        (size,) = sizes
        if layer.word != layer.words_of(1):
            layer.fail("the words of its streams differ in length", "write the project again")
        first, second = layer.given(size), layer.given(size, argument=1, template=1)
        builder = layer.project.builder
        builder.refuse = layer.fail
        layer.gives(combine(builder, first, second), argument=2, template=2, word=layer.word or None)

    return read


def concatenated(axes: int) -> Callable[[Layer], None]:
    """Two values of so many axes one behind the other, along one of the axes."""

    def read(layer: Layer) -> None:
        layer.check_call(4, 3)
        sizes = [[f"n_elem{which}_{axis}" for axis in range(3)] for which in (1, 2)]
        used = [names[:axes] for names in sizes]
        others = [name for names in sizes for name in names[axes:]]
        configuration = layer.configuration("concat_config", (*used[0], *used[1], "axis"), (*others, "reuse_factor"))
        number = layer.project.declared.member_number
        shapes = [tuple(number(configuration, name) for name in names) for names in used]
        axis = 0
        if axes > 1:
            said = number(configuration, "axis")
            # What is neither the last axis nor, of three, the second one, is the first one.
            axis = axes - 1 if said in (axes, -1) else 1 if axes == 3 and said in (2, -2) else 0
        same = [shape[:axis] + shape[axis + 1 :] for shape in shapes]
        if same[0] != same[1] or min(shapes[0] + shapes[1]) < 1:
            layer.fail(f"{shapes[0]} and {shapes[1]} along axis {axis}", "write the project again")
        name = f"concatenate{axes}d"
        helpers = [f"{name}_{which}" for which in range(axes)] if axes > 1 else []
        layer.rests_on("nnet_merge", name, helpers=helpers)
        counts = [int(np.prod(shape)) for shape in shapes]
        out = (*shapes[0][:axis], shapes[0][axis] + shapes[1][axis], *shapes[0][axis + 1 :])
        if layer.word:
            second = layer.words_of(1)
            if axes > 1 and (layer.word != shapes[0][-1] or second != shapes[1][-1]):
                layer.fail("the words of its streams are not pixels", "write the project again")
        first = layer.given(counts[0])
        other = layer.given(counts[1], argument=1, template=1)
        builder = layer.project.builder
        builder.refuse = layer.fail
        of_first = np.arange(counts[0]).reshape(shapes[0])
        of_second = counts[0] + np.arange(counts[1]).reshape(shapes[1])
        order = np.concatenate([of_first, of_second], axis=axis).reshape(-1)
        both = builder.joined(first, other)
        layer.gives(both.taken(order), argument=2, template=2, word=out[-1] if layer.word else None)

    return read
