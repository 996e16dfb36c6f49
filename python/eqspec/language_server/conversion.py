"""What eqspec says in the types of the Language Server Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from eqspec.errors import Diagnostic
from eqspec.language_server.completion import Completions
from eqspec.language_server.lines import Lines
from eqspec.language_server.outline import Declared
from eqspec.language_server.understanding import Understanding
from eqspec.span import Source, Span
from eqspec.spec import ast
from eqspec.spec.program import Module

_SEVERITY = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
_SYMBOL = {
    "space": types.SymbolKind.Namespace,
    "network": types.SymbolKind.Object,
    "region": types.SymbolKind.Class,
    "check": types.SymbolKind.Function,
    "let": types.SymbolKind.Constant,
    "param": types.SymbolKind.Variable,
}
_COMPLETION = {
    "declaration": types.CompletionItemKind.Keyword,
    "keyword": types.CompletionItemKind.Keyword,
    "word": types.CompletionItemKind.EnumMember,
    "space": types.CompletionItemKind.Module,
    "network": types.CompletionItemKind.Class,
    "region": types.CompletionItemKind.Struct,
    "value": types.CompletionItemKind.Constant,
    "parameter": types.CompletionItemKind.Variable,
    "variable": types.CompletionItemKind.Variable,
    "feature": types.CompletionItemKind.Field,
    "output": types.CompletionItemKind.Field,
    "unit": types.CompletionItemKind.Unit,
    "function": types.CompletionItemKind.Function,
    "file": types.CompletionItemKind.File,
    "folder": types.CompletionItemKind.Folder,
}


def position(lines: Lines, offset: int) -> types.Position:
    """An offset as a position of the protocol."""
    line, unit = lines.place(offset)
    return types.Position(line, unit)


def extent(lines: Lines, start: int, end: int) -> types.Range:
    """A range of offsets as a range of the protocol."""
    return types.Range(position(lines, start), position(lines, end))


def uri(source: Source) -> str:
    """The URI of a file."""
    return from_fs_path(source.name) or source.name


def location(span: Span, lines: Lines) -> types.Location:
    """A place in a file; `lines` are those of its text."""
    return types.Location(uri(span.source), extent(lines, span.start, span.end))


class Finder:
    """Findings of one understanding as diagnostics of its root file; `lines_of` counts lines in any of its files."""

    def __init__(self, known: Understanding, lines_of: dict[Source, Lines]) -> None:
        self.known, self.lines_of = known, lines_of
        self._includes = dict(_includes(known))

    def diagnostics(self) -> list[types.Diagnostic]:
        """All findings. One of an included file stands at the include, with its place beside it."""
        return [self._one(found) for found in self.known.findings]

    def _one(self, found: Diagnostic) -> types.Diagnostic:
        message = found.message if found.help is None else f"{found.message}\nhelp: {found.help}"
        related = [(label.span, label.text) for label in found.labels if label.text]
        place = found.span
        if place is not None and place.source is not self.known.source:
            message = f"{place}: {message}"
            related.insert(0, (place, "here"))
            place = self._includes.get(place.source)
        lines = self.lines_of[self.known.source]
        at = types.Range(types.Position(0, 0), types.Position(0, 0))
        if place is not None:
            at = extent(lines, place.start, max(place.end, place.start))
        return types.Diagnostic(
            range=at,
            message=message,
            severity=_SEVERITY[found.severity],
            code=found.code,
            source="eqspec",
            related_information=[
                types.DiagnosticRelatedInformation(location(span, self.lines_of[span.source]), text)
                for span, text in related
                if span.source in self.lines_of
            ]
            or None,
        )


def _includes(known: Understanding) -> Iterator[tuple[Source, Span]]:
    """The sources of included files, with the `include` of the root that brings each in: of several the first."""
    root = known.program.root
    modules = {Path(module.source.name).resolve(): module for module in known.program.modules}
    for include in reversed([d for d in root.file.declarations if isinstance(d, ast.Include)]):
        target = modules.get((root.directory / include.path.value).resolve())
        for module in _reached(target):
            if module is not root:
                yield module.source, include.path.span


def _reached(module: Module | None) -> list[Module]:
    found: list[Module] = []
    waiting = [] if module is None else [module]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.append(module)
            waiting += [*module.included, *(other for other in module.aliases.values() if other is not None)]
    return found


def symbols(declared: Iterable[Declared], lines: Lines) -> list[types.DocumentSymbol]:
    """The outline of a file."""
    return [
        types.DocumentSymbol(
            name=one.name,
            kind=_SYMBOL[one.word],
            range=extent(lines, one.whole.start, one.whole.end),
            selection_range=extent(lines, one.name_span.start, one.name_span.end),
            detail=one.word if one.about is None else f"{one.word}: {one.about}",
        )
        for one in declared
    ]


def completion_list(found: Completions, lines: Lines, offset: int) -> types.CompletionList:
    """What may come, names before keywords."""
    at = extent(lines, found.start, offset)
    items = [
        types.CompletionItem(
            label=item.word,
            kind=_COMPLETION[item.kind],
            detail=item.kind if item.detail is None else f"{item.kind}: {item.detail}",
            sort_text=f"{number:05}",
            text_edit=types.TextEdit(at, item.word),
        )
        for number, item in enumerate(found.items)
    ]
    return types.CompletionList(is_incomplete=False, items=items)
