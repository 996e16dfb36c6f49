"""What is not recognised in a project is refused: the message says in which file, on which line, and what to do."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from eqspec.errors import NetworkError, OutputChoiceError
from eqspec.networks import in_float32, is_network_folder, read_network
from unit.networks.firmware.edits import check_refused
from unit.networks.firmware.written import Activation, Dense, Fixed, Written

WIDE = Fixed(20, 10)
WEIGHTS = [Fraction(n, 8) for n in (3, -5, 7, 1)]
PROJECT = Written(
    2,
    Fixed(6, 3),
    (
        Dense(2, WEIGHTS, [Fraction(1, 4), Fraction(-1, 8)], Fixed(6, 2), WIDE, WIDE),
        Activation("relu", Fixed(7, 3, False, "AP_RND", "AP_SAT")),
    ),
)
DEFINES, PARAMETERS, CALLS = "firmware/defines.h", "firmware/parameters.h", "firmware/myproject.cpp"
HEADER, TEXT = "firmware/weights/w1.h", "firmware/weights/w1.txt"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return PROJECT.write(tmp_path / "prj")


REFUSED = [
    (DEFINES, "AP_TRN,AP_WRAP,0> input_t", "AP_TRN,AP_WRAP,2> input_t", r"line 4: ap_fixed<6,3>: AP_WRAP .*saturation"),
    (DEFINES, "AP_TRN,AP_WRAP,0> input_t", "AP_TRN,AP_SAT_ZERO> input_t", r"line 4: .*AP_SAT_ZERO .*sets to 0"),
    (DEFINES, "AP_TRN,AP_WRAP,0> input_t", "AP_ODD> input_t", r"line 4: .*AP_ODD is not a rounding mode"),
    (DEFINES, "ap_fixed<6,3,AP_TRN,AP_WRAP,0> input_t", "ac_fixed<6,3> input_t", "4: .*'ac_fixed', of the Quartus"),
    (DEFINES, "ap_fixed<6,3,AP_TRN,AP_WRAP,0> input_t", "hls::ap_fixpt<6,3> input_t", "4: .*'hls', of the Libero"),
    (DEFINES, "ap_fixed<6,3,AP_TRN,AP_WRAP,0> input_t", "std::bfloat16_t input_t", "4: .*'std', of floating point"),
    (DEFINES, "ap_fixed<6,3,AP_TRN,AP_WRAP,0> input_t", "float input_t", "4: .*'float', of floating point"),
    (DEFINES, "ap_fixed<6,3,AP_TRN,AP_WRAP,0> input_t", "ap_int<6> input_t", "of a fraction|what the simulation makes"),
    (DEFINES, "ap_fixed<6,3,", "ap_fixed<0,3,", "line 4: .*a type has 1 to 1024 bits"),
    (DEFINES, "typedef", "typedef ap_fixed<4,2> weight1_t;\ntypedef", "weight1_t is declared twice, and differently"),
    (DEFINES, '#include "ap_fixed.h"', "#if 1", "line 3: the directive '#if 1' is not read"),
    (DEFINES, '#include "ap_fixed.h"', "#ifndef __INTELFPGA_COMPILER__", "line 3: a project of the Quartus backend"),
    (DEFINES, '#include "ap_fixed.h"', '#include "mine.h"', "'mine.h' is included"),
    (DEFINES, "typedef", "int x = 4; typedef", "line 4: 'int' where a typedef or a struct should be"),
    (DEFINES, "ap_fixed<6,3,", "ap_fixed<010,3,", "line 4: the number 010 is octal"),
    (DEFINES, "typedef", "// a path: C:\\\\\ntypedef", "unknown type 'input_t'"),
    (DEFINES, "typedef", "@ typedef", "line 4: '@' where"),
    (PARAMETERS, "reuse_factor = 1;", "reuse_factor = 1;\n static const bool magic = true;", "13: the member magic"),
    (PARAMETERS, "nnet::DenseLatency", "nnet::DenseOfMine", "the kernel DenseOfMine with strategy nnet::latency"),
    (PARAMETERS, "strategy = nnet::latency", "strategy = nnet::resource", "DenseLatency with strategy nnet::res"),
    (PARAMETERS, "mult<x_T, y_T>", "mult<x_T, y_T, res_T>", "line 20: ',' where '>' should be"),
    (PARAMETERS, "kernel = nnet::DenseLatency<data_T", "kernel = nnet::DenseLatency<res_T", "'res_T' where 'data_T'"),
    (PARAMETERS, "product::mult", "product::both_binary", "products by both_binary are not read"),
    (PARAMETERS, "product::mult", "product::weight_ternary", "weights other than -1, 0 and 1"),
    (PARAMETERS, "n_in = 2", "n_in = 3", r"x has 2 entries, its configuration says 3"),
    (PARAMETERS, "n_in = 2", "n_in = n_in", r"config1::n_in is defined by itself"),
    (PARAMETERS, "n_in = 2", "n_in = (2", "line 23: 'struct' where 'static' should be"),
    (PARAMETERS, "typedef layer1_accum_t accum_t", "typedef float accum_t", "unknown type 'float'"),
    (PARAMETERS, "typedef weight1_t weight_t", "typedef layer1_t weight_t", "w1 is ap_fixed<6,2>, its configuration"),
    (PARAMETERS, "dense_config", "conv1d_config", "config1 is a nnet::conv1d_config, and no nnet::dense_config"),
    (PARAMETERS, '#include "weights/w1.h"', "", "w1 is loaded, but not declared"),
    (CALLS, "nnet::relu<", "nnet::of_mine<", r"line 20: act2 \(nnet::of_mine\): this layer is not read"),
    (CALLS, "nnet::relu<", "nnet::lstm_stack<", r"line 20: act2 \(nnet::lstm_stack\): a layer that goes through time"),
    (CALLS, "nnet::relu<", "nnet::sigmoid<", "config2 has no type table_t"),
    (CALLS, "nnet::relu<layer1_t, ", "nnet::relu<input_t, ", "called for another type than layer1_out has"),
    (CALLS, "nnet::relu<layer1_t, layer2_t, config2>", "nnet::relu<layer1_t, layer2_t>", "2 templates and 2 arguments"),
    (CALLS, "(layer1_out, layer2_out)", "(layer9_out, layer2_out)", "there is no array 'layer9_out'"),
    (CALLS, "(layer1_out, layer2_out)", "(layer2_out, layer1_out)", "myproject has no outputs"),
    (CALLS, "w1, b1); //", "b1, w1); //", r"b1 has 2 numbers, 4 are used"),
    (CALLS, "layer1_t layer1_out[2];", "layer1_t layer1_out[3];", "layer1_out has 3 entries, its configuration says 2"),
    (CALLS, "layer1_t layer1_out[2];", "layer1_t layer1_out[2];\nlayer1_out[0] = 1;", "19: unknown type 'layer1_out'"),
    (CALLS, "layer1_t layer1_out[2];", "for (;;) {}", "line 18: unknown type 'for'"),
    (CALLS, "#pragma HLS PIPELINE", "#ifdef FAST", "line 10: the directive '#ifdef FAST' is not read"),
    (CALLS, "input_t x[2],", "input_t x[2], input_t z[0],", "z has 0 entries"),
    (CALLS, "input_t x[2],", "input_t x[15000], input_t z[15000],", "myproject has 30000 inputs"),
    (CALLS, "config2>", "config1>", "config1 is a nnet::dense_config, and no nnet::activ_config"),
    (CALLS, "#endif", "nnet::relu<layer1_t, layer2_t, config2>(layer1_out, layer2_out);\n#endif", "in the simulation"),
    (HEADER, "0.375", "0.5", "w1.txt: number 0 of w1 is another one than in w1.h"),
    (HEADER, "w1[4]", "w1[5]", "4 numbers, w1 has 5"),
    (HEADER, "weight1_t w1[4] = {", "weight1_t w1[4] = {{1, 2},", "no array of plain numbers"),
    (HEADER, "0.375", "01", "number 0 of w1: 01.* is octal"),
    (HEADER, "weight1_t w1[4]", "\n#define w1 w9\nweight1_t w1[4]", "the directive '#define w1 w9' is not read"),
    (HEADER, "weight1_t w1[4] = {", "weight1_t w1[4] = { // \\\n", "no array of plain numbers"),
    (HEADER, "0.375", "nan", "number 0 of w1: 'nan0+' is not a number"),
    (TEXT, "0.375", "1e999", "w1.txt: number 0 of w1: 1e999.* is not finite"),
    (TEXT, ", -0.6", "; -0.6", "w1.txt: 3 numbers, w1 has 4"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "message"), REFUSED)
def test_it_is_refused_where_it_stands(project: Path, file: str, old: str, new: str, message: str) -> None:
    refused = check_refused(project, file, old, new, message, count=1 if file == DEFINES else -1)
    assert refused.path.startswith(str(project))


def test_a_project_of_oneapi_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "src/firmware").mkdir(parents=True)
    (tmp_path / "src/firmware/defines.h").write_text("typedef ac_fixed<16,6,true> input_t;")
    assert is_network_folder(tmp_path)
    with pytest.raises(NetworkError, match="a project of the oneAPI backend is not read"):
        read_network(tmp_path)


COMMON = "nnet_common.h"


@pytest.mark.parametrize(
    ("file", "said", "message"),
    [
        (COMMON, "#define DIV_ROUNDUP(n, d) (n / d)", r"line 4: the directive '#define DIV_ROUNDUP\(n, d\) \(n / d\)'"),
        (
            COMMON,
            "#define mult weight_ternary",
            "line 4: the directive '#define mult weight_ternary' is none of hls4ml",
        ),
        (COMMON, "#if 0", "line 4: the directive '#if 0' is none of hls4ml's"),
        (COMMON, "#undef MIN", "line 4: the directive '#undef MIN'"),
        (COMMON, '#include "mine.h"', "line 4: the directive '#include \"mine.h\"'"),
        (COMMON, "#define DIV_ROUNDUP(n, d) ((n + d - 1) / d)", None),
        (COMMON, '#include "nnet_helpers.h" // of numbers', None),
        (COMMON, "#ifdef __SYNTHESIS__", None),
        ("../myproject.h", "#define relu linear", "line 4: the directive '#define relu linear'"),
        ("../myproject.h", '#include "mine.h"', "line 4: the directive '#include \"mine.h\"'"),
        ("../myproject.h", "namespace nnet { }", "line 4: 'namespace' where 'void' should be"),
        ("../myproject.h", '#include "ap_fixed.h"', None),
    ],
)
def test_what_changes_the_meaning_of_words_is_refused(project: Path, file: str, said: str, message: str | None) -> None:
    """Macros, conditions and includes that hls4ml does not write; the words of a layer do not show them."""
    (project / "firmware/nnet_utils").mkdir(exist_ok=True)
    lines = ["#ifndef SOME_H_", "#define SOME_H_", "", said, "void f(int x);", "#endif", "#endif"]
    (project / "firmware/nnet_utils" / file).write_text("\n".join(lines))
    if message is None:
        read_network(project)
        return
    with pytest.raises(NetworkError, match=message):
        read_network(project)


def test_the_calls_include_nothing_unknown(project: Path) -> None:
    place = project / CALLS
    place.write_text('#include "mine.h"\n' + place.read_text())
    with pytest.raises(NetworkError, match=r"the directive '#include .mine\.h.' is not read"):
        read_network(project)


@pytest.mark.parametrize("file", [DEFINES, PARAMETERS, CALLS, HEADER, TEXT])
def test_bytes_that_are_no_text_are_refused(project: Path, file: str) -> None:
    (project / file).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(NetworkError, match="cannot be read"):
        read_network(project)


@pytest.mark.parametrize("file", [CALLS, HEADER, TEXT])
def test_a_file_that_is_missing_is_named(project: Path, file: str) -> None:
    (project / file).unlink()
    with pytest.raises(NetworkError) as refused:
        read_network(project)
    assert refused.value.path.endswith("firmware" if file == CALLS else Path(file).name)


@pytest.mark.parametrize("file", [DEFINES, PARAMETERS, CALLS, HEADER])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.97])
def test_a_file_that_ends_early_is_refused(project: Path, file: str, share: float) -> None:
    text = (project / file).read_text()
    (project / file).write_text(text[: int(len(text) * share)])
    with pytest.raises(NetworkError):
        read_network(project)


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path) -> None:
    assert not is_network_folder(tmp_path)
    assert not is_network_folder(tmp_path / "\0")
    with pytest.raises(NetworkError, match="nor a project of hls4ml"):
        read_network(tmp_path)


def test_the_bus_of_an_accelerator_is_left_out(project: Path) -> None:
    """VivadoAccelerator writes a second file, which only hands numbers on; what is said of it is a note."""
    before = read_network(project)
    (project / "firmware/myproject_axi.cpp").write_text("// as it is compiled for the bus\n")
    found = read_network(project)
    points = np.random.default_rng(0).normal(size=(50, 2))
    assert np.array_equal(found.evaluate(points), before.evaluate(points))
    assert any("myproject_axi.cpp" in note for note in found.notes)


def test_two_files_of_calls_are_refused(project: Path) -> None:
    shutil.copy(project / CALLS, project / "firmware/other.cpp")
    with pytest.raises(NetworkError, match=r"2 files end in .cpp \(myproject.cpp, other.cpp\)"):
        read_network(project)


def test_the_output_is_known_by_its_name(project: Path) -> None:
    plain, named = read_network(project), read_network(project, output="layer2_out")
    assert (plain.chosen, named.chosen, plain.identity) == (None, "layer2_out", named.identity)
    for name in ("layer1_out", "x"):  # what it computes on the way is no output, and its input neither
        with pytest.raises(OutputChoiceError, match=f"has no output '{name}'; it gives 'layer2_out'"):
            read_network(project, output=name)


def test_float32_cannot_be_asked_for(project: Path) -> None:
    with pytest.raises(NetworkError, match="fixed-point arithmetic, in which float32 rounds nothing"):
        in_float32(read_network(project))


def test_the_digest_is_of_everything_that_is_read(project: Path, tmp_path: Path) -> None:
    first = read_network(project)
    copy = shutil.copytree(project, tmp_path / "copy")
    assert read_network(copy).sha256 == first.sha256
    (copy / "firmware/notes.txt").write_text("nobody reads this")
    assert read_network(copy).sha256 == first.sha256
    for file in (DEFINES, PARAMETERS, CALLS, HEADER, TEXT):
        text = (copy / file).read_text()
        (copy / file).write_text(text + "\n")
        assert read_network(copy).sha256 != first.sha256
        (copy / file).write_text(text)


def test_a_project_without_templates_says_so(project: Path) -> None:
    assert any("nnet_utils is not part of the folder" in note for note in read_network(project).notes)


@pytest.fixture
def templates(project: Path) -> Path:
    hls4ml = pytest.importorskip("hls4ml", reason="hls4ml is not installed: pip install eqspec[firmware-tests]")
    folder = project / "firmware/nnet_utils"
    shutil.copytree(Path(hls4ml.__file__).parent / "templates/vivado/nnet_utils", folder)
    return folder


def test_templates_of_hls4ml_are_known(project: Path, templates: Path) -> None:
    assert not any("nnet_utils" in note for note in read_network(project).notes)
    header = templates / "nnet_dense_latency.h"
    header.write_text(header.read_text().replace("// Do the matrix-multiply", "#pragma HLS MINE\n    /* comment */"))
    read_network(project)


@pytest.mark.parametrize(
    ("header", "old", "new", "name"),
    [
        ("nnet_dense_latency.h", "acc[jj] += mult[index]", "acc[jj] -= mult[index]", "dense_latency"),
        ("nnet_dense.h", "dense_latency<", "dense_resource<", "DenseLatency"),
        ("nnet_mult.h", "return a * w;", "return a + w;", "mult"),
        ("nnet_mult.h", "return (res_T)x;", "return (res_T)(x + x);", "cast"),
        ("nnet_activation.h", "if (datareg > 0)", "if (datareg > 1)", "relu"),
        ("nnet_activation.h", "void relu(", "void relu_of_mine(", "relu"),
        ("nnet_helpers.h", "getline(iss, token, ',')", "getline(iss, token, ';')", "load_weights_from_txt"),
    ],
)
def test_templates_that_were_changed_are_refused(
    project: Path, templates: Path, header: str, old: str, new: str, name: str
) -> None:
    text = (templates / header).read_text()
    assert old in text
    (templates / header).write_text(text.replace(old, new))
    with pytest.raises(NetworkError, match=f"nnet::{name} is") as refused:
        read_network(project)
    assert refused.value.path.endswith(header)
