"""What a check claims, evaluated to a property with exact numbers, and the limits of what can be claimed.

f is the reference, g the candidate. A confidence of at most 1/n holds everywhere, one of 1 nowhere over the reals.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, cast

from eqspec.lazy_dataclass import dataclass
from eqspec.property import (
    INSTEAD_OF_A_DECISION,
    Confidence,
    Epsilon,
    Linear,
    Margin,
    NeverSaturates,
    NeverWraps,
    Norm,
    Property,
    Top1,
)
from eqspec.spec import ast, values, vocabulary
from eqspec.spec.findings import Fault, Findings, error, spelt, warning
from eqspec.spec.numbers import shown
from eqspec.spec.program import Binding
from eqspec.spec.scope import Scope
from eqspec.spec.spaces import SpaceFacts, require_unit
from eqspec.spec.suggest import did_you_mean, enumerate_names
from eqspec.spec.values import UNKNOWN, Form, Value


@dataclass(frozen=True)
class Subjects:
    """The two networks of a check, and the space both live in."""

    candidate: Binding
    reference: Binding
    space: SpaceFacts
    candidate_arguments: tuple[ast.Expression, ...] = ()
    reference_arguments: tuple[ast.Expression, ...] = ()


SENTENCES: dict[type[ast.Claim], str] = {
    ast.StaysWithin: "stays within",
    ast.Equals: "equals",
    ast.KeepsTop1: "keeps top1",
    ast.Satisfies: "satisfies",
    ast.Never: "never",
}
"""The name of each sentence in findings."""


def evaluate(
    claim: ast.Claim, subjects: Subjects, scope: Scope, findings: Findings, *, searching: bool = False
) -> Property | Literal[values.Unknown.UNKNOWN]:
    """The property that a claim states for given values; at the ends of a search (`searching`) limits are allowed."""
    if claim.guard is not None and not isinstance(claim, ast.KeepsTop1):
        sentence = SENTENCES[type(claim)]
        message = f"'{claim.guard.word}' needs a classifier: '{sentence}' has no guard"
        raise Fault(error("E306", message, claim.guard.span, help="use 'keeps top1'"))
    match claim:
        case ast.StaysWithin():
            return _epsilon(claim, subjects, scope)
        case ast.Equals():
            return Epsilon(Fraction(0))
        case ast.KeepsTop1():
            return _top1(claim, subjects, scope, findings, searching)
        case ast.Satisfies():
            return _linear(claim, subjects, scope)
        case ast.Never():
            return NeverWraps() if vocabulary.look_up("overflow", claim.word) == "wraps" else NeverSaturates()


def _epsilon(claim: ast.StaysWithin, subjects: Subjects, scope: Scope) -> Epsilon | Literal[values.Unknown.UNKNOWN]:
    norm = "linf" if claim.norm is None else vocabulary.look_up("norm", claim.norm)
    space = subjects.space
    chosen = None if claim.comparing is None else _chosen_outputs(claim.comparing, space, scope)
    eps = values.number(claim.eps, scope)
    if eps is UNKNOWN or chosen is UNKNOWN:
        return UNKNOWN
    compared = range(len(space.outputs)) if chosen is None else chosen
    for i in compared:
        name, unit = space.outputs[i]
        require_unit(f"output '{name}'", unit, eps.unit, "eps", claim.eps.span)
    if eps.constant < 0:
        raise Fault(error("E138", f"eps is negative: {shown(eps.constant)}", claim.eps.span))
    return Epsilon(eps.constant, cast(Norm, norm), chosen)


def _chosen_outputs(
    clause: ast.ListOf, space: SpaceFacts, scope: Scope
) -> tuple[int, ...] | Literal[values.Unknown.UNKNOWN]:
    chosen: list[int] = []
    for item in clause.items:
        if isinstance(item, ast.Reference) and item.index is None and len(item.name.parts) == 1:
            index = output_index(ast.Name(str(item.name), span=item.span), space)
        else:
            number = values.number(item, scope)
            if number is UNKNOWN:
                return UNKNOWN
            index = _counted_output(number.constant, item, space)
        if index in chosen:
            raise Fault(error("E104", f"output '{space.outputs[index][0]}' is compared twice", item.span))
        chosen.append(index)
    if not chosen:
        raise Fault(error("E138", "'comparing' names no output", clause.span, help="name one, or leave it out"))
    return tuple(chosen)


def output_index(name: ast.Name | ast.Number, space: SpaceFacts) -> int:
    """The index of an output given by name or number; Fault E102."""
    if isinstance(name, ast.Number):
        scale = Fraction(name.text) if len(name.text) < 10 else Fraction(len(space.outputs))
        return _counted_output(scale, name, space)
    for i, (output, _) in enumerate(space.outputs):
        if output == name.text:
            return i
    names = [output for output, _ in space.outputs]
    meant = did_you_mean(name.text, names)
    listed = f"outputs: {enumerate_names(names)}"
    message = f"space '{space.name}' has no output '{name}'"
    help_text = f"{meant} {listed}" if meant else listed
    raise Fault(error("E102", message, name.span, help=help_text, fixes=spelt(name.span, name.text, names)))


def _counted_output(index: Fraction, node: ast.Node, space: SpaceFacts) -> int:
    count = len(space.outputs)
    if index.denominator != 1 or not 0 <= index < count:
        message = f"space '{space.name}' has no output {shown(index)}"
        raise Fault(error("E102", message, node.span, help=f"its {count} outputs are numbered from 0 to {count - 1}"))
    return int(index)


TWO_CLASSES = "of a file that ends in a Sigmoid declare both classes, as in 'outputs no, yes'"


def _top1(
    claim: ast.KeepsTop1, subjects: Subjects, scope: Scope, findings: Findings, searching: bool
) -> Property | Literal[values.Unknown.UNKNOWN]:
    guard = claim.guard
    if len(subjects.space.outputs) < 2:
        message = f"'keeps top1' needs a classifier: space '{subjects.space.name}' has one output"
        advice = f"{TWO_CLASSES}; else use 'stays within': {INSTEAD_OF_A_DECISION}"
        raise Fault(error("E306", message, claim.span, help=advice))
    if guard is None:
        return Top1()
    word = vocabulary.look_up("guard", guard.word)
    if guard.operator != ">=":
        message = f"a guard is written '{word} >= ...', not '{guard.operator}'"
        raise Fault(error("E137", message, guard.span, help=f"write '{word} >= {guard.threshold.span.text}'"))
    threshold = values.number(guard.threshold, scope)
    if threshold is UNKNOWN:
        return UNKNOWN
    if threshold.unit is not None:
        message = f"unit mismatch: {word} has no unit, found [{threshold.unit}]"
        raise Fault(error("E130", message, guard.threshold.span, help="leave the unit out"))
    if word == "margin":
        if threshold.constant < 0:
            message = f"the margin is negative: {shown(threshold.constant)}"
            raise Fault(error("E138", message, guard.threshold.span, help="leave the guard out for plain top1"))
        return Margin(threshold.constant)
    return _confidence(threshold.constant, guard, len(subjects.space.outputs), findings, searching)


def _confidence(delta: Fraction, guard: ast.Guard, n: int, findings: Findings, searching: bool) -> Property:
    span, text = guard.span, shown(delta)
    if delta >= 1:
        message = f"confidence >= {text} is never reached by a softmax: the check would be vacuous"
        share = f"write {shown(delta / 100)} if {text} % is meant" if 1 < delta < 100 else "use 0.9999999"
        raise Fault(error("E302", message, span, help=share))
    if delta < 0:
        raise Fault(error("E138", f"the confidence is negative: {text}", guard.threshold.span))
    if delta <= Fraction(1, n):
        if not searching:
            message = f"confidence >= {text} holds for every input of a {n}-class net: this is plain top1"
            findings.add(warning("W301", message, span, help="leave the guard out"))
        return Top1()
    return Confidence(delta)


def _linear(claim: ast.Satisfies, subjects: Subjects, scope: Scope) -> Linear | Literal[values.Unknown.UNKNOWN]:
    comparison = claim.comparison
    if comparison.operator == "==":
        message = "'satisfies' takes an inequality, found '=='"
        raise Fault(error("E137", message, comparison.span, help="write two checks, one with '<=' and one with '>='"))
    form = values.difference(comparison, OutputScope(subjects, scope))
    if form is UNKNOWN:
        return UNKNOWN
    sign = 1 if comparison.operator in ("<=", "<") else -1
    if not form.coefficients:
        message = "no output occurs in this inequality"
        hint = f"write outputs as {ast.network_of(claim.candidate)}[{subjects.space.outputs[0][0]}]"
        raise Fault(error("E138", message, comparison.span, help=hint))

    def row(of: Binding) -> tuple[Fraction, ...]:
        count = len(subjects.space.outputs)
        coefficients = cast(Mapping[tuple[Binding, int], Fraction], form.coefficients)
        return tuple(sign * coefficients.get((of, i), Fraction(0)) for i in range(count))

    zero = (Fraction(0),) * len(subjects.space.outputs)
    if row(subjects.candidate) == zero:
        name = ast.network_of(claim.candidate)
        message = f"no output of '{name}' occurs in this inequality, which says nothing of it"
        raise Fault(
            error("E138", message, comparison.span, help=f"write one as {name}[{subjects.space.outputs[0][0]}]")
        )
    reference = zero if subjects.reference is subjects.candidate else row(subjects.reference)
    return Linear(row(subjects.candidate), reference, -sign * form.constant, comparison.operator in ("<", ">"))


@dataclass(frozen=True)
class OutputScope:
    """The names inside `satisfies`: outputs as network[output], and values."""

    subjects: Subjects
    scope: Scope

    def __call__(self, reference: ast.Reference) -> Value:
        """The output or value that a reference names."""
        module = self.scope.module
        name = reference.name
        is_local = len(name.parts) == 1 and name.parts[0] in self.scope.locals
        network = None if is_local else module.find("network", name)
        if network is None:
            if reference.index is not None and not is_local and module.find("value", name) is None:
                raise Fault(
                    error("E101", f"no network named '{name}'", name.span, help=module.suggestion("network", name))
                )
            self._refuse_input(reference)
            return self.scope(reference)
        if reference.index is None:
            if module.find("value", name) is not None:
                return self.scope(reference)
            hint = f"write {name}[{self.subjects.space.outputs[0][0]}]"
            raise Fault(error("E134", f"'{name}' is a network, not a number", reference.span, help=hint))
        index = output_index(reference.index, self.subjects.space)
        unit = self.subjects.space.outputs[index][1]
        return Form(Fraction(0), {(network, index): Fraction(1)}, unit)

    def _refuse_input(self, reference: ast.Reference) -> None:
        atoms = self.subjects.space.atoms
        known = self.scope.module.find("value", reference.name) or str(reference.name) in self.scope.locals
        if atoms is not None and str(reference.name) in atoms.indices and not known:
            message = f"'{reference.name}' is an input: 'satisfies' compares outputs"
            hint = "constrain inputs with 'where' in the region"
            raise Fault(error("E134", message, reference.span, help=hint))
