"""Which claims follow from the forms of both networks on a region, in rationals.

Outputs of one form are one function there, so each network decides for the class that the other decides for, under any
guard. A distance, or a sum of outputs, is a form as well, whose interval bounds it: what both networks compute alike
cancels. That no quantiser saturates is seen from the interval of each argument, since a rounding never decreases; and
nothing that the auditor reads wraps. The box and its lattices count; constraints would only leave less of the region.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

from ..claim import Region
from ..reading import File, network
from ..rounding import Refused
from .atoms import ONE, ZERO, Atoms, Form, Grid, combined
from .forms import Network


def decide(asked: Mapping[str, Any], folder: Path, late: Callable[[], None]) -> list[File]:
    """The files of a question, whose claim holds on its region by grids. Refused where they do not show it."""
    files = [network(dict(asked), role, folder) for role in ("reference", "candidate")]
    atoms = Atoms()
    inputs = _inputs(Region(dict(asked), len(files[0].scale)), atoms)
    first, second = (Network(file.steps(), inputs, atoms, late) for file in files)
    if not _holds(asked["property"], first, second, atoms):
        raise Refused("the grids and intervals of both networks do not show the claim")
    return files


def _inputs(region: Region, atoms: Atoms) -> list[Form]:
    """The inputs as forms: of what is one point, a constant."""
    found = []
    for number, (low, high, lattice) in enumerate(zip(region.low, region.high, region.lattices, strict=True)):
        ends, step, origin = (low, high), None, ZERO
        if lattice is not None:
            origin, step = lattice
            ends = origin + step * ceil((low - origin) / step), origin + step * floor((high - origin) / step)
        if ends[0] > ends[1]:
            raise Refused("no point lies in the region, of which decisions by grids say nothing")
        grid = Grid(*ends, step, origin)
        found.append(Form.number(ends[0]) if ends[0] == ends[1] else atoms.of(("input", number), grid))
    return found


def _holds(said: Mapping[str, Any], first: Network, second: Network, atoms: Atoms) -> bool:
    """Whether a claim follows."""
    f, g = first.outputs, second.outputs
    if said["kind"] == "never":
        return said["overflow"] == "wraps" or not second.saturates
    if said["kind"] == "top1":
        return [form.key for form in f] == [form.key for form in g]
    if said["kind"] == "linear":
        factors = [Fraction(c) for role in ("candidate", "reference") for c in said[role]]
        most, bound = atoms.grid(combined(factors, [*g, *f])).high, Fraction(said["bound"])
        return most < bound if said["strict"] else most <= bound
    if said["kind"] != "epsilon":
        raise Refused("a claim that decisions by grids know nothing of")
    eps, chosen = Fraction(said["eps"]), range(len(f)) if said["outputs"] is None else said["outputs"]
    apart = [atoms.grid(combined([ONE, -ONE], [f[k], g[k]])) for k in chosen]
    sizes = [max(grid.high, -grid.low) for grid in apart]
    if said["norm"] == "l2":
        return sum((size * size for size in sizes), ZERO) <= eps * eps
    return (sum(sizes, ZERO) if said["norm"] == "l1" else max(sizes)) <= eps
