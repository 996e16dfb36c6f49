"""Other files of the same function: rewritings of an ONNX graph, each exact in real arithmetic.

All of them move numbers, or multiply them by powers of two, or take them apart into parts that float32 holds, so they
are exact in binary arithmetic as well. A rewriting gives None where there is nothing in a file for it to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import helper, numpy_helper, version_converter

from hunt.onnx_values import attributes, given, inputs_of
from oracle.pairs import Random

Array = NDArray[Any]
Model = onnx.ModelProto


def copy(model: Model) -> Model:
    """A file of its own."""
    made = Model()
    made.CopyFrom(model)
    return made


class Edited:
    """A graph while it is rewritten."""

    def __init__(self, model: Model) -> None:
        self.model = copy(model)
        self.graph = self.model.graph

    def nodes(self, *kinds: str) -> list[onnx.NodeProto]:
        """The nodes of some operators."""
        return [node for node in self.graph.node if node.op_type in kinds]

    def stored(self, name: str) -> Array | None:
        """Stored numbers, if a name is one of theirs."""
        found = [tensor for tensor in self.graph.initializer if tensor.name == name]
        return numpy_helper.to_array(found[0]) if found else None

    def store(self, array: ArrayLike) -> str:
        """The name of new stored numbers."""
        name = f"s{len(self.graph.initializer)}_{len(self.graph.node)}"
        self.graph.initializer.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def users(self, name: str) -> list[onnx.NodeProto]:
        """The nodes that take a value."""
        return [node for node in self.graph.node if name in node.input]

    def only_user(self, name: str) -> onnx.NodeProto | None:
        """The one node that takes a value, where it is one, and the file gives it to nobody."""
        users = self.users(name)
        return users[0] if len(users) == 1 and name not in {o.name for o in self.graph.output} else None

    def replace(self, node: onnx.NodeProto, *others: onnx.NodeProto) -> None:
        """Nodes in the place of another one."""
        at = [id(other) for other in self.graph.node].index(id(node))
        before, behind = list(self.graph.node)[:at], list(self.graph.node)[at + 1 :]
        kept = [onnx.NodeProto.FromString(one.SerializeToString()) for one in (*before, *others, *behind)]
        del self.graph.node[:]
        self.graph.node.extend(kept)

    def name(self, like: str) -> str:
        """A new name of a value."""
        taken = {name for node in self.graph.node for name in (*node.output, *node.input)}
        return next(made for n in range(1000) if (made := f"{like}_{n}") not in taken)

    def depends(self) -> set[str]:
        """The values that depend on the inputs."""
        found = {name for name, _ in inputs_of(self.model)}
        for node in self.graph.node:
            if found & set(node.input):
                found.update(node.output)
        return found


def powers(rng: Random, count: int) -> Array:
    """Some powers of two, as float32."""
    return (2.0 ** rng.integers(-3, 4, count)).astype(np.float32)


def one_of(rng: Random, nodes: list[onnx.NodeProto]) -> onnx.NodeProto | None:
    """One of some nodes."""
    return nodes[int(rng.integers(len(nodes)))] if nodes else None


def constants_as_nodes(model: Model, rng: Random) -> Model | None:
    """Some of the stored numbers as Constant nodes."""
    edited = Edited(model)
    chosen = [t for t in edited.graph.initializer if rng.random() < 0.6]
    if not chosen:
        return None
    kept = [t for t in edited.graph.initializer if t.name not in {c.name for c in chosen}]
    nodes = [helper.make_node("Constant", [], [t.name], name=f"k_{t.name}", value=t) for t in chosen]
    nodes += list(edited.graph.node)
    graph = helper.make_graph(nodes, "g", edited.graph.input, edited.graph.output, kept)
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def other_opset(model: Model, rng: Random) -> Model | None:
    """The file in another opset, by onnx's converter."""
    if len(model.opset_import) > 1:
        return None
    wanted = int(rng.choice([14, 15, 17, 18, 19]))
    try:
        return version_converter.convert_version(model, wanted)
    except Exception:  # the converter refuses some files
        return None


