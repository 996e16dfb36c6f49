"""The functions of layers by their usual names, as nodes of ONNX that are these functions over the real numbers.

Each has one exact definition here; a framework that means another one by a name says so before it asks for it.

    silu x s(x)    log_sigmoid -softplus(-x)    hard_sigmoid min(max(x + 3, 0), 6) / 6    hard_tanh min(max(x, -1), 1)

with s the sigmoid. Numbers that belong to a function are stored in the type of the model, in which its framework
computes with them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eqspec.networks.frameworks.chain import Chain


def _clip(chain: Chain, value: str, low: float, high: float) -> str:
    return chain.add("Clip", value, *(np.array(end, chain.dtype) for end in (low, high)))


def _silu(chain: Chain, value: str) -> str:
    return chain.add("Mul", value, chain.add("Sigmoid", value))


def _log_sigmoid(chain: Chain, value: str) -> str:
    return chain.add("Neg", chain.add("Softplus", chain.add("Neg", value)))


def _hard_sigmoid(chain: Chain, value: str) -> str:
    lifted = chain.add("Add", value, np.array(3, chain.dtype))
    return chain.add("Div", _clip(chain, lifted, 0, 6), np.array(6, chain.dtype))


def _one(operator: str) -> Callable[[Chain, str], str]:
    return lambda chain, value: chain.add(operator, value)


ACTIVATIONS: dict[str, Callable[[Chain, str], str]] = {
    "celu": _one("Celu"),
    "elu": _one("Elu"),
    "exponential": _one("Exp"),
    "gelu": _one("Gelu"),
    "hard_sigmoid": _hard_sigmoid,
    "hard_swish": _one("HardSwish"),
    "hard_tanh": lambda chain, value: _clip(chain, value, -1, 1),
    "log_sigmoid": _log_sigmoid,
    "mish": _one("Mish"),
    "relu": _one("Relu"),
    "relu6": lambda chain, value: _clip(chain, value, 0, 6),
    "selu": _one("Selu"),
    "sigmoid": _one("Sigmoid"),
    "silu": _silu,
    "softplus": _one("Softplus"),
    "softsign": _one("Softsign"),
    "tanh": _one("Tanh"),
}
"""Functions without parameters; those of the ONNX operators are their defaults."""
