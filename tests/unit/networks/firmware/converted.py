"""Small models as hls4ml converts them: ONNX in, a folder of C++ out. Nothing is compiled here."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper


@dataclass
class Model:
    """A graph that grows node by node, with random weights."""

    inputs: int | tuple[int, ...]
    """Of images: channels, then one or two axes."""
    seed: int
    size: int = 0
    last: str = "x"
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shape = (self.inputs,) if isinstance(self.inputs, int) else self.inputs
        self.size, self.random = prod(self.shape), np.random.default_rng(self.seed)

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    def _node(self, kind: str, given: Sequence[str], **attributes: Any) -> Model:
        made = f"v{len(self.nodes)}"
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [self.last, *given], [made], name=name, **attributes))
        self.last = made
        return self

    def dense(self, outputs: int, *, weights: Sequence[float] | None = None, bias: bool = True) -> Model:
        """A product with random weights, or with weights that are drawn from these."""
        shape = (self.size, outputs)
        drawn = self.random.normal(size=shape) if weights is None else self.random.choice(weights, shape)
        self._node("MatMul", [self._constant(f"w{len(self.nodes)}", drawn)])
        if bias:
            self._node("Add", [self._constant(f"b{len(self.nodes)}", self.random.normal(size=outputs))])
        self.size = outputs
        return self

    def convolved(self, channels: int, *, pad: int = 0, stride: int = 1) -> Model:
        """A convolution with windows of three entries on each axis."""
        axes = len(self.shape) - 1
        kernel = self._constant(f"k{len(self.nodes)}", self.random.normal(size=(channels, self.shape[0], *[3] * axes)))
        bias = self._constant(f"c{len(self.nodes)}", self.random.normal(size=channels))
        sizes = {"kernel_shape": [3] * axes, "dilations": [1] * axes, "strides": [stride] * axes}
        self._node("Conv", [kernel, bias], pads=[pad] * 2 * axes, group=1, **sizes)
        self.shape = (channels, *((n + 2 * pad - 3) // stride + 1 for n in self.shape[1:]))
        return self

    def pooled(self, size: int = 2) -> Model:
        """The largest entry of windows that lie side by side."""
        axes = len(self.shape) - 1
        self._node("MaxPool", [], kernel_shape=[size] * axes, strides=[size] * axes, pads=[0] * 2 * axes)
        self.shape = (self.shape[0], *(n // size for n in self.shape[1:]))
        return self

    def pooled_as_one(self) -> Model:
        """The largest entry of each channel."""
        self.shape = (self.shape[0], *[1] * (len(self.shape) - 1))
        return self._node("GlobalMaxPool", [])

    def apart(self) -> Model:
        """A convolution of each channel by itself, with windows of three entries."""
        axes = len(self.shape) - 1
        channels = self.shape[0]
        kernel = self._constant(f"k{len(self.nodes)}", self.random.normal(size=(channels, 1, *[3] * axes)))
        bias = self._constant(f"c{len(self.nodes)}", self.random.normal(size=channels))
        ones = [1] * axes
        sizes = {"kernel_shape": [3] * axes, "dilations": ones, "strides": ones, "pads": [0] * 2 * axes}
        self._node("Conv", [kernel, bias], group=channels, **sizes)
        self.shape = (channels, *(n - 2 for n in self.shape[1:]))
        return self

    def flat(self) -> Model:
        """All entries as one vector."""
        self.size = prod(self.shape)
        return self._node("Flatten", [])

    def with_inputs(self, kind: str) -> Model:
        """Add, Sub or Concat of what there is and the inputs."""
        self._node(kind, ["x"], **({"axis": 1} if kind == "Concat" else {}))
        self.size += self.inputs if kind == "Concat" and isinstance(self.inputs, int) else 0
        return self

    def normalised(self) -> Model:
        """A BatchNormalization that no product stands in front of."""
        names = [self._constant(f"{n}{len(self.nodes)}", self.random.normal(size=self.size)) for n in "sbm"]
        names.append(self._constant(f"v_{len(self.nodes)}", self.random.uniform(0.5, 2.0, self.size)))
        return self._node("BatchNormalization", names)

    def then(self, kind: str, **attributes: Any) -> Model:
        """An activation."""
        return self._node(kind, [], **attributes)


def project(folder: Path, model: Model, **settings: Any) -> Path:
    """Write the project of a model. Settings are those of `converted`."""
    given = [model.inputs] if isinstance(model.inputs, int) else model.inputs
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, *shape])
        for name, shape in (("x", given), (model.last, [model.size]))
    ]
    graph = helper.make_graph(model.nodes, "g", ends[:1], ends[1:], model.constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return converted(folder, made, images=len(given) > 1, **settings)


def converted(
    folder: Path,
    model: onnx.ModelProto,
    *,
    precision: str = "ap_fixed<16,6>",
    of_layers: Mapping[str, Mapping[str, str]] | None = None,
    io_type: str = "io_parallel",
    strategy: str = "Latency",
    reuse: int = 1,
    backend: str = "Vivado",
    images: bool = False,
    without_last: bool = False,
) -> Path:
    """Write a project. `of_layers` gives types to layers whose name begins so, by what they are types of."""
    hls4ml = pytest.importorskip("hls4ml", reason="hls4ml is not installed: pip install eqspec[firmware-tests]")
    wrapper = pytest.importorskip("qonnx.core.modelwrapper", reason="qonnx is not installed")
    cleanup = pytest.importorskip("qonnx.util.cleanup", reason="qonnx is not installed")
    if without_last:
        last = model.graph.node.pop()
        for value in [value for value in model.graph.value_info if value.name == last.input[0]]:
            model.graph.value_info.remove(value)
        model.graph.output[0].name = last.input[0]
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of old files
        cleaned = cleanup.cleanup_model(wrapper.ModelWrapper(model))
        if images:
            channels_last = pytest.importorskip("qonnx.transformation.channels_last")
            cleaned = cleanup.cleanup_model(cleaned.transform(channels_last.ConvertToChannelsLastAndClean()))
        config = hls4ml.utils.config_from_onnx_model(
            cleaned, granularity="name", backend=backend, default_precision=precision, default_reuse_factor=reuse
        )
        for name, layer in config["LayerName"].items():
            layer["Strategy"] = strategy
            layer["ReuseFactor"] = reuse
            for begin, types in (of_layers or {}).items():
                if name.startswith(begin):
                    layer["Precision"].update(types)
        made = hls4ml.converters.convert_from_onnx_model(
            cleaned, output_dir=str(folder), backend=backend, io_type=io_type, hls_config=config
        )
        made.write()
    return folder


def described(
    folder: Path,
    shape: Sequence[int],
    layers: Sequence[Mapping[str, Any]],
    types: Mapping[str, str],
    *,
    strategy: str = "Latency",
    io_type: str = "io_parallel",
    backend: str = "Vitis",
) -> Path:
    """Write the project of layers as hls4ml's converters describe them, one behind the other. `shape` is that of the
    input `x`, and all layers have these types.
    """
    hls4ml = pytest.importorskip("hls4ml", reason="hls4ml is not installed: pip install eqspec[firmware-tests]")
    if strategy == "distributed_arithmetic":
        pytest.importorskip("da4ml", reason="da4ml is not installed: pip install eqspec[firmware-tests]")
    first = {"class_name": "InputLayer", "name": "x", "input_shape": list(shape), "outputs": ["x"], "inputs": []}
    config = hls4ml.utils.config.create_config(output_dir=str(folder), backend=backend, project_name="myproject")
    named = {layer["name"]: {"Precision": dict(types), "Strategy": strategy, "ReuseFactor": 1} for layer in layers}
    named["x"] = {"Precision": {"result": "ap_fixed<6,3>"}}
    usual = {"Precision": "ap_fixed<12,5>", "ReuseFactor": 1, "Strategy": strategy}
    config |= {"IOType": io_type, "HLSConfig": {"Model": usual, "LayerName": named}}
    every = [first, *({"inputs": ["x"], "outputs": [layer["name"]], **layer} for layer in layers)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names in lower case
        hls4ml.model.graph.ModelGraph.from_layer_list(config, every, ["x"], [every[-1]["name"]]).write()
    return folder
