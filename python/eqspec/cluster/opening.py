"""Which cluster: a client that was given, the address of a scheduler, its file, or processes of this machine."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from eqspec.errors import InputError, ResourceError

if TYPE_CHECKING:
    from distributed import Client

    from eqspec.cluster.engine import ClusterEngine
    from eqspec.cluster.jobs import Jobs
    from eqspec.cluster.transport import DaskTransport

_MISSING = "clusters need Dask, which is not installed: pip install 'eqspec[cluster]'"
_ITS_FILE = "give the one that `dask scheduler --scheduler-file FILE` wrote"
_CONNECT = 15.0
_SELDOM = {
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.scheduler.work-stealing": False,  # legs are tied to their workers
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.worker.profile.enabled": False,
}
"""What the processes of Dask do many times a second beside their work. Of a scheduler and two workers that are idle it
takes 7.5 % of a processor as Dask sets it, and 1.5 % so."""
_LOG_NOTHING = "import logging; logging.getLogger('distributed.worker').setLevel(logging.CRITICAL)"
"""What workers of this machine run first: on a busy one a worker that is ended may just have asked the scheduler for
something, which is gone, and would print a traceback."""


@contextmanager
def opened(cluster: str | Client, tell: Callable[[str], None] | None = None) -> Iterator[ClusterEngine]:
    """An engine on a cluster. `tell` is given what a user should know.

    `cluster` is a `distributed.Client`, which is neither started nor closed here, the address of a scheduler
    (tcp://head:8786), the file that it wrote (scheduler.json), or "local" for one process on each core.

    InputError if there is no such cluster or Dask is not installed; ResourceError if it does not answer.
    """
    with _transport(cluster, tell) as transport:
        from eqspec.cluster.coordinator import Coordinator
        from eqspec.cluster.engine import ClusterEngine

        with Coordinator(transport, tell or _warn) as coordinator:
            coordinator.wait_for_workers(_CONNECT)
            yield ClusterEngine(coordinator)


@contextmanager
def dealt(cluster: str, tell: Callable[[str], None]) -> Iterator[Jobs]:
    """What deals jobs out to a cluster, which is named and may fail as in `opened`."""
    with _transport(cluster, tell) as transport:
        from eqspec.cluster.jobs import Jobs

        yield Jobs(transport, tell)


@contextmanager
def _transport(cluster: str | Client, tell: Callable[[str], None] | None) -> Iterator[DaskTransport]:
    try:
        import distributed  # noqa: F401 - whether it is installed

        from eqspec.cluster.transport import DaskTransport
    except ModuleNotFoundError as problem:
        if problem.name and problem.name.split(".")[0] in ("eqspec",):
            raise
        raise InputError(_MISSING) from None
    with _client(cluster, tell) as client:
        if client.asynchronous:
            raise InputError("the client is asynchronous; give one that is not: Client(address)")
        _show_dashboard(client, tell)
        yield DaskTransport(client)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=2)


@contextmanager
def _client(cluster: str | Client, tell: Callable[[str], None] | None) -> Iterator[Client]:
    from distributed import Client

    from eqspec.run.options import cores

    if isinstance(cluster, Client):
        if cluster.status not in ("running", "connecting"):
            raise InputError(f"the client is {cluster.status}; give one that is connected")
        yield cluster
        return
    if not isinstance(cluster, str):
        raise InputError(f"cluster = {cluster!r}; give a distributed.Client, an address, a file, or 'local'")
    if cluster == "local":
        with local(cores()) as client:
            yield client
        return
    if "://" not in cluster and not Path(cluster).is_file():
        raise InputError(
            f"there is no cluster {cluster!r}: it is not a file; give the address of a scheduler as tcp://head:8786, "
            "the file that it wrote, or 'local'"
        )
    with _quiet(), _connected(cluster, tell) as client:
        yield client


@contextmanager
def local(workers: int) -> Iterator[Client]:
    """A client of so many processes of this machine with one thread each, which end with it."""
    import dask
    from distributed import Client, LocalCluster

    first = [*dask.config.get("distributed.worker.preload"), _LOG_NOTHING]
    with (
        dask.config.set({**_SELDOM, "distributed.worker.preload": first}),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """What Dask would log of workers and schedulers that are gone is made good, or told in the words of eqspec."""
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _connected(cluster: str, tell: Callable[[str], None] | None) -> Iterator[Client]:
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    address = cluster if "://" in cluster else _address_in(Path(cluster))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", VersionMismatchWarning)
            client = Client(address, timeout=_CONNECT)
    except (OSError, ValueError, TypeError) as problem:  # the last one is of tls:// without certificates
        cause = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise ResourceError(
            f"no scheduler answers at {cluster}: {cause}; is it running, and reachable from here?"
        ) from None
    for warning in caught:
        if issubclass(warning.category, VersionMismatchWarning):
            (tell or _warn)(_other_versions(str(warning.message)))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close()


def _other_versions(table: str) -> str:
    """What Dask says of versions that differ, in a line: its table has a row for each package."""
    rows = [[cell.strip() for cell in line.strip(" |").split("|")] for line in table.splitlines() if "|" in line]
    said = "; ".join(f"{package}: {', '.join(versions)}" for package, *versions in rows[1:])
    named = ", ".join(rows[0][1:]).lower() if rows else ""
    return f"versions differ ({named}): {said}; where legs fail, install the same" if rows else table


def _address_in(file: Path) -> str:
    """The address in a scheduler's file. InputError if there is none."""
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(f"{file} cannot be read: {problem.strerror or problem}") from None
    except ValueError as problem:  # no UTF-8, or no JSON
        raise InputError(f"{file} is no file of a scheduler: {str(problem).splitlines()[0]}; {_ITS_FILE}") from None
    address = known.get("address") if isinstance(known, dict) else None
    if not isinstance(address, str):
        raise InputError(f"{file} is no file of a scheduler: it names no address; {_ITS_FILE}")
    return address


def _show_dashboard(client: Client, tell: Callable[[str], None] | None) -> None:
    if tell is None:
        return
    with suppress(Exception):
        import bokeh  # noqa: F401 - without it there is no dashboard

        tell(f"Dask's dashboard: {client.dashboard_link}")
