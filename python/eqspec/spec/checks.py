"""What a check declares, clause by clause, apart from the numbers its values give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Literal, cast, get_args

from eqspec.errors import Diagnostic, Label
from eqspec.lazy_dataclass import dataclass
from eqspec.property import Property
from eqspec.spec import ast, claims, derivations, values, vocabulary
from eqspec.spec.claims import Subjects
from eqspec.spec.findings import Fault, Findings, error, warning
from eqspec.spec.formal_parameters import refuse_shadow
from eqspec.spec.numbers import shown
from eqspec.spec.program import Binding, Module
from eqspec.spec.regions import Regions
from eqspec.spec.scope import Scope, references
from eqspec.spec.spaces import SpaceFacts, interval
from eqspec.spec.values import UNKNOWN, Form, Value

MANY_TASKS = 1000
MOST_TASKS = 100_000
MOST_WHOLE = 256
"""The most whole numbers that a search may range over, as it tries each of them."""


@dataclass(frozen=True)
class Sweep:
    """for variable in values."""

    variable: str
    values: tuple[Form, ...]
    clause: ast.For


@dataclass(frozen=True)
class Search:
    """find smallest or largest variable in low .. high to width.

    `whole` if the variable is a value of a network, as a number of bits is: whole numbers alone are tried then, and
    what one of them shows says nothing of another.
    """

    direction: Literal["smallest", "largest"]
    variable: str
    low: Fraction
    high: Fraction
    width: Fraction | None
    unit: str | None
    clause: ast.Find
    whole: bool = False


@dataclass(frozen=True)
class Costs:
    """A budget: seconds, bytes, threads for one task, tasks at a time."""

    timeout: Fraction | None = None
    memory: int | None = None
    threads: int | None = None
    jobs: int | None = None


@dataclass(frozen=True, eq=False)
class CheckFacts:
    """What a check declares, once its names, words and kinds were found right."""

    binding: Binding
    claim: ast.Claim
    subjects: Subjects
    use: ast.Use
    sweeps: tuple[Sweep, ...]
    search: Search | None
    expectations: tuple[ast.Expect, ...]
    tags: tuple[str, ...]
    costs: Costs
    arithmetic: Literal["real", "float32"] = "real"

    @property
    def name(self) -> str:
        """The name it is declared under."""
        return self.binding.name

    def points(self) -> list[dict[str, Form]]:
        """The values of the swept variables, the last one fastest."""
        names = [s.variable for s in self.sweeps]
        return [dict(zip(names, chosen, strict=True)) for chosen in product(*(s.values for s in self.sweeps))]


class Checks:
    """Reads the checks of a program."""

    def __init__(
        self,
        spaces: Mapping[Binding, SpaceFacts],
        regions: Regions,
        scope_values: dict[Module, Scope],
        findings: Findings,
    ) -> None:
        self.spaces, self.regions, self.scopes, self.findings = spaces, regions, scope_values, findings

    def describe(self, binding: Binding, costs: Costs) -> CheckFacts:
        """The facts of a check; `costs` is the budget of its file. Fault where too little is right to go on."""
        check = cast(ast.Check, binding.declaration)
        claim = cast("ast.Claim | None", self._only(check, get_args(ast.Claim), "prove"))
        on = cast("ast.On | None", self._only(check, (ast.On,), "on"))
        variables = self._variables(check, binding.module)
        scope = Scope(binding.module, self.scopes[binding.module].values, variables, check=True)
        sweeps = self._sweeps(check, binding.module)
        search = self._search(check, claim, binding.module, {s.variable for s in sweeps or ()})
        expectations = tuple(c for c in check.clauses if isinstance(c, ast.Expect))
        for expectation in expectations:
            with self.findings.collecting():
                vocabulary.look_up("verdict", expectation.verdict)
                if expectation.condition is not None:
                    values.holds(expectation.condition, scope)
        for clause in check.clauses:
            if isinstance(clause, ast.Budget):
                costs = self.costs(clause, binding.module, costs)
        arithmetic = self._arithmetic(check)
        subjects = None
        if claim is not None:
            with self.findings.collecting():
                subjects = self._subjects(claim, scope)
                claims.evaluate(claim, subjects, scope, self.findings, searching=search is not None)
        if on is not None:
            with self.findings.collecting():
                self._region(on.use, subjects, scope)
        unused = self._refuse_unused(check, search) or self._refuse_searched(expectations, search)
        if claim is None or on is None or subjects is None or sweeps is None or unused:
            raise Fault
        tags = tuple(t.text for c in check.clauses if isinstance(c, ast.Tags) for t in c.tags)
        return CheckFacts(binding, claim, subjects, on.use, sweeps, search, expectations, tags, costs, arithmetic)

    def _arithmetic(self, check: ast.Check) -> Literal["real", "float32"]:
        found = [c for c in check.clauses if isinstance(c, ast.Arithmetic)]
        for extra in found[1:]:
            label = Label(found[0].span, "first here")
            message = f"check '{check.name}' has two 'arithmetic' clauses"
            self.findings.add(error("E204", message, extra.span, label, help="split it into two checks"))
        word = None
        with self.findings.collecting():
            word = vocabulary.look_up("arithmetic", found[0].word) if found else None
        return "float32" if word == "float32" else "real"

    def costs(self, budget: ast.Budget, module: Module, before: Costs) -> Costs:
        """A budget on top of what was said before."""
        found: dict[str, Fraction] = {}
        seen: dict[str, ast.Setting] = {}
        for setting in budget.settings:
            with self.findings.collecting():
                key = vocabulary.look_up("budget key", setting.key)
                if key in seen:
                    label = Label(seen[key].key.span, "first here")
                    raise Fault(error("E204", f"'{key}' is given twice", setting.key.span, label, help="leave one out"))
                seen[key] = setting
                found[key] = self._cost(key, setting, module)
        timeout = found.get("timeout", before.timeout)
        memory, threads, jobs = (
            int(found[k]) if k in found else old
            for k, old in (("memory", before.memory), ("threads", before.threads), ("jobs", before.jobs))
        )
        return Costs(timeout, memory, threads, jobs)

    def _cost(self, key: str, setting: ast.Setting, module: Module) -> Fraction:
        value = values.number(setting.value, self.scopes[module])
        if value is UNKNOWN:
            raise Fault
        unit, example = {"timeout": ("s", "600s"), "memory": ("B", "8GB")}.get(key, (None, "4"))
        if value.unit != unit:
            found = f"[{value.unit}]" if value.unit else "a bare number"
            needed = f"is written like {example}" if unit else f"is a bare number such as {example}"
            raise Fault(error("E130", f"unit mismatch: '{key}' {needed}, found {found}", setting.value.span))
        if value.constant < (0 if unit == "s" else 1):  # a limit of no time is one, as with --timeout 0
            least = "0 or more" if unit == "s" else "above 0"
            raise Fault(error("E138", f"'{key}' must be {least}", setting.value.span))
        if unit is None and (value.constant.denominator != 1 or value.constant > 10**6):
            raise Fault(error("E138", f"'{key}' is a whole number, not {shown(value.constant)}", setting.value.span))
        if value.constant > 10**18:
            raise Fault(error("E138", f"'{key}' is too large", setting.value.span))
        return value.constant

    def _only(self, check: ast.Check, kinds: tuple[type[ast.Node], ...], word: str) -> ast.CheckClause | None:
        """The one clause of a kind; E205 if there is none, E204 if there are two."""
        found = [c for c in check.clauses if isinstance(c, kinds)]
        for extra in found[1:]:
            label = Label(found[0].span, "first here")
            message = f"check '{check.name}' has two '{word}' clauses"
            self.findings.add(error("E204", message, extra.span, label, help="split it into two checks"))
        if not found:
            example = "prove g keeps top1 of f" if word == "prove" else f"{word} region"
            message = f"check '{check.name}' has no '{word}'"
            self.findings.add(error("E205", message, check.name.span, help=f"add '{example}'"))
            return None
        return found[0]

    def _variables(self, check: ast.Check, module: Module) -> dict[str, Value]:
        """The swept and searched variables, unknown; E104 for one that hides a value or comes twice."""
        names: dict[str, ast.Name] = {}
        for clause in check.clauses:
            if not isinstance(clause, ast.For | ast.Find):
                continue
            name = clause.variable
            with self.findings.collecting():
                if name.text in names:
                    raise Fault(self._twice(clause, names[name.text], check))
                names[name.text] = name
                refuse_shadow(name, module)
        return dict.fromkeys(names, UNKNOWN)

    def _twice(self, clause: ast.For | ast.Find, first: ast.Name, check: ast.Check) -> Diagnostic:
        name = clause.variable
        label = Label(first.span, "first here")
        searched = [c for c in check.clauses if isinstance(c, ast.Find) and c.variable.text == name.text]
        if len(searched) == 1:
            message = f"cannot 'find {searched[0].direction} {name}' and sweep {name}"
            return error("E304", message, name.span, label, help="leave one of them out")
        return error("E104", f"'{name}' is declared twice", name.span, label, help="rename one")

    def _sweeps(self, check: ast.Check, module: Module) -> tuple[Sweep, ...] | None:
        """The swept variables with their values, in order; None where one has no usable values."""
        found: list[Sweep] = []
        wanted = [c for c in check.clauses if isinstance(c, ast.For)]
        for clause in wanted:
            with self.findings.collecting():
                listed = values.number_list(clause.values, self.scopes[module])
                if listed is UNKNOWN:
                    raise Fault
                if not listed:
                    message = f"'{clause.variable}' has no values"
                    raise Fault(error("E138", message, clause.values.span, help="give at least one"))
                repeated, times = Counter(v.constant for v in listed).most_common(1)[0]
                if times > 1:
                    message = f"'{clause.variable}' takes the value {shown(repeated)} twice"
                    raise Fault(error("E138", message, clause.values.span, help="leave one out"))
                found.append(Sweep(clause.variable.text, listed, clause))
        self._refuse_grid(check, found)
        return tuple(found) if len(found) == len(wanted) else None

    def _refuse_grid(self, check: ast.Check, sweeps: list[Sweep]) -> None:
        total = 1
        for sweep in sweeps:
            total *= len(sweep.values)
        if total > MOST_TASKS:
            raise Fault(grid_finding(check, total, sweeps))

    def _search(self, check: ast.Check, claim: ast.Claim | None, module: Module, swept: set[str]) -> Search | None:
        found = [c for c in check.clauses if isinstance(c, ast.Find)]
        for extra in found[1:]:
            label = Label(found[0].span, "first here")
            message = f"check '{check.name}' has two 'find' clauses"
            self.findings.add(error("E204", message, extra.span, label, help="split it into two checks"))
        if not found or found[0].variable.text in swept:
            return None
        clause, scope = found[0], self.scopes[module]
        with self.findings.collecting():
            direction = vocabulary.look_up("direction", clause.direction)
            ends = interval(clause.range, scope)
            width = None if clause.width is None else values.number(clause.width, scope)
            if ends is UNKNOWN or width is UNKNOWN:
                raise Fault
            if ends[0].constant == ends[1].constant:
                raise Fault(error("E131", "there is nothing to search in a range of one value", clause.range.span))
            if width is not None and width.constant <= 0:
                span = cast(ast.Node, clause.width).span
                raise Fault(error("E138", f"the width of a bracket is above 0, not {shown(width.constant)}", span))
            whole = claim is not None and clause.variable.text in _values_of_networks(claim)
            if whole:
                _require_whole(clause, ends[0], ends[1])
            return Search(
                cast(Literal["smallest", "largest"], direction),
                clause.variable.text,
                ends[0].constant,
                ends[1].constant,
                None if width is None else width.constant,
                ends[0].unit or ends[1].unit,
                clause,
                whole,
            )
        raise Fault

    def _subjects(self, claim: ast.Claim, scope: Scope) -> Subjects:
        module = scope.module
        first: ast.Subject = claim.candidate
        second: ast.Subject = claim.candidate
        candidate = module.get("network", ast.network_of(first))
        match claim:
            case ast.Satisfies():
                second = self._other_network(claim, candidate, module)
            case ast.StaysWithin() | ast.Equals() | ast.KeepsTop1():
                second = claim.reference
            case ast.Never():
                pass
        reference = module.get("network", ast.network_of(second))
        spaces = [derivations.space_of(network, self.spaces) for network in (candidate, reference)]
        if spaces[0] is not spaces[1]:
            names = [ast.network_of(subject) for subject in (first, second)]
            message = (
                f"'{names[0]}' and '{names[1]}' live in different spaces '{spaces[0].name}' and '{spaces[1].name}'"
            )
            hint = "declare both networks in one space; a file that takes raw inputs says 'takes raw'"
            raise Fault(error("E202", message, names[1].span, help=hint))
        for subject, network in ((first, candidate), (second, reference)):
            given = derivations.arguments(subject, network, scope, self.findings)
            if derivations.is_derived(network):
                derivations.precision(network, given, scope, self.findings, subject.span)
        return Subjects(candidate, reference, spaces[0], ast.arguments_of(first), ast.arguments_of(second))

    def _other_network(self, claim: ast.Satisfies, candidate: Binding, module: Module) -> ast.Subject:
        """The network that the inequality compares with, or the candidate itself."""
        other, place = candidate, claim.candidate
        for side in (claim.comparison.left, claim.comparison.right):
            for reference in references(side):
                if reference.index is None:
                    continue
                network = module.find("network", reference.name)
                if network is None or network is candidate:
                    continue
                if other is not candidate and network is not other:
                    message = f"'{reference.name}' is a third network: a check compares two"
                    raise Fault(error("E138", message, reference.span, help="split it into two checks"))
                other, place = network, reference.name
        return place

    def _region(self, use: ast.Use, subjects: Subjects | None, scope: Scope) -> None:
        region, arguments = self.regions.arguments(use, scope)
        space = self.regions.space_of(region)
        if subjects is not None and space is not subjects.space:
            message = f"region '{use.region}' is of space '{space.name}', the networks are of '{subjects.space.name}'"
            raise Fault(error("E203", message, use.region.span, help="declare a region in the space of the networks"))
        terms = self.regions.terms(region, arguments, scope, use.span)
        if len([b for b in terms.balls if not isinstance(b.centre, tuple | str)]) > 1:
            raise Fault(error("E143", "a region goes over rows only once", use.span, help="use one 'rows' ball"))
        missing = [] if space.domain or terms.balls or not terms.complete else self._missing(space, terms.bounded())
        if missing:
            named = f"feature '{missing[0]}' has" if len(missing) == 1 else f"features {', '.join(missing[:5])}"
            if len(missing) > 1:
                named += " have" if len(missing) <= 5 else f" and {len(missing) - 5} more have"
            hint = f"add '{missing[0]}: ...' or 'all within ... sigma'; unbounded inputs cannot be checked"
            span = terms.first_box or cast(ast.Region, region.declaration).name.span
            raise Fault(error("E132", f"{named} no bound", span, help=hint))

    def _missing(self, space: SpaceFacts, bounded: set[int]) -> list[str]:
        return [name for i, (name, _) in enumerate(space.features or ()) if i not in bounded]

    def _refuse_unused(self, check: ast.Check, search: Search | None) -> bool:
        """Whether nothing depends on the searched variable, so that there is no answer; W307 for a swept variable."""
        unused = False
        used: set[str] = set()
        for clause in check.clauses:
            used |= {str(r.name) for e in _expressions(clause) for r in references(e)}
        for clause in check.clauses:
            if isinstance(clause, ast.Find) and search is not None and clause.variable.text not in used:
                message = f"nothing in check '{check.name}' depends on '{clause.variable}'"
                hint = f"use '{clause.variable}' in 'prove' or 'on'"
                self.findings.add(error("E305", message, clause.variable.span, help=hint))
                unused = True
            if isinstance(clause, ast.For) and clause.variable.text not in used:
                message = f"nothing in check '{check.name}' depends on '{clause.variable}': all its tasks are the same"
                self.findings.add(warning("W307", message, clause.variable.span, help="leave it out"))
        return unused

    def _refuse_searched(self, expectations: Sequence[ast.Expect], search: Search | None) -> bool:
        """Whether an expectation depends on what is searched: where its condition is not met it would be left out."""
        refused = False
        for condition in (clause.condition for clause in expectations if search and clause.condition):
            names = {str(r.name) for side in (condition.left, condition.right) for r in references(side)}
            if search is not None and search.variable in names:
                message = f"'{search.variable}' is searched, so what is expected cannot depend on it"
                hint = "'find smallest eps in 0.1 .. 0.2' is as expected where the answer is at most 0.2"
                help_text = f"end the range at what is good enough: {hint}"
                self.findings.add(error("E308", message, condition.span, help=help_text))
                refused = True
        return refused


def _values_of_networks(claim: ast.Claim) -> set[str]:
    """The names in the values that the networks of a claim are given."""
    match claim:
        case ast.StaysWithin() | ast.Equals() | ast.KeepsTop1():
            given = (*ast.arguments_of(claim.candidate), *ast.arguments_of(claim.reference))
        case ast.Satisfies() | ast.Never():
            given = ast.arguments_of(claim.candidate)
    return {str(reference.name) for expression in given for reference in references(expression)}


def _require_whole(clause: ast.Find, low: Form, high: Form) -> None:
    """Fault E138 or E305 where a search for a value of a network is not one over a list of whole numbers."""
    name = clause.variable
    if clause.width is not None:
        message = f"'{name}' is a whole number here, so 'to' has no meaning"
        raise Fault(error("E305", message, clause.width.span, help="leave it out"))
    for end in (low.constant, high.constant):
        if end.denominator != 1:
            message = f"'{name}' is a value of a network, which is a whole number, not {shown(end)}"
            raise Fault(error("E138", message, clause.range.span))
    if high.constant - low.constant >= MOST_WHOLE:
        message = f"at most {MOST_WHOLE} whole numbers are searched, each of which is tried by itself"
        raise Fault(error("E138", message, clause.range.span, help="give a shorter range"))


def _expressions(clause: ast.CheckClause) -> list[ast.Expression]:
    """The expressions of a clause in which variables count."""
    match clause:
        case ast.StaysWithin():
            return [clause.eps, *ast.arguments_of(clause.candidate), *ast.arguments_of(clause.reference)]
        case ast.Equals():
            return [*ast.arguments_of(clause.candidate), *ast.arguments_of(clause.reference)]
        case ast.KeepsTop1():
            given = [*ast.arguments_of(clause.candidate), *ast.arguments_of(clause.reference)]
            return given if clause.guard is None else [*given, clause.guard.threshold]
        case ast.Satisfies():
            return [*ast.arguments_of(clause.candidate), clause.comparison.left, clause.comparison.right]
        case ast.Never():
            return list(ast.arguments_of(clause.candidate))
        case ast.On():
            return list(clause.use.arguments)
        case _:
            return []


def grid_finding(check: ast.Check, total: int, sweeps: list[Sweep], rows: int = 1) -> Diagnostic:
    """How large a grid is: W303, or E307 where it is too large to be listed."""
    parts = [f"{s.variable} {len(s.values)}" for s in sweeps] + ([f"rows {rows}"] if rows > 1 else [])
    message = f"this grid has {total:,} tasks ({' × '.join(parts)})".replace(",", " ")
    draw = "'sample 100' behind the table draws some of its rows" if rows > 1 else None
    if total > MOST_TASKS:
        listed = f"; at most {MOST_TASKS:,} are listed".replace(",", " ")
        return error("E307", message + listed, check.name.span, help=draw)
    part = "'eqspec check --select' runs a part of it"
    return warning("W303", message, check.name.span, help=part if draw is None else f"{draw}; {part}")


def claim_value(facts: CheckFacts, point: Mapping[str, Value], scope: Scope, findings: Findings) -> Property:
    """The claim of a check at one point of its grid."""
    local = scope.with_locals(point)
    found = claims.evaluate(facts.claim, facts.subjects, local, findings, searching=facts.search is not None)
    if found is UNKNOWN:
        raise Fault
    return found
