"""A network: a program of steps (`program`) with where it came from. Chains of dense layers have a view as such.

Shapes of a chain: layer l has weight (m_l, n_l) and bias (m_l,), n_0 = I inputs, the last m = O outputs; ReLU follows
every layer but the last. Weights are float64. Where a layer is not exactly representable (several operators were folded
into one), `weight_error` and `bias_error` bound, elementwise, how far the exact number may lie from the stored one,
so that a proof covers the folding too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InputError, NetworkError
from eqspec.float_mode import require_ieee
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import evaluation
from eqspec.networks.curves import Curves
from eqspec.networks.dequantised import Dequantised
from eqspec.networks.exact import BITS, IntegerStep, each_sum
from eqspec.networks.exact import evaluate as evaluate_exactly
from eqspec.networks.exact_curves import is_rational
from eqspec.networks.exact_vectors import Vector
from eqspec.networks.names import Name
from eqspec.networks.program import Step, Term, Tile, problems

Array = NDArray[np.float64]
Stripped = Literal["softmax", "log_softmax"]
Arithmetic = Literal["real", "float32"]


@dataclass(frozen=True, eq=False)
class AffineLayer:
    """x -> weight x + bias, exact up to the elementwise errors (None: exact).

    `names` (m) say of a row and its entry of the bias which exact function they stand for: two rows of the same name,
    in whatever networks, are the same real numbers (see `names`). None where that is not known.
    """

    weight: Array
    bias: Array
    weight_error: Array | None = None
    bias_error: Array | None = None
    names: tuple[Name, ...] | None = None

    @property
    def exact(self) -> bool:
        """Whether the stored numbers are the layer: no error stands beside them."""
        return not any(error is not None and error.any() for error in (self.weight_error, self.bias_error))


@dataclass(frozen=True, eq=False)
class ExactLayer:
    """x -> weight x + bias and nothing else: what may be written to a file. `exact_layers` makes them."""

    weight: Array
    bias: Array


def exact_layers(layers: Sequence[AffineLayer], source: str, fix: str) -> tuple[ExactLayer, ...]:
    """The layers for whoever takes no errors. InputError, with this fix, where a layer is only known up to an error."""
    for number, layer in enumerate(layers):
        if not layer.exact:
            errors = [error for error in (layer.weight_error, layer.bias_error) if error is not None]
            largest = max(float(error.max()) for error in errors)
            raise InputError(
                f"layer {number} of {source} was folded from several operators and rounded, by up to {largest:.3g}, so "
                f"a file of it would be about another network; {fix}"
            )
    return tuple(ExactLayer(layer.weight, layer.bias) for layer in layers)


@dataclass(frozen=True)
class Port:
    """One of the inputs of a file: its declared shape, and how many numbers of one sample it takes."""

    name: str
    shape: tuple[int | str, ...]
    size: int


def places_of(ports: Sequence[Port]) -> str:
    """Which entries of the vector of all inputs each input has, for notes."""
    ends = list(accumulate(port.size for port in ports))
    shown = [f"{p.name!r} has entries {end - p.size} to {end - 1}" for p, end in zip(ports, ends, strict=True)]
    return ", ".join(shown[:20]) + (", ..." if len(shown) > 20 else "")


@dataclass(frozen=True)
class Cast:
    """Rows of a step that stand for an assignment to a type of the file: there a value may leave the type.

    `name` says whose type it is (`layer2.accum_t`) and `type` what it is, as the file writes it. What the type does
    with a value that leaves it is the function of the rows, a quantiser: it wraps, or it saturates. An assignment
    without rows changes no value that the inputs can bring about.
    """

    step: int
    rows: slice
    name: str
    type: str


@dataclass(frozen=True, eq=False)
class LargestIntermediate:
    """A bound of all partial sums of a layer, in any order of summation: coefficients . |its inputs| + constant."""

    coefficients: Array
    constant: float


def step_of(layer: AffineLayer, number: int, *, last: bool) -> Step:
    """A layer as step `number` of a chain, counted from 0."""
    term = Term(number - 1, Tile.dense(layer.weight, layer.weight_error))
    return Step((term,), layer.bias, layer.bias_error, "identity" if last else "relu", layer.names)


def _layer_of(step: Step) -> AffineLayer:
    (term,) = step.terms
    error = term.tile.weight_error
    return AffineLayer(term.tile.weight[0], step.bias, None if error is None else error[0], step.bias_error, step.names)


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """A network that was read from a file (or built in memory) and folded.

    Inputs and outputs are the entries of one sample in C order. `input_shape` and `output_shape` are as the file
    declares them, batch included, open sizes by name; `notes` say what a user should know (a Softmax left out, a batch
    set aside). `content` is the ONNX model of one that came from memory, whose `source` is no path. A file of several
    inputs takes them one behind the other (`ports`; then `input_shape` is that of them all), and of several outputs has
    one that was `chosen` by its name; `alone` is false for both. Which function a file stands for, `identity` tells.
    `casts` are the assignments to types of a file of fixed-point arithmetic, in the order of their steps; two networks
    that were brought into step have none.
    `stripped` is the Softmax at the end of the file that was left out, `softened` the one that was put back (see the
    module `softened`); `inner_softmax` names one that is not left out because other operators stand behind it, and
    `in_logarithm` one whose logarithm the file gives by an operator of its own.
    `in_pairs`: see `pair_saturation`, about products that some processors get wrong.
    `sigmoid_of` is the file of one output, a Sigmoid, that is read as two classes: its digest, and the name of the
    output if one was chosen. `sha256` is then that of the completed model.
    `fixed` are the shapes of all inputs, where sizes were given that the file leaves open. Inputs that are `unread` do
    not reach the output, and are none of the network's. `label` says which end of the scores the labels beside them
    stand for, if the file gives any.
    `dequantised` says what integers at the ends of the file stand for, where the network is one of real numbers.
    With `arithmetic` float32 the errors cover every float32 runtime, and `largest_intermediates` say for each step how
    large its values may get while they are computed.

    Raises NetworkError where the steps do not fit together, are not C-contiguous float64, or hold a number that is not
    finite, and ResourceError where this thread does not compute as the errors suppose.
    """

    steps: tuple[Step, ...]
    input_size: int
    source: str
    sha256: str
    input_name: str = "input"
    input_shape: tuple[int | str, ...] = ()
    output_name: str = "output"
    output_shape: tuple[int | str, ...] = ()
    stripped: Stripped | None = None
    notes: tuple[str, ...] = ()
    content: bytes | None = field(default=None, repr=False)
    arithmetic: Arithmetic = "real"
    largest_intermediates: tuple[LargestIntermediate, ...] = ()
    softened: Stripped | None = None
    ports: tuple[Port, ...] = ()
    chosen: str | None = None
    alone: bool = True
    in_pairs: bool = False
    casts: tuple[Cast, ...] = ()
    inner_softmax: str | None = None
    in_logarithm: str | None = None
    dequantised: Dequantised | None = None
    sigmoid_of: tuple[str, str | None] | None = None
    fixed: tuple[tuple[str, tuple[int, ...]], ...] = ()
    unread: tuple[str, ...] = ()
    label: Literal["max", "min"] | None = None

    @property
    def identity(self) -> tuple[str, str]:
        """The digest of the file and what of it is read: where both are equal, so are the functions."""
        ends = "" if self.dequantised is None else f" {self.dequantised!r}"
        return self.sha256, f"{self.output_name}{ends}{self.fixed or ''}"

    @classmethod
    def of_layers(cls, layers: Sequence[AffineLayer], source: str, sha256: str, *fields: Any, **named: Any) -> Self:
        """A chain of dense layers with ReLU between them. NetworkError where they do not fit together."""
        steps, inputs = _chain(layers, source)
        return cls(steps, inputs, source, sha256, *fields, **named)._seen_as(layers)

    def with_layers(self, layers: Sequence[AffineLayer], **changes: Any) -> Self:
        """The network with these layers, a chain, in place of its steps."""
        steps, inputs = _chain(layers, self.source)
        return replace(self, steps=steps, input_size=inputs, **changes)._seen_as(layers)

    def _seen_as(self, layers: Sequence[AffineLayer]) -> Self:
        """Itself, with the layers that it was made of as its view of a chain."""
        for layer in layers:
            _fix(layer.weight, layer.bias, layer.weight_error, layer.bias_error)
        self.__dict__["layers"] = tuple(layers)
        return self

    def __repr__(self) -> str:
        if self.is_chain:
            sizes = [self.input_size, *(step.rows for step in self.steps)]
            shown = " -> ".join(map(str, sizes if len(sizes) <= 8 else [*sizes[:4], "...", *sizes[-3:]]))
        else:
            shown = f"{self.input_size} -> {len(self.steps)} steps, {self.neurons} neurons -> {self.output_size}"
        return f"<Network {self.source}: {shown}, sha256 {self.sha256[:8]}>"

    def __post_init__(self) -> None:
        require_ieee()
        for message, fix in problems(self.steps, self.input_size):
            raise NetworkError(self.source, message, fix=fix)
        for step in self.steps:
            _fix(step.bias, step.bias_error)
            for term in step.terms:
                _fix(term.tile.index, term.tile.weight, term.tile.weight_error)

    @cached_property
    def is_chain(self) -> bool:
        """Whether every step is a dense matrix of the step before it, with ReLU between them."""
        sizes = [self.input_size, *(step.rows for step in self.steps)]
        return all(
            step.sources == (number - 1,)
            and step.function == ("relu" if number < len(self.steps) - 1 else "identity")
            and step.terms[0].tile.is_dense(sizes[number])
            for number, step in enumerate(self.steps)
        )

    @cached_property
    def layers(self) -> tuple[AffineLayer, ...]:
        """The steps of a chain as dense layers, whose arrays they share. InputError where the network is no chain."""
        if not self.is_chain:
            raise InputError(
                f"{self.source} is a graph (convolutions, branches or other functions), and this works for chains of "
                "dense layers with ReLU alone"
            )
        return tuple(_layer_of(step) for step in self.steps)

    @property
    def exact(self) -> bool:
        """Whether the stored numbers are the network: no error stands beside them."""
        return all(step.exact for step in self.steps)

    @cached_property
    def rational(self) -> bool:
        """Whether outputs at rational points are rational: no function is smooth."""
        functions = (step.function for step in self.steps)
        return all(is_rational(function) for function in functions if isinstance(function, Curves))

    @property
    def kept_softmax(self) -> str | None:
        """A Softmax that is not left out and because of which the outputs are no logits, in words."""
        return self.inner_softmax or self.in_logarithm

    @property
    def output_size(self) -> int:
        """O, the number of outputs."""
        return self.steps[-1].rows

    @property
    def neurons(self) -> int:
        """The number of rows that a function other than the identity follows."""
        return sum(step.rows for step in self.steps if step.function != "identity")

    @cached_property
    def products(self) -> int:
        """How many products one evaluation costs."""
        return sum(step.products for step in self.steps)

    def evaluate(self, inputs: Array) -> Array:
        """Outputs (N, O) in float64 at inputs (N, I). Raises InputError for another shape."""
        values = np.asarray(inputs, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != self.input_size:
            raise InputError(f"inputs: shape {values.shape} given, (N, {self.input_size}) is accepted by {self.source}")
        if self.is_chain:
            for layer in self.layers[:-1]:
                values = np.maximum(values @ layer.weight.T + layer.bias, 0.0)
            last = self.layers[-1]
            outputs: Array = values @ last.weight.T + last.bias
            return outputs
        return evaluation.evaluate(self.steps, values)

    def evaluate_exact(self, point: Sequence[Fraction], bits: int = BITS) -> list[tuple[Fraction, Fraction]]:
        """Exact enclosures (lo, hi) of each output at one rational input; lo == hi where every step is rational.

        Functions that take rationals to other numbers are enclosed with so many bits behind the point; UndefinedError
        (an ArithmeticError) where an argument is not known to lie in the domain of one, OverflowError where it is
        absurdly large. Raises InputError where the point has another length than I.
        """
        if len(point) != self.input_size:
            raise InputError(f"point: {len(point)} numbers given, {self.input_size} are accepted by {self.source}")
        return evaluate_exactly(self._integer_steps, [Fraction(x) for x in point], bits)

    def exact_sums(self, point: Sequence[Fraction], bits: int = BITS) -> Iterator[Vector]:
        """What stands before the function of each step, in order, as exactly as `evaluate_exact` gives the outputs."""
        if len(point) != self.input_size:
            raise InputError(f"point: {len(point)} numbers given, {self.input_size} are accepted by {self.source}")
        return each_sum(self._integer_steps, Vector.of([Fraction(x) for x in point]), bits)

    @cached_property
    def _integer_steps(self) -> list[IntegerStep]:
        return [IntegerStep(step) for step in self.steps]


def _fix(*arrays: NDArray[Any] | None) -> None:
    """Let nobody write to these: digests, exact numbers and pairs for the core are made of them once, and kept."""
    for array in arrays:
        if array is not None:
            array.flags.writeable = False


def _chain(layers: Sequence[AffineLayer], source: str) -> tuple[tuple[Step, ...], int]:
    """Dense layers as steps, and how many inputs they have."""
    if not layers:
        raise NetworkError(source, "the network has no layers", fix="give at least one affine layer")
    width: int | None = None
    for number, layer in enumerate(layers):
        width = _check_layer(source, number, layer, width)
    steps = tuple(step_of(layer, n, last=n == len(layers) - 1) for n, layer in enumerate(layers))
    return steps, int(layers[0].weight.shape[1])


def _check_layer(source: str, number: int, layer: AffineLayer, width: int | None) -> int:
    rows = layer.weight.shape[0] if isinstance(layer.weight, np.ndarray) and layer.weight.ndim == 2 else 0
    columns = layer.weight.shape[1] if rows else 0
    for name, array, shape in (
        ("weight", layer.weight, (rows, columns)),
        ("bias", layer.bias, (rows,)),
        ("weight_error", layer.weight_error, (rows, columns)),
        ("bias_error", layer.bias_error, (rows,)),
    ):
        if array is None:
            continue
        where = f"layer {number}, {name}"
        if not isinstance(array, np.ndarray) or array.dtype != np.float64 or not array.flags.c_contiguous:
            fix = "convert it with numpy.ascontiguousarray(array, dtype=numpy.float64)"
            raise NetworkError(source, f"{where}: not a C-contiguous float64 array", fix=fix)
        if array.shape != shape or array.size == 0:
            fix = "weight is (outputs, inputs), neither of them 0, bias is (outputs,); errors have the same shapes"
            raise NetworkError(source, f"{where}: shape {array.shape} does not fit", fix=fix)
        if not np.isfinite(array).all() or (name.endswith("error") and (array < 0).any()):
            fix = "repair the training or the export that made it"
            wrong = "a number that is not finite" if not np.isfinite(array).all() else "a negative error"
            raise NetworkError(source, f"{where}: {wrong}", fix=fix)
    if width is not None and columns != width:
        fix = "each layer must have as many inputs as the one before has outputs"
        raise NetworkError(source, f"layer {number} has {columns} inputs, the one before {width} outputs", fix=fix)
    return int(rows)
