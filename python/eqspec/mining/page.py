"""What was found, in words: how many, of which kinds, in how many islands, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from eqspec.mining.found import Counterexamples, Counts
from eqspec.report.numbers import count, plural

_MOST_TASKS, _MOST_KINDS, _MOST_ISLANDS = 20, 8, 6


def lines(found: Counterexamples) -> list[tuple[int, str]]:
    """What a terminal shows, each line with the number of blanks in front of it."""
    telling = [counts for counts in found.counts if counts.kept or counts.denied or counts.unconfirmed]
    said = [line for counts in telling[:_MOST_TASKS] for line in _of_task(found, counts)]
    if (more := len(telling) - _MOST_TASKS) > 0:
        said.append((0, f"... and {plural(more, 'more task')}"))
    if silent := [counts for counts in found.counts if counts not in telling]:
        which = silent[0].task if len(silent) == 1 else plural(len(silent), "task")
        said.append((0, f"{which}: none, of {count(sum(c.tried for c in silent))} inputs looked at"))
    if len(found.counts) > 1:
        said.append((0, f"{plural(len(found), 'counterexample')} in all"))
    if kinds := _kinds(found):
        said.append((0, f"reference -> candidate: {kinds}"))
    if found.ended is not None:
        why = "Time ran out" if found.ended == "timeout" else "Interrupted"
        said.append((0, f"{why}: there may be more to find."))
    if len(found):
        said.append((0, "These are examples, not a census: how many there are, and where, is not known."))
    else:
        said.append((0, "That none was found proves nothing; 'eqspec check' proves, or searches everywhere."))
    return said


def _of_task(found: Counterexamples, counts: Counts) -> Iterator[tuple[int, str]]:
    yield 0, f"{counts.task}: {plural(counts.kept, 'counterexample')}, of {count(counts.tried)} inputs looked at"
    if counts.kept:
        number = next(i for i, other in enumerate(found.counts) if other is counts)
        sizes = Counter(found.island[found.task == number].tolist())
        listed = ", ".join(count(size) for _, size in sizes.most_common(_MOST_ISLANDS))
        more = ", ..." if len(sizes) > _MOST_ISLANDS else ""
        yield 2, f"{plural(counts.islands, 'island')}, with {listed}{more} of them"
        yield 2, f"each replayed in exact arithmetic{_asked(counts)}"
        if near := _near(found, found.task == number):
            yield 2, near
    if counts.denied:
        yield 2, f"{count(counts.denied)} left out: they break the claim in floats, and not in exact arithmetic"
    if counts.unconfirmed:
        yield 2, f"{count(counts.unconfirmed)} left out: in onnxruntime, which rounds, they do not break the claim"


def _near(found: Counterexamples, here: NDArray[np.bool_]) -> str:
    """How far from the nearest rows of a table they are; "" where there is none."""
    here = here & (found.nearest_row >= 0)
    if not here.any():
        return ""
    apart, tables = found.distance[here], dict.fromkeys(found.table[here].tolist())
    said = f"the nearest row of {' or '.join(tables)} is {np.median(apart):.3g} away in the median"
    rows = int((apart == 0.0).sum())
    where = "" if np.array_equal(found.normalised, found.raw) else ", after normalisation"
    return f"{said}{where}" + (f"; {count(rows)} {'is' if rows == 1 else 'are'} such rows" if rows else "")


def _asked(counts: Counts) -> str:
    if not counts.unasked:
        return ", and confirmed by onnxruntime"
    return f"; onnxruntime was not asked about {count(counts.unasked)}: {counts.reason}"


def _kinds(found: Counterexamples) -> str:
    """How often which class of the reference became which of the candidate, where claims are about decisions."""
    apart = found.reference_label != found.candidate_label
    pairs = Counter(zip(found.reference_label[apart].tolist(), found.candidate_label[apart].tolist(), strict=True))
    names = found.space.outputs
    shown = [f"{names[a]} -> {names[b]} {count(n)}" for (a, b), n in pairs.most_common(_MOST_KINDS)]
    return ", ".join(shown) + (f", {len(pairs) - _MOST_KINDS} more kinds" if len(pairs) > _MOST_KINDS else "")
