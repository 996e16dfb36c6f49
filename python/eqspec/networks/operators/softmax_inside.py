"""Softmax and LogSoftmax whose result a network goes on computing with, or that it gives and is asked about.

    softmax_i(x) = 1 / (1 + sum over j != i of e^(x_j - x_i))        log_softmax_i(x) = -ln(1 + the same sum)

and of two scores sigmoid(x_i - x_j) and -softplus(x_j - x_i). Exact over the real numbers; n scores take n (n - 1)
exponentials, and bounds are as loose as those of each difference by itself.
"""

from __future__ import annotations

from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.matrices import check_value
from eqspec.networks.operators import functions, pooling


def softmax(x: Affine, covered: int, *, logarithm: bool) -> Affine:
    """The softmax over each run of so many entries in C order, or its logarithm."""
    shape = x.shape
    if covered == 1:
        constant = np.zeros(shape) if logarithm else np.ones(shape)
        return af.constant(x.parts[0].units, en.exactly(constant))
    check_value((x.size, covered - 1))
    value = functions.argument(af.rearrange(x, lambda p: p.reshape(-1)))
    runs = np.arange(x.size).reshape(-1, covered)
    others = np.array([[j for j in range(covered) if j != i] for i in range(covered)])
    rivals, own = runs[:, others], np.broadcast_to(runs[:, :, None], (len(runs), covered, covered - 1))
    apart = af.add(af.rearrange(value, lambda _: rivals), af.negate(af.rearrange(value, lambda _: own)))
    if covered == 2:
        made = _of("softplus", apart) if logarithm else _of("sigmoid", af.negate(apart))
    else:
        powers = _of("exp", apart)
        groups = np.arange(prod(powers.shape)).reshape(x.size, covered - 1)
        total = pooling.mean(powers, groups, np.ones(x.size, int), (x.size,))
        assert isinstance(total, Affine)
        made = _of("log" if logarithm else "reciprocal", af.shift(total, en.exactly(1.0)))
    return af.rearrange(af.negate(made) if logarithm else made, lambda p: p.reshape(shape))


def _of(name: str, x: Affine) -> Affine:
    return af.curve(x, Curves.all(Curve(name)))
