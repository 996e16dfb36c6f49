"""Sums over several axes of a tensor, with weights and of adders, against hls4ml's C simulation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.networks import Network, read_network
from unit.networks.firmware.converted import described
from unit.networks.firmware.edits import check_refused
from unit.networks.firmware.simulation import compiled
from unit.networks.firmware.test_simulation import check_outputs, check_projects

CALLS, PARAMETERS = "firmware/myproject.cpp", "firmware/parameters.h"
CODE = "firmware/nnet_utils/nnet_code_gen.h"
LETTERS = {"n": 4, "c": 3, "d": 5, "m": 2, "k": 2}
TYPES = {"weight": "ap_fixed<6,2>", "bias": "ap_fixed<6,3>", "accum": "ap_fixed<14,5>", "result": "ap_fixed<9,4>"}
NARROW = {"weight": "ap_fixed<6,2>", "bias": "ap_fixed<6,3>", "accum": "ap_fixed<9,4>", "result": "ap_fixed<7,4>"}
SHARED, OWN = ("nc,cd->nd", "d"), ("nd,ndk->kn", "kn")
"""One matrix for all rows; a matrix and a bias for each row, and results in another order."""


def _sizes(letters: str) -> tuple[int, ...]:
    return tuple(LETTERS[letter] for letter in letters)


def _layer(name: str, given: str, equation: str, bias_axes: str, random: np.random.Generator) -> dict[str, Any]:
    """An EinsumDense as hls4ml's own converter describes it."""
    inputs, result = equation.split("->")
    data, kernel = inputs.split(",")
    shape = tuple(LETTERS[letter] if letter in bias_axes else 1 for letter in result)
    while shape and shape[0] == 1:
        shape = shape[1:]
    return {
        "class_name": "EinsumDense",
        "name": name,
        "inputs": [given],
        "outputs": [name],
        "equation": equation,
        "weight_data": np.round(random.uniform(-2, 2, _sizes(kernel)) * 16) / 16,
        "bias_data": np.round(random.uniform(-2, 2, shape) * 8) / 8,
        "inp_shape": _sizes(data),
        "out_shape": _sizes(result),
    }


def _written(
    folder: Path, equations: list[tuple[str, str]], types: Mapping[str, str], strategy: str = "Latency"
) -> Path:
    random = np.random.default_rng(len(equations))
    layers = list[dict[str, Any]]()
    for place, (equation, bias_axes) in enumerate(equations):
        layers.append(_layer(f"fc{place}", layers[-1]["name"] if layers else "x", equation, bias_axes, random))
    shape = _sizes(equations[0][0].split(",")[0])
    return described(folder, shape, layers, types, strategy=strategy)


def test_every_output_is_that_of_the_simulation(tmp_path: Path) -> None:
    networks: dict[str, tuple[Path, Network]] = {}
    for name, types in (("wide", TYPES), ("narrow", NARROW)):
        place = _written(tmp_path / name, [SHARED, OWN], types)
        networks[name] = place, read_network(place)
    check_projects(tmp_path, networks)


def test_adders_give_what_the_simulation_computes(tmp_path: Path) -> None:
    place = _written(tmp_path / "adders", [SHARED, OWN], NARROW, "distributed_arithmetic")
    assert "einsum_dense3_da_kernel" in (place / CODE).read_text()
    network = read_network(place)
    check_outputs(network, "adders", compiled(tmp_path, {"adders": (place, network)}))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (PARAMETERS, "n_contract = 3", "n_contract = 4", "it transposes 12 numbers, of which there are 16"),
        (PARAMETERS, "n_in = 3", "n_in = 4", "config2_dense multiplies 4 by 5, it 3 by 5"),
        (PARAMETERS, "DenseLatency", "DenseOfMine", "the kernel DenseOfMine with strategy nnet::latency"),
        (PARAMETERS, "n_inplace = 1;", "n_inplace = 1; static const unsigned skip = 1;", "the member skip of config2"),
        (PARAMETERS, "perm_strides[2] = {3, 1}", "perm_strides[2] = {1, 1}", "it does not take every entry once"),
        (PARAMETERS, "typedef config2_tpose_inp", "typedef config9_tpose_inp", "no configuration config9_tpose_inp"),
        (CALLS, ", w2, b2)", ", w2)", "has no function da_kernel|the member dense_conf of config2 is not known"),
        (CALLS, ", w2, b2)", ", b2, w2)", "its configuration says|numbers, .* are used"),
    ],
)
def test_other_sums_are_refused(file: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    place = _written(tmp_path / "prj", [SHARED], TYPES)
    _refused(place, file, old, new, message)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (CODE, "(0 * 4 + l0) * 3]", "(0 * 4 + l0) * 2]", "'2' where '3' should be"),
        (CODE, "(0 * 4 + l0) * 5]);", "(0 * 4 + l0) * 5]); l0 = 1;", "'l0' where the end of the kernel should be"),
        (CODE, "out_t out_tpose[20]", "out_t out_tpose[21]", "'21' where '20' should be"),
        (CODE, "    einsum_2_da_0_of_1(&", "    einsum_3_da_0_of_1(&", "einsum_3_da_0_of_1 is no function of adders"),
        (
            CODE,
            "namespace nnet {",
            "namespace nnet {\nvoid einsum_2_da_0_of_1(int *x, int *y) {}",
            "or is defined twice",
        ),
        (PARAMETERS, "nnet::distributed_arithmetic", "nnet::latency", "with strategy nnet::latency is not read"),
        (PARAMETERS, "da_kernel<input_t, accum_t>", "da_kernel<input_t, bias_t>", "is for other types"),
        (PARAMETERS, "= nnet::einsum_dense2_da_kernel", "= nnet::einsum_dense3_da_kernel", "is not read, is for other"),
    ],
)
def test_other_kernels_of_adders_are_refused(file: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    place = _written(tmp_path / "prj", [SHARED], TYPES, "distributed_arithmetic")
    _refused(place, file, old, new, message)


def test_another_template_is_refused(tmp_path: Path) -> None:
    place = _written(tmp_path / "prj", [SHARED], TYPES)
    header = "firmware/nnet_utils/nnet_einsum_dense.h"
    _refused(place, header, "j < L1;", "j < L1 - 1;", "nnet::einsum_dense is another one than hls4ml's")


def _refused(place: Path, file: str, old: str, new: str, message: str) -> None:
    assert read_network(place).output_size == 20
    check_refused(place, file, old, new, message, count=1)
