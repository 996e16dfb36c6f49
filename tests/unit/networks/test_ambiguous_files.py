"""Files that can be read in two ways are refused, by the reader and by the auditor's own."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.audit import Refused
from eqspec.audit.reading import File, Number
from eqspec.audit.witness import values_at
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import model, node, run_onnxruntime, save

WEIGHT, OTHER = np.eye(3, dtype=np.float32), 3 * np.eye(3, dtype=np.float32)
LINEAR = node("Gemm", ["x", "w"], "y", alpha=0.5)


def linear(**options: Any) -> onnx.ModelProto:
    return model([LINEAR], {"w": WEIGHT}, (1, 3), **options)


def refused_by_both(folder: Path, proto: onnx.ModelProto) -> NetworkError:
    path = Path(save(folder, proto))
    with pytest.raises(NetworkError) as caught:
        read_network(path)
    assert caught.value.fix
    with pytest.raises(Refused) as reason:
        audited(path).steps()
    assert "outputs, the task" not in str(reason.value)
    return caught.value


def audited(path: Path) -> File:
    one, none = ((Fraction(c),) * 3 for c in (1, 0))
    return File(str(path), path.read_bytes(), Number, one, none, (0.0,) * 3, False, 3)


def stored(name: str, array: Any) -> onnx.TensorProto:
    tensor: onnx.TensorProto = numpy_helper.from_array(np.asarray(array), name)
    return tensor


def sparse(name: str) -> onnx.SparseTensorProto:
    values, places = stored(name, np.array([5], np.float32)), stored("places", np.array([4], np.int64))
    made: onnx.SparseTensorProto = helper.make_sparse_tensor(values, places, [3, 3])
    return made


def add_node(*nodes: onnx.NodeProto, first: bool = False) -> Callable[[onnx.ModelProto], object]:
    return lambda m: m.graph.node.insert(0, nodes[0]) if first else m.graph.node.extend(nodes)


def gives(*names: str) -> onnx.NodeProto:
    return helper.make_node("Split", ["x"], list(names), name="split", axis=1)


NAMES: dict[str, tuple[Callable[[onnx.ModelProto], object], str]] = {
    "a node as an initialiser": (add_node(node("Identity", ["x"], "w"), first=True), "'w' is an initialiser as well"),
    "a constant as an initialiser": (
        add_node(helper.make_node("Constant", [], ["w"], name="c", value=stored("", OTHER)), first=True),
        "'w' is an initialiser as well",
    ),
    "an unused node as an initialiser": (add_node(node("Relu", ["x"], "w")), "'w' is an initialiser as well"),
    "two initialisers": (lambda m: m.graph.initializer.append(stored("w", OTHER)), "two initialisers"),
    "two inputs": (lambda m: m.graph.input.append(m.graph.input[0]), "two inputs have the name 'x'"),
    "a node as the input": (add_node(node("Relu", ["x"], "x"), first=True), "'x' is the input as well"),
    "two nodes": (add_node(node("Relu", ["x"], "y")), "'y' is computed twice"),
    "two outputs of a node": (add_node(gives("p", "p", "q")), "'p' is computed twice"),
    "two outputs": (lambda m: m.graph.output.append(m.graph.output[0]), "one of its 2 outputs twice"),
    "a sparse initialiser": (lambda m: m.graph.sparse_initializer.append(sparse("w")), "initialisers"),
    "an initialiser without a name": (lambda m: m.graph.initializer.append(stored("", OTHER)), "without a name"),
    "an input without a name": (lambda m: m.graph.input.append(onnx.ValueInfoProto()), "without a name"),
    "an operator as a function": (
        lambda m: m.functions.append(
            helper.make_function("", "Gemm", ["a", "b"], ["c"], [helper.make_node("Add", ["a", "b"], ["c"])], [])
        ),
        "standard operator Gemm anew",
    ),
    "two opsets": (lambda m: m.opset_import.append(helper.make_opsetid("", 7)), "2 inputs, but opset 7 takes 3 to 3"),
    "two opsets by other names": (
        lambda m: m.opset_import.append(helper.make_opsetid("ai.onnx", 7)),
        "but opset 7 takes",
    ),
    "a format of the future": (lambda m: setattr(m, "ir_version", 9999), "newer than the installed"),
}
ATTRIBUTES: dict[str, tuple[Callable[[onnx.NodeProto], object], str]] = {
    "given twice": (lambda n: n.attribute.append(helper.make_attribute("alpha", 2.0)), "'alpha' is given twice"),
    "unknown": (lambda n: n.attribute.append(helper.make_attribute("gamma", 2.0)), "no attribute 'gamma'"),
    "of another type": (lambda n: n.attribute[0].CopyFrom(helper.make_attribute("alpha", 2)), "not of type float"),
    "of two types": (lambda n: setattr(n.attribute[0], "i", 2), "values of two types"),
    "of no type": (lambda n: n.attribute[0].ClearField("type"), "not of type float"),
    "of a function": (lambda n: setattr(n.attribute[0], "ref_attr_name", "a"), "not of type float"),
    "none, but an overload": (lambda n: setattr(n, "overload", "other"), "overload 'other'"),
    "none, but more outputs": (lambda n: n.output.append("z"), "2 outputs"),
}
TENSORS: dict[str, tuple[dict[str, Any], str]] = {
    "raw and typed": ({"raw_data": WEIGHT.tobytes(), "float_data": OTHER.ravel()}, "'float_data'"),
    "raw and otherwise typed": ({"raw_data": WEIGHT.tobytes(), "int32_data": [1]}, "'int32_data'"),
    "typed as another": ({"double_data": WEIGHT.ravel()}, "'double_data'"),
    "too many": ({"float_data": [1.0] * 10}, "needs 9 numbers"),
    "too few": ({"float_data": [1.0] * 8}, "needs 9 numbers"),
    "too many bytes": ({"raw_data": bytes(40)}, "needs 9 numbers"),
    "a part of an odd size": ({"raw_data": bytes(35)}, "not a whole number"),
}


@pytest.mark.parametrize("what", NAMES)
def test_a_name_that_stands_for_two_values(what: str, tmp_path: Path) -> None:
    change, words = NAMES[what]
    proto = linear()
    change(proto)
    assert words in refused_by_both(tmp_path, proto).message


def test_a_name_that_this_reader_gives_itself(tmp_path: Path) -> None:
    """The value of a branch that is written out would take the place of the file's own."""
    proto = linear()
    add_node(node("Relu", ["x"], "t/eqspec branch 1"))(proto)
    onnx.save(proto, tmp_path / "net.onnx")
    with pytest.raises(NetworkError, match="'t/eqspec branch 1'"):
        read_network(tmp_path / "net.onnx")


