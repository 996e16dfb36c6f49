"""The pictures of a report, each from the result's own numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from eqspec.report.html import raster
from eqspec.report.html.svg import Frame, cells, decades, element, line, number, picture, round_steps, steps, text
from eqspec.report.numbers import duration, share, value
from eqspec.tasks.bracket import Bracket
from eqspec.tasks.result import Result
from eqspec.tasks.search_statistics import Moment, Sampled, Undecided
from eqspec.tasks.verdict import Verdict

BINS = 16
_RASTER = 24
_LEVELS = 12
_NOTHING = 1e-280
_FAR = 20.0
"""An axis is logarithmic if the largest and smallest number on it have at least this ratio."""
_SLIVER = 8.0
"""Samples that take less than this part of a linear axis can no longer be read from it."""


def curve(history: Sequence[Moment]) -> Markup:
    """The proved share over time; the axis of time is logarithmic where half of it was proved early on."""
    end = history[-1]
    frame = Frame(520, 190)
    first = next((m.seconds for m in history if m.seconds > 0.0), 0.0)
    half = next(m.seconds for m in history if m.certified >= end.certified / 2)
    early = first > 0.0 and max(half, first) * _FAR < end.seconds
    x = frame.log_x(first, end.seconds) if early else frame.x(0.0, end.seconds)
    y = frame.y(0.0, 1.0)
    points = [(x(m.seconds), y(m.certified)) for m in history]
    area = f"M{number(points[0][0])} {number(frame.floor)}"
    area += "".join(f"H{number(a)}V{number(b)}" for a, b in points) + f"V{number(frame.floor)}Z"
    said = f"Proved share over time: {share(end.certified)} after {duration(end.seconds)}"
    return picture(
        frame.width,
        frame.height,
        said,
        frame.vertical(y, (0.0, 0.5, 1.0), "proved share", lambda t: f"{t:.0%}"),
        element("path", d=area, class_="area"),
        steps(points, "curve"),
        frame.horizontal(x, decades(first, end.seconds) if early else round_steps(0.0, end.seconds), "seconds"),
    )


def decided_over_time(results: Sequence[Result]) -> Markup:
    """How many tasks were decided, each in at most so many seconds of its own."""
    times = sorted(max(r.seconds, 1e-3) for r in results if r.verdict is not Verdict.UNKNOWN)
    frame = Frame(520, 190)
    low = 10.0 ** math.floor(math.log10(times[0]))
    high = max(10.0 * low, *(r.seconds for r in results))
    x, y = frame.log_x(low, high), frame.y(0.0, float(len(results)))
    points = [(x(t), y(i + 1.0)) for i, t in enumerate(times)]
    last = [(frame.width - frame.right, points[-1][1])]
    said = f"{len(times)} of {len(results)} tasks decided, the slowest in {duration(times[-1])}"
    whole = [t for t in round_steps(0.0, float(len(results))) if t == int(t)]
    return picture(
        frame.width,
        frame.height,
        said,
        frame.vertical(y, whole, "tasks decided"),
        steps([(points[0][0], frame.floor), *points, *last], "curve"),
        frame.horizontal(x, decades(low, high), "seconds for one task"),
    )


class RowsAt(NamedTuple):
    """At a value, the shares of rows that are proved and refuted, and a lower bound of the proved share of events."""

    at: float
    proved: float
    refuted: float
    bound: float | None


def proved_rows(points: Sequence[RowsAt], variable: str) -> Markup:
    """Over a variable, the share of rows that is proved and, from above, that is refuted, and the bound as a line.

    What lies between the two is undecided or vacuous. Values that span more than a factor of twenty, or lie closer
    together the smaller they are, have a logarithmic axis.
    """
    frame = Frame(520, 190)
    low, high = points[0].at, points[-1].at
    middle = points[len(points) // 2].at
    far = low > 0.0 and (high > _FAR * low or high - middle > 2 * (middle - low) > 0.0)  # as geometric sweeps are
    x = frame.log_x(low, high) if far else frame.x(low, high)
    y = frame.y(0.0, 1.0)
    lower = [(x(point.at), y(point.proved)) for point in points]
    upper = [(x(point.at), y(1.0 - point.refuted)) for point in points]
    bounds = [(x(point.at), y(point.bound)) for point in points if point.bound is not None]
    parts = [
        element("path", d=_closed([(x(low), y(0.0)), *lower, (x(high), y(0.0))]), class_="proved"),
        element("path", d=_closed([(x(low), y(1.0)), *upper, (x(high), y(1.0))]), class_="refuted"),
        element("path", d=_closed([*lower, *reversed(upper)]), class_="between"),
    ]
    if len(bounds) == len(points):
        parts.append(element("path", d="M" + "L".join(f"{number(a)} {number(b)}" for a, b in bounds), class_="bound"))
    parts += [line(at, frame.floor, at, frame.floor - 5, "probe") for at, _ in lower]
    ticks = decades(low, high) if far else round_steps(low, high)
    return picture(
        frame.width,
        frame.height,
        f"Share of rows proved and refuted over {variable}",
        frame.vertical(y, (0.0, 0.5, 1.0), "share of rows", lambda t: f"{t:.0%}"),
        *parts,
        frame.horizontal(x, ticks, variable),
    )


def _closed(points: Sequence[tuple[float, float]]) -> str:
    """A path along points and back to the first."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points) + "Z"


