"""A hunt through what a spec can say together: `PYTHONPATH=python:tests python -m hunt.combined --cases N`.

A case is a spec: a space with any normalisation, two small networks in any form (raw or normalised, several inputs,
integers, levels, one output of several, a softmax, fixed point of the other one), a region of boxes, balls, grids and
inequalities, perhaps with a formal parameter, and a check with a sweep, a search for the best value, or neither. All
is rational, so that every point of the region that is tried has its truth; where the region is a grid, all points are.

What must never be: a proof that one of the points breaks; a counterexample outside of the region or that breaks
nothing, or of a claim that holds at all points of a grid; `vacuous` where a point meets the guard; a bracket of a
search that a point contradicts; a region called empty in which there is a point; a certificate that answers another
spec wrongly. With `--calls` questions are asked from Python.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import eqspec
from eqspec.api.cache_choice import open_cache
from eqspec.certificates import Answer, Certifier
from eqspec.errors import EqspecError, SpecError
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.tasks.result import Result
from hunt.combined_audit import bound_wrongly, others
from hunt.combined_calls import call_of, called
from hunt.combined_case import Case, case_of, write_files
from hunt.combined_networks import Numbers
from hunt.combined_regions import Points
from oracle.pairs import Random

_BESIDE = 3
"""Specs that differ in one thing, which are asked with the results of a case at hand."""
_FEW = 6
"""Boxes of a search that is stopped."""
_EMPTY = {"E133", "E147"}
"""Findings that call a region empty."""


def judge(
    seed: int, folder: Path, certifier: Certifier | None = None, cache: ResultCache | None = None
) -> tuple[str, list[str]]:
    """What eqspec says of a case, and what is wrong with it. With a cache, other specs are asked beside it."""
    case = case_of(seed)
    rng = np.random.default_rng([seed, 32])
    first = [] if cache is None else _asked(case, folder, rng, None, cache, _FEW)[2]  # the next one goes on with it
    said, results, wrong = _asked(case, folder, rng, certifier, cache)
    wrong += first
    if certifier is not None:
        wrong += bound_wrongly(case, results, folder, rng, partial(_of_answer, rng))[1]
    if cache is not None and results:
        near = list(others(case, rng))
        chosen = [near[int(n)] for n in rng.permutation(len(near))[:_BESIDE]]
        for what, other in (*chosen, ("again", case)):
            _, _, found = _asked(other, folder, rng, None, cache)
            wrong += [f"{what}: {complaint}\n{other.spec()}" for complaint in found]
    return said, wrong


def _asked(
    case: Case, folder: Path, rng: Random, certifier: Certifier | None, cache: ResultCache | None, boxes: int = 300
) -> tuple[str, Sequence[Result], list[str]]:
    """What eqspec says of a spec in words, its results, and what is wrong with them."""
    write_files(case, folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spec = eqspec.loads(case.spec(), directory=folder)
            options = Options(timeout=5.0, threads=1, boxes=boxes, certifier=certifier)
            results = spec.run(spec.select(), options, cache=cache, progress=False).results
    except SpecError as error:
        codes = sorted({d.code for d in error.diagnostics if d.severity == "error"})
        wrong = _wrongly_empty(case, rng) if _EMPTY & set(codes) else []
        return "refused " + ", ".join(codes), (), wrong
    wrong = [complaint for result in results for complaint in _complaints(case, result, rng)]
    return " ".join(sorted({_shown(r) for r in results})), results, wrong


def judge_call(seed: int, folder: Path) -> tuple[str, list[str]]:
    """The same of a case that is asked in one call from Python."""
    case = call_of(seed)
    if case is None:
        return "not asked", []
    try:
        result = called(case, folder)
    except EqspecError as error:
        return f"refused by {type(error).__name__}", []
    bound = case.claim.bound
    assert bound is not None
    points = case.region.points(Fraction(1))
    return _shown(result), _of_verdict(case, points, bound, result, np.random.default_rng([seed, 32]))


def _shown(result: Result) -> str:
    reason = "" if result.reason is None else f" ({result.reason.value})"
    return f"{'find ' if result.find else ''}{result.verdict.value}{' vacuous' if result.vacuous else ''}{reason}"


def _wrongly_empty(case: Case, rng: Random) -> list[str]:
    """Of a region that was called empty, a point in it at every value of its variable (one of them may be meant)."""
    values_tried = case.sweep or ((case.find[2], case.find[3]) if case.find else (Fraction(1),))
    if not case.region.formal:
        values_tried = values_tried[:1]
    if all(case.region.points(v).listed(rng)[0] for v in values_tried):
        return ["called empty, and it has a point"]
    return []


def _complaints(case: Case, result: Result, rng: Random) -> list[str]:
    formal = case.region.formal
    if result.find is not None:
        return _of_search(case, result, rng)
    given = next(iter(result.parameters.values()), Fraction(1))
    bound = case.claim.bound if case.claim.bound is not None else given
    points = case.region.points(given if formal else Fraction(1))
    return _of_verdict(case, points, bound, result, rng)


def _of_verdict(case: Case, points: Points, bound: Fraction, result: Result, rng: Random) -> list[str]:
    """What is wrong with a verdict about one value."""
    listed, every = points.listed(rng)
    truths = [case.truth(x, bound) for x in listed]
    wrong = []
    if result.verdict is eqspec.Verdict.EQUIVALENT:
        wrong += [f"proved, and broken at {x}" for x, t in zip(listed, truths, strict=True) if t.broken][:1]
        if result.vacuous:
            wrong += [f"vacuous, and met at {x}" for x, t in zip(listed, truths, strict=True) if t.met][:1]
        elif every and all(t.met is False for t in truths):
            wrong.append("? not called vacuous, and no point meets it")
    if result.verdict is eqspec.Verdict.DIFFERENT:
        assert result.witness is not None
        wrong += _of_witness(case, points, bound, result.witness.raw)
        if every and case.arithmetic == "real" and all(t.broken is False for t in truths):
            wrong.append("different, and no point breaks it")
    return wrong


def _of_answer(rng: Random, case: Case, answer: Answer, value: Fraction | None) -> list[str]:
    """What is wrong with an auditor's answer to a task of a spec."""
    given = Fraction(1) if value is None else value
    bound = case.claim.bound if case.claim.bound is not None else given
    listed, every = case.region.points(given if case.region.formal else Fraction(1)).listed(rng)
    truths = [case.truth(x, bound) for x in listed]
    if answer.verdict == "equivalent":
        wrong = [f"audited, and broken at {x}" for x, t in zip(listed, truths, strict=True) if t.broken][:1]
        met = [x for x, t in zip(listed, truths, strict=True) if t.met]
        return [*wrong, *(f"audited as vacuous, and met at {x}" for x in met[:1] if answer.vacuous)]
    if every and case.arithmetic == "real" and all(t.broken is False for t in truths):
        return ["audited as different, and no point breaks it"]
    return []


