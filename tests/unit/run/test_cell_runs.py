"""Networks that the core runs in all cells of a region, against rationals at every point; and runs of all cells."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quantised_programs as random_programs
from eqspec.cache.store import Store
from eqspec.networks.cells import CertainProgram, Values, everywhere
from eqspec.networks.cells.certain_values import Watch
from eqspec.networks.curves import Curve, Curves, leaky, pieces
from eqspec.networks.grids import Region
from eqspec.networks.network import Network
from eqspec.networks.program import Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.property import Epsilon, Guarded, Margin, NeverSaturates, NeverWraps, Property, Top1
from eqspec.replay.holding import asks_nothing
from eqspec.replay.replay import Replay
from eqspec.run import exhaustion
from eqspec.run.by_cells import by_cells
from eqspec.run.cell_runs import CellRuns, runs_on
from eqspec.run.monitor import Monitor, Progress
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.result import Result
from eqspec.tasks.task import LinearConstraint, Task
from eqspec.tasks.verdict import Reason, Verdict
from levels import cases
from small_tasks import space, task

LINES = pieces((-1.0, 0.5, 2.0), (1.0, -0.5, 2.0, 1.0), 0.25)


def fixed_point(random: np.random.Generator) -> Curve:
    """A quantiser whose numbers are multiples of powers of two, lines with such slopes, or a smooth function."""
    kind = random.integers(8)
    if kind == 0:
        return leaky(float(random.choice([0.25, -0.5])))
    if kind == 1:
        return LINES
    if kind == 2:
        return Curve(str(random.choice(["floor", "sign", "sigmoid"])))
    low, high = int(random.integers(-6, 1)), int(random.integers(0, 7))
    scale, zero = float(random.choice([1.0, 0.5, 0.25, 2.0])), float(random.choice([0.0, 0.0, 1.0, 0.5]))
    return Quantiser(scale, low, high, Rounding(int(random.integers(9))), zero, bool(random.integers(2))).curve


def in_fixed_point(random: np.random.Generator) -> tuple[Step, ...]:
    """Three steps of up to four rows; nothing is rounded but by functions, the smooth ones before the last sums."""
    steps, columns = [], 2
    for number in range(3):
        rows = int(random.integers(1, 5))
        weight = random.choice([-2.0, -1.0, -0.25, 0.0, 0.5, 1.0, 3.0], size=(rows, columns))
        of_rows = [fixed_point(random) for _ in range(rows)] if random.integers(2) else [fixed_point(random)] * rows
        bias = random.choice([0.0, 0.5, -0.25, 3.0], size=rows)
        steps.append(Step((Term(number - 1, Tile.dense(weight)),), bias, None, Curves.of_rows(of_rows)))
        columns = rows
    steps.append(Step((Term(2, Tile.dense(np.ones((2, columns)))),), np.zeros(2), None, "identity"))
    return tuple(steps)


def run_by_core(steps: tuple[Step, ...], region: Region, *, outside: bool = False) -> CellRuns | None:
    found = runs_on(region, [Network(steps, 2, "m", str(id(steps)))], 1 << 20, outside=outside)
    assert isinstance(found, CellRuns)
    return found if found.quick else None


@pytest.mark.part(30)
@pytest.mark.parametrize("seed", range(120))
def test_the_core_gives_what_rationals_give_in_all_cells(seed: int) -> None:
    random = np.random.default_rng(seed)
    steps = in_fixed_point(random) if seed % 2 else random_programs.program(random, steps=4)
    region = random_programs.region(random, widest=12)
    cells = run_by_core(steps, region)
    if cells is None:
        pytest.skip("a function without a rule")
    (run,), count = cells.runs, cells.cells.count
    watches = [Watch(wraps, np.zeros(count, bool)) for wraps in (False, True)]
    for watch in watches:
        values, unsure = run(range(count), watch)
    three, also = run(range(1, count), threads=3)
    assert np.array_equal(three.value, values.value[:, 1:])
    assert np.array_equal(also, unsure[1:])
    points = [cells.cells.point(chosen) for chosen in cells.cells.choices(range(count)).T.tolist()]
    low, high = values.ends()
    for place, rows in enumerate(random_programs.values_at(steps, points)):
        if unsure[place]:
            continue
        for row, exact in enumerate(rows[-1][1]):
            assert Fraction(low[row, place]) <= exact <= Fraction(high[row, place])
        for watch in watches:
            left = any(
                random_programs.leaves(step.function, k, x, wraps=watch.wraps)
                for step, (sums, _) in zip(steps, rows, strict=True)
                for k, x in enumerate(sums)
            )
            assert watch.outside[place] or not left
    dyadic = all(step.denominator < 10 for _, step in filter(None, region.lattices))
    smooth = any("sigmoid" in str(step.function) for step in steps)
    if seed % 2 and dyadic and not smooth:  # nothing is rounded, so ties are no doubt
        assert values.radius is None
        assert not unsure.any()


def test_how_often_the_core_can_run_these() -> None:
    """The test before says something: most programs are run by the core, and many of them exactly."""
    exact = []
    for seed in range(1, 120, 2):
        random = np.random.default_rng(seed)
        cells = run_by_core(in_fixed_point(random), random_programs.region(random, widest=12))
        if cells is not None:
            exact.append(cells.runs[0](range(1))[0].radius is None)
    assert len(exact) >= 25
    assert sum(exact) >= 20


def beside_ties(random: np.random.Generator) -> tuple[Step, ...]:
    """Three steps whose sums are often exactly ties, which floats miss: all numbers are halves of a scale of 49 bits.

    Products of its multiples with integers are rounded, and so are its multiples that levels stand for.
    """
    scale = float(int(random.integers(1 << 47, 1 << 49)) | 1) * 2.0**-49
    size, steps = 3, []
    for number in range(2):
        unit = scale if number == 0 else 1.0
        weight = random.integers(-7, 8, size=(size, size)).astype(np.float64) * 0.5 * unit
        if random.integers(2):
            of_rows = [Quantiser(scale, -40, 40, Rounding(int(random.integers(9)))).curve for _ in range(size)]
        else:
            of_rows = [pieces((0.0,), (float(random.choice([0.5, -1.5])), 1.0), 0.0)] * size
        steps.append(Step((Term(number - 1, Tile.dense(weight)),), np.zeros(size), None, Curves.of_rows(of_rows)))
    last = Quantiser(scale, -40, 40, Rounding(int(random.integers(9))), unit=1.0)
    steps.append(Step((Term(1, Tile.dense(np.eye(size))),), np.zeros(size), None, Curves.all(last.curve)))
    return (*steps, Step((Term(2, Tile.dense(np.eye(size))),), np.zeros(size), None, "identity"))


@pytest.mark.parametrize("seed", range(12))
def test_ties_that_floats_miss_are_open(seed: int) -> None:
    random = np.random.default_rng(seed)
    steps, whole = beside_ties(random), (Fraction(0), Fraction(1))
    region = Region((Fraction(-4),) * 3, (Fraction(4),) * 3, (whole,) * 3)
    cells = runs_on(region, [Network(steps, 3, "m", f"ties {seed}")], 1 << 20)
    assert isinstance(cells, CellRuns)
    assert cells.quick
    values, unsure = cells.runs[0](range(cells.cells.count))
    assert unsure.any()
    chosen = cells.cells.choices(range(cells.cells.count)).T
    points = [cells.cells.point(one) for one in chosen[~unsure].tolist()]
    exact = [rows[-1][1] for rows in random_programs.values_at(steps, points)]
    assert values.value.T[~unsure].tolist() == exact


def step_of(function: Curve, weight: float = 1.0) -> tuple[Step, Step]:
    """A number times a weight and its function, and the output."""
    one = Step((Term(-1, Tile.dense(np.array([[weight]]))),), np.zeros(1), None, Curves.all(function))
    return one, Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity")


def slack_of(function: Curve, given: Values, weight: float = 1.0) -> float:
    found = everywhere(CertainProgram(step_of(function, weight)), given, {})
    assert found is not None
    assert found.slack[0] is not None
    return float(found.slack[0][0])


def test_how_far_arguments_may_be_off() -> None:
    four = Values(np.array([[4.0]]))
    assert slack_of(Quantiser(1.0, 0, 9).curve, four, 0.5) == 0.0
    assert 0.0 < slack_of(Quantiser(0.1, 0, 9).curve, Values(np.array([[4.0]]), None, -50)) < 1e-12
    assert slack_of(Quantiser(3.0, 0, 9).curve, four) == 0.0  # multiples of a sixth are told from ties
    assert 0.0 < slack_of(Quantiser(1.0, 0, 9).curve, four, 0.1) < 1e-12
    off = Values(np.array([[4.0]]), np.array([[0.25]]), 0)
    assert slack_of(Quantiser(0.5, 0, 9).curve, off) >= 0.5
    # A level and a half of 2^-e with 53 - e bits in front of the point are exact, with one bit more they are not.
    wide = Quantiser(1.0, -(2**49), 2**49).curve
    for fine, exact in ((-4, True), (-6, False)):
        assert (slack_of(wide, Values(np.array([[2.0**48 - 8]]), None, fine)) == 0.0) == exact
    halves = Quantiser(2.0**-1, -(2**49), 2**49).curve
    for fine, exact in ((-4, True), (-6, False)):
        assert (slack_of(halves, Values(np.array([[2.0**47 - 8]]), None, fine)) == 0.0) == exact


def radius_of(function: Curve, given: Values) -> float:
    found = everywhere(CertainProgram(step_of(function)), given, {})
    assert found is not None
    return 0.0 if found.radius is None else float(found.radius[0])


def test_how_far_values_may_be_off() -> None:
    four = Values(np.array([[4.0]]), None, -2)
    assert radius_of(Curve("tanh"), four) > 1e-18
    assert radius_of(leaky(0.25), four) == 0.0
    assert radius_of(leaky(0.1), Values(np.array([[4.0]]), None, -30)) > 0.0
    assert radius_of(pieces((0.5, 3.0), (0.0, 0.1, 0.0), 0.1), Values(np.array([[4.0]]), None, -30)) > 0.0
    off = Values(np.array([[4.0]]), np.array([[0.25]]), 0)
    assert radius_of(leaky(-3.0), off) >= 0.75
    assert radius_of(Quantiser(0.5, 0, 9).curve, four) == 0.0
    assert radius_of(Quantiser(0.1, 0, 9).curve, four) > 0.0


def test_numbers_beyond_exact_integers_have_no_rule() -> None:
    wide = Curves.all(Quantiser(2.0**-30, -(2**50), 2**50).curve)
    steps = (
        Step((Term(-1, Tile.dense(np.eye(1))),), np.zeros(1), None, wide),
        Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity"),
    )
    assert everywhere(CertainProgram(steps), Values(np.array([[2.0**21]])), {}) is None
    assert everywhere(CertainProgram(steps), Values(np.array([[2.0**10]])), {}) is not None
    smooth = (Step((Term(-1, Tile.dense(np.eye(1))),), np.zeros(1), None, Curves.all(Curve("tanh"))), steps[1])
    assert everywhere(CertainProgram(smooth), Values(np.array([[3.0]]), np.array([[1e-9]])), {}) is None
    assert everywhere(CertainProgram(smooth), Values(np.array([[3.0]]), None, -3), {}) is not None


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has cells is left to the stage that runs all of them."""
    monkeypatch.setattr(exhaustion, "MOST_CELLS", 0)
    monkeypatch.setattr("eqspec.run.runner.decide", lambda *_: None)


