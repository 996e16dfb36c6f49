"""Which values of a graph every float32 runtime has exactly, whatever the order in which it adds up.

Where all terms of a sum are multiples of 2^e and their absolute values add up to less than 2^(24 + e), every partial
sum is 2^e times an integer below 2^24, which a float32 is: nothing is rounded, fused or not, also where a constant
factor or a bias is merged into the weights before. What a quantiser gives by a scale that is a power of two is such a
multiple, and bounded; so are sums of products of it with weights of the same kind, until they get too long.

A value that is known to be exact is kept here with the size and the exponent e of its entries. What `roundoff` carries
along is the radius gamma times the absolute terms of a sum, so the terms are bounded by that radius over gamma. Where
the result is exact, its own number is that of the real network: coefficients are multiples too, and float64 holds them
and their sums. Functions are given it without any radius, and what they give is exact again. Sums keep their radii and
roundings for what may follow: a factor or a bias that is not exact may be merged into their weights.

Exponents are the same for all entries of a value unless its operator says otherwise: the least of all is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import affine as af
from eqspec.networks import grain
from eqspec.networks import matrices as mx
from eqspec.networks.affine import Affine, Part
from eqspec.networks.curves import Curves
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.levels import Joined, Levels, Quantised, Through
from eqspec.networks.matrices import Dense, Selection, Tiled
from eqspec.networks.operators.operator_call import Front, OperatorCall, Value
from eqspec.networks.quantiser import Quantiser
from eqspec.networks.units import Units

Exponents = NDArray[np.int64]

DIGITS = 24
_LEAST, _MOST = -100, 100
"""Exponents of two between which all numbers stay, so that nothing underflows or overflows on the way."""
_SLACK = 1.0 + 2.0**-20
"""For what is rounded in float64 where sizes are added up."""

MOVES = {
    "Compress", "Concat", "DepthToSpace", "Dropout", "Expand", "Flatten", "Gather", "GatherElements", "GatherND",
    "Identity", "Neg", "Pad", "Reshape", "ReverseSequence", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile",
    "Transpose", "Trilu", "Unsqueeze",
}  # fmt: skip
"""Operators that put entries elsewhere, or turn them round."""
BENDS = {"Abs", "Clip", "GlobalMaxPool", "Max", "MaxPool", "Min", "ReduceMax", "ReduceMin", "Relu"}
"""Functions that are exact on what they are given, and whose results are made of it by adding and taking away."""
_QUANTISERS = {"BipolarQuant", "IntQuant", "Quant", "QuantizeLinear"}


@dataclass(frozen=True, eq=False)
class Grid:
    """Numbers (n,) of at most these sizes that are multiples of 2^exponents."""

    sizes: Array
    exponents: Exponents

    @property
    def sums_are_float32(self) -> bool:
        """Whether float32 holds every partial sum of terms whose absolute values add up to these sizes."""
        inside = (self.exponents >= _LEAST) & (self.sizes <= 2.0**_MOST)
        limit = np.ldexp(1.0, np.minimum(self.exponents, _MOST) + DIGITS)
        return bool((inside & (self.sizes < limit)).all())

    @property
    def least(self) -> int:
        """The exponent that all of them share."""
        return int(self.exponents.min(initial=grain.OF_ZERO))


class ExactFloats:
    """What of one reading is known to be exact, and which values are inputs of the graph, rounded at most once."""

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[Affine, Grid] = WeakKeyDictionary()
        self._plain: WeakKeyDictionary[Affine, Affine] = WeakKeyDictionary()
        self._units: WeakKeyDictionary[Units, list[Grid | None]] = WeakKeyDictionary()
        self._inputs: WeakSet[Affine] = WeakSet()
        self._constants: WeakSet[Enclosure] = WeakSet()

    def of(self, value: object) -> Grid | None:
        """What is known of a value, None where it is not known to be exact."""
        return self._values.get(value) if isinstance(value, Affine) else None

    def given(self, value: Affine) -> None:
        """Note an input of the graph."""
        self._inputs.add(value)

    def stored(self, value: Enclosure) -> None:
        """Note a constant of the file."""
        self._constants.add(value)

    def plain(self, value: Affine) -> Affine:
        """A value without radii if it is exact, or if it consists of inputs; else the value."""
        if value not in self._values and value not in self._inputs:
            return value
        if value not in self._plain:
            self._plain[value] = stripped(value)
        return self._plain[value]

    def _plain_start(self, value: Affine) -> Affine:
        """The same of an exact value that no weights stand in front of."""
        return self.plain(value) if value in self._values and not value.roundings else value

    def before(self, call: OperatorCall) -> OperatorCall:
        """The call of a function or quantiser on values without radii, where they are exact."""
        kind = call.node.op_type
        if kind in _QUANTISERS and isinstance(x := call.value(0), Affine):
            front = self.front(call)
            if front is None:
                return call
            inner = self.plain if front == "exact" else self._plain_start
            return replace(call, inputs=[self.plain(x), *call.inputs[1:]], front=front, plain=inner)
        if kind not in BENDS or not self._all_exact(call):
            return call
        return replace(call, inputs=[self.plain(v) if isinstance(v, Affine) else v for v in call.inputs])

    def front(self, call: OperatorCall) -> Front | None:
        """What is rounded of the number that a quantiser makes a level of; None where its argument is not known.

        By another scale than a power of two the weights of a sum may be divided, which rounds each of its terms.
        """
        x = call.value(0)
        if call.node.op_type not in _QUANTISERS or not isinstance(x, Affine):
            return None
        found = self._values.get(x)
        if found is None:
            return "once" if x in self._inputs else None
        scale = call.value(1)
        if call.node.op_type == "BipolarQuant":
            return "exact"  # it compares with zero
        otherwise: Front | None = None if x.roundings else "once"
        if not isinstance(scale, Enclosure) or not self._is_exact(scale) or not powers_of_two(scale):
            return otherwise
        zero = np.zeros(())
        if call.node.op_type != "QuantizeLinear":  # whose zero point is added to the level
            if not self._is_exact(given := call.value(2)):
                return otherwise
            zero = given.value if isinstance(given, Enclosure) else np.asarray(given, np.float64)
        least, most = (int(f(np.frexp(scale.value)[1])) - 1 for f in (np.min, np.max))
        sizes = np.ldexp(found.sizes, -least) + np.abs(zero).max(initial=0.0)
        return (
            "exact"
            if Grid(sizes, np.minimum(found.exponents - most, grain.grain(zero))).sums_are_float32
            else otherwise
        )

    def after(self, call: OperatorCall, results: Sequence[Value]) -> list[Value] | None:
        """The results of a function, move or quantiser that nothing is rounded in; None where that is not known."""
        kind = call.node.op_type
        if kind in MOVES | BENDS:
            return self._moved(call, results)
        if kind in _QUANTISERS or kind == "DequantizeLinear":
            made = self._levels(call, results)
            return made if all(self._is_exact(v) for v in made) else None
        return None

    def keep(self, value: Affine, found: Grid) -> None:
        """Note an exact value."""
        self._values[value] = found

    def _moved(self, call: OperatorCall, results: Sequence[Value]) -> list[Value] | None:
        """The results of a function or move: exact where all inputs are; inputs of the graph stay such."""
        kind, variable = call.node.op_type, [v for v in call.inputs if isinstance(v, Affine)]
        if kind in MOVES and self._all_inputs(call):
            self._inputs.update(v for v in results if isinstance(v, Affine))
            return list(results)
        if kind in MOVES and not variable and all(self._is_exact(v) for v in call.inputs):
            self._constants.update(v for v in results if isinstance(v, Enclosure))
        if not self._all_exact(call):
            return None
        exponent = min(_of_constants(call), *(self._least(v) for v in variable))
        if kind in BENDS:
            return [self._begun(v, exponent) if isinstance(v, Affine) else v for v in results]
        for value in results:
            if isinstance(value, Affine) and (sizes := self._terms(value)) is not None:
                self._values[value] = Grid(sizes, np.full(value.size, exponent))
        return list(results)

    def _levels(self, call: OperatorCall, results: Sequence[Value]) -> list[Value]:
        """What levels stand for: exact where the scale is a power of two."""
        if not (isinstance(scale := call.value(1), Enclosure) and self._is_exact(scale) and powers_of_two(scale)):
            return list(results)
        given = call.value(0)
        if isinstance(given, Levels) and not _of_quantisers_alone(given):
            return list(results)
        self._constants.update(v for v in results if isinstance(v, Enclosure))
        return [self._marked(v) if isinstance(v, Affine) else v for v in results]

    def of_sum(self, call: OperatorCall, results: Sequence[Value]) -> Grid | None:
        """Sizes and exponents of the result of an operator that adds up products, if no runtime rounds it."""
        rule = _SUMS.get(call.node.op_type)
        if rule is None or len(results) != 1 or not isinstance(result := results[0], Affine):
            return None
        if not self._all_exact(call):
            return None
        exponents = rule(_Sum(call, [self._exponent(v) for v in call.inputs], result.shape))
        sizes = None if exponents is None else self._terms(result)
        if exponents is None or sizes is None:
            return None
        found = Grid(sizes, np.asarray(np.broadcast_to(exponents, result.shape), np.int64).reshape(-1))
        return found if found.sums_are_float32 else None

    def _all_exact(self, call: OperatorCall) -> bool:
        """Whether all inputs are exact, some of them variable."""
        return any(isinstance(v, Affine) for v in call.inputs) and all(self._is_exact(v) for v in call.inputs)

    def _is_exact(self, value: Value | None) -> bool:
        match value:
            case Affine():
                return value in self._values
            case Enclosure():
                return value in self._constants and is_float32(value)
            case _:
                return value is None or isinstance(value, np.ndarray)

    def _all_inputs(self, call: OperatorCall) -> bool:
        """Whether what is moved are inputs of the graph."""
        variable = [v for v in call.inputs if isinstance(v, Affine)]
        others = (v is None or isinstance(v, np.ndarray) for v in call.inputs if not isinstance(v, Affine))
        return bool(variable) and all(v in self._inputs for v in variable) and all(others)

    def _exponent(self, value: Value | None) -> Exponents | None:
        """Of each entry of a real input, in its shape."""
        if isinstance(value, Enclosure):
            return grain.grains(value.value.reshape(-1, 1)).reshape(value.shape)
        found = self.of(value)
        return None if found is None or not isinstance(value, Affine) else found.exponents.reshape(value.shape)

    def _least(self, value: Affine) -> int:
        return self._values[value].least

    def _begun(self, value: Affine, exponent: int) -> Affine:
        """What a function gives of exact values, as the start of sums."""
        whole = stripped(value)
        begun = replace(af.started(whole), roundings=0)
        if (found := self._entries(whole)) is not None:
            self._values[begun] = Grid(found.sizes, np.full(value.size, exponent))
        return begun

    def _marked(self, value: Affine) -> Affine:
        whole = stripped(value)
        found = self._entries(whole)
        if found is None or not found.sums_are_float32:
            return value
        begun = replace(af.started(whole), roundings=0)
        self._values[begun] = found
        return begun

    def _terms(self, value: Affine) -> Array | None:
        """A bound of the absolute terms of each entry: its radius over gamma, and no less than its own size."""
        total = value.bias.radius.reshape(-1).copy()
        found = self._entries(value)
        if found is None:
            return None
        for part in value.parts:
            units = self._of_units(part.units)
            assert units is not None
            total += _weighted(part, value, units.sizes, radius=True)
        return np.maximum(total * (_SLACK / value.unit), found.sizes)

    def _entries(self, value: Affine) -> Grid | None:
        """Sizes and exponents of the entries of an exact value."""
        sizes = np.abs(value.bias.value).reshape(-1)
        exponents = grain.grains(value.bias.value.reshape(-1, 1))
        for part in value.parts:
            units = self._of_units(part.units)
            if units is None:
                return None
            sizes = sizes + _weighted(part, value, units.sizes, radius=False)
            least = min(units.least, grain.OF_ZERO)
            numbers = mx.numbers(part.matrix).value
            exponents = np.minimum(exponents, grain.grain(numbers) + least)
        return Grid(sizes * _SLACK, exponents)

    def _of_units(self, units: Units) -> Grid | None:
        """Sizes and exponents of units, None where they may be any numbers. There may have become more since."""
        known = self._units.get(units)
        if known is None or (known[0] is not None and len(known[0].sizes) != units.size):
            known = self._units[units] = [self._found(units)]
        return known[0]

    def _found(self, units: Units) -> Grid | None:
        if isinstance(units.function, Curves):
            return _of_quantisers(units.function, units.size)
        blocks: list[Affine] = units.blocks
        if not blocks or units.function not in ("identity", "relu") or not all(block.exact for block in blocks):
            return None
        sizes, least = list[Array](), grain.OF_ZERO
        for block in blocks:
            if (found := self._entries(block)) is None:
                return None
            # rows of tiles are in an order of their own
            sizes.append(found.sizes if block.rigid is None else np.full(block.size, found.sizes.max(initial=0.0)))
            least = min(least, found.least)
        return _grid(np.concatenate(sizes), np.full(units.size, least))


def _of_quantisers_alone(levels: Levels) -> bool:
    """Whether integers are those of quantisers, or maxima of them: sums of integers may have radii of their own."""
    match levels.rule:
        case Quantised():
            return True
        case Through(given):
            return _of_quantisers_alone(given)
        case Joined(parts):
            return all(_of_quantisers_alone(part) for part in parts)
        case _:
            return False


def _of_quantisers(function: Curves, size: int) -> Grid | None:
    sizes, exponents = np.zeros(size), np.zeros(size, np.int64)
    for curve, rows in function.groups(size):
        if curve.name != "quantiser":
            return None
        quantiser = Quantiser.of(curve)
        unit, base = quantiser.unit or quantiser.scale, quantiser.base or 0.0
        sizes[rows] = unit * max(abs(quantiser.low - base), abs(quantiser.high - base)) * _SLACK
        exponents[rows] = grain.grain(np.array([unit])) + min(0, grain.grain(np.array([base])))
    return _grid(sizes, exponents)


def _grid(sizes: Array, exponents: Exponents) -> Grid:
    """Of units. One that is always zero counts as if it were not: so coefficients in front of it are exact as well."""
    exponents = np.where(exponents > _MOST, 0, exponents)
    return Grid(np.maximum(sizes, np.ldexp(1.0, np.maximum(exponents, -1000))), exponents)


def stripped(value: Affine) -> Affine:
    """A value whose numbers are the exact ones, without radii."""
    matrices = (mx.with_numbers(part.matrix, Enclosure(mx.numbers(part.matrix).value)) for part in value.parts)
    parts = tuple(Part(part.units, matrix) for part, matrix in zip(value.parts, matrices, strict=True))
    made = Affine(parts, Enclosure(value.bias.value), roundings=value.roundings)
    made._origin.extend(value._origin)
    return made


def is_float32(a: Enclosure) -> bool:
    """Whether all are numbers of float32, known exactly."""
    if a.error is not None:
        return False
    with np.errstate(over="ignore"):
        held = a.value.astype(np.float32).astype(np.float64) == a.value
    size = np.abs(a.value)
    return bool((held & ((size == 0.0) | ((size >= 2.0**_LEAST) & (size <= 2.0**_MOST)))).all())


def powers_of_two(a: Enclosure) -> bool:
    """Whether all are powers of two, known exactly."""
    return is_float32(a) and grain.powers_of_two(a.value)


def _weighted(part: Part, value: Affine, sizes: Array, *, radius: bool) -> Array:
    """Absolute coefficients (or their radii) times the sizes of what they are in front of, by entry."""
    matrix = part.matrix

    def numbers(a: Enclosure) -> Array:
        return a.radius if radius else np.abs(a.value)

    with_nothing = np.append(sizes, 0.0)
    match matrix:
        case Selection(index, scale):
            return np.asarray((numbers(scale) * with_nothing[index]).reshape(-1))
        case Dense(rows):
            return np.asarray((numbers(rows) @ sizes[: rows.shape[-1]]).reshape(-1))
        case Tiled(index, weight, order):
            made = np.matmul(numbers(weight), np.swapaxes(with_nothing[index], 1, 2)).reshape(-1)
            assert len(made) == value.size
            return made if order is None else np.asarray(made[order])


def _of_constants(call: OperatorCall) -> int:
    """The exponent of all real constants among the inputs, those of numbers in attributes included."""
    found = [grain.grain(v.value) for v in call.inputs if isinstance(v, Enclosure)]
    ends = [call.real(name, 0.0) for name in ("min", "max", "value") if call.attribute(name) is not None]
    return min([grain.OF_ZERO, *found, *(grain.grain(np.array([end])) for end in ends)])


@dataclass(frozen=True)
class _Sum:
    """A call, the exponents of its inputs (None: left out), and the shape of its result."""

    call: OperatorCall
    given: Sequence[Exponents | None]
    shape: tuple[int, ...]

    @property
    def broadcast(self) -> bool:
        """Whether the inputs have the shape of the result by numpy's rules."""
        try:
            return np.broadcast_shapes(*(one.shape for one in self.given if one is not None)) == self.shape
        except ValueError:
            return False

    @property
    def of_variables(self) -> bool:
        """Whether it multiplies two variables, which are squares here: other terms than those of a runtime."""
        return all(isinstance(v, Affine) for v in self.call.inputs[:2])

    def exponents(self, index: int) -> Exponents:
        found = self.given[index]
        assert found is not None
        return found

    def least(self, index: int) -> int:
        return int(self.exponents(index).min(initial=grain.OF_ZERO))

    def with_bias(self, products: Exponents) -> Exponents:
        """Of products, and of what is added as the third input."""
        return (
            np.minimum(products, self.exponents(2)) if len(self.given) > 2 and self.given[2] is not None else products
        )


