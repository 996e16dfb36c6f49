"""Checks to tasks: one per point of the sweeps, one per row of a region that goes over rows, one search per `find`.

Ids are `check[variable=value,...]`, variables in the order of the file, the row last, values as the shortest exact
decimal or as a fraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from eqspec.compile.boxes import BoxBuilder, RegionBox, Row
from eqspec.compile.direction import refuse_direction
from eqspec.compile.feasibility import refute
from eqspec.compile.implication import follows
from eqspec.compile.network_instance import Instance
from eqspec.compile.network_pairs import Networks, Pair
from eqspec.compile.scalers import Scaler
from eqspec.compile.score_findings import scores_finding
from eqspec.compile.space_tables import observed_in
from eqspec.compile.table_rows import Tables
from eqspec.errors import InputError, Label, SpecError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Network
from eqspec.property import Comparison, Margin, Property
from eqspec.spec import ast, values
from eqspec.spec.check import CheckedSpec
from eqspec.spec.checks import MANY_TASKS, MOST_TASKS, CheckFacts, Costs, claim_value, grid_finding
from eqspec.spec.derivations import source
from eqspec.spec.findings import Fault, Findings, error, warning
from eqspec.spec.numbers import shown
from eqspec.spec.program import Binding
from eqspec.spec.region_terms import DataOf, RowsOf, Terms
from eqspec.spec.scope import Scope
from eqspec.spec.spaces import Names
from eqspec.spec.values import Form
from eqspec.tasks.observed import Observed
from eqspec.tasks.search import Search
from eqspec.tasks.seen_data import SeenData
from eqspec.tasks.task import Budget, Expectation, Space, Task


@dataclass(frozen=True, eq=False)
class _Frame:
    """What all tasks of a check share."""

    facts: CheckFacts
    space: Space
    scaler: Scaler
    scope: Scope
    budget: Budget


class TaskExpansion:
    """Compiles the checks of one spec; files are read once."""

    def __init__(
        self,
        spec: CheckedSpec,
        networks: Networks,
        scalers: Mapping[Binding, Scaler],
        tables: Tables,
        findings: Findings,
    ) -> None:
        self.spec, self.networks, self.scalers, self.findings = spec, networks, scalers, findings
        self._tables = tables
        self._checked: set[tuple[Binding, Pair]] = set()
        self._seen_in: dict[Binding, tuple[Observed, ...]] = {}

    def compile(self, facts: CheckFacts) -> tuple[list[Task], list[Search]]:
        """The tasks and searches of a check; Fault where there are none to be had."""
        subjects = facts.subjects
        for binding in (subjects.candidate, subjects.reference):
            self.networks.as_given(Instance(source(binding)))
        if subjects.space.binding not in self.scalers:
            raise Fault
        scaler = self.scalers[subjects.space.binding]
        scope = Scope(facts.binding.module, self.spec.values, check=True)
        frame = _Frame(facts, _space(facts, scaler), scaler, scope, _budget(facts.costs))
        points = facts.points()
        self._mention_idle_expectations(facts, points, scope)
        if facts.search is not None:
            finds = [find for point in points for find in self._searches(frame, point)]
            self._mention_size(facts, len(finds), len(points))
            return [], finds
        tasks: list[Task] = []
        for point in points:
            with self.findings.collecting():
                tasks += self._tasks(frame, point)
                if len(tasks) > MOST_TASKS:
                    break
        self._mention_size(facts, len(tasks), len(points))
        return tasks, []

    def _mention_idle_expectations(self, facts: CheckFacts, points: Sequence[Mapping[str, Form]], scope: Scope) -> None:
        """W318 where no point of the sweeps meets the condition of an expectation."""
        for clause in facts.expectations:
            condition = clause.condition
            if condition is not None and all(
                values.holds(condition, scope.with_locals(point)) is False for point in points
            ):
                message = f"no task of check '{facts.name}' is expected to be '{clause.verdict}': this is never so"
                hint = "compare with values that the variables take, or leave the clause out"
                self.findings.add(warning("W318", message, condition.span, help=hint))

    def _mention_size(self, facts: CheckFacts, total: int, points: int) -> None:
        if total > MANY_TASKS:
            rows = total // points if points else 1
            self.findings.add(grid_finding(_declaration(facts), total, list(facts.sweeps), rows))

    def _tasks(self, frame: _Frame, point: Mapping[str, Form], only: int | None = None) -> Iterator[Task]:
        """The tasks at one point: as many as the region has rows, or the one with number `only`."""
        facts = frame.facts
        claim = claim_value(facts, point, frame.scope, self.findings)
        scope = frame.scope.with_locals(point)
        pair = self._pair(facts, scope)
        if facts.search is None:  # the ends of a search may touch what cannot be reached
            self.networks.check_distance(facts, pair, claim)
            self.networks.check_containment(facts, pair, claim)
            self._check_scores(facts, pair, claim)
        terms, builder, written = self._region(frame, scope)
        wanted = next((b.centre for b in terms.balls if isinstance(b.centre, RowsOf)), None)
        rows, source = (None, None) if wanted is None else self._tables.rows(wanted, _named(frame.space))
        if rows is not None and only is not None:
            rows = rows[only : only + 1]
        observed = self._observed(frame, builder, wanted, rows)
        for box in builder.build(rows):
            yield replace(
                self._task(frame, pair, claim, box, point, scope),
                written=written,
                row_source=source,
                observed=observed,
                seen=tuple(_counted(number, builder, box) for number in range(len(builder.seen))),
            )

    def _observed(
        self, frame: _Frame, builder: BoxBuilder, wanted: RowsOf | None, rows: Sequence[Row] | None
    ) -> tuple[Observed, ...]:
        """The rows of tables that a region was made from, or else of those that the spec names for its space."""
        centre, scale = frame.space.centre, frame.space.scale
        found = [
            Observed(one.wanted.path, tuple(zip(one.indices, one.rows, strict=True)), centre, scale)
            for one in builder.seen
        ]
        if wanted is not None and rows is not None:
            found.append(Observed(wanted.path, rows, centre, scale))
        if found:
            return tuple(found)
        binding, names = frame.facts.subjects.space.binding, _named(frame.space)
        if binding not in self._seen_in:
            self._seen_in[binding] = observed_in(self.spec, binding, self._tables, names, frame.scaler)
        return self._seen_in[binding]

    def _pair(self, facts: CheckFacts, scope: Scope) -> Pair:
        """The networks of a check at one point, with the values of their formal parameters there."""
        subjects = facts.subjects

        def instance(binding: Binding, arguments: Sequence[ast.Expression]) -> Instance:
            given = [values.number(argument, scope) for argument in arguments]
            known = tuple(value.constant for value in given if value is not values.UNKNOWN)
            if len(known) < len(given):
                raise Fault
            return Instance(binding, known)

        pair = Pair(
            instance(subjects.candidate, subjects.candidate_arguments),
            instance(subjects.reference, subjects.reference_arguments),
        )
        if (facts.binding, pair) not in self._checked:
            self.networks.check_pair(facts, pair)
            self._checked.add((facts.binding, pair))
        return pair

    def _check_scores(self, facts: CheckFacts, pair: Pair, claim: Property) -> None:
        if (found := scores_finding(facts, pair, claim, self.networks)) is not None:
            if found.severity == "error":
                raise Fault(found)
            self.findings.add(found)

    def _region(self, frame: _Frame, scope: Scope) -> tuple[Terms, BoxBuilder, str]:
        """The region's terms, the builder of its boxes, and the texts of the region and of the check."""
        use = frame.facts.use
        region, arguments = self.spec.regions.arguments(use, scope)
        terms = self.spec.regions.terms(region, arguments, scope, use.span)
        if not terms.complete:
            raise Fault
        features = _named(frame.space)
        seen = [self._tables.seen(one, _share(one), features) for one in terms.data]
        builder = BoxBuilder(str(use.region), use.span, terms, frame.facts.subjects.space, frame.scaler, seen)
        return terms, builder, f"{region.declaration.span.text}\n{_declaration(frame.facts).span.text}"

    def _task(
        self,
        frame: _Frame,
        pair: Pair,
        claim: Property,
        box: RegionBox,
        point: Mapping[str, Form],
        scope: Scope,
    ) -> Task:
        facts, (candidate, reference) = frame.facts, pair
        expected = self._expected(facts, point, scope)
        if expected != "vacuous":
            empty = refute(str(facts.use.region), facts.use.span, box, frame.scaler)
            if empty is not None:
                raise Fault(empty)
        for instance in (reference, candidate):
            self.networks.compare_on(instance, box.lower, box.upper, frame.scaler)
        parameters = {name: value.constant for name, value in point.items()}
        if box.row is not None:
            parameters["row"] = Fraction(box.row)
        return Task(
            id=_id(facts.name, parameters),
            check=facts.name,
            parameters=parameters,
            reference=self._network(reference, frame, claim),
            candidate=self._network(candidate, frame, claim),
            reference_name=reference.name,
            candidate_name=candidate.name,
            reference_takes_raw=reference.takes_raw,
            candidate_takes_raw=candidate.takes_raw,
            space=frame.space,
            lower_exact=box.lower_exact,
            upper_exact=box.upper_exact,
            lower=box.lower,
            upper=box.upper,
            property=claim,
            constraints=box.constraints,
            budget=frame.budget,
            expected=expected,
            tags=facts.tags,
            source=_declaration(facts).name.span,
            around=box.around,
            lattices=box.lattices,
        )

    def _network(self, instance: Instance, frame: _Frame, claim: Property) -> Network:
        """A network as a claim is about it: margins and comparisons are about probabilities where these are given."""
        facts = frame.facts
        probabilities = isinstance(claim, Margin | Comparison)
        return self.networks.in_network_units(
            instance, facts.subjects.space, frame.scaler, facts.arithmetic, probabilities=probabilities
        )

    def _expected(self, facts: CheckFacts, point: Mapping[str, Form], scope: Scope) -> Expectation | None:
        """The verdict expected at a point; E209 where two clauses say different things."""
        found: ast.Expect | None = None
        for clause in facts.expectations:
            if clause.condition is not None and values.holds(clause.condition, scope) is not True:
                continue
            if found is not None and found.verdict.text != clause.verdict.text:
                at = ", ".join(f"{name} = {shown(value.constant)}" for name, value in point.items())
                message = f"'{found.verdict}' and '{clause.verdict}' are both expected{' where ' + at if at else ''}"
                label = Label(found.span, "here the other")
                raise Fault(error("E209", message, clause.span, label, help="separate the conditions"))
            found = clause
        return None if found is None else cast(Expectation, found.verdict.text)

    def _searches(self, frame: _Frame, point: Mapping[str, Form]) -> list[Search]:
        """The searches at one point: one per row of the region."""
        facts = frame.facts
        search = facts.search
        if search is None:
            return []

        def at(value: Fraction) -> list[Task]:
            return list(self._tasks(frame, {**point, search.variable: Form(value, unit=search.unit)}))

        finds: list[Search] = []
        with self.findings.collecting():
            lows, highs = at(search.low), at(search.high)
            if lows:
                easiest = highs[0] if search.direction == "smallest" else lows[0]
                end = search.high if search.direction == "smallest" else search.low
                scope = frame.scope.with_locals({**point, search.variable: Form(end, unit=search.unit)})
                self._check_scores(facts, self._pair(facts, scope), easiest.property)
            if (
                not search.whole
                and (refused := refuse_direction(facts, search, point, frame.scope, frame.scaler)) is not None
            ):
                raise Fault(refused)
            for number, (low, high) in enumerate(zip(lows, highs, strict=True)):
                easy, hard = (high, low) if search.direction == "smallest" else (low, high)
                # A net under the proof of the direction: the ends must agree with it.
                if not search.whole and not follows(easy, hard):
                    raise RuntimeError(f"'{easy.id}' does not follow from '{hard.id}', which was proved of all values")
                parameters = {n: v for n, v in low.parameters.items() if n != search.variable}
                finds.append(
                    Search(
                        id=_id(facts.name, parameters),
                        check=facts.name,
                        variable=search.variable,
                        direction=search.direction,
                        low=search.low,
                        high=search.high,
                        width=search.width,
                        task_at=_TaskAt(self, frame, point, number),
                        parameters=parameters,
                        budget=frame.budget,
                        tags=facts.tags,
                        source=low.source,
                        whole=search.whole,
                    )
                )
        return finds

    def single(self, frame: _Frame, point: Mapping[str, Form], value: Fraction, number: int) -> Task:
        """One task of a search, compiled on its own."""
        search = frame.facts.search
        if search is None or not search.low <= value <= search.high or (search.whole and value.denominator != 1):
            raise InputError(f"{value} lies outside of the range that is searched")
        moved = {**point, search.variable: Form(value, unit=search.unit)}
        try:
            (task,) = self._tasks(frame, moved, number)
        except Fault as fault:
            raise SpecError([fault.diagnostic] if fault.diagnostic else self.findings.errors) from None
        return task


