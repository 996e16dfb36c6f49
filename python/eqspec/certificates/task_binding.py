"""Certificates and the tasks of specs: which task does a certificate answer, and which tasks have none?

The auditor says what it checked, exactly (`Answer.question`). A certificate belongs to a task if and only if that is
the question of the task, made from the spec and from the files as they are now: both networks by their content and how
they take inputs, the normalisation, the region with its constraints, the claim, and the arithmetic. Names do not
matter. They only say which task to name where nothing fits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Any

from eqspec.audit import Refused
from eqspec.audit.claimed import claim_in_words
from eqspec.audit.opening import limits, question
from eqspec.certificates.auditor import Answer
from eqspec.errors import EqspecError
from eqspec.lazy_dataclass import dataclass
from eqspec.tasks import serialisation
from eqspec.tasks.phrasing import number_in_words
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task

Question = Mapping[str, Any]
_NUMBER = re.compile(rf"-?[0-9]{{1,{limits.DIGITS}}}(/0*[1-9][0-9]{{0,{limits.DIGITS}}})?")


class UnboundError(Exception):
    """A certificate answers no task of the specs; the message says what differs."""


@dataclass
class Covered:
    """A task of a spec and the certificates that answer it."""

    task: Task
    answers: list[Answer] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Its name in the spec."""
        return self.task.id

    @property
    def trouble(self) -> str | None:
        """Why the certificates do not show what the spec expects of the task."""
        expected = self.task.expected or "equivalent"
        verdicts = {answer.verdict for answer in self.answers}
        if not verdicts:
            return None if expected == "unknown" else "no certificate answers it"
        if len(verdicts) > 1:
            return "certificates contradict each other: one proves the claim and one breaks it; please report this"
        (verdict,) = verdicts
        if verdict == "equivalent" and any(answer.vacuous for answer in self.answers):
            verdict = "vacuous"
        if verdict == expected:
            return None
        if expected == "vacuous" and verdict == "equivalent":
            return "the spec expects that it holds for nothing, which the auditor did not find out"
        shown = {"equivalent": "the claim holds", "different": "the claim breaks", "vacuous": "it holds for nothing"}
        return f"a certificate shows that {shown[verdict]}, and the spec expects {expected}"


