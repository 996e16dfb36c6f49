"""What a float32 runtime may round while it evaluates a graph, as error radii on the graph's affine values.

Every value is a sum of monomials: constants times one unit (an input, or what a function gives), or constants alone.
Whatever the order of summation, fused or not, with bias or normalisation merged into the weights, a runtime computes
the same monomials, each times a product of at most K factors (1 + d) or 1 / (1 + d), |d| <= u = 2^-24; that product
lies within gamma = K u / (1 - K u) of 1 (Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1). So a
radius of gamma times the sum of the absolute monomials covers every runtime. It arises by itself if what starts a
monomial (a unit, a constant that is added) gets a radius of gamma times its size, since enclosures multiply and add
radii by absolute values. K counts the roundings of all operators on the longest way between two functions, steps with
the identity passed through. A conversion of input and constants to float32 is counted, so that it may happen or not.
Convolutions are sums of products here: a runtime that computes them by Winograd's or Fourier's transform sums up other
monomials, and is not covered. Radii hold at each position by itself, also where positions share a kernel.

Functions: maxima, minima and clips are exact on what they are given, and are rewritten on units that are exactly that
(`affine.as_units`), as sums with exact coefficients; so nothing is counted for how they are rewritten. LeakyRelu and
the affine part of HardSigmoid round, which `functions` puts on their coefficients. What they give starts monomials.

What is not piecewise linear is off by what is assumed of runtimes (`runtime_functions`).

Quantisers are exact on what they are given, too. A runtime gives them x / scale + zero, which takes a few roundings of
each monomial of x, one of zero times scale among them (`levels` adds the radius of that one), so their argument has a
radius by itself: the level is any that lies within it. What the level stands for starts a monomial. Sums of products
of integers are exact, and what is rounded where they become levels again stands in `operators/requantising`. Sums that
float32 holds however they are added up round nothing (`exact_floats`): what they give starts over.

Underflow, gradual or flushed to zero, of operands and results: 2^-126 for each operation. Runtimes of other types are
the same with another `Precision`. Overflow: `largest_intermediate` bounds the absolute monomials that any step sums
up, so that a caller with bounds of the inputs can exclude it (`float32.overflow`, which also looks at what stands
before and behind functions).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, nextafter, prod

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine, Part
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.exact_floats import ExactFloats, powers_of_two
from eqspec.networks.levels import Levels
from eqspec.networks.masked import Masked
from eqspec.networks.matrices import Dense, Matrix, Selection, Tiled
from eqspec.networks.network import LargestIntermediate
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import OperatorCall, Scores, Value
from eqspec.networks.units import Units


@dataclass(frozen=True)
class Precision:
    """A type of floating-point numbers: unit roundoff, smallest normal number, and a quarter of the largest one.

    That quarter leaves a slack which covers every rounding on the way.
    """

    name: str
    unit: Fraction
    tiny: float
    largest: float


BFLOAT16 = Precision("bfloat16", Fraction(1, 2**8), 2.0**-126, 2.0**125)
FLOAT16 = Precision("float16", Fraction(1, 2**11), 2.0**-14, 2.0**13)
FLOAT32 = Precision("float32", Fraction(1, 2**24), 2.0**-126, 2.0**125)
FLOAT64 = Precision("float64", Fraction(1, 2**53), 2.0**-1022, 2.0**1021)
LARGEST = FLOAT32.largest
Mask = NDArray[np.bool_]
_MOST = 100_000
SHORT_TYPES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
UNKNOWN_FIX = "compare it in 'real', or end both models in front of it"
SHORT_FIX = "convert the model to float32, or leave 'arithmetic float32' out"
_OPERATIONS = {"Add": 3, "BatchNormalization": 16, "Cast": 2, "Div": 4, "Gemm": 6, "MatMul": 2, "Mul": 3, "Sqrt": 4}
_OPERATIONS |= {"Sub": 3, "Sum": 2, "Conv": 6, "ConvTranspose": 6, "AveragePool": 4, "GlobalAveragePool": 4}
_OPERATIONS |= {
    "Col2Im": 2,
    "ReduceMean": 4,
    "ReduceSum": 2,
    "Reciprocal": 2,
    "DequantizeLinear": 4,
    "Pow": 6,
    "CumSum": 2,
    "GridSample": 16,
    "Resize": 8,
    "Upsample": 8,
    "ReduceL1": 2,
    "ReduceL2": 4,
    "ReduceSumSquare": 4,
    "QGemm": 8,
    "MatMulIntegerToFloat": 8,
}
"""Roundings of each operator on any monomial, conversions of its constants included, apart from what it sums up."""
EXACT = {
    "Abs", "Ceil", "Clip", "Compress", "Concat", "Constant", "ConstantOfShape", "DepthToSpace", "Dropout", "Expand",
    "Flatten", "Floor", "Gather", "GatherElements", "GatherND", "GlobalMaxPool", "Identity", "Max", "MaxPool",
    "Min", "Neg", "Pad", "ReduceMax", "ReduceMin", "Relu", "Reshape", "ReverseSequence", "Scatter", "ScatterElements",
    "ScatterND", "Shape", "Sign", "Slice", "SpaceToDepth", "Split", "Squeeze", "ThresholdedRelu", "Tile",
    "TopK", "Transpose", "Trilu", "Unsqueeze", "Where",
}  # fmt: skip
"""Operators that only move, choose, cut off or turn round what they are given."""
FUNCTIONS = {
    "Atan", "Celu", "Cos", "Elu", "Erf", "Exp", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "LogSoftmax",
    "Mish", "PRelu", "Selu", "Sigmoid", "Sin", "Softmax", "Softplus", "Softsign", "Swish", "Tanh",
}  # fmt: skip
"""Those whose own rounding is put on what they give (`operators/functions`, `runtime_functions`)."""
UNKNOWN = {
    "BlackmanWindow", "DFT", "Einsum", "GRU", "GlobalLpPool", "GroupNormalization", "HammingWindow", "HannWindow",
    "InstanceNormalization", "LRN", "LSTM", "LayerNormalization", "LpNormalization", "LpPool", "MelWeightMatrix",
    "RMSNormalization", "RNN", "ReduceProd", "STFT",
}  # fmt: skip
"""Those that runtimes compute in several ways, or of which nobody has counted what they round: refused."""
DECIDING = {
    "And", "ArgMax", "ArgMin", "Equal", "Greater", "GreaterOrEqual", "Hardmax", "IsInf", "IsNaN", "Less",
    "LessOrEqual", "Mod", "Not", "Or", "Round", "Xor",
}  # fmt: skip
"""Those that a rounding makes decide otherwise: they refuse it themselves."""
QUANTISERS = ("BipolarQuant", "IntQuant", "Quant", "QuantizeLinear", "Trunc")
OF_LEVELS = ("MatMulNBits", "QLinearSoftmax")
"""Operators on levels that are refused; of all others `operators/requantising` says what is rounded."""
_MEANS = ("AveragePool", "GlobalAveragePool", "ReduceMean")
_IN_FUNCTIONS = 6
"""At least so many roundings are allowed for, as a LeakyRelu or a HardSigmoid makes by itself."""
_IN_QUANTISERS = 8
"""A reciprocal, a product and a sum round in front of the level, and a product behind it; the rest is slack."""


class Roundoff:
    """Follows the evaluation of a graph: with `unit` 0 it counts the roundings, else it adds their radii."""

    def __init__(
        self,
        unit: float = 0.0,
        precision: Precision = FLOAT32,
        missed: float = 0.0,
        exactly: ExactFloats | None = None,
    ) -> None:
        """`missed` as in `units`: where it is not zero, operators are refused whose rounding is not known.

        `exactly` follows which values of this reading float32 has exactly: nothing is counted of these.
        """
        self.unit, self.precision, self.missed = unit, precision, missed
        self._exactly = exactly
        self._most = 0
        self._constants = 0
        self._in_quantisers = 0
        self._intermediates: defaultdict[Units, list[tuple[Array, float]]] = defaultdict(list)

    def gamma(self) -> float:
        """The radius relative to a monomial, rounded up. UnreadableError where sums are too long for the type."""
        roundings = self._most + self._constants + self._in_quantisers + 2
        unit = self.precision.unit
        if roundings > _MOST or roundings * unit >= Fraction(1, 2):
            message = f"{roundings} roundings in a row are too many for {self.precision.name}"
            raise UnreadableError(message, "compare it in 'real'")
        return nextafter(float(roundings * unit / (1 - roundings * unit)), inf)

    def count(self, roundings: int) -> None:
        """So many roundings in a row were put on a value elsewhere."""
        self._most = max(self._most, roundings)

    def given(self, value: Affine) -> Affine:
        """The input of the graph, which may be rounded to float32 or, where it is tiny, to zero."""
        made = self.computed(value, 1)
        if self._exactly is not None:
            self._exactly.given(made)
        return made

    def constant(self, value: Enclosure) -> Enclosure:
        """A stored constant, which float32 must be able to hold; a tiny one may count as zero."""
        made = self._constant(value) if self.unit else value
        if self._exactly is not None:
            self._exactly.stored(made)
        return made

    def _constant(self, value: Enclosure) -> Enclosure:
        size = np.abs(value.value)
        if (size > self.precision.largest).any():
            raise UnreadableError(f"a constant is beyond the range of {self.precision.name}", "rescale the weights")
        tiny = self.precision.tiny
        return en.enclose(value.value, en.add_up(value.radius, np.where((size > 0) & (size < 2 * tiny), tiny, 0.0)))

    def before(self, call: OperatorCall) -> OperatorCall:
        """The call with those constants inflated that start a monomial."""
        kind = call.node.op_type
        if kind in QUANTISERS:
            self._quantised(call)
        if self.missed and kind in UNKNOWN and any(isinstance(v, Affine | Scores | Masked) for v in call.inputs):
            raise UnreadableError(f"what float32 rounds in {kind} differs from runtime to runtime", UNKNOWN_FIX)
        if kind not in _OPERATIONS or not self.unit:
            return call
        if self._exactly is not None and _levels_of_constants(call):
            return call
        if kind == "Cast":
            if call.integer("to", 0) in SHORT_TYPES and self.precision is FLOAT32:
                raise UnreadableError("a cast to 16 bits is not float32 arithmetic", SHORT_FIX)
            return call
        if kind == "BatchNormalization" and (call.number(4).value < 0).any():
            raise UnreadableError("a variance is negative", "repair the training or the export that made it")
        if kind == "Div" and isinstance(divisor := call.value(1), Enclosure):
            size = np.abs(divisor.value)
            if ((size < 1 / self.precision.largest) | (size > self.precision.largest)).any():
                message = f"the reciprocal of a divisor leaves the range of {self.precision.name}"
                raise UnreadableError(message, "rescale the weights")
        if kind != "BatchNormalization" and any(isinstance(v, Affine | Levels) for v in call.inputs):
            return call
        started = call.inputs[:1] if kind == "Pow" else call.inputs  # an exponent starts no monomial
        inflated = [en.inflate(v, self.unit) if isinstance(v, Enclosure) else v for v in started]
        return replace(call, inputs=[*inflated, *call.inputs[len(inflated) :]])

    def plain(self, call: OperatorCall) -> OperatorCall:
        """The call that the operator is given: functions of values that are exact, on these without radii."""
        return call if self._exactly is None else self._exactly.before(call)

    def after(self, call: OperatorCall, results: Sequence[Value], *, function: bool = False) -> list[Value]:
        """The results with what underflow may add; their roundings are counted.

        `function` says that the node was found to be the last one of a function that the file writes out.
        """
        kind = call.node.op_type
        if self._exactly is not None and not function:
            found = self._exactly.after(call, results)
            if found is not None:
                return found
        if kind in ("LeakyRelu", "PRelu", "HardSigmoid"):
            self._most = max(self._most, _IN_FUNCTIONS)
        if kind in QUANTISERS and not any(isinstance(v, Levels) for v in results):
            results = [en.inflate(v, self.unit) if isinstance(v, Enclosure) else v for v in results]
            return [self._after(value, _IN_QUANTISERS, 1.0) for value in results]
        if kind in ("Constant", "ConstantOfShape"):
            return [self.constant(v) if isinstance(v, Enclosure) else v for v in results]
        if kind not in _OPERATIONS or all(isinstance(v, np.ndarray | Levels) for v in results):
            return list(results)
        count, growth = _OPERATIONS[kind] + _summed(call, results), _growth(call, results) if self.unit else 1.0
        grid = None if self._exactly is None or function else self._exactly.of_sum(call, results)
        if self._exactly is None or grid is None:
            return [self._after(value, count, growth) for value in results]
        (result,) = results
        assert isinstance(result, Affine)
        made = self.computed(result, count, growth, rounds=False)
        self._exactly.keep(made, grid)
        return [made]

    def _quantised(self, call: OperatorCall) -> None:
        """Count what a quantiser rounds, and how large the quotient gets that it rounds to a level."""
        known = self._exactly is not None and self._exactly.front(call) is not None
        self._in_quantisers = self._in_quantisers if known else _IN_QUANTISERS
        if not self.unit or not isinstance(scale := call.value(1), Enclosure):
            return
        x = call.value(0)
        x = x.meaning(1.0, 0.0) if isinstance(x, Levels) else x
        least = float(np.min(scale.value, initial=1.0))
        if isinstance(x, Affine) and least > 0.0:
            self.computed(x, _IN_QUANTISERS, 1.0 / least, rounds=not known)

    def _after(self, value: Value, count: int, growth: float) -> Value:
        if isinstance(value, Affine):
            return self.computed(value, count, growth)
        if isinstance(value, Masked):
            made = self._after(value.value, count, growth)
            assert isinstance(made, Affine | Enclosure)
            return Masked(made, value.infinite)
        if not isinstance(value, Enclosure):
            return value
        self._constants += count
        if not self.unit:
            return value
        if (en.add_up(np.abs(value.value), value.radius / self.unit) * growth > self.precision.largest).any():
            message = f"a constant is computed beyond the range of {self.precision.name}"
            raise UnreadableError(message, "rescale the weights")
        return _absorb(value, 4 * count * self.precision.tiny)

    def computed(self, value: Affine, count: int, growth: float = 1.0, *, rounds: bool = True) -> Affine:
        """The result of one operation with what underflow may add; its roundings are counted.

        Where it is exact (not `rounds`) they count only once something follows that is not.
        """
        value = replace(value, roundings=value.roundings + count)
        self._most = max(self._most, value.roundings if rounds else 0)
        if not self.unit:
            return value
        amount, factor = 4 * count * self.precision.tiny, growth / self.unit
        parts, used = list[Part](), np.asarray(_sizes(value.bias) > 0)
        for part in value.parts:
            matrix, coefficients, reads = _absorbed(part.matrix, amount, part.units.size, value.shape)
            parts.append(Part(part.units, matrix))
            used |= reads
            self._intermediates[part.units].append((coefficients * factor, 0.0))
        bias = en.enclose(value.bias.value, en.add_up(value.bias.radius, np.where(used, amount, 0.0)))
        constant = float(bias.radius.max(initial=0.0)) * factor
        self._intermediates[value.parts[0].units].append((np.zeros(0), constant))
        return Affine(tuple(parts), bias, roundings=value.roundings)

    def result(self, value: Affine) -> Affine:
        """The output of the graph."""
        if self._exactly is None or self._exactly.of(value) is None:
            return value
        return self._exactly.plain(value)

    def largest_intermediate(self, units: Units) -> LargestIntermediate:
        """What any value over these units may grow to while it is computed, apart from its other parts."""
        coefficients, constant = np.zeros(units.size), 0.0
        for found, alone in self._intermediates[units]:
            coefficients[: len(found)] = np.maximum(coefficients[: len(found)], found)
            constant = max(constant, alone)
        return LargestIntermediate(coefficients, constant)


def _levels_of_constants(call: OperatorCall) -> bool:
    """Whether constants are dequantised by powers of two, which rounds nothing."""
    if call.node.op_type != "DequantizeLinear" or not isinstance(call.value(0), np.ndarray) or call.rounded:
        return False
    return isinstance(scale := call.value(1), Enclosure) and powers_of_two(scale)


def _absorbed(matrix: Matrix, amount: float, units: int, shape: tuple[int, ...]) -> tuple[Matrix, Array, Mask]:
    """A matrix with an absolute error wherever it is not exactly zero, its radii by unit, and which entries read."""
    match matrix:
        case Selection():
            scale = _absorb(matrix.scale, amount)
            coefficients = np.zeros(units + 1)
            np.maximum.at(coefficients, matrix.index.ravel(), scale.radius.ravel())
            return Selection(matrix.index, scale), coefficients[:-1], np.asarray(_sizes(scale) > 0)
        case Dense():
            rows = _absorb(matrix.rows, amount)
            coefficients = np.max(rows.radius.reshape(-1, rows.shape[-1]), axis=0, initial=0.0)
            return Dense(rows), coefficients, np.asarray(np.max(_sizes(rows), axis=-1, initial=0.0) > 0)
        case _:
            return _absorbed_tile(matrix, amount, units, shape)


def _absorbed_tile(matrix: Tiled, amount: float, units: int, shape: tuple[int, ...]) -> tuple[Matrix, Array, Mask]:
    weight = _absorb(matrix.weight, amount)
    coefficients = np.zeros(units + 1)
    largest = np.max(weight.radius, axis=1)[:, None, :]  # (g, 1, k)
    taps = matrix.index.shape[2]
    np.maximum.at(coefficients, matrix.index.ravel(), np.broadcast_to(largest, matrix.index.shape).ravel() * taps)
    reads = np.repeat((_sizes(weight) > 0).any(axis=2).ravel(), matrix.index.shape[1])
    reads = reads if matrix.order is None else reads[matrix.order]
    return Tiled(matrix.index, weight, matrix.order), coefficients[:-1], reads.reshape(shape)


def _absorb(value: Enclosure, amount: float) -> Enclosure:
    """An absolute error wherever the number is not exactly zero."""
    return en.enclose(value.value, en.add_up(value.radius, np.where(_sizes(value) > 0, amount, 0.0)))


def _sizes(value: Enclosure) -> Array:
    return np.asarray(np.abs(value.value) + value.radius)


def _summed(call: OperatorCall, results: Sequence[Value]) -> int:
    """How many terms the operator sums up."""
    kind = call.node.op_type
    match kind:
        case "Sum":
            return len(call.inputs)
        case "Conv" | "ConvTranspose":
            weight = call.real_value(1).shape
            return prod(weight[1:]) if kind == "Conv" else weight[0] * prod(weight[2:])
        case "Col2Im":
            return prod(int(d) for d in call.whole(2).reshape(-1))
        case "AveragePool":
            return prod(call.integers("kernel_shape") or [])
        case "GlobalAveragePool" | "ReduceL1" | "ReduceL2" | "ReduceMean" | "ReduceSum" | "ReduceSumSquare":
            (made,) = results
            assert isinstance(made, Affine | Enclosure)
            return prod(call.real_value(0).shape) // max(1, prod(made.shape))
        case "GridSample":
            return int(4 ** (len(call.real_value(0).shape) - 2))
        case "CumSum":
            return max(call.real_value(0).shape, default=0)
        case "Gemm" | "MatMul":
            shape = call.real_value(0).shape
            return shape[0] if kind == "Gemm" and call.integer("transA", 0) else shape[-1]
        case _:
            return 0


def _growth(call: OperatorCall, results: Sequence[Value]) -> float:
    """By how much a step inside of the operator may exceed its absolute result, besides what its input was."""
    if call.node.op_type == "Gemm":
        factors = [abs(call.real(name, 1.0)) for name in ("alpha", "beta")]
        return max(1.0, *(1 / f for f in factors if f > 0)) * max(1.0, *factors)
    if call.node.op_type in _MEANS:
        return float(_summed(call, results))
    if call.node.op_type == "BatchNormalization":
        factor, _, mean, variance = (call.number(i).value for i in range(1, 5))
        deviation = np.sqrt(variance + call.real("epsilon", 1e-5))
        slope = np.abs(factor) / deviation
        largest = max(1.0, float(np.abs(factor).max())) * max(1.0, float((1 / deviation).max()))
        least = float(np.min(slope, where=slope > 0, initial=1.0))
        return max(1.0, float(np.abs(mean).max())) * largest / least
    return 1.0
