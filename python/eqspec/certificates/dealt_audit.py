"""Certificates whose leaves are audited on many machines.

The auditor of this machine reads each certificate: networks, claim, the form of the whole tree, and what is said of it;
all but the enclosures of its leaves and the rounds above them. Those are dealt out in parts. What a worker answers
counts only as the answer to the part that it was given, of the file that it was given; a certificate holds when every
leaf of it was answered for, and every answer is that it is proved. So a lost or garbled answer leaves a part open, and
nothing else. That a worker of this build has checked what it says is taken on trust, as of a search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Protocol

from eqspec.audit import Refused
from eqspec.audit.opening import limits
from eqspec.certificates.auditor import Answer, Auditor
from eqspec.certificates.parts import Checked, Sheet, check
from eqspec.errors import EqspecError
from eqspec.lazy_dataclass import dataclass

_LEAST = 32
"""Leaves of a part: every part passes over the whole tree."""
_EACH = 4
"""Parts for every job that the cluster computes at once, so that they end at about the same time."""
_GRACE = 60.0
"""Seconds that an answer may take beyond those of the auditor."""


class Dealer(Protocol):
    """What deals jobs out to workers."""

    @property
    def slots(self) -> int:
        """How many jobs are computed at once."""

    @property
    def outstanding(self) -> int:
        """Jobs that have no answer yet."""

    def add(
        self,
        material: object,
        function: Callable[..., object],
        arguments: tuple[object, ...],
        take: Callable[[object], str | None],
        fail: Callable[[str], None],
        seconds: float,
    ) -> Callable[[], None]:
        """Have a function of the material and the arguments computed; what withdraws it."""

    def turn(self, seconds: float) -> None:
        """Do what there is to do, and wait so long for an answer."""


@dataclass(eq=False)
class _Audit:
    """A certificate of which parts are out."""

    answer: Answer
    began: float
    parts: list[tuple[int, int]] = field(default_factory=list)
    proved: dict[int, int] = field(default_factory=dict)
    """The rounds of parts that are proved, by their numbers."""
    refused: dict[int, Answer] = field(default_factory=dict)
    withdraw: dict[int, Callable[[], None]] = field(default_factory=dict)

    @property
    def whole(self) -> Answer | None:
        """The answer, once it is known: the first refusal in the order of the leaves, as on one machine."""
        if not self.parts:
            return self.answer
        first = min(self.refused, default=len(self.parts))
        if any(number not in self.proved for number in range(first)):
            return None
        seconds = perf_counter() - self.began
        if self.refused:
            return replace(self.refused[first], seconds=seconds)
        leaves = sum(last - first for first, last in self.parts)
        rounds = sum(self.proved.values())
        return replace(self.answer, verdict="equivalent", leaves=leaves, rounds=rounds, part=None, seconds=seconds)

    def refuse(self, number: int, answer: Answer) -> None:
        """A part does not hold; of those after it nothing is wanted any more."""
        self.refused[number] = answer
        for later, withdraw in self.withdraw.items():
            if later > number:
                withdraw()


def answers(
    files: Iterable[Path], auditor: Auditor, dealer: Dealer, folder: Path | None, seconds: float | None
) -> Iterator[Answer]:
    """What is to be said of each certificate, in their order, in the words in which the auditor says it alone."""
    waiting: list[_Audit] = []
    for file in files:
        waiting.append(_begun(file, auditor, dealer, folder, seconds))
        dealer.turn(0.0)
        while waiting and dealer.outstanding > 2 * max(1, dealer.slots):
            if (found := waiting[0].whole) is None:
                dealer.turn(0.1)
                continue
            waiting.pop(0)
            yield found
    for audit in waiting:
        while (found := audit.whole) is None:
            dealer.turn(0.1)
        yield found


def _begun(file: Path, auditor: Auditor, dealer: Dealer, folder: Path | None, seconds: float | None) -> _Audit:
    """A certificate after all but its leaves was checked here; its parts are with the dealer."""
    began = perf_counter()
    try:
        answer = auditor.ask(file, folder, seconds, (0, 0))
    except EqspecError as problem:  # the process of the auditor ended
        return _Audit(Answer(str(problem)), began)
    if answer.refused is not None or answer.part is None:
        return _Audit(answer, began)
    try:
        sheet = Sheet.of(file, answer, folder)
    except Refused as reason:
        return _Audit(Answer(str(reason)), began)
    while not dealer.slots:
        dealer.turn(0.1)
    leaves = answer.part[2]
    count = max(1, min(_EACH * dealer.slots, leaves // _LEAST))
    ends = [leaves * k // count for k in range(count + 1)]
    audit = _Audit(answer, began, list(pairwise(ends)))
    most = (seconds or limits.SECONDS) + _GRACE
    for number, (first, last) in enumerate(audit.parts):
        part = (first, last, leaves)
        audit.withdraw[number] = dealer.add(
            sheet, check, (part, seconds), _take(audit, number, sheet, part), _fail(audit, number), most
        )
    return audit


def _take(audit: _Audit, number: int, sheet: Sheet, part: tuple[int, int, int]) -> Callable[[object], str | None]:
    def take(came: object) -> str | None:
        if not isinstance(came, Checked):
            return f"it is a {type(came).__name__}"
        if came.digest != sheet.digest or came.question != sheet.question:
            return "it is about another certificate"
        if came.part != part or type(came.rounds) is not int or came.rounds < 0:
            return "it is about another part"
        if came.refused is None:
            audit.proved[number] = came.rounds
        elif isinstance(came.refused, str):
            audit.refuse(number, Answer(came.refused, leaf=came.leaf))
        else:
            return "it says neither that the part holds nor why it does not"
        return None

    return take


def _fail(audit: _Audit, number: int) -> Callable[[str], None]:
    first, last = audit.parts[number]

    def fail(why: str) -> None:
        audit.refuse(number, Answer(f"leaves {first} to {last - 1} were not checked: {why}"))

    return fail
