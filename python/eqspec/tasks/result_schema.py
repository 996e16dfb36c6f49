"""The JSON Schema of results, made of the forms of their fields; `eqspec schema result` prints it."""

from __future__ import annotations

from typing import Any

from eqspec.tasks.bracket import Bracket
from eqspec.tasks.json_form import EXACT
from eqspec.tasks.question import Question
from eqspec.tasks.result import Nearly, Result
from eqspec.tasks.row_share import RowShare
from eqspec.tasks.row_source import RowSource
from eqspec.tasks.search_statistics import Reused, Sampled, Undecided
from eqspec.tasks.witness import Witness

_NETWORK = {
    "type": "object",
    "required": ["name", "path", "sha256"],
    "properties": {
        "name": {"type": "string"},
        "path": {"type": "string"},
        "sha256": {"type": "string"},
        "output": {"type": "string", "description": "Of a file with several outputs, the one that was chosen."},
        "takes": {"const": "raw", "description": "It takes raw inputs; without this it takes normalised ones."},
        "left_out": {
            "enum": ["Softmax", "LogSoftmax", None],
            "description": "The operator at the end of the file that its scores stand in front of.",
        },
    },
}


def _if(name: str, value: object, then: str, schema: object) -> dict[str, Any]:
    """JSON Schema of: if a field has this value, another one fits a schema."""
    return {"if": {"properties": {name: {"const": value}}}, "then": {"properties": {then: schema}}}


def _only_if(name: str, value: object, then: str, schema: object) -> dict[str, Any]:
    """The same, and the other field is null where the first has another value."""
    return {**_if(name, value, then, schema), "else": {"properties": {then: {"type": "null"}}}}


def result_schema() -> dict[str, Any]:
    """The whole schema, with everything that results refer to."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:eqspec:schema:result:1",
        "title": "What became of one task of eqspec",
        "description": "One claim about one pair of networks on one region. Fields are only ever added, so readers "
        "pass over those they do not know. A number that is not finite is null.",
        **Result.schema(),
        "allOf": [
            _only_if("verdict", "different", "witness", {"$ref": "#/$defs/witness"}),
            _only_if("verdict", "unknown", "reason", {"type": "string"}),
            _if("vacuous", True, "verdict", {"const": "equivalent"}),
        ],
        "$defs": {
            "exact": dict(EXACT),
            "exact_or_none": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/exact"}]},
            "network": _NETWORK,
            "undecided": Undecided.schema(),
            "reused": Reused.schema(),
            "sampled": Sampled.schema(),
            "find": Bracket.schema(),
            "question": Question.schema(),
            "rows": RowSource.schema(),
            "over_rows": RowShare.schema(),
            "nearly": Nearly.schema(),
            "witness": Witness.schema(),
        },
    }
