"""Searches on a real cluster of Dask on this machine: the same verdicts, also when workers are killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from distributed import Client, LocalCluster

import eqspec
from eqspec.api.cluster_choice import engine_on
from eqspec.cluster import leg
from eqspec.errors import InputError
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.verdict import Verdict
from small_tasks import hard, undecided_task

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_a_spec_is_checked_as_on_one_machine(client: Client, root: Path) -> None:
    spec = root / "specs/lhc.eqspec"
    alone, together = (
        eqspec.check(spec, select=["everywhere", "confident[sigma=0.2]"], client=c) for c in (None, client)
    )
    assert [r.verdict for r in together] == [r.verdict for r in alone] == [Verdict.DIFFERENT, Verdict.EQUIVALENT]
    assert together.results[0].witness is not None
    assert client.status == "running"


def pids(client: Client) -> dict[str, int]:
    return dict(client.run(os.getpid))


def test_a_worker_that_is_killed_costs_its_leg(client: Client) -> None:
    killed = threading.Event()

    def kill() -> None:
        sleep(1.0)
        os.kill(next(iter(before.values())), signal.SIGKILL)
        killed.set()

    with engine_on(client) as engine:
        assert engine is not None
        runner = Runner(Options(timeout=4, weaken=False), engine=engine)
        before = pids(client)
        threading.Thread(target=kill, daemon=True).start()
        result = runner.run(hard())
        assert killed.is_set()
        assert result.boxes > 0
        assert runner.run(undecided_task()).verdict is Verdict.EQUIVALENT
    end = monotonic() + 20
    while set(pids(client).values()) == set(before.values()) and monotonic() < end:
        sleep(0.1)
    assert set(pids(client).values()) != set(before.values())


def test_what_a_worker_keeps_of_questions_is_little(client: Client) -> None:
    with engine_on(client) as engine:
        assert engine is not None
        for seed in range(3):
            Runner(Options(timeout=0.3, weaken=False), engine=engine).run(hard(seed))
    assert all(count <= 8 for count in client.run(lambda: len(leg._questions)).values())
    assert not any(client.run(lambda: [e.is_set() for e in leg._called_back.values()]).values())


def test_what_is_no_cluster_is_refused() -> None:
    with pytest.raises(InputError, match=r"no cluster 'nowhere'.*tcp://head:8786"), engine_on("nowhere"):
        pass
    with pytest.raises(InputError, match="give a distributed.Client"), engine_on(3):  # type: ignore[arg-type]
        pass
