"""Every code is explained, its wrong example really gives it, and its right one gives nothing."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from eqspec.compile import loads
from eqspec.errors import (
    Diagnostic,
    DisagreementError,
    NetworkError,
    OutputChoiceError,
    SpecError,
    UnsupportedOperatorError,
)
from eqspec.networks import Dequantised, read_network
from eqspec.networks.curves import Curves
from eqspec.networks.network import AffineLayer, Network, Port
from eqspec.networks.program import INPUTS, Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.spec.codes import CODES
from eqspec.spec.explanations import explanation
from eqspec.spec.formatting import formatted
from small_specs import ending_in, write_onnx

PORTS = {
    "two_inputs": (Port("track", (1, 2), 2), Port("cell", (1, 1), 1)),
    "two_inputs_fast": (Port("track", (1, 2), 2), Port("cell", (1, 1), 1)),
    "other_order": (Port("cell", (1, 1), 1), Port("track", (1, 2), 2)),
}


def read(path: Path, output: str | None = None, dequantised: Dequantised | None = None) -> Network:
    """Three inputs and three outputs, unless the name says something else."""
    if path.name == "heads.onnx" and output is None:
        raise OutputChoiceError(str(path), "the model has 2 outputs ('scores', 'values')")
    if path.name == "hardmax.onnx":
        raise UnsupportedOperatorError(str(path), "operator is not supported", node="act", operator="Hardmax")
    if path.name == "broken.onnx":
        raise NetworkError(str(path), "not an ONNX model")
    if path.name == "misread.onnx":
        raise DisagreementError(str(path), "it is read as another function than onnxruntime computes")
    if path.stem == "wrapping":
        return wrapping(path)
    if path.stem in ("sigmoid", "smaller_sigmoid"):
        return ending_in("sigmoid", path)
    if path.name in ("full.onnx", "huge.onnx"):
        return read_network(path, dequantised=dequantised)
    outputs = 2 if path.name == "three_two.onnx" else 3
    stripped = "softmax" if path.stem in ("softmax", "smaller_softmax") else None
    inner = "Softmax 's' with Clip behind it" if path.stem == "clipped_softmax" else None
    layer = AffineLayer(np.ones((outputs, 3)), np.zeros(outputs))
    network = Network.of_layers((layer,), str(path), path.stem, stripped=stripped)
    label: Literal["min"] | None = "min" if path.stem.endswith("distances") else None
    return replace(network, inner_softmax=inner, ports=PORTS.get(path.stem, ()), label=label)


def wrapping(path: Path) -> Network:
    """The same, stored in a type that wraps."""
    stored = Curves.all(Quantiser(0.25, -8, 7, Rounding.FLOOR, wraps=True).curve)
    first = Step((Term(INPUTS, Tile.dense(np.eye(3))),), np.zeros(3), None, stored)
    last = Step((Term(0, Tile.dense(np.eye(3))),), np.zeros(3), None, "identity")
    return Network((first, last), 3, str(path), path.stem)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    names = (
        "full",
        "pruned",
        "folded",
        "three_two",
        "softmax",
        "smaller_softmax",
        "clipped_softmax",
        "hardmax",
        "broken",
        "misread",
        "heads",
        "wrapping",
        "sigmoid",
        "smaller_sigmoid",
        "distances",
        "smaller_distances",
        *PORTS,
    )
    for name in names:
        (folder / f"{name}.onnx").write_text("")
    write_onnx(folder / "full.onnx", np.ones((3, 3)), np.zeros(3), ("batch", 3))
    write_onnx(folder / "huge.onnx", np.full((3, 3), 3e38), np.zeros(3), ("batch", 3))
    (folder / "common.eqspec").write_text("eqspec 1\n")
    (folder / "checked.eqspec").write_text("eqspec 1\ncheck inner { }\n")
    (folder / "binary.eqspec").write_bytes(b"eqspec 1 \xff\xfe")
    (folder / "rows.csv").write_text("label,mass,width,tilt\n0,80,0,0\n1,81,0,0\n0,82,n/a,0\n")
    several = [(80 + i % 7, (i * i) % 11, (3 * i) % 5) for i in range(48)]
    (folder / "many.csv").write_text("mass,width,tilt\n" + "".join(f"{a},{b},{c}\n" for a, b, c in several))
    (folder / "flat.csv").write_text("mass,width,tilt\n" + "".join(f"{a},{b},0\n" for a, b, _ in several))
    (folder / "bare.csv").write_text("1,2\n3,4\n")
    (folder / "counted.csv").write_text("0,1,2\n80,0.5,0.25\n81,0.5,0\n")
    (folder / "named.csv").write_text("0,1,label\n80,0.5,a\n81,0.5,b\n")
    (folder / "scaler.json").write_text('{"mean_": [0], "scale_": [1]}')
    (folder / "variance.json").write_text('{"mean_": [0], "var_": [1]}')
    (folder / "scaler.pkl").write_bytes(b"")
    return folder


def found_in(text: str, folder: Path, param: str | None) -> list[Diagnostic]:
    params = dict([param.split("=")]) if param else {}
    try:
        return list(loads(text, params, directory=folder, read=read).diagnostics)
    except SpecError as problem:
        return list(problem.diagnostics)


@pytest.mark.parametrize("code", CODES)
def test_the_examples_are_as_they_say(code: str, folder: Path) -> None:
    found = explanation(code)
    assert found is not None
    assert len(found.text) > 60
    wrong = found_in(found.file(found.wrong), folder, found.param)
    assert code in {d.code for d in wrong}
    right = found_in(found.file(found.right), folder, found.param)
    assert [(d.code, d.message) for d in right if d.severity == "error" or d.code == code] == []


@pytest.mark.parametrize("code", CODES)
def test_the_right_examples_have_the_style(code: str) -> None:
    found = explanation(code)
    assert found is not None
    text = found.right if found.whole else f"eqspec 1\n{found.right}"
    assert formatted(text) == text + "\n"


def test_no_other_code_is_explained() -> None:
    text = files("eqspec.spec").joinpath("explanations.toml").read_text(encoding="utf-8")
    assert set(tomllib.loads(text)) == {*CODES, "around"}
    assert explanation("E999") is None
    assert explanation("around") is None
