"""Distances below what a network rounds away stay undecided for that reason."""

from fractions import Fraction

import numpy as np
import pytest

from eqspec.networks.curves import Curves, clip
from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS, Step, Term, Tile
from eqspec.networks.quantiser import Quantiser
from eqspec.property import Epsilon, Property, Top1
from eqspec.run.options import Options
from eqspec.run.rounding import noise_floor
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from small_tasks import space, task

_SCALE = 2.0**-4


def twins(claim: Property, *, both: bool = False, finer: int = 1) -> Task:
    """One network with clips, and the same one with quantisers in their place; or two with quantisers, of which the
    first has so many times as many levels.
    """
    random = np.random.default_rng(8)
    weights = [random.normal(size=shape) for shape in ((8, 4), (8, 8), (2, 8))]
    made = []
    fine = Quantiser(_SCALE / finer, -8 * finer, 8 * finer).curve
    for number, function in enumerate((fine if both else clip(-0.5, 0.5), Quantiser(_SCALE, -8, 8).curve)):
        curves = Curves.all(function)
        steps = tuple(
            Step(
                (Term(k - 1 if k else INPUTS, Tile.dense(w)),),
                np.zeros(len(w)),
                None,
                curves if k < len(weights) - 1 else "identity",
            )
            for k, w in enumerate(weights)
        )
        made.append(Network(steps, 4, "memory", str(number)))
    return task(made[0], made[1], claim, [Fraction(-1)] * 4, [Fraction(1)] * 4, space=space(4, 2))


def test_a_distance_below_the_floor() -> None:
    floor = noise_floor(twins(Epsilon("0.01")))
    assert floor is not None
    assert floor > _SCALE
    result = Runner().run(twins(Epsilon(Fraction(floor) * Fraction(19, 20))), options=Options(timeout=0.5))
    if result.verdict is Verdict.UNKNOWN:
        assert result.reason is Reason.ROUNDING
        assert f"{floor:.3g}" in str(result.message)


def test_a_distance_above_it_is_proved() -> None:
    floor = noise_floor(twins(Epsilon("0.01")))
    assert floor is not None
    result = Runner().run(twins(Epsilon(Fraction(floor) * 8)), options=Options(timeout=20.0))
    assert result.verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize("given", [twins(Top1()), twins(Epsilon("0.1"), both=True)])
def test_nothing_is_said_of_decisions_or_where_both_round(given: Task) -> None:
    assert noise_floor(given) is None


def test_where_both_round_the_coarser_levels_count() -> None:
    alone, beside = (noise_floor(twins(Epsilon("0.01"), both=b, finer=4)) for b in (False, True))
    assert alone is not None
    assert beside == pytest.approx(0.75 * alone, rel=1e-9)


def test_of_chosen_outputs() -> None:
    every = [noise_floor(twins(Epsilon("0.1", "linf", chosen))) for chosen in ((0,), (1,), None)]
    assert every[2] == max(value for value in every[:2] if value is not None)
