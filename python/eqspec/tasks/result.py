"""What became of a task: verdict, witness and the work it took, as plain data with a stable JSON form.

Everything a verdict depends on is written exactly (rationals as text such as "1/10") and as a float beside it. Each
field says once how it is written, read and described (see `json_form`), and the schema that
`eqspec schema result` prints is made of that; fields are only ever added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any, ClassVar, Literal

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.bracket import Bracket
from eqspec.tasks.json_form import (
    Form,
    JsonObject,
    as_json,
    count,
    exact_number,
    finite,
    flag,
    number,
    one_of,
    optional_text,
    reference,
    table,
    text,
    texts,
)
from eqspec.tasks.question import Question
from eqspec.tasks.row_share import RowShare
from eqspec.tasks.score_meaning import of_networks
from eqspec.tasks.search_statistics import Moment, Reused, Sampled, Undecided
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness

SCHEMA_VERSION = 1


def refuse_other_schema(entry: Mapping[str, Any], where: str) -> None:
    """InputError unless a result in JSON has the version that `Result.from_json` reads; `where` is for the message.

    Whatever reads results asks this first: fields of another version may mean something else.
    """
    version = entry.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        told = "no version" if version is None else f"version {version!r}"
        raise InputError(f"{where} has {told} of the schema of results; this eqspec reads {SCHEMA_VERSION}")


@dataclass(frozen=True)
class Nearly(JsonObject):
    """What is proved instead where rounding alone stands in the way: the claim, which number of it was moved, to where.

    `name` is margin, confidence, eps or bound.
    """

    claim: str = field(metadata=as_json(text("What is proved instead.")))
    name: str = field(
        metadata=as_json(one_of("margin", "confidence", "eps", "bound", description="The number that was moved."))
    )
    value: Fraction = field(metadata=as_json(exact_number()))


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


_PARAMETERS = Form(
    {
        "type": "object",
        "additionalProperties": {"type": "number"},
        "description": "The values of the sweep, as floats.",
    },
    lambda values: {name: _plain(value) for name, value in values.items()},
    exact=Form(
        {
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/exact"},
            "description": "The same, exactly.",
        },
        lambda values: {name: str(value) for name, value in values.items()},
        lambda data: {name: Fraction(value) for name, value in data.items()},
    ),
)
_VERDICT = Form(
    {
        "enum": [str(verdict) for verdict in Verdict],
        "description": "equivalent: the claim holds at every real point of the region. different: it does not hold at "
        "the witness, checked exactly. Of a search: unknown while its bracket is open, whatever 'find' says was proved "
        "so far.",
    },
    str,
    Verdict,
)
_REASON = Form(
    {
        "enum": [*(str(reason) for reason in Reason), None],
        "description": "Why the verdict is unknown. solver: nothing is left but what rests on the word of a "
        "mixed-integer solver; the claim holds if the solver is right. rounding: the claim allows less than rounding "
        "inside of the networks may change. off_grid: it breaks between the points of the region's grid. undecided: "
        "exact integers do not settle it. size: the networks are too large for bounds, and an attack found nothing.",
    },
    lambda reason: None if reason is None else str(reason),
    lambda data: Reason(data) if data else None,
)
_EFFORT = Form(
    {
        "type": "object",
        "description": "What the search took; empty for a check that searches for a value.",
        "properties": {
            "seconds": {
                "type": "object",
                "additionalProperties": {"type": "number", "minimum": 0},
                "description": "By part of the work, summed over the threads.",
            },
            "flops": {"type": "integer", "description": "Of the networks' layers, without what bounds rounding."},
            "obligations": {
                "type": "integer",
                "description": "Claims about single outputs still open, summed over boxes.",
            },
            "asked": {"type": "integer", "description": "Boxes for which linear programs were asked for."},
            "contracted": {"type": "integer", "description": "Boxes whose bounds were contracted."},
            "depth": {"type": "integer", "description": "Halvings that made the deepest box."},
        },
    },
    dict,
    required=False,
)
_WORST_OPEN = Form(
    {
        "oneOf": [
            {"type": "null"},
            {
                "type": "object",
                "required": ["bound", "depth", "lower", "upper", "obligations"],
                "properties": {
                    "bound": {
                        "type": ["number", "null"],
                        "description": "By how much the claim may break there, at most.",
                    },
                    "depth": {"type": "integer", "minimum": 0},
                    "lower": {"type": "array", "items": {"type": "number"}},
                    "upper": {"type": "array", "items": {"type": "number"}},
                    "obligations": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                },
            },
        ],
        "description": "The worst of the open boxes, in the units of the networks; null if nothing is open.",
    },
    lambda worst: None if worst is None else {name: finite(value) for name, value in worst.items()},
    required=False,
)
_SETTINGS = Form(
    {"type": "object", "description": "How it was run; null stands for no limit, or one thread per core."},
    lambda settings: {name: finite(value) for name, value in settings.items()},
)
_NETWORKS = Form(
    {
        "type": "object",
        "required": ["reference", "candidate"],
        "properties": {"reference": {"$ref": "#/$defs/network"}, "candidate": {"$ref": "#/$defs/network"}},
    },
    lambda networks: {role: dict(network) for role, network in networks.items()},
)
_HISTORY = Form(
    {
        "type": "array",
        "description": "How the proved share grew: at most about a hundred moments, the end among them.",
        "items": Moment.schema(),
    },
    lambda history: [moment.to_json() for moment in history],
    lambda data: tuple(map(Moment.from_json, data or ())),
    required=False,
)


@dataclass(frozen=True)
class Result(JsonObject):
    """What became of one task. `boxes`, `splits` and `lps` count work; `seconds` is wall time with everything included.

    `certified_fraction` is the proved share of the region's volume. `initial_bound` is the bound on the first,
    unsplit box: for a distance the largest |bound| of a difference of outputs. `stages` counts what decided the boxes;
    `milps` counts mixed-integer programs, and `rests_on_solver` the boxes left open where by the solver's word nothing
    breaks the claim. `effort` and `worst_open` say what the search took and what it left, as the schema describes them.

    For a search, `find` has its answer: the verdict is equivalent if the bracket is closed around a value that was
    proved, different if even the easiest value is refuted, and unknown while the bracket is open, whatever was proved
    so far; the counts are those of all the tasks it took.

    `cached` says that the verdict is that of an earlier run of the same question, `resumed` that the search went on
    where an earlier one stopped; times and counts are then those of the whole search. `reused` is there if it started
    from an earlier proof of other networks: from which, and how much of it was of use.

    With a witness comes `task`, the task it belongs to in the form of `eqspec.tasks.serialisation`, so that it can be
    replayed from the result alone; for a search, the task at the refuted value.

    Where a certificate was asked for, `certificate` is its path, or None if there is none, and then `uncertified` says
    why; for a search, the reasons of all its tasks.

    `history` tells how the proved share grew, `undecided` where the open boxes of an unknown result lie, and `sampled`
    how far the outputs lie apart at random inputs: for reports, not for the verdict.

    `question` says which region the verdict is about, for people who read the result without the spec.

    `over_rows` sums up what became of all rows of a table, for a check that goes over them.

    `nearly` is there if an unknown result is undecided because of rounding alone: a slightly weaker claim, which is
    proved.
    """

    id: str = field(metadata=as_json(text("Name of the check and the values it is taken at, as near[delta=0.9].")))
    check: str = field(metadata=as_json(text("Name of the check in the spec.")))
    parameters: Mapping[str, Fraction] = field(metadata=as_json(_PARAMETERS))
    verdict: Verdict = field(metadata=as_json(_VERDICT))
    reason: Reason | None = field(default=None, metadata=as_json(_REASON))
    message: str | None = field(
        default=None,
        metadata=as_json(
            optional_text("What went wrong, for the reason error; else what more is known of why it is undecided.")
        ),
    )
    vacuous: bool = field(
        default=False,
        metadata=as_json(
            flag("Whether the claim holds only because the region, or what its 'when' demands, is empty.")
        ),
    )
    expected: str | None = field(
        default=None, metadata=as_json(one_of("equivalent", "different", "unknown", "vacuous", None))
    )
    seconds: float = field(default=0.0, metadata=as_json(number("Wall time, everything included.", minimum=0)))
    boxes: int = field(default=0, metadata=as_json(count("Boxes whose outputs were enclosed.")))
    splits: int = field(default=0, metadata=as_json(count("Boxes that were halved.")))
    lps: int = field(default=0, metadata=as_json(count("Linear programs that were solved.")))
    milps: int = field(default=0, metadata=as_json(count("Mixed-integer programs that were solved.", required=False)))
    rests_on_solver: int = field(
        default=0,
        metadata=as_json(
            count(
                "Boxes left undecided where, by the word of a mixed-integer solver, nothing breaks the claim.",
                required=False,
            )
        ),
    )
    initial_bound: float | None = field(
        default=None,
        metadata=as_json(
            Form(
                {
                    "type": ["number", "null"],
                    "description": "Of the first box: the largest |bound| of a difference of the outputs.",
                },
                finite,
            )
        ),
    )
    certified_fraction: float = field(
        default=0.0, metadata=as_json(number("Proved share of the volume.", minimum=0, maximum=1))
    )
    open_boxes: int = field(default=0, metadata=as_json(count("Boxes left undecided at the end.")))
    stages: Mapping[str, int] = field(
        default_factory=dict,
        metadata=as_json(table({"type": "integer", "minimum": 0}, "How often each stage of the search decided.")),
    )
    effort: Mapping[str, Any] = field(default_factory=dict, metadata=as_json(_EFFORT))
    worst_open: Mapping[str, Any] | None = field(default=None, metadata=as_json(_WORST_OPEN))
    witness: Witness | None = field(default=None, metadata=as_json(reference(Witness, "witness")))
    find: Bracket | None = field(
        default=None,
        metadata=as_json(
            reference(Bracket, "find", "The answer, if the check searches for the best value of a variable.")
        ),
    )
    claim: str = field(default="", metadata=as_json(text("What is to hold, in the words of a spec.")))
    tags: tuple[str, ...] = field(default=(), metadata=as_json(texts()))
    settings: Mapping[str, Any] = field(default_factory=dict, metadata=as_json(_SETTINGS))
    networks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, metadata=as_json(_NETWORKS))
    engine_version: str = field(default="", metadata=as_json(text()))
    source: str | None = field(
        default=None, metadata=as_json(optional_text("Where the check stands: file:line:column."))
    )
    task: Mapping[str, Any] | None = field(
        default=None,
        metadata=as_json(
            Form(
                {
                    "type": ["object", "null"],
                    "description": "With a witness, the task it belongs to, in the form of the task schema: "
                    "`eqspec replay` needs no more.",
                },
                required=False,
            )
        ),
    )
    history: tuple[Moment, ...] = field(default=(), metadata=as_json(_HISTORY))
    undecided: Undecided | None = field(
        default=None,
        metadata=as_json(
            reference(
                Undecided,
                "undecided",
                "For unknown: where the open boxes lie. For people to look at; no verdict depends on it.",
                required=False,
            )
        ),
    )
    sampled: Sampled | None = field(
        default=None,
        metadata=as_json(
            reference(
                Sampled,
                "sampled",
                "How far the outputs lie apart at random inputs of the region, in floating point.",
                required=False,
            )
        ),
    )
    cached: bool = field(
        default=False,
        metadata=as_json(
            flag("Whether an earlier run decided the same question; seconds and counts are its own.", required=False)
        ),
    )
    resumed: bool = field(
        default=False,
        metadata=as_json(
            flag(
                "Whether the search went on where an earlier run stopped; seconds and counts are of both.",
                required=False,
            )
        ),
    )
    reused: Reused | None = field(
        default=None,
        metadata=as_json(
            reference(
                Reused,
                "reused",
                "If the search started from an earlier proof of other networks: from which, and how much of it was of "
                "use. The verdict rests on none of it.",
                required=False,
            )
        ),
    )
    certificate: str | None = field(
        default=None,
        metadata=as_json(
            optional_text(
                "The file of the certificate; null if none was asked for, or none could be made.", required=False
            )
        ),
    )
    uncertified: str | None = field(
        default=None,
        metadata=as_json(
            optional_text(
                "Why a certificate that was asked for could not be made. For a search, of all its tasks.",
                required=False,
            )
        ),
    )
    nearly: Nearly | None = field(
        default=None,
        metadata=as_json(
            reference(
                Nearly,
                "nearly",
                "If it is undecided because of rounding alone: a slightly weaker claim, which is proved.",
                required=False,
            )
        ),
    )

    question: Question | None = field(
        default=None,
        metadata=as_json(
            reference(Question, "question", "The region and how networks read it, for people.", required=False)
        ),
    )
    over_rows: RowShare | None = field(
        default=None,
        metadata=as_json(
            reference(
                RowShare,
                "over_rows",
                "Of a check over the rows of a table, what became of all rows at the same values. It is known when all "
                "have run; null before that, as in JSON Lines.",
                required=False,
            )
        ),
    )

    schema_version: ClassVar[int] = SCHEMA_VERSION
    DERIVED: ClassVar[Mapping[str, Form]] = {
        "schema_version": Form({"const": SCHEMA_VERSION}),
        "as_expected": Form(
            {
                "type": ["boolean", "null"],
                "description": "Without an expectation the claim is meant to hold, and not vacuously. null: undecided.",
            }
        ),
        "scores": Form(
            {
                "enum": ["outputs", "logits", None],
                "description": "What the claim compares: what the files give, or the logits in front of the Softmax "
                "that one of them ends in. null: not known.",
            },
            required=False,
        ),
    }
    appearance: ClassVar[Appearance]

    @property
    def as_expected(self) -> bool | None:
        """Whether the verdict is the expected one; None while undecided.

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
        """What the claim compares: the files' outputs, or logits where one ends in Softmax; None if not known."""
        tails = [network.get("left_out", "?") for network in self.networks.values()]
        if "?" in tails or not tails:
            return None
        return "logits" if any(tails) else "outputs"

    @property
    def scores_in_words(self) -> str:
        """Which networks are read without the Softmax at their end; empty where scores are the files' outputs."""
        return of_networks([self.networks.values()])

    def __repr__(self) -> str:
        remark = " vacuously" if self.vacuous else f" ({self.reason})" if self.reason else ""
        return f"<Result: {self.id} is {self.verdict}{remark}{f'; {self.claim}' if self.claim else ''}>"

    def __str__(self) -> str:
        return type(self).appearance.text(self)

    def _repr_html_(self) -> str | None:
        return type(self).appearance.html(self)


@dataclass(frozen=True)
class Appearance:
    """How a result is shown by `print` and in notebooks. The reports, of which this package knows nothing, set it."""

    text: Callable[[Result], str] = repr
    html: Callable[[Result], str | None] = lambda result: None  # noqa: ARG005


Result.appearance = Appearance()
