"""A new kind of property is reported by mypy wherever it is missing: no `match` on properties has a catch-all.

Each `match` that names two or more kinds must name all of them. A last `case` that captures is allowed only if it is
handed to a function whose parameter is `Never`, so that mypy sees what is left.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from eqspec.property import Property

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "eqspec"
KINDS = {kind.__name__ for kind in get_args(Property)}


def kinds_in(pattern: ast.pattern) -> set[str]:
    """The kinds of property that a pattern names."""
    if isinstance(pattern, ast.MatchOr):
        return set().union(*map(kinds_in, pattern.patterns))
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return kinds_in(pattern.pattern)
    named = isinstance(pattern, ast.MatchClass) and isinstance(pattern.cls, ast.Name) and pattern.cls.id
    return {str(named)} & KINDS


def is_never(case: ast.match_case) -> bool:
    """Whether a catch-all only hands over what cannot be: `assert_never(x)`, or `_refuse(x)` of a `Never`."""
    (last,) = case.body
    call = last.value if isinstance(last, ast.Expr) else None
    return (
        isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("assert_never", "_refuse")
    )


def matches(path: Path) -> Iterator[tuple[int, set[str], bool]]:
    """Line, the kinds that are named, and whether anything else is accepted, of each `match` on properties.

    A file without the names of two kinds in it is not parsed: most are such, and all are read at every start.
    """
    text = path.read_text(encoding="utf-8")
    if sum(kind in text for kind in KINDS) < 2:
        return
    for found in ast.walk(ast.parse(text)):
        if not isinstance(found, ast.Match):
            continue
        named = set().union(*(kinds_in(case.pattern) for case in found.cases))
        rest = [c for c in found.cases if isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None]
        if len(named) > 1:
            yield found.lineno, named, any(not is_never(case) for case in rest)


FOUND = [(path, *match) for path in sorted(PACKAGE.rglob("*.py")) for match in matches(path)]


def test_there_are_such_matches() -> None:
    assert len(FOUND) >= 12


@pytest.mark.parametrize(
    ("path", "line", "named", "open_"), [pytest.param(*f, id=f"{f[0].relative_to(PACKAGE)}:{f[1]}") for f in FOUND]
)
def test_every_match_names_every_kind(path: Path, line: int, named: set[str], open_: bool) -> None:
    assert named == KINDS, f"{path}:{line} lacks {KINDS - named}"
    assert not open_, f"{path}:{line} accepts whatever comes"