_Found: TypeAlias = Exponents | np.int64 | None
_Rule: TypeAlias = Callable[[_Sum], _Found]


def _product(of: _Sum) -> _Found:
    """MatMul: of every column by itself, where the second factor is constant."""
    if of.of_variables:
        return None
    second = of.exponents(1)
    if isinstance(of.call.value(1), Affine) or second.ndim != 2:
        return np.int64(of.least(0) + of.least(1))
    return np.asarray(of.least(0) + second.min(axis=0, initial=grain.OF_ZERO))


def _gemm(of: _Sum) -> _Found:
    if of.of_variables or of.call.real("alpha", 1.0) != 1.0 or of.call.real("beta", 1.0) != 1.0:
        return None
    columns = of.exponents(1).min(axis=1 if of.call.integer("transB", 0) else 0, initial=grain.OF_ZERO)
    return of.with_bias(np.asarray(of.least(0) + columns))


def _convolution(of: _Sum) -> _Found:
    if isinstance(of.call.value(1), Affine):
        return None
    weight = of.exponents(1)
    channels = weight.min(axis=tuple(range(1, weight.ndim)), initial=grain.OF_ZERO)
    return of.with_bias(np.asarray(of.least(0) + channels)).reshape(-1, *(1,) * (len(of.shape) - 2))


