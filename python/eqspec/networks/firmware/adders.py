"""Layers as adders, which da4ml writes for hls4ml's strategy distributed_arithmetic: functions of one model.

    template <typename inp_t, typename out_t>
    void dense_da_2(inp_t model_inp[2], out_t model_out[2]) {
        ap_fixed<10,4> v0 = model_inp[0];
        ap_fixed<10,4> v1 = model_inp[1];
        ap_fixed<12,6> v2 = v0 + bit_shift<1>(v1);
        ap_fixed<13,6> v3 = v2 - ap_ufixed<2,1>(1.5);
        model_out[0] = ap_fixed<13,4>(bit_shift<-2>(v3));
        model_out[1] = 0;
    }

They stand in nnet_code_gen.h and are read there, word by word. An entry is assigned to the type of its variable. All
that follow are sums of two numbers, one of them shifted, in types that hold whatever the sum may be; so every variable
is an exact sum of entries times constants, and the function is a matrix again. A type that a sum might leave, or that
would round it, is refused: da4ml writes none. Such a function is called by itself, by a dense layer that reads a
stream, or by a convolution at each of its positions; in streams it is the kernel of its product, in a struct.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from fractions import Fraction
from math import gcd, inf, prod

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware import entry_types
from eqspec.networks.firmware.builder import Value
from eqspec.networks.firmware.calls import Definition
from eqspec.networks.firmware.declarations import Configuration
from eqspec.networks.firmware.fixed_point_types import FixedPoint, read_type
from eqspec.networks.firmware.lattices import Lattice, integers
from eqspec.networks.firmware.layer import Layer
from eqspec.networks.firmware.size_limits import MAX_NEURONS
from eqspec.networks.firmware.sums import Sums
from eqspec.networks.firmware.tokens import Words
from eqspec.networks.firmware.windows import Windows, by_code, sides_of

_MOST_BITS = 900
_WRAPPER = (
    "template < typename inp_t , typename out_t , typename DUMMY > struct dense_da_wrapper_{index} {{ "
    "static void dense ( inp_t inp [ {inputs} ] , out_t out [ {outputs} ] , void * weights = nullptr , "
    "void * biases = nullptr ) {{ {name} ( inp , out ) ; }} }} ;"
)
STRATEGY = "nnet::distributed_arithmetic"
_OTHER = "write the project with strategy Latency or Resource, or give the program of da4ml (model/comb.json)"


@dataclass(frozen=True, eq=False)
class Form:
    """A sum of entries times coefficients (I,), and a constant, all of them integers times 2^-bits."""

    coefficients: Integers
    constant: int
    bits: int

    def shifted(self, by: int) -> Form:
        """Times 2^by."""
        return Form(self.coefficients, self.constant, self.bits - by)

    def at(self, bits: int) -> Form:
        """The same with at least so many bits behind the point."""
        by = max(0, bits - self.bits)
        return Form(self.coefficients << by, self.constant << by, self.bits + by)

    def plus(self, other: Form, sign: int) -> Form:
        """self + sign other."""
        a, b = self.at(other.bits), other.at(self.bits)
        return Form(a.coefficients + sign * b.coefficients, a.constant + sign * b.constant, a.bits)

    def negative(self) -> Form:
        """-self."""
        return Form(-self.coefficients, -self.constant, self.bits)

    def is_held(self, entries: Lattice, of: FixedPoint) -> bool:
        """Whether a type holds all that the sum may be, whatever the entries are."""
        ends = self.coefficients * entries.least, self.coefficients * entries.most
        bits = self.bits + entries.bits
        constant = Fraction(self.constant, 1) * Fraction(2) ** entries.bits
        least, most = (end + constant for end in (np.minimum(*ends).sum(), np.maximum(*ends).sum()))
        unit = Fraction(2) ** (bits - of.bits)
        steps = [int(n) for n in [*ends[0], *(self.coefficients * entries.step)]]
        # A number of entries whose sum is a multiple of the unit, although none of them is, is not looked for.
        on_grid = Fraction(gcd(*steps)) % unit == 0 and constant % unit == 0
        return on_grid and of.low * unit <= least and most <= of.high * unit


@dataclass(frozen=True)
class Assignment:
    """A sum that is assigned to a type, in a line."""

    line: int
    type: FixedPoint
    form: Form


@dataclass
class Function:
    """What such a function consists of: how many entries it reads, the types of those that are used, and its sums."""

    size: int
    entries: dict[int, FixedPoint] = field(default_factory=dict)
    variables: dict[str, Form] = field(default_factory=dict)
    assignments: list[Assignment] = field(default_factory=list)
    outputs: list[Form] = field(default_factory=list)


def definitions(words: Words | None) -> dict[str, Definition]:
    """The functions of this kind in a file, but for those that it names anywhere else than in hls4ml's wrappers."""
    found: dict[str, Definition] = {}
    times = dict[str, int]()
    while words is not None and words.next.text:
        if words.skip("template", "<", "typename", "inp_t", ",", "typename", "out_t", ">", "void"):
            name = words.name("the name of a function")
            head, body = words.until("{"), words.until("}")
            times[name] = times.get(name, 0) + 1
            wrapper = _wrapper(words, name, [word.text for word in head if word.kind == "number"])
            found[name] = Definition(words.path, tuple(head), tuple(body), wrapper)
        else:
            text = words.take().text
            times[text] = times.get(text, 0) + 1
    return {name: definition for name, definition in found.items() if times[name] == 1}


