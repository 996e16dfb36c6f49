"""What is drawn: squares, marks and bars of the right colours and heights in the right places."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import eqspec
from eqspec import Epsilon, InputError, Reason, Result, Verdict, plots
from small_tasks import identity, network

EQUIVALENT, DIFFERENT, UNKNOWN = Verdict.EQUIVALENT, Verdict.DIFFERENT, Verdict.UNKNOWN


@pytest.fixture(autouse=True)
def pyplot() -> Iterator[Any]:
    """Matplotlib without a screen."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def result(verdict: Verdict, certified: float = 0.0, **parameters: int | str) -> Result:
    values = {name: Fraction(value) for name, value in parameters.items()}
    reason = Reason.TIMEOUT if verdict is UNKNOWN else None
    return Result("t", "t", values, verdict, reason, certified_fraction=certified, seconds=float(certified))


SWEEP = [
    result(EQUIVALENT, 1.0, s=1, d="0.5"),
    result(DIFFERENT, 0.0, s=2, d="0.5"),
    result(UNKNOWN, 0.25, s=1, d="0.9"),
    replace(result(EQUIVALENT, 1.0, s=2, d="0.9"), vacuous=True),
]


def squares(axes: Any) -> dict[tuple[int, int], str]:
    """The colours of the squares by column and row."""
    from matplotlib.colors import to_hex

    return {(round(p.get_x() + 0.48), round(p.get_y() + 0.48)): to_hex(p.get_facecolor()) for p in axes.patches}


def test_a_sweep_over_two_variables_is_a_grid() -> None:
    axes = plots.verdicts(SWEEP, "s", "d")
    colours = {(0, 0): "equivalent", (1, 0): "different", (0, 1): "unknown", (1, 1): "vacuous"}
    assert squares(axes) == {place: plots._COLOURS[word] for place, word in colours.items()}
    assert [t.get_text() for t in axes.texts] == ["25.0 %"]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1", "2"]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["0.5", "0.9"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("s", "d")
    legend = [t.get_text() for t in axes.get_legend().get_texts()]
    assert sorted(legend) == ["different", "equivalent", "unknown", "vacuous"]


def test_a_square_of_several_tasks_shows_the_worst() -> None:
    axes = plots.verdicts([*SWEEP, result(EQUIVALENT, 1.0, r=1)], "s")
    assert squares(axes) == {(0, 0): plots._COLOURS["unknown"], (1, 0): plots._COLOURS["different"]}
    (text,) = axes.texts
    assert text.get_position() == (0, 0)


def test_combinations_that_were_not_run_stay_empty() -> None:
    assert set(squares(plots.verdicts(SWEEP[:1] + SWEEP[3:], "s", "d"))) == {(0, 0), (1, 1)}


def test_the_proved_share_over_a_variable() -> None:
    axes = plots.certified([r for r in SWEEP if r.parameters["d"] == Fraction("0.9")], "s")
    marks = {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in axes.get_lines()}
    assert marks == {"unknown": [(1.0, 25.0)], "vacuous": [(2.0, 100.0)]}
    (seconds,) = (other for other in axes.figure.axes if other is not axes)
    assert list(seconds.get_lines()[0].get_ydata()) == [0.25, 1.0]


def test_a_witness_is_bars() -> None:
    pair = identity(2), network(([[1, 0], [0, 1]], [0.0, 0.25]))
    found = eqspec.verify(*pair, [-1, -1], [1, 1], Epsilon(0.2))
    assert found.witness is not None
    axes = plots.witness(found)
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == [*found.witness.reference, *found.witness.candidate]
    assert "more than 0.2" in axes.get_title()


def test_of_many_outputs_those_that_differ_most_are_drawn() -> None:
    shift = [0.01 * i for i in range(40)]
    pair = identity(40), network((identity(40).layers[0].weight, shift))
    found = eqspec.verify(*pair, [0] * 40, [1] * 40, Epsilon(0.2), timeout=60)
    axes = plots.witness(found)
    assert [t.get_text() for t in axes.get_xticklabels()] == [str(i) for i in range(10, 40)]


def test_axes_of_ones_own_are_used(pyplot: Any) -> None:
    _, (left, right) = pyplot.subplots(1, 2)
    assert plots.verdicts(SWEEP, "s", axes=left) is left
    assert plots.certified(SWEEP, "s", axes=right) is right


def test_what_cannot_be_drawn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no task has s and e; variables: d, s"):
        plots.verdicts(SWEEP, "s", "e")
    with pytest.raises(InputError, match="no task has e"):
        plots.certified(SWEEP, "e")
    with pytest.raises(InputError, match="t is equivalent: it has no input"):
        plots.witness(SWEEP[0])
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'eqspec\[plots\]'"):
        plots.verdicts(SWEEP, "s")
