"""What a region says, evaluated: bounds per feature, balls, grids and linear constraints, all exact, in raw units.

The same walk serves the static check, where formal parameters are UNKNOWN, and the compilation, where they are numbers.
Bounds by feature name win over bounds for `all` in the same box, and so in a grid; of two of the same rank the later
one counts (W305).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Literal, cast

from eqspec.errors import Label
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec import ast, values, vocabulary
from eqspec.spec.findings import Fault, Findings, error, spelt, warning
from eqspec.spec.formal_parameters import given
from eqspec.spec.numbers import shown
from eqspec.spec.program import Binding
from eqspec.spec.region_terms import (
    BallAround,
    Bound,
    DataOf,
    Maybe,
    RawBound,
    RawConstraint,
    RowsOf,
    SigmaBound,
    Spacing,
    Terms,
)
from eqspec.spec.scope import Scope
from eqspec.spec.spaces import Names, SpaceFacts, interval, require_unit, whole_range
from eqspec.spec.suggest import did_you_mean, enumerate_names
from eqspec.spec.values import UNKNOWN, Value

MOST_ROWS = 1_000_000
DEEPEST = 50
MOST_USES = 1000


class Regions:
    """Evaluates the regions of a program."""

    def __init__(self, spaces: Mapping[Binding, SpaceFacts], findings: Findings, broken: set[Binding]) -> None:
        self.spaces, self.findings, self.broken = spaces, findings, broken
        self._uses = 0

    def space_of(self, region: Binding) -> SpaceFacts:
        """The space a region is declared in; Fault if that has none."""
        binding = region.module.get("space", cast(ast.Region, region.declaration).space)
        if binding not in self.spaces:
            raise Fault
        return self.spaces[binding]

    def terms(
        self,
        region: Binding,
        arguments: tuple[Value, ...],
        scope: Scope,
        used: Span | None = None,
        depth: int = 0,
    ) -> Terms:
        """The terms of a region for given values of its formal parameters, which were given at `used`."""
        declaration = cast(ast.Region, region.declaration)
        if region in self.broken:
            raise Fault
        self._uses = self._uses + 1 if depth else 0
        if depth > DEEPEST or self._uses > MOST_USES:
            size = f"more than {DEEPEST} levels deep" if depth > DEEPEST else f"more than {MOST_USES} times"
            message = f"regions refer to each other {size}"
            raise Fault(error("E010", message, declaration.name.span, help="write the bounds out"))
        space = self.space_of(region)
        local = dict(zip((f.text for f in declaration.formals), arguments, strict=True))
        inner = Scope(region.module, scope.values, local)
        evaluator = _Term(self, space, inner, Terms(), depth, used if arguments else None)
        for term in declaration.terms:
            with evaluator.attempt():
                evaluator.add(term)
        return evaluator.terms

    def arguments(self, use: ast.Use, scope: Scope) -> tuple[Binding, tuple[Value, ...]]:
        """The region that is used and the values it is given; Fault E101 or E112."""
        region = scope.module.get("region", use.region)
        declaration = cast(ast.Region, region.declaration)
        place, formals = declaration.name.span, declaration.formals
        found = given("region", use.region, place, formals, use.arguments, use.span, scope, self.findings)
        return region, found


@dataclass
class _Term:
    """Evaluates the terms of one region into `terms`."""

    regions: Regions
    space: SpaceFacts
    scope: Scope
    terms: Terms
    depth: int
    used: Span | None

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Within this context a fault is reported, and marks the terms of the region as incomplete."""
        try:
            yield
        except Fault as fault:
            self.terms.complete = False
            found = fault.diagnostic
            if found is not None:
                if self.used is not None:  # the value that is wrong was given there
                    found = replace(found, labels=(*found.labels, Label(self.used, "used here")))
                self.regions.findings.add(found)

    def add(self, term: ast.Term) -> None:
        """One more term of the intersection."""
        match term:
            case ast.Box():
                self._box(term)
            case ast.Ball():
                self.terms.balls.append(self._ball(term))
            case ast.Where():
                for comparison in term.constraints:
                    with self.attempt():
                        self._constraint(comparison)
            case ast.Grid():
                self._grid(term)
            case ast.Data():
                self._data(term)
            case ast.Use():
                self._use(term)

    def _use(self, use: ast.Use) -> None:
        region, arguments = self.regions.arguments(use, self.scope)
        other = self.regions.space_of(region)
        if other is not self.space:
            message = f"region '{use.region}' is of space '{other.name}', this one is of '{self.space.name}'"
            raise Fault(error("E203", message, use.region.span, help="regions of one space can be intersected"))
        inner = self.regions.terms(region, arguments, self.scope, use.span, self.depth + 1)
        self.terms.boxes += inner.boxes
        self.terms.grids += inner.grids
        self.terms.balls += inner.balls
        self.terms.constraints += inner.constraints
        self.terms.data += inner.data
        self.terms.complete &= inner.complete
        self.terms.first_box = self.terms.first_box or inner.first_box

    def _box(self, box: ast.Box) -> None:
        named: dict[int, Bound] = {}
        every: dict[int, Bound] = {}
        before: dict[str, ast.Bound | ast.Spacing] = {}
        for clause in box.bounds:
            with self.attempt():
                self._mention_second(clause, before, "bound")
                index = None if clause.feature is None else self._index(clause.feature)
                for i, bound in self._bounds(clause, index).items():
                    (every if index is None else named)[i] = bound
        self.terms.boxes.append({**every, **named})
        self.terms.first_box = self.terms.first_box or Span(box.span.source, box.span.start, box.span.start + 3)

    def _grid(self, grid: ast.Grid) -> None:
        named: dict[int, Spacing] = {}
        every: dict[int, Spacing] = {}
        before: dict[str, ast.Bound | ast.Spacing] = {}
        for clause in grid.spacings:
            with self.attempt():
                self._mention_second(clause, before, "spaced")
                index = None if clause.feature is None else self._index(clause.feature)
                for i, spacing in self._spacings(clause, index).items():
                    (every if index is None else named)[i] = spacing
        self.terms.grids.append({**every, **named})

    def _mention_second(
        self, clause: ast.Bound | ast.Spacing, before: dict[str, ast.Bound | ast.Spacing], done: str
    ) -> None:
        """W305 where a block has said of this feature before how it is `done`."""
        key = "all" if clause.feature is None else clause.feature.text
        if key in before:
            line, column = clause.span.line, clause.span.column
            message = f"'{key}' is {done} twice, the later one ({line}:{column}) counts"
            label = Label(before[key].span, "this one does not count")
            self.regions.findings.add(warning("W305", message, clause.span, label, help="leave one out"))
        before[key] = clause

    def _spacings(self, clause: ast.Spacing, index: int | None) -> dict[int, Spacing]:
        """The spacing of one feature, or of all of them, with the units checked for each."""
        features: Names = self.space.features or ()
        chosen = range(len(features)) if index is None else (index,)
        if not features:
            self.terms.complete = False
        if clause.sigma:
            self._require_sigma(clause.span)
        numbers = [(clause.step, "step"), *([] if clause.origin is None else [(clause.origin, "origin")])]
        found: list[Maybe] = []
        for expression, what in numbers:
            if what == "step" and clause.sigma:
                found.append(self._amount(expression, "the step in sigmas"))
                continue
            number = values.number(expression, self.scope)
            if number is UNKNOWN:
                found.append(UNKNOWN)
                continue
            found.append(number.constant)
            for i in chosen:
                require_unit(f"feature '{features[i][0]}'", features[i][1], number.unit, what, expression.span)
        if found[0] is not UNKNOWN and found[0] <= 0:
            message = f"the step of a grid is above 0, not {shown(found[0])}"
            raise Fault(error("E138", message, clause.step.span, help="leave the feature out if it is on no grid"))
        spacing = Spacing(found[0], clause.sigma, found[1] if len(found) > 1 else None, clause.span)
        return dict.fromkeys(chosen, spacing)

    def _index(self, feature: ast.Name) -> int:
        atoms = self.space.atoms
        if atoms is None:
            self.terms.complete = False
            raise Fault
        if feature.text not in atoms.indices:
            meant = did_you_mean(feature.text, atoms.indices)
            features = f"features: {enumerate_names(atoms.indices)}"
            message = f"space '{self.space.name}' has no feature '{feature}'"
            help_text = f"{meant} {features}" if meant else features
            fixes = spelt(feature.span, feature.text, atoms.indices)
            raise Fault(error("E102", message, feature.span, help=help_text, fixes=fixes))
        return atoms.indices[feature.text]

    def _bounds(self, clause: ast.Bound, index: int | None) -> dict[int, Bound]:
        """The bound for one feature, or for all of them, with the units checked for each."""
        features: Names = self.space.features or ()
        chosen = range(len(features)) if index is None else (index,)
        if not features:
            self.terms.complete = False
        units: set[str | None]
        bound: Bound
        match clause:
            case ast.Within():
                bound, units = self._within(clause)
            case ast.Ranged():
                bound, units = self._raw(clause.range)
            case ast.Fixed():
                if clause.value.upper is not None:
                    name = "all" if clause.feature is None else clause.feature.text
                    hint = f"write '{name}: {clause.value.span.text}'"
                    message = "'=' fixes a feature to one value, found a range"
                    raise Fault(error("E005", message, clause.value.span, help=hint))
                bound, units = self._raw(clause.value)
        for unit in units:
            for i in chosen:
                require_unit(f"feature '{features[i][0]}'", features[i][1], unit, "bound", clause.span)
        return dict.fromkeys(chosen, bound)

    def _within(self, clause: ast.Within) -> tuple[Bound, set[str | None]]:
        if not clause.sigma:
            name = "all" if clause.feature is None else clause.feature.text
            amount = clause.amount.span.text
            message = f"a box bound needs 'sigma' or a range: '{' '.join(clause.span.text.split())}'"
            hint = f"write '{name} within {amount} sigma', or '{name}: -{amount} .. {amount}' for raw units"
            raise Fault(error("E004", message, clause.span, help=hint))
        self._require_sigma(clause.span)
        amount_value = self._amount(clause.amount, "the number of sigmas")
        if clause.centre is None:
            return SigmaBound(amount_value, None, clause.span), set()
        centre = values.number(clause.centre, self.scope)
        if centre is UNKNOWN:
            return SigmaBound(amount_value, UNKNOWN, clause.span), set()
        return SigmaBound(amount_value, centre.constant, clause.span), {centre.unit}

    def _raw(self, clause: ast.Range) -> tuple[Bound, set[str | None]]:
        found = interval(clause, self.scope)
        if found is UNKNOWN:
            return RawBound(UNKNOWN, UNKNOWN, clause.span), set()
        return RawBound(found[0].constant, found[1].constant, clause.span), {found[0].unit, found[1].unit}

    def _amount(self, expression: ast.Expression, what: str) -> Maybe:
        """A number without unit, 0 or more."""
        amount = values.number(expression, self.scope)
        if amount is UNKNOWN:
            return UNKNOWN
        if amount.constant < 0:
            raise Fault(error("E138", f"{what} is negative: {shown(amount.constant)}", expression.span))
        if amount.unit is not None:
            raise Fault(error("E130", f"unit mismatch: {what} has no unit, found [{amount.unit}]", expression.span))
        return amount.constant

    def _require_sigma(self, span: Span, word: str = "sigma") -> None:
        kind = self.space.normaliser
        if kind != "zscore":
            clause = self.space.normalise
            why = "it has no 'normalise'" if clause is None else f"it declares 'normalise {kind}'"
            message = f"'{word}' has no meaning in space '{self.space.name}': {why}"
            hint = "give 'normalise zscore ...', or write the radius in raw units"
            labels = () if clause is None else (Label(clause.kind.span, "declared here"),)
            raise Fault(error("E123", message, span, *labels, help=hint))

    def _ball(self, ball: ast.Ball) -> BallAround:
        if ball.norm.text in ("l1", "l2"):
            message = f"a ball in '{ball.norm}' is not a box"
            raise Fault(error("E103", message, ball.norm.span, help="balls are written 'ball linf'"))
        vocabulary.look_up("ball", ball.norm)
        if ball.sigma:
            self._require_sigma(ball.radius.span)
            radius = self._amount(ball.radius, "the number of sigmas")
        else:
            radius = self._radius(ball.radius)
        return BallAround(radius, ball.sigma, self._centre(ball.centre), ball.span)

    def _radius(self, expression: ast.Expression) -> Maybe:
        radius = values.number(expression, self.scope)
        if radius is UNKNOWN:
            return UNKNOWN
        if radius.constant < 0:
            raise Fault(error("E138", f"the radius is negative: {shown(radius.constant)}", expression.span))
        for name, unit in self.space.features or ():
            require_unit(f"feature '{name}'", unit, radius.unit, "radius", expression.span)
        return radius.constant

    def _centre(
        self, centre: ast.Mean | ast.Point | ast.Rows
    ) -> Literal["mean"] | tuple[Fraction, ...] | RowsOf | Literal[values.Unknown.UNKNOWN]:
        features = self.space.features
        match centre:
            case ast.Mean():
                self._require_sigma(centre.span, "mean")
                return "mean"
            case ast.Point():
                point = values.number_list(centre.values, self.scope)
                if point is UNKNOWN or features is None:
                    return UNKNOWN
                if len(point) != len(features):
                    message = f"the point has {len(point)} numbers for {len(features)} features"
                    raise Fault(error("E120", message, centre.values.span))
                for number, (name, unit) in zip(point, features, strict=True):
                    require_unit(f"feature '{name}'", unit, number.unit, "point", centre.values.span)
                return tuple(number.constant for number in point)
            case ast.Rows():
                return self._rows(centre)

    def _rows(self, clause: ast.Rows) -> RowsOf | Literal[values.Unknown.UNKNOWN]:
        rows: list[int] = []
        for part in clause.rows:
            found = whole_range(part, self.scope, "row")
            if found is UNKNOWN:
                return UNKNOWN
            if found[1] - found[0] >= MOST_ROWS - len(rows):
                raise Fault(error("E138", f"more than {MOST_ROWS} rows", part.span))
            rows += range(found[0], found[1] + 1)
        columns = None if clause.columns is None else whole_range(clause.columns, self.scope, "column")
        path = values.text(clause.path, self.scope)
        sample, seed = self._whole(clause.sample, "a sample", 1), self._whole(clause.seed, "a seed", 0)
        if columns is UNKNOWN or path is UNKNOWN or sample is UNKNOWN or seed is UNKNOWN:
            return UNKNOWN
        listed = tuple(dict.fromkeys(rows))
        if sample is not None and listed and sample > len(listed):
            message = f"a sample of {sample} from {len(listed)} rows"
            raise Fault(error("E138", message, clause.span, help="leave 'sample' out, or name more rows"))
        drawn = {} if seed is None else {"seed": seed}
        return RowsOf(listed or None, path, columns, self.scope.module, clause, sample, **drawn)

    def _whole(
        self, expression: ast.Expression | None, what: str, least: int
    ) -> int | Literal[values.Unknown.UNKNOWN] | None:
        """A whole number that may be left out; Fault E138 where it is none, or less than the least."""
        number = None if expression is None else values.number(expression, self.scope)
        if number is None or number is UNKNOWN:
            return number
        found = number.constant
        if found.denominator != 1 or not least <= found < 2**31 or number.unit is not None:
            message = f"{what} is a whole number from {least}, not {shown(found)}"
            raise Fault(error("E138", message, cast(ast.Expression, expression).span))
        return int(found)

    def _data(self, clause: ast.Data) -> None:
        share = self._amount(clause.share, "a share")
        if share is not UNKNOWN and not 0 < share < 1:
            message = f"a share of rows lies between 0 and 1, not {shown(share)}"
            raise Fault(error("E138", message, clause.share.span, help="write 0.99 for 99 %"))
        columns = None if clause.columns is None else whole_range(clause.columns, self.scope, "column")
        components = self._whole(clause.components, "the number of components", 1)
        path = values.text(clause.path, self.scope)
        if columns is UNKNOWN or components is UNKNOWN or path is UNKNOWN:
            self.terms.complete = False
            return
        self.terms.data.append(DataOf(path, columns, share, components, self.scope.module, clause))

    def _constraint(self, comparison: ast.Comparison) -> None:
        if comparison.operator in ("<", ">"):
            closed = comparison.operator + "="
            message = f"a region is closed: '{comparison.operator}' cannot bound it"
            raise Fault(error("E137", message, comparison.span, help=f"write '{closed}'"))
        atoms = self.space.atoms
        if atoms is None:
            self.terms.complete = False
            return
        scope = Scope(self.scope.module, self.scope.values, self.scope.locals, atoms)
        form = values.difference(comparison, scope)
        if form is UNKNOWN:
            self.terms.complete = False
            return
        sign = -1 if comparison.operator == ">=" else 1
        coefficients = {cast(int, i): sign * c for i, c in form.coefficients.items()}
        equality = comparison.operator == "=="
        left, right = (values.form(side, scope) for side in (comparison.left, comparison.right))
        alone = left is not UNKNOWN and right is not UNKNOWN and not right.coefficients
        offset = left.constant if alone and left is not UNKNOWN else Fraction(0)
        self.terms.constraints.append(
            RawConstraint(coefficients, -sign * form.constant, equality, comparison.operator, offset, comparison.span)
        )
