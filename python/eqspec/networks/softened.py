"""A network with the Softmax that its file ends in: what the file gives, as steps behind its scores.

Files that end in a Softmax over all outputs are read without it (`Network.stripped`), because decisions and confidences
are about scores. A claim about probabilities is about this network, which computes them as `softmax_tree` says. All
weights are 1 and -1, so nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eqspec.networks.curves import Curve, Curves
from eqspec.networks.network import Network
from eqspec.networks.program import NONE, Step, Term, Tile
from eqspec.networks.softmax_tree import Sum, plan


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
    found = plan(outputs)
    steps += [_curved(_differences(scores, pairs), len(pairs), "softplus") for pairs in found.rounds]
    own = [Sum(i) for i in range(outputs)]
    last = zip(found.rest, own, strict=True) if logarithm else zip(own, found.rest, strict=True)
    steps.append(_curved(_differences(scores, tuple(last)), outputs, "softplus" if logarithm else "sigmoid"))
    given = Tile(np.arange(outputs, dtype=np.int32).reshape(1, -1, 1), np.full((1, 1, 1), -1.0 if logarithm else 1.0))
    steps.append(Step((Term(len(steps) - 1, given),), np.zeros(outputs), function="identity"))
    return _as(network, steps)


def _differences(scores: int, pairs: Sequence[tuple[Sum, Sum]]) -> tuple[Term, ...]:
    """a - b for each pair: the scores are those of step `scores`, and the rounds of softplus follow it."""
    taps: dict[int, tuple[list[list[int]], list[list[int]]]] = {}
    for place, pair in enumerate(pairs):
        for side, value in enumerate(pair):
            for source, index in ((scores, value.score), *((scores + 1 + r, k) for r, k in value.added)):
                read = taps.setdefault(source, ([[] for _ in pairs], [[] for _ in pairs]))
                read[side][place].append(index)
    return tuple(Term(source, _tile(*read)) for source, read in sorted(taps.items()))


def _tile(added: list[list[int]], subtracted: list[list[int]]) -> Tile:
    widths = [max(map(len, side)) for side in (added, subtracted)]
    padded = [
        [index + [NONE] * (width - len(index)) for index in side]
        for side, width in zip((added, subtracted), widths, strict=True)
    ]
    index = np.concatenate([np.array(side, np.int32).reshape(len(added), -1) for side in padded], axis=1)
    return Tile(index[None], np.repeat([1.0, -1.0], widths)[None, None])


def _curved(terms: tuple[Term, ...], rows: int, name: str) -> Step:
    return Step(terms, np.zeros(rows), function=Curves.all(Curve(name)))


def _as(network: Network, steps: list[Step]) -> Network:
    kept = [note for note in network.notes if not note.startswith("the trailing ")]
    name = "Softmax" if network.stripped == "softmax" else "LogSoftmax"
    notes = (*kept, f"the outputs are what the trailing {name} gives")
    return replace(network, steps=tuple(steps), stripped=None, softened=network.stripped, notes=notes)
