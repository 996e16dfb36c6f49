"""A witness: an input of the region where the claim does not hold, with both outputs, and its JSON form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.json_form import Form, JsonObject, finite, listed, optional_text, table, text, texts
from eqspec.tasks.observed import BaseRow, NearestRow

_EXACT = {"$ref": "#/$defs/exact"}
_OUTPUTS = {"type": ["number", "null"]}
_FORMS = {
    "raw": table({"type": "number"}, "The input by name of feature, in raw units."),
    "raw_exact": listed(_EXACT),
    "normalised": listed({"type": "number"}, "The input in network units."),
    "normalised_exact": listed(_EXACT),
    "units": texts(optional=True),
    "reference": table(_OUTPUTS, "Outputs of the reference by name, over the reals."),
    "candidate": table(_OUTPUTS),
    "confidence": Form(
        {"type": ["number", "null"], "description": "Softmax of the reference at the class it decides for."}
    ),
    "statement": text("How the claim is broken, in words."),
    "onnxruntime_confirms": Form(
        {
            "type": ["boolean", "null"],
            "description": "Whether the original files break the claim too, in onnxruntime and their own precision, "
            "run node by node.",
        }
    ),
    "onnxruntime_reason": optional_text("Why they could not be run."),
    "onnxruntime_default_confirms": Form(
        {
            "type": ["boolean", "null"],
            "description": "The same with onnxruntime's default optimisations, which rewrite a model before it is run; "
            "null where that was not asked or not possible.",
        },
        required=False,
    ),
    "moved": Form(
        {
            "type": ["array", "null"],
            "items": {"type": "string"},
            "description": "The features that are away from the base; all others are exactly there. null in older "
            "files.",
        },
        required=False,
    ),
    "out_of_type": Form(
        {
            "type": ["object", "null"],
            "required": ["name", "type", "meant", "stored"],
            "properties": {
                "name": {"type": "string", "description": "The accumulator or result, or the row and step."},
                "type": {"type": ["string", "null"], "description": "As the file writes it, where it does."},
                "meant": {**_EXACT, "description": "The value that it should have."},
                "stored": {**_EXACT, "description": "The value that it has instead."},
            },
            "description": "For claims about types, the number that leaves its type.",
        },
        required=False,
    ),
    "nearest": Form(
        {
            "oneOf": [{"type": "null"}, NearestRow.schema()],
            "description": "The nearest row of the tables that the region was made from, or else of those that the "
            "spec names for its space, where there is one.",
        },
        required=False,
    ),
    "base": Form(
        {
            "enum": ["centre", "row"],
            "description": "The centre of the region, or a row of a table: the one that the region lies around, or "
            "`base_row`.",
        },
        required=False,
    ),
    "base_row": Form(
        {
            "oneOf": [{"type": "null"}, BaseRow.schema()],
            "description": "Where the region lies around no row, the row of a table that all features which did not "
            "move are taken from.",
        },
        required=False,
    ),
}

Base = Literal["centre", "row"]


@dataclass(frozen=True)
class OutOfType:
    """A number that its type does not hold: what it is called, its type as the file writes it (None: it does not say),
    the value that it should have and the one that it has instead.
    """

    name: str
    type: str | None
    meant: Fraction
    stored: Fraction

    def to_json(self) -> dict[str, Any]:
        """The `out_of_type` object of the schema."""
        return {"name": self.name, "type": self.type, "meant": str(self.meant), "stored": str(self.stored)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OutOfType:
        """What `to_json` wrote."""
        return cls(data["name"], data["type"], Fraction(data["meant"]), Fraction(data["stored"]))


@dataclass(frozen=True)
class Witness(JsonObject):
    """An input where the claim does not hold.

    `normalised` (I,) is the point in network units and `raw` the same in raw units, both exact. The outputs are
    those of exact arithmetic, rounded; `confidence` is the softmax of the reference at its class, for claims about
    decisions. `onnxruntime_confirms` says whether the original files break the claim too when onnxruntime runs them
    in their own precision, node by node; None, with a reason, if they could not be run.
    `onnxruntime_default_confirms` says the same of onnxruntime's default settings, by which it rewrites a model before
    it runs it; None if that was not asked or could not be run. `moved` are the features away from the `base`, by
    number: the centre of the region, or the row of the table that it lies around, or the `base_row`; None where nobody
    looked. `out_of_type` is there for claims about types. `nearest` is the nearest row of the tables that the region
    was made from, or that the spec names for its space.
    """

    normalised: tuple[Fraction, ...]
    raw: tuple[Fraction, ...]
    features: tuple[str, ...]
    units: tuple[str | None, ...]
    outputs: tuple[str, ...]
    reference: tuple[float, ...]
    candidate: tuple[float, ...]
    confidence: float | None
    statement: str
    onnxruntime_confirms: bool | None = None
    onnxruntime_reason: str | None = None
    onnxruntime_default_confirms: bool | None = None
    moved: tuple[int, ...] | None = None
    base: Base = "centre"
    base_row: BaseRow | None = None
    out_of_type: OutOfType | None = None
    nearest: NearestRow | None = None

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The `witness` object of the schema. Inputs and outputs are objects by name, which no field is by itself."""
        properties = {name: dict(form.schema) for name, form in _FORMS.items()}
        required = [name for name, form in _FORMS.items() if form.required]
        return {"type": "object", "required": required, "properties": properties}

    def to_json(self) -> dict[str, Any]:
        """The `witness` object of the schema."""
        return {
            "raw": {name: float(x) for name, x in zip(self.features, self.raw, strict=True)},
            "raw_exact": [str(x) for x in self.raw],
            "normalised": [float(x) for x in self.normalised],
            "normalised_exact": [str(x) for x in self.normalised],
            "units": list(self.units),
            "reference": dict(zip(self.outputs, map(finite, self.reference), strict=True)),
            "candidate": dict(zip(self.outputs, map(finite, self.candidate), strict=True)),
            "confidence": self.confidence,
            "statement": self.statement,
            "onnxruntime_confirms": self.onnxruntime_confirms,
            "onnxruntime_reason": self.onnxruntime_reason,
            "onnxruntime_default_confirms": self.onnxruntime_default_confirms,
            "moved": None if self.moved is None else [self.features[i] for i in self.moved],
            "base": self.base,
            **({} if self.base_row is None else {"base_row": self.base_row.to_json()}),
            **({} if self.nearest is None else {"nearest": self.nearest.to_json()}),
            **({} if self.out_of_type is None else {"out_of_type": self.out_of_type.to_json()}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Witness:
        """The witness that `to_json` wrote."""
        return cls(
            normalised=tuple(map(Fraction, data["normalised_exact"])),
            raw=tuple(map(Fraction, data["raw_exact"])),
            features=tuple(data["raw"]),
            units=tuple(data["units"]),
            outputs=tuple(data["reference"]),
            reference=tuple(map(_number, data["reference"].values())),
            candidate=tuple(map(_number, data["candidate"].values())),
            confidence=data["confidence"],
            statement=data["statement"],
            onnxruntime_confirms=data["onnxruntime_confirms"],
            onnxruntime_reason=data["onnxruntime_reason"],
            onnxruntime_default_confirms=data.get("onnxruntime_default_confirms"),
            moved=None if data.get("moved") is None else tuple(list(data["raw"]).index(n) for n in data["moved"]),
            base=data.get("base", "centre"),
            base_row=None if data.get("base_row") is None else BaseRow.from_json(data["base_row"]),
            out_of_type=None if data.get("out_of_type") is None else OutOfType.from_json(data["out_of_type"]),
            nearest=None if data.get("nearest") is None else NearestRow.from_json(data["nearest"]),
        )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
