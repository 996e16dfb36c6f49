"""Counterexamples in numbers, from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from eqspec import compile as compiler
from eqspec.api.spec import Spec, load
from eqspec.mining.counterexamples import SEED, mine
from eqspec.mining.found import Counterexamples
from eqspec.networks import Model
from eqspec.tasks.task import Task


def counterexamples(
    spec: str | os.PathLike[str] | Spec | Task,
    check: str | None = None,
    n: int = 1000,
    *,
    select: Iterable[str] | str | None = None,
    params: Mapping[str, compiler.Override] | None = None,
    networks: Mapping[str, Model] | None = None,
    seed: int = SEED,
    timeout: float | None = None,
) -> Counterexamples:
    """Find inputs that break a claim, many and far apart, to learn from. They are examples, not a census.

    Args:
        spec: the path of a spec, one that was loaded, or a task of one.
        check: one of its checks; without it all of them.
        n: how many to find in all; the tasks of a sweep share them.
        select: tasks by their ids, as for `eqspec.check`.
        params: values of the params of the spec, as for `eqspec.load`.
        networks: networks in place of files of the spec, as for `eqspec.load`.
        seed: of the random numbers; the same seed finds the same inputs.
        timeout: in seconds, which the tasks share; what was found by then is returned.

    Returns:
        Arrays with a row for each input: `raw` and `normalised` (N, I), scores (N, O) and labels (N,) of both networks,
        islands. Each was replayed in exact arithmetic and, where onnxruntime runs the files, confirmed by it. N may be
        less than n, and 0, which proves nothing.

    Raises:
        SpecError: the spec cannot be used.
        InputError: a name matches nothing, the checks are about different spaces, or a claim has no score.
        NetworkError: a file cannot be read exactly.
    """
    return mine(tasks_of(spec, check, select, params, networks), n, seed=seed, seconds=timeout)


def tasks_of(
    spec: str | os.PathLike[str] | Spec | Task,
    check: str | None,
    select: Iterable[str] | str | None,
    params: Mapping[str, compiler.Override] | None = None,
    networks: Mapping[str, Model] | None = None,
) -> list[Task]:
    """The tasks to find counterexamples of; of a search this is its task at the hardest value of the range."""
    if isinstance(spec, Task):
        return [spec]
    if not isinstance(spec, Spec):
        spec = load(spec, params, checks=check, networks=networks)
    chosen = spec.select(select, checks=check)
    return [item if isinstance(item, Task) else item.task_at(item.hard) for item in chosen]
