"""Decisions by exact integers in the auditor: against every point of small grids, and in spoiled certificates."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from eqspec.audit import Refused, audit
from eqspec.audit.functions.levels import ROUNDINGS
from eqspec.audit.grids import decide
from eqspec.audit.opening import question
from eqspec.audit.witness import values_at
from eqspec.networks import read_network
from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Property, Top1
from eqspec.replay.violation import violation
from eqspec.tasks import serialisation
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.task import LinearConstraint, Task
from eqspec.tasks.verdict import Verdict
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.graphs import read
from unit.certificates.proofs import certify, pack, unpack
from unit.networks.models import model, node

F = Fraction
QONNX = "qonnx.custom_op.general"
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def real(*numbers: float) -> Any:
    return np.array(numbers[0] if len(numbers) == 1 else numbers, np.float32)


@dataclass
class Chain:
    """Nodes and constants of a network from x on; `now` is the last value."""

    nodes: list[onnx.NodeProto]
    constants: dict[str, Any]
    now: str = "x"

    def then(self, kind: str, *constants: Any, **attributes: Any) -> Chain:
        """One operator more."""
        number = len(self.nodes)
        names = [f"c{number}_{k}" for k in range(len(constants))]
        self.constants |= dict(zip(names, constants, strict=True))
        self.nodes.append(node(kind, [self.now, *names], f"v{number}", **attributes))
        self.now = f"v{number}"
        return self

    def quant(self, scale: float, bits: int, mode: str = "ROUND", zero: float = 0.0, **given: int) -> Chain:
        """As QONNX has it."""
        given = {"signed": 1, "narrow": 0} | given
        return self.then("Quant", real(scale), real(zero), real(bits), domain=QONNX, rounding_mode=mode, **given)

    def qdq(self, scale: float, zero: int = 0, kind: Any = np.int8) -> Chain:
        """As ONNX has it."""
        point = np.array(zero, kind)
        return self.then("QuantizeLinear", real(scale), point).then("DequantizeLinear", real(scale), point)

    def proto(self, inputs: int) -> onnx.ModelProto:
        """The model."""
        made = model([*self.nodes, node("Identity", [self.now], "y")], self.constants, [1, inputs], opset=21)
        made.opset_import.append(helper.make_opsetid(QONNX, 1))
        return made


def chain() -> Chain:
    return Chain([], {})


def quarters(rng: np.random.Generator, *shape: int) -> Any:
    return (rng.integers(-6, 7, shape) / 4).astype(np.float32)


def written(rng: np.random.Generator, weights: list[Any], style: int, inputs: int) -> onnx.ModelProto:
    """The function that these weights have, written in one of several ways, of which some are other functions."""
    w1, b1, w2, b2 = weights
    made = chain()
    if style == 1:
        made.qdq(0.5)
    else:
        made.quant(0.5, 8)
    if style == 6:
        w1 = w1 + real(0.25)
    made.then("Gemm", w1, b1, transB=1)
    if style == 2:  # the same levels, of which none below 0 are left
        made.quant(0.25, 4, signed=0)
    elif style == 3:
        made.then("Relu").qdq(0.25, -128).quant(0.25, 4, signed=0)
    elif style == 4:
        made.then("Relu").quant(0.25, 4, mode="FLOOR", signed=0)
    elif style == 5:
        made.then("Relu").quant(0.25, 7, mode="HALF_UP", zero=-1.0)
    else:
        made.then("Relu").quant(0.25, 4, signed=0)
    made.then("Gemm", w2, b2, transB=1)
    return made.proto(inputs)


def files(folder: Path, *protos: onnx.ModelProto) -> list[Any]:
    found = []
    for number, proto in enumerate(protos):
        (folder / f"{number}.onnx").write_bytes(proto.SerializeToString())
        found.append(read_network(folder / f"{number}.onnx"))
    return found


def points(made: Task) -> list[tuple[F, ...]]:
    lines = []
    for lattice, low, high in zip(made.lattices, made.lower_exact, made.upper_exact, strict=True):
        assert lattice is not None
        lines.append([low + k * lattice.step for k in range(int((high - low) / lattice.step) + 1)])
    return list(product(*lines))


def outputs(made: Task) -> list[list[Any]]:
    """Of both networks at every point of the grid, as eqspec evaluates them there."""
    return [[one.evaluate_exact(point) for one in (made.reference, made.candidate)] for point in points(made)]


def true(claim: Property, found: list[list[Any]]) -> bool:
    """Whether the claim holds at every point."""
    return all(violation(claim, f, g) is None for f, g in found)


def decided(made: Task, folder: Path) -> bool:
    try:
        decide(question(serialisation.to_json(made)), folder, lambda: None)
    except Refused as reason:
        if "do not show" not in str(reason):
            raise
        return False
    return True


ACCEPTED: list[bool] = []


@pytest.mark.part(6)
@pytest.mark.parametrize("seed", range(14))
def test_what_is_decided_holds_at_every_point(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    weights = [quarters(rng, 3, 2), quarters(rng, 3), quarters(rng, 2, 3), quarters(rng, 2)]
    style = seed % 7
    other = [w.copy() for w in weights]
    if seed % 3 == 0:
        other[2] = other[2] + rng.choice([0.0, 0.0, 0.25], other[2].shape).astype(np.float32)
    pair = files(tmp_path, written(rng, weights, 0, 2), written(rng, other, style, 2))
    claims: list[Property] = [Epsilon(0), Epsilon("0.9"), Epsilon("1.4", "l1"), Epsilon("1.2", "l2"), Top1()]
    claims += [Linear((1, 0), (-1, 0), "0.6"), Confidence(F(6, 10))]
    grids = (Lattice(F(0), F(1, 2) if seed % 2 else F(1, 8)), Lattice(F(0), F(1, 2)))
    everywhere: list[list[Any]] = []
    for claim in claims:
        made = task_of(pair[0], pair[1], claim, [-1, F(-1, 2)], [F(1, 2), 1], lattices=grids)
        everywhere = everywhere or outputs(made)
        accepted, holds = decided(made, tmp_path), true(claim, everywhere)
        assert holds or not accepted, (seed, style, claim)
        if not isinstance(claim, Confidence):  # of which no number decides for certain
            assert accepted == holds, "in the end every point is looked at"
        if style in (0, 1, 2, 3) and seed % 3:
            everywhere_else = replace(made, lattices=())
            assert decided(everywhere_else, tmp_path), "one function, written in different ways"
        ACCEPTED.append(accepted)


def test_some_were_decided_and_some_not() -> None:
    assert 0.3 * len(ACCEPTED) < sum(ACCEPTED) < len(ACCEPTED)


@pytest.mark.parametrize("mode", ["ROUND", "HALF_UP", "HALF_DOWN", "CEIL", "FLOOR", "UP", "DOWN"])
def test_roundings_that_differ_anywhere_are_not_taken_for_one(mode: str, tmp_path: Path) -> None:
    """One quantiser against another: on a grid with ties and on one without, for levels on both sides of 0."""
    told = 0
    for other, zero in product(dict.fromkeys([mode, "ROUND", "FLOOR"]), [0.0, 0.5]):
        pair = files(tmp_path, *(chain().quant(1.0, 8, m, z).proto(1) for m, z in ((mode, 0.0), (other, zero))))
        for step, low in product([2, 3], [0, -2]):
            made = task_of(pair[0], pair[1], Epsilon(0), [low], [2], lattices=(Lattice(F(0), F(1, step)),))
            accepted = decided(made, tmp_path)
            assert accepted == true(Epsilon(0), outputs(made)), (other, step, zero)
            box = replace(made, lattices=())
            assert not decided(box, tmp_path) or true(Epsilon(0), outputs(made)), "what holds on a box holds on points"
            told += accepted
    assert told >= 2


@pytest.mark.parametrize("seed", range(6))
def test_nothing_saturates_where_that_is_decided(seed: int, tmp_path: Path) -> None:
    """Against the levels at every point; and an exact witness where one of them is cut off."""
    rng = np.random.default_rng(seed)
    w, b = quarters(rng, 2, 2), quarters(rng, 2)
    bits, mode = 2 + seed % 5, ("ROUND", "FLOOR", "UP")[seed % 3]
    proto = chain().then("Gemm", w, b, transB=1).quant(0.25, bits, mode).proto(2)
    (one,) = files(tmp_path, proto)
    grids = (Lattice(F(0), F(1, 2)), Lattice(F(0), F(1, 4)))
    made = task_of(one, one, NeverSaturates(), [-1, -1], [1, 1], lattices=grids)
    rounding = ROUNDINGS[{"ROUND": 0, "FLOOR": 3, "UP": 6}[mode]]
    cut = False
    for point in points(made):
        for row, bias in zip(w, b, strict=True):
            value = sum(F(float(a)) * x for a, x in zip(row, point, strict=True)) + F(float(bias))
            cut |= not -(2 ** (bits - 1)) <= rounding(4 * value) < 2 ** (bits - 1)
    assert decided(made, tmp_path) == (not cut), "one layer attains its intervals, so it is decided both ways"
    result, certificate = certify(made, tmp_path / "proofs")
    assert result.verdict is (Verdict.DIFFERENT if cut else Verdict.EQUIVALENT)
    assert certificate is not None
    assert certificate.reason is None
    assert audit(certificate.path, tmp_path).verdict == result.verdict.value
    assert decided(task_of(one, one, NeverWraps(), [-1, -1], [1, 1]), tmp_path)
    if cut:  # what saturates does not wrap
        wraps = spoiled(certificate.path, tmp_path, lambda h: h["task"]["property"].update(overflow="wraps"))
        assert "cannot show that the claim breaks" in wraps


def in_range(rng: np.random.Generator) -> Array:
    return np.concatenate([rng.integers(-40, 41, 200) / 8, rng.normal(size=100) * 5]).astype(np.float32)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16])
def test_levels_of_onnx_are_those_of_its_reference(kind: Any) -> None:
    """Ties, ends of the type, along an axis; and weights that are stored as integers, or quantised in the file."""
    rng = np.random.default_rng(3)
    low, high = (int(end) for end in (np.iinfo(kind).min, np.iinfo(kind).max))
    scales, zeros = real(0.25, 0.5, 2.0**-12), np.array([low + 3, low, high - 7], kind)
    made = chain().then("QuantizeLinear", scales, zeros).then("DequantizeLinear", scales, zeros)
    made.constants |= {"stored": rng.integers(low, high, (3, 3)).astype(kind), "by": scales, "from": zeros}
    made.constants |= {"loose": 100 * quarters(rng, 3) + real(0.25), "half": real(0.5), "one": np.array(low + 1, kind)}
    made.nodes += [
        node("DequantizeLinear", ["stored", "by", "from"], "w", axis=0),
        node("MatMul", [made.now, "w"], "m"),
        node("QuantizeLinear", ["loose", "half", "one"], "q"),
        node("DequantizeLinear", ["q", "half", "one"], "shift"),
        node("Add", ["m", "shift"], "s"),
    ]
    made.now = "s"
    proto = made.proto(3)
    own, reference = read(proto, 3), ReferenceEvaluator(proto)
    for x in in_range(rng)[:90].reshape(-1, 1, 3):
        exact = [float(low) for low, high in values_at(own, [F(float(v)) for v in x.ravel()]) if low == high]
        (expected,) = reference.run(None, {"x": x})
        np.testing.assert_allclose(np.array(exact), np.asarray(expected).ravel(), rtol=1e-5)


@pytest.mark.parametrize("mode", ["ROUND", "HALF_UP", "HALF_DOWN", "CEIL", "FLOOR", "UP", "DOWN"])
def test_levels_of_qonnx_are_those_of_its_functions(mode: str) -> None:
    int_quant = pytest.importorskip("qonnx.custom_op.general.intquant", reason="qonnx is not installed").int_quant
    x = in_range(np.random.default_rng(4))
    for signed, narrow, zero in ((0, 0, 0.0), (0, 1, 1.0), (1, 0, 0.5), (1, 1, 0.0)):
        proto = chain().quant(0.25, 4, mode, zero, signed=signed, narrow=narrow).proto(len(x))
        values = values_at(read(proto, len(x)), [F(float(v)) for v in x])
        expected = int_quant(x.astype(np.float64), *map(np.float64, (0.25, zero, 4)), signed, narrow, mode)
        assert values == [(F(float(v)),) * 2 for v in expected]


def test_bipolar_levels() -> None:
    own = read(chain().then("BipolarQuant", real(0.75), domain=QONNX).proto(1), 1)
    for x, y in ((-1.0, -0.75), (0.0, 0.75), (2.0, 0.75), (-(2.0**-40), -0.75)):
        assert values_at(own, [F(x)]) == [(F(y), F(y))]


def with_(change: Callable[[Chain], object]) -> onnx.ModelProto:
    made = chain()
    change(made)
    return made.proto(2)


REFUSED: dict[str, tuple[Callable[[Chain], object], str]] = {
    "a signed bit": (lambda c: c.quant(1.0, 1), "bits from 2"),
    "half a bit": (lambda c: c.then("Quant", real(1.0), real(0.0), real(2.5), domain=QONNX), "whole number of bits"),
    "a scale below 0": (lambda c: c.quant(-1.0, 4), "do not fit|not positive"),
    "a scale that is no number": (lambda c: c.quant(float("nan"), 4), "finite"),
    "an unknown rounding": (lambda c: c.quant(1.0, 4, "STOCHASTIC"), "does not read"),
    "an unknown attribute": (lambda c: c.quant(1.0, 4, wide=1), "other inputs or attributes"),
    "truncation": (lambda c: c.then("Trunc", *[real(1.0)] * 4, domain=QONNX), "does not read"),
    "integers that are added": (
        lambda c: c.then("QuantizeLinear", real(1.0), np.array(0, np.int8)).then("Add", np.array(1, np.int8)),
        "does not read Add",
    ),
    "three scales for two": (lambda c: c.then("QuantizeLinear", real(1, 2, 3), np.zeros(3, np.int8)), "along its axis"),
    "real numbers dequantised": (lambda c: c.then("DequantizeLinear", real(1.0)), "no integer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_refused_by_name(name: str) -> None:
    change, reason = REFUSED[name]
    with pytest.raises(Refused, match=reason):
        read(with_(change), 2).steps()


@pytest.mark.parametrize("seed", range(2))
def test_that_no_point_meets_the_condition_is_told(seed: int, tmp_path: Path) -> None:
    """The claim is then true and says nothing, and an audit with the spec must not call it shown as expected."""
    rng = np.random.default_rng(seed)
    weights = [quarters(rng, 3, 2), quarters(rng, 3), quarters(rng, 2, 3), quarters(rng, 2)]
    pair = files(tmp_path, written(rng, weights, 0, 2), written(rng, weights, 3, 2))
    grid = (Lattice(F(0), F(1, 2)),) * 2
    made = task_of(pair[0], pair[1], Top1(), [-1, -1], [1, 1], space=space(2, 2), lattices=grid)
    leads = [abs(f[0][0] - f[1][0]) for f, _ in outputs(made)]
    odds = [1 / (1 + exp(-float(lead))) for lead in leads]
    above, below = (max(odds) + 1) / 2, (max(odds) + 0.5) / 2
    claims: list[tuple[Property, bool]] = [
        (Margin(max(leads)), False),
        (Margin(max(leads) + F(1, 999)), True),
        (Margin(F(0)), False),
    ]
    for claim, nothing in [*claims, (Confidence(above), True), (Confidence(max(below, 0.5)), False)]:
        result, certificate = certify(replace(made, property=claim), tmp_path)
        assert certificate is not None
        assert (result.verdict, result.vacuous) == (Verdict.EQUIVALENT, nothing)
        found = audit(certificate.path)
        assert any(heading == "shown by" and "exact integers" in text for heading, text in found.said)
        assert found.vacuous is nothing, claim


@pytest.mark.parametrize(("least", "nothing"), [(1, False), (2, False), (3, True), (9, True)])
@pytest.mark.parametrize("guard", [None, F(1)])
def test_that_no_point_meets_the_constraints_is_told(
    guard: F | None, least: int, *, nothing: bool, tmp_path: Path
) -> None:
    """The sum of two inputs from -1 to 1 is to be `least`, and the scores, x and y, are `guard` apart."""
    pair = files(tmp_path, chain().quant(1.0, 4).proto(2), chain().quant(1.0, 5).proto(2))
    limit = (LinearConstraint((F(-1), F(-1)), F(-least)),)
    claim = Epsilon(0) if guard is None else Margin(guard)
    grid = (Lattice(F(0), F(1)),) * 2
    made = task_of(pair[0], pair[1], claim, [-1, -1], [1, 1], space=space(2, 2), lattices=grid, constraints=limit)
    result, certificate = certify(made, tmp_path)
    assert certificate is not None
    nothing |= guard == 1 and least == 2  # x = y = 1
    assert (result.verdict, result.vacuous, audit(certificate.path).vacuous) == (Verdict.EQUIVALENT, nothing, nothing)


@pytest.fixture(scope="module")
def equal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for two files of one function on a box of real numbers."""
    folder = tmp_path_factory.mktemp("equal")
    rng = np.random.default_rng(5)
    weights = [quarters(rng, 3, 2), quarters(rng, 3), quarters(rng, 2, 3), quarters(rng, 2)]
    pair = files(folder, written(rng, weights, 0, 2), written(rng, weights, 3, 2))
    made = task_of(pair[0], pair[1], Epsilon(0), [-3, -3], [3, 3], space=space(2, 2))
    result, certificate = certify(made, folder)
    assert result.verdict is Verdict.EQUIVALENT
    assert result.certificate is not None
    assert certificate is not None
    found = audit(certificate.path)
    assert any(heading == "shown by" and "exact integers" in text for heading, text in found.said)
    assert found.vacuous is False
    return certificate.path