@pytest.mark.usefixtures("few")
@pytest.mark.part(20)
@pytest.mark.parametrize("seed", range(66))
def test_claims_are_decided_by_running_all_cells(seed: int) -> None:
    random = np.random.default_rng(seed)
    first = random_programs.program(random)
    second = random_programs.changed(random, first) if seed % 2 else random_programs.program(random)
    pair = cases.on(first, second, random_programs.region(random, widest=8), lowest_wins=bool(random.integers(2)))
    claim = cases.CLAIMS[seed % len(cases.CLAIMS)]
    result = Runner(Options(timeout=2.0)).run(pair.asked(claim))
    broken = pair.broken(claim)
    assert result.verdict is not (Verdict.EQUIVALENT if broken else Verdict.DIFFERENT)
    if result.verdict is Verdict.EQUIVALENT and isinstance(claim, Guarded):
        outputs = [[(x, x) for x in f[-1][1]] for f, _ in pair.values]
        met = any(not asks_nothing(claim, f, lowest_wins=pair.lowest_wins) for f in outputs)
        assert not (result.vacuous and met)
    if result.witness is not None:
        assert Replay(pair.asked(claim)).replay(result.witness.normalised) is not None


def adder(wraps: bool, high: int, unit: float = 1.0) -> Network:
    """x + y, as a type holds it, computed in some unit."""
    rounds = Curves.all(Quantiser(unit, -high, high, Rounding.FLOOR, wraps=wraps, unit=1.0).curve)
    steps = (
        Step((Term(-1, Tile.dense(np.full((1, 2), unit))),), np.zeros(1), None, rounds),
        Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity"),
    )
    return Network(steps, 2, "m", f"{wraps} {high} {unit}")


