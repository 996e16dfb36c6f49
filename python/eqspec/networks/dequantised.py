"""What the integers at the ends of a network stand for: scale (k - zero), as quantisers of ONNX and TFLite have it.

A file that takes and gives the integers of a quantiser is a function f of integers. Dequantised it is one of real
numbers, x -> scale (f(k) - zero) with k = R(x / scale) + zero cut off at what the type of the input holds, R to the
nearest, ties to even: QuantizeLinear in front of it and DequantizeLinear behind it.

Scales are float32 numbers, as files store them, and count as the real numbers that these are.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True)
class ScaleAndZero:
    """An integer k stands for scale (k - zero); `scale` is a positive float32."""

    scale: float
    zero: int = 0

    def __str__(self) -> str:
        shown = str(np.float32(self.scale))
        return f"{shown} k" if not self.zero else f"{shown} (k {'-' if self.zero > 0 else '+'} {abs(self.zero)})"


@dataclass(frozen=True)
class Dequantised:
    """What integers at the ends of a file stand for.

    `inputs` by their names; under the name "" of every input that has no entry of its own. As it is asked for, what is
    left out is looked up in the file. Of a network that was read, every end that holds integers of a quantiser is here.
    """

    inputs: tuple[tuple[str, ScaleAndZero], ...] = ()
    output: ScaleAndZero | None = None

    def __str__(self) -> str:
        ends = [f"input {name!r} {one}" if name else f"inputs {one}" for name, one in self.inputs[:4]]
        more = [f"{len(self.inputs) - 4} inputs more"] if len(self.inputs) > 4 else []
        return ", ".join([*ends, *more, *([] if self.output is None else [f"output {self.output}"])])

    def of_input(self, name: str) -> ScaleAndZero | None:
        """What is said of an input."""
        known = dict(self.inputs)
        return known.get(name, known.get(""))


def nearest_scale(number: Fraction) -> float:
    """The float32 nearest to a positive number; InputError unless it is a normal one."""
    limits = np.finfo(np.float32)
    if not Fraction(float(limits.tiny)) <= number <= Fraction(float(limits.max)):
        raise InputError("a scale is a positive number that float32 holds, from 1.2e-38 to 3.4e38")
    near = np.float32(float(number))
    around = [float(x) for x in (np.nextafter(near, np.float32(0)), near, np.nextafter(near, limits.max))]
    return min(around, key=lambda x: (abs(Fraction(x) - number), int(np.float32(x).view(np.uint32)) & 1))


def to_json(ends: Dequantised) -> dict[str, Any]:
    """The ends as plain data, with scales as exact text."""
    made: dict[str, Any] = {"inputs": {name: _end(one) for name, one in ends.inputs}}
    return made if ends.output is None else {**made, "output": _end(ends.output)}


def from_json(data: Mapping[str, Any]) -> Dequantised:
    """What `to_json` wrote; InputError, KeyError, TypeError or ValueError if it is none."""
    inputs = tuple((str(name), _read(one)) for name, one in data["inputs"].items())
    return Dequantised(inputs, _read(data["output"]) if "output" in data else None)


def _end(one: ScaleAndZero) -> dict[str, Any]:
    return {"scale": str(Fraction(one.scale)), "zero": one.zero}


def _read(data: Mapping[str, Any]) -> ScaleAndZero:
    scale, zero = Fraction(data["scale"]), data["zero"]
    if type(zero) is not int or nearest_scale(scale) != scale:
        raise InputError(
            "what integers stand for has a zero point that is not an integer, or a scale that is not a float32"
        )
    return ScaleAndZero(float(scale), zero)
