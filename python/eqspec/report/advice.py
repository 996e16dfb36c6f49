"""What would help an undecided task, from what results hold already: how fast its proof grew, what its neighbours in
the sweep came to, what is proved instead, and what its reason means.

Nothing here is a promise but what is said to be proved. A proof mostly slows down, so the time at today's rate is the
least to expect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from eqspec.report.numbers import bound_value, duration, exact_value, share
from eqspec.report.outcome import place
from eqspec.report.table import nearly_in_words
from eqspec.tasks.result import Result
from eqspec.tasks.search_statistics import Moment
from eqspec.tasks.verdict import Reason, Verdict

_TOO_LONG = 30 * 86400.0
"""Seconds beyond which a time is no advice."""
_REASONS = {
    Reason.MEMORY: "The open boxes filled the memory: allow more with --memory, or make the region smaller.",
    Reason.BOXES: "The limit on boxes was reached: allow more with --boxes.",
    Reason.SPURIOUS: "What is left holds or breaks too narrowly to be told apart: claim a little less.",
    Reason.INCOMPLETE: "What is left holds or breaks too narrowly to be told apart: claim a little less.",
    Reason.FLOAT_ONLY: "It breaks by rounding alone: allow a little more than rounding changes.",
    Reason.ROUNDING: "The claim allows less than rounding may change: allow more, or ask for the decision.",
    Reason.OFF_GRID: "It breaks between the points of the grid: make the region smaller, so that all can be tried.",
    Reason.UNDECIDED: "Exact integers did not settle it: make the region smaller or the type wider.",
    Reason.SIZE: "It was attacked alone: compare smaller inputs, or an output inside of the networks.",
    Reason.SOLVER: "A solver found nothing that breaks it, without a proof: --resume with more time may prove it.",
    Reason.INTERRUPTED: "It was stopped: --resume goes on from what was kept.",
}
_SAME_EVERYWHERE = ("row",)
"""Parameters of which no value is easier than another."""


def advice(result: Result, others: Sequence[Result] = ()) -> tuple[str, ...]:
    """Sentences, the most useful first; `others` are the results of the same run. Empty for what is decided."""
    if result.verdict is not Verdict.UNKNOWN or result.reason is Reason.ERROR:
        return ()
    said = []
    if (seen := result.sampled) is not None and seen.undefined:
        said.append(
            f"An output is no finite number at {seen.undefined} of {seen.points + seen.undefined} random inputs, as "
            "where a network divides by 0 or takes the logarithm of 0: make the region smaller, so that it has none of "
            "these."
        )
    if result.reason is Reason.TIMEOUT and result.find is None:
        said.append(_at_this_rate(result))
    elif result.reason is Reason.TIMEOUT:
        said.append("The bracket is not closed yet: more time narrows it.")
    elif result.reason is not None:
        said.append(_REASONS[result.reason])
    if result.nearly is not None:
        said.append(f"{nearly_in_words(result.nearly)} is proved.")
    said += _proved_beside(result, others)
    bound, claimed = result.initial_bound, result.sampled.limit if result.sampled is not None else None
    if claimed is not None and bound is not None and claimed < bound < math.inf:
        said.append(f"That no compared output differs by more than {bound_value(bound)} in the region is proved.")
    return tuple(said)


def _at_this_rate(result: Result) -> str:
    """A sentence on how long the rest would take at the rate of the second half of the search."""
    rate = _rate(result.history)
    if rate is None and _lacked_memory(result):
        return (
            "Its zonotopes do not fit in the memory of a task, and bounds without them are loose: allow more with "
            "--memory, or leave fewer inputs free."
        )
    if rate is None:
        if result.certified_fraction > 0.0:
            return "Nothing was proved in the second half of its time: a smaller region or a weaker claim helps more."
        return "Nothing is proved yet: make the region smaller or the claim weaker, and see what is proved then."
    left = (1.0 - result.certified_fraction) / rate
    if left > _TOO_LONG:
        return "At this rate the rest takes months: make the region smaller or the claim weaker."
    proved = share(result.certified_fraction)
    return f"{proved} is proved; at this rate the rest takes at least {duration(left)} more, with --resume from here."


def _lacked_memory(result: Result) -> bool:
    """Whether boxes were bounded, but no zonotopes made: what follows on these took no time at all."""
    seconds = result.effort.get("seconds", {})
    after = sum(seconds.get(stage, 0.0) for stage in ("rows", "dual", "programs"))
    return result.boxes > 0 and after == 0.0 and seconds.get("contraction", 0.0) > 10 * seconds.get("propagation", 0.0)


def _rate(history: Sequence[Moment]) -> float | None:
    """Proved share per second over the second half of the time; None if nothing was added."""
    if len(history) < 2:
        return None
    end = history[-1]
    begin = max((m for m in history if m.seconds <= end.seconds / 2), key=lambda m: m.seconds, default=history[0])
    grown, spent = end.certified - begin.certified, end.seconds - begin.seconds
    return grown / spent if grown > 0.0 and spent > 0.0 else None


def _proved_beside(result: Result, others: Sequence[Result]) -> list[str]:
    """The nearest value of each parameter at which the same check was proved, all else being the same."""
    said = []
    for name, here in result.parameters.items():
        if name in _SAME_EVERYWHERE:
            continue
        proved = [
            other.parameters[name]
            for other in others
            if other.verdict is Verdict.EQUIVALENT
            and not other.vacuous
            and (other.check, _file(other)) == (result.check, _file(result))
            and other.parameters.keys() == result.parameters.keys()
            and other.parameters[name] != here
            and all(other.parameters[n] == at for n, at in result.parameters.items() if n != name)
        ]
        if proved:
            nearest = min(proved, key=lambda at: abs(at - here))
            said.append(f"{name} = {exact_value(nearest)} was proved.")
    return said


def _file(result: Result) -> str:
    where = place(result)
    return where[0] if where else ""
