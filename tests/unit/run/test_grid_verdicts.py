"""Verdicts on regions with grids, against every point of them, and claims about types from the task to the result."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import eqspec
from eqspec.audit.opening import question
from eqspec.certificates import Certifier
from eqspec.errors import InputError
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.network import Cast, Network
from eqspec.networks.program import INPUTS, Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.property import Epsilon, Linear, NeverSaturates, NeverWraps, Property, Top1
from eqspec.replay.replay import Replay, base_of, contains
from eqspec.replay.violation import violation
from eqspec.run import core
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks import serialisation
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.result import Result
from eqspec.tasks.task import LinearConstraint, Task
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import OutOfType, Witness
from small_tasks import identity, network, task

F = Fraction
BRIEF = Options(threads=1, timeout=10, boxes=300, weaken=False)
GRID = Lattice(F(0), F(1, 2))


def run(made: Task, options: Options = BRIEF) -> Result:
    return Runner(options).run(made)


def random_pair(rng: np.random.Generator) -> tuple[Network, Network]:
    """Two inputs, three ReLUs, two outputs, in quarters; the second differs a little."""

    def quarters(*shape: int) -> np.ndarray:
        return np.asarray(rng.integers(-6, 7, shape) / 4)

    layers = [(quarters(3, 2), quarters(3)), (quarters(2, 3), quarters(2))]
    other = [(w + rng.choice([-0.25, 0.0, 0.0, 0.25], w.shape), b) for w, b in layers]
    return network(*layers), network(*other)


def points(made: Task) -> list[tuple[F, ...]]:
    """All points of the region."""
    lines = []
    for lattice, low, high in zip(made.lattices, made.lower_exact, made.upper_exact, strict=True):
        assert lattice is not None
        lines.append([low + k * lattice.step for k in range(int((high - low) / lattice.step) + 1)])
    return [point for point in product(*lines) if contains(made, point)]


def breaks(made: Task, point: tuple[F, ...]) -> bool:
    outputs = [n.evaluate_exact(point) for n in (made.reference, made.candidate)]
    return violation(made.property, outputs[0], outputs[1]) is not None


@pytest.mark.parametrize("seed", range(30))
def test_a_verdict_is_about_the_points_of_the_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pair = random_pair(rng)
    claims: list[Property] = [Top1(), Epsilon("0.7"), Epsilon("1.1"), Linear((1, 0), (-1, 0), "0.6")]
    claim = claims[seed % 4]
    rows = (LinearConstraint((F(1), F(2)), F(5, 4)),) if seed % 3 == 0 else ()
    grids = (Lattice(F(1, 4), F(1, 2)), GRID)
    made = task(*pair, claim, [F(-3, 4), -1], [F(3, 4), 1], lattices=grids, constraints=rows)
    found, truth = run(made), [point for point in points(made) if breaks(made, point)]
    assert len(points(made)) >= 10
    if found.verdict is Verdict.DIFFERENT:
        assert found.witness is not None
        assert found.witness.normalised in truth
    elif found.verdict is Verdict.EQUIVALENT:
        assert not truth
    COUNTED.append((found.verdict, bool(truth)))


COUNTED: list[tuple[Verdict, bool]] = []


def test_both_verdicts_came_out() -> None:
    assert {Verdict.EQUIVALENT, Verdict.DIFFERENT} <= {verdict for verdict, _ in COUNTED}


def bump(height: float) -> Network:
    """Up to `height` at 1/4, which is beside the grid, and 0 from 0 down and from 1/2 up."""
    return network(
        ([[4.0], [4.0], [4.0]], [0.0, -1.0, -2.0]),
        ([[height, -2.0 * height, height]], [0.0]),
    )


def flat() -> Network:
    return network(([[0.0], [0.0], [0.0]], [0.0, 0.0, 0.0]), ([[0.0, 0.0, 0.0]], [0.0]))


def test_what_breaks_beside_the_grid_alone_is_no_difference() -> None:
    """Between the points the claim breaks, and no bound can leave that out: whatever it ends with, not `different`."""
    made = task(flat(), bump(1.0), Epsilon("0.5"), [-1], [1], lattices=(GRID,))
    assert not any(breaks(made, point) for point in points(made))
    assert run(task(flat(), bump(1.0), Epsilon("0.5"), [-1], [1])).verdict is Verdict.DIFFERENT
    found = run(made)
    assert found.verdict is not Verdict.DIFFERENT
    assert found.witness is None
    replay = Replay(made)
    assert replay.confirm(np.array([0.25])) is None
    assert replay.beside
    assert (replay.tried, replay.confirmed) == (1, 0)


@pytest.mark.parametrize("step", [F(1, 10**18), F(1, 10**19), F(1, 10**300)])
def test_a_grid_may_have_more_points_than_an_index(step: Fraction) -> None:
    made = task(flat(), bump(1.0), Epsilon("0.5"), [-1], [1], lattices=(Lattice(F(0), step),))
    assert run(made).verdict is Verdict.DIFFERENT


def test_a_candidate_beside_the_grid_ends_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused, and the answer is unknown with a reason that says so, or with the limit that was met."""
    made = task(flat(), bump(1.0), Epsilon("0.5"), [-1], [1], lattices=(GRID,))
    solve = core.solve

    def undecided(*given: object, confirm: object, **named: object) -> core.Solution:
        assert callable(confirm)
        assert confirm(np.array([0.25])) is None
        return solve(*given, confirm=lambda _: None, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(core, "solve", undecided)
    monkeypatch.setattr("eqspec.run.runner.decide", lambda *_: None)
    found = run(made, Options(threads=1, timeout=1, boxes=40, weaken=False))
    assert found.verdict is Verdict.UNKNOWN
    assert found.reason in (Reason.OFF_GRID, Reason.BOXES, Reason.TIMEOUT)
    assert found.message is not None
    assert "breaks between points of the region's grid" in found.message
    shown = str(found)
    assert "breaks only beside the grid" in shown or "breaks between points" in shown


def test_a_candidate_is_moved_to_the_grid_and_into_the_constraints() -> None:
    below = (LinearConstraint((F(1), F(1)), F(1, 3)),)
    pair = identity(2), network((np.eye(2), [5.0, 5.0]))
    made = task(*pair, Epsilon(1), [-1, -1], [1, 1], lattices=(GRID, None), constraints=below)
    witness = Replay(made).confirm(np.array([0.3, 0.0]))  # nearest is 0.5, which is beyond the constraint
    assert isinstance(witness, Witness)
    assert contains(made, witness.normalised)
    assert witness.normalised == (F(0), F(0))


@pytest.mark.parametrize("takes_raw", [False, True])
def test_the_base_and_what_goes_back_to_it_are_points_of_the_grid(takes_raw: bool) -> None:
    rng = np.random.default_rng(1)
    weight = rng.integers(-8, 9, (4, 5)) / 8
    pair = network((weight, np.zeros(4))), network((weight + 0.25, np.zeros(4)))
    grids = (Lattice(F(1, 3), F(1, 5)), GRID, None, Lattice(F(0), F(1, 7)), GRID)
    low, high = [F(-13, 15), F(-1), F(-1), F(-1), F(-1)], [F(14, 15), F(1), F(1), F(1), F(1)]
    made = task(*pair, Epsilon("0.1"), low, high, lattices=grids, around=(F(1, 9),) * 5)
    made = replace(made, reference_takes_raw=takes_raw, candidate_takes_raw=takes_raw)
    assert contains(made, base_of(made))
    found = run(made)
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    assert contains(made, found.witness.normalised)
    again = Result.from_json(found.to_json())
    assert again.task is not None
    assert again.task["region"]["grid"][1] == {"origin": "0", "step": "1/2"}


def test_why_there_is_no_certificate_is_said(tmp_path: Path) -> None:
    """Of networks that lie in no file; the question itself is one that the auditor takes, grid and claim included."""
    made = task(identity(2), identity(2), Epsilon(1), lattices=(GRID, GRID))
    with Certifier(tmp_path) as certifier:
        found = run(made, Options(threads=1, timeout=10, certifier=certifier))
    assert found.verdict is Verdict.EQUIVALENT
    assert found.uncertified is not None
    assert "<memory>" in found.uncertified
    assert not list(tmp_path.glob("*.eqcert"))
    asked = question(serialisation.to_json(made))
    assert asked["region"]["grid"] == [{"origin": "0", "step": "1/2"}] * 2
    asked = question(serialisation.to_json(task(identity(2), identity(2), NeverWraps())))
    assert asked["property"] == {"kind": "never", "decide": "max", "overflow": "wraps"}


def stored(*, wraps: bool, high: int = 7) -> Network:
    """2 x in a type of quarters from -2 to 1.75, as an accumulator of a file."""
    quantiser = Quantiser(0.25, -8, high, Rounding.FLOOR, wraps=wraps)
    first = Step((Term(INPUTS, Tile.dense(np.array([[2.0]]))),), np.zeros(1), None, Curves.all(quantiser.curve))
    last = Step((Term(0, Tile.dense(np.ones((1, 1)))),), np.zeros(1), None, "identity")
    return Network((first, last), 1, "<memory>", "00", casts=(Cast(0, slice(0, 1), "fc1.accum_t", "ap_fixed<4,2>"),))


@pytest.mark.parametrize(
    ("claim", "wraps", "said"),
    [
        (NeverWraps(), True, "fc1.accum_t[0], ap_fixed<4,2>, should be 2 in pruned, which is outside of -2 .. 1.75: "
         "it wraps to -2"),
        (NeverSaturates(), False, "it is cut off to 1.75"),
    ],
)  # fmt: skip
def test_a_number_that_leaves_its_type_is_named(claim: Property, wraps: bool, said: str) -> None:
    pair = stored(wraps=wraps), stored(wraps=wraps)
    made = task(*pair, claim, [-1], [1], lattices=(Lattice(F(0), F(1, 8)),))
    witness = Replay(made).replay((F(1),))
    assert witness is not None
    assert said in witness.statement
    assert witness.confidence is None
    kept = F(-2) if claim == NeverWraps() else F(7, 4)
    assert witness.out_of_type == OutOfType("fc1.accum_t[0]", "ap_fixed<4,2>", F(2), kept)
    assert Witness.from_json(witness.to_json()) == witness
    Draft202012Validator(Witness.schema() | {"$defs": {"exact": {"type": "string"}}}).validate(witness.to_json())
    assert Replay(made).replay((F(7, 8),)) is None  # 1.75 is the last that fits
    assert Replay(made).replay((F(15, 16),)) is None  # no point of the grid
    other = NeverSaturates() if claim == NeverWraps() else NeverWraps()
    assert Replay(task(*pair, other, [-1], [1])).replay((F(1),)) is None


@pytest.mark.parametrize("claim", [NeverWraps(), NeverSaturates()])
def test_nothing_leaves_a_type_where_there_is_none(claim: Property) -> None:
    found = run(task(identity(2), identity(2), claim))
    assert found.verdict is Verdict.EQUIVALENT
    assert found.certified_fraction == 1.0
    assert found.as_expected


def test_a_claim_about_types_is_never_given_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqspec.run.runner.decide", lambda *_: None)
    monkeypatch.setattr(core, "solve", lambda *_, **__: pytest.fail("searched"))
    found = run(task(stored(wraps=True), stored(wraps=True), NeverWraps(), [-1], [1]))
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, Reason.UNDECIDED)
    assert found.as_expected is None
    assert Result.from_json(found.to_json()).reason is Reason.UNDECIDED


