"""Searches: what is searched, which way, and the task at every value."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from eqspec.compile import Compiled
from eqspec.errors import InputError, SpecError
from eqspec.property import Confidence, Epsilon, Margin, Top1

Compile = Callable[..., Compiled]
HEAD = (
    "space s { features a, b domain 0 .. 9 outputs y, z, w }\n"
    'network f = "2x3.onnx" in s network g = "2x3-b.onnx" in s\n'
    "region core(k) in s = box { all: 4 - k .. 4 + k }\n"
    "region cut(k) in s = core(1) and where { a + b <= k }\n"
)
MORE = HEAD + (
    "region moved(c) in s = ball linf 1 around point [4 + c, 4]\n"
    "region uneven(k) in s = box { a: 4 - k .. 4 + k, b: 3 + k .. 6 - k }\n"
    "region one(k) in s = core(1) and where { (k - 1/2)^2 * a <= 3 }\n"
    "region tilted(k) in s = core(1) and where { k*a + b <= 12 }\n"
    "region even(k) in s = core(1) and where { a + b == k }\n"
    "region steep(k) in s = core(1) and where { (k - 3/2) * a <= 3 }\n"
    "region both(k) in s = cut(k) and where { a + 2*b >= k }\n"
    'region picked(k) in s = ball linf 1 around rows k of "x.csv"\n'
    "region grown(k) in s = ball linf 1 + k around point [4 + k, 4]\n"
    "region bent(k) in s = core(1) and where { a/k <= 3, -a*k <= -3 }\n"
    "region sure(k) in s = core(k) and where { k >= 1/2 }\n"
    'region around(k) in s = ball linf k around rows 0 of "x.csv"\n'
    "region second(l) in s = core(l[1])\n"
)
PAIR = HEAD.replace("2x3", "2x2").replace("y, z, w", "y, z")


def finds(compiled: Compile, check: str, **files: Any) -> Any:
    return compiled(MORE + f"check c {{ {check} }}", **{"x__csv": "4,4\n5,5\n", **files}).finds


@pytest.mark.parametrize(
    "check",
    [
        "prove g stays within v of f on core(1) find smallest v in 0 .. 1",
        "prove g stays within 2 - v of f on core(1) find largest v in 0 .. 1",
        "prove g keeps top1 of f when confidence >= v on core(1) find smallest v in 0.6 .. 0.9",
        "prove g keeps top1 of f when margin >= v on core(1) find smallest v in 0 .. 9",
        "prove g satisfies g[y] - f[y] <= v on core(1) find smallest v in -1 .. 1",
        "prove g satisfies g[y] - f[y] >= v on core(1) find largest v in -1 .. 1",
        "prove g keeps top1 of f on core(v) find largest v in 0 .. 1",
        "prove g keeps top1 of f on core(v ^ 2) find largest v in 0 .. 1",
        "prove g keeps top1 of f on cut(v) find largest v in 7 .. 9",
        "prove g stays within v of f on core(2 - v) find smallest v in 0 .. 1",
        "prove g stays within (v + 1)^3/(v + 2) - 1/4 of f on core(1) find smallest v in 0 .. 1",
        "prove g stays within (v - 0.3)^2 of f on core(1) find smallest v in 0.3 .. 1",
        "prove g stays within (v - 1)^3 + 1 of f on core(1) find smallest v in 0 .. 2",
        "prove g keeps top1 of f on core((v + v^2)/(1 + v)) find largest v in 0 .. 1",
        "prove g keeps top1 of f on second(linspace(v, 1 + v, 3)) find largest v in 0 .. 1",
        "prove g keeps top1 of f on second([9, v, 1 - v]) find largest v in 0 .. 1",
        "prove g keeps top1 of f on grown(v) find largest v in 0 .. 1",
        "prove g keeps top1 of f on bent(v) find largest v in 1 .. 2",
        "prove g keeps top1 of f on sure(v) find largest v in 1 .. 2",
        "prove g keeps top1 of f on around(v) find largest v in 1 .. 2",
        "prove g satisfies v - v - g[y]/2 <= 2*v on core(1) find smallest v in 0.1 .. 1",
    ],
)
def test_searches_that_have_an_answer(compiled: Compile, check: str) -> None:
    (found,) = finds(compiled, check)
    assert (found.easy, found.hard) == (
        (found.high, found.low) if found.direction == "smallest" else (found.low, found.high)
    )
    turned = {"smallest": "largest", "largest": "smallest"}[found.direction]
    with pytest.raises(SpecError, match="trivially"):
        finds(compiled, check.replace(found.direction, turned))


@pytest.mark.parametrize(
    "check",
    [
        "prove g stays within v of f on core(v) find smallest v in 0 .. 1",
        "prove g stays within (v - 1)^2 + v/2 of f on core(1) find smallest v in 0 .. 2",
        "prove g keeps top1 of f on core(1 + v*(1 - v)) find largest v in 0 .. 1",
        "prove g satisfies v*g[y] <= 1 on core(1) find smallest v in 0.1 .. 1",
        "prove g stays within 1 + 0*v of f on core(1) find smallest v in 0 .. 1",
        # At 0, 1/4, 1/2, 3/4 and 1 these are as good as v; in between they are not.
        "prove g stays within v + 50*v*(v - 1/4)*(v - 1/2)*(v - 3/4)*(v - 1) of f on core(1) find smallest v in 0 .. 1",
        "prove g keeps top1 of f on core(v + 50*v*(v - 1/4)*(v - 1/2)*(v - 3/4)*(v - 1)) find largest v in 0 .. 1",
        "prove g stays within 1 + v + v^2 - 3*v of f on core(1) find smallest v in 0 .. 1.9",
        "prove g keeps top1 of f when margin >= (v - 0.3)^2 on core(1) find smallest v in 0 .. 0.7",
        "prove g stays within 1 + 1/(v - 0.33)^2 of f on core(1) find largest v in 0 .. 1",
        "prove g stays within 99 - 1/(v - 0.33) of f on core(1) find smallest v in 0.3 .. 0.4",
        "prove g stays within 2^v of f on core(1) find smallest v in 0 .. 4",
        "prove g keeps top1 of f on moved(v) find largest v in 0 .. 1",
        "prove g keeps top1 of f on uneven(v) find largest v in 0.1 .. 1",
        "prove g keeps top1 of f on one(v) find largest v in 0 .. 1",
        "prove g keeps top1 of f on tilted(v) find smallest v in 1 .. 2",
        "prove g keeps top1 of f on tilted(v) find largest v in 1 .. 2",
        "prove g keeps top1 of f on even(v) find largest v in 7 .. 8",
        "prove g keeps top1 of f on steep(v) find largest v in 1 .. 2",
        "prove g keeps top1 of f on both(v) find largest v in 7 .. 9",
        "prove g keeps top1 of f on picked(v) find largest v in 0 .. 1",
        "prove g stays within 1 + v of f comparing [v + 0] on core(1) find smallest v in 0 .. 1",
        "prove g satisfies v*g[y] - v*f[y] <= v on core(1) find smallest v in 0.1 .. 1",
        "prove g keeps top1 of f on second(logspace(1, 2 + v, 3)) find largest v in 0 .. 1",
        "prove g stays within 1 + v of f on core(v^41) find smallest v in 0 .. 1",
    ],
)
def test_searches_that_have_none(compiled: Compile, check: str) -> None:
    with pytest.raises(SpecError) as caught:
        finds(compiled, check)
    assert [d.code for d in caught.value.diagnostics] == ["E305"]


def test_the_task_at_a_value_is_the_task_of_a_sweep_over_it(compiled: Compile) -> None:
    (found,) = finds(compiled, "prove g stays within 2*v of f in l1 on core(2 - v) find smallest v in 0 .. 1 to 1e-3")
    swept = compiled(HEAD + "check c { prove g stays within 2*v of f in l1 on core(2 - v) for v in [1/3] }").tasks[0]
    task = found.task_at(Fraction(1, 3))
    assert found.width == Fraction(1, 1000)
    assert task.property == swept.property == Epsilon(Fraction(2, 3), "l1")
    assert (task.id, task.parameters) == (swept.id, swept.parameters)
    assert (task.lower_exact, task.upper_exact) == (swept.lower_exact, swept.upper_exact)
    assert task.reference is found.task_at(Fraction(1, 2)).reference


def test_values_outside_of_the_range_are_refused(compiled: Compile) -> None:
    (found,) = finds(compiled, "prove g stays within v of f on core(1) find smallest v in 0 .. 1")
    with pytest.raises(InputError, match="outside"):
        found.task_at(Fraction(2))


def test_a_search_may_start_where_a_guard_hardly_says_anything(compiled: Compile) -> None:
    check = "prove g keeps top1 of f when confidence >= v on core(1) find smallest v in {} .. 0.9"
    found = compiled(HEAD + f"check c {{ {check.format('1/2')} }}")
    assert found.diagnostics == ()
    assert found.finds[0].task_at(Fraction(1, 2)).property == Confidence(Fraction(1, 2))
    two_classes = PAIR + f"check c {{ {check.format('0.1')} }}"
    assert compiled(two_classes).finds[0].task_at(Fraction(1, 5)).property == Top1()


def test_sweeps_and_rows_make_one_search_each(compiled: Compile) -> None:
    check = (
        "prove g keeps top1 of f when margin >= m on near(v) for m in [1, 2] find largest v in 1 .. 2"
        " budget { timeout 5s } tags t"
    )
    text = HEAD + f'region near(r) in s = ball linf r around rows 0..1 of "x.csv" check c {{ {check} }}'
    found = compiled(text, x__csv="1,2\n3,4\n").finds
    assert [f.id for f in found] == ["c[m=1,row=0]", "c[m=1,row=1]", "c[m=2,row=0]", "c[m=2,row=1]"]
    task = found[3].task_at(Fraction(3, 2))
    assert task.id == "c[m=2,v=1.5,row=1]"
    assert task.property == Margin(Fraction(2))
    assert task.lower_exact == (Fraction(3, 2), Fraction(5, 2))
    assert (found[3].parameters, found[3].budget.timeout, found[3].tags) == ({"m": 2, "row": 1}, 5.0, ("t",))


@pytest.mark.parametrize("condition", ["v >= 1", "1 < v", "m + v <= 3", "2 * (v - 1) == 0"])
def test_what_is_expected_cannot_depend_on_what_is_searched(compiled: Compile, condition: str) -> None:
    """A condition that the answer does not meet would be left out, and any answer be as expected."""
    claim = "prove g satisfies g[y] <= v + m on core(1) for m in [1, 2] find smallest v in 0 .. 2"
    with pytest.raises(SpecError) as caught:
        finds(compiled, f"{claim} expect equivalent if {condition}")
    assert [d.code for d in caught.value.diagnostics] == ["E308"]


def test_expectations_of_a_search_are_those_of_its_sweeps(compiled: Compile) -> None:
    claim = "prove g satisfies g[y] <= v + m on core(1) for m in [1, 2] find smallest v in 0 .. 2"
    first, second = finds(compiled, f"{claim} expect different if m < 2")
    assert [found.task_at(Fraction(v)).expected for found in (first, second) for v in (0, 1)] == ["different"] * 2 + [
        None
    ] * 2
    assert [d.code for d in compiled(HEAD + f"check c {{ {claim} expect unknown if m < 1 }}").diagnostics] == ["W318"]


def test_a_region_of_another_file_and_values_with_names_are_followed(compiled: Compile) -> None:
    """What stands in an included file moves with the variable that is handed to it, whatever it is called there."""
    more = (
        "eqspec 1\nlet half = 1/2\nspace s { features a, b domain 0 .. 9 outputs y, z, w }\n"
        "region inner(v) in s = box { all: 4 - (v - half)^2 .. 5 }\nregion outer(l) in s = inner(l[1])\n"
        'network f = "2x3.onnx" in s network g = "2x3-b.onnx" in s\n'
    )
    check = 'include "more.eqspec" as m\nlet lower = {}\ncheck c {{ prove m.g keeps top1 of m.f'
    check += " on m.outer([9, lower + d]) find largest d in 0 .. 1/2 }}"
    assert len(compiled(check.format("m.half"), more__eqspec=more).finds) == 1
    with pytest.raises(SpecError, match=r"E305.*turns"):
        compiled(check.format("1/4"), more__eqspec=more)


@pytest.mark.parametrize(
    "expression",
    ["*".join(["v"] * 200), "(" * 15 + "v" + "^40)" * 15, "+".join(f"v^{i}/{7**i}" for i in range(40))],
    ids=["long", "deep", "fine"],
)
def test_what_takes_long_to_decide_is_refused_at_once(compiled: Compile, expression: str) -> None:
    with pytest.raises(SpecError) as caught:
        finds(compiled, f"prove g stays within 1 + v + 0*({expression}) of f on core(1) find smallest v in 0 .. 1")
    assert [d.code for d in caught.value.diagnostics] == ["E305"]
    assert "too long" in caught.value.diagnostics[0].message
