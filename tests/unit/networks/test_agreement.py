"""A reader that is wrong is noticed at every way in, and a runtime that only rounds never is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

import eqspec
from eqspec.cli import main
from eqspec.errors import DisagreementError, SpecError
from eqspec.networks import affine, agreement, as_network, read_network
from eqspec.networks import enclosure as en
from eqspec.networks.agreement import Comparison
from eqspec.networks.network import Network
from eqspec.networks.readers import onnx_reader
from eqspec.networks.roundoff import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Precision
from eqspec.networks.session import CannotRunError, Session
from small_specs import write_onnx, write_spec
from unit.networks.function_cases import weights
from unit.networks.misreading import misread_gemm
from unit.networks.models import model, node, save

pytest_plugins = ("pytester",)
STOPPED = "it is read as another function than onnxruntime computes"
BOX = [-1.0, -1.0], [1.0, 1.0]


@pytest.fixture
def misread(monkeypatch: pytest.MonkeyPatch) -> None:
    misread_gemm(monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_spec(tmp_path)
    (tmp_path / "rows.csv").write_text("left,right\n" + "8,20\n11,19\n" * 20, encoding="utf-8")
    text = [f"(declare-const {n} Real)" for n in ("X_0", "X_1", "Y_0", "Y_1")]
    text += ["(assert (and (>= X_0 0) (<= X_0 1) (>= X_1 0) (<= X_1 1)))", "(assert (>= Y_0 1000))"]
    (tmp_path / "q.vnnlib").write_text("\n".join(text), encoding="utf-8")
    return tmp_path


COMMANDS = {
    "check": ["check", "pair.eqspec"],
    "lint": ["lint", "pair.eqspec"],
    "compile": ["compile", "pair.eqspec"],
    "explain": ["explain", "pair.eqspec:same"],
    "export": ["export", "pair.eqspec", "--to", "vnnlib", "-o", "out"],
    "verify": ["verify", "full.onnx", "pruned.onnx", "--eps", "0.5", "--data", "rows.csv"],
    "init": ["init", "full.onnx", "pruned.onnx", "--data", "rows.csv", "-o", "new.eqspec"],
    "inspect": ["inspect", "full.onnx"],
    "import": ["import", "q.vnnlib", "--network", "f=full.onnx"],
    "verify-vnnlib": ["verify-vnnlib", "q.vnnlib", "--network", "f=full.onnx"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_stops(
    command: str, folder: Path, misread: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert main(COMMANDS[command]) == 2
    out, err = capsys.readouterr()
    assert STOPPED in " ".join((out + err).replace("│", " ").split())
    assert "equivalent" not in out
    assert out.strip() in ("", "error") or command == "inspect"


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_stops_without_need(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    main(COMMANDS[command])
    assert STOPPED not in " ".join("".join(capsys.readouterr()).split())


def test_a_spec_has_a_finding_of_its_own(folder: Path, misread: None) -> None:
    with pytest.raises(SpecError) as problem:
        eqspec.check(folder / "pair.eqspec")
    assert {d.code for d in problem.value.diagnostics} == {"E211"}


def test_the_library_stops(folder: Path, misread: None) -> None:
    with pytest.raises(DisagreementError, match=STOPPED):
        eqspec.verify(folder / "full.onnx", folder / "pruned.onnx", *BOX, eqspec.Epsilon(1))
    with pytest.raises(DisagreementError, match=STOPPED):
        as_network(onnx.load(folder / "full.onnx"))
    with pytest.raises(DisagreementError, match=STOPPED):
        read_network(folder / "full.onnx")


def test_pytest_stops(pytester: pytest.Pytester, misread: None) -> None:
    write_spec(pytester.path)
    result = pytester.runpytest_inprocess("-p", "no:eqspec", "-p", "eqspec.pytest_plugin", "-p", "no:cacheprovider")
    assert result.ret != 0
    assert "E211" in result.stdout.str()
    assert result.parseoutcomes().get("passed", 0) == 0


def test_a_file_that_was_read_rightly_before_is_looked_at_again(folder: Path, request: pytest.FixtureRequest) -> None:
    read_network(folder / "full.onnx")
    request.getfixturevalue("misread")
    with pytest.raises(DisagreementError):
        read_network(folder / "full.onnx")


def test_the_same_reading_is_looked_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(network: Network) -> Session:
        made.append(network.source)
        return Session(network)

    monkeypatch.setattr(agreement, "Session", counted)
    write_onnx(folder / "new.onnx", [[1.5, 0.25]], [0.125])
    for _ in range(3):
        read_network(folder / "new.onnx")
    assert made == [str(folder / "new.onnx")]


def far_away() -> tuple[list[onnx.NodeProto], dict[str, Any]]:
    """x + relu(x0 - 6000): what no point of a usual size shows."""
    nodes = [
        node("Gemm", ["x", "w", "b"], "h"),
        node("MatMul", ["x", "u"], "g"),
        node("Concat", ["g", "h"], "c", axis=1),
        node("Relu", ["c"], "r"),
        node("MatMul", ["r", "v"], "y"),
    ]
    u = np.array([[1, 0, -1, 0], [0, 1, 0, -1]], np.float32)
    v = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]], np.float32)
    return nodes, {"w": u[:, :1], "b": np.array([-6000], np.float32), "u": u, "v": v}


def test_the_region_of_a_claim_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that is wrong far away only: proving there stops, and proving elsewhere need not."""
    path = save(tmp_path, model(*far_away(), [1, 2]))
    there = ([6500.0, 0.0], [7000.0, 1.0])
    right = eqspec.verify(path, path, *there, eqspec.Epsilon(1))
    assert right.verdict is eqspec.Verdict.EQUIVALENT
    misread_gemm(monkeypatch, lambda value: affine.shift(value, en.exactly(-500.0)))
    read_network(path)
    with pytest.raises(DisagreementError):
        eqspec.verify(path, path, *there, eqspec.Epsilon(1))
    for takes, scale in (("", ""), ("takes raw", "zscore mean [6000, 0] std [100, 1]")):
        space = f"space s {{ features a, b normalise {scale or 'none'} outputs y, z }}"
        networks = "\n".join(f'network {n} = "m.onnx" in s {takes}' for n in "fg")
        area = "region r in s = box { a: 6500 .. 7000  b: 0 .. 1 }"
        text = f"eqspec 1\n{space}\n{networks}\n{area}\ncheck c {{ prove g stays within 1 of f on r }}\n"
        with pytest.raises(SpecError) as problem:
            eqspec.loads(text, directory=tmp_path)
        assert {d.code for d in problem.value.diagnostics if d.severity == "error"} == {"E211"}


