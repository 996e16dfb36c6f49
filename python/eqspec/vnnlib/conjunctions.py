"""Cases of several comparisons, which no sentence of the language says, as a claim that the engine decides.

Let a case be h_1 >= 0, ..., h_m >= 0 with affine functions h_i of the outputs of one network, or of a pair side by
side. Two networks with 2m - 1 classes are made of it:

    R = (0, -1 - h_2, -1 - h_2, ..., -1 - h_m, -1 - h_m)  class 0 leads by 1 exactly where h_2, ..., h_m >= 0
    C = (-h_1 - slack, 0, -h_1 - 1, ..., -h_1 - 1)       and is then behind exactly where h_1 > -slack

Every other class of R has a twin, so it never leads by 1. So `C keeps top1 of R when margin >= 1` breaks exactly where
h_2, ..., h_m >= 0 and h_1 > -slack. With a slack above 0 that is wherever the case holds, and a little more: a proof
shows that it holds nowhere. To find an input for the case, h_2, ..., h_m are made smaller by a slack instead.

Sound because constants are rounded to the side where the claim breaks, because the layers keep the errors that they
have and folding the last two adds its own (`composing`), and because a counterexample counts only if the asserts
themselves hold there, exactly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InputError
from eqspec.networks import Network
from eqspec.networks.program import content
from eqspec.property import Linear, Margin
from eqspec.tasks.directed_rounding import float_below
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.task import Task
from eqspec.vnnlib.cases import Case
from eqspec.vnnlib.composing import behind, side_by_side, steps_behind
from eqspec.vnnlib.query import Comparison

Array = NDArray[np.float64]
SLACK = Fraction(1, 1 << 30)
MOST_COMPARISONS = 200
"""The most of one case: as a claim about the first of twice as many classes it has some 160 000 pairs to prove."""


def conjunction(area: Task, case: Case, *, outer: bool) -> Task:
    """A task whose claim breaks where a case of linear comparisons holds, none or at least two, on a region.

    With `outer` it breaks wherever the case holds, and a little beyond; else only where it holds, but for a margin
    along its boundary.

    The region is that of `area`, and the networks are its reference and its candidate. InputError where coefficients
    are no floats, or there are more comparisons than `MOST_COMPARISONS`.
    """
    if not case:  # every input of the area is unsafe: 0 <= -1 breaks at all of them
        zeros = (0,) * area.reference.output_size
        return replace(area, property=Linear(zeros, zeros, -1))
    if len(case) > MOST_COMPARISONS:
        raise InputError(
            f"{len(case)} comparisons of outputs joined by 'and' are more than the {MOST_COMPARISONS} that are decided "
            "together; leave out those that follow from others"
        )
    pair = {e.network for c in case for e in c.elements} == {0, 1}
    alone = area.reference if {e.network for c in case for e in c.elements} == {0} else area.candidate
    networks = [area.reference, area.candidate] if pair else [alone]
    first, *others = sorted(case, key=lambda c: c.relation != "<")  # a strict one need not be met with equality
    width = sum(network.output_size for network in networks)
    guards = [_affine(c, width, pair=pair, slack=Fraction(0) if outer else -SLACK) for c in others]
    row, bound = _affine(first, width, pair=pair, slack=SLACK if outer else Fraction(0))
    lead = [(np.zeros(width), 0.0), *(side for h, b in guards for side in [(-h, float_below(-1 - b))] * 2)]
    lag = [(-row, float_below(-bound)), (np.zeros(width), 0.0)]
    lag += [(-row, float_below(-bound - 1))] * (len(lead) - 2)
    return replace(
        area,
        reference=_network(networks, lead, "guard", alone.source),
        candidate=_network(networks, lag, "broken", alone.source),
        property=Margin(1),
        reference_takes_raw=False,
        candidate_takes_raw=False,
        space=replace(area.space, outputs=tuple(str(i) for i in range(len(lead))), decide="max"),
    )


def _affine(comparison: Comparison, width: int, *, pair: bool, slack: Fraction) -> tuple[Array, Fraction]:
    """h = bound - sum + slack as a row and a constant, multiplied until the row is whole."""
    coefficients = comparison.coefficients
    whole = lcm(*(c.denominator for c in coefficients.values()))
    factor = Fraction(whole, gcd(*(int(c * whole) for c in coefficients.values())))
    row = np.zeros(width)
    for element, coefficient in coefficients.items():
        number = -coefficient * factor
        place = element.entry + (element.network * (width // 2) if pair else 0)
        row[place] = approximately(number)
        if not np.isfinite(row[place]) or Fraction(row[place]) != number:
            raise InputError(f"the coefficient {coefficient} of an output has more digits than a float holds")
    return row, comparison.bound * factor + slack


def _network(networks: Sequence[Network], rows: Sequence[tuple[Array, float]], role: str, source: str) -> Network:
    """The networks side by side with these affine functions of their outputs in place of the outputs.

    They are folded into the last layer of chains, and stand behind graphs.
    """
    matrix, shift = np.array([row for row, _ in rows]), np.array([constant for _, constant in rows])
    digest = hashlib.sha256(role.encode())
    if not all(network.is_chain for network in networks):
        steps = steps_behind(networks, matrix, shift)
        for part in content(steps):
            digest.update(part)
        return Network(steps, networks[0].input_size, f"{role} over {source}", digest.hexdigest())
    layers = side_by_side(*networks) if len(networks) == 2 else list(networks[0].layers)
    made = tuple(behind(layers, matrix, shift))
    for layer in made:
        for array in (layer.weight, layer.bias, layer.weight_error, layer.bias_error):
            digest.update(b"exact" if array is None else repr(array.shape).encode() + array.tobytes())
    return Network.of_layers(made, f"{role} over {source}", digest.hexdigest())
