"""What a VNN-LIB file says: networks with one input and one output each, and a formula that describes unsafe points.

The file asks whether there are inputs for which the formula holds. A formula is made of comparisons of polynomials (in
practice linear) over the elements of inputs and outputs, joined by `and` and `or`. Everything is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Literal as OneOf
from typing import NamedTuple, TypeAlias

from eqspec.span import Source, Span


class Element(NamedTuple):
    """An entry of a network's input or output, counted in row-major order; networks are counted from 0."""

    network: int
    output: bool
    entry: int


Monomial: TypeAlias = tuple[Element, ...]
Relation: TypeAlias = OneOf["<=", "<", "=="]
FileRelation: TypeAlias = OneOf["equal-to", "isomorphic-to"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """sum of terms `relation` bound; terms are ordered, without zeros, and the first has coefficient 1 or -1."""

    terms: tuple[tuple[Monomial, Fraction], ...]
    relation: Relation
    bound: Fraction
    span: Span

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two comparisons the same, wherever they stand."""
        return self.terms, self.relation, self.bound

    @property
    def linear(self) -> bool:
        """Whether no elements are multiplied with each other."""
        return all(len(monomial) == 1 for monomial, _ in self.terms)

    @property
    def coefficients(self) -> dict[Element, Fraction]:
        """The coefficients of a linear comparison."""
        return {monomial[0]: coefficient for monomial, coefficient in self.terms}

    @property
    def elements(self) -> set[Element]:
        """All elements that occur."""
        return {element for monomial, _ in self.terms for element in monomial}


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; none at all is true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Some part holds; none at all is false."""

    parts: tuple[Formula, ...]


Formula: TypeAlias = Comparison | All | Some
TRUE, FALSE = All(()), Some(())


@dataclass(frozen=True, slots=True)
class Tensor:
    """A declared input or output: its name, the sizes of its axes (none for a scalar) and its element type.

    A 1.0 file about inputs alone has an output without entries. `node` is what the tensor is called in the ONNX file,
    where the query says so. `entry_name` names the entries of a tensor that no file declares, as
    that of joint inputs.
    """

    name: str
    shape: tuple[int, ...]
    kind: str
    span: Span
    node: str | None = None
    entry_name: Callable[[int], str] | None = None

    @property
    def size(self) -> int:
        """How many entries it has."""
        return prod(self.shape)

    def named(self, index: int, *, scalars: bool) -> str:
        """An entry as the file names it: X[0,3], or X_3 where every entry is a constant of its own."""
        if self.entry_name is not None:
            return self.entry_name(index)
        if scalars:
            return f"{self.name}_{index}"
        places = []
        for axis in reversed(self.shape):
            places.append(str(index % axis))
            index //= axis
        return f"{self.name}[{','.join(reversed(places))}]" if places else self.name


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared network. `like` is how it relates to another one, and that one's place among the networks.

    `input` is None where the file leaves it out, which some do for a network that gets the input of the first.
    """

    name: str
    input: Tensor | None
    output: Tensor
    like: tuple[FileRelation, int] | None
    span: Span


@dataclass(frozen=True, slots=True)
class Assertion:
    """(assert formula), with its place."""

    formula: Formula
    span: Span


@dataclass(frozen=True)
class Query:
    """A whole file: its assertions hold together."""

    version: OneOf["1.0", "2.0"]
    networks: tuple[Declared, ...]
    assertions: tuple[Assertion, ...]
    source: Source

    def named(self, element: Element) -> str:
        """An element as the file names it."""
        network = self.networks[element.network]
        tensor = network.output if element.output else network.input or self.networks[0].input
        assert tensor is not None
        return tensor.named(element.entry, scalars=self.version == "1.0")


Interval: TypeAlias = tuple[Fraction, Fraction]
Values: TypeAlias = Callable[[Element], Interval]
"""What an element may be: anything from the first number to the second, which are the same where it is known."""


def holds(formula: Formula, at: Values) -> bool:
    """Whether a formula holds whatever the elements are within their intervals; if all are known, whether it holds.

    Sound for an `or`, whose parts might hold in turns: some part must hold throughout.
    """
    match formula:
        case Comparison(terms, relation, bound):
            low, high = _sum(terms, at)
            return low == high == bound if relation == "==" else high < bound if relation == "<" else high <= bound
        case All(parts):
            return all(holds(part, at) for part in parts)
        case Some(parts):
            return any(holds(part, at) for part in parts)


def _sum(terms: Sequence[tuple[Monomial, Fraction]], at: Values) -> Interval:
    low = high = Fraction(0)
    for monomial, coefficient in terms:
        ends = coefficient, coefficient
        for element in monomial:
            products = [a * b for a in ends for b in at(element)]
            ends = min(products), max(products)
        low, high = low + ends[0], high + ends[1]
    return low, high


def compare(terms: Mapping[Monomial, Fraction], relation: Relation, bound: Fraction, span: Span) -> Formula:
    """The comparison in its normal form; a truth value where nothing varies."""
    kept: Sequence[tuple[Monomial, Fraction]] = sorted((m, c) for m, c in terms.items() if c)
    if not kept:
        true = bound == 0 if relation == "==" else bound > 0 if relation == "<" else bound >= 0
        return TRUE if true else FALSE
    size = abs(kept[0][1])
    if relation == "==" and kept[0][1] < 0:
        size = -size
    if size != 1:
        kept, bound = [(m, c / size) for m, c in kept], bound / size
    return Comparison(tuple(kept), relation, bound, span)