@pytest.mark.parametrize("what", ATTRIBUTES)
def test_attributes_that_the_opset_does_not_have(what: str, tmp_path: Path) -> None:
    change, words = ATTRIBUTES[what]
    proto = linear()
    change(proto.graph.node[0])
    error = refused_by_both(tmp_path, proto)
    assert words in error.message
    assert error.operator == "Gemm"


@pytest.mark.parametrize("what", TENSORS)
def test_tensors_whose_numbers_are_not_where_they_belong(what: str, tmp_path: Path) -> None:
    fields, words = TENSORS[what]
    proto = linear()
    given = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3, 3], **fields)
    proto.graph.initializer[0].CopyFrom(given)
    error = refused_by_both(tmp_path, proto)
    assert words in error.message
    assert "'w'" in error.message


def test_a_part_of_a_tensor(tmp_path: Path) -> None:
    proto = linear()
    proto.graph.initializer[0].segment.begin = 0
    assert "a part of a tensor" in refused_by_both(tmp_path, proto).message


def test_integers_that_their_type_does_not_hold(tmp_path: Path) -> None:
    proto = model([node("Cast", ["i"], "f", to=TensorProto.FLOAT), node("Mul", ["x", "f"], "y")], {}, (1, 3))
    proto.graph.initializer.append(TensorProto(name="i", data_type=TensorProto.INT8, dims=[1], int32_data=[300]))
    assert "beyond the range of its tensor's type" in refused_by_both(tmp_path, proto).message
    proto.graph.initializer[0].CopyFrom(TensorProto(name="i", data_type=TensorProto.BOOL, dims=[1], raw_data=b"\x02"))
    assert "neither 0 nor 1" in refused_by_both(tmp_path, proto).message


def test_a_constant_of_two_values(tmp_path: Path) -> None:
    constant = helper.make_node("Constant", [], ["w"], name="c", value=stored("", WEIGHT), value_float=2.0)
    proto = model([constant, LINEAR], {}, (1, 3))
    assert "a constant with 2 values" in refused_by_both(tmp_path, proto).message


def test_operands_of_types_that_do_not_go_together(tmp_path: Path) -> None:
    nodes = [node("Add", ["a", "b"], "t"), node("Cast", ["t"], "f", to=TensorProto.FLOAT), node("Mul", ["x", "f"], "y")]
    proto = model(nodes, {"a": np.array([200], np.uint8), "b": np.array([100], np.int8)}, (1, 3))
    error = refused_by_both(tmp_path, proto)
    assert "has type int8, another one uint8" in error.message
    assert error.operator == "Add"


