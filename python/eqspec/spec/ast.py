"""Everything an eqspec file can say, as frozen dataclasses.

Two trees are equal when they say the same: places (`span`) and comments do not count. Numbers and quantities keep
the text they were written as, groups keep their parentheses, so a printer loses nothing. A tree can be built by
hand; its spans then point nowhere. `eqspec.spec.printer` writes one down. Expressions and regions have files of
their own, and are handed on here. The `doc` of a declaration holds the lines written with ## above it, without marks.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from eqspec.lazy_dataclass import dataclass
from eqspec.spec.expression_tree import (
    NOWHERE,
    Call,
    Comparison,
    Expression,
    Group,
    ListOf,
    Name,
    Negation,
    Node,
    Number,
    Power,
    Product,
    QualifiedName,
    Quantity,
    Range,
    Reference,
    Setting,
    Sum,
    Text,
)
from eqspec.spec.region_tree import (
    Ball,
    Bound,
    Box,
    Data,
    Fixed,
    Grid,
    Mean,
    Point,
    Ranged,
    Region,
    Rows,
    Spacing,
    Term,
    Use,
    Where,
    Within,
)

__all__ = [  # and all that is defined here
    "NOWHERE", "Ball", "Bound", "Box", "Call", "Comparison", "Data", "Expression", "Fixed", "Grid", "Group", "ListOf",
    "Mean", "Name", "Negation", "Node", "Number", "Point", "Power", "Product", "QualifiedName", "Quantity", "Range",
    "Ranged", "Reference", "Region", "Rows", "Setting", "Spacing", "Sum", "Term", "Text", "Use", "Where", "Within",
]  # fmt: skip


@dataclass(frozen=True)
class Include(Node):
    """include "path" as alias."""

    path: Text
    alias: Name | None = None
    doc: str | None = None


@dataclass(frozen=True)
class Let(Node):
    """let name = value."""

    name: Name
    value: Expression
    doc: str | None = None


@dataclass(frozen=True)
class Param(Node):
    """param name = value: a default that can be overridden from outside."""

    name: Name
    value: Expression
    doc: str | None = None


@dataclass(frozen=True)
class Feature(Node):
    """A named input or output with its unit."""

    name: Name
    unit: str | None = None


@dataclass(frozen=True)
class Features(Node):
    """features a [ft], b [rad]."""

    features: tuple[Feature, ...]


@dataclass(frozen=True)
class FeaturesFrom(Node):
    """features from "table.csv" columns 1..16: the names in its header."""

    path: Expression
    columns: Range | None = None


@dataclass(frozen=True)
class Shape(Node):
    """shape [1, 28, 28]: unnamed inputs in row-major order."""

    sizes: ListOf


@dataclass(frozen=True)
class Normalise(Node):
    """normalise none | zscore mean .. std .. | minmax low .. high .."""

    kind: Name
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True)
class NormaliseFrom(Node):
    """normalise kind from "scaler.json"."""

    kind: Name
    path: Expression


@dataclass(frozen=True)
class Domain(Node):
    """domain 0 .. 255: what every raw input lies in."""

    range: Range


@dataclass(frozen=True)
class Outputs(Node):
    """outputs with names, or how many there are."""

    outputs: tuple[Feature, ...]
    count: Number | None = None


@dataclass(frozen=True)
class Decide(Node):
    """decide min: the smallest output is the decision."""

    word: Name


SpaceClause: TypeAlias = Features | FeaturesFrom | Shape | Normalise | NormaliseFrom | Domain | Outputs | Decide


@dataclass(frozen=True)
class Space(Node):
    """space name { ... }."""

    name: Name
    clauses: tuple[SpaceClause, ...]
    doc: str | None = None


@dataclass(frozen=True)
class IntegerEnd(Node):
    """input "name" scale 0.5 zero 83: what integers of an end of a file stand for; without a name, of every input."""

    end: Name
    scale: Expression
    zero: Expression | None = None
    called: Text | None = None


@dataclass(frozen=True)
class Dequantised(Node):
    """dequantised { input scale 0.5 zero 83, output scale 0.1 }; ends that it does not name are those of the file."""

    ends: tuple[IntegerEnd, ...] = ()


@dataclass(frozen=True)
class Network(Node):
    """network name = path in space output text takes raw gives probabilities dequantised."""

    name: Name
    path: Expression
    space: QualifiedName
    takes: Name | None = None
    gives: Name | None = None
    output: Expression | None = None
    dequantised: Dequantised | None = None
    doc: str | None = None


@dataclass(frozen=True)
class NumberType(Node):
    """int8, int<B>, fixed<16, 6, RND, SAT>: a word, and what stands in angle brackets behind it."""

    word: Name
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class TypeOf(Node):
    """accum fixed<24, 10>: the type of some of a network's numbers."""

    key: Name
    type: NumberType


