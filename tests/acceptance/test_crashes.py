"""Runs that are killed, starved or doubled: what was finished stays, what is left goes on, and nothing is believed that
was not written whole.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.memory import Store
from eqspec.tasks.property import Epsilon
from eqspec.tasks.recall import Recall
from eqspec.tasks.result import Result, Verdict
from eqspec.tasks.run import Options, Runner
from eqspec.tasks.task import Task
from oracle.queries import CLAIMS, Claim, query
from oracle.record import write
from oracle.search import Bounded, contradiction, is_witness
from small_tasks import network, task


def slow() -> Task:
    """True, after some ten thousand boxes."""
    rng = np.random.default_rng(4)
    layers = [(rng.normal(size=(m, n)), rng.normal(size=m)) for m, n in ((32, 5), (32, 32), (32, 32), (2, 32))]
    other = [(w + 0.05 * rng.normal(size=w.shape), b) for w, b in layers]
    return task(network(*layers), network(*other), Epsilon(SLOW), id="slow")


SLOW = "100"

SCRIPT = """
import json, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from acceptance.test_crashes import resumed
print(json.dumps(resumed(Path(sys.argv[1]))))
"""


def resumed(folder: Path) -> dict[str, Any]:
    """The search, from wherever it was left."""
    recall = Recall(Store(folder, tell=lambda message: print(message, file=sys.stderr)), resume=True, keep_every=0.05)
    return Runner(PLAIN, recall).run(slow()).to_json()


def start(folder: Path) -> subprocess.Popen[str]:
    script = SCRIPT.format(tests=str(Path(__file__).parents[1]))
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


PLAIN = Options(threads=1, domain="paper")
"""The published search, which does not get stronger."""

SAME = ("verdict", "boxes", "splits", "stages", "certified_fraction", "initial_bound", "vacuous")


def test_killed_at_any_moment_a_search_goes_on_to_the_same_proof(tmp_path: Path) -> None:
    straight = Runner(PLAIN).run(slow()).to_json()
    assert straight["verdict"] == "equivalent"
    rng, killed = random.Random(1), 0
    deadline = time.monotonic() + 120
    while killed < 5 and time.monotonic() < deadline:
        process = start(tmp_path)
        # Not before it had a chance to write; then at any moment, most likely while it writes.
        states = {path.stat().st_ino for path in tmp_path.rglob("*.search")}
        while process.poll() is None and {path.stat().st_ino for path in tmp_path.rglob("*.search")} <= states:
            time.sleep(0.005)
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        _, told = process.communicate()
        assert told == ""
        if process.returncode != -signal.SIGKILL:
            break
        killed += 1
    assert killed >= 3
    process = start(tmp_path)
    out, told = process.communicate(timeout=300)
    assert told == ""
    result = json.loads(out)
    assert result["resumed"] or result["cached"]
    assert {name: result[name] for name in SAME} == {name: straight[name] for name in SAME}
    assert not list(tmp_path.rglob("*.search"))


def test_two_runs_at_once_come_to_the_same(tmp_path: Path) -> None:
    both = [start(tmp_path), start(tmp_path)]
    results = []
    for process in both:
        out, told = process.communicate(timeout=300)
        assert (process.returncode, told) == (0, "")
        results.append(json.loads(out))
    assert results[0]["verdict"] == results[1]["verdict"] == "equivalent"
    assert {results[0][name] for name in ("boxes", "splits")} == {results[1][name] for name in ("boxes", "splits")}
    assert resumed(tmp_path)["cached"]
    assert not [*tmp_path.rglob("*.search"), *tmp_path.rglob("*.part")]


@pytest.mark.parametrize("claim", CLAIMS)
def test_verdicts_in_legs_agree_with_the_oracle(claim: Claim, tmp_path: Path) -> None:
    """Random small queries, stopped after every few boxes; a store of their own, so that nothing is remembered."""
    legs = lost = 0
    for number in range(20):
        asked = query(7000 + number // 4, claim, number % 4)
        straight, result, number_of_legs = in_legs(asked.task(), asked.threads, asked.lp, tmp_path / str(number))
        legs += number_of_legs
        for one in (straight, result):
            confirmed = one.witness is not None and is_witness(asked, one.witness.normalised)
            vacuous = asked.oracle.is_vacuous(asked.claim) if one.vacuous else None
            wrong = contradiction(one, asked.breaks, vacuous=vacuous, confirmed=confirmed)
            assert wrong is None, f"{wrong}\n{write(asked)}\n{one.to_json()}"
        if Verdict.UNKNOWN not in (straight.verdict, result.verdict):
            assert result.verdict is straight.verdict
        else:
            lost += straight.verdict is not result.verdict
    assert legs >= 24
    assert lost <= 2


def in_legs(asked: Task, threads: int, lp: bool, folder: Path) -> tuple[Result, Result, int]:
    most = 60
    options = Bounded(threads=threads, lp=lp, boxes=most)
    straight = Runner(options).run(asked)
    for leg in range(1, most // 2 + 1):
        recall = Recall(Store(folder), resume=True)
        result = Runner(Bounded(threads=threads, lp=lp, boxes=2 * leg), recall).run(asked)
        if result.verdict is not Verdict.UNKNOWN or result.reason != "boxes":
            break
    return straight, result, leg
