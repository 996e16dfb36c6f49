"""Resize by interpolation, along one axis after the other: sums of two or four neighbours with exact shares.

Where entry k of n' results lies among n entries, x(k), is a rational number by the coordinates of the file. Linear: the
shares 1 - t, t of the entries around it, x held within the axis. Cubic, t = x - floor(x): the polynomials that ONNX
gives for the four around it, of which those beyond an end are the last one there. In float32 runtimes round x in ways
that no standard lays down, so it is not read.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np

from ..rounding import Refused
from .program import Given, Operands, Program
from .shape_operators import said, whole
from .value import Value

HALF = Fraction(1, 2)
_KNOWN = {"coordinate_transformation_mode", "cubic_coeff_a", "mode", "nearest_mode", "extrapolation_value"}


def is_resampling(operator: str, attributes: Given) -> bool:
    """Whether a Resize or an Upsample makes numbers of several entries."""
    return operator in ("Resize", "Upsample") and attributes.get("mode") in (b"linear", b"cubic", b"bilinear")


def resampled(program: Program, operator: str, opset: int, operands: Operands, attributes: Given) -> Value:
    """The result, of a value."""
    x, mode = operands[0], attributes["mode"]
    if not isinstance(x, Value) or program.kind.rounds:
        raise Refused("an interpolation of constants, or in float32")
    old = operator == "Upsample" or opset < 11
    coordinates = b"asymmetric" if old else attributes.get("coordinate_transformation_mode", b"half_pixel")
    if not said(attributes) <= _KNOWN | {"scales"} or mode == b"bilinear" or (old and mode != b"linear"):
        raise Refused(f"a {operator} in a way that the auditor does not read")
    scales, sizes = _scales(operator, opset, operands, attributes, x.shape)
    steep = Fraction(float(attributes.get("cubic_coeff_a", -0.75)))
    for axis, (scale, size) in enumerate(zip(scales, sizes, strict=True)):
        if scale == 1 and size == x.shape[axis]:
            continue
        places = [_place(coordinates, k, x.shape[axis], size, scale) for k in range(size)]
        rows = [_linear(p, x.shape[axis]) if mode == b"linear" else _cubic(p, x.shape[axis], steep) for p in places]
        x = _along(program, x, axis, rows)
    return x


def _scales(
    operator: str, opset: int, operands: Operands, attributes: Given, shape: tuple[int, ...]
) -> tuple[list[Fraction], list[int]]:
    at = 2 if operator == "Resize" and opset >= 11 else 1
    given = operands[at] if len(operands) > at else None
    if operator == "Upsample" and "scales" in attributes:
        given = np.array(attributes["scales"], float)
    if given is not None and not isinstance(given, Value) and given.dtype == np.float64 and given.size:
        scales = [Fraction(float(s)) for s in given.ravel()]
        sizes = [int(np.float32(n) * np.float32(s)) for n, s in zip(shape, scales, strict=True)]  # .9 times 10 is 9
    else:
        sizes = (whole(operands, 3) if operator == "Resize" and opset >= 11 else None) or []
        scales = [Fraction(m, n) for m, n in zip(sizes, shape, strict=True)]
    if len(scales) != len(shape) or min(scales) <= 0 or min(sizes) < 1:
        raise Refused(f"a {operator} that does not say how large")
    return scales, sizes


def _place(coordinates: bytes, k: int, old: int, new: int, scale: Fraction) -> Fraction:
    if coordinates == b"align_corners" and scale * old == new:  # of other lengths runtimes differ
        return Fraction(k * (old - 1), new - 1) if new > 1 else Fraction(0)
    if coordinates == b"asymmetric":
        return k / scale
    if coordinates in (b"half_pixel", b"pytorch_half_pixel"):
        return (k + HALF) / scale - HALF if new > 1 or coordinates == b"half_pixel" else Fraction(0)
    raise Refused("a Resize by coordinates that the auditor does not read")


Row = dict[int, Fraction]


def _linear(x: Fraction, size: int) -> Row:
    x = max(Fraction(0), min(x, Fraction(size - 1)))
    left = min(floor(x), max(0, size - 2))
    return {left: 1 - (x - left)} | ({left + 1: x - left} if size > 1 else {})


def _cubic(x: Fraction, size: int, a: Fraction) -> Row:
    first, t = floor(x) - 1, x - floor(x)
    inner = [((a + 2) * d - (a + 3)) * d * d + 1 for d in (t, 1 - t)]
    outer = [((a * d - 5 * a) * d + 8 * a) * d - 4 * a for d in (1 + t, 2 - t)]
    shares = outer[0], *inner, outer[1]
    found: Row = {}
    for k, share in enumerate(shares):
        place = max(0, min(first + k, size - 1))
        found[place] = found.get(place, Fraction(0)) + share
    return found


def _along(program: Program, x: Value, axis: int, rows: list[Row]) -> Value:
    kept = [{place: share for place, share in row.items() if share} for row in rows]
    most = max(1, *map(len, kept))
    index = np.full((len(rows), most), -1)
    weights = np.full((len(rows), most), program.kind.exactly(Fraction(0)), object)
    for k, row in enumerate(kept):
        for n, (place, share) in enumerate(row.items()):
            index[k, n], weights[k, n] = place, program.kind.exactly(share)
    last = np.moveaxis(x.places, axis, -1)
    program.effort.name(*last.shape[:-1], *index.shape)
    taps = np.where(index >= 0, last[..., np.maximum(index, 0)], -1)
    which = np.broadcast_to(np.arange(len(rows)), taps.shape[:-1])
    made = program.sums(x, taps, which.ravel(), weights)
    return program.taken(made, np.moveaxis(made.places, -1, axis))
