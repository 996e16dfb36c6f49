"""What a file declares, in its order: for an editor's outline."""

from __future__ import annotations

from collections.abc import Iterator

from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec import ast
from eqspec.spec.program import KINDS


@dataclass(frozen=True)
class Declared:
    """A declaration: its word (`check`), its name, all of it, its name's place, and the first line of what it says."""

    word: str
    name: str
    whole: Span
    name_span: Span
    about: str | None


def outline(file: ast.File) -> Iterator[Declared]:
    """Everything with a name; what could not be read is missing."""
    for declaration in file.declarations:
        kind = KINDS.get(type(declaration))
        if kind is None or isinstance(declaration, ast.Include | ast.Budget):
            continue
        word = "let" if isinstance(declaration, ast.Let) else "param" if kind == "value" else kind
        about = declaration.doc.split("\n", 1)[0] if declaration.doc else None
        yield Declared(word, declaration.name.text, declaration.span, declaration.name.span, about)