def test_another_number_of_outputs_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_onnx(tmp_path / "f.onnx", np.eye(2), [0, 0])
    misread_gemm(monkeypatch, lambda value: affine.rearrange(value, lambda p: p[:, :1]))
    with pytest.raises(DisagreementError, match="1 outputs, but onnxruntime answers 2 numbers"):
        read_network(path)


cancelling = st.sampled_from([0.0, 1.0, -1.0, 3.0, 1 / 3, 2.0**12, -(2.0**12), 1e-3, 2.0**24, -(2.0**24)])


@given(st.data(), st.sampled_from([TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16]))
def test_rounding_alone_never_stops(tmp_path_factory: Any, data: st.DataObject, kind: int) -> None:
    """Products in a row with terms that cancel, normalised: onnxruntime may be far off, and rightly so."""
    short = kind == TensorProto.FLOAT16
    element = helper.tensor_dtype_to_np_dtype(kind)

    def array(*shape: int) -> Any:
        count = int(np.prod(shape))
        numbers = np.array(data.draw(st.lists(cancelling, min_size=count, max_size=count))).reshape(shape)
        return (np.clip(numbers, -64, 64) if short else numbers).astype(element)

    nodes = [
        node("MatMul", ["x", "a"], "h"),
        node("Add", ["h", "b"], "i"),
        node("MatMul", ["i", "c"], "j"),
        node("Relu", ["j"], "k"),
        node("Mul", ["k", "d"], "l"),
        node("Sub", ["l", "e"], "y"),
    ]
    constants = {"a": array(2, 3), "b": array(3), "c": array(3, 2), "d": array(2), "e": array(2)}
    read_network(save(tmp_path_factory.mktemp("m"), model(nodes, constants, [1, 2], kind=kind)))


