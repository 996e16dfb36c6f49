"""By how much a claim breaks at many inputs at once, in floats, and in which direction it breaks more.

Shapes: x (N, I) in network units, scores (N,), gradients (N, I). A score above 0 means that the claim breaks: it is the
distance, or the left side, beyond what is allowed; of decisions it is the smaller of two numbers, by how much the other
class leads in g, and by how much f meets the condition and decides for its own. So rounding on
either side does not change the sign of a large score. It is used to find inputs; it proves and refutes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InternalError
from eqspec.networks import evaluation
from eqspec.networks.network import Array
from eqspec.property import (
    Confidence,
    Decision,
    Epsilon,
    Linear,
    Margin,
    NeverSaturates,
    NeverWraps,
    Norm,
    Property,
    Top1,
    exact,
)
from eqspec.replay.both_networks import Chains, Derivatives, Programs
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.task import Task

_TIE = 1e-9
"""Classes of f that are this close to the best one, relative to it, may count as the best."""


_Part: TypeAlias = "tuple[Array, Callable[[], Derivatives]]"
"""Scores, and what gives their derivatives where those are asked for."""


class Excess:
    """The score of a task's claim. `work` counts multiplications, so that a search can be limited without a clock;
    there are so many `products` in one evaluation.
    """

    def __init__(self, task: Task) -> None:
        self._claim, networks = task.property, (task.reference, task.candidate)
        sign = -1.0 if isinstance(task.property, Decision) and task.space.decide == "min" else 1.0
        self._pair = Chains(networks, sign) if all(n.is_chain for n in networks) else Programs(networks, sign)
        self.products = sum(network.products for network in networks)
        self._some = min(evaluation.together(network.steps) for network in networks)
        self._limit = _limit(task.property)
        self.work = 0

    def at(self, x: Array) -> Array:
        """Scores; -inf where a number overflows."""
        self.work += len(x) * self.products
        with np.errstate(all="ignore"):
            first, *other = (score for score, _ in self._parts(*self._pair.outputs(x)))
            scores = np.minimum(first, *other) if other else first
        return np.where(np.isfinite(scores), scores, -np.inf)

    def directions(self, x: Array) -> list[Array]:
        """Derivatives of the score (N, I); and of its two parts together, where there are two."""
        found = [self._directions(x[start : start + self._some]) for start in range(0, max(1, len(x)), self._some)]
        return [np.concatenate(parts) for parts in zip(*found, strict=True)] if len(found) > 1 else found[0]

    def _directions(self, x: Array) -> list[Array]:
        self.work += len(x) * self.products
        with np.errstate(all="ignore"):
            f, g, pull_back = self._pair.derivable(x)

            def backward(derivatives: Derivatives) -> Array:
                self.work += len(x) * self.products
                slopes = pull_back(derivatives)
                return np.where(np.isfinite(slopes), slopes, 0.0)

            parts = self._parts(f, g)
            if len(parts) == 1:
                return [backward(parts[0][1]())]
            (one, of_one), (other, of_other) = parts
            least = (one <= other)[:, None]
            first, second = backward(of_one()), backward(of_other())
            return [np.where(least, first, second), first + second]

    def _parts(self, f: Array, g: Array) -> list[_Part]:
        match self._claim:
            case Epsilon(_, norm, outputs):
                apart = g - f
                if outputs is not None:
                    chosen = np.zeros(f.shape[1])
                    chosen[list(outputs)] = 1.0
                    apart *= chosen
                return [(_size(norm, apart) - self._limit, lambda: _slopes_of_size(norm, apart))]
            case Linear(candidate, reference):
                a, b = (np.array([approximately(exact(c)) for c in side]) for side in (reference, candidate))
                return [(f @ a + g @ b - self._limit, lambda: (a + 0.0 * f, b + 0.0 * g))]
            case Top1() | Margin() | Confidence() as claim:
                return self._decision(f, g, claim)
            case NeverWraps() | NeverSaturates():
                raise InternalError("what is computed on the way has no score")
            case never:
                assert_never(never)

    def _decision(self, f: Array, g: Array, claim: Decision) -> list[_Part]:
        rows, classes = np.arange(len(f)), f.shape[1]
        if classes == 1:
            return [(np.full(len(f), -np.inf), lambda: (0.0 * f, 0.0 * g))]
        best = f.max(axis=1, keepdims=True)
        near_best = f >= best - _TIE * (1.0 + np.abs(best))
        own = np.argmin(np.where(near_best, g, np.inf), axis=1)
        mine = _one_hot(own, classes)
        other = np.argmax(np.where(mine > 0.0, -np.inf, g), axis=1)
        rivals = np.where(mine > 0.0, -np.inf, f)
        second = np.argmax(rivals, axis=1)
        lead, toward = f[rows, own] - f[rows, second], mine - _one_hot(second, classes)
        if isinstance(claim, Margin):
            lead = lead - self._limit
        if isinstance(claim, Confidence) and self._limit > -np.inf:
            top = rivals.max(axis=1, keepdims=True)
            shares = np.exp(rivals - top)
            total = shares.sum(axis=1, keepdims=True)
            sure = f[rows, own] - (top + np.log(total))[:, 0] - self._limit
            toward = np.where((sure < lead)[:, None], mine - shares / total, toward)
            lead = np.minimum(sure, lead)
        return [
            (g[rows, other] - g[rows, own], lambda: (0.0 * f, _one_hot(other, classes) - mine)),
            (lead, lambda: (toward, 0.0 * g)),
        ]


def _limit(claim: Property) -> float:
    """What is allowed: a distance, a bound, or of a guard how far f has to lead; -inf of a confidence always given."""
    match claim:
        case Epsilon(eps):
            return approximately(exact(eps))
        case Linear(bound=bound):
            return approximately(exact(bound))
        case Margin(margin):
            return max(0.0, approximately(exact(margin)))
        case Confidence(delta):
            share = exact(delta)
            if not 0 < share < 1:
                return -np.inf
            rest = approximately(1 - share)  # 0 only of a share next to 1 that no scores in binary64 reach
            return float(np.log(approximately(share)) - np.log(rest)) if rest > 0.0 else np.inf
        case Top1() | NeverWraps() | NeverSaturates():
            return -np.inf
        case never:
            assert_never(never)


def _size(norm: Norm, apart: Array) -> Array:
    """The norm of each row of differences."""
    match norm:
        case "linf":
            return np.asarray(np.abs(apart).max(axis=1))
        case "l1":
            return np.asarray(np.abs(apart).sum(axis=1))
        case "l2":
            return np.asarray(np.linalg.norm(apart, axis=1))


def _slopes_of_size(norm: Norm, apart: Array) -> Derivatives:
    """The derivatives of the norm of g - f with respect to f and g."""
    match norm:
        case "linf":
            slope = np.sign(apart) * _one_hot(np.argmax(np.abs(apart), axis=1), apart.shape[1])
        case "l1":
            slope = np.sign(apart)
        case "l2":
            slope = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-300)
    return -slope, slope


def _one_hot(index: NDArray[np.intp], size: int) -> Array:
    made = np.zeros((len(index), size))
    made[np.arange(len(index)), index] = 1.0
    return made