def on_grid(claim: Property, high: int, *, wraps: bool = True, points: int = 400) -> Task:
    """About twice as many integers for each input."""
    lattice = Lattice(Fraction(0), Fraction(1))
    return task(
        adder(wraps, high, 2.0),
        adder(wraps, high),
        claim,
        [-points] * 2,
        [points] * 2,
        lattices=(lattice,) * 2,
        space=space(2, 1),
    )


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("claim", "wraps", "high", "verdict"),
    [
        (NeverWraps(), True, 800, Verdict.EQUIVALENT),
        (NeverWraps(), True, 799, Verdict.DIFFERENT),
        (NeverSaturates(), False, 800, Verdict.EQUIVALENT),
        (NeverSaturates(), False, 799, Verdict.DIFFERENT),
        (Epsilon(0), True, 3, Verdict.EQUIVALENT),
    ],
)
def test_hundreds_of_thousands_of_cells(claim: Property, wraps: bool, high: int, verdict: Verdict) -> None:
    result = Runner(Options(timeout=60.0)).run(on_grid(claim, high, wraps=wraps))
    assert result.verdict is verdict
    if verdict is Verdict.EQUIVALENT:
        assert result.boxes == 801**2
        assert result.certified_fraction == 1.0
    else:
        assert result.witness is not None
        assert abs(sum(result.witness.normalised)) == 800


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("claim", [Margin("0.25"), Top1()])
def test_what_is_met_between_the_points_of_a_grid_alone_says_nothing(claim: Property) -> None:
    """x - y lies between -1/8 and 1/8 on the grid, and reaches 1 between its points."""
    rounds = Curves.all(Quantiser(0.125, -100, 100, Rounding.FLOOR).curve)
    steps = (
        Step((Term(-1, Tile.dense(np.array([[1.0, -1.0], [0.0, 0.0]]))),), np.zeros(2), None, rounds),
        Step((Term(0, Tile.dense(np.eye(2))),), np.zeros(2), None, "identity"),
    )
    one, other = (Network(steps, 2, "m", name) for name in "ab")
    lattice = Lattice(Fraction(0), Fraction(1, 8))
    near = (
        LinearConstraint((Fraction(1), Fraction(-1)), Fraction(1, 8)),
        LinearConstraint((Fraction(-1), Fraction(1)), Fraction(1, 8)),
    )
    given = task(one, other, claim, [0, 0], [8, 8], lattices=(lattice,) * 2, constraints=near, space=space(2, 2))
    result = Runner(Options(timeout=20.0)).run(given)
    assert result.verdict is Verdict.EQUIVALENT
    assert result.vacuous is isinstance(claim, Margin)


