"""Runs tasks: from a task to its result.

A `Runner` keeps what tasks share: aligned pairs, what runs searches, sessions of onnxruntime. Budgets
come from the task; options given here replace them. Running out of a budget is a verdict, never an exception.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from eqspec.errors import InternalError, ResourceError, SavedStateError
from eqspec.float_mode import require_ieee
from eqspec.networks.containment import quantised
from eqspec.property import Containment, Guarded, validate
from eqspec.replay.holding import likely_met
from eqspec.replay.onnx_runtime import RuntimeReplay
from eqspec.replay.replay import Replay
from eqspec.run import attack_alone, core
from eqspec.run.cache_key import key_of
from eqspec.run.description import describe
from eqspec.run.earlier_proofs import EarlierProofs, Hints
from eqspec.run.engine import Engine, Question, ThisMachine
from eqspec.run.exactness import decide, exhaustive
from eqspec.run.history import Recorder
from eqspec.run.improvement import improved
from eqspec.run.lowering import lower_constraints, lower_property
from eqspec.run.monitor import Monitor, Progress
from eqspec.run.nearly import nearly
from eqspec.run.number_ranges import refuse_out_of_range
from eqspec.run.open_boxes import undecided
from eqspec.run.options import Options
from eqspec.run.pairs import Pairs
from eqspec.run.random_inputs import inputs_of, largest_output, sample
from eqspec.run.result_cache import EarlierSearch, Effort, ResultCache
from eqspec.run.rounding import with_reason
from eqspec.tasks.emptiness import empty, off_grid
from eqspec.tasks.result import Nearly, Result
from eqspec.tasks.search_statistics import Moment, Reused
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness

_VACUITY_SECONDS, _VACUITY_SHARE = 2.0, 0.1
"""How long it is looked whether a proof by integers says anything: seconds, and a share of the time of the task."""
_BESIDE = "the claim breaks between points of the region's grid, so no bound can prove it"


Rest = Callable[[], Result]
"""What is left of a task once its search is over. It may be done by another thread, and gives the result."""


def ended(found: Result | Rest) -> Result:
    """The result, with what is left of its task done here."""
    return found if isinstance(found, Result) else found()


class Runner:
    """Runs tasks with the same options, from any number of threads."""

    def __init__(
        self, options: Options | None = None, cache: ResultCache | None = None, engine: Engine | None = None
    ) -> None:
        """Searches are run by `engine`; without one, by threads of this process."""
        self.options, self.cache = options or Options(), cache
        self.engine = engine or ThisMachine()
        since = self.options.since
        self._proofs = EarlierProofs(None if since is None else Path(since), cache.store if cache else None)
        self._pairs = Pairs()
        self._runtime = RuntimeReplay()
        self._lock = threading.Lock()
        self._unfinished: dict[str, threading.Event] = {}  # by key, set when the result is kept

    def run(
        self,
        task: Task,
        monitor: Monitor | None = None,
        *,
        stop: Callable[[], bool] | None = None,
        options: Options | None = None,
    ) -> Result:
        """Decide one task.

        Running out of time or memory, or Ctrl-C, gives a result with what is known by then; so does `stop`, asked
        about ten times a second, by answering True. `options` replaces the runner's own. Raises InputError if the
        claim makes no sense for the networks, or if float32 is claimed and could overflow; ResourceError if threads or
        memory are not to be had, or floats are not rounded to nearest. Whatever is raised, what is kept of the task
        from earlier runs stays.
        """
        return ended(self.begin(task, monitor, stop=stop, options=options))

    def begin(
        self,
        task: Task,
        monitor: Monitor | None = None,
        *,
        stop: Callable[[], bool] | None = None,
        options: Options | None = None,
    ) -> Result | Rest:
        """Decide one task up to the end of its search, as `run` does.

        What comes after a counterexample was found is the work of one thread. Where a task may use several, it is left
        to the caller, who does it, in whatever thread.
        """
        with _watched(task):
            found = self._run(task, monitor, stop, options or self.options)
        return found if isinstance(found, Result) else partial(_guarded, task, found)

    def _run(
        self, task: Task, monitor: Monitor | None, stop: Callable[[], bool] | None, options: Options
    ) -> Result | Rest:
        options = options.begun(task)
        validate(task.property, task.reference.output_size)
        refuse_out_of_range(task)
        if attack_alone.too_large(task) and not isinstance(task.property, Containment):
            if (settled := self._settled(task, stop, options)) is not None:
                return settled
            result = attack_alone.attacked(task, self.replay(task), stop, options)
            if options.certifier is None:
                return result
            return options.certifier.certify(task, result, options.seconds_of_writing(task))
        searched: Result | None = None
        if options.certifier is not None and _searched_first(task):
            searched = self._search(task, monitor, stop, options, EarlierSearch())
            if searched.verdict is not Verdict.UNKNOWN or searched.reason is Reason.INTERRUPTED:
                return searched
        settled = self._settled(task, stop, options) or searched
        if settled is not None:
            return settled
        if self.cache is None or options.certifier is not None:  # a certificate needs the whole proof, made now
            return self._decided(task, monitor, stop, options, EarlierSearch())
        key = self.key(task, options)
        if (same := self._unfinished.get(key)) is not None:
            same.wait()
        if (known := self._kept(self.cache, key, task, options)) is not None:
            return known
        with ExitStack() as held:
            earlier = held.enter_context(self.cache.search(key))
            found = self._decided(task, monitor, stop, options, earlier)
            keep = partial(_keep, self.cache, key, options.effort(task), earlier)
            if isinstance(found, Result):
                return keep(found)
            self._unfinished[key] = unfinished = threading.Event()
            return partial(_keep_later, found, keep, held.pop_all(), unfinished)

    def _settled(self, task: Task, stop: Callable[[], bool] | None, options: Options) -> Result | None:
        """The result of a task that is decided before any search; None if a search is needed."""
        began = perf_counter()
        try:
            settled = decide(task, options, self.replay(task), stop)
        except KeyboardInterrupt:
            return describe(task, options, Verdict.UNKNOWN, perf_counter() - began, reason=Reason.INTERRUPTED)
        return None if settled is None else self._finished(task, settled, stop, options)

    def _finished(self, task: Task, settled: Result, stop: Callable[[], bool] | None, options: Options) -> Result:
        """What exact integers decided, with whether it says anything, and its certificate where one is wanted."""
        claim = task.property
        if settled.verdict is Verdict.EQUIVALENT and not settled.vacuous:
            nothing = bool(task.constraints) and empty(task)  # of which what is decided took no notice
            if not nothing and isinstance(claim, Guarded):
                nothing = self._holds_for_nothing(task, claim, stop, options)
            settled = replace(settled, vacuous=nothing)
        if options.certifier is None:
            return settled
        return options.certifier.certify(task, settled, options.seconds_of_writing(task))

    def _holds_for_nothing(self, task: Task, claim: Guarded, stop: Callable[[], bool] | None, options: Options) -> bool:
        """Whether a search proves that nothing in the region meets the guard of a claim.

        The reference is asked about itself: the claim holds then, and what is left to find out is whether it says
        anything.
        """
        turned = task.space.decide == "min"
        with np.errstate(all="ignore"):  # a look at some inputs in floats, which proves nothing
            scores = task.reference.evaluate(inputs_of(task)).T
        if likely_met(claim, scores, lowest_wins=turned):
            return False
        alone = replace(task, candidate=task.reference, candidate_takes_raw=task.reference_takes_raw)
        seconds = min(_VACUITY_SECONDS, _VACUITY_SHARE * options.seconds(task))
        brief = replace(options, timeout=seconds, ends=None, milp=False, certifier=None, weaken=False)
        return self._search(alone, None, stop, brief, EarlierSearch()).vacuous

    def kept(self, task: Task) -> Result | None:
        """The result that the cache holds for a task; nothing is searched. None for tasks decided before any search.

        Raises InputError if the claim makes no sense for the networks.
        """
        if self.cache is None or (attack_alone.too_large(task) and not isinstance(task.property, Containment)):
            return None
        validate(task.property, task.reference.output_size)
        return self._kept(self.cache, self.key(task), task, self.options)

    def _kept(self, cache: ResultCache, key: str, task: Task, options: Options) -> Result | None:
        blank = describe(task, options, Verdict.UNKNOWN, 0.0)
        return cache.result(key, task, blank, options.effort(task), self.replay(task))

    def key(self, task: Task, options: Options | None = None) -> str:
        """The key of a task's result in the cache."""
        if isinstance(task.property, Containment):  # the core is asked nothing about it
            return key_of(task, b"")
        options = options or self.options
        pair, claim = self._lowered(task, options)
        settings, rows = options.settings(task), lower_constraints(task)
        return key_of(task, core.fingerprint(pair, task.lower, task.upper, claim, settings, constraints=rows))

    def _lowered(self, task: Task, options: Options) -> tuple[core.Pair, core.Property]:
        with self._lock:
            pair = self._pairs.of(task, options, matched=self._matched(options))
        return pair, lower_property(task.property, task.reference.output_size)

    def _matched(self, options: Options) -> bool:
        """Whether neurons that are alike stand side by side.

        The auditor reads both networks as their files have them; the published search is kept as it was published.
        """
        return options.certifier is None and options.domain == "shared"

    def _decided(
        self,
        task: Task,
        monitor: Monitor | None,
        stop: Callable[[], bool] | None,
        options: Options,
        earlier: EarlierSearch,
    ) -> Result | Rest:
        """The result of a search; where all cells of the region can be run, that is done after it, or in its place."""
        began, about_one = perf_counter(), isinstance(task.property, Containment)
        planned = exhaustive(task, options)
        if planned is None or not planned.fits:
            if about_one:
                told = None if planned is None else planned.in_words
                return describe(task, options, Verdict.UNKNOWN, 0.0, reason=Reason.UNDECIDED, message=told)
            return self._searched(task, monitor, stop, options, earlier)
        searched: Result | None = None
        if not about_one:
            brief = replace(options, ends=perf_counter() + planned.before, weaken=False)
            searched = self._search(task, monitor, stop, brief, earlier)
        watching = _watching(task, Recorder(), monitor, stop)
        if searched is not None:
            if searched.verdict is Verdict.EQUIVALENT and not searched.vacuous:
                return replace(searched, vacuous=planned.says_nothing(task, options, watching, began))
            if searched.verdict is not Verdict.UNKNOWN or searched.reason is Reason.INTERRUPTED:
                return searched
        found = planned.run(task, options, self.replay(task), watching, began)
        if found.verdict is Verdict.UNKNOWN and searched is not None:
            return searched if (searched.certified_fraction or 0.0) > (found.certified_fraction or 0.0) else found
        return self._finished(task, found, stop, options)

    def _search(
        self,
        task: Task,
        monitor: Monitor | None,
        stop: Callable[[], bool] | None,
        options: Options,
        earlier: EarlierSearch,
    ) -> Result:
        return ended(self._searched(task, monitor, stop, options, earlier))

    def _searched(
        self,
        task: Task,
        monitor: Monitor | None,
        stop: Callable[[], bool] | None,
        options: Options,
        earlier: EarlierSearch,
    ) -> Result | Rest:
        began = perf_counter() - earlier.seconds
        pair, claim = self._lowered(task, options)
        question = Question(task, pair, claim, lower_constraints(task), matched=self._matched(options))
        replay, recorder = self.replay(task), Recorder()
        hints = self._proofs.hints(task) if earlier.state is None else None
        solve = partial(
            self.engine.solve,
            question,
            options,
            confirm=partial(replay.confirm, ask=False),  # the witness is asked for in the end, once it is improved
            progress=_watching(task, recorder, monitor, stop),
            **self._kept_for_later(task, options, hints),
        )
        solution, began = self._solved(solve, earlier, began)
        resumed, reused = earlier.state is not None, _reused(hints, solution)
        rest = partial(
            self._concluded, question, options, solution, replay, recorder, began, stop, resumed=resumed, reused=reused
        )
        if solution.verdict == Verdict.DIFFERENT and options.certifier is None and options.workers(task) > 1:
            return rest
        return rest()

    def _concluded(
        self,
        question: Question,
        options: Options,
        solution: core.Solution,
        replay: Replay,
        recorder: Recorder,
        began: float,
        stop: Callable[[], bool] | None,
        *,
        resumed: bool,
        reused: Reused | None,
    ) -> Result:
        """The result of a search that is over."""
        task, pair = question.task, question.pair
        shown = {
            "resumed": resumed,
            "reused": reused,
            "history": recorder.until(
                Moment(solution.seconds, solution.certified_fraction, solution.boxes, solution.open_boxes)
            ),
            "undecided": undecided(task, solution.open_sample),
            "sampled": sample(task, pair),
        }
        if solution.verdict == Verdict.EQUIVALENT and replay.confirmed:
            # The last safeguard: an input that exactly violates the claim refutes any proof of it.
            raise InternalError("the core reports a proof, and a replayed input contradicts it; please report this")
        witness: Witness | None = solution.witness
        if witness is not None:
            witness = improved(question, options, replay, witness, perf_counter() - began)
        result = _result(task, options, solution, witness, perf_counter() - began, shown)
        result = with_reason(task, _with_grid_reason(result) if replay.beside else result)
        if options.weaken and result.verdict is Verdict.UNKNOWN:
            result = replace(result, nearly=self._nearly(task, result, pair, stop, options))
        if options.certifier is None:
            return result
        return options.certifier.certify(task, result, options.seconds_of_writing(task))

    def _kept_for_later(self, task: Task, options: Options, hints: Hints | None) -> dict[str, Any]:
        """What the engine is told of proofs of other networks: the hints of an earlier one, and where this one goes."""
        also: dict[str, Any] = {} if hints is None else {"hints": hints.trail}
        if options.certifier is None and self._proofs.may_keep:  # else the record is kept, and is the one for auditors
            also["keep_trail"] = partial(self._proofs.keep, task)
        return also

    def _solved(
        self, solve: Callable[..., core.Solution], earlier: EarlierSearch, began: float
    ) -> tuple[core.Solution, float]:
        """The answer of the engine, which goes on from a saved search if there is one; and when the search began."""
        if earlier.may_save and self.cache is not None:
            every = self.cache.keep_every
            solve = partial(solve, keep=lambda state: earlier.save(state, perf_counter() - began), keep_every=every)
        if earlier.state is None:
            return solve(), began
        try:
            return solve(state=earlier.state), began
        except SavedStateError as problem:  # anything else says nothing about the state, which stays
            earlier.put_aside(str(problem))
            began = perf_counter()
            return solve(), began

    def _nearly(
        self, task: Task, result: Result, pair: core.Pair, stop: Callable[[], bool] | None, options: Options
    ) -> Nearly | None:
        def proves(easier: Task, seconds: float) -> bool:
            brief = replace(options, timeout=seconds, ends=None, milp=False, certifier=None, weaken=False)
            return self._search(easier, None, stop, brief, EarlierSearch()).verdict is Verdict.EQUIVALENT

        return nearly(task, result, largest_output(task, pair), proves)

    def replay(self, task: Task) -> Replay:
        """The replay of a task's candidates, onnxruntime included."""
        return Replay(task, self._runtime)


