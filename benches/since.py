"""What the last proof saves the next one: `PYTHONPATH=python:tests:specs:. python -m benches.since [lhc] [acas]`.

Pairs whose candidate changes as models change overnight: its weights move a little, it learns on from new data, or it
is pruned differently. Each is decided cold, and warm from the proof of the old pair, by one thread; shown are seconds
of the processor and boxes. `lhc` is the jet tagger of specs/ (proofs by contraction), `acas` are published queries
(proofs by halving), for which the folder of measured data beside the repository is needed.

With `--foreign`: what it costs to keep a trail, and to start from one that is of no use: of another question of the
same networks, of a pair that was trained apart, one whose numbers were exchanged, and invented ones that halve the
region far more finely than any proof needs, to a great depth along one path, or along one input alone.
"""

from __future__ import annotations

import argparse
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from time import process_time

import numpy as np
from making import jets
from making.training import Mlp, Recipe, prune_weights, train

import eqspec
from eqspec.networks.network import AffineLayer, Network
from eqspec.replay.replay import Replay
from eqspec.run import core
from eqspec.run.engine import Question, ThisMachine
from eqspec.run.lowering import lower_constraints, lower_property
from eqspec.run.options import Options
from eqspec.run.pairs import Pairs
from eqspec.tasks.task import Task

SPECS = Path(__file__).parents[1] / "specs"
SECONDS = 120.0


@dataclass(frozen=True)
class Run:
    """One search."""

    verdict: str
    seconds: float
    boxes: int
    trail: bytes | None


def search(task: Task, hints: bytes | None = None, *, keep: bool = True) -> Run:
    """Decide a task, with hints or without; a trail is kept unless that is not wanted."""
    pair = Pairs().of(task, matched=True)
    claim = lower_property(task.property, task.reference.output_size)
    question = Question(task, pair, claim, lower_constraints(task), matched=True)
    trails: list[bytes] = []
    began = process_time()
    solution: core.Solution = ThisMachine().solve(
        question,
        Options(threads=1, timeout=SECONDS),
        confirm=Replay(task).confirm,
        progress=lambda _: None,
        hints=hints,
        keep_trail=trails.append if keep else None,
    )
    return Run(solution.verdict, process_time() - began, solution.boxes, trails[0] if trails else None)


def moved(network: Network, size: float, seed: int) -> Network:
    """Every weight times 1 + size * N(0, 1)."""
    random = np.random.default_rng(seed)
    return _made(
        network,
        [
            (
                layer.weight * (1 + size * random.normal(size=layer.weight.shape)),
                layer.bias * (1 + size * random.normal(size=layer.bias.shape)),
            )
            for layer in network.layers
        ],
    )


def pruned(network: Network, share: float) -> Network:
    """The smallest weights are 0."""
    least = np.quantile(np.concatenate([abs(layer.weight).ravel() for layer in network.layers]), share)
    return _made(
        network, [(np.where(abs(layer.weight) > least, layer.weight, 0), layer.bias) for layer in network.layers]
    )


def learnt(network: Network, like: Network, share: float, recipe: Recipe, seed: int) -> Network:
    """Trained on new jets, with the weights of `like` pruned that are smallest."""
    random = np.random.default_rng(seed)
    inputs, labels = jets.sample(1000, random)
    scaler = json.loads((SPECS / "lhc" / "scaler.json").read_text())
    inputs = (inputs - np.array(scaler["mean"])) / np.array(scaler["std"])
    trained = train(_mlp(network), inputs, labels, recipe, random, prune_weights(_mlp(like), share))
    return _made(network, list(zip(trained.weights, trained.biases, strict=True)))


def _mlp(network: Network) -> Mlp:
    return Mlp(tuple(layer.weight for layer in network.layers), tuple(layer.bias for layer in network.layers))


def _made(network: Network, layers: list[tuple[np.ndarray, np.ndarray]]) -> Network:
    single = [AffineLayer(_in_single_precision(weight), _in_single_precision(bias)) for weight, bias in layers]
    return Network.of_layers(tuple(single), network.source, network.sha256)


