"""Files with several inputs and outputs, nodes in any order, and functions of their own."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from eqspec.errors import NetworkError, OutputChoiceError
from eqspec.networks import as_network, in_float32, read_network
from eqspec.networks.session import CannotRunError, Session
from unit.networks.exported import FLOAT, INT64, read_and_compared, several, value
from unit.networks.models import node, save

RANDOM = np.random.default_rng(3)
A, B, C = (RANDOM.normal(size=size).astype(np.float32) for size in ((3, 4), (2, 4), (4, 2)))


def joined(*, outputs: tuple[str, ...] = ("actions",), extra: tuple[Any, ...] = ()) -> onnx.ModelProto:
    """Two inputs that meet in a hidden layer, from the last node to the first."""
    nodes = [
        node("MatMul", ["hidden", "c"], "actions"),
        node("Relu", ["sum"], "hidden"),
        node("Add", ["one", "two"], "sum"),
        node("MatMul", ["obs", "a"], "one"),
        node("MatMul", ["goal", "b"], "two"),
        *extra,
    ]
    given = [value("obs", FLOAT, ("batch", 3)), value("goal", FLOAT, ("batch", 2))]
    return several(nodes, {"a": A, "b": B, "c": C}, given, [value(name, FLOAT, None) for name in outputs])


FED = [("obs", np.float32, (1, 3)), ("goal", np.float32, (1, 2))]


def test_two_inputs_are_one_vector_in_the_order_of_the_file(tmp_path: Path) -> None:
    network = read_and_compared(joined(), tmp_path, FED)
    assert [(port.name, port.size) for port in network.ports] == [("obs", 3), ("goal", 2)]
    assert network.is_chain
    assert "'obs' has entries 0 to 2, 'goal' has entries 3 to 4" in " ".join(network.notes)
    assert (network.input_name, network.input_shape) == ("obs, goal", (5,))


def test_two_inputs_in_float32(tmp_path: Path) -> None:
    rounded = in_float32(read_and_compared(joined(), tmp_path, FED))
    assert rounded.input_size == 5
    assert not rounded.exact


def test_a_fixed_batch_of_two_inputs(tmp_path: Path) -> None:
    """Each input holds its samples by itself; the vector of one point does not."""
    proto = joined()
    for given in proto.graph.input:
        given.type.tensor_type.shape.dim[0].dim_value = 4
    network = read_network(save(tmp_path, proto))
    alone = read_network(save(tmp_path, joined(), "alone.onnx"))
    points = RANDOM.normal(size=(5, 5))
    assert np.array_equal(network.evaluate(points), alone.evaluate(points))
    assert "(size 4) is the batch" in " ".join(network.notes)
    session = Session(network)
    assert session.samples == 4
    assert np.allclose(session.run(points[0]), alone.evaluate(points[:1])[0], atol=1e-5)


def test_samples_of_two_inputs_that_meet(tmp_path: Path) -> None:
    """The sum over the first axis joins what stands side by side, so there is no sample."""
    nodes = [node("Add", ["obs", "goal"], "s"), node("ReduceMax", ["s"], "actions", axes=[0], keepdims=1)]
    given = [value("obs", FLOAT, (2, 3)), value("goal", FLOAT, (2, 3))]
    network = read_network(save(tmp_path, several(nodes, {}, given, [value("actions", FLOAT, None)])))
    assert network.input_size == 12
    assert network.output_size == 3


def test_an_output_by_name(tmp_path: Path) -> None:
    proto = joined(outputs=("hidden", "actions"))
    error = refused(save(tmp_path, proto))
    assert "2 outputs ('hidden', 'actions')" in error.message
    assert "output" in (error.fix or "")
    first = read_and_compared(proto, tmp_path, FED, output="hidden")
    second = read_and_compared(proto, tmp_path, FED, output="actions")
    assert (first.output_size, second.output_size) == (4, 2)
    assert first.sha256 == second.sha256
    assert first.identity != second.identity
    assert "'actions' is left alone" in " ".join(first.notes)
    assert as_network(proto, output="actions").output_size == 2
    with pytest.raises(OutputChoiceError, match="it has no output 'other'; its outputs are 'hidden', 'actions'"):
        read_network(save(tmp_path, proto), output="other")
    assert in_float32(first).output_size == 4


def refused(path: str) -> NetworkError:
    with pytest.raises(OutputChoiceError) as caught:
        read_network(path)
    return caught.value


def policy(handed_on: list[Any], outputs: list[Any]) -> onnx.ModelProto:
    """A policy as reinforcement learning libraries export it, with a state that it does not use."""
    nodes = [
        node("MatMul", ["obs", "a"], "one"),
        node("Relu", ["one"], "hidden"),
        node("MatMul", ["hidden", "c"], "output"),
        *handed_on,
    ]
    given = [value("obs", FLOAT, ("batch", 3)), value("state_ins", FLOAT, ("batch", 2))]
    return several(nodes, {"a": A, "c": C, "k": C}, given, [value("output", FLOAT, None), *outputs])


@pytest.mark.parametrize(
    ("handed_on", "outputs", "words"),
    [
        ([node("Identity", ["state_ins"], "s")], [value("s", FLOAT, None)], "'s' is left alone: an input"),
        ([], [value("state_ins", FLOAT, None)], "'state_ins' is left alone: an input"),
        ([node("Identity", ["k"], "s")], [value("s", FLOAT, None)], "'s' is left alone: constant"),
        ([node("ArgMax", ["output"], "s")], [value("s", INT64, None)], "'s' is left alone: no floating-point"),
        ([node("Identity", ["output"], "s")], [value("s", FLOAT, None)], "'s' is left alone: the same as 'output'"),
    ],
)
def test_outputs_that_say_nothing(handed_on: list[Any], outputs: list[Any], words: str, tmp_path: Path) -> None:
    network = read_and_compared(policy(handed_on, outputs), tmp_path, [("obs", np.float32, (1, 3))])
    assert words in " ".join(network.notes)
    assert "input 'state_ins' does not reach the output" in " ".join(network.notes)


def test_only_outputs_that_say_nothing(tmp_path: Path) -> None:
    proto = several(
        [node("Identity", ["x"], "a"), node("Neg", ["k"], "b")],
        {"k": A},
        [value("x", FLOAT, (1, 3))],
        [value("a", FLOAT, None)],
    )
    assert read_network(save(tmp_path, proto)).output_size == 3


@pytest.mark.parametrize("version", [3, 8])
def test_an_input_that_the_file_has_a_value_for(version: int, tmp_path: Path) -> None:
    """A runtime may be fed another one from version 4 of the format on, which is said; not before."""
    proto = several(
        [node("Mul", ["x", "gain"], "y")],
        {"gain": A[:, 0], "unread": A},
        [value("x", FLOAT, (1, 3)), value("gain", FLOAT, (3,)), value("unread", FLOAT, A.shape)],
        [value("y", FLOAT, None)],
    )
    proto.ir_version = version
    said = "input 'gain' is read as stored in the file: a program that feeds something else there runs another network"
    assert (said in read_network(save(tmp_path, proto)).notes) == (version > 3)


def test_an_unused_initialiser_among_the_inputs(tmp_path: Path) -> None:
    proto = policy([], [])
    proto.graph.input.append(value("k", FLOAT, (4, 2)))
    assert read_network(save(tmp_path, proto)).input_size == 3


@pytest.mark.parametrize("kind", [TensorProto.UINT8, TensorProto.INT64, TensorProto.INT8])
def test_integers_that_are_only_cast(kind: int, tmp_path: Path) -> None:
    nodes = [
        node("Cast", ["x"], "r", to=FLOAT),
        node("Div", ["r", "k"], "d"),
        node("MatMul", ["d", "a"], "y"),
    ]
    constants = {"k": np.array(255, np.float32), "a": A}
    proto = several(nodes, constants, [value("x", kind, (1, 3))], [value("y", FLOAT, None)])
    network = read_network(save(tmp_path, proto))
    assert "is only cast: all real numbers" in " ".join(network.notes)
    session = Session(network)
    assert np.allclose(session.run([Fraction(1), Fraction(7), Fraction(2)]), network.evaluate(np.array([[1.0, 7, 2]])))
    with pytest.raises(CannotRunError, match="whole numbers"):
        session.run([Fraction(1, 2), Fraction(7), Fraction(2)])
    points = np.array([[-3.0, 1e5, 0.4]])
    held = session.rounded(points)
    assert (held == np.rint(held)).all()


def test_integers_that_are_used_as_such(tmp_path: Path) -> None:
    proto = several(
        [node("ScatterElements", ["a", "x", "a"], "y")],
        {"a": A},
        [value("x", INT64, (3, 4))],
        [value("y", FLOAT, None)],
    )
    with pytest.raises(NetworkError, match="input 'x' has type int64") as caught:
        read_network(save(tmp_path, proto))
    assert caught.value.operator == "ScatterElements"


def test_a_cycle(tmp_path: Path) -> None:
    nodes = [node("Add", ["x", "t"], "s"), node("Relu", ["s"], "t"), node("Neg", ["t"], "y")]
    proto = several(nodes, {}, [value("x", FLOAT, (1, 3))], [value("y", FLOAT, None)])
    with pytest.raises(NetworkError, match="depends on it"):
        read_network(save(tmp_path, proto))


def with_functions(imports: int = 17) -> onnx.ModelProto:
    """A layer that is a function, which calls another one, as torch.onnx with dynamo and onnxscript leave them."""
    used = [helper.make_opsetid("", imports), helper.make_opsetid("own", 1)]
    inner = helper.make_function("own", "act", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], used)
    layer = helper.make_function(
        "own",
        "layer",
        ["a", "w"],
        ["b"],
        [helper.make_node("MatMul", ["a", "w"], ["t"]), helper.make_node("act", ["t"], ["b"], domain="own")],
        used,
    )
    nodes = [
        node("layer", ["x", "a"], "h", domain="own"),
        node("layer", ["h", "c"], "y", domain="own"),
    ]
    return several(
        nodes,
        {"a": A, "c": C},
        [value("x", FLOAT, ("batch", 3))],
        [value("y", FLOAT, None)],
        others=[("own", 1)],
        functions=[inner, layer],
    )


def test_functions_of_the_model_are_put_in_place(tmp_path: Path) -> None:
    network = read_and_compared(with_functions(), tmp_path, [("x", np.float32, (1, 3))])
    assert [step.rows for step in network.steps[:2]] == [4, 2]


def test_a_function_for_another_opset(tmp_path: Path) -> None:
    """What the package onnx does not put in place is refused by its name; nothing is read as something else."""
    proto = with_functions(imports=7)
    try:
        network = read_network(save(tmp_path, proto))
    except NetworkError as error:
        assert error.operator in ("layer", None)  # noqa: PT017
    else:
        assert network.output_size == 2


def test_a_function_that_calls_itself(tmp_path: Path) -> None:
    proto = with_functions()
    proto.functions[0].node[0].CopyFrom(helper.make_node("act", ["a"], ["b"], domain="own"))
    with pytest.raises(NetworkError, match="calls itself"):
        read_network(save(tmp_path, proto))


def test_functions_that_double(tmp_path: Path) -> None:
    """Thirty functions of two calls each would be a thousand million nodes."""
    proto = with_functions()
    del proto.functions[:]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    for number in range(30):
        name = f"f{number + 1}" if number < 29 else "Relu"
        domain = "own" if number < 29 else ""
        calls = [
            helper.make_node(name, ["a"], ["t"], domain=domain),
            helper.make_node(name, ["t"], ["b"], domain=domain),
        ]
        proto.functions.append(helper.make_function("own", f"f{number}", ["a"], ["b"], calls, imports))
    del proto.graph.node[:]
    proto.graph.node.append(node("f0", ["x"], "y", domain="own"))
    with pytest.raises(NetworkError, match="more than 100000 nodes"):
        read_network(save(tmp_path, proto))