def test_float_types_may_be_mixed(tmp_path: Path) -> None:
    """Some exporters do; the real numbers are the same."""
    proto = model([LINEAR], {"w": WEIGHT}, (1, 3), kind=TensorProto.DOUBLE)
    assert np.array_equal(read_network(save(tmp_path, proto)).layers[0].weight, WEIGHT / 2)


def test_initialisers_that_are_listed_as_inputs_are_read_by_both(tmp_path: Path) -> None:
    proto = linear(listed=True)
    path = Path(save(tmp_path, proto))
    assert np.array_equal(read_network(path).layers[0].weight, WEIGHT / 2)
    assert values_at(audited(path), [Fraction(x) for x in (1, 2, 4)]) == [(Fraction(x),) * 2 for x in (0.5, 1, 2)]


@pytest.mark.parametrize(("kind", "shape"), [(1, (3, 2)), (1, (1, 3, 3)), (1, ()), (11, (3, 3)), (1, ("n", 3))])
def test_initialisers_that_are_listed_as_other_inputs(kind: int, shape: tuple[Any, ...], tmp_path: Path) -> None:
    """onnxruntime refuses what does not fit; a size that is open fits."""
    proto = linear()
    (name,) = [tensor.name for tensor in proto.graph.initializer]
    assert tuple(proto.graph.initializer[0].dims) == (3, 3)
    proto.graph.input.append(helper.make_tensor_value_info(name, kind, shape))
    if shape == ("n", 3):
        assert np.array_equal(read_network(save(tmp_path, proto)).layers[0].weight, WEIGHT / 2)
        return
    with pytest.raises(NetworkError, match="another type or shape"):
        read_network(save(tmp_path, proto))


def test_one_opset_that_is_imported_twice_is_one(tmp_path: Path) -> None:
    proto = linear()
    proto.opset_import.append(helper.make_opsetid("ai.onnx", 17))
    assert read_network(save(tmp_path, proto)).output_size == 3


@pytest.mark.parametrize("declared", [None, (1, 3)])
def test_samples_that_meet_are_no_batch(declared: Any, tmp_path: Path) -> None:
    """The first of two samples alone, and what depends on the place of a sample."""
    first = [node("Slice", ["x", "o", "i"], "y")]
    constants = {"o": np.array([0]), "i": np.array([1])}
    network = read_network(save(tmp_path, model(first, constants, (2, 3), output_shape=declared)))
    assert (network.input_size, network.output_size) == (6, 3)
    little = [node("Slice", ["x", "o", "i"], "f"), node("Mul", ["f", "s"], "m"), node("Add", ["x", "m"], "y")]
    constants |= {"s": np.array([1e-9], np.float32)}
    network = read_network(save(tmp_path, model(little, constants, (2, 3), output_shape=declared)))
    assert (network.input_size, network.output_size) == (6, 6)
    places = [node("MatMul", ["x", "w"], "h"), node("Add", ["h", "b"], "y")]
    constants = {"w": np.ones((1, 1, 2), np.float32), "b": np.array([[[1, 1], [2, 2], [3, 3]]], np.float32)}
    proto = model(places, constants, (3, 1))
    network = read_network(save(tmp_path, proto))
    x = np.array([[1], [2], [4]], np.float32)
    expected = run_onnxruntime(proto, x).reshape(1, -1)
    assert np.array_equal(network.evaluate(x.reshape(1, -1).astype(np.float64)), expected)


@pytest.mark.parametrize("operator", ["ReduceL1", "ReduceL2", "ReduceSumSquare"])
@pytest.mark.parametrize("given", [None, []])
def test_a_reduction_over_no_axes_that_is_a_function_of_the_entries(
    operator: str, given: list[int] | None, tmp_path: Path
) -> None:
    """ONNX changed its mind whether entries are squared then; the reader took them as they are."""
    axes = {} if given is None else {"axes": np.array(given, np.int64)}
    reduction = node(operator, ["x", *axes], "y", noop_with_empty_axes=1)
    error = refused_by_both(tmp_path, model([reduction], axes, (1, 3), opset=18))
    assert error.operator == operator
    assert "no axes" in error.message


