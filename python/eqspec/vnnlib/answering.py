"""Answers VNN-LIB files in the competitions' words.

Every case of the asserts becomes a claim, and every claim is decided as always: `unsat` if all are proved, `sat` if an
input breaks one. Sound twice over: a proof is that of `eqspec.tasks`, and an input counts as `sat` only if the asserts
of the file themselves hold there in exact arithmetic, whatever the way from asserts to claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from time import perf_counter

from eqspec import compile as compiler
from eqspec.errors import Diagnostic, InputError, SpecError
from eqspec.networks import read_network
from eqspec.replay.replay import raw_point
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.spec import ast, printer
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.vnnlib import assignments
from eqspec.vnnlib.assignments import Assignment
from eqspec.vnnlib.conjunctions import conjunction
from eqspec.vnnlib.importing import Imported, import_query
from eqspec.vnnlib.network_binding import Reader
from eqspec.vnnlib.reading import read_file

_PROBE = "probe_"


class Answer(StrEnum):
    """What is known of a file."""

    SAT = "sat"
    """There are inputs for which all asserts hold."""
    UNSAT = "unsat"
    """There are none."""
    UNKNOWN = "unknown"
    TIMEOUT = "timeout"
    ERROR = "error"


@dataclass(frozen=True)
class Answered:
    """The answer, an assignment with `sat`, why with `unknown`, and what was noticed on the way."""

    answer: Answer
    assignment: Assignment | None = None
    reason: str | None = None
    warnings: tuple[Diagnostic, ...] = ()
    interrupted: bool = False


def answer(
    path: Path,
    files: Mapping[str, Path],
    *,
    timeout: float | None = None,
    threads: int | None = None,
    memory: int | None = None,
    as_real: bool = False,
) -> Answered:
    """Answer a file within `timeout` seconds, reading included, with `memory` bytes as in `Options`.

    SpecError where it cannot be read or imported, NetworkError for a network, InputError where none is given, or where
    the file declares floating-point types: an answer is about real numbers, which `as_real` consents to.
    """
    began = perf_counter()
    read = lru_cache(maxsize=None)(read_network)
    asked = read_file(path)
    for tensor in (t for n in asked.query.networks for t in (n.input, n.output) if t is not None):
        if tensor.kind.lower() != "real" and not as_real:
            message = f"'{tensor.name}' is declared {tensor.kind}, but what is proved here holds for real numbers"
            raise InputError(f"{message}; declare it 'real', or consent with --as-real")
    try:
        made = import_query(asked, files, network_reader=read, answering=True)
    except SpecError as problem:
        if any(d.severity == "error" and d.code != "E133" for d in problem.diagnostics):
            raise
        return Answered(Answer.UNSAT, warnings=problem.diagnostics)  # bounds that exclude each other, exactly
    missing = [bound.name for bound in made.subject.networks if bound.network is None]
    if missing:
        raise InputError(f"no file is given for network {missing[0]}; add --network {missing[0]}=FILE")
    found = _Run(
        made, read, Options(threads=threads, memory=memory, weaken=False), None if timeout is None else began + timeout
    ).answer()
    return replace(found, warnings=made.warnings + ((made.empty,) if made.empty is not None else ()))


@dataclass(frozen=True, eq=False)
class _Question:
    """A task that is broken wherever a case holds; if also a little beyond, `inner` is another that is not."""

    task: Task
    inner: Task | None = None


class _Run:
    def __init__(self, made: Imported, read: Reader, options: Options, deadline: float | None) -> None:
        self._made, self._options, self._deadline = made, options, deadline
        self._runner = Runner(options)
        self._questions = _questions(made, read)
        self._reasons: list[str] = []

    def answer(self) -> Answered:
        open_questions = self._questions
        for last in (False, True):  # first a fair share of the time for each, then what is left for the undecided
            late = []
            for number, question in enumerate(open_questions):
                left = None if self._deadline is None else self._deadline - perf_counter()
                if left is not None and left <= 0:
                    return Answered(Answer.TIMEOUT, reason="the time ran out")
                share = None if left is None else left if last else left / (len(open_questions) - number)
                found, reason = self._decide(question, share)
                if found is not None:
                    return found
                if reason is Reason.TIMEOUT:
                    late.append(question)
            open_questions = late
        if open_questions:
            return Answered(Answer.TIMEOUT, reason="the time ran out")
        if self._reasons:
            return Answered(Answer.UNKNOWN, reason=self._reasons[0])
        return Answered(Answer.UNSAT)

    def _decide(self, question: _Question, seconds: float | None) -> tuple[Answered | None, Reason | None]:
        """An answer to the whole file, if this settles it; the reason why the question is undecided, if it is."""
        for task in (question.task, question.inner):
            if task is None:
                continue
            result = self._runner.run(task, options=replace(self._options, timeout=seconds))
            if result.reason is Reason.INTERRUPTED:
                return Answered(Answer.UNKNOWN, reason="interrupted", interrupted=True), None
            if result.verdict is Verdict.EQUIVALENT and task is question.task:
                return None, None
            if result.verdict is Verdict.UNKNOWN:
                if result.reason is not Reason.TIMEOUT:
                    self._reasons.append(str(result.reason))
                return None, result.reason
            if result.verdict is Verdict.DIFFERENT:
                found = self._assignment(task, result)
                if found.satisfies:
                    return Answered(Answer.SAT, found), None
        self._reasons.append("the asserts are met only up to a boundary that they exclude, or too close to tell")
        return None, None

    def _assignment(self, task: Task, result: Result) -> Assignment:
        assert result.witness is not None
        point = result.witness.normalised
        raw = raw_point(task, point)
        inputs: list[Sequence[Fraction]] = [
            raw if self._made.raw == number else point for number in range(len(self._made.subject.networks))
        ]
        return assignments.at(self._made.subject, inputs)


def _questions(made: Imported, read: Reader) -> list[_Question]:
    """The tasks of the imported spec, and those made of cases that no sentence says.

    Empty areas are left for the proof to find: `expect vacuous` keeps the compiler from refusing them.
    """
    empty_is_fine = ast.Expect(ast.Name("vacuous"))
    declarations = [
        replace(d, clauses=(*d.clauses, empty_is_fine)) if isinstance(d, ast.Check) else d
        for d in made.file.declarations
    ]
    regions = [d.name.text for d in declarations if isinstance(d, ast.Region)]
    networks = [d.name.text for d in declarations if isinstance(d, ast.Network)]
    probed = sorted({number for number, _ in made.conjunctions})
    for number in probed:  # a check that is never run gives the region, and the networks in its units
        f, g = (ast.Reference(ast.QualifiedName((n,)), ast.Number("0")) for n in (networks[0], networks[-1]))
        left = ast.Sum(g, (("-", f),)) if len(networks) > 1 else g
        claim = ast.Satisfies(g.name, ast.Comparison(left, "<=", ast.Number("0")))
        on = ast.On(ast.Use(ast.QualifiedName((regions[number],))))
        declarations.append(ast.Check(ast.Name(f"{_PROBE}{number}"), (claim, on, empty_is_fine)))
    if not any(isinstance(d, ast.Check) for d in declarations):
        return []
    text = printer.text(ast.File(made.file.version, tuple(declarations)))
    compiled = compiler.loads(text, name=Path(made.subject.query.source.name).name, read=lambda path: read(str(path)))
    probes = {task.check: task for task in compiled.tasks if task.check.startswith(_PROBE)}
    questions = [_Question(task) for task in compiled.tasks if task.check not in probes]
    for number, case in made.conjunctions:
        area = probes[f"{_PROBE}{number}"]
        questions.append(_Question(conjunction(area, case, outer=True), conjunction(area, case, outer=False)))
    return questions