def _wrapper(words: Words, name: str, sizes: list[str]) -> str:
    """Pass over the struct that calls a function of streams, as hls4ml writes it: its name, empty if there is none."""
    if len(sizes) != 2:
        return ""
    index = name.rpartition("_")[2]
    text = _WRAPPER.format(index=index, name=name, inputs=sizes[0], outputs=sizes[1])
    return f"dense_da_wrapper_{index}" if words.skip(*text.split()) else ""


def assigned(layer: Layer, definition: Definition) -> None:
    """The matrix that a function of adders is, which is called by itself."""
    layer.check_call(2, 2)
    if layer.word:
        layer.fail("it is called with a stream", "write the project again")
    function = read_sums(layer, definition)
    every = np.arange(function.size)[None]
    layer.gives(multiplied(layer, definition, function, layer.given(function.size), every), argument=1, template=1)


def of_stream(layer: Layer) -> None:
    """A dense layer that reads a stream and calls such a function."""
    layer.check_call(3, 2)
    configuration = layer.configuration("", ("n_in", "n_out", "strategy", "dense_da"), ("io_type",))
    layer.project.templates.check("nnet_da_wrappers.h", "dense")
    layer.project.templates.check("nnet_types.h", "array")
    if not layer.word:
        layer.fail("it is called with an array", "write the project again")
    declared = layer.project.declared
    definition, function = _called(layer, configuration)
    inputs, outputs = (declared.member_number(configuration, name) for name in ("n_in", "n_out"))
    _check_sizes(layer, function, (inputs, outputs))
    every = np.arange(function.size)[None]
    layer.gives(multiplied(layer, definition, function, layer.given(function.size), every), argument=1, template=1)


def convolution(axes: int) -> Callable[[Layer], None]:
    """A convolution over so many axes that calls such a function at each position."""

    def read(layer: Layer) -> None:
        layer.check_call(3, 2)
        first, *types = layer.call.templates
        layer = replace(layer, call=replace(layer.call, templates=(*types, first)))
        # Of a sequence, hls4ml writes heights of -1 and does not read them.
        layout = ("in_height", "out_height", "filt_height", "stride_height", "stride_width")
        known = [f"{what}_{side}" for what in ("in", "out", "filt") for side in sides_of(axes)]
        read_of = ("n_chan", "n_filt", "strategy", "n_partitions", "n_pixels", "dense_da", "fill_buffer")
        configuration = layer.configuration("", (*known, *read_of), layout)
        layer.project.templates.check("nnet_da_wrappers.h", f"conv{axes}d_cl")
        if layer.word:
            layer.fail("it is called with a stream", "write the project again")
        number = layer.project.declared.member_number
        pixels, positions, taps = (
            prod(number(configuration, f"{what}_{side}") for side in sides_of(axes)) for what in ("in", "out", "filt")
        )
        channels, outputs, partitions, at_once = (
            number(configuration, name) for name in ("n_chan", "n_filt", "n_partitions", "n_pixels")
        )
        definition, function = _called(layer, configuration)
        sizes = (function.size, len(function.outputs), partitions * at_once)
        if min(pixels, taps, channels) < 1 or sizes != (taps * channels, outputs, positions):
            layer.fail("its function has other sizes than its windows", "write the project again")
        index = by_code(layer, configuration, (positions, function.size), pixels * channels)
        given = layer.given(pixels * channels)
        layer.gives(multiplied(layer, definition, function, given, index), argument=1, template=1)

    return read


