"""Pairs whose zonotopes do not fit in the memory that is given: bounded backwards, attacked, never proved wrongly."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import eqspec
from convolutional_models import KINDS, Kind, initialise, on_a_grid, settle, write
from eqspec.cli import main
from eqspec.cli.exit import ExitCode
from eqspec.run.settings import bytes_of


@pytest.fixture(params=KINDS)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """A convolutional network and itself in weights of 8 bits."""
    kind: Kind = request.param
    model = settle(initialise(kind, "relu", np.random.default_rng(3), width=4), np.random.default_rng(4))
    return write(model, tmp_path / "whole.onnx"), write(on_a_grid(model), tmp_path / "grid.onnx")


def sampled(files: tuple[Path, Path], radius: float) -> float:
    """The largest difference of onnxruntime's answers at a few hundred inputs of [-radius, radius]."""
    first, second = (onnxruntime.InferenceSession(str(path)) for path in files)
    name, shape = first.get_inputs()[0].name, [1, *first.get_inputs()[0].shape[1:]]
    rng = np.random.default_rng(5)
    points = [rng.choice([-radius, radius], shape).astype(np.float32) for _ in range(200)]
    off = [np.abs(first.run(None, {name: p})[0] - second.run(None, {name: p})[0]).max() for p in points]
    return float(max(off))


def test_proofs_without_zonotopes_hold(pair: tuple[Path, Path]) -> None:
    """What is claimed lies beyond what samples show and is proved; nothing below it is."""
    inputs, radius = 64, 1e-3
    off = sampled(pair, radius)
    box = [-radius] * inputs, [radius] * inputs
    wide = eqspec.verify(*pair, *box, eqspec.Epsilon(20 * off), memory=1000, timeout=60)
    assert wide.verdict == "equivalent"
    assert wide.initial_bound is not None
    assert wide.initial_bound >= off
    below = eqspec.verify(*pair, *box, eqspec.Epsilon(off / 2), memory=1000, timeout=20)
    assert below.verdict == "different"


def test_zonotopes_are_used_where_they_fit(pair: tuple[Path, Path]) -> None:
    """Else both searches would begin with the same bound."""
    box = [-1e-2] * 64, [1e-2] * 64
    fits, not_so = (
        eqspec.verify(*pair, *box, eqspec.Epsilon(1e-9), memory=memory, timeout=20) for memory in (2 << 30, 1000)
    )
    assert fits.initial_bound is not None
    assert not_so.initial_bound is not None
    assert fits.initial_bound != not_so.initial_bound


def test_what_has_no_certificate_is_not_proved_where_one_is_asked_for(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Backward bounds have no place in a record: the search ends, and says that it does not know."""
    (tmp_path / "c.eqspec").write_text(
        "eqspec 1\nspace s { shape [1, 8, 8] outputs 10 }\n"
        'network f = "whole.onnx" in s\nnetwork g = "grid.onnx" in s\n'
        "region r in s = box { all: -0.001 .. 0.001 }\n"
        "check c { prove g stays within 100 of f  on r  budget { memory 1KB timeout 20s } }\n"
    )
    ask = ["check", str(tmp_path / "c.eqspec"), "--format", "json", "--no-cache"]
    assert main([*ask, "--certify", str(tmp_path / "proofs")]) == ExitCode.UNDECIDED
    assert json.loads(capsys.readouterr().out)[0]["verdict"] == "unknown"
    assert main(ask) == ExitCode.AS_EXPECTED
    assert json.loads(capsys.readouterr().out)[0]["verdict"] == "equivalent"


@pytest.mark.parametrize(("text", "size"), [("8GB", 8 * 10**9), ("1.5KiB", 1536), ("4096", 4096)])
def test_sizes_are_read(text: str, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["GB", "8 GB", "3s", "-1GB", "8Gb", ""])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="not a size"):
        bytes_of(text)
