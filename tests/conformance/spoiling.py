"""What makes a whole model one that can be read in two ways, or in none: both readers must refuse all of these."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Random = np.random.Generator
Spoiler = Callable[[Random, ModelProto], bool]
"""Changes a model; False where it has nothing to change."""


def needed(model: ModelProto) -> list[NodeProto]:
    """The nodes that the output depends on: others may hold what they like, as long as names are unique.

    An optional input that is left out and an output that is not asked for have the same empty name, and nothing else
    in common.
    """
    wanted, found = {model.graph.output[0].name}, list[NodeProto]()
    for node in reversed(model.graph.node):
        if wanted & set(node.output):
            found.append(node)
            wanted.update(name for name in node.input if name)
    return found


def _tensor(rng: Random, model: ModelProto) -> TensorProto | None:
    """An initialiser that a node uses."""
    used = {name for node in needed(model) for name in node.input}
    found = [tensor for tensor in model.graph.initializer if tensor.name in used]
    return found[int(rng.integers(len(found)))] if found else None


def initialiser_twice(rng: Random, model: ModelProto) -> bool:
    tensor = _tensor(rng, model)
    if tensor is not None:
        model.graph.initializer.append(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
    return tensor is not None


def constant_named_as_initialiser(rng: Random, model: ModelProto) -> bool:
    tensor = _tensor(rng, model)
    if tensor is None:
        return False
    again = numpy_helper.from_array(numpy_helper.to_array(tensor), "")
    model.graph.node.insert(0, helper.make_node("Constant", [], [tensor.name], name="again", value=again))
    return True


def unused_node_named_as_initialiser(rng: Random, model: ModelProto) -> bool:
    tensor = _tensor(rng, model)
    if tensor is not None:
        model.graph.node.append(helper.make_node("Identity", ["x"], [tensor.name], name="again"))
    return tensor is not None


def node_named_as_input(rng: Random, model: ModelProto) -> bool:
    model.graph.node.append(helper.make_node("Relu", ["x"], ["x"], name="again"))
    return True


def node_twice(rng: Random, model: ModelProto) -> bool:
    last = needed(model)[0]
    model.graph.node.append(helper.make_node("Identity", ["x"], [last.output[0]], name="again"))
    return True


def input_twice(rng: Random, model: ModelProto) -> bool:
    model.graph.input.append(model.graph.input[0])
    return True


def output_twice(rng: Random, model: ModelProto) -> bool:
    model.graph.output.append(model.graph.output[0])
    return True


def sparse_initialiser(rng: Random, model: ModelProto) -> bool:
    tensor = _tensor(rng, model)
    if tensor is None:
        return False
    values = numpy_helper.from_array(np.ones(1, np.float32), tensor.name)
    places = numpy_helper.from_array(np.zeros(1, np.int64), "places")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [2]))
    return True


def attribute_twice(rng: Random, model: ModelProto) -> bool:
    for node in needed(model):
        if node.attribute:
            node.attribute.append(node.attribute[0])
            return True
    return False


def attribute_of_no_meaning(rng: Random, model: ModelProto) -> bool:
    needed(model)[0].attribute.append(helper.make_attribute("meaning", 42))
    return True


def attribute_of_another_type(rng: Random, model: ModelProto) -> bool:
    for node in needed(model):
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.INT:
                attribute.CopyFrom(helper.make_attribute(attribute.name, [int(attribute.i)]))
                return True
    return False


def attribute_of_two_types(rng: Random, model: ModelProto) -> bool:
    for node in needed(model):
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.INT:
                attribute.f = 1.0
                return True
    return False


def numbers_in_two_places(rng: Random, model: ModelProto) -> bool:
    tensor = _tensor(rng, model)
    if tensor is None or not tensor.raw_data or tensor.data_type != TensorProto.FLOAT:
        return False
    tensor.float_data.extend(numpy_helper.to_array(tensor).ravel().tolist())
    return True


def more_numbers_than_sizes(rng: Random, model: ModelProto) -> bool:
    tensor = _tensor(rng, model)
    if tensor is None:
        return False
    tensor.raw_data += bytes(8)
    return True


def fewer_numbers_than_sizes(rng: Random, model: ModelProto) -> bool:
    tensor = _tensor(rng, model)
    if tensor is None or not tensor.raw_data:
        return False
    tensor.raw_data = tensor.raw_data[:-1]
    return True


def no_opset(rng: Random, model: ModelProto) -> bool:
    del model.opset_import[:]
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    return True


def standard_function(rng: Random, model: ModelProto) -> bool:
    inner, opsets = [helper.make_node("Neg", ["a"], ["b"])], list(model.opset_import)
    model.functions.append(helper.make_function("", needed(model)[0].op_type, ["a"], ["b"], inner, opsets))
    return True


def operator_of_another_domain(rng: Random, model: ModelProto) -> bool:
    needed(model)[0].domain = "com.example"
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    return True


def overload(rng: Random, model: ModelProto) -> bool:
    needed(model)[0].overload = "other"
    return True


def depends_on_itself(rng: Random, model: ModelProto) -> bool:
    made = {name: node for node in model.graph.node for name in node.output}
    last = needed(model)[0]
    before = next((made[name] for name in last.input if name in made and made[name].input), None)
    if before is None:
        return False
    before.input[0] = last.output[0]
    return True


def input_too_many(rng: Random, model: ModelProto) -> bool:
    last = needed(model)[0]
    if last.op_type in ("Concat", "Max", "Min", "Sum"):
        return False
    last.input.extend(["x"] * 6)
    return True


def output_too_many(rng: Random, model: ModelProto) -> bool:
    if needed(model)[0].op_type == "Split":
        return False
    needed(model)[0].output.extend([f"more{i}" for i in range(5)])
    return True


def number_that_is_none(rng: Random, model: ModelProto) -> bool:
    """A factor that is made of NaN or infinity, stored as a tensor of any rank."""
    last, output = needed(model)[0], model.graph.output[0]
    kind, rank = output.type.tensor_type.elem_type, int(rng.integers(3))
    if kind not in (TensorProto.FLOAT, TensorProto.DOUBLE) or output.name not in last.output:
        return False
    number = np.full((1,) * rank, [np.nan, np.inf][int(rng.integers(2))], helper.tensor_dtype_to_np_dtype(kind))
    operator = ["Abs", "Identity", "Neg", "Reciprocal", "Relu"][int(rng.integers(5))]
    for node in model.graph.node:
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                if name == output.name:
                    names[place] = "unspoiled"
    model.graph.initializer.append(numpy_helper.from_array(number, "none"))
    model.graph.node.append(helper.make_node(operator, ["none"], ["factor"]))
    model.graph.node.append(helper.make_node("Mul", ["unspoiled", "factor"], [output.name]))
    return True


SPOILERS: dict[str, Spoiler] = {
    function.__name__: function
    for function in (
        initialiser_twice, constant_named_as_initialiser, unused_node_named_as_initialiser, node_named_as_input,
        node_twice, input_twice, output_twice, sparse_initialiser, attribute_twice, attribute_of_no_meaning,
        attribute_of_another_type, attribute_of_two_types, numbers_in_two_places, more_numbers_than_sizes,
        fewer_numbers_than_sizes, no_opset, standard_function, operator_of_another_domain, overload,
        depends_on_itself, input_too_many, output_too_many, number_that_is_none,
    )
}  # fmt: skip


def spoil(rng: Random, model: ModelProto) -> str | None:
    """Spoil a model in one way; which one, None where it could not be."""
    name = [*SPOILERS][int(rng.integers(len(SPOILERS)))]
    if not needed(model):  # the output is an input or stored
        return None
    return name if SPOILERS[name](rng, model) else None
