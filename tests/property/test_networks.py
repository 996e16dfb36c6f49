"""Statements about reading and folding that must hold for every network.

The oracle evaluates the unfolded graph operator by operator in exact rationals; the folded network's intervals must
contain it, and be narrow. Where the numbers are dyadic, folding must find that nothing is rounded.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto

from eqspec.networks import AffineLayer, Network, align, compose_affine, read_network
from eqspec.networks import enclosure as en
from unit.networks.models import model, node, run_exactly, run_onnxruntime, save

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e60, max_value=1e60)
anything = st.one_of(finite, st.floats(allow_nan=False, allow_infinity=False, width=32), st.integers(-8, 8).map(float))
rationals = st.fractions(min_value=-4, max_value=4, max_denominator=1000)


@st.composite
def arrays(
    draw: st.DrawFn, shape: tuple[int, ...], numbers: st.SearchStrategy[float] = anything
) -> NDArray[np.float64]:
    count = int(np.prod(shape))
    return np.array(draw(st.lists(numbers, min_size=count, max_size=count)), dtype=np.float64).reshape(shape)


@st.composite
def enclosures(draw: st.DrawFn, shape: tuple[int, ...]) -> en.Enclosure:
    small = draw(st.booleans())  # so that zeros, cancellation and large errors are common
    value = draw(arrays(shape, st.integers(-2, 2).map(float) if small else anything))
    if draw(st.booleans()):
        return en.Enclosure(value)
    return en.Enclosure(value, draw(arrays(shape, st.sampled_from([0.0, 0.5, 3.0]) if small else st.floats(0, 1e-3))))


def inside(draw: st.DataObject, a: en.Enclosure) -> NDArray[Any]:
    """Rationals within an enclosure, one for each entry."""
    parts = [Fraction(-1), Fraction(0), Fraction(1), Fraction(1, 3)]
    shares = draw.draw(st.lists(st.sampled_from(parts), min_size=a.value.size, max_size=a.value.size))
    pairs = zip(a.value.ravel(), a.radius.ravel(), shares, strict=True)
    exact = [Fraction(float(v)) + Fraction(float(e)) * s for v, e, s in pairs]
    return np.array([*exact, None], dtype=object)[:-1].reshape(a.shape)


def encloses(a: en.Enclosure, exact: NDArray[Any]) -> bool:
    triples = zip(a.value.ravel(), a.radius.ravel(), exact.ravel(), strict=True)
    return a.shape == exact.shape and all(abs(x - Fraction(float(v))) <= Fraction(float(e)) for v, e, x in triples)


@given(st.data(), enclosures((2, 3)), enclosures((2, 3)))
def test_sums_products_and_quotients_are_enclosed(data: st.DataObject, a: en.Enclosure, b: en.Enclosure) -> None:
    x, y = inside(data, a), inside(data, b)
    assert encloses(en.add(a, b), x + y)
    assert encloses(en.multiply(a, b), x * y)
    if (np.abs(b.value) > b.radius + 1e-200).all():
        assert encloses(en.divide(a, b), x / y)


@given(st.data(), enclosures((2, 3)), arrays((3,), st.sampled_from([-1.0, 1.0])), st.booleans())
def test_signs_are_moved_without_rounding(
    data: st.DataObject, a: en.Enclosure, signs: NDArray[np.float64], signs_first: bool
) -> None:
    """A product with 1 or -1 has the error of the other factor, in the shape that both give."""
    exact = inside(data, a) * np.array([Fraction(sign) for sign in signs.tolist()], dtype=object)
    product = en.multiply(en.Enclosure(signs), a) if signs_first else en.multiply(a, en.Enclosure(signs))
    assert encloses(product, exact)
    assert (product.radius == a.radius).all()


@given(st.data(), enclosures((2, 5)), enclosures((5, 3)))
def test_matrix_products_are_enclosed(data: st.DataObject, a: en.Enclosure, b: en.Enclosure) -> None:
    assert encloses(en.matmul(a, b), np.dot(inside(data, a), inside(data, b)))


tiny = st.floats(min_value=-1e-150, max_value=1e-150, allow_nan=False)


@given(arrays((3, 4), tiny), arrays((4, 2), tiny), arrays((3, 4), tiny))
def test_underflow_is_enclosed(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> None:
    x, y, z = (np.array([Fraction(v) for v in m.ravel().tolist()], dtype=object).reshape(m.shape) for m in (a, b, c))
    assert encloses(en.matmul(en.Enclosure(a), en.Enclosure(b)), np.dot(x, y))
    assert encloses(en.multiply(en.Enclosure(a), en.Enclosure(c)), x * z)


@given(st.data(), arrays((4,), st.floats(1e-6, 1e12)))
def test_roots_are_enclosed(data: st.DataObject, a: NDArray[np.float64]) -> None:
    enclosure = en.Enclosure(a, np.full(4, 1e-9) if data.draw(st.booleans()) else None)
    root = en.square_root(enclosure)
    for v, e, x in zip(root.value.tolist(), root.radius.tolist(), inside(data, enclosure), strict=True):
        low, high = Fraction(v) - Fraction(e), Fraction(v) + Fraction(e)
        assert low <= 0 or low * low <= x
        assert high * high >= x


@given(arrays((6,), st.floats(-1e6, 1e6)), arrays((6,), st.sampled_from([0.0, 1e-18, 1e-3, 2.0])))
def test_roots_of_squares_are_enclosed_where_these_may_be_zero(a: NDArray[np.float64], e: NDArray[np.float64]) -> None:
    """Also where the enclosure of a square reaches below 0: what it encloses is 0 or more."""
    enclosure = en.Enclosure(a * (np.abs(a) > 1), e if e.any() else None)
    squares = en.multiply(enclosure, enclosure)
    root = en.root_of_squares(squares)
    for v, r, s, t in zip(root.value.tolist(), root.radius.tolist(), squares.value, squares.radius, strict=True):
        low, high = Fraction(v) - Fraction(r), Fraction(v) + Fraction(r)
        for x in (max(Fraction(s) - Fraction(t), Fraction(0)), Fraction(s) + Fraction(t)):
            assert low <= 0 or low * low <= x
            assert high * high >= x
        assert t or s != 0 or (v, r) == (0.0, 0.0)


dyadic = st.integers(-64, 64).map(lambda n: n / 8)


@given(arrays((3, 6), dyadic), arrays((6, 2), dyadic), arrays((3, 6), dyadic))
def test_dyadic_numbers_stay_exact(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> None:
    x, y, z = (en.Enclosure(m) for m in (a, b, c))
    assert all(r.error is None for r in (en.add(x, z), en.multiply(x, z), en.matmul(x, y)))


large = st.integers(-(2**27), 2**27).map(float)


@given(arrays((2, 4), large), arrays((4, 2), large))
def test_sums_beyond_53_bits_are_enclosed(a: NDArray[np.float64], b: NDArray[np.float64]) -> None:
    x, y = (np.array([int(v) for v in m.ravel()], dtype=object).reshape(m.shape) for m in (a, b))
    assert encloses(en.matmul(en.Enclosure(a), en.Enclosure(b)), np.dot(x, y))


@st.composite
def chains(draw: st.DrawFn, *, rounded: bool) -> tuple[onnx.ModelProto, int]:
    """A random chain of operators on a sample of shape (1, width), ending in y; opset 13."""
    numbers = st.integers(-16, 16).map(lambda n: n / 8)
    if rounded:
        numbers = st.floats(-3, 3, width=32).filter(lambda v: v == 0 or abs(v) > 1e-3)

    def weights(*shape: int) -> NDArray[np.float32]:
        return draw(arrays(shape, numbers)).astype(np.float32)

    inputs = width = draw(st.integers(1, 4))
    nodes: list[NodeProto] = []
    constants: dict[str, NDArray[Any]] = {}
    kinds = ["gemm", "matmul", "add", "mul", "relu", "relu", "turn", "sub", "concat"]
    steps = draw(st.lists(st.sampled_from([*kinds, "batch", "div"] if rounded else kinds), min_size=1, max_size=7))
    value = "x"
    for index, kind in enumerate(steps):
        name, out = f"c{index}", f"v{index}"
        if kind == "gemm":
            new = draw(st.integers(1, 4))
            turned = draw(st.integers(0, 1))
            constants |= {name: weights(*((new, width) if turned else (width, new))), name + "b": weights(1, new)}
            scale = {"alpha": draw(st.sampled_from([1.0, 0.5, -2.0])), "beta": draw(st.sampled_from([1.0, 0.25]))}
            nodes.append(node("Gemm", [value, name, name + "b"], out, transB=turned, **scale))
            width = new
        elif kind == "matmul":
            new = draw(st.integers(1, 4))
            constants[name] = weights(width, new)
            nodes.append(node("MatMul", [value, name], out))
            width = new
        elif kind in ("add", "sub", "mul"):
            constants[name] = weights(width) if draw(st.booleans()) else weights(1)
            operands = [value, name] if draw(st.booleans()) else [name, value]
            nodes.append(node(kind.capitalize(), operands, out))
        elif kind == "div":
            constants[name] = draw(arrays((width,), st.floats(0.125, 3, width=32))).astype(np.float32)
            nodes.append(node("Div", [value, name], out))
        elif kind == "batch":
            constants |= {name + part: weights(width) for part in "sbm"}
            constants[name + "v"] = draw(arrays((width,), st.floats(0, 4, width=32))).astype(np.float32)
            nodes.append(node("BatchNormalization", [value, *(name + part for part in "sbmv")], out, epsilon=1e-3))
        elif kind == "turn":
            constants[name] = np.array([width, 1])
            constants[name + "r"] = np.array([1, width])
            nodes.append(node("Reshape", [value, name], out + "a"))
            nodes.append(node("Transpose", [out + "a"], out + "b", perm=[1, 0]))
            nodes.append(node("Reshape", [out + "b", name + "r"], out))
        elif kind == "concat" and width <= 4:
            earlier = draw(st.sampled_from(["x", value]))
            nodes.append(node("Concat", [value, earlier], out, axis=1))
            width += inputs if earlier == "x" else width
        else:
            nodes.append(node("Relu", [value], out))
        value = out
    nodes.append(node("Identity", [value], "y"))
    return model(nodes, constants, (1, inputs), opset=13), inputs


def read(proto: onnx.ModelProto) -> Network:
    with tempfile.TemporaryDirectory() as folder:
        return read_network(save(Path(folder), proto))


@given(chains(rounded=True), st.data())
def test_folded_intervals_contain_the_unfolded_graph(chain: tuple[onnx.ModelProto, int], data: st.DataObject) -> None:
    proto, inputs = chain
    network = read(proto)
    point = data.draw(st.lists(rationals, min_size=inputs, max_size=inputs))
    exact = run_exactly(proto, point)
    intervals = network.evaluate_exact(point)
    assert len(exact) == len(intervals)
    for (low, high), value in zip(intervals, exact, strict=True):
        assert low <= value <= high
        assert high - low <= Fraction(1, 10**6)


@given(chains(rounded=False), st.data())
def test_dyadic_networks_fold_without_error(chain: tuple[onnx.ModelProto, int], data: st.DataObject) -> None:
    proto, inputs = chain
    network = read(proto)
    assert network.exact
    point = data.draw(st.lists(rationals, min_size=inputs, max_size=inputs))
    assert network.evaluate_exact(point) == [(v, v) for v in run_exactly(proto, point)]


@given(chains(rounded=True), st.data())
def test_float_evaluation_agrees_with_onnxruntime(chain: tuple[onnx.ModelProto, int], data: st.DataObject) -> None:
    proto, inputs = chain
    network = read(proto)
    x = data.draw(arrays((1, inputs), st.floats(-4, 4, width=32))).astype(np.float32)
    expected = run_onnxruntime(proto, x).ravel()
    actual = network.evaluate(x.astype(np.float64))[0]
    sizes = [np.abs(x).max()]
    for step in network.steps:  # how large intermediate values, and so float32 roundings, can get
        sums = [np.abs(t.tile.weight).sum(axis=2).max() * sizes[t.source + 1] for t in step.terms]
        sizes.append(sum(sums) + np.abs(step.bias).max())
    scale = sizes[-1]
    np.testing.assert_allclose(actual, expected, atol=2e-5 * (1 + scale))
    exact = [float(low) for low, _ in network.evaluate_exact([Fraction(float(v)) for v in x[0]])]
    np.testing.assert_allclose(actual, exact, atol=1e-12 * (1 + scale))


@st.composite
def networks(draw: st.DrawFn, inputs: int, outputs: int) -> Network:
    widths = [inputs, *draw(st.lists(st.integers(1, 4), max_size=3)), outputs]
    layers = []
    for columns, rows in pairwise(widths):
        weight, bias = draw(arrays((rows, columns), st.floats(-2, 2))), draw(arrays((rows,), st.floats(-2, 2)))
        error = draw(st.sampled_from([None, 1e-3]))
        layers.append(AffineLayer(weight, bias, None if error is None else np.abs(weight) * error))
    return Network.of_layers(tuple(layers), "memory", "")


@given(networks(2, 3), networks(2, 3), st.lists(rationals, min_size=2, max_size=2))
def test_alignment_keeps_both_functions(a: Network, b: Network, point: list[Fraction]) -> None:
    p, q = align(a, b)
    assert [layer.weight.shape for layer in p.layers] == [layer.weight.shape for layer in q.layers]
    assert a.evaluate_exact(point) == p.evaluate_exact(point)
    assert b.evaluate_exact(point) == q.evaluate_exact(point)


vectors = st.lists(rationals, min_size=2, max_size=2)


@given(networks(2, 2), vectors, vectors, vectors)
def test_composition_encloses(
    net: Network, scale: list[Fraction], shift: list[Fraction], point: list[Fraction]
) -> None:
    inner = net.evaluate_exact([s * x + t for s, x, t in zip(scale, point, shift, strict=True)])
    outer = compose_affine(net, scale, shift).evaluate_exact(point)
    assert all(low <= a and b <= high for (low, high), (a, b) in zip(outer, inner, strict=True))


@given(st.sampled_from([TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE]), st.data())
def test_stored_weights_are_read_exactly(kind: int, data: st.DataObject) -> None:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
    bits = {2: 16, 4: 32, 8: 64}[dtype.itemsize]
    weight = data.draw(arrays((4,), st.floats(allow_nan=False, allow_infinity=False, width=bits)))  # type: ignore[arg-type]
    proto = model([node("Mul", ["x", "w"], "y")], {"w": weight.astype(dtype)}, (1, 4), opset=13, kind=kind)
    layer = read(proto).layers[0]
    assert np.array_equal(np.diag(layer.weight), weight)
    assert layer.weight_error is None