@dataclass
class CoveredSearch:
    """A search for the best value of a variable, and the certificates at the values that were tried."""

    search: Search
    answers: list[tuple[Fraction, Answer]] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Its name in the spec."""
        return self.search.id

    @property
    def proved(self) -> Fraction | None:
        """The value at which the claim says most, of those where it is proved."""
        values = [value for value, answer in self.answers if answer.verdict == "equivalent"]
        return self._toward(self.search.hard, values)

    @property
    def refuted(self) -> Fraction | None:
        """The value at which the claim says least, of those where it breaks."""
        values = [value for value, answer in self.answers if answer.verdict == "different"]
        return self._toward(self.search.easy, values)

    def _toward(self, end: Fraction, values: Sequence[Fraction]) -> Fraction | None:
        return min(values, key=lambda value: abs(value - end)) if values else None

    @property
    def shown(self) -> str:
        """What the certificates show."""
        found = [("holds", self.proved), ("breaks", self.refuted)]
        parts = [f"{what} at {self.search.variable} = {number_in_words(v)}" for what, v in found if v is not None]
        return f"the claim {' and '.join(parts)}" if parts else "nothing"

    @property
    def trouble(self) -> str | None:
        """Why the certificates answer nothing of what is searched for."""
        if self.proved is None:
            return "no certificate proves the claim at any value"
        if any(answer.vacuous for value, answer in self.answers if value == self.proved):
            return f"at {self.search.variable} = {number_in_words(self.proved)} the claim holds for nothing"
        return None


class Coverage:
    """The tasks and searches of specs, and what certificates show of them."""

    def __init__(self, tasks: Sequence[Task], searches: Sequence[Search]) -> None:
        self.tasks = [Covered(task) for task in tasks]
        self.searches = [CoveredSearch(search) for search in searches]
        self._asked: dict[str, list[Covered]] = {}
        for one in self.tasks:
            if (key := _key(asked(one.task))) is not None:
                self._asked.setdefault(key, []).append(one)

    @property
    def all(self) -> list[Covered | CoveredSearch]:
        """Tasks, then searches."""
        return [*self.tasks, *self.searches]

    def bind(self, answer: Answer) -> list[str]:
        """The tasks that a certificate which holds answers, by id. UnboundError if there is none."""
        key = _key(answer.question)
        if found := self._asked.get(key or "", []):
            for one in found:
                one.answers.append(answer)
            return [one.id for one in found]
        nearest: Task | None = next((one.task for one in self.tasks if one.id == answer.labels.get("task")), None)
        for search in self.searches:
            value = _value(search.search, answer.labels.get("parameters", {}))
            if value is None:
                continue
            try:
                task = search.search.task_at(value)
            except EqspecError:
                continue
            if key is not None and _key(asked(task)) == key:
                search.answers.append((value, answer))
                return [task.id]
            nearest = nearest or task
        if nearest is None:
            raise UnboundError("no task of the spec has its id, and none asks exactly what it answers")
        raise UnboundError(
            f"it does not answer {nearest.id} of the spec: {'; '.join(differences(answer.question, nearest))}"
        )


def asked(task: Task) -> Question | str:
    """The question of a task, as the auditor reads it; or why it reads none, so that no certificate answers it."""
    try:
        found: Question = question(json.loads(json.dumps(serialisation.to_json(task))))
    except Refused as reason:
        return str(reason)
    return found


def _key(asked: Question | str) -> str | None:
    """All of a question but where the files are."""
    if isinstance(asked, str):
        return None
    networks = {role: {k: v for k, v in asked[role].items() if k != "path"} for role in ("reference", "candidate")}
    return json.dumps({**asked, **networks}, sort_keys=True)


def _value(search: Search, parameters: Mapping[str, str]) -> Fraction | None:
    """The value that a certificate says its task has in a search; whether it has is compared afterwards."""
    others = {name: str(value) for name, value in search.parameters.items()}
    text = parameters.get(search.variable, "")
    if {**others, search.variable: text} != dict(parameters) or _NUMBER.fullmatch(text) is None:
        return None
    value = Fraction(text)
    return value if search.low <= value <= search.high else None


def differences(found: Question, task: Task) -> list[str]:
    """What a certificate was checked for and a task does not ask, each in a clause."""
    wanted = asked(task)
    if isinstance(wanted, str):
        return [wanted]
    said: list[str] = []
    digests = [[one[role]["sha256"] for role in ("reference", "candidate")] for one in (found, wanted)]
    if digests[0] == digests[1][::-1] != digests[1]:
        said.append("its reference is the candidate of the spec, and its candidate the reference")
    else:
        for role, network in (("reference", task.reference), ("candidate", task.candidate)):
            if found[role]["sha256"] != wanted[role]["sha256"]:
                old, new = found[role]["sha256"][:12], wanted[role]["sha256"][:12]
                said.append(f"its {role} has sha256 {old}..., and {network.source} now {new}...")
    said += [
        f"its {role} is output {found[role].get('output')!r} of its file, the spec's {wanted[role].get('output')!r}"
        for role in ("reference", "candidate")
        if found[role].get("output") != wanted[role].get("output")
    ]
    said += [
        f"its {role} has inputs of shape {found[role].get('shapes')}, that of the spec {wanted[role].get('shapes')}"
        for role in ("reference", "candidate")
        if found[role].get("shapes") != wanted[role].get("shapes")
    ]
    said += [
        f"its {role} takes {found[role]['takes']} inputs, that of the spec {wanted[role]['takes']} ones"
        for role in ("reference", "candidate")
        if found[role]["takes"] != wanted[role]["takes"]
    ]
    if found["arithmetic"] != wanted["arithmetic"]:
        said.append(f"it is about {found['arithmetic']} arithmetic, the task about {wanted['arithmetic']}")
    said += [
        f"only one of both reads its {role}, a file with one output, as two classes"
        for role in ("reference", "candidate")
        if ("two_classes" in found[role]) != ("two_classes" in wanted[role])
    ]
    sizes = [(len(one["space"]["features"]), len(one["space"]["outputs"])) for one in (found, wanted)]
    if sizes[0] != sizes[1]:
        return [
            *said,
            f"it has {sizes[0][0]} inputs and {sizes[0][1]} outputs, the spec {sizes[1][0]} and {sizes[1][1]}",
        ]
    if found["property"] != wanted["property"]:
        said.append(f"it shows that {claim_in_words(dict(found))}; the task claims that {claim_in_words(dict(wanted))}")
    for where, name, what in (
        ("region", "lo_exact", "lower end of the region"),
        ("region", "hi_exact", "upper end of the region"),
        ("space", "mean_exact", "mean of the normalisation"),
        ("space", "std_exact", "scale of the normalisation"),
    ):
        pairs = zip(task.space.features, found[where][name], wanted[where][name], strict=True)
        others = [(feature, a, b) for feature, a, b in pairs if a != b]
        if others:
            feature, a, b = others[0]
            more = f", and {len(others) - 1} inputs more" if len(others) > 1 else ""
            said.append(f"the {what} is {_short(a)} for {feature}, in the spec {_short(b)}{more}")
    if any(found["region"][name] != wanted["region"][name] for name in ("A", "b", "strict")):
        counts = [len(one["region"]["A"]) for one in (found, wanted)]
        said.append(f"its region has other linear constraints ({counts[0]}) than that of the spec ({counts[1]})")
    return said or ["they are the same"]


def _short(text: str) -> str:
    return number_in_words(Fraction(text)) if len(text) <= 40 else f"{text[:30]}..."
