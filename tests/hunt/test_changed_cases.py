"""No changed case of onnx's test suite is read wrongly, and a reader that overlooks an attribute is found."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto

from hunt import changed_cases
from hunt.changed_cases import by_operator, judged
from hunt.onnx_cases import Case, summed_along_an_axis

MODULES = (
    "cumsum", "depthtospace", "elu", "flatten", "gelu", "gemm", "hardsigmoid", "leakyrelu", "mod", "quantizelinear",
    "reversesequence", "softmax", "split", "topk", "transpose",
)  # fmt: skip
FIRST = 8 * 10**9
SEEDS = range(FIRST, FIRST + 400)
OVERLOOKED = {
    ("CumSum", "exclusive"): "both", ("CumSum", "reverse"): "both", ("DepthToSpace", "mode"): "both",
    ("Elu", "alpha"): "both", ("Gelu", "approximate"): "both", ("Gemm", "alpha"): "both", ("Gemm", "beta"): "both",
    ("HardSigmoid", "beta"): "both", ("LeakyRelu", "alpha"): "both",
    ("Softmax", "axis"): "reader", ("TopK", "largest"): "both", ("Transpose", "perm"): "both",
}  # fmt: skip
"""Attributes whose defaults are others; the auditor's Softmax at an end is set aside and compared elsewhere."""


@pytest.mark.part(20)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_changed_case_is_read_wrongly(seed: int) -> None:
    assert changed_cases.judge(seed, MODULES)[1] is None


@pytest.mark.parametrize("who", ["reader_sees", "auditor_sees"])
def test_a_shape_that_is_misread_is_found(who: str) -> None:
    """Sums along an axis that stays or goes are the same numbers."""
    found = set()
    for case in by_operator(("reducemax",))["ReduceMax"][:8]:
        for seed in range(6):
            models = [case.model, without(case, "keepdims")]
            for model in (made := [ModelProto(), ModelProto()]):
                model.CopyFrom(models.pop(0))
                summed_along_an_axis(np.random.default_rng(seed), model)
            found.add(judged(made[0], case.feeds, np.random.default_rng(1), **{who: made[1]})[0])
    assert "wrong" in found


def without(case: Case, name: str) -> ModelProto:
    """The model of a case as a reader sees it that does not know an attribute."""
    made = ModelProto()
    made.CopyFrom(case.model)
    for node in made.graph.node:
        for attribute in [a for a in node.attribute if a.name == name]:
            node.attribute.remove(attribute)
    return made


@pytest.mark.parametrize(("operator", "name"), OVERLOOKED)
def test_an_attribute_that_is_overlooked_is_found(operator: str, name: str) -> None:
    cases = [
        case
        for case in by_operator(MODULES)[operator]
        if any(a.name == name for a in case.model.graph.node[0].attribute)
    ]
    assert cases
    blind = ["reader_sees"] + (["auditor_sees"] if OVERLOOKED[operator, name] == "both" else [])
    for who in blind:
        found = [judged(c.model, c.feeds, np.random.default_rng(1), **{who: without(c, name)}) for c in cases]
        assert "wrong" in {what for what, _ in found}, who
    assert "wrong" not in {judged(c.model, c.feeds, np.random.default_rng(1))[0] for c in cases}