class TestVerify:
    """`grid` of `eqspec.verify`."""

    def test_only_points_of_the_grid_count(self) -> None:
        pair = flat(), bump(1.0)
        assert eqspec.verify(*pair, [-1], [1], Epsilon("0.5"), timeout=10).verdict is Verdict.DIFFERENT
        found = eqspec.verify(*pair, [0.3], [0.9], Epsilon("0.5"), grid=0.5, timeout=10)
        assert found.verdict is Verdict.EQUIVALENT  # the box shrinks to the single point 0.5
        found = eqspec.verify(*pair, [0], [1], Epsilon("0.5"), grid=Lattice(F(1, 4), F(1, 2)), timeout=10)
        assert found.witness is not None
        assert found.witness.normalised == (F(1, 4),)

    @pytest.mark.parametrize(
        ("grid", "message"),
        [
            ([0.5, 0.5], "2 steps for 1 inputs"),
            (0, "above 0"),
            ([-1], "above 0"),
            ("half", "not an exact number"),
            ([float("nan")], "not an exact number"),
            ([[1]], "give a step"),
            (10, "no grid point in the box"),
        ],
    )
    def test_what_is_no_grid(self, grid: object, message: str) -> None:
        with pytest.raises(InputError, match=message):
            eqspec.verify(identity(1), identity(1), [0.3], [0.4], Epsilon(1), grid=grid)  # type: ignore[arg-type]


