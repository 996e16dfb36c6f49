"""By how much a claim breaks at many inputs at once, in floats, and in which direction it breaks more.

Shapes: x (N, I) in network units, scores (N,), gradients (N, I). A score above 0 means that the claim breaks: it is the
distance, or the left side, beyond what is allowed; of decisions it is the smaller of two numbers, by how much the other
class leads in g, and by how much f meets the condition and decides for its own. So rounding on
either side does not change the sign of a large score. It is used to find inputs; it proves and refutes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.network import AffineLayer, Array
from eqspec.property import Confidence, Decision, Epsilon, Linear, Margin, Top1, exact
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.task import Task

_TIE = 1e-9
"""Classes of f that are this close to the best one, relative to it, may count as the best."""

Derivatives = tuple[Array, Array]
"""With respect to the outputs of f and g, (N, O) each."""


class Excess:
    """The score of a task's claim. `work` counts multiplications, so that a search can be limited without a clock."""

    def __init__(self, task: Task) -> None:
        self._claim, self._layers = task.property, (task.reference.layers, task.candidate.layers)
        self._sign = -1.0 if isinstance(task.property, Decision) and task.space.decide == "min" else 1.0
        self._weights = sum(layer.weight.size for layers in self._layers for layer in layers)
        self.work = 0

    def at(self, x: Array) -> Array:
        """Scores; -inf where a number overflows."""
        with np.errstate(all="ignore"):
            f, g = (self._forward(layers, x)[-1] for layers in self._layers)
            scores = np.min([score for score, _ in self._parts(f, g)], axis=0)
        return np.where(np.isnan(scores), -np.inf, scores)

    def directions(self, x: Array) -> list[Array]:
        """Derivatives of the score (N, I); and of its two parts together, where there are two."""
        with np.errstate(all="ignore"):
            values = [self._forward(layers, x) for layers in self._layers]
            parts = list(self._parts(values[0][-1], values[1][-1]))
            if len(parts) == 1:
                return [self._backward(values, parts[0][1])]
            (one, of_one), (other, of_other) = parts
            least = (one <= other)[:, None]
            first, second = self._backward(values, of_one), self._backward(values, of_other)
            return [np.where(least, first, second), first + second]

    def _forward(self, layers: tuple[AffineLayer, ...], x: Array) -> list[Array]:
        """Values before every ReLU, and the outputs."""
        self.work += len(x) * sum(layer.weight.size for layer in layers)
        values: list[Array] = []
        for layer in layers:
            values.append((np.maximum(values[-1], 0.0) if values else x) @ layer.weight.T + layer.bias)
        values[-1] = self._sign * values[-1]
        return values

    def _backward(self, values: list[list[Array]], derivatives: Derivatives) -> Array:
        self.work += len(derivatives[0]) * self._weights
        total = np.zeros((len(derivatives[0]), self._layers[0][0].weight.shape[1]))
        for layers, before, change in zip(self._layers, values, derivatives, strict=True):
            change = self._sign * change
            for layer, value in zip(layers[:0:-1], before[-2::-1], strict=True):
                change = np.where(value > 0.0, change @ layer.weight, 0.0)
            total += change @ layers[0].weight
        return np.where(np.isfinite(total), total, 0.0)

    def _parts(self, f: Array, g: Array) -> Iterator[tuple[Array, Derivatives]]:
        match self._claim:
            case Epsilon(eps, norm, outputs):
                chosen = np.zeros(f.shape[1])
                chosen[slice(None) if outputs is None else list(outputs)] = 1.0
                apart = (g - f) * chosen
                if norm == "linf":
                    slope = np.sign(apart) * _one_hot(np.argmax(np.abs(apart), axis=1), f.shape[1])
                elif norm == "l1":
                    slope = np.sign(apart)
                else:
                    slope = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-300)
                yield (slope * apart).sum(axis=1) - approximately(exact(eps)), (-slope, slope)
            case Linear(candidate, reference, bound):
                a, b = (np.array([approximately(exact(c)) for c in side]) for side in (reference, candidate))
                yield f @ a + g @ b - approximately(exact(bound)), (a + 0.0 * f, b + 0.0 * g)
            case Top1() | Margin() | Confidence() as claim:
                yield from self._decision(f, g, claim)
            case never:
                assert_never(never)

    def _decision(self, f: Array, g: Array, claim: Decision) -> Iterator[tuple[Array, Derivatives]]:
        rows, classes = np.arange(len(f)), f.shape[1]
        if classes == 1:
            yield np.full(len(f), -np.inf), (0.0 * f, 0.0 * g)
            return
        best = f.max(axis=1, keepdims=True)
        near_best = f >= best - _TIE * (1.0 + np.abs(best))
        own = np.argmin(np.where(near_best, g, np.inf), axis=1)
        mine = _one_hot(own, classes)
        other = np.argmax(np.where(mine > 0.0, -np.inf, g), axis=1)
        yield g[rows, other] - g[rows, own], (0.0 * f, _one_hot(other, classes) - mine)
        rivals = np.where(mine > 0.0, -np.inf, f)
        second = np.argmax(rivals, axis=1)
        lead, toward = f[rows, own] - f[rows, second], mine - _one_hot(second, classes)
        if isinstance(claim, Margin):
            lead = lead - max(0.0, approximately(exact(claim.margin)))
        if isinstance(claim, Confidence) and 0 < (delta := exact(claim.delta)) < 1:
            top = rivals.max(axis=1, keepdims=True)
            shares = np.exp(rivals - top)
            total = shares.sum(axis=1, keepdims=True)
            odds = float(np.log(approximately(delta)) - np.log1p(-approximately(delta)))
            sure = f[rows, own] - (top + np.log(total))[:, 0] - odds
            toward = np.where((sure < lead)[:, None], mine - shares / total, toward)
            lead = np.minimum(sure, lead)
        yield lead, (toward, 0.0 * g)


def _one_hot(index: NDArray[np.intp], size: int) -> Array:
    made = np.zeros((len(index), size))
    made[np.arange(len(index)), index] = 1.0
    return made
