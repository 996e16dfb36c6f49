"""Projects that hls4ml converted, against its own C simulation: every output at every input is the same number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from eqspec.errors import NetworkError
from eqspec.networks import Network, read_network
from eqspec.networks.grids import Region
from eqspec.run.cell_runs import CellRuns, runs_on
from unit.networks.firmware.converted import Model, converted, project
from unit.networks.firmware.simulation import Simulation, compiled

POINTS = 20_000


def _two_layers(seed: int, **dense: Any) -> Model:
    return Model(5, seed).dense(6, **dense).then("Relu").dense(3, **dense)


def _all(accumulator: str, result: str | None = None) -> dict[str, dict[str, str]]:
    return {"MatMul": {"accum": accumulator, "result": result or accumulator}}


def _types(default: str = "ap_fixed<16,6>", **of_layers: dict[str, str]) -> dict[str, Any]:
    return {"precision": default, "of_layers": of_layers}


NARROW = {"of_layers": _all("ap_fixed<13,5>")}
CASES: dict[str, tuple[Model, dict[str, Any]]] = {
    "auto": (_two_layers(1), {}),
    "truncated": (_two_layers(2), {"of_layers": _all("ap_fixed<16,6>")}),
    "wraps": (_two_layers(3), {"of_layers": _all("ap_fixed<9,4>")}),
    "coarse": (_two_layers(4), {"of_layers": _all("ap_fixed<6,5>", "ap_fixed<8,3,AP_RND,AP_SAT>")}),
    "half_even": (
        _two_layers(5),
        {"of_layers": _all("ap_fixed<14,6,AP_RND_CONV>", "ap_fixed<7,3,AP_RND_CONV,AP_SAT_SYM>")},
    ),
    "half_up": (_two_layers(6), {"of_layers": _all("ap_fixed<14,6,AP_RND>", "ap_fixed<7,2,AP_RND>")}),
    "half_away": (_two_layers(7), {"of_layers": _all("ap_fixed<14,6,AP_RND_INF>", "ap_fixed<7,3,AP_RND_INF,AP_SAT>")}),
    "half_zero": (_two_layers(8), {"of_layers": _all("ap_fixed<14,6,AP_RND_ZERO>", "ap_fixed<7,2,AP_RND_ZERO>")}),
    "half_down": (
        _two_layers(9),
        {"of_layers": _all("ap_fixed<14,6,AP_RND_MIN_INF>", "ap_fixed<7,2,AP_RND_MIN_INF>")},
    ),
    "to_zero": (_two_layers(10), {"of_layers": _all("ap_fixed<14,6,AP_TRN_ZERO>", "ap_fixed<7,2,AP_TRN_ZERO,AP_SAT>")}),
    "unsigned": (
        _two_layers(11),
        _types("ap_fixed<12,5>", MatMul={"accum": "ap_fixed<18,8>"}, Relu={"result": "ap_ufixed<6,2>"}),
    ),
    "unsigned_saturated": (
        _two_layers(12),
        _types(MatMul={"accum": "ap_ufixed<20,7>"}, Relu={"result": "ap_ufixed<5,2,AP_RND_CONV,AP_SAT>"}),
    ),
    "saturated_sums": (
        _two_layers(13),
        {"precision": "ap_fixed<8,3>", "of_layers": _all("ap_fixed<28,14,AP_TRN,AP_SAT>")},
    ),
    "sums_cut_off": (_two_layers(34), {"of_layers": _all("ap_fixed<12,3,AP_RND,AP_SAT>")}),
    "sums_cut_off_reused": (
        Model(6, 35).dense(4).then("Relu").dense(2),
        {"strategy": "Resource", "reuse": 2, "of_layers": _all("ap_fixed<11,3,AP_TRN,AP_SAT_SYM>")},
    ),
    "sums_cut_off_in_a_stream": (
        _two_layers(36),
        {"io_type": "io_stream", "of_layers": _all("ap_fixed<10,3,AP_RND_CONV,AP_SAT>", "ap_fixed<9,4>")},
    ),
    "input_saturates": (_two_layers(14), _types(global_in={"result": "ap_fixed<7,2,AP_RND_CONV,AP_SAT>"})),
    "small_input": (_two_layers(15), _types(global_in={"result": "ap_ufixed<6,-1,AP_RND>"})),
    "whole": (
        _two_layers(16, weights=(-2.0, -1.0, 0.0, 3.0), bias=False),
        _types(
            global_in={"result": "ap_fixed<5,5>"},
            MatMul={"weight": "ap_int<3>", "accum": "ap_int<7>", "result": "ap_int<5>"},
        ),
    ),
    "no_bias": (_two_layers(17, bias=False), {"of_layers": _all("ap_fixed<16,6>")}),
    "ternary": (_two_layers(18, weights=(-1.0, 0.0, 1.0)), _types(MatMul={"weight": "ap_int<2>"})),
    "resource": (_two_layers(19), {"strategy": "Resource", **NARROW}),
    "reused": (Model(6, 20).dense(4).then("Relu").dense(2), {"strategy": "Resource", "reuse": 2, **NARROW}),
    "much_reused": (Model(3, 21).dense(4).then("Relu").dense(3), {"strategy": "Resource", "reuse": 12, **NARROW}),
    "stream": (_two_layers(22), {"io_type": "io_stream", **NARROW}),
    "vitis": (_two_layers(23), {"backend": "Vitis", "strategy": "Resource", **NARROW}),
    "leaky": (
        Model(4, 24).dense(5).then("LeakyRelu", alpha=0.3).dense(3).then("LeakyRelu", alpha=1.25),
        {"precision": "ap_fixed<14,6>"},
    ),
    "thresholded": (
        Model(4, 30).dense(5).then("ThresholdedRelu", alpha=0.0).dense(3).then("ThresholdedRelu", alpha=0.0),
        {"of_layers": {"ThresholdedRelu": {"result": "ap_fixed<9,4,AP_RND,AP_SAT>"}}, "precision": "ap_fixed<13,5>"},
    ),
    "normalised": (
        Model(4, 25).normalised().dense(5).then("Relu").normalised().dense(2),
        {"precision": "ap_fixed<12,5>"},
    ),
    "branches": (
        Model(3, 29)
        .dense(3)
        .then("Relu")
        .with_inputs("Add")
        .dense(3)
        .with_inputs("Sub")
        .with_inputs("Concat")
        .dense(2),
        NARROW,
    ),
    "stream_leaky": (
        Model(4, 26).normalised().then("LeakyRelu", alpha=0.3).dense(3).then("Relu").normalised(),
        {"precision": "ap_fixed<12,5>", "io_type": "io_stream"},
    ),
}


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Network]]:
    folder = tmp_path_factory.mktemp("projects")
    found = {}
    for name, (model, settings) in CASES.items():
        place = project(folder / name, model, **settings)
        found[name] = place, read_network(place)
    return found


@pytest.fixture(scope="module")
def simulation(networks: dict[str, tuple[Path, Network]], tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    return compiled(tmp_path_factory.mktemp("simulation"), networks)


def _points(inputs: int) -> NDArray[np.float64]:
    """On grids and off them, small and beyond every type, with the ends of types."""
    random = np.random.default_rng(0)
    points: NDArray[np.float64] = random.normal(size=(POINTS, inputs)) * random.choice(
        [0.03, 0.3, 1.0, 3.0, 30.0, 300.0], (POINTS, 1)
    )
    for bits, rows in ((10, slice(0, POINTS // 4)), (5, slice(POINTS // 4, POINTS // 2)), (0, slice(-100, None))):
        points[rows] = np.rint(points[rows] * 2.0**bits) / 2.0**bits
    return points


IMAGES = {
    "sequence": Model((2, 6), 27).convolved(3, pad=1, stride=2).then("Relu").flat().dense(2),
    "image": Model((2, 5, 6), 28).convolved(2, pad=1).then("Relu").pooled().flat().dense(2),
    "sequence_as_one": Model((2, 7), 32).convolved(3).pooled_as_one().flat().dense(2),
    "image_as_one": Model((2, 5, 6), 33).convolved(3).pooled_as_one().flat().dense(2),
}


@pytest.mark.parametrize("name", IMAGES)
def test_every_output_of_an_image_is_that_of_the_simulation(name: str, tmp_path: Path) -> None:
    types = dict.fromkeys(("MatMul", "Conv"), NARROW["of_layers"]["MatMul"])
    place = project(
        tmp_path / "project", IMAGES[name], of_layers=types, strategy="Resource" if name == "image" else "Latency"
    )
    network = read_network(place)
    check_outputs(network, name, compiled(tmp_path, {name: (place, network)}))
    code = place / "firmware/nnet_utils/nnet_code_gen.h"
    text = code.read_text()
    code.write_text(text.replace("data[2]", "data[3]"))
    points = _points(network.input_size)[:50]
    assert (read_network(place).evaluate(points) != network.evaluate(points)).any()
    for old, new, message in (
        ("= data[2];", "= data[999];", "a number below"),
        ("buffer[0][1] =", "buffer[0][0] =", "input 0 of a position is filled twice"),
        ("if (partition == 1) {", "if (partition == 1) { }", "'buffer' where 'if' should be"),
    ):
        spaced = re.compile(re.escape(old).replace(r"\ ", " +"))
        assert spaced.search(text)
        code.write_text(spaced.sub(new, text))
        with pytest.raises(NetworkError, match=message) as refused:
            read_network(place)
        assert refused.value.path == str(code)


@pytest.mark.parametrize("name", CASES)
def test_every_output_is_that_of_the_simulation(
    name: str, networks: dict[str, tuple[Path, Network]], simulation: Simulation
) -> None:
    check_outputs(networks[name][1], name, simulation)


def check_outputs(network: Network, name: str, simulation: Simulation) -> None:
    points = _points(network.input_size)
    expected = simulation(name, points)
    assert len(np.unique(expected)) > 3
    np.testing.assert_array_equal(network.evaluate(points), expected)
    for point, wanted in zip(points[::400], expected[::400], strict=True):
        exact = network.evaluate_exact([Fraction(x) for x in point])
        assert exact == [(Fraction(y), Fraction(y)) for y in wanted]


@pytest.mark.parametrize("name", CASES)
def test_the_core_computes_what_the_simulation_does_in_all_cells(
    name: str, networks: dict[str, tuple[Path, Network]], simulation: Simulation
) -> None:
    """Of a grid of some thousand points: small ones, and multiples of 3/4 beyond most types."""
    network = networks[name][1]
    steps = [Fraction(1, 64)] * network.input_size
    steps[0], steps[1] = Fraction(3, 4), Fraction(5, 8)
    least = [-9, -9, *[-1] * (network.input_size - 2)]
    lattices = tuple((Fraction(0), step) for step in steps)
    lower = tuple(low * step for low, step in zip(least, steps, strict=True))
    cells = runs_on(Region(lower, tuple(-x for x in lower), lattices), [network], 1 << 20)
    assert isinstance(cells, CellRuns)
    assert cells.quick
    every = range(cells.cells.count)
    values, unsure = cells.runs[0](every)
    assert values.radius is None
    assert not unsure.any()
    expected = simulation(name, cells.runs[0].inputs(cells.cells.choices(every)).T.copy())
    assert len(np.unique(expected)) > 3
    np.testing.assert_array_equal(values.value.T, expected)


def check_projects(folder: Path, projects: Mapping[str, tuple[Path, Network]]) -> None:
    """The outputs of all of these, whose simulations are compiled together."""
    simulation = compiled(folder, projects)
    for name, (_, network) in projects.items():
        check_outputs(network, name, simulation)


JET = "data/graphs/qonnx/qkeras_jettagging__1d9aa7.onnx"
"""A tagger of jets with weights and activations of 6 bits, of the zoo of QONNX models."""


@pytest.mark.shared
def test_a_tagger_of_jets_is_what_the_simulation_computes(shared: Path, tmp_path: Path) -> None:
    """With the types that hls4ml finds, where no accumulator can be left, and with those of its examples."""
    projects = {}
    for name, types in (("found", None), ("usual", _all("ap_fixed<16,6>"))):
        place = converted(tmp_path / name, onnx.load(str(shared / JET)), of_layers=types, without_last=True)
        projects[name] = place, read_network(place)
    check_projects(tmp_path, projects)
    found, usual = (network for _, network in projects.values())
    assert [step.rows for step in found.steps] == [16, 64, 32, 32, 5]
    assert not any("accum_t" in cast.name for cast in found.casts)
    assert any("accum_t" in cast.name for cast in usual.casts)
