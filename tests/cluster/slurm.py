"""A search on SLURM for real, on one node: `python -m cluster.slurm`, as root, with Debian's packages.

    apt-get install --no-install-recommends slurmctld slurmd slurm-client munge
    pip install dask-jobqueue

Starts munged, slurmctld and slurmd from a folder of its own, which is removed again, waits until the node is idle, and
has jets checked by the jobs of a `SLURMCluster`. A job is cancelled by `scancel` in the middle of it; the search must
end as on one machine. What it printed is kept in slurm.txt. Skips with a word where it cannot run.
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
from pathlib import Path
from time import monotonic, sleep

from distributed import Client

import eqspec
from eqspec.cluster.coordinator import Coordinator
from eqspec.cluster.engine import ClusterEngine
from eqspec.cluster.policy import Limits
from eqspec.cluster.transport import DaskTransport
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from small_tasks import undecided_task

NEEDED = ("munged", "slurmctld", "slurmd", "sinfo", "squeue", "scancel", "sbatch")
NODE = "node"
CONFIGURATION = """\
ClusterName=one
SlurmctldHost={node}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/pgid
ReturnToService=2
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SwitchType=switch/none
TaskPlugin=task/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={node} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=short Nodes={node} Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


def missing() -> str | None:
    """Why it cannot run here; None if it can."""
    if os.geteuid() != 0:
        return "the daemons of SLURM are started as root"
    without = [name for name in NEEDED if shutil.which(name) is None]
    if without:
        return f"{', '.join(without)} not found; apt-get install slurmctld slurmd slurm-client munge"
    try:
        import dask_jobqueue  # noqa: F401
    except ModuleNotFoundError:
        return "dask-jobqueue is not installed"
    return None


@contextmanager
def daemon(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process in the foreground, ended with the context."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()


@contextmanager
def slurm(folder: Path) -> Iterator[None]:
    """A cluster of SLURM with one node, to which the commands of this process belong."""
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir(mode=0o700)
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    node = os.uname().nodename.partition(".")[0] or NODE
    configuration = folder / "slurm.conf"
    cores = len(os.sched_getaffinity(0))
    configuration.write_text(CONFIGURATION.format(folder=folder, node=node, cores=cores))
    os.environ["SLURM_CONF"] = str(configuration)
    munge = [f"--{name}={folder}/munge/{name}" for name in ("key-file", "socket", "pid-file", "log-file", "seed-file")]
    munge[0] = f"--key-file={key}"
    with ExitStack() as stack:
        stack.enter_context(daemon("munged", "--foreground", "--force", *munge))
        sleep(1)
        stack.enter_context(daemon("slurmctld", "-D", "-f", str(configuration)))
        stack.enter_context(daemon("slurmd", "-D", "-f", str(configuration), "-N", node))
        end = monotonic() + 60
        while "idle" not in (state := said("sinfo", "--noheader", "--format=%t")):
            if monotonic() > end:
                logs = "\n".join(path.read_text()[-1500:] for path in sorted(folder.glob("*.log")))
                raise TimeoutError(f"the node is {state.strip() or 'not there'}:\n{logs}")
            sleep(0.5)
        try:
            yield
        finally:
            said("scancel", "--user=root")
            sleep(1)


def said(*words: str) -> str:
    """What a command prints."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    return done.stdout + done.stderr


def cancel_one() -> None:
    """Cancel a job that runs, as a scheduler that preempts does."""
    jobs = said("squeue", "--noheader", "--states=RUNNING", "--format=%i").split()
    if jobs:
        print(f"scancel {jobs[0]}:", said("scancel", jobs[0]).strip() or "cancelled", flush=True)


def main() -> int:
    """Run it; 0 also where it is skipped."""
    if (why := missing()) is not None:
        print(f"skipped: {why}")
        return 0
    from dask_jobqueue.slurm import SLURMCluster

    path = os.pathsep.join(str(Path(one).absolute()) for one in os.environ.get("PYTHONPATH", "").split(os.pathsep))
    with tempfile.TemporaryDirectory() as name, slurm(Path(name)):
        print(said("sinfo", "--version").strip())
        print(said("sinfo").strip(), flush=True)
        cluster = SLURMCluster(
            queue="short",
            cores=1,
            processes=1,
            memory="1GB",
            walltime="00:20:00",
            python=sys.executable,
            job_script_prologue=[f"export PYTHONPATH={path}"],
            job_directives_skip=["--mem"],
            log_directory=name,
            local_directory=name,
            scheduler_options={"dashboard_address": ":0", "host": "127.0.0.1"},
        )
        with cluster, Client(cluster) as client:
            cluster.adapt(minimum_jobs=2, maximum_jobs=2)  # one that is cancelled is asked for again
            client.wait_for_workers(2, timeout=120)
            print(said("squeue").strip(), flush=True)
            spec = Path(__file__).parents[2] / "specs" / "lhc.eqspec"
            report = eqspec.check(spec, select=["everywhere", "confident[sigma=0.2]"], client=client)
            for found in report:
                print(f"{found.id}: {found.verdict.value}, {found.boxes} boxes")
            timer = threading.Timer(1.0, cancel_one)
            timer.start()
            limits = Limits(longest=2.0, recall=0.2, deaths=20, boxes=10)
            with Coordinator(DaskTransport(client), print, limits) as coordinator:
                coordinator.wait_for_workers(60)
                engine = ClusterEngine(coordinator)
                result = Runner(Options(domain="paper", weaken=False, timeout=300), None, engine).run(undecided_task())
            timer.join()
            print(f"{result.id}: {result.verdict.value}, {result.boxes} boxes, proved {result.certified_fraction:.0%}")
            right = [r.verdict.value for r in (*report, result)] == ["different", "equivalent", "equivalent"]
        print(said("squeue").strip())
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