def test_radii_are_formed_where_the_simple_bound_does_not_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2^24 + x - 2^24 is x over the reals and another number in float32; no layer shows what cancelled."""
    nodes = [node("Add", ["x", "a"], "h"), node("Sub", ["h", "a"], "y")]
    proto = model(nodes, {"a": np.full(2, 2.0**24, np.float32)}, [1, 2])
    formed: list[str] = []
    right = onnx_reader.read_rounded

    def counted(path: str, content: bytes, precision: Precision, *rest: Any, **named: Any) -> Network:
        formed.append(precision.name)
        return right(path, content, precision, *rest, **named)

    monkeypatch.setattr(onnx_reader, "read_rounded", counted)
    network = read_network(save(tmp_path, proto))
    assert formed == ["float32"]
    session = Session(network)
    assert session.run([Fraction(1, 2), Fraction(3)]).tolist() != [0.5, 3.0]


def test_the_coarsest_type_counts() -> None:
    def of(*nodes: onnx.NodeProto, kind: int = TensorProto.DOUBLE, **constants: Any) -> Any:
        return agreement.precision_of(model(nodes, constants, [1, 2], kind=kind).SerializeToString())

    assert of(node("Relu", ["x"], "y")) is FLOAT64
    assert of(node("Relu", ["x"], "y"), kind=TensorProto.FLOAT) is FLOAT32
    assert of(node("Add", ["x", "w"], "y"), w=np.ones(2, np.float16)) is FLOAT16
    assert of(node("Cast", ["x"], "y", to=TensorProto.BFLOAT16)) is BFLOAT16
    assert of(node("Cast", ["x"], "y", to=TensorProto.INT32)) is FLOAT64


@pytest.mark.parametrize("operator", ["BlackmanWindow", "HammingWindow"])
def test_windows_that_onnxruntime_computes_in_float32_are_read_in_double(operator: str, tmp_path: Path) -> None:
    nodes = [node(operator, ["n"], "w", output_datatype=TensorProto.DOUBLE), node("Mul", ["x", "w"], "y")]
    proto = model(nodes, {"n": np.array(7)}, [1, 7], kind=TensorProto.DOUBLE, opset=17)
    assert read_network(save(tmp_path, proto)).output_size == 7


def test_what_onnxruntime_cannot_run_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("no session")

    path = write_onnx(tmp_path / "f.onnx", np.eye(2), [0, 7])
    monkeypatch.setattr(onnxruntime, "InferenceSession", refuse)
    assert read_network(path).output_size == 2


def test_what_became_of_an_infinity_is_no_answer(tmp_path: Path) -> None:
    """max(0, NaN) is 0 in onnxruntime, behind numbers that float32 does not hold."""
    weight = {"w": np.array([[3e38]], np.float32)}
    nodes = [node("MatMul", ["x", "w"], "z"), node("Relu", ["z"], "y")]
    steps = read_network(save(tmp_path, model(nodes, weight, [1, 1]))).steps
    answers = np.zeros((1, 1))
    assert agreement.beyond(steps, np.array([[10.0]]), answers, FLOAT32) is None
    assert agreement.beyond(steps, np.array([[0.5]]), answers, FLOAT32) is not None


def test_a_file_that_jumps_is_looked_at_too(tmp_path: Path) -> None:
    """Comparisons have no radii of what runtimes round, and still most points tell one table from another."""
    contents = list[bytes]()
    for rows in (weights(3, 2), weights(3, 2)[::-1].copy()):
        nodes = [node("Clip", ["x", "zero", "two"], "c"), node("Cast", ["c"], "k", to=7)]
        nodes.append(node("Gather", ["t", "k"], "y"))
        ends = {"zero": np.zeros((), np.float32), "two": np.array(2, np.float32)}
        contents.append(model(nodes, {**ends, "t": rows}, (1, 3)).SerializeToString())
    first, second = (
        read_network(save(tmp_path, onnx.load_from_string(c), f"{i}.onnx")) for i, c in enumerate(contents)
    )
    points = np.random.default_rng(0).uniform(0, 3, size=(12, 3))
    Comparison(first, lambda: contents[0]).at(iter([points[:1], points[1:]]))
    wrong = replace(first, steps=second.steps)
    with pytest.raises(DisagreementError, match=STOPPED):
        Comparison(wrong, lambda: contents[0]).at(iter([points[:1], points[1:]]))
    few = np.full((12, 3), 2.5)  # the middle row is the same in both
    few[:, 0] = 1.5
    few[:10] = 1.5
    Comparison(wrong, lambda: contents[0]).at(iter([few]))


def test_constants_of_few_digits_are_named_as_the_reason(tmp_path: Path) -> None:
    """10^-40 has 17 bits in float32, and what it is multiplied with less: the file, not the reader, is in doubt."""
    nodes = [node("Mul", ["x", "small"], "z"), node("Mul", ["z", "large"], "y")]
    stored = {"small": np.array([1e-40], np.float32), "large": np.array([1e38], np.float32)}
    with pytest.raises(DisagreementError, match=r"constants \('small'\) so small that a runtime keeps few") as refused:
        read_network(save(tmp_path, model(nodes, stored, [1, 3])))
    assert "store 0 in their place" in str(refused.value)
    stored["small"], stored["large"] = np.array([1e-30], np.float32), np.array([1e30], np.float32)
    read_network(save(tmp_path, model(nodes, stored, [1, 3])))


def test_it_is_said_where_nothing_was_compared(tmp_path: Path) -> None:
    """Of a file that onnxruntime does not load, once for a file, and of no other."""
    proto = model([node("Gemm", ["x", "w", "b"], "y")], {"w": weights(2, 3), "b": np.zeros(3)}, (1, 2))
    with pytest.raises(CannotRunError):
        Session(read_network(save(tmp_path, proto)))
    assert agreement.NOT_RUN in read_network(save(tmp_path, proto)).notes
    assert agreement.NOT_RUN in as_network(proto).notes
    other = model([node("Gemm", ["x", "w", "b"], "y")], {"w": weights(2, 3), "b": np.zeros(3, np.float32)}, (1, 2))
    assert not read_network(save(tmp_path, other)).notes
