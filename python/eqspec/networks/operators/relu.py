"""Relu: where a step of the network ends and new units begin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value


def relu(call: OperatorCall) -> Sequence[Value]:
    """Relu: new units, or the constant itself."""
    a = call.real_value(0)
    if isinstance(a, Affine):
        return [af.relu(a)]
    return [Enclosure(np.maximum(a.value, 0.0), a.error)]


OPERATORS: dict[str, Operator] = {
    "Relu": relu,
}