def reordered(model: Model, rng: Random) -> Model | None:
    """The nodes in another order in which they can be computed, and the stored numbers in any."""
    edited = Edited(model)
    left, done, order = list(edited.graph.node), set[str](), list[onnx.NodeProto]()
    made = {name for node in left for name in node.output}
    while left:
        ready = [node for node in left if all(name in done or name not in made for name in node.input)]
        chosen = ready[int(rng.integers(len(ready)))]
        order.append(chosen)
        done.update(chosen.output)
        left = [node for node in left if node is not chosen]
    stored = [edited.graph.initializer[int(n)] for n in rng.permutation(len(edited.graph.initializer))]
    graph = helper.make_graph(order, "g", edited.graph.input, edited.graph.output, stored)
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def relu_as_max(model: Model, rng: Random) -> Model | None:
    """A Relu as Max(x, 0)."""
    edited = Edited(model)
    node = one_of(rng, edited.nodes("Relu"))
    if node is None:
        return None
    asked = [node.input[0], edited.store(np.float32(0))]
    if rng.random() < 0.5:
        asked.reverse()
    edited.replace(node, helper.make_node("Max", asked, list(node.output), name=f"{node.name}_max"))
    return edited.model


def _a_gemm(edited: Edited, rng: Random) -> tuple[onnx.NodeProto, Array] | None:
    """A Gemm whose weights are stored, and these."""
    node = one_of(rng, [n for n in edited.nodes("Gemm") if edited.stored(n.input[1]) is not None])
    weight = None if node is None else edited.stored(node.input[1])
    return None if node is None or weight is None else (node, weight)


def gemm_as_matmul(model: Model, rng: Random) -> Model | None:
    """A Gemm as MatMul and Add."""
    edited = Edited(model)
    found = _a_gemm(edited, rng)
    if found is None:
        return None
    node, weight = found
    turned = edited.store(weight.T if attributes(node).get("transB") else weight)
    middle = edited.name("m")
    product = helper.make_node("MatMul", [node.input[0], turned], [middle], name=f"{node.name}_m")
    terms = [middle, node.input[2]]
    if rng.random() < 0.5:
        terms.reverse()
    edited.replace(node, product, helper.make_node("Add", terms, list(node.output), name=f"{node.name}_a"))
    return edited.model


def weight_in_two(model: Model, rng: Random) -> Model | None:
    """A Gemm as the sum of two products, with the high and the low digits of its weights."""
    edited = Edited(model)
    found = _a_gemm(edited, rng)
    if found is None:
        return None
    node, weight = found
    high = (np.rint(weight * 16) / 16).astype(np.float32)
    low = weight - high
    assert np.array_equal(high.astype(np.float64) + low, weight)
    first, second = edited.name("h"), edited.name("l")
    turned = attributes(node).get("transB", 0)
    edited.replace(
        node,
        helper.make_node("Gemm", [node.input[0], edited.store(high), node.input[2]], [first], transB=turned),
        helper.make_node("MatMul", [node.input[0], edited.store(low.T if turned else low)], [second]),
        helper.make_node("Add", [first, second], list(node.output)),
    )
    return edited.model


def identities(model: Model, rng: Random) -> Model | None:
    """An Identity, or a factor of one, behind a node."""
    edited = Edited(model)
    depends = edited.depends()
    node = one_of(rng, [n for n in edited.graph.node if n.output[0] in depends])
    assert node is not None
    middle, result = edited.name("i"), node.output[0]
    before = onnx.NodeProto.FromString(node.SerializeToString())
    before.output[0] = middle
    if node.op_type == "QuantizeLinear" or rng.random() < 0.5:
        behind = helper.make_node("Identity", [middle], [result], name=f"i_{middle}")
    else:
        behind = helper.make_node("Mul", [middle, edited.store(np.float32(1))], [result], name=f"i_{middle}")
    edited.replace(node, before, behind)
    return edited.model


