"""Answers VNN-LIB files in the competitions' words.

Every case of the asserts becomes a claim, and every claim is decided as always: `unsat` if all are proved, `sat` if an
input breaks one. Sound twice over: a proof is that of `eqspec.tasks`, and an input counts as `sat` only if the asserts
of the file themselves hold there in exact arithmetic, whatever the way from asserts to claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from time import perf_counter

from eqspec import compile as compiler
from eqspec.errors import Diagnostic, InputError, SpecError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import in_float32, read_network
from eqspec.networks.readers.onnx_overview import overview
from eqspec.replay.replay import raw_point
from eqspec.run.number_ranges import refuse_out_of_range
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.spec import ast, printer
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.vnnlib import assignments, float32_asserts
from eqspec.vnnlib.assignments import Assignment
from eqspec.vnnlib.conjunctions import conjunction
from eqspec.vnnlib.importing import Imported, import_query
from eqspec.vnnlib.network_binding import Reader, Subject
from eqspec.vnnlib.query import Query
from eqspec.vnnlib.readable_inputs import readable
from eqspec.vnnlib.reading import Read, read_file

_PROBE = "probe_"
_LOOK = 5.0
"""Seconds in which a pair with different inputs is looked at entry by entry, before its differences are."""


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

    About float32 tensors, every way in which runtimes may round is covered; `as_real` consents to real numbers.
    SpecError where it cannot be read or imported, NetworkError for a network, InputError where none is given, or where
    the file declares other floating-point types, or others than its networks have.
    """
    began = perf_counter()
    deadline = None if timeout is None else began + timeout
    read = lru_cache(maxsize=None)(read_network)
    options = Options(threads=threads, memory=memory, weaken=False)
    asked = read_file(path)
    if as_real or not _declares_float32(asked.query):
        return _answered(asked, None, (files, read), options, deadline)
    rounded = read_file(path, float32_asserts.float32)
    asserted = float32_asserts.demanding(asked.query, rounded.query)
    named = tuple(d for d in asked.warnings if d.code != "W604")  # which says that it is read as real
    wide = [Read(query, named) for query in float32_asserts.widened(asked.query, rounded.query)]
    found: list[Answered] = []
    for number, query in enumerate(wide):
        now = perf_counter()
        until = None if deadline is None else now + max(0.0, deadline - now) / (len(wide) - number)
        found.append(_answered(query, asserted, (files, read), options, until))
        if found[-1].answer is Answer.SAT or found[-1].interrupted:
            return found[-1]
    return next((one for one in found if one.answer is not Answer.UNSAT), found[0])


def _answered(
    asked: Read,
    asserted: Query | None,
    networks: tuple[Mapping[str, Path], Reader],
    options: Options,
    deadline: float | None,
) -> Answered:
    """The answer to what was read; over float32 if an assignment has to meet what is `asserted` then.

    `networks` are the files by name, and what reads them.
    """
    files, read = networks
    try:
        made = import_query(asked, files, network_reader=read, answering=True)
    except SpecError as problem:
        if not _no_input(problem):
            raise
        return Answered(Answer.UNSAT, warnings=problem.diagnostics)
    missing = [bound.name for bound in made.subject.networks if bound.network is None]
    if missing:
        raise InputError(f"no file is given for network {missing[0]}; add --network {missing[0]}=FILE")
    if asserted is not None and (reason := _only_over_the_reals(made)) is not None:
        return Answered(Answer.UNKNOWN, reason=reason, warnings=made.warnings)
    judge = _judge(made, asserted)
    if made.joint is not None:
        soon = perf_counter() + _LOOK
        try:
            entries = import_query(asked, files, network_reader=read, answering=True, differences=False)
            first = _Run(entries, judge, options, soon if deadline is None else min(soon, deadline)).answer()
        except SpecError as problem:  # what cannot be said entry by entry may be said of differences
            first = Answered(Answer.UNSAT if _no_input(problem) else Answer.UNKNOWN)
        if first.interrupted or first.answer in (Answer.SAT, Answer.UNSAT):
            return replace(first, warnings=made.warnings)
    found = _Run(made, judge, options, deadline).answer()
    return replace(found, warnings=made.warnings + ((made.empty,) if made.empty is not None else ()))


def _no_input(problem: SpecError) -> bool:
    """Whether all that is wrong is that bounds of inputs exclude each other, which is decided exactly."""
    return all(d.severity != "error" or d.code == "E133" for d in problem.diagnostics)


def _declares_float32(query: Query) -> bool:
    """Whether tensors are float32, or none is anything but real. InputError for other types."""
    tensors = [t for network in query.networks for t in (network.input, network.output) if t is not None]
    for tensor in tensors:
        if tensor.kind.lower() not in ("real", "float32"):
            message = f"'{tensor.name}' is declared {tensor.kind}, for which nothing is proved here"
            raise InputError(f"{message}; float32 and real are supported, and --as-real consents to real numbers")
    return any(tensor.kind == "float32" for tensor in tensors)


