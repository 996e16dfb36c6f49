"""Both networks of a task at many points at once, in floats, with derivatives.

Shapes: x (N, I), outputs f and g (N, O), derivatives with respect to them the same, with respect to x (N, I). All
outputs are multiplied with a sign. Two chains of the same shapes are taken as one stack of matrices: points are few
here and layers small, so that what numpy takes for a call counts more than the arithmetic. Only floats: nothing here
proves or refutes anything.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eqspec.networks import evaluation
from eqspec.networks.network import Array, Network

Derivatives = tuple[Array, Array]
"""Derivatives with respect to the outputs of f and g, (N, O) each."""
PullBack = Callable[[Derivatives], Array]
"""From derivatives with respect to the outputs to those with respect to the inputs (N, I)."""
Networks = tuple[Network, Network]


class Programs:
    """Any two networks, step by step."""

    def __init__(self, networks: Networks, sign: float) -> None:
        self._networks, self._sign = networks, sign

    def outputs(self, x: Array) -> tuple[Array, Array]:
        """What both answer."""
        f, g = (self._sign * network.evaluate(x) for network in self._networks)
        return f, g

    def derivable(self, x: Array) -> tuple[Array, Array, PullBack]:
        """What both answer, and how derivatives there are pulled back to the inputs."""
        values = [evaluation.values(network.steps, x.T) for network in self._networks]
        f, g = (self._sign * before[-1].T for before in values)

        def pull_back(derivatives: Derivatives) -> Array:
            total = np.zeros(x.shape)
            for network, before, change in zip(self._networks, values, derivatives, strict=True):
                total += evaluation.gradient(network.steps, before, self._sign * change.T, network.input_size).T
            return total

        return f, g, pull_back


class Chains:
    """Two chains of layers, ReLU after each but the last."""

    def __init__(self, networks: Networks, sign: float) -> None:
        shapes = [[layer.weight.shape for layer in network.layers] for network in networks]
        alike = shapes[0] == shapes[1]
        self._stacks = [Stack(networks)] if alike else [Stack([network]) for network in networks]
        self._sign = sign

    def outputs(self, x: Array) -> tuple[Array, Array]:
        """What both answer."""
        f, g = (self._sign * one for stack in self._stacks for one in stack.values(x)[-1])
        return f, g

    def derivable(self, x: Array) -> tuple[Array, Array, PullBack]:
        """What both answer, and how derivatives there are pulled back to the inputs; 0 where a ReLU is 0."""
        values = [stack.values(x) for stack in self._stacks]
        f, g = (self._sign * one for each in values for one in each[-1])

        def pull_back(derivatives: Derivatives) -> Array:
            change = self._sign * np.stack(derivatives)
            parts = [change] if len(self._stacks) == 1 else [change[:1], change[1:]]
            pulled = zip(self._stacks, values, parts, strict=True)
            total: Array = sum(stack.pull_back(each, part).sum(axis=0) for stack, each, part in pulled)
            return total

        return f, g, pull_back


class Stack:
    """S chains of the same shapes: layer by layer the weights (S, m, n) and biases (S, 1, m)."""

    def __init__(self, networks: Networks | list[Network]) -> None:
        layers = list(zip(*(network.layers for network in networks), strict=True))
        self._weights = [np.stack([layer.weight for layer in each]) for each in layers]
        self._turned = [np.ascontiguousarray(weight.transpose(0, 2, 1)) for weight in self._weights]
        self._biases = [np.stack([layer.bias for layer in each])[:, None] for each in layers]

    def values(self, x: Array) -> list[Array]:
        """What each layer gives behind its ReLU (S, N, m) at points x (N, I); the last are the outputs."""
        values, now = list[Array](), x[None]
        for weight, bias in zip(self._turned, self._biases, strict=True):
            now = now @ weight
            now += bias
            if len(values) + 1 < len(self._biases):
                np.maximum(now, 0.0, out=now)
            values.append(now)
        return values

    def pull_back(self, values: list[Array], change: Array) -> Array:
        """Derivatives (S, N, I) of change (S, N, O) . outputs with respect to the inputs where these are the values."""
        for weight, below in zip(self._weights[:0:-1], values[-2::-1], strict=True):
            change = change @ weight
            # Behind ReLU a value is positive exactly where it was before.
            change[~(below > 0.0)] = 0.0
        pulled: Array = change @ self._weights[0]
        return pulled