def transposes(model: Model, rng: Random) -> Model | None:
    """Around a Relu of images: axes exchanged in front, and back behind it."""
    edited = Edited(model)
    node = one_of(rng, edited.nodes("Relu"))
    if node is None:
        return None
    if not _is_image(edited, node.input[0]):
        return None
    order = [0, *(1 + int(n) for n in rng.permutation(3))]
    first, second = edited.name("a"), edited.name("b")
    edited.replace(
        node,
        helper.make_node("Transpose", [node.input[0]], [first], perm=order),
        helper.make_node(node.op_type, [first], [second]),
        helper.make_node("Transpose", [second], list(node.output), perm=np.argsort(order).tolist()),
    )
    return edited.model


def _is_image(edited: Edited, name: str) -> bool:
    made = [node for node in edited.graph.node if name in node.output]
    if not made:
        return False
    kind = made[0].op_type
    return kind in ("Conv", "MaxPool", "AveragePool") or (
        kind in ("BatchNormalization", "Identity", "Mul", "DequantizeLinear", "QuantizeLinear", "Relu", "Max")
        and _is_image(edited, made[0].input[0])
    )


def quantised_twice(model: Model, rng: Random) -> Model | None:
    """A pair of QuantizeLinear and DequantizeLinear, or a Quant, once more behind itself."""
    edited = Edited(model)
    depends = edited.depends()
    pairs = [
        (node, behind)
        for node in edited.nodes("QuantizeLinear")
        if node.input[0] in depends and (behind := edited.only_user(node.output[0])) is not None
        and behind.op_type == "DequantizeLinear" and list(behind.input[1:]) == list(node.input[1:])
    ]  # fmt: skip
    pairs += [(node, node) for node in edited.nodes("Quant") if node.input[0] in depends]
    if not pairs:
        return None
    first, last = pairs[int(rng.integers(len(pairs)))]
    result, middle, level = last.output[0], edited.name("q"), edited.name("r")
    before = onnx.NodeProto.FromString(last.SerializeToString())
    before.output[0] = middle
    again = [onnx.NodeProto.FromString(n.SerializeToString()) for n in ([first] if first is last else [first, last])]
    again[0].input[0] = middle
    if first is not last:
        again[0].output[0], again[1].input[0] = level, level
    again[-1].output[0] = result
    for number, node in enumerate(again):
        node.name = f"{node.name}_again{number}"
    edited.replace(last, before, *again)
    return edited.model


def hidden_neurons(model: Model, rng: Random) -> Model | None:
    """The neurons between two products in another order, and scaled by powers of two, where a Relu stands between."""
    edited = Edited(model)
    found = list(_products(edited))
    if not found:
        return None
    first, second = found[int(rng.integers(len(found)))]
    weight, bias, after = (edited.stored(name) for name in (first.input[1], first.input[2], second.input[1]))
    assert weight is not None
    assert bias is not None
    assert after is not None
    order, scale = rng.permutation(len(weight)), powers(rng, len(weight))
    back = (1 / scale).reshape(1, -1, *[1] * (after.ndim - 2)).astype(np.float32)
    first.input[1] = edited.store((weight * scale.reshape(-1, *[1] * (weight.ndim - 1)))[order])
    first.input[2] = edited.store((bias * scale)[order])
    second.input[1] = edited.store((after * back)[:, order])
    return edited.model


def _products(edited: Edited) -> Iterator[tuple[onnx.NodeProto, onnx.NodeProto]]:
    """Pairs of Gemms, or of Conv, with nothing but a Relu between them."""
    for node in edited.nodes("Gemm", "Conv"):
        relu = edited.only_user(node.output[0])
        if relu is None or relu.op_type != "Relu":
            continue
        behind = edited.only_user(relu.output[0])
        plain = behind is not None and behind.op_type == node.op_type and behind.input[0] == relu.output[0]
        if (
            behind is None
            or not plain
            or any(edited.stored(name) is None for name in (*node.input[1:], behind.input[1]))
        ):
            continue
        if node.op_type == "Conv" or (attributes(node).get("transB") and attributes(behind).get("transB")):
            yield node, behind


