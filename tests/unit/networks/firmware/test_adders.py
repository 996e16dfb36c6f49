"""Layers of hls4ml's strategy distributed_arithmetic: against da4ml's own matrices, and against the C simulation."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.firmware.converted import Model, described, project
from unit.networks.firmware.edits import check_refused
from unit.networks.firmware.simulation import compiled
from unit.networks.firmware.test_simulation import check_outputs

CODE = "firmware/nnet_utils/nnet_code_gen.h"
SMALL = """template <typename inp_t, typename out_t>
void dense_da_2(inp_t model_inp[3], out_t model_out[3]) { // what da4ml says of its types
    #pragma HLS INLINE

    ap_fixed<6,3> v0 = model_inp[0]; // 0.0
    ap_fixed<5,3,AP_RND,AP_SAT> q1 = model_inp[1];
    ap_fixed<5,3> v1 = q1; // 0.0
    ap_fixed<7,4> v2 = v0 + v1; // 1.0
    ap_fixed<9,6> v3 = v2 - bit_shift<2>(v1); // 2.0
    ap_fixed<10,6> v4 = v3 + ap_ufixed<3,1>(1.8); // 3.0
    ap_fixed<7,4> v5 = -v1; // 1.0
    ap_fixed<4,2> v6 = 0.75; // 0.0

    model_out[0] = ap_fixed<10,4>(bit_shift<-2>(v4));
    model_out[1] = 0;
    model_out[2] = ap_fixed<8,3>(-bit_shift<-1>(v5));
}
"""


def written(folder: Path, code: str, inputs: int, outputs: int, types: tuple[str, str]) -> Path:
    """A project of one layer."""
    (folder / "firmware/nnet_utils").mkdir(parents=True)
    (folder / "firmware/defines.h").write_text(f"typedef {types[0]} input_t;\ntypedef {types[1]} result_t;\n")
    (folder / "firmware/parameters.h").write_text('#include "nnet_utils/nnet_code_gen.h"\n')
    (folder / CODE).write_text(f"namespace nnet {{\n{code}\n}}\n")
    head = f"void myproject(input_t x[{inputs}], result_t layer2_out[{outputs}])"
    call = "nnet::dense_da_2<input_t, result_t>(x, layer2_out); // fc"
    text = f'#include "parameters.h"\n{head} {{\n    {call}\n}}\n'
    (folder / "firmware/myproject.cpp").write_text(text)
    return folder


def small(folder: Path, code: str = SMALL) -> Path:
    return written(folder, code, 3, 3, ("ap_fixed<7,4>", "ap_fixed<12,6>"))


def test_each_statement_is_what_it_says(tmp_path: Path) -> None:
    """Two of the inputs are read: the first one wraps in its type, and the second one is rounded and saturates."""
    network = read_network(small(tmp_path / "prj"))
    for n in range(-64, 64, 3):
        for k in range(-64, 64, 5):
            x, y = Fraction(n, 8), Fraction(k, 8)
            a = (x + 4) % 8 - 4
            b = min(max(Fraction((y * 4 + Fraction(1, 2)) // 1, 4), Fraction(-4)), Fraction(15, 4))
            expected = [(a + b - 4 * b + Fraction(7, 4)) / 4, Fraction(0), b / 2]
            found = network.evaluate_exact([x, y, Fraction(1, 2)])
            assert found == [(value, value) for value in expected]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ap_fixed<7,4> v2", "ap_fixed<6,3> v2", "line 9: ap_fixed<6,3> does not hold all that is assigned"),
        ("ap_fixed<7,4> v2", "ap_fixed<7,5> v2", "does not hold all"),  # too few digits behind the point
        ("ap_fixed<10,4>(bit", "ap_fixed<9,3>(bit", "does not hold all"),
        ("ap_ufixed<3,1>(1.8)", "ap_ufixed<6,1>(1.97)", "does not hold all that is assigned"),
        ("ap_ufixed<3,1>(1.8)", "ap_ufixed<3,1>(v1)", "'v1' where a number should be"),
        ("ap_fixed<4,2> v6 = 0.75", "ap_fixed<4,2> v6 = 2.0", "does not hold all"),
        ("ap_fixed<4,2> v6 = 0.75", "ap_fixed<4,2> v6 = 0.75f", "a number should be"),
        ("ap_fixed<4,2> v6 = 0.75", "double v6 = 0.75", "assigned to no ap_fixed"),
        ("v0 + v1", "v0 + v1 + v1", "where ';' should be"),
        ("v0 + v1", "v0 * v1", "where ';' should be"),
        ("v0 + v1", "v0 + v9", "'v9' where a variable that is declared in front"),
        ("v0 + v1", "v0 > 0 ? v1 : v0", "where ';' should be"),
        ("= q1;", "= model_inp[1];", "entry 1 is read twice"),
        ("= model_inp[0];", "= model_inp[3];", "entry 3 is read twice, or there is none"),
        ("v5 = -v1", "v1 = -v1", "v1 is declared twice"),
        ("model_out[1] = 0;", "", r"'2' where '1' should be"),
        ("model_out[1] = 0;", "model_out[1] = 1;", "assigned to no ap_fixed"),
        ("inp_t model_inp[3]", "inp_t model_inp[0]", "0 entries"),
        ("model_out[3])", "model_out[4])", "it gives 3 of 4 numbers"),
        ("model_inp[3],", "model_inp[4],", "x has 3 entries, its configuration says 4"),
        ("#pragma HLS INLINE", "#define v1 v0", "none of hls4ml's"),
        ("template <typename inp_t", "inline void dense_da_2(int *x, int *y) {}\ntemplate <typename inp_t", "not read"),
    ],
)
def test_everything_else_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in SMALL
    with pytest.raises(NetworkError, match=message):
        read_network(small(tmp_path / "prj", SMALL.replace(old, new)))


@pytest.mark.parametrize("seed", range(4))
def test_the_adders_of_da4ml_are_its_matrix(seed: int, tmp_path: Path) -> None:
    hls = pytest.importorskip("da4ml.codegen.hls", reason="da4ml is not installed: pip install eqspec[firmware-tests]")
    trace = pytest.importorskip("da4ml.trace")
    random = np.random.default_rng(seed)
    inputs, outputs = int(random.integers(1, 9)), int(random.integers(1, 9))
    matrix: NDArray[Any] = random.integers(-40, 41, (inputs, outputs)) * 2.0 ** random.integers(
        -7, 1, (inputs, outputs)
    )
    bias = random.integers(-9, 10, outputs) / 4
    matrix[:, 0] *= seed != 0  # an output that is constant
    sizes = [np.array(part) for part in ([1] * inputs, random.integers(0, 4, inputs), random.integers(0, 4, inputs))]
    given = trace.FixedVariableArray.from_kif(*sizes, trace.HWConfig(1, -1, -1))
    logic = trace.comb_trace(given, given @ matrix + bias)
    code, _ = hls.hls_logic_and_bridge_gen(logic, "dense_da_2", "vitis", pragmas=["#pragma HLS INLINE"])
    types = ("ap_fixed<12,6>", "ap_fixed<60,30>")
    network = read_network(written(tmp_path / "prj", code, inputs, outputs, types))
    for _ in range(50):
        point = [Fraction(int(n), 64) for n in random.integers(-400, 400, inputs)]
        unit = [Fraction(1, 2 ** int(f)) for f in sizes[2]]
        span = [2 * Fraction(2) ** int(i) for i in sizes[1]]
        stored = [((x // u) * u + s / 2) % s - s / 2 for x, u, s in zip(point, unit, span, strict=True)]
        rows = zip(matrix.T, bias, strict=True)
        expected = [sum((Fraction(w) * x for w, x in zip(row, stored, strict=True)), Fraction(b)) for row, b in rows]
        assert network.evaluate_exact(point) == [(value, value) for value in expected]


def test_a_layer_of_adders_in_a_stream_is_that_of_the_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model(3, 3).dense(2).then("Relu").dense(2)
    place = converted_with_adders(tmp_path / "prj", monkeypatch, model, "MatMul_0", io_type="io_stream")
    assert "strategy = nnet::distributed_arithmetic" in (place / "firmware/parameters.h").read_text()
    network = read_network(place)
    check_outputs(network, "adders", compiled(tmp_path, {"adders": (place, network)}))
    code = place / CODE
    text = code.read_text()
    code.write_text(re.sub(r"(static void dense\(.*\) \{)", r"\1 out[0] = 1;", text))
    assert code.read_text() != text
    with pytest.raises(NetworkError, match="is not read, is for other types, or is defined twice"):
        read_network(place)


def test_a_convolution_with_adders_is_what_the_simulation_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its windows are filled by code of their own, of which a part may be zeros."""
    model = Model((1, 6), 4).convolved(2, pad=1, stride=2).then("Relu").flat().dense(2)
    place = converted_with_adders(tmp_path / "prj", monkeypatch, model, "Conv_0")
    assert "nnet::conv1d_cl<config" in (place / "firmware/myproject.cpp").read_text()
    network = read_network(place)
    check_outputs(network, "adders", compiled(tmp_path, {"adders": (place, network)}))
    parameters = place / "firmware/parameters.h"
    text = parameters.read_text()
    for old, new, message in (
        ("n_pixels = 1", "n_pixels = 2", "its function has other sizes"),
        ("nnet::distributed_arithmetic", "nnet::latency", "with strategy nnet::latency is not read"),
        ("nnet::dense_da_", "nnet::dense_db_", "is not read, is for other types, or is defined twice"),
    ):
        assert old in text
        parameters.write_text(text.replace(old, new))
        with pytest.raises(NetworkError, match=message):
            read_network(place)


