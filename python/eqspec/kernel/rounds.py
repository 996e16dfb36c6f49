"""Rounds of a certificate, as the kernel's prover reads them: facts with multipliers, and what they show.

The auditor numbers facts step by step; behind them come those of a confidence, and the constraints of the region, of
which the prover finds multipliers itself. Nothing of this is trusted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.audit.bounds import AFFINE, CURVED, FACTS, TOUCHING
from eqspec.audit.reading.pair import Both
from eqspec.audit.rounding import Array, Refused
from eqspec.lazy_dataclass import dataclass

NAMED = {name: number for number, name in enumerate(FACTS)}
GUARD = len(FACTS)
"""Numbers of facts in the stream (`kernel/README.md`): those behind ReLU, then that a class is ahead of another."""
TOUCHED = dict(zip(TOUCHING, (13, 13, 14, 14, 15, 15, 16, 16, 4, 17), strict=True))
"""Behind other functions: the usual lines below and above; that below D is the chord of a ReLU."""
BITS = 24
"""Of the largest multiplier of a bound."""


@dataclass(frozen=True)
class Places:
    """Where the quantities of steps are in the kernel: layers and neurons, counted from the last layer."""

    inputs: int
    widths: Sequence[int]  # of the steps in the certificate; the last may be rows of the claim
    layers: int  # of the networks, without the rows of the claim
    behind: int  # layers of the kernel behind them that only take quantised outputs back to what they stand for
    backwards: bool  # whether rows of the claim come in the other order

    def place(self, step: int, row: int) -> tuple[int, int]:
        """The layer and the number of a row of a step."""
        if step < self.layers:
            return self.layers + self.behind - step, row
        outputs = self.widths[self.layers - 1]  # rows of outputs, in which the outputs themselves come first
        if row < outputs:
            return 1, row
        row -= outputs
        return 0, self.widths[step] - outputs - 1 - row if self.backwards else row


@dataclass(frozen=True)
class Facts:
    """The layer, the neuron and the number of every fact of a pair, in the order of the certificate."""

    known: Array  # (N, 3)
    outputs: int

    @staticmethod
    def of(steps: Sequence[Both], places: Places, outputs: int) -> Facts:
        """Those of the steps."""
        known = list[tuple[int, int, int]]()
        for number, step in enumerate(steps):
            every = CURVED if step.curved else FACTS if step.curves else AFFINE
            for name in every:
                fact = NAMED[name] if name in NAMED else TOUCHED[name]
                known += [(*places.place(number, row), fact) for row in range(step.width)]
        return Facts(np.array(known, int).reshape(-1, 3), outputs)

    def named(self, rows: Array, guard: int | None) -> tuple[list[tuple[int, int, int]], Array]:
        """Those of these numbers that the prover is told, and which of them; the guard is that of this class."""
        others, count = self.outputs - 1, len(self.known)
        found, which = list[tuple[int, int, int]](), list[int]()
        for at, row in enumerate(rows.astype(int).tolist()):
            if 0 <= row < count:
                layer, neuron, fact = self.known[row].tolist()
                found.append((layer, neuron, fact))
                which.append(at)
            elif guard is not None and count <= row < count + others:
                found.append((0, guard * others + row - count, GUARD))
                which.append(at)
        return found, np.array(which, int)


def round_of(places: Places, facts: Facts, guard: int | None, arrays: tuple[Array, Array, Array]) -> str | None:
    """The command of a round, without the number of commands below it; none if it shows nothing."""
    wanted, rows, multipliers = arrays
    if multipliers.shape != (len(wanted), len(rows)) or not np.isfinite(multipliers).all():
        raise Refused("multipliers do not fit what they prove")
    named, which = facts.named(rows, guard)
    multipliers = multipliers[:, which].astype(float)
    size = np.abs(multipliers).max(1, initial=0.0)
    shifts = np.where(size > 0.0, np.clip(BITS - np.frexp(size)[1], 0, 1000), 0)
    whole = np.rint(np.ldexp(multipliers, shifts[:, None]))
    texts = []
    for quantity, shift, row in zip(wanted.astype(int).tolist(), shifts.tolist(), whole, strict=True):
        texts.append(f"{_shown(places, quantity)} {shift} {' '.join(map(str, map(int, row.tolist())))}")
    listed = " ".join(f"{layer} {neuron} {fact}" for layer, neuron, fact in named)
    return "\n".join([f"M {len(named)} {listed} {len(texts)}", *texts]) if texts else None


def _shown(places: Places, quantity: int) -> str:
    """What a round bounds: a quantity, numbered from 1 and negative where it is bounded above, or nothing."""
    if quantity == 0:
        return "L"
    which, least = abs(quantity) - 1, int(quantity > 0)
    if which < places.inputs:
        return f"N {which} {least}"
    which -= places.inputs
    for step, width in enumerate(places.widths):
        if which < 3 * width:
            kind, row = divmod(which, width)
            layer, neuron = places.place(step, row)
            return f"B {layer} {neuron} {'xyd'[kind]} {least}"
        which -= 3 * width
    raise Refused("a bound of a quantity that there is not")
