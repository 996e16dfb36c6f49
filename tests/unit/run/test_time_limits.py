"""The time limit of a task counts from its start, and stages before the search give up when their share is over."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from time import perf_counter

import numpy as np
import pytest

from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS, Step, Term, Tile
from eqspec.property import Epsilon
from eqspec.run import core, pairs
from eqspec.run.lowering import lower_property
from eqspec.run.options import Options
from eqspec.run.pairs import Pairs
from eqspec.run.runner import Runner
from eqspec.run.time_limits import TooLateError, within
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import space, task


def permuted_pair() -> Task:
    """A graph, and the same one with the neurons of its hidden step in another order."""
    random = np.random.default_rng(3)
    first, skip, last = (random.normal(size=shape) for shape in ((6, 3), (2, 3), (2, 6)))
    made = []
    for number, order in enumerate((np.arange(6), np.array([3, 0, 5, 1, 4, 2]))):
        steps = (
            Step((Term(INPUTS, Tile.dense(first[order])),), np.zeros(6), None, "relu"),
            Step(
                (Term(0, Tile.dense(np.ascontiguousarray(last[:, order]))), Term(INPUTS, Tile.dense(skip))),
                np.zeros(2),
                None,
                "identity",
            ),
        )
        made.append(Network(steps, 3, "memory", str(number)))
    return task(made[0], made[1], Epsilon("0.01"), [-1] * 3, [1] * 3, space=space(3, 2))


def digest(of: core.Pair, given: Task, options: Options) -> bytes:
    claim = lower_property(given.property, 2)
    return core.fingerprint(of, given.lower, given.upper, claim, options.settings(given))


def test_what_is_left_counts_from_the_start() -> None:
    given = permuted_pair()
    options = Options(timeout=100.0)
    assert options.left(given) == 100.0
    begun = replace(options, ends=perf_counter() + 40.0)
    assert 30.0 < begun.left(given) <= 40.0
    assert begun.begun(given) is begun
    assert 30.0 < begun.chosen(given)["timeout"] <= 40.0
    over = replace(options, ends=perf_counter() - 1.0)
    assert over.left(given) == 0.5
    assert replace(over, timeout=0.0).left(given) == 0.0
    assert Options().begun(given).left(given) == inf


def test_a_stage_ends_when_its_share_is_over() -> None:
    given = permuted_pair()
    within(given, Options(), 0.5)()
    within(given, Options(timeout=1000.0), 0.5)()
    with pytest.raises(TooLateError):
        within(given, Options(timeout=0.0), 0.5)()
    with pytest.raises(KeyboardInterrupt):
        within(given, Options(), 0.5, lambda: True)()


def test_networks_are_matched_in_their_time_or_not_at_all() -> None:
    given, made = permuted_pair(), Pairs()
    plain = made.of(given, Options(), matched=False)
    late = made.of(given, Options(timeout=0.0), matched=True)
    assert digest(late, given, Options()) == digest(plain, given, Options())
    again = made.of(given, Options(timeout=0.0), matched=True)
    assert again is late
    matched = made.of(given, Options(timeout=1000.0), matched=True)
    assert digest(matched, given, Options()) != digest(plain, given, Options())
    assert made.of(given, Options(timeout=0.0), matched=True) is late


def test_stages_that_are_too_late_leave_the_verdict_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise TooLateError

    monkeypatch.setattr(pairs, "match", late)
    monkeypatch.setattr(pairs, "balances_in", late)
    assert Runner().run(permuted_pair(), options=Options(timeout=20.0)).verdict is Verdict.EQUIVALENT
