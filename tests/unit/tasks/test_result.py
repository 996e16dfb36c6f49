"""Results as JSON: they fit the schema, come back unchanged, and say what counts as expected."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from eqspec.tasks.bracket import Bracket, Probe
from eqspec.tasks.result import Reason, Result, Verdict, Witness

SCHEMA = json.loads((files("eqspec.tasks") / "schema" / "result.schema.json").read_text())
CHECK = Draft202012Validator(SCHEMA)

names = st.text("abcdefgh", min_size=1, max_size=5)
anything = st.floats(allow_nan=True, allow_infinity=True)
counts = st.integers(0, 10**9)


@st.composite
def witnesses(draw: st.DrawFn) -> Witness:
    size, outputs = draw(st.integers(1, 3)), draw(st.lists(names, min_size=1, max_size=3, unique=True))
    fractions = st.tuples(*[st.fractions(max_denominator=10**12)] * size)
    return Witness(
        normalised=draw(fractions),
        raw=draw(fractions),
        features=tuple(draw(st.lists(names, min_size=size, max_size=size, unique=True))),
        units=tuple(draw(st.lists(st.none() | names, min_size=size, max_size=size))),
        outputs=tuple(outputs),
        reference=draw(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * len(outputs))),
        candidate=draw(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * len(outputs))),
        confidence=draw(st.none() | st.floats(0, 1)),
        statement=draw(st.text()),
        onnxruntime_confirms=draw(st.none() | st.booleans()),
        onnxruntime_reason=draw(st.none() | st.text()),
    )


@st.composite
def brackets(draw: st.DrawFn) -> Bracket:
    number, maybe = st.fractions(0, 10), st.none() | st.fractions(0, 10)
    probe = st.builds(Probe, number, st.sampled_from(Verdict).map(str), st.none() | names, st.floats(0, 9), counts)
    return Bracket(
        variable=draw(names),
        direction=draw(st.sampled_from(["smallest", "largest"])),
        low=draw(number),
        high=draw(number),
        width=draw(maybe),
        proved=draw(maybe),
        refuted=draw(maybe),
        gap=draw(st.sampled_from(["closed", "budget"])),
        probes=tuple(draw(st.lists(probe, max_size=2))),
        witness=draw(st.none() | witnesses()),
    )


@st.composite
def results(draw: st.DrawFn) -> Result:
    verdict = draw(st.sampled_from(Verdict))
    network = {"name": draw(names), "path": draw(st.text()), "sha256": "0" * 64}
    return Result(
        id=draw(names),
        check=draw(names),
        parameters=draw(st.dictionaries(names, st.fractions(), max_size=3)),
        verdict=verdict,
        reason=draw(st.sampled_from(Reason)) if verdict is Verdict.UNKNOWN else None,
        message=draw(st.none() | st.text()),
        vacuous=draw(st.booleans()) and verdict is Verdict.EQUIVALENT,
        expected=draw(st.sampled_from(["equivalent", "different", "unknown", "vacuous", None])),
        seconds=draw(st.floats(0, 1e6)),
        boxes=draw(counts),
        splits=draw(counts),
        lps=draw(counts),
        initial_bound=draw(st.none() | anything),
        certified_fraction=draw(st.floats(0, 1)),
        open_boxes=draw(counts),
        stages=draw(st.dictionaries(names, counts, max_size=2)),
        witness=draw(witnesses()) if verdict is Verdict.DIFFERENT else None,
        find=draw(st.none() | brackets()),
        claim=draw(st.text()),
        tags=tuple(draw(st.lists(names, max_size=2))),
        settings={"timeout": draw(st.none() | anything)},
        networks={"reference": network, "candidate": network},
        engine_version="0.1.0",
        source=draw(st.none() | st.text()),
    )


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
    finite = replace(
        result,
        initial_bound=bound if bound is not None and math.isfinite(bound) else None,
        settings={"timeout": limit if limit is not None and math.isfinite(limit) else None},
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