@dataclass(frozen=True)
class _TaskAt:
    """Compiles a search's task for a value."""

    expansion: TaskExpansion
    frame: _Frame
    point: Mapping[str, Form]
    number: int

    def __call__(self, value: Fraction) -> Task:
        return self.expansion.single(self.frame, self.point, value, self.number)


def _named(space: Space) -> Names:
    """The features of a space with their units."""
    return tuple(zip(space.features, space.units, strict=True))


def _share(wanted: DataOf) -> Fraction:
    if wanted.share is values.UNKNOWN:
        raise Fault
    return wanted.share


def _counted(number: int, builder: BoxBuilder, box: RegionBox) -> SeenData:
    """What a region made of data is, with the held-out rows that lie in all of the region."""
    one = builder.seen[number]
    return SeenData(
        table=one.wanted.path,
        rows=len(one.rows),
        components=one.components,
        explained=one.explained,
        share=_share(one.wanted),
        factor=one.factor,
        constraints=len(one.constraints),
        biting=box.from_data[number],
        held_out=len(one.held_out),
        inside=builder.held_out_inside(box, number),
    )


def _declaration(facts: CheckFacts) -> ast.Check:
    return cast(ast.Check, facts.binding.declaration)


def _id(check: str, parameters: Mapping[str, Fraction]) -> str:
    inside = ",".join(f"{name}={shown(value)}" for name, value in parameters.items())
    return f"{check}[{inside}]" if inside else check


def _space(facts: CheckFacts, scaler: Scaler) -> Space:
    space = facts.subjects.space
    features = space.features or ()
    return Space(
        features=tuple(name for name, _ in features),
        units=tuple(unit for _, unit in features),
        outputs=tuple(name for name, _ in space.outputs),
        centre=scaler.centre,
        scale=scaler.scale,
        decide=space.decide,
    )


def _budget(costs: Costs) -> Budget:
    timeout = None if costs.timeout is None else float(costs.timeout)
    return Budget(timeout, costs.memory, costs.threads, costs.jobs)