def normalised(model: Model, rng: Random) -> Model | None:
    """A BatchNormalization by powers of two behind a product, whose weights take it back."""
    edited = Edited(model)
    node = one_of(rng, [n for n in edited.nodes("Gemm", "Conv") if edited.stored(n.input[1]) is not None])
    if node is None:
        return None
    weight, bias = edited.stored(node.input[1]), edited.stored(node.input[2])
    if weight is None or bias is None or not (attributes(node).get("transB") or node.op_type == "Conv"):
        return None
    scale, variance, shift = powers(rng, len(weight)), powers(rng, len(weight)) ** 2, powers(rng, len(weight))
    mean = np.rint(rng.normal(0, 8, len(weight))).astype(np.float32) / 8
    by = np.sqrt(variance) / scale
    middle, result = edited.name("n"), node.output[0]
    before = onnx.NodeProto.FromString(node.SerializeToString())
    before.output[0] = middle
    new_bias = ((bias.astype(np.float64) - shift) * by + mean).astype(np.float32)
    if not np.array_equal((new_bias.astype(np.float64) - mean) / by + shift, bias.astype(np.float64)):
        return None
    before.input[1] = edited.store((weight * by.reshape(-1, *[1] * (weight.ndim - 1))).astype(np.float32))
    before.input[2] = edited.store(new_bias)
    numbers = [edited.store(a.astype(np.float32)) for a in (scale, shift, mean, variance)]
    edited.replace(node, before, helper.make_node("BatchNormalization", [middle, *numbers], [result], epsilon=0.0))
    return edited.model


def conv_as_matmul(model: Model, rng: Random) -> Model | None:
    """A convolution as a product with a matrix, between changes of shape."""
    edited = Edited(model)
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in _inferred(model)}
    wanted = [n for n in edited.nodes("Conv") if n.input[0] in shapes and n.output[0] in shapes]
    wanted = [n for n in wanted if all(edited.stored(name) is not None for name in n.input[1:])]
    node = one_of(rng, wanted)
    if node is None:
        return None
    before, behind = shapes[node.input[0]], shapes[node.output[0]]
    floats, size = onnx.TensorProto.FLOAT, int(np.prod(before))
    alone = helper.make_graph(
        [node], "c", [helper.make_tensor_value_info(node.input[0], floats, before)],
        [helper.make_tensor_value_info(node.output[0], floats, behind)],
        [t for t in edited.graph.initializer if t.name in node.input],
    )  # fmt: skip
    found = given(helper.make_model(alone), np.concatenate([np.zeros((1, size)), np.eye(size)]), False).rows
    matrix, bias = (found[1:] - found[0]).astype(np.float32), found[0].astype(np.float32)
    flat, product, total = (edited.name(n) for n in "uvw")
    edited.replace(
        node,
        helper.make_node("Reshape", [node.input[0], edited.store(np.array([1, size]))], [flat]),
        helper.make_node("MatMul", [flat, edited.store(matrix)], [product]),
        helper.make_node("Add", [product, edited.store(bias)], [total]),
        helper.make_node("Reshape", [total, edited.store(np.array(behind))], list(node.output)),
    )
    return edited.model


def _inferred(model: Model) -> list[onnx.ValueInfoProto]:
    graph = onnx.shape_inference.infer_shapes(model).graph
    return [*graph.input, *graph.value_info, *graph.output]


def aside(model: Model, rng: Random) -> Model | None:
    """Nodes on which no output depends."""
    edited = Edited(model)
    node = one_of(rng, edited.nodes("Relu", "Gemm", "Conv"))
    if node is None:
        return None
    edited.graph.node.append(helper.make_node("Relu", [node.output[0]], [edited.name("dead")]))
    return edited.model


REWRITINGS: tuple[Callable[[Model, Random], Model | None], ...] = (
    constants_as_nodes, other_opset, reordered, relu_as_max, gemm_as_matmul, weight_in_two, identities, transposes,
    quantised_twice, hidden_neurons, hidden_neurons, normalised, conv_as_matmul, aside,
)  # fmt: skip


def rewritten(model: Model, rng: Random) -> tuple[Model, str]:
    """The file after one to three rewritings, and which these were."""
    names: list[str] = []
    for _ in range(20):
        if len(names) >= int(rng.integers(1, 4)):
            break
        chosen = REWRITINGS[int(rng.integers(len(REWRITINGS)))]
        found = chosen(model, rng)
        if found is not None:
            model, names = found, [*names, chosen.__name__]
    return model, "+".join(sorted(set(names)))