def _reduced(of: _Sum) -> _Found:
    return np.int64(of.least(0))


def _elementwise_sum(of: _Sum) -> _Found:
    if not of.broadcast:
        return None
    found = of.exponents(0)
    for index in range(1, len(of.given)):
        found = np.minimum(found, of.exponents(index))
    return found


def _elementwise_product(of: _Sum) -> _Found:
    if of.of_variables or not of.broadcast:
        return None
    return of.exponents(0) + of.exponents(1)


def _mean(of: _Sum) -> _Found:
    """Of a power of two of numbers, without padding."""
    call = of.call
    if call.node.op_type == "AveragePool":
        if any(call.integers("pads") or []) or call.integer("ceil_mode", 0) or call.attribute("auto_pad") is not None:
            return None
        count = prod(call.integers("kernel_shape") or [])
    else:
        count = of.exponents(0).size // max(1, prod(of.shape))
    if count < 1 or count & (count - 1):
        return None
    return np.int64(of.least(0) - (count.bit_length() - 1))


_SUMS: dict[str, _Rule] = {
    "Add": _elementwise_sum,
    "AveragePool": _mean,
    "Conv": _convolution,
    "Gemm": _gemm,
    "GlobalAveragePool": _mean,
    "MatMul": _product,
    "Mul": _elementwise_product,
    "ReduceMean": _mean,
    "ReduceSum": _reduced,
    "Sub": _elementwise_sum,
    "Sum": _elementwise_sum,
}
"""The exponents of all terms that an operator adds up, broadcast to its result; None where they are not known."""
