"""Claims proved by exact grids and intervals alone: equal networks, outputs that stay close, types that are not left.

Both networks are analysed over the same atoms (`networks.grids`), so equal outputs have one form. Which claims two
equal networks keep is said for every kind: a distance of 0 is allowed by every eps, and each class for which one
decides the other decides for. A linear claim is about one form of both outputs; its interval is exact.
"""

from __future__ import annotations

from fractions import Fraction

from eqspec.networks.grids import Analysis, Atoms, Grid, Region
from eqspec.networks.grids.casts import leaving
from eqspec.networks.grids.comparison import combination, differences, equal
from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Top1, exact
from eqspec.tasks.task import Task


def region_of(task: Task) -> Region:
    """The box and the lattices of a task."""
    lattices = tuple(None if a is None else (a.origin, a.step) for a in task.lattices)
    return Region(task.lower_exact, task.upper_exact, lattices)


def proved(task: Task, reference: Analysis, candidate: Analysis) -> bool:
    """Whether the claim follows from the exact bounds of both networks on the whole box and its lattices."""
    f, g, atoms = reference.outputs, candidate.outputs, candidate.atoms
    match task.property:
        case Epsilon(eps, norm, outputs):
            apart = differences(f, g, atoms)
            chosen = apart if outputs is None else [apart[k] for k in outputs]
            return _within(chosen, norm, exact(eps))
        case Linear() as claim:
            rows = [(g, k, exact(c)) for k, c in enumerate(claim.candidate)]
            rows += [(f, k, exact(c)) for k, c in enumerate(claim.reference)]
            most, bound = combination(rows, atoms).high, exact(claim.bound)
            return most < bound if claim.strict else most <= bound
        case Top1() | Margin() | Confidence():
            return equal(f, g)
        case NeverWraps():
            return not leaving(task.candidate.steps, candidate, wraps=True)
        case NeverSaturates():
            return not leaving(task.candidate.steps, candidate, wraps=False)


def _within(apart: list[Grid], norm: str, eps: Fraction) -> bool:
    """Whether differences with these intervals have at most this norm."""
    sizes = [max(grid.high, -grid.low) for grid in apart]
    match norm:
        case "l1":
            return sum(sizes, Fraction(0)) <= eps
        case "l2":
            return sum((size * size for size in sizes), Fraction(0)) <= eps * eps
        case _:
            return max(sizes) <= eps


def shared_atoms(task: Task) -> Atoms:
    """The atoms of a task's region."""
    return Atoms(region_of(task))
