"""Projects of one layer, written by hand as hls4ml writes them: pools of sequences, ReLUs with a threshold."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from eqspec.errors import NetworkError
from eqspec.networks import read_network

_POOL = """struct config2 : nnet::pooling1d_config {{
    static const unsigned n_in = {n_in};
    static const unsigned n_out = {n_out};
    static const unsigned n_filt = 2;
    static const unsigned pool_width = {width};
    static const unsigned filt_width = pool_width;
    static const unsigned n_chan = n_filt;
    static const unsigned pad_left = {pad};
    static const unsigned pad_right = 0;
    static const bool count_pad = false;
    static const unsigned stride_width = {stride};
    static const nnet::Pool_Op pool_op = nnet::{operation};
    static const nnet::conv_implementation implementation = nnet::conv_implementation::linebuffer;
    static const unsigned reuse_factor = 1;
    typedef accum2_t accum_t;
}};"""
_RELU = """struct config2 : nnet::activ_config {{
    static const unsigned n_in = {n_in};
    static const unsigned table_size = 1024;
    static const unsigned io_type = nnet::io_parallel;
    static const unsigned reuse_factor = 1;
    typedef input_t param_t;
}};"""


def project(folder: Path, configuration: str, call: str, inputs: int, outputs: int) -> Path:
    firmware = folder / "firmware"
    firmware.mkdir(parents=True)
    types = ("ap_fixed<9,4> input_t", "ap_fixed<7,4> accum2_t", "ap_fixed<6,3,AP_RND,AP_SAT> result_t")
    (firmware / "defines.h").write_text("".join(f"typedef {of};\n" for of in types))
    (firmware / "parameters.h").write_text(configuration)
    code = f'#include "parameters.h"\nvoid myproject(input_t x[{inputs}], result_t y[{outputs}]) {{\n    {call}\n}}\n'
    (firmware / "myproject.cpp").write_text(code)
    return folder


def pool(folder: Path, **changed: object) -> Path:
    members = {"n_in": 7, "n_out": 2, "width": 3, "stride": 3, "pad": 0, "operation": "Max"} | changed
    call = "nnet::pooling1d_cl<input_t, result_t, config2>(x, y); // pool"
    return project(folder, _POOL.format(**members), call, 14, 4)


def relu(folder: Path, threshold: str) -> Path:
    call = f"nnet::thresholded_relu<input_t, input_t, result_t, config2>(x, {threshold}, y); // act"
    return project(folder, _RELU.format(n_in=4), call, 4, 4)


def floored(x: Fraction, bits: int) -> Fraction:
    return Fraction(x * 2**bits // 1, 2**bits)


def result(x: Fraction) -> Fraction:
    """ap_fixed<6,3,AP_RND,AP_SAT>."""
    return min(max(floored(x + Fraction(1, 16), 3), Fraction(-4)), Fraction(31, 8))


def some(inputs: int) -> list[list[Fraction]]:
    random = np.random.default_rng(0)
    return [[Fraction(int(n), 64) for n in row] for row in random.integers(-500, 500, (40, inputs))]


def test_windows_of_a_sequence(tmp_path: Path) -> None:
    """Of entries that are channel by channel together; the last one lies in no window."""
    network = read_network(pool(tmp_path / "prj"))
    for point in some(14):
        x = [floored(value, 5) for value in point]  # of the input's type, which none of them leaves
        largest = [max(x[2 * (3 * window + k) + channel] for k in range(3)) for window in (0, 1) for channel in (0, 1)]
        expected = [result(floored(value, 3)) for value in largest]
        assert network.evaluate_exact(point) == [(value, value) for value in expected]


def cut(x: Fraction) -> Fraction:
    """Towards zero at the accumulator's last digit."""
    return floored(x, 3) if x >= 0 else -floored(-x, 3)


@pytest.mark.parametrize("pad", [0, 1])
def test_averages_divide_whole_numbers_towards_zero(pad: int, tmp_path: Path) -> None:
    """Each sum on the way is rounded down; a window that begins outside is divided by what lies inside."""
    network = read_network(pool(tmp_path / "prj", operation="Average", pad=pad, n_out=2))
    for point in some(14):
        x = [floored(value, 5) / 4 for value in point]  # small enough that no sum leaves the accumulator
        expected = []
        for window, channel in ((w, c) for w in (0, 1) for c in (0, 1)):
            places = [3 * window + k - pad for k in range(3)]
            inside = [place for place in places if place >= 0]
            total = Fraction(0)
            for place in inside:
                total = floored(total + floored(x[2 * place + channel], 5), 3)
            expected.append(result(cut(total / len(inside))))
        assert network.evaluate_exact(x) == [(value, value) for value in expected]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"operation": "L2Norm"}, "pools by nnet::L2Norm"),
        ({"stride": 2}, r"windows of \(3,\) with strides \(2,\) in \(7,\) give \(3,\), not \(2,\)"),
        ({"n_out": 3}, r"give \(2,\), not \(3,\)"),
        ({"n_in": 8}, "16"),
    ],
)
def test_pools_that_are_not_read(changed: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=message):
        read_network(pool(tmp_path / "prj", **changed))


def test_a_threshold_of_zero_is_a_relu(tmp_path: Path) -> None:
    network = read_network(relu(tmp_path / "prj", "0.0"))
    for point in some(4):
        expected = [result(max(floored(value, 5), Fraction(0))) for value in point]
        assert network.evaluate_exact(point) == [(value, value) for value in expected]


@pytest.mark.parametrize("threshold", ["0.5", "-1"])
def test_other_thresholds_jump(threshold: str, tmp_path: Path) -> None:
    """To the threshold itself 0 belongs."""
    network = read_network(relu(tmp_path / "prj", threshold))
    least = Fraction(threshold)
    for point in [*some(4), [least, least + Fraction(1, 32), least - Fraction(1, 32), Fraction(0)]]:
        stored = [floored(value, 5) for value in point]
        expected = [result(value if value > least else Fraction(0)) for value in stored]
        assert network.evaluate_exact(point) == [(value, value) for value in expected]


@pytest.mark.parametrize("threshold", ["theta", "nan"])
def test_a_threshold_that_is_no_number_is_refused(threshold: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="not a finite number"):
        read_network(relu(tmp_path / "prj", threshold))
