"""Mod of real numbers: what a division by a constant leaves, with the sign of the dividend, as C's fmod.

    fmod(x, b) = x - b q,  q = x / b without what is behind its point

It jumps where x is a multiple of b other than 0, as angles do that are kept between -pi and pi.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import casting, folding
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value


def modulo(call: OperatorCall) -> Sequence[Value]:
    """Mod, of values that depend on the input with fmod set and by a constant."""
    if folding.is_constant(call):
        return folding.fold(call)
    call.refuse_rounded_jump("a remainder jumps at every multiple of the divisor")
    x, divisor = call.real_value(0), call.real_value(1)
    if not isinstance(x, Affine) or not isinstance(divisor, Enclosure):
        raise UnreadableError("a remainder of a division by a value that depends on the input", "divide by a constant")
    if not call.integer("fmod", 0):
        raise UnreadableError("a remainder of real numbers without fmod, which ONNX does not define", "set fmod=1")
    if not ((np.abs(divisor.value) - divisor.radius) > 0).all():
        raise UnreadableError("a division by zero", "repair the constant")
    check_broadcast(x.shape, divisor.shape)
    check_one_for_all(call, x.shape, divisor.shape)
    whole = casting.towards_zero(af.scale(x, divisor, en.divide))
    return [af.add(af.broadcast(x, whole.shape), af.negate(af.scale(whole, divisor)))]


OPERATORS: dict[str, Operator] = {"Mod": modulo}
