"""Weights that are powers of two against hls4ml's own C simulation, which shifts by them."""

from __future__ import annotations

import re
from math import log2
from pathlib import Path
from typing import Any

import pytest

from eqspec.networks import read_network
from unit.networks.firmware.converted import Model, project
from unit.networks.firmware.simulation import compiled
from unit.networks.firmware.test_simulation import check_outputs

POWERS = (0.5, -2.0, 0.125, 4.0, -0.25, 1.0)
NARROW = {"MatMul": {"weight": "ap_fixed<11,5>", "accum": "ap_fixed<15,8>", "result": "ap_fixed<12,6>"}}
TYPES = {"precision": "ap_fixed<12,6>", "of_layers": NARROW}


def _pair(number: str) -> str:
    """A power of two as QKeras's `quantized_po2` has it in hls4ml: a sign and an exponent."""
    exponent = log2(abs(float(number)))
    assert exponent == int(exponent)
    return f"{{{float(float(number) > 0)}, {int(exponent)}}}"


def _in_powers(place: Path) -> Path:
    """The same project with its weights written as powers of two."""
    firmware = place / "firmware"
    defines = (firmware / "defines.h").read_text()
    types = re.findall(r"typedef [^;]+ (\w*weight\w*);", defines)
    assert types
    for of in types:
        struct = f"typedef struct {of} {{ap_uint<1> sign;ap_int<4> weight; }} {of};"
        defines = re.sub(rf"typedef [^;{{]+ {of};", struct, defines)
    (firmware / "defines.h").write_text(defines)
    calls = (firmware / "myproject.cpp").read_text()
    for of in types:
        calls = calls.replace(f"load_weights_from_txt<{of},", f"load_exponent_weights_from_txt<{of},")
    (firmware / "myproject.cpp").write_text(calls)
    parameters = (firmware / "parameters.h").read_text()
    dense = re.compile(r"(nnet::dense_config \{.*?product::)mult\b", re.DOTALL)
    parameters, count = dense.subn(r"\1weight_exponential", parameters)
    assert count == len(types)
    (firmware / "parameters.h").write_text(parameters)
    for path in (firmware / "weights").glob("w*.txt"):
        plain = path.read_text().strip()
        written = ", ".join(_pair(number) for number in plain.split(","))
        path.write_text(written)
        header = path.with_suffix(".h")
        head, opening, _ = header.read_text().partition("= {")
        assert opening
        header.write_text(f"{head}= {{{written}}};\n\n#endif\n\n#endif\n")
    return place


@pytest.mark.parametrize("settings", [{}, {"strategy": "Resource"}, {"io_type": "io_stream"}])
def test_every_output_is_that_of_the_simulation(settings: dict[str, Any], tmp_path: Path) -> None:
    model = Model(4, 90).dense(5, weights=POWERS).then("Relu").dense(3, weights=POWERS)
    place = _in_powers(project(tmp_path / "powers", model, **TYPES, **settings))
    network = read_network(place)
    check_outputs(network, "powers", compiled(tmp_path, {"powers": (place, network)}))
