"""Sweeps as grids: a cell per task, rows and columns by the values of its check's parameters.

Columns are the parameter with the most values. Checks of one file that have one row each share a grid; and where many
files hold the same checks, files are the rows of one grid and checks its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from eqspec.lazy_dataclass import dataclass
from eqspec.report.numbers import exact_value, share
from eqspec.report.outcome import Outcome, headline, outcome, place, without_common_folder
from eqspec.report.table import bracket_in_words
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict

_MOST_COLUMNS = 24
"""With more values the cells of a row flow like words, without heads of columns."""
_MANY_GRIDS = 12

GLYPHS = {Verdict.EQUIVALENT: "=", Verdict.DIFFERENT: "≠", Verdict.UNKNOWN: "?"}


@dataclass(frozen=True)
class Cell:
    """One task: `kind` is its verdict or `vacuous`; `frame` is wrong, or partly where a bracket is not closed."""

    number: int
    kind: str
    glyph: str
    note: str
    frame: str
    said: str


@dataclass(frozen=True)
class Row:
    """What the cells share, and the cells by column; several in one place if results were joined."""

    head: str
    cells: tuple[tuple[Cell, ...], ...]
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grid:
    """`check` is empty if the rows are checks. `columns` are the heads; empty where the cells flow."""

    file: str
    check: str
    claims: tuple[str, ...]
    column: str
    columns: tuple[str, ...]
    flowing: bool
    rows: tuple[Row, ...]


def grids(results: Sequence[Result]) -> list[Grid]:
    """In the order of the results; cells know the position of their result."""
    groups: dict[tuple[str, str], list[tuple[int, Result]]] = {}
    for number, result in enumerate(results):
        groups.setdefault((_file(result), result.check), []).append((number, result))
    made: list[Grid] = []
    for (file, check), members in groups.items():
        grid = _of_check(file, check, members)
        if made and _alike(made[-1], grid):
            made[-1] = replace(made[-1], check="", rows=(*_named(made[-1]), *_named(grid)), claims=())
        else:
            made.append(grid)
    if len(groups) > _MANY_GRIDS and (crossed := _crossed(results)) is not None:
        return [crossed]
    return made


@dataclass(frozen=True)
class Mark:
    """An entry of the legend: a cell as it occurs, and what it says."""

    kind: str
    glyph: str
    frame: str
    words: str


_GLYPHS_IN_WORDS = {
    "equivalent": ("=", "equivalent: proved on the whole region"),
    "different": ("≠", "different: an input of the region breaks the claim"),
    "unknown": ("?", "unknown: neither was shown"),
    "vacuous": ("∅", "vacuous: nothing in the region meets the condition"),
}
_FRAMES_IN_WORDS = {"wrong": "not as expected, or failed", "partly": "a search whose bracket is not closed yet"}


def legend(shown: Sequence[Grid]) -> tuple[Mark, ...]:
    """Everything that occurs in the grids, and nothing else."""
    places = [cells for grid in shown for row in grid.rows for cells in row.cells]
    every = [cell for cells in places for cell in cells]
    kinds, frames = {cell.kind for cell in every}, {cell.frame for cell in every}
    made = [Mark(kind, glyph, "", words) for kind, (glyph, words) in _GLYPHS_IN_WORDS.items() if kind in kinds]
    made += [Mark("", "", frame, words) for frame, words in _FRAMES_IN_WORDS.items() if frame in frames]
    if any(cell.note.endswith("%") for cell in every):
        made.append(Mark("", "%", "", "the share of the region that is proved"))
    if signs := [sign for sign in "≤≥" if any(sign in cell.note for cell in every)]:
        made.append(Mark("", " ".join(signs), "", "of a search, the hardest value that is proved"))
    if any(len(cells) > 1 for cells in places):
        made.append(Mark("", "= =", "", "several results of one task, from files that were joined"))
    if any(grid.flowing and grid.column for grid in shown):
        made.append(Mark("", "→", "", "the order of the values of that variable"))
    return tuple(made)


def _file(result: Result) -> str:
    where = place(result)
    return where[0] if where else ""


def _of_check(file: str, check: str, members: Sequence[tuple[int, Result]]) -> Grid:
    values: dict[str, dict[Fraction, None]] = {}
    for _, result in members:
        for name, at in result.parameters.items():
            values.setdefault(name, {})[at] = None
    column = max(values, key=lambda name: (len(values[name]), list(values).index(name)), default="")
    across: list[Fraction | None] = [*sorted(values[column])] if column else [None]
    whole = all(column in result.parameters for _, result in members) if column else len(members) == 1
    flowing = not whole or len(across) > _MOST_COLUMNS
    rows: dict[str, list[tuple[Fraction | None, Cell]]] = {}
    for number, result in members:
        head = _listed(result, column)
        rows.setdefault(head, []).append((result.parameters.get(column), _cell(number, result, noted=not flowing)))
    made = []
    for head, cells in rows.items():
        places = [[c] for _, c in cells] if flowing else [[c for a, c in cells if a == x] for x in across]
        made.append(Row(head, tuple(map(tuple, places))))
    heads = () if flowing else tuple(exact_value(x) for x in across if x is not None)
    return Grid(file, check, _claims([_asked(result) for _, result in members]), column, heads, flowing, tuple(made))


def _alike(grid: Grid, other: Grid) -> bool:
    """Whether two grids can be rows of one."""
    single = all(len(_named(one)) == 1 or not one.check for one in (grid, other))
    same = (grid.file, grid.column, grid.columns) == (other.file, other.column, other.columns)
    return same and single and not grid.flowing and not other.flowing


def _named(grid: Grid) -> tuple[Row, ...]:
    """The rows under the name of their check, unless they have it already."""
    if not grid.check:
        return grid.rows
    return tuple(
        Row(f"{grid.check} {row.head}".rstrip(), row.cells, grid.claims if len(grid.rows) == 1 else ())
        for row in grid.rows
    )


def _crossed(results: Sequence[Result]) -> Grid | None:
    """Files against checks; None where that would be mostly empty or too wide."""
    checks = list(dict.fromkeys(result.check for result in results))
    rows: dict[str, dict[str, list[Cell]]] = {}
    files = {_file(result): None for result in results}
    shown = dict(zip(files, without_common_folder(list(files)), strict=True))
    for number, result in enumerate(results):
        head = ", ".join(part for part in (shown[_file(result)], _listed(result)) if part)
        rows.setdefault(head, {}).setdefault(result.check, []).append(_cell(number, result, noted=True))
    if len(files) < 2 or len(checks) > _MOST_COLUMNS or 2 * len(results) < len(rows) * len(checks):
        return None
    made = (Row(head, tuple(tuple(cells.get(check, ())) for check in checks)) for head, cells in rows.items())
    return Grid("", "", (), "check", tuple(checks), False, tuple(made))


def _cell(number: int, result: Result, *, noted: bool) -> Cell:
    note = ""
    if noted:
        note = share(result.certified_fraction) if result.verdict is Verdict.UNKNOWN else ""
        if result.find is not None and result.find.proved is not None:
            sign = "≥" if result.find.direction == "smallest" else "≤"
            note = f"{result.find.variable} {sign} {exact_value(result.find.proved)}"
    return Cell(
        number=number,
        kind="vacuous" if result.vacuous else result.verdict.value,
        glyph="∅" if result.vacuous else GLYPHS[result.verdict],
        note=note,
        frame=_frame(result),
        said=f"{result.id}: {headline(result)}",
    )


def _frame(result: Result) -> str:
    found = outcome(result)
    if found in (Outcome.FAILED, Outcome.BROKEN):
        return "wrong"
    return "partly" if found is Outcome.UNDECIDED and result.verdict is not Verdict.UNKNOWN else ""


def _listed(result: Result, without: str = "") -> str:
    return ", ".join(f"{name} = {exact_value(at)}" for name, at in result.parameters.items() if name != without)


def _asked(result: Result) -> str:
    """The claim; of a search its answer, because the claim is another one at every value."""
    if result.find is None:
        return result.claim
    return f"{result.find.direction} {result.find.variable}: {bracket_in_words(result.find)}"


def _claims(claims: Sequence[str]) -> tuple[str, ...]:
    """All there are, if they are few; else the first and the last, as one if a single word tells them apart."""
    different = tuple(dict.fromkeys(claim for claim in claims if claim))
    if len(different) > 1:
        words = [claim.split(" ") for claim in different]
        places = {i for other in words[1:] for i, (a, b) in enumerate(zip(words[0], other, strict=False)) if a != b}
        if len(places) == 1 and len(set(map(len, words))) == 1:
            (at,) = places
            values = ", ".join(w[at] for w in words) if len(words) <= 3 else f"{words[0][at]}, …, {words[-1][at]}"
            return (" ".join([*words[0][:at], values, *words[0][at + 1 :]]),)
    return different if len(different) <= 2 else (different[0], "…", different[-1])
