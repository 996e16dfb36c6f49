"""What each instruction of a program gives: a sum of atoms, and the integers between which it lies.

    -1    input times 2^shift, cut off downwards at the last digit of its type and counted modulo what this holds
    0, 1  a + 2^data b, a - 2^data b            4    a + data step            5    data step
    2, 3  max(0, a), a, with -a for a negative code: cut off and counted as an input is
    6     b where c has its first bit set, which a negative number has, else 2^shift d (-d for code -6); then as above
    8     the entry of a table

These are the definitions of da4ml's documentation (DAIS), and its interpreter and its generated code compute them. The
type of a sum holds it: one that may be a number which its type does not hold is refused, as what becomes of it then
depends on what computes it. Where a type is not left, what counts modulo is written as what is cut off at the ends:
both are the same there, and the latter is monotone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve, leaky, through
from eqspec.networks.dais.forms import Form
from eqspec.networks.dais.instructions import Operation, Program, Table
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.quantiser import Quantiser

RELU = leaky(0.0)
_EXACT, _MOST_ENTRIES, _MOST_BITS = 1 << 50, 1 << 14, 900
Refuse = Callable[[str, str], NoReturn]
SIMPLER = "trace the model with types that hold all numbers, or with activations that are read"
_NAMES = {7: "a product of two values", 9: "an operation on single bits", 10: "an operation on the bits of two values"}


@dataclass(frozen=True, eq=False)
class Atom:
    """A function of a sum of earlier atoms. `type` is what it is an assignment to, None where nothing can be lost."""

    curve: Curve
    argument: Form
    type: FixedPoint | None
    name: str


@dataclass(frozen=True, eq=False)
class Known:
    """A value: its sum, and integers times 2^-bits between which it lies; `sign_of`: it is the sign bit of another."""

    form: Form
    least: int
    most: int
    bits: int
    sign_of: Known | None = None

    @property
    def fixed(self) -> bool:
        """Whether it is one number."""
        return not self.form.coefficients

    def at(self, bits: int) -> tuple[int, int]:
        """Its ends as integers times 2^-bits, which has to be as fine."""
        return self.least << (bits - self.bits), self.most << (bits - self.bits)

    def negative(self) -> Known:
        """Times -1."""
        return Known(self.form.negative(), -self.most, -self.least, self.bits)

    def shifted(self, shift: int) -> Known:
        """Times 2^shift."""
        return Known(self.form.shifted(shift), self.least, self.most, self.bits - shift)

    def plus(self, other: Known) -> Known:
        """The sum of two."""
        bits = max(self.bits, other.bits)
        ends = zip(self.at(bits), other.at(bits), strict=True)
        least, most = (a + b for a, b in ends)
        return Known(self.form.plus(other.form), least, most, bits)


def number(n: int, bits: int) -> Known:
    """The number n times 2^-bits."""
    return Known(Form({}, n, bits), n, n, bits)


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
            if made.least < operation.type.low or made.most > operation.type.high or made.bits > operation.type.bits:
                self._fail(
                    f"its type {operation.type.text} does not hold all numbers that it may be, from "
                    f"{_shown(made.least, made.bits)} to {_shown(made.most, made.bits)}"
                )
            least, most = made.at(operation.type.bits)
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
        if code not in (0, 1, 6, -6):
            self._fail(_NAMES.get(abs(code), f"operation code {code}") + " is not read")
        b = self._operand(found, operation.second)
        shift = _signed(operation.data >> 32) if code in (6, -6) else operation.data
        if abs(shift) > _MOST_BITS:
            self._fail(f"a shift by {shift} bits")
        b = b.shifted(shift)
        if code in (0, 1):
            return a.plus(b if code == 0 else b.negative())
        place = operation.data & 0xFFFFFFFF
        chooser = self._operand(found, place)
        if chooser.sign_of is None and not program.operations[place].type.signed and chooser.most > 0:
            self._fail("a choice by the first bit of a number without a sign is not read")
        return self._assigned(self._chosen(chooser.sign_of or chooser, a, b if code == 6 else b.negative()), of)

    def _operand(self, found: Sequence[Known], place: int) -> Known:
        if not 0 <= place < len(found):
            self._fail("it reads a value that is not there")
        return found[place]

    def _atom(self, curve: Curve, argument: Form, of: FixedPoint | None) -> Form:
        self.atoms.append(Atom(curve, argument, of, self._name))
        return Form.of(len(self.atoms) - 1)

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

    def _chosen(self, chooser: Known, a: Known, b: Known) -> Known:
        """a where the chooser is negative, else b.

        Where a - b is a multiple of the chooser, that is the greater or the lesser one of both: b + max(0, a - b) or
        b - max(0, b - a).
        """
        if chooser.least >= 0 or chooser.most < 0:
            return b if chooser.least >= 0 else a
        apart = a.plus(b.negative())
        if apart.form.is_zero:
            return a
        if (ratio := apart.form.ratio_to(chooser.form)) is None:
            self._fail("a choice between two values by the sign of a third that is no multiple of their difference")
        bits = apart.bits
        ends = (a.at(bits), b.at(bits))
        if ratio[0] < 0:
            least, most = (max(both) for both in zip(*ends, strict=True))
            least = max(least, 0) if a.form.plus(b.form).is_zero else least
            return Known(b.form.plus(self._atom(RELU, apart.form, None)), least, most, bits)
        least, most = (min(both) for both in zip(*ends, strict=True))
        most = min(most, 0) if a.form.plus(b.form).is_zero else most
        above = self._atom(RELU, apart.form.negative(), None)
        return Known(b.form.minus(above), least, most, bits)


def _signed(word: int) -> int:
    """32 bits as a number with a sign."""
    word &= 0xFFFFFFFF
    return word - (1 << 32) if word >> 31 else word


def _shown(n: int, bits: int) -> str:
    return f"{n * 2.0**-bits:g}"