def bracket(found: Bracket) -> Markup:
    """The range that was searched: what is proved, what is refuted, what lies between, and the values tried.

    Its one axis is logarithmic where the range spans more than a factor of twenty.
    """
    frame = Frame(520, 64, left=20, right=20, top=6, bottom=34)
    low, high = float(found.low), float(found.high)
    far = low > 0.0 and high > _FAR * low
    x = frame.log_x(low, high) if far else frame.x(low, high)
    easy_is_high = found.direction == "smallest"
    parts = [element("rect", x=x(low), y=10.0, width=frame.across, height=16.0, class_="between")]
    for end, class_ in ((found.proved, "proved"), (found.refuted, "refuted")):
        if end is not None:
            upwards = easy_is_high == (class_ == "proved")
            a, b = (x(float(end)), x(high)) if upwards else (x(low), x(float(end)))
            parts.append(element("rect", x=min(a, b), y=10.0, width=abs(b - a), height=16.0, class_=class_))
    tried = [(x(float(probe.value)), probe.verdict) for probe in found.probes]
    parts += [line(at, 6, at, 30, f"probe {verdict}") for at, verdict in tried]
    axis = frame.horizontal(x, decades(low, high) if far else round_steps(low, high, 5), found.variable)
    return picture(frame.width, frame.height, f"What is known of {found.variable}", *parts, axis)


_MARKS = {"bound": "proved on the whole box", "limit": "claimed", "witness": "at the input found"}


def differences(seen: Sampled, marks: Mapping[str, float]) -> Markup:
    """Differences at random inputs, beside the bound proved on the whole region, the limit, and the input found."""
    top = max(seen.largest.values(), default=0.0)
    top = top if top > _NOTHING else 0.0
    frame = Frame(520, 170.0 + 13 * len(marks), top=10.0 + 13 * len(marks))
    reach = max([top, *marks.values()]) or 1.0
    far = top > 0 and reach > _SLIVER * top
    start = math.log10(top / len(seen.counts)) - 0.3 if far else 0.0
    stop = math.log10(reach) + 0.1 if far else reach * 1.04
    x = frame.x(start, stop)

    def place(at: float) -> float:
        return x(max(math.log10(at), start) if far and at > 0 else start if far else at)

    most = float(max(seen.counts) or 1)
    y = frame.y(0.0, most)
    width = top / len(seen.counts) if top > 0 else reach / 100
    bars = [
        element(
            "rect",
            x=place(i * width),
            y=y(float(n)),
            width=max(place((i + 1) * width) - place(i * width) - 0.5, 0.5),
            height=frame.floor - y(float(n)),
            class_="bar",
        )
        for i, n in enumerate(seen.counts)
        if n
    ]
    lines = []
    for row, (name, at) in enumerate(marks.items()):
        here, over = place(at), 13.0 * row
        side = "end" if here > frame.left + frame.across / 2 else "start"
        shift = -4 if side == "end" else 4
        lines.append(line(here, over, here, frame.floor, name))
        lines.append(text(here + shift, over + 10, f"{_MARKS[name]} {value(at)}", anchor=side, class_="label"))
    ticks = [float(p) for p in range(math.ceil(start), math.floor(stop) + 1)] if far else round_steps(0.0, stop)
    axis = frame.horizontal(x, ticks, "largest |difference| of an output", (lambda t: value(10.0**t)) if far else value)
    said = f"Largest difference at {seen.points} random inputs: at most {value(top)}"
    upward = frame.vertical(y, [t for t in round_steps(0.0, most) if t == int(t)], "random inputs")
    return picture(frame.width, frame.height, said, upward, *bars, *lines, axis)


