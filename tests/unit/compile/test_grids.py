"""Grids in regions: what the text says, against every point of it, and what all that knows regions makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.compile import Compiled
from eqspec.compile.boxes import BoxBuilder, RegionBox
from eqspec.compile.implication import region_inside
from eqspec.compile.scalers import Scaler
from eqspec.errors import InputError
from eqspec.replay.replay import contains, raw_point
from eqspec.report.statement import statement
from eqspec.span import Source, Span
from eqspec.spec.findings import Fault
from eqspec.spec.region_terms import RawBound, Spacing, Terms
from eqspec.spec.spaces import SpaceFacts
from eqspec.tasks import serialisation
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.task import Task
from eqspec.vnnlib.exporting import export

Compile = Callable[..., Compiled]
F = Fraction
HEAD = (
    "space s { features a [ft], b normalise zscore mean [10, -1/3] std [3, 0.1] outputs y, z }\n"
    'network f = "2x2.onnx" in s network g = "2x2-b.onnx" in s\n'
)


NEVER = f"{HEAD} region r in s = box {{ all within 1 sigma }} check c {{ prove g never wraps on r }}"


def region(compiled: Compile, terms: str, head: str = HEAD) -> Task:
    (task,) = compiled(f"{head} region r in s = {terms} check c {{ prove g keeps top1 of f on r }}").tasks
    return task


def sides(task: Task) -> list[list[F]]:
    """The ends of the box in raw units."""
    return [list(raw_point(task, corner)) for corner in (task.lower_exact, task.upper_exact)]


def test_a_step_in_raw_units_counts_from_0_or_from_where_it_says(compiled: Compile) -> None:
    task = region(compiled, "box { all: -1 .. 1 } and grid { a step 0.3 [ft] b step 0.25 from 0.1 }")
    assert sides(task) == [[F(-9, 10), F(-9, 10)], [F(9, 10), F(85, 100)]]
    assert task.lattices == (Lattice(F(-10, 3), F(1, 10)), Lattice((F(1, 10) + F(1, 3)) * 10, F(5, 2)))


def test_a_step_in_sigma_counts_from_the_mean_or_from_where_it_says(compiled: Compile) -> None:
    terms = "grid { all step 2^-3 sigma b step 0.4 sigma from -1/3 + 0.05 }"
    task = region(compiled, f"box {{ all within 1 sigma }} and {terms}")
    assert task.lattices == (Lattice(F(0), F(1, 8)), Lattice(F(1, 2), F(2, 5)))
    assert (task.lower_exact, task.upper_exact) == ((F(-1), F(-7, 10)), (F(1), F(9, 10)))


def test_features_that_are_not_named_are_any_number(compiled: Compile) -> None:
    task = region(compiled, "box { all within 1 sigma } and grid { b step 1 sigma }")
    assert task.lattices == (None, Lattice(F(0), F(1)))
    assert contains(task, (F(1, 3), F(-1)))
    assert not contains(task, (F(-1), F(1, 3)))


def test_the_domain_rows_and_other_regions_meet_a_grid(compiled: Compile) -> None:
    head = HEAD.replace("outputs", "domain 0 .. 9.9 outputs") + "region t(d) in s = grid { all step d }\n"
    assert sides(region(compiled, "t(0.4)", head)) == [[0, 0], [F(96, 10), F(96, 10)]]
    twice = region(compiled, "t(0.4) and t(0.6)", head)
    assert sides(twice) == [[0, 0], [F(96, 10), F(96, 10)]]
    assert twice.lattices[0] == Lattice(F(-10, 3), F(12, 30))
    text = (
        f'{head} region r in s = t(1) and ball linf 0.5 around rows 0..1 of "r.csv" check c {{ prove g equals f on r }}'
    )
    first, second = compiled(text, r__csv="1,2\n3.4,4.6\n").tasks
    assert sides(first) == [[1, 2]] * 2
    assert sides(second) == [[3, 5]] * 2
    assert second.around is not None
    assert raw_point(second, second.around) == (F(34, 10), F(46, 10))


TWELFTH, CENTRE, SCALE = F(1, 12), F(5, 7), F(3, 11)
NOWHERE = Span(Source("<here>", ""), 0, 0)


def built(bound: RawBound, spacing: Spacing) -> RegionBox:
    """The box of one input with this bound and this grid."""
    space = cast(SpaceFacts, SimpleNamespace(features=(("x", None),), domain=None))
    builder = BoxBuilder("r", NOWHERE, Terms([{0: bound}], [{0: spacing}]), space, Scaler((CENTRE,), (SCALE,)))
    (box,) = builder.build(None)
    return box


@given(st.integers(-8, 8), st.integers(0, 12), st.integers(1, 9), st.integers(-5, 5), st.booleans())
def test_bounds_are_rounded_inward_and_no_point_is_lost(
    low: int, width: int, step: int, origin: int, sigma: bool
) -> None:
    """Of the points of the grid those of the box stay, and the first and the last of them are its ends."""
    ends = low * TWELFTH, (low + width) * TWELFTH
    apart = step * TWELFTH * (SCALE if sigma else 1)
    raw = [x for k in range(-400, 401) if ends[0] <= (x := origin * TWELFTH + k * apart) <= ends[1]]
    asked = RawBound(*ends, NOWHERE), Spacing(step * TWELFTH, sigma, origin * TWELFTH, NOWHERE)
    if not raw:
        with pytest.raises(Fault, match="no grid point in the box"):
            built(*asked)
        return
    box = built(*asked)
    assert [CENTRE + SCALE * box.lower_exact[0], CENTRE + SCALE * box.upper_exact[0]] == [raw[0], raw[-1]]
    assert F(float(box.lower[0])) <= box.lower_exact[0]
    assert box.upper_exact[0] <= F(float(box.upper[0]))
    assert box.lattices[0] is not None
    assert all((x - CENTRE) / SCALE in box.lattices[0] for x in raw)


def test_a_task_with_a_grid_is_another_question_and_comes_back(compiled: Compile, tmp_path: Path) -> None:
    whole = region(compiled, "box { all within 1 sigma }")
    text = "box {{ all within 1 sigma }} and grid {{ all step {} sigma }}"
    fine, coarse = (region(compiled, text.format(step)) for step in (0.5, 1))
    digests = {serialisation.digest(task) for task in (whole, fine, coarse)}
    assert len(digests) == 3
    assert "grid" not in serialisation.to_json(whole)["region"]  # so that older digests stay
    data = json.loads(json.dumps(serialisation.to_json(fine)))
    assert data["region"]["grid"] == [{"origin": "0", "step": "1/2"}] * 2

    def read(path: str) -> object:
        return fine.reference if path == fine.reference.source else fine.candidate

    again = serialisation.from_json(data, tmp_path, read)  # type: ignore[arg-type]
    assert again.lattices == fine.lattices
    assert serialisation.digest(again) == serialisation.digest(fine)
    data["region"]["lo_exact"] = ["-3/4", "-1"]
    with pytest.raises(InputError, match="not a point of the grid"):
        serialisation.from_json(data, tmp_path, read)  # type: ignore[arg-type]
    data["region"]["grid"][0]["step"] = "0"
    with pytest.raises(InputError, match="above 0"):
        serialisation.from_json(data, tmp_path, read)  # type: ignore[arg-type]


def test_a_region_lies_inside_another_only_with_its_grid(compiled: Compile) -> None:
    whole = region(compiled, "box { all within 1 sigma }")
    fine = region(compiled, "box { all within 1 sigma } and grid { all step 1 sigma }")
    assert region_inside(fine, whole)
    assert not region_inside(whole, fine)
    assert region_inside(fine, fine)


def test_explain_tells_the_steps(compiled: Compile) -> None:
    task = region(compiled, "box { a: 1 .. 2  b = 1 } and grid { a step 0.25  b step 1 }")
    assert statement(task).region == ("a ∈ [1, 2] in steps of 0.25 ft", "b = 1", "5 points in all")
    some = region(compiled, "box { all: 0 .. 1 } and grid { a step 0.25 }")
    assert "points" not in " ".join(statement(some).region)
    many = region(compiled, "box { all: 0 .. 1 } and where { a + b <= 1 } and grid { all step 10^-200 }")
    assert statement(many).region[-1] == "at most about 10^400 points in all"


def test_other_verifiers_are_not_told_of_a_box(compiled: Compile, tmp_path: Path) -> None:
    task = region(compiled, "box { all within 1 sigma } and grid { all step 1 sigma }")
    with pytest.raises(InputError, match="cannot say a grid"):
        export([task], "vnnlib2", tmp_path)
    contained = replace(task, lattices=(), property=compiled_never(compiled).property)
    with pytest.raises(InputError, match="inputs and outputs alone"):
        export([contained], "vnnlib2", tmp_path)


def compiled_never(compiled: Compile) -> Task:
    (task,) = compiled(NEVER).tasks
    return task


def test_one_network_is_enough_for_a_claim_about_its_types(compiled: Compile) -> None:
    task = compiled_never(compiled)
    assert task.reference is task.candidate
    found = compiled(NEVER)
    assert [d.code for d in found.diagnostics] == ["W311"]


def test_numbers_of_any_size_take_no_time(compiled: Compile) -> None:
    grids = "grid { all step 10^-300 from 10^300 } and grid { all step 3^-600 }"
    task = region(compiled, f"box {{ a: 0 .. 1 b: 0 .. 1 }} and {grids}")
    assert task.lattices[0] == Lattice(F(-10, 3), F(1, 3))
