"""A VNN-LIB file and the spec made of it agree at every point: some check breaks exactly where the asserts hold.

The files are written here by hand, in many forms, and read at points by the tests' own evaluator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from eqspec.compile import loads
from eqspec.errors import SpecError
from eqspec.networks import Network
from eqspec.replay.replay import contains
from eqspec.replay.violation import violation
from eqspec.tasks.task import Task
from eqspec.vnnlib.importing import Imported, import_query
from eqspec.vnnlib.reading import read_text
from unit.vnnlib.pairs import pair, points, scores
from vnnlib_text import satisfied

BOX = """
(assert (and (>= X_f[0,0] -1) (<= X_f[0,0] 1.0)))
(assert (<= (- X_f[0,1]) 1)) (assert (>= 0.75 X_f[0,1]))
(assert (== X_f[0,0] X_g[0,0])) (assert (== X_g[0,1] X_f[0,1]))
"""


def declarations(outputs: int = 3) -> str:
    networks = "\n".join(
        f"(declare-network {n} (declare-input X_{n} real [1,2]) (declare-output Y_{n} real [1,{outputs}]))"
        for n in "fg"
    )
    return f"(vnnlib-version <2.0>)\n{networks}\n"


def close(eps: str, outputs: Sequence[int]) -> list[str]:
    sides = [f"(> Y_g[0,{i}] (+ Y_f[0,{i}] {eps}))" for i in outputs]
    return sides + [f"(< Y_g[0,{i}] (- Y_f[0,{i}] {eps}))" for i in outputs]


def alike(margin: str = "0", f: str = "f", g: str = "g", at_least: str = ">=", above: str = ">") -> list[str]:
    cases = []
    for k in range(3):
        others = [i for i in range(3) if i != k]
        guard = [f"({at_least} (- Y_{f}[0,{k}] Y_{f}[0,{i}]) {margin})" for i in others]
        broken = [f"({above} Y_{g}[0,{j}] Y_{g}[0,{k}])" for j in others]
        cases.append(f"(and {' '.join(guard)} (or {' '.join(broken)}))")
    return cases


def l1(eps: str) -> list[str]:
    gaps = ("(- Y_g[0,0] Y_f[0,0])", "(- Y_f[0,0] Y_g[0,0])"), ("(- Y_g[0,2] Y_f[0,2])", "(- Y_f[0,2] Y_g[0,2])")
    return [f"(> (+ {a} {b}) {eps})" for a in gaps[0] for b in gaps[1]]


def l2(square: str) -> list[str]:
    gaps = [f"(- Y_g[0,{i}] Y_f[0,{i}])" for i in range(3)]
    return [f"(< {square} (+ {' '.join(f'(* {gap} {gap})' for gap in gaps)}))"]


FORMS: dict[str, tuple[list[str], str, int]] = {
    "linf": (close("1.5", range(3)), "prove g stays within 1.5 of f in linf", 1),
    "linf of some": (close("2", [0, 2]), "prove g stays within 2 of f in linf comparing [0, 2]", 1),
    "equal": (close("0", range(3)), "prove g equals f", 1),
    "equal in some": (close("0", [0, 2]), "prove g stays within 0 of f in linf comparing [0, 2]", 1),
    "below in all": (close("0", range(3))[:3], "prove g satisfies g[2] - f[2] <= 0", 3),
    "l1": (l1("2.5"), "prove g stays within 2.5 of f in l1 comparing [0, 2]", 1),
    "l2": (l2("2.25"), "prove g stays within 1.5 of f in l2", 1),
    "top1": (alike(), "prove g keeps top1 of f", 1),
    "top1 the other way": (alike(f="g", g="f"), "prove f keeps top1 of g", 1),
    "top1 of the smallest": (alike(at_least="<=", above="<"), "decide    min", 1),
    "margin": (alike("0.5"), "prove g keeps top1 of f when margin >= 0.5", 1),
    "one side": (["(>= (- (* 2 Y_g[0,0]) Y_f[0,1]) 1)"], "prove g satisfies 2*g[0] - f[1] < 1", 1),
    "closed distance": ([c.replace("(>", "(>=").replace("(<", "(<=") for c in close("1", [0, 1])], "<", 4),
    "distances apart": ([*close("1", [0]), *close("2", [1])], "satisfies", 4),
    "one network": (["(< Y_g[0,0] Y_g[0,1])", "(!= Y_f[0,2] 3)"], "satisfies", 3),
}


def values(networks: Sequence[Network], point: Sequence[Fraction]) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for name, network in zip("fg", networks, strict=False):
        found |= {f"X_{name}[0,{i}]": x for i, x in enumerate(point)}
        found |= {f"Y_{name}[0,{i}]": y for i, y in enumerate(scores(network, point))}
    return found


def tasks_of(made: Imported, folder: Path) -> tuple[Task, ...]:
    compiled = loads(made.text, directory=folder)
    assert not any(d.severity == "error" for d in compiled.diagnostics)
    return compiled.tasks


def broken(task: Task, point: Sequence[Fraction]) -> bool:
    outputs = [[(y, y) for y in scores(n, point)] for n in (task.reference, task.candidate)]
    found = violation(task.property, outputs[0], outputs[1], lowest_wins=task.space.decide == "min")
    return contains(task, point) and found is not None


@pytest.mark.part(14)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_check_breaks_exactly_where_the_asserts_hold(form: str, seed: int, tmp_path: Path) -> None:
    networks = pair(tmp_path, seed)
    cases, said, checks = FORMS[form]
    cases = Random(seed).sample(cases, len(cases))
    text = declarations() + BOX + f"(assert (or {' '.join(cases)}))"
    made = import_query(read_text(text), {n: tmp_path / f"{n}.onnx" for n in "fg"}, tmp_path)
    assert said in made.text
    tasks = tasks_of(made, tmp_path)
    assert len(tasks) == checks
    answers = set()
    for point in points(seed, 2):
        expected = satisfied(text, values(networks, point))
        assert any(broken(task, point) for task in tasks) is expected
        answers.add(expected)
    assert False in answers


def test_each_form_is_met_both_ways(tmp_path: Path) -> None:
    """The grid above has points where the asserts hold: otherwise the test before says nothing."""
    for cases, _, _ in FORMS.values():
        text = declarations() + BOX + f"(assert (or {' '.join(cases)}))"
        assert all(truth in _truths(text, tmp_path) for truth in (True, False))


def _truths(text: str, folder: Path) -> Iterator[bool]:
    """Whether the asserts hold at the points of four grids; nothing is asked beyond what is looked at."""
    for seed in range(4):
        networks = pair(folder, seed)
        yield from (satisfied(text, values(networks, point)) for point in points(seed, 2))


REGIONS = {
    "alternatives": "(assert (or (<= X_f[0,0] -0.5) (and (>= X_f[0,0] 0.5) (<= X_f[0,1] 0.25))))",
    "a line": "(assert (<= (+ X_f[0,0] (* 3 X_g[0,1])) 1))",
    "an equation": "(assert (== (+ X_f[0,0] X_f[0,1]) 0.5))",
    "fixed": "(assert (= X_g[0,0] 0.25))",
    "nothing of one": "(assert (or (and (>= X_f[0,0] 0.5) (<= X_f[0,0] 0.25)) (>= X_f[0,0] 0)))",
}


@pytest.mark.part(6)
@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("seed", range(3))
def test_regions_are_those_of_the_file(region: str, seed: int, tmp_path: Path) -> None:
    networks = pair(tmp_path, seed)
    text = declarations() + BOX + REGIONS[region] + f"(assert (or {' '.join(close('0.5', range(3)))}))"
    made = import_query(read_text(text), {n: tmp_path / f"{n}.onnx" for n in "fg"}, tmp_path)
    tasks = tasks_of(made, tmp_path)
    inside = 0
    for point in points(seed, 2, 200):
        assert any(broken(task, point) for task in tasks) is satisfied(text, values(networks, point))
        inside += any(contains(task, point) for task in tasks)
    assert inside


def test_cases_that_mix_inputs_and_outputs_keep_together(tmp_path: Path) -> None:
    """Neither the last alternative nor the first wins."""
    networks = pair(tmp_path, 3)
    mixed = """(assert (or (and (<= X_f[0,0] 0) (> Y_g[0,0] (+ Y_f[0,0] 1))) (and (>= X_f[0,0] 0.5) (< Y_g[0,1] 0))
                       (and (<= X_f[0,0] 0) (< Y_g[0,0] (- Y_f[0,0] 1)))))"""
    text = declarations() + BOX + mixed
    tasks = tasks_of(import_query(read_text(text), {n: tmp_path / f"{n}.onnx" for n in "fg"}, tmp_path), tmp_path)
    assert len(tasks) == 2  # one distance on the left half, one bound on the right
    found = set()
    for point in points(5, 2, 400):
        expected = satisfied(text, values(networks, point))
        assert any(broken(task, point) for task in tasks) is expected
        found.add(expected)
    assert found == {True, False}


def test_a_normalisation_inside_one_file(tmp_path: Path) -> None:
    """X_g = 4 X_f - 1: g takes raw inputs; points are those of the file that takes them normalised."""
    networks = pair(tmp_path, 1)
    box = """(assert (>= X_f[0,0] 0)) (assert (<= X_f[0,0] 0.5)) (assert (>= X_g[0,1] -1)) (assert (<= X_g[0,1] 1.5))
             (assert (== X_g[0,0] (- (* 4 X_f[0,0]) 1))) (assert (== (* 4 X_f[0,1]) (+ X_g[0,1] 1)))
             (assert (<= (+ X_f[0,0] X_f[0,1]) 0.75))"""
    text = declarations() + box + f"(assert (or {' '.join(close('1', range(3)))}))"
    made = import_query(read_text(text), {n: tmp_path / f"{n}.onnx" for n in "fg"}, tmp_path)
    assert "takes raw" in made.text
    (task,) = tasks_of(made, tmp_path)
    found = set()
    for point in points(2, 2, 300):
        at = values(networks, point)
        shifted = tuple(4 * x - 1 for x in point)
        at |= {f"X_g[0,{i}]": x for i, x in enumerate(shifted)}
        at |= {f"Y_g[0,{i}]": y for i, y in enumerate(scores(networks[1], shifted))}
        inside, reference = contains(task, point), scores(task.reference, point)
        low_high = task.candidate.evaluate_exact(point)
        assert [low for low, _ in low_high] == [at[f"Y_g[0,{i}]"] for i in range(3)]
        differs = violation(task.property, [(y, y) for y in reference], low_high) is not None
        assert (inside and differs) is satisfied(text, at)
        found.add(inside and differs)
    assert found == {True, False}


@pytest.mark.parametrize(
    "alternative", ["(<= X_f[0,0] 0.5)", "(and (>= X_f[0,0] -1) (== Y_f[0,0] Y_f[0,0]))", "(> (+ X_f[0,0] X_f[0,1]) 0)"]
)
def test_an_alternative_about_inputs_alone_is_no_check_that_is_left_out(alternative: str, tmp_path: Path) -> None:
    """All that is left to check may hold, and the answer is 'sat' all the same."""
    first, second = pair(tmp_path, 3)
    files = {"f": Path(first.source), "g": Path(second.source)}
    text = f"{declarations()}{BOX}(assert (or (>= Y_g[0,0] 1000) {alternative}))"
    with pytest.raises(SpecError, match="says nothing about outputs"):
        import_query(read_text(text), files, tmp_path)
    alone = import_query(read_text(f"{declarations()}{BOX}(assert {alternative})"), files, tmp_path)
    assert "check" not in alone.text
    assert any("the spec has no checks" in warning.message for warning in alone.warnings)
