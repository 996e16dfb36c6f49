"""Undecided because of rounding alone: a claim a hair weaker is named, and it has been proved."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto

from eqspec.networks import Network, read_network
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.report import table
from eqspec.run.nearly import SLACK, nearly, weakened
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.phrasing import number_in_words
from eqspec.tasks.result import Nearly, Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import hard, network, task
from unit.networks.models import model, node, save

WIDE = ((-5, -5), (5, 5))
"""A region in which the classes of this pair are tied somewhere."""


def folded_and_not(folder: Path) -> tuple[Network, Network]:
    """A layer, a normalisation and a layer; and the same with the normalisation folded, in double precision."""
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=(2, 5)), rng.normal(size=5)
    scale, shift, mean, variance = rng.normal(size=5), rng.normal(size=5), rng.normal(size=5), rng.uniform(0.1, 1, 5)
    last: dict[str, NDArray[Any]] = {"u": rng.normal(size=(5, 3)), "c": rng.normal(size=3)}
    epsilon = float(np.float32(1e-5))
    ends = [node("Relu", ["n"], "r"), node("Gemm", ["r", "u", "c"], "y")]
    normal = [node("Gemm", ["x", "w", "b"], "g"), node("BatchNormalization", ["g", "s", "t", "m", "v"], "n")]
    numbers = {"w": weight, "b": bias, "s": scale, "t": shift, "m": mean, "v": variance} | last
    slope = scale / np.sqrt(variance + epsilon)
    merged = {"w": weight * slope, "b": (bias - mean) * slope + shift} | last
    protos = (
        model([*normal, *ends], numbers, [1, 2], kind=TensorProto.DOUBLE),
        model([node("Gemm", ["x", "w", "b"], "n"), *ends], merged, [1, 2], kind=TensorProto.DOUBLE),
    )
    first, second = (read_network(save(folder, proto, f"{i}.onnx")) for i, proto in enumerate(protos))
    return first, second


def answer(asked: Task, **options: Any) -> Result:
    return Runner(Options(threads=1, **({"timeout": 20, "boxes": 400} | options))).run(asked)


def undecided(asked: Task, **options: Any) -> Result:
    """The result, if replays accept nothing: then a tie that rounding decides stays open."""
    result = answer(asked, **options)
    assert result.verdict is Verdict.UNKNOWN
    return result


@pytest.fixture
def nothing_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The networks differ by 1e-16 in truth, so that some input breaks the claim if it is looked for long enough."""
    monkeypatch.setattr("eqspec.replay.replay.Replay.confirm", lambda self, candidate, **_: None)


@pytest.mark.usefixtures("nothing_counts")
def test_a_tie_that_rounding_decides_names_a_margin_that_is_proved(tmp_path: Path) -> None:
    pair = folded_and_not(tmp_path)
    result = undecided(task(*pair, Top1(), *WIDE))
    found = result.nearly
    assert found is not None
    assert found.name == "margin"
    assert 0 < found.value < Fraction(1, 10**4)  # how far down depends on the time
    assert found.claim == f"pruned keeps top1 of full when margin >= {number_in_words(found.value)}"
    assert answer(task(*pair, Margin(found.value), *WIDE)).verdict is Verdict.EQUIVALENT
    shown = table.remark(result).plain
    assert f"because of rounding alone: margin >= {number_in_words(found.value)} is proved" in shown
    assert Result.from_json(result.to_json()).nearly == found
    assert result.reason is not None  # the word for it stays what it was


@pytest.mark.usefixtures("nothing_counts")
def test_a_distance_that_rounding_decides_names_one_that_is_proved(tmp_path: Path) -> None:
    pair = folded_and_not(tmp_path)
    for claim in (Epsilon(0), Epsilon(0, "l1"), Linear((1, 0, 0), (-1, 0, 0), 0)):
        found = undecided(task(*pair, claim)).nearly
        assert found is not None
        easier, name, value = weakened(claim, found.value) or (None, "", Fraction(0))
        assert easier is not None
        assert (name, value) == (found.name, found.value)
        assert answer(task(*pair, easier)).verdict is Verdict.EQUIVALENT


@pytest.mark.usefixtures("nothing_counts")
def test_more_than_rounding_is_never_called_rounding() -> None:
    rng = np.random.default_rng(3)
    layers = [(rng.normal(size=(5, 2)), rng.normal(size=5)), (rng.normal(size=(3, 5)), rng.normal(size=3))]
    other = [(w + 1e-2 * rng.normal(size=w.shape), b) for w, b in layers]
    for claim in (Top1(), Margin(Fraction(1, 1000))):
        assert undecided(task(network(*layers), network(*other), claim)).nearly is None


def test_nothing_is_tried_where_nobody_asks() -> None:
    assert answer(hard(), boxes=3).nearly is None
    assert answer(task(network((np.eye(2), np.zeros(2))), network((np.eye(2), np.zeros(2))))).nearly is None


@pytest.mark.usefixtures("nothing_counts")
def test_it_can_be_left_out_and_is_not_tried_for_what_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = folded_and_not(tmp_path)
    assert undecided(task(*pair, Top1(), *WIDE), weaken=False).nearly is None
    asked = list[Property]()

    def noted(task: Task, *rest: Any) -> Nearly | None:
        asked.append(task.property)
        return nearly(task, *rest)

    monkeypatch.setattr("eqspec.run.runner.nearly", noted)
    undecided(task(*pair, Top1(), *WIDE))
    assert asked == [Top1()]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (Top1(), Margin(Fraction(1, 8))),
        (Margin(Fraction(1, 2)), Margin(Fraction(5, 8))),
        (Margin(-1), Margin(Fraction(1, 8))),
        (Confidence(Fraction(1, 2)), Confidence(Fraction(5, 8))),
        (Confidence(Fraction(15, 16)), None),
        (Epsilon(1, "l2", (0,)), Epsilon(Fraction(9, 8), "l2", (0,))),
        (Linear((1,), (2,), 3, True), Linear((1,), (2,), Fraction(25, 8), True)),
    ],
)
def test_weaker_claims(claim: Property, expected: Property | None) -> None:
    found = weakened(claim, Fraction(1, 8))
    assert (found and found[0]) == expected


def test_the_slack_is_little_more_than_float32_rounds() -> None:
    assert 2.0**-24 < SLACK < 2.0**-16
