"""Tables of the model's own (unary_lut), in arrays and in streams: against hls4ml's C simulation, and by definition."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from eqspec.errors import NetworkError
from eqspec.networks import Network, read_network
from unit.networks.firmware.converted import Model, project
from unit.networks.firmware.edits import check_refused
from unit.networks.firmware.test_simulation import check_projects
from unit.networks.firmware.written import Activation, Dense, Fixed, Written

CALLS, PARAMETERS, DEFINES = "firmware/myproject.cpp", "firmware/parameters.h", "firmware/defines.h"
WEIGHTS = [Fraction(n, 8) for n in (3, -5, 7, 1, 2, -6)]
SMALL = Written(
    2,
    Fixed(7, 3),
    (
        Dense(3, WEIGHTS, [Fraction(1, 4), Fraction(-1, 8), Fraction(0)], Fixed(6, 2), Fixed(20, 10), Fixed(4, 3)),
        Activation("relu", Fixed(6, 3)),
    ),
)
TABLE = [Fraction(n, 8) for n in (9, -2, 31, 0, 5, -32, 17, 4, -7, 11, 3, -19, 28, 1, -1, 13)]


def with_table(place: Path, entries: list[Fraction], of: str) -> None:
    """The relu of a project becomes a table, as HGQ writes one."""
    text = ", ".join(f"{float(x):.10f}" for x in entries)
    size = len(entries)
    guarded = f"#ifndef __SYNTHESIS__\nlut_t lut[{size}];\n#else\nlut_t lut[{size}] = {{{text}}};\n#endif\n"
    (place / "firmware/weights/lut.h").write_text(f"#ifndef LUT_H_\n#define LUT_H_\n{guarded}#endif\n")
    (place / "firmware/weights/lut.txt").write_text(text)
    _edit(place / DEFINES, r"(typedef ap_u?fixed<[^;]*> \w+;)", rf"\1\ntypedef {of} lut_t;")
    _edit(place / PARAMETERS, '(#include "weights/)', r'#include "weights/lut.h"\n\1')
    _edit(
        place / PARAMETERS,
        r"struct \w+ : nnet::activ_config \{[^}]*?(n_in = \d+;)[^}]*\};",
        r"struct lut_config : nnet::activ_config {\n static const unsigned \1\n"
        rf" static const unsigned table_size = {size};\n static const unsigned io_type = nnet::io_parallel;\n"
        r" static const unsigned reuse_factor = 1;\n typedef lut_t table_t;\n};",
    )
    calls = place / CALLS
    _edit(
        calls, r"nnet::relu<(\w+), (\w+), \w+>\((\w+), (\w+)\);", r"nnet::unary_lut<\1, \2, lut_config>(\3, \4, lut);"
    )
    _edit(calls, "loaded_weights = true;", f'nnet::load_weights_from_txt<lut_t, {size}>(lut, "lut.txt"); \\g<0>')


def _edit(path: Path, old: str, new: str) -> None:
    text, count = re.subn(old, new, path.read_text(), count=1)
    assert count == 1, old
    path.write_text(text)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    place = SMALL.write(tmp_path / "prj")
    with_table(place, TABLE, "ap_fixed<7,4>")
    return place


def test_an_entry_is_that_with_the_number_of_the_bits(small: Path, tmp_path: Path) -> None:
    before = read_network(Written(2, SMALL.of_input, SMALL.layers[:1]).write(tmp_path / "before"))
    network = read_network(small)
    seen = set()
    for numbers in np.random.default_rng(0).integers(-64, 64, size=(80, 2)):
        point = [Fraction(int(n), 16) for n in numbers]
        given = [low for low, _ in before.evaluate_exact(point)]
        wanted = [SMALL.layers[1].result(TABLE[int(x * 2) % 16]) for x in given]
        assert [low for low, _ in network.evaluate_exact(point)] == wanted
        seen.update(given)
    assert len(seen) == 16


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (PARAMETERS, "table_size = 16", "table_size = 8", "lut has 16 numbers, 8 are used"),
        (DEFINES, "typedef ap_fixed<4,3", "typedef ap_fixed<5,3", "its table has 16 entries, and ap_fixed<5,3>.* 32"),
        (DEFINES, "typedef ap_fixed<4,3", "typedef ap_fixed<3,3", "its table has 16 entries, and ap_fixed<3,3>.* 8 "),
        (PARAMETERS, "typedef lut_t table_t", "typedef layer1_t table_t", "lut is ap_fixed<7,4>, its configuration"),
        (
            PARAMETERS,
            "typedef lut_t table_t",
            "static const unsigned shift = 1; typedef lut_t table_t",
            "the member sh",
        ),
        (CALLS, ", lut);", ", w1);", "w1 is ap_fixed<6,2>, its configuration says ap_fixed<7,4>"),
        (CALLS, ", lut);", ");", "3 templates and 2 arguments, 3 and 3 expected"),
        ("firmware/weights/lut.txt", "1.125", "1.25", "number 0 of lut is another one than in lut.h"),
    ],
)
def test_other_tables_are_refused(file: str, old: str, new: str, message: str, small: Path) -> None:
    check_refused(small, file, old, new, message)


def test_every_output_is_that_of_the_simulation(tmp_path: Path) -> None:
    """Of numbers with a sign and without one, which a result's type rounds and cuts off."""
    random = np.random.default_rng(1)
    networks: dict[str, tuple[Path, Network]] = {}
    cases = (
        ("io_parallel", "ap_fixed<6,2,AP_RND,AP_SAT>", 64),
        ("io_parallel", "ap_fixed<4,6>", 16),
        ("io_stream", "ap_fixed<6,2>", 64),
        ("io_stream", "ap_ufixed<5,1>", 32),
    )
    for io_type, given, size in cases:
        model = Model(3, size).dense(4, bias=False).then("Relu").dense(2)
        types = {
            "MatMul": {"accum": "ap_fixed<16,6>", "result": given},
            "Relu": {"result": "ap_fixed<7,3,AP_RND_CONV,AP_SAT>"},
        }
        name = f"{io_type}_{size}"
        place = project(tmp_path / name, model, precision="ap_fixed<14,6>", of_layers=types, io_type=io_type)
        entries = [Fraction(int(n), 32) for n in random.integers(-200, 200, size)]
        with_table(place, entries, "ap_fixed<9,4>")
        networks[name] = place, read_network(place)
    check_projects(tmp_path, networks)
    header = tmp_path / "io_stream_64/firmware/nnet_utils/nnet_activation.h"
    _edit(header, r"\(unsigned\)\(x\(x.width - 1, 0\)\)", "(unsigned)(x(x.width - 1, 1))")
    with pytest.raises(NetworkError, match="nnet::get_index_unary_lut is another one than hls4ml's"):
        read_network(tmp_path / "io_stream_64")
