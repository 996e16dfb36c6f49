"""What became of a task: verdict, witness and the work it took, as plain data with a stable JSON form.

Everything a verdict depends on is written exactly (rationals as text such as "1/10") and as a float beside it. The
schema is `schema/result.schema.json` in this package; fields are only ever added. JSON has no NaN and no infinity:
they are null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, Literal

from eqspec.tasks.bracket import Bracket
from eqspec.tasks.scores import of_networks
from eqspec.tasks.search_statistics import Moment, Sampled, Undecided
from eqspec.tasks.witness import Witness, finite

SCHEMA_VERSION = 1


class Verdict(StrEnum):
    """What is known about the claim."""

    EQUIVALENT = "equivalent"
    """It holds at every real point of the region: a theorem."""
    DIFFERENT = "different"
    """`witness` is a point of the region where it does not hold, checked in exact arithmetic."""
    UNKNOWN = "unknown"
    """Neither was shown; `reason` says why."""


class Reason(StrEnum):
    """Why a verdict is unknown."""

    TIMEOUT = "timeout"
    """The time ran out."""
    MEMORY = "memory"
    """The open boxes filled the memory they may take."""
    SPURIOUS = "spurious"
    """Only points of the relaxation were left, none of which breaks the claim itself."""
    INCOMPLETE = "incomplete"
    """Boxes became as small as floats allow, undecided."""
    FLOAT_ONLY = "float_only"
    """The claim breaks in floating point at points where it holds in exact arithmetic."""
    BOXES = "boxes"
    """The limit on boxes was reached."""
    SOLVER = "solver"
    """All that is left are boxes where, by a solver's word, nothing breaks the claim."""
    INTERRUPTED = "interrupted"
    """Somebody stopped it."""
    ERROR = "error"
    """It failed; `message` says how."""


