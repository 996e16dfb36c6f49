"""Results in notebooks: plain HTML that takes its colours from the page, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from eqspec.report import numbers, row_counts, table
from eqspec.report.inputs import inputs, nearest_row
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from eqspec.tasks.witness import Witness

_COLOURS = {Verdict.EQUIVALENT: "#2e9e5b", Verdict.DIFFERENT: "#d9534f", Verdict.UNKNOWN: "#c98a00"}
_MOST_ROWS = 200
_MOST_NUMBERS = 32


def of_results(results: Sequence[Result], summary: str) -> str:
    """A table with a row for each task, the inputs where claims break folded away, and the line that sums up."""
    shown = results[:_MOST_ROWS]
    rows = [
        [escape(r.id), _verdict(r), numbers.duration(r.seconds), numbers.count(r.boxes), escape(table.remark(r).plain)]
        for r in shown
    ]
    parts = [_table(["task", "verdict", "time", "boxes", ""], rows, right=(2, 3))]
    if len(results) > _MOST_ROWS:
        parts.append(f"<div>... and {numbers.count(len(results) - _MOST_ROWS)} more; to_frame() has them all</div>")
    parts += [_folded(r, w) for r in shown if (w := _witness_of(r)) is not None]
    parts += [f'<div style="margin-left:{n}ch">{escape(line)}</div>' for n, line in row_counts.lines(results)]
    if said := table.scores(results):
        parts.append(f"<div>{escape(said)}</div>")
    parts.append(f"<div>{escape(summary)}</div>")
    return "".join(parts)


def of_result(result: Result) -> str:
    """The verdict, the claim, and where it breaks."""
    remark = table.remark(result).plain
    words = [f"<b>{escape(result.id)}</b> {_verdict(result)} in {numbers.duration(result.seconds)}"]
    words += [escape(remark)] if remark else []
    parts = [f"<div>{', '.join(words)}</div>", f"<div>{escape(result.claim)}</div>" if result.claim else ""]
    parts += [f"<div>{escape(said)}</div>"] if (said := result.scores_in_words) else []
    witness = _witness_of(result)
    return "".join(parts) + (_witness(witness) if witness is not None else "")


def of_questions(items: Sequence[Task | Search]) -> str:
    """A table of what a spec asks: its tasks, and its searches for the best value."""
    rows = []
    for item in items[:_MOST_ROWS]:
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
    said += f" {near[0].upper()}{escape(near[1:])}." if (near := nearest_row(witness)) else ""
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
