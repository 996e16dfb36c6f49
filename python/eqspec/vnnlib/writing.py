"""Tasks to the text of VNN-LIB files: 2.0 over two networks, 1.0 over their product.

The region becomes bounds of the inputs, rounded outward where they do not end as decimals, and linear constraints,
exactly. Comments say which task it is, what `unsat` and `sat` mean, and where the text covers more than the claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Network
from eqspec.property import Epsilon
from eqspec.replay.replay import raw_point
from eqspec.tasks import serialisation
from eqspec.tasks.phrasing import claim_in_words
from eqspec.tasks.task import Task
from eqspec.vnnlib import decimals
from eqspec.vnnlib.cases import cases
from eqspec.vnnlib.printing import alternatives, printed
from eqspec.vnnlib.product import Product
from eqspec.vnnlib.query import All, Comparison, Element, FileRelation, Formula, Monomial, Some, Tensor, compare
from eqspec.vnnlib.unsafe_outputs import NOWHERE, unsafe_outputs

FLAT_CLASSES = 10
"""Up to so many classes, Top-1 is written with every alternative on its own."""
_MOST_NAMES = 40
CLOSED = "VNN-LIB 1.0 has no strict comparisons: a point where both sides are equal breaks nothing"
ROUNDED = "bounds of inputs that do not end as decimals are rounded outward"


@dataclass(frozen=True)
class Side:
    """A network as the text declares it. `raw` if its file takes raw inputs, while the task is in network units."""

    name: str
    shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    raw: bool


def shape_of(declared: Sequence[int | str], size: int) -> tuple[int, ...] | None:
    """A file's shape with open sizes as 1; None where that does not hold one sample."""
    shape = tuple(1 if isinstance(d, str) else d for d in declared)
    return shape if prod(shape) == size else None


def networks_apart(task: Task, sides: Sequence[Side], like: FileRelation | None) -> str:
    """A task as VNN-LIB 2.0 over its reference and its candidate, or over the one network that is claimed about.

    InputError where the claim cannot be written.
    """
    reference, candidate = sides[0], sides[-1]
    where = unsafe_outputs(task.property, task.reference.output_size, task.space.decide)
    region, rounded = _region(task, raw=reference.raw)
    notes = [*where.notes, *([ROUNDED] if rounded else [])]
    tensors = [
        (Tensor(f"X_{s.name}", s.shape, "real", NOWHERE), Tensor(f"Y_{s.name}", s.output_shape, "real", NOWHERE))
        for s in sides
    ]

    def name(element: Element) -> str:
        return tensors[element.network % len(sides)][element.output].named(element.entry, scalars=False)

    lines = ["(vnnlib-version <2.0>)", *_comments(task, notes)]
    for number, (side, (x, y)) in enumerate(zip(sides, tensors, strict=True)):
        relation = f" ({like} {reference.name})" if number and like is not None else ""
        inside = f"(declare-input {x.name} real {_axes(x.shape)}) (declare-output {y.name} real {_axes(y.shape)})"
        lines.append(f"(declare-network {side.name}{relation} {inside})")
    lines += [f"(assert {printed(f, name)})" for f in region]
    if len(sides) == 2:
        lines += [f"(assert {printed(f, name)})" for f in _coupling(task, reference, candidate)]
    if isinstance(task.property, Epsilon) and task.property.norm == "l2":
        lines.append(_euclidean(where.formula, tensors[0][1], tensors[1][1]))
    else:
        formula = where.formula
        if task.reference.output_size <= FLAT_CLASSES:
            formula = _flat(formula)
        lines += _disjunction(alternatives(formula, name))
    return "\n".join(lines) + "\n"


def one_network(task: Task, made: Product, outputs: int) -> str:
    """A task as VNN-LIB 1.0 over the product of its networks, in network units."""
    region, rounded = _region(task, raw=False)
    notes = [*made.notes, CLOSED, *([ROUNDED] if rounded else [])]

    def name(element: Element) -> str:
        return f"{'Y' if element.output else 'X'}_{element.entry}"

    lines = _comments(task, notes)
    lines += [f"(declare-const X_{i} Real)" for i in range(task.reference.input_size)]
    lines += [f"(declare-const Y_{i} Real)" for i in range(outputs)]
    lines += [f"(assert {printed(f, name, closed=True)})" for f in region]
    shown = list(alternatives(_flat(made.formula), name, closed=True))
    lines += _disjunction(text if text.startswith("(and") else f"(and {text})" for text in shown)
    return "\n".join(lines) + "\n"


