"""Sigmoid and Tanh in the kernel, against mpmath, and networks of them from file to kernel."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from eqspec.audit import audit
from eqspec.audit.rounding import Refused
from eqspec.kernel import check, find
from eqspec.kernel.binary import ask, stream
from eqspec.kernel.canonical import canonical
from eqspec.kernel.validation import validate
from eqspec.property import Confidence, Epsilon, Property, Top1
from eqspec.tasks.verdict import Verdict
from small_tasks import task as task_of
from unit.certificates.proofs import certify
from unit.certificates.test_grids import chain, files
from unit.kernel.pairs import GRAIN, IDENTITY, SMOOTH, Logistic, Neuron, Pair
from unit.kernel.test_graphs import in_file
from unit.kernel.test_kernel import needs_kernel

TINY = Fraction(1, 10**7)
FINE = Logistic.followed(2**22 * GRAIN, GRAIN, 0)
"""So large that what is rounded to 1 / grain is nothing beside how far its follower is off."""


def below(function: Logistic) -> Logistic:
    """With a follower that lies lower by as much as it was off, which the text says."""
    words = function.text.split()
    off = int(words[4])
    text = " ".join([*words[:4], str(2 * off), words[5], str(int(words[6]) - off), *words[7:]])
    return Logistic(function.rise, function.stretch, function.foot, text)


FUNCTIONS = (*SMOOTH, FINE, below(FINE))


def astray(function: Logistic) -> Fraction:
    """How far the function that follows it may be off, as the text says."""
    return Fraction(int(function.text.split()[4]), GRAIN)


def between_kinks(function: Logistic) -> list[Fraction]:
    """Arguments in the middle of two kinks, where the function that follows it is off by the most, with a round one."""
    words = function.text.split()
    kinks = [int(word) for word in words[8::2]]
    return [Fraction(a + b, 2 * GRAIN) for a, b in zip(kinks[20:42:5], kinks[21:43:5], strict=True)]


def one_neuron(function: Logistic, shift: int = 0) -> Pair:
    """The function of one input, beside itself with an argument that is less by shift / grain."""
    neuron = Neuron((function, function), (0, -shift), ((1,), (1,)))
    return Pair(1, ((1, (neuron,)), (1, (Neuron((IDENTITY, IDENTITY), (0, 0), ((1,), (1,))),))))


def asked(low: Fraction, high: Fraction, claim: str) -> str:
    """A claim on an interval."""
    ends = f"{low.numerator} {low.denominator} {high.numerator} {high.denominator}"
    return f"question {GRAIN} ranges {ends} inequalities 0 claim {claim} end"


def at_most(first: int, second: int, most: Fraction) -> str:
    """That first F + second G is at most that."""
    return f"inequality 1 {first} 1 {second} {most.numerator} {most.denominator} 0"


def decided(pair: Pair, ends: tuple[Fraction, Fraction], claim: str, records: Sequence[str]) -> bool:
    """Whether the kernel accepts these records."""
    return ask(find(), stream(pair.text(), asked(*ends, claim), records), 20).refused is None


def records_of(pair: Pair, ends: tuple[Fraction, Fraction], claim: str, folder: Path) -> list[str]:
    """The proof that the kernel finds."""
    data = stream(pair.text(), asked(*ends, claim), ["P 3"])
    assert ask(find(), data, 20, folder / "records").refused is None
    return (folder / "records").read_text().splitlines()


@needs_kernel
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("function", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_values_are_enclosed_nearly_as_narrowly_as_the_text_says(function: Logistic, sign: int, tmp_path: Path) -> None:
    """Records of a bound that holds do not prove one that does not, at places where the follower is off by the most."""
    pair = one_neuron(function)
    for v in between_kinks(function):
        true = sign * function.at(v)
        records = records_of(pair, (v, v), at_most(sign, 0, true + 3 * astray(function)), tmp_path)
        assert not decided(pair, (v, v), at_most(sign, 0, true - TINY), records)


@needs_kernel
@pytest.mark.parametrize("function", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_a_function_that_does_not_follow_it_proves_nothing(function: Logistic, tmp_path: Path) -> None:
    """Moved up or down, or said to be nearer than it is."""
    words = function.text.split()
    moved = 20 * int(words[4])
    nearer = [-int(words[4])] + [-int(words[4]) // 2] * (
        function in FUNCTIONS[3:]
    )  # of others what is rounded is most of it
    for at, by in ((6, moved), (6, -moved), *((4, by) for by in nearer)):
        other = [*words[:at], str(int(words[at]) + by), *words[at + 1 :]]
        liar = Logistic(function.rise, function.stretch, function.foot, " ".join(other))
        v = between_kinks(function)[2]
        most = function.at(v) + 4 * Fraction(moved, GRAIN)
        assert decided(one_neuron(function), (v, v), at_most(1, 0, most), ["P 3"])
        assert not decided(one_neuron(liar), (v, v), at_most(1, 0, most), ["P 3"])


@needs_kernel
@pytest.mark.parametrize(
    ("at", "factor", "more"), [(1, 2, 0), (2, 2, 0), (3, 1, 1), (4, 0, 0), (6, 1, 1), (8, 2, 0), (9, 1, 1)]
)
def test_a_function_is_not_shown_by_another_one_of_its_layer(at: int, factor: int, more: int) -> None:
    """What follows one of them is compared once for both where they are the same, so not where a word differs."""
    function = SMOOTH[0]
    words = function.text.split()
    words[at] = str(factor * int(words[at]) + more * 20 * int(words[4]))
    liar = Logistic(function.rise, function.stretch, function.foot, " ".join(words))
    for second in (function, liar):
        layer = tuple(Neuron((one, one), (0, 0), ((1,), (1,))) for one in (function, function, second))
        pair = Pair(1, ((1, layer),))
        claim = "inequality 3 0 0 0 3 0 0 0 1 1 0"  # 0 is at most 1
        assert decided(pair, (Fraction(0), Fraction(1)), claim, ["P 0"]) == (second is function)


@needs_kernel
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("function", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_differences_are_those_of_slopes_on_the_interval(function: Logistic, sign: int, tmp_path: Path) -> None:
    """f(x) - f(x - h) on short and long intervals: hardly more than the slope there, and never less than what it is."""
    shift, random = 1 if function in FUNCTIONS[3:] else GRAIN // 64, Random(5)
    pair = one_neuron(function, shift)
    for v in between_kinks(function):
        for width in (Fraction(0), Fraction(1, 16), Fraction(random.randint(1, 8), 4)):
            ends = (v - width / 2, v + width / 2)
            places = [ends[0] + width * n / 40 for n in range(41)]
            apart = [sign * (function.at(x) - function.at(x - Fraction(shift, GRAIN))) for x in places]
            step = Fraction(function.rise, function.stretch) * Fraction(shift, GRAIN)  # four times the steepest one
            weak = max(apart) + step * (width + Fraction(1, 8)) * GRAIN / function.stretch
            weak += 3 * step * astray(function) * GRAIN / function.rise + Fraction(8, GRAIN)
            records = records_of(pair, ends, at_most(sign, -sign, weak), tmp_path)
            assert not decided(pair, ends, at_most(sign, -sign, max(apart) - TINY), records)


def smooth_files(folder: Path, kinds: Sequence[str], noise: float) -> list[Any]:
    """Two files of 3-5-4-3 with the same weights but for noise."""
    rng, protos = np.random.default_rng(3), []
    sizes = (3, 5, 4, 3)
    weights = [(rng.normal(size=(b, a)), 0.3 * rng.normal(size=b)) for a, b in pairwise(sizes)]
    for scale in (0.0, noise):
        made = chain()
        for number, (w, b) in enumerate(weights):
            moved = (w * (1 + scale * rng.normal(size=w.shape))).astype(np.float32)
            made.then("Gemm", moved, b.astype(np.float32), transB=1)
            if number < len(kinds):
                made.then(kinds[number])
        protos.append(made.proto(3))
    return files(folder, *protos)


@needs_kernel
@pytest.mark.parametrize(
    ("kinds", "claim"),
    [
        (("Sigmoid", "Sigmoid"), Epsilon(Fraction(1, 10))),
        (("Tanh", "Tanh"), Epsilon(Fraction(1, 10), norm="l1")),
        (("Relu", "Tanh"), Top1()),
        (("Tanh", "Sigmoid"), Confidence(Fraction(2, 5))),
    ],
    ids=["sigmoid", "tanh", "with-relu", "both"],
)
def test_networks_of_files_are_accepted(kinds: tuple[str, str], claim: Property, tmp_path: Path) -> None:
    pair = smooth_files(tmp_path, kinds, 0.005)
    box = [[Fraction(side, 20) + Fraction(1, 3)] * 3 for side in (-1, 1)]
    result, made = certify(task_of(pair[0], pair[1], claim, *box), tmp_path / "proofs", timeout=20)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    assert audit(made.path, tmp_path).verdict == "equivalent"
    assert check(made.path, tmp_path, seconds=60).refused is None
    steps, inputs = in_file(made.path, tmp_path)
    canon = canonical(steps[0], steps[1], inputs)
    words = canon.text.split()
    at = next(n for n, word in enumerate(words) if word == "sigmoid")
    for place in (at + 1, at + 2, at + 3):
        other = [*words[:place], str(int(words[place]) + 1), *words[place + 1 :]]
        with pytest.raises(Refused, match="not what the network files say"):
            validate(" ".join(other), canon.grain, steps)
