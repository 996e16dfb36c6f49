"""Projects written by hand in the words of hls4ml, and what C++ computes of them, in Python's fractions.

The arithmetic here is that of the manual of ap_fixed, step by step and in the order of hls4ml's loops: nothing is left
out because it would not matter, which is what eqspec's reader does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

Numbers = Sequence[Fraction]
ROUNDINGS = ("AP_TRN", "AP_TRN_ZERO", "AP_RND", "AP_RND_ZERO", "AP_RND_MIN_INF", "AP_RND_INF", "AP_RND_CONV")
OVERFLOWS = ("AP_WRAP", "AP_SAT", "AP_SAT_SYM")


@dataclass(frozen=True)
class Fixed:
    """ap_fixed<width, integer, rounding, overflow>, or ap_ufixed."""

    width: int
    integer: int
    signed: bool = True
    rounding: str = "AP_TRN"
    overflow: str = "AP_WRAP"

    def __str__(self) -> str:
        return f"ap_{'' if self.signed else 'u'}fixed<{self.width},{self.integer},{self.rounding},{self.overflow},0>"

    @property
    def unit(self) -> Fraction:
        return Fraction(2) ** (self.integer - self.width)

    def __call__(self, x: Fraction) -> Fraction:
        """What is stored of a number."""
        t = x / self.unit
        below, above = floor(t), ceil(t)
        nearest = below if t - below < above - t else above
        tie = t - below == above - t and below != above
        match self.rounding:
            case "AP_TRN":
                k = below
            case "AP_TRN_ZERO":
                k = below if t > 0 else above
            case "AP_RND":
                k = above if tie else nearest
            case "AP_RND_ZERO":
                k = (below if t > 0 else above) if tie else nearest
            case "AP_RND_MIN_INF":
                k = below if tie else nearest
            case "AP_RND_INF":
                k = (above if t > 0 else below) if tie else nearest
            case _:
                k = (below if below % 2 == 0 else above) if tie else nearest
        largest = 2 ** (self.width - 1) - 1 if self.signed else 2**self.width - 1
        least = -largest - 1 if self.signed else 0
        if self.overflow == "AP_WRAP":
            while k > largest:
                k -= 2**self.width
            while k < least:
                k += 2**self.width
        else:
            least = -largest if self.signed and self.overflow == "AP_SAT_SYM" else least
            k = max(least, min(largest, k))
        return k * self.unit


@dataclass(frozen=True)
class Dense:
    """nnet::dense with strategy latency; `weights` input by input."""

    outputs: int
    weights: Numbers
    bias: Numbers
    of_weights: Fixed
    accumulator: Fixed
    result: Fixed

    def __call__(self, given: Numbers) -> list[Fraction]:
        found = []
        for j in range(self.outputs):
            total = self.accumulator(self.of_weights(self.bias[j]))
            for i, x in enumerate(given):
                product = x * self.of_weights(self.weights[i * self.outputs + j])
                total = self.accumulator(total + self.accumulator(product))
            found.append(self.result(total))
        return found


@dataclass(frozen=True)
class Activation:
    """nnet::relu, relu1, relu6 or linear, or leaky_relu with a slope of its type."""

    kind: str
    result: Fixed
    slope: Fraction = Fraction(0)
    of_slope: Fixed = Fixed(8, 1)

    def __call__(self, given: Numbers) -> list[Fraction]:
        if self.kind in ("relu1", "relu6"):
            return [self.result(max(Fraction(0), min(x, Fraction(self.kind[-1])))) for x in given]
        below = {"linear": Fraction(1), "relu": Fraction(0)}.get(self.kind, self.of_slope(self.slope))
        return [self.result(x if x > 0 else below * x) for x in given]


Layer = Dense | Activation


@dataclass(frozen=True)
class Written:
    """A project: its input's type and its layers."""

    inputs: int
    of_input: Fixed
    layers: tuple[Layer, ...]

    def __call__(self, point: Numbers) -> list[Fraction]:
        """What the compiled project computes."""
        now = [self.of_input(x) for x in point]
        for layer in self.layers:
            now = layer(now)
        return now

    def write(self, folder: Path) -> Path:
        """Write it as hls4ml does."""
        defines = [f"typedef {self.of_input} input_t;"]
        parameters, includes, loads, arrays, calls = list[str](), list[str](), list[str](), list[str](), list[str]()
        weights = folder / "firmware/weights"
        weights.mkdir(parents=True)
        width, before, of_before = self.inputs, "x", "input_t"
        for n, layer in enumerate(self.layers, 1):
            out, of_out = f"layer{n}_out", f"layer{n}_t"
            defines.append(f"typedef {layer.result} {of_out};")
            if isinstance(layer, Dense):
                defines += [
                    f"typedef {layer.of_weights} weight{n}_t;",
                    f"typedef {layer.accumulator} layer{n}_accum_t;",
                ]
                parameters.append(_DENSE.format(n=n, inputs=width, outputs=layer.outputs))
                for name, numbers in (("w", layer.weights), ("b", layer.bias)):
                    text = ", ".join(f"{float(x):.20f}" for x in numbers)
                    header = _WEIGHTS.format(name=f"{name}{n}", type=f"weight{n}_t", size=len(numbers), text=text)
                    (weights / f"{name}{n}.h").write_text(header)
                    (weights / f"{name}{n}.txt").write_text(text)
                    includes.append(f'#include "weights/{name}{n}.h"')
                    loads.append(
                        f'nnet::load_weights_from_txt<weight{n}_t, {len(numbers)}>({name}{n}, "{name}{n}.txt");'
                    )
                call = f"nnet::dense<{of_before}, {of_out}, config{n}>({before}, {out}, w{n}, b{n}); // fc{n}"
                width = layer.outputs
            else:
                slope_t, slope = "", ""
                if layer.kind == "leaky_relu":
                    defines.append(f"typedef {layer.of_slope} slope{n}_t;")
                    slope_t, slope = f"slope{n}_t, ", f"{float(layer.slope)}, "
                parameters.append(_ACTIVATION.format(n=n, inputs=width))
                call = (
                    f"nnet::{layer.kind}<{of_before}, {slope_t}{of_out}, config{n}>({before}, {slope}{out}); // act{n}"
                )
            calls.append(call)
            arrays.append(f"{of_out} {out}[{width}];")
            before, of_before = out, of_out
        *inner, last = arrays
        name = "myproject"
        (folder / "firmware/defines.h").write_text(_GUARDED.format(guard="DEFINES_H_", body="\n".join(defines)))
        body = "\n".join([*includes, *parameters])
        (folder / "firmware/parameters.h").write_text(_GUARDED.format(guard="PARAMETERS_H_", body=body))
        (folder / f"firmware/{name}.cpp").write_text(
            _FUNCTION.format(
                inputs=self.inputs, last=last.rstrip(";"), loads="\n".join(loads), body="\n".join([*inner, *calls])
            )
        )
        return folder


