"""A leg, as a worker runs it: a share of a search, worked on for so long, and what is left of it.

A leg is a function of what it is given. It keeps nothing but questions that it has read, by their digests. Before
it computes anything it makes the question from the task, as the coordinator did, and holds the digest of what the core
sees against the coordinator's: a worker that would decide something else decides nothing.
"""

from __future__ import annotations

import os
import pickle
import platform
import tempfile
import threading
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eqspec.errors import SavedStateError
from eqspec.lazy_dataclass import dataclass
from eqspec.replay.replay import Replay
from eqspec.run import core
from eqspec.run.cache_key import build
from eqspec.run.engine import Array, Question, ThisMachine
from eqspec.run.lowering import lower_constraints, lower_property
from eqspec.run.monitor import Progress
from eqspec.run.options import at_most
from eqspec.run.pairs import Pairs
from eqspec.tasks.task import Task
from eqspec.tasks.witness import Witness

_MOST_QUESTIONS = 8
_MOST_CALLED_BACK = 64
_LAST_EVENT = b"Z"


@dataclass(frozen=True)
class Shipped:
    """A question as it travels: its task, pickled, how it was made, and the digest of what the core sees."""

    fingerprint: bytes
    content: bytes
    matched: bool
    chosen: dict[str, Any]

    @classmethod
    def of(cls, question: Question, chosen: dict[str, Any]) -> Shipped:
        """A question with the settings of its search by name, without what is a matter of each leg."""
        chosen = {k: v for k, v in chosen.items() if k not in ("timeout", "boxes", "threads", "record")}
        task = replace(question.task, observed=())  # rows of tables, which only whoever shows a witness looks at
        return cls(question.fingerprint(core.Settings(**chosen)), pickle.dumps(task), question.matched, chosen)


@dataclass(frozen=True)
class Order:
    """What a worker is to do: a share for so many seconds and boxes, by so many threads; what it tells of the way."""

    leg: str
    share: bytes
    seconds: float
    boxes: int | None
    threads: int
    record: bool
    trail: bool


@dataclass(frozen=True)
class Report:
    """What came of a leg: the answer to its share, or a candidate for a witness (I,).

    `beside` is a candidate that breaks the claim beside the grid of the region. `record` is the part of the record of a
    proof, `trail` that of what the next proof may take up; None where that grew too long.
    """

    answer: bytes | None
    witness: Array | None
    beside: Array | None
    record: bytes | None
    trail: bytes | None
    boxes: int

    def is_well_formed(self, inputs: int) -> bool:
        """Whether its parts are of the kinds that they should be, for networks of so many inputs; another process may
        have sent anything."""
        written = (part is None or isinstance(part, bytes) for part in (self.answer, self.record, self.trail))
        points = (
            point is None or (isinstance(point, np.ndarray) and point.dtype == np.float64 and point.shape == (inputs,))
            for point in (self.witness, self.beside)
        )
        return all(written) and all(points) and type(self.boxes) is int and self.boxes >= 0


@dataclass(frozen=True)
class WorkerIdentity:
    """Who a worker is: its build of eqspec, and where it runs."""

    build: str
    place: str


def identify() -> WorkerIdentity:
    """Who this worker is. Run before anything else; ModuleNotFoundError at its caller where eqspec is not installed."""
    return WorkerIdentity(build(), f"{platform.node()}, process {os.getpid()}")


_called_back: OrderedDict[str, threading.Event] = OrderedDict()
_questions: OrderedDict[bytes, Question] = OrderedDict()
_one_at_a_time = threading.Lock()
_engine = ThisMachine()


async def call_back(legs: list[str]) -> None:
    """Let legs return what they have, begun or not. Run beside the tasks of their workers."""
    for leg in legs:
        _called_back.setdefault(leg, threading.Event()).set()
    while len(_called_back) > _MOST_CALLED_BACK:  # of legs that had ended before
        _called_back.popitem(last=False)


def work(shipped: Shipped, order: Order) -> Report:
    """Work on a share, for the seconds and boxes of the order. One leg at a time: it may use all threads of its worker.

    SavedStateError if the share is damaged or belongs to another question than the one that was shipped, or if this
    worker makes another question of the task; ResourceError where threads, memory or a disk are missing.
    """
    called_back = _called_back.setdefault(order.leg, threading.Event())
    try:
        with _one_at_a_time:
            return _work(shipped, order, called_back)
    finally:
        _called_back.pop(order.leg, None)


def _work(shipped: Shipped, order: Order, called_back: threading.Event) -> Report:
    question = _question(shipped)
    replay = Replay(question.task)
    answers: list[bytes] = []
    trails: list[bytes] = []
    candidates: dict[str, Array] = {}

    def confirm(candidate: Array) -> Witness | None:
        witness = replay.confirm(candidate)
        if witness is not None:
            candidates.setdefault("witness", candidate.copy())
        elif replay.beside:
            candidates.setdefault("beside", candidate.copy())
        return witness

    def progress(_: Progress) -> None:
        if called_back.is_set():
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory(prefix="eqspec-leg-") as folder:
        record = Path(folder) / "record" if order.record else None
        chosen = shipped.chosen | {"timeout": order.seconds, "threads": at_most(order.threads)}
        if order.boxes is not None:
            chosen["boxes"] = order.boxes
        if record is not None:
            chosen["record"] = record
        memory = _memory()
        if memory is not None:
            chosen["memory"] = min(memory, chosen.get("memory", memory))
        solution = _engine.answer(
            question,
            core.Settings(**chosen),
            order.share,
            milp=chosen.get("milp", False),
            confirm=confirm,
            progress=progress,
            keep=answers.append,
            keep_trail=trails.append if order.trail else None,
        )
        written = None if record is None else record.read_bytes()
    different = solution.verdict == "different"
    if not different and len(answers) != 1:
        raise SavedStateError("a share was worked on and has no answer; please report this")
    return Report(
        answer=None if different else answers[0],
        witness=candidates.get("witness") if different else None,
        beside=candidates.get("beside"),
        record=None if written is None else written.removesuffix(_LAST_EVENT),
        trail=trails[-1].removesuffix(_LAST_EVENT) if trails else None,
        boxes=solution.boxes,
    )


def _question(shipped: Shipped) -> Question:
    """The question, made once for as long as a few others are not asked."""
    known = _questions.get(shipped.fingerprint)
    if known is None:
        task: Task = pickle.loads(shipped.content)
        known = Question(
            task,
            Pairs().of(task, matched=shipped.matched),
            lower_property(task.property, task.reference.output_size),
            lower_constraints(task),
            matched=shipped.matched,
        )
        if known.fingerprint(core.Settings(**shipped.chosen)) != shipped.fingerprint:
            raise SavedStateError("this worker makes another question of the task than the coordinator did")
        _questions[shipped.fingerprint] = known
        while len(_questions) > _MOST_QUESTIONS:
            _questions.popitem(last=False)
    _questions.move_to_end(shipped.fingerprint)
    return known


def _memory() -> int | None:
    """Half of what this worker may use, for open boxes; None if it is not limited."""
    try:
        from distributed import get_worker

        limit = get_worker().memory_manager.memory_limit
    except (ImportError, ValueError, AttributeError):  # no worker: called directly
        return None
    return None if not limit else int(limit) // 2
