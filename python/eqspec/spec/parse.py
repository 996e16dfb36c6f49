"""Text to syntax tree, with every syntax error of the text.

After an error reading goes on at the next thing that looks like a declaration, so one slip costs one finding. What
was read before the error is kept, so every piece of text is read once.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from re import compile as regex
from typing import Any, Literal, TypeAlias, cast

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from eqspec.span import Source, Span
from eqspec.spec import ast
from eqspec.spec.build import Builder, check_depth
from eqspec.spec.documentation import doc_above, doc_text
from eqspec.spec.findings import MOST, Findings, error
from eqspec.spec.grammar import parser
from eqspec.spec.syntax_error import Stop, declaration_at_or_after, explain, finished

VERSION = "1"
_COMMENT = regex(r'"[^"\n]*"|#[^\n]*')
_WORD = regex(r"\S+")
_MISLEADING = regex(r"\r(?!\n|\Z)|[\x0b\x0c\x1c-\x1e\x85\u2028-\u202e\u2066-\u2069]")
"""Characters that editors show as the end of a line, or that show text in another order than it is read."""
_Placed: TypeAlias = tuple[Tree[Token], int]
"""A tree, and the offset in the source that its places count from."""


def parse_text(text: str, name: str = "<text>") -> ast.File:
    """The syntax tree of a file's text; `name` is for messages. SpecError with all syntax errors if it has any."""
    findings = Findings()
    file = read(Source(name, text), findings)
    findings.raise_errors()
    return file


def read(source: Source, findings: Findings) -> ast.File:
    """The syntax tree of a source as far as it can be read; syntax errors go to `findings`."""
    _refuse_misleading(source, findings)
    comments = _comments(source)
    starts = [c.span.start for c in comments]
    declarations: list[ast.Declaration] = []
    with _collector_paused():
        trees, version = _read_all(source, findings)
        for tree, offset in trees:
            with findings.collecting():
                check_depth(tree, source, offset)
                declaration: ast.Declaration = Builder(source, offset).build(tree)
                doc = doc_text(doc_above(declaration.span.start, source, comments, starts))
                declarations.append(declaration if doc is None else replace(declaration, doc=doc))
    whole = Span(source, 0, len(source.text))
    return ast.File(version, tuple(declarations), tuple(comments), span=whole)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Within this context Python looks for no cycles: trees have none, and looking takes half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def parse_expression(text: str, name: str) -> ast.Expression:
    """A single expression, such as the value given for a parameter. SpecError if it is none."""
    expression: ast.Expression = _alone(text, name, "expression")
    return expression


def parse_subject(text: str, name: str) -> ast.Subject:
    """A network with the values it is given: fpga(12). SpecError if it is none."""
    subject: ast.Subject = _alone(text, name, "subject")
    return subject


def parse_number_type(text: str, name: str) -> ast.NumberType:
    """A type: int8, fixed<16, 6>. SpecError if it is none."""
    found: ast.NumberType = _alone(text, name, "number_type")
    return found


def _alone(text: str, name: str, start: Literal["expression", "subject", "number_type"]) -> Any:
    """The node of a text that is one piece, such as an expression. SpecError if it is something else."""
    source, findings = Source(name, text), Findings()
    try:
        tree = parser().parse(text, start=start)
    except UnexpectedInput as problem:
        findings.add(explain(Stop(problem, source, 0))[0])
        findings.raise_errors()
        raise
    with findings.collecting():
        check_depth(tree, source, 0)
    findings.raise_errors()
    (inner,) = tree.children
    return Builder(source).build(cast("Tree[Token]", inner))


def _read_all(source: Source, findings: Findings) -> tuple[list[_Placed], ast.Number]:
    """All declarations that can be read, and the version."""
    text = source.text
    trees: list[_Placed] = []
    try:
        tree = parser().parse(text, start="start")
        children, following = tree.children, None
    except UnexpectedInput as problem:
        children = finished(problem)
        if any(isinstance(c, Token) and c.type == "NUMBER" for c in children):
            diagnostic, following = explain(Stop(problem, source, 0))
            findings.add(diagnostic)
        else:
            following = declaration_at_or_after(text, 0)
    version = _version(children, source, findings)
    trees += [(child, 0) for child in children if isinstance(child, Tree)]
    while following is not None and len(findings.errors) < MOST:
        offset = following
        try:
            children, following = parser().parse(text[offset:], start="declarations").children, None
        except UnexpectedInput as problem:
            children = finished(problem)
            diagnostic, following = explain(Stop(problem, source, offset))
            findings.add(diagnostic)
            if following is not None and following <= offset:
                following = declaration_at_or_after(text, offset + 1)
        trees += [(child, offset) for child in children if isinstance(child, Tree)]
    return trees, version


def _version(children: list[Token | Tree[Token]], source: Source, findings: Findings) -> ast.Number:
    """The version a file says; E001 if it says none, or one this program does not know."""
    token = next((c for c in children if isinstance(c, Token) and c.type == "NUMBER"), None)
    if token is None:
        first = next((m for m in _WORD.finditer(_without_comments(source.text))), None)
        span = Span(source, *(first.span() if first else (0, 0)))
        fix = "add 'eqspec 1' as line 1"
        if source.name.lower().endswith((".csv", ".json", ".md", ".py", ".tsv", ".txt", ".vnnlib")):
            fix = f"name a spec; if this is one, {fix}"
        findings.add(error("E001", "this file must start with 'eqspec 1'", span, help=fix))
        return ast.Number(VERSION)
    version = Builder(source).number(token)
    if version.text != VERSION:
        message = f"this file is written in version {version.text} of the language; this program reads {VERSION}"
        findings.add(error("E001", message, version.span, help="install a newer eqspec, or write 'eqspec 1'"))
    return version


def _comments(source: Source) -> list[ast.Comment]:
    """All comments, by place."""
    return [
        ast.Comment(m[0], m[0].startswith("##"), span=Span(source, *m.span()))
        for m in _COMMENT.finditer(source.text)
        if m[0].startswith("#")
    ]


def _refuse_misleading(source: Source, findings: Findings) -> None:
    """E009 where a comment or a text goes on behind what looks like its end: a check there would be none, unseen."""
    if _MISLEADING.search(source.text) is None:
        return
    for part in _COMMENT.finditer(source.text):
        comment = part[0].startswith("#")
        for found in _MISLEADING.finditer(source.text, *part.span()):
            turns = "\u202a" <= found[0] <= "\u202e" or found[0] >= "\u2066"
            if turns and not comment:  # a text may name a file that is called so: it ends at its quote all the same
                continue
            code = f"U+{ord(found[0]):04X}"
            message = f"some programs show the end of a line at {code}, and this goes on behind it"
            if turns:
                message = f"{code} shows what follows in another order than it is read in"
            findings.add(error("E009", message, Span(source, *found.span()), help="take the character out"))
            break


def _without_comments(text: str) -> str:
    """The text with comments blanked out; places stay."""
    return _COMMENT.sub(lambda m: " " * len(m[0]) if m[0].startswith("#") else m[0], text)