def _comments(task: Task, notes: Sequence[str]) -> list[str]:
    lines = [
        f"eqspec 1, task {task.id}, sha256 {serialisation.to_json(task)['sha256']}",
        f"claim: {claim_in_words(task)}",
        "the asserts describe inputs where the claim does not hold:",
        "  unsat: the claim holds everywhere (equivalent)",
    ]
    if not notes:
        lines.append("  sat:   the claim does not hold at that input (different)")
    else:
        lines.append("  sat:   perhaps not: the asserts cover a little more; ask 'eqspec replay --assignment':")
        lines += [f"         - {note}" for note in notes]
    units = ", ".join(
        f"{n} [{u}]" if u else n for n, u in zip(task.space.features[:40], task.space.units, strict=False)
    )
    lines.append(f"inputs, in this order: {units}{', ...' if len(task.space.features) > 40 else ''}")
    lines.append(f"outputs, in this order: {', '.join(task.space.outputs[:40])}")
    if task.expected is not None:
        lines.append(f"expected: {task.expected}")
    if task.tags:
        lines.append(f"tags: {', '.join(task.tags)}")
    return [f"; {' '.join(line.split()) if not line.startswith(' ') else line}" for line in lines]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")


def _axes(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _region(task: Task, *, raw: bool) -> tuple[list[Formula], bool]:
    """The box and the constraints over X of the first network, and whether a bound was rounded."""
    low, high = task.lower_exact, task.upper_exact
    if raw:
        low, high = raw_point(task, low), raw_point(task, high)
    formulas: list[Formula] = []
    rounded = False
    for i, (a, b) in enumerate(zip(low, high, strict=True)):
        x = (Element(0, False, i),)
        if a == b and decimals.plain(a) is not None:
            formulas.append(compare({x: Fraction(1)}, "==", a, NOWHERE))
            continue
        below, above = Fraction(decimals.below(a)), Fraction(decimals.above(b))
        rounded |= (below, above) != (a, b)
        formulas.append(compare({x: Fraction(-1)}, "<=", -below, NOWHERE))
        formulas.append(compare({x: Fraction(1)}, "<=", above, NOWHERE))
    for constraint in task.constraints:
        terms: dict[Monomial, Fraction] = {}
        bound = constraint.bound
        for i, coefficient in enumerate(constraint.coefficients):
            if raw and coefficient:  # x = (raw - centre) / scale
                coefficient = coefficient / task.space.scale[i]
                bound += coefficient * task.space.centre[i]
            terms[(Element(0, False, i),)] = coefficient
        formulas.append(compare(terms, "<" if constraint.strict else "<=", bound, NOWHERE))
    return formulas, rounded


def _coupling(task: Task, reference: Side, candidate: Side) -> list[Formula]:
    """X_f[i] == X_g[i], or what the normalisation makes of it where one file has it inside; exact."""
    formulas = []
    for i, (centre, scale) in enumerate(zip(task.space.centre, task.space.scale, strict=True)):
        f, g = (Element(0, False, i),), (Element(1, False, i),)
        terms: dict[Monomial, Fraction] = {f: Fraction(1), g: Fraction(-1)}
        bound = Fraction(0)
        if reference.raw and not candidate.raw:  # X_f = centre + scale X_g
            terms[g], bound = -scale, centre
        elif candidate.raw and not reference.raw:
            terms[f], bound = scale, -centre
        formulas.append(compare(terms, "==", bound, NOWHERE))
    return formulas


def _flat(formula: Formula) -> Formula:
    return Some(tuple(_joined(case) for case in cases(formula, NOWHERE)))


def _joined(case: Sequence[Comparison]) -> Formula:
    return case[0] if len(case) == 1 else All(tuple(case))


def _disjunction(parts: Iterable[str]) -> list[str]:
    """An assert with one alternative on each line."""
    shown = list(parts)
    return [f"(assert {shown[0]})"] if len(shown) == 1 else ["(assert (or", *(f"  {part}" for part in shown), "))"]


def _euclidean(formula: Formula, f: Tensor, g: Tensor) -> str:
    """(> (+ (* d d) ...) eps^2) with d = (- Y_g Y_f), as people read it."""
    assert isinstance(formula, Comparison)
    squares = []
    for i in sorted({e.entry for e in formula.elements}):
        gap = f"(- {g.named(i, scalars=False)} {f.named(i, scalars=False)})"
        squares.append(f"(* {gap} {gap})")
    total = squares[0] if len(squares) == 1 else f"(+ {' '.join(squares)})"
    square = -formula.bound
    if (shown := decimals.plain(square)) is not None:
        return f"(assert (> {total} {shown}))"
    return f"(assert (> (* {square.denominator}.0 {total}) {square.numerator}.0))"


def network_name(name: str) -> str:
    """A name as VNN-LIB has them: letters, digits and '_', a letter first."""
    word = "".join(c if (c.isascii() and c.isalnum()) or c == "_" else "_" for c in name)
    return word if word[:1].isalpha() else f"n{word}"


def output_shape(network: Network) -> tuple[int, ...]:
    """The shape of a file's output."""
    return shape_of(network.output_shape, network.output_size) or (network.output_size,)