@pytest.mark.parametrize("claim", [Epsilon(0), NeverSaturates()])
def test_what_breaks_a_claim_beside_its_region_settles_nothing(claim: Property) -> None:
    """x - y is cut off at 1/8, as constraints do; beside them it is at most of 16 641 points."""

    def difference(high: int) -> Network:
        rounds = Curves.all(Quantiser(0.125, -high, high, Rounding.FLOOR).curve)
        steps = (
            Step((Term(-1, Tile.dense(np.array([[1.0, -1.0]]))),), np.zeros(1), None, rounds),
            Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity"),
        )
        return Network(steps, 2, "m", f"{high}")

    near = [LinearConstraint((Fraction(s), Fraction(-s)), Fraction(1, 8)) for s in (1, -1)]
    region = {"lattices": (Lattice(Fraction(0), Fraction(1, 8)),) * 2, "space": space(2, 1)}
    given = task(difference(200), difference(1), claim, [0, 0], [16, 16], constraints=tuple(near), **region)
    found = by_cells(given, Replay(given), lambda: None)
    assert (found.cells, found.proved) == (129**2, True)
    wider = replace(given, constraints=(replace(near[0], bound=Fraction(1, 4)), near[1]))
    assert by_cells(wider, Replay(wider), lambda: None).witness is not None


