"""Small networks in every way in which a spec can name them, with their values at rational points.

A network is two layers of dyadic weights with a ReLU between them. It may take its inputs as several tensors, as
integers or as the levels of a quantiser, raw or normalised; round what is hidden; give scores, a softmax, a sigmoid,
levels, or one output of several; and be `fixed<W, I>` of another one. `scores` follows the page of the language,
sentence by sentence, in rationals, and uses nothing of eqspec.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from math import floor

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from oracle.pairs import Random

Numbers = tuple[Fraction, ...]
Layer = tuple[tuple[Numbers, ...], Numbers]
INTEGERS = {"int8": (-128, 127), "uint8": (0, 255), "int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
LEVELS = "levels"
"""Bytes that the file dequantises with the scale 1/2."""


class TieError(Exception):
    """A point in the middle between two integers, of which the page says nothing."""


@dataclass(frozen=True)
class Levels:
    """scale (k - zero) for integers k of the type `name`."""

    scale: Fraction
    zero: int
    name: str

    def level(self, x: Fraction) -> int:
        """QuantizeLinear."""
        low, high = INTEGERS[self.name]
        return min(max(round(x / self.scale) + self.zero, low), high)

    def nearest(self, x: Fraction) -> Fraction:
        """DequantizeLinear behind QuantizeLinear."""
        return self.scale * (self.level(x) - self.zero)


@dataclass(frozen=True)
class Fixed:
    """`fixed<width, whole, rounding, overflow>`."""

    width: int
    whole: int
    rounds: bool = False
    saturates: bool = False

    def leaves(self, x: Fraction) -> bool:
        """Whether the type holds another number than the rounded one."""
        wide = Fixed(self.width + 64, self.whole + 64, self.rounds)
        return wide.assign(x) != self.assign(x)

    def assign(self, x: Fraction) -> Fraction:
        """The number that the type holds of it."""
        unit = Fraction(1 << max(self.whole - self.width, 0), 1 << max(self.width - self.whole, 0))
        level = floor(x / unit + (Fraction(1, 2) if self.rounds else 0))
        half = 1 << (self.width - 1)
        level = min(max(level, -half), half - 1) if self.saturates else (level + half) % (2 * half) - half
        return unit * level

    def weight(self, w: Fraction) -> Fraction:
        """A weight as hls4ml writes it, as a decimal of as many digits as the type has bits behind the point."""
        places = max(self.width - self.whole, 0)
        written = (Decimal(w.numerator) / Decimal(w.denominator)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
        return self.assign(Fraction(written))

    @property
    def text(self) -> str:
        """As a spec has it."""
        modes = f", {'RND' if self.rounds else 'TRN'}, SAT" if self.saturates else ", RND" if self.rounds else ""
        return f"fixed<{self.width}, {self.whole}{modes}>"


@dataclass(frozen=True)
class Net:
    """A network: `tensors` are the sizes of its inputs, `kinds` their types, `ending` is what follows the scores."""

    layers: tuple[Layer, Layer]
    tensors: tuple[int, ...]
    kinds: tuple[str, ...]
    raw: bool = False
    middle: Levels | None = None
    ending: str = "plain"
    gives: str = ""
    ends: tuple[Levels, Levels] | None = None
    type: Fixed | None = None

    @property
    def outputs(self) -> int:
        """How many numbers the file gives."""
        return len(self.layers[0][0] if self.ending == "hidden" else self.layers[1][0])

    def scores(self, raw: Numbers, normalised: Numbers) -> Numbers:
        """The numbers in front of a softmax or a sigmoid at the end, if there is one."""
        x = raw if self.raw else normalised
        if self.type is not None:
            return self._fixed(x, self.type)
        if self.ends is not None:
            x = tuple(map(self.ends[0].nearest, x))
        kinds = [kind for kind, size in zip(self.kinds, self.tensors, strict=True) for _ in range(size)]
        x = tuple(_taken(value, kind) for value, kind in zip(x, kinds, strict=True))
        hidden = tuple(max(h, Fraction(0)) for h in _affine(self.layers[0], x))
        if self.middle is not None:
            hidden = tuple(map(self.middle.nearest, hidden))
        if self.ending == "hidden":
            return hidden
        scores = _affine(self.layers[1], hidden)
        return scores if self.ends is None else tuple(map(self.ends[1].nearest, scores))

    def leaves_types(self, raw: Numbers, normalised: Numbers) -> bool | None:
        """Whether a number that is stored leaves its type; None where only a weight or a product does."""
        assert self.type is not None
        stored: list[Fraction] = []
        parts: list[Fraction] = []
        self._fixed(raw if self.raw else normalised, self.type, stored, parts)
        if any(map(self.type.leaves, stored)):
            return True
        return None if any(map(self.type.leaves, parts)) else False

    def _fixed(
        self,
        x: Numbers,
        held: Fixed,
        stored: list[Fraction] | None = None,
        parts: list[Fraction] | None = None,
    ) -> Numbers:
        """The outputs; `stored` gets the inputs and sums before they are assigned, `parts` weights and products."""
        stored, parts = [] if stored is None else stored, [] if parts is None else parts
        stored += x
        wide = Fixed(held.width + 64, held.whole + 64, held.rounds)
        values = tuple(map(held.assign, x))
        for number, (weights, bias) in enumerate(self.layers):
            sums = []
            for row, b in zip(weights, bias, strict=True):
                total = whole = held.assign(held.weight(b))
                for w, v in zip(row, values, strict=True):
                    product = held.weight(w) * v
                    total += held.assign(product)
                    whole += wide.assign(product)
                    parts += [w, product]
                parts.append(b)
                stored.append(whole)
                sums.append(held.assign(total))
            values = tuple(max(s, Fraction(0)) for s in sums) if number == 0 else tuple(sums)
        return values


def _taken(x: Fraction, kind: str) -> Fraction:
    """What the layers get: half of the nearest byte of levels; of integers that are only cast, any real number."""
    if kind != LEVELS:
        return x
    if (x - Fraction(1, 2)).denominator == 1:
        raise TieError
    return Fraction(min(max(round(x), -128), 127), 2)


def _affine(layer: Layer, x: Sequence[Fraction]) -> Numbers:
    weights, bias = layer
    return tuple(
        b + sum((w * v for w, v in zip(row, x, strict=True)), Fraction(0)) for row, b in zip(weights, bias, strict=True)
    )


def declared(net: Net, name: str, reference: str = "") -> str:
    """The declaration of a network."""
    if net.type is not None:
        return f"network {name} = {reference} as {net.type.text}"
    parts = [f'network {name} = "{name}.onnx" in s']
    if net.ending in ("hidden", "beside"):
        parts.append(f'output "{"hidden" if net.ending == "hidden" else "scores"}"')
    if net.raw:
        parts.append("takes raw")
    if net.gives:
        parts.append(f"gives {net.gives}")
    if net.ends is not None:
        parts.append("dequantised")
    return " ".join(parts)


def written(net: Net) -> onnx.ModelProto:
    """The file of a network."""
    nodes, stored, inputs = [], [], []

    def number(name: str, value: object, kind: type = np.float32) -> str:
        stored.append(numpy_helper.from_array(np.array(value, kind), name))
        return name

    def levels(name: str, held: Levels) -> list[str]:
        return [
            number(f"{name}_scale", float(held.scale)),
            number(f"{name}_zero", held.zero, np.dtype(held.name).type),
        ]

    parts = []
    for place, (size, kind) in enumerate(zip(net.tensors, net.kinds, strict=True)):
        name = f"x{place}"
        held = net.ends[0].name if net.ends is not None else "int8" if kind == LEVELS else kind
        taken = TensorProto.FLOAT if held == "float" else getattr(TensorProto, held.upper())
        inputs.append(helper.make_tensor_value_info(name, taken, [1, size]))
        if net.ends is not None:
            nodes.append(
                helper.make_node("DequantizeLinear", [name, *levels(f"{name}_in", net.ends[0])], [f"{name}_f"])
            )
        elif kind == LEVELS:
            held_names = levels(f"{name}_in", Levels(Fraction(1, 2), 0, "int8"))
            nodes.append(helper.make_node("DequantizeLinear", [name, *held_names], [f"{name}_f"]))
        elif kind != "float":
            nodes.append(helper.make_node("Cast", [name], [f"{name}_f"], to=TensorProto.FLOAT))
        parts.append(name if held == "float" else f"{name}_f")
    joined = parts[0]
    if len(parts) > 1:
        nodes.append(helper.make_node("Concat", parts, ["joined"], axis=1))
        joined = "joined"
    named = []
    for place, (weights, bias) in enumerate(net.layers):
        named.append(
            [
                number(f"w{place}", [[float(w) for w in row] for row in weights]),
                number(f"b{place}", [float(b) for b in bias]),
            ]
        )
    rectified = "hidden" if net.middle is None else "rectified"
    nodes.append(helper.make_node("Gemm", [joined, *named[0]], ["sums"], transB=1))
    nodes.append(helper.make_node("Relu", ["sums"], [rectified]))
    if net.middle is not None:
        held_names = levels("middle", net.middle)
        nodes.append(helper.make_node("QuantizeLinear", ["rectified", *held_names], ["middle_q"]))
        nodes.append(helper.make_node("DequantizeLinear", ["middle_q", *held_names], ["hidden"]))
    nodes.append(helper.make_node("Gemm", ["hidden", *named[1]], ["scores"], transB=1))
    result, element = "scores", int(TensorProto.FLOAT)
    if net.ending in ("softmax", "sigmoid"):
        nodes.append(helper.make_node("Softmax" if net.ending == "softmax" else "Sigmoid", ["scores"], ["shares"]))
        result = "shares"
    if net.ends is not None:
        nodes.append(helper.make_node("QuantizeLinear", ["scores", *levels("out", net.ends[1])], ["levels"]))
        result, element = "levels", getattr(TensorProto, net.ends[1].name.upper())
    outputs = [helper.make_tensor_value_info(result, element, [1, len(net.layers[1][0])])]
    if net.ending in ("hidden", "beside"):
        outputs.insert(0, helper.make_tensor_value_info("hidden", TensorProto.FLOAT, [1, len(net.layers[0][0])]))
    graph = helper.make_graph(nodes, "net", inputs, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _numbers(rng: Random, size: int, parts: int = 8) -> Numbers:
    return tuple(Fraction(int(n), parts) for n in rng.integers(-12, 13, size))


def random_net(rng: Random, inputs: int, outputs: int) -> Net:
    """Any network of so many inputs and outputs."""
    width = outputs if rng.random() < 0.2 else int(rng.integers(1, 4))
    first = (tuple(_numbers(rng, inputs) for _ in range(width)), _numbers(rng, width, 4))
    second = (tuple(_numbers(rng, width) for _ in range(outputs)), _numbers(rng, outputs, 4))
    return with_form(rng, Net((first, second), (inputs,), ("float",)))


def with_form(rng: Random, net: Net) -> Net:
    """The layers of a network in a form drawn at random."""
    inputs = sum(net.tensors)
    tensors = (inputs,) if rng.random() < 0.6 else (1,) * inputs
    kinds = tuple("float" if rng.random() < 0.75 else str(rng.choice([LEVELS, LEVELS, *INTEGERS])) for _ in tensors)
    made = Net(net.layers, tensors, kinds, raw=bool(rng.random() < 0.4))
    if rng.random() < 0.15:
        name = str(rng.choice(["int8", "uint8"]))
        ends = tuple(
            Levels(Fraction(int(rng.integers(1, 4)), int(rng.choice([1, 2, 4]))), int(rng.integers(0, 20)), name)
            for _ in range(2)
        )
        return replace(made, kinds=("float",) * len(tensors), ends=(ends[0], ends[1]))
    if rng.random() < 0.3:
        name = str(rng.choice(["int8", "uint8"]))
        made = replace(made, middle=Levels(Fraction(1, int(rng.choice([1, 2, 4]))), int(rng.integers(0, 4)), name))
    scores = len(net.layers[1][0])
    endings = ["plain", "plain", "beside", *(["hidden"] if len(net.layers[0][0]) == scores else [])]
    endings += ["softmax"] if scores > 1 else ["sigmoid"]
    return replace(made, ending=str(rng.choice(endings)))


def moved(rng: Random, net: Net) -> Net:
    """A network whose weights are a little off."""

    def near(numbers: Numbers) -> Numbers:
        return tuple(n + Fraction(int(rng.integers(-1, 2)), 64) * int(rng.random() < 0.4) for n in numbers)

    first, second = ((tuple(map(near, weights)), near(bias)) for weights, bias in net.layers)
    return replace(net, layers=(first, second))
