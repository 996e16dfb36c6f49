"""Two networks on one input: how the input of the second follows from that of the first.

An equivalence query says of every input i that X_g[i] = X_f[i]; where one of the files has the normalisation inside,
X_g[i] = scale_i X_f[i] + shift_i. The second input is then put out of the formulas. Anything else compares the
networks at different points (monotonicity, robustness of a pair), which a spec does not say; such a query is answered
over `joint_inputs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from eqspec.errors import Diagnostic, Label
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec.findings import Fault, error
from eqspec.vnnlib.query import All, Comparison, Element, Formula, Monomial, Query, Some, compare


@dataclass(frozen=True)
class Coupled:
    """What has to hold, over the input of the first network alone; X_g[i] = scale[i] X_f[i] + shift[i]."""

    formulas: tuple[Formula, ...]
    scale: tuple[Fraction, ...]
    shift: tuple[Fraction, ...]

    @property
    def same(self) -> bool:
        """Whether both networks get exactly the same numbers."""
        return not any(self.shift) and all(s == 1 for s in self.scale)


def couple(query: Query) -> Coupled:
    """The query over one input. Fault E610 if the networks do not share it, E605 if their inputs differ in size."""
    formulas = [part for assertion in query.assertions for part in _parts(assertion.formula)]
    first = query.networks[0].input
    assert first is not None
    size = first.size
    identity = Coupled(tuple(formulas), (Fraction(1),) * size, (Fraction(0),) * size)
    if len(query.networks) == 1 or query.networks[1].input is None:
        return identity
    second = query.networks[1].input
    if second.size != size:
        message = f"'{second.name}' has {second.size} entries, '{first.name}' has {size}"
        label = Label(first.span, "the other input")
        raise Fault(error("E610", message, second.span, label, help="equivalence compares on the same input"))
    ties, rest = _ties(formulas)
    scale, shift = _maps(query, ties, rest, size)
    return Coupled(tuple(_substituted(f, scale, shift) for f in rest), tuple(scale), tuple(shift))


def shares_input(query: Query) -> bool:
    """Whether a query gives its networks one input."""
    try:
        couple(query)
    except Fault as fault:
        return fault.diagnostic is None or fault.diagnostic.code != "E610"
    return True


def _parts(formula: Formula) -> list[Formula]:
    """What holds together at the top."""
    return [p for part in formula.parts for p in _parts(part)] if isinstance(formula, All) else [formula]


def _ties(formulas: Sequence[Formula]) -> tuple[list[Comparison], list[Formula]]:
    """The equations between entry i of one input and entry i of the other, and the rest; <= and >= make an equation."""
    halves = {f.key for f in formulas if isinstance(f, Comparison) and _tying(f)}
    ties: list[Comparison] = []
    rest: list[Formula] = []
    for f in formulas:
        if isinstance(f, Comparison) and _tying(f):
            turned = compare({m: -c for m, c in f.terms}, f.relation, -f.bound, f.span)
            both = f.relation == "<=" and isinstance(turned, Comparison) and turned.key in halves
            equation = compare(dict(f.terms), "==", f.bound, f.span) if both else f
            if isinstance(equation, Comparison) and equation.relation == "==":
                ties.append(equation)
                continue
        rest.append(f)
    return ties, rest


def _tying(formula: Formula) -> bool:
    """Whether it compares an entry of one input with the same entry of the other."""
    if not isinstance(formula, Comparison) or not formula.linear or len(formula.terms) != 2:
        return False
    first, second = sorted(formula.elements)
    return not (first.output or second.output) and first.network != second.network and first.entry == second.entry


def _maps(
    query: Query, ties: Sequence[Comparison], rest: Sequence[Formula], size: int
) -> tuple[list[Fraction], list[Fraction]]:
    found: dict[int, tuple[Fraction, Fraction, Span]] = {}
    for tie in ties:
        coefficients = tie.coefficients
        ours, theirs = sorted(coefficients)
        a, b = coefficients[ours], coefficients[theirs]
        scale, shift = -a / b, tie.bound / b
        index = ours.entry
        if index in found and found[index][:2] != (scale, shift):
            label = Label(found[index][2], "here otherwise")
            raise Fault(error("E610", "this input is tied in two different ways", tie.span, label))
        if scale <= 0:
            raise Fault(
                error("E610", "this is not an equivalence query: one input is the other turned round", tie.span)
            )
        found[index] = scale, shift, tie.span
    missing = [i for i in range(size) if i not in found]
    if missing:
        raise Fault(_not_tied(query, rest, missing))
    return [found[i][0] for i in range(size)], [found[i][1] for i in range(size)]


def _not_tied(query: Query, rest: Sequence[Formula], missing: Sequence[int]) -> Diagnostic:
    """E610, at what ties these entries in another way than to themselves, if anything does."""
    help_ = "equivalence needs (== X_f[i] X_g[i]) for every input"
    for f in rest:
        if isinstance(f, Comparison) and len({e.network for e in f.elements if not e.output}) == 2:
            inputs = [e for e in f.elements if not e.output]
            if any(e.network == 1 and e.entry in missing for e in inputs):
                operator = {"<=": "at most", "<": "below", "==": "tied to"}[f.relation]
                message = f"this is not an equivalence query: one input has to be {operator} the other, not equal to it"
                return error("E610", message, f.span, help=help_)
    more = ", ..." if len(missing) > 8 else ""
    named = ", ".join(query.named(Element(1, False, i)) for i in missing[:8]) + more
    message = f"this is not an equivalence query: nothing ties {named} to the input of '{query.networks[0].name}'"
    return error("E610", message, query.networks[1].span, help=help_)


def _substituted(formula: Formula, scale: Sequence[Fraction], shift: Sequence[Fraction]) -> Formula:
    """The formula with scale X_f + shift in place of X_g. Fault E611 where inputs are multiplied."""
    match formula:
        case All(parts):
            return All(tuple(_substituted(p, scale, shift) for p in parts))
        case Some(parts):
            return Some(tuple(_substituted(p, scale, shift) for p in parts))
        case Comparison():
            return _without_second(formula, scale, shift)


def _without_second(comparison: Comparison, scale: Sequence[Fraction], shift: Sequence[Fraction]) -> Formula:
    if all(e.network == 0 or e.output for e in comparison.elements):
        return comparison
    terms: dict[Monomial, Fraction] = {}
    bound = comparison.bound
    for monomial, coefficient in comparison.terms:
        element = monomial[0]
        if len(monomial) > 1 and any(e.network == 1 and not e.output for e in monomial):
            raise Fault(error("E611", "inputs are multiplied, which no region says", comparison.span))
        if element.network == 1 and not element.output:
            bound -= coefficient * shift[element.entry]
            monomial, coefficient = (Element(0, False, element.entry),), coefficient * scale[element.entry]
        terms[monomial] = terms.get(monomial, Fraction(0)) + coefficient
    return compare(terms, comparison.relation, bound, comparison.span)
