"""The meaning of each sentence at its edges: ties, closed and open bounds, whose confidence, raw inputs.

Networks are affine with small whole numbers, so every expected verdict follows from the sentence by hand. At an edge
that only rounding could cross a claim may stay unknown, but one that holds is never refuted and one that breaks is
never proved; there the exact replay at the origin says which it is.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from eqspec.compile import loads
from eqspec.networks.network import Network
from eqspec.replay.replay import Replay
from eqspec.run.batch import run_all
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import network

EQUIVALENT, DIFFERENT = Verdict.EQUIVALENT, Verdict.DIFFERENT

Affine = tuple[ArrayLike, ArrayLike]
"""Weight (O, I) and bias (O,)."""


def constant(*scores: float) -> Affine:
    """The same scores for every one of two inputs."""
    return np.zeros((len(scores), 2)), scores


def run(
    tmp_path: Path, f: Affine, g: Affine, check: str, *, space: str = "", networks: str = ""
) -> tuple[Result, Task | None]:
    """A check of g against f, both of inputs a, b in [-1, 1], with outputs y0, y1, ...: its result, and its task."""
    outputs = len(f[1])  # type: ignore[arg-type]
    names = ", ".join(f"y{i}" for i in range(outputs))
    text = f"""eqspec 1
space s {{ features a, b  outputs {names}  {space} }}
network f = "f.onnx" in s
network g = "g.onnx" in s {networks}
region square in s = box {{ all: -1 .. 1 }}
check c {{ prove {check}  budget {{ timeout 5s }} }}
"""
    made = {"f": network(f, source="f"), "g": network(g, source="g")}
    for name in made:
        (tmp_path / f"{name}.onnx").write_text("")

    def read(path: Path) -> Network:
        return made[path.stem]

    compiled = loads(text, directory=tmp_path, read=read)
    (result,) = run_all(Runner(Options(threads=1, boxes=500)), [*compiled.tasks, *compiled.finds]).results
    return result, compiled.tasks[0] if compiled.tasks else None


def decide(tmp_path: Path, f: Affine, g: Affine, check: str, *, space: str = "", networks: str = "") -> Result:
    """The result alone."""
    return run(tmp_path, f, g, check, space=space, networks=networks)[0]


def at_the_edge(tmp_path: Path, f: Affine, g: Affine, check: str, space: str = "", *, found: bool = True) -> bool:
    """Whether the claim holds exactly at the origin; if not, that must be found, and else at least not be denied."""
    result, task = run(tmp_path, f, g, check, space=space)
    assert task is not None
    breaks = Replay(task).replay((Fraction(0), Fraction(0))) is not None
    if breaks:
        assert result.verdict is DIFFERENT
    assert result.verdict is not (EQUIVALENT if breaks else DIFFERENT)
    return not breaks


ZERO = constant(0, 0)


@pytest.mark.parametrize(
    ("sentence", "distance"),
    [("in linf", Fraction(3)), ("in l1", Fraction(5)), ("comparing [y1]", Fraction(2)), ("comparing [0]", Fraction(3))],
)
def test_a_distance_may_be_reached_but_not_exceeded(tmp_path: Path, sentence: str, distance: Fraction) -> None:
    g = constant(3, -2)
    assert at_the_edge(tmp_path, ZERO, g, f"g stays within {distance} of f {sentence} on square")
    assert decide(tmp_path, ZERO, g, f"g stays within {distance + 1} of f {sentence} on square").verdict is EQUIVALENT
    less = distance - Fraction(1, 1000)
    assert decide(tmp_path, ZERO, g, f"g stays within {less} of f {sentence} on square").verdict is DIFFERENT


def test_the_euclidean_distance_is_that(tmp_path: Path) -> None:
    g = constant(3, -4)
    assert at_the_edge(tmp_path, ZERO, g, "g stays within 5 of f in l2 on square")
    assert decide(tmp_path, ZERO, g, "g stays within 5.01 of f in l2 on square").verdict is EQUIVALENT
    assert decide(tmp_path, ZERO, g, "g stays within 4.99 of f in l2 on square").verdict is DIFFERENT


def test_distances_do_not_mind_the_order(tmp_path: Path) -> None:
    for check in ("g stays within 2.5 of f on square", "f stays within 2.5 of g on square"):
        assert decide(tmp_path, ZERO, constant(3, 0), check).verdict is DIFFERENT


def test_a_tie_of_the_candidate_alone_is_allowed(tmp_path: Path) -> None:
    assert at_the_edge(tmp_path, constant(1, 0), constant(1, 1), "g keeps top1 of f on square")


def test_a_tie_of_the_reference_must_be_kept(tmp_path: Path) -> None:
    assert not at_the_edge(tmp_path, constant(1, 1), constant(1, 0), "g keeps top1 of f on square")
    assert at_the_edge(tmp_path, constant(1, 1, 0), constant(2, 2, 0), "g keeps top1 of f on square")


def test_every_best_class_counts_not_the_first_alone(tmp_path: Path) -> None:
    assert not at_the_edge(tmp_path, constant(1, 1, 0), constant(0, 1, 0), "g keeps top1 of f on square")
    assert not at_the_edge(tmp_path, constant(1, 1, 0), constant(1, 0, 0), "g keeps top1 of f on square")


def test_the_smallest_score_decides_where_the_space_says_so(tmp_path: Path) -> None:
    f, g = constant(0, 1), constant(0, -1)
    check = "g keeps top1 of f on square"
    assert decide(tmp_path, f, g, check, space="decide min").verdict is DIFFERENT
    assert decide(tmp_path, f, constant(-1, 5), check, space="decide min").verdict is EQUIVALENT
    assert decide(tmp_path, f, constant(-1, 5), check).verdict is EQUIVALENT
    assert decide(tmp_path, f, constant(2, 1), check).verdict is DIFFERENT


def test_a_margin_includes_its_value(tmp_path: Path) -> None:
    f, g = constant(2, 0), constant(0, 1)
    assert not at_the_edge(tmp_path, f, g, "g keeps top1 of f when margin >= 2 on square")
    assert decide(tmp_path, f, g, "g keeps top1 of f when margin >= 1.99 on square").verdict is DIFFERENT
    beyond = decide(tmp_path, f, g, "g keeps top1 of f when margin >= 2.01 on square")
    assert (beyond.verdict, beyond.vacuous) == (EQUIVALENT, True)


def test_a_margin_is_over_every_other_class(tmp_path: Path) -> None:
    f, g = constant(2, 1.5, 0), constant(0, 1, 0)
    assert decide(tmp_path, f, g, "g keeps top1 of f when margin >= 1 on square").vacuous


def test_confidence_is_the_softmax_of_the_reference(tmp_path: Path) -> None:
    f, g = constant(2, 0, 0), constant(0, 9, 0)  # softmax of f at y0: e^2 / (e^2 + 2) = 0.7869...; g is sure of y1
    assert decide(tmp_path, f, g, "g keeps top1 of f when confidence >= 0.78 on square").verdict is DIFFERENT
    assert at_the_edge(tmp_path, f, g, "g keeps top1 of f when confidence >= 0.79 on square")
    assert decide(tmp_path, g, f, "g keeps top1 of f when confidence >= 0.99 on square").verdict is DIFFERENT


def test_confidence_of_one_half_includes_the_tie_of_two_classes(tmp_path: Path) -> None:
    f, g = constant(1, 1), constant(1, 0)
    assert not at_the_edge(tmp_path, f, g, "g keeps top1 of f when confidence >= 0.5 on square")


def test_a_confidence_that_every_input_has_is_top1(tmp_path: Path) -> None:
    f, g = constant(0, 0, 0), constant(0, 0, 1)
    check = "g keeps top1 of f when confidence >= 1/3 on square"
    assert not at_the_edge(tmp_path, f, g, check)


def test_strict_and_closed_inequalities_differ_at_the_bound(tmp_path: Path) -> None:
    f, g = constant(1, 0), constant(3, 0)
    assert at_the_edge(tmp_path, f, g, "g satisfies g[y0] - f[y0] <= 2 on square")
    assert decide(tmp_path, f, g, "g satisfies g[y0] - f[y0] < 2 on square").verdict is DIFFERENT
    assert decide(tmp_path, f, g, "g satisfies g[y0] - f[y0] < 2.01 on square").verdict is EQUIVALENT
    assert decide(tmp_path, f, g, "g satisfies 2*g[0] - f[0] >= 5.01 on square").verdict is DIFFERENT
    assert decide(tmp_path, f, g, "g satisfies g[y0] > 2.99 on square").verdict is EQUIVALENT


def test_raw_inputs_go_in_as_they_are(tmp_path: Path) -> None:
    """With mean 10 and std 2, a file of y = x that takes raw is one of y = 10 + 2 N that does not."""
    identity = (np.eye(2), np.zeros(2))
    folded = (2 * np.eye(2), np.full(2, 10.0))
    space = "normalise zscore mean 10 std 2"
    check = "g stays within 0.001 of f on square"
    assert decide(tmp_path, folded, identity, check, space=space, networks="takes raw").verdict is EQUIVALENT
    assert decide(tmp_path, folded, identity, check, space=space).verdict is DIFFERENT


def test_the_ends_of_a_region_belong_to_it(tmp_path: Path) -> None:
    """g - f is a, which exceeds 0.999 only near the upper end and is above -1 everywhere."""
    g = (np.array([[1.0, 0.0], [0.0, 0.0]]), np.zeros(2))
    assert decide(tmp_path, ZERO, g, "g satisfies g[y0] - f[y0] < 1 on square").verdict is DIFFERENT
    assert at_the_edge(tmp_path, ZERO, g, "g satisfies g[y0] - f[y0] <= 1 on square")


def test_an_expected_empty_guard_is_said(tmp_path: Path) -> None:
    check = "g keeps top1 of f when margin >= 5 on square  expect {}"
    result = decide(tmp_path, constant(1, 0), constant(0, 1), check.format("vacuous"))
    assert (result.vacuous, result.as_expected) == (True, True)
    assert decide(tmp_path, constant(1, 0), constant(0, 1), check.format("equivalent")).as_expected is False


def test_a_search_brackets_the_border(tmp_path: Path) -> None:
    check = "g stays within eps of f on square  find smallest eps in 0.1 .. 10 to 0.1"
    result = decide(tmp_path, ZERO, constant(3, -2), check)
    assert result.find is not None
    assert result.find.gap == "closed"
    assert result.find.refuted is not None
    assert result.find.proved is not None
    assert result.find.refuted < 3 <= result.find.proved
    assert result.find.proved - result.find.refuted <= Fraction(1, 10)


def test_searches_that_end_at_once(tmp_path: Path) -> None:
    easy = decide(tmp_path, ZERO, constant(3, 0), "g stays within e of f on square find smallest e in 4 .. 9")
    assert easy.find is not None
    assert (easy.find.proved, easy.find.refuted, easy.find.gap) == (Fraction(4), None, "closed")
    hard = decide(tmp_path, ZERO, constant(3, 0), "g stays within e of f on square find smallest e in 1 .. 2")
    assert hard.find is not None
    assert (hard.find.proved, hard.find.refuted, hard.verdict) == (None, Fraction(2), DIFFERENT)
