"""Network files, found and read once more, as exact functions: the affine maps between their ReLUs.

At a ReLU new units begin. What is over other units than the last ones is refused, like what is not read: then there is
no certificate.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..opening import content, exists, label, limits
from ..rounding import Array, Refused
from . import graph, nnet
from .number import Float32, Number, counted

MOST_ENTRIES = 1 << 22
"""Of all layers together, as many as two networks in step may have (`limits.STEP`)."""


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

    @lru_cache(maxsize=2)  # noqa: B019 - for many certificates about one pair
    def layers(self) -> list[Array]:
        """The affine maps between the ReLUs (2, m, n + 1): exact rationals, and how far a runtime is off them.

        Constants are in the last column.
        """
        try:
            with counted():
                return self._read()
        except Refused as reason:
            raise Refused(f"{label(self.path, 500)}: {reason}") from None
        except (MemoryError, RecursionError):
            raise Refused(f"{label(self.path, 500)}: reading it takes more memory than the auditor has") from None
        except Exception as problem:  # onnx, numpy and its reference implementation answer in many ways
            said = f"{type(problem).__name__}: {problem}"
            raise Refused(f"{label(self.path, 500)}: it is no network that the auditor can read ({said})") from None

    @property
    def softmax(self) -> bool:
        """Whether it ends in a Softmax, which is set aside: what is claimed is about what goes into it."""
        return not self._text and graph.ends_in_softmax(self.content)

    @property
    def _text(self) -> bool:
        return self.path.lower().endswith(".nnet")

    def _read(self) -> list[Array]:
        found: list[Array] = []

        def add(values: Array) -> None:
            if len(found) == limits.LAYERS:
                raise Refused(f"it has more than the {limits.LAYERS} layers that the auditor reads")
            if sum(layer[0].size for layer in found) + values.size * (units[-1] + 1) > MOST_ENTRIES:
                raise Refused("its layers are larger than the auditor allows for")
            exact, missing = layer = np.full((2, values.size, units[-1] + 1), 0, object)
            for i, value in enumerate(values.ravel()):
                gamma = value.gamma
                for unit, (c, a) in value.terms.items():
                    level, j = unit or (len(found), units[-1])
                    if level != len(found):
                        raise Refused("an operator reads what was before a ReLU")
                    exact[i, j] = c
                    if gamma:
                        missing[i, j] = gamma * a
            found.append(layer)

        def relu(values: Array) -> Array:
            add(values)
            sizes = [1.001 * value.size for value in values.ravel()]  # gamma, and the rounding of size itself
            units.append(len(sizes))
            made = [self.kind.computed((len(found), i), size) for i, size in enumerate(sizes)]
            return np.array(made, object).reshape(values.shape)

        units, given = [len(self.scale)], []
        for i, (scale, shift, size) in enumerate(zip(self.scale, self.shift, self.sizes, strict=True)):
            constant = {None: (shift, self.kind.lost(abs(shift)))} if self.kind.lost(abs(shift)) else {}
            given.append(self.kind({(0, i): (scale, abs(scale))} | constant, self.kind.rounds, size))
        form = nnet if self._text else graph
        result = np.ravel(form.run(self.content, self.kind, np.array(given, object), relu))
        if len(result) != self.outputs or not all(isinstance(value, Number) for value in result):
            raise Refused(f"it has {len(result)} outputs, the task {self.outputs}")
        add(-result if self.negated else result)
        return found


def network(task: dict[str, Any], role: str, folder: Path) -> File:
    """The network of a task, at its path or by its name in `folder`."""
    data, space, region = task[role], task["space"], task["region"]
    places = (Path(data["path"]), folder / data["path"], folder / Path(data["path"]).name)
    path = next((place for place in places if exists(place)), places[0])
    whole = content(path, limits.NETWORK)
    if (now := hashlib.sha256(whole).hexdigest()) != data["sha256"]:
        raise Refused(
            f"{label(str(path), 500)} is not the file that the proof is about: its sha256 is {now}, that of the"
            f" {role} in the certificate {data['sha256']}"
        )
    kinds, raw, count = {"real": Number, "float32": Float32}, data["takes"] == "raw", len(space["features"])
    kind = kinds[task.get("arithmetic", "real")]
    given = (space["std_exact"], space["mean_exact"]) if raw else ((1,) * count, (0,) * count)
    scale, shift = (tuple(map(Fraction, part)) for part in given)
    sizes = (0.0,) * count
    if kind is Float32:
        ends = zip(scale, shift, region["lo_exact"], region["hi_exact"], strict=True)
        sizes = tuple(1.001 * float(max(abs(a * Fraction(x) + b) for x in pair)) for a, b, *pair in ends)
    negated = task["property"]["kind"] == "top1" and task["property"]["decide"] == "min"
    return File(str(path), whole, kind, scale, shift, sizes, negated, len(space["outputs"]))
