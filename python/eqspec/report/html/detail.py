"""Everything about one task, ready to be shown: numbers as text, pictures as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from markupsafe import Markup

from eqspec.lazy_dataclass import dataclass
from eqspec.report.advice import advice
from eqspec.report.explain_search import PARTS, STAGES
from eqspec.report.html import plots, raster
from eqspec.report.html.asked import Asked, asked
from eqspec.report.inputs import base_in_words, nearest_row, parts_moved, row_of, set_apart
from eqspec.report.numbers import bound_value, count, duration, exact_value, share, value
from eqspec.report.outcome import Outcome, headline, outcome, place, witness_of
from eqspec.report.table import bracket_in_words, optimised, remark
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.result import Result
from eqspec.tasks.search_statistics import Undecided
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness

_MOST_HISTOGRAMS = 12
_UNEVEN = 0.02
"""Concentrations below this are not shown: the boxes are a sample, so it may be chance."""
_SMALLEST_SHARE = 0.01
_MOST_FEATURES = 16
_FEWEST_AT_REST = 3
"""If more features than this did not move, they are folded."""


@dataclass(frozen=True)
class Part:
    """A part of the work: time, share as text and as a number."""

    name: str
    time: str
    share: str
    fraction: float


@dataclass(frozen=True)
class Output:
    """A line of the table of outputs."""

    name: str
    reference: str
    candidate: str
    difference: str


@dataclass(frozen=True)
class Feature:
    """A line of the table of inputs; `place` from 0 to 1 within the region, None if that is not known or a point."""

    name: str
    raw: str
    unit: str
    normalised: str
    apart: str
    place: float | None
    fixed: bool


@dataclass(frozen=True)
class Shown:
    """An input that breaks the claim; `rest` says what the features have in common that come after the `shown` ones.

    `scaled` says whether normalised values are others than the raw ones, so that both are shown.
    """

    statement: str
    at: str
    confidence: str
    runtime: str
    outputs: tuple[Output, ...]
    base: str
    features: tuple[Feature, ...]
    shown: int
    rest: str
    picture: Markup | None
    scaled: bool


@dataclass(frozen=True)
class Open:
    """Where the search was still at work."""

    share: str
    boxes: str
    histograms: tuple[Markup, ...]
    plane: Markup | None
    picture: Markup | None


@dataclass(frozen=True)
class Detail:
    """What the page shows of one task."""

    number: int
    id: str
    kind: str
    outcome: Outcome
    headline: str
    remark: str
    claim: str
    advice: tuple[str, ...]
    asked: Asked | None
    scores: str
    message: str
    source: str
    file: str
    tags: tuple[str, ...]
    time: str
    boxes: str
    facts: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    worst: str
    witness: Shown | None
    open: Open | None
    bracket: Markup | None
    bracket_in_words: str
    curve: Markup | None
    differences: Markup | None
    setup: int
    unfolded: bool
    search_unfolded: bool


def detail(number: int, result: Result, setup: int, others: Sequence[Result], *, unfolded: bool) -> Detail:
    """Of the result at a position; `setup` is the position of what it was run with, `others` ran beside it."""
    seen = witness_of(result)
    where = place(result)
    remarked = remark(result).plain
    message = result.message or ""
    return Detail(
        number=number,
        id=result.id,
        kind="vacuous" if result.vacuous else result.verdict.value,
        outcome=outcome(result),
        headline=headline(result),
        remark=remarked,
        claim=_claim(result),
        advice=advice(result, others),
        asked=asked(result),
        scores=result.scores_in_words,
        message="" if result.reason is not Reason.ERROR and message in remarked else message,
        source=f"{where[0]}, line {where[1]}" if where else result.source or "",
        file=where[0] if where else "",
        tags=result.tags,
        time=duration(result.seconds),
        boxes=count(result.boxes),
        facts=_facts(result),
        parts=_parts(result),
        worst=_worst(result),
        witness=_witness(result, seen) if seen is not None else None,
        open=_open(result.undecided) if result.undecided is not None and result.undecided.sample else None,
        bracket=plots.bracket(result.find) if result.find is not None else None,
        bracket_in_words=bracket_in_words(result.find) if result.find is not None else "",
        curve=plots.curve(result.history) if len(result.history) > 2 and result.history[-1].certified else None,
        differences=_differences(result, seen),
        setup=setup,
        unfolded=unfolded,
        search_unfolded=result.verdict is Verdict.UNKNOWN or len(others) == 1,
    )


def _claim(result: Result) -> str:
    """The claim; of a search, which claims something else at every value, that at the value that was proved.

    Results that do not say what was asked, and those where nothing was proved, have that at the easy end.
    """
    found = result.find
    if found is None:
        return result.claim
    easy = found.high if found.direction == "smallest" else found.low
    at = easy if found.proved is None or result.question is None else found.proved
    return f"{result.claim} (at {found.variable} = {exact_value(at)})"


def _facts(result: Result) -> tuple[tuple[str, str], ...]:
    """What the search counted."""
    facts = [
        ("time", duration(result.seconds)),
        ("boxes bounded", count(result.boxes)),
        *(("splits", count(n)) for n in [result.splits] if n),
        *(("linear programs", count(n)) for n in [result.lps] if n),
    ]
    if result.find is None:
        if result.verdict is not Verdict.DIFFERENT:  # which ended the search, however far it was
            facts.append(("proved share", share(result.certified_fraction)))
            facts += [("boxes left open", count(n)) for n in [result.open_boxes] if n]
        if result.initial_bound is not None and math.isfinite(result.initial_bound):
            facts.append(("bound on the whole box", bound_value(result.initial_bound)))
    if result.reused is not None:
        where = "the cache" if result.reused.source == "cache" else result.reused.source
        steps = f"{count(result.reused.taken_up)} of {count(result.reused.steps)}"
        facts.append((f"steps taken up of an earlier proof, from {where}", steps))
    for name, words in (("depth", "deepest box, in halvings"), ("asked", "boxes that asked the solver")):
        if result.effort.get(name):
            facts.append((words, count(result.effort[name])))
    facts += [
        (f"decided by {STAGES[stage][0] if stage in STAGES else stage}", count(times))
        for stage, times in result.stages.items()
        if times
    ]
    return tuple(facts)


def _parts(result: Result) -> tuple[Part, ...]:
    """Where the time went, most first."""
    seconds: Mapping[str, float] = result.effort.get("seconds", {})
    total = sum(seconds.values())
    if total <= 0.0:
        return ()
    order = sorted(seconds.items(), key=lambda entry: -entry[1])
    return tuple(
        Part(PARTS.get(name, name), duration(spent), share(spent / total), spent / total)
        for name, spent in order
        if spent >= _SMALLEST_SHARE * total
    )


def _worst(result: Result) -> str:
    """How far the claim may still break, as far as that is known."""
    bound = (result.worst_open or {}).get("bound")
    if not isinstance(bound, int | float) or not math.isfinite(bound):
        return ""
    return f"On the worst of them the claim may break by at most {bound_value(bound)}."


def _differences(result: Result, seen: Witness | None) -> Markup | None:
    if result.sampled is None or not result.sampled.points:
        return None
    here = None
    if seen is not None:
        compared = result.sampled.largest  # by output; the others may differ by anything
        answers = zip(seen.outputs, seen.reference, seen.candidate, strict=True)
        here = max((abs(g - f) for name, f, g in answers if name in compared), default=None)
    marks = {"bound": result.initial_bound, "limit": result.sampled.limit, "witness": here}
    shown = {name: at for name, at in marks.items() if at is not None and math.isfinite(at)}
    return plots.differences(result.sampled, shown)


def _witness(result: Result, seen: Witness) -> Shown:
    outputs = tuple(
        Output(name, value(f), value(g), value(g - f))
        for name, f, g in zip(seen.outputs, seen.reference, seen.candidate, strict=True)
    )
    side = raster.side_of_picture(seen.features)
    raw = [approximately(x) for x in seen.raw]
    found = result.find
    match seen.onnxruntime_confirms:
        case True:
            before = " in front of their Softmax," if result.scores == "logits" else ""
            runtime = f"onnxruntime, run on the original files,{before} agrees."
        case False:
            runtime = "onnxruntime does not agree: in the files' own precision the claim holds here."
        case _:
            runtime = f"onnxruntime was not asked: {seen.onnxruntime_reason}."
    if (differs := optimised(seen)) is not None:
        runtime = f"{runtime} {differs[0].upper()}{differs[1:]}."
    near = nearest_row(seen)
    base = _base(seen, result) if "region" in (result.task or {}) else ""
    features = _features(seen, (result.task or {}).get("region"))
    moved = sum(not _at_rest(feature) for feature in features) if base else len(features)
    unmoved = len(features) - moved
    folds = base and unmoved > _FEWEST_AT_REST and moved <= _MOST_FEATURES
    return Shown(
        statement=seen.statement,
        at=f"{found.variable} = {exact_value(found.refuted)}" if found and found.refuted is not None else "",
        confidence="" if seen.confidence is None else value(seen.confidence),
        runtime=" ".join(filter(None, (set_apart(seen), near and f"{near[0].upper()}{near[1:]}.", runtime))),
        outputs=outputs,
        base=base,
        features=features,
        shown=max(moved, 1) if folds else _MOST_FEATURES,
        rest=f", at {base}" if folds and moved else "",
        picture=plots.pixels(raw, side, "The input as a picture", "ink") if side and np.isfinite(raw).all() else None,
        scaled=seen.normalised != seen.raw,
    )


def _at_rest(feature: Feature) -> bool:
    return feature.fixed or float(feature.apart or 1) == 0.0


def _base(seen: Witness, result: Result) -> str:
    """What the region lies around: the centre, or a row by its number where that is known."""
    row = result.parameters.get("row")
    if seen.base == "centre":
        return "the centre"
    if seen.base_row is not None:
        return base_in_words(seen)
    return "its row" if row is None else f"row {int(row)}"


def _features(seen: Witness, region: Mapping[str, Any] | None) -> tuple[Feature, ...]:
    """Those that moved furthest first, as parts of what the region allows from its centre or row. Fixed ones last."""
    size = len(seen.features)
    ends: Sequence[tuple[float | None, float | None]] = [(None, None)] * size
    around: Sequence[Fraction] | None = None
    if region is not None and len(region["lo"]) == size:
        ends = list(zip(region["lo"], region["hi"], strict=True))
        around = row_of(seen, region)
    far = parts_moved(seen, region)
    made: list[tuple[float, float, Feature]] = []
    for i, (low, high) in enumerate(ends):
        point = seen.normalised[i]
        at = approximately(point)
        inside, apart = None, ""
        if low is not None and high is not None:
            bottom, top = Fraction(low), Fraction(high)
            centre = around[i] if around is not None else (bottom + top) / 2
            apart = f"{approximately(point - centre):+.4g}"
            if low < high:
                inside = min(max((at - low) / (high - low), 0.0), 1.0)
        raw, unit = value(approximately(seen.raw[i])), seen.units[i] or ""
        fixed = low is not None and low == high
        feature = Feature(seen.features[i], raw, unit, f"{at:+.4g}", apart, inside, fixed)
        made.append((round(far[i], 6), abs(at), feature))
    return tuple(feature for _, _, feature in sorted(made, key=lambda entry: entry[:2], reverse=True))


def _open(shown: Undecided) -> Open:
    uneven = raster.concentration(shown, plots.BINS)
    free = [i for i in range(len(shown.features)) if shown.lower[i] < shown.upper[i]]
    order = sorted(free, key=lambda i: (-uneven[i], i))
    telling = [i for i in order if uneven[i] >= _UNEVEN][:_MOST_HISTOGRAMS]
    side = raster.side_of_picture(shown.features)
    said = "How unevenly the open share lies over each input; stronger is more"
    plane = None
    if len(telling) >= 2:
        first, second = telling[:2]
        plane = plots.slice_of_two(shown, first, second)
    return Open(
        share=share(shown.share),
        boxes=count(len(shown.sample)),
        histograms=tuple(plots.histogram(shown, i) for i in telling),
        plane=plane,
        picture=plots.pixels(uneven.tolist(), side, said, "heat") if side and telling else None,
    )
