"""A hunt through graphs, from files to audited certificates: `PYTHONPATH=python:tests python -m hunt.graphs --cases N`.

A case is a plan, a partner that is derived from it, a box, and a claim. What is known of the truth comes from exact
evaluation of the plans, which shares nothing with eqspec: the largest difference at many points of the box, which a
proof must not be below, and for partners that are the same function, that there is none. A counterexample is evaluated
with the plans; a proof's certificate is audited.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from eqspec.certificates import Auditor, Certifier
from eqspec.certificates.certifier import name_of
from eqspec.networks import read_network
from eqspec.property import Epsilon, Property, Top1
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from hunt.graph_files import write_graph
from hunt.graph_plans import Plan, Random, changed, evaluate, random_plan
from hunt.smooth import TOLERANCE
from small_tasks import task

EXACTLY = ("same", "folded", "permuted")
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
    seen = [(evaluate(plan, p), evaluate(partner, p)) for p in points(rng, lower, upper)]
    most = max(max(abs(a - b) for a, b in zip(x, y, strict=True)) for x, y in seen)
    if plan.blocks[-1].shape[0] > 1 and rng.random() < 0.3:
        room = Fraction(0) if plan.exact else TOLERANCE
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


def points(rng: Random, lower: Point, upper: Point) -> Iterator[Point]:
    """The middle of a box, some corners, and some points at random."""
    yield [(a + b) / 2 for a, b in zip(lower, upper, strict=True)]
    free = [i for i, (a, b) in enumerate(zip(lower, upper, strict=True)) if a < b]
    for corner in product((0, 1), repeat=len(free)):
        point = [*lower]
        for i, side in zip(free, corner, strict=True):
            point[i] = upper[i] if side else lower[i]
        yield point
    for _ in range(16):
        yield [a + (b - a) * Fraction(int(rng.integers(0, 65)), 64) for a, b in zip(lower, upper, strict=True)]


@dataclass(frozen=True)
class Judgement:
    """What was seen of a case, and what is wrong."""

    traits: tuple[str, ...]
    complaint: str | None = None


def judge(case: Case, seed: int, folder: Path, certifier: Certifier | None, auditor: Auditor | None) -> Judgement:
    """Write both files, decide the task, and hold the answer against what is known."""
    rng = np.random.default_rng([seed, 18])
    networks = []
    for name, plan in (("f", case.reference), ("g", case.candidate)):
        write_graph(folder / f"{name}.onnx", plan, rng)
        networks.append(read_network(folder / f"{name}.onnx"))
    made = task(networks[0], networks[1], case.claim, case.lower, case.upper, id=f"graph-{seed}")
    result = Runner(Options(timeout=20.0, threads=1, boxes=200, certifier=certifier)).run(made)
    traits = [result.verdict.value, f"pair {case.change}", f"holds {case.holds}"]
    match result.verdict:
        case Verdict.EQUIVALENT if case.holds is False:
            return Judgement((*traits, "wrong"), "proved although a point breaks it")
        case Verdict.DIFFERENT:
            if (complaint := _witnessed(case, result)) is not None:
                return Judgement((*traits, "wrong"), complaint)
        case _:
            pass
    if certifier is not None and auditor is not None and result.verdict is not Verdict.UNKNOWN:
        certificate = certifier.made.pop(name_of(made))
        if certificate.reason is not None:
            traits.append(f"no certificate: {certificate.reason[:60]}")
        elif auditor.ask(certificate.path).refused is not None:
            return Judgement((*traits, "wrong"), "its certificate is refused when it is audited again")
        else:
            traits.append("audited")
    return Judgement(tuple(traits))


def _witnessed(case: Case, result: Result) -> str | None:
    """What is wrong with a counterexample."""
    if result.witness is None:
        return "different without a witness"
    point = [Fraction(x) for x in result.witness.normalised]
    if any(not a <= x <= b for a, x, b in zip(case.lower, point, case.upper, strict=True)):
        return "a witness outside of the region"
    first, second = evaluate(case.reference, point), evaluate(case.candidate, point)
    if isinstance(case.claim, Epsilon):
        room = Fraction(0) if case.reference.exact else TOLERANCE
        if max(abs(a - b) for a, b in zip(first, second, strict=True)) <= Fraction(case.claim.eps) - room:
            return "a witness that breaks nothing"
    elif all(second[k] >= max(second) for k, score in enumerate(first) if score == max(first)):
        return "a witness whose classes agree"
    return None


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m hunt.graphs", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--certify", action="store_true", help="write and audit a certificate of every verdict")
    given = parser.parse_args()
    seen: Counter[str] = Counter()
    with TemporaryDirectory(prefix="hunt-graphs-") as name:
        folder = Path(name)
        with Certifier(folder) as certifier, Auditor() as auditor:
            for number in range(given.cases):
                seed = given.seed * 10**9 + number
                if number % 100 == 0:
                    print(f"{number} of {given.cases} cases, {seen['wrong']} wrong", flush=True)
                case = case_of(seed)
                desk = (certifier, auditor) if given.certify else (None, None)
                try:
                    found = judge(case, seed, folder, *desk)
                except Exception as error:  # nothing that a user could have done wrong
                    found = Judgement(("wrong",), f"{type(error).__name__}: {error}")
                seen.update(found.traits)
                if found.complaint is not None:
                    print(f"seed {seed}: {found.complaint}: {case.claim}", flush=True)
    for trait, times in sorted(seen.items()):
        print(f"{times:9d}  {trait}")
    return 1 if seen["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
