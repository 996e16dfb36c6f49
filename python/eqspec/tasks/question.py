"""What a verdict is about, beside the claim and the networks: the region in raw units, its centre, the normalisation
and the arithmetic, as plain data that is kept with the result.

It is for people who read a result without the spec, and decides nothing: numbers are the nearest floats, and of very
many features the first ones are listed. The exact region is that of the task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from math import floor, log10

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.json_form import (
    Form,
    JsonObject,
    as_json,
    count,
    finite,
    listed,
    one_of,
    optional_text,
    reference,
    text,
    texts,
)
from eqspec.tasks.phrasing import approximately, number_in_words
from eqspec.tasks.row_source import RowSource
from eqspec.tasks.seen_data import SeenData
from eqspec.tasks.task import LinearConstraint, Space, Task

MOST_FEATURES = 24
_LONG = 12
_MANY = 10**9
_NUMBER = {"type": ["number", "null"]}
_nearest = Form(_NUMBER, finite)


@dataclass(frozen=True)
class Range(JsonObject):
    """Where one feature may lie, in raw units; `mean` and `std` normalise it. None stands for what no float holds."""

    name: str = field(metadata=as_json(text()))
    unit: str | None = field(metadata=as_json(optional_text()))
    low: float | None = field(metadata=as_json(_nearest))
    high: float | None = field(metadata=as_json(_nearest))
    centre: float | None = field(metadata=as_json(_nearest))
    mean: float | None = field(metadata=as_json(_nearest))
    std: float | None = field(metadata=as_json(_nearest))
    step: float | None = field(metadata=as_json(Form({**_NUMBER, "description": "Of its grid, if it lies on one."})))


@dataclass(frozen=True)
class Question(JsonObject):
    """The region and how networks read it.

    `written` has the region and the check as the spec has them, empty if there is none. `words` says the region in a
    sentence, `ranges` feature by feature, of which `left_out` more are not listed. `row` is the row of a table that the
    region lies around, and `rows` says which table. `normalised` is False if networks take raw units as they are.
    """

    words: str = field(metadata=as_json(text("The region in a sentence.")))
    ranges: tuple[Range, ...] = field(
        metadata=as_json(listed(Range.schema(), "The first features.", Range.to_json, Range.from_json))
    )
    left_out: int = field(metadata=as_json(count("How many features are not listed.")))
    constraints: tuple[str, ...] = field(metadata=as_json(texts()))
    points: str = field(metadata=as_json(text("How many points there are, where that is a finite number.")))
    row: int | None = field(metadata=as_json(Form({"type": ["integer", "null"]})))
    normalised: bool = field(metadata=as_json(Form({"type": "boolean"})))
    arithmetic: str = field(metadata=as_json(one_of("real", "float32")))
    written: str = field(metadata=as_json(text("The region and the check as the spec has them.")))
    seen: tuple[SeenData, ...] = field(
        default=(),
        metadata=as_json(
            replace(
                listed(SeenData.schema(), "What was made of the rows of tables.", SeenData.to_json, SeenData.from_json),
                required=False,
            )
        ),
    )
    rows: RowSource | None = field(
        default=None,
        metadata=as_json(reference(RowSource, "rows", "The table that 'row' is a row of.", required=False)),
    )


def question(task: Task) -> Question:
    """The question of a task."""
    space = task.space
    shown = range(min(len(space.features), MOST_FEATURES))
    row = task.parameters.get("row")
    return Question(
        words=_words(task),
        ranges=tuple(_range(task, i) for i in shown),
        left_out=len(space.features) - len(shown),
        constraints=constraints_in_words(task),
        points=points_in_words(task),
        row=None if row is None else int(row),
        normalised=any(s != 1 for s in space.scale) or any(space.centre),
        arithmetic=task.arithmetic,
        written=task.written,
        rows=task.row_source,
        seen=task.seen,
    )


def centre_of(task: Task, feature: int) -> Fraction:
    """The centre of the region, in network units: the row of the table if there is one, else the middle of the box."""
    if task.around is not None:
        return task.around[feature]
    return (task.lower_exact[feature] + task.upper_exact[feature]) / 2


def _range(task: Task, i: int) -> Range:
    space = task.space
    mean, std = space.centre[i], space.scale[i]

    def raw(x: Fraction) -> float | None:
        near = approximately(mean + std * x)
        return near if abs(near) != float("inf") else None

    lattice = task.lattices[i] if task.lattices else None
    return Range(
        name=space.features[i],
        unit=space.units[i],
        low=raw(task.lower_exact[i]),
        high=raw(task.upper_exact[i]),
        centre=raw(centre_of(task, i)),
        mean=finite(approximately(mean)),
        std=finite(approximately(std)),
        step=None if lattice is None else finite(approximately(std * lattice.step)),
    )


def _words(task: Task) -> str:
    """How many features move, and by how much, where that is the same for all of them."""
    total = len(task.space.features)
    free = [i for i in range(total) if task.lower_exact[i] < task.upper_exact[i]]
    if not free:
        return "a single input" if task.lower_exact == task.upper_exact else "no input at all"
    which = "every feature" if len(free) == total else f"{len(free)} of {total} features (the others are fixed)"
    row = task.parameters.get("row")
    where = "the middle of its range"
    if not any(centre_of(task, i) for i in free):
        space = task.space
        where = "its mean" if any(space.centre) or any(s != 1 for s in space.scale) else "0"
    if task.around is not None:
        where = "the row it lies around" if row is None else f"row {row}"
    reach, units, cut = _reach(task, free)
    if reach is None:
        return f"{which} in a range of its own"
    return f"{which} within {short_number(reach)}{units} of {where}{cut}"


def _reach(task: Task, free: Sequence[int]) -> tuple[Fraction | None, str, str]:
    """How far the region reaches from its centre along every free feature, in which units, and whether it is cut off.

    None if they differ in raw units and after normalisation. Of the two sides of a feature the longer one counts.
    """
    scale, around = task.space.scale, task.around
    raw: Fraction | None = None
    normalised: Fraction | None = None
    same_raw, same_normalised, cut = True, True, False
    for i in free:
        low, high = task.lower_exact[i], task.upper_exact[i]
        if around is None:
            here = (high - low) / 2
        else:
            below, above = around[i] - low, high - around[i]
            here, cut = max(below, above), cut or below != above
        if normalised is None or raw is None:
            normalised, raw = here, here * scale[i]
        same_normalised = same_normalised and here == normalised
        same_raw = same_raw and here * scale[i] == raw
        if not (same_raw or same_normalised):
            return None, "", ""
    said = "; less where a feature has no further values" if cut else ""
    return (raw, "", said) if same_raw else (normalised, " std", said)


def points_in_words(task: Task) -> str:
    """How many points the grids leave of the box; empty where some input may be any of infinitely many numbers."""
    if (points := _points(task)) is None:
        return ""
    exactly = str(points) if points < _MANY else f"about 10^{round(log10(points))}"
    return f"{'at most ' if task.constraints else ''}{exactly} point{'' if points == 1 else 's'} in all"


def _points(task: Task) -> int | None:
    total = 1
    for lattice, low, high in zip(task.lattices, task.lower_exact, task.upper_exact, strict=False):
        if lattice is None and low < high:
            return None
        total *= 1 if lattice is None else lattice.points(low, high)
    return total if task.lattices else None


def constraints_in_words(task: Task) -> tuple[str, ...]:
    """The constraints on raw inputs; those made of the rows of a table in one sentence for each table."""
    from_data = sum(seen.biting for seen in task.seen)
    written = task.constraints[: len(task.constraints) - from_data]
    return (*(constraint_in_words(task.space, c) for c in written), *map(seen_in_words, task.seen))


def seen_in_words(seen: SeenData) -> str:
    """Where the rows of a table lie, and how many of those that were held out do in the whole region."""
    plane = f"{seen.components} principal component{'' if seen.components == 1 else 's'} of {seen.table}"
    kept = f"keeping {short_number(100 * seen.share)} %"
    least = floor(1000 * seen.at_least) / 10
    sure = f"{short_number(100 * seen.confidence)} % confidence"
    said = f": at least {least:g} % of such events, {sure}, if drawn alike" if least else ""
    return (
        f"within {short_number(seen.factor)} standard deviations of {plane}, {kept} "
        f"({seen.biting} linear constraints that cut off something of the box); "
        f"{seen.inside} of {seen.held_out} held-out rows lie in the region{said}"
    )


def constraint_in_words(space: Space, constraint: LinearConstraint) -> str:
    """A constraint on x as one on raw inputs: a x = (a / std) (raw - mean)."""
    raw = [a / s for a, s in zip(constraint.coefficients, space.scale, strict=True)]
    right = constraint.bound + sum((a * c for a, c in zip(raw, space.centre, strict=True)), Fraction(0))
    said = ""
    for a, name in zip(raw, space.features, strict=True):
        if a:
            sign = ("-" if a < 0 else "") if not said else (" - " if a < 0 else " + ")
            said += f"{sign}{'' if abs(a) == 1 else f'{short_number(abs(a))} * '}{name}"
    return f"{said} {'<' if constraint.strict else '≤'} {short_number(right)}"


def short_number(number: Fraction) -> str:
    """The number as people write it; nine digits of it where that is long."""
    short = number_in_words(number)
    return short if len(short) <= _LONG else f"{approximately(number):.9g}"
