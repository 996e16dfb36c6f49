"""A hunt through graphs, from files to audited certificates: `PYTHONPATH=python:tests python -m hunt.graphs --cases N`.

A case is a plan, a partner that is derived from it, a box, and a claim. What is known of the truth comes from exact
evaluation of the plans, which shares nothing with eqspec: the largest difference at many points of the box, which a
proof must not be below, and for partners that are the same function, that there is none. A counterexample is evaluated
with the plans; a proof's certificate is audited.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from eqspec.certificates import Auditor, Certifier
from eqspec.certificates.certifier import name_of
from eqspec.networks import Network, agreement, read_network
from eqspec.networks.readers import onnx_reader
from eqspec.property import Epsilon, Property, Top1
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from hunt.auditor_here import AuditorHere
from hunt.graph_files import write_graph
from hunt.graph_plans import Plan, Random, changed, random_plan
from hunt.graph_values import Values, evaluate
from hunt.kept_counts import KeptCounts
from hunt.smooth import TOLERANCE
from small_tasks import task

EXACTLY = ("same", "folded", "permuted")
BLOCK = 50
WHOLE, ASKED, FEW = 64, 4, 4
"""Every so many cases files are read and audited as commands do it, and onnxruntime is asked at twice so few points."""
Point = list[Fraction]


@dataclass(frozen=True)
class Case:
    """Two plans on a box, a claim, and whether it holds: False where a point breaks it, True where none can."""

    reference: Plan
    candidate: Plan
    change: str
    lower: Point
    upper: Point
    claim: Property
    holds: bool | None


def case_of(seed: int) -> Case:
    """The case of a seed."""
    rng = np.random.default_rng([seed, 17])
    plan = random_plan(rng)
    partner, change = changed(plan, rng)
    centre = [Fraction(int(n), 8) for n in rng.integers(-16, 17, plan.inputs)]
    radius = Fraction(1, 2 ** int(rng.integers(0, 6)))
    free = set(rng.permutation(plan.inputs)[: int(rng.integers(1, 5))].tolist())
    ends = [(c - radius, c + radius) if i in free else (c, c) for i, c in enumerate(centre)]
    lower, upper = map(list, zip(*ends, strict=True))
    some = points(rng, lower, upper)
    first = evaluate(plan, some)
    second = first if partner is plan else evaluate(partner, some)
    most = first.largest_difference(second)
    if plan.blocks[-1].shape[0] > 1 and rng.random() < 0.3:
        room, seen = Fraction(0) if plan.exact else TOLERANCE, zip(first.fractions(), second.fractions(), strict=True)
        broken = any(_first(x, room) is not None and y[_first(x, room) or 0] < max(y) - room for x, y in seen)
        return Case(plan, partner, change, lower, upper, Top1(), False if broken else None)
    shares = [1 - Fraction(1, 2**30), Fraction(3, 4), Fraction(1), 1 + Fraction(1, 2**20), Fraction(2)]
    eps = most * shares[int(rng.integers(len(shares)))] or Fraction(1, 2 ** int(rng.integers(1, 20)))
    room = Fraction(0) if plan.exact else TOLERANCE
    holds = True if change in EXACTLY and eps > room else (False if eps < most - room else None)
    return Case(plan, partner, change, lower, upper, Epsilon(eps), holds)


def _first(scores: list[Fraction], room: Fraction) -> int | None:
    """The largest of the scores, if there is one."""
    best = [i for i, score in enumerate(scores) if score >= max(scores) - room]
    return best[0] if len(best) == 1 else None


def points(rng: Random, lower: Point, upper: Point) -> Values:
    """The middle of a box, its corners, and some points at random."""
    ends = Values.of([lower, upper])
    low, wide = ends.over[0], ends.over[1] - ends.over[0]
    (free,) = wide.nonzero()
    shares = np.zeros((1 + 2 ** len(free) + 16, len(lower)), np.int64)
    shares[0] = 32
    shares[1 : 1 + 2 ** len(free), free] = 64 * np.array([*product((0, 1), repeat=len(free))])
    shares[-16:] = rng.integers(0, 65, (16, len(lower)))
    return Values(64 * low + wide * shares, 64 * ends.denominator)


@dataclass(frozen=True)
class Judgement:
    """What was seen of a case, and what is wrong."""

    traits: tuple[str, ...]
    complaint: str | None = None


def judge(case: Case, seed: int, folder: Path, certifier: Certifier | None, auditor: Auditor | None) -> Judgement:
    """Write both files, decide the task, and hold the answer against what is known.

    With a certifier a certificate is written and audited; the auditor is another one, which audits it again.
    """
    rng = np.random.default_rng([seed, 18])
    networks = []
    for name, plan in (("f", case.reference), ("g", case.candidate)):
        write_graph(folder / f"{name}.onnx", plan, rng)
        networks.append(read(folder / f"{name}.onnx", points(rng, case.lower, case.upper), seed))
        if misread(
            networks[-1], plan, [ends[int(rng.integers(2))] for ends in zip(case.lower, case.upper, strict=True)]
        ):
            return Judgement(("wrong",), f"{name} is read as another function than its plan")
    made = task(networks[0], networks[1], case.claim, case.lower, case.upper, id=f"graph-{seed}")
    options = Options(timeout=20.0, threads=1, boxes=200, certifier=certifier, simplify=seed % ASKED == 0)
    result = Runner(options).run(made)
    traits = [result.verdict.value, f"pair {case.change}", f"holds {case.holds}"]
    match result.verdict:
        case Verdict.EQUIVALENT if case.holds is False:
            return Judgement((*traits, "wrong"), "proved although a point breaks it")
        case Verdict.DIFFERENT:
            if (complaint := _witnessed(case, result)) is not None:
                return Judgement((*traits, "wrong"), complaint)
        case _:
            pass
    if certifier is not None and result.verdict is not Verdict.UNKNOWN:
        certificate = certifier.made.pop(name_of(made))
        if certificate.reason is not None:
            reason = re.sub(r'"[^"]*/', '"', certificate.reason)  # the folder has another name in every run
            traits.append(f"no certificate: {reason[:45]}")
        elif auditor is not None and auditor.ask(certificate.path).refused is not None:
            return Judgement((*traits, "wrong"), "its certificate is refused when it is audited again")
        else:
            traits.append("audited")
    return Judgement(tuple(traits))


def read(path: Path, box: Values, seed: int) -> Network:
    """A file as eqspec reads it. Small cases would go into asking onnxruntime at 200 points, so all of these are asked
    for in some cases only, a few of the box and far out in more of them, and none in others: `misread` sees them all.
    """
    if seed % WHOLE == 0:
        return read_network(path)
    content = path.read_bytes()
    network = onnx_reader.read(str(path), content)
    if seed % ASKED == 0:
        near = box.over[-FEW:].astype(np.float64) / box.denominator
        agreement.Comparison(network, lambda: content).at(iter([np.concatenate([near, 8.0 * near[::-1] - 3.0])]))
    return network


def misread(network: Network, plan: Plan, point: Point) -> bool:
    """Whether the steps that were read are another function at a point than the plan, exactly."""
    room = Fraction(0) if plan.exact else TOLERANCE
    (true,) = evaluate(plan, Values.of([point])).fractions()
    return any(not a - room <= x <= b + room for x, (a, b) in zip(true, network.evaluate_exact(point), strict=True))


def _witnessed(case: Case, result: Result) -> str | None:
    """What is wrong with a counterexample."""
    if result.witness is None:
        return "different without a witness"
    point = [Fraction(x) for x in result.witness.normalised]
    if any(not a <= x <= b for a, x, b in zip(case.lower, point, case.upper, strict=True)):
        return "a witness outside of the region"
    (first,), (second,) = (evaluate(plan, Values.of([point])).fractions() for plan in (case.reference, case.candidate))
    if isinstance(case.claim, Epsilon):
        room = Fraction(0) if case.reference.exact else TOLERANCE
        if max(abs(a - b) for a, b in zip(first, second, strict=True)) <= Fraction(case.claim.eps) - room:
            return "a witness that breaks nothing"
    elif all(second[k] >= max(second) for k, score in enumerate(first) if score == max(first)):
        return "a witness whose classes agree"
    return None


@dataclass(frozen=True)
class Desk:
    """Where files are written, and who writes certificates and audits them again, if anybody."""

    folder: Path
    certifier: Certifier | None = None
    here: Auditor | None = None
    apart: Auditor | None = None
    """In a process of its own."""


@cache
def desk(certify: bool) -> Desk:
    """One for all cases of a process, which from then on looks for cycles seldom, and not among what was imported."""
    gc.freeze()
    gc.set_threshold(200_000)
    folder = TemporaryDirectory(prefix="hunt-graphs-")
    atexit.register(folder.cleanup)
    path = Path(folder.name)
    if not certify:
        return Desk(path)
    here, apart = AuditorHere(), Auditor()
    certifier = Certifier(path, here)
    for one in (certifier, apart):
        atexit.register(one.__exit__, None, None, None)
    return Desk(path, certifier, here, apart)


def block(first: int, cases: int, certify: bool) -> tuple[Counter[str], list[str]]:
    """What was seen of so many cases from a seed on, and what is wrong."""
    seen, wrong, used = Counter[str](), list[str](), desk(certify)
    for seed in range(first, first + cases):
        try:
            case = case_of(seed)
            auditor = used.apart if seed % WHOLE == 0 else used.here if seed % ASKED == 0 else None
            found = judge(case, seed, used.folder, used.certifier, auditor)
            told = f"{found.complaint}: {case.claim}"
        except Exception as error:  # nothing that a user could have done wrong
            found, told = Judgement(("wrong",), "raised"), f"{type(error).__name__}: {error}"
        seen.update(found.traits)
        if found.complaint is not None:
            wrong.append(f"seed {seed}: {told}")
    return seen, wrong


def blocks(
    seed: int, begin: int, cases: int, certify: bool, jobs: int
) -> Iterator[tuple[int, int, Counter[str], list[str]]]:
    """The blocks of a hunt by so many processes, as they are done, from a case of its seed on: the first case of a
    block, how many it has, what was seen of them, and what is wrong.
    """
    ends = [(first, min(BLOCK, begin + cases - first)) for first in range(begin, begin + cases, BLOCK)]
    parts = {part: (seed * 10**9 + part[0], part[1], certify) for part in ends}
    if jobs == 1:
        yield from ((*part, *block(*asked)) for part, asked in parts.items())
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        given = {pool.submit(block, *asked): part for part, asked in parts.items()}
        for done in as_completed(given):
            first, size = given[done]
            try:
                yield (first, size, *done.result())
            except BrokenProcessPool:
                wrong = f"seeds {seed * 10**9 + first} and {size - 1} more: not done, as a process died"
                yield first, size, Counter(wrong=1), [wrong]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m hunt.graphs", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--certify", action="store_true", help="write and audit a certificate of every verdict")
    parser.add_argument("--keep", type=Path, help="go on behind what this file counts of the seed, and count on in it")
    given = parser.parse_args(arguments)
    kept = KeptCounts.of(given.keep, given.seed, given.certify)
    begin, done = kept.done, 0
    for first, cases, traits, wrong in blocks(given.seed, begin, given.cases, given.certify, given.jobs):
        done += cases
        kept.add(first, cases, traits)
        print(*wrong, f"{done} of {given.cases} cases, {kept.seen['wrong']} wrong", sep="\n", flush=True)
    for trait, times in sorted(kept.seen.items()):
        print(f"{times:9d}  {trait}")
    if given.keep is not None:
        print(f"{kept.total()} cases in all hunts that are kept of this kind, {kept.total('wrong')} wrong")
    return 1 if kept.seen["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
