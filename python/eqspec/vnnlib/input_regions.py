"""The inputs a query is about, and what it calls unsafe there.

The asserts are split into those about inputs and those about outputs. Alternatives of inputs become areas of their own
(ACAS property 6 has two), each a box with linear constraints; an assert that mixes both is written out, and its cases
that speak of the same inputs stay together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction

from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec.findings import Fault, error
from eqspec.vnnlib.cases import Case, cases, closed
from eqspec.vnnlib.query import All, Comparison, Element, Formula, Query
from eqspec.vnnlib.unique_warnings import UniqueWarnings

MOST_AREAS = 10_000


@dataclass(frozen=True, eq=False)
class InputRegion:
    """low <= x <= high and the joint constraints; somewhere in it all comparisons of one of the cases must hold."""

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    joint: tuple[Comparison, ...]
    unsafe: tuple[Case, ...]


def input_regions(query: Query, formulas: Sequence[Formula], size: int, notes: UniqueWarnings) -> list[InputRegion]:
    """All areas that are not plainly empty.

    Fault E132 where an input is not bounded, E133 if nothing is left, E611 for what no region says, E612 for too much.
    """
    whole = query.assertions[0].span
    inputs: list[Formula] = []
    outputs: list[Formula] = []
    mixed: list[Formula] = []
    for formula in formulas:
        about = _about(formula)
        (mixed if len(about) > 1 else outputs if True in about else inputs).append(formula)
    unsafe = [closed(case) for case in cases(All(tuple(outputs)), whole)]
    groups = _groups(mixed, whole)
    found: list[InputRegion] = []
    empty: list[Span] = []
    for case in cases(All(tuple(inputs)), whole):
        for within, alternatives in groups:
            box = _Box(query, size)
            for comparison in (*case, *within):
                box.add(comparison, notes)
            if box.empty is not None:
                empty.append(box.empty)
                continue
            joined = tuple(a + b for a in unsafe for b in alternatives) if mixed else tuple(unsafe)
            found.append(box.area(joined, whole))
            if len(found) > MOST_AREAS:
                raise Fault(error("E612", f"more than {MOST_AREAS} areas of inputs", whole, help="split the file"))
    if not found:
        span = empty[0] if empty else whole
        raise Fault(error("E133", "no input meets the asserts", span, help="relax one of them"))
    for span in empty:
        notes.add("W603", "an alternative that no input meets is left out", span)
    return found


def _about(formula: Formula) -> set[bool]:
    """Whether outputs, inputs or both occur; a truth value counts as inputs."""
    if isinstance(formula, Comparison):
        about = {e.output for e in formula.elements}
        if len(about) > 1:
            message = "this compares inputs with outputs, which none of the sentences says"
            raise Fault(error("E611", message, formula.span))
        return about
    return set[bool]().union(*(_about(p) for p in formula.parts)) or {False}


def _groups(mixed: Sequence[Formula], span: Span) -> list[tuple[Case, list[Case]]]:
    """Cases of asserts that mix inputs and outputs, those with the same inputs together."""
    if not mixed:
        return [((), [()])]
    grouped: dict[frozenset[tuple[object, ...]], tuple[Case, list[Case]]] = {}
    for case in cases(All(tuple(mixed)), span):
        inside = tuple(c for c in case if not any(e.output for e in c.elements))
        outside = closed(tuple(c for c in case if any(e.output for e in c.elements)))
        grouped.setdefault(frozenset(c.key for c in inside), (inside, []))[1].append(outside)
    return list(grouped.values())


@dataclass
class _Box:
    query: Query
    size: int
    low: dict[int, Fraction] = field(default_factory=dict)
    high: dict[int, Fraction] = field(default_factory=dict)
    joint: list[Comparison] = field(default_factory=list)
    empty: Span | None = None

    def add(self, comparison: Comparison, notes: UniqueWarnings) -> None:
        if not comparison.linear:
            raise Fault(error("E611", "inputs are multiplied, which no region says", comparison.span))
        if comparison.relation == "<":
            message = "a strict bound of inputs is read as closed"
            notes.add("W602", message, comparison.span, "a counterexample on that bound is not an answer to the file")
        coefficients = comparison.coefficients
        if len(coefficients) > 1:
            self.joint.append(comparison)
            return
        ((element, coefficient),) = coefficients.items()
        i, bound = element.entry, comparison.bound / coefficient
        if comparison.relation == "==" or coefficient > 0:
            self.high[i] = min(self.high.get(i, bound), bound)
        if comparison.relation == "==" or coefficient < 0:
            self.low[i] = max(self.low.get(i, bound), bound)
        if i in self.low and i in self.high and self.low[i] > self.high[i]:
            self.empty = comparison.span

    def area(self, unsafe: tuple[Case, ...], span: Span) -> InputRegion:
        missing = [i for i in range(self.size) if i not in self.low or i not in self.high]
        if missing:
            named = ", ".join(self.query.named(Element(0, False, i)) for i in missing[:8])
            more = ", ..." if len(missing) > 8 else ""
            several = f"{len(missing)} inputs have" if len(missing) > 1 else "an input has"
            message = f"{several} no lower or no upper bound: {named}{more}"
            raise Fault(error("E132", message, span, help="unbounded inputs cannot be checked"))
        low = tuple(self.low[i] for i in range(self.size))
        return InputRegion(low, tuple(self.high[i] for i in range(self.size)), tuple(self.joint), unsafe)