def histogram(shown: Undecided, feature: int) -> Markup:
    """Where along one feature the open share lies; the line is where it would lie evenly."""
    frame = Frame(232, 112, left=48, top=6, bottom=32)
    part = raster.density(shown, feature, BINS)
    top = max(float(part.max()), 1.5 / BINS)
    step, y = frame.across / BINS, frame.y(0.0, top)
    bars = [
        element("rect", x=frame.left + i * step + 0.5, y=at, width=step - 1, height=frame.floor - at, class_="open")
        for i, at in enumerate(map(y, part.tolist()))
        if at < frame.floor
    ]
    low, high = shown.lower[feature], shown.upper[feature]
    named = _short(_named(shown, feature))
    ends = [
        text(frame.left, frame.floor + 13, value(low), class_="tick"),
        text(frame.width - frame.right, frame.floor + 13, value(high), anchor="end", class_="tick"),
        text(frame.left + frame.across / 2, frame.height - 3, named, anchor="middle", class_="label"),
    ]
    said = f"Open share over {shown.features[feature]}, from {value(low)} to {value(high)}"
    upward = frame.vertical(y, (0.0, top), "open share", lambda t: f"{t:.0%}")
    even, right = y(1 / BINS), frame.width - frame.right
    marks = (line(frame.left, even, right, even, "even"), line(frame.left, frame.floor, right, frame.floor, "axis"))
    return picture(frame.width, frame.height, said, upward, *bars, *marks, *ends)


def slice_of_two(shown: Undecided, first: int, second: int) -> Markup:
    """The open share over two features, seen through all others; stronger is more."""
    side, left, bottom = 216.0, 60.0, 32.0
    part = raster.density_of_two(shown, first, second, _RASTER)
    raster_cells = _levels(part.T[::-1])
    x_ends, y_ends = ((shown.lower[i], shown.upper[i]) for i in (first, second))
    labels = [
        text(0, side + 14, value(x_ends[0]), class_="tick"),
        text(side, side + 14, value(x_ends[1]), anchor="end", class_="tick"),
        text(-4, side, value(y_ends[0]), anchor="end", class_="tick"),
        text(-4, 10, value(y_ends[1]), anchor="end", class_="tick"),
        text(side / 2, side + 27, _short(_named(shown, first)), anchor="middle", class_="label"),
        element(
            "text",
            _short(_named(shown, second)),
            transform=f"translate(-46 {number(side / 2)}) rotate(-90)",
            text_anchor="middle",
            class_="label",
        ),
    ]
    frame = element("rect", x=0, y=0, width=side, height=side, class_="frame")
    inside = element(
        "g", cells(raster_cells, side / _RASTER, _LEVELS, "heat"), frame, *labels, transform=f"translate({left:g} 4)"
    )
    said = f"Open share over {_named(shown, first)} and {_named(shown, second)}"
    return picture(left + side + 14, side + bottom + 4, said, inside)


def pixels(values: Sequence[float], side: int, said: str, class_: str) -> Markup:
    """Numbers as a square picture in row-major order, from the smallest (nothing) to the largest."""
    grid = np.asarray(values, np.float64).reshape(side, side)
    size = max(4.0, 168.0 / side)
    frame = element("rect", x=0, y=0, width=side * size, height=side * size, class_="frame")
    return picture(side * size, side * size, said, cells(_levels(grid), size, _LEVELS, class_), frame)


def _levels(grid: NDArray[np.float64]) -> list[tuple[int, int, int]]:
    low, high = min(0.0, float(grid.min())), float(grid.max())
    scaled = np.ceil((grid - low) / ((high - low) or 1.0) * _LEVELS - 1e-9).astype(int)
    return [(int(c), int(r), int(level)) for (r, c), level in np.ndenumerate(scaled)]


def _named(shown: Undecided, feature: int) -> str:
    unit = shown.units[feature]
    return f"{shown.features[feature]} [{unit}]" if unit else shown.features[feature]


def _short(name: str) -> str:
    return name if len(name) <= 30 else f"{name[:29]}…"
