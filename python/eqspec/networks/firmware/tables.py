"""Activations by tables: sigmoid, tanh, softplus, softsign, elu and selu, and tables of the model's own.

A table has N entries for the numbers from one end of a range on, evenly spaced; which entry an input takes is its
quotient by the spacing cut off towards zero, and at the ends of the range the first or last one. The entries are
floats of C++'s exp, log and tanh, assigned to the table's type. The function is therefore a quantiser (which entry) and
a function that is linear between the entries, of which nothing but the entries is ever met.

    sigmoid, softplus, softsign  N entries from -8 to 8      tanh  from -4 to 4
    elu, selu                    for negative numbers alone, N entries from 0 down to -8; else x, for selu lambda x

Two libraries may round an exp, a log or a tanh to neighbouring floats. Where that would change an entry, the table is
refused.

A table of the model's own (unary_lut, which HGQ writes for a function of each entry) is an array of weights. Its entry
for an input is that with the number of the input's bits, read without a sign: first the numbers from 0 up, and behind
them those below 0. It has one entry for each number of the input's type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.curves import Curves, through
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.builder import Value
from eqspec.networks.firmware.declarations import Configuration
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import Lattice, integers
from eqspec.networks.firmware.layer import SPEED, Layer
from eqspec.networks.quantiser import Quantiser, Rounding

Numbers = NDArray[np.float64]
_MOST_ENTRIES = 1 << 14
_EXPONENTIAL, _REST = 2.0**-31, 2.0**-50
"""How far, against its size, an exp may lie from what a library rounds to a float, and a double from the true number.
"""
_LAMBDA = 1.0507009873554805
_OF_LAMBDA = FixedPoint.of(16, 1, signed=False)
"""The factor of selu for positive numbers, and its type; in streams it has that of the input."""


def _sigmoid(_: Numbers, e: Numbers) -> Numbers:
    # 1 + exp(-x) is a sum of floats, and the quotient one of doubles.
    return np.asarray(1.0 / (np.float32(1) + e.astype(np.float32)).astype(np.float64))


_KINDS: dict[str, tuple[int, float, Callable[[Numbers, Numbers], Numbers]]] = {
    "sigmoid": (8, -1.0, _sigmoid),
    "softplus": (8, 1.0, lambda _, e: np.log(e + 1.0)),
    "softsign": (8, 0.0, lambda x, _: x / (np.abs(x) + 1.0)),
    "tanh": (4, 0.0, lambda x, _: np.tanh(x)),
    "elu": (8, 1.0, lambda _, e: e - 1.0),
    "selu": (8, 1.0, lambda _, e: 1.0507009873554804934193349852946 * (1.6732632423543772848170429916717 * (e - 1.0))),
}
"""Half of the range, the sign of what exp is taken of, and the entry as a double of x and of the float exp(+-x)."""


def symmetric(name: str) -> Callable[[Layer], None]:
    """A table from one end of a range around 0 to the other."""

    def read(layer: Layer) -> None:
        layer.check_call(3, 2)
        given, size, of = _table(layer, name)
        half = _KINDS[name][0]
        spacing = 2.0 * half / size
        entries = _entries(layer, name, (np.arange(size) - size // 2) * spacing, of)
        value = _looked_up(layer, given, spacing, -size // 2, entries, of.bits)
        layer.gives(value, argument=1, template=1, word=layer.word)

    return read


def elu(layer: Layer) -> None:
    """x, and below 0 the parameter of the call times an entry."""
    parameter = layer.parameter() if len(layer.call.templates) == 4 else None
    factor, of_factor = parameter or (1, None)
    layer.check_call(*((4, 3) if parameter else (3, 2)))
    given, size, of = _table(layer, "elu", "param_t")
    below = _below_zero(layer, "elu", given, size, of)
    bits = of_factor.bits if of_factor else 0
    builder = layer.project.builder
    scaled = builder.scaled(below, integers([factor] * given.size), bits, integers([0] * given.size), 0)
    above = builder.function(given, "relu", given.lattice.positive())
    result = 2 if parameter else 1
    layer.gives(builder.combined(above, scaled, 1), argument=result, template=result, word=layer.word)


def selu(layer: Layer) -> None:
    """A constant times x, and below 0 an entry."""
    layer.check_call(3, 2)
    given, size, of = _table(layer, "selu")
    below = _below_zero(layer, "selu", given, size, of)
    builder = layer.project.builder
    above = builder.function(given, "relu", given.lattice.positive())
    of_factor = layer.given_type if layer.word else _OF_LAMBDA
    factor = int(of_factor.stored(np.array([_LAMBDA]))[0])
    above = builder.scaled(above, integers([factor] * given.size), of_factor.bits, integers([0] * given.size), 0)
    layer.gives(builder.combined(above, below, 1), argument=1, template=1, word=layer.word)


def of_model(layer: Layer) -> None:
    """The entry that the bits of an input number, of a table of the model's own."""
    layer.check_call(3, 3)
    configuration = layer.configuration("activ_config", ("n_in", "table_size", "table_t"), SPEED)
    layer.rests_on("nnet_activation", "unary_lut")
    layer.project.templates.check("nnet_activation.h", "get_index_unary_lut")
    declared = layer.project.declared
    size = declared.member_number(configuration, "table_size")
    table = layer.weights(layer.call.arguments[2], declared.member_type(configuration, "table_t"), size)
    of = layer.given_type
    if size > _MOST_ENTRIES:
        layer.fail(f"a table of {size} entries is not read", f"use a type of fewer bits: up to {_MOST_ENTRIES} entries")
    if size != 1 << of.width:
        said = f"its table has {size} entries, and {of.text}, by whose bits they are counted, {1 << of.width} numbers"
        layer.fail(said, "write the project again, with a table for the type of its input")
    given = layer.given(declared.member_number(configuration, "n_in"))
    builder = layer.project.builder
    builder.refuse = layer.fail
    first = -(size // 2) if of.signed else 0
    entries = np.roll(table.integers, -first)
    ends = given.lattice.least, given.lattice.most
    places = [range(int(low) - first, int(high) - first + 1) for low, high in zip(*ends, strict=True)]
    unit = float(builder.floats(integers([1]), of.bits)[0])
    value = _entry_of(layer, given, unit, first, entries, places, table.type.bits)
    layer.gives(value, argument=1, template=1, word=layer.word)


def _table(layer: Layer, name: str, *parameters: str) -> tuple[Value, int, FixedPoint]:
    """What it reads, how many entries its table has, and their type."""
    configuration: Configuration = layer.configuration(
        "activ_config", ("n_in", "table_size", "table_t"), (*SPEED, *parameters)
    )
    layer.rests_on("nnet_activation", name)
    helpers = (f"{name}_fcn_float", f"init_{name}_table")
    layer.project.templates.check("nnet_activation.h", helpers[1], helpers=helpers[:1])
    declared = layer.project.declared
    size = declared.member_number(configuration, "table_size")
    of = declared.member_type(configuration, "table_t")
    given = layer.given(declared.member_number(configuration, "n_in"))
    if not 16 <= size <= _MOST_ENTRIES or size & (size - 1):
        layer.fail(f"a table of {size} entries is not read", f"use a power of two from 16 to {_MOST_ENTRIES}")
    if given.lattice.bits < 0 or layer.given_type.bits < 0 or layer.given_type.width > 64:
        layer.fail(f"inputs of type {layer.given_type.text} are not read", "use a type with digits behind the point")
    if max(-layer.given_type.low, layer.given_type.high) * size >> layer.given_type.bits + 3 >= 1 << 30:
        layer.fail(f"inputs of type {layer.given_type.text} leave the int that counts entries", "use fewer bits")
    layer.project.builder.refuse = layer.fail
    return given, size, of


def _below_zero(layer: Layer, name: str, given: Value, size: int, of: FixedPoint) -> Value:
    """The entries for negative numbers, and 0 for others."""
    spacing = _KINDS[name][0] / size
    places = np.arange(1 - size, 1) * spacing
    entries = _entries(layer, name, places, of)
    if entries[-1]:
        layer.fail("the first entry of its table is not 0", "use a table type with digits behind the point")
    return _looked_up(layer, given, spacing, 1 - size, entries, of.bits)


def _entries(layer: Layer, name: str, places: NDArray[np.floating], of: FixedPoint) -> Integers:
    """The entries of a table as integers of its type."""
    _, sign, value = _KINDS[name]
    x = places.astype(np.float64)
    found = list[Integers]()
    for of_exp, rest in product((-_EXPONENTIAL, _EXPONENTIAL), (-_REST, _REST)):
        e = (np.exp(sign * x) * (1 + of_exp)).astype(np.float32).astype(np.float64)
        made = value(x, e) * (1 + rest)
        found.append(of.stored(made.astype(np.float32).astype(np.float64)))
        if name == "tanh":  # of floats or of doubles, as headers have it
            found.append(of.stored(made))
    differing = np.flatnonzero(np.any([other != found[0] for other in found[1:]], axis=0) & (x != 0))
    if len(differing):
        shown = f"{differing[0]}, of {x[differing[0]]:g},"
        fix = "give its table a type with another number of digits behind the point"
        layer.fail(f"entry {shown} of its table lies within rounding of a step of {of.text}", fix)
    at_zero = of.stored(value(np.zeros(1), np.ones(1)).astype(np.float32).astype(np.float64))
    return integers(np.where(x == 0, at_zero[0], found[0]))


def _looked_up(layer: Layer, given: Value, spacing: float, first: int, entries: Integers, bits: int) -> Value:
    """The entry of each input: `first` is the number of the first entry, counted in spacings from 0."""
    builder = layer.project.builder
    quantiser = Quantiser(spacing, first, first + len(entries) - 1, Rounding.ZERO)
    wide = given.lattice
    ends = [quantiser.brought(quantiser.levels(end, 1 << wide.bits)) - first for end in (wide.least, wide.most)]
    places = [range(int(low), int(high) + 1) for low, high in zip(*ends, strict=True)]
    shift = int(-np.log2(spacing))
    counted = Lattice(integers(ends[0] + first), integers(ends[1] + first), integers([1] * given.size), shift)
    chosen = builder.function(given, Curves.all(quantiser.curve), counted)
    return _entry_of(layer, chosen, spacing, first, entries, places, bits)


def _entry_of(
    layer: Layer, chosen: Value, spacing: float, first: int, entries: Integers, places: Sequence[range], bits: int
) -> Value:
    """The entry of each number, a multiple of the spacing: `places` are those of the entries that each may take."""
    builder = layer.project.builder
    known: dict[range, tuple[int, int, int]] = {}
    for place in places:
        if place not in known:
            some = entries[place.start : place.stop]
            known[place] = int(some.min()), int(some.max()), int(np.gcd.reduce(integers(some - some.min())))
    least, most, step = (integers(part) for part in zip(*(known[place] for place in places), strict=True))
    after = Lattice(least, most, step, bits)
    return builder.function(chosen, Curves.all(through(spacing, first, builder.floats(entries, bits))), after)
