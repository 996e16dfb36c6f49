"""The pair of networks as the kernel reads it: layers in step, with integer weights over one denominator per layer.

    x = (row1 X + bias1 / grain) / denominator,    X = f(x) of every neuron,

alike y and Y in the second network. A function is base v + shift / grain + the sum of slope max(0, v - place / grain)
over its kinks, a quantiser, or one of `smooth`. Slopes that are no integers are multiplied out: a neuron whose slopes
have the common denominator s gives s f(x), one with a quantiser of steps of size s gives s times its level without its
zero point, and what reads them divides by s and adds the zero point; behind outputs that are held in this way one more
layer does so.
Rows of numbers that are no rationals, that a float32 runtime rounds, or whose common denominator would be too long, are
rounded; then it is said with a bias by how much all weights of the row are off together, and by how much the bias is.
`kernel/README.md` has the grammar. Not trusted: `validation` compares the text with the networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, lcm

from eqspec.audit.functions import Curve
from eqspec.audit.reading import Step
from eqspec.audit.rounding import Refused
from eqspec.lazy_dataclass import dataclass

from .smooth import NAMES, Logistic
from .unrolling import Affine, Layer, Near, unrolled

GRAIN = 2**28
"""Numbers are bounded in multiples of 1 / grain, or a finer one where kinks ask for it."""
FINEST = 2**512
"""Beyond this grain numbers are longer than what they are worth."""
LONGEST, LONGEST_OF_LEVELS = 512, 8192
"""Bits of a common denominator of weights; with more they are rounded. Of quantisers an error may be a whole step, so
where there are some, even long ones are exact."""
BITS = 36
"""To so many bits, counted from the largest of the layer: products with hints of the prover are machine integers."""
ROUNDINGS = ("half-even", "half-away", "half-zero", "down", "up", "to-zero", "from-zero")
"""The roundings in the order in which the auditor numbers them (`audit/functions/levels`)."""


@dataclass(frozen=True)
class Bend:
    """A piecewise linear function: base v + shift + the sum of slope max(0, v - place)."""

    base: Fraction
    shift: Fraction
    kinks: tuple[tuple[Fraction, Fraction], ...]

    @property
    def slopes(self) -> Fraction:
        """The common denominator of its slopes."""
        return Fraction(lcm(self.base.denominator, *(slope.denominator for _, slope in self.kinks)))

    def finest(self, scale: Fraction) -> int:
        """The denominator of its places, and of its shift times `scale`."""
        return lcm((self.shift * scale).denominator, *(place.denominator for place, _ in self.kinks))

    def text(self, scale: Fraction, grain: int) -> str:
        """So many times the function, as the kernel reads it."""
        numbers = [self.base * scale, self.shift * scale * grain, Fraction(len(self.kinks))]
        for place, slope in self.kinks:
            numbers += [place * grain, slope * scale]
        return " ".join(map(_integer, numbers))


@dataclass(frozen=True)
class Levels:
    """A quantiser: the integer that v / size + zero is rounded to, cut off at both ends; zero is taken off again."""

    size: Fraction
    zero: int
    least: int
    greatest: int
    rounding: str

    @property
    def slopes(self) -> Fraction:
        """It is multiplied by the size of its steps, so that it follows v."""
        return self.size

    def finest(self, _: Fraction) -> int:
        """The denominator of the size."""
        return self.size.denominator

    def text(self, _: Fraction, grain: int) -> str:
        """The function as the kernel reads it, which multiplies it by the size."""
        size = _integer(self.size * grain)
        return f"levels {size} {self.zero} {self.least} {self.greatest} {self.rounding}"


@dataclass(frozen=True)
class Held:
    """A neuron that gives scale (value - zero) in place of a value."""

    scale: Fraction = Fraction(1)
    zero: int = 0


Function = Bend | Levels | Logistic
Both = tuple[Function, Function]
Holds = tuple[Held, Held]
PLAIN = Held()
COPY = "1 0 0"
IDENTITY = Bend(Fraction(1), Fraction(0), ())


@dataclass(frozen=True)
class Canonical:
    """The text, and what is known of it.

    Its grain, its inputs, per layer of steps how many neurons are theirs, and how many layers are behind the steps: one
    where outputs are held otherwise than they are, else none.
    """

    text: str
    grain: int
    inputs: int
    widths: tuple[int, ...]
    behind: int


def function(curve: Curve | None) -> Function:
    """A function by its pieces or its levels."""
    if curve is None:
        return IDENTITY
    if curve.name == "relu":
        return Bend(Fraction(0), Fraction(0), ((Fraction(0), Fraction(1)),))
    if curve.name == "levels":
        size, zero, least, greatest, rounding = curve.parameters
        if not zero.is_integer():
            raise Refused("the kernel checks quantisers whose zero point is an integer")
        return Levels(Fraction(size), int(zero), int(least), int(greatest), ROUNDINGS[int(rounding)])
    if curve.name in NAMES:
        return Logistic(curve.name)
    if curve.name != "pieces":
        raise Refused(
            f"the kernel checks piecewise linear functions, Sigmoid, Tanh and quantisers; it has no rule for "
            f"{curve.name}"
        )
    count, *given = curve.parameters
    knots, slopes, at_first = given[: int(count)], [Fraction(s) for s in given[int(count) : -1]], Fraction(given[-1])
    kinks = [(Fraction(k), b - a) for k, a, b in zip(knots, slopes, slopes[1:], strict=False)]
    return Bend(slopes[0], at_first - slopes[0] * kinks[0][0], tuple(kinks))


def canonical(first: Sequence[Step], second: Sequence[Step], inputs: int, *, every_step: bool = False) -> Canonical:
    """The canonical pair of two programs of steps; of every step, if a claim is about all of them."""
    layers = unrolled(first, second, inputs, every_step=every_step)
    functions = [[(function(f), function(g)) for f, g in layer.functions] for layer in layers]
    held = [[(PLAIN, PLAIN)] * inputs]
    for layer, several in zip(layers, functions, strict=True):
        now = [_held(*both) for both in several[: layer.own]]
        held.append(now + [held[-1][unit] for unit in layer.copies])
    widths = tuple(layer.own for layer in layers)
    if any(one != PLAIN for both in held[-1] for one in both):
        layers.append(_plain(len(held[-1])))
        functions.append([(IDENTITY, IDENTITY)] * len(held[-1]))
        held.append([(PLAIN, PLAIN)] * len(held[-1]))
    grain = GRAIN
    for several, now in zip(functions, held[1:], strict=True):
        each = {(f, one.scale) for both, by in zip(several, now, strict=True) for f, one in zip(both, by, strict=True)}
        grain = lcm(grain, *(f.finest(scale) for f, scale in each))
    if grain > FINEST:
        raise Refused("the kernel checks networks whose kinks and steps have a common grain; theirs is too fine")
    quantised = any(isinstance(f, Levels) for several in functions for both in several for f in both)
    longest = LONGEST_OF_LEVELS if quantised else LONGEST
    lines = [f"pair {inputs} {len(layers)}"]
    for layer, several, (before, now) in zip(layers, functions, pairwise(held), strict=True):
        lines += _layer(layer, several, before, now, grain, longest)
    return Canonical("\n".join([*lines, "end", ""]), grain, inputs, widths, len(layers) - len(widths))


def _plain(width: int) -> Layer:
    """A layer that gives what it reads."""
    rows: list[Affine] = [({unit: Fraction(1)}, Fraction(0)) for unit in range(width)]
    return Layer(width, [(None, None)] * width, rows, rows)


def _layer(
    layer: Layer, functions: Sequence[Both], before: Sequence[Holds], now: Sequence[Holds], grain: int, longest: int
) -> list[str]:
    """Its lines."""
    rows = [
        [_read(row, before, side) for row in own[: layer.own]] + list(own[layer.own :])
        for side, own in enumerate((layer.first, layer.second))
    ]
    denominator = _denominator(rows, layer.near, grain, longest)
    texts = [
        (f.text(one.scale, grain), g.text(other.scale, grain))
        for (f, g), (one, other) in zip(functions[: layer.own], now, strict=False)
    ]
    texts += [(COPY, COPY)] * len(layer.copies)
    numbers = {text: number for number, text in enumerate(dict.fromkeys(text for both in texts for text in both))}
    lines = [f"layer {denominator} {len(numbers)}", *numbers, str(len(texts))]
    for number, ((f, g), *both) in enumerate(zip(texts, *rows, strict=True)):
        which = str(numbers[f]) if f == g else f"{numbers[f]}/{numbers[g]}"
        more = [_unknown(some.get(number, {}), before, side) for side, some in enumerate(layer.near)]
        lines.append(" ".join([which, *(_row(row, denominator, grain, m) for row, m in zip(both, more, strict=True))]))
    return lines


def _unknown(near: dict[int | None, Fraction], before: Sequence[Holds], side: int) -> tuple[Fraction, Fraction]:
    """How far a row that reads what is held may be off, all weights together, and the bias."""
    off, slack = Fraction(0), near.get(None, Fraction(0))
    for unit, far in near.items():
        if unit is not None:
            one = before[unit][side]
            off += far / one.scale
            slack += far * abs(one.zero)
    return off, slack


def _denominator(rows: Sequence[Sequence[Affine]], near: Sequence[Near], grain: int, longest: int) -> int:
    """One for all rows: exact for those that are, if it is not too long, and fine enough for the others."""
    exact = [affine for one, some in zip(rows, near, strict=True) for n, affine in enumerate(one) if n not in some]
    found = lcm(*{w.denominator for row, _ in exact for w in row.values()})
    if found.bit_length() <= longest:
        found = lcm(found, *((x * found * grain).denominator * found for x in {bias for _, bias in exact}))
    too_long = found.bit_length() > longest
    if not (too_long or any(near)):
        return found
    found = 1 if too_long else found
    largest = max((abs(w) for one in rows for row, _ in one for w in row.values()), default=Fraction(1))
    return found << max(0, BITS - int(largest * found).bit_length())


def _held(f: Function, g: Function) -> Holds:
    """What a neuron holds for the functions of both networks: multiplied by one number where both bend."""
    if isinstance(f, Bend) and isinstance(g, Bend):
        both = Held(Fraction(lcm(f.slopes.numerator, g.slopes.numerator)))
        return both, both
    one, other = (Held(h.slopes, h.zero if isinstance(h, Levels) else 0) for h in (f, g))
    return one, other


def _read(affine: Affine, before: Sequence[Holds], side: int) -> Affine:
    """Weights of what is held, in place of those of the values themselves."""
    row, bias = affine
    if all(before[unit][side] == PLAIN for unit in row):
        return affine
    bias += sum((w * before[unit][side].zero for unit, w in row.items()), Fraction(0))
    return {unit: w / before[unit][side].scale for unit, w in row.items()}, bias


def _row(affine: Affine, denominator: int, grain: int, more: tuple[Fraction, Fraction]) -> str:
    """A bias and a row, in which *K stands for K zeros; what is rounded, or `more`, has its errors with the bias."""
    row, exact = affine
    words, at, off = list[str](), 0, more[0] * denominator
    for unit in sorted(row):
        if unit > at:
            words.append("0" if unit == at + 1 else f"*{unit - at}")
        weight = row[unit]
        whole, rest = divmod(weight.numerator * denominator, weight.denominator)
        if rest:
            whole = round(weight * denominator)
            off += abs(weight * denominator - whole)
        words.append(str(whole))
        at = unit + 1
    bias = exact * denominator * grain
    errors = [ceil(off), ceil(abs(bias - round(bias)) + more[1] * denominator * grain)]
    text = "~".join(map(str, [round(bias), *(errors if any(errors) else [])]))
    return " ".join([text, str(len(words)), *words])


def _integer(value: Fraction) -> str:
    if value.denominator != 1:
        raise Refused("a number of the canonical pair is not an integer")
    return str(value.numerator)
