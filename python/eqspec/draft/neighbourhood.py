"""The region of a first spec: what lies within s of the usual inputs, with s left open.

Around the mean where there is one, around a few rows where inputs are many (an image is never near the mean image),
around the middle of each range for a minmax scaler, and around zero where nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from eqspec.draft import drafted_numbers, region
from eqspec.draft.data import Data
from eqspec.draft.space import MOST_LISTED, DraftedSpace
from eqspec.lazy_dataclass import dataclass
from eqspec.spec import ast

NAME = "near"
_SIZE = region.variable("s")
_ROWS_SHOWN = 3


@dataclass(frozen=True)
class Neighbourhood:
    """The region near(s), and what it is in words."""

    node: ast.Region
    words: str


def neighbourhood(
    space: DraftedSpace,
    data: Data | None,
    ranges: list[tuple[Fraction, Fraction]],
    folder: Path,
    telling: Sequence[int] = (),
) -> Neighbourhood:
    """The region that fits what is known. `ranges` are low and high of each feature of a minmax space, `telling` the
    places of rows of which the claim says something; none: of all.
    """
    if data is not None and len(space.features) > MOST_LISTED:
        which = f"a few rows of {Path(data.path).name}{', at which the claim says something' if telling else ''}"
        words = f"Every input near one of {which}; s = 1 is one standard deviation."
        return _made(_around_rows(space, data, folder, telling or range(len(data.rows))), words)
    if space.normaliser == "zscore":
        box = ast.Box((*_constants(space, data), *region.within_sigma(_SIZE).bounds))
        return _made(box, "Every input within s standard deviations of its mean.")
    if data is not None:
        words = f"Every input within s standard deviations of its mean in {Path(data.path).name}."
        return _made(_around(space, data.mean.tolist(), data.std.tolist()), words)
    if ranges:
        half = [float(high - low) / 2 for low, high in ranges]
        box = _around(space, [float(low + high) / 2 for low, high in ranges], half)
        return _made(box, "Every input around the middle of its range; s = 1 is the whole range.")
    cube = ast.Box((ast.Ranged(None, ast.Range(ast.Negation(_SIZE), _SIZE)),))
    return _made(cube, "Which inputs matter? Nothing is known of them, so this is a cube around zero: replace it.")


def _made(term: ast.Term, words: str) -> Neighbourhood:
    return Neighbourhood(region.region(NAME, term, "s"), words)


def _around_rows(space: DraftedSpace, data: Data, folder: Path, places: Sequence[int]) -> ast.Ball:
    chosen = np.linspace(0, len(places) - 1, min(_ROWS_SHOWN, len(places)))
    rows = [data.rows[places[int(i)]] for i in chosen]
    if space.normaliser == "zscore":
        return replace(region.around_rows(_SIZE, data, rows, folder), sigma=True)
    spread = float(np.mean(data.std))
    radius = ast.Product(_SIZE, (("*", drafted_numbers.measured(spread, spread / 10)),)) if spread > 0 else _SIZE
    return region.around_rows(radius, data, rows, folder)


def _constants(space: DraftedSpace, data: Data | None) -> tuple[ast.Fixed, ...]:
    """What never changes in the table stays fixed."""
    places = () if data is None else data.constant
    return tuple(_fixed(space.features[i], data.lowest[i]) for i in places if data is not None)


def _fixed(name: str, value: Fraction) -> ast.Fixed:
    return ast.Fixed(ast.Name(name), ast.Range(drafted_numbers.exactly(value)))


def _around(space: DraftedSpace, centre: list[float], spread: list[float]) -> ast.Box:
    """Every feature within s times its spread of its centre."""
    bounds: list[ast.Bound] = []
    for name, middle, step in zip(space.features, centre, spread, strict=True):
        if step == 0:
            bounds.append(_fixed(name, Fraction(middle)))
            continue
        around, reach = drafted_numbers.measured(middle, step / 1000), drafted_numbers.measured(step, step / 1000)
        scaled = ast.Product(_SIZE, (("*", reach),))
        ends = (ast.Sum(around, (("-", scaled),)), ast.Sum(around, (("+", scaled),)))
        bounds.append(ast.Ranged(ast.Name(name), ast.Range(*ends)))
    return ast.Box(tuple(bounds))
