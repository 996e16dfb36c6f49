"""The evaluation's figures, from its tables; needs matplotlib (extra `bench`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benches.paper import softmax
from benches.paper.tables import KINDS, OTHERS, Record, SpeedUp, all_tables, speed_ups

_COLOURS = dict(zip(KINDS, ("C0", "C1", "C2"), strict=True))


def draw(records: Sequence[Record], folder: Path, prefix: str = "") -> list[Path]:
    """All plots as PNG; ModuleNotFoundError without matplotlib. Figures without data are left out."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawings: dict[str, Callable[[Any, Sequence[Record]], bool]] = {
        "decided_by_radius": _by_radius,
        "speedup": _speed_up,
        "fewer_boxes": _fewer_boxes,
        "speedup_by_confidence": _by_confidence,
        "speedup_by_weights": _by_weights,
        "softmax_error": _softmax,
    }
    paths = []
    for name, drawing in drawings.items():
        figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
        if drawing(axes, records):
            axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
            path = folder / f"{prefix}{name}.png"
            figure.savefig(path, dpi=110)
            paths.append(path)
        pyplot.close(figure)
    return paths


def _by_radius(axes: Any, records: Sequence[Record]) -> bool:
    rows = all_tables(records)["decided_by_radius"]
    for kind in KINDS:
        for way, style in (("naive", ":"), ("paper", "--"), ("shared", "-")):
            points = [(r["sigma"], r["decided"] / r["queries"]) for r in rows if (r["kind"], r["way"]) == (kind, way)]
            if points:
                axes.plot(
                    *zip(*sorted(points), strict=True), style, color=_COLOURS[kind], marker="o", label=f"{kind}, {way}"
                )
    axes.set(xlabel="radius of the box / sigma", ylabel="share of queries decided", xscale="log", ylim=(0, 1.05))
    return bool(rows)


def _speed_up(axes: Any, records: Sequence[Record]) -> bool:
    """Sorted speed-ups: where a curve lies above 1 the naive way is slower."""
    return _sorted(axes, records, lambda gain: gain.factor, "time: naive over others")


def _fewer_boxes(axes: Any, records: Sequence[Record]) -> bool:
    """The same of boxes."""
    return _sorted(axes, records, lambda gain: gain.boxes, "boxes: naive over others")


def _sorted(axes: Any, records: Sequence[Record], factor: Callable[[SpeedUp], float], label: str) -> bool:
    drawn = False
    for kind in KINDS:
        for way, style in zip(OTHERS, ("--", "-"), strict=True):
            factors = sorted(factor(g) for g in speed_ups(records, way) if g.record.kind == kind)
            if factors:
                drawn = True
                shares = [(i + 0.5) / len(factors) for i in range(len(factors))]
                axes.plot(shares, factors, style, color=_COLOURS[kind], label=f"{kind}, {way}")
    axes.axhline(1, color="grey", linewidth=0.5)
    axes.set(xlabel="share of commonly solved queries", ylabel=label, yscale="log")
    return drawn


def _by_confidence(axes: Any, records: Sequence[Record]) -> bool:
    drawn = False
    for way, aside, colour in zip(OTHERS, (0.8, 1.25), ("C0", "C1"), strict=True):
        gains = [g for g in speed_ups(records, way) if g.record.kind == "confidence" and g.record.threshold is not None]
        if gains:
            drawn = True
            by_odds: dict[float, list[float]] = {}
            for gain in gains:
                by_odds.setdefault(1 / (1 - (gain.record.threshold or 0.0)), []).append(gain.factor)
            for odds, factors in by_odds.items():
                axes.scatter([odds * aside] * len(factors), factors, s=8, alpha=0.3, color=colour)
            odds_of = sorted(by_odds)
            medians = [median(by_odds[odds]) for odds in odds_of]
            axes.plot([odds * aside for odds in odds_of], medians, "-o", color=colour, label=f"{way}, median")
    axes.axhline(1, color="grey", linewidth=0.5)
    axes.set(xlabel="1 / (1 - delta)", ylabel="speed-up over naive", xscale="log", yscale="log")
    return drawn


def _by_weights(axes: Any, records: Sequence[Record]) -> bool:
    rows = all_tables(records)["speedup_by_weights"]
    for way in OTHERS:
        for retrained, marker in ((False, "o"), (True, "^")):
            of = [r for r in rows if r["way"] == way and r["retrained"] is retrained]
            label = f"{way}, {'retrained' if retrained else 'only pruned'}"
            axes.scatter(
                [r["mean_weight_difference"] for r in of], [r["median"] for r in of], s=14, marker=marker, label=label
            )
    axes.axhline(1, color="grey", linewidth=0.5)
    axes.set(xlabel="mean |difference of weights|", ylabel="median speed-up over naive", xscale="log", yscale="log")
    return bool(rows)


def _softmax(axes: Any, _: Sequence[Record]) -> bool:
    deltas = [0.5 + 0.499 * i / 100 for i in range(101)]
    for classes, colour in ((3, "C0"), (5, "C1"), (10, "C2")):
        errors = [softmax.polytope(d, classes) for d in deltas]
        axes.plot(deltas, errors, "--", color=colour, label=f"polytope, n = {classes}")
        axes.plot(deltas, [softmax.sigmoid(classes)] * len(deltas), ":", color=colour, label=f"sigmoid, n = {classes}")
    axes.plot(deltas, [softmax.ours(d) for d in deltas], "k-", label="ours, any n")
    axes.set(xlabel="delta", ylabel="delta - least confidence admitted", ylim=(-0.02, None))
    return True
