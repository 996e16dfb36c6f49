"""A fixed slice of the campaign; and that the machine does what it says, and finds what it is for."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from breadth import some
from eqspec.cache import Key
from model.commands import Kill
from model.machine import SEEN, Tool
from model.world import WrongError, world

FEW = settings(
    max_examples=len(some(range(8), 5)),
    stateful_step_count=10,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def test_no_order_of_steps_makes_a_verdict_wrong() -> None:
    run_state_machine_as_test(Tool, settings=FEW)


@pytest.fixture
def tool() -> Iterator[Tool]:
    """A folder where the first claim breaks, which is found after some boxes."""
    SEEN.clear()
    made = Tool()
    made.begin(next(seed for seed in range(1000) if (w := world(seed)) and w.truth["c"] is w.truth["c1"] is True))
    yield made
    made.teardown()


def command(tool: Tool, **changed: object) -> None:
    given: dict[str, Any] = {"boxes": None, "threads": 1, "domain": "naive", "lp": False, "cached": True}
    given |= {"resume": False, "certify": False, "jobs": 1, "kill": None}
    tool.check_by_command(**(given | changed))


def test_the_machine_goes_every_way_that_it_has(tool: Tool) -> None:
    command(tool, kill=Kill(signal.SIGKILL, at=2))
    assert SEEN["check ended with -9"] == 1
    command(tool, cached=False, certify=True)
    assert SEEN["different"] == 2
    command(tool)
    command(tool)
    assert SEEN["from the cache"] == 2
    tool.audit()
    tool.audit_by_command()
    assert SEEN["certificate accepted"] == 2
    tool.replay()
    assert SEEN["replay ended with 0"] == 1
    for form in ("html", "jsonl", "xml", "sarif", "txt"):
        tool.report(form)
    tool.remember_a_file(0)
    tool.change_a_network(1, "candidate")
    tool.audit()
    assert SEEN["certificate refused"] == 2
    for number, way in enumerate(("flip", "cut", "empty", "exchange", "earlier", "verdict", "digest", "remove")):
        tool.tamper(number, way, 77)
    tool.check_by_api(5, 1, "paper", cached=True, resume=True, certify=False)
    tool.change_the_claim(1, 3)
    tool.check_by_api(None, 1, "paper", cached=False, resume=False, certify=True)
    tool.nothing_is_left_half_written()


def test_a_store_that_believes_its_files_is_found(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    def believe(secret: Key, kind: str, key: str, data: bytes) -> bytes:
        return data.partition(b"\n")[2]

    monkeypatch.setattr("eqspec.cache.store.opened", believe)
    tool.check_by_api(None, 1, "naive", cached=True, resume=False, certify=False)
    tool.tamper(0, "digest", 0)
    with pytest.raises(WrongError, match="is proved from the cache, but it breaks"):
        tool.check_by_api(None, 1, "naive", cached=True, resume=False, certify=False)


def test_a_cache_that_mistakes_a_question_is_found(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqspec.run.runner.key_of", lambda task, fingerprint: {"c": "ab", "c1": "cd"}[task.id] * 32)
    breaking = tool.world
    tool.world = next(w for seed in range(1000) if (w := world(seed)) and w.truth["c"] is w.truth["c1"] is False)
    tool.world.write(tool.folder)
    tool.check_by_api(None, 1, "naive", cached=True, resume=False, certify=False)
    tool.world = breaking
    tool.world.write(tool.folder)
    tool.check_by_api(None, 1, "naive", cached=False, resume=False, certify=False)  # which is right
    with pytest.raises(WrongError, match="is proved from the cache, but it breaks"):
        tool.check_by_api(None, 1, "naive", cached=True, resume=False, certify=False)
