"""What the command line and the configuration file of pytest say about specs."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import pytest

from eqspec.api.cache_choice import open_cache
from eqspec.api.cluster_choice import engine_on
from eqspec.errors import EqspecError, InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.pytest_plugin import UNKNOWN
from eqspec.run.engine import Engine
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.tasks.task import Budget

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """`unknown` is one of fail, xfail, skip; `params` override those of the specs; `cache` is None without a cache, and
    `engine` without a cluster.
    """

    options: Options
    unknown: str
    params: dict[str, str]
    cache: ResultCache | None
    engine: Engine | None = None

    @classmethod
    def of(cls, config: pytest.Config) -> Settings:
        """The settings of a run; UsageError if they make no sense, which ends it before anything is tested."""
        unknown = _given(config, "eqspec_unknown") or "fail"
        if unknown not in UNKNOWN:
            raise pytest.UsageError(f"eqspec_unknown = {unknown}; one of {', '.join(UNKNOWN)}")
        timeout, threads = _number(config, "eqspec_timeout", float), _number(config, "eqspec_threads", int)
        try:
            options = Options(timeout=timeout, threads=threads)
            cache = open_cache(_cache(config))
        except InputError as problem:
            raise pytest.UsageError(f"eqspec: {problem}") from None
        params = dict(map(_param, config.getoption("eqspec_param")))
        return cls(options, unknown, params, cache, _engine(config))

    def options_for(self, budget: Budget) -> Options:
        """The options for a task. Workers of pytest-xdist share the cores, unless a number of threads is given."""
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        return self.options if workers == 1 else self.options.share(budget.threads, workers)


def _cache(config: pytest.Config) -> bool | Path:
    """As `open_cache` takes it. A folder is seen from where pytest was called, or from the file that says it."""
    named, said = config.getoption("eqspec_cache"), str(config.getini("eqspec_cache")).strip()
    if config.getoption("eqspec_no_cache"):
        if named:
            raise pytest.UsageError("--eqspec-cache and --eqspec-no-cache contradict each other")
        return False
    if named:
        return Path(config.invocation_params.dir, named)
    if said == "off":
        return False
    return Path(config.rootpath, said) if said else True


def _engine(config: pytest.Config) -> Engine | None:
    """The cluster of a run, which is left when pytest ends."""
    where = _given(config, "eqspec_cluster")
    if where is None:
        return None
    if hasattr(config, "workerinput") or getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("eqspec: --eqspec-cluster and workers of pytest-xdist do not go together; leave out -n")
    stack = ExitStack()
    config.add_cleanup(stack.close)
    try:
        return stack.enter_context(engine_on(where))
    except EqspecError as problem:
        raise pytest.UsageError(f"eqspec: {problem}") from None


def _given(config: pytest.Config, name: str) -> str | None:
    given = config.getoption(name)
    return str(config.getini(name)) or None if given is None else str(given)


def _number(config: pytest.Config, name: str, kind: Callable[[str], T]) -> T | None:
    text = _given(config, name)
    try:
        return None if text is None else kind(text)
    except ValueError:
        raise pytest.UsageError(f"--{name.replace('_', '-')}: {text!r} is not a number") from None


def _param(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise pytest.UsageError(f"--eqspec-param: {text!r} is not of the form NAME=VALUE")
    return name.strip(), value.strip()
