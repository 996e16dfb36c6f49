"""Formal parameters of regions and networks: their names, and the values that they are given where one is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from eqspec.errors import Label
from eqspec.span import Span
from eqspec.spec import ast, values
from eqspec.spec.findings import Fault, Findings, error
from eqspec.spec.program import Module
from eqspec.spec.scope import Scope
from eqspec.spec.values import Value


def check_names(formals: Sequence[ast.Name], module: Module, findings: Findings) -> None:
    """E104 for a parameter that comes twice, or that hides a value of its file."""
    seen: set[str] = set()
    for formal in formals:
        with findings.collecting():
            if formal.text in seen:
                raise Fault(error("E104", f"'{formal}' is declared twice", formal.span, help="rename one"))
            seen.add(formal.text)
            refuse_shadow(formal, module)


def refuse_shadow(name: ast.Name, module: Module) -> None:
    """Fault E104 for a local name that hides a value of the file."""
    hidden = module.find("value", ast.QualifiedName((name.text,)))
    if hidden is not None:
        label = Label(hidden.declaration.name.span, "first here")
        raise Fault(error("E104", f"'{name}' is declared twice", name.span, label, help="rename one"))


def given(
    kind: Literal["region", "network"],
    name: ast.QualifiedName,
    declared: Span,
    formals: Sequence[ast.Name],
    arguments: Sequence[ast.Expression],
    used: Span,
    scope: Scope,
    findings: Findings,
) -> tuple[Value, ...]:
    """The values that a region or network is given at `used`; Fault E112 where they are too many or too few."""
    if len(formals) != len(arguments):
        takes = f"{len(formals)} value{'' if len(formals) == 1 else 's'}"
        names = f" ({', '.join(f.text for f in formals)})" if formals else ""
        message = f"{kind} '{name}' takes {takes}{names}, found {len(arguments)}"
        given_so = (
            f"write {name}({', '.join(f.text for f in formals)}), with a value for each" if formals else f"write {name}"
        )
        raise Fault(error("E112", message, used, Label(declared, "declared here"), help=given_so))
    found: list[Value] = []
    for argument in arguments:
        with findings.collecting():
            found.append(values.evaluate(argument, scope))
    if len(found) < len(formals):
        raise Fault
    return tuple(found)
