"""Queries about float32 tensors: answers hold of what onnxruntime computes, to the last digit."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.errors import InputError
from eqspec.vnnlib.answering import Answer, Answered, answer
from eqspec.vnnlib.float32_asserts import demanding, float32, widened
from eqspec.vnnlib.query import Element, holds
from eqspec.vnnlib.reading import read_text
from vnnlib_text import entries, satisfied

PAIR = """(vnnlib-version <2.0>)
(declare-network f (declare-input X float32 [1,3]) (declare-output Y float32 [1,2]))
(declare-network g (isomorphic-to f) (declare-input U float32 [1,3]) (declare-output V float32 [1,2]))
(assert (and (== X[0,0] U[0,0]) (== X[0,1] U[0,1]) (== X[0,2] U[0,2])))
(assert (and (>= X[0,0] -0.7) (<= X[0,0] 0.9) (>= X[0,1] -1.0) (<= X[0,1] 0.3) (== X[0,2] 0.1)))
"""


def write(path: Path, rng: np.random.Generator) -> onnxruntime.InferenceSession:
    """A network of which almost every sum is rounded, in onnxruntime."""
    arrays = {"W": (8, 3), "b": (8,), "V": (2, 8), "c": (2,)}
    nodes = [
        helper.make_node("Gemm", ["x", "W", "b"], ["h"], transB=1),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "V", "c"], ["y"], transB=1),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, k]) for n, k in (("x", 3), ("y", 2))]
    stored = [numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n) for n, s in arrays.items()]
    graph = helper.make_graph(nodes, "rounding", ends[:1], ends[1:], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def ask(folder: Path, asserted: str, files: str = "fg", **options: bool) -> Answered:
    query = folder / "query.vnnlib"
    query.write_text(asserted, encoding="utf-8")
    return answer(query, {n: folder / f"{n}.onnx" for n in files}, timeout=30, threads=1, **options)


@pytest.mark.part(3)
@pytest.mark.parametrize("seed", range(6))
def test_what_onnxruntime_computes_is_never_denied(seed: int, tmp_path: Path) -> None:
    """The largest lead that it computes at 500 points, and the same a digit less: neither is unsat."""
    rng = np.random.default_rng(seed)
    f, g = (write(tmp_path / f"{name}.onnx", rng) for name in "fg")
    points = rng.uniform([-0.7, -1.0, 0.1], [0.9, 0.3, 0.1], (500, 3)).astype(np.float32)
    points[:4, :2] = [[-0.7, -1.0], [-0.7, 0.3], [0.9, -1.0], [0.9, 0.3]]  # rounded, as whoever writes 0.9 means it
    leads = [float(s.run(None, {"x": p[None]})[0][0, 0]) for p in points for s in (g, f)]
    lead = max(Fraction(a) - Fraction(b) for a, b in zip(leads[::2], leads[1::2], strict=True))
    bound = f"{float(lead - Fraction(1, 10**7)):.15f}"
    assert ask(tmp_path, PAIR + f"(assert (>= V[0,0] (+ Y[0,0] {bound})))").answer is not Answer.UNSAT
    found = ask(tmp_path, text := PAIR + f"(assert (>= V[0,0] (+ Y[0,0] {float(lead) - 0.01:.15f})))")
    assert found.answer is Answer.SAT
    assert found.assignment is not None
    numbers = [float(x) for x in found.assignment.inputs[0]]
    assert all(Fraction(float(np.float32(x))) == Fraction(x) for x in numbers)
    point = np.array([numbers], np.float32)
    values = {w: Fraction(x) for n in "XU" for w, x in zip(entries(n, [1, 3]), numbers, strict=True)}
    for name, session in (("Y", f), ("V", g)):
        computed = session.run(None, {"x": point})[0][0].tolist()
        values |= {w: Fraction(y) for w, y in zip(entries(name, [1, 2]), computed, strict=True)}
    rounded = text.replace("(== X[0,2] 0.1)", f"(== X[0,2] {Fraction(float(np.float32(0.1)))})")
    assert satisfied(rounded, values)
    far = float(lead) + 20
    assert ask(tmp_path, PAIR + f"(assert (>= V[0,0] (+ Y[0,0] {far})))").answer is Answer.UNSAT
    several = f"(assert (and (>= V[0,0] (+ Y[0,0] {far})) (>= V[0,1] Y[0,1])))"
    assert ask(tmp_path, PAIR + several).answer is Answer.UNSAT


def test_a_rounding_decides(tmp_path: Path) -> None:
    """x + 1e9 - 1e9 in real numbers is x: at most 1. Runtimes round what stands between to multiples of 64."""
    nodes = [helper.make_node("Add", ["x", "big"], ["s"]), helper.make_node("Sub", ["s", "big"], ["y"])]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 1]) for n in "xy"]
    big = numpy_helper.from_array(np.array([1e9], np.float32), "big")
    graph = helper.make_graph(nodes, "far", ends[:1], ends[1:], [big])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "f.onnx")
    text = """(vnnlib-version <2.0>)
