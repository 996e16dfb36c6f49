"""A model on its way to a network: its ONNX form, and how to ask the model itself."""

from __future__ import annotations

from collections.abc import Callable

import onnx

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.network import Array


@dataclass(frozen=True)
class Converted:
    """`outputs` gives the model's own answers (N, O) at inputs (N, I), in its own precision."""

    model: onnx.ModelProto
    outputs: Callable[[Array], Array]
