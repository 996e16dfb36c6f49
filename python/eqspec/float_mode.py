"""Whether this thread computes with floats as every reading of a network and every bound supposes: rounded to nearest,
with subnormal numbers kept.

Any library of the process can change both: one that is built with `-ffast-math` does so as it is loaded, and
`torch.set_flush_denormal(True)` by request. The core asks before and after every search (`arithmetic_is_ieee`); what is
read, and what exact integers decide without a search, asks here. Numbers are variables, which Python does not fold.
"""

from __future__ import annotations

from eqspec.errors import ResourceError

_ONE, _HALF_UNIT, _LEAST_NORMAL, _LEAST = 1.0, 2.0**-53, 2.0**-1022, 5e-324


def keeps_subnormals() -> bool:
    """Whether results that are subnormal are not flushed to 0, nor operands taken for 0."""
    return _LEAST_NORMAL * 0.5 > 0.0 and _LEAST + _LEAST > 0.0 and _LEAST != 0.0


def rounds_to_nearest() -> bool:
    """Whether neither up, down nor towards 0."""
    return (
        _ONE + _HALF_UNIT == _ONE
        and -_ONE - _HALF_UNIT == -_ONE
        and _ONE + 1.5 * _HALF_UNIT > _ONE
        and -_ONE - 1.5 * _HALF_UNIT < -_ONE
    )


def require_ieee() -> None:
    """ResourceError where nothing that is computed here could be believed."""
    if not (keeps_subnormals() and rounds_to_nearest()):
        mode = "floating-point mode (rounding, or flushing of subnormal numbers)"
        cause = "Look for a library built with -ffast-math, or torch.set_flush_denormal"
        raise ResourceError(f"this process has changed the processor's {mode}; no proof would hold. {cause}")
