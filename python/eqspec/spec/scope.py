"""What a name stands for where it is used.

`Values` knows the lets and params of a whole program, each evaluated once, dependencies first. A `Scope` is the view
from one declaration: its local names (formal parameters, swept variables), the values of its file, and where they mean
something, features and outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from fractions import Fraction
from typing import TypeAlias

from eqspec.errors import Diagnostic, Label, SpecError
from eqspec.lazy_dataclass import dataclass
from eqspec.spec import ast, values
from eqspec.spec.findings import Fault, Findings, error, spelt
from eqspec.spec.graph import dependencies_first
from eqspec.spec.parse import parse_expression
from eqspec.spec.program import Binding, Module, Program
from eqspec.spec.suggest import closest, did_you_mean, enumerate_names
from eqspec.spec.values import UNKNOWN, Form, Value

Override: TypeAlias = str | int | float | Fraction | list["Override"] | tuple["Override", ...]
"""A value given from outside: text is read as in a spec, a float as the decimal it prints as."""


class Values:
    """The values of all lets and params of a program."""

    def __init__(self, program: Program, overrides: Mapping[str, Override], findings: Findings) -> None:
        self._known: dict[Binding, Value | None] = {}
        self._expressions: dict[Binding, tuple[ast.Expression, Module]] = {}
        bindings = [b for module in program.modules for b in module.own("value")]
        for binding in bindings:
            declaration = binding.declaration
            if isinstance(declaration, ast.Let | ast.Param):
                self._expressions[binding] = (declaration.value, binding.module)
        for name, value in overrides.items():
            with findings.collecting():
                self._override(program.root, name, value)
        needs = {b: list(self._needed(b)) for b in bindings}
        order, cycles = dependencies_first(bindings, needs)
        for cycle in cycles:
            path = " -> ".join(b.name for b in [*cycle, cycle[0]])
            span = cycle[0].declaration.name.span
            message = f"'{cycle[0].name}' is defined through itself: {path}"
            findings.add(error("E106", message, span, help="give one of them a value of its own"))
            self._known.update(dict.fromkeys(cycle))
        for binding in order:
            if binding not in self._known:
                self._known[binding] = None
                expression, module = self._expressions[binding]
                with findings.collecting():
                    self._known[binding] = values.evaluate(expression, Scope(module, self))

    def of(self, binding: Binding) -> Value:
        """The value of a let or param; Fault without a finding if it has none."""
        known = self._known.get(binding)
        if known is None:
            raise Fault
        return known

    def _needed(self, binding: Binding) -> Iterator[Binding]:
        expression, module = self._expressions[binding]
        for reference in references(expression):
            try:
                found = module.find("value", reference.name)
            except Fault:
                continue
            if found is not None:
                yield found

    def _override(self, root: Module, name: str, value: Override) -> None:
        qualified = ast.QualifiedName(tuple(name.split(".")))
        found = root.find("value", qualified)
        if found is None:
            params = [n for n, b in root.visible("value") if isinstance(b.declaration, ast.Param)]
            meant = did_you_mean(name, params) or (f"params: {enumerate_names(params)}" if params else None)
            raise Fault(error("E101", f"no param named '{name}'", None, help=meant or "the file declares no 'param'"))
        if isinstance(found.declaration, ast.Let):
            label = Label(found.declaration.name.span, "declared here")
            message = f"'{name}' is a 'let' and cannot be given from outside"
            span = found.declaration.name.span
            raise Fault(error("E107", message, span, label, help=f"write 'param {found.name} = ...'"))
        expression = self._read(found, name, value) if isinstance(value, str) else _written(value, name)
        self._expressions[found] = (expression, root)

    def _read(self, binding: Binding, name: str, value: str) -> ast.Expression:
        """A given text, taken as it is if the param holds a text by default, else read as an expression."""
        default, _ = self._expressions[binding]
        if _is_text(default) and not value.startswith('"'):
            return ast.Text(value)
        try:
            return parse_expression(value, f"-p {name}")
        except SpecError as problem:
            raise Fault(problem.diagnostics[0]) from None


def _is_text(expression: ast.Expression) -> bool:
    while isinstance(expression, ast.Group | ast.Sum):
        expression = expression.inner if isinstance(expression, ast.Group) else expression.first
    return isinstance(expression, ast.Text)


def _written(value: Override, name: str) -> ast.Expression:
    """A value given from Python as an expression."""
    if isinstance(value, list | tuple):
        return ast.ListOf(tuple(ast.Text(v) if isinstance(v, str) else _written(v, name) for v in value))
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        try:
            exact = Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)
            above, below = ast.Number(str(abs(exact.numerator))), ast.Number(str(exact.denominator))
        except ValueError:
            message = f"'{name}' cannot be given as this number"
            raise Fault(error("E134", message, None, help="give a finite number of fewer than 1000 digits")) from None
        number = ast.Product(above, (("/", below),))
        return ast.Negation(number) if exact < 0 else number
    message = f"'{name}' cannot be given as {type(value).__name__}"
    raise Fault(error("E134", message, None, help="give a number, a text or a list"))


def references(expression: ast.Expression) -> Iterator[ast.Reference]:
    """All references in an expression, by a loop."""
    stack: list[ast.Expression] = [expression]
    while stack:
        match stack.pop():
            case ast.Reference() as reference:
                yield reference
            case ast.ListOf(items):
                stack.extend(items)
            case ast.Group(inner) | ast.Negation(inner):
                stack.append(inner)
            case ast.Call(_, arguments):
                stack.extend(arguments)
            case ast.Power(base, exponent):
                stack.extend((base, exponent))
            case ast.Sum(first, rest) | ast.Product(first, rest):
                stack.append(first)
                stack.extend(e for _, e in rest)


@dataclass(frozen=True)
class Atoms:
    """Names that stand for inputs: the index and unit of each, and the space they are of."""

    indices: Mapping[str, int]
    units: tuple[str | None, ...]
    space: str


@dataclass(frozen=True)
class Scope:
    """The names that can be used in one declaration; calling it looks a reference up."""

    module: Module
    values: Values
    locals: Mapping[str, Value] = field(default_factory=dict)
    atoms: Atoms | None = None
    check: bool = False

    def with_locals(self, names: Mapping[str, Value]) -> Scope:
        """This scope with local names."""
        return replace(self, locals=names)

    def __call__(self, reference: ast.Reference) -> Value:
        """The value that a reference names; Fault E101, E102 or E105 if there is none."""
        name = reference.name
        found: Value | None = None
        if len(name.parts) == 1:
            found = self.locals.get(name.parts[0])
        if found is None:
            binding = self.module.find("value", name)
            found = None if binding is None else self.values.of(binding)
        index = self.atoms.indices.get(str(name)) if self.atoms is not None else None
        if index is not None and self.atoms is not None:
            if found is not None:
                message = f"'{name}' is both a feature of space '{self.atoms.space}' and a value"
                raise Fault(error("E104", message, name.span, help="rename the value"))
            found = Form(Fraction(0), {index: Fraction(1)}, self.atoms.units[index])
        if found is None:
            raise Fault(self._unknown(reference))
        if reference.index is None or found is UNKNOWN:
            return found
        if not isinstance(found, tuple):
            message = f"'{name}' is {values.kind(found)}, only lists and networks take an index"
            raise Fault(error("E134", message, reference.span))
        return values.item(found, reference)

    def _unknown(self, reference: ast.Reference) -> Diagnostic:
        name, span = reference.name, reference.name.span
        values_known = [*self.locals, *(n for n, _ in self.module.visible("value"))]
        if self.atoms is not None:
            meant = did_you_mean(str(name), [*self.atoms.indices, *values_known])
            features = f"features: {enumerate_names(self.atoms.indices)}"
            hint = f"{meant} {features}" if meant else features
            fixes = spelt(span, str(name), [*self.atoms.indices, *values_known])
            return error("E102", f"space '{self.atoms.space}' has no feature '{name}'", span, help=hint, fixes=fixes)
        near = closest(str(name), values_known)
        if near is None and self.check and len(name.parts) == 1:
            hint = f"add 'for {name} in [...]', 'find ... {name} ...', or 'let {name} = ...'"
            return error("E105", f"'{name}' has no value here", span, help=hint)
        hint_or_none = f"did you mean '{near}'?" if near else self.module.suggestion("value", name)
        fixes = spelt(span, str(name), values_known)
        return error("E101", f"no value named '{name}'", span, help=hint_or_none, fixes=fixes)
