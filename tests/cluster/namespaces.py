"""A link that is cut: `python -m cluster.namespaces`, as root, where network namespaces are allowed.

Scheduler and workers run on hosts of their own, as far as the network can tell: each in a network namespace, joined by
veth pairs to a bridge. While a search runs the link of one worker is cut and mended again, then that of the scheduler,
for shorter and for longer than the coordinator waits. A search must end with the same verdict or be given up with
what it has, and go on from there; nothing may be proved twice or lost. Skips with a word where it is not allowed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

from distributed import Client

from cluster.campaign import PLAIN, SHORT
from eqspec.cache import Store
from eqspec.cluster.coordinator import Coordinator
from eqspec.cluster.engine import ClusterEngine
from eqspec.cluster.transport import DaskTransport
from eqspec.errors import ResourceError
from eqspec.property import Epsilon
from eqspec.run.monitor import Monitor, Progress
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from small_tasks import undecided_task

BRIDGE = "eqs-bridge"
HOSTS = {"eqs-head": 2, "eqs-one": 3, "eqs-two": 4}
"""Namespaces, and the last number of their addresses."""
NET = "10.213.77"
PORT = 18786
TASK = replace(undecided_task(), property=Epsilon("0.66"))


def ip(*words: str) -> None:
    """Run `ip`. CalledProcessError if it fails."""
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=20)


def missing() -> str | None:
    """Why it cannot run here; None if it can."""
    if os.name != "posix" or os.geteuid() != 0:
        return "network namespaces are made as root"
    if shutil.which("ip") is None:
        return "ip not found; apt-get install iproute2"
    try:
        ip("netns", "add", "eqs-try")
        ip("netns", "delete", "eqs-try")
        ip("link", "add", "eqs-try", "type", "bridge")
        ip("link", "delete", "eqs-try")
    except subprocess.CalledProcessError as problem:
        return f"network namespaces are not allowed here: {problem.stderr.strip()}"
    return None


@contextmanager
def network() -> Iterator[None]:
    """A bridge with this machine on it, and a namespace for each host."""
    with ExitStack() as stack:
        ip("link", "add", BRIDGE, "type", "bridge")
        stack.callback(ip, "link", "delete", BRIDGE)
        ip("address", "add", f"{NET}.1/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        for name, number in HOSTS.items():
            ip("netns", "add", name)
            stack.callback(ip, "netns", "delete", name)
            ip("link", "add", f"{name}-v", "type", "veth", "peer", "name", "eth0", "netns", name)
            stack.callback(ip, "link", "delete", f"{name}-v")  # a namespace may outlive its name
            ip("link", "set", f"{name}-v", "master", BRIDGE, "up")
            for words in (["address", "add", f"{NET}.{number}/24", "dev", "eth0"], ["link", "set", "eth0", "up"]):
                ip("-netns", name, *words)
            ip("-netns", name, "link", "set", "lo", "up")
        yield


@contextmanager
def hosts(folder: Path) -> Iterator[str]:
    """A scheduler and two workers, each on a host of its own; the address of the scheduler."""
    address = f"tcp://{NET}.{HOSTS['eqs-head']}:{PORT}"
    alike = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder)]
    words = {name: ["worker", address, "--host", f"{NET}.{number}", *alike] for name, number in HOSTS.items()}
    words["eqs-head"] = ["scheduler", "--host", f"{NET}.2", "--port", str(PORT), "--no-dashboard"]
    processes = []
    try:
        with (folder / "log").open("ab") as log:
            for name, arguments in words.items():
                command = ["ip", "netns", "exec", name, sys.executable, "-m", "dask", *arguments]
                processes.append(subprocess.Popen(command, stdout=log, stderr=log))
        yield address
    finally:
        for process in processes:
            process.kill()
            process.wait()


def cut(name: str, seconds: float) -> None:
    """Cut the link of a host for so long."""
    print(f"  the link of {name} is cut for {seconds:g} s", flush=True)
    ip("link", "set", f"{name}-v", "down")
    sleep(seconds)
    ip("link", "set", f"{name}-v", "up")
    print(f"  the link of {name} is mended", flush=True)


class Cutter(Monitor):
    """Cuts a link as soon as something is proved, in another thread."""

    def __init__(self, name: str, seconds: float) -> None:
        self._thread = threading.Thread(target=cut, args=(name, seconds))
        self._begun = False

    def progress(self, task: Task, progress: Progress) -> None:
        if progress.boxes and not self._begun:
            self._begun = True
            self._thread.start()

    def join(self) -> None:
        """Wait until the link is mended."""
        if not self._begun:
            raise AssertionError("the search was over before a link was cut")
        self._thread.join()


def asked(address: str, cache: ResultCache, name: str, seconds: float) -> Result:
    """A search in whose midst a link is cut."""
    with (
        Client(address, timeout=30) as client,
        Coordinator(DaskTransport(client), lambda told: print(f"  {told}", flush=True), SHORT) as coordinator,
    ):
        coordinator.wait_for_workers(60)
        cutter = Cutter(name, seconds)
        try:
            return Runner(PLAIN, cache, ClusterEngine(coordinator)).run(TASK, cutter)
        finally:
            cutter.join()


def main() -> int:
    """Cut links; 1 if a search ends wrong. 0 also where it is skipped."""
    if (why := missing()) is not None:
        print(f"skipped: {why}")
        return 0
    wrong = 0
    alone = Runner(PLAIN).run(TASK)
    for name, seconds in (("eqs-one", 5.0), ("eqs-one", 40.0), ("eqs-head", 4.0), ("eqs-head", 25.0)):
        with tempfile.TemporaryDirectory() as folder, network(), hosts(Path(folder)) as address:
            cache, began = ResultCache(Store(Path(folder) / "cache"), resume=True), monotonic()
            try:
                result = asked(address, cache, name, seconds)
            except ResourceError as problem:
                print(f"  given up: {problem}")
                with suppress(ResourceError):
                    result = Runner(PLAIN, cache).run(TASK)
            whole = (result.verdict, result.certified_fraction) == (alone.verdict, 1.0)
            wrong += not whole
            said = f"{result.verdict.value} {result.boxes} boxes (alone {alone.boxes}){', resumed' * result.resumed}"
            outcome = said if whole else f"WRONG {said} {result.reason} {result.message}"
            print(f"{name} cut for {seconds:g} s: {outcome} in {monotonic() - began:.0f} s", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
