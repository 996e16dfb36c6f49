"""What the JSON of a program says, checked: `CombLogic.save` and `Pipeline.save` of da4ml.

    program   [shape, inp_shifts, out_idxs, out_shifts, out_negs, ops, carry_size, adder_size, lookup_tables?]
    pipeline  [[program, ...]]: each takes what the one before it gives
    op        [id0, id1, opcode, data, [min, max, step], latency, cost]

The interval of an operation says its type: the least fixed-point type whose numbers are multiples of `step`, a power of
two, and that holds `min` and `max`. Latencies, costs and sizes of adders say nothing about what is computed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NoReturn

from eqspec.errors import NetworkError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.quantiser import Rounding
from eqspec.networks.readers import foreign_files

MOST_BYTES, MOST_OPERATIONS = 1 << 26, 1 << 18
_MOST_SHIFT = 512
"""Bits in front of or behind the point."""
_PROGRAM_FIX = "give the file that CombLogic.save or Pipeline.save of da4ml wrote, model/comb.json in its projects"
WRITE_AGAIN = "write the program again with da4ml 0.3 or later"


@dataclass(frozen=True)
class Operation:
    """One instruction: the operation that it is, of which earlier values, with which number, and its type.

    `least` and `most` are the ends of its interval as integers of its type.
    """

    code: int
    first: int
    second: int
    data: int
    type: FixedPoint
    least: int
    most: int


@dataclass(frozen=True)
class Table:
    """Entries of a lookup, integers times 2^-bits."""

    entries: tuple[int, ...]
    bits: int


@dataclass(frozen=True)
class Program:
    """One block of logic. Outputs are values of operations (-1: the number 0) times 2^shift, some of them negated."""

    inputs: int
    input_shifts: tuple[int, ...]
    outputs: tuple[int, ...]
    output_shifts: tuple[int, ...]
    negated: tuple[bool, ...]
    operations: tuple[Operation, ...]
    tables: tuple[Table, ...]


def programs(path: str, content: bytes) -> tuple[Program, ...]:
    """The programs of a file, in the order in which they run. Raises NetworkError."""
    if len(content) > MOST_BYTES:
        raise NetworkError(path, f"larger than {MOST_BYTES >> 20} MiB", fix="use a smaller network")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise foreign_files.refusal(path, content, f"not a program of da4ml: no JSON ({error})", _PROGRAM_FIX) from None
    reader = _Reader(path)
    if _is_pipeline(found):
        stages = found[0]
    elif isinstance(found, list) and len(found) in (8, 9):
        stages = [found]
    else:
        raise foreign_files.refusal(path, content, "JSON, but not a program of da4ml", _PROGRAM_FIX)
    made = tuple(reader.program(stage, number if len(stages) > 1 else None) for number, stage in enumerate(stages))
    for number, (before, after) in enumerate(pairwise(made)):
        if len(before.outputs) != after.inputs:
            reader.fail(f"stage {number} gives {len(before.outputs)} numbers, stage {number + 1} takes {after.inputs}")
    return made


def _is_pipeline(found: object) -> bool:
    one = isinstance(found, list) and len(found) == 1 and isinstance(found[0], list) and bool(found[0])
    return one and all(isinstance(stage, list) and len(stage) in (8, 9) for stage in found[0])  # type: ignore[index]


class _Reader:
    """Reads one file; `place` is what is being read."""

    def __init__(self, path: str) -> None:
        self._path, self._place = path, ""

    def fail(self, message: str) -> NoReturn:
        """Raise the error about the place."""
        raise NetworkError(self._path, f"{self._place}{message}", fix=WRITE_AGAIN)

    def program(self, given: list[Any], stage: int | None) -> Program:
        """One block of logic."""
        at = self._place = "" if stage is None else f"stage {stage}: "
        shape = self._integers(given[0], "shape", 2)
        inputs, outputs = shape
        if not (1 <= inputs <= MOST_OPERATIONS and 1 <= outputs <= MOST_OPERATIONS):
            self.fail(f"it has {inputs} inputs and {outputs} outputs")
        shifts = self._shifts(given[1], "inp_shifts", inputs)
        places = self._integers(given[2], "out_idxs", outputs)
        output_shifts = self._shifts(given[3], "out_shifts", outputs)
        negated = self._list(given[4], "out_negs", outputs)
        if not all(sign in (0, 1) for sign in negated):
            self.fail("out_negs says more than true and false")
        tables = tuple(
            self._table(table, number, at) for number, table in enumerate(self._list(_tables(given), "tables"))
        )
        self._place = at
        operations = self._list(given[5], "ops")
        if len(operations) > MOST_OPERATIONS:
            self.fail(f"it has {len(operations)} operations; programs of up to {MOST_OPERATIONS} are read")
        made = []
        for number, operation in enumerate(operations):
            self._place = f"{at}operation {number}: "
            made.append(self._operation(operation, number, inputs))
        self._place = at
        if not all(-1 <= place < len(made) for place in places):
            self.fail("an output is of an operation that it does not have")
        signs = tuple(bool(sign) for sign in negated)
        return Program(inputs, shifts, places, output_shifts, signs, tuple(made), tables)

    def _operation(self, given: object, number: int, inputs: int) -> Operation:
        fields = self._list(given, "it")
        if len(fields) < 5:
            self.fail("it has fewer than five fields")
        first, second, code, data = self._integers(fields[:4], "it", 4)
        least, most, bits = self._interval(fields[4])
        if code == -1:
            if not 0 <= first < inputs:
                self.fail(f"it reads input {first} of {inputs}")
        elif not (-1 <= first < number and -1 <= second < number):
            self.fail("it reads a value that is not there yet")
        return Operation(code, first, second, data, _least_type(least, most, bits), least, most)

    def _interval(self, given: object) -> tuple[int, int, int]:
        """Its ends as integers times 2^-bits, and bits."""
        if not isinstance(given, list) or len(given) != 3:
            self.fail("its interval does not have three numbers")
        least, most, step = (self._number(number) for number in given)
        n, d = step.numerator, step.denominator
        if n <= 0 or n & (n - 1) or d & (d - 1) or max(n, d).bit_length() > _MOST_SHIFT:
            self.fail(f"the step of its interval, {float(step):g}, is not a power of two")
        if least > most or (least / step).denominator != 1 or (most / step).denominator != 1:
            self.fail("the ends of its interval are not multiples of its step, the lesser one first")
        return int(least / step), int(most / step), d.bit_length() - n.bit_length()

    def _table(self, given: object, number: int, at: str) -> Table:
        self._place = f"{at}lookup table {number}: "
        if not isinstance(given, dict) or not isinstance(given.get("spec"), dict):
            self.fail("it has no 'spec'")
        interval = given["spec"].get("out_qint")
        if not isinstance(interval, dict):
            self.fail("its 'spec' has no 'out_qint'")
        _, _, bits = self._interval([interval.get(name) for name in ("min", "max", "step")])
        entries = self._integers(given.get("table"), "table")
        if not entries:
            self.fail("it has no entries")
        return Table(entries, bits)

    def _number(self, given: object) -> Fraction:
        if isinstance(given, bool) or not isinstance(given, int | float):
            self.fail("its interval holds more than numbers")
        try:
            return Fraction(given)
        except (ValueError, OverflowError):
            self.fail("its interval holds more than finite numbers")

    def _shifts(self, given: object, name: str, size: int) -> tuple[int, ...]:
        found = self._integers(given, name, size)
        if any(abs(shift) > _MOST_SHIFT for shift in found):
            self.fail(f"{name} has shifts by more than {_MOST_SHIFT} bits")
        return found

    def _integers(self, given: object, name: str, size: int | None = None) -> tuple[int, ...]:
        found = self._list(given, name, size)
        if not all(isinstance(number, int) and not isinstance(number, bool) for number in found):
            self.fail(f"{name} holds more than whole numbers")
        return tuple(found)

    def _list(self, given: object, name: str, size: int | None = None) -> Sequence[Any]:
        if not isinstance(given, list) or size not in (None, len(given)):
            expected = "a list" if size is None else f"a list of {size}"
            self.fail(f"{name} is not {expected}")
        return given


def _least_type(least: int, most: int, bits: int) -> FixedPoint:
    """The least type that holds integers times 2^-bits from one to another; of 0 alone it has no bits at all."""
    signed = least < 0
    width = 0 if least == most == 0 else (max(-least, most + 1) - 1).bit_length() + signed
    text = f"ap_{'' if signed else 'u'}fixed<{width},{width - bits}>"
    return FixedPoint(width, width - bits, signed, Rounding.FLOOR, "AP_WRAP", text)


def _tables(given: list[Any]) -> object:
    return given[8] if len(given) > 8 and given[8] is not None else []