def spoiled(certificate: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object], more: bytes = b"") -> str:
    header = header_of(certificate)
    change(header)
    with pytest.raises(Refused) as reason:
        audit(packed(header, tmp_path, more), certificate.parent)
    return str(reason.value)


def header_of(certificate: Path) -> dict[str, Any]:
    content = gzip.decompress(certificate.read_bytes())
    assert content.count(b"\n") == 1, "there is nothing but the line of JSON"
    found: dict[str, Any] = json.loads(content)
    return found


def packed(header: dict[str, Any], tmp_path: Path, more: bytes = b"") -> Path:
    path = tmp_path / "changed"
    path.write_bytes(gzip.compress(json.dumps(header).encode() + b"\n" + more))
    return path


def test_a_certificate_of_a_decision_that_is_changed_holds_no_longer(equal: Path, tmp_path: Path) -> None:
    assert audit(packed(header_of(equal), tmp_path), equal.parent).verdict == "equivalent"
    assert "way" in spoiled(equal, tmp_path, lambda h: h.update(decision="cells"))
    assert "way" in spoiled(equal, tmp_path, lambda h: h["task"].update(arithmetic="float32"))
    assert "goes on" in spoiled(equal, tmp_path, lambda _: None, b"more")
    assert spoiled(equal, tmp_path, lambda h: h.pop("decision"))
    assert "verdict" in spoiled(equal, tmp_path, lambda h: h.update(verdict="unknown"))
    assert "sha256" in spoiled(equal, tmp_path, lambda h: h["task"]["candidate"].update(sha256="0" * 64))
    grid = [{"origin": "0", "step": "0"}] * 2
    assert "not positive" in spoiled(equal, tmp_path, lambda h: h["task"]["region"].update(grid=grid))
    assert "entries" in spoiled(equal, tmp_path, lambda h: h["task"]["region"].update(grid=[None]))
    empty = {"lo_exact": ["1", "1"], "hi_exact": ["0", "0"]}
    assert "no point" in spoiled(equal, tmp_path, lambda h: h["task"]["region"].update(empty))
    between = {"lo_exact": ["1/8", "1/8"], "hi_exact": ["1/4", "1/4"], "grid": [{"origin": "0", "step": "1"}] * 2}
    assert "no point" in spoiled(equal, tmp_path, lambda h: h["task"]["region"].update(between))
    never = {"kind": "never", "decide": "max", "overflow": "saturates"}
    assert "do not show" in spoiled(equal, tmp_path, lambda h: h["task"].update(property=never))


