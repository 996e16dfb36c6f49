"""Types of single entries, in functions that hls4ml writes for a model: by definition, and in its simulation."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.firmware.converted import Model
from unit.networks.firmware.converted import project as converted_project
from unit.networks.firmware.edits import check_refused
from unit.networks.firmware.simulation import compiled
from unit.networks.firmware.test_simulation import check_outputs
from unit.networks.firmware.written import Activation, Dense, Fixed, Written

WEIGHTS = [Fraction(n, 8) for n in (3, -5, 7, 1, 2, -6)]
OF_RESULT = Fixed(9, 4)
PROJECT = Written(
    2,
    Fixed(7, 3),
    (
        Dense(3, WEIGHTS, [Fraction(1, 4), Fraction(-1, 8), Fraction(0)], Fixed(6, 2), Fixed(20, 10), Fixed(20, 10)),
        Activation("relu", OF_RESULT),
    ),
)
TYPES = (Fixed(5, 2, True, "AP_RND", "AP_WRAP"), None, Fixed(6, 2, False, "AP_RND_CONV", "AP_SAT"))
CODE, CALLS = "firmware/nnet_utils/nnet_code_gen.h", "firmware/myproject.cpp"


def _line(place: int, of: Fixed | None) -> str:
    if of is None:
        return f"out[{place}] = 0;"
    kind = "ap_fixed" if of.signed else "ap_ufixed"
    return f"out[{place}] = {kind}<{of.width},{of.integer},{of.rounding},{of.overflow}>(inp[{place}]);"


def _function(types: tuple[Fixed | None, ...]) -> str:
    head = "template<typename input_t, typename output_t>\nvoid own_types(input_t *inp, output_t *out) {"
    return "\n".join([head, "#pragma HLS INLINE", *(_line(place, of) for place, of in enumerate(types)), "}"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = PROJECT.write(tmp_path / "prj")
    (place / "firmware/nnet_utils").mkdir()
    (place / CODE).write_text(f"namespace nnet {{\n{_function(TYPES)}\n}}\n")
    text = (place / CALLS).read_text()
    called = "nnet::relu<layer1_t, layer2_t, config2>"
    assert called in text
    (place / CALLS).write_text(text.replace(called, "nnet::own_types<layer1_t, layer2_t>"))
    return place


def test_each_entry_has_the_type_that_is_written_for_it(project: Path, tmp_path: Path) -> None:
    sums = read_network(Written(2, PROJECT.of_input, PROJECT.layers[:1]).write(tmp_path / "sums"))
    network = read_network(project)
    seen = set()
    for numbers in np.random.default_rng(0).integers(-64, 64, size=(60, 2)):
        point = [Fraction(int(n), 16) for n in numbers]
        before = [low for low, _ in sums.evaluate_exact(point)]
        wanted = [OF_RESULT(of(x)) if of else Fraction(0) for of, x in zip(TYPES, before, strict=True)]
        assert [low for low, _ in network.evaluate_exact(point)] == wanted
        seen.add(tuple(wanted))
    assert len(seen) > 20


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("out[1] = 0;", "out[2] = 0;", "'2' where '1' should be"),
        ("(inp[2])", "(inp[1])", "'1' where '2' should be"),
        ("out[1] = 0;", "out[1] = inp[1];", "an entry that is assigned to no ap_fixed"),
        ("out[1] = 0;", "", "'2' where '1' should be"),
        ("(inp[2]);", "(inp[2]); out[3] = 0;", "has 3 entries|3 numbers|4 numbers"),
        ("out[1] = 0;", "for (;;) {}", "'for' where 'out' should be"),
        (
            "namespace nnet {",
            f"namespace nnet {{ {_function(TYPES)}".replace("#pragma HLS INLINE", ""),
            "defined twice",
        ),
        (
            "namespace nnet {",
            "namespace nnet {\nvoid own_types(int *inp, int *out) {}",
            "stands elsewhere in this file",
        ),
        ("namespace nnet {", "#define AP_RND_CONV AP_TRN\nnamespace nnet {", "'#define AP_RND_CONV AP_TRN' is none of"),
        ("namespace nnet {", "#if 0\n#endif\nnamespace nnet {", "'#if 0' is none of"),
        ("own_types", "other_types", r"nnet::own_types\): this layer is not read"),
    ],
)
def test_other_code_is_refused(project: Path, old: str, new: str, message: str) -> None:
    check_refused(project, CODE, old, new, message)


def test_a_function_of_the_model_is_no_layer_of_hls4ml(project: Path) -> None:
    """Which of two functions of one name is called, C++ decides by rules of its own."""
    for file in (CODE, CALLS):
        text = (project / file).read_text()
        (project / file).write_text(text.replace("own_types", "relu"))
    with pytest.raises(NetworkError, match=r"nnet::relu is defined once more for this model"):
        read_network(project)


def test_every_output_is_that_of_the_simulation(tmp_path: Path) -> None:
    types = (*TYPES, Fixed(4, 3, True, "AP_TRN", "AP_SAT_SYM"))
    dense = {"accum": "ap_fixed<16,6>", "result": "ap_fixed<14,5>"}
    model = Model(3, 80).dense(4).then("Relu").dense(2)
    place = converted_project(tmp_path / "own", model, precision="ap_fixed<14,6>", of_layers={"MatMul": dense})
    calls, code = (place / CALLS).read_text(), (place / CODE).read_text()
    relu = next(line for line in calls.splitlines() if "nnet::relu<" in line)
    head, _, behind = relu.strip().removeprefix("nnet::relu<").partition(">")
    given, gives = (name.strip() for name in head.split(",")[:2])
    (place / CALLS).write_text(calls.replace(relu, f"nnet::own_types<{given}, {gives}>{behind}"))
    assert "// hls4ml insert code" in code
    (place / CODE).write_text(code.replace("// hls4ml insert code", _function(types)))
    network = read_network(place)
    check_outputs(network, "own", compiled(tmp_path, {"own": (place, network)}))
