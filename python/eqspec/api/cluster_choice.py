"""What runs the searches of a call, or its audits: this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from eqspec.run.engine import Engine

if TYPE_CHECKING:
    from distributed import Client

    from eqspec.cluster.jobs import Jobs


def engine_on(
    cluster: Client | str | None,
    tell: Callable[[str], None] | None = None,
) -> AbstractContextManager[Engine | None]:
    """An engine on a cluster, or None for this machine.

    `cluster` is a `distributed.Client`, the address of a scheduler, the file that it wrote, or "local". `tell` is given
    what a user should know; without it, that is a warning. InputError if there is no such cluster, ResourceError if it
    does not answer.
    """
    if cluster is None:
        return nullcontext()
    from eqspec.cluster.opening import opened  # loads Dask

    return opened(cluster, tell)


def jobs_on(cluster: str | None, tell: Callable[[str], None]) -> AbstractContextManager[Jobs | None]:
    """What hands jobs to the workers of a cluster, or None for this machine; arguments as for `engine_on`."""
    if cluster is None:
        return nullcontext()
    from eqspec.cluster.opening import dealt  # loads Dask

    return dealt(cluster, tell)
