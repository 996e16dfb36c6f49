"""What a stream holds: one word is written for each that is read, and a word that was read is gone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eqspec.errors import NetworkError
from eqspec.networks import read_network

_CONFIG = """struct config{n} : nnet::{base} {{
    static const unsigned n_in = 4;
    {members}
    static const unsigned io_type = nnet::io_stream;
    static const unsigned reuse_factor = 1;
}};
"""
_TABLE = "static const unsigned table_size = 64;\n    typedef ap_fixed<8,2> table_t;"
_NORMALIZE = """static const unsigned n_filt = {channels};
    typedef number_t bias_t;
    typedef number_t scale_t;
    template<class x_T, class y_T>
    using product = nnet::product::mult<x_T, y_T>;"""
_MERGE = "struct config{n} : nnet::merge_config {{\n    static const unsigned n_elem = 4;\n}};\n"
_HARD = """struct config{n} {{
    static const unsigned n_in = 4;
    static const ap_fixed<4,1> slope;
    static const ap_fixed<4,1> shift;
}};
const ap_fixed<4,1> config{n}::slope = 0.25;
const ap_fixed<4,1> config{n}::shift = 0.5;
"""


def written(folder: Path, configurations: str, calls: list[str], *, middle: int = 2, weights: bool = False) -> Path:
    """A project of streams: x in words of two numbers, `layer1_out` in those of `middle`, y in those of two."""
    place = folder / "firmware"
    (place / "weights").mkdir(parents=True)
    types = "typedef ap_fixed<8,4> number_t;\n" + "".join(
        f"typedef nnet::array<ap_fixed<8,4>, {size}*1> {name}_t;\n"
        for name, size in (("in", 2), ("middle", middle), ("out", 2))
    )
    (place / "defines.h").write_text(types)
    includes = ""
    for name in ("s1", "b1") if weights else ():
        (place / f"weights/{name}.h").write_text(f"number_t {name}[2] = {{0.5, -1.25}};\n")
        includes += f'#include "weights/{name}.h"\n'
    (place / "parameters.h").write_text(includes + configurations)
    body = "\n    ".join(['hls::stream<middle_t> layer1_out("layer1_out");', *calls])
    head = "void myproject(hls::stream<in_t> &x, hls::stream<out_t> &y) {"
    (place / "myproject.cpp").write_text(f'#include "parameters.h"\n{head}\n    {body}\n}}\n')
    return folder


def activation(n: int, parameter: str = "") -> str:
    members = _TABLE + ("\n    typedef number_t param_t;" if parameter else "")
    return _CONFIG.format(n=n, base="activ_config", members=members)


def call(function: str, n: int, given: str, result: str, parameter: str = "") -> str:
    of = {"x": "in_t", "layer1_out": "middle_t", "y": "out_t"}
    named, number = ("number_t, ", f"{parameter}, ") if parameter else ("", "")
    return f"nnet::{function}<{of[given]}, {named}{of[result]}, config{n}>({given}, {number}{result});"


OF_ENTRIES = [
    ("linear", ""), ("relu", ""), ("binary_tanh", ""), ("ternary_tanh", ""), ("leaky_relu", "0.5"),
    ("thresholded_relu", "0.5"), ("thresholded_relu", "0"), ("sigmoid", ""), ("tanh", ""), ("elu", "0.5"), ("selu", ""),
]  # fmt: skip


@pytest.mark.parametrize(("function", "parameter"), OF_ENTRIES)
@pytest.mark.parametrize("middle", [1, 2, 4])
def test_a_function_of_each_entry_keeps_the_length_of_words(
    function: str, parameter: str, middle: int, tmp_path: Path
) -> None:
    """hls4ml's loop reads a word for each that it writes: of other lengths it reads beyond a word, or leaves some."""
    calls = [call(function, 1, "x", "layer1_out", parameter), "nnet::repack_stream<middle_t, out_t, 4>(layer1_out, y);"]
    place = written(tmp_path / "prj", activation(1, parameter), calls, middle=middle)
    if middle == 2:
        assert read_network(place).output_size == 4
        return
    with pytest.raises(NetworkError, match=f"a word of layer1_out has {middle} numbers, it writes 2 at a time"):
        read_network(place)


@pytest.mark.parametrize("middle", [2, 4])
def test_a_hard_function_keeps_the_length_of_words(middle: int, tmp_path: Path) -> None:
    calls = [call("hard_sigmoid", 1, "x", "layer1_out"), "nnet::repack_stream<middle_t, out_t, 4>(layer1_out, y);"]
    place = written(tmp_path / "prj", _HARD.format(n=1), calls, middle=middle)
    if middle == 2:
        assert read_network(place).output_size == 4
        return
    with pytest.raises(NetworkError, match="a word of layer1_out has 4 numbers"):
        read_network(place)


@pytest.mark.parametrize("middle", [2, 4])
def test_a_normalisation_keeps_the_length_of_words(middle: int, tmp_path: Path) -> None:
    configuration = _CONFIG.format(n=1, base="batchnorm_config", members=_NORMALIZE.format(channels=2))
    calls = ["nnet::normalize<in_t, middle_t, config1>(x, layer1_out, s1, b1);"]
    calls.append("nnet::repack_stream<middle_t, out_t, 4>(layer1_out, y);")
    place = written(tmp_path / "prj", configuration, calls, middle=middle, weights=True)
    if middle == 2:
        assert read_network(place).output_size == 4
        return
    with pytest.raises(NetworkError, match="a word of layer1_out has 4 numbers"):
        read_network(place)


@pytest.mark.parametrize(
    ("calls", "name"),
    [
        ([call("relu", 1, "x", "layer1_out"), call("linear", 1, "x", "y")], "x"),
        (["nnet::add<in_t, in_t, out_t, config2>(x, x, y);"], "x"),
        ([call("relu", 1, "x", "y"), call("relu", 1, "y", "layer1_out")], "y"),
        ([call("relu", 1, "x", "y"), call("softmax", 1, "x", "layer1_out")], "x"),
    ],
)
def test_what_was_read_of_a_stream_is_gone(calls: list[str], name: str, tmp_path: Path) -> None:
    """A second layer would read what no word holds; so would whoever reads the outputs of the function."""
    place = written(tmp_path / "prj", activation(1) + _MERGE.format(n=2), calls)
    with pytest.raises(NetworkError, match=rf"\b{name}, a stream"):
        read_network(place)


def test_copies_of_a_stream_are_read_once_each(tmp_path: Path) -> None:
    calls = [
        'hls::stream<in_t> other("other");',
        "nnet::clone_stream<in_t, middle_t, 4>(x, layer1_out, other);",
        "nnet::add<middle_t, in_t, out_t, config2>(layer1_out, other, y);",
    ]
    network = read_network(written(tmp_path / "prj", _MERGE.format(n=2), calls))
    assert network.evaluate(np.array([[0.5, 1.0, -2.0, 3.0]])).tolist() == [[1.0, 2.0, -4.0, 6.0]]