@contextmanager
def _watched(task: Task) -> Iterator[None]:
    """What every part of a task needs: floats rounded to nearest before and after it, and memory."""
    require_ieee()
    try:
        yield
    except MemoryError:
        raise ResourceError(f"{task.id}: there is not enough memory; run fewer tasks or threads at once") from None
    require_ieee()  # what is decided without a search would not notice


def _guarded(task: Task, rest: Rest) -> Result:
    with _watched(task):
        return rest()


def _keep(cache: ResultCache, key: str, effort: Effort, earlier: EarlierSearch, result: Result) -> Result:
    """Keep a result, and give up the search that led to it once it is decided."""
    kept = cache.keep(key, result, effort)
    if kept and result.verdict is not Verdict.UNKNOWN:  # not before: else a full disk would lose both
        earlier.remove()
    return result


def _keep_later(rest: Rest, keep: Callable[[Result], Result], held: ExitStack, unfinished: threading.Event) -> Result:
    """The result of a search whose rest was left, kept; an equal task waits until it is."""
    try:
        with held:
            return keep(rest())
    finally:
        unfinished.set()


def _searched_first(task: Task) -> bool:
    """Whether a certificate is more likely to come of a search than of what exact integers decide before any."""
    whole = not task.lattices and not isinstance(task.property, Containment)
    return whole and not any(map(quantised, (task.reference, task.candidate)))


