"""Two networks of three inputs and two outputs, a table of raw inputs and a scaler, in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from small_specs import write_onnx

HEADER = "speed [m/s],load,all,kind"
ROWS = ("1.5,-20,0.1,left", "3,0,0.3,right", "2,20,,left", "2.5,40,0.2,right")
MEAN, STD = (2.0, 10.0, 0.25), (0.5, 20.0, 0.125)


def write_pair(folder: Path) -> tuple[Path, Path]:
    """f(x) = (x0, x1 + x2), g = f + (0, 1/4), as full.onnx and small.onnx; train.csv and scaler.json beside them."""
    weight = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    write_onnx(folder / "full.onnx", weight, [0.0, 0.0], ("batch", 3))
    write_onnx(folder / "small.onnx", weight, [0.0, 0.25], ("batch", 3))
    (folder / "train.csv").write_text("\n".join([HEADER, *ROWS]) + "\n")
    (folder / "scaler.json").write_text(json.dumps({"mean": MEAN, "std": STD}))
    (folder / "range.json").write_text(json.dumps({"low": [0, -20, 0], "high": [4, 40, 1]}))
    return folder / "full.onnx", folder / "small.onnx"
