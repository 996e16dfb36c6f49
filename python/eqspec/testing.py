"""Assertions for tests of one's own: a pair on a region, or a whole spec, with failures that explain themselves.

    def test_pruning_keeps_sure_decisions():
        assert_equivalent("full.onnx", pruned, region=(lower, upper), confidence=0.9, timeout=60)

Results are kept, as those of `eqspec check`: what was decided is not decided again while models, region and claim stay
the same. `cache=False`, or EQSPEC_CACHE=off, decides anew. The tests of a spec file need none of this: pytest collects
`*.eqspec` by itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from numpy.typing import ArrayLike

from eqspec.api import Report, Spec, check, verify
from eqspec.api.box_task import Bounds
from eqspec.errors import InputError
from eqspec.networks import Model, as_network
from eqspec.property import Confidence, Epsilon, Margin, Norm, Number, Property, Top1
from eqspec.report import failure
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason, Verdict

__all__ = [
    "DifferentError", "NotExpectedError", "UndecidedError", "VacuousError", "assert_equivalent", "assert_spec",
]  # fmt: skip

Region: TypeAlias = tuple[Bounds, Bounds] | int | float
Cache: TypeAlias = bool | str | os.PathLike[str]


class ClaimError(AssertionError):
    """A claim that was not proved; `result` has everything that is known of it."""

    def __init__(self, result: Result) -> None:
        self.result = result
        super().__init__(failure.explanation(result))


class DifferentError(ClaimError):
    """The claim breaks at the input `result.witness`."""


class UndecidedError(ClaimError):
    """The claim was neither proved nor refuted; `result.reason` says why. More time may help."""


class VacuousError(ClaimError):
    """Nothing in the region meets the condition, so the claim holds for nothing."""


class NotExpectedError(ClaimError):
    """The claim was proved where the spec expects something else."""


def assert_equivalent(
    reference: Model,
    candidate: Model,
    region: Region,
    *,
    eps: Number | None = None,
    norm: Norm = "linf",
    top1: bool = False,
    confidence: Number | None = None,
    margin: Number | None = None,
    constraints: tuple[ArrayLike, ArrayLike] | None = None,
    decide: Literal["max", "min"] = "max",
    scores: Literal["logits", "probabilities"] | None = None,
    timeout: float | None = 60.0,
    threads: int | None = None,
    cache: Cache = True,
) -> Result:
    """Fail unless the candidate is proved equivalent to the reference on a region.

    Args:
        reference: a model with I inputs: a path, a model in memory (see `as_network`), a network.
        candidate: the model that is to behave like it.
        region: (lower, upper), each I numbers in the units the networks take; or a number r for every input from -r to
            r, which for z-scored inputs is r sigma around the mean.
        eps: outputs differ by at most this much, in `norm` (linf, l1, l2).
        top1: every class the reference puts first, the candidate puts first, too.
        confidence: the same wherever the softmax of the reference is at least this for some class.
        margin: the same wherever the reference puts a class ahead of the others by at least this.
        constraints: A (q, I) and b (q,): only inputs with A x <= b count.
        decide: whether the largest or the smallest score decides.
        scores: "logits" or "probabilities": of what `eps` is a distance, where a model ends in Softmax; see
            `eqspec.verify`.
        timeout: seconds; None for no limit.
        threads: None for one per core.
        cache: where the result is kept, and taken from if it is known: True for the usual folder (EQSPEC_CACHE, or the
            system's place for caches), a folder, or False to decide anew and keep nothing.

    Returns:
        The result, whose verdict is equivalent.

    Raises:
        DifferentError: with an input that breaks the claim. This and the next two are AssertionErrors.
        UndecidedError: when time ran out or nothing more can be done.
        VacuousError: when the claim holds for nothing.
        InputError: when something given cannot be used; exactly one of `eps`, `top1`, `confidence` and `margin` is to
            be given.
        NetworkError: when a network cannot be used.
        KeyboardInterrupt: when Ctrl-C stopped the search; what was proved is kept, as by `verify`.
    """
    __tracebackhide__ = _of_ours
    claim = _claim(eps, norm, top1=top1, confidence=confidence, margin=margin)
    first, second = as_network(reference), as_network(candidate)
    lower, upper = _corners(region, first.input_size)
    result = verify(
        first,
        second,
        lower,
        upper,
        claim,
        constraints=constraints,
        decide=decide,
        scores=scores,
        timeout=timeout,
        threads=threads,
        cache=cache,
    )
    if result.reason is Reason.INTERRUPTED:  # a failed assertion would let pytest go on with the next test
        raise KeyboardInterrupt
    if error := _failed(result):
        raise error
    return result


def assert_spec(
    spec: Spec | str | os.PathLike[str],
    *,
    networks: Mapping[str, Model] | None = None,
    params: Mapping[str, Number] | None = None,
    timeout: float | None = None,
    threads: int | None = None,
    cache: Cache = True,
) -> Report:
    """Fail unless every task of a spec comes out as it expects; the first that does not is explained.

    `networks` and `params` as in `eqspec.load`; `timeout` (seconds) and `threads` replace what the spec says; `cache`
    as in `assert_equivalent`. InputError where the spec has no tasks.
    """
    __tracebackhide__ = _of_ours
    if isinstance(spec, Spec):
        if networks or params:
            raise InputError("a loaded spec has its networks and params; give the path of the file to replace them")
        report = spec.check(timeout=timeout, threads=threads, cache=cache)
    else:
        given = None if params is None else dict(params)
        report = check(spec, networks=networks, params=given, timeout=timeout, threads=threads, cache=cache)
    if report.interrupted:  # what was left out would count as expected, and pytest would go on
        raise KeyboardInterrupt
    for _, problem in report.failures:
        raise problem
    for result in report:
        if error := _failed(result):
            raise error
    if not report.results:
        raise InputError(f"nothing to check in {'the spec' if isinstance(spec, Spec) else spec}; add a 'check' clause")
    return report


def _claim(eps: Number | None, norm: Norm, *, top1: bool, confidence: Number | None, margin: Number | None) -> Property:
    kinds: dict[str, tuple[object, Callable[[], Property]]] = {
        "eps": (eps is not None, lambda: Epsilon(eps or 0, norm)),
        "top1": (top1, Top1),
        "confidence": (confidence is not None, lambda: Confidence(confidence or 0)),
        "margin": (margin is not None, lambda: Margin(margin or 0)),
    }
    chosen = [name for name, (given, _) in kinds.items() if given]
    if len(chosen) != 1:
        found = f"{' and '.join(chosen)} are given" if chosen else "none is given"
        raise InputError(f"say what is to be the same by one of eps, top1, confidence, margin; {found}")
    return kinds[chosen[0]][1]()


def _corners(region: Region, size: int) -> tuple[Bounds, Bounds]:
    if isinstance(region, int | float):
        if not region >= 0:
            raise InputError(f"region = {region}; a single number is a radius, 0 or more")
        return [-region] * size, [region] * size
    try:
        lower, upper = region
    except (TypeError, ValueError):
        message = "region is a pair (lower, upper) of corners, or one number r for every input from -r to r"
        raise InputError(message) from None
    return lower, upper


def _failed(result: Result) -> ClaimError | None:
    if result.as_expected:
        return None
    if result.as_expected is None:
        return UndecidedError(result)
    if result.vacuous:
        return VacuousError(result)
    return DifferentError(result) if result.verdict is Verdict.DIFFERENT else NotExpectedError(result)


def _of_ours(info: object) -> bool:
    """Pytest shows the line of the test, and no frame of this file, when a claim fails."""
    return isinstance(getattr(info, "value", None), ClaimError)
