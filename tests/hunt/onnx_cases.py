"""The cases of onnx's own test suite, as models of some of their inputs; and such models with one thing changed.

A case is a node, or the graph that a function of onnx stands for, with numbers for its inputs. Here some inputs stay
inputs and the others become initialisers, so that attributes, axes, pads and scales are as files have them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import AttributeProto, ModelProto, NodeProto, helper, numpy_helper
from onnx.backend.test.case import node as onnx_node
from onnx.defs import OpSchema

from oracle.pairs import Random

Feeds = dict[str, NDArray[Any]]
MOST = 64
"""Numbers of the inputs that stay inputs."""
WORDS: dict[str, Sequence[str]] = {
    "approximate": ("none", "tanh"),
    "auto_pad": ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"),
    "coordinate_transformation_mode": (
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
        "tf_half_pixel_for_nn",
    ),
    "direction": ("forward", "reverse", "bidirectional", "LEFT", "RIGHT"),
    "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller"),
    "mode": (
        "nearest", "linear", "cubic", "bilinear", "constant", "reflect", "edge", "wrap", "DCR", "CRD", "sum", "max",
    ),
    "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "padding_mode": ("zeros", "border", "reflection"),
    "reduction": ("none", "add", "mul", "max", "min"),
}  # fmt: skip
"""What attributes of text may be."""


@dataclass(frozen=True)
class Case:
    """A model, and numbers for its inputs."""

    name: str
    model: ModelProto
    feeds: Feeds


def of_modules(names: Sequence[str] = ()) -> list[Case]:
    """All cases, or those that some modules of onnx write."""
    with np.errstate(all="ignore"), warnings.catch_warnings():  # cases are computed where they are written
        warnings.simplefilter("ignore")
        for name in names:
            import_module(f"{onnx_node.__name__}.{name}")
        found: list[Any] = onnx_node._NodeTestCases if names else onnx_node.collect_testcases(None)
    found = [c for c in found if not names or c.model.graph.node[0].op_type.lower() in names]
    return [made for case in found for made in _cases(case.name, case.model, case.data_sets[0][0])]


def _cases(name: str, model: ModelProto, inputs: Sequence[Any]) -> Iterator[Case]:
    """With one input of numbers, or all of them, left as inputs."""
    given = dict(zip([i.name for i in model.graph.input], inputs, strict=True))
    if not all(isinstance(x, np.ndarray | np.generic) and np.asarray(x).dtype.kind in "fiub" for x in given.values()):
        return
    arrays = {key: np.asarray(x) for key, x in given.items()}
    real = [key for key, x in arrays.items() if x.dtype in (np.float32, np.float64, np.float16)]
    for chosen in [*([key] for key in real), *([real] if len(real) > 1 else [])]:
        if 0 < sum(arrays[key].size for key in chosen) <= MOST and all(arrays[key].ndim for key in chosen):
            feeds = {key: arrays[key] for key in chosen}
            for output in model.graph.output:
                yield Case(f"{name} of {', '.join(chosen)}", _model(model, arrays, feeds, output.name), feeds)


def _model(model: ModelProto, arrays: Feeds, feeds: Feeds, output: str) -> ModelProto:
    made = ModelProto()
    made.CopyFrom(model)
    graph = made.graph
    del graph.input[:], graph.output[:], graph.value_info[:]
    for key, x in arrays.items():
        if key in feeds:
            kind = helper.np_dtype_to_tensor_dtype(x.dtype)
            graph.input.append(helper.make_tensor_value_info(key, kind, x.shape))
        else:
            graph.initializer.append(numpy_helper.from_array(x, key))
    known = next(o for o in model.graph.output if o.name == output)
    graph.output.append(helper.make_tensor_value_info(output, known.type.tensor_type.elem_type, None))
    return made


def change(random: Random, model: ModelProto) -> str | None:
    """Change one thing of a model in place: what it was; None where there was nothing to change."""
    node = model.graph.node[int(random.integers(len(model.graph.node)))]
    match float(random.random()):
        case chance if chance < 0.5:
            return _attribute(random, model, node)
        case chance if chance < 0.7:
            return _opset(random, model)
        case chance if chance < 0.76:
            return _left_out(random, node)
    return _stored(random, model)


def summed_along_an_axis(random: Random, model: ModelProto) -> None:
    """Put a CumSum behind the output: of another shape with the same numbers, it is another function."""
    graph, opset = model.graph, next((o.version for o in model.opset_import if o.domain == ""), 0)
    result = graph.output[0]
    if opset >= 14 and result.type.tensor_type.elem_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
        axis = np.array(random.choice([0, 1, -2]))
        graph.initializer.append(numpy_helper.from_array(axis, "axis_of_sums"))
        graph.node.append(helper.make_node("CumSum", [result.name, "axis_of_sums"], ["sums_so_far"]))
        result.name = "sums_so_far"


def _attribute(random: Random, model: ModelProto, node: NodeProto) -> str | None:
    version = next((o.version for o in model.opset_import if o.domain == node.domain), 1)
    if not onnx.defs.has(node.op_type, node.domain):
        return None
    known = onnx.defs.get_schema(node.op_type, version, node.domain).attributes
    usable = sorted(name for name, a in known.items() if a.type in _DRAWN)
    if not usable:
        return None
    name = usable[int(random.integers(len(usable)))]
    before = next((a for a in node.attribute if a.name == name), None)
    value = None if before is not None and random.random() < 0.25 else _DRAWN[known[name].type](random, name, before)
    if before is not None:
        node.attribute.remove(before)
    if value is not None:
        kind = AttributeProto.INTS if value == [] else None
        node.attribute.append(helper.make_attribute(name, value, attr_type=kind))
    return f"{node.op_type}: {name} {value}"


def _whole(random: Random, name: str, before: AttributeProto | None) -> int:
    old = before.i if before is not None else 0
    return int(random.choice([0, 0, 1, 1, -1, -2, 2, 3, old + 1, old - 1]))


def _real(random: Random, name: str, before: AttributeProto | None) -> float:
    old = before.f if before is not None else 0.5
    return float(random.choice([0.0, 1.0, -1.0, 0.5, 2 * old, old + 0.25]))


def _text(random: Random, name: str, before: AttributeProto | None) -> str | None:
    words = WORDS.get(name)
    return words[int(random.integers(len(words)))] if words else None


def _several(random: Random, name: str, before: AttributeProto | None) -> list[int]:
    made = list(before.ints) if before is not None else [int(i) for i in random.integers(0, 3, random.integers(1, 5))]
    match int(random.integers(4)):
        case 0:
            made.reverse()
        case 1:
            made.pop()
        case _ if made:
            place = int(random.integers(len(made)))
            made[place] = int(random.choice([made[place] + 1, made[place] - 1, 0, 1, 2, -1]))
    return made


_DRAWN: dict[Any, Any] = {
    OpSchema.AttrType.INT: _whole,
    OpSchema.AttrType.FLOAT: _real,
    OpSchema.AttrType.STRING: _text,
    OpSchema.AttrType.INTS: _several,
}


def _opset(random: Random, model: ModelProto) -> str | None:
    for one in model.opset_import:
        if one.domain == "":
            before, newest = one.version, onnx.defs.onnx_opset_version()
            near = max(7, before - int(random.integers(1, 6)))
            one.version = near if random.random() < 0.5 else int(random.integers(7, newest + 1))
            return f"opset {before} to {one.version}"
    return None


def _left_out(random: Random, node: NodeProto) -> str | None:
    given = [i for i, name in enumerate(node.input) if name and i > 0]
    if not given:
        return None
    place = given[int(random.integers(len(given)))]
    node.input[place] = ""
    return f"{node.op_type} without input {place}"


def _stored(random: Random, model: ModelProto) -> str | None:
    """A number of an initialiser, their order, or the type of integers."""
    stored = [t for t in model.graph.initializer if numpy_helper.to_array(t).size]
    if not stored:
        return None
    tensor = stored[int(random.integers(len(stored)))]
    array = numpy_helper.to_array(tensor).copy()
    flat, place = array.reshape(-1), int(random.integers(array.size))
    if array.dtype.kind not in "fiu":
        return None
    match int(random.integers(4)):
        case 0:
            flat = np.roll(flat, 1)
        case 1 if array.dtype in (np.int32, np.int64):
            flat = flat.astype(np.int32 if array.dtype == np.int64 else np.int64)
        case _ if array.dtype.kind == "f":
            flat[place] = random.choice([0.0, 1.0, -1.0, 2 * flat[place], flat[place] + 0.5, -flat[place]])
        case _:
            least = 0 if array.dtype.kind == "u" else -1
            near = [int(flat[place]) + 1, int(flat[place]) - 1, 0, 1, 2, least]
            limits = np.iinfo(array.dtype)
            flat[place] = min(max(int(random.choice(near)), limits.min), limits.max)
    made = flat.reshape(array.shape)
    tensor.CopyFrom(numpy_helper.from_array(made, tensor.name))
    return f"{tensor.name} is {made.reshape(-1)[:6].tolist()} of {made.dtype}"
