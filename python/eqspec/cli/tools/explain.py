"""`eqspec explain`: a finding code at length, or what the checks of a spec claim and what they do not."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from re import fullmatch

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eqspec import compile as compiler
from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import load
from eqspec.errors import InputError
from eqspec.report.numbers import plural
from eqspec.report.statement import not_promised, statement
from eqspec.run.rounding import noise_floor
from eqspec.spec import ast
from eqspec.spec.codes import CODES
from eqspec.spec.explanations import Explanation, explanation
from eqspec.spec.numbers import shown
from eqspec.spec.suggest import did_you_mean
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task
from eqspec.vnnlib.codes import CODES as VNNLIB_CODES
from eqspec.vnnlib.explanations import explanation as vnnlib_explanation

_MOST_TASKS = 20


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    subject: str = arguments.subject
    if fullmatch(r"[EWew]\d+", subject) and not Path(subject).exists():
        found = explanation(subject.upper()) or vnnlib_explanation(subject.upper())
        if found is None:
            known = (*CODES, *VNNLIB_CODES)
            hint = did_you_mean(subject.upper(), known) or f"codes: {', '.join(known)}"
            raise InputError(f"there is no code {subject.upper()}; {hint}")
        _show_code(found, out)
        return ExitCode.AS_EXPECTED
    compiled = load(subject, arguments.param, err)
    if compiled is None:
        return ExitCode.BAD_INPUT
    _show_spec(compiled, out)
    return ExitCode.AS_EXPECTED


def _show_code(found: Explanation, out: Console) -> None:
    out.print(Text.assemble((f"{found.code}", "bold"), f": {found.title}"))
    out.print()
    out.print(Text(found.text))
    for heading, example in (("wrong", found.wrong), ("right", found.right)):
        out.print()
        out.print(Text(heading, "bold red" if heading == "wrong" else "bold green"))
        out.print(_indented(example))
    if found.around:
        out.print()
        out.print(Text("where these stand above", "bold"))
        out.print(_indented(found.around.strip()))
    if found.param:
        out.print()
        out.print(Text(f"run with -p {found.param}"))


def _show_spec(compiled: compiler.Compiled, out: Console) -> None:
    groups: dict[str, list[Task]] = {}
    searches = {find.check: find for find in compiled.finds}
    for task in compiled.tasks:
        groups.setdefault(task.check, []).append(task)
    for find in compiled.finds:
        groups.setdefault(find.check, []).append(find.task_at(find.easy))
    declared = {b.name: b.declaration for b in compiled.program.root.own("check")}
    for number, (name, tasks) in enumerate(groups.items()):
        if number:
            out.print()
        declaration = declared[name]
        _show_check(name, declaration if isinstance(declaration, ast.Check) else None, tasks, out)
        if name in searches:
            find = searches[name]
            sought = f"searched: the {find.direction} {find.variable} from {shown(find.low)} to {shown(find.high)}"
            out.print(Text(f"{sought} for which this holds", "bold"))
            out.print(_indented(_answer(find)))
    if groups:
        out.print()
        out.print(Text("not promised", "bold"))
        kinds = {task.arithmetic for tasks in groups.values() for task in tasks}
        for line in dict.fromkeys(line for kind in sorted(kinds, reverse=True) for line in not_promised(kind)):
            out.print(_item(line))


def _show_check(name: str, declaration: ast.Check | None, tasks: Sequence[Task], out: Console) -> None:
    first = tasks[0]
    found = statement(first)
    out.print(Text.assemble(("check ", ""), (name, "bold"), f"  ({first.source})" if first.source else ""))
    if declaration is not None and declaration.doc:
        for line in declaration.doc.split("\n"):
            out.print(Text(f"## {line}", "italic"))
    out.print(Text(found.claim))
    if first.parameters:
        at = ", ".join(f"{n} = {shown(v)}" for n, v in first.parameters.items())
        out.print(Text(f"shown for {at}"))
    out.print()
    for heading, lines in (
        ("in words", (found.words,)),
        ("formula", (found.formula, *found.symbols)),
        ("X, in raw units", found.region),
        ("notes", found.notes),
        ("rounding", _rounding(first)),
    ):
        if lines:
            out.print(Text(heading, "bold"))
            for line in lines:
                out.print(_indented(line))
    out.print(Text(plural(len(tasks), "task"), "bold"))
    for task in tasks[:_MOST_TASKS]:
        expected = f"  expect {task.expected}" if task.expected else ""
        out.print(_indented(f"{task.id}{expected}"))
    if len(tasks) > _MOST_TASKS:
        out.print(Text(f"  ... and {len(tasks) - _MOST_TASKS} more"))


def _answer(find: Search) -> str:
    """A sentence on what the answer of a search will mean."""
    if find.whole:
        better = "smaller" if find.direction == "smallest" else "larger"
        return (
            "each whole number makes a network of its own, and what one shows says nothing of another; the answer is "
            f"a value that is proved where every {better} one is refuted by an input, or says which are still open"
        )
    width = "" if find.width is None else f", until they are at most {shown(find.width)} apart"
    answer = f"the answer is a bracket: the best value proved, and the nearest one refuted by an input{width}"
    return f"{answer}; what lies between is not known"


def _rounding(task: Task) -> tuple[str, ...]:
    """Sentences on claims that cannot be proved because a network rounds its numbers."""
    floor = noise_floor(task)
    if floor is None:
        return ()
    return (
        f"what is rounded away inside may move an output by {floor:.3g}: a distance below that is proved only where "
        "boxes are so small that levels can be told apart",
    )


def _item(line: str) -> Padding:
    """A point of a list, whose further lines stand below its first one."""
    table = Table.grid(padding=(0, 1))
    table.add_row("-", Text(line))
    return Padding(table, (0, 0, 0, 2), expand=False)


def _indented(line: str) -> Padding:
    return Padding(Text(line), (0, 0, 0, 2), expand=False)
