"""What a name means, in Markdown: a check in the words of `eqspec explain`, a network in those of `eqspec inspect`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eqspec.compile.network_instance import dequantised
from eqspec.errors import NetworkError
from eqspec.language_server.meaning import DeclaredName, Entry, LocalName, Meaning, NamedFile
from eqspec.language_server.understanding import ReadNetworks, Understanding
from eqspec.networks import Dequantised
from eqspec.report.network_in_words import shape_in_words, steps_in_words
from eqspec.report.numbers import plural
from eqspec.report.statement import statement
from eqspec.spec import ast, values
from eqspec.spec.findings import Fault
from eqspec.spec.numbers import shown
from eqspec.spec.program import Binding
from eqspec.spec.values import Form
from eqspec.tasks.task import Task

_MOST_LINES = 12
_MOST_ENTRIES = 24


def hover(known: Understanding, found: Meaning, networks: ReadNetworks) -> str:
    """The text of a hover: what a name means to a reader of the spec. No file is read and nothing proved for it."""
    match found:
        case DeclaredName(binding):
            return _declared(known, binding, networks)
        case LocalName(name, kind):
            return f"`{name}`: {kind}"
        case Entry(kind, name, index, unit, space):
            of = f"{kind} {index} of space `{space.name}`"
            return f"`{name}`: {of}, in {unit}" if unit else f"`{name}`: {of}"
        case NamedFile(path, _, binding):
            lines = [f"`{path}`", *([] if binding is None else _network(known, binding, networks))]
            return "\n\n".join(lines)


def _declared(known: Understanding, binding: Binding, networks: ReadNetworks) -> str:
    declaration = binding.declaration
    parts = [declaration.doc] if declaration.doc else []
    parts.append(_source(declaration))
    if isinstance(declaration, ast.Check):
        parts += _check(known, binding.name)
    elif isinstance(declaration, ast.Let | ast.Param):
        parts += _value(known, binding)
    elif isinstance(declaration, ast.Space):
        parts += _space(known, binding)
    elif binding.kind == "network":
        parts += _network(known, binding, networks)
    return "\n\n".join(parts)


def _source(node: ast.Node) -> str:
    """The declaration as it is written, cut where it is long."""
    lines = node.span.text.split("\n")
    cut = [*lines[:_MOST_LINES], "..."] if len(lines) > _MOST_LINES else lines
    return _block(cut, "eqspec")


def _block(lines: Sequence[str], language: str = "text") -> str:
    """Lines as they are; the fence is longer than any in them."""
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    return "\n".join((f"{fence}{language}", *lines, fence))


def _check(known: Understanding, name: str) -> list[str]:
    """What it claims: in words, as a formula, and the region in raw units, for the first of its tasks."""
    if known.compiled is None:
        return []
    tasks = [task for task in known.compiled.tasks if task.check == name]
    searches = [search for search in known.compiled.finds if search.check == name]
    if not tasks and not searches:
        return []
    first: Task = tasks[0] if tasks else searches[0].task_at(searches[0].easy)
    said = statement(first)
    parts = [said.words]
    if first.parameters:
        at = ", ".join(f"{variable} = {shown(value)}" for variable, value in first.parameters.items())
        parts.append(f"shown for {at}; {plural(max(1, len(tasks)), 'task')} in all" if tasks else f"shown for {at}")
    parts.append(_block((said.formula, *said.symbols)))
    parts += ["X, in raw units", _block(said.region)]
    parts += [f"- {note}" for note in said.notes]
    return parts


def _value(known: Understanding, binding: Binding) -> list[str]:
    """What a let or a param comes to, where that is more than what stands there."""
    try:
        value = known.checked.values.of(binding)
    except Fault:
        return []
    if isinstance(value, Form) and not value.coefficients:
        return [f"= {shown(value.constant)}{f' {value.unit}' if value.unit else ''}"]
    return [plural(len(value), "item")] if isinstance(value, tuple) else []


def _space(known: Understanding, binding: Binding) -> list[str]:
    facts = known.checked.spaces.get(binding)
    if facts is None:
        return []
    inputs = "inputs from a table" if facts.features is None else plural(len(facts.features), "input")
    lines = [f"{inputs}, {plural(len(facts.outputs), 'output')}; normalised by {facts.normaliser}"]
    if facts.features is not None and len(facts.features) <= _MOST_ENTRIES:
        lines.append(", ".join(f"{name} [{unit}]" if unit else name for name, unit in facts.features))
    return lines


def _network(known: Understanding, binding: Binding, networks: ReadNetworks) -> list[str]:
    """What its file holds, if it was read."""
    place = network_file(known, binding)
    if place is None:
        return []
    path = place[0]
    network = networks.known(*place)
    if network is None:
        return ["not read yet"] if path.exists() else ["no such file"]
    if isinstance(network, NetworkError):
        return [f"cannot be used: {network}"]
    made_of, steps = steps_in_words(network)
    lines = [shape_in_words(network), f"{made_of} {steps}", *(f"note: {note}" for note in network.notes)]
    return [_block(lines)]


def network_file(known: Understanding, binding: Binding) -> tuple[Path, str | None, Dequantised | None] | None:
    """The file of a network, the output that is chosen of it, and its integer ends; None where that is not known."""
    declaration = binding.declaration
    if not isinstance(declaration, ast.Network):
        return None
    scope = known.checked.scope(binding.module)
    found = []
    for expression in (declaration.path, declaration.output):
        try:
            found.append(None if expression is None else values.text(expression, scope))
        except Fault:
            return None
    path, output = found
    if not isinstance(path, str) or not (output is None or isinstance(output, str)):
        return None
    try:
        return binding.module.directory / path, output, dequantised(declaration, scope)
    except Fault:
        return None
