"""What a search shows of itself: the curve stays short and true, open boxes hold what is open, samples are samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from eqspec.property import Confidence, Epsilon
from eqspec.report.advice import advice
from eqspec.run.history import Recorder
from eqspec.run.open_boxes import undecided
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.search_statistics import Moment, Undecided
from eqspec.tasks.task import LinearConstraint
from eqspec.tasks.verdict import Reason, Verdict
from small_specs import ending_in
from small_tasks import identity, network, space, task, undecided_task


@dataclass
class State:
    """What a search says of itself."""

    seconds: float
    certified: float = 0.0
    boxes: int = 1
    open_boxes: int = 1


@given(st.integers(0, 3000))
def test_a_curve_is_short_ordered_and_has_both_ends(count: int) -> None:
    recorder = Recorder()
    for i in range(count):
        recorder.note(State(0.1 * (i + 1), i / 4000, i, 7))
    curve = recorder.until(Moment(1000.0, 0.9, 5000, 3))
    assert curve[0] == Moment(0.0, 0.0, 0, 1)
    assert curve[-1] == Moment(1000.0, 0.9, 5000, 3)
    assert len(curve) == count + 2 if count <= 100 else 50 <= len(curve) <= 103
    assert all(a.seconds < b.seconds and a.certified <= b.certified for a, b in pairwise(curve))
    # Every point is one that was told, and they are spread evenly: no gap is more than twice another, the last aside.
    told = {(0.1 * (i + 1), i / 4000) for i in range(count)}
    assert all((m.seconds, m.certified) in told for m in curve[1:-1])
    gaps = np.diff([m.seconds for m in curve[1:-1]])
    assert not len(gaps) or gaps.max() <= 2.01 * gaps.min()


def test_a_second_question_is_not_part_of_the_curve() -> None:
    recorder = Recorder()
    for state in (State(0.1, 0.5), State(0.2, 1.0), State(0.1, 0.1), State(0.3, 0.2)):
        recorder.note(state)
    assert [m.certified for m in recorder.until(Moment(0.5, 1.0, 9, 0))] == [0.0, 0.5, 1.0, 1.0]


def test_what_was_proved_stays_proved_while_another_way_is_tried() -> None:
    recorder = Recorder()
    for state in (State(0.1, 0.5), State(0.2, 0.4, 2), State(0.3, 0.45, 3), State(0.4, 0.6, 4)):
        recorder.note(state)
    curve = recorder.until(Moment(0.5, 0.6, 9, 0))
    assert [m.certified for m in curve] == [0.0, 0.5, 0.5, 0.5, 0.6, 0.6]
    assert [m.boxes for m in curve] == [0, 1, 2, 3, 4, 9]


def holds(shown: Undecided, index: int, lower: np.ndarray, upper: np.ndarray, width: np.ndarray) -> bool:
    """Whether the box that is shown holds the real one, given as parts of the region."""
    edges = [shown.sample[index].edges.get(i, (0.0, 1.0)) for i in range(len(lower))]
    return all(a <= low + 1e-9 and high <= b + 1e-9 for (a, b), low, high in zip(edges, lower, upper, strict=True))


@given(
    st.integers(1, 40).flatmap(
        lambda size: arrays.arrays(
            np.float64, st.tuples(st.integers(1, 9), st.just(size), st.just(2)), elements=st.floats(0, 1)
        )
    ),
    st.booleans(),
)
def test_open_boxes_are_parts_of_the_region_that_hold_the_real_ones(parts: np.ndarray, turned: bool) -> None:
    parts = np.sort(parts, axis=2)
    size = parts.shape[1]
    scale = (Fraction(-2 if turned else 2),) * size
    at = space(size, size, centre=(Fraction(10),) * size, scale=scale)
    about = task(identity(size), identity(size), lower=[-1] * size, upper=[3] * size, space=at)
    shares = np.arange(len(parts), 0, -1.0) / 64
    shown = undecided(about, (-1 + 4 * parts[:, :, 0], -1 + 4 * parts[:, :, 1], shares))
    assert shown is not None
    assert shown.lower == ((4.0,) if turned else (8.0,)) * size
    assert shown.upper == ((12.0,) if turned else (16.0,)) * size
    assert len(shown.sample) == len(parts)
    assert shown.share == pytest.approx(shares.sum())
    raw = 1 - parts[:, :, ::-1] if turned else parts
    for i, box in enumerate(shown.sample):
        assert holds(shown, i, raw[i, :, 0], raw[i, :, 1], np.ones(size))
        assert len(box.edges) <= 24
        if size <= 24:  # nothing is left out, so the edges are the real ones but for rounding
            for f, (low, high) in box.edges.items():
                assert (low, high) == pytest.approx(raw[i, f], abs=2e-5)


def test_wide_boxes_are_cut_to_a_size_and_keep_their_shares() -> None:
    size, count = 200, 512
    rng = np.random.default_rng(3)
    lower, upper = rng.uniform(-1, 0, (count, size)), rng.uniform(0, 1, (count, size))
    shares = np.sort(rng.uniform(size=count))[::-1] / count
    shown = undecided(task(identity(size), identity(size)), (lower, upper, shares))
    assert shown is not None
    assert sum(len(box.edges) for box in shown.sample) <= 6000
    assert sum(box.share for box in shown.sample) == pytest.approx(shares.sum())
    # What was narrowed most is kept.
    first = shown.sample[0]
    kept = [upper[0, i] - lower[0, i] for i in first.edges]
    left_out = [upper[0, i] - lower[0, i] for i in range(size) if i not in first.edges]
    assert max(kept) <= min(left_out)


def test_fixed_inputs_are_spanned() -> None:
    about = task(identity(2), identity(2), lower=[0, 5], upper=[1, 5])
    shown = undecided(about, (np.array([[0.25, 5.0]]), np.array([[0.5, 5.0]]), np.array([0.25])))
    assert shown is not None
    assert shown.sample[0].edges == {0: (0.25, 0.5)}


def test_an_unknown_result_says_where_it_is_open_and_a_decided_one_nothing() -> None:
    result = Runner(Options(boxes=40, threads=1)).run(undecided_task())
    assert (result.verdict, result.reason) == (Verdict.UNKNOWN, Reason.BOXES)
    assert result.undecided is not None
    assert result.undecided.share == pytest.approx(1 - result.certified_fraction)
    assert sum(box.share for box in result.undecided.sample) == pytest.approx(result.undecided.share)
    # The box that was being worked on is in nobody's hands.
    assert result.open_boxes - 1 <= len(result.undecided.sample) <= result.open_boxes
    assert result.history[-1].boxes == result.boxes
    decided = Runner().run(task(identity(2), identity(2)))
    assert (decided.verdict, decided.undecided) == (Verdict.EQUIVALENT, None)
    assert decided.history[-1].certified == 1.0


def test_samples_lie_in_the_region_and_below_what_is_proved() -> None:
    # g - f = (x0, 0) on the half x0 + x1 <= -1 of [-1, 1]^2: the difference lies between 0 and 1.
    f, g = network((np.zeros((2, 2)), np.zeros(2))), network(([[1.0, 0.0], [0.0, 0.0]], np.zeros(2)))
    half = LinearConstraint((Fraction(1), Fraction(1)), Fraction(-1))
    result = Runner().run(task(f, g, Epsilon("2"), constraints=(half,)))
    seen = result.sampled
    assert seen is not None
    assert 50 < seen.points < 400  # an eighth of the square
    assert seen.largest["y1"] == 0.0
    assert 0.9 < seen.largest["y0"] <= 1.0
    assert sum(seen.counts) == seen.points
    assert seen.counts[-1] > 0
    assert Runner().run(task(f, g, Epsilon("2"), constraints=(half,))).sampled == seen


def test_nothing_is_sampled_where_nothing_is() -> None:
    never = LinearConstraint((Fraction(1), Fraction(0)), Fraction(-5))
    result = Runner().run(task(identity(2), identity(2), Confidence("0.9"), constraints=(never,)))
    assert result.vacuous
    assert result.sampled is None


@pytest.mark.parametrize(("lowest", "some"), [(-1, True), (-9, False)])
def test_inputs_without_a_value_are_counted(tmp_path: Path, lowest: int, some: bool) -> None:
    """The logarithm of a sum of three inputs, of which some are negative, or all."""
    f = ending_in("log", tmp_path / "f.onnx")
    asked = task(f, replace(f, source="g"), Epsilon("0.1"), lower=[lowest] * 3, upper=[1 if some else -8] * 3)
    result = Runner(Options(boxes=4, threads=1)).run(asked)
    seen = result.sampled
    assert result.verdict is Verdict.UNKNOWN
    assert seen is not None
    assert seen.undefined > 50
    assert (seen.points > 50, bool(seen.largest)) == (some, some)
    assert f"no finite number at {seen.undefined} of {seen.points + seen.undefined} random inputs" in advice(result)[0]


@pytest.mark.filterwarnings("error")
def test_a_range_that_is_wider_than_floats_is_told_as_a_whole() -> None:
    far = Fraction(10) ** 308
    asked = task(identity(1), network(([[1.25]], [0.0])), Epsilon("0.3"), [-far], [far])
    result = Runner(Options(threads=1, timeout=2)).run(asked)
    assert result.verdict is not Verdict.EQUIVALENT
    assert result.undecided is None or not any(box.edges for box in result.undecided.sample)
