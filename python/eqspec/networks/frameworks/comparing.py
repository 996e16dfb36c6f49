"""Is a model in memory converted to what the model itself answers? Asked at the points at which files are compared.

Shapes: N points (N, I), answers (N, O). An export may leave out what a model computes: the threshold of a Softplus, the
levels of a rounding whose export says that it is the identity, a branch that torch takes while it exports alone. So the
answers of the model have to lie in what the network encloses, with what its type rounds, entry by entry and at points
up to a thousand, as those of onnxruntime do for files (`agreement`). A Softmax that was left out is put back for that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import helper

from eqspec.errors import DisagreementError, NetworkError
from eqspec.networks import agreement, roundoff
from eqspec.networks.agreement import Comparison
from eqspec.networks.frameworks.converted import Converted
from eqspec.networks.network import Array, Network
from eqspec.networks.program import Step
from eqspec.networks.readers import onnx_reader
from eqspec.networks.roundoff import Precision
from eqspec.networks.session import Session
from eqspec.networks.softened import softened

FIX = "look for branches that depend on the input, and for layers that are random; or export it yourself"
_SCALES = np.repeat([0.01, 0.1, 1.0, 10.0], 8)
"""The sizes of the random inputs that are asked first, of scores behind a Softmax that is left out, too."""
_NEAR = 1e-3
"""How far float32 may carry a model from its real function there, by the size of its outputs."""
_AT_ONCE = 256
"""The most points that a model is asked at a time."""
_MOST_CLASSES = 64
"""Of more classes a Softmax is not put back, which takes steps for pairs of them."""


class _Asked(Session):
    """A model in the place of a session of onnxruntime."""

    def __init__(self, converted: Converted) -> None:  # no session is opened
        self._converted = converted
        kind = converted.model.graph.input[0].type.tensor_type.elem_type
        self._kind = helper.tensor_dtype_to_np_dtype(kind)
        self.samples = _AT_ONCE

    def rounded(self, points: Array) -> Array:
        # Keras hands numbers on as float32, whatever a model takes.
        made: Array = points.astype(np.float32).astype(self._kind).astype(np.float64)
        return made

    def answers(self, point: object) -> Array:
        rows = np.asarray(self._converted.outputs(np.asarray(point, np.float64)), np.float64)
        made: Array = rows[np.arange(self.samples) % len(rows)].reshape(-1)
        return made


class _OfModel(Comparison):
    """A network beside the model that it was made from."""

    def __init__(self, network: Network, converted: Converted) -> None:
        super().__init__(softened(network), converted.model.SerializeToString)
        self._read, self._asked = network, _Asked(converted)

    def _running(self) -> Session:
        return self._asked

    def _with_radii(self, precision: Precision, share: float | None = None) -> Sequence[Step]:
        try:
            read = onnx_reader.read_rounded(self._read.source, self._content(), precision, share=share)
        except NetworkError:  # it jumps, or leaves the range of the type
            return ()
        return softened(read).steps

    def _disagreement(self, points: Array, found: Array, where: tuple[int, int, float]) -> DisagreementError:
        row, output, allowed = where
        here = self._network.evaluate(points[row : row + 1])[0]
        shown = ", ".join(f"{x:.6g}" for x in points[row][:8]) + (", ..." if points.shape[1] > 8 else "")
        message = (
            f"the model and its ONNX export differ: at input [{shown}] output {output} of the model is "
            f"{found[row, output]:.9g}, and {here[output]:.9g} of the export; rounding explains {allowed:.2g} of that"
        )
        return DisagreementError(self._read.source, message, fix=FIX)


def check(network: Network, converted: Converted) -> None:
    """Raises NetworkError where a model answers something else than its network at one of many points."""
    _check_roughly(network, converted)
    if network.stripped is None or network.output_size <= _MOST_CLASSES:
        _OfModel(network, converted).at(agreement.points(network.input_size))


def _check_roughly(network: Network, converted: Converted) -> None:
    """As many answers as outputs, and about the same ones."""
    inputs = np.random.default_rng(0).normal(size=(len(_SCALES), network.input_size)) * _SCALES[:, None]
    wanted, found = np.asarray(converted.outputs(inputs), np.float64), network.evaluate(inputs)
    if wanted.shape != found.shape:
        message = f"the model answers {wanted.shape[1:]} numbers, its ONNX export {found.shape[1:]}"
        raise NetworkError(network.source, message, fix="export it yourself, look at the file, and give its path")
    if network.stripped is not None:
        found = _log_softmax(found)
        found = np.exp(found) if network.stripped == "softmax" else found
    scale = np.maximum(np.abs(wanted).max(axis=1, keepdims=True), 1e-1)
    short = agreement.precision_of(converted.model.SerializeToString()) in (roundoff.FLOAT16, roundoff.BFLOAT16)
    if not short and not (np.abs(found - wanted) <= _NEAR * scale).all():
        apart = f"{np.abs(found - wanted).max():.3g} at random inputs"
        raise NetworkError(network.source, f"the model and its ONNX export differ by up to {apart}", fix=FIX)


def _log_softmax(scores: Array) -> Array:
    shifted = scores - scores.max(axis=1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result