@dataclass(frozen=True)
class QuantisedTo(Node):
    """quantised to int8 per channel calibrated on "table.csv" columns 1..16; `per` None means per tensor."""

    type: NumberType
    per: Name | None = None
    table: Expression | None = None
    columns: Range | None = None


@dataclass(frozen=True)
class HeldAs(Node):
    """as fixed<16, 6> { accum fixed<24, 10> }: the type of all numbers, and of those that have another one."""

    type: NumberType
    others: tuple[TypeOf, ...] = ()


Precision: TypeAlias = QuantisedTo | HeldAs


@dataclass(frozen=True)
class DerivedNetwork(Node):
    """network name(formals) = reference precision in space; without `space` it lives where its reference does."""

    name: Name
    formals: tuple[Name, ...]
    reference: QualifiedName
    precision: Precision
    space: QualifiedName | None = None
    doc: str | None = None


@dataclass(frozen=True)
class Applied(Node):
    """A network with values for its formal parameters: fpga(12)."""

    network: QualifiedName
    arguments: tuple[Expression, ...]


Subject: TypeAlias = QualifiedName | Applied
"""A network that a claim is about."""


def network_of(subject: Subject) -> QualifiedName:
    """The name of the network that a claim is about."""
    return subject.network if isinstance(subject, Applied) else subject


def arguments_of(subject: Subject) -> tuple[Expression, ...]:
    """The values that stand behind the name of a network."""
    return subject.arguments if isinstance(subject, Applied) else ()


@dataclass(frozen=True)
class Guard(Node):
    """when confidence >= threshold."""

    word: Name
    operator: str
    threshold: Expression


@dataclass(frozen=True)
class StaysWithin(Node):
    """prove candidate stays within eps of reference in norm comparing outputs; a guard is an error found later."""

    candidate: Subject
    eps: Expression
    reference: Subject
    norm: Name | None = None
    comparing: ListOf | None = None
    guard: Guard | None = None


@dataclass(frozen=True)
class Equals(Node):
    """prove candidate equals reference; a guard is an error found later."""

    candidate: Subject
    reference: Subject
    guard: Guard | None = None


@dataclass(frozen=True)
class KeepsTop1(Node):
    """prove candidate keeps top1 of reference when guard."""

    candidate: Subject
    reference: Subject
    guard: Guard | None = None


@dataclass(frozen=True)
class Satisfies(Node):
    """prove candidate satisfies comparison; a guard is an error found later."""

    candidate: Subject
    comparison: Comparison
    guard: Guard | None = None


@dataclass(frozen=True)
class Never(Node):
    """prove candidate never wraps, or never saturates; a guard is an error found later."""

    candidate: Subject
    word: Name
    guard: Guard | None = None


Claim: TypeAlias = StaysWithin | Equals | KeepsTop1 | Satisfies | Never


@dataclass(frozen=True)
class On(Node):
    """on region(arguments)."""

    use: Use


@dataclass(frozen=True)
class For(Node):
    """for variable in values."""

    variable: Name
    values: Expression


@dataclass(frozen=True)
class Find(Node):
    """find smallest|largest variable in range to width."""

    direction: Name
    variable: Name
    range: Range
    width: Expression | None = None


@dataclass(frozen=True)
class Expect(Node):
    """expect verdict if condition."""

    verdict: Name
    condition: Comparison | None = None


@dataclass(frozen=True)
class Arithmetic(Node):
    """arithmetic float32."""

    word: Name


@dataclass(frozen=True)
class Tags(Node):
    """tags a, b."""

    tags: tuple[Name, ...]


@dataclass(frozen=True)
class Budget(Node):
    """budget { timeout 60s jobs 4 }; outside a check it is the default of the file."""

    settings: tuple[Setting, ...]
    doc: str | None = None


CheckClause: TypeAlias = Claim | On | For | Find | Expect | Arithmetic | Tags | Budget


@dataclass(frozen=True)
class Check(Node):
    """check name { ... }."""

    name: Name
    clauses: tuple[CheckClause, ...]
    doc: str | None = None


Declaration: TypeAlias = Include | Let | Param | Space | Network | DerivedNetwork | Region | Check | Budget


@dataclass(frozen=True)
class Comment(Node):
    """A comment with its marks, as written; `doc` if it starts with ##."""

    text: str
    doc: bool = False


@dataclass(frozen=True)
class File(Node):
    """A whole file. Comments are kept aside, in order of place."""

    version: Number
    declarations: tuple[Declaration, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False, repr=False)
