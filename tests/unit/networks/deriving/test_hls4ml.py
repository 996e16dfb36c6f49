"""What hls4ml makes of an exported configuration is the derived network: proved equal, and the same in its simulation.

The float model is given to hls4ml as Keras saves it, an architecture and weights, which needs no Keras.
"""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import yaml
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import eqspec
from eqspec.networks import Network, as_network, read_network
from eqspec.networks.deriving import FixedPointFormat, derive, exported
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from unit.networks.deriving.test_fixed_point import chain
from unit.networks.firmware.simulation import compiled

_OF = FixedPoint.of
TYPES = {
    "one": FixedPointFormat(_OF(16, 6)),
    "narrow": FixedPointFormat(_OF(9, 4)),
    "exact_sums": FixedPointFormat(_OF(12, 5), accumulators=_OF(40, 20)),
    "all": FixedPointFormat(
        _OF(12, 5), _OF(9, 4), _OF(10, 3), _OF(11, 4), _OF(13, 5, rounding="AP_RND"),
        _OF(9, 3, rounding="AP_RND_CONV", overflow="AP_SAT"),
    ),
    "coarse_weights": FixedPointFormat(_OF(12, 5), weights=_OF(3, 3), biases=_OF(4, 2, rounding="AP_RND")),
}  # fmt: skip


def _project(folder: Path, layers: list[dict[str, Any]], weights: dict[str, NDArray[Any]], config: Path) -> Path:
    """The project that hls4ml writes for a model of Keras."""
    pytest.importorskip("hls4ml", reason="hls4ml is not installed: pip install eqspec[firmware-tests]")
    h5py = pytest.importorskip("h5py")
    converter = pytest.importorskip("hls4ml.converters.keras_v2_to_hls")
    create = pytest.importorskip("hls4ml.utils.config").create_config
    folder.mkdir()
    with h5py.File(folder / "w.h5", "w") as file:
        for name, array in weights.items():
            file[f"{name.partition('/')[0]}/{name}:0"] = array.astype(np.float32)
    architecture = {"class_name": "Sequential", "config": {"name": "s", "layers": layers}}
    (folder / "model.json").write_text(json.dumps({**architecture, "keras_version": "2.15", "backend": "tensorflow"}))
    read = yaml.safe_load(config.read_text())
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = create(output_dir=str(folder / "prj"), backend=read["Backend"])
        settings |= {"KerasJson": str(folder / "model.json"), "KerasH5": str(folder / "w.h5")}
        settings |= {"HLSConfig": read["HLSConfig"], "IOType": read["IOType"]}
        converter.keras_v2_to_hls(settings).write()
    return folder / "prj"


def _layer(kind: str, name: str, **config: Any) -> dict[str, Any]:
    return {"class_name": kind, "config": {"name": name, "dtype": "float32", **config}}


def _of_chain(folder: Path, network: Network, config: Path) -> Path:
    layers = [_layer("InputLayer", "inputs", batch_input_shape=[None, network.input_size])]
    weights = {}
    for number, layer in enumerate(network.layers):
        activation = "relu" if number < len(network.layers) - 1 else "linear"
        layers.append(_layer("Dense", f"fc{number}", units=len(layer.bias), activation=activation, use_bias=True))
        weights[f"fc{number}/kernel"], weights[f"fc{number}/bias"] = layer.weight.T, layer.bias
    return _project(folder, layers, weights, config)


def _points(inputs: int) -> NDArray[np.float64]:
    points: NDArray[np.float64] = np.random.default_rng(0).normal(size=(4000, inputs))
    points *= np.repeat([0.3, 3.0, 30.0, 300.0], 1000)[:, None]
    points[::2] = np.rint(points[::2] * 64) / 64
    return points


def test_dense_layers_are_what_hls4ml_makes_of_them(tmp_path: Path) -> None:
    network = chain(5, 4, 6, 5, 3)
    projects = {}
    for name, types in TYPES.items():
        (config := tmp_path / f"{name}.yml").write_bytes(exported(network, types, None))
        projects[name] = _of_chain(tmp_path / name, network, config), derive(network, types)
    for name, (place, derived) in projects.items():
        result = eqspec.verify(read_network(place), derived, [-1e4] * 4, [1e4] * 4, eqspec.Epsilon(0.0))
        assert result.verdict == "equivalent", name
    simulation = compiled(tmp_path, {"all": projects["all"]})  # which takes g++ some seconds each
    points = _points(4)
    found = simulation("all", points)
    assert len(np.unique(found)) > 3
    np.testing.assert_array_equal(projects["all"][1].evaluate(points), found)


def test_a_convolution_is_what_hls4ml_makes_of_it(tmp_path: Path) -> None:
    """hls4ml has the channels behind the places, so entries are put in its order."""
    random = np.random.default_rng(2)
    kernel, bias = random.normal(size=(3, 2, 3, 3)).astype(np.float32), random.normal(size=3).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "k", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    shapes = {"x": [1, 2, 4, 5], "y": [1, 3, 4, 5]}
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    tensors = [numpy_helper.from_array(kernel, "k"), numpy_helper.from_array(bias, "b")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    network, types = as_network(model), FixedPointFormat(_OF(12, 5), accumulators=_OF(14, 7))
    (config := tmp_path / "types.yml").write_bytes(exported(network, types, None))
    layers = [
        _layer("InputLayer", "inputs", batch_input_shape=[None, 4, 5, 2]),
        _layer(
            "Conv2D", "conv", filters=3, kernel_size=[3, 3], strides=[1, 1], padding="same", activation="relu",
            use_bias=True, data_format="channels_last", dilation_rate=[1, 1], groups=1,
        ),
    ]  # fmt: skip
    weights = {"conv/kernel": kernel.transpose(2, 3, 1, 0), "conv/bias": bias}
    made = read_network(_project(tmp_path / "keras", layers, weights, config))
    points = _points(40)
    images = points.reshape(-1, 2, 4, 5)
    wanted = made.evaluate(images.transpose(0, 2, 3, 1).reshape(-1, 40)).reshape(-1, 4, 5, 3).transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(derive(network, types).evaluate(points), wanted.reshape(-1, 60))


def test_the_configuration_says_every_type(tmp_path: Path) -> None:
    (config := tmp_path / "types.yml").write_bytes(exported(chain(1, 2, 2), TYPES["all"], None))
    read = yaml.safe_load(config.read_text())["HLSConfig"]
    assert read["Model"]["Precision"] == {
        "default": "ap_fixed<12,5>",
        "weight": "ap_fixed<10,3>",
        "bias": "ap_fixed<11,4>",
        "accum": "ap_fixed<13,5,AP_RND,AP_WRAP>",
        "result": "ap_fixed<9,3,AP_RND_CONV,AP_SAT>",
    }
    for kind in ("Input", "InputLayer"):
        assert read["LayerType"][kind] == {"Precision": {"result": "ap_fixed<9,4>"}}