@pytest.mark.parametrize("operator", ["ReduceSum", "ReduceMean", "ReduceMax"])
def test_a_reduction_over_no_axes_that_leaves_entries_alone(operator: str, tmp_path: Path) -> None:
    proto = model([node(operator, ["x"], "y", noop_with_empty_axes=1)], {}, (1, 3), opset=18)
    numbers = [1.5, -2.0, 3.0]
    read = read_network(save(tmp_path, proto)).evaluate_exact([Fraction(n) for n in numbers])
    assert [float(low) for low, _ in read] == numbers
    assert run_onnxruntime(proto, np.array([numbers], np.float32)).ravel().tolist() == numbers


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("own", ["k", "h", "x", "i"])
def test_a_branch_with_a_name_of_the_graph(own: str, depth: int, tmp_path: Path) -> None:
    """onnxruntime takes the branch's value, onnx's reference implementation the graph's; at depth two it was read."""
    if own == "i" and depth == 1:
        return
    made = [helper.make_node("Add", ["x", own], ["t"])]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "tu"]
    branch = helper.make_graph(made, "b", [], ends[:1], [stored(own, np.full(3, 5, np.float32))])
    if depth == 2:
        inner = [node("Neg", ["x"], "i"), helper.make_node("If", ["c"], ["u"], then_branch=branch, else_branch=branch)]
        branch = helper.make_graph(inner, "a", [], ends[1:])
    choice = helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch)
    sizes = {"c": np.array(True), "k": np.full(3, 100, np.float32)}
    nodes = [node("Neg", ["x"], "h"), choice, node("Add", ["z", "k"], "s"), node("Add", ["s", "h"], "y")]
    error = refused_by_both(tmp_path, model(nodes, sizes, (1, 3)))
    assert f"{own!r} of a branch is" in error.message


def test_a_condition_that_is_no_truth_value(tmp_path: Path) -> None:
    """onnxruntime refuses it, onnx's reference implementation takes 2 for true."""
    ends = [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)]
    branch = helper.make_graph([helper.make_node("Neg", ["x"], ["t"])], "b", [], ends)
    choice = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    refused_by_both(tmp_path, model([choice], {"c": np.array(2)}, (1, 3)))


@pytest.mark.parametrize("kind", ["ReduceL1", "ReduceLogSumExp"])
def test_an_attribute_of_two_types_is_refused_where_an_operator_is_written_out(kind: str, tmp_path: Path) -> None:
    reduced = helper.make_node(kind, ["x"], ["y"], name="n", keepdims=1)
    reduced.attribute[0].f = 1.0
    proto = model([reduced], {}, [1, 3])
    with pytest.raises(NetworkError, match="values of two types"):
        read_network(save(tmp_path, proto))


@pytest.mark.parametrize("result", range(4))
@pytest.mark.parametrize("in_order", [0, 1])
def test_outputs_that_are_left_out_move_no_other(in_order: int, result: int, tmp_path: Path) -> None:
    """Once those behind an output without a name were taken for the one before: counts for places."""
    outputs = ["slices", "first", "inverse", "counts"]
    kept = [name if i in (0, result, 3) else "" for i, name in enumerate(outputs)]
    nodes = [
        helper.make_node("Unique", ["c"], kept, name="u", sorted=in_order),
        node("ReduceSum", [outputs[result]], "n", keepdims=0),
        node("Cast", ["n"], "k", to=TensorProto.FLOAT),
        node("Add", ["x", "k"], "y"),
    ]
    proto = model(nodes, {"c": np.array([2, 0, 2, 7, 0, 2])}, [1, 1])
    expected = run_onnxruntime(proto, np.zeros((1, 1), np.float32))
    assert read_network(save(tmp_path, proto)).evaluate(np.zeros((1, 1))).ravel().tolist() == expected.ravel().tolist()


@pytest.mark.parametrize("result", range(4))
@pytest.mark.parametrize(("axis", "stored"), [(1, [[-2], [-1]]), (0, [[3, 1], [0, 2], [3, 1]]), (-1, [[2, 0, 2, 1]])])
def test_unique_slices_come_in_the_order_in_which_they_are_met(
    axis: int, stored: list[list[int]], result: int, tmp_path: Path
) -> None:
    """Of one column with two numbers onnx's reference evaluator keeps the first number alone."""
    outputs = ["slices", "first", "inverse", "counts"]
    nodes = [
        helper.make_node("Unique", ["c"], outputs, name="u", sorted=0, axis=axis),
        node("Cast", [outputs[result]], "k", to=TensorProto.FLOAT),
        node("Add", ["x", "k"], "y"),
    ]
    proto = model(nodes, {"c": np.array(stored)}, [1, 1])
    expected = run_onnxruntime(proto, np.zeros((1, 1), np.float32))
    assert read_network(save(tmp_path, proto)).evaluate(np.zeros((1, 1))).ravel().tolist() == expected.ravel().tolist()
