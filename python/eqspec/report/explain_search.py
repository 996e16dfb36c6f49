"""Where a search went: which part of the work took the time, which stage decided how much, and what is left open.

It answers why a task takes long or stays unknown. The counts are those of the result's JSON, in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eqspec.report.numbers import bound_value, count, duration, plural, share, value
from eqspec.tasks.result import Result
from eqspec.tasks.stages import Part, Stage
from eqspec.tasks.task import Task

STAGES: dict[str, tuple[str, str]] = {
    Stage.OUTSIDE: ("boxes outside the region's constraints", "boxes"),
    Stage.GUARD: ("conditions that the reference cannot meet", "conditions"),
    Stage.ZONOTOPE: ("bounds of the outputs on the box", "claims"),
    Stage.INHERITED: ("multipliers of the box it was cut from", "claims"),
    Stage.DUAL: ("better multipliers found on the box", "claims"),
    Stage.PROGRAM: ("linear programs", "claims"),
    Stage.CONTRACTION: ("contradiction after assuming a violation", "claims"),
    Stage.OVERFLOW: ("numbers too large to bound: halved", "boxes"),
}
"""What each stage does, and what it counts."""

PARTS: dict[str, str] = {
    Part.PROPAGATION: "enclosing boxes",
    Part.ROWS: "bounding outputs",
    Part.INHERITED: "inherited multipliers",
    Part.DUAL: "seeking better multipliers",
    Part.PROGRAMS: "linear programs, without the solver",
    Part.CONTRACTION: "contraction",
    Part.CANDIDATES: "looking for counterexamples",
    Part.SPLITTING: "choosing splits",
    Part.QUEUE: "keeping boxes",
    Part.WAITING: "waiting for the solver, or for boxes",
}
_MOST_INPUTS = 16
_SMALLEST_SHARE = 0.005


def explain_search(results: Sequence[Result], tasks: Mapping[str, Task]) -> RenderableType:
    """One paragraph per result; `tasks` by id say how the inputs are called, and may lack some."""
    return Group(*(_one(result, tasks.get(result.id)) for result in results))


def _one(result: Result, task: Task | None) -> RenderableType:
    head = Text.assemble((result.id, "bold"), f"  {result.verdict.value} in {duration(result.seconds)}")
    if not result.effort:
        return Group(head, Padding(Text("no search of its own"), (0, 0, 1, 2)))
    lines: list[RenderableType] = [_work(result), _decided(result), _times(result)]
    if result.worst_open is not None:
        lines.append(_left(result, result.worst_open, task))
    return Group(head, Padding(Group(*lines), (0, 0, 1, 2)))


def _work(result: Result) -> Text:
    """120 boxes, 59 taken apart, at most 23 halvings deep; 4 claims open on a box; 6 asked the LP solver (5.0 %)."""
    effort = result.effort
    text = f"{plural(result.boxes, 'box', 'boxes')}, {count(result.splits)} taken apart"
    text += f", at most {plural(effort['depth'], 'halving')} deep"
    if result.boxes:
        text += f"; {value(effort['obligations'] / result.boxes)} claims open on a box"
        for name, what in (("asked", "asked the LP solver"), ("contracted", "contracted")):
            if effort[name]:
                text += f"; {count(effort[name])} {what} ({share(effort[name] / result.boxes)})"
    return Text(text)


def _decided(result: Result) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    table.add_column("decided", justify="right")
    table.add_column("by", overflow="fold")
    found = {name: number for name, number in result.stages.items() if number}
    for name, number in found.items():
        words, unit = STAGES.get(name, (name, ""))
        table.add_row(count(number), f"{words} ({unit})" if unit else words)
    return table if found else Text("no stage decided anything")


def _times(result: Result) -> RenderableType:
    seconds = result.effort["seconds"]
    total = sum(seconds.values())
    if total <= 0.0:
        return Text("")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    table.add_column("time", justify="right")
    table.add_column("share", justify="right")
    table.add_column(f"of {duration(total)} over all threads", overflow="fold")
    for name, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        if spent >= _SMALLEST_SHARE * total:
            table.add_row(duration(spent), share(spent / total), PARTS.get(name, name))
    return table


def _left(result: Result, worst: Mapping[str, Any], task: Task | None) -> Text:
    """What is open, and where it is worst: in raw units by name where the task is known."""
    bound = worst["bound"]
    known = isinstance(bound, float | int) and bound < float("inf")
    open_boxes = plural(result.open_boxes, "box", "boxes")
    text = Text(f"{open_boxes} open, {share(result.certified_fraction)} proved. ", "yellow")
    text.append(f"On the worst box ({plural(worst['depth'], 'halving')}, ", "default")
    text.append(f"{plural(len(worst['obligations']), 'claim')} open) ", "default")
    text.append(f"the claim may break by at most {bound_value(bound)}" if known else "no bound is known yet", "default")
    if task is not None:
        text.append(": " + _inputs(worst, task), "default")
    return text


def _inputs(worst: Mapping[str, Any], task: Task) -> str:
    """The sides of a box along the inputs that are free in the region, in raw units."""
    sides = []
    for i, ends in enumerate(zip(worst["lower"], worst["upper"], strict=True)):
        if task.lower[i] < task.upper[i]:
            low, high = (value(float(task.space.centre[i]) + float(task.space.scale[i]) * end) for end in ends)
            unit = task.space.units[i]
            sides.append(f"{task.space.features[i]} in {low} .. {high}" + (f" {unit}" if unit else ""))
    more = len(sides) - _MOST_INPUTS
    return ", ".join(sides[:_MOST_INPUTS]) + (f" and {plural(more, 'more input')}" if more > 0 else "")
