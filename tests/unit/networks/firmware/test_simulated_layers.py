"""Layers of all kinds that hls4ml writes, in arrays and in streams, against its own C simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.errors import NetworkError
from eqspec.networks import Network, read_network
from unit.networks.firmware.converted import Model, described, project
from unit.networks.firmware.simulation import compiled
from unit.networks.firmware.test_simulation import check_outputs, check_projects

NARROW = {name: {"accum": "ap_fixed<15,6>", "result": "ap_fixed<12,5>"} for name in ("MatMul", "Conv")}
POOL = {"MaxPool": {"accum": "ap_fixed<16,7>", "result": "ap_fixed<11,5,AP_RND,AP_SAT>"}}


def _settings(**of_layers: dict[str, str]) -> dict[str, Any]:
    return {"precision": "ap_fixed<14,6>", "of_layers": {**NARROW, **of_layers}}


CUT_OFF = {
    name: {"accum": "ap_fixed<12,4,AP_RND,AP_SAT>", "result": "ap_fixed<11,5>"}
    for name in ("MatMul", "Conv", "Depthwise", "MaxPool")
}
"""Accumulators that saturate in the middle of sums."""


STREAMS: dict[str, tuple[Model, dict[str, Any]]] = {
    "image": (Model((2, 5, 6), 40).convolved(2, pad=1).then("Relu").pooled().flat().dense(2), _settings()),
    "averages": (Model((2, 8, 8), 42).apart().then("Relu").pooled().convolved(2).flat().dense(2), _settings(**POOL)),
    "cut_off": (Model((2, 4, 5), 43).convolved(2, pad=1).flat().dense(2), _settings(**CUT_OFF)),
    "averages_of_all": (
        Model((2, 5, 6), 45).convolved(3, pad=1, stride=2).pooled_as_one().flat().dense(2),
        _settings(),
    ),
    "branches": (
        Model(3, 47).dense(3).then("Relu").with_inputs("Add").dense(3).then("Sigmoid").with_inputs("Max").dense(2),
        _settings(),
    ),
    "elu": (Model(4, 50).dense(5).then("Elu", alpha=0.7).dense(2).then("Tanh"), _settings()),
    # Streams give the factor of selu the type of its input, and do not double what a ternary tanh compares.
    "selu": (Model(4, 51).dense(5).then("Selu").dense(4).then("Selu"), _settings()),
    "ternary": (Model(4, 52).dense(5).then("Relu").dense(4), _settings()),
    "thresholded": (Model(4, 54).dense(5).then("ThresholdedRelu", alpha=0.75).dense(3).then("Softplus"), _settings()),
}
ARRAYS: dict[str, tuple[Model, dict[str, Any]]] = {
    "larger": (Model(3, 62).dense(3).with_inputs("Max").then("Tanh").with_inputs("Min").dense(2), _settings()),
    "sigmoid": (
        Model(4, 63).dense(5).then("Sigmoid").dense(3).then("Sigmoid"),
        _settings(Sigmoid={"table": "ap_fixed<12,3,AP_RND>", "result": "ap_ufixed<9,1>"}),
    ),
    "ternary": (Model(4, 64).dense(5).then("Relu").dense(3), _settings()),
    "softplus": (Model(4, 65).dense(5).then("Softplus").dense(2).then("Softsign"), _settings()),
    "elu": (
        Model(4, 66).dense(5).then("Elu", alpha=0.7).dense(4).then("ThresholdedRelu", alpha=0.75).dense(2).then("Selu"),
        _settings(),
    ),
}


def _made(folder: Path, model: Model, **settings: Any) -> Path:
    """The project of a model. Pools of one that is called so are averages, and a ReLU is a ternary tanh, which no ONNX
    file becomes by itself.
    """
    place = project(folder, model, **settings)
    if folder.name == "ternary":
        calls = place / "firmware/myproject.cpp"
        text = calls.read_text()
        assert "nnet::relu<" in text
        calls.write_text(text.replace("nnet::relu<", "nnet::ternary_tanh<"))
    if folder.name.startswith("averages"):
        parameters = place / "firmware/parameters.h"
        text = parameters.read_text()
        assert "nnet::Max;" in text
        parameters.write_text(text.replace("nnet::Max;", "nnet::Average;"))
    return place


@pytest.mark.parametrize(("cases", "io_type"), [(STREAMS, "io_stream"), (ARRAYS, "io_parallel")])
def test_every_output_is_that_of_the_simulation(
    cases: dict[str, tuple[Model, dict[str, Any]]], io_type: str, tmp_path: Path
) -> None:
    networks: dict[str, tuple[Path, Network]] = {}
    for name, (model, settings) in cases.items():
        place = _made(tmp_path / name, model, io_type=io_type, **settings)
        networks[name] = place, read_network(place)
    check_projects(tmp_path, networks)


@pytest.mark.parametrize("settings", [_settings(**POOL), _settings(**CUT_OFF)])
def test_a_convolution_of_each_channel_by_itself_and_averages(settings: dict[str, Any], tmp_path: Path) -> None:
    model = Model((3, 6, 5), 70).apart().then("Relu").pooled().flat().dense(2)
    place = _made(tmp_path / "averages", model, **settings)
    network = read_network(place)
    check_outputs(network, "apart", compiled(tmp_path, {"apart": (place, network)}))


def test_a_convolution_that_adds_up_by_steps_of_its_reuse_factor(tmp_path: Path) -> None:
    """And whose accumulator saturates on the way, so that the order counts."""
    model = Model((2, 4, 4), 71).convolved(2).flat().dense(2)
    place = project(tmp_path / "project", model, strategy="Resource", reuse=2, **_settings(**CUT_OFF))
    network = read_network(place)
    check_outputs(network, "reused", compiled(tmp_path, {"reused": (place, network)}))


def test_a_convolution_of_single_pixels_of_a_sequence(tmp_path: Path) -> None:
    """Without partitions it has a kernel of its own, which takes all pixels at once."""
    random = np.random.default_rng(0)
    layer = {
        "class_name": "Conv1D", "name": "conv", "data_format": "channels_last", "n_chan": 3, "n_filt": 2,
        "weight_data": random.integers(-16, 17, (1, 3, 2)) / 8, "bias_data": random.integers(-16, 17, 2) / 8,
        "in_width": 5, "out_width": 3, "filt_width": 1, "stride_width": 2, "pad_left": 0, "pad_right": 0,
        "parallelization_factor": 3,
    }  # fmt: skip
    types = {"weight": "ap_fixed<6,3>", "bias": "ap_fixed<6,3>", "accum": "ap_fixed<9,4>", "result": "ap_fixed<8,4>"}
    place = described(tmp_path / "prj", (5, 3), [layer], types)
    network = read_network(place)
    check_outputs(network, "pixels", compiled(tmp_path, {"pixels": (place, network)}))
    parameters = place / "firmware/parameters.h"
    text = parameters.read_text()
    assert "nnet::BatchedDenseForConv1D<" in text
    for old, new in (
        ("n_partitions = 1", "n_partitions = 3"),
        ("strategy = nnet::latency", "strategy = nnet::resource"),
    ):
        assert old in text
        parameters.write_text(text.replace(old, new))
        with pytest.raises(NetworkError, match=r"BatchedDenseForConv1D with strategy .* is not read"):
            read_network(place)