def wrapped(layer: Layer, wrapper: str, sizes: tuple[int, int]) -> tuple[Definition, Function]:
    """The function of so many inputs and outputs that a struct calls, which stands as the kernel of a layer."""
    found = [one for one in layer.project.adders.values() if one.wrapper == wrapper]
    if len(found) != 1:
        layer.fail(f"the kernel {wrapper} calls no function of adders, or several", _OTHER)
    function = read_sums(layer, found[0])
    _check_sizes(layer, function, sizes)
    return found[0], function


def _check_sizes(layer: Layer, function: Function, sizes: tuple[int, int]) -> None:
    if (function.size, len(function.outputs)) != sizes:
        layer.fail(f"its function has other sizes than {sizes[0]} and {sizes[1]}", "write the project again")


def _called(layer: Layer, configuration: Configuration) -> tuple[Definition, Function]:
    """The function that a configuration names, for the types of the arrays or streams."""
    declared = layer.project.declared
    strategy = declared.member_name(configuration, "strategy")
    name, types = declared.member_function(configuration, "dense_da")
    ends = tuple(layer.array(layer.call.arguments[place], layer.call.templates[place])[1] for place in (0, 1))
    if strategy != STRATEGY or types != ends or name not in layer.project.adders:
        said = f"{name} with strategy {strategy} is not read, is for other types, or is defined twice"
        layer.fail(said, "write the project again")
    definition = layer.project.adders[name]
    return definition, read_sums(layer, definition)


def multiplied(layer: Layer, definition: Definition, function: Function, given: Value, index: Windows) -> Value:
    """What a function gives of the entries of each position (P, I), of which -1 is 0."""
    builder = layer.project.builder
    builder.refuse = layer.fail
    types = tuple(function.entries.get(place) for place in range(function.size))
    flat = index.reshape(-1)
    gathered = builder.with_zeros(given, flat) if (flat < 0).any() else given.taken(flat)
    entries = entry_types.stored(layer, gathered, types * len(index))
    anywhere = _at_any_position(entries.lattice, index.shape)
    for one in function.assignments:
        if not one.form.is_held(anywhere, one.type):
            words = Words(definition.path, "")
            words.fail(one.line, f"{one.type.text} does not hold all that is assigned to it", _OTHER)
    bits = max(form.bits for form in function.outputs)
    forms = [form.at(bits) for form in function.outputs]
    matrix = np.stack([form.coefficients for form in forms])
    places = np.arange(index.size).reshape(index.shape)
    sums = Sums(places, matrix, bits, integers([form.constant for form in forms]), bits)
    return builder.added(entries, sums, None, layer.name)


def _at_any_position(entries: Lattice, shape: tuple[int, ...]) -> Lattice:
    """Which numbers an entry may be at any of the positions (P, I)."""
    least, most, step = (part.reshape(shape) for part in (entries.least, entries.most, entries.step))
    lowest = least.min(axis=0)
    apart = np.gcd.reduce(integers(np.concatenate([step, least - lowest])), axis=0)
    return Lattice(integers(lowest), integers(most.max(axis=0)), integers(apart), entries.bits)


def read_sums(layer: Layer, definition: Definition) -> Function:
    """What a function does. Raises NetworkError."""
    layer.project.templates.check("nnet_function_stubs.h", "bit_shift")
    head, body = (Words.of(definition.path, part) for part in (definition.parameters, definition.statements))
    head.expect("(", "inp_t", "model_inp", "[")
    function = Function(_size(head))
    head.expect("]", ",", "out_t", "model_out", "[")
    outputs = _size(head)
    head.expect("]", ")")
    if head.next.text:
        head.refuse("the function of adders", head.next)
    while body.next.text:
        if body.skip("model_out"):
            _output(function, body)
        else:
            _variable(function, body)
    if len(function.outputs) != outputs:
        body.fail(head.next.line, f"it gives {len(function.outputs)} of {outputs} numbers", _OTHER)
    return function


