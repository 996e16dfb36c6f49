"""Certificates of one spec, held against another one that differs in one thing: they must not answer it wrongly.

A certificate that `eqspec audit --spec` binds to a task of the other spec says that this one holds, or breaks. All the
points that are tried have their truth there, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import eqspec
from eqspec.certificates import Answer, Coverage, UnboundError
from eqspec.errors import SpecError
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from hunt.auditor_here import AuditorHere
from hunt.combined_case import Case, write_files
from hunt.combined_regions import random_region
from oracle.pairs import Random


def others(case: Case, rng: Random) -> Iterator[tuple[str, Case]]:
    """Specs that differ in one thing, by name of the thing."""
    for name in ("f", "g"):
        net = getattr(case, name)
        if case.g.type is not None:  # it takes and gives what the other one does
            continue
        yield f"{name} takes", replace(case, **{name: replace(net, raw=not net.raw)})
        if net.ending == "softmax":
            for gives in sorted({"", "logits", "probabilities"} - {net.gives}):
                yield f"{name} gives {gives}", replace(case, **{name: replace(net, gives=gives)})
    yield "exchanged", replace(case, f=case.g, g=case.f)
    claim = case.claim
    yield "decide", replace(case, claim=replace(claim, sign=-claim.sign))
    if claim.bound is not None:
        yield "bound", replace(case, claim=replace(claim, bound=claim.bound * Fraction(15, 16)))
        yield "smaller bound", replace(case, claim=replace(claim, bound=claim.bound / 2))
    yield "norm", replace(case, claim=replace(claim, norm="l1" if claim.norm != "l1" else "linf"))
    yield "chosen", replace(case, claim=replace(claim, chosen=() if claim.chosen else (case.outputs - 1,)))
    yield "places", replace(case, claim=replace(claim, places=claim.places[::-1]))
    yield "region", replace(case, region=random_region(rng, case.space, formal=case.region.formal))
    wider = replace(case.space, std=tuple(s * 2 for s in case.space.std))
    if wider.normaliser != "none":
        yield "space", replace(case, space=wider, region=replace(case.region, space=wider))
    for place, term in enumerate(case.region.terms):
        left = (*case.region.terms[:place], *case.region.terms[place + 1 :])
        if left and any(t.kind in ("box", "ball") for t in left):
            yield f"without its {term.kind}", replace(case, region=replace(case.region, terms=left))


def bound_wrongly(
    case: Case,
    results: Sequence[Result],
    folder: Path,
    rng: Random,
    judged: Callable[[Case, Answer, Fraction | None], list[str]],
) -> tuple[int, list[str]]:
    """How many certificates answer another spec, and those that do so wrongly, by `judged`."""
    answers = [Path(r.certificate) for r in results if r.certificate is not None]
    if not answers:
        return 0, []
    asked = [AuditorHere().ask(file, None, 20.0) for file in answers]
    count, wrong = 0, []
    for what, other in others(case, rng):
        write_files(other, folder)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                spec = eqspec.loads(other.spec(), directory=folder)
        except SpecError:
            continue
        for answer in asked:
            bound = _bound(spec, answer)
            count += bool(bound)
            for values in bound:
                wrong += [f"other {what}: {one}\n{other.spec()}" for one in judged(other, answer, values)]
    return count, wrong


def _bound(spec: eqspec.Spec, answer: Answer) -> list[Fraction | None]:
    """The values of the variable of the tasks that an answer is bound to."""
    if answer.refused is not None:
        return []
    asked = spec.select()
    searches = [one for one in asked if isinstance(one, Search)]
    coverage = Coverage([one for one in asked if not isinstance(one, Search)], searches)
    try:
        coverage.bind(answer)
    except UnboundError:
        return []
    found = [next(iter(one.task.parameters.values()), None) for one in coverage.tasks if one.answers]
    for search in coverage.searches:
        found += [value for value, _ in search.answers]
    return found
