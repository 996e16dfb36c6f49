"""Results as JSON: they fit the schema, come back unchanged, and say what counts as expected."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from any_results import results
from eqspec.tasks.result import Result
from eqspec.tasks.result_schema import result_schema
from eqspec.tasks.verdict import Reason, Verdict

SCHEMA = result_schema()
CHECK = Draft202012Validator(SCHEMA)


def strict(value: Any) -> str:
    """JSON as every reader understands it: no NaN, no infinity."""
    return json.dumps(value, allow_nan=False)


@given(results())
def test_results_fit_the_schema_and_come_back(result: Result) -> None:
    data = json.loads(strict(result.to_json()))
    CHECK.validate(data)
    assert set(data) == set(SCHEMA["properties"])
    back = Result.from_json(data)
    bound, limit = result.initial_bound, result.settings["timeout"]
    left = result.worst_open
    finite = replace(
        result,
        initial_bound=bound if bound is not None and math.isfinite(bound) else None,
        settings={"timeout": limit if limit is not None and math.isfinite(limit) else None},
        worst_open=left and {**left, "bound": left["bound"] if math.isfinite(left["bound"]) else None},
    )
    assert back == finite


@given(results(), st.data())
def test_unknown_fields_are_passed_over(result: Result, data: st.DataObject) -> None:
    later = {**result.to_json(), "added_later": 1}
    CHECK.validate(json.loads(strict(later)))
    assert Result.from_json(later).id == result.id
    missing = data.draw(st.sampled_from(SCHEMA["required"]))
    without = {key: value for key, value in result.to_json().items() if key != missing}
    with pytest.raises(ValidationError):
        CHECK.validate(without)


def made(verdict: Verdict, expected: str | None = None, *, vacuous: bool = False) -> Result:
    reason = Reason.TIMEOUT if verdict is Verdict.UNKNOWN else None
    return Result("a", "a", {}, verdict, reason, vacuous=vacuous, expected=expected)


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (made(Verdict.EQUIVALENT), True),
        (made(Verdict.DIFFERENT), False),
        (made(Verdict.UNKNOWN), None),
        (made(Verdict.EQUIVALENT, vacuous=True), False),
        (made(Verdict.EQUIVALENT, "equivalent"), True),
        (made(Verdict.EQUIVALENT, "equivalent", vacuous=True), False),
        (made(Verdict.EQUIVALENT, "vacuous", vacuous=True), True),
        (made(Verdict.EQUIVALENT, "vacuous"), False),
        (made(Verdict.DIFFERENT, "different"), True),
        (made(Verdict.DIFFERENT, "equivalent"), False),
        (made(Verdict.EQUIVALENT, "different"), False),
        (made(Verdict.UNKNOWN, "equivalent"), None),
        (made(Verdict.UNKNOWN, "unknown"), True),
        (made(Verdict.DIFFERENT, "unknown"), False),
    ],
)
def test_what_counts_as_expected(result: Result, answer: bool | None) -> None:
    assert result.as_expected is answer


def test_the_schema_itself_is_valid_and_refuses_nonsense() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    network = {"name": "f", "path": "f.onnx", "sha256": ""}
    good = replace(made(Verdict.EQUIVALENT), networks={"reference": network, "candidate": network}).to_json()
    CHECK.validate(good)
    for key, value in {
        "verdict": "different",  # without a witness
        "reason": "timeout",  # although decided
        "certified_fraction": 1.5,
        "boxes": -1,
        "parameters_exact": {"a": "0.5"},
        "initial_bound": "inf",
    }.items():
        with pytest.raises(ValidationError):
            CHECK.validate({**good, key: value})


def test_exact_parameters_stand_beside_floats() -> None:
    data = replace(made(Verdict.EQUIVALENT), parameters={"r": Fraction(8, 255), "row": Fraction(17)}).to_json()
    assert data["parameters"] == {"r": 8 / 255, "row": 17}
    assert isinstance(data["parameters"]["row"], int)
    assert data["parameters_exact"] == {"r": "8/255", "row": "17"}
