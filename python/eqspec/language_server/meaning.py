"""What the name at a place of a spec stands for, and where that is declared.

A place is found in the syntax tree by the nodes whose span holds it; which kind of name it is follows from the field
of the node it stands in. Nothing is evaluated for it but paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from eqspec.language_server.understanding import Understanding
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec import ast, values
from eqspec.spec.findings import Fault
from eqspec.spec.program import Binding, Kind, Module
from eqspec.spec.spaces import SpaceFacts

_KIND_BY_FIELD: dict[str, Kind] = {
    "space": "space",
    "region": "region",
    "candidate": "network",
    "reference": "network",
    "network": "network",
}
"""The kind of declaration that a qualified name refers to, by the field of a node that it stands in."""


@dataclass(frozen=True)
class Placed:
    """A node, and the field of the node around it that it stands in."""

    node: ast.Node
    field: str


@dataclass(frozen=True)
class DeclaredName:
    """A name of the program; `used` is where it was asked about."""

    binding: Binding
    used: Span

    @property
    def declared(self) -> Span:
        """The span of the name in its declaration."""
        return self.binding.declaration.name.span


@dataclass(frozen=True)
class LocalName:
    """A formal parameter of a region, or a variable of a check; `kind` says which."""

    name: str
    kind: Literal["parameter", "swept variable", "variable of a search"]
    declared: Span
    used: Span


@dataclass(frozen=True)
class Entry:
    """A feature or an output of a space. `declared` is None where its names stand in a table or are only numbers."""

    kind: Literal["feature", "output"]
    name: str
    index: int
    unit: str | None
    space: SpaceFacts
    declared: Span | None
    used: Span


@dataclass(frozen=True)
class NamedFile:
    """A file or folder that a spec names; `binding` is the network it belongs to, if it is one."""

    path: Path
    used: Span
    binding: Binding | None = None


Meaning: TypeAlias = DeclaredName | LocalName | Entry | NamedFile
_CLAIMS: tuple[type, ...] = get_args(ast.Claim)


def nodes_at(file: ast.File, offset: int) -> list[Placed]:
    """The nodes around a place, outermost first; a place right behind a node belongs to it."""
    found: list[Placed] = []
    inside: list[Placed] = [Placed(declaration, "declarations") for declaration in file.declarations]
    while True:
        around = [placed for placed in inside if placed.node.span.start <= offset <= placed.node.span.end]
        if not around:
            return found
        found.append(around[-1])  # of two that meet here, the one that begins
        inside = list(_children(around[-1].node))


def _children(node: ast.Node) -> Iterator[Placed]:
    for field in fields(node):
        if field.name != "span":
            yield from ((Placed(child, field.name)) for child in _nodes(getattr(node, field.name)))


def _nodes(value: object) -> Iterator[ast.Node]:
    if isinstance(value, ast.Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def meaning(known: Understanding, offset: int) -> Meaning | None:
    """What the name, or the path, at a place stands for; None if that is nothing that has a place."""
    around = nodes_at(known.program.root.file, offset)
    if not around:
        return None
    try:
        return _Place(known, around).meaning()
    except Fault:  # what an include that cannot be read would declare
        return None


class _Place:
    """The nodes around a place, outermost first."""

    def __init__(self, known: Understanding, around: list[Placed]) -> None:
        self.known, self.around = known, around
        self.module: Module = known.program.root
        self.declaration = around[0].node
        self.node, self.field = around[-1].node, around[-1].field
        self.parent = around[-2].node if len(around) > 1 else None

    def meaning(self) -> Meaning | None:
        """The meaning of the name or path at this place."""
        if any(placed.field == "path" for placed in self.around):
            return self._file()
        match self.node:
            case ast.QualifiedName() as name if isinstance(self.parent, ast.Reference):
                return self._reference(self.parent, name)
            case ast.QualifiedName() as name if self.field in _KIND_BY_FIELD:
                binding = self.module.find(_KIND_BY_FIELD[self.field], name)
                return None if binding is None else DeclaredName(binding, name.span)
            case ast.Name() as name if self.field == "feature":
                return self._entry("feature", name.text, name.span, self._space_of_region())
            case ast.Name() | ast.Number() as index if self.field == "index" and isinstance(self.parent, ast.Reference):
                return self._entry("output", index.text, index.span, self._space_of(self.parent.name))
            case ast.Name() as name if self.field == "name" and isinstance(self.parent, ast.Feature):
                return self._declared_entry(name)
            case ast.Name() as name if self.field == "name" and len(self.around) == 2:
                own = next((b for b in self._own() if b.declaration is self.declaration), None)
                return None if own is None else DeclaredName(own, name.span)
            case _:
                return None

    def _declared_entry(self, name: ast.Name) -> Entry | None:
        own = next((b for b in self._own() if b.declaration is self.declaration), None)
        clause = self.around[1].node
        kind: Literal["feature", "output"] = "output" if isinstance(clause, ast.Outputs) else "feature"
        return self._entry(kind, name.text, name.span, self._facts(own))

    def _own(self) -> Iterator[Binding]:
        for table in self.module.names.values():
            yield from table.values()

    def _reference(self, reference: ast.Reference, name: ast.QualifiedName) -> Meaning | None:
        text, inside = str(name), {placed.field for placed in self.around}
        local = _local(self.declaration, text, name.span)
        if local is not None:
            return local
        if "comparing" in inside:
            return self._entry("output", text, name.span, self._space_of_claim())
        binding = self.module.find("value", name)
        if binding is None and reference.index is not None and "comparison" in inside:
            binding = self.module.find("network", name)
        if binding is not None:
            return DeclaredName(binding, name.span)
        return self._entry("feature", text, name.span, self._space_of_region())

    def _space_of_region(self) -> SpaceFacts | None:
        if not isinstance(self.declaration, ast.Region):
            return None
        return self._facts(self.module.find("space", self.declaration.space))

    def _space_of_claim(self) -> SpaceFacts | None:
        candidate = next((getattr(placed.node, "candidate", None) for placed in self.around if _is_claim(placed)), None)
        named = candidate.network if isinstance(candidate, ast.Applied) else candidate
        return self._space_of(named) if isinstance(named, ast.QualifiedName) else None

    def _space_of(self, network: ast.QualifiedName) -> SpaceFacts | None:
        return self._facts(space_of(self.module.find("network", network)))

    def _facts(self, space: Binding | None) -> SpaceFacts | None:
        return None if space is None else self.known.checked.spaces.get(space)

    def _entry(
        self, kind: Literal["feature", "output"], name: str, used: Span, space: SpaceFacts | None
    ) -> Entry | None:
        if space is None:
            return None
        listed = space.features or () if kind == "feature" else space.outputs
        index = next((i for i, (known, _) in enumerate(listed) if known == name), None)
        if index is None and kind == "output" and name.isdecimal() and int(name) < len(listed):
            index = int(name)
        if index is None:
            return None
        declared = _declared(space, kind, listed[index][0])
        return Entry(kind, listed[index][0], index, listed[index][1], space, declared, used)

    def _file(self) -> NamedFile | None:
        """The file of a path, which may be an expression."""
        at = next(i for i, placed in enumerate(self.around) if placed.field == "path")
        written = self.around[at].node
        path = written.value if isinstance(written, ast.Text) else self._evaluated(written)
        if path is None:
            return None
        network = None
        if self.around[at - 1].node is self.declaration:
            network = next((b for b in self._own() if b.kind == "network" and b.declaration is self.declaration), None)
        return NamedFile(self.module.directory / path, written.span, network)

    def _evaluated(self, written: ast.Node) -> str | None:
        if not isinstance(written, get_args(ast.Expression)):
            return None
        found = values.text(written, self.known.checked.scope(self.module))
        return found if isinstance(found, str) else None


def _is_claim(placed: Placed) -> bool:
    return isinstance(placed.node, _CLAIMS)


def _local(declaration: ast.Node, name: str, used: Span) -> LocalName | None:
    """A name that only this declaration knows."""
    if isinstance(declaration, ast.Region):
        for formal in declaration.formals:
            if formal.text == name:
                return LocalName(name, "parameter", formal.span, used)
    if isinstance(declaration, ast.Check):
        for clause in declaration.clauses:
            if isinstance(clause, ast.For | ast.Find) and clause.variable.text == name:
                kind: Literal["swept variable", "variable of a search"]
                kind = "swept variable" if isinstance(clause, ast.For) else "variable of a search"
                return LocalName(name, kind, clause.variable.span, used)
    return None


def _declared(space: SpaceFacts, kind: Literal["feature", "output"], name: str) -> Span | None:
    declaration = space.binding.declaration
    for clause in declaration.clauses if isinstance(declaration, ast.Space) else ():
        listed: tuple[ast.Feature, ...] = ()
        if kind == "feature" and isinstance(clause, ast.Features):
            listed = clause.features
        elif kind == "output" and isinstance(clause, ast.Outputs):
            listed = clause.outputs
        for feature in listed:
            if feature.name.text == name:
                return feature.name.span
    return None


def space_of(network: Binding | None) -> Binding | None:
    """The space that a network lives in: a derived one that names none in that of its reference."""
    if network is None:
        return None
    declaration = network.declaration
    if isinstance(declaration, ast.DerivedNetwork) and declaration.space is None:
        reference = network.module.find("network", declaration.reference)
        # One of another derived network is refused, and might go round in a circle.
        if reference is None or not isinstance(reference.declaration, ast.Network):
            return None
        network, declaration = reference, reference.declaration
    space = getattr(declaration, "space", None)
    return None if space is None else network.module.find("space", space)
