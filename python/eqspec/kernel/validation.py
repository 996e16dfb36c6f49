"""Translation validation: the canonical text, read back, is the two networks that the auditor reads, exactly.

It shares nothing with `canonical` but the auditor's reading of the files: the text is parsed here by its grammar
(`kernel/README.md`), and every weight, bias and function is compared as a rational number. A network that was made
deeper to stand beside another one is compared with `deepened` of the auditor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NoReturn

from eqspec.audit.functions import Curve
from eqspec.audit.reading import Step
from eqspec.audit.reading.pair import deepened
from eqspec.audit.reading.value import CONSTANT
from eqspec.audit.rounding import Refused

Function = tuple[Fraction, Fraction, tuple[tuple[Fraction, Fraction], ...]]
"""Slope on the left, value of its line at 0, and kinks: place and change of slope."""
Affine = tuple[dict[int, Fraction], Fraction]


def validate(text: str, grain: int, networks: Sequence[Sequence[Step]]) -> None:
    """Refused unless the text means these networks."""
    try:
        _compare(text, grain, networks)
    except (StopIteration, ValueError, IndexError):
        _differs("its form")


def _compare(text: str, grain: int, networks: Sequence[Sequence[Step]]) -> None:
    words = iter(text.split())
    _expect(words, "pair")
    _, depth = int(next(words)), int(next(words))
    given = [deepened(one, depth) if len(one) < depth else one for one in networks]
    if {len(one) for one in given} != {depth}:
        _differs("depths")
    before: list[Fraction] = []
    for number in range(depth):
        _expect(words, "layer")
        denominator = Fraction(int(next(words)))
        functions = [_function(words, grain) for _ in range(int(next(words)))]
        width, now = int(next(words)), list[Fraction]()
        for row in range(width):
            function = functions[int(next(words))]
            steps = [one[number] for one in given]
            present = [step for step in steps if row < step.value.size]
            scale = _scale(function, _meant(present[0], row)) if present else Fraction(1)
            now.append(scale)
            for step in steps:
                weights, bias = _affine(words, denominator, grain, before)
                if row >= step.value.size:
                    if any(weights.values()) or bias:
                        _differs(f"row {row} of layer {number}, which one of the networks does not have")
                    continue
                if (weights, bias) != _stated(step, row):
                    _differs(f"row {row} of layer {number}")
                slope, at_0, kinks = _meant(step, row)
                scaled = (scale * slope, scale * at_0, tuple((place, scale * more) for place, more in kinks))
                if function != scaled:
                    _differs(f"the function of row {row} of layer {number}")
        before = now
    if any(scale != 1 for scale in before):
        _differs("the scale of the outputs")
    _expect(words, "end")
    if next(words, None) is not None:
        _differs("its end")


def _function(words: Iterator[str], grain: int) -> Function:
    base, shift, count = (int(next(words)) for _ in range(3))
    pairs = [(int(next(words)), int(next(words))) for _ in range(count)]
    return Fraction(base), Fraction(shift, grain), tuple((Fraction(b, grain), Fraction(s)) for b, s in pairs)


def _affine(words: Iterator[str], denominator: Fraction, grain: int, scales: Sequence[Fraction]) -> Affine:
    """A row over what the layer before computes, which it has multiplied by these scales."""
    bias, count = int(next(words)), int(next(words))
    row = [int(next(words)) for _ in range(count)]
    weights = {k: w * (scales[k] if scales else 1) / denominator for k, w in enumerate(row) if w}
    return weights, Fraction(bias, grain) / denominator


def _stated(step: Step, row: int) -> Affine:
    weights, bias = dict[int, Fraction](), Fraction(0)
    for part in step.value.parts:
        for at in (part.rows == row).nonzero()[0]:
            for unit, value in zip(part.index[at], part.kernels[part.kind[at]], strict=True):
                number = Fraction(float(value)) if isinstance(value, float) else Fraction(getattr(value, "c", value))
                if unit >= 0 and part.source == CONSTANT:
                    bias += number
                elif unit >= 0:
                    weights[int(unit)] = weights.get(int(unit), Fraction(0)) + number
    return {k: w for k, w in weights.items() if w}, bias


def _meant(step: Step, row: int) -> Function:
    curve = step.curves[row if len(step.curves) > 1 else 0] if step.curves else None
    if curve is None:
        return Fraction(1), Fraction(0), ()
    if curve == Curve("relu"):
        return Fraction(0), Fraction(0), ((Fraction(0), Fraction(1)),)
    if curve.name != "pieces":
        _differs(f"a function {curve.name}")
    n = int(curve.parameters[0])
    knots = [Fraction(k) for k in curve.parameters[1 : n + 1]]
    slopes = [Fraction(s) for s in curve.parameters[n + 1 : 2 * n + 2]]
    changes = tuple((knots[i], slopes[i + 1] - slopes[i]) for i in range(n))
    return slopes[0], Fraction(curve.parameters[-1]) - slopes[0] * knots[0], changes


def _scale(found: Function, meant: Function) -> Fraction:
    """By how much the function in the text is the one that is meant, if it is one of its multiples."""
    for one, other in [(found[0], meant[0]), *((a[1], b[1]) for a, b in zip(found[2], meant[2], strict=False))]:
        if other:
            return one / other if one / other > 0 else Fraction(1)
    return Fraction(1)


def _expect(words: Iterator[str], due: str) -> None:
    if next(words, None) != due:
        _differs(f"a place where {due} is due")


def _differs(what: str) -> NoReturn:
    raise Refused(f"the canonical pair is not what the network files say: it differs in {what}")
