"""Specs from Python: load, select, check."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias, Unpack

from eqspec import compile as compiler
from eqspec.api.cache_choice import open_cache
from eqspec.api.certifying import certifying
from eqspec.api.cluster_choice import engine_on
from eqspec.api.progress import shown
from eqspec.api.report import Report, hint
from eqspec.api.settings import Keywords, options_with
from eqspec.errors import Diagnostic, InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Model, Network, as_network
from eqspec.run.batch import run_all
from eqspec.run.engine import Engine
from eqspec.run.monitor import Monitor
from eqspec.run.options import Options, cores
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.spec import ast, printer
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task

if TYPE_CHECKING:
    from distributed import Client

StrPath: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, repr=False)
class Spec:
    """A compiled spec: its tasks in order, its searches, what was noticed on the way, and the syntax tree of its file.

    `str` of it is the file as `eqspec fmt` writes it.
    """

    tasks: tuple[Task, ...]
    searches: tuple[Search, ...]
    warnings: tuple[Diagnostic, ...]
    file: ast.File | None = None

    def __str__(self) -> str:
        return repr(self) if self.file is None else printer.text(self.file)

    def __repr__(self) -> str:
        names = [*(task.id for task in self.tasks), *(search.id for search in self.searches)]
        more = f", ... {len(names) - 8} more" if len(names) > 8 else ""
        return f"<Spec: {', '.join(names[:8]) or 'no checks'}{more}>"

    def _repr_html_(self) -> str:
        from eqspec.report import notebook

        return notebook.of_questions(self.select())

    def select(
        self,
        patterns: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        checks: Iterable[str] | str | None = None,
    ) -> list[Task | Search]:
        """Tasks, then searches: those whose id or check matches a pattern, with one of the tags, of one of the checks.

        None means all. In a pattern only * and ? are special. InputError if a pattern, tag or check matches nothing.
        """
        return select([self], patterns, tags, checks)[0]

    def check(
        self,
        *,
        select: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        jobs: int | None = None,
        monitor: Monitor | None = None,
        progress: bool | None = None,
        cache: bool | StrPath = False,
        resume: bool = False,
        certify: StrPath | None = None,
        client: Client | str | None = None,
        options: Options | None = None,
        **settings: Unpack[Keywords],
    ) -> Report:
        """Run what is selected.

        `options` say how to search; the settings `timeout`, `threads`, `memory`, `domain`, `lp`, `milp` and `since`
        replace what they say. `timeout` (seconds) and `threads` replace what the spec says for each task; `jobs` tasks
        run at once (None: what the spec says, up to one per core). `progress` shows what runs: None in notebooks, True
        on a terminal, too; a `monitor` of one's own is told instead. Running out of a budget never raises: see each
        result's `reason`. `since` is the folder of an earlier run, whose proofs are hints for those of this one.

        With `milp` a mixed-integer solver is asked, as a last resort, about what splitting does not settle. An input
        that it finds is checked as any other; what rests on its word alone stays unknown, with the reason "solver".

        `cache` True, or a folder, keeps results and takes those that are kept; with `resume` searches that were
        interrupted or ran out of time go on where they stopped.

        `certify` is a folder for the certificate of each verdict, where models in memory are kept, too, as the ONNX
        files that were read; each result says where its certificate is, or why there is none.

        With `client`, a `distributed.Client`, searches are run by the workers of its cluster; it is neither started nor
        closed here. ResourceError if the cluster cannot be reached.
        """
        results = open_cache(cache, resume=resume)
        with engine_on(client) as engine, certifying(options_with(options, settings), certify) as chosen:
            return self.run(self.select(select, tags), chosen, jobs, monitor, results, progress=progress, engine=engine)

    def run(
        self,
        chosen: Sequence[Task | Search],
        options: Options | None = None,
        jobs: int | None = None,
        monitor: Monitor | None = None,
        cache: ResultCache | None = None,
        *,
        progress: bool | None = None,
        stop: Callable[[], bool] | None = None,
        engine: Engine | None = None,
    ) -> Report:
        """Run tasks and searches of this spec that were selected before; `stop` ends it, as Ctrl-C does, by answering
        True.
        """
        began = perf_counter()
        if jobs is None:
            jobs = min(max((item.budget.jobs or 1 for item in chosen), default=1), cores())
            jobs = max(jobs, (engine and engine.at_once) or 1)
        with shown(progress, len(chosen)) if monitor is None else nullcontext(monitor) as told:
            outcome = run_all(Runner(options, cache, engine), chosen, told, jobs, stop=stop)
        if cache is not None:
            cache.store.tidy()
        return Report(
            results=tuple(outcome.results),
            seconds=perf_counter() - began,
            interrupted=outcome.interrupted,
            left_out=len(chosen) - len(outcome.results),
            failures=tuple(outcome.failures),
        )


def load(
    path: StrPath,
    params: Mapping[str, compiler.Override] | None = None,
    *,
    checks: Iterable[str] | str | None = None,
    networks: Mapping[str, Model] | None = None,
) -> Spec:
    """Read and compile a spec file, with `params` instead of the values it gives, or only some of its `checks`.

    `networks` take the place of the files the spec names, as {"pruned": module}: paths, or models in memory as
    `as_network` takes them. SpecError with everything that is wrong, InputError for a name that is no network.
    """
    return _spec(compiler.load(os.fspath(path), params, only=_several(checks), networks=_networks(networks)))


def loads(
    text: str | ast.File,
    params: Mapping[str, compiler.Override] | None = None,
    *,
    directory: StrPath = ".",
    networks: Mapping[str, Model] | None = None,
    name: str = "<text>",
) -> Spec:
    """Compile the text of a spec, or one built in memory from `eqspec.spec.ast`.

    Paths in it are relative to `directory`, `networks` as in `load`; findings call the text by its `name`. SpecError
    with everything that is wrong.
    """
    written = text if isinstance(text, str) else printer.text(text)
    compiled = compiler.loads(written, params, name=name, directory=os.fspath(directory), networks=_networks(networks))
    return _spec(compiled)


def check(
    path: StrPath,
    *,
    select: Iterable[str] | str | None = None,
    checks: Iterable[str] | str | None = None,
    tags: Iterable[str] | str | None = None,
    params: Mapping[str, compiler.Override] | None = None,
    networks: Mapping[str, Model] | None = None,
    jobs: int | None = None,
    monitor: Monitor | None = None,
    progress: bool | None = None,
    cache: bool | StrPath = False,
    resume: bool = False,
    certify: StrPath | None = None,
    client: Client | str | None = None,
    options: Options | None = None,
    **settings: Unpack[Keywords],
) -> Report:
    """Check a spec file: `load`, then `Spec.check`.

    SpecError if the spec cannot be used, InputError if an argument makes no sense.
    """
    return load(path, params, checks=checks, networks=networks).check(
        select=select,
        tags=tags,
        jobs=jobs,
        monitor=monitor,
        progress=progress,
        cache=cache,
        resume=resume,
        certify=certify,
        client=client,
        options=options,
        **settings,
    )


def _spec(compiled: compiler.Compiled) -> Spec:
    return Spec(compiled.tasks, compiled.finds, compiled.diagnostics, compiled.program.root.file)


def _networks(given: Mapping[str, Model] | None) -> dict[str, Network]:
    return {name: as_network(model) for name, model in (given or {}).items()}


def _several(given: Iterable[str] | str | None) -> list[str] | None:
    return None if given is None else [given] if isinstance(given, str) else list(given)


def select(
    specs: Sequence[Spec],
    patterns: Iterable[str] | str | None = None,
    tags: Iterable[str] | str | None = None,
    checks: Iterable[str] | str | None = None,
) -> list[list[Task | Search]]:
    """The same from several specs; each pattern, tag and check must match something in one of them."""
    items: list[list[Task | Search]] = [[*spec.tasks, *spec.searches] for spec in specs]
    for kind, wanted in (("task", _several(patterns)), ("tag", _several(tags)), ("check", _several(checks))):
        if wanted is None:
            continue
        for word in wanted:
            if not any(_matches(item, kind, word) for group in items for item in group):
                known = list(dict.fromkeys(n for group in items for i in group for n in _names(i, kind)[:1]))
                raise InputError(f"no {kind} matches {word!r}{hint(word, known, kind)}")
        items = [[i for i in group if any(_matches(i, kind, word) for word in wanted)] for group in items]
    return items


def _names(item: Task | Search, kind: str) -> Sequence[str]:
    """The names by which a task or search is selected, its own name first."""
    match kind:
        case "tag":
            return item.tags
        case "check":
            return [item.check]
        case _:
            return [item.id, item.check]


def _matches(item: Task | Search, kind: str, word: str) -> bool:
    return any(_like(name, word) for name in _names(item, kind))


def _like(name: str, pattern: str) -> bool:
    """Whether a name matches a pattern. Brackets are part of ids, so they are not special."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))