def test_a_pair_that_is_not_equal_has_no_such_certificate(equal: Path, tmp_path: Path) -> None:
    """Another rounding, another width, another weight, under a sha256 that fits."""
    header = header_of(equal)
    rng = np.random.default_rng(5)
    weights = [quarters(rng, 3, 2), quarters(rng, 3), quarters(rng, 2, 3), quarters(rng, 2)]
    wider = [w.copy() for w in weights]
    wider[3] = wider[3] + real(2.0**-20)
    protos = [written(rng, weights, 4, 2), written(rng, weights, 5, 2), written(rng, weights, 6, 2)]
    for number, proto in enumerate([*protos, written(rng, wider, 0, 2)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (one,) = files(folder, proto)
        header["task"]["candidate"].update(path=str(one.source), sha256=one.sha256)
        with pytest.raises(Refused, match="do not show"):
            audit(packed(header, tmp_path), equal.parent)


def test_a_region_on_a_grid_is_named_and_checked(tmp_path: Path) -> None:
    """A witness has to lie on the grid, and what is said tells of it."""
    rng = np.random.default_rng(6)
    weights = [quarters(rng, 3, 2), quarters(rng, 3), quarters(rng, 2, 3), quarters(rng, 2)]
    other = [*weights[:3], weights[3] + real(0.5)]
    pair = files(tmp_path, written(rng, weights, 0, 2), written(rng, other, 0, 2))
    grids = (Lattice(F(0), F(1, 8)), Lattice(F(0), F(1, 8)))
    made = task_of(pair[0], pair[1], Epsilon(0), [-1, -1], [1, 1], lattices=grids)
    result, certificate = certify(made, tmp_path)
    assert result.verdict is Verdict.DIFFERENT
    assert certificate is not None
    assert certificate.reason is None
    parts = unpack(certificate.path)
    said = audit(certificate.path).said
    assert ("region", "inputs 0 to 1: 0 + k * 1/8, k a whole number") in said
    parts.header["witness"] = ["1/16", "0"]
    with pytest.raises(Refused, match="outside"):
        audit(pack(tmp_path / "beside", parts), tmp_path)


@pytest.mark.parametrize(("scale", "bits", "signed"), [(0.25, 4, 1), (1 / 32, 8, 0)])
def test_a_proof_of_a_search_is_certified(scale: float, bits: int, signed: int, tmp_path: Path) -> None:
    """A distance that grids do not show, with multipliers in one case; a smaller one is not proved by the same tree."""
    rng = np.random.default_rng(1)
    w1, b1, w2, b2 = (rng.normal(size=size).astype(np.float32) for size in ((8, 3), (8,), (2, 8), (2,)))
    protos = []
    for first in (w1, w1 * real(1.01)):
        made = chain().then("Gemm", first, b1, transB=1)
        made = made if signed else made.then("Relu")
        protos.append(made.quant(scale, bits, signed=signed).then("Gemm", w2, b2, transB=1).proto(3))
    pair = files(tmp_path, *protos)
    made_task = task_of(pair[0], pair[1], Epsilon("1.5"), [F(-1, 2)] * 3, [F(1, 2)] * 3, space=space(3, 2))
    assert not decided(made_task, tmp_path)
    result, certificate = certify(made_task, tmp_path, timeout=20)
    assert result.verdict is Verdict.EQUIVALENT
    assert certificate is not None
    assert certificate.reason is None
    assert certificate.leaves
    parts = unpack(certificate.path)
    assert audit(pack(tmp_path / "same", parts), tmp_path).verdict == "equivalent"
    parts.header["task"]["property"]["eps"] = "1/10000"
    with pytest.raises(Refused, match="not proved"):
        audit(pack(tmp_path / "stronger", parts), tmp_path)
