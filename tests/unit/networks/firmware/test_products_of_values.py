"""Products of two values, entry by entry and summed over several axes, against hls4ml's C simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.networks import Network, read_network
from eqspec.networks.firmware.lattices import Lattice, integers
from unit.networks.firmware.converted import described
from unit.networks.firmware.edits import check_refused
from unit.networks.firmware.simulation import compiled
from unit.networks.firmware.test_simulation import check_outputs, check_projects

TEMPLATE = "template <class x_T, class y_T>\n    using product = nnet::product::mult"
CALLS, PARAMETERS, DEFINES = "firmware/myproject.cpp", "firmware/parameters.h", "firmware/defines.h"
TYPES = {"weight": "ap_fixed<6,2>", "bias": "ap_fixed<6,3>", "accum": "ap_fixed<14,6>", "result": "ap_fixed<9,4>"}
HALVES = {**TYPES, "accum": "ap_fixed<13,6,AP_RND>"}
NARROW = {**TYPES, "accum": "ap_fixed<9,4>", "result": "ap_fixed<7,3>"}
"""Accumulators that round products of two results down and to the nearest number, and one that sums leave."""


def _sums(name: str, equation: str, outputs: int, random: np.random.Generator) -> dict[str, Any]:
    return {
        "class_name": "EinsumDense", "name": name, "equation": equation, "inp_shape": (3, 2), "out_shape": (3, outputs),
        "weight_data": random.integers(-16, 17, (2, outputs)) / 8, "bias_data": random.integers(-8, 9, outputs) / 8,
    }  # fmt: skip


def _written(folder: Path, last: dict[str, Any], types: dict[str, str], io_type: str = "io_parallel") -> Path:
    random = np.random.default_rng(0)
    layers = [_sums("a", "nc,cd->nd", 4, random), _sums("b", "nc,cd->nd", 4, random), {"inputs": ["a", "b"], **last}]
    return described(folder, (3, 2), layers, types, io_type=io_type)


def _einsum(equation: str, *shape: int) -> dict[str, Any]:
    shapes = {"inp0_shape": (3, 4), "inp1_shape": (3, 4), "out_shape": shape}
    return {"class_name": "Einsum", "name": "c", "equation": equation, **shapes}


ROWS = _einsum("nd,md->mn", 3, 3)
CASES = {
    "rows": (ROWS, TYPES),
    "halves": (ROWS, HALVES),
    "narrow": (_einsum("nd,nd->nd", 3, 4), NARROW),
    "columns": (_einsum("nd,nk->nkd", 3, 4, 4), NARROW),
    "entries": ({"class_name": "Merge", "name": "c", "op": "multiply"}, TYPES),
}


def test_every_output_is_that_of_the_simulation(tmp_path: Path) -> None:
    networks: dict[str, tuple[Path, Network]] = {}
    for name, (last, types) in CASES.items():
        place = _written(tmp_path / name, last, types)
        networks[name] = place, read_network(place)
    check_projects(tmp_path, networks)


def test_a_product_in_a_stream_is_that_of_the_simulation(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    layers: list[dict[str, Any]] = [
        {
            "class_name": "Dense", "name": name, "n_in": 3, "n_out": 4, "inputs": ["x"],
            "weight_data": random.integers(-16, 17, (3, 4)) / 8, "bias_data": random.integers(-8, 9, 4) / 8,
        }
        for name in ("a", "b")
    ]  # fmt: skip
    layers.append({"class_name": "Merge", "name": "c", "op": "multiply", "inputs": ["a", "b"]})
    place = described(tmp_path / "prj", (3,), layers, TYPES, io_type="io_stream")
    network = read_network(place)
    check_outputs(network, "stream", compiled(tmp_path, {"stream": (place, network)}))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            DEFINES,
            "> c_accum_t",
            ",AP_RND_CONV,AP_WRAP,0> c_accum_t",
            "AP_RND_CONV,AP_WRAP>, which rounds sums by what",
        ),
        (DEFINES, "> c_accum_t", ",AP_TRN,AP_SAT,0> c_accum_t", "AP_SAT>, which a product may leave"),
        (PARAMETERS, "n_free1 = 3", "n_free1 = 2", "it transposes 12 numbers, of which there are 8"),
        (PARAMETERS, "n_free0 = 3", "n_free0 = 30000", "products of two values"),
        (PARAMETERS, TEMPLATE, TEMPLATE.replace("::mult", "::data_binary"), "products by data_binary are not read"),
        (CALLS, "layer3_t, result_t, config4>", "layer3_t, result_t>", "3 templates and 3 arguments"),
    ],
)
def test_other_products_are_refused(file: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    place = _written(tmp_path / "prj", ROWS, {**TYPES, "result": "ap_fixed<9,4>"})
    assert read_network(place).output_size == 9
    check_refused(place, file, old, new, message)


def test_which_numbers_a_product_may_be() -> None:
    """Every product of numbers of two lattices lies in theirs, and both of its ends are near one."""
    random = np.random.default_rng(2)
    for _ in range(300):
        step = random.integers(0, 5, 2)
        least = random.integers(-9, 6, 2)
        many = random.integers(1, 5, 2)
        numbers = [least[k] + step[k] * np.arange(many[k]) for k in range(2)]
        first, second = (
            Lattice(integers([n[0]]), integers([n[-1]]), integers([s]), 1) for n, s in zip(numbers, step, strict=True)
        )
        found = first.product_with(second)
        products = {int(x) * int(y) for x in numbers[0] for y in numbers[1]}
        low, high, apart = (int(part[0]) for part in (found.least, found.most, found.step))
        assert found.bits == 2
        assert high == max(products)
        assert low <= min(products) < low + max(apart, 1)
        assert all((product - low) % apart == 0 if apart else product == low for product in products)
