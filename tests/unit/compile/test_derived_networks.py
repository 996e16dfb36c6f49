"""Networks that a spec derives, from the text to tasks: they are what `derive` makes of the same things, they come back
from JSON, and what is about files refuses them by name."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from jsonschema import Draft202012Validator
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import eqspec
from eqspec.certificates.writer import write_certificate
from eqspec.cli import main
from eqspec.cli.tools.schema import text as schema_text
from eqspec.compile import load_derived
from eqspec.errors import InputError, NetworkError, SpecError
from eqspec.networks import Network, read_network
from eqspec.networks.derived import DerivedNetwork
from eqspec.networks.deriving import FixedPointFormat, Integers, derive
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task

HEAD = """eqspec 1
space s { features from "rows.csv"  normalise zscore mean [1, -2] std [2, 1/2]  outputs y, z }
network f     = "f.onnx" in s
network raw   = "f.onnx" in s takes raw
network q(B)  = f quantised to int<B> per channel
network q8    = f quantised to int8 calibrated on "other.csv" columns 1..2
network r8    = raw quantised to int8
network g(W)  = f as fixed<W, 6, RND, SAT> { accum fixed<W + 10, 12>, result fixed<W, 5> }
region near(r) in s = box { all within r sigma }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spec with the network 2-3-2 and tables of raw inputs."""
    folder = tmp_path_factory.mktemp("derived")
    random = np.random.default_rng(3)
    held = [
        numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name)
        for name, shape in (("w", (2, 3)), ("b", (3,)), ("v", (3, 2)), ("c", (2,)))
    ]
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "v", "c"], ["y"]),
    ]
    given, answer = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in ("x", "y"))
    graph = helper.make_graph(nodes, "small", [given], [answer], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, folder / "f.onnx")
    rows = random.normal([1, -2], [2, 0.5], size=(20, 2))
    np.savetxt(folder / "rows.csv", rows, delimiter=",", header="a,b", comments="")
    np.savetxt(
        folder / "other.csv", np.hstack([np.zeros((20, 1)), 2 * rows]), delimiter=",", header="n,a,b", comments=""
    )
    return folder


def compiled(folder: Path, checks: str, head: str = HEAD) -> eqspec.Spec:
    (folder / "spec.eqspec").write_text(head + checks)
    return eqspec.load(folder / "spec.eqspec")


def task(folder: Path, claim: str) -> Task:
    (found,) = compiled(folder, f"check c {{ prove {claim}  on near(1) }}\n").tasks
    return found


def table(folder: Path, name: str, *, raw: bool = False) -> NDArray[np.float64]:
    rows = np.loadtxt(folder / name, delimiter=",", skiprows=1)[:, -2:]
    return rows if raw else (rows - [1, -2]) / [2, 0.5]


def fixed(width: int) -> FixedPointFormat:
    value = FixedPoint.of(width, 6, rounding="AP_RND", overflow="AP_SAT")
    return FixedPointFormat(value, accumulators=FixedPoint.of(width + 10, 12), results=FixedPoint.of(width, 5))


def same(found: Network, expected: Network) -> None:
    assert (found.sha256, found.source) == (expected.sha256, expected.source)
    points = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_array_equal(found.evaluate(points), expected.evaluate(points))


def test_candidates_are_what_is_derived_of_the_same_things(folder: Path) -> None:
    f = read_network(folder / "f.onnx")
    same(task(folder, "q(8) keeps top1 of f").candidate, derive(f, Integers(8, True), table(folder, "rows.csv")))
    same(task(folder, "q8 keeps top1 of f").candidate, derive(f, Integers(8), table(folder, "other.csv")))
    same(task(folder, "g(12) keeps top1 of f").candidate, derive(f, fixed(12)))
    same(task(folder, "f keeps top1 of g(9)").reference, derive(f, fixed(9)))
    both = task(folder, "g(9) equals g(10)")
    assert (both.candidate_name, both.reference_name) == ("g(9)", "g(10)")
    assert both.candidate.sha256 != both.reference.sha256


def test_a_network_that_takes_raw_inputs_is_calibrated_on_raw_rows_and_normalised_in_front(folder: Path) -> None:
    found = task(folder, "r8 keeps top1 of raw")
    assert (found.reference_takes_raw, found.candidate_takes_raw) == (True, True)
    plain = derive(read_network(folder / "f.onnx"), Integers(8), table(folder, "rows.csv", raw=True))
    points = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_allclose(found.candidate.evaluate(points), plain.evaluate([1, -2] + points * [2, 0.5]))
    assert isinstance(found.candidate, DerivedNetwork)


def test_sweeps_and_searches_make_a_network_for_each_value(folder: Path) -> None:
    spec = compiled(
        folder,
        "check c { prove g(W) stays within e of f on near(1) for W in [6, 8] for e in [1, 2] }\n"
        "check d { prove g(2*W) stays within 1 of f on near(1) find smallest W in 3 .. 6 }\n",
    )
    assert [t.id for t in spec.tasks] == ["c[W=6,e=1]", "c[W=6,e=2]", "c[W=8,e=1]", "c[W=8,e=2]"]
    assert [t.candidate_name for t in spec.tasks] == ["g(6)", "g(6)", "g(8)", "g(8)"]
    (search,) = spec.searches
    assert search.whole
    assert search.task_at(Fraction(5)).candidate_name == "g(10)"
    for value in (Fraction(2), Fraction(7), Fraction(9, 2)):
        with pytest.raises(InputError):
            search.task_at(value)


@pytest.mark.parametrize(
    "claim", ["q(5) keeps top1 of f", "q8 stays within 1 of f", "g(11) never wraps", "r8 equals raw"]
)
def test_tasks_fit_the_schema_and_come_back(folder: Path, claim: str) -> None:
    found = task(folder, claim)
    data = json.loads(json.dumps(serialisation.to_json(found)))
    Draft202012Validator(json.loads(schema_text("task"))).validate(data)
    again = serialisation.from_json(data)
    assert serialisation.digest(again) == serialisation.digest(found)
    assert serialisation.to_json(again)["candidate"] == data["candidate"]
    points = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_array_equal(again.candidate.evaluate(points), found.candidate.evaluate(points))
    assert Path(data["candidate"]["path"]).name == "f.onnx"
    data["candidate"]["derived"]["precision"]["kind"] = "float"
    with pytest.raises(InputError, match="unknown kind of precision"):
        serialisation.from_json(data)


def test_another_network_is_not_taken_for_the_one_that_was(folder: Path) -> None:
    data: dict[str, Any] = json.loads(json.dumps(serialisation.to_json(task(folder, "q(5) keeps top1 of f"))))
    name = next(iter(data["candidate"]["derived"]["ranges"]))
    data["candidate"]["derived"]["ranges"][name][1] += 1.0
    with pytest.raises(InputError, match="another network than it was"):
        serialisation.from_json(data)
    data["candidate"]["derived"]["sha256"] = "0" * 64
    with pytest.raises(InputError, match="another file than it was"):
        serialisation.from_json(data)


def test_a_counterexample_is_replayed_from_its_result(folder: Path, tmp_path: Path) -> None:
    compiled(folder, "check c { prove g(7) stays within 0.001 of f on near(1) expect different }\n")
    path = tmp_path / "r.json"
    spec = str(folder / "spec.eqspec")
    assert main(["check", spec, "--no-cache", "--format", "json", "-o", str(path), "--timeout", "20"]) == 0
    assert main(["replay", str(path)]) == 0


def test_float32_is_for_what_a_runtime_computes(folder: Path) -> None:
    with pytest.raises(SpecError, match="fixed-point arithmetic"):
        compiled(folder, "check c { prove g(8) keeps top1 of f on near(1) arithmetic float32 }\n")


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ("network bad = f quantised to int8 calibrated on \"none.csv\"", "E110"),
        ("network bad = f quantised to int8 calibrated on \"other.csv\"", "E142"),
        ("network bad = f quantised to int8 calibrated on \"rows.csv\" columns 1..2", "E142"),
        ("network bad = done as fixed<8, 4> network done = \"q.onnx\" in s", "E213"),
    ],
)  # fmt: skip
def test_what_cannot_be_derived_is_a_finding_in_the_spec(folder: Path, declared: str, code: str) -> None:
    done = derive(read_network(folder / "f.onnx"), Integers(8), table(folder, "rows.csv")).content
    assert done is not None
    (folder / "q.onnx").write_bytes(done)
    with pytest.raises(SpecError) as caught:
        compiled(folder, f"{declared}\ncheck c {{ prove bad keeps top1 of f on near(1) }}\n")
    assert code in [d.code for d in caught.value.diagnostics]


def test_what_is_about_files_refuses_derived_networks_by_name(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled(folder, "check c { prove q(6) stays within 30 of f on near(1) }\n")
    spec = str(folder / "spec.eqspec")
    for target in ("vnnlib2", "product-onnx"):
        assert main(["export", spec, "--to", target, "-o", str(tmp_path / target)]) == 2
        assert "'q(6)' is derived from another network" in capsys.readouterr().err.replace("\n", " ")
    nothing: Any = None
    (found,) = eqspec.load(spec).tasks
    refused = write_certificate(found, nothing, tmp_path / "record", tmp_path / "certificate", nothing)
    assert refused.reason is not None
    assert "'q(6)' is derived in the spec" in refused.reason


def test_a_derived_network_is_written_and_shown(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled(folder, "")
    spec = str(folder / "spec.eqspec")
    assert main(["export", spec, "q(8)", "-o", str(tmp_path / "q.onnx")]) == 0
    same_function = load_derived(spec, "q(8)").network
    written = read_network(tmp_path / "q.onnx")
    points = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_array_equal(written.evaluate(points), same_function.evaluate(points))
    assert main(["export", spec, "g(12)", "-o", str(tmp_path / "types.yml")]) == 0
    assert "ap_fixed<22,12>" in (tmp_path / "types.yml").read_text()
    capsys.readouterr()
    assert main(["inspect", f"{spec}:g(12)", f"{spec}:q8"]) == 0
    assert "ap_fixed<12,6,AP_RND,AP_SAT>" in capsys.readouterr().out.replace("\n", " ")
    for network, said in (("f", "a file already"), ("g", "takes 1 value"), ("h", "no network named 'h'")):
        assert main(["export", spec, network, "-o", str(tmp_path / "x")]) == 2
        assert said in capsys.readouterr().err
    for wrong in (["export", spec, "-o", "x"], ["export", spec, "q8", "--to", "vnnlib", "-o", "x"]):
        assert main(wrong) == 2
    assert main(["export", spec, "q8", "-o", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err


def test_python_says_the_same(folder: Path) -> None:
    path = folder / "f.onnx"
    rows = table(folder, "rows.csv")
    same(
        eqspec.quantised(path, "int<8>", per_channel=True, calibration=rows),
        load_derived(folder / "spec.eqspec", "q(8)").network,
    )
    held = eqspec.quantised(path, "fixed<12, 6, RND, SAT>", accum="fixed<22, 12>", result="fixed<12, 5>")
    same(held, load_derived(folder / "spec.eqspec", "g(12)").network)
    result = eqspec.verify(path, held, [-0.1, -0.1], [0.1, 0.1], eqspec.Epsilon(30), timeout=20)
    assert result.verdict == "equivalent"


def test_a_model_in_memory_takes_the_place_of_the_reference_alone(folder: Path) -> None:
    text = f"{HEAD}check c {{ prove g(9) keeps top1 of f  on near(1) }}\n"
    model = onnx.load(folder / "f.onnx")
    (found,) = eqspec.loads(text, directory=folder, networks={"f": model}).tasks
    points = np.random.default_rng(0).normal(size=(20, 2))
    expected = load_derived(folder / "spec.eqspec", "g(9)").network
    np.testing.assert_array_equal(found.candidate.evaluate(points), expected.evaluate(points))
    with pytest.raises(InputError, match="derives network 'g'"):
        eqspec.loads(text, directory=folder, networks={"g": model})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"to": "int9x"}, "unknown integer type"),
        ({"to": "int8"}, "needs calibration"),
        ({"to": "int<1>", "calibration": [[0, 0]]}, "from 2 to 16, not 1"),
        ({"to": "fixed<8>"}, "in front of the point"),
        ({"to": "fixed<W, 2>"}, "no value named 'W'"),
        ({"to": "fixed<8, 2>", "per_channel": True}, "per_channel is for integers"),
        ({"to": "int8", "calibration": [[0, 0]], "accum": "fixed<8, 2>"}, "accum is a fixed-point type"),
        ({"to": "fixed<8, 2>", "accum": "int8"}, "unknown fixed point type"),
        ({"to": 8}, "give a type"),
    ],
)
def test_wrong_arguments_are_named(folder: Path, arguments: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        eqspec.quantised(folder / "f.onnx", **arguments)
    with pytest.raises(NetworkError):
        eqspec.quantised(folder / "f.onnx", "int8", calibration=np.zeros((0, 2)))