def _only_over_the_reals(made: Imported) -> str | None:
    """Why nothing is known of float32, if so. InputError where a file has other types than are declared."""
    for bound, declared in zip(made.subject.networks, made.subject.query.networks, strict=True):
        assert bound.path is not None
        assert bound.network is not None
        if bound.path.suffix.lower() == ".onnx":
            found = overview(str(bound.path))
            kinds = {kind for _, kind, _ in (*found.inputs, *found.outputs)}
            if kinds - {"float"}:
                names = " and ".join(sorted(kinds))
                message = f"'{declared.output.name}' is declared float32, but '{bound.path}' has {names}"
                raise InputError(f"{message}; declare it real, or consent with --as-real")
        if bound.network.stripped is not None:
            return f"'{bound.path}' ends in Softmax, and no standard says how runtimes round it; ask about real numbers"
    if made.joint is not None:
        return "networks with different inputs are compared over real numbers only; declare their tensors real"
    if made.raw is not None:
        return "an input that is another one scaled is taken over real numbers only; declare the tensors real"
    return None


def _judge(made: Imported, asserted: Query | None) -> Subject:
    """What an assignment is held against: the asserts as they are written, and what runtimes compute."""
    subject = made.subject if made.joint is None else made.joint.original
    if asserted is None:
        return subject
    networks = tuple(replace(b, network=None if b.network is None else in_float32(b.network)) for b in subject.networks)
    return Subject(replace(subject.query, assertions=asserted.assertions), networks)


@dataclass(frozen=True, eq=False)
class _Question:
    """A task that is broken wherever a case holds; if also a little beyond, `inner` is another that is not."""

    task: Task
    inner: Task | None = None


class _Run:
    """`judge` decides whether an input is an answer; with networks of float32, proofs are about float32."""

    def __init__(self, made: Imported, judge: Subject, options: Options, deadline: float | None) -> None:
        self._made, self._judge, self._options, self._deadline = made, judge, options, deadline
        self._runner = Runner(options)
        self._reasons: list[str] = []
        self._float32 = any(b.network is not None and b.network.arithmetic == "float32" for b in judge.networks)
        self._questions = _questions(made, rounding=self._float32)

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
                    return Answered(Answer.SAT, found if self._float32 else readable(found)), None
        self._reasons.append("the asserts are met only up to a boundary that they exclude, or too close to tell")
        return None, None

    def _assignment(self, task: Task, result: Result) -> Assignment:
        assert result.witness is not None
        point = result.witness.normalised
        raw = raw_point(task, point)
        inputs: list[Sequence[Fraction]] = [
            raw if self._made.raw == number else point for number in range(len(self._made.subject.networks))
        ]
        if self._made.joint is not None:
            inputs = [*self._made.joint.split(point)]
        if self._float32:  # both networks get the same input, of which the asserts name the first
            inputs = [float32_asserts.inside(self._judge.query, 0, point)] * len(inputs)
        return assignments.at(self._judge, inputs)


def _questions(made: Imported, *, rounding: bool) -> list[_Question]:
    """The tasks of the imported spec, and those made of cases that no sentence says.

    Empty areas are left for the proof to find: `expect vacuous` keeps the compiler from refusing them. With `rounding`
    they are about float32. InputError where that might overflow, which a task made of cases would not notice.
    """
    empty_is_fine = ast.Expect(ast.Name("vacuous"))
    clauses = (empty_is_fine, ast.Arithmetic(ast.Name("float32"))) if rounding else (empty_is_fine,)
    declarations = [
        replace(d, clauses=(*d.clauses, *clauses)) if isinstance(d, ast.Check) else d for d in made.file.declarations
    ]
    regions = [d.name.text for d in declarations if isinstance(d, ast.Region)]
    networks = made.names
    probed = sorted({number for number, _ in made.conjunctions})
    for number in probed:  # a check that is never run gives the region, and the networks in its units
        f, g = (ast.Reference(ast.QualifiedName((n,)), ast.Number("0")) for n in (networks[0], networks[-1]))
        left = ast.Sum(g, (("-", f),)) if len(networks) > 1 else g
        claim = ast.Satisfies(g.name, ast.Comparison(left, "<=", ast.Number("0")))
        on = ast.On(ast.Use(ast.QualifiedName((regions[number],))))
        declarations.append(ast.Check(ast.Name(f"{_PROBE}{number}"), (claim, on, *clauses)))
    if not any(isinstance(d, ast.Check) for d in declarations):
        return []
    text = printer.text(ast.File(made.file.version, tuple(declarations)))
    given = {n: b.network for n, b in zip(networks, made.subject.networks, strict=True) if b.network is not None}
    compiled = compiler.loads(text, name=Path(made.subject.query.source.name).name, networks=given)
    probes = {task.check: task for task in compiled.tasks if task.check.startswith(_PROBE)}
    questions = [_Question(task) for task in compiled.tasks if task.check not in probes]
    for number, case in made.conjunctions:
        area = probes[f"{_PROBE}{number}"]
        refuse_out_of_range(area)
        questions.append(_Question(conjunction(area, case, outer=True), conjunction(area, case, outer=False)))
    return questions
