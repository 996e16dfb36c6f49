"""Networks as ONNX files, in the shapes that common exporters write.

The opset and the IR version are fixed, so that a file depends on the weights alone and not on the version of the onnx
package.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from making.training import Mlp

Style = Literal["gemm", "matmul", "half"]
OPSET, IR_VERSION = 17, 8


def to_onnx(network: Mlp, style: Style, comment: str, *, softmax: bool = False) -> onnx.ModelProto:
    """The network with float32 inputs (batch, I), a symbolic batch and float32 outputs.

    Args:     network: float64 weights; they are rounded to the width the style stores.     style: `gemm` writes Gemm
    with transB = 1 as PyTorch does, `matmul` MatMul and Add as Keras exports do, `half` Gemm with float16
    weights that a Cast widens in front.     comment: where the network comes from; stored in the file.     softmax: end
    with a Softmax, as classifiers are often exported.
    """
    nodes: list[onnx.NodeProto] = []
    tensors: list[onnx.TensorProto] = []
    value = "features"
    last = len(network.weights) - 1
    for index, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        score = "logits" if index == last else f"score_{index}"
        names = [f"weight_{index}", f"bias_{index}"]
        stored = np.float16 if style == "half" else np.float32
        arrays = [weight.T if style == "matmul" else weight, bias]
        for place, array in enumerate(arrays):
            tensors.append(numpy_helper.from_array(np.ascontiguousarray(array, dtype=stored), names[place]))
            if style == "half":
                wide = f"{names[place]}_wide"
                nodes.append(
                    helper.make_node("Cast", [names[place]], [wide], f"widen_{names[place]}", to=TensorProto.FLOAT)
                )
                names[place] = wide
        if style == "matmul":
            nodes.append(helper.make_node("MatMul", [value, names[0]], [f"product_{index}"], f"matmul_{index}"))
            nodes.append(helper.make_node("Add", [f"product_{index}", names[1]], [score], f"add_{index}"))
        else:
            nodes.append(helper.make_node("Gemm", [value, *names], [score], f"gemm_{index}", transB=1))
        value = score
        if index != last:
            value = f"hidden_{index}"
            nodes.append(helper.make_node("Relu", [score], [value], f"relu_{index}"))
    if softmax:
        nodes.append(helper.make_node("Softmax", [value], ["probabilities"], "softmax", axis=1))
        value = "probabilities"
    sizes = network.weights[0].shape[1], network.weights[-1].shape[0]
    graph = helper.make_graph(
        nodes,
        "example",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", sizes[0]])],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, ["batch", sizes[1]])],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="eqspec-examples")
    model.ir_version, model.doc_string = IR_VERSION, comment
    onnx.checker.check_model(model, full_check=True)
    return model
