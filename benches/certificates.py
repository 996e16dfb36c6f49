"""What a certificate costs beside its proof: `python -m benches.certificates` from the repository's root.

Every query is decided twice with one thread, without and with a certificate. All numbers are CPU seconds: of the plain
proof, of what the second run takes in this process beyond it (a search that keeps a record, and the writing), and of
the auditor's process, less what its start takes, which is once for all certificates of a run and is told in the first
line. `ratio` is the last two over the first.

With `--spec FILE` (repeatable, and `--select PATTERN` for some of its tasks) the command `eqspec check` is run on the
file instead, without and with `--certify`, and all CPU seconds of both are told, the start of every process among them.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from eqspec.__main__ import ONE_THREAD

os.environ.update(dict.fromkeys(ONE_THREAD, "1"))  # as the command does, before numpy is loaded

import numpy as np
import onnx

from acceptance import families as acceptance
from benches import ROOT
from eqspec.api import load, loads
from eqspec.certificates import Auditor, Certifier
from eqspec.certificates.certifier import name_of
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task

SPREAD = 10
"""So many queries of ACAS, spread over all of them, and half as many of MNIST."""
EPS = {"Tanh": 0.4, "Sigmoid": 0.06}


@dataclass(frozen=True)
class Cost:
    """CPU seconds."""

    verdict: str
    proof: float
    writing: float
    audit: float
    leaves: int
    rounds: int
    size: int
    reason: str | None

    @property
    def ratio(self) -> float:
        """Of the certificate over the proof."""
        return (self.writing + self.audit) / max(self.proof, 1e-9)


def cost(task: Task) -> Cost:
    """Of one query."""
    plain = Options(threads=1, timeout=120)
    Runner(plain).replay(task)  # imports are nobody's cost
    before = _cpu()
    result = Runner(plain).run(task)
    proof = _cpu() - before
    with tempfile.TemporaryDirectory() as folder:
        before, children = _cpu(), _cpu(resource.RUSAGE_CHILDREN)
        with Certifier(Path(folder)) as certifier:
            Runner(Options(threads=1, timeout=120, certifier=certifier)).run(task)
            made = certifier.made.get(name_of(task))
        both, audit = _cpu() - before, _cpu(resource.RUSAGE_CHILDREN) - children
    reason = "undecided" if made is None else made.reason
    counts = (0, 0, 0) if made is None else (made.leaves, made.rounds, made.size)
    return Cost(result.verdict.value, proof, both - proof, audit - start(), *counts, reason)


@cache
def start() -> float:
    """Of the auditor's process, which imports numpy and onnx, until it reads its first request: the least of three."""
    found = []
    for _ in range(3):
        before = _cpu(resource.RUSAGE_CHILDREN)
        with Auditor() as auditor:
            auditor.begin()
        found.append(_cpu(resource.RUSAGE_CHILDREN) - before)
    return min(found)


def _cpu(who: int = resource.RUSAGE_SELF) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def queries(folder: Path) -> Iterator[tuple[str, Callable[[], Sequence[Task]]]]:
    """By family; those of the acceptance data only where it is present."""
    yield "curves", lambda: [_curved(folder, kind) for kind in ("Tanh", "Sigmoid")]
    yield "digits", lambda: load(ROOT / "specs/digits.eqspec", checks=["half_close", "pruned_same"]).tasks[::5]
    if acceptance.SHARED.is_dir():
        known = acceptance.FAMILIES
        yield "lhc", lambda: [query.task for query in known["lhc"].queries()]
        acas = [query.task for query in known["acas-0.05"].queries()]
        yield "acas", lambda: acas[:: len(acas) // SPREAD]
        yield "mnist", lambda: [query.task for query in known["mnist-tenth"].queries()][:: 2 * SPREAD]


def _curved(folder: Path, function: str) -> Task:
    """A small network with a smooth function, and one with slightly other weights, on a box of a few hundred leaves."""
    random, sizes, paths = np.random.default_rng(3), (4, 12, 12, 2), []
    weights = [random.normal(size=(n, m)) * 1.2 / np.sqrt(n) for n, m in pairwise(sizes)]
    for name in ("reference", "candidate"):
        paths.append(folder / f"{function}_{name}.onnx")
        onnx.save(_network(function, [w + 0.02 * random.normal(size=w.shape) for w in weights]), paths[-1])
    spec = f"""eqspec 1
    space s {{ features a, b, c, d normalise none outputs 2 }}
    network reference = "{paths[0]}" in s
    network candidate = "{paths[1]}" in s
    region near in s = box {{ a: -1 .. 1 b: -1 .. 1 c: -1 .. 1 d: -1 .. 1 }}
    check close {{ prove candidate stays within {EPS[function]} of reference on near expect equivalent }}
    """
    return loads(spec).tasks[0]


def _network(function: str, weights: list[np.ndarray[Any, Any]]) -> onnx.ModelProto:
    """A chain without biases."""
    values = [onnx.numpy_helper.from_array(w.astype(np.float32), f"w{k}") for k, w in enumerate(weights)]
    nodes, name = [], "x"
    for k in range(len(weights)):
        nodes.append(onnx.helper.make_node("MatMul", [name, f"w{k}"], [f"p{k}"]))
        name = f"p{k}"
        if k + 1 < len(weights):
            nodes.append(onnx.helper.make_node(function, [name], [f"h{k}"]))
            name = f"h{k}"
    ends = [
        onnx.helper.make_tensor_value_info(end, onnx.TensorProto.FLOAT, [1, size])
        for end, size in (("x", len(weights[0])), (name, weights[-1].shape[1]))
    ]
    graph = onnx.helper.make_graph(nodes, function, ends[:1], ends[1:], values)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)


def check(spec: str, select: Sequence[str]) -> tuple[float, float]:
    """CPU seconds of the command, without and with certificates."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for more in ([], ["--certify", folder]):
            before = _cpu(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "eqspec", "check", spec, "--threads", "1", "--no-cache", *more]
            command += [f"--select={pattern}" for pattern in select]
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
            found.append(_cpu(resource.RUSAGE_CHILDREN) - before)
    return found[0], found[1]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser("python -m benches.certificates", description=__doc__.split("\n")[0])
    parser.add_argument("families", nargs="*", help="which; all by default")
    parser.add_argument("--spec", action="append", default=[], help="measure `eqspec check` of a file instead")
    parser.add_argument("--select", action="append", default=[], help="only tasks of that file which match")
    arguments = parser.parse_args()
    for spec in arguments.spec:
        plain, certified = check(spec, arguments.select)
        print(f"{spec:60.60}{plain:8.2f}{certified:8.2f}{certified / plain:7.1f}", flush=True)
    if arguments.spec:
        return
    chosen = arguments.families
    print(f"the start of the auditor takes {start():.2f} s, once for a run", flush=True)
    print(f"{'query':42}{'proof':>8}{'writing':>9}{'audit':>8}{'ratio':>7}{'leaves':>8}{'rounds':>8}{'bytes':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for family, tasks in queries(Path(folder)):
            if chosen and family not in chosen:
                continue
            for task in tasks():
                c = cost(task)
                times = f"{c.proof:8.2f}{c.writing:9.2f}{c.audit:8.2f}{c.ratio:7.1f}"
                line = f"{family + ' ' + task.id:42.42}{times}{c.leaves:8}{c.rounds:8}{c.size:10}"
                print(line, c.verdict, "" if c.reason is None else f"NO CERTIFICATE: {c.reason}", flush=True)


if __name__ == "__main__":
    main()