@dataclass(frozen=True)
class Nearly:
    """What is proved instead where rounding alone stands in the way: the claim, which number of it was moved, to where.

    `name` is margin, confidence, eps or bound.
    """

    claim: str
    name: str
    value: Fraction

    def to_json(self) -> dict[str, Any]:
        """The `nearly` object of the schema."""
        return {"claim": self.claim, "name": self.name, "value": float(self.value), "value_exact": str(self.value)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Nearly:
        """What `to_json` wrote."""
        return cls(data["claim"], data["name"], Fraction(data["value_exact"]))


@dataclass(frozen=True)
class Result:
    """What became of one task. `boxes`, `splits` and `lps` count work; `seconds` is wall time with everything included.

    `certified_fraction` is the proved share of the region's volume. `initial_bound` is the bound on the first,
    unsplit box: for a distance the largest |bound| of a difference of outputs. `stages` counts what decided the boxes;
    `milps` counts mixed-integer programs, and `rests_on_solver` the boxes left open where by the solver's word nothing
    breaks the claim. `effort` and `worst_open` say what the search took and what it left, as the schema describes them.

    For a search, `find` has its answer: the verdict is equivalent if the bracket is closed around a value that was
    proved, different if even the easiest value is refuted, and unknown while the bracket is open, whatever was proved
    so far; the counts are those of all the tasks it took.

    `cached` says that the verdict is that of an earlier run of the same question, `resumed` that the search went on
    where an earlier one stopped; times and counts are then those of the whole search.

    With a witness comes `task`, the task it belongs to in the form of `eqspec.tasks.serialisation`, so that it can be
    replayed from the result alone; for a search, the task at the refuted value.

    Where a certificate was asked for, `certificate` is its path, or None if there is none, and then `uncertified` says
    why; for a search, the reasons of all its tasks.

    `history` tells how the proved share grew, `undecided` where the open boxes of an unknown result lie, and `sampled`
    how far the outputs lie apart at random inputs: for reports, not for the verdict.

    `nearly` is there if an unknown result is undecided because of rounding alone: a claim a hair weaker, and proved.
    """

    id: str
    check: str
    parameters: Mapping[str, Fraction]
    verdict: Verdict
    reason: Reason | None = None
    message: str | None = None
    vacuous: bool = False
    expected: str | None = None
    seconds: float = 0.0
    boxes: int = 0
    splits: int = 0
    lps: int = 0
    milps: int = 0
    rests_on_solver: int = 0
    initial_bound: float | None = None
    certified_fraction: float = 0.0
    open_boxes: int = 0
    stages: Mapping[str, int] = field(default_factory=dict)
    effort: Mapping[str, Any] = field(default_factory=dict)
    worst_open: Mapping[str, Any] | None = None
    witness: Witness | None = None
    claim: str = ""
    tags: tuple[str, ...] = ()
    find: Bracket | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    networks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    engine_version: str = ""
    source: str | None = None
    task: Mapping[str, Any] | None = None
    history: tuple[Moment, ...] = ()
    undecided: Undecided | None = None
    sampled: Sampled | None = None
    cached: bool = False
    resumed: bool = False
    certificate: str | None = None
    uncertified: str | None = None
    nearly: Nearly | None = None

    @property
    def as_expected(self) -> bool | None:
        """Whether this is what was expected of it; None while undecided.

        Without an expectation the claim is meant to hold. An empty region or guard proves anything, so it is as
        expected only where `expect vacuous` says so. `expect unknown` is met by unknown, not by a task that failed.
        """
        if self.find is not None and self.find.gap == "budget":
            return None
        if self.reason is Reason.ERROR:
            return None
        if self.expected == "unknown":
            return self.verdict is Verdict.UNKNOWN
        if self.verdict is Verdict.UNKNOWN:
            return None
        actual = "vacuous" if self.vacuous else self.verdict.value
        return actual == (self.expected or "equivalent")

    @property
    def scores(self) -> Literal["outputs", "logits"] | None:
        """What the claim compares: what the files give, or logits where one ends in Softmax; None if not known."""
        tails = [network.get("left_out", "?") for network in self.networks.values()]
        if "?" in tails or not tails:
            return None
        return "logits" if any(tails) else "outputs"

    @property
    def scores_in_words(self) -> str:
        """Which networks are read without the Softmax at their end; empty where scores are the files' outputs."""
        return of_networks(self.networks.values())

    def to_json(self) -> dict[str, Any]:
        """One object of the schema, of plain JSON types."""
        return {
            "schema_version": SCHEMA_VERSION,
            "id": self.id,
            "check": self.check,
            "claim": self.claim,
            "parameters": {name: _plain(value) for name, value in self.parameters.items()},
            "parameters_exact": {name: str(value) for name, value in self.parameters.items()},
            "verdict": self.verdict.value,
            "reason": self.reason.value if self.reason else None,
            "message": self.message,
            "vacuous": self.vacuous,
            "expected": self.expected,
            "as_expected": self.as_expected,
            "seconds": self.seconds,
            "boxes": self.boxes,
            "splits": self.splits,
            "lps": self.lps,
            "milps": self.milps,
            "rests_on_solver": self.rests_on_solver,
            "initial_bound": finite(self.initial_bound),
            "certified_fraction": self.certified_fraction,
            "open_boxes": self.open_boxes,
            "stages": dict(self.stages),
            "effort": dict(self.effort),
            "worst_open": None if self.worst_open is None else {k: finite(v) for k, v in self.worst_open.items()},
            "witness": self.witness.to_json() if self.witness else None,
            "find": self.find.to_json() if self.find else None,
            "tags": list(self.tags),
            "settings": {name: finite(value) for name, value in self.settings.items()},
            "scores": self.scores,
            "networks": {role: dict(network) for role, network in self.networks.items()},
            "engine_version": self.engine_version,
            "source": self.source,
            "task": self.task,
            "history": [moment.to_json() for moment in self.history],
            "undecided": self.undecided.to_json() if self.undecided else None,
            "sampled": self.sampled.to_json() if self.sampled else None,
            "cached": self.cached,
            "resumed": self.resumed,
            "certificate": self.certificate,
            "uncertified": self.uncertified,
            "nearly": self.nearly.to_json() if self.nearly else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """The result that `to_json` wrote; unknown fields of later versions are passed over."""
        return cls(
            id=data["id"],
            check=data["check"],
            parameters={name: Fraction(value) for name, value in data["parameters_exact"].items()},
            verdict=Verdict(data["verdict"]),
            reason=Reason(data["reason"]) if data["reason"] else None,
            message=data["message"],
            vacuous=data["vacuous"],
            expected=data["expected"],
            seconds=data["seconds"],
            boxes=data["boxes"],
            splits=data["splits"],
            lps=data["lps"],
            milps=data.get("milps", 0),
            rests_on_solver=data.get("rests_on_solver", 0),
            initial_bound=data["initial_bound"],
            certified_fraction=data["certified_fraction"],
            open_boxes=data["open_boxes"],
            stages=data["stages"],
            effort=data.get("effort", {}),
            worst_open=data.get("worst_open"),
            witness=Witness.from_json(data["witness"]) if data["witness"] else None,
            find=Bracket.from_json(data["find"]) if data.get("find") else None,
            claim=data["claim"],
            tags=tuple(data["tags"]),
            settings=data["settings"],
            networks=data["networks"],
            engine_version=data["engine_version"],
            source=data["source"],
            task=data.get("task"),
            history=tuple(map(Moment.from_json, data.get("history") or ())),
            undecided=Undecided.from_json(data["undecided"]) if data.get("undecided") else None,
            sampled=Sampled.from_json(data["sampled"]) if data.get("sampled") else None,
            cached=data.get("cached", False),
            resumed=data.get("resumed", False),
            certificate=data.get("certificate"),
            uncertified=data.get("uncertified"),
            nearly=Nearly.from_json(data["nearly"]) if data.get("nearly") else None,
        )


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
