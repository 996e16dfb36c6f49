"""The examples of the language description compile unchanged, with networks and data made up to fit."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from eqspec.compile import Compiled, loads
from eqspec.networks.network import AffineLayer, Network
from eqspec.property import Confidence, Epsilon, Linear, Top1

SIZES = {"acas": (5, 5), "lhc": (16, 5), "mnist": (784, 10), "quant": (2, 1), "rice": (7, 2)}
NETWORKS = {
    "acas": ["ACASXU_1_1.onnx", "ACASXU_1_1_pruned5.onnx"],
    "lhc": ["models/2_20.onnx", "models/2_20-p10-e1.onnx"],
    "mnist": ["mnist_relu_3_100.onnx", "mnist_relu_3_100_pruned5.onnx"],
    "quant": ["ctrl_f32.onnx", "ctrl_int8.onnx"],
    "rice": ["rice_2_80.onnx", "rice_2_80_p30.onnx"],
}


def example(name: str, shared: Path, folder: Path) -> Compiled:
    for file in NETWORKS[name]:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("")
    match name:
        case "lhc":
            for part in ("common", "data"):
                (folder / part).mkdir()
            (folder / "common/budgets.eqspec").write_text("eqspec 1\nbudget { threads 1 timeout 1s }\n")
            (folder / "data/jets.csv").write_text(",".join(["label", *(f"jet_{i}" for i in range(16))]) + "\n")
            (folder / "models/scaler.json").write_text(json.dumps({"mean": [0.5] * 16, "std": [0.1] * 16}))
        case "mnist":
            row = ",".join(["7", *(str(i % 5 / 4) for i in range(784))])
            (folder / "mnist_test.csv").write_text((row + "\n") * 100)
        case "rice":
            np.savez(folder / "scaler.npz", mean=np.arange(7.0), scale_=np.full(7, 0.5))
        case "quant":
            (folder / "sensor_space.eqspec").write_text(
                "eqspec 1\nspace motor { features u [V], w normalise minmax low 0 high [24, 3] outputs torque [Nm] }\n"
                "region operating in motor = box { u: 0 .. 24 [V] w: 1 .. 2 }\n"
            )

    def read(path: Path) -> Network:
        inputs, outputs = SIZES[name]
        layer = AffineLayer(np.ones((outputs, inputs)), np.zeros(outputs))
        return Network.of_layers((layer,), str(path), path.name)

    text = (shared / "design" / "language" / f"{name}.eqspec").read_text()
    return loads(text, name=f"{name}.eqspec", directory=folder, read=read)


@pytest.mark.parametrize(
    ("name", "tasks", "finds"), [("acas", 3, 1), ("lhc", 25, 1), ("mnist", 200, 0), ("quant", 2, 0), ("rice", 1, 1)]
)
def test_examples(name: str, tasks: int, finds: int, shared: Path, tmp_path: Path) -> None:
    compiled = example(name, shared, tmp_path)
    assert (len(compiled.tasks), len(compiled.finds)) == (tasks, finds)
    assert not compiled.diagnostics


def test_acas_in_raw_units(shared: Path, tmp_path: Path) -> None:
    close, coc, advisory = example("acas", shared, tmp_path).tasks
    assert (close.property, coc.property) == (Epsilon(Fraction(1, 20)), Epsilon(Fraction(1, 100), "linf", (0,)))
    assert (advisory.property, advisory.space.decide, advisory.space.units[3]) == (Top1(), "min", "ft/s")
    # theta = -pi .. pi over 2 pi, v_own = 1145 .. 1200 around 650 over 1100
    assert (close.lower_exact[1], close.upper_exact[1]) == (Fraction(-1, 2), Fraction(1, 2))
    assert (close.lower_exact[3], close.upper_exact[3]) == (Fraction(9, 20), Fraction(1, 2))
    (constraint,) = close.constraints
    assert constraint.coefficients == (0, 0, 0, -1100, 1200)
    assert constraint.bound == 650 - 600 - 1090


def test_lhc_at_sigma(shared: Path, tmp_path: Path) -> None:
    tasks = example("lhc", shared, tmp_path).tasks
    last = tasks[-1]
    assert last.id == "confident[sigma=3,delta=0.9999999]"
    assert (last.expected, tasks[0].expected, last.tags) == ("equivalent", None, ("nightly", "lhc"))
    assert (last.budget.timeout, last.budget.threads) == (600.0, 1)
    assert (last.space.features[0], last.space.centre[0], last.upper_exact[0]) == ("jet_0", Fraction(1, 2), 3)


def test_rice_mixes_sigma_and_units(shared: Path, tmp_path: Path) -> None:
    (task,) = example("rice", shared, tmp_path).tasks
    assert task.property == Confidence(Fraction(4, 5))
    bounds = list(zip(task.lower_exact, task.upper_exact, strict=True))
    assert bounds[:2] == [(-1, 1), (-2, 2)]
    assert bounds[4] == ((Fraction("0.88") - 4) * 2,) * 2
    assert bounds[6] == ((Fraction("0.5") - 6) * 2, (Fraction("0.86") - 6) * 2)


def test_quant_takes_raw_and_compares_outputs(shared: Path, tmp_path: Path) -> None:
    torque, stronger = example("quant", shared, tmp_path).tasks
    assert (torque.property, stronger.property) == (
        Epsilon(Fraction(1, 50), "l2"),
        Linear((Fraction(1),), (Fraction(-1),), Fraction(1, 50)),
    )
    assert torque.candidate_takes_raw
    assert torque.candidate.evaluate_exact([Fraction(1, 24), Fraction(1, 3)]) == [(Fraction(2), Fraction(2))]
    assert torque.upper_exact == (1, Fraction(2, 3))
