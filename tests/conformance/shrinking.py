"""A graph that goes wrong, made smaller as long as it goes wrong alike: its output earlier, what is unused left out."""

from __future__ import annotations

import onnx

from conformance.judging import judge


def kind_of(complaint: str | None) -> str | None:
    """What remains of a complaint when the numbers in it change."""
    return None if complaint is None else complaint[:24]


def shrink(model: onnx.ModelProto, complaint: str) -> onnx.ModelProto:
    """The smallest graph found with a complaint of this kind. Spoiled graphs stay as they are."""
    smaller = True
    while smaller:
        smaller = False
        for candidate in _candidates(model):
            if kind_of(judge(candidate).complaint) == kind_of(complaint):
                model, smaller = candidate, True
                break
    return model


def _candidates(model: onnx.ModelProto) -> list[onnx.ModelProto]:
    found = []
    for node in list(model.graph.node)[:-1]:
        for name in node.output:
            cut = _copy(model)
            cut.graph.output[0].name = name
            cut.graph.output[0].type.tensor_type.ClearField("shape")
            found.append(_without_what_is_unused(cut))
    plain = _without_what_is_unused(_copy(model))
    if plain.ByteSize() < model.ByteSize():
        found.append(plain)
    return found


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def _without_what_is_unused(model: onnx.ModelProto) -> onnx.ModelProto:
    wanted = {model.graph.output[0].name}
    nodes: list[onnx.NodeProto] = []
    for node in reversed(model.graph.node):
        if wanted & set(node.output):
            nodes.insert(0, node)
            wanted.update(name for name in node.input if name)
    tensors = [tensor for tensor in model.graph.initializer if tensor.name in wanted]
    kept_nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    kept_tensors = [onnx.TensorProto.FromString(tensor.SerializeToString()) for tensor in tensors]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(kept_nodes)
    model.graph.initializer.extend(kept_tensors)
    return model
