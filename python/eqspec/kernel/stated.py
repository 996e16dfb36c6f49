"""Both networks as the auditor reads them, in rationals, as `validation` compares them with the text: trusted as well.

Steps of both stand side by side, without ReLUs that change nothing; a row of a step is weights of entries of steps, a
bias, and by how much these may be off.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from eqspec.audit.reading import Step
from eqspec.audit.reading.merging import merged
from eqspec.audit.reading.pair import deepened, in_step, is_chain
from eqspec.audit.reading.surd import Surd
from eqspec.audit.reading.value import CONSTANT

Entry = tuple[int, int]
"""A step, and an entry of it."""
Affine = tuple[dict[Entry, Fraction], Fraction]
"""Weights of entries of steps, and a bias."""
Unknown = dict[Entry | None, Fraction]
"""How far the auditor's own number of an entry may be off, and of the bias, which is None."""
ZERO = Fraction(0)


def side_by_side(
    first: Sequence[Step], second: Sequence[Step], every_step: bool
) -> tuple[list[list[Step]], list[tuple[int | None, int | None]]]:
    """Both programs, chains made equally deep, and which of their steps stand together; of a program beside itself
    `every_step`, where the claim is about all of them."""
    if every_step:
        given = [list(first), list(second)]
        return given, in_step(*given)
    given = [merged(first), merged(second)]
    if all(map(is_chain, given)) and len(first) != len(second):
        depth = max(map(len, given))
        given = [deepened(one, depth) for one in given]
    return given, in_step(*given)


def stated(step: Step) -> list[tuple[Affine, Unknown]]:
    """The rows of a step, and by how much their numbers may be off."""
    rows: list[tuple[dict[Entry, Fraction], list[Fraction], Unknown]] = [({}, [], {}) for _ in range(step.value.size)]
    for part in step.value.parts:
        kernels = [[nearest(value) for value in kernel] for kernel in part.kernels]
        for row, index, kind in zip(part.rows.tolist(), part.index.tolist(), part.kind.tolist(), strict=True):
            weights, biases, unknown = rows[row]
            for unit, (number, off) in zip(index, kernels[kind], strict=True):
                if unit < 0:
                    continue
                key = None if part.source == CONSTANT else (part.source, unit)
                if key is None:
                    biases.append(number)
                else:
                    weights[key] = weights[key] + number if key in weights else number
                if off:
                    unknown[key] = unknown.get(key, ZERO) + off
    return [
        (({k: w for k, w in weights.items() if w}, sum(biases, ZERO)), unknown) for weights, biases, unknown in rows
    ]


def nearest(value: Any) -> tuple[Fraction, Fraction]:
    """A rational near a number of the auditor, and at most how far it is off: 0 but for roots and what is rounded."""
    if isinstance(value, float):
        return Fraction.from_float(float(value)), ZERO
    exact, missing = getattr(value, "c", value), value.missing if getattr(value, "k", 0) else ZERO
    near, off = exact.near() if isinstance(exact, Surd) else (Fraction(exact), ZERO)
    return near, off + missing
