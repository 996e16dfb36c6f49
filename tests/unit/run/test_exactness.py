"""What is decided before any search, against every point of small regions in rationals: verdicts both ways."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, floor
from typing import Any

import numpy as np
import pytest

import eqspec
import quantised_programs as random_programs
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.network import AffineLayer, Network
from eqspec.networks.program import Function, Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.property import Confidence, Epsilon, Margin, NeverSaturates, NeverWraps, Property, Top1
from eqspec.replay.replay import Replay, contains
from eqspec.run.by_cells import by_cells
from eqspec.run.exactness import decide
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.task import LinearConstraint
from eqspec.tasks.verdict import Verdict
from levels import cases
from small_tasks import network, space, task


@pytest.mark.part(25)
@pytest.mark.parametrize("seed", range(77))
def test_regions_with_lattices_are_decided(seed: int) -> None:
    random = np.random.default_rng(seed)
    first = random_programs.program(random)
    second = random_programs.changed(random, first) if seed % 2 else random_programs.program(random)
    pair = cases.on(first, second, random_programs.region(random, widest=8), lowest_wins=bool(random.integers(2)))
    claim = cases.CLAIMS[seed % len(cases.CLAIMS)]
    given = pair.asked(claim)
    result = decide(given, Options(), Replay(given))
    assert result is not None
    assert result.verdict is (Verdict.DIFFERENT if pair.broken(claim) else Verdict.EQUIVALENT)
    if result.witness is not None:
        assert Replay(given).replay(result.witness.normalised) is not None


def test_values_that_are_kept_belong_to_their_region_and_both_networks() -> None:
    """One candidate beside two references on two regions, in turns; values are only kept for the last of these."""

    def rounding(zero: float) -> Network:
        curve = Quantiser(1.0, -8, 8, Rounding.FLOOR, zero, base=0.0).curve
        first = Step((Term(-1, Tile.dense(np.eye(1))),), np.zeros(1), None, Curves.all(curve))
        last = Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity")
        return Network((first, last), 1, "m", f"{zero}")

    candidate, shifted, same = rounding(0.0), rounding(0.5), rounding(0.0)
    for _ in range(2):
        for reference, high, verdict in (
            (same, 2, Verdict.EQUIVALENT),
            (shifted, 0, Verdict.EQUIVALENT),
            (shifted, 2, Verdict.DIFFERENT),
            (shifted, 0, Verdict.EQUIVALENT),
        ):
            given = task(reference, candidate, Epsilon(0), [0], [high], space=space(1, 1))
            result = decide(given, Options(), Replay(given))
            assert result is not None
            assert result.verdict is verdict


@pytest.mark.parametrize("seed", range(8))
def test_a_guard_that_no_point_of_a_grid_meets_makes_a_proof_vacuous(seed: int) -> None:
    """Guards at the largest lead of any point, and a hair above it."""
    random = np.random.default_rng(seed)
    first = random_programs.program(random)
    region = random_programs.region(random, widest=8)
    pair = cases.on(first, random_programs.written_otherwise(random, first), region, lowest_wins=bool(seed % 2))
    lead = max(abs(f[-1][1][0] - f[-1][1][1]) for f, _ in pair.values)
    confidence, hair = Fraction(1 / (1 + exp(-float(lead)))), Fraction(1, 10**12)
    for claim, vacuous in (
        (Margin(lead), False),
        (Margin(lead + hair), True),
        (Confidence(confidence - hair), False),
        (Confidence(min(confidence + hair, 1 - hair * hair)), True),
    ):
        result = Runner(Options(threads=1)).run(pair.asked(claim))
        assert (result.verdict, result.vacuous) == (Verdict.EQUIVALENT, vacuous), claim


@pytest.mark.parametrize(("margin", "vacuous"), [(2, False), (3, True)])
def test_what_grids_prove_is_vacuous_where_a_search_says_so(margin: int, *, vacuous: bool) -> None:
    """More cells than are run, so that forms over integers prove the claim."""
    wide = Quantiser(2.0**-18, -(1 << 19), 1 << 19, Rounding.HALF_UP)
    first = Step((Term(-1, Tile.dense(np.eye(2))),), np.zeros(2), None, Curves.all(wide.curve))
    last = Step((Term(0, Tile.dense(np.eye(2))),), np.zeros(2), None, "identity")
    f, g = (Network((first, last), 2, "m", name) for name in "fg")
    result = Runner(Options(threads=1)).run(task(f, g, Margin(margin), [-1, -1], [1, 1]))
    assert (result.verdict, result.vacuous, result.boxes) == (Verdict.EQUIVALENT, vacuous, 0)


@pytest.mark.parametrize(
    ("low", "grid", "rows", "bounds", "vacuous"),
    [
        (-1, None, [[1, 0]], [-2], True),
        (1, None, [[1, 0]], [0], True),
        (1, None, [[1, 0]], [1], False),
        (-1, 1, [[1, 0]], [-2], True),
        (-1, 1, [[1, 1], [-1, -1]], ["1/2", "-1/2"], True),  # x + y == 1/2, which no whole numbers meet
        (-1, "1/2", [[1, 1], [-1, -1]], ["1/2", "-1/2"], False),
        (-1, "1/1000", [[1, 1], [-1, -1]], ["1/3", "-1/3"], True),
        (-1, 1, [[3, 3], [-3, -2]], [2, -2], True),  # between two lines there is no whole point
        (-1, [1, None], [[1, 1], [-1, -1]], ["1/2", "-1/2"], False),
    ],
)
@pytest.mark.parametrize("claim", [Epsilon(0), Epsilon(1), Top1(), Margin(0)])
def test_what_holds_on_the_box_is_vacuous_where_constraints_leave_nothing(
    claim: Property, low: int, grid: Any, rows: list[list[int]], bounds: list[Any], *, vacuous: bool
) -> None:
    f, g = identical_pair()
    result = eqspec.verify(f, g, [low] * 2, [1] * 2, claim, constraints=(rows, bounds), grid=grid, timeout=20)
    assert (result.verdict, result.vacuous) == (Verdict.EQUIVALENT, vacuous)


def test_a_guard_that_is_met_outside_of_the_constraints_alone_says_nothing() -> None:
    """The scores are x and y, of whole numbers from -3 to 3."""
    f, g = identical_pair()
    for least, vacuous in ((1, False), (2, False), (3, True), (6, True)):
        ends, apart = ([-3, -3], [3, 3]), ([[1, -1], [-1, 1]], [2, 2])
        result = eqspec.verify(f, g, *ends, Margin(least), constraints=apart, grid=1, timeout=20)
        assert (result.verdict, result.vacuous) == (Verdict.EQUIVALENT, vacuous), least


@pytest.mark.parametrize("seed", range(24))
def test_a_guard_is_not_met_only_where_no_point_of_a_cell_meets_it(seed: int) -> None:
    """Several points of a grid lie in one cell, and constraints cut through cells: all of them are looked at."""
    random = np.random.default_rng(seed)
    rounds = Quantiser(1.0, -8, 8, Rounding.FLOOR)
    weights = random.integers(-2, 3, (2, 2)) * [1, random.integers(2)]  # the second input may not be read
    first = Step((Term(-1, Tile.dense(np.eye(2))),), np.zeros(2), None, Curves.all(rounds.curve))
    last = Step((Term(0, Tile.dense(weights.astype(float))),), np.zeros(2), None, "identity")
    f, g = (Network((first, last), 2, "m", name) for name in "fg")
    row, bound = [int(n) for n in random.integers(-3, 4, 2)], Fraction(int(random.integers(-8, 3)), 2)
    points = [(Fraction(a, 4), Fraction(b, 4)) for a in range(-8, 9) for b in range(-8, 9)]
    leads = [
        abs(sum(int(w[0] - w[1]) * floor(x) for w, x in zip(weights.T, point, strict=True)))
        for point in points
        if row[0] * point[0] + row[1] * point[1] <= bound
    ]
    least = max(leads, default=0) + int(random.integers(2))
    ends, cut = ([-2, -2], [2, 2]), ([row], [float(bound)])
    result = eqspec.verify(f, g, *ends, Margin(least), constraints=cut, grid=Fraction(1, 4), timeout=20)
    assert result.verdict is Verdict.EQUIVALENT
    assert not result.vacuous or not any(lead >= least for lead in leads)


def identical_pair() -> list[Network]:
    return [Network.of_layers([AffineLayer(np.eye(2), np.zeros(2))], "m", name) for name in "fg"]


def test_a_single_point_is_a_cell_of_any_network() -> None:
    """Three scores that are equal: no class has more than a third."""
    third, hair = Fraction(1, 3), Fraction(1, 10**10)
    for claim, vacuous in ((Confidence(third), False), (Confidence(third + hair), True)):
        given = task(network((np.zeros((3, 2)), np.zeros(3))), identical(), claim, [1, 1], [1, 1], space=space(2, 3))
        result = decide(given, Options(), Replay(given))
        assert result is not None
        assert (result.verdict, result.vacuous) == (Verdict.EQUIVALENT, vacuous)
    nowhere = replace(given, reference=logarithm(), candidate=logarithm(), space=space(1, 1), property=Epsilon(1))
    for place, known in ((0, False), (1, True)):
        point = replace(nowhere, lower_exact=(Fraction(place),), upper_exact=(Fraction(place),))
        assert (decide(point, Options(), Replay(point)) is not None) is known


def identical() -> Network:
    return network((np.zeros((3, 2)), np.ones(3)))


def logarithm() -> Network:
    """log x, which has no value at 0."""
    first = Step((Term(-1, Tile.dense(np.eye(1))),), np.zeros(1), None, Curves.all(Curve("log")))
    last = Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity")
    return Network((first, last), 1, "m", "log")


def with_steps(random: np.random.Generator, rest: tuple[Step, ...], first: Step) -> tuple[Step, ...]:
    moved = (replace(s, terms=tuple(Term(t.source + 1, t.tile) for t in s.terms)) for s in rest)
    return (first, *moved)


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", range(33))
def test_networks_that_begin_with_steps_are_decided(seed: int) -> None:
    """Real inputs: both networks are run at every threshold, between them and beside them."""
    random = np.random.default_rng(seed)
    steps = []
    for _ in range(2):
        curves = Curves.of_rows([random_programs.quantiser(random).curve for _ in range(2)])
        tile = Tile(np.array([[[0]], [[1]]], np.int32), random.choice([1.0, -1.0, 0.5], size=(2, 1, 1)))
        steps.append(Step((Term(-1, tile),), random.choice([0.0, 0.25], size=2), None, curves))
    programs = [with_steps(random, random_programs.program(random, steps=3), first) for first in steps]
    f, g = (Network(made, 2, "memory", str(k)) for k, made in enumerate(programs))
    region = random_programs.region(random, lattices=False)
    given = task(f, g, cases.CLAIMS[seed % len(cases.CLAIMS)], region.lower, region.upper)
    result = decide(given, Options(), Replay(given))
    assert result is not None
    tiny = Fraction(1, 1 << 30)
    fine = Lattice(Fraction(0), Fraction(1, 8))
    tenth = Fraction(random_programs.TENTH)
    axes = []
    for low, high in zip(region.lower, region.upper, strict=True):
        near = [fine.at_least(low) + k * fine.step for k in range(fine.points(low, high))]
        near += [k * tenth / 2 for k in range(-80, 80)]
        axes.append(sorted({x for y in near for x in (y - tiny, y, y + tiny) if low <= x <= high}))
    chosen = [tuple(axis[int(random.integers(len(axis)))] for axis in axes) for _ in range(100)]
    truth = any(cases.breaks(given, point) for point in chosen)
    assert not (truth and result.verdict is Verdict.EQUIVALENT)
    if result.verdict is Verdict.DIFFERENT:
        assert result.witness is not None
        assert Replay(given).replay(result.witness.normalised) is not None


def nothing() -> None:
    """A user who never stops."""


def stepped(rounding: Rounding, low: int = -2) -> Network:
    q = Quantiser(1.0, low, 2, rounding)
    first = Step((Term(-1, Tile.dense(np.eye(1))),), np.zeros(1), None, Curves.all(q.curve))
    last = Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity")
    return Network((first, last), 1, "m", str(rounding))


def test_a_tie_alone_is_a_cell() -> None:
    up, down = stepped(Rounding.HALF_UP), stepped(Rounding.HALF_DOWN)
    around = task(up, down, Epsilon(0), [Fraction(1, 4)], [Fraction(3, 4)], space=space(1, 1))
    result = decide(around, Options(), Replay(around))
    assert result is not None
    assert result.witness is not None
    assert result.witness.normalised == (Fraction(1, 2),)
    beside = task(up, down, Epsilon(0), [Fraction(1, 2) + Fraction(1, 10**9)], [Fraction(5, 4)], space=space(1, 1))
    assert (found := decide(beside, Options(), Replay(beside))) is not None
    assert found.verdict is Verdict.EQUIVALENT


def test_what_breaks_the_claim_outside_of_a_constraint_proves_nothing() -> None:
    up, down = stepped(Rounding.HALF_UP), stepped(Rounding.HALF_DOWN)
    below = LinearConstraint((Fraction(1),), Fraction(1, 2), strict=True)
    given = task(up, down, Epsilon(0), [Fraction(1, 4)], [Fraction(3, 4)], space=space(1, 1), constraints=(below,))
    assert decide(given, Options(), Replay(given)) is None


@pytest.mark.parametrize("wraps", [False, True])
def test_a_cell_whose_own_point_misses_a_constraint_may_leave_the_type(wraps: bool) -> None:
    """Both inputs are rounded. x = 7.6, y = 0 is cut off at 7; x = 8.75, which stands for all from 7.5 on, is out."""
    steps = rounded_inputs(Quantiser(1.0, -8, 7, wraps=wraps))
    one = Network(steps, 2, "m", "0")
    claim = NeverWraps() if wraps else NeverSaturates()
    within = (LinearConstraint((Fraction(1), Fraction(1)), Fraction(41, 5)),)
    given = task(one, one, claim, [0, 0], [10, 1], constraints=within)
    assert Replay(given).replay((Fraction(38, 5), Fraction(0))) is not None
    result = decide(given, Options(), Replay(given))
    assert result is not None
    assert result.verdict is Verdict.DIFFERENT


@pytest.mark.part(20)
@pytest.mark.parametrize("seed", range(60))
def test_what_stays_in_its_type_under_constraints_does_so_at_every_point(seed: int) -> None:
    random = np.random.default_rng(seed)
    wraps, size = bool(seed % 2), int(random.integers(2, 5))
    last = Quantiser(float(random.choice([1.0, 2.0])), -size, size, Rounding.FLOOR, wraps=wraps).curve
    first = rounded_inputs(Quantiser(float(random.choice([0.5, 1.0])), -size, size, wraps=wraps))[:1]
    weight = random.choice([-1.0, 0.5, 1.0, 2.0], size=(2, 2))
    second = Step((Term(0, Tile.dense(weight)),), np.zeros(2), None, Curves.all(last))
    steps = (*first, second, Step((Term(1, Tile.dense(np.eye(2))),), np.zeros(2), None, "identity"))
    one = Network(steps, 2, "m", "0")
    low, high = random.integers(-4, 0, 2).tolist(), random.integers(1, 5, 2).tolist()
    row = tuple(Fraction(int(c)) for c in random.choice([-2, -1, 1, 2], size=2))
    bound = Fraction(int(random.integers(-2, 12)), 3)
    lattices = (Lattice(Fraction(0), Fraction(1, 5)), None) if seed % 3 == 0 else ()
    given = task(
        one,
        one,
        NeverWraps() if wraps else NeverSaturates(),
        low,
        high,
        constraints=(LinearConstraint(row, bound),),
        lattices=lattices,
    )
    result = decide(given, Options(), Replay(given))
    axes = [[Fraction(k, 10) for k in range(10 * a, 10 * b + 1)] for a, b in zip(low, high, strict=True)]
    points = [point for point in product(*axes) if contains(given, point)]
    left = any(
        random_programs.leaves(step.function, k, x, wraps=wraps)
        for point in points
        for step, (sums, _) in zip(steps, random_programs.values(steps, point), strict=True)
        for k, x in enumerate(sums)
    )
    if left:
        assert result is None or result.verdict is Verdict.DIFFERENT
    if result is not None and result.witness is not None:
        assert contains(given, result.witness.normalised)


def rounded_inputs(quantiser: Quantiser) -> tuple[Step, Step]:
    """Two inputs, each of them quantised."""
    both = Tile.dense(np.eye(2))
    first = Step((Term(-1, both),), np.zeros(2), None, Curves.all(quantiser.curve))
    return first, Step((Term(0, both),), np.zeros(2), None, "identity")


def test_more_cells_than_are_run() -> None:
    up, down = stepped(Rounding.HALF_UP), stepped(Rounding.HALF_DOWN)
    given = task(up, down, Epsilon(1), [-2], [2], space=space(1, 1))
    # Four ties of each rounding cut the interval into five parts and four points.
    assert by_cells(given, Replay(given), nothing, most=8) == by_cells(given, Replay(given), nothing, most=1)
    assert by_cells(given, Replay(given), nothing, most=8).cells == 9
    assert by_cells(given, Replay(given), nothing, most=9).proved


def test_a_user_who_stops() -> None:
    given = task(stepped(Rounding.HALF_UP), stepped(Rounding.FLOOR), Epsilon(2), [-2], [2], space=space(1, 1))
    with pytest.raises(KeyboardInterrupt):
        decide(given, Options(), Replay(given), lambda: True)
    assert decide(given, Options(timeout=0.0), Replay(given)) is None


def test_float_networks_are_left_to_the_search() -> None:
    plain = Network((Step((Term(-1, Tile.dense(np.eye(2))),), np.zeros(2), None, "identity"),), 2, "m", "0")
    given = task(plain, plain, Top1())
    assert decide(given, Options(), Replay(given)) is None


def chain(function: Function, last: float = 1.0) -> Network:
    """Three steps of two rows."""
    first = Step((Term(-1, Tile.dense(np.array([[1.0, 0.5], [-0.5, 1.0]]))),), np.zeros(2), None, function)
    second = Step((Term(0, Tile.dense(np.array([[1.0, -0.5], [0.25, 1.0]]))),), np.zeros(2), None, function)
    outputs = Step((Term(1, Tile.dense(np.array([[last, 0.0], [0.0, 1.0]]))),), np.zeros(2), None, "identity")
    return Network((first, second, outputs), 2, "m", f"{function} {last}")


def test_networks_without_a_common_row_are_left_to_the_search_at_once() -> None:
    levels = Curves.all(Quantiser(0.25, 0, 15).curve)
    floats, rounds, other = chain("relu"), chain(levels), chain(levels, 0.9375)
    steps = {}
    for name, pair in {"apart": (floats, rounds), "alike": (rounds, other)}.items():
        asked: list[bool] = []
        given = task(*pair, Epsilon(Fraction(1, 4)), [-1, -1], [1, 1], space=space(2, 2))
        result = decide(given, Options(), Replay(given), lambda asked=asked: bool(asked.append(True)))  # type: ignore[misc]
        steps[name] = len(asked)
        assert (result is None) == (name == "apart")
    assert steps["apart"] < steps["alike"]


def test_what_is_cut_off_to_a_level_saturates_beside_what_has_it() -> None:
    """One value, and one cell for every other claim; only a part of it saturates."""
    network = stepped(Rounding.HALF_EVEN)
    for high, expected in ((Fraction(5, 2), Verdict.EQUIVALENT), (Fraction(11, 4), Verdict.DIFFERENT)):
        given = task(network, network, NeverSaturates(), [0], [high], space=space(1, 1))
        result = decide(given, Options(), Replay(given))
        assert result is not None
        assert result.verdict is expected
