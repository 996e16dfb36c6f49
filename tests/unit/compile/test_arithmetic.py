"""`arithmetic` in a spec: what it makes of a task, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec import compile as compiler
from eqspec.errors import InputError, SpecError
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.spec.formatting import formatted
from eqspec.tasks import serialisation
from eqspec.tasks.verdict import Verdict
from eqspec.vnnlib.exporting import export

SPEC = """eqspec 1
space s {{ features a, b  normalise zscore mean [100, 2] std [4, 1]  outputs p, q }}
network f = "f.onnx" in s takes raw
network g = "f.onnx" in s takes raw
region r in s = box {{ all within {sigma} sigma }}
check c {{ prove g stays within {eps} of f  on r  {clause} }}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    constants = {"w": rng.normal(size=(2, 2)).astype(np.float32), "b": rng.normal(size=2).astype(np.float32)}
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])],
        [numpy_helper.from_array(a, name) for name, a in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "f.onnx")
    return tmp_path


def spec(folder: Path, clause: str, eps: str = "1e-3", sigma: str = "1") -> compiler.Compiled:
    return compiler.loads(SPEC.format(clause=clause, eps=eps, sigma=sigma), directory=folder)


def test_the_same_claim_in_both_arithmetics(folder: Path) -> None:
    (plain,), (real,), (rounded,) = (
        spec(folder, clause, "1e-6").tasks for clause in ("", "arithmetic real", "arithmetic float32")
    )
    assert [t.arithmetic for t in (plain, real, rounded)] == ["real", "real", "float32"]
    runner = Runner(Options(timeout=2))
    assert runner.run(real).verdict is Verdict.EQUIVALENT
    assert runner.run(rounded).verdict is Verdict.UNKNOWN, "numbers around 100 have no six decimals in float32"
    (loose,) = spec(folder, "arithmetic float32").tasks
    assert runner.run(loose).verdict is Verdict.EQUIVALENT


def test_a_task_comes_back_from_its_document_in_its_arithmetic(folder: Path) -> None:
    (real,), (rounded,) = (spec(folder, clause).tasks for clause in ("", "arithmetic float32"))
    data = serialisation.to_json(rounded)
    assert data["sha256"] != serialisation.to_json(real)["sha256"]
    again = serialisation.from_json(data)
    for one, other in ((rounded.reference, again.reference), (rounded.candidate, again.candidate)):
        for a, b in zip(one.layers, other.layers, strict=True):
            assert a.weight_error is not None
            assert b.weight_error is not None
            assert np.array_equal(a.weight_error, b.weight_error)
    data.pop("arithmetic")
    assert serialisation.from_json(data).arithmetic == "real", "as older files mean it"
    with pytest.raises(InputError, match="float64"):
        serialisation.from_json({**data, "arithmetic": "float64"})


@pytest.mark.parametrize(
    ("clause", "code"),
    [("arithmetic float16", "E103"), ("arithmetic real arithmetic float32", "E204"), ("arithmetic", "E008")],
)
def test_what_is_wrong_is_found(folder: Path, clause: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        spec(folder, clause)
    assert caught.value.diagnostics[0].code == code


def test_a_distance_of_zero_is_none_that_bounds_prove_in_float32(folder: Path) -> None:
    assert "W310" not in [d.code for d in spec(folder, "", eps="0").diagnostics]
    assert "W310" in [d.code for d in spec(folder, "arithmetic float32", eps="0").diagnostics]


def test_overflow_is_looked_for_at_the_raw_inputs(folder: Path) -> None:
    """Up to 4e38 raw, which is 1e38 sigma."""
    (task,) = spec(folder, "arithmetic float32", sigma="1e38").tasks
    with pytest.raises(InputError, match="overflow"):
        Runner(Options(timeout=1)).run(task)


def test_the_clause_keeps_its_place_in_the_one_style() -> None:
    text = formatted(SPEC.format(clause="arithmetic   float32", eps="1", sigma="1"))
    assert "arithmetic float32 }" in text
    assert formatted(text) == text


def test_vnnlib_has_no_words_for_it(folder: Path) -> None:
    with pytest.raises(InputError, match="arithmetic float32"):
        export(spec(folder, "arithmetic float32").tasks, "vnnlib2", folder / "out")
