"""Mod of real numbers: what a division by a constant leaves.

    mod(x, b) = x - b q

With fmod, q is x / b without what is behind its point, and the remainder has the sign of x, as C's fmod. Without, which
ONNX defines for real numbers since opset 28, q is the largest integer up to x / b, and the remainder has the sign of b.
It jumps where x is a multiple of b, with fmod other than 0, as angles do that are kept between -pi and pi.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import casting, folding
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value

FLOORED = 28
"""The opset that first defines remainders of real numbers without fmod."""


def modulo(call: OperatorCall) -> Sequence[Value]:
    """Mod, of values that depend on the input, by a constant."""
    if folding.is_constant(call):
        return folding.fold(call)
    call.refuse_rounded_jump("a remainder jumps at every multiple of the divisor")
    x, divisor = call.real_value(0), call.real_value(1)
    if not isinstance(x, Affine) or not isinstance(divisor, Enclosure):
        raise UnreadableError("a remainder of a division by a value that depends on the input", "divide by a constant")
    truncated = bool(call.integer("fmod", 0))
    if not truncated and call.opset < FLOORED:
        message = f"a remainder of real numbers without fmod, which ONNX defines since opset {FLOORED} alone"
        raise UnreadableError(message, f"set fmod=1, or export with opset {FLOORED}")
    if not ((np.abs(divisor.value) - divisor.radius) > 0).all():
        raise UnreadableError("a division by zero", "repair the constant")
    check_broadcast(x.shape, divisor.shape)
    check_one_for_all(call, x.shape, divisor.shape)
    quotient = af.scale(x, divisor, en.divide)
    whole = casting.towards_zero(quotient) if truncated else af.curve(quotient, Curves.all(Curve("floor")))
    return [af.add(af.broadcast(x, whole.shape), af.negate(af.scale(whole, divisor)))]


OPERATORS: dict[str, Operator] = {"Mod": modulo}
