"""Rows of two networks that are the same real numbers although no float holds them; and rows that only look so."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper

from eqspec.networks import Network, align, compose_affine, in_float32, negate_outputs, read_network, share
from eqspec.networks.network import AffineLayer
from unit.networks.models import model, node, save

Constants = dict[str, NDArray[Any]]
SIZES = (3, 6, 5, 3)


def normalised(
    *, prefix: str = "", add: bool = False, kind: type = np.float32, other_last: bool = False, opset: int = 13
) -> onnx.ModelProto:
    """Three layers with BatchNormalization; the same numbers under other names and with other operators."""
    rng = np.random.default_rng(0)
    nodes: list[NodeProto] = []
    constants: Constants = {}
    now = "x"
    for number, (n, m) in enumerate(itertools.pairwise(SIZES)):
        name = f"{prefix}{number}"
        weight: NDArray[Any] = rng.normal(size=(n, m)).astype(kind)
        bias: NDArray[Any] = rng.normal(size=m).astype(kind)
        statistics = [rng.normal(size=m), rng.normal(size=m), rng.normal(size=m), rng.uniform(0.1, 2.0, size=m)]
        if other_last and number == len(SIZES) - 2:
            weight[0, 0] += kind(0.125)
        constants |= {f"w{name}": weight, f"b{name}": bias}
        constants |= {f"{c}{name}": s.astype(kind) for c, s in zip("smvq", statistics, strict=True)}
        if add:
            nodes += [node("MatMul", [now, f"w{name}"], f"p{name}"), node("Add", [f"b{name}", f"p{name}"], f"a{name}")]
        else:
            nodes.append(node("Gemm", [now, f"w{name}", f"b{name}"], f"a{name}"))
        out = "y" if number == len(SIZES) - 2 else f"n{name}"
        nodes.append(node("BatchNormalization", [f"a{name}", *(f"{c}{name}" for c in "smvq")], out))
        if out != "y":
            nodes.append(node("Relu", [out], now := f"r{name}"))
    return model(nodes, constants, [1, SIZES[0]], opset=opset)


def read(folder: Path, proto: onnx.ModelProto, name: str = "m.onnx") -> Network:
    return read_network(save(folder, proto, name))


def shared(first: Network, second: Network) -> list[list[bool]]:
    """Which rows are shared, once the claim has been checked that what is stored of them is then equal."""
    first, second = align(first, second)
    second, found = share(first, second)
    for a, b, rows in zip(first.layers, second.layers, found, strict=True):
        for one, other in ((a.weight, b.weight), (a.bias, b.bias), (a.weight_error, b.weight_error)):
            assert one is None or other is None or (one[rows] == other[rows]).all()
    return found


def all_of(found: list[list[bool]]) -> list[bool]:
    return [all(rows) for rows in found]


def none_of(found: list[list[bool]]) -> bool:
    return not any(any(rows) for rows in found)


def test_a_file_shares_everything_with_itself_under_whatever_names(tmp_path: Path) -> None:
    first = read(tmp_path, normalised())
    assert all(layer.weight_error is not None and layer.bias_error is not None for layer in first.layers)
    for other in (
        normalised(),
        normalised(prefix="q"),
        normalised(add=True),
        normalised(opset=9),
        normalised(opset=17),
    ):
        assert all_of(shared(first, read(tmp_path, other))) == [True] * 3


def test_layers_in_front_of_one_that_differs_are_shared(tmp_path: Path) -> None:
    found = shared(read(tmp_path, normalised()), read(tmp_path, normalised(other_last=True)))
    assert all_of(found) == [True, True, False]
    assert found[2] == [False, True, True]  # one weight of one row


def test_single_rows_are_shared(tmp_path: Path) -> None:
    """One neuron of the first layer has another bias: all others stay what they were."""
    proto = normalised()
    for tensor in proto.graph.initializer:
        if tensor.name == "b0":
            values = np.frombuffer(tensor.raw_data, np.float32).copy()
            values[2] += 1.0
            tensor.raw_data = values.tobytes()
    found = shared(read(tmp_path, normalised()), read(tmp_path, proto))
    assert found[0] == [True, True, False, True, True, True]
    assert all_of(found)[1:] == [True, True]


def test_other_widths_and_depths_leave_what_is_shared(tmp_path: Path) -> None:
    first = read(tmp_path, normalised())
    wide = first.with_layers(
        (
            _wider(first.layers[0]),
            AffineLayer(
                np.ascontiguousarray(np.pad(first.layers[1].weight, [(0, 0), (0, 1)])),
                first.layers[1].bias,
                np.ascontiguousarray(np.pad(first.layers[1].weight_error, [(0, 0), (0, 1)])),  # type: ignore[arg-type]
                first.layers[1].bias_error,
                first.layers[1].names,
            ),
            first.layers[2],
        ),
    )
    assert shared(first, wide)[0] == [True] * 6 + [False]
    deep = first.with_layers((*first.layers[:1], AffineLayer(np.eye(6), np.zeros(6)), *first.layers[1:]))
    assert all_of(shared(first, deep))[0]


def _wider(layer: AffineLayer) -> AffineLayer:
    weight, bias = np.vstack([layer.weight, np.ones(3)]), np.append(layer.bias, 1.0)
    assert layer.weight_error is not None
    assert layer.bias_error is not None
    assert layer.names is not None
    errors = np.vstack([layer.weight_error, np.zeros(3)]), np.append(layer.bias_error, 0.0)
    return AffineLayer(weight, bias, *errors, (*layer.names, None))


def batch_normalised(folder: Path, variance: float, epsilon: float, name: str) -> Network:
    """x / sqrt(variance + epsilon), in double precision."""
    constants: Constants = {"one": np.ones(1), "zero": np.zeros(1), "q": np.array([variance])}
    nodes = [node("BatchNormalization", ["x", "one", "zero", "zero", "q"], "y", epsilon=epsilon)]
    return read(folder, model(nodes, constants, [1, 1], kind=TensorProto.DOUBLE), name)


def test_the_same_floats_of_other_numbers_are_not_shared(tmp_path: Path) -> None:
    """2^100 + 2^-149 and 2^100 + 2^-148 have roots that agree in 248 bits, and are not one number."""
    one, other = (batch_normalised(tmp_path, 2.0**100, 2.0**e, f"{e}.onnx") for e in (-149, -148))
    assert one.layers[0].weight == other.layers[0].weight
    assert one.layers[0].weight_error is not None
    assert none_of(shared(one, other))
    assert all_of(shared(one, batch_normalised(tmp_path, 2.0**100, 2.0**-149, "again.onnx"))) == [True]


def chain(folder: Path, *steps: tuple[str, NDArray[Any]], name: str = "m.onnx") -> Network:
    """Operators one after the other, each with a constant."""
    constants = {f"c{i}": value for i, (_, value) in enumerate(steps)}
    nodes = [
        node(kind, [f"v{i}" if i else "x", f"c{i}"], f"v{i + 1}" if i + 1 < len(steps) else "y")
        for i, (kind, _) in enumerate(steps)
    ]
    return read(folder, model(nodes, constants, [1, 3], kind=TensorProto.DOUBLE), name)


def test_the_same_constants_in_another_order_are_another_function(tmp_path: Path) -> None:
    a, b = np.array([0.1, 0.2, 0.3]), np.array([0.7, 1.1, 1.3])
    first = chain(tmp_path, ("Add", a), ("Mul", b))
    assert first.layers[0].bias_error is not None
    assert all_of(shared(first, chain(tmp_path, ("Add", a), ("Mul", b), name="n.onnx"))) == [True]
    for other in (
        [("Mul", b), ("Add", a)],
        [("Add", b), ("Mul", a)],
        [("Add", a), ("Div", b)],
        [("Sub", a), ("Mul", b)],
        [("Add", a[[1, 0, 2]]), ("Mul", b)],
    ):
        assert not all_of(shared(first, chain(tmp_path, *other, name="n.onnx")))[0]


def test_a_sum_that_cancels_in_floats_only_is_not_shared(tmp_path: Path) -> None:
    """In any order of floats 2^60 + 1 - 2^60 may be 0, 1 or else; what is shared is decided on what is exact."""
    matrix = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]])
    first = chain(tmp_path, ("MatMul", matrix), ("MatMul", np.array([[2.0**60], [1.0], [-(2.0**60)]])))
    again = chain(tmp_path, ("MatMul", matrix), ("MatMul", np.array([[2.0**60], [1.0], [-(2.0**60)]])), name="n.onnx")
    turned = chain(tmp_path, ("MatMul", matrix), ("MatMul", np.array([[-(2.0**60)], [1.0], [2.0**60]])), name="n.onnx")
    assert first.layers[0].weight_error is not None
    assert all_of(shared(first, again)) == [True]
    assert none_of(shared(first, turned))


def test_what_takes_raw_inputs_is_not_what_takes_normalised_ones(tmp_path: Path) -> None:
    plain = read(tmp_path, normalised())
    scale, shift = [Fraction(1, 3)] * 3, [Fraction(1, 7)] * 3
    raw = compose_affine(plain, scale, shift)
    assert not any(shared(plain, raw)[0])
    assert all_of(shared(plain, raw))[1:] == [True, True]
    assert all_of(shared(raw, compose_affine(plain, scale, shift))) == [True] * 3
    assert not any(shared(raw, compose_affine(plain, scale, [Fraction(1, 8)] * 3))[0])
    near = [Fraction(1, 3) + Fraction(1, 10**40), Fraction(1, 3), Fraction(1, 3)]
    assert not any(shared(raw, compose_affine(plain, near, shift))[0])
    exact = Network.of_layers((AffineLayer(np.eye(3), np.ones(3)),), "<memory>", "0")
    thirds = compose_affine(exact, scale, shift)
    assert thirds.layers[0].weight_error is not None
    assert all_of(shared(thirds, compose_affine(exact, scale, shift))) == [True]


@pytest.mark.parametrize("change", [negate_outputs, lambda n: replace(n, source="<elsewhere>")])
def test_what_changes_both_alike_keeps_what_is_shared(tmp_path: Path, change: Callable[[Network], Network]) -> None:
    first, second = read(tmp_path, normalised()), read(tmp_path, normalised(add=True), "n.onnx")
    assert all_of(shared(change(first), change(second))) == [True] * 3
    assert not any(shared(negate_outputs(first), second)[2])


def test_a_network_that_gets_a_relu_shares_both_signs(tmp_path: Path) -> None:
    a, b = np.array([0.1, 0.2, 0.3]), np.array([0.7, 1.1, 1.3])
    flat = chain(tmp_path, ("Add", a), ("Mul", b))
    deep = flat.with_layers((*flat.layers, AffineLayer(np.eye(3), np.zeros(3))))
    doubled, _ = align(flat, deep)
    again, _ = align(chain(tmp_path, ("Add", a), ("Mul", b), name="n.onnx"), deep)
    assert all(share(doubled, again)[1][0])
    assert len(set(doubled.layers[0].names or ())) == 6


def test_float32_shares_nothing(tmp_path: Path) -> None:
    """Two runs of one file may round differently."""
    network = in_float32(read(tmp_path, normalised()))
    assert all(layer.names is None for layer in network.layers)
    assert none_of(shared(network, network))
    kept = replace(read(tmp_path, normalised()), arithmetic="float32")
    assert none_of(share(kept, kept)[1])


def test_a_residual_branch_keeps_its_names(tmp_path: Path) -> None:
    """What passes by a ReLU is a term of its own."""
    rng = np.random.default_rng(1)
    constants: Constants = {"w": rng.normal(size=(3, 3)), "s": rng.normal(size=3), "m": rng.normal(size=3)}
    constants |= {"q": rng.uniform(0.1, 1.0, size=3)}

    def branch(name: str, constant: str) -> Network:
        nodes = [
            node("MatMul", ["x", "w"], "a"),
            node("Relu", ["a"], "h"),
            node("BatchNormalization", ["h", "s", "m", constant, "q"], "n"),
            node("MatMul", ["n", "w"], "b"),
            node("Relu", ["b"], "k"),
            node("Add", ["k", "n"], "y"),
        ]
        return read(tmp_path, model(nodes, constants, [1, 3], kind=TensorProto.DOUBLE), name)

    first, again, other = branch("a.onnx", "m"), branch("b.onnx", "m"), branch("c.onnx", "s")
    assert [step.sources for step in first.steps] == [(-1,), (0,), (1, 0)]
    assert first.steps[2].terms[1].tile.weight_error is not None
    names, others = ([step.names for step in network.steps[1:]] for network in (again, other))
    assert [step.names for step in first.steps[1:]] == names
    assert all(name is not None for rows in names for name in rows or [None])
    assert not {name for rows in names for name in rows or []} & {name for rows in others for name in rows or []}


def test_constants_that_the_graph_computes_have_names(tmp_path: Path) -> None:
    """A normalisation in pieces: gamma / sqrt(variance + epsilon) as nodes over initialisers."""

    def pieces(name: str, epsilon: float) -> Network:
        constants: Constants = {"q": np.array([0.3, 0.5, 0.7]), "e": np.array(epsilon), "g": np.array([1.0, 2.0, 3.0])}
        nodes = [
            node("Add", ["q", "e"], "a"),
            node("Sqrt", ["a"], "r"),
            node("Div", ["g", "r"], "k"),
            node("Reshape", ["k", "shape"], "kk"),
            node("Mul", ["x", "kk"], "y"),
        ]
        constants["shape"] = np.array([1, 3], np.int64)
        proto = helper.make_model(
            model(nodes, constants, [1, 3], kind=TensorProto.DOUBLE).graph,
            opset_imports=[helper.make_opsetid("", 13)],
            ir_version=8,
        )
        return read(tmp_path, proto, name)

    first = pieces("a.onnx", 1e-5)
    assert first.layers[0].weight_error is not None
    assert all_of(shared(first, pieces("b.onnx", 1e-5))) == [True]
    assert none_of(shared(first, pieces("c.onnx", 2e-5)))
