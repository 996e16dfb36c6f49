"""Queries that give two networks different inputs, such as monotonicity: held against every pair of grid points."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

from eqspec.networks import read_network
from eqspec.vnnlib.answering import Answer, Answered, answer
from eqspec.vnnlib.joint_inputs import over
from unit.vnnlib.pairs import pair, scores
from vnnlib_text import entries, satisfied

MONOTONE = """(vnnlib-version <2.0>)
(declare-network f (declare-input X real [2]) (declare-output Y real [3]))
(declare-network g {like} (declare-input U real [2]) (declare-output V real [3]))
(assert (and (>= X[0] -1.0) (<= X[0] U[0]) (<= U[0] 1.0)))
(assert (and (>= X[1] -0.5) (<= X[1] 1.0) {tie}))
"""
TIED = "(== X[1] U[1])"
APART = "(>= U[1] -0.5) (<= U[1] 1.0) (<= (- U[1] X[1]) 0.25) (<= (- X[1] U[1]) 0.25)"
GRID = [Fraction(n, 4) for n in range(-4, 5)]


def ask(folder: Path, text: str) -> Answered:
    query = folder / "query.vnnlib"
    query.write_text(text, encoding="utf-8")
    files = {n: folder / f"{n}.onnx" for n in ("f" if "equal-to" in text else "fg")}
    return answer(query, files, timeout=60, threads=1)


@pytest.mark.parametrize(
    ("seed", "like", "tie"),
    [
        (0, "(equal-to f)", TIED),
        (0, "(isomorphic-to f)", APART),
        (1, "(isomorphic-to f)", TIED),
        (2, "(equal-to f)", APART),
    ],
)
def test_no_pair_of_inputs_is_missed(seed: int, like: str, tie: str, tmp_path: Path) -> None:
    """The largest Y - V on a grid is reached: at that bound sat or unknown, a little below it sat, far above unsat."""
    networks = pair(tmp_path, seed)
    f, g = networks[0], networks[0] if "equal" in like else networks[1]
    head = MONOTONE.format(like=like, tie=tie)
    names = [*entries("X", [2]), *entries("U", [2])]
    inside = [p for p in product(GRID, repeat=4) if satisfied(head, dict(zip(names, p, strict=True)))]
    assert len(inside) > 100
    most = max(scores(f, p[:2])[0] - scores(g, p[2:])[0] for p in inside)
    assert ask(tmp_path, head + f"(assert (>= Y[0] (+ V[0] {float(most)})))").answer is not Answer.UNSAT
    found = ask(tmp_path, text := head + f"(assert (> Y[0] (+ V[0] {float(most) - 0.125})))")
    assert found.answer is Answer.SAT
    assert found.assignment is not None
    (x, u), values = found.assignment.inputs, dict[str, Fraction]()
    for name, numbers in (("X", x), ("U", u), ("Y", scores(f, x)), ("V", scores(g, u))):
        values |= dict(zip(entries(name, [len(numbers)]), numbers, strict=True))
    assert satisfied(text, values)
    assert [line.split()[0] for line in found.assignment.written().splitlines() if "[" in line] == ["X", "Y", "U", "V"]
    above = float(most) + 40
    assert ask(tmp_path, head + f"(assert (> Y[0] (+ V[0] {above})))").answer is Answer.UNSAT
    both = f"(assert (and (> Y[0] (+ V[0] {above})) (> Y[1] V[1])))"
    assert ask(tmp_path, head + both).answer is Answer.UNSAT


def test_one_network_at_two_inputs_is_not_one_function(tmp_path: Path) -> None:
    """f(x) = x at x <= u, the same file twice: f(u) > f(x) somewhere, and f(x) > f(u) + 1e-6 nowhere.

    At x = u both are equal, so that nothing is to spare for rounding in the claim f(x) <= f(u) itself.
    """
    write_identity(tmp_path / "f.onnx")
    head = """(vnnlib-version <2.0>)
(declare-network f (declare-input X real [1]) (declare-output Y real [1]))
(declare-network g (equal-to f) (declare-input U real [1]) (declare-output V real [1]))
(assert (and (>= X[0] 0.0) (<= X[0] U[0]) (<= U[0] 1.0)))
"""
    assert ask(tmp_path, head + "(assert (> V[0] Y[0]))").answer is Answer.SAT
    assert ask(tmp_path, head + "(assert (> Y[0] (+ V[0] 0.000001)))").answer is Answer.UNSAT
    unbounded = head.replace("(<= U[0] 1.0)", "")
    with pytest.raises(Exception, match=r"no lower or no upper bound: X\[0\], \(U\[0\] - X\[0\]\)"):
        ask(tmp_path, unbounded + "(assert (> Y[0] V[0]))")
    floats = ask(tmp_path, head.replace(" real ", " float32 ") + "(assert (> Y[0] V[0]))")
    assert floats.answer is Answer.UNKNOWN
    assert "over real numbers only" in str(floats.reason)


def write_identity(path: Path) -> None:
    node = helper.make_node("Gemm", ["x", "w"], ["y"])
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 1]) for n in "xy"]
    graph = helper.make_graph([node], "one", ends[:1], ends[1:], [numpy_helper.from_array(np.eye(1, dtype="f"), "w")])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def test_a_network_over_some_entries_of_a_larger_input(tmp_path: Path) -> None:
    """Of a chain and of a graph: the same numbers at the same entries, and another function than the network itself."""
    chain = pair(tmp_path, 1)[0]
    nodes = [
        helper.make_node("LeakyRelu", ["x"], ["h"], alpha=0.25),
        helper.make_node("Add", ["h", "x"], ["s"]),
        helper.make_node("Tanh", ["s"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 2]) for n in "xy"]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "graph.onnx")
    points = np.random.default_rng(0).integers(-8, 9, (20, 5)) / 4  # so that sums are exact
    for network in (chain, read_network(str(tmp_path / "graph.onnx"))):
        joint, other = over(network, (None, 1, 0, 0, None)), over(network, (None, 0, 1, 1, None))
        taken = np.stack([points[:, 2] + points[:, 3], points[:, 1]], axis=1)
        assert joint.evaluate(points).tolist() == network.evaluate(taken).tolist()
        assert len({network.identity, joint.identity, other.identity}) == 3


def test_bounds_that_exclude_each_other_are_unsat_whichever_input_has_them(tmp_path: Path) -> None:
    """As bounds of U they are seen at once, as constraints on the difference U - X they are not."""
    write_identity(tmp_path / "f.onnx")
    text = """(vnnlib-version <2.0>)
(declare-network f (declare-input X real [1]) (declare-output Y real [1]))
(declare-network g (equal-to f) (declare-input U real [1]) (declare-output V real [1]))
(assert (and (>= X[0] 0.0) (<= X[0] 1.0) (>= U[0] 0.75) (<= U[0] 0.25)))
(assert (>= Y[0] V[0]))
"""
    assert ask(tmp_path, text).answer is Answer.UNSAT
