"""A Where chooses among values some of which are none: the network has a value wherever the file has one.

Against onnxruntime, also where a function has no value on the side that is not chosen, and there alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import Network, read_network
from unit.networks.models import model, node, run_onnxruntime, save

CONSTANTS: dict[str, Any] = {
    "zero": np.float32(0), "one": np.float32(1), "tenth": np.float32(0.1), "low": np.float32(-2.5),
    "half": np.float32(0.5), "last": np.array([-1]), "rows": np.array([[0, 0, 2]]),
    "table": np.array([-1.0, 0.0, 0.5, 0.5, 2.0], np.float32),
}  # fmt: skip
POINTS = np.array([[-1, 2, 0.5], [0, 3, -2], [0.1, 0, 1], [2, -0.0, 0], [-3, 0.05, 4], [1, 1, 1]], np.float32)


def halves(*behind: NodeProto) -> list[NodeProto]:
    """Nodes that read a, the entries, and d, the same in another order, which is 0 at times."""
    return [node("Gather", ["x", "rows"], "d0", axis=1), node("Squeeze", ["d0", "first"], "d"), *behind]


def over(*conditions: NodeProto) -> list[NodeProto]:
    """x / d where the last condition c says so, else d."""
    return halves(*conditions, node("Div", ["x", "d"], "q"), node("Where", ["c", "q", "d"], "y"))


CASES: dict[str, list[NodeProto]] = {
    "a logarithm, else a number": [
        node("Greater", ["x", "zero"], "c"), node("Log", ["x"], "l"), node("Where", ["c", "l", "low"], "y"),
    ],
    "the other way round, some operators behind": [
        node("LessOrEqual", ["x", "tenth"], "c"), node("Log", ["x"], "l"), node("Mul", ["l", "half"], "m"),
        node("Tanh", ["m"], "t"), node("Where", ["c", "x", "t"], "y"),
    ],
    "a root": [node("Less", ["zero", "x"], "c"), node("Sqrt", ["x"], "r"), node("Where", ["c", "r", "x"], "y")],
    "a power": [
        node("GreaterOrEqual", ["x", "zero"], "c"), node("Pow", ["x", "half"], "r"),
        node("Where", ["c", "r", "x"], "y"),
    ],
    "one over an entry": [
        node("Equal", ["x", "zero"], "c"), node("Reciprocal", ["x"], "r"), node("Where", ["c", "zero", "r"], "y"),
    ],
    "a division by what is positive": over(node("Greater", ["d", "zero"], "c")),
    "a division by what is not zero": over(node("Equal", ["d", "zero"], "n"), node("Not", ["n"], "c")),
    "a division by what is far from zero": over(
        node("Abs", ["d"], "s"), node("Greater", ["s", "tenth"], "c")
    ),
    "a division that nothing but a comparison says is of floats": over(
        node("Less", ["d", "zero"], "c"),
    ),
    "a choice within another": [
        node("Greater", ["x", "zero"], "c"), node("Less", ["x", "one"], "b"), node("Log", ["x"], "l"),
        node("Where", ["b", "l", "zero"], "w"), node("Where", ["c", "w", "low"], "y"),
    ],
    "is it a number, beside a test": halves(
        node("Div", ["x", "d"], "q"), node("LessOrEqual", ["d", "zero"], "n"), node("IsNaN", ["q"], "i"),
        node("Or", ["n", "i"], "c"), node("Where", ["c", "zero", "q"], "y"),
    ),
    "a condition of another shape": [
        node("ReduceSum", ["x", "last"], "s"), node("Greater", ["s", "one"], "c"), node("Log", ["s"], "l"),
        node("Where", ["c", "l", "x"], "y"),
    ],
    "cast on the way": [
        node("Cast", ["x"], "w", to=TensorProto.DOUBLE), node("Log", ["w"], "l"),
        node("Cast", ["l"], "n", to=TensorProto.FLOAT), node("Greater", ["x", "zero"], "c"),
        node("Where", ["c", "n", "low"], "y"),
    ],
    "of constants that are computed": [
        node("Less", ["table", "half"], "c"), node("Log", ["table"], "l"), node("Where", ["c", "table", "l"], "w"),
        node("ReduceSum", ["w"], "s"), node("Mul", ["x", "s"], "y"),
    ],
    "already safe": [
        node("Equal", ["x", "zero"], "c"), node("Where", ["c", "one", "x"], "d"), node("Div", ["x", "d"], "q"),
        node("Where", ["c", "zero", "q"], "y"),
    ],
}  # fmt: skip


def read(folder: Path, nodes: list[NodeProto]) -> Network:
    used = {name for one in nodes for name in one.input}
    constants = {n: a for n, a in {**CONSTANTS, "first": np.array([1])}.items() if n in used}
    return read_network(save(folder, model(nodes, constants, (1, 3))))


@pytest.mark.parametrize("name", CASES)
def test_it_has_a_value_where_the_file_has_one(name: str, tmp_path: Path) -> None:
    network = read(tmp_path, CASES[name])
    for x in POINTS:
        expected = run_onnxruntime(network.source, x[None])[0].ravel()
        assert np.isfinite(expected).all()
        np.testing.assert_allclose(network.evaluate(x[None].astype(float))[0], expected, rtol=1e-6, atol=1e-6)


def test_logarithms_of_constants_that_are_cast_to_integers_have_to_be_folded(tmp_path: Path) -> None:
    """As buckets of distances of T5 have them: which integer a runtime gets is decided by what it rounds."""
    nodes = [
        node("Less", ["table", "half"], "c"), node("Log", ["table"], "l"), node("Floor", ["l"], "r"),
        node("Cast", ["table"], "i", to=TensorProto.INT64), node("Cast", ["r"], "n", to=TensorProto.INT64),
        node("Where", ["c", "i", "n"], "w"), node("Cast", ["w"], "k", to=TensorProto.FLOAT),
        node("ReduceSum", ["k"], "s"), node("Mul", ["x", "s"], "y"),
    ]  # fmt: skip
    with pytest.raises(NetworkError, match=r"cast to integers.*onnxsim"):
        read(tmp_path, nodes)


def test_other_readers_read_what_they_read(tmp_path: Path) -> None:
    """The logarithm counts by itself as well, and has no value below 0."""
    both = [
        *CASES["a logarithm, else a number"][:2],
        node("Where", ["c", "l", "low"], "w"),
        node("Add", ["w", "l"], "y"),
    ]
    network = read(tmp_path, both)
    found = network.evaluate(np.array([[1.0, 2.0, 3.0], [1.0, -2.0, 3.0]]))
    np.testing.assert_allclose(found[0], 2 * np.log([1.0, 2.0, 3.0]))
    assert not np.isfinite(found[1, 1])


def test_where_it_is_chosen_it_still_has_none(tmp_path: Path) -> None:
    """The condition is the wrong way round: below 0 the logarithm is chosen."""
    nodes = [node("Less", ["x", "one"], "c"), *CASES["a logarithm, else a number"][1:]]
    found = read(tmp_path, nodes).evaluate(np.array([[0.5, 2.0, 0.25], [0.5, 2.0, -1.0]]))
    np.testing.assert_allclose(found[0], [np.log(0.5), -2.5, np.log(0.25)])
    assert not np.isfinite(found[1, 2])


def test_a_region_with_both_sides_is_proved(tmp_path: Path) -> None:
    """Where(x > .1, log x, -2.5) beside 1.01 times that, across 0."""
    paths = list[str]()
    for factor in (1.0, 1.01):
        (tmp_path / str(factor)).mkdir()
        nodes = [node("Greater", ["x", "tenth"], "c"), *CASES["a logarithm, else a number"][1:2]]
        nodes += [node("Where", ["c", "l", "low"], "w"), node("Mul", ["w", "f"], "y")]
        constants: dict[str, Any] = {n: CONSTANTS[n] for n in ("tenth", "low")} | {"f": np.float32(factor)}
        paths.append(save(tmp_path / str(factor), model(nodes, constants, (1, 1))))
    proved = eqspec.verify(paths[0], paths[1], [-1.0], [1.0], eqspec.Epsilon("0.1"), scores="logits")
    assert proved.verdict == "equivalent"
    refuted = eqspec.verify(paths[0], paths[1], [-1.0], [1.0], eqspec.Epsilon("0.02"), scores="logits")
    assert refuted.verdict == "different"
