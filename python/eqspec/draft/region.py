"""Regions of a drafted spec, in raw units: around the mean, between bounds, what a table spans, around its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eqspec.draft import drafted_numbers
from eqspec.draft.data import Data
from eqspec.draft.named_pair import path_from
from eqspec.draft.space import NAME, columns_of
from eqspec.spec import ast

_LIVES_IN = ast.QualifiedName((NAME,))


def region(name: str, term: ast.Term, formal: str | None = None) -> ast.Region:
    """A region in the drafted space."""
    formals = () if formal is None else (ast.Name(formal),)
    return ast.Region(ast.Name(name), formals, _LIVES_IN, (term,))


def use(name: str, value: ast.Expression | None = None) -> ast.On:
    """on name(value)."""
    return ast.On(ast.Use(ast.QualifiedName((name,)), () if value is None else (value,)))


def variable(name: str) -> ast.Reference:
    """A value by name."""
    return ast.Reference(ast.QualifiedName((name,)))


def within_sigma(amount: ast.Expression) -> ast.Box:
    """All features within so many sigma of their mean."""
    return ast.Box((ast.Within(None, amount),))


def between(features: Sequence[str], lower: Sequence[ast.Expression], upper: Sequence[ast.Expression]) -> ast.Box:
    """Every feature between its bounds; a single pair of bounds holds for all."""
    if len(lower) == len(upper) == 1:
        return ast.Box((ast.Ranged(None, ast.Range(lower[0], upper[0])),))
    low = list(lower) * (len(features) if len(lower) == 1 else 1)
    high = list(upper) * (len(features) if len(upper) == 1 else 1)
    bounds = (
        ast.Fixed(ast.Name(name), ast.Range(a)) if a == b else ast.Ranged(ast.Name(name), ast.Range(a, b))
        for name, a, b in zip(features, low, high, strict=True)
    )
    return ast.Box(tuple(bounds))


def spanned(features: Sequence[str], data: Data) -> ast.Box:
    """The box from the smallest to the largest number of every column."""
    low, high = map(drafted_numbers.exactly, data.lowest), map(drafted_numbers.exactly, data.highest)
    return between(features, list(low), list(high))


def around_rows(radius: ast.Expression, data: Data, rows: Sequence[int], folder: Path) -> ast.Ball:
    """A ball around each of the rows."""
    listed = tuple(ast.Range(ast.Number(str(row))) for row in rows)
    path = ast.Text(path_from(folder, data.path))
    return ast.Ball(ast.Name("linf"), radius, False, ast.Rows(listed, path, columns_of(data)))
