"""The example specs asked of other tools: `python -m benches.peers --marabou PATH`, which prints a table in Markdown.

Every task of a spec is decided by eqspec, put to Marabou as the product network that `eqspec export` writes, and looked
at by comparing both networks on random inputs, which is what most people do today. Marabou is asked where its program
is named: it is installed in an environment of its own (`pip install maraboupy`). A `sat` of the exported file can mean
more than that the claim breaks, where the comments of the file say so, so it is replayed by eqspec, exactly.
`--timeout` ends each query, by force if need be; reading is included.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import numpy as np

import eqspec
from benches import ROOT
from eqspec.cli import main as command
from eqspec.replay.replay import Replay
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict

SPECS = ("tiny/tiny.eqspec", "lhc.eqspec", "digits.eqspec")
SAMPLES = 100_000
MOST_REPLAYED = 100
_INPUT = re.compile(r"^\s*x(\d+) = (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """What a tool says of a task: equivalent, different, nothing; in seconds."""

    verdict: str
    seconds: float


def ours(task: Task, timeout: float) -> Answer:
    """eqspec, with one thread."""
    began = perf_counter()
    options = eqspec.Options(timeout=timeout, threads=1)
    (result,) = eqspec.api.spec.Spec((task,), (), ()).run([task], options, 1)
    verdict = result.verdict.value if result.verdict is not Verdict.UNKNOWN else "-"
    return Answer(verdict, perf_counter() - began)


def samples(task: Task) -> Answer:
    """Random inputs of the box, evaluated in floats; those that look like a counterexample are replayed exactly.

    An input that breaks the claim refutes it. That none does says nothing.
    """
    began, rng = perf_counter(), np.random.default_rng(0)
    points = rng.uniform(task.lower, task.upper, (SAMPLES, len(task.lower)))
    f, g = task.reference.evaluate(points), task.candidate.evaluate(points)
    if isinstance(task.property, eqspec.Epsilon):
        suspect = np.argsort(-np.abs(f - g).max(axis=1))[:MOST_REPLAYED]
    else:
        sign = -1.0 if task.space.decide == "min" else 1.0
        other = np.flatnonzero((sign * f).argmax(axis=1) != (sign * g).argmax(axis=1))
        lead = np.ptp(np.sort(f[other], axis=1)[:, -2:], axis=1)
        suspect = other[np.argsort(-lead)][:MOST_REPLAYED]
    replay = Replay(task)
    broken = any(replay.replay(tuple(map(Fraction, points[i].tolist()))) is not None for i in suspect)
    return Answer("different" if broken else "-", perf_counter() - began)


def marabou(program: Path, network: Path, query: Path, task: Task, timeout: float) -> Answer:
    """Marabou on a product network; an answer counts only if eqspec's replay does not contradict it."""
    began = perf_counter()
    words = [str(program), str(network), str(query), "--timeout", str(int(timeout)), "--verbosity", "0"]
    try:
        ran = subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return Answer("-", timeout)
    seconds, said = perf_counter() - began, ran.stdout.lower()
    if re.search(r"\bunsat\b", said):
        return Answer("equivalent", seconds)
    if not re.search(r"\bsat\b", said):
        return Answer("-", seconds)
    point = dict(_INPUT.findall(ran.stdout))
    inputs = tuple(Fraction(point.get(str(i), "0")) for i in range(len(task.lower)))
    inside = tuple(min(max(x, a), b) for x, a, b in zip(inputs, task.lower_exact, task.upper_exact, strict=True))
    confirmed = Replay(task).replay(inside) is not None
    return Answer("different" if confirmed else "sat, not confirmed", seconds)


def asked(spec: str, program: Path | None, timeout: float) -> Iterator[dict[str, Answer]]:
    """The answers of all tools to each task of a spec."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if command(["export", str(ROOT / "specs" / spec), "--to", "product-onnx", "-o", made]) != 0:
            raise SystemExit(f"{spec} cannot be exported")
        lines = [line.split(",")[:2] for line in (folder / "instances.csv").read_text(encoding="utf-8").splitlines()]
        for task, (network, query) in zip(eqspec.load(ROOT / "specs" / spec).tasks, lines, strict=True):
            answers = {"eqspec": ours(task, timeout), f"{SAMPLES} random inputs": samples(task)}
            if program is not None:
                answers["Marabou"] = marabou(program, folder / network, folder / query, task, timeout)
            print(f"{spec} {task.id}: " + ", ".join(f"{n} {a.verdict} {a.seconds:.1f} s" for n, a in answers.items()),
                  file=sys.stderr, flush=True)  # fmt: skip
            yield answers


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser("python -m benches.peers", description=__doc__.split("\n")[0])
    parser.add_argument("--marabou", type=Path, help="the program, as .../bin/Marabou")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds for each query (default: 10)")
    parser.add_argument("specs", nargs="*", default=SPECS, help="specs below specs/")
    given = parser.parse_args(arguments)
    print("| spec | tool | proved | refuted | undecided | seconds in all |\n|---|---|---|---|---|---|")
    for spec in given.specs:
        rows: dict[str, list[Answer]] = {}
        for answers in asked(spec, given.marabou, given.timeout):
            for tool, answer in answers.items():
                rows.setdefault(tool, []).append(answer)
        for tool, several in rows.items():
            found = Counter(answer.verdict for answer in several)
            left = len(several) - found["equivalent"] - found["different"]
            seconds = sum(answer.seconds for answer in several)
            print(f"| {spec} | {tool} | {found['equivalent']} | {found['different']} | {left} | {seconds:.1f} |")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
