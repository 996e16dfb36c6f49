"""A spec with everything it includes: one module per file, and what each name stands for.

One namespace per kind (space, network, region, check, value). Declarations may be used before they stand. Included
names stand under the alias, or without one among the file's own; checks are never imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal, TypeAlias

from eqspec.errors import Label
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Source
from eqspec.spec import ast
from eqspec.spec.findings import Fault, Findings, error, spelt, warning
from eqspec.spec.graph import dependencies_first
from eqspec.spec.parse import read
from eqspec.spec.source_files import locate, read_text
from eqspec.spec.suggest import closest

Kind = Literal["space", "network", "region", "check", "value"]
Declared: TypeAlias = ast.Space | ast.Network | ast.DerivedNetwork | ast.Region | ast.Check | ast.Let | ast.Param
KINDS: dict[type, Kind] = {
    ast.Space: "space",
    ast.Network: "network",
    ast.DerivedNetwork: "network",
    ast.Region: "region",
    ast.Check: "check",
    ast.Let: "value",
    ast.Param: "value",
}
_MOST_FILES = 1000


@dataclass(frozen=True, eq=False)
class Binding:
    """A declared name: its declaration, and the module that lies in."""

    kind: Kind
    name: str
    declaration: Declared
    module: Module


@dataclass(eq=False)
class Module:
    """One file; `directory` is what its paths are relative to, `incomplete` says that names may be missing."""

    source: Source
    directory: Path
    file: ast.File
    names: dict[Kind, dict[str, Binding]] = field(default_factory=dict)
    aliases: dict[str, Module | None] = field(default_factory=dict)
    included: list[Module] = field(default_factory=list)
    incomplete: bool = False

    def find(self, kind: Kind, name: ast.QualifiedName) -> Binding | None:
        """The declaration of a name, or None. Fault without a finding where an include could not be read."""
        module = self
        for alias in name.parts[:-1]:
            if alias not in module.aliases:
                return None
            target = module.aliases[alias]
            if target is None:
                raise Fault
            module = target
        found = module.names.get(kind, {}).get(name.parts[-1])
        if found is None and module.incomplete:
            raise Fault
        return found

    def get(self, kind: Kind, name: ast.QualifiedName) -> Binding:
        """The declaration of a name; Fault E101 if there is none."""
        found = self.find(kind, name)
        if found is None:
            fixes = spelt(name.span, str(name), dict(self.visible(kind)))
            message = f"no {kind} named '{name}'"
            raise Fault(error("E101", message, name.span, help=self.suggestion(kind, name), fixes=fixes))
        return found

    def suggestion(self, kind: Kind, name: ast.QualifiedName) -> str | None:
        """A suggestion for a name that is not declared."""
        known = dict(self.visible(kind))
        meant = closest(str(name), known)
        if meant is not None:
            line, column = self.source.line_column(known[meant].declaration.name.span.start)
            same_file = known[meant].module.source is self.source
            span = known[meant].declaration.name.span
            return f"did you mean '{meant}' (declared at {f'{line}:{column}' if same_file else span})?"
        for other in KINDS.values():
            if other != kind and (found := self.names.get(other, {}).get(str(name))):
                return f"'{name}' is a {found.kind}"
        return None

    def visible(self, kind: Kind) -> Iterator[tuple[str, Binding]]:
        """All names of a kind that can be written in this file, as they are written."""
        yield from self.names.get(kind, {}).items()
        for alias, module in self.aliases.items():
            if module is not None:
                yield from ((f"{alias}.{name}", found) for name, found in module.names.get(kind, {}).items())

    def own(self, kind: Kind) -> Iterator[Binding]:
        """The names of a kind declared in this file itself."""
        yield from (b for b in self.names.get(kind, {}).values() if b.module is self)


@dataclass(frozen=True, eq=False)
class Program:
    """A root file and all files it includes, the root first."""

    root: Module
    modules: tuple[Module, ...]


def load_program(
    source: Source,
    directory: Path,
    findings: Findings,
    *,
    path: Path | None = None,
    given: frozenset[Path] = frozenset(),
    opened: Mapping[Path, str] | None = None,
) -> Program:
    """Read a file and all it includes, and bind all names.

    `path` is where the source was read from, if it was. `given` are files that are checked on their own: their checks
    are not missed here. `opened` has the texts of files that are not as they are on disk, by their resolved paths.
    """
    root = Module(source, directory, read(source, findings))
    modules: dict[Path | None, Module] = {None if path is None else path.resolve(): root}
    waiting = [root]
    while waiting:
        module = waiting.pop()
        for include in _includes(module.file):
            target: Module | None = None
            with findings.collecting():
                path = locate(include.path.value, module.directory, module.source.name, include.path.span)
                key = path.resolve()
                if key not in modules:
                    if len(modules) >= _MOST_FILES:
                        raise Fault(error("E110", f"more than {_MOST_FILES} files are included", include.span))
                    modules[key] = _read_module(path, include, module, findings, opened or {})
                    waiting.append(modules[key])
                    _mention_checks(modules[key], include, key in given, findings)
                target = modules[key]
            _connect(module, include, target, findings)
    _refuse_cycles(list(modules.values()), findings)
    for module in modules.values():
        _bind(module, findings)
    _import_open(list(modules.values()), findings)
    return Program(root, tuple(modules.values()))


def _includes(file: ast.File) -> list[ast.Include]:
    return [d for d in file.declarations if isinstance(d, ast.Include)]


def _read_module(
    path: Path, include: ast.Include, parent: Module, findings: Findings, opened: Mapping[Path, str]
) -> Module:
    name = str(Path(parent.source.name).parent / include.path.value)
    text = opened.get(path.resolve())
    if text is None:
        text = read_text(path, include.path.value, include.path.span)
    source = Source(name, text)
    return Module(source, path.parent, read(source, findings))


def _mention_checks(module: Module, include: ast.Include, given: bool, findings: Findings) -> None:
    checks = [d.name.text for d in module.file.declarations if isinstance(d, ast.Check)]
    if checks and not given:
        message = f"checks of an included file are not run: {', '.join(checks[:5])}{', ...' if len(checks) > 5 else ''}"
        findings.add(warning("W306", message, include.path.span, help=f"run 'eqspec check {module.source.name}'"))


def _connect(module: Module, include: ast.Include, target: Module | None, findings: Findings) -> None:
    if include.alias is None:
        module.incomplete |= target is None
        if target is not None and target not in module.included:
            module.included.append(target)
    elif include.alias.text in module.aliases:
        findings.add(error("E104", f"'{include.alias}' is declared twice", include.alias.span, help="rename one"))
    else:
        module.aliases[include.alias.text] = target


def _refuse_cycles(modules: list[Module], findings: Findings) -> None:
    """E106 for a file that includes itself, however far around."""
    children = {m: [*m.included, *(a for a in m.aliases.values() if a is not None)] for m in modules}
    for cycle in dependencies_first(modules, children)[1]:
        names = [Path(m.source.name).name for m in cycle]
        target = cycle[1 % len(cycle)]
        span = next(
            (i.span for i in _includes(cycle[0].file) if Path(i.path.value).name == Path(target.source.name).name), None
        )
        message = f"'{names[0]}' includes itself: {' -> '.join([*names, names[0]])}"
        findings.add(error("E106", message, span, help="move what both need into a third file"))
        for module in cycle:
            module.included = [m for m in module.included if m not in cycle]
            module.incomplete = True


def _bind(module: Module, findings: Findings) -> None:
    """Enter the file's own declarations; E104 for a second one of the same name."""
    for declaration in module.file.declarations:
        kind = KINDS.get(type(declaration))
        if kind is None or not isinstance(declaration, Declared):
            continue
        _enter(module, Binding(kind, declaration.name.text, declaration, module), findings)


def _enter(module: Module, binding: Binding, findings: Findings) -> None:
    table = module.names.setdefault(binding.kind, {})
    first = table.setdefault(binding.name, binding)
    if first is not binding:
        late, early = binding.declaration.name.span, first.declaration.name.span
        findings.add(
            error("E104", f"'{binding.name}' is declared twice", late, Label(early, "first here"), help="rename one")
        )


def _import_open(modules: list[Module], findings: Findings) -> None:
    """Enter the names of files included without an alias, those of deeper files first."""
    order, _ = dependencies_first(modules, {m: m.included for m in modules})
    for module in order:
        for included in module.included:
            module.incomplete |= included.incomplete
            for kind, table in included.names.items():
                if kind != "check":
                    for binding in table.values():
                        _enter(module, binding, findings)
            module.aliases = {**included.aliases, **module.aliases}
