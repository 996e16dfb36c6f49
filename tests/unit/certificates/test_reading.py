"""The auditor's own reader of networks, against onnxruntime, onnx's reference evaluator and the loader of eqspec."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from breadth import is_part
from eqspec.audit import Refused, audit
from eqspec.audit.reading import File, Number, Pair
from eqspec.audit.reading.pair import is_chain
from eqspec.audit.reading.surd import Surd, root
from eqspec.audit.witness import values_at
from eqspec.networks import exact, read_network
from eqspec.property import Epsilon, Top1
from small_tasks import space, task
from unit.certificates.dense import layers, matrices
from unit.certificates.proofs import certify
from unit.networks import test_operators
from unit.networks.models import model, node, run_onnxruntime, save
from unit.networks.test_nnet import GOOD as NNET
from unit.networks.test_sharing import normalised

READ = {"gemm", "matmul", "add", "sub", "mul", "div", "relu", "transpose", "reshape", "flatten", "squeeze"}
READ |= {"cast", "concat_with_constant", "dynamic_reshape", "split", "split_evenly"}


def file(path: Path, inputs: int, outputs: int, kind: type[Number] = Number) -> File:
    one, none = ((Fraction(c),) * inputs for c in (1, 0))
    return File(str(path), path.read_bytes(), kind, one, none, (1.0,) * inputs, False, outputs)


def saved(folder: Path, proto: onnx.ModelProto) -> Path:
    return Path(save(folder, proto))


def agrees(path: Path, point: list[Fraction]) -> bool:
    """Whether the file is read, and then as the loader reads it: at a point, and its layers within their radii."""
    network = read_network(path)
    own = file(path, network.input_size, network.output_size)
    try:
        values, chain = values_at(own, point), layers(own) if is_chain(own.steps()) else []
    except Refused:
        return False
    expected = exact.evaluate([exact.IntegerStep(step) for step in network.steps], point)
    for (least, most), (low, high) in zip(values, expected, strict=True):
        assert low <= most
        assert least <= high
        assert most - least < Fraction(1, 2**150)
    now = np.array([*map(float, point), 1.0])
    for number, (matrix, off) in enumerate(chain):
        out = matrix.astype(float) @ now
        assert (off <= Fraction(1, 2**150)).all()
        now = np.append(np.maximum(out, 0.0) if number + 1 < len(chain) else out, 1.0)
    assert not chain or np.allclose(now[:-1], [float(v) for v, _ in values], rtol=1e-9, atol=1e-12)
    return True


def test_every_operator_is_read_as_it_is_or_refused(tmp_path: Path) -> None:
    read = set()
    for number, (name, case) in enumerate(test_operators.CASES.items()):
        opsets = (7, 9, 13, 17)
        for opset in [opsets[number % 4], opsets[(number + 1) % 4]] if is_part() else opsets:
            path = saved(tmp_path, model(*case(opset), opset=opset))
            size = read_network(path).input_size
            if agrees(path, [Fraction(n % 7 - 3, 8) for n in range(size)]):
                read.add(name)
    assert {word for word in READ if any(word in name.lower() for name in read)} == READ, sorted(read)


def test_nodes_in_any_order(tmp_path: Path) -> None:
    """Converters to float16 append casts behind all other nodes."""
    weights = {name: np.random.default_rng(n).normal(size=(3, 3)).astype(np.float32) for n, name in enumerate("ab")}
    nodes = [node("Gemm", ["x", "a"], "s"), node("Relu", ["s"], "h"), node("Gemm", ["s", "b"], "t")]
    nodes += [node("Relu", ["t"], "u"), node("Add", ["u", "h"], "y")]
    for order in permutations(nodes):
        path = saved(tmp_path, model(order, weights, (1, 3)))
        assert agrees(path, [Fraction(1, 3), Fraction(-5, 7), Fraction(2)])


def test_nnet(tmp_path: Path) -> None:
    path = tmp_path / "n.nnet"
    path.write_text(NNET)
    assert agrees(path, [Fraction(1, 3), Fraction(-5, 7)])
    for damaged in (
        NNET + "1.0,\n",
        NNET.replace("0.25,", "0_25,"),  # which Python takes for 25, and other readers for 0
        NNET.replace("0.25,\n-.5,", "0.25,-.5,"),  # two lines in one
        NNET.replace("0.1,2,\n", "0.1,\n2,\n"),
        NNET.replace("2,3,1,", "2,-3,1,"),
    ):
        assert damaged != NNET
        path.write_text(damaged)
        with pytest.raises((Refused, ValueError)):
            layers(file(path, 2, 1))


def test_a_pair_is_kept_as_long_as_nothing_about_it_changes(tmp_path: Path) -> None:
    """Another file of the same name, other rows, and another order are other pairs."""

    def saved_as(name: str, weight: float) -> File:
        (tmp_path / name).mkdir(exist_ok=True)
        constants = {"w": np.full((2, 2), weight, np.float32)}
        return file(saved(tmp_path / name, model([node("MatMul", ["x", "w"], "y")], constants, [1, 2])), 2, 2)

    rows: list[dict[int, Fraction]] = [{0: Fraction(1)}, {1: Fraction(1)}]
    a, b = saved_as("a", 1.0), saved_as("b", 2.0)
    kept = Pair.of(a, b, (rows, rows))
    assert Pair.of(saved_as("a", 1.0), b, ([dict(row) for row in rows], rows)) is kept
    for first, second, part in ((saved_as("a", 3.0), b, rows), (b, a, rows), (a, b, rows[:1])):
        other = Pair.of(first, second, (part, part))
        expected = Pair(first.steps(), second.steps(), 2, (part, part))
        for ours, theirs in zip(matrices(other), matrices(expected), strict=True):
            assert all((x == y).all() for x, y in zip(ours, theirs, strict=True))


def test_sums_of_sums_are_read_in_a_time_like_their_length(tmp_path: Path) -> None:
    """A value that is doubled two hundred times is a sum of 2^200 summands, which nobody writes out."""
    nodes = [node("Add", [f"x{n}" if n else "x"] * 2, f"x{n + 1}" if n < 199 else "y") for n in range(200)]
    path = saved(tmp_path, model(nodes, {}, [1, 2]))
    (layer,) = layers(file(path, 2, 2))
    assert (layer[0] == np.array([[2**200, 0, 0], [0, 2**200, 0]], object)).all()
    shared = [node("Add", ["x", "x"], "a"), node("Add", ["a", "x"], "b"), node("Add", ["a", "b"], "y")]
    (layer,) = layers(file(saved(tmp_path, model(shared, {}, [1, 1])), 1, 1))
    assert layer[0].tolist() == [[5, 0]]


def test_a_value_from_before_a_relu_is_read_beside_what_is_behind_it(tmp_path: Path) -> None:
    """Its coefficients are over other units."""
    nodes = [node("Relu", ["x"], "h"), node("Add", ["h", "x"], "y")]
    path = saved(tmp_path, model(nodes, {}, [1, 3]))
    point = [Fraction(1, 2), Fraction(-3), Fraction(0)]
    assert values_at(file(path, 3, 3), point) == [(v + max(v, Fraction(0)),) * 2 for v in point]


def test_weights_in_other_files_are_refused(tmp_path: Path) -> None:
    proto = model([node("MatMul", ["x", "w"], "y")], {"w": np.ones((2, 2), np.float32)}, [1, 2])
    (weight,) = [t for t in proto.graph.initializer if t.name == "w"]
    weight.data_location = TensorProto.EXTERNAL
    path = tmp_path / "n.onnx"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(Refused, match="other files"):
        layers(file(path, 2, 2))


def test_what_an_operator_means_elsewhere_is_refused(tmp_path: Path) -> None:
    """A Softmax over the batch, a normalisation without channels, or one that is training."""
    training = node("BatchNormalization", ["x", *"wwww"], "y", training_mode=1)
    cases = [
        (model([training], {"w": np.ones(3, np.float32)}, [1, 3]), 3, 3),
        (model([node("Softmax", ["x"], "y", axis=0)], {}, [1, 3]), 3, 3),
        (model([node("BatchNormalization", ["x", *"wwww"], "y")], {"w": np.ones(3, np.float32)}, [3]), 3, 3),
    ]
    for proto, inputs, outputs in cases:
        with pytest.raises(Refused):
            layers(file(saved(tmp_path, proto), inputs, outputs))
    assert len(layers(file(saved(tmp_path, model([node("Softmax", ["x"], "y")], {}, [1, 3])), 3, 3))) == 1


def test_what_compares_numbers_is_refused(tmp_path: Path) -> None:
    """Nothing decides anything on a Number by accident."""
    path = saved(tmp_path, model([node("Hardmax", ["x"], "y")], {}, [1, 3]))
    with pytest.raises(Refused, match="does not read"):
        layers(file(path, 3, 3))
    one = file(path, 3, 3).kind.of(Fraction(1))
    for use in (bool, float, int, abs, hash, lambda v: v < 1, lambda v: v == 1, lambda v: v >= 1, lambda v: [0][v]):
        with pytest.raises((Refused, TypeError)):
            use(one)


@pytest.mark.parametrize("kind", ["onnx", "nnet"])
def test_networks_with_normalisation_or_as_text_are_certified(kind: str, tmp_path: Path) -> None:
    """From the file to an accepted certificate, of a proof and of a witness."""
    rng = np.random.default_rng(2)
    paths = []
    weights = [np.round(rng.normal(size=shape), 3) for shape in ((4, 2), (4,), (3, 4), (3,))]
    for name, off in (("a", 0.0), ("b", 0.01)):
        w1, b1, w2, b2 = weights[0] + off, *weights[1:]
        path = tmp_path / f"{name}.{kind}"
        if kind == "nnet":
            lines = ["2,2,3,4,", "2,4,3,", "0,", "-1,-1,", "1,1,", "0,0,0,", "1,1,1,"]
            for w, b in ((w1, b1), (w2, b2)):
                lines += [*(",".join(map(repr, row)) + "," for row in w.tolist()), *(f"{v!r}," for v in b.tolist())]
            path.write_text("\n".join(lines) + "\n")
        else:
            constants = {"w": w1.T, "s": b1, "b": b1 / 2, "m": b1 / 3, "v": np.abs(b1) + 0.5, "u": w2.T, "c": b2}
            nodes = [
                node("MatMul", ["x", "w"], "p"),
                node("BatchNormalization", ["p", "s", "b", "m", "v"], "q"),
                node("Relu", ["q"], "r"),
                node("Gemm", ["r", "u", "c"], "t"),
                node("Transpose", ["t"], "y", perm=[1, 0]),
            ]
            proto = model(nodes, {n: v.astype(np.float32) for n, v in constants.items()}, [1, 2])
            path.write_bytes(proto.SerializeToString())
        paths.append(read_network(path))
    for eps, verdict in ((Fraction(1), "equivalent"), (Fraction(1, 10**4), "different")):
        box = [Fraction(-1)] * 2, [Fraction(1)] * 2
        claim = task(paths[0], paths[1], Epsilon(eps), *box, space=space(2, 3))
        result, made = certify(claim, tmp_path)
        assert result.verdict.value == verdict
        assert made is not None
        assert made.reason is None


def test_raw_inputs_and_turned_outputs(tmp_path: Path) -> None:
    weight = np.array([[1.0, 2.0], [3.0, -0.5]], np.float32)
    path = saved(tmp_path, model([node("MatMul", ["x", "w"], "y")], {"w": weight}, [1, 2]))
    own = replace(
        file(path, 2, 2), scale=(Fraction(1, 3), Fraction(2)), shift=(Fraction(1, 7), Fraction(-1)), negated=True
    )
    point = [Fraction(3, 5), Fraction(1, 9)]
    raw = [Fraction(1, 3) * point[0] + Fraction(1, 7), 2 * point[1] - 1]
    expected = [
        -sum((Fraction(float(w)) * v for w, v in zip(column, raw, strict=True)), Fraction(0)) for column in weight.T
    ]
    assert values_at(own, point) == [(value, value) for value in expected]
    ((matrix, off),) = layers(own)
    assert (matrix @ np.array([*point, Fraction(1)]) == expected).all()
    assert not off.any()


@pytest.mark.parametrize(("opset", "said"), [(17, {}), (8, {"spatial": 1}), (17, {"training_mode": 0})])
def test_batch_normalisation_has_an_enclosure_of_its_root(opset: int, said: dict[str, int], tmp_path: Path) -> None:
    constants: dict[str, Any] = {
        name: np.array(values, np.float32)
        for name, values in (("s", [1.5, -2.0]), ("b", [0.25, 1]), ("m", [1, -3]), ("v", [0.3, 2.0]))
    }
    nodes = [node("BatchNormalization", ["x", "s", "b", "m", "v"], "h", **said), node("Relu", ["h"], "y")]
    path = saved(tmp_path, model(nodes, constants, [1, 2], opset=opset))
    assert agrees(path, [Fraction(7, 5), Fraction(-9, 4)])
    (ours,) = run_onnxruntime(str(path), np.array([[1.4, -2.25]], np.float32)).reshape(1, -1)
    exact = values_at(file(path, 2, 2), [Fraction(7, 5), Fraction(-9, 4)])
    assert np.allclose(ours, [float(v) for v, _ in exact], rtol=1e-5)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == read_network(path).sha256


def batch_normalised(folder: Path, variance: float, epsilon: float, name: str) -> File:
    """x / sqrt(variance + epsilon), in double precision."""
    constants = {"one": np.ones(1), "zero": np.zeros(1), "q": np.array([variance])}
    nodes = [node("BatchNormalization", ["x", "one", "zero", "zero", "q"], "y", epsilon=epsilon)]
    proto = model(nodes, constants, [1, 1], kind=TensorProto.DOUBLE)
    (folder / name).write_bytes(proto.SerializeToString())
    return file(folder / name, 1, 1)


def test_one_root_leaves_nothing_and_another_however_near_does(tmp_path: Path) -> None:
    """The roots of 2^100 + 2^-149 and 2^100 + 2^-148 agree in 248 bits; of what is equal nothing is missing."""
    one, again, other = (
        batch_normalised(tmp_path, 2.0**100, 2.0**e, f"{n}.onnx") for n, e in enumerate((-149, -149, -148))
    )
    rows: list[dict[int, Fraction]] = [{0: Fraction(1)}]
    for second, equal in ((again, True), (other, False)):
        matrix, constant, off, lost = matrices(Pair(one.steps(), second.steps(), 1, (rows, rows)))[0]
        assert matrix[0, 0] == matrix[1, 0]
        assert off[0, 0] > 0.0
        assert bool(matrix[2, 0] == off[2, 0] == 0.0) is equal
        assert not (constant.any())
        assert not (lost.any())


def test_sums_and_products_of_roots_are_exact() -> None:
    a, b = root(Fraction(2)), root(Fraction(3, 7))
    assert isinstance(a, Surd)
    assert root(Fraction(9, 4)) == Fraction(3, 2)
    assert a * a == 2
    assert (a + b) * (a - b) == 2 - Fraction(3, 7)
    assert a - a == 0
    assert 0 * a == 0
    assert (a * 3).inverse() * a == Fraction(1, 3)
    assert (a + b).inverse() is None
    for value, square in ((a, Fraction(2)), (b, Fraction(3, 7))):
        near, off = value.near()
        assert near**2 <= square <= (near + off) ** 2
        assert 0 < off < near / 2**199
    near, off = (Fraction(1, 3) - a * b + 5 * a).near()
    assert abs(float(near) - (1 / 3 - (2 * 3 / 7) ** 0.5 + 5 * 2**0.5)) < 1e-12
    assert off < Fraction(1, 2**190)


def test_a_normalised_network_against_itself_is_certified(tmp_path: Path) -> None:
    """Whatever the roots are, they are the same in both files: no margin is needed, and a tie keeps its classes."""
    for name, proto in (("a", normalised()), ("b", normalised(prefix="other", add=True))):
        (tmp_path / f"{name}.onnx").write_bytes(proto.SerializeToString())
    first, second = (read_network(str(tmp_path / f"{name}.onnx")) for name in "ab")
    for claim in (Top1(), Epsilon(0)):
        result, certificate = certify(task(first, second, claim), tmp_path)
        assert result.verdict == "equivalent"
        assert result.boxes == 1
        assert certificate is not None
        assert certificate.reason is None
        assert audit(certificate.path).verdict == "equivalent"