def _in_single_precision(numbers: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(numbers.astype(np.float32), np.float64)


def lhc() -> Iterator[tuple[str, Task, dict[str, Network]]]:
    """Proofs by contraction."""
    for task in eqspec.load(SPECS / "lhc.eqspec").tasks:
        if task.check == "confident":
            old, reference = task.candidate, task.reference
            few = Recipe(epochs=1, rate=1e-4, decay=1e-3)
            yield (
                task.id,
                task,
                {
                    "same": old,
                    "weights x (1 + 1e-3 N)": moved(old, 1e-3, 1),
                    "weights x (1 + 1e-2 N)": moved(old, 1e-2, 2),
                    "an epoch of new data": learnt(old, reference, 0.2, few, 3),
                    "a night of new data": learnt(old, reference, 0.2, Recipe(epochs=2, rate=2e-4, decay=1e-3), 4),
                    "pruned 15 % and retrained": learnt(
                        reference, reference, 0.15, Recipe(epochs=4, rate=5e-4, decay=1e-3), 5
                    ),
                    "pruned 25 % and retrained": learnt(
                        reference, reference, 0.25, Recipe(epochs=4, rate=5e-4, decay=1e-3), 6
                    ),
                },
            )


def acas(every: int) -> Iterator[tuple[str, Task, dict[str, Network]]]:
    """Proofs by halving, of some hundred boxes and more."""
    from acceptance.families import FAMILIES

    queries = [q for name in ("acas-0.05", "acas-0.5") for q in FAMILIES[name].queries()]
    for query in queries[::every]:
        task = query.task
        known = query.published
        if known is not None and known.verdict == "equivalent" and known.boxes >= 100:
            yield (
                query.name,
                task,
                {
                    "same": task.candidate,
                    "weights x (1 + 1e-3 N)": moved(task.candidate, 1e-3, 1),
                    "weights x (1 + 1e-2 N)": moved(task.candidate, 1e-2, 2),
                    "pruned 6 %": pruned(task.reference, 0.06),
                    "pruned 4 %": pruned(task.reference, 0.04),
                },
            )


def foreign(family: str, every: int) -> None:
    """Cold searches that keep a trail and that keep none, and searches from trails of something else."""
    cases = [(name, task) for name, task, _ in (lhc() if family == "lhc" else acas(every))]
    trails = [search(task).trail for _, task in cases]
    totals: dict[str, list[float]] = {}
    print(f"{family}: seconds without a trail, with one, and from trails of something else (boxes)")
    for number, (name, task) in enumerate(cases):
        runs = {"none kept": search(task, keep=False), "kept": search(task)}
        runs |= {
            f"of {cases[other][0]}": search(task, trail)
            for other, trail in enumerate(trails)
            if trail is not None and other in ((number + 1) % len(cases), (number + 2) % len(cases), number - 1)
        }
        apart = search(replace(task, candidate=moved(task.candidate, 0.3, 7), reference=moved(task.reference, 0.3, 8)))
        if apart.trail is not None:
            runs["of a pair apart"] = search(task, apart.trail)
        if (own := trails[number]) is not None:
            runs["shuffled"] = search(task, shuffled(own))
            runs |= {f"invented, {shape}": search(task, trail) for shape, trail in invented(task).items()}
        least = runs["none kept"].seconds
        for words, run in runs.items():
            known = words in ("none kept", "kept", "shuffled", "of a pair apart") or words.startswith("invented")
            kind = words if known else "of another question"
            totals.setdefault(kind, []).append(run.seconds / least)
            same = "" if run.verdict == runs["none kept"].verdict else "   OTHER VERDICT"
            print(
                f"  {name:28} {words:28} {run.seconds:7.3f} {run.boxes:7} {run.seconds / least:6.2f}{same}", flush=True
            )
    for words, found in totals.items():
        print(f"{words:28} median {median(found):.3f}, at most {max(found):.2f}, {len(found)} runs", flush=True)


def shuffled(trail: bytes) -> bytes:
    """The same tree with the cuts exchanged among its halvings, and the multipliers among contractions of one size."""
    random, data, at = np.random.default_rng(1), bytearray(trail), 0
    places: dict[int, list[int]] = {}
    while data[at : at + 1] != b"Z":
        if data[at : at + 1] == b"C":  # label, input and cut, two labels, so many open obligations
            places.setdefault(12, []).append(at + 9)
            at += 41 + 4 * int.from_bytes(data[at + 37 : at + 41], "little")
            continue
        size = int.from_bytes(data[at + 13 : at + 17], "little")  # label, obligation, size, log, what followed
        places.setdefault(size, []).append(at + 17)
        at += 17 + size
        at += {b"v": 1, b"o": 9, b"s": 34}[bytes(data[at : at + 1])]
    for size, found in places.items():
        parts = [bytes(data[place : place + size]) for place in found]
        for place, part in zip(found, random.permutation(len(parts)), strict=True):
            data[place : place + size] = parts[part]
    return bytes(data)


def invented(task: Task) -> dict[str, bytes]:
    """Trails that no search wrote: far too fine, along one input alone, deep along one path, and cut at the edge."""
    box = [(float(a), float(b)) for a, b in zip(task.lower, task.upper, strict=True) if a < b]
    inputs = len(box)
    return {
        "fine": _tree(box, 10, lambda depth: depth % inputs, lambda _: True),
        "one input": _tree(box, 8, lambda _: inputs - 1, lambda _: True),
        "a path": _tree(box, 400, lambda depth: depth % inputs, lambda path: path == 0),
        "slivers": _tree(box, 400, lambda _: 0, lambda path: path == 0, share=0.01),
    }


def _tree(
    box: list[tuple[float, float]],
    depth: int,
    along: Callable[[int], int],
    inner: Callable[[int], bool],
    share: float = 0.5,
) -> bytes:
    """A trail that halves the boxes down to a depth whose path from the top, as a number, is `inner`."""
    events: list[bytes] = []
    labels, open_boxes = count(1), [(0, 0, 0, box)]
    for label, level, path, one in open_boxes:
        if level == depth or not inner(path):
            continue
        axis = along(level)
        low, high = one[axis]
        cut = low + share * (high - low)
        halves = [[*one[:axis], side, *one[axis + 1 :]] for side in ((cut, high), (low, cut))]
        numbers = [next(labels), next(labels)]
        events.append(struct.pack("<cQIdQQI", b"C", label, axis, cut, numbers[1], numbers[0], 0))
        open_boxes += [(numbers[k], level + 1, 2 * path + k, half) for k, half in enumerate(halves)]
    return b"".join(events) + b"Z"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("families", nargs="*", default=["lhc"], help="lhc, acas")
    parser.add_argument("--every", type=int, default=12, help="every so many of the published queries")
    parser.add_argument("--foreign", action="store_true", help="what trails cost that are of no use")
    arguments = parser.parse_args()
    for family in arguments.families:
        if arguments.foreign:
            foreign(family, arguments.every)
            continue
        gains: dict[str, list[float]] = {}
        print(f"{family}: new candidate, cold and warm seconds, boxes, gain")
        for name, task, candidates in lhc() if family == "lhc" else acas(arguments.every):
            old = search(task)
            if old.verdict != "equivalent" or old.trail is None or (family == "acas" and old.boxes < 100):
                continue
            print(f"{name}: {old.seconds:.2f} s, {old.boxes} boxes, a trail of {len(old.trail)} bytes", flush=True)
            for words, candidate in candidates.items():
                new = replace(task, candidate=candidate)
                cold, warm = search(new), search(new, old.trail)
                gain = cold.seconds / max(warm.seconds, 1e-9)
                gains.setdefault(words, []).append(gain)
                differs = "" if cold.verdict == warm.verdict else "   OTHER VERDICT"
                print(
                    f"  {words:28} {cold.verdict:10} {cold.seconds:7.3f} {warm.seconds:7.3f}"
                    f" {cold.boxes:7} {warm.boxes:7} {gain:6.2f}{differs}",
                    flush=True,
                )
        for words, found in gains.items():
            low, middle, high = quantiles(found, n=4) if len(found) > 1 else found * 3
            print(
                f"{words:28} quartiles of the gain {low:.2f} {middle:.2f} {high:.2f}, {len(found)} proofs", flush=True
            )


if __name__ == "__main__":
    main()
