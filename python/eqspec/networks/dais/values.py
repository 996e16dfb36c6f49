"""What each instruction of a program gives: a sum of atoms, and the integers between which it lies.

    -1    input times 2^shift, cut off downwards at the last digit of its type and counted modulo what this holds
    0, 1  a + 2^data b, a - 2^data b            4    a + data step            5    data step
    2, 3  max(0, a), a, with -a for a negative code: cut off and counted as an input is
    6     b where c has its first bit set, which a negative number has, else 2^shift d (-d for code -6); then as above
    7     a b
    8     the entry of a table
    9     of the bits of a (-a for code -9): all of them inverted, whether any is set, whether all are
    10    and, or, exclusive or of the bits of a and 2^shift b, either of them negated

These are the definitions of da4ml's documentation (DAIS), and its interpreter and its generated code compute them. The
type of a sum holds it: one that may be a number which its type does not hold is refused, as what becomes of it then
depends on what computes it. Where a type is not left, what counts modulo is written as what is cut off at the ends:
both are the same there, and the latter is monotone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np

from eqspec.networks.curves import Curve, through
from eqspec.networks.dais import choices
from eqspec.networks.dais.forms import Form
from eqspec.networks.dais.instructions import Operation, Program, Table
from eqspec.networks.dais.known import RELU, Atom, Known, number
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.quantiser import Quantiser

_EXACT, _MOST_ENTRIES, _MOST_BITS = 1 << 50, 1 << 14, 900
_MOST_CODED = 32
"""Bits of numbers whose single bits are read: each is a function of its own."""
Refuse = Callable[[str, str], NoReturn]
SIMPLER = "trace the model with types that hold all numbers, or with activations that are read"
_UNARY = {0: "an inversion", 2: "the conjunction of all"}


class Values:
    """The values of the operations of a program, in their order; `atoms` holds what is no sum, inputs first (None)."""

    def __init__(self, atoms: list[Atom | None], refuse: Refuse) -> None:
        self.atoms, self._refuse = atoms, refuse

    def run(self, program: Program, inputs: Sequence[Known | None], where: str = "") -> list[Known]:
        """What the outputs are. An input is a value of an earlier program, or None for a real number, atom i.

        `where` stands in front of the names of operations.
        """
        found: list[Known] = []
        for place, operation in enumerate(program.operations):
            self._name = f"{where}operation {place}"
            made = self._value(program, operation, found, inputs)
            fits = made.bits <= operation.type.bits
            least, most = made.at(operation.type.bits) if fits else (made.least, made.most)
            if not fits or least < operation.type.low or most > operation.type.high:
                self._fail(
                    f"its type {operation.type.text} does not hold all numbers that it may be, from "
                    f"{_shown(made.least, made.bits)} to {_shown(made.most, made.bits)}"
                )
            found.append(Known(made.form, least, most, operation.type.bits, made.sign_of))
        outputs = []
        for place, shift, negated in zip(program.outputs, program.output_shifts, program.negated, strict=True):
            value = number(0, 0) if place < 0 else found[place].shifted(shift)
            outputs.append(value.negative() if negated else value)
        return outputs

    def _fail(self, message: str) -> NoReturn:
        self._refuse(f"{self._name}: {message}", SIMPLER)

    def _value(
        self, program: Program, operation: Operation, found: Sequence[Known], inputs: Sequence[Known | None]
    ) -> Known:
        of, code = operation.type, operation.code
        if code == -1:
            return self._entered(inputs[operation.first], operation.first, program.input_shifts[operation.first], of)
        if code == 5:
            return number(operation.data, of.bits)
        a = self._operand(found, operation.first)
        if code == 4:
            return a.plus(number(operation.data, of.bits))
        if code in (2, -2, 3, -3):
            return self._assigned(a if code > 0 else a.negative(), of, rectified=code in (2, -2))
        if code == 8:
            if not 0 <= operation.data < len(program.tables):
                self._fail(f"there is no lookup table {operation.data}")
            return self._looked_up(a, program.operations[operation.first], program.tables[operation.data])
        if code in (9, -9):
            return self._of_bits(a if code == 9 else a.negative(), operation, program.operations[operation.first].type)
        if code not in (0, 1, 6, -6, 7, 10):
            self._fail(f"operation code {code} is not read")
        b = self._operand(found, operation.second)
        if code == 7:
            return choices.product(self._exact, a, b)
        word = operation.data >> 32 if code in (6, -6) else operation.data
        shift = operation.data if code in (0, 1) else _signed(word)
        if abs(shift) > _MOST_BITS:
            self._fail(f"a shift by {shift} bits")
        b = b.shifted(shift)
        if code == 10:
            return self._of_two(a, b, operation)
        if code in (0, 1):
            return a.plus(b if code == 0 else b.negative())
        place = operation.data & 0xFFFFFFFF
        chooser, b = self._operand(found, place), b if code == 6 else b.negative()
        if chooser.sign_of is None and not program.operations[place].type.signed and chooser.most > 0:
            what = "a choice by the first bit of a number without a sign is not read"
            self._fail(f"{what}: da4ml's interpreters differ in which bit that is")
        return self._assigned(choices.chosen(self._exact, chooser.sign_of or chooser, a, b), of)

    def _operand(self, found: Sequence[Known], place: int) -> Known:
        if not 0 <= place < len(found):
            self._fail("it reads a value that is not there")
        return found[place]

    def _atom(self, curve: Curve, argument: Form, of: FixedPoint | None) -> Form:
        self.atoms.append(Atom(curve, argument, of, self._name))
        return Form.of(len(self.atoms) - 1)

    def _exact(self, curve: Curve, argument: Form) -> Form:
        """An atom that loses nothing."""
        return self._atom(curve, argument, None)

    def _of_bits(self, a: Known, operation: Operation, given: FixedPoint) -> Known:
        """Its bits inverted (0); 1 where one of them is set (1), or all are (2), else 0."""
        of, kind, plain = operation.type, operation.data, operation.code > 0
        alike = of.width > 0 and (of.width, of.bits, of.signed) == (given.width, given.bits, given.signed)
        if not (kind == 1 or (plain and (alike if kind == 0 else kind == 2 and given.signed))):
            what = _UNARY.get(kind, "an unknown operation")
            self._fail(f"{what} on the bits of {given.text}, for {of.text}, is not read")
        if kind == 0:
            return number(-1 if of.signed else (1 << of.width) - 1, of.bits).plus(a.negative())
        other = choices.apart_from(self._exact, a, 0 if kind == 1 else -1)
        return other if kind == 1 else number(1, 0).plus(other.negative())

    def _of_two(self, a: Known, b: Known, operation: Operation) -> Known:
        """And (0), or (1), exclusive or (2) of the bits of two numbers, in two's complement."""
        kind, of = operation.data >> 56 & 0xFF, operation.type
        a, b = (each.negative() if operation.data >> place & 1 else each for each, place in ((a, 32), (b, 33)))
        bits = max(a.bits, b.bits)
        width = max(max(-each.at(bits)[0], each.at(bits)[1] + 1).bit_length() for each in (a, b))
        if kind not in (0, 1, 2) or bits != of.bits or width > _MOST_CODED:
            self._fail(
                f"an operation on the bits of two values is not read for {of.text}, {width} bits and code {kind}"
            )
        both = choices.conjunction(self._exact, a, b, bits, width)
        if kind == 0:
            return self._assigned(both, of)
        # a | b = a + b - (a & b), and a ^ b = a + b - 2 (a & b)
        ends = both.negative() if kind == 1 else both.negative().shifted(1)
        form = a.form.plus(b.form).plus(ends.form)
        signed = min(a.least, b.least) < 0
        return self._assigned(Known(form, -(1 << width) if signed else 0, (1 << width) - 1, bits), of)

    def _entered(self, value: Known | None, place: int, shift: int, of: FixedPoint) -> Known:
        if value is not None:
            return self._assigned(value.shifted(shift), of)
        if not of.width:
            return number(0, of.bits)
        kind = self._quantiser(of, of.low, of.high, wraps=True)
        return Known(self._atom(kind.curve, Form.of(place).shifted(shift), of), of.low, of.high, of.bits)

    def _assigned(self, value: Known, of: FixedPoint, *, rectified: bool = False) -> Known:
        """A value, or max(0, value), assigned to a type, which cuts off its last digits and counts modulo its size."""
        changes = rectified and value.least < 0
        least, most = (max(end, 0) if rectified else end for end in (value.least, value.most))
        if not of.width or (least == most == 0):
            return number(0, of.bits)
        rounds, shift = value.bits > of.bits, of.bits - value.bits
        least, most = (end << shift if shift >= 0 else end >> -shift for end in (least, most))
        inside = of.low <= least and most <= of.high
        if inside and not rounds:
            form = self._atom(RELU, value.form, None) if changes else value.form
            return Known(form, least, most, of.bits)
        if value.fixed:
            n = value.form.constant << shift if shift >= 0 else value.form.constant >> -shift
            n = max(n, 0) if rectified else n
            return number(of.low + (n - of.low) % (1 << of.width), of.bits)
        if inside:
            # Behind max(0, x) no level below 0 is met, and 0 is: cutting off there is the same, and one function less.
            kind = self._quantiser(of, max(of.low, 0) if changes else of.low, of.high, wraps=False)
            return Known(self._atom(kind.curve, value.form, of), least, most, of.bits)
        if rectified and of.signed:
            self._fail(f"max(0, x) may leave its type {of.text}, and da4ml's interpreters differ in what it becomes")
        argument = self._atom(RELU, value.form, None) if changes else value.form
        kind = self._quantiser(of, of.low, of.high, wraps=True)
        # The last bit of floor(x), for x from -1 to below 1, says whether x is negative.
        sign_of = value if not rectified and of.width == 1 and not of.signed and least >= -1 and most <= 0 else None
        return Known(self._atom(kind.curve, argument, of), of.low, of.high, of.bits, sign_of)

    def _quantiser(self, of: FixedPoint, low: int, high: int, *, wraps: bool) -> Quantiser:
        if abs(of.bits) > _MOST_BITS or max(-low, high) > _EXACT:
            self._fail(f"{of.text} has more than 50 bits, or its point lies too far away")
        return Quantiser(2.0**-of.bits, low, high, of.rounding, wraps=wraps)

    def _looked_up(self, value: Known, operand: Operation, table: Table) -> Known:
        """The entry of a table whose first one is for the least number of the operand's interval."""
        first, last = operand.least, operand.least + len(table.entries) - 1
        least, most = value.at(operand.type.bits)
        if not first <= least <= most <= last:
            self._fail(f"it may look up more than the {len(table.entries)} entries of its table")
        if most - least >= _MOST_ENTRIES:
            self._fail(f"a table of {most - least + 1} entries; up to {_MOST_ENTRIES} are read")
        entries = table.entries[least - first : most - first + 1]
        ends = min(entries), max(entries)
        if ends[0] == ends[1]:
            return number(ends[0], table.bits)
        if max(map(abs, (*ends, least, most))) > _EXACT or max(abs(table.bits), abs(operand.type.bits)) > _MOST_BITS:
            self._fail("its table holds numbers of more than 50 bits")
        curve = through(2.0**-operand.type.bits, least, np.array(entries, float) * 2.0**-table.bits)
        return Known(self._atom(curve, value.form, None), *ends, table.bits)


def _signed(word: int) -> int:
    """32 bits as a number with a sign."""
    word &= 0xFFFFFFFF
    return word - (1 << 32) if word >> 31 else word


def _shown(n: int, bits: int) -> str:
    return f"{n * 2.0**-bits:g}"
