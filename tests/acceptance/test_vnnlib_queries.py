"""Random asserts over small networks: answers never contradict what the tests' own evaluator finds on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest

from eqspec.networks import Network
from eqspec.replay.replay import contains
from eqspec.replay.violation import violation
from eqspec.tasks.task import Task
from eqspec.vnnlib.answering import Answer, answer
from eqspec.vnnlib.conjunctions import conjunction
from eqspec.vnnlib.query import All, Comparison
from eqspec.vnnlib.reading import read_text
from small_tasks import task as small_task
from unit.vnnlib.pairs import pair, scores
from vnnlib_text import satisfied

GRID = [tuple(Fraction(n, 4) for n in point) for point in product(range(-4, 5), repeat=2)]
BOX = "(assert (and (>= X_0 -1) (<= X_0 1) (>= X_1 -1) (<= X_1 1)))\n"
SINGLE = "\n".join(f"(declare-const {n} Real)" for n in ("X_0", "X_1", "Y_0", "Y_1", "Y_2")) + "\n" + BOX
PAIR = SINGLE.replace("(declare-const Y_2 Real)", "\n".join(f"(declare-const Y_{i} Real)" for i in range(2, 6)))


def formula(random: Random, outputs: int, depth: int) -> str:
    """A random formula, mostly over outputs, now and then over inputs."""
    if depth == 0 or random.random() < 0.3:
        operator = random.choice(["<=", ">=", "<", ">"])
        if random.random() < 0.2:
            return f"({operator} X_{random.randrange(2)} {random.randint(-3, 3) / 4})"
        a, b = random.sample(range(outputs), 2)
        bound = random.randint(-6, 6) / 2
        return random.choice(
            [
                f"({operator} Y_{a} Y_{b})",
                f"({operator} Y_{a} {bound})",
                f"({operator} (- Y_{a} Y_{b}) {bound})",
                f"({operator} (+ (* 2 Y_{a}) (* -0.5 Y_{b})) {bound})",
            ]
        )
    parts = " ".join(formula(random, outputs, depth - 1) for _ in range(random.randint(2, 3)))
    return f"({random.choice(['and', 'or'])} {parts})"


def values(networks: Sequence[Network], point: tuple[Fraction, ...]) -> dict[str, Fraction]:
    outputs = [y for network in networks for y in scores(network, point)]
    found = {f"X_{i}": x for i, x in enumerate(point)}
    return found | {f"Y_{i}": y for i, y in enumerate(outputs)}


@pytest.mark.part(2)
@pytest.mark.parametrize("names", ["f", "fg"])
@pytest.mark.parametrize("seed", range(2))
def test_answers_agree_with_a_grid(names: str, seed: int, tmp_path: Path) -> None:
    random = Random(f"{names}{seed}")
    networks = pair(tmp_path, seed)[: len(names)]
    at = [values(networks, point) for point in GRID]
    answers = []
    for number in range(12):
        text = (SINGLE if names == "f" else PAIR) + f"(assert {formula(random, 3 * len(names), 3)})\n"
        query = tmp_path / f"{number}.vnnlib"
        query.write_text(text, encoding="utf-8")
        found = answer(query, {n: tmp_path / f"{n}.onnx" for n in names}, timeout=20, threads=1)
        met = [satisfied(text, v) for v in at]
        if found.answer is Answer.UNSAT:
            assert not any(met), text
        if found.answer is Answer.SAT:
            assert found.assignment is not None
            shown = dict(zip(("X_0", "X_1"), found.assignment.inputs[0], strict=True))
            outputs = [y for several in found.assignment.outputs for y in several]
            assert satisfied(text, shown | {f"Y_{i}": y for i, y in enumerate(outputs)}), text
        answers.append(found.answer)
    assert Answer.SAT in answers
    assert len(set(answers)) > 1
    assert answers.count(Answer.UNKNOWN) + answers.count(Answer.TIMEOUT) <= 2


@pytest.mark.part(3)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_conjunction_breaks_where_its_comparisons_hold(both: bool, seed: int, tmp_path: Path) -> None:
    """The outer one everywhere they do; the inner one where none is met with equality: here nothing lies in between."""
    random = Random(seed)
    networks = pair(tmp_path, seed)
    networks = networks if both else networks[:1]
    area = small_task(networks[0], networks[-1])
    at = [values(networks, point) for point in GRID]
    outcomes = set()
    for _ in range(8):
        size = random.randint(2, 4)
        parts: list[str] = []
        while len(parts) < size:
            part = formula(random, 3 * len(networks), 0)
            if "X_" not in part:
                parts.append(part)
        text = (PAIR if both else SINGLE) + f"(assert (and {' '.join(parts)}))"
        case = case_of(text, both=both)
        if len(case) < 2:
            continue
        outer, inner = (conjunction(area, case, outer=outer) for outer in (True, False))
        first, _, asserted = text.rpartition("(assert")
        strictly = first + "(assert" + asserted.replace("(<= ", "(< ").replace("(>= ", "(> ")
        for point, known in zip(GRID, at, strict=True):
            holds = satisfied(text, known)
            assert broken(outer, point) or not holds
            assert broken(inner, point) is satisfied(strictly, known)
            outcomes.add(holds)
    assert outcomes == {True, False}


def case_of(text: str, *, both: bool) -> tuple[Comparison, ...]:
    """The comparisons of the last assert, over one network or two."""
    asserted = read_text(text).query.assertions[-1].formula
    assert isinstance(asserted, All)
    found = []
    for part in asserted.parts:
        assert isinstance(part, Comparison)
        terms = tuple(
            ((e._replace(network=e.entry // 3 if both else 0, entry=e.entry % 3),), c) for (e,), c in part.terms
        )
        found.append(Comparison(terms, part.relation, part.bound, part.span))
    return tuple({c.key: c for c in found}.values())


def broken(task: Task, point: tuple[Fraction, ...]) -> bool:
    f, g = task.reference.evaluate_exact(point), task.candidate.evaluate_exact(point)
    assert all(low == high for low, high in (*f, *g))
    return contains(task, point) and violation(task.property, f, g) is not None
