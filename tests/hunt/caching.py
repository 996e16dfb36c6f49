"""A case asked through the cache: twice, then with more to spend, then changed.

The second answer must come from the cache and be the first; a search that goes on must not lose its way; and whatever
the question depends on, however little of it changes, the answer must be found anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from eqspec.cache import Store
from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Property, Top1
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.task import Domain
from hunt.cases import Case
from hunt.deciding import Answer, answer_of, options, seen_by, task_of
from oracle.evaluate import outputs
from oracle.pairs import Pair, Random
from oracle.pieces import Layers

Asked = tuple[Case, Pair, Answer]

_POINTS = 8
_NOT_KEPT = "run exactly, with nothing to keep"
_QUICK = Path("/dev/shm")
"""Where there is one, in memory: what the store brings to disk is not what is hunted for."""


def ask_again(case: Case) -> Iterator[Asked]:
    """Each question and its answer, the case itself first."""
    with TemporaryDirectory(prefix="hunt-", dir=_QUICK if _QUICK.is_dir() else None) as name:
        store = Store(Path(name), tell=_complain)
        yield (first := _ask(store, case))
        yield _repeated(first[2], _ask(store, case))
        if first[2].reason == "boxes":
            more = replace(case, mode=replace(case.mode, boxes=8 * case.mode.boxes))
            yield _ask(store, more, resume=True)
        with suppress(ArithmeticError):  # the oracle's own, about numbers that are not of ordinary size any more
            other = changed(case, np.random.default_rng([case.mode.seed, 5]))
            asked = _ask(store, other)
            yield asked if _same_functions(case.pair, other.pair, case.mode.seed) else _found_anew(asked)


def _complain(message: str) -> None:
    """A store that is whole and can be written to has nothing to say."""
    raise RuntimeError(message)


def _ask(store: Store, case: Case, *, resume: bool = False) -> Asked:
    seen = seen_by(case)
    task = task_of(case, seen)
    result = Runner(options(case.mode), ResultCache(store, resume)).run(task)
    also = [*(["from the cache"] if result.cached else []), *(["resumed"] if result.resumed else [])]
    if task.lower_exact == task.upper_exact:
        also.append(_NOT_KEPT)
    return case, seen, replace(answer_of(result), also=tuple(also))


def _repeated(first: Answer, second: Asked) -> Asked:
    case, seen, answer = second
    known = "from the cache" in answer.also
    trouble = None
    if (answer.verdict, answer.reason, answer.vacuous) != (first.verdict, first.reason, first.vacuous):
        trouble = f"asked again, {first.verdict} becomes {answer.verdict}" if known else None
    elif not known and first.reason != "memory" and _NOT_KEPT not in answer.also:
        trouble = "asked again, the answer is not from the cache"
    return case, seen, replace(answer, trouble=answer.trouble or trouble)


def _found_anew(asked: Asked) -> Asked:
    case, seen, answer = asked
    known = "from the cache" in answer.also or "resumed" in answer.also
    trouble = "another question, and the old answer from the cache" if known else None
    return case, seen, replace(answer, trouble=answer.trouble or trouble, also=(*answer.also, "asked changed"))


def _same_functions(one: Pair, other: Pair, seed: int) -> bool:
    """Whether networks that were changed compute what they did, exactly, at points of the box: a neuron that is never
    above 0, or that nothing reads, may be left out, and what is asked is then the same question.
    """
    if one.reference is other.reference and one.candidate is other.candidate:
        return False
    rng = np.random.default_rng([seed, 6])
    for _ in range(_POINTS):
        shares = [Fraction(int(n), 16) for n in rng.integers(0, 17, len(one.lower))]
        point = [low + share * (high - low) for low, share, high in zip(one.lower, shares, one.upper, strict=True)]
        for before, now in ((one.reference, other.reference), (one.candidate, other.candidate)):
            if outputs(before, point) != outputs(now, point):
                return False
    return True


def changed(case: Case, rng: Random) -> Case:
    """A case that differs from this one in one thing, mostly by as little as can be told, and its truth."""
    pair, mode = case.pair, case.mode
    match int(rng.integers(6)):
        case 0:
            return case.with_pair(replace(pair, candidate=nudged(pair.candidate, rng)))
        case 1:
            return case.with_pair(replace(pair, reference=nudged(pair.reference, rng)))
        case 2:
            return case.with_claim(moved(case.claim))
        case 3:
            other: Domain = "paper" if mode.domain == "shared" else "shared"
            return replace(case, mode=replace(mode, domain=other))
        case 4 if pair.constraints:
            return case.with_pair(replace(pair, constraints=pair.constraints[1:]))
        case 5 if isinstance(case.claim, Top1 | Margin | Confidence):
            return case.with_pair(replace(pair, decide="max" if pair.decide == "min" else "min"))
    at = int(rng.integers(len(pair.upper)))
    wider = pair.upper[at] + Fraction(1, 2**30)
    return case.with_pair(replace(pair, upper=(*pair.upper[:at], wider, *pair.upper[at + 1 :])))


def nudged(layers: Layers, rng: Random) -> Layers:
    """The last digit of one number."""
    made = [(weight.copy(), bias.copy()) for weight, bias in layers]
    numbers = made[int(rng.integers(len(made)))][int(rng.integers(2))]
    place = tuple(int(rng.integers(size)) for size in numbers.shape)
    numbers[place] = np.nextafter(numbers[place], rng.choice([-1.0, 1.0]) * 1e300)
    return made


def moved(claim: Property) -> Property:
    """The threshold by less than a float can tell."""
    little = 1 + Fraction(1, 2**60)
    match claim:
        case Epsilon(eps):
            return replace(claim, eps=Fraction(eps) * little)
        case Margin(margin):
            return replace(claim, margin=Fraction(margin) * little + Fraction(1, 2**70))
        case Confidence(delta):
            return replace(claim, delta=Fraction(delta) / little)
        case Linear(_, _, bound, _):
            return replace(claim, bound=Fraction(bound) * little + Fraction(1, 2**70))
        case Top1():
            return Margin(Fraction(1, 2**60))
        case NeverWraps():
            return NeverSaturates()
        case NeverSaturates():
            return NeverWraps()
