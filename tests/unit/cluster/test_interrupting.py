"""Ctrl-C and SIGTERM to a real `eqspec check --cluster`: it ends as on one machine, and what was proved goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster

from unit.certificates.files import write

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them"),
]
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
SPEC = """eqspec 1
space plane {
  features   a, b, c, d, e
  normalise  zscore mean [0, 0, 0, 0, 0] std [1, 1, 1, 1, 1]
  outputs    x, y
}
network full  = "full.onnx"  in plane
network other = "other.onnx" in plane
region all_of_it in plane = box { all within 1 sigma }
check slow { prove other stays within 1000 of full  on all_of_it }
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        assert client.scheduler is not None
        yield client.scheduler.address


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """True, after some fifty thousand boxes."""
    rng = np.random.default_rng(4)
    layers = [
        (rng.normal(size=(m, n)), rng.normal(size=m)) for m, n in ((32, 5), (32, 32), (32, 32), (32, 32), (2, 32))
    ]
    write(tmp_path / "full.onnx", layers)
    write(tmp_path / "other.onnx", [(w + 0.05 * rng.normal(size=w.shape), b) for w, b in layers])
    path = tmp_path / "slow.eqspec"
    path.write_text(SPEC)
    return path


def check(spec: Path, *more: str) -> subprocess.Popen[str]:
    """A process that checks the spec."""
    words = [sys.executable, "-m", "eqspec", "check", str(spec), "--cache", str(spec.parent / "cache")]
    words += ["--domain", "paper", "--format", "json", *more]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(output: str) -> dict[str, Any]:
    (found,) = json.loads(output)
    assert isinstance(found, dict)
    return found


@pytest.mark.part(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_search_on_a_cluster_that_then_goes_on(number: int, address: str, spec: Path) -> None:
    with check(spec, "--cluster", address) as process:
        end = monotonic() + 60
        while process.poll() is None and not any(spec.parent.rglob("*.search")):
            assert monotonic() < end
            sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == CODES[signal.Signals(number)], err
    assert "Traceback" not in err
    assert "--resume goes on with it" in err
    stopped = result(out)
    assert (stopped["verdict"], stopped["reason"]) == ("unknown", "interrupted")
    assert 0 < stopped["certified_fraction"] < 1
    # With no worker at all, and with one more: by what is left, not from the beginning.
    with check(spec, "--resume", *([] if number == signal.SIGINT else ["--cluster", "local"])) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    proved = result(out)
    assert (proved["verdict"], proved["certified_fraction"], proved["resumed"]) == ("equivalent", 1.0, True)
    assert proved["boxes"] > stopped["boxes"] > 0


def test_a_cluster_of_this_machine_ends_with_the_run(spec: Path) -> None:
    """Its processes are gone, too."""
    with check(spec, "--cluster", "local", "--explain-search") as process:
        end = monotonic() + 60
        while process.poll() is None and not any(spec.parent.rglob("*.search")):
            assert monotonic() < end
            sleep(0.02)
        before = children(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert before
    end = monotonic() + 20
    while any(Path(f"/proc/{one}").exists() for one in before):
        assert monotonic() < end
        sleep(0.1)


def children(parent: int) -> set[int]:
    """The processes that a process has started, and theirs."""
    if not Path("/proc").is_dir():
        pytest.skip("which processes there are is asked of /proc")
    found, todo = set[int](), [parent]
    while todo:
        for task in Path(f"/proc/{todo.pop()}/task").glob("*/children"):
            new = {int(number) for number in task.read_text().split()} - found
            found |= new
            todo += new
    return found