def _of_witness(case: Case, points: Points, bound: Fraction, x: Numbers) -> list[str]:
    if not points.has(x):
        return [f"the counterexample {x} is not in the region"]
    return [f"the counterexample {x} breaks nothing"] if case.truth(x, bound).broken is False else []


def _of_search(case: Case, result: Result, rng: Random) -> list[str]:
    """What is wrong with a bracket."""
    found = result.find
    assert found is not None
    wrong = []

    def at(value: Fraction) -> tuple[Points, Fraction]:
        bound = case.claim.bound if case.claim.bound is not None else value
        return case.region.points(value if case.region.formal else Fraction(1)), bound

    if found.proved is not None:
        points, bound = at(found.proved)
        for x in points.listed(rng)[0]:
            if case.truth(x, bound).broken:
                wrong.append(f"proved at {found.proved}, and broken at {x}")
                break
    if found.refuted is not None:
        points, bound = at(found.refuted)
        if found.witness is None:
            wrong.append("refuted without a witness")
        else:
            wrong += _of_witness(case, points, bound, found.witness.raw)
    if found.proved is not None and result.vacuous:
        points, bound = at(found.proved)
        wrong += [f"vacuous, and met at {x}" for x in points.listed(rng)[0] if case.truth(x, bound).met][:1]
    if found.proved is not None and found.refuted is not None:
        order = found.proved - found.refuted
        if (order <= 0) == (found.direction == "smallest"):
            wrong.append(f"proved {found.proved} is not beyond refuted {found.refuted}")
    return wrong


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m hunt.combined", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--certify", action="store_true", help="write a certificate of every verdict, which is audited")
    parser.add_argument("--cached", action="store_true", help="keep results, and ask specs that are nearly the same")
    parser.add_argument("--calls", action="store_true", help="ask cases that one call of eqspec.verify says, instead")
    given = parser.parse_args()
    seen: Counter[str] = Counter()
    with TemporaryDirectory(prefix="hunt-combined-") as name, Certifier(Path(name)) as certifier:
        kept = open_cache(Path(name) / "kept", resume=True) if given.cached else None
        for number in range(given.cases):
            seed = given.seed * 10**9 + number
            try:
                if given.calls:
                    what, wrong = judge_call(seed, Path(name))
                else:
                    what, wrong = judge(seed, Path(name), certifier if given.certify else None, kept)
            except Exception as error:  # nothing that a user could have done wrong
                kind = "refused" if isinstance(error, EqspecError) else "raised"
                what, wrong = kind, [f"{type(error).__name__}: {error}"]
            seen[what] += 1
            for complaint in wrong:
                seen["unsaid" if complaint[0] == "?" else "wrong"] += 1
                case = call_of(seed) if given.calls else case_of(seed)
                print(f"seed {seed}: {complaint}\n{case and case.spec()}", flush=True)
    for trait, times in sorted(seen.items()):
        print(f"{times:9d}  {trait}")
    return 1 if seen["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
