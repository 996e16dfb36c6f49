"""Isolated numbers in front of a quantiser or a threshold: what a level, a sign or a whole number is behind a weight.

A runtime computes in float32 what it quantises, and so may take another level than the rational number has, where that
one lies at a tie. Where values vary continuously that concerns single points. But `Floor`, `Sign` and quantisers give
one number on a whole region, and so do its multiples. Where these lie at ties again and again, as with two scales of
which one is half of the other, the network would be a level off on all these regions. Such files are refused, unless
float32 computes the numbers exactly, or it is known how it computes them: a level that no operator has changed is
multiplied by its scale and then divided by the next one.

All values of a row are B + G j with whole j between two limits, or with any whole j behind `Floor`. Ties come again if
G divided by the scale is a fraction with a small denominator (`_MOST_PARTS`). Other ratios are not looked at: single
levels may lie at a tie within what float32 rounds, and of 16 bits one level in twenty does. Nor are sums and means of
several numbers looked at: the documentation tells of their ties (docs/howto/networks.md), and so does a note when such
a file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, product
from math import ceil, floor, inf, isfinite

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.affine import Affine, Part
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.levels import Quantised
from eqspec.networks.matrices import NONE, Dense, Selection
from eqspec.networks.onnx_tensor import UnreadableError

_MOST_KEPT = 512
"""Progressions that are kept behind an operator."""

_MOST_VALUES = 1 << 20
"""Whole numbers times a weight that are looked at."""

_MOST_PARTS = 32
"""Ties are looked for where the spacing of the numbers is a multiple of one of so many parts of a scale."""

_MOST_ADDED = 2
"""Numbers of which a row is made: of one, or of the two that a Round consists of."""

_SHARE, _OPERATIONS = 2.0**-24, 8
"""How far, relative to its size, one operation of a runtime may be off, and how many there may be."""

_BENDING = {"Clip", "GlobalMaxPool", "Max", "MaxPool", "Min", "ReduceMax", "ReduceMin", "Relu", "TopK", "Where"}
"""Operators that give some of the numbers that they are given, or constants, by functions of their own."""

MOVING = {
    "Cast", "Compress", "Concat", "DepthToSpace", "Dropout", "Expand", "Flatten", "Gather", "GatherElements",
    "GatherND", "Identity", "Pad", "Reshape", "ReverseSequence", "ScatterElements", "ScatterND", "Slice",
    "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Trilu", "Unsqueeze",
}  # fmt: skip
"""Operators that move entries."""


@dataclass(frozen=True)
class Progression:
    """Numbers `offset` + `spacing` j for whole j from `low` to `high`; `untouched` is what a quantiser alone gives."""

    offset: Fraction
    spacing: Fraction
    low: float
    high: float
    untouched: bool = False

    def times(self, weight: Fraction) -> Progression:
        """A multiple of them."""
        low, high = (self.low, self.high) if weight > 0 else (-self.high, -self.low)
        same = self.untouched and weight == 1
        return Progression(self.offset * weight, self.spacing * abs(weight), low, high, same)

    def moved(self, by: Fraction) -> Progression:
        """The same and a constant."""
        return self if not by else replace(self, offset=self.offset + by, untouched=False)

    def plus(self, other: Progression) -> Progression | None:
        """The sums of both, of whole numbers times one weight, as a Round consists of; None of others."""
        endless = {self.low, other.low} == {-inf} and self.spacing == other.spacing
        return replace(self, offset=self.offset + other.offset) if endless else None


_COMPUTING: dict[str, Callable[[Progression, Fraction], Progression]] = {
    "Add": Progression.moved,
    "Div": lambda numbers, by: numbers.times(1 / by),
    "Mul": Progression.times,
    "Sub": lambda numbers, by: numbers.moved(-by),
}
"""Operators of such numbers and a constant; of a constant less these numbers, their negatives have the same ties."""


def check_isolated(x: Affine, made: Quantised) -> None:
    """UnreadableError where many of the isolated numbers of a row lie at ties, and have another level in float32."""
    seen = set[tuple[Progression, float, float, float]]()
    columns = [np.broadcast_to(a.reshape(-1), (x.size,)) for a in (made.scale, made.low, made.high)]
    scale, low, high = columns
    keys = ((numbers, float(scale[row]), float(low[row]), float(high[row])) for row, numbers in _rows(x))
    kept = product(x._isolated, np.unique(np.stack(columns), axis=1).T.tolist()) if x._isolated else ()
    for key in chain(keys, ((numbers, *steps) for numbers, steps in kept)):
        if key not in seen and (number := _in_doubt(*key)) is not None:
            message = f"a whole region has the value {number:.9g}, which lies between two levels of a quantiser"
            message += ", and which of them float32 gives depends on its rounding"
            raise UnreadableError(
                message, "use scales that are powers of two, or none of which is a multiple of another"
            )
        seen.add(key)


def check_threshold(apart: Affine) -> None:
    """UnreadableError where an isolated number may lie on another side of 0 in float32, or on 0 itself.

    `apart` is a value less the threshold that it is compared with. A single number in doubt is refused, since the
    threshold is all that a comparison is about.
    """
    seen = set[Progression]()
    for _, numbers in _rows(apart):
        if numbers in seen:
            continue
        seen.add(numbers)
        nearest = -numbers.offset / numbers.spacing
        for j in {floor(nearest), ceil(nearest)}:
            multiple = numbers.spacing * j
            beside = multiple + numbers.offset
            if not numbers.low <= j <= numbers.high or not beside or _is_float32(multiple, numbers.offset):
                continue
            if abs(beside) <= Fraction(_OPERATIONS * _SHARE) * (abs(multiple) + abs(numbers.offset)):
                message = (
                    f"a whole region has a value within {float(abs(beside)):.3g} of the threshold that it is compared"
                )
                message += " with, and on which side of it that lies in float32 depends on its rounding"
                raise UnreadableError(message, "put the threshold between two of the values that are compared with it")


def _is_float32(*numbers: Fraction) -> bool:
    return all(Fraction(float(np.float32(float(number)))) == number for number in numbers)


def remember(operator: str, values: Sequence[Affine], constants: Sequence[Enclosure], result: Affine) -> None:
    """Keep isolated numbers that an operator passes on, or computes with a constant, where rows do not show them."""
    kept = {numbers for value in values for numbers in value._isolated}
    if operator in _BENDING:
        kept.update(numbers for value in values for _, numbers in _rows(value))
    if kept and operator in _COMPUTING and len(values) == len(constants) == 1:
        numbers = [Fraction(number) for number in np.unique(constants[0].value).tolist() if number and isfinite(number)]
        kept = {_COMPUTING[operator](one, number) for one in kept for number in numbers}
    elif operator not in _BENDING and operator not in MOVING:
        return
    result._isolated.update(kept if len(kept) <= _MOST_KEPT else ())


def _rows(x: Affine) -> Iterator[tuple[int, Progression]]:
    """The rows of a value that are isolated numbers."""
    if not any(_progressions_of(part) for part in x.parts):
        return
    found: dict[int, Progression | None] = {}
    bias, known = x.bias.value.reshape(-1), dict[tuple[int, int, float], Progression]()
    for number, part in enumerate(x.parts):
        kinds = _progressions_of(part)
        (rows, units, weights), beyond = _entries(part, x.size)
        found.update(dict.fromkeys(beyond.tolist()))
        if kinds is None:
            continue
        functions = part.units.function
        assert isinstance(functions, Curves)
        of_unit = np.zeros(len(units), int) if functions.of_row is None else functions.of_row[units]
        for row, kind, weight in zip(rows.tolist(), of_unit.tolist(), weights.tolist(), strict=True):
            key = number, kind, weight
            if key not in known:
                known[key] = kinds[kind].times(Fraction(weight))
            before = found.get(row, known[key])
            found[row] = before if row not in found or before is None else before.plus(known[key])
    for row, numbers in found.items():
        if numbers is not None:
            yield row, numbers.moved(Fraction(float(bias[row])))


def _progressions_of(part: Part) -> list[Progression] | None:
    """What the functions of the units give, if all of them give isolated numbers."""
    functions = part.units.function
    if not isinstance(functions, Curves):
        return None
    made = [_progression(curve) for curve in functions.kinds]
    return None if None in made else [one for one in made if one is not None]


def _progression(curve: Curve) -> Progression | None:
    match curve.name:
        case "floor":
            return Progression(Fraction(0), Fraction(1), -inf, inf)
        case "sign":
            return Progression(Fraction(0), Fraction(1), -1, 1)
        case "quantiser":
            _, _, low, high, unit, base, *_ = curve.parameters
            return Progression(-Fraction(base) * Fraction(unit), Fraction(unit), low, high, untouched=True)
    return None


def _entries(part: Part, size: int) -> tuple[tuple[Array, Array, Array], Array]:
    """Rows, units and weights of what is not 0, and the rows with more than two of these, which are left out."""
    matrix, beyond = part.matrix, np.arange(0)
    if isinstance(matrix, Selection):
        index, weight = matrix.index.reshape(1, -1, 1), matrix.scale.value.reshape(1, -1, 1)
        entry = np.arange(size)[None]
    elif isinstance(matrix, Dense):
        weight = matrix.rows.value.reshape(1, size, -1)
        index, entry = np.arange(weight.shape[2])[None, None], np.arange(size)[None]
    else:
        # Kernels with too many weights are left out before anything of their rows is formed.
        weight = matrix.weight.value.reshape(-1, 1, matrix.weight.shape[2])
        entry = (np.arange(size) if matrix.order is None else np.argsort(matrix.order)).reshape(len(weight), -1)
        few = np.count_nonzero(weight, axis=2)[:, 0] <= _MOST_ADDED
        beyond = entry[~few].reshape(-1)
        index, weight, entry = matrix.index.repeat(matrix.weight.shape[1], axis=0)[few], weight[few], entry[few]
    used = (index != NONE) & (weight != 0.0)
    many = np.count_nonzero(used, axis=2) > _MOST_ADDED
    used &= ~many[..., None]
    rows, units, weights = (np.broadcast_to(a, used.shape)[used] for a in (entry[..., None], index, weight))
    return (rows, units, weights), np.concatenate([beyond, entry[many]])


def _in_doubt(numbers: Progression, scale: float, low: float, high: float) -> float | None:
    """One of the numbers whose level in float32 may be another one; None if there is none, or only by chance."""
    start, step = float(numbers.offset) / scale, float(numbers.spacing) / scale
    first = max(numbers.low, float(np.ceil((low - 1.0 - start) / step)))
    last = min(numbers.high, float(np.floor((high + 1.0 - start) / step)))
    parts = Fraction(step).limit_denominator(_MOST_PARTS)
    if last < first or last - first > _MOST_VALUES or abs(float(parts) / step - 1.0) > _OPERATIONS * _SHARE:
        return None
    whole = np.arange(first, last + 1.0)
    quotient = start + step * whole
    below = np.floor(quotient)
    near = np.abs(quotient - below - 0.5) <= _OPERATIONS * _SHARE * (np.abs(quotient) + abs(start))
    for j in whole[near & (below >= low) & (below < high)].tolist():
        exact = numbers.offset + numbers.spacing * int(j)
        if _computed(numbers, exact, scale) != round(exact / Fraction(scale)):
            return float(exact)
    return None


def _computed(numbers: Progression, exact: Fraction, scale: float) -> float | None:
    """The level that every runtime has of one of the numbers; None if they may have several."""
    by = np.float32(scale)
    floats = all(n.denominator & (n.denominator - 1) == 0 for n in (numbers.offset, numbers.spacing))
    if float(by) != scale or not floats:
        return None
    if numbers.untouched:
        unit = np.float32(float(numbers.spacing))
        value = unit * np.float32(float(exact / numbers.spacing))
        return float(np.rint(value / by)) if Fraction(float(unit)) == numbers.spacing else None
    # Multiples of one power of two that are at most 2^24 of it are summed and multiplied without rounding.
    finest = min(_lowest_bit(number) for number in (numbers.offset, numbers.spacing) if number)
    largest = abs(numbers.offset) + abs(exact)
    return float(np.rint(np.float32(float(exact)) / by)) if largest <= finest * 2**24 else None


def _lowest_bit(number: Fraction) -> Fraction:
    """The largest power of two that it is a multiple of; of a float, which has one."""
    size = abs(number.numerator)
    return Fraction(size & -size, number.denominator)
