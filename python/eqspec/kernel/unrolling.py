"""Two programs of steps as layers in step, each of which reads the one before alone.

A step may read any step before it, and the inputs. What a later layer reads besides the layer before is carried there
by neurons that copy it, so a residual or a pool becomes layers that are wider; a convolution becomes one row for every
place. Which steps stand side by side the auditor says (`audit/reading/pair`); one without a partner stands beside rows
of zeros. Numbers with square roots, or that are rounded, by the auditor or by a float32 runtime, have rationals that
are near, and sizes of what they may be off. Not trusted: `validation` compares what comes of it with the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction

from eqspec.audit.functions import Curve
from eqspec.audit.reading import Step
from eqspec.audit.reading.value import CONSTANT, INPUTS
from eqspec.audit.rounding import Refused
from eqspec.lazy_dataclass import dataclass

from .stated import nearest, side_by_side

Unit = tuple[int, int]
"""A layer, or INPUTS, and an entry of it."""
Affine = tuple[dict[int, Fraction], Fraction]
"""Weights of units of the layer before, and a bias."""
Near = dict[int, dict[int | None, Fraction]]
"""By row, how far weights of units may be off, and the bias, which is None."""
MOST_WEIGHTS = 1 << 24
"""Weights that are written out."""
ZERO = Fraction(0)
NONE: Affine = ({}, ZERO)


@dataclass
class Layer:
    """Functions of both networks row by row, None for none, and rows of both.

    The first `own` rows are those of steps; the others copy a unit of the layer before each, which `copies` names.
    """

    own: int
    functions: list[tuple[Curve | None, Curve | None]] = field(default_factory=list)
    first: list[Affine] = field(default_factory=list)
    second: list[Affine] = field(default_factory=list)
    copies: list[int] = field(default_factory=list)
    near: tuple[Near, Near] = field(default_factory=lambda: ({}, {}))
    """Rows of either network whose numbers are near what they stand for, and not exactly that."""


@dataclass
class Reads:
    """What one network reads: per layer and row the units, and the biases; and by how much rows are only near."""

    rows: list[list[tuple[dict[Unit, Fraction], Fraction]]] = field(default_factory=list)
    curves: list[list[Curve | None]] = field(default_factory=list)
    near: list[dict[int, dict[Unit | None, Fraction]]] = field(default_factory=list)


def unrolled(first: Sequence[Step], second: Sequence[Step], inputs: int, *, every_step: bool = False) -> list[Layer]:
    """The layers over so many inputs, the outputs last."""
    given, partners = side_by_side(first, second, every_step)
    both = [reads(one, [partner[side] for partner in partners]) for side, one in enumerate(given)]
    last: list[dict[Unit, int]] = [{}, {}]  # the last layer of each that reads a unit
    for seen, network in zip(last, both, strict=True):
        for at, rows in enumerate(network.rows):
            seen |= {unit: at for weights, _ in rows for unit in weights}
    layers, size = list[Layer](), 0
    before: dict[Unit, int] = {(INPUTS, i): i for i in range(inputs)}
    for number in range(len(partners)):
        width = max(len(one.rows[number]) for one in both)
        layer, own = Layer(width), {(number, row): row for row in range(width)}
        one, other = (
            {
                r: {None if u is None else before[u]: off for u, off in some.items()}
                for r, some in n.near[number].items()
            }
            for n in both
        )
        layer.near = one, other
        for row in range(width):
            curves = [one.curves[number][row] if row < len(one.curves[number]) else None for one in both]
            present = [row < len(one.rows[number]) for one in both]
            layer.functions.append(
                (curves[0], curves[1]) if all(present) else (curves[present.index(True)], curves[present.index(True)])
            )
            for affine, network in zip((layer.first, layer.second), both, strict=True):
                entries, bias = network.rows[number][row] if row < len(network.rows[number]) else ({}, ZERO)
                affine.append(({before[unit]: w for unit, w in entries.items()}, bias))
        carried = {key for one in last for key, reader in one.items() if reader > number > key[0]}
        for unit in sorted(carried):
            own[unit] = len(layer.functions)
            layer.functions.append((None, None))
            layer.copies.append(before[unit])
            for affine, seen in zip((layer.first, layer.second), last, strict=True):
                affine.append(({before[unit]: Fraction(1)}, Fraction(0)) if seen.get(unit, -1) > number else NONE)
        size += sum(len(row) for affine in (layer.first, layer.second) for row, _ in affine)
        if size > MOST_WEIGHTS:
            raise Refused(
                f"the kernel checks networks of up to {MOST_WEIGHTS} weights, those of convolutions written out"
            )
        layers.append(layer)
        before = own
    return layers


def _near(rows: dict[int, dict[Unit | None, Fraction]], before: dict[Unit, int]) -> Near:
    """By row, of the units of the layer before."""
    return {row: {None if u is None else before[u]: off for u, off in some.items()} for row, some in rows.items()}


def reads(steps: Sequence[Step], order: Sequence[int | None]) -> Reads:
    """What a program reads whose steps stand in these places."""
    place = {step: number for number, step in enumerate(order) if step is not None} | {INPUTS: INPUTS}
    found = Reads()
    for number in order:
        near = dict[int, dict[Unit | None, Fraction]]()
        found.near.append(near)
        if number is None:
            found.rows.append([])
            found.curves.append([])
            continue
        step = steps[number]
        rows: list[tuple[dict[Unit, Fraction], Fraction]] = [({}, Fraction(0)) for _ in range(step.value.size)]
        for part in step.value.parts:
            kernels = [[nearest(value) for value in kernel] for kernel in part.kernels]
            for row, index, kind in zip(part.rows.tolist(), part.index.tolist(), part.kind.tolist(), strict=True):
                weights, bias = rows[row]
                for unit, (weight, off) in zip(index, kernels[kind], strict=True):
                    if unit < 0 or not (weight or off):
                        continue
                    key = None if part.source == CONSTANT else (place[part.source], unit)
                    if off:
                        unknown = near.setdefault(row, {})
                        unknown[key] = unknown.get(key, ZERO) + off
                    if key is None:
                        bias += weight
                    else:
                        weights[key] = weights[key] + weight if key in weights else weight
                rows[row] = weights, bias
        found.rows.append(rows)
        curves: list[Curve | None] = [*step.curves] or [None]
        found.curves.append(curves * step.value.size if len(curves) == 1 else curves)
    return found
