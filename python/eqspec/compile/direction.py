"""Which way the claim of a search moves with its variable, at all values of its range at once.

What a search answers rests on one thing: going from the hard end of its range to the easy one, the claim only gets
weaker. Five values that say so prove nothing about the others. So every place where the variable enters the claim or
the region is listed, each with the number there as a function of the variable (`eqspec.spec.dependence`), and with what
its growing does: a larger distance, threshold or bound of an inequality allows more; a larger lower bound of an input,
or a smaller upper bound, radius or bound of a constraint, leaves fewer inputs. Where all these numbers move the claim
the same way on the whole range, or not at all, each claim follows from every harder one. In any other case the search
is refused (E305), and the finding says which place stands in the way. What may move a region without making it smaller
or larger, such as the coefficients of a constraint, a grid or the choice of rows, must not depend on the variable.

A region is an intersection, so it grows where all its parts grow; a bound that a later one replaces is looked at too,
which can only refuse more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal, cast

from eqspec.compile.scalers import Scaler
from eqspec.errors import Diagnostic, Fix, Label
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec import ast, values
from eqspec.spec.checks import CheckFacts, Search
from eqspec.spec.claims import OutputScope
from eqspec.spec.dependence import (
    VARIABLE,
    Course,
    Moving,
    MovingForm,
    MovingValue,
    Tracer,
    UndecidedError,
    course,
    fixed,
)
from eqspec.spec.findings import error
from eqspec.spec.scope import Scope
from eqspec.spec.values import UNKNOWN, Form

Effect = Literal["weaker", "stronger", "other"]
"""Whether the claim gets weaker or stronger as the number grows; `other` where the number must not move."""


@dataclass(frozen=True)
class Place:
    """A number of the claim or of the region, as a function of the variable."""

    what: str
    span: Span
    number: Moving
    growing: Effect


def refuse_direction(
    facts: CheckFacts, search: Search, point: Mapping[str, Form], scope: Scope, scaler: Scaler
) -> Diagnostic | None:
    """E305 unless the claim is shown to get weaker all the way to the end the search does not look for."""
    name, span = search.variable, search.clause.span
    try:
        found = _Places(facts, search, point, scope, scaler).all()
        moves = [(place, course(place.number, search.low, search.high)) for place in found]
    except UndecidedError as problem:
        return error(
            "E305", f"whether the claim only gets weaker with '{name}' is not decided: {problem}", span, help=_HELP
        )
    moves = [(place, moved) for place, moved in moves if moved.way != 0]
    if not moves:
        return error("E305", f"the claim does not depend on '{name}'", span, help=_HELP)
    for place, moved in moves:
        if moved.way is None or place.growing == "other":
            return _no_way(place, moved, name, span)
    easier_high = [(place.growing == "weaker") == (moved.way == 1) for place, moved in moves]
    wanted = search.direction == "smallest"
    if all(easier == wanted for easier in easier_high):
        return None
    if any(easier == wanted for easier in easier_high):
        weakens, strengthens = moves[easier_high.index(True)][0], moves[easier_high.index(False)][0]
        message = f"the claim gets neither weaker nor stronger with '{name}', but both"
        labels = (
            Label(weakens.span, f"a larger '{name}' weakens it: {weakens.what}"),
            Label(strengthens.span, f"a larger '{name}' strengthens it: {strengthens.what}"),
        )
        return error("E305", message, span, *labels, help=_HELP)
    turned = "largest" if wanted else "smallest"
    end = "lower" if wanted else "upper"
    message = f"'find {search.direction} {name}' is trivially the {end} end"
    fixes = (Fix(search.clause.direction.span, turned),)
    return error("E305", message, span, help=f"did you mean 'find {turned} {name}'?", fixes=fixes)


_HELP = (
    "search for one number that only widens a claim or a region; to try single values, list them with "
    "'for ... in [...]'"
)


def _no_way(place: Place, moved: Course, name: str, span: Span) -> Diagnostic:
    """The finding about a place that moves the claim both ways, or that must not depend on the variable."""
    message = f"the claim gets neither weaker nor stronger with '{name}'"
    if place.growing == "other":
        return error("E305", f"{message}: {place.what} depends on it", span, Label(place.span, "here"), help=_HELP)
    first, then = ("rises", "falls") if moved.rises_first else ("falls", "rises")
    at = "" if moved.turn is None else f" up to about {name} = {float(moved.turn):.3g}"
    label = Label(place.span, f"{first}{at}, then {then}")
    return error("E305", f"{message} all the way: {place.what} turns", span, label, help=_HELP)


class _Places:
    """Lists the places of one search at one point of the swept variables."""

    def __init__(
        self,
        facts: CheckFacts,
        search: Search,
        point: Mapping[str, Form],
        scope: Scope,
        scaler: Scaler,
    ) -> None:
        self._facts, self._scaler = facts, scaler
        self._ends = search.low, search.high
        self._scope = scope.with_locals({**point, search.variable: UNKNOWN})
        self._moving: dict[str, MovingValue] = {search.variable: MovingForm(VARIABLE)}

    def all(self) -> list[Place]:
        """The places of the claim, then those of the region."""
        return [*self._claim(self._facts.claim), *self._use(self._facts.use, self._scope, self._moving)]

    def _claim(self, claim: ast.Claim) -> Iterator[Place]:
        tracer = Tracer(self._scope, self._moving, *self._ends)
        match claim:
            case ast.StaysWithin():
                yield Place("the distance that is allowed", claim.eps.span, tracer.number(claim.eps), "weaker")
                for item in claim.comparing.items if claim.comparing is not None else ():
                    if not (isinstance(item, ast.Reference) and item.index is None):  # else it names an output
                        yield Place("which output is compared", item.span, tracer.number(item), "other")
            case ast.KeepsTop1(guard=ast.Guard() as guard):
                threshold = tracer.number(guard.threshold)
                yield Place(f"the {guard.word} that is asked for", guard.threshold.span, threshold, "weaker")
            case ast.KeepsTop1() | ast.Equals() | ast.Never():
                return
            case ast.Satisfies(comparison=comparison):
                outputs = OutputScope(self._facts.subjects, self._scope)
                form = Tracer(outputs, self._moving, *self._ends).difference(comparison)
                for coefficient in form.coefficients.values():
                    yield Place("a coefficient of the inequality", comparison.span, coefficient, "other")
                below = comparison.operator in ("<=", "<")
                bound = -form.constant if below else form.constant
                yield Place("the bound of the inequality", comparison.span, bound, "weaker")

    def _use(self, use: ast.Use, scope: Scope, moving: Mapping[str, MovingValue]) -> Iterator[Place]:
        """The places in a region that is used, with its formal parameters as functions of the variable."""
        region = scope.module.get("region", use.region)
        declaration = cast(ast.Region, region.declaration)
        tracer = Tracer(scope, moving, *self._ends)
        named = dict(zip((f.text for f in declaration.formals), use.arguments, strict=True))
        given = {name: tracer.evaluate(argument) for name, argument in named.items()}
        local = {name: values.evaluate(argument, scope) for name, argument in named.items()}
        inner = Scope(region.module, scope.values, {n: v if values.is_known(v) else UNKNOWN for n, v in local.items()})
        for term in declaration.terms:
            match term:
                case ast.Use():
                    yield from self._use(term, inner, given)
                case ast.Box():
                    for bound in term.bounds:
                        yield from self._bound(bound, Tracer(inner, given, *self._ends))
                case ast.Ball():
                    yield from self._ball(term, Tracer(inner, given, *self._ends))
                case ast.Grid():
                    for spacing in term.spacings:
                        yield from self._spacing(spacing, Tracer(inner, given, *self._ends))
                case ast.Data(columns=columns, share=share, components=components):
                    ends = [] if columns is None else [columns.lower, columns.upper]
                    for written in (share, components, *ends):
                        if written is not None:
                            number = Tracer(inner, given, *self._ends).number(written)
                            yield Place("what is kept of a table", written.span, number, "other")
                case ast.Where():
                    atoms = Scope(inner.module, inner.values, inner.locals, self._facts.subjects.space.atoms)
                    for comparison in term.constraints:
                        yield from self._constraint(comparison, Tracer(atoms, given, *self._ends))

    def _bound(self, clause: ast.Bound, tracer: Tracer) -> Iterator[Place]:
        name = "every input" if clause.feature is None else f"'{clause.feature}'"
        match clause:
            case ast.Within():
                amount = tracer.number(clause.amount)
                centre = fixed(Fraction(0)) if clause.centre is None else tracer.number(clause.centre)
                features = range(len(self._scaler.scale)) if clause.feature is None else [self._index(clause.feature)]
                scales = [self._scaler.scale[i] for i in features]
                yield from self._around([centre] * len(scales), amount, scales, name, clause.span)
            case ast.Ranged():
                yield from self._between(clause.range, name, clause.span, tracer)
            case ast.Fixed():
                yield from self._between(clause.value, name, clause.span, tracer)

    def _between(self, clause: ast.Range, name: str, span: Span, tracer: Tracer) -> Iterator[Place]:
        low = tracer.number(clause.lower)
        high = low if clause.upper is None else tracer.number(clause.upper)
        yield Place(f"the lower bound of {name}", span, low, "weaker")
        yield Place(f"the upper bound of {name}", span, high, "stronger")

    def _around(
        self, centres: list[Moving], radius: Moving, scales: Sequence[Fraction], name: str, span: Span
    ) -> Iterator[Place]:
        """centre -+ radius * scale of each input, in raw units; around centres that stay only the radius counts."""
        if all(course(centre, *self._ends).way == 0 for centre in dict.fromkeys(centres)):
            yield Place(f"how far {name} may lie from its centre", span, radius, "stronger")
            return
        for centre, scale in dict.fromkeys(zip(centres, scales, strict=True)):
            yield Place(f"the lower bound of {name}", span, centre + -(radius * fixed(scale)), "weaker")
            yield Place(f"the upper bound of {name}", span, centre + radius * fixed(scale), "stronger")

    def _ball(self, ball: ast.Ball, tracer: Tracer) -> Iterator[Place]:
        scales = self._scaler.scale if ball.sigma else (Fraction(1),) * len(self._scaler.scale)
        centres = [fixed(Fraction(0))] * len(scales)  # where a centre stays does not matter
        match ball.centre:
            case ast.Point(values=listed):
                point = tracer.evaluate(listed)
                items = point if isinstance(point, tuple) else ()
                centres = [item.constant for item in items if isinstance(item, MovingForm)]
                if len(centres) != len(scales):
                    raise UndecidedError(f"'{listed.span.text}' is not a point")
            case ast.Rows(rows=rows, columns=columns, sample=sample, seed=seed):
                parts = (*rows, *([] if columns is None else [columns]))
                for end in (*(end for part in parts for end in (part.lower, part.upper)), sample, seed):
                    if end is not None:
                        yield Place("the choice of rows or columns", end.span, tracer.number(end), "other")
            case ast.Mean():
                pass
        yield from self._around(centres, tracer.number(ball.radius), scales, "every input", ball.span)

    def _spacing(self, clause: ast.Spacing, tracer: Tracer) -> Iterator[Place]:
        """A grid that moves is another set of points, none of which need be on the one before."""
        name = "every input" if clause.feature is None else f"'{clause.feature}'"
        for expression in (clause.step, *([] if clause.origin is None else [clause.origin])):
            yield Place(f"the grid of {name}", expression.span, tracer.number(expression), "other")

    def _constraint(self, comparison: ast.Comparison, tracer: Tracer) -> Iterator[Place]:
        """sum of coefficient * input <= bound; alone with its input it is a bound, whatever its coefficient."""
        form = tracer.difference(comparison)
        sign = fixed(Fraction(-1 if comparison.operator == ">=" else 1))
        equality = comparison.operator == "=="
        bound = -form.constant * sign
        if not form.coefficients:
            # A statement about numbers, true at both ends of the range: so between them, if it does not turn.
            if equality or course(bound, *self._ends).way is None:
                yield Place("a constraint without inputs", comparison.span, bound, "other")
            return
        if len(form.coefficients) == 1:
            (coefficient,) = form.coefficients.values()
            below = coefficient * sign
            limit = tracer.quotient(bound, below, comparison.span.text)
            upper = equality or below.at(self._ends[0]) > 0
            if equality or not upper:
                yield Place("the lower bound that the constraint gives", comparison.span, limit, "weaker")
            if upper:
                yield Place("the upper bound that the constraint gives", comparison.span, limit, "stronger")
            return
        for coefficient in form.coefficients.values():
            yield Place("a coefficient of the constraint", comparison.span, coefficient, "other")
        yield Place("the bound of the constraint", comparison.span, bound, "other" if equality else "stronger")

    def _index(self, feature: ast.Name) -> int:
        atoms = self._facts.subjects.space.atoms
        if atoms is None or feature.text not in atoms.indices:
            raise UndecidedError(f"'{feature}' is not known")
        return atoms.indices[feature.text]
