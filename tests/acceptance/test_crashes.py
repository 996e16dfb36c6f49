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

from breadth import some
from eqspec.cache import Store
from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from oracle.queries import CLAIMS, Claim, query
from oracle.record import write
from oracle.search import Bounded, contradiction, is_witness
from small_tasks import hard, network, task
from unit.certificates.files import in_files


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
    cache = ResultCache(
        Store(folder, tell=lambda message: print(message, file=sys.stderr)), resume=True, keep_every=0.05
    )
    return Runner(PLAIN, cache).run(slow()).to_json()


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
    while killed < len(some(range(5), 3)) and time.monotonic() < deadline:
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


def test_sigterm_stops_as_ctrl_c_does(tmp_path: Path) -> None:
    """One task is decided, one would take hours: both are printed and kept, as far as they are."""
    in_files(hard(), tmp_path)
    spec, kept, out = tmp_path / "two.eqspec", tmp_path / "kept", tmp_path / "out.jsonl"
    spec.write_text(HOURS)
    command = [sys.executable, "-m", "eqspec", "check", str(spec), "--cache", str(kept), "--threads", "1"]
    process = subprocess.Popen(
        [*command, "--format", "jsonl", "--output", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    decided = False
    while process.poll() is None and not (decided and list(kept.rglob("*.lock"))):
        time.sleep(0.02)
        decided = out.is_file() and out.read_text().count("\n") == 1
    time.sleep(5)  # so that the second search has begun, also on a busy machine; its first probes keep nothing
    for _ in range(2):  # as `timeout` does, once to the process and once to its group
        process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM, told
    results = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(r["id"], r["verdict"], r["reason"]) for r in results] == [
        ("easy", "equivalent", None),
        ("hard", "unknown", "interrupted"),
    ]
    assert len(list(kept.rglob("*.search"))) == len(list(kept.rglob("*.result"))) == 1
    assert not list(kept.rglob("*.part"))
    assert "--resume goes on with it" in told


HOURS = f"""eqspec 1
space s {{
  features {", ".join(f"x{i}" for i in range(20))}
  outputs 5
}}
network f = "reference.onnx" in s
network g = "candidate.onnx" in s
region cube in s = box {{ all: -1 .. 1 }}
check easy {{ prove g stays within 1e9 of f on cube }}
check hard {{ prove g stays within 9 of f on cube }}
"""


@pytest.mark.part(3)
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
    assert legs >= 16
    assert lost <= 2


def in_legs(asked: Task, threads: int, lp: bool, folder: Path) -> tuple[Result, Result, int]:
    most = 60
    options = Bounded(threads=threads, lp=lp, boxes=most)
    straight = Runner(options).run(asked)
    for leg in range(1, most // 2 + 1):
        cache = ResultCache(Store(folder), resume=True)
        result = Runner(Bounded(threads=threads, lp=lp, boxes=2 * leg), cache).run(asked)
        if result.verdict is not Verdict.UNKNOWN or result.reason != "boxes":
            break
    return straight, result, leg
