"""What expressions are made of, as frozen dataclasses: numbers, texts, lists, names, and how they go together.

`eqspec.spec.ast` has them, with everything else that a file can say.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from eqspec.lazy_dataclass import dataclass
from eqspec.span import Source, Span

NOWHERE = Span(Source("<built in memory>", ""), 0, 0)


@dataclass(frozen=True, kw_only=True)
class Node:
    """Anything that stands somewhere in a file."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Name(Node):
    """A word: a name, or an entry of a closed vocabulary that is looked up afterwards."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class QualifiedName(Node):
    """`motor`, or `s.motor` for the name of an included file."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True)
class Number(Node):
    """A decimal as written, with the unit that may stand in brackets behind it."""

    text: str
    unit: str | None = None


@dataclass(frozen=True)
class Quantity(Node):
    """A decimal with a suffix: 600s, 8GB."""

    text: str


@dataclass(frozen=True)
class Text(Node):
    """A text in double quotes; `value` is what stands between them."""

    value: str


@dataclass(frozen=True)
class ListOf(Node):
    """[a, b, c]."""

    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Group(Node):
    """(inner)."""

    inner: Expression


@dataclass(frozen=True)
class Reference(Node):
    """A value, feature or output by name; with an index, an output of a network or an item of a list."""

    name: QualifiedName
    index: Name | Number | None = None


@dataclass(frozen=True)
class Call(Node):
    """linspace(a, b, n)."""

    function: Name
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Negation(Node):
    """-operand."""

    operand: Expression


@dataclass(frozen=True)
class Power(Node):
    """base ^ exponent."""

    base: Expression
    exponent: Expression


@dataclass(frozen=True)
class Sum(Node):
    """first, then each further term with its sign, + or -."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Product(Node):
    """first, then each further factor with its operator, * or /."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]


Expression: TypeAlias = Number | Quantity | Text | ListOf | Group | Reference | Call | Negation | Power | Sum | Product


@dataclass(frozen=True)
class Range(Node):
    """lower .. upper, both included; without `upper` the range of one value."""

    lower: Expression
    upper: Expression | None = None


@dataclass(frozen=True)
class Comparison(Node):
    """left operator right, the operator one of <= >= == < >."""

    left: Expression
    operator: str
    right: Expression


@dataclass(frozen=True)
class Setting(Node):
    """A key and its value in `normalise` and `budget`."""

    key: Name
    value: Expression
