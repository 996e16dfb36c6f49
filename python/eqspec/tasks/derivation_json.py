"""What a derived network was made of, as plain data and back again: enough to make it again from the reference's file.

Ranges are floats, which JSON keeps to the last digit. Made again, the network must have the digest that it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eqspec.errors import InputError
from eqspec.networks.derived import Derivation
from eqspec.networks.deriving import FixedPointFormat, Integers, Precision, Ranges
from eqspec.networks.firmware.fixed_point_types import ROUNDINGS, FixedPoint

_ROLES = ("inputs", "weights", "biases", "accumulators", "results")
_NAMES = {mode: name for name, mode in ROUNDINGS.items()}


def to_json(derivation: Derivation) -> dict[str, Any]:
    """The precision, the ranges that it was calibrated on, and the digest of the reference."""
    return {
        "sha256": derivation.sha256,
        "precision": _precision(derivation.precision),
        "ranges": {name: [least, most] for name, least, most in derivation.ranges},
    }


def precision_from(data: Mapping[str, Any]) -> tuple[Precision, Ranges]:
    """The precision and the ranges that `to_json` wrote; InputError, KeyError, TypeError or ValueError elsewhere."""
    ranges = {str(name): (float(least), float(most)) for name, (least, most) in data["ranges"].items()}
    said = data["precision"]
    match said["kind"]:
        case "integers":
            return Integers(said["bits"], bool(said["per_channel"])), ranges
        case "fixed":
            others = {role: None if said[role] is None else _type_from(said[role]) for role in _ROLES}
            return FixedPointFormat(_type_from(said["value"]), **others), ranges
        case other:
            raise InputError(f"unknown kind of precision {other!r}; one of integers, fixed")


def _precision(precision: Precision) -> dict[str, Any]:
    match precision:
        case Integers(bits, per_channel):
            return {"kind": "integers", "bits": bits, "per_channel": per_channel}
        case FixedPointFormat():
            given = {role: getattr(precision, role) for role in _ROLES}
            others = {role: None if held is None else _type(held) for role, held in given.items()}
            return {"kind": "fixed", "value": _type(precision.value), **others}


def _type(held: FixedPoint) -> dict[str, Any]:
    return {
        "width": held.width,
        "integer": held.integer,
        "signed": held.signed,
        "rounding": _NAMES[held.rounding],
        "overflow": held.overflow,
    }


def _type_from(data: Mapping[str, Any]) -> FixedPoint:
    return FixedPoint.of(
        data["width"], data["integer"], signed=data["signed"], rounding=data["rounding"], overflow=data["overflow"]
    )