SPEC = """eqspec 1
space adc { features x [V]  outputs y }
network trained  = "trained.onnx"  in adc
network firmware = "firmware.onnx" in adc
region input(s) in adc = box { x: -s .. s } and grid { x step 1/8 }
check reach { prove firmware never wraps  on input(s)  find largest s in 0.1 .. 3 to 0.05 }
check holds { prove firmware never wraps     on input(0.99)  expect equivalent }
check wraps { prove firmware never wraps     on input(1)     expect different }
check same  { prove firmware equals trained  on input(0.99)  expect equivalent }
check other { prove firmware equals trained  on input(1)     expect different }
"""


def test_a_spec_about_types_from_its_text_to_its_report() -> None:
    """2 x, in quarters that end below 2, against 2 x in quarters without an end: the same below x = 1."""
    wide = replace(stored(wraps=True, high=800), sha256="01")
    report = eqspec.loads(SPEC, networks={"trained": wide, "firmware": stored(wraps=True)}).check(threads=1)
    assert report.ok
    (reach,) = [result for result in report if result.check == "reach"]
    assert reach.find is not None
    assert reach.find.proved is not None
    assert reach.find.refuted is not None
    assert F(9, 10) < reach.find.proved < 1 <= reach.find.refuted
    assert "it wraps to -2" in str(report["wraps"])
    assert report["same"].claim == "firmware equals trained"
    assert report["other"].witness is not None
    assert report["other"].witness.raw == (F(1),)


@pytest.mark.parametrize(("offset", "verdict"), [(0.0, Verdict.EQUIVALENT), (0.25, Verdict.DIFFERENT)])
def test_values_beyond_all_floats_are_evaluated_exactly(offset: float, verdict: Verdict) -> None:
    """At single points, e^1000 is a number like any other."""
    made = network(([[1.0]], [0.0]), ([[1.0]], [0.0]))
    first, second = (
        replace(
            made, steps=(replace(made.steps[0], function=Curves.all(Curve("exp")), bias=np.array([b])), *made.steps[1:])
        )
        for b in (0.0, offset)
    )
    found = Runner(BRIEF).run(task(first, replace(second, source="other"), Epsilon(1), [1000], [1000]))
    assert found.verdict is verdict
