"""Specs compiled with networks that exist by name only: `3x2.onnx` has three inputs and two outputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from eqspec.compile import Compiled, loads
from eqspec.networks.network import AffineLayer, Network

Compile: TypeAlias = Callable[..., Compiled]


class Reader:
    """Makes a network for a file name, and remembers what was read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, path: Path) -> Network:
        self.read.append(path.name)
        inputs, outputs = (int(n) for n in path.stem.split("-")[0].split("x"))
        weight = np.arange(1.0, inputs * outputs + 1).reshape(outputs, inputs)
        stripped: Any = "softmax" if "softmax" in path.name else None
        return Network.of_layers((AffineLayer(weight, np.ones(outputs)),), str(path), path.name, stripped=stripped)


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def compiled(tmp_path: Path, reader: Reader) -> Compile:
    """Compile a text; keywords with a suffix after __ are files beside it: rows__csv="1,2"."""

    def compile_text(text: str, params: Any = None, only: Any = None, **files: str | bytes) -> Compiled:
        for size in ("2x2", "2x3"):
            for name in ("", "-b", "-softmax"):
                (tmp_path / f"{size}{name}.onnx").write_text("")
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (tmp_path / name.replace("__", ".")).write_bytes(data)
        return loads("eqspec 1\n" + text, params, directory=tmp_path, only=only, read=reader)

    return compile_text
