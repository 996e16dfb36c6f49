"""A ReLU network as alternating affine and ReLU layers.

Shapes: layer l has weight (m_l, n_l) and bias (m_l,), n_0 = I inputs, the last m = O outputs; ReLU follows every layer but the last.
Weights are float64. Where a layer is not exactly representable (several operators were folded into one), `weight_error` and `bias_error`
bound, elementwise, how far the exact number may lie from the stored one, so that a proof covers the folding too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AffineLayer:
    """x -> weight x + bias, exact up to the elementwise errors (None: exact)."""

    weight: Array
    bias: Array
    weight_error: Array | None = None
    bias_error: Array | None = None


@dataclass(frozen=True, eq=False)
class Network:
    """A network that was read from a file (or built in memory) and folded."""

    layers: tuple[AffineLayer, ...]
    source: str
    sha256: str
    input_name: str = "input"
    input_shape: tuple[int | str, ...] = ()
    output_name: str = "output"
    output_shape: tuple[int | str, ...] = ()
    stripped: Literal["softmax", "log_softmax"] | None = None
    notes: tuple[str, ...] = ()

    @property
    def input_size(self) -> int:
        """I, the number of inputs."""
        return int(self.layers[0].weight.shape[1])

    @property
    def output_size(self) -> int:
        """O, the number of outputs."""
        return int(self.layers[-1].weight.shape[0])

    def evaluate(self, inputs: Array) -> Array:
        """Outputs (N, O) in float64 at inputs (N, I)."""
        raise NotImplementedError

    def evaluate_exact(self, point: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
        """Exact enclosures (lo, hi) of each output at one rational input; lo == hi where every layer is exact."""
        raise NotImplementedError
