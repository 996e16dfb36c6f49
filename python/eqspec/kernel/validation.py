"""Translation validation: the canonical text, read back, is the two networks that the auditor reads, exactly.

It shares nothing with `canonical` but the auditor's reading of the files: the text is parsed here by its grammar
(`kernel/README.md`), and every weight, bias and function is compared as a rational number. A row with errors has to be
as near as it says to what the auditor reads, square roots and what it rounds itself included. Of every neuron of the
text it is known what it holds: an entry of a step, perhaps without a zero point and times a number. A row of a step has
to read what the step reads; a row behind those of the steps has to copy one neuron, and holds what that one does. A
last layer of such rows alone may say what quantised outputs stand for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from eqspec.audit.functions import Curve
from eqspec.audit.reading import INPUTS, Step
from eqspec.audit.rounding import Refused
from eqspec.lazy_dataclass import dataclass

from .stated import Affine, Entry, Unknown, side_by_side, stated

Bent = tuple[Fraction, Fraction, tuple[tuple[Fraction, Fraction], ...]]
"""Slope on the left, value of its line at 0, and kinks: place and change of slope."""
Quantiser = tuple[Fraction, int, int, int, str]
"""The size of a step, the zero point, both ends, and how it rounds."""
Smooth = tuple[Fraction, Fraction, Fraction, None]
"""Its rise, its stretch and its foot: foot + rise sigmoid(v / stretch)."""
ROUNDINGS = "half-even", "half-away", "half-zero", "down", "up", "to-zero", "from-zero"


@dataclass(frozen=True)
class Held:
    """A neuron of the text: scale (entry - zero), of an entry of a step or of the inputs."""

    step: int
    entry: int
    scale: Fraction = Fraction(1)
    zero: Fraction | int = 0


def validate(text: str, grain: int, networks: Sequence[Sequence[Step]], *, every_step: bool = False) -> None:
    """Refused unless the text means these networks; with every step of theirs, if a claim is about all of them."""
    try:
        _compare(iter(text.split()), grain, side_by_side(networks[0], networks[1], every_step))
    except (StopIteration, ValueError, IndexError, ZeroDivisionError):
        _differs("its form")


def _compare(
    words: Iterator[str],
    grain: int,
    programs: tuple[list[list[Step]], list[tuple[int | None, int | None]]],
) -> None:
    given, partners = programs
    _expect(words, "pair")
    inputs, depth = int(next(words)), int(next(words))
    if depth == len(partners) + 1:
        partners.append((None, None))  # a layer that takes the outputs back from what the last one holds
    if depth != len(partners):
        _differs("depths")
    held: list[list[Held | None]] = [[Held(INPUTS, i) for i in range(inputs)] for _ in given]
    for number, partner in enumerate(partners):
        _expect(words, "layer")
        denominator = int(next(words))
        functions = [_function(words, grain) for _ in range(_index(next(words)))]
        rows = [[] if at is None else stated(one[at]) for at, one in zip(partner, given, strict=True)]
        width, now = max(map(len, rows)), [list[Held | None](), list[Held | None]()]
        for row in range(_index(next(words))):
            which = [_index(word) for word in next(words).split("/")]
            both = [functions[which[0]], functions[which[-1]]]
            for side, (at, function) in enumerate(zip(partner, both, strict=True)):
                weights, bias, errors = _affine(words, denominator, grain)
                where = f"row {row} of layer {number}"
                if errors != EXACT and (at is None or row >= len(rows[side])):
                    _differs(f"{where}, which has errors and is of no step")
                if row >= width:
                    now[side].append(_copied(weights, bias, function, held[side], where))
                elif at is None or row >= len(rows[side]):
                    if weights or bias:
                        _differs(f"{where}, which one of the networks does not have")
                    now[side].append(None)
                else:
                    _is_near(_read(weights, bias, held[side], where), rows[side][row], errors, held[side], where)
                    curves = given[side][at].curves
                    curve = curves[row if len(curves) > 1 else 0] if curves else None
                    scale, zero = _scale(function, curve, where)
                    now[side].append(Held(at, row, scale, zero))
        held = now
    for found, one in zip(held, given, strict=True):
        if found != [Held(len(one) - 1, row) for row in range(one[-1].value.size)]:
            _differs("the outputs")
    _expect(words, "end")
    if next(words, None) is not None:
        _differs("its end")


def _function(words: Iterator[str], grain: int) -> Bent | Quantiser | Smooth:
    first = next(words)
    if first == "levels":
        size, zero, least, greatest = (int(next(words)) for _ in range(4))
        return Fraction(size, grain), zero, least, greatest, next(words)
    if first == "sigmoid":
        rise, stretch, foot = (Fraction(int(next(words)), grain) for _ in range(3))
        for _ in range(3):  # of the function that follows it, which the kernel compares with it
            next(words)
        for _ in range(2 * _index(next(words))):
            next(words)
        return rise, stretch, foot, None
    base, shift, count = int(first), int(next(words)), _index(next(words))
    pairs = [(int(next(words)), int(next(words))) for _ in range(count)]
    return Fraction(base), Fraction(shift, grain), tuple((Fraction(b, grain), Fraction(s)) for b, s in pairs)


EXACT = Fraction(0), Fraction(0)


def _affine(
    words: Iterator[str], denominator: int, grain: int
) -> tuple[dict[int, Fraction], Fraction, tuple[Fraction, Fraction]]:
    """Weights of neurons of the layer before, and a bias; errors, of the weights together and of the bias."""
    first, *sizes = next(words).split("~")
    bias, (off, slack) = int(first), map(_index, sizes or ("0", "0"))
    count, unit = _index(next(words)), 0
    weights = dict[int, Fraction]()
    for _ in range(count):
        word = next(words)
        if word.startswith("*"):
            unit += _index(word[1:])
            continue
        if int(word):
            weights[unit] = Fraction(int(word), denominator)
        unit += 1
    return (
        weights,
        Fraction(bias, grain) / denominator,
        (Fraction(off, denominator), Fraction(slack, grain) / denominator),
    )


def _index(word: str) -> int:
    found = int(word)
    if found < 0:
        raise ValueError("a number of something is not negative")
    return found


def _read(weights: dict[int, Fraction], bias: Fraction, held: Sequence[Held | None], where: str) -> Affine:
    """The same, of what the neurons hold."""
    found = dict[tuple[int, int], Fraction]()
    for unit, weight in weights.items():
        one = held[unit]
        if one is None:
            _differs(f"{where}, which reads what one of the networks does not have")
        key, factor = (one.step, one.entry), weight if one.scale == 1 else weight * one.scale
        found[key] = found[key] + factor if key in found else factor
        if one.zero:
            bias -= factor * one.zero
    return {key: w for key, w in found.items() if w}, bias


def _is_near(
    found: Affine,
    of_step: tuple[Affine, Unknown],
    errors: tuple[Fraction, Fraction],
    held: Sequence[Held | None],
    where: str,
) -> None:
    """A row that is the one of the step, or no farther from it than its errors.

    An entry that a neuron holds is (what that gives) / scale + zero: so an error of a weight counts over the scale for
    the row, and times the zero for the bias.
    """
    (weights, bias), unknown = of_step
    if errors == EXACT:
        if found != (weights, bias) or unknown:
            _differs(where)
        return
    holding = {(one.step, one.entry): one for one in held if one is not None and one.scale}
    zero = Fraction(0)
    off, slack = zero, abs(found[1] - bias) + unknown.get(None, zero)
    keys: set[Entry] = {*found[0], *weights, *(key for key in unknown if key is not None)}
    for key in keys:
        far = abs(found[0].get(key, zero) - weights.get(key, zero)) + unknown.get(key, zero)
        if far and key not in holding:
            _differs(where)
        if far:
            off += far / abs(holding[key].scale)
            slack += far * abs(Fraction(holding[key].zero))
    if off > errors[0] or slack > errors[1]:
        _differs(where)


def _copied(
    weights: dict[int, Fraction],
    bias: Fraction,
    function: Bent | Quantiser | Smooth,
    held: Sequence[Held | None],
    where: str,
) -> Held | None:
    """What a row holds that copies a neuron, or nothing."""
    if not weights and not bias:
        return None
    if len(weights) != 1 or len(function) != 3 or function[1] or function[2]:
        _differs(f"{where}, which copies nothing")
    ((unit, weight),) = weights.items()
    one = held[unit]
    if one is None or not one.scale:
        return None
    return replace(one, scale=one.scale * weight * function[0], zero=one.zero - bias / (one.scale * weight))


def _meant(curve: Curve | None, where: str) -> Bent:
    if curve is None:
        return Fraction(1), Fraction(0), ()
    if curve == Curve("relu"):
        return Fraction(0), Fraction(0), ((Fraction(0), Fraction(1)),)
    if curve.name != "pieces":
        _differs(f"the function of {where}, which is {curve.name}")
    n = int(curve.parameters[0])
    knots = [Fraction(k) for k in curve.parameters[1 : n + 1]]
    slopes = [Fraction(s) for s in curve.parameters[n + 1 : 2 * n + 2]]
    changes = tuple((knots[i], slopes[i + 1] - slopes[i]) for i in range(n))
    return slopes[0], Fraction(curve.parameters[-1]) - slopes[0] * knots[0], changes


def _scale(found: Bent | Quantiser | Smooth, curve: Curve | None, where: str) -> tuple[Fraction, int]:
    """The scale and the zero point with which a function in the text is the one that is meant."""
    if len(found) == 5:
        given = () if curve is None or curve.name != "levels" else curve.parameters
        if not given or found != (*map(Fraction, given[:4]), ROUNDINGS[int(given[4])]):
            _differs(f"the function of {where}")
        return found[0], found[1]
    if len(found) == 4:
        name = None if curve is None else curve.name
        scale = found[0] / 2 if name == "tanh" else found[0]
        meant = {"sigmoid": (scale, Fraction(1), 0, None), "tanh": (2 * scale, Fraction(1, 2), -scale, None)}
        if name not in meant or found != meant[name] or scale <= 0:
            _differs(f"the function of {where}")
        return scale, 0
    slope, at_0, kinks = _meant(curve, where)
    scale = Fraction(1)
    for one, other in [(found[0], slope), *((a[1], b[1]) for a, b in zip(found[2], kinks, strict=False))]:
        if other:
            scale = one / other
            break
    if found != (scale * slope, scale * at_0, tuple((place, scale * more) for place, more in kinks)):
        _differs(f"the function of {where}")
    return scale, 0


def _expect(words: Iterator[str], due: str) -> None:
    if next(words, None) != due:
        _differs(f"a place where {due} is due")


def _differs(what: str) -> NoReturn:
    raise Refused(f"the canonical pair is not what the network files say: it differs in {what}")