(declare-network f (declare-input X float32 [1,1]) (declare-output Y float32 [1,1]))
(assert (and (>= X[0,0] 0.0) (<= X[0,0] 40.0) (>= Y[0,0] 41.0)))
"""
    session = onnxruntime.InferenceSession(tmp_path / "f.onnx", providers=["CPUExecutionProvider"])
    assert session.run(None, {"x": np.array([[40]], np.float32)})[0][0, 0] == 64
    assert ask(tmp_path, text, "f").answer is not Answer.UNSAT
    assert ask(tmp_path, text, "f", as_real=True).answer is Answer.UNSAT
    assert ask(tmp_path, text.replace("float32", "real"), "f").answer is Answer.UNSAT


def test_other_types_are_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in "fg":
        write(tmp_path / f"{name}.onnx", rng)
    for kind in ("float64", "float16"):
        with pytest.raises(InputError, match=f"declared {kind}"):
            ask(tmp_path, PAIR.replace("float32", kind) + "(assert (>= Y[0,0] 1.0))")
    model = onnx.load(tmp_path / "f.onnx")
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for tensor in model.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    onnx.save(model, tmp_path / "f.onnx")
    with pytest.raises(InputError, match="has double"):
        ask(tmp_path, PAIR + "(assert (>= Y[0,0] 1.0))")
    ends = [helper.make_tensor_value_info("x", TensorProto.INT64, [1, 3])]
    ends += [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])]
    graph = helper.make_graph(
        [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], "cast", ends[:1], ends[1:]
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "f.onnx")
    alone = PAIR.splitlines()[0] + PAIR.splitlines()[1].replace("Y float32 [1,2]", "Y float32 [1,3]")
    box = "(assert (and (>= X[0,0] 0.25) (<= X[0,0] 0.75) (== X[0,1] 0.0) (== X[0,2] 0.0)))"
    with pytest.raises(InputError, match="has float and int64"):  # no float32 between integers is an input of it
        ask(tmp_path, f"{alone}{box}(assert (>= Y[0,0] 0.5))", "f")


@pytest.mark.parametrize("relation", ["<=", ">=", "<", ">", "=="])
@pytest.mark.parametrize(
    "sides",
    ["X[0] 0.1", "(+ X[0] 0.7) 0.9", "(* 0.7 X[0]) 0.3", "(* 3 X[0]) 0.1", "(+ X[0] (* 0.1 U[0])) 0.2", "1e-50 X[0]"],
)
def test_literals_are_taken_both_ways(relation: str, sides: str) -> None:
    """Whatever reading of 0.1 lets a float32 pass, a widened query lets it pass; the demanding one needs both."""
    text = f"""(vnnlib-version <2.0>)
(declare-network f (declare-input X float32 [1]) (declare-output U float32 [1]))
(assert ({relation} {sides}))"""
    written, rounded = read_text(text).query, read_text(text, literals=float32).query
    wide = widened(written, rounded)
    assert len(wide) == (2 if "0.1 U" in sides else 1)

    def shown(number: str) -> str:
        """A literal as it counts where literals are rounded, exactly."""
        return str(Fraction(float(np.float32(number))))

    by_hand = text.replace(sides, re.sub(r"[0-9]*\.[0-9]+|1e-50", lambda m: shown(m[0]), sides))
    near = np.float32(
        {"X[0] 0.1": 0.1, "(* 3 X[0]) 0.1": 0.1 / 3, "(* 0.7 X[0]) 0.3": 3 / 7, "1e-50 X[0]": 0}.get(sides, 0.2)
    )
    for step in range(-4, 5):
        number = near
        for _ in range(abs(step)):
            number = np.nextafter(number, np.float32(np.inf if step > 0 else -np.inf))
        x = Fraction(float(number))
        at = {"X[0]": x, "U[0]": Fraction(0)}
        readings = [satisfied(text, at), satisfied(by_hand, at)]

        def value(element: Element, x: Fraction = x) -> tuple[Fraction, Fraction]:
            return (Fraction(0),) * 2 if element.output else (x, x)

        assert any(holds(query.assertions[0].formula, value) for query in wide) >= any(readings)
        met = holds(demanding(written, rounded).assertions[0].formula, value)
        assert met == (readings[1] if relation == "==" else all(readings))


def test_sums_of_literals_are_read_both_ways(tmp_path: Path) -> None:
    """0.9 - 0.7 is 0.2, and the float32 below the one next to 0.2 if they are rounded: an input that is not denied."""
    write(tmp_path / "f.onnx", np.random.default_rng(0))
    below = Fraction(float(np.nextafter(np.float32(0.2), np.float32(0))))
    text = PAIR.splitlines()[0] + "(declare-network f (declare-input X float32 [1,3]) (declare-output Y float32 [1,2]))"
    text += "(assert (and (>= X[0,0] 0.0) (== X[0,1] 0.0) (== X[0,2] 0.0) (<= Y[0,0] 100.0)))"
    for offset, answers in ((0, Answer.UNKNOWN), (Fraction(1, 10**6), Answer.UNSAT)):
        high = f"(assert (<= X[0,0] {float(below - offset):.40f}))"
        assert ask(tmp_path, f"{text}{high}(assert (>= (+ X[0,0] 0.7) 0.9))", "f").answer is answers


def test_numbers_are_rounded_once() -> None:
    """Through float64 the number just above a tie would be rounded twice, down to the even one."""
    tie = Fraction(1) + Fraction(1, 2**24)
    assert float32(tie) == 1
    assert float32(tie + Fraction(1, 2**80)) == 1 + Fraction(1, 2**23)
    assert float32(Fraction(1, 2**160)) == 0
    assert float32(Fraction(1, 2**149)) == Fraction(1, 2**149)
    with pytest.raises(InputError, match="beyond the range"):
        float32(Fraction(10) ** 400)