@pytest.mark.parametrize(("bound", "vacuous"), [(Fraction(3, 2), True), (Fraction(2), False)])
def test_points_of_one_cell_on_both_sides_of_a_constraint(bound: Fraction, vacuous: bool) -> None:
    """Scores are the integral part of x, and 1, on halves from 1 to 3; both networks are one, written in two ways."""

    def rounding(unit: float) -> Network:
        curves = Curves.all(Quantiser(unit, -8, 8, Rounding.FLOOR, unit=1.0).curve)
        first = Step((Term(-1, Tile.dense(np.array([[unit]]))),), np.zeros(1), None, curves)
        last = Step((Term(0, Tile.dense(np.array([[1.0], [0.0]]))),), np.array([0.0, 1.0]), None, "identity")
        return Network((first, last), 1, "m", f"{unit}")

    at_most = (LinearConstraint((Fraction(1),), bound),)
    region = {"lattices": (Lattice(Fraction(0), Fraction(1, 2)),), "space": space(1, 2), "constraints": at_most}
    result = Runner(Options(timeout=10.0)).run(task(rounding(1.0), rounding(2.0), Margin(1), [1], [3], **region))
    assert (result.verdict, result.vacuous) == (Verdict.EQUIVALENT, vacuous)


class Watching(Monitor):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.shares: list[float] = []

    def progress(self, task: Task, progress: Progress) -> None:
        self.shares.append(progress.certified)


@pytest.mark.usefixtures("few")
def test_progress_interruption_and_what_is_kept(tmp_path: Path) -> None:
    given = on_grid(NeverWraps(), 800)
    watching = Watching()
    runner = Runner(Options(timeout=60.0), ResultCache(Store(tmp_path)))
    assert runner.run(given, watching).verdict is Verdict.EQUIVALENT
    assert watching.shares[0] == 0.0
    assert sorted(watching.shares) == watching.shares
    again = Watching()
    assert runner.run(given, again).cached
    assert not again.shares
    assert runner.kept(given) is not None
    more = on_grid(NeverWraps(), 8000, points=4000)
    stops: Iterator[bool] = iter([False, False, False, True])
    stopped = Runner(Options(timeout=60.0)).run(more, stop=lambda: next(stops, True))
    assert (stopped.verdict, stopped.reason) == (Verdict.UNKNOWN, Reason.INTERRUPTED)
    assert stopped.certified_fraction is not None
    assert 0.0 < stopped.certified_fraction < 1.0


@pytest.mark.usefixtures("few")
def test_a_region_with_more_cells_than_there_is_time_for() -> None:
    given = on_grid(NeverWraps(), 1 << 23, points=1 << 16)
    result: Result = Runner(Options(timeout=2.0)).run(given)
    assert (result.verdict, result.reason) == (Verdict.UNKNOWN, Reason.UNDECIDED)
    assert result.seconds < 2.0


def test_the_core_refuses_what_does_not_fit() -> None:
    from eqspec.run import core

    sums: Any = ([(-1, None, np.ones((1, 1, 1)), None)], np.zeros(1), None, ([("tanh", [])], None))
    for rules, numbers, named in (
        ([[None]], [[1.0]], "tanh"),
        ([[("table", [0.0, 1.0])]], [[1.0]], "table"),
        ([[("lines", [1.0, 0.0, 2.0])]], [[1.0]], "lines"),
        ([[("table", [0.0, 1.0, np.nan])]], [[1.0]], "table"),
        ([], [[1.0]], "rules"),
        ([[("table", [0.0, 1.0, 5.0])]], [[]], "numbers"),
    ):
        with pytest.raises(ValueError, match=named):
            core.CellProgram([sums], rules, [np.zeros(1)], [None], numbers)
    made = core.CellProgram([sums], [[("table", [0.0, 1.0, 5.0, 7.0])]], [np.zeros(1)], [None], [[0.0, 1.0, 2.0, 0.5]])
    outputs, (unsure, *_) = made.run(0, 4)
    assert outputs[:2, 0].tolist() == [5.0, 7.0]
    assert unsure.tolist() == [False, False, True, True]