_GUARDED = """#ifndef {guard}
#define {guard}
#include "ap_fixed.h"
{body}
#endif
"""
_WEIGHTS = """//Numpy array shape
#ifndef {name}_H_
#define {name}_H_
#ifndef __SYNTHESIS__
{type} {name}[{size}];
#else
{type} {name}[{size}] = {{{text}}};
#endif
#endif
"""
_DENSE = """// fc{n}
struct config{n} : nnet::dense_config {{
    static const unsigned n_in = {inputs};
    static const unsigned n_out = {outputs};
    static const unsigned io_type = nnet::io_parallel;
    static const unsigned strategy = nnet::latency;
    static const unsigned reuse_factor = 1;
    static const unsigned multiplier_limit = DIV_ROUNDUP(n_in * n_out, reuse_factor) - 1 / reuse_factor;
    typedef layer{n}_accum_t accum_t;
    typedef weight{n}_t bias_t;
    typedef weight{n}_t weight_t;
    template<class data_T, class res_T, class CONFIG_T>
    using kernel = nnet::DenseLatency<data_T, res_T, CONFIG_T>;
    template<class x_T, class y_T>
    using product = nnet::product::mult<x_T, y_T>;
}};
"""
_ACTIVATION = """struct config{n} : nnet::activ_config {{
    static const unsigned n_in = {inputs};
    static const unsigned table_size = 1024;
    static const unsigned io_type = nnet::io_parallel;
}};
"""
_FUNCTION = """#include <iostream>

#include "myproject.h"
#include "parameters.h"

void myproject(
    input_t x[{inputs}],
    {last}
) {{
    #pragma HLS PIPELINE
#ifndef __SYNTHESIS__
    static bool loaded_weights = false;
    if (!loaded_weights) {{
        {loads}
        loaded_weights = true;    }}
#endif
{body}
}}
"""
