"""Weights that are powers of two, thresholds in place of a binary or ternary tanh, and inputs of one bit.

The expected values are those of hls4ml's loops, in fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from eqspec.errors import NetworkError
from eqspec.networks import read_network

RESULT = "ap_fixed<20,12>"
POWERS = "typedef struct power_t {ap_uint<1> sign;ap_int<4> weight; } power_t;\n"
PAIRS = [(1, -2), (0, 1), (1, 3), (0, -4), (1, 0), (0, 0)]
_CONFIG = """struct config{n} : nnet::{base} {{
    static const unsigned n_in = {inputs};
    {members}
    static const unsigned io_type = nnet::io_parallel;
    static const unsigned reuse_factor = 1;
}};
"""
_DENSE = """static const unsigned n_out = {outputs};
    static const unsigned strategy = nnet::latency;
    typedef {accum} accum_t;
    typedef bias_t bias_t;
    typedef {weight} weight_t;
    template<class data_T, class res_T, class CONFIG_T>
    using kernel = nnet::DenseLatency<data_T, res_T, CONFIG_T>;
    template<class x_T, class y_T>
    using product = nnet::product::{product}<x_T, y_T>;"""
_NORMALIZE = """static const unsigned n_filt = -1;
    static const unsigned n_scale_bias = (n_filt == -1) ? n_in : n_filt;
    typedef bias_t bias_t;
    typedef power_t scale_t;
    template<class x_T, class y_T>
    using product = nnet::product::weight_exponential<x_T, y_T>;"""
_TANH = """static const unsigned n_filt = {channels};
    static const unsigned n_scale_bias = (n_filt == -1) ? n_in : n_filt;"""


def written(
    folder: Path, types: str, inputs: int, outputs: int, layers: Sequence[str], weights: dict[str, tuple[str, str]]
) -> Path:
    """A project; `layers` are its configurations and, behind `//`, its statements. `weights`: type and text by name."""
    place = folder / "firmware"
    (place / "weights").mkdir(parents=True)
    (place / "defines.h").write_text(f"typedef ap_fixed<6,3> input_t;\ntypedef {RESULT} result_t;\n{types}")
    includes = "".join(f'#include "weights/{name}.h"\n' for name in weights)
    loads = ""
    for name, (of, text) in weights.items():
        size = text.count("{") or text.count(",") + 1
        head = f"#ifndef __SYNTHESIS__\n{of} {name}[{size}];\n#else\n{of} {name}[{size}] = {{{text}}};\n#endif\n"
        (place / f"weights/{name}.h").write_text(head)
        (place / f"weights/{name}.txt").write_text(text)
        loader = "load_exponent_weights_from_txt" if "{" in text else "load_weights_from_txt"
        loads += f'nnet::{loader}<{of}, {size}>({name}, "{name}.txt");\n'
    (place / "parameters.h").write_text(includes + "".join(layer.partition("//")[0] for layer in layers))
    calls = "\n".join(layer.partition("//")[2] for layer in layers)
    head = f"void myproject(input_t x[{inputs}], result_t y[{outputs}]) {{\n"
    load = f"static bool loaded = false;\nif (!loaded) {{\n{loads}loaded = true; }}\n"
    (place / "myproject.cpp").write_text(f'#include "parameters.h"\n{head}{load}{calls}\n}}\n')
    return folder


def dense(n: int, inputs: int, outputs: int, call: str, **said: str) -> str:
    members = {"accum": "ap_fixed<20,10>", "weight": "power_t", "product": "weight_exponential"} | said
    config = _CONFIG.format(n=n, base="dense_config", inputs=inputs, members=_DENSE.format(outputs=outputs, **members))
    return f"{config}//{call}"


def powers(pairs: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{{{sign}.0, {exponent}}}" for sign, exponent in pairs)


def stored(x: Fraction) -> Fraction:
    """ap_fixed<6,3>, of numbers within it."""
    return Fraction(x * 8 // 1, 8)


def points(inputs: int) -> list[list[Fraction]]:
    random = np.random.default_rng(0)
    return [[Fraction(int(n), 64) for n in row] for row in random.integers(-256, 250, (40, inputs))]


def value(sign: int, exponent: int) -> Fraction:
    return (1 if sign else -1) * Fraction(2) ** exponent


BIAS = {"b1": ("bias_t", "0.25, -1.5")}
BIAS_T = "typedef ap_fixed<8,4> bias_t;\n"


def of_powers(folder: Path, pairs: Sequence[tuple[int, int]] = PAIRS, **said: str) -> Path:
    call = "nnet::dense<input_t, result_t, config1>(x, y, w1, b1); "
    layer = dense(1, 3, 2, call, **said)
    return written(folder, POWERS + BIAS_T, 3, 2, [layer], {"w1": ("power_t", powers(pairs)), **BIAS})


def test_weights_that_are_powers_of_two(tmp_path: Path) -> None:
    network = read_network(of_powers(tmp_path / "prj"))
    for point in points(3):
        x = [stored(value) for value in point]
        sums = [
            Fraction(bias) + sum(x[i] * value(*PAIRS[2 * i + j]) for i in range(3))
            for j, bias in enumerate((Fraction(1, 4), Fraction(-3, 2)))
        ]
        assert network.evaluate_exact(point) == [(y, y) for y in sums]


def test_an_accumulator_rounds_what_was_shifted(tmp_path: Path) -> None:
    network = read_network(of_powers(tmp_path / "prj", accum="ap_fixed<13,8>"))
    for point in points(3):
        x = [stored(value) for value in point]
        sums = [
            Fraction(bias) + sum(Fraction(x[i] * value(*PAIRS[2 * i + j]) * 32 // 1, 32) for i in range(3))
            for j, bias in enumerate((Fraction(1, 4), Fraction(-3, 2)))
        ]
        assert network.evaluate_exact(point) == [(y, y) for y in sums]


def test_scales_that_are_powers_of_two(tmp_path: Path) -> None:
    config = _CONFIG.format(n=1, base="batchnorm_config", inputs=2, members=_NORMALIZE)
    layer = f"{config}//nnet::normalize<input_t, result_t, config1>(x, y, s1, b1);"
    weights = {"s1": ("power_t", powers([(1, -3), (0, 2)])), **BIAS}
    network = read_network(written(tmp_path / "prj", POWERS + BIAS_T, 2, 2, [layer], weights))
    for point in points(2):
        x = [stored(one) for one in point]
        expected = [x[0] / 8 + Fraction(1, 4), -4 * x[1] - Fraction(3, 2)]
        rounded = [Fraction(y * 256 // 1, 256) for y in expected]
        assert network.evaluate_exact(point) == [(y, y) for y in rounded]


@pytest.mark.parametrize(
    ("pairs", "said", "message"),
    [
        ([(1, 8), *PAIRS[1:]], {}, "number 0 of w1: the exponent 8 has more than 4 bits"),
        ([(1, 6), *PAIRS[1:]], {}, None),
        ([(0, 7), *PAIRS[1:]], {}, "2.7 times a number of ap_fixed<6,3> may leave the 10 bits in front of the point"),
        ([(1, -7), *PAIRS[1:]], {}, None),
        ([(1, -8), *PAIRS[1:]], {}, "2.-8 times a number of ap_fixed<6,3> has more than 10 bits behind the point"),
        (PAIRS[1:], {}, "5 numbers, w1 has 6|w1 has 5 numbers, 6 are used"),
        (PAIRS, {"product": "mult"}, "mult with weights of type power_t"),
        (PAIRS, {"weight": "bias_t"}, "weight_exponential with weights of type|w1 is power_t, its configuration says"),
        (PAIRS, {"accum": "power_t"}, "a type of powers of two, is that of something else than weights"),
    ],
)
def test_what_leaves_the_type_of_a_product(
    pairs: list[tuple[int, int]], said: dict[str, str], message: str | None, tmp_path: Path
) -> None:
    place = of_powers(tmp_path / "prj", pairs, **said)
    if message is None:
        read_network(place)
        return
    with pytest.raises(NetworkError, match=message):
        read_network(place)


@pytest.mark.parametrize("text", ["1.0, -2", "{1.0, -2}{0.0, 1}", "{2.0, 1}", "{1.0, -02}", "{1.0, 1.5}"])
def test_other_lists_are_no_powers(text: str, tmp_path: Path) -> None:
    place = of_powers(tmp_path / "prj")
    for file in ("w1.h", "w1.txt"):
        path = place / "firmware/weights" / file
        path.write_text(path.read_text().replace("{1.0, -2}", text, 1))
    with pytest.raises(NetworkError):
        read_network(place)


def thresholds(folder: Path, kind: str, channels: int, **weights: str) -> Path:
    config = _CONFIG.format(
        n=1, base="batchnorm_quantized_tanh_config", inputs=4, members=_TANH.format(channels=channels)
    )
    of = {"binary": "ap_uint<1>", "ternary": "ap_int<2>"}[kind]
    call = f"bits_t layer1_out[4];\nnnet::normalize_{kind}_tanh<input_t, config1>(x, layer1_out, {', '.join(weights)});"
    linear = _CONFIG.format(n=2, base="activ_config", inputs=4, members="static const unsigned table_size = 16;")
    last = f"{linear}//nnet::linear<bits_t, result_t, config2>(layer1_out, y);"
    texts = {name: ("input_t", text) for name, text in weights.items()}
    return written(folder, f"typedef {of} bits_t;\n", 4, 4, [f"{config}//{call}", last], texts)


def test_binary_thresholds(tmp_path: Path) -> None:
    """The threshold itself is reached."""
    network = read_network(thresholds(tmp_path / "prj", "binary", -1, th="0.5, -1.125, 0, 2"))
    limits = [Fraction(1, 2), Fraction(-9, 8), Fraction(0), Fraction(2)]
    for point in [*points(4), limits, [limit - Fraction(1, 64) for limit in limits]]:
        expected = [Fraction(stored(x) >= limit) for x, limit in zip(point, limits, strict=True)]
        assert network.evaluate_exact(point) == [(y, y) for y in expected]


def test_ternary_thresholds(tmp_path: Path) -> None:
    """Neither threshold is passed by itself; where the lower one is larger, the upper one is asked first."""
    network = read_network(thresholds(tmp_path / "prj", "ternary", 2, hi="0.5, -1", lo="-0.5, 1"))
    upper, lower = [Fraction(1, 2), Fraction(-1)] * 2, [Fraction(-1, 2), Fraction(1)] * 2
    for point in [*points(4), upper, lower, [limit + Fraction(1, 8) for limit in upper]]:
        x = [stored(one) for one in point]
        expected = [Fraction(1 if a > u else -1 if a <= b else 0) for a, u, b in zip(x, upper, lower, strict=True)]
        assert network.evaluate_exact(point) == [(y, y) for y in expected]


def of_bits(
    folder: Path, weights: str, of: str, product: str, bias: str = "1, -2", accum: str = "ap_fixed<8,8>"
) -> Path:
    """Bits of thresholds, and a dense layer that reads them."""
    config = _CONFIG.format(n=1, base="batchnorm_quantized_tanh_config", inputs=3, members=_TANH.format(channels=-1))
    bits = "bits_t layer1_out[3];\nnnet::normalize_binary_tanh<input_t, config1>(x, layer1_out, th);"
    call = "nnet::dense<bits_t, result_t, config2>(layer1_out, y, w2, b2);"
    last = dense(2, 3, 2, call, weight="weight_t", product=product, accum=accum)
    texts = {"th": ("input_t", "0, 1, -1"), "w2": ("weight_t", weights), "b2": ("bias_t", bias)}
    types = f"typedef ap_uint<1> bits_t;\ntypedef {of} weight_t;\n{BIAS_T}"
    return written(folder, types, 3, 2, [f"{config}//{bits}", last], texts)


@pytest.mark.parametrize(
    ("weights", "of", "product", "accum"),
    [
        ("1, 0, 0, 1, 1, 1", "ap_uint<1>", "both_binary", "ap_fixed<8,8>"),
        ("1, 0, 0, 1, 1, 1", "ap_uint<1>", "both_binary", "ap_fixed<2,2>"),
        ("1.5, -0.25, 0, 2, -1, 1", "ap_fixed<6,3>", "data_binary", "ap_fixed<10,8>"),
        ("1.5, -0.25, 0, 2, -1, 1", "ap_fixed<6,3>", "data_binary", "ap_fixed<7,6>"),
    ],
)
def test_inputs_of_one_bit(weights: str, of: str, product: str, accum: str, tmp_path: Path) -> None:
    network = read_network(of_bits(tmp_path / "prj", weights, of, product, accum=accum))
    numbers = [Fraction(text) for text in weights.split(", ")]
    width, integer = (int(text) for text in accum[9:-1].split(","))

    def accumulated(x: Fraction) -> Fraction:
        """Rounded down and wrapped."""
        unit, whole = Fraction(2) ** (integer - width), Fraction(2) ** integer
        return (x // unit * unit + whole / 2) % whole - whole / 2

    for point in [*points(3), [Fraction(0), Fraction(1), Fraction(-1)]]:
        bits = [stored(x) >= limit for x, limit in zip(point, (0, 1, -1), strict=True)]
        expected = []
        for j, bias in enumerate((Fraction(1), Fraction(-2))):
            total = accumulated(bias)
            for i, bit in enumerate(bits):
                weight = numbers[2 * i + j]
                made = Fraction(bit == weight) if product == "both_binary" else (weight if bit else -weight)
                total = accumulated(total + accumulated(made))
            # ap_int<ceillog2(3) + 2> of twice the count less the number of inputs.
            expected.append((2 * total - 3 + 8) % 16 - 8 if product == "both_binary" else total)
        assert network.evaluate_exact(point) == [(y, y) for y in expected]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"product": "mult"}, "products by mult of inputs of one bit and ap_uint<1>"),
        ({"product": "data_binary"}, "products by data_binary of inputs of one bit and ap_uint<1>"),
        ({"bias": "0.25, 1", "accum": "ap_fixed<10,8>"}, "fractions in a sum of bits"),
        ({"accum": "ap_fixed<8,8,AP_TRN,AP_SAT>"}, "which does not count"),
        ({"accum": "ap_fixed<8,9>"}, "which does not count"),
    ],
)
def test_bits_that_are_not_counted_are_refused(said: dict[str, str], message: str, tmp_path: Path) -> None:
    given = {"weights": "1, 0, 0, 1, 1, 1", "of": "ap_uint<1>", "product": "both_binary"} | said
    with pytest.raises(NetworkError, match=message):
        read_network(of_bits(tmp_path / "prj", **given))
