"""Searches on a real cluster of Dask on this machine: the same verdicts, also when workers are killed."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import dask
import pytest
from distributed import Client, versions

import eqspec
from eqspec.api.cluster_choice import engine_on
from eqspec.cli import main
from eqspec.cluster import leg, opening
from eqspec.cluster.coordinator import Coordinator
from eqspec.cluster.engine import ClusterEngine
from eqspec.cluster.policy import Limits
from eqspec.cluster.transport import DaskTransport, LostError
from eqspec.errors import InputError, ResourceError
from eqspec.run.monitor import Monitor, Progress
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import hard, undecided_task

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with opening.local(2) as client:
        yield client


def test_a_spec_is_checked_as_on_one_machine(client: Client, root: Path) -> None:
    spec = root / "specs/lhc.eqspec"
    alone, together = (
        eqspec.check(spec, select=["everywhere", "confident[sigma=0.2]"], client=c) for c in (None, client)
    )
    assert [r.verdict for r in together] == [r.verdict for r in alone] == [Verdict.DIFFERENT, Verdict.EQUIVALENT]
    assert together.results[0].witness is not None
    assert client.status == "running"


def test_processes_of_this_machine_print_nothing_when_they_end(client: Client) -> None:
    """A heartbeat that meets a scheduler that is gone is an error to Dask."""
    levels = client.run(lambda: logging.getLogger("distributed.worker").getEffectiveLevel())
    assert list(levels.values()) == [logging.CRITICAL] * 2


class Killer(Monitor):
    """Kills one of the workers as soon as something is proved."""

    def __init__(self, client: Client) -> None:
        self._pids = dict(client.run(os.getpid))
        self.killed: str | None = None

    def progress(self, task: Task, progress: Progress) -> None:
        if self.killed is None and progress.boxes:
            self.killed, pid = next(iter(self._pids.items()))
            os.kill(pid, signal.SIGKILL)


def test_a_worker_that_is_killed_costs_its_leg(client: Client) -> None:
    killer = Killer(client)
    with Coordinator(DaskTransport(client), limits=Limits(boxes=9)) as coordinator:
        coordinator.wait_for_workers(20)
        runner = Runner(Options(domain="paper", weaken=False), engine=ClusterEngine(coordinator))
        result = runner.run(undecided_task(), killer)
    assert (result.verdict, result.certified_fraction) == (Verdict.EQUIVALENT, 1.0)
    assert killer.killed is not None
    end = monotonic() + 30
    while killer.killed in (there := client.nthreads()) or len(there) < 2:
        assert monotonic() < end
        sleep(0.1)


def test_what_a_worker_keeps_of_questions_is_little(client: Client) -> None:
    with engine_on(client) as engine:
        assert engine is not None
        for seed in range(3):
            Runner(Options(timeout=0.3, weaken=False), engine=engine).run(hard(seed))
    assert all(count <= 8 for count in client.run(lambda: len(leg._questions)).values())
    assert all(count <= 64 for count in client.run(lambda: len(leg._called_back)).values())


def test_certificates_are_audited_as_on_one_machine(
    client: Client, root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same words and exit codes, also of one whose proof was changed."""
    monkeypatch.chdir(root / "specs")
    assert main(["check", "tiny/tiny.eqspec", "--no-cache", "--certify", str(tmp_path)]) == 0
    assert client.scheduler is not None
    place = ["--cluster", client.scheduler.address]
    for expected in (0, 1):
        said = []
        for more in ([], place):
            capfd.readouterr()
            assert main(["audit", str(tmp_path), "--spec", "tiny/tiny.eqspec", *more]) == expected
            said.append(capfd.readouterr().out)
        assert said[0] == said[1]
        one = max(tmp_path.glob("*.eqcert"), key=lambda path: path.stat().st_size)
        one.write_bytes(one.read_bytes()[:-100])


def test_what_is_no_cluster_is_refused() -> None:
    with pytest.raises(InputError, match=r"no cluster 'nowhere'.*tcp://head:8786"), engine_on("nowhere"):
        pass
    with pytest.raises(InputError, match=r"give a distributed.Client"), engine_on(3):
        pass


@pytest.mark.parametrize("text", [b"[]", b"{}", b"", b'{"address": "tcp', b'{"address": 3}', b"\xff\x00"])
def test_a_file_that_no_scheduler_wrote_is_refused(text: bytes, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    file.write_bytes(text)
    with pytest.raises(InputError, match=r"scheduler.json is no file of a scheduler: .*--scheduler-file"):
        engine_on(str(file)).__enter__()


def test_what_cannot_be_an_address_is_refused(tmp_path: Path) -> None:
    """A scheme that Dask does not know, and TLS without certificates; also where a file names it."""
    file = tmp_path / "scheduler.json"
    file.write_text('{"address": "sheep://head:8786"}')
    for place in (str(file), "sheep://head:8786", "tls://127.0.0.1:5"):
        with pytest.raises(ResourceError, match=r"no scheduler answers at .*"), engine_on(place):
            pass


def test_versions_that_differ_are_told_in_a_line() -> None:
    """Of the table that Dask makes of them."""
    here = versions.get_versions()
    there = {**here, "packages": {**here["packages"], "distributed": "1999.1"}}
    table = versions.error_message(here, {"tcp://one:1": there}, here)["warning"]
    told, mine = opening._other_versions(table), here["packages"]["distributed"]
    assert told.startswith(f"versions differ (client, scheduler, workers): distributed: {mine}, {mine}, 1999.1;")
    assert "\n" not in told


def test_what_dask_is_to_do_seldom_is_known_to_it() -> None:
    """A setting of another name would change nothing."""
    defaults = dask.config.merge(*dask.config.defaults)
    for name in opening._SELDOM:
        assert dask.config.get(name, config=defaults) != opening._SELDOM[name]


def test_a_scheduler_that_is_gone_is_said_to_be_gone() -> None:
    """Whatever of its own a client of Dask then lacks."""

    class Closed:
        status = "closed"

        def nthreads(self) -> None:
            raise AttributeError("'NoneType' object has no attribute 'ncores'")

    with pytest.raises(LostError, match=r"^its scheduler does not answer any more$"):
        DaskTransport(Closed()).workers()
