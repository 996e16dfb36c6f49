"""Which claims follow from the forms of both networks on a region, in rationals.

A claim holds if none of its obligations (`audit/claim.py`) can be met: of each, some condition is one that no value of
its form meets. A distance, or a sum of outputs, is a form as well, in which what both networks compute alike cancels.
Outputs of one form are one function, so that each network decides for the class that the other decides for, under any
guard. That no quantiser saturates is seen from the interval of each argument, since a rounding never decreases; and
nothing that the auditor reads wraps.

What does not follow on the whole region may follow on its parts: inputs that lie on a lattice are halved between two
points of it, in the end to single points, at which everything is a number. Constraints are left out: they would only
leave less of the region. Inputs that are any real numbers are halved on leaves of a proof alone, which bounds in floats
do not show because they round: both halves have the place itself, where a ReLU of one input bends if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil, floor
from pathlib import Path
from typing import Any

from ..claim import DIFFERENCE, FIRST, SECOND, Obligation, Region, Rows, claim
from ..functions.confidence import unreachable
from ..opening import refuse_if_late
from ..reading import File, network
from ..rounding import Array, Refused, rational
from .atoms import ZERO, Atoms, Form, Grid, combined
from .forms import Network

Parts = list[Grid]
"""What is known of each input on a part of the region."""
MOST_PARTS, MOST_PARTS_OF_A_LEAF = 4096, 64


def decide(asked: Mapping[str, Any], folder: Path, late: Callable[[], None]) -> list[File]:
    """The files of a question, whose claim holds on its region by grids. Refused where they do not show it."""
    task = dict(asked)
    files = [network(task, role, folder) for role in ("reference", "candidate")]
    if not on_all_parts(whole(Region(task, len(files[0].scale))), partial(_follows, task, files, None, late)):
        raise Refused("the grids and intervals of both networks do not show the claim")
    return files


def on_all_parts(
    of: Parts, shown: Callable[[Parts, Atoms], bool], most: int = MOST_PARTS, *, of_reals: bool = False
) -> bool:
    """Whether something is shown on a part, or on all of at most so many parts that make it up.

    Inputs that are any real numbers are halved only `of_reals`, by what was shown to bend.
    """
    todo, count = [of], 0
    while todo:
        part, count, atoms = todo.pop(), count + 1, Atoms()
        if shown(part, atoms):
            continue
        halves = _halves(part) or (_real_halves(part, atoms) if of_reals else None)
        if halves is None or count + len(todo) >= most:
            return False
        todo += halves
    return True


def on_part(file: File, part: Parts, atoms: Atoms, late: Callable[[], None]) -> Network:
    """A network on a part of the region."""
    inputs = [
        Form.number(grid.low) if grid.low == grid.high else atoms.of(("input", number), grid)
        for number, grid in enumerate(part)
    ]
    return Network(file.steps(), inputs, atoms, late)


def exactly(
    asked: tuple[dict[str, Any], Sequence[File], Region], low: Array, high: Array, some: Sequence[int], until: float
) -> bool:
    """Whether some obligations of a claim over the reals can be met nowhere in a box of floats in a region.

    `low` and `high` are those of the inputs, and of more, which is not looked at.
    """
    task, files, region = asked
    ends = (rational(end[: len(region.low)]) for end in (low, high))
    box = [Grid(max(a, c), min(b, d)) for a, b, c, d in zip(*ends, region.low, region.high, strict=True)]
    if any(grid.low > grid.high for grid in box):
        return True
    if task["arithmetic"] != "real":
        return False
    shown = partial(_follows, task, files, some, lambda: refuse_if_late(until))
    return on_all_parts(box, shown, MOST_PARTS_OF_A_LEAF, of_reals=True)


def whole(region: Region) -> Parts:
    """All of the region."""
    found = []
    for low, high, lattice in zip(region.low, region.high, region.lattices, strict=True):
        grid = Grid(low, high)
        if lattice is not None:
            origin, step = lattice
            ends = origin + step * ceil((low - origin) / step), origin + step * floor((high - origin) / step)
            grid = Grid(*ends, step, origin)
        if grid.low > grid.high:
            raise Refused("no point lies in the region, of which decisions by grids say nothing")
        found.append(grid)
    return found


def _halves(part: Parts) -> list[Parts] | None:
    """Two parts with all its points, one of them in each half of the lattice that has most; None where none has two."""
    steps = [(grid.high - grid.low) / grid.step if grid.step else ZERO for grid in part]
    widest = max(range(len(part)), key=lambda number: steps[number])
    grid, count = part[widest], steps[widest]
    if count < 1 or not grid.step:
        return None
    last = grid.low + floor(count / 2) * grid.step
    ends = replace(grid, high=last), replace(grid, low=last + grid.step)
    return [[*part[:widest], one, *part[widest + 1 :]] for one in ends]


def _real_halves(part: Parts, atoms: Atoms) -> list[Parts] | None:
    """Two parts that cover it, halved at the input on which those ReLU depend most that bend here."""
    free = [number for number, grid in enumerate(part) if grid.low < grid.high]
    if not free:
        return None
    wide, shares, bends = [part[number].high - part[number].low for number in free], [ZERO] * len(free), {}
    for form in atoms.inner.values():
        sizes = [abs(form.terms.get(atom, 0)) * width for atom, width in enumerate(wide)]  # inputs are the first atoms
        if total := sum(sizes, ZERO):
            shares = [share + size / total for share, size in zip(shares, sizes, strict=True)]
            if len(form.terms) == 1:
                bends.update({atom: Fraction(-form.constant, c) for atom, c in form.terms.items()})
    atom = max(range(len(free)), key=lambda one: (shares[one], wide[one]))
    number, grid = free[atom], part[free[atom]]
    place = bends.get(atom, (grid.low + grid.high) / 2)
    ends = Grid(grid.low, place), Grid(place, grid.high)
    return [[*part[:number], one, *part[number + 1 :]] for one in ends]


def _follows(
    task: dict[str, Any],
    files: Sequence[File],
    some: Sequence[int] | None,
    late: Callable[[], None],
    part: Parts,
    atoms: Atoms,
) -> bool:
    """Whether the claim follows on a part, or of some of its obligations that they can be met nowhere there."""
    said = task["property"]
    first, second = (on_part(file, part, atoms, late) for file in files)
    if said["kind"] == "never":
        return bool(said["overflow"] == "wraps" or not second.saturates)
    f, g = first.outputs, second.outputs
    if some is None and said["kind"] == "top1" and [form.key for form in f] == [form.key for form in g]:
        return True
    *rows, obligations = claim(task, len(f))
    asked = obligations if some is None else [obligations[o] for o in some]
    return all(_excluded(one, (rows[0], rows[1]), (f, g), atoms) for one in asked)


def _excluded(one: Obligation, rows: tuple[Rows, Rows], outputs: tuple[list[Form], list[Form]], atoms: Atoms) -> bool:
    """Whether an obligation can be met nowhere."""

    def known(kind: int, row: int) -> Grid:
        """What is known of x, y or d of a row."""
        factors, forms = list[Fraction](), list[Form]()
        for side, sign in {FIRST: [(0, 1)], SECOND: [(1, 1)], DIFFERENCE: [(0, 1), (1, -1)]}[kind]:
            factors += [sign * c for c in rows[side][row].values()]
            forms += [outputs[side][k] for k in rows[side][row]]
        return atoms.grid(combined(factors, forms))

    if one.norm:
        sizes = [max(grid.high, -grid.low, ZERO) for grid in (known(DIFFERENCE, row) for row in one.rows)]
        if one.norm == "l2":
            return sum((size * size for size in sizes), ZERO) <= one.limit**2
        return sum(sizes, ZERO) <= one.limit
    grids = [(known(kind, row), sign) for kind, row, sign, _ in one.conditions]
    most = [grid.high if sign > 0 else -grid.low for grid, sign in grids]
    limits = [least for *_, least in one.conditions]
    if most[0] < limits[0] or (most[0] == limits[0] and not one.at_limit):
        return True
    if any(high < least for high, least in zip(most[1:], limits[1:], strict=True)):
        return True
    return bool(one.exact) and unreachable(one.confidence, [known(FIRST, row).high for row in one.exact])