def _watching(
    task: Task, recorder: Recorder, monitor: Monitor | None, stop: Callable[[], bool] | None
) -> Callable[[Progress], None]:
    """A function that records and shows the progress of a search, and ends it as Ctrl-C does when `stop` says so."""

    def progress(state: Progress) -> None:
        recorder.note(state)
        if stop is not None and stop():
            raise KeyboardInterrupt
        if monitor is not None:
            monitor.progress(task, state)

    return progress


def _with_grid_reason(result: Result) -> Result:
    """An undecided result of a claim that breaks between the points of its grid, which says so."""
    if result.verdict is not Verdict.UNKNOWN:
        return result
    given_up = result.reason in (Reason.INCOMPLETE, Reason.FLOAT_ONLY, Reason.SPURIOUS)
    return replace(result, reason=Reason.OFF_GRID if given_up else result.reason, message=_BESIDE)


def _reused(hints: Hints | None, solution: core.Solution) -> Reused | None:
    """What was taken over from an earlier proof; None if the engine did not look at it, or could not read it."""
    if hints is None or solution.reused is None:
        return None
    taken_up, steps = solution.reused
    return Reused(hints.source, steps, min(taken_up, steps))


def _result(
    task: Task,
    options: Options,
    solution: core.Solution,
    witness: Witness | None,
    seconds: float,
    shown: Mapping[str, Any],
) -> Result:
    verdict = Verdict(solution.verdict)
    reason = Reason(solution.reason) if verdict is Verdict.UNKNOWN and solution.reason else None
    if (verdict is Verdict.DIFFERENT) != (witness is not None):
        raise InternalError("the core reports a difference that no replay confirmed, or hides one that was confirmed")
    return describe(
        task,
        options,
        verdict,
        seconds,
        reason=reason,
        vacuous=solution.vacuous or (verdict is Verdict.EQUIVALENT and off_grid(task)),
        boxes=solution.boxes,
        splits=solution.splits,
        lps=solution.lps,
        milps=solution.milps,
        rests_on_solver=solution.rests_on_solver,
        initial_bound=solution.initial_bound,
        certified_fraction=solution.certified_fraction,
        open_boxes=solution.open_boxes,
        stages=dict(solution.stages),
        effort=dict(solution.effort),
        worst_open=_plain(solution.worst_open),
        witness=witness,
        **shown,
    )


def _plain(found: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The worst open box in plain numbers."""
    if found is None:
        return None
    return {**found, "lower": found["lower"].tolist(), "upper": found["upper"].tolist()}
