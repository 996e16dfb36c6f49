"""The pair of networks as the kernel reads it: layers in step, with integer weights over one denominator per layer.

    x = (row1 X + bias1 / grain) / denominator,    X = f(x) of every neuron,

alike y and Y in the second network. A function is base v + shift / grain + the sum of slope max(0, v - place / grain)
over its kinks. Slopes that are no integers are multiplied out: a layer whose slopes have the common denominator s gives
s f(x), and the next one divides by s. `kernel/README.md` has the grammar. Not trusted: `validation` compares the text
with the networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from eqspec.audit.functions import Curve
from eqspec.audit.reading import INPUTS, Step
from eqspec.audit.reading.pair import deepened, is_chain
from eqspec.audit.reading.surd import Surd
from eqspec.audit.reading.value import CONSTANT
from eqspec.audit.rounding import Array, Refused

Row = dict[int, Fraction]
GRAIN = 2**28
"""Numbers are bounded in multiples of 1 / grain, or a finer one where kinks ask for it."""


@dataclass(frozen=True)
class Bend:
    """A piecewise linear function: base v + shift + the sum of slope max(0, v - place)."""

    base: Fraction
    shift: Fraction
    kinks: tuple[tuple[Fraction, Fraction], ...]

    @property
    def slopes(self) -> int:
        """The common denominator of its slopes."""
        return lcm(self.base.denominator, *(slope.denominator for _, slope in self.kinks))


IDENTITY = Bend(Fraction(1), Fraction(0), ())


@dataclass(frozen=True)
class Canonical:
    """The text, and what is known of it: its grain, its inputs, and the width of every layer, the outputs last."""

    text: str
    grain: int
    inputs: int
    widths: tuple[int, ...]


def in_step(first: Sequence[Step], second: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Two chains of equal depth, or what the kernel cannot do, by name."""
    for steps in (first, second):
        for number, step in enumerate(steps):
            if {part.source for part in step.value.parts} - {CONSTANT, number - 1 if number else INPUTS}:
                raise Refused(
                    "the kernel checks chains of fully connected layers; this network has branches, so that a step"
                    " reads another one than the one before"
                )
    if len(first) != len(second):
        if not (is_chain(first) and is_chain(second)):
            raise Refused("the kernel checks networks of different depth only where all functions are ReLU")
        depth = max(len(first), len(second))
        first, second = deepened(first, depth), deepened(second, depth)
    if [bool(s.curves) for s in first] != [bool(s.curves) for s in second]:
        raise Refused("the kernel checks networks whose layers with and without functions follow in the same order")
    return list(first), list(second)


def bends(step: Step) -> list[Bend]:
    """The functions of its rows."""
    found = [bend(curve) for curve in step.curves] or [IDENTITY]
    return found * step.value.size if len(found) == 1 else found


def bend(curve: Curve) -> Bend:
    """A function by its pieces."""
    if curve.name == "relu":
        return Bend(Fraction(0), Fraction(0), ((Fraction(0), Fraction(1)),))
    if curve.name != "pieces":
        raise Refused(f"the kernel checks piecewise linear functions; it has no rule for {curve.name}")
    count, *given = curve.parameters
    knots, slopes, at_first = given[: int(count)], [Fraction(s) for s in given[int(count) : -1]], Fraction(given[-1])
    kinks = [(Fraction(k), b - a) for k, a, b in zip(knots, slopes, slopes[1:], strict=False)]
    return Bend(slopes[0], at_first - slopes[0] * kinks[0][0], tuple(kinks))


def rows(step: Step) -> tuple[list[Row], list[Fraction]]:
    """Weights and biases of a step, exactly."""
    weights: list[Row] = [{} for _ in range(step.value.size)]
    biases = [Fraction(0)] * step.value.size
    for part in step.value.parts:
        kernels = exact(part.kernels)
        for row, index, kind in zip(part.rows.tolist(), part.index.tolist(), part.kind.tolist(), strict=True):
            for unit, weight in zip(index, kernels[kind], strict=True):
                if unit < 0 or not weight:
                    continue
                if part.source == CONSTANT:
                    biases[row] += weight
                else:
                    weights[row][unit] = weights[row].get(unit, Fraction(0)) + weight
    return weights, biases


def exact(kernels: Array) -> list[list[Fraction]]:
    """Numbers of a part as rationals."""
    found = []
    for row in kernels.tolist():
        values = [Fraction(x) if isinstance(x, (int, float)) else x.c for x in row]
        if any(isinstance(x, Surd) for x in values):
            raise Refused("the kernel checks rational weights; a BatchNormalization gives square roots")
        found.append([Fraction(x) for x in values])
    return found


def canonical(first: Sequence[Step], second: Sequence[Step], inputs: int) -> Canonical:
    """Of two programs of steps."""
    first, second = in_step(first, second)
    functions = [together(bends(a), bends(b)) for a, b in zip(first, second, strict=True)]
    grain = GRAIN
    for several in functions:
        for f in several:
            places = (f.shift * lcm(*(g.slopes for g in several)), *(place for place, _ in f.kinks))
            grain = lcm(grain, *(place.denominator for place in places))
    lines, widths, scale = [f"pair {inputs} {len(first)}"], [], 1
    for a, b, several in zip(first, second, functions, strict=True):
        (weights1, biases1), (weights2, biases2) = rows(a), rows(b)
        every = [w / scale for weights in (weights1, weights2) for row in weights for w in row.values()]
        denominator = lcm(*(w.denominator for w in every))
        denominator = lcm(
            denominator, *((x * denominator * grain).denominator * denominator for x in biases1 + biases2)
        )
        scale_before, scale = scale, lcm(*(f.slopes for f in several))
        distinct = list(dict.fromkeys(several))
        lines.append(f"layer {denominator} {len(distinct)}")
        lines += [_function(f, scale, grain) for f in distinct]
        numbers = {f: number for number, f in enumerate(distinct)}
        lines.append(str(len(several)))
        for i, f in enumerate(several):
            one, other = (
                _row(w, x, i, denominator, scale_before, grain) for w, x in ((weights1, biases1), (weights2, biases2))
            )
            lines.append(f"{numbers[f]} {one} {other}")
        widths.append(len(several))
    if scale != 1:
        raise Refused("the kernel checks networks whose last layer has no function, or one of whole slopes")
    return Canonical("\n".join([*lines, "end", ""]), grain, inputs, tuple(widths))


def together(first: Sequence[Bend], second: Sequence[Bend]) -> list[Bend]:
    """The functions of both networks row by row, which have to be the same."""
    if any(f != g for f, g in zip(first, second, strict=False)):
        raise Refused("the kernel checks networks with the same functions side by side")
    return list(first if len(first) >= len(second) else second)


def _function(f: Bend, scale: int, grain: int) -> str:
    numbers = [f.base * scale, f.shift * scale * grain, Fraction(len(f.kinks))]
    for place, slope in f.kinks:
        numbers += [place * grain, slope * scale]
    return " ".join(map(_integer, numbers))


def _row(weights: Sequence[Row], biases: Sequence[Fraction], i: int, denominator: int, scale: int, grain: int) -> str:
    if i >= len(weights):
        return "0 0"
    row = weights[i]
    dense = [row.get(k, Fraction(0)) * denominator / scale for k in range(max(row, default=-1) + 1)]
    return " ".join(map(_integer, [biases[i] * denominator * grain, Fraction(len(dense)), *dense]))


def _integer(value: Fraction) -> str:
    if value.denominator != 1:
        raise Refused("a number of the canonical pair is no integer")
    return str(value.numerator)
