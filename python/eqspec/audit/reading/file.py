"""Network files, found and read once more, as exact functions: programs of steps (`program`)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..opening import content, exists, label, limits, whole
from ..rounding import Refused
from . import graph, nnet, truth
from .number import Float32, Number
from .program import Program, Step
from .quantisers import Ends, integer_ends
from .value import CONSTANT, INPUTS, Part, Value


@dataclass(frozen=True)
class File:
    """A network file with the sha256 that the task names, over the normalised inputs of the task."""

    path: str
    content: bytes
    kind: type[Number]
    scale: tuple[Fraction, ...]  # it is given scale x + shift
    shift: tuple[Fraction, ...]
    sizes: tuple[float, ...]  # of what it is given, at most; where nothing can overflow, 0
    negated: bool  # where the smallest score decides
    outputs: int
    gives: str | None = None  # "probabilities" where the task sets a Softmax aside, else "logits"; None without a task
    output: str | None = None  # the name of the one that the task has chosen
    two_classes: bool = False  # its one output p is a Sigmoid, and the claim is about 1 - p and p
    ends: Ends | None = None  # what integers of its inputs and its output stand for, if the claim is about that
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()  # of inputs, with sizes for those that the file leaves open
    files: tuple[tuple[str, bytes], ...] = ()  # it, and those beside it whose weights are part of `content`

    def steps(self) -> list[Step]:
        """What it computes, step by step, the outputs last; what nothing reads is left out."""
        return self.reading()[0]

    @property
    def softmax(self) -> bool:
        """Whether it ends in a Softmax, which is set aside: what is claimed is about what goes into it."""
        return self.reading()[1]

    @property
    def named(self) -> str | None:
        """The output that is read, where the task names it or the file has several."""
        return self.reading()[2]

    @property
    def said(self) -> tuple[str, ...]:
        """Sentences about integers that it takes or gives."""
        return self.reading()[3]

    @lru_cache(maxsize=2)  # noqa: B019 - for many certificates about one pair
    def reading(self) -> tuple[list[Step], bool, str | None, tuple[str, ...]]:
        """All of it together."""
        try:
            return self._read()
        except Refused as reason:
            raise Refused(f"{label(self.path, 500)}: {reason}") from None
        except (MemoryError, RecursionError):
            raise Refused(f"{label(self.path, 500)}: reading it takes more memory than the auditor has") from None
        except Exception as problem:  # onnx, numpy and its reference implementation answer in many ways
            said = f"{type(problem).__name__}: {problem}"
            raise Refused(f"{label(self.path, 500)}: it is not a network that the auditor can read ({said})") from None

    def _check_scores(self, softmax: bool) -> None:
        """Refused where the task takes other numbers for the scores than the auditor."""
        if self.gives == "probabilities" and not softmax:
            raise Refused("the task is about the scores in front of a Softmax at its end, and the auditor sees none")
        if self.gives == "logits" and softmax:
            raise Refused("it ends in a Softmax, of which the task does not know")

    @property
    def _text(self) -> bool:
        return self.path.lower().endswith(".nnet")

    def _read(self) -> tuple[list[Step], bool, str | None, tuple[str, ...]]:
        program, n = Program(self.kind, self.sizes), len(self.scale)
        rows, parts = np.arange(n), list(program.units(INPUTS, (n,)).parts)
        if any(c != 1 for c in self.scale) or any(self.shift):
            one = [[self.kind(c, abs(c), self.kind.rounds, 1.0)] for c in self.scale]
            shift = [[self.kind(c, self.kind.lost(abs(c)), self.kind.rounds, 0.0)] for c in self.shift]
            parts = [Part(INPUTS, rows, rows[:, None].astype(np.int32), rows, np.array(one, object))]
            parts.append(Part(CONSTANT, rows, 0 * rows[:, None], rows, np.array(shift, object)))
        given = Value((n,), tuple(parts))
        if self._text:
            if self.ends or self.output or self.two_classes or self.shapes:
                raise Refused("its inputs and outputs are no integers, and have no names")
            result, softmax, named = nnet.run(self.content, program, given), False, None
        else:
            ends = self.ends, self.output, self.two_classes, self.shapes
            result, softmax, named = graph.run(self.content, program, given, *ends)
            result = truth.with_asked(program, result)
        self._check_scores(softmax)
        if result.size != self.outputs:
            raise Refused(f"it has {result.size} outputs, the task {self.outputs}")
        program.step(program.scaled(result, np.array(-1.0)) if self.negated else result)
        return read_ones(program.steps), softmax, named, tuple(program.said)


def read_ones(steps: list[Step]) -> list[Step]:
    """Those that the last one depends on, numbered anew."""
    read = {len(steps) - 1}
    for number in reversed(range(len(steps))):
        if number in read:
            read |= {part.source for part in steps[number].value.parts}
    kept = [number for number in range(len(steps)) if number in read]
    new = {old: number for number, old in enumerate(kept)} | {CONSTANT: CONSTANT, INPUTS: INPUTS}
    return [
        Step(Value(step.value.shape, tuple(
            Part(new[p.source], p.rows, p.index, p.kind, p.kernels) for p in step.value.parts
        )), step.curves)
        for step in (steps[number] for number in kept)
    ]  # fmt: skip


def network(task: dict[str, Any], role: str, folder: Path) -> File:
    """The network of a task: in `folder` under its sha256, at its path, or in `folder` by its name."""
    data, space, region = task[role], task["space"], task["region"]
    named = Path(data["path"])
    travelled = folder / data["sha256"] / named.name  # with files beside it
    places = (travelled, folder / f"{data['sha256']}{named.suffix}", named, folder / data["path"], folder / named.name)
    path = next((place for place in places if exists(place)), named)
    stored = content(path, limits.NETWORK)
    read, now, beside = whole(path, stored)
    if now != data["sha256"]:
        words = f"{label(str(path), 500)} is not the file that the proof is about: its sha256 is {now}, that of the"
        raise Refused(f"{words} {role} in the certificate {data['sha256']}")
    kinds, raw, count = {"real": Number, "float32": Float32}, data["takes"] == "raw", len(space["features"])
    kind = kinds[task.get("arithmetic", "real")]
    given = (space["std_exact"], space["mean_exact"]) if raw else ((1,) * count, (0,) * count)
    scale, shift = (tuple(map(Fraction, part)) for part in given)
    sizes = (0.0,) * count
    if kind is Float32:
        ends = zip(scale, shift, region["lo_exact"], region["hi_exact"], strict=True)
        sizes = tuple(1.001 * float(max(abs(a * Fraction(x) + b) for x in pair)) for a, b, *pair in ends)
    negated = task["property"]["kind"] == "top1" and task["property"]["decide"] == "min"
    integers = integer_ends(data["dequantised"]) if "dequantised" in data else None
    shapes = tuple((name, tuple(sizes)) for name, sizes in data.get("shapes", {}).items())
    return File(
        str(path), read, kind, scale, shift, sizes, negated, len(space["outputs"]), data["gives"], data.get("output"),
        "two_classes" in data, integers, shapes, ((named.name, stored), *beside),
    )  # fmt: skip
