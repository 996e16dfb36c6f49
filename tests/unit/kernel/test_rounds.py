"""Rounds of a certificate, told to the kernel's prover: what they close, and that any numbers in them are harmless."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from eqspec.audit.bounds import CURVED, FACTS
from eqspec.kernel import find
from eqspec.kernel.binary import ask, stream
from eqspec.kernel.rounds import GUARD, TOUCHED, Facts, Places, round_of
from unit.kernel.pairs import claims, question, random_pair
from unit.kernel.test_kernel import needs_kernel

PAIR = "pair 1 2 layer 2 1 0 0 1 0 1 1 0 0 1 2 0 1 1 layer 1 1 1 0 0 1 0 0 1 1 0 1 1 end"
"""relu(v) and relu(v / 2), whose difference is 1/2 at most."""


def asked(eps: str) -> str:
    return f"question 4096 ranges -1 1 1 1 inequalities 0 claim distance 1 0 {eps} end"


@needs_kernel
@pytest.mark.parametrize(
    ("eps", "multiplier", "holds"),
    [("6 10", 4, True), ("6 10", 0, False), ("6 10", -4, False), ("4 10", 4, False)],
)
def test_a_round_closes_what_its_facts_exclude(eps: str, multiplier: int, holds: bool) -> None:
    """The difference is no more than half of d and a quarter, and d is 1/2 at most."""
    low, high = (f"M 1 0 0 {fact} 1 L 2 {multiplier} 0" for fact in (7, 10))
    answer = ask(find(), stream(PAIR, asked(eps), ["A 0", low, "A 0", high, "D"]))
    assert (answer.refused is None) is holds, answer


@needs_kernel
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("M 1 9 0 7 0 0", "a layer is 9"),
        ("M 1 0 1 7 0 0", "a neuron is 1"),
        ("M 1 0 0 99 0 0", "a fact is 99"),
        ("M 0 1 Z 0 0", "B, N or L is due"),
        ("M 0 1 N 1 1 0 0", "an input is 1"),
        ("M 0 1 B 1 0 z 1 0 0", "x, y or d is due"),
        ("M 0 1 L 9999 0", "a shift is 9999"),
        ("M 0 1 L", "ends where"),
    ],
)
def test_what_is_no_round_is_refused(command: str, reason: str) -> None:
    assert reason in str(ask(find(), stream(PAIR, asked("1 10"), [command])).refused)


def random_round(random: Random, widths: list[int]) -> str:
    """Any facts and bounds, with any multipliers; widths from the last layer to the inputs."""
    facts, bounds, count = list[str](), list[str](), random.randint(0, 6)
    neurons = [(t, i) for t, width in enumerate(widths[:-1]) for i in range(width)]
    for _ in range(count):
        facts.append("{} {} {}".format(*random.choice(neurons), random.randrange(GUARD + 6)))
    for _ in range(random.randint(1, 4)):
        t, i = random.choice(neurons)
        shown = ["L", f"N {random.randrange(widths[-1])} {random.randint(0, 1)}"]
        shown.append(f"B {t} {i} {random.choice('xyd')} {random.randint(0, 1)}")
        numbers = [random.choice([0, 1, -3, 2**20, -(2**40), 2**200]) for _ in facts]
        bounds.append(" ".join(map(str, [random.choice(shown), random.choice([0, 3, 20, 2000]), *numbers])))
    return " ".join(["M", str(count), *facts, str(len(bounds)), *bounds])


@needs_kernel
def test_rounds_of_any_numbers_prove_nothing_false_and_stop_no_proof() -> None:
    random, true, tried = Random(4), 0, 0
    while tried < 24:
        pair = random_pair(random)
        for claim, broken in claims(pair, random)[:1]:
            tried += 1
            widths = [pair.outputs, *(len(neurons) for _, neurons in reversed(pair.layers)), pair.inputs]
            rounds = [f"{random_round(random, widths)} {below}" for below in (2, 1)]
            answer = ask(find(), stream(pair.text(), question(pair, claim(broken)), [*rounds, "P 2"]), 20)
            assert answer.refused is not None
            assert "failed" not in answer.refused
            weaker = question(pair, claim(broken * 100 + 1))
            true += ask(find(), stream(pair.text(), weaker, [*rounds, "P 2"]), 20).refused is None
    assert true >= 20


def test_every_fact_of_the_auditor_has_its_number() -> None:
    assert set(CURVED) - set(FACTS) == set(TOUCHED)
    assert TOUCHED["D - below"] == list(FACTS).index("D - chord")
    assert {*TOUCHED.values()} == {4, *range(GUARD + 1, GUARD + 6)}
    assert list(FACTS).index("X - Y - D") == GUARD - 1


def test_rows_of_a_claim_and_multipliers_are_those_of_the_certificate() -> None:
    places = Places(2, [3, 2, 6], 2, 0, backwards=False)
    facts = Facts(np.array([[2, 0, 0], [2, 1, 0], [0, 3, 5]]), 3)
    arrays = np.array([3.0, -9.0, 0.0]), np.array([1.0, 2.0, 4.0, 99.0]), np.array([[0.5, 1.0, 0.25, 7.0]] * 3)
    text = round_of(places, facts, 1, arrays)
    assert text is not None
    head, *shown = text.split("\n")
    assert head == f"M 3 2 1 0 0 3 5 0 3 {GUARD} 3"
    assert [line.split()[:-4] for line in shown] == [["B", "2", "0", "x", "1"], ["B", "2", "0", "d", "0"], ["L"]]
    for line in shown:
        shift, *numbers = map(int, line.split()[-4:])
        assert [Fraction(n, 2**shift) for n in numbers] == [Fraction(1, 2), Fraction(1), Fraction(1, 4)]
    assert [places.place(2, row) for row in (0, 1, 2, 5)] == [(1, 0), (1, 1), (0, 0), (0, 3)]
    assert Places(2, [3, 2, 6], 2, 0, backwards=True).place(2, 2) == (0, 3)
