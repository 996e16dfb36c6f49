"""Files that may end the process in which onnxruntime runs them are read, and not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, helper

from eqspec.networks import read_network
from eqspec.networks import session as session_of_files
from eqspec.networks.agreement import NOT_RUN
from eqspec.networks.network import Network
from eqspec.networks.session import CannotRunError, Session, may_end_the_process
from unit.networks.exported import FLOAT, several, value
from unit.networks.models import node, save


@pytest.mark.parametrize("needed", [True, False])
def test_unique_numbers_of_none_along_an_axis(needed: bool, tmp_path: Path) -> None:
    nodes = [
        node("Unique", ["none"], "u", axis=0),
        node("Cast", ["u"], "c", to=FLOAT),
        node("MatMul", ["c", "w"], "s"),
        node("Add", ["x", "s"] if needed else ["x", "x"], "y"),
    ]
    model = several(
        nodes,
        {"none": np.zeros((3, 0), np.int64), "w": np.ones((0, 2), np.float32)},
        [value("x", FLOAT, (1, 2))],
        [value("y", FLOAT, (1, 2))],
    )
    network = read_network(save(tmp_path, model))
    assert network.evaluate(np.ones((1, 2))).tolist() == [[1.0, 1.0] if needed else [2.0, 2.0]]
    with pytest.raises(CannotRunError, match="which may end the process of onnxruntime"):
        Session(network)


@pytest.mark.parametrize("case", ["QLinearSigmoid", "QLinearLeakyRelu", "QLinearConcat"])
def test_levels_without_a_zero_point(case: str, tmp_path: Path) -> None:
    """Which is 0 then; onnxruntime reads what is not there."""
    inputs = ["q", "s", "z", "s"] if case != "QLinearConcat" else ["s", "z", "q", "s", ""]
    attributes: dict[str, Any] = {"axis": 1} if case == "QLinearConcat" else {"alpha": 0.5}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        helper.make_node(case, inputs, ["l"], domain="com.microsoft", **({} if "Sig" in case else attributes)),
        node("DequantizeLinear", ["l", "s", "z"], "y"),
    ]
    constants: dict[str, NDArray[Any]] = {"s": np.array(0.25, np.float32), "z": np.array(0, np.uint8)}
    ends = [value("x", FLOAT, (1, 2))], [value("y", FLOAT, (1, 2))]
    network = read_network(save(tmp_path, several(nodes, constants, *ends, others=[("com.microsoft", 1)])))
    expected = [0.5, 1.0] if case == "QLinearSigmoid" else [0.0, 2.0]
    assert network.evaluate(np.array([[0.0, 2.0]])).tolist() == [expected]
    with pytest.raises(CannotRunError, match=f"a {case} without a zero point, which may end the process"):
        Session(network)


@pytest.mark.parametrize("place", ["branch", "function"])
def test_nodes_inside_of_others(place: str) -> None:
    """What may end the process is found at any depth."""
    inner = node("Unique", ["none"], "u", axis=0)
    if place == "branch":
        branch = helper.make_graph([inner], "branch", [], [value("u", FLOAT, (0,))])
        deeper = helper.make_node("If", ["c"], ["u"], then_branch=branch, else_branch=branch)
        outer = helper.make_graph([deeper], "outer", [], [value("u", FLOAT, (0,))])
        nodes, functions = [helper.make_node("If", ["c"], ["y"], then_branch=outer, else_branch=outer)], []
    else:
        imported = [helper.make_opsetid("", 17)]
        nodes = [helper.make_node("Own", ["none"], ["y"], domain="own")]
        functions = [helper.make_function("own", "Own", ["none"], ["u"], [inner], imported)]
    graph = helper.make_graph(nodes, "graph", [value("c", FLOAT, (1,))], [value("y", FLOAT, (0,))])
    model = helper.make_model(graph, functions=functions)
    assert may_end_the_process(model.SerializeToString()) == "a Unique along an axis"


@pytest.mark.parametrize(
    ("unneeded", "words"),
    [
        (helper.make_node("Sum", ["x", ""], ["o"]), "a Sum with an input that is left out"),
        (helper.make_node("Max", ["x", "", "x"], ["o"]), "a Max with an input that is left out"),
        (helper.make_node("Split", ["x"], ["o", "p"], num_outputs=1, axis=1), "a Split with more outputs than it says"),
    ],
)
def test_what_nothing_needs_does_not_end_the_process(unneeded: NodeProto, words: str, tmp_path: Path) -> None:
    """onnxruntime 1.32 looks for types of all nodes when it loads a file; the reader leaves these alone."""
    shape = (1, 2)
    nodes = [unneeded, node("Relu", ["x"], "y")]
    proto = several(nodes, {}, [value("x", FLOAT, shape)], [value("y", FLOAT, shape)])
    proto.opset_import[0].version = 18
    assert may_end_the_process(proto.SerializeToString()) == words
    assert read_network(save(tmp_path, proto)).notes == (NOT_RUN,)


def test_a_dft_along_an_axis_that_is_left_out_by_an_empty_name(tmp_path: Path) -> None:
    proto = several(
        [node("DFT", ["x", "", ""], "y")], {}, [value("x", FLOAT, (1, 4, 1))], [value("y", FLOAT, (1, 4, 2))]
    )
    proto.opset_import[0].version = 20
    assert may_end_the_process(proto.SerializeToString()) == "a DFT with an input that is left out"
    assert NOT_RUN in read_network(save(tmp_path, proto)).notes


@pytest.mark.parametrize("softmax", [False, True], ids=["as it stands", "a softmax passed over"])
def test_a_second_session_makes_the_file_ready_only_where_it_must(
    softmax: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [node("Relu", ["x"], "s"), node("Softmax", ["s"], "y", axis=1)]
    nodes = nodes if softmax else [node("Relu", ["x"], "y")]
    model = several(nodes, {}, [value("x", FLOAT, (1, 2))], [value("y", FLOAT, (1, 2))])
    network = read_network(save(tmp_path, model))
    made, right = list[str](), session_of_files._runnable

    def counted(network: Network, given: str | bytes) -> Any:
        made.append(network.source)
        return right(network, given)

    monkeypatch.setattr(session_of_files, "_runnable", counted)
    first = Session(network)
    second = Session(network, rewritten=True, like=first)
    point = np.array([2.0, -1.0])
    assert first.run(point).tolist() == second.run(point).tolist() == [2.0, 0.0]
    assert len(made) == (2 if softmax else 1)
