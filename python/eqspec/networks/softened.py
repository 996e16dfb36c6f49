"""A network with the Softmax that its file ends in: what the file gives, as steps behind its scores.

Files that end in a Softmax over all outputs are read without it (`Network.stripped`), because decisions and confidences
are about scores. A claim about probabilities is about this network:

    softmax_i(x) = 1 / (1 + sum over j != i of e^(x_j - x_i)),      log_softmax_i(x) = -ln(1 + the same sum),

and of two scores sigmoid(x_i - x_j) and -softplus(x_j - x_i). All weights are 1 and -1, so nothing is rounded.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eqspec.networks.curves import Curve, Curves
from eqspec.networks.network import Network
from eqspec.networks.program import Step, Term, Tile


def softened(network: Network) -> Network:
    """What the file gives. A network from which no Softmax was left out comes back as it is."""
    if network.stripped is None:
        return network
    logarithm, outputs = network.stripped == "log_softmax", network.output_size
    steps = list(network.steps)
    if outputs == 1:
        steps.append(Step((), np.full(1, 0.0 if logarithm else 1.0), function="identity"))
        return _as(network, steps)
    scores = len(steps) - 1
    pairs = np.array([(j, i) for i in range(outputs) for j in range(outputs) if j != i], np.int32)[:, None]
    if outputs == 2:
        steps.append(_differences(scores, pairs, 1.0 if logarithm else -1.0, "softplus" if logarithm else "sigmoid"))
    else:
        steps.append(_differences(scores, pairs, 1.0, "exp"))
        index = np.arange(len(pairs), dtype=np.int32).reshape(1, outputs, -1)
        total = Tile(index, np.ones((1, 1, outputs - 1)))
        steps.append(_curved((Term(scores + 1, total),), np.ones(outputs), "log" if logarithm else "reciprocal"))
    given = Tile(np.arange(outputs, dtype=np.int32).reshape(1, -1, 1), np.full((1, 1, 1), -1.0 if logarithm else 1.0))
    steps.append(Step((Term(len(steps) - 1, given),), np.zeros(outputs), function="identity"))
    return _as(network, steps)


def _differences(source: int, pairs: np.ndarray[tuple[int, ...], np.dtype[np.int32]], sign: float, name: str) -> Step:
    """A function of sign (x_j - x_i) for each pair (j, i)."""
    tile = Tile(pairs.reshape(1, -1, 2), np.array([[[sign, -sign]]]))
    return _curved((Term(source, tile),), np.zeros(len(pairs)), name)


def _curved(terms: tuple[Term, ...], bias: np.ndarray[tuple[int], np.dtype[np.float64]], name: str) -> Step:
    return Step(terms, bias, function=Curves.all(Curve(name)))


def _as(network: Network, steps: list[Step]) -> Network:
    kept = [note for note in network.notes if not note.startswith("the trailing ")]
    name = "Softmax" if network.stripped == "softmax" else "LogSoftmax"
    notes = (*kept, f"the outputs are what the trailing {name} gives")
    return replace(network, steps=tuple(steps), stripped=None, softened=network.stripped, notes=notes)