def _output(function: Function, words: Words) -> None:
    words.expect("[", str(len(function.outputs)), "]", "=")
    if words.skip("0", ";"):
        function.outputs.append(_constant(function, 0))
        return
    line, of = words.next.line, _type(words)
    words.expect("(")
    negative = words.skip("-")
    form = _operand(function, words)
    words.expect(")", ";")
    form = form.negative() if negative else form
    function.assignments.append(Assignment(line, of, form))
    function.outputs.append(form)


def _variable(function: Function, words: Words) -> None:
    line, of = words.next.line, _type(words)
    name = words.name("the name of a variable")
    words.expect("=")
    if name in function.variables or name in ("model_inp", "model_out", "bit_shift"):
        words.fail(line, f"{name} is declared twice", _OTHER)
    if words.skip("model_inp", "["):
        place = _whole(words)
        words.expect("]", ";")
        if not 0 <= place < function.size or place in function.entries:
            words.fail(line, f"entry {place} is read twice, or there is none", _OTHER)
        function.entries[place] = of
        function.variables[name] = Form(integers(np.arange(function.size) == place), 0, 0)
        return
    negative = words.skip("-")
    form = _number(function, words) if words.next.kind == "number" else _operand(function, words)
    form = form.negative() if negative else form
    sign = 1 if words.has("+") else -1
    if not negative and (words.skip("+") or words.skip("-")):
        form = form.plus(_operand(function, words), sign)
    words.expect(";")
    function.assignments.append(Assignment(line, of, form))
    function.variables[name] = form


def _operand(function: Function, words: Words) -> Form:
    """A variable, a variable shifted, or a number as its type stores it, of which da4ml writes a decimal near it."""
    if words.skip("bit_shift", "<"):
        by = _whole(words)
        words.expect(">", "(")
        form = _named(function, words).shifted(by)
        words.expect(")")
        if abs(form.bits) > _MOST_BITS:
            words.fail(words.next.line, f"a shift by {by}", _OTHER)
        return form
    if words.next.text not in ("ap_fixed", "ap_ufixed"):
        return _named(function, words)
    of = _type(words)
    words.expect("(")
    (stored,) = of.stored(np.array([_literal(words)])).tolist()
    words.expect(")")
    return Form(integers([0] * function.size), int(stored), of.bits)


def _named(function: Function, words: Words) -> Form:
    word = words.next
    name = words.name("a variable")
    if name not in function.variables:
        words.refuse("a variable that is declared in front of it", word)
    return function.variables[name]


def _number(function: Function, words: Words) -> Form:
    """A number, exactly."""
    return _constant(function, Fraction(_literal(words)))


def _literal(words: Words) -> float:
    """A number, as the double that C++ makes of it."""
    word = words.take()
    try:
        number = float(word.text) if word.kind == "number" else inf
    except ValueError:  # of another type
        number = inf
    if number >= 2.0**_MOST_BITS:
        words.refuse("a number", word)
    return number


def _constant(function: Function, number: Fraction | int) -> Form:
    """A number, whose denominator is a power of two."""
    exact = Fraction(number)
    return Form(integers([0] * function.size), exact.numerator, exact.denominator.bit_length() - 1)


def _type(words: Words) -> FixedPoint:
    line = words.next.line
    of = read_type(words, _whole)
    if of is None or of.whole:
        words.fail(line, "what is assigned to no ap_fixed or ap_ufixed is no sum that is read", _OTHER)
    return of


def _whole(words: Words) -> int:
    return entry_types.whole_number(words)


def _size(words: Words) -> int:
    size = _whole(words)
    if not 1 <= size <= MAX_NEURONS:
        words.fail(words.next.line, f"{size} entries", f"layers of 1 to {MAX_NEURONS} entries are read")
    return size
