"""Results and progress in notebooks: plain HTML that takes its colours from the page, light or dark."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterable, Sequence
from html import escape
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from eqspec.report import numbers, table
from eqspec.report.inputs import inputs
from eqspec.run.monitor import Monitor, Progress
from eqspec.tasks.result import Result, Verdict
from eqspec.tasks.task import Task
from eqspec.tasks.witness import Witness

if TYPE_CHECKING:
    from eqspec.api.report import Report
    from eqspec.api.spec import Spec

_COLOURS = {Verdict.EQUIVALENT: "#2e9e5b", Verdict.DIFFERENT: "#d9534f", Verdict.UNKNOWN: "#c98a00"}
_MOST_ROWS = 200
_MOST_NUMBERS = 32
_PATIENCE = 0.5
"""Seconds before anything is shown, so that what is quick does not flicker; and between two pictures, half of it."""


def of_report(report: Report) -> str:
    """A table with a row for each task, the inputs where claims break folded away, and the line that sums up."""
    rows = [
        [escape(r.id), _verdict(r), numbers.duration(r.seconds), numbers.count(r.boxes), escape(table.remark(r).plain)]
        for r in report[:_MOST_ROWS]
    ]
    parts = [_table(["task", "verdict", "time", "boxes", ""], rows, right=(2, 3))]
    if len(report) > _MOST_ROWS:
        parts.append(f"<div>... and {numbers.count(len(report) - _MOST_ROWS)} more; to_frame() has them all</div>")
    parts += [_folded(r, w) for r in report[:_MOST_ROWS] if (w := _witness_of(r)) is not None]
    if said := table.scores(report):
        parts.append(f"<div>{escape(said)}</div>")
    parts.append(f"<div>{escape(in_words(report))}</div>")
    return "".join(parts)


def in_words(report: Report) -> str:
    """4 tasks in 5.44 s: 3 equivalent, 1 different. All as expected."""
    return table.summary(list(report), report.seconds, interrupted=report.interrupted, left_out=report.left_out).plain


def of_result(result: Result) -> str:
    """The verdict, the claim, and where it breaks."""
    remark = table.remark(result).plain
    words = [f"<b>{escape(result.id)}</b> {_verdict(result)} in {numbers.duration(result.seconds)}"]
    words += [escape(remark)] if remark else []
    parts = [f"<div>{', '.join(words)}</div>", f"<div>{escape(result.claim)}</div>" if result.claim else ""]
    parts += [f"<div>{escape(said)}</div>"] if (said := result.scores_in_words) else []
    witness = _witness_of(result)
    return "".join(parts) + (_witness(witness) if witness is not None else "")


def of_spec(spec: Spec) -> str:
    """A table of what the spec asks."""
    rows = []
    for item in spec.select()[:_MOST_ROWS]:
        expected = item.expected or "equivalent" if isinstance(item, Task) else f"{item.direction} {item.variable}"
        rows.append([escape(item.id), escape(expected), escape(", ".join(item.tags))])
    return _table(["task", "expected", "tags"], rows)


def _verdict(result: Result) -> str:
    return f'<span style="color:{_COLOURS[result.verdict]};font-weight:bold">{result.verdict}</span>'


def _witness_of(result: Result) -> Witness | None:
    return result.witness or (result.find.witness if result.find else None)


def _folded(result: Result, witness: Witness) -> str:
    return f"<details><summary>where {escape(result.id)} breaks</summary>{_witness(witness)}</details>"


def _witness(witness: Witness) -> str:
    """The input in raw units and both outputs."""
    seen = inputs(witness)
    rows = [[escape(name), number, escape(unit)] for name, number, unit in seen.named]
    outputs = [
        [escape(name), numbers.value(reference), numbers.value(candidate)]
        for name, reference, candidate in zip(witness.outputs, witness.reference, witness.candidate, strict=True)
    ]
    both = _cut(["input", "value", ""], rows) + _cut(["output", "reference", "candidate"], outputs)
    runtime = {None: "", True: "onnxruntime agrees.", False: "onnxruntime does not, in its own precision."}
    said = f"{escape(witness.statement)}. {runtime[witness.onnxruntime_confirms]}"
    if (differs := table.optimised(witness)) is not None:
        said += f" {differs[0].upper()}{differs[1:]}."
    said += f" {seen.others[0].upper()}{seen.others[1:]}." if seen.others else ""
    return f'<div>{said}</div><div style="display:flex;gap:2em;align-items:flex-start">{both}</div>'


def _cut(heading: Sequence[str], rows: list[list[str]]) -> str:
    hidden = len(rows) - _MOST_NUMBERS
    shown = [*rows[:_MOST_NUMBERS], [f"... {hidden} more", "", ""]] if hidden > 0 else rows
    return _table(heading, shown, right=(1, 2) if heading[2] else (1,))


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]], right: tuple[int, ...] = ()) -> str:
    """A table; its cells are HTML."""

    def row(tag: str, cells: Sequence[str]) -> str:
        sides = ["right" if column in right else "left" for column in range(len(cells))]
        shown = (f'<{tag} style="text-align:{s}">{c}</{tag}>' for s, c in zip(sides, cells, strict=True))
        return f"<tr>{''.join(shown)}</tr>"

    return f"<table><thead>{row('th', heading)}</thead><tbody>{''.join(row('td', r) for r in rows)}</tbody></table>"


def in_notebook() -> bool:
    """Whether this is a notebook: IPython with a kernel, which shows HTML."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and hasattr(shell, "kernel")


class NotebookMonitor(Monitor):
    """What runs right now, in the output of the cell; it leaves nothing behind."""

    def __init__(self, total: int) -> None:
        self._total, self._counted = total, set[str]()
        self._running: dict[str, Progress | None] = {}
        self._lock = threading.Lock()
        self._handle: Any = None
        self._due = perf_counter() + _PATIENCE

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._handle is not None:
                self._show("")

    def started(self, task: Task) -> None:
        """A line more."""
        with self._lock:
            self._running[task.id] = None

    def progress(self, task: Task, progress: Progress) -> None:
        """A new picture, but not ten times a second."""
        with self._lock:
            self._running[task.id] = progress
            if perf_counter() >= self._due:
                self._show(self._picture())
                self._due = perf_counter() + _PATIENCE / 2

    def finished(self, task: Task, result: Result) -> None:  # noqa: ARG002
        """A line less."""
        with self._lock:
            self._counted.add(task.id)
            self._running.pop(task.id, None)

    def tried(self, task: Task, result: Result) -> None:  # noqa: ARG002
        """A line less; a value that a search tries does not count."""
        with self._lock:
            self._running.pop(task.id, None)

    def decided(self, result: Result) -> None:
        """A search counts when it is answered."""
        with self._lock:
            self._counted.add(result.id)

    def _picture(self) -> str:
        lines = (
            [f"<div>{len(self._counted)} of {numbers.plural(self._total, 'task')} done</div>"]
            if self._total > 1
            else []
        )
        for name, state in self._running.items():
            if state is not None:
                boxes = f"{numbers.count(state.boxes)} boxes"
                words = f"{numbers.share(state.certified)} proved, {boxes}, {numbers.duration(state.seconds)}"
                bar = f'<progress value="{state.certified}" max="1"></progress>'
                lines.append(f"<div>{escape(name)} {bar} {words}</div>")
        return "".join(lines)

    def _show(self, html: str) -> None:
        page: Any = importlib.import_module("IPython.display")
        if self._handle is None:
            self._handle = page.display(page.HTML(html), display_id=True)
        else:
            self._handle.update(page.HTML(html))
