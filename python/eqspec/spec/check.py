"""Everything that can be wrong with a spec apart from the files it names, in one pass over the whole program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from eqspec.lazy_dataclass import dataclass
from eqspec.spec import ast, derivations, values, vocabulary
from eqspec.spec.checks import CheckFacts, Checks, Costs
from eqspec.spec.findings import Fault, Findings, error
from eqspec.spec.formal_parameters import check_names
from eqspec.spec.graph import dependencies_first
from eqspec.spec.integer_ends import integer_ends
from eqspec.spec.program import Binding, Module, Program
from eqspec.spec.regions import Regions
from eqspec.spec.scope import Override, Scope, Values
from eqspec.spec.spaces import Header, SpaceFacts, describe
from eqspec.spec.values import UNKNOWN


@dataclass(frozen=True, eq=False)
class CheckedSpec:
    """A program whose names, words, kinds and units were checked, with the meaning of its declarations."""

    program: Program
    values: Values
    spaces: Mapping[Binding, SpaceFacts]
    regions: Regions
    checks: tuple[CheckFacts, ...]

    def scope(self, module: Module) -> Scope:
        """The names of one file."""
        return Scope(module, self.values)


def check(
    program: Program, findings: Findings, params: Mapping[str, Override] | None = None, header: Header | None = None
) -> CheckedSpec:
    """Check a program and all it includes; errors go to `findings`. `header` reads the names in a table's header."""
    scope_values = Values(program, params or {}, findings)
    scopes = {module: Scope(module, scope_values) for module in program.modules}
    spaces: dict[Binding, SpaceFacts] = {}
    for binding in _all(program, "space"):
        with findings.collecting():
            spaces[binding] = describe(binding, scopes[binding.module], header, findings)
            _check_scaler(spaces[binding], scopes[binding.module], findings)
    for binding in _all(program, "network"):
        if derivations.is_derived(binding):
            _check_derived(binding, spaces, scopes[binding.module], findings)
        else:
            _check_network(binding, scopes[binding.module], findings)
    regions = Regions(spaces, findings, _cyclic_regions(program, findings))
    for binding in _all(program, "region"):
        _check_region(binding, regions, scopes[binding.module], findings)
    checks = Checks(spaces, regions, scopes, findings)
    costs = _file_costs(program, checks)
    found: list[CheckFacts] = []
    for binding in program.root.own("check"):
        with findings.collecting():
            found.append(checks.describe(binding, costs))
    return CheckedSpec(program, scope_values, spaces, regions, tuple(found))


def _all(program: Program, kind: str) -> list[Binding]:
    return [b for module in program.modules for b in module.own(kind)]  # type: ignore[arg-type]


def _check_scaler(space: SpaceFacts, scope: Scope, findings: Findings) -> None:
    """Names and kinds in `normalise`; the numbers are checked where the data is read."""
    clause = space.normalise
    if isinstance(clause, ast.NormaliseFrom):
        values.text(clause.path, scope)
    elif clause is not None:
        for setting in clause.settings:
            with findings.collecting():
                values.evaluate(setting.value, scope)


def _check_network(binding: Binding, scope: Scope, findings: Findings) -> None:
    network = cast(ast.Network, binding.declaration)
    with findings.collecting():
        values.text(network.path, scope)
    if network.output is not None:
        with findings.collecting():
            values.text(network.output, scope)
    with findings.collecting():
        binding.module.get("space", network.space)
    if network.dequantised is not None:
        with findings.collecting():
            integer_ends(network.dequantised, scope)
    for kind, word in (("input kind", network.takes), ("output kind", network.gives)):
        if word is not None:
            with findings.collecting():
                vocabulary.look_up(kind, word)


def _check_derived(binding: Binding, spaces: Mapping[Binding, SpaceFacts], scope: Scope, findings: Findings) -> None:
    """What a derived network is made of, with values that are not known yet for its formal parameters."""
    declaration = cast(ast.DerivedNetwork, binding.declaration)
    check_names(declaration.formals, binding.module, findings)
    with findings.collecting():
        derivations.precision(binding, (UNKNOWN,) * len(declaration.formals), scope, findings)
    with findings.collecting():
        derivations.table(binding, derivations.space_of(binding, spaces), scope)


def _check_region(binding: Binding, regions: Regions, scope: Scope, findings: Findings) -> None:
    region = cast(ast.Region, binding.declaration)
    check_names(region.formals, binding.module, findings)
    with findings.collecting():
        regions.terms(binding, (UNKNOWN,) * len(region.formals), scope)


def _cyclic_regions(program: Program, findings: Findings) -> set[Binding]:
    bindings = _all(program, "region")
    needs: dict[Binding, list[Binding]] = {}
    for binding in bindings:
        needs[binding] = []
        for term in cast(ast.Region, binding.declaration).terms:
            if isinstance(term, ast.Use):
                try:
                    found = binding.module.find("region", term.region)
                except Fault:
                    continue
                if found is not None:
                    needs[binding].append(found)
    broken: set[Binding] = set()
    for cycle in dependencies_first(bindings, needs)[1]:
        path = " -> ".join(b.name for b in [*cycle, cycle[0]])
        message = f"'{cycle[0].name}' is defined through itself: {path}"
        findings.add(error("E106", message, cycle[0].declaration.name.span, help="write its bounds out"))
        broken.update(cycle)
    return broken


def _file_costs(program: Program, checks: Checks) -> Costs:
    """The budget of the file, on top of those of the files it includes."""
    costs = Costs()
    for module in reversed(program.modules):
        for declaration in module.file.declarations:
            if isinstance(declaration, ast.Budget):
                costs = checks.costs(declaration, module, costs)
    return costs
