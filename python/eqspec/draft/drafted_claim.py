"""Claims of a drafted spec: the candidate against the reference."""

from __future__ import annotations

from collections.abc import Sequence

from eqspec.draft.named_pair import Pair
from eqspec.spec import ast


def keeps_top1(pair: Pair, guard: str | None = None, threshold: ast.Expression | None = None) -> ast.KeepsTop1:
    """The candidate decides as the reference, where the guard ("confidence" or "margin") holds."""
    when = None if guard is None or threshold is None else ast.Guard(ast.Name(guard), ">=", threshold)
    return ast.KeepsTop1(_name(pair.candidate_name), _name(pair.reference_name), when)


def stays_within(
    pair: Pair, eps: ast.Expression, norm: str | None = None, comparing: Sequence[str] = ()
) -> ast.StaysWithin:
    """The outputs differ by at most eps."""
    compared = None if not comparing else ast.ListOf(tuple(map(_output, comparing)))
    chosen = None if norm is None else ast.Name(norm)
    return ast.StaysWithin(_name(pair.candidate_name), eps, _name(pair.reference_name), chosen, compared)


def _name(name: str) -> ast.QualifiedName:
    return ast.QualifiedName((name,))


def _output(name: str) -> ast.Expression:
    return ast.Number(name) if name.isdecimal() else ast.Reference(_name(name))