@pytest.mark.parametrize(("sides", "backend"), [((7,), "Vitis"), ((5, 6), "Vivado")])
def test_a_convolution_with_adders_in_a_stream_is_what_the_simulation_computes(
    sides: tuple[int, ...], backend: str, tmp_path: Path
) -> None:
    """The kernel of its product is a struct that calls the adders."""
    random = np.random.default_rng(len(sides))
    layer: dict[str, Any] = {
        "class_name": f"Conv{len(sides)}D", "name": "conv", "data_format": "channels_last", "n_chan": 2, "n_filt": 2,
        "weight_data": random.integers(-16, 17, (*[3] * len(sides), 2, 2)) / 8,
        "bias_data": random.normal(size=2),
        "pad_top": 0, "pad_bottom": 0, "pad_left": 0, "pad_right": 0,
    }  # fmt: skip
    for name, size in zip(("height", "width")[-len(sides) :], sides, strict=True):
        layer |= {f"in_{name}": size, f"out_{name}": size - 2, f"filt_{name}": 3, f"stride_{name}": 1}
    types = {"weight": "ap_fixed<6,3>", "bias": "ap_fixed<6,3>", "result": "ap_fixed<8,4>"}
    place = described(
        tmp_path / "prj", (*sides, 2), [layer], types,
        strategy="distributed_arithmetic", io_type="io_stream", backend=backend,
    )  # fmt: skip
    network = read_network(place)
    check_outputs(network, "adders", compiled(tmp_path, {"adders": (place, network)}))
    parameters = "firmware/parameters.h"
    for file, old, new, message in (
        (parameters, "kernel = nnet::dense_da_wrapper_", "kernel = nnet::dense_db_wrapper_", "no function of adders"),
        (parameters, "strategy = nnet::distributed_arithmetic", "strategy = nnet::latency", "kernel dense_da_wrapper_"),
        (parameters, "n_out = 2;", "n_out = 3;", "multiplies"),
        (CODE, "void *biases=nullptr) {", "void *biases=nullptr) { out[0] = 1;", "calls no function of adders"),
        (CODE, "out_t out[2]", "out_t out[1]", "calls no function of adders"),
        (CODE, "namespace nnet {", "namespace nnet {\n// a\nvoid dense_da_2() {} void dense_da_3() {}", "no function"),
    ):
        check_refused(place, file, old, new, message)


def converted_with_adders(
    folder: Path, monkeypatch: pytest.MonkeyPatch, model: Model, layer: str, **settings: Any
) -> Path:
    """hls4ml converts a layer so where it reads the input of the model."""
    hls4ml = pytest.importorskip("hls4ml", reason="hls4ml is not installed: pip install eqspec[firmware-tests]")
    pytest.importorskip("da4ml", reason="da4ml is not installed: pip install eqspec[firmware-tests]")
    convert = hls4ml.converters.convert_from_onnx_model

    def with_adders(*given: Any, hls_config: dict[str, Any], **others: Any) -> Any:
        hls_config["LayerName"][layer]["Strategy"] = "distributed_arithmetic"
        return convert(*given, hls_config=hls_config, **others)

    monkeypatch.setattr(hls4ml.converters, "convert_from_onnx_model", with_adders)
    types = {layer: {"result": "ap_fixed<9,4>", "weight": "ap_fixed<6,3>", "bias": "ap_fixed<6,3>"}}
    return project(folder, model, precision="ap_fixed<10,4>", of_layers=types, **settings)
