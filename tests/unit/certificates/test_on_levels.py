"""Operators on levels as the auditor reads them, bit for bit what onnxruntime answers without its optimiser.

Scales are powers of two and inputs lie on multiples of half a step, so float32 rounds nothing and ties are frequent;
zero points are often odd. Where a factor is unsigned the other one has 7 bits, as some processors cut off sums of pairs
of larger products. What onnx defines is held against its reference implementation as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from eqspec.audit import Refused, audit
from eqspec.audit.witness import values_at
from eqspec.networks import read_network
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.graphs import read
from unit.certificates.proofs import certify

MICROSOFT = "com.microsoft"
Array = np.ndarray[tuple[int, ...], np.dtype[Any]]


@dataclass
class File:
    """A network that quantises its input, and dequantises what it gives."""

    rng: np.random.Generator
    kind: Any
    shape: tuple[int, ...]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    now: str = "x"
    scale: str = ""
    """Of the result."""
    given: int = TensorProto.FLOAT
    made: int = TensorProto.FLOAT

    def constant(self, array: Any) -> str:
        """Its name."""
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def add(self, kind: str, names: list[str], **given: Any) -> str:
        """A node, the result of which is read next."""
        self.now = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, names, [self.now], **given))
        return self.now

    def step(self, count: int = 0) -> str:
        """A scale, or several."""
        made = 2.0 ** self.rng.integers(-3, 2, (count,) if count else ())
        return self.constant(np.asarray(made, np.float32))

    def point(self, kind: Any, count: int = 0) -> str:
        """A zero point, or several: odd ones, and the ends of the type."""
        ends = np.iinfo(kind)
        return self.constant(
            np.asarray(self.rng.choice([ends.min, ends.max, 1, 3, 7], (count,) if count else ()), kind)
        )

    def weights(self, shape: tuple[int, ...], kind: Any) -> str:
        """Of 7 bits, if the levels are unsigned and these are not."""
        ends = np.iinfo(kind)
        low, high = (-64, 63) if kind is np.int8 and self.kind is np.uint8 else (ends.min, ends.max)
        return self.constant(np.asarray(self.rng.integers(low, high + 1, shape), kind))

    def levels(self, name: str = "x") -> list[str]:
        """A value quantised: its levels with their scale and zero point."""
        scale, zero = self.step(), self.point(self.kind)
        return [self.add("QuantizeLinear", [name, scale, zero]), scale, zero]

    def result(self, kind: str, names: list[str], *behind: str, place: int | None = None, **given: Any) -> None:
        """An operator with a scale and a zero point of its own, dequantised."""
        scale, zero = self.step(), self.point(self.kind)
        at = len(names) if place is None else place
        self.scale = scale
        self.add(kind, [*names[:at], scale, zero, *names[at:], *behind], **given)
        self.add("DequantizeLinear", [self.now, scale, zero])

    def proto(self) -> onnx.ModelProto:
        """The file."""
        stored = [numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        value = helper.make_tensor_value_info
        given, made = value("x", self.given, self.shape), value(self.now, self.made, None)
        graph = helper.make_graph(self.nodes, "g", [given], [made], stored)
        imports = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)


def dense(f: File) -> tuple[list[str], Any]:
    """Levels, and the type of the weights that they are multiplied with."""
    return f.levels(), np.int8 if f.kind is np.int8 or f.rng.integers(2) else np.uint8


def product(f: File) -> None:
    """With a scale and a zero point for every column, or one."""
    a, kind = dense(f)
    count = 3 * int(f.rng.integers(2))
    f.result("QLinearMatMul", [*a, f.weights((6, 3), kind), f.step(count), f.point(kind, count)])


def two_products(f: File) -> None:
    """Of a value with another one that varies."""
    f.shape = (1, 2, 2)
    a = f.levels()
    f.result("QLinearMatMul", [*a, *f.levels()])


def gemm(f: File) -> None:
    """With everything that it may have; its scale is that of one row or of all."""
    a, kind = dense(f)
    turned, count = int(f.rng.integers(2)), 3 * int(f.rng.integers(2))
    b = [f.weights((3, 6) if turned else (6, 3), kind), f.step(count), f.point(kind, count)]
    bias = f.constant(f.rng.integers(-5000, 5000, 3).astype(np.int32)) if f.rng.integers(2) else ""
    given: dict[str, Any] = {"transB": turned, **({"alpha": 0.5} if f.rng.integers(2) else {})}
    if f.rng.integers(4) == 0:
        f.add("QGemm", [*a, *b, bias], domain=MICROSOFT, **given)
    else:
        f.result("QGemm", [*a, *b, bias], domain=MICROSOFT, **given)


def convolution(f: File) -> None:
    """Padded, with strides, groups and a bias."""
    f.shape = (1, 2, 4, 4)
    a, kind = dense(f)
    groups, count = int(f.rng.choice([1, 2])), 4 * int(f.rng.integers(2))
    zero = f.constant(np.zeros(count or (), kind)) if count or f.rng.integers(2) else f.point(kind)
    w = [f.weights((4, 2 // groups, 3, 2), kind), f.step(count), zero]
    bias = [f.constant(f.rng.integers(-500, 500, 4).astype(np.int32))] if f.rng.integers(2) else []
    strides = [int(f.rng.integers(1, 3)), 1]
    f.result("QLinearConv", [*a, *w], *bias, group=groups, pads=[1, 0, 1, 1], strides=strides)


def integer_product(f: File) -> None:
    """A Cast of the sums, or what a DequantizeLinear makes of them."""
    (a, _, zero), kind = dense(f)
    count = 3 * int(f.rng.integers(2))
    f.add("MatMulInteger", [a, f.weights((6, 3), kind), zero, f.point(kind, count)])
    f.add("Cast", [f.now], to=TensorProto.FLOAT) if count else f.add("DequantizeLinear", [f.now, f.step()])


def integer_convolution(f: File) -> None:
    """Whose padding stands for zero, not for the zero point."""
    f.shape, f.kind = (1, 2, 4, 4), np.uint8
    a, _, zero = f.levels()
    f.add("ConvInteger", [a, f.weights((2, 2, 2, 3), np.uint8), zero, f.point(np.uint8)], pads=[0, 1, 1, 1])
    f.add("Cast", [f.now], to=TensorProto.FLOAT)


def of_two(kind: str) -> Callable[[File], None]:
    """Of two values, or of a value and constants; one of a single entry is broadcast."""

    def made(f: File) -> None:
        a = f.levels()
        b = f.levels() if f.rng.integers(2) else [f.weights((1, 6), f.kind), f.step(), f.point(f.kind)]
        f.result(kind, [*a, *b] if f.rng.integers(2) else [*b, *a], domain=MICROSOFT)

    return made


def of_one(kind: str, **given: Any) -> Callable[[File], None]:
    """Of a small image."""

    def made(f: File) -> None:
        f.shape = (1, 2, 4, 2)
        f.result(kind, f.levels(), domain=MICROSOFT, **given)

    return made


def averages(f: File) -> None:
    """Whose padding counts or does not."""
    counted = int(f.rng.integers(2))
    pads = [0, 0, 0, 0] if f.rng.integers(2) else [1, 0, 1, 0]
    of_one("QLinearAveragePool", kernel_shape=[2, 2], count_include_pad=counted, pads=pads)(f)


def joined(f: File) -> None:
    """Of values with other scales than that of the result."""
    f.shape = (1, 2, 4, 2)
    f.result("QLinearConcat", [*f.levels(), *f.levels()], place=0, axis=1, domain=MICROSOFT)


def moved(f: File) -> None:
    """Levels that are moved, padded, joined and compared as they are."""
    f.shape = (1, 2, 4, 2)
    a, scale, zero = f.levels()
    f.add("MaxPool", [a], kernel_shape=[2, 2], pads=[1, 0, 0, 1])
    f.add("Transpose", [f.now], perm=[0, 1, 3, 2])
    f.add("Pad", [f.now, f.constant(np.array([0, 0, 1, 0, 0, 0, 0, 1])), zero])
    first = f.add("Slice", [f.now, f.constant([1]), f.constant([-1]), f.constant([3])])
    f.add("Concat", [first, f.now, f.weights((1, 2, 3, 1), f.kind)], axis=3)
    f.add("Reshape", [f.now, f.constant([1, -1])])
    f.add("DequantizeLinear", [f.now, scale, zero])


CASES: dict[str, Callable[[File], None]] = {
    "QLinearMatMul": product, "QLinearMatMul of two": two_products, "QGemm": gemm, "QLinearConv": convolution,
    "MatMulInteger": integer_product, "ConvInteger": integer_convolution, "QLinearAdd": of_two("QLinearAdd"),
    "QLinearMul": of_two("QLinearMul"), "QLinearAveragePool": averages, "QLinearConcat": joined,
    "QLinearGlobalAveragePool": of_one("QLinearGlobalAveragePool", channels_last=0), "moved": moved,
    "QLinearLeakyRelu": of_one("QLinearLeakyRelu", alpha=0.25), "QLinearSigmoid": of_one("QLinearSigmoid"),
}  # fmt: skip


def runtime(proto: onnx.ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", CASES)
@pytest.mark.part(2 * len(CASES))
def test_they_are_what_runtimes_compute(name: str, seed: int, kind: Any) -> None:
    f = File(np.random.default_rng(seed), kind, (1, 6))
    CASES[name](f)
    proto = f.proto()
    running, own = runtime(proto), None
    defined = (
        not any(n.domain for n in proto.graph.node) and name != "moved"
    )  # where the reference has NaN for integers
    reference = ReferenceEvaluator(proto) if defined else None
    for _ in range(4):
        wide = 2 ** int(f.rng.integers(2, 9))
        x = (f.rng.integers(-wide, wide + 1, f.shape) / 16).astype(np.float32)
        (expected,) = running.run(None, {"x": x})
        own = own or read(proto, expected.size)
        found = values_at(own, [Fraction(float(v)) for v in x.ravel()])
        inside = [low <= Fraction(float(v)) <= high for (low, high), v in zip(found, expected.ravel(), strict=True)]
        assert all(inside)
        if name == "QLinearSigmoid":  # of which only the value at 0 is rational, and that is a tie
            continue
        assert all(low == high for low, high in found)
        if reference is not None:
            (other,) = reference.run(None, {"x": x})
            step = float(f.constants[f.scale]) if f.scale else 0.0  # it adds zero points before it rounds
            np.testing.assert_allclose(np.array([float(low) for low, _ in found]), np.ravel(other), rtol=0, atol=step)


def saved(proto: onnx.ModelProto, folder: Path, name: str) -> Any:
    path = folder / f"{name}.onnx"
    path.write_bytes(proto.SerializeToString())
    return read_network(path)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.part(4)
def test_claims_about_them_have_certificates(name: str, tmp_path: Path) -> None:
    """A file against itself, and against one whose result is one level off: a proof, and an input that breaks it."""
    f = File(np.random.default_rng(3), np.uint8, (1, 6))
    CASES[name](f)
    own = saved(f.proto(), tmp_path, "own")
    f.add("Add", [f.now, f.constant(np.array(1.0, np.float32))])
    other = saved(f.proto(), tmp_path, "other")
    box = [[Fraction(end, 4)] * own.input_size for end in (-3, 3)]
    for pair, eps, verdict in (((own, own), 0, Verdict.EQUIVALENT), ((own, other), Fraction(1, 2), Verdict.DIFFERENT)):
        task = task_of(*pair, Epsilon(eps), box[0], box[1], space=space(own.input_size, own.output_size))
        result, certificate = certify(task, tmp_path / "proofs")
        assert result.verdict is verdict
        assert certificate is not None
        assert certificate.reason is None
        assert audit(certificate.path, tmp_path).verdict == verdict.value


def spoiled(change: Callable[[File], None]) -> onnx.ModelProto:
    f = File(np.random.default_rng(1), np.uint8, (1, 6))
    change(f)
    return f.proto()


def of_gemm(**changed: Any) -> Callable[[File], None]:
    """A QGemm whose operands are others."""

    def made(f: File) -> None:
        a, scale, zero = f.levels()
        given = {"a": a, "sa": scale, "za": zero, "b": f.weights((6, 3), np.int8), "sb": f.step(),
                 "zb": f.point(np.int8), "c": "", "s": f.step(), "z": f.point(np.uint8)}  # fmt: skip
        attributes = {name: changed[name] for name in changed if name not in given}
        given |= {key: f.constant(value) for key, value in changed.items() if key in given and not callable(value)}
        f.add("QGemm", list(given.values()), domain=MICROSOFT, **attributes)
        f.add("DequantizeLinear", [f.now, given["s"], given["z"]])

    return made


def long_sum(f: File) -> None:
    f.shape = (1, 2**16)
    (a, _, zero), weights = f.levels(), f.constant(np.full((2**16, 1), 255, np.uint8))
    f.add("MatMulInteger", [a, weights, zero])
    f.add("Cast", [f.now], to=TensorProto.FLOAT)


def added(f: File) -> None:
    a, scale, zero = f.levels()
    f.add("Add", [a, a])
    f.add("DequantizeLinear", [f.now, scale, zero])


def between_types(f: File) -> None:
    a, scale, zero = f.levels()
    f.add("Concat", [a, f.weights((1, 6), np.int8)], axis=1)
    f.add("DequantizeLinear", [f.now, scale, zero])


F32, I8, U8 = np.float32, np.int8, np.uint8
REFUSED: dict[str, tuple[Callable[[File], None], str]] = {
    "a sum of more than 32 bits": (long_sum, "32 bits may not hold"),
    "a bias of more than 32 bits": (of_gemm(c=np.full(3, 2**31 - 1, np.int32)), "32 bits may not hold"),
    "a bias of real numbers": (of_gemm(c=np.ones(3, F32)), "stored integers of 32 bits"),
    "a zero point of another type": (of_gemm(za=np.array(1, I8)), "another type"),
    "several zero points of the first factor": (of_gemm(za=np.array([1] * 6, U8)), "several"),
    "several scales of the first factor": (of_gemm(sa=np.ones(6, F32)), "more than one"),
    "a negative scale": (of_gemm(sb=np.array(-1, F32)), "not positive"),
    "a scale that is no number": (of_gemm(s=np.array(np.nan, F32)), "not positive"),
    "scales of other columns": (of_gemm(sb=np.ones(2, F32)), "number of scales"),
    "a negative factor": (of_gemm(alpha=-1.0), "not positive"),
    "an attribute of another type": (of_gemm(alpha=1), "other attributes"),
    "an unknown attribute": (of_gemm(beta=1.0), "other attributes"),
    "channels behind": (of_one("QLinearGlobalAveragePool", channels_last=1), "in a way"),
    "an operator of onnxruntime that is not read": (of_one("QLinearSoftmax"), "does not read QLinearSoftmax"),
    "integers that are added": (added, "does not read Add"),
    "integers of two types": (between_types, "several types"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_refused(name: str) -> None:
    change, reason = REFUSED[name]
    with pytest.raises(Refused, match=reason):
        read(spoiled(change), 3).steps()


@pytest.mark.parametrize("cast", [False, True])
def test_integers_at_the_ends_are_read_as_what_they_are(cast: bool, tmp_path: Path) -> None:
    """The certificate says that numbers stand for the nearest integers; where these are only cast, for themselves."""
    f = File(np.random.default_rng(2), np.int8, (1, 6), given=TensorProto.INT8, made=TensorProto.INT8)
    given: tuple[str, ...]
    if cast:
        given = (f.add("QuantizeLinear", [f.add("Cast", ["x"], to=TensorProto.FLOAT), f.step(), f.point(np.int8)]),)
    else:
        given = ("x",)
    weights = [f.weights((6, 3), np.int8), f.step(), f.point(np.int8)]
    f.add("QLinearMatMul", [*given, f.step(), f.point(np.int8), *weights, f.step(), f.point(np.int8)])
    proto = f.proto()
    own, known, running = read(proto, 3), saved(proto, tmp_path, "own"), runtime(proto)
    for _ in range(5):
        x = f.rng.integers(-128, 128, (1, 6)).astype(np.int8)
        (expected,) = running.run(None, {"x": x})
        point = [Fraction(int(v)) for v in x.ravel()]
        assert values_at(own, point) == [(Fraction(int(v)),) * 2 for v in expected.ravel()]
        between = [v + Fraction(2, 5) for v in point]
        assert values_at(own, between) == known.evaluate_exact(between)
    assert any("output holds integers" in said for said in own.said)
    assert any('input "x" holds integers from -128 to 127' in said for said in own.said) != cast
    box = [Fraction(-3)] * 6, [Fraction(3)] * 6
    result, certificate = certify(task_of(known, known, Epsilon(0), *box, space=space(6, 3)), tmp_path / "proofs")
    assert result.verdict is Verdict.EQUIVALENT
    assert certificate is not None
    assert certificate.reason is None
    said = audit(certificate.path, tmp_path).said
    assert sum("holds integers" in text for _, text in said) == 2 * len(own.said)
