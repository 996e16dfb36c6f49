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
that follows are sums of two numbers, one of them shifted, in types that hold whatever the sum may be; so every variable
is an exact sum of entries times constants, and the function is a matrix again. A type that a sum might leave, or that
would round it, is refused: da4ml writes none.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from math import gcd, inf

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware import entry_types
from eqspec.networks.firmware.fixed_point_types import FixedPoint, read_type
from eqspec.networks.firmware.lattices import Lattice, integers
from eqspec.networks.firmware.layer import Layer
from eqspec.networks.firmware.size_limits import MAX_NEURONS
from eqspec.networks.firmware.sums import Sums
from eqspec.networks.firmware.tokens import Words

_MOST_BITS = 900
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


def definitions(words: Words | None) -> dict[str, tuple[Words, Words]]:
    """The functions of this kind in a file: how each is declared, behind its name, and what it does, both unread."""
    found: dict[str, tuple[Words, Words]] = {}
    times = dict[str, int]()
    while words is not None and words.next.text:
        if words.skip("template", "<", "typename", "inp_t", ",", "typename", "out_t", ">", "void"):
            name = words.name("the name of a function")
            head = Words.of(words.path, words.until("{"))
            body = Words.of(words.path, words.until("}"))
            found[name] = head, body
            times[name] = times.get(name, 0) + 1
        else:
            text = words.take().text
            times[text] = times.get(text, 0) + 1
    return {name: parts for name, parts in found.items() if times[name] == 1}


def assign(layer: Layer, head: Words, body: Words) -> None:
    """The matrix that a function of adders is."""
    layer.check_call(2, 2)
    if layer.word:
        layer.fail("adders of da4ml are not read of streams", _OTHER)
    layer.project.templates.check("nnet_function_stubs.h", "bit_shift")
    function = _read(head, body)
    given = layer.given(function.size)
    builder = layer.project.builder
    builder.refuse = layer.fail
    types = tuple(function.entries.get(place) for place in range(function.size))
    entries = entry_types.stored(layer, given, types)
    for one in function.assignments:
        if not one.form.is_held(entries.lattice, one.type):
            body.fail(one.line, f"{one.type.text} does not hold all that is assigned to it", _OTHER)
    bits = max(form.bits for form in function.outputs)
    forms = [form.at(bits) for form in function.outputs]
    matrix = np.stack([form.coefficients for form in forms])
    sums = Sums(np.arange(function.size)[None], matrix, bits, integers([form.constant for form in forms]), bits)
    layer.gives(builder.added(entries, sums, None, layer.name), argument=1, template=1)


def _read(head: Words, body: Words) -> Function:
    """What a function does. Raises NetworkError."""
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
    """A variable, a variable shifted, or a number of a type that holds it."""
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
    line, of = words.next.line, _type(words)
    words.expect("(")
    form = _number(function, words)
    words.expect(")")
    if not form.is_held(Lattice.of_type(of, function.size), of):
        words.fail(line, f"{of.text} does not hold this number", _OTHER)
    return form


def _named(function: Function, words: Words) -> Form:
    word = words.next
    name = words.name("a variable")
    if name not in function.variables:
        words.refuse("a variable that is declared in front of it", word)
    return function.variables[name]


def _number(function: Function, words: Words) -> Form:
    """A number, as the double that C++ makes of it."""
    word = words.take()
    try:
        number = float(word.text) if word.kind == "number" else inf
    except ValueError:  # of another type
        number = inf
    if number >= 2.0**_MOST_BITS:
        words.refuse("a number", word)
    return _constant(function, Fraction(number))


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
