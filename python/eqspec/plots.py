"""Pictures of results, with matplotlib (`pip install 'eqspec[plots]'`).

Each function draws on the axes it is given, or on new ones, and returns them, so that a picture can be changed and
saved as any other.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from eqspec.errors import InputError
from eqspec.report import numbers
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from eqspec.tasks.witness import Witness

__all__ = ["certified", "verdicts", "witness"]

_COLOURS = {
    "equivalent": "#2e9e5b",
    "different": "#d9534f",
    "unknown": "#c98a00",
    "vacuous": "#a9d3b8",  # proved, but of nothing
}
_WORST_FIRST = ("different", "unknown", "vacuous", "equivalent")
_MARKS = {"equivalent": "o", "different": "X", "unknown": "s", "vacuous": "d"}
_ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 4, "frameon": False}
"""Where a legend hides nothing."""
_MOST_OUTPUTS = 30


def verdicts(results: Sequence[Result], x: str, y: str | None = None, *, axes: Any = None) -> Any:
    """The verdicts of a sweep over `x`, and over `y` if it is given: one square for each combination of values.

    A square of several tasks, because other variables are swept too, shows the worst of them: different before unknown
    before vacuous before equivalent. An unknown square tells the least share that was proved. InputError if no task has
    the variable.
    """
    plots = _matplotlib()
    names = [x] if y is None else [x, y]
    chosen = [r for r in results if all(name in r.parameters for name in names)]
    if not chosen:
        known = sorted({name for r in results for name in r.parameters})
        raise InputError(f"no task has {' and '.join(names)}; variables: {', '.join(known) or 'none'}")
    axes = plots.subplots(layout="constrained")[1] if axes is None else axes
    columns = sorted({r.parameters[x] for r in chosen})
    rows = sorted({r.parameters[y] for r in chosen}) if y is not None else [Fraction(0)]
    for column, value in enumerate(columns):
        for row, other in enumerate(rows):
            here = [r for r in chosen if r.parameters[x] == value and (y is None or r.parameters[y] == other)]
            if here:
                _square(plots, axes, column, row, here)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(-0.5, len(rows) - 0.5), xlabel=x, aspect="equal")
    axes.set_xticks(range(len(columns)), [numbers.value(float(v)) for v in columns])
    axes.set_yticks(range(len(rows)), [numbers.value(float(v)) for v in rows] if y is not None else [""])
    axes.set_ylabel(y or "")
    present = {_word(r) for r in chosen}
    handles = [plots.Rectangle((0, 0), 1, 1, color=_COLOURS[w], label=w) for w in _COLOURS if w in present]
    axes.legend(handles=handles, **_ABOVE)
    return axes


def certified(results: Sequence[Result], x: str, *, axes: Any = None) -> Any:
    """The proved share of the region and the seconds it took, over the values of a variable."""
    plots = _matplotlib()
    chosen = sorted((r for r in results if x in r.parameters), key=lambda r: r.parameters[x])
    if not chosen:
        raise InputError(f"no task has {x}")
    axes = plots.subplots(layout="constrained")[1] if axes is None else axes
    values = [float(r.parameters[x]) for r in chosen]
    for word, colour in _COLOURS.items():
        mine = [i for i, r in enumerate(chosen) if _word(r) == word]
        if mine:
            shares = [100 * chosen[i].certified_fraction for i in mine]
            axes.plot([values[i] for i in mine], shares, _MARKS[word], color=colour, label=word)
    axes.set(xlabel=x, ylabel="proved, % of the region", ylim=(-4, 104))
    seconds = axes.twinx()
    seconds.plot(values, [r.seconds for r in chosen], color="0.5", linewidth=1)
    seconds.set(ylabel="seconds", ylim=(0, None))
    axes.legend(**_ABOVE)
    return axes


def witness(result: Result, *, axes: Any = None) -> Any:
    """The outputs of both networks where the claim breaks, as bars beside each other. InputError without a witness."""
    plots = _matplotlib()
    found = result.witness or (result.find.witness if result.find else None)
    if found is None:
        raise InputError(f"{result.id} is {result.verdict}: it has no input where the claim breaks")
    axes = plots.subplots(layout="constrained")[1] if axes is None else axes
    shown = _outputs(found)
    places = np.arange(len(shown))
    axes.bar(places - 0.2, [found.reference[i] for i in shown], 0.4, color="#4c78a8", label="reference")
    axes.bar(places + 0.2, [found.candidate[i] for i in shown], 0.4, color="#f58518", label="candidate")
    axes.set_xticks(places, [found.outputs[i] for i in shown])
    axes.axhline(0, color="0.5", linewidth=0.8)
    axes.set(ylabel="output", title=found.statement)
    axes.title.set(fontsize="medium", wrap=True)
    axes.legend(frameon=False)
    return axes


def _outputs(found: Witness) -> list[int]:
    """All outputs; of very many those that differ most."""
    every = range(len(found.outputs))
    if len(every) <= _MOST_OUTPUTS:
        return list(every)
    gaps = np.abs(np.asarray(found.reference) - np.asarray(found.candidate))
    return sorted(np.argsort(-gaps)[:_MOST_OUTPUTS].tolist())


def _square(plots: Any, axes: Any, column: int, row: int, here: list[Result]) -> None:
    word = min(map(_word, here), key=_WORST_FIRST.index)
    axes.add_patch(plots.Rectangle((column - 0.48, row - 0.48), 0.96, 0.96, color=_COLOURS[word]))
    if word == "unknown":
        least = min(r.certified_fraction for r in here if r.verdict is Verdict.UNKNOWN)
        axes.text(column, row, numbers.share(least), ha="center", va="center", color="white")


def _word(result: Result) -> str:
    return "vacuous" if result.vacuous else result.verdict.value


def _matplotlib() -> Any:
    """`matplotlib.pyplot`, imported only by whoever draws."""
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError:
        raise ImportError("eqspec.plots needs matplotlib: pip install 'eqspec[plots]'") from None
