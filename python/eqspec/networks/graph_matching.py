"""Two programs of steps brought into step by what they compute: which step goes with which, and which channel.

On the inputs at which neurons of chains are compared (`matching`), steps are alike as far as their channels are, by the
cosine between all that channels compute before their function. Programs of one structure are paired step by step,
others by the heaviest order-preserving pairing. Within a pair the candidate's channels are moved to the channels of the
reference that they are most like, where that pays, and channels that are positive multiples of their partners are
rescaled. Every rewriting keeps the function of a network (`graph_rewriting`, `merging`), so any choice is sound, and a
poor one only costs time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curves
from eqspec.networks.evaluation import each_sum, together
from eqspec.networks.factors import factored
from eqspec.networks.graph_rewriting import Steps, TooLargeError, may_be_scaled, placed, rescaled, same_taps
from eqspec.networks.linear_assignment import assign
from eqspec.networks.merging import Pairs, bent, same_structure
from eqspec.networks.program import INPUTS, NONE, Array, Step, Term
from eqspec.networks.relative_sizes import nearest_factors, of_other_size

ALIKE = 1e-3
"""Sine between the values of two channels up to which one is taken for a multiple of the other."""
_OTHER = 0.25
"""What a pair of steps with other functions counts: two of them less than one of which both functions are the same."""
_SAME = 1e-6
"""Squared distance of two rows, relative to their sizes, up to which they compute the same."""
MOST = 1024
"""Channels of a step up to which partners are assigned: the time grows with their cube."""
_COLUMNS = 2048
"""Values of each channel by which it is told which steps go together."""
_ENTRIES, _FEWEST = 1 << 24, 12
"""Numbers that the values of one program may be: larger ones are compared at fewer points, or by their shapes alone."""


@dataclass
class Paired:
    """The candidate rewritten, which steps go together, and how many channels were moved and rescaled for that."""

    steps: Steps
    pairs: Pairs
    moved: int = 0
    scaled: int = 0
    one_to_one: bool = True


@dataclass
class _Channels:
    """What the channels of a step compute: directions (C, q P) of length 1 or 0, their lengths, and the positions q."""

    units: Array
    sizes: Array
    positions: int


def pair(
    a: Sequence[Step], b: Sequence[Step], points: Array, check: Callable[[], None] = lambda: None
) -> Paired | None:
    """The candidate's steps `b` in step with `a`, compared at points (P, I); None where they are too large for that.

    `check` is called step by step, and may raise.
    """
    most = _ENTRIES // max(sum(step.rows for step in steps) for steps in (a, b))
    if most < _FEWEST:
        return None
    points = points[:: -(-len(points) // most)]
    of_a, of_b = (_channels(steps, points, check) for steps in (a, b))
    one_to_one = same_structure(a, b)
    pairs = [(n, n) for n in range(len(a))] if one_to_one else _heaviest(a, b, (of_a, of_b), check)
    found = Paired(list(b), pairs, one_to_one=one_to_one)
    for i, k in pairs[:-1]:
        check()
        x, y = of_a[i], of_b[k]
        function = b[k].function
        if isinstance(function, Curves) and function.uniform is None:
            continue
        try:
            if x.positions != y.positions and len(x.sizes) * x.positions == len(y.sizes) * y.positions:
                x = _regrouped(x, len(y.sizes))  # as a convolution beside the same as one matrix
            if x.positions == y.positions:
                y = _moved(found, k, x, y)
                if may_be_scaled(function):
                    factors = _factors(x, y)
                    if of_other_size(x.sizes, y.sizes * factors):
                        near = _near_factors((a[i], x), (found.steps[k], y), pairs, (of_a, points))
                        factors = np.where(factors == 1.0, near, factors)
                    y = _scaled(found, k, y, factors)
            _rows_in_place(found, k, x, y)
        except (TooLargeError, OverflowError):
            continue
    return found


def _channels(steps: Sequence[Step], points: Array, check: Callable[[], None]) -> list[_Channels]:
    found = []
    counts: list[int] = []
    with np.errstate(all="ignore"):
        some, products = together(steps), factored(steps)
        parts = []
        for start in range(0, len(points), some):
            part = list[Array]()
            for sums in each_sum(steps, points[start : start + some].T, products):
                check()
                part.append(sums)
            parts.append(part)
        before = [np.concatenate(of_step, axis=1) for of_step in zip(*parts, strict=True)]
        for number, step in enumerate(steps):
            counts.append(_count(number, steps, counts))
            found.append(_as_channels(before[number], counts[-1], step.rows))
    return found


def _as_channels(computed: Array, count: int, rows: int) -> _Channels:
    flat = computed.reshape(count, -1)
    sizes = np.linalg.norm(flat, axis=1)
    usable = np.isfinite(sizes) & (sizes > 0.0)
    units = np.where(usable[:, None], flat / np.where(usable, sizes, 1.0)[:, None], 0.0)
    return _Channels(units, np.where(usable, sizes, 0.0), rows // count)


def _regrouped(channels: _Channels, count: int) -> _Channels:
    """The same rows as so many channels."""
    rows = len(channels.sizes) * channels.positions
    return _as_channels(channels.units * channels.sizes[:, None], count, rows)


def _of_one_size(x: _Channels, y: _Channels) -> tuple[_Channels, _Channels] | None:
    """Both with as many positions; fewer channels of as many rows, where one is written by rows."""
    if x.positions == y.positions:
        return x, y
    rows, count = len(x.sizes) * x.positions, gcd(len(x.sizes), len(y.sizes))
    if rows != len(y.sizes) * y.positions:
        return None
    return _regrouped(x, count), _regrouped(y, count)


def _count(number: int, steps: Sequence[Step], counts: Sequence[int]) -> int:
    """How many channels the rows of a step are: those of its weights, or else of what it rearranges."""
    step = steps[number]
    tiles = [term.tile for term in step.terms if term.tile.taps > 1 or term.tile.outputs > 1]
    own = [tile.channels for tile in tiles if tile.channels > 1 and tile.positions < step.rows]
    if own:
        return min(own)
    read = [term for term in step.terms if term.source != INPUTS]
    for term in read:
        count = counts[term.source]
        positions = steps[term.source].rows // count
        for wanted in (count, step.rows // positions if step.rows % positions == 0 else 1):
            if step.rows % wanted == 0 and all(_keeps(t, wanted, step.rows, counts, steps) for t in read):
                return wanted
    return 1


def _keeps(term: Term, count: int, rows: int, counts: Sequence[int], steps: Sequence[Step]) -> bool:
    """Whether each of so many channels reads of one channel of the source alone."""
    index = term.tile.index
    if term.tile.outputs != 1 or index.shape[0] * index.shape[1] != rows:
        return False
    source = steps[term.source]
    channel = np.where(index >= 0, index // (source.rows // counts[term.source]), -1).reshape(count, -1)
    largest = channel.max(axis=1, keepdims=True)
    return bool(((channel == largest) | (channel < 0)).all())


def _costs(x: _Channels, y: _Channels) -> Array:
    """1 - cos^2 of the angles between channels; 1 where two point into opposite half-spaces."""
    return 1.0 - np.square(np.clip(x.units @ y.units.T, 0.0, 1.0))


def _thinned(channels: _Channels) -> _Channels:
    """Channels by some of their values: all positions and all points alike, as far as they can be told apart."""
    stride = _stride(channels)
    if stride == 1:
        return channels
    units = channels.units[:, ::stride]
    sizes = np.linalg.norm(units, axis=1, keepdims=True)
    return _Channels(np.divide(units, sizes, where=sizes > 0.0, out=np.zeros(units.shape)), channels.sizes, 1)


def _stride(channels: _Channels) -> int:
    """By how many values those that are compared lie apart."""
    count: int = channels.units.shape[1]
    if count <= _COLUMNS:
        return 1
    stride, points = -(-count // _COLUMNS), count // channels.positions
    while gcd(stride, points) != 1:  # else the same few points at all positions
        stride += 1
    return stride


def _heaviest(
    a: Sequence[Step],
    b: Sequence[Step],
    channels: tuple[list[_Channels], list[_Channels]],
    check: Callable[[], None],
) -> Pairs:
    """Order-preserving pairs of the largest weight, the last with the last: by dynamic programming."""
    weights = np.full((len(a), len(b)), -1.0)
    for i, x in enumerate(channels[0][:-1]):
        check()
        for k, y in enumerate(channels[1][:-1]):
            both = _of_one_size(x, y) if bent(a[i]) == bent(b[k]) else None
            if both is not None:
                costs = _costs(*map(_thinned, both))
                unlike = max(costs.min(axis=1).mean(), costs.min(axis=0).mean())
                share = max(0.0, 1.0 - 2.0 * float(unlike)) + (1e-3 if a[i].rows == b[k].rows else 0.0)
                share *= 1.0 if _kinds(a[i]) == _kinds(b[k]) else _OTHER
                weights[i, k] = share * min(a[i].rows, b[k].rows)
    best = np.zeros((len(a), len(b)))
    for i in reversed(range(len(a) - 1)):
        for k in reversed(range(len(b) - 1)):
            best[i, k] = max(best[i + 1, k], best[i, k + 1])
            if weights[i, k] > 0.0:
                best[i, k] = max(best[i, k], weights[i, k] + best[i + 1, k + 1])
    pairs, i, k = Pairs(), 0, 0
    while i < len(a) - 1 and k < len(b) - 1:
        if best[i, k] == best[i + 1, k]:
            i += 1
        elif best[i, k] == best[i, k + 1]:
            k += 1
        else:
            pairs.append((i, k))
            i, k = i + 1, k + 1
    return [*pairs, (len(a) - 1, len(b) - 1)]


def _kinds(step: Step) -> set[str]:
    """The functions of a step by name; those that are straight but for bends and jumps have one."""
    if not isinstance(step.function, Curves):
        return {"straight"}
    return {"straight" if curve.name in ("pieces", "quantiser") else curve.name for curve in step.function.kinds}


def _moved(found: Paired, k: int, x: _Channels, y: _Channels) -> _Channels:
    """Moves the channels of the candidate's step k; what they compute then."""
    order = _order(x, y)
    if order == list(range(len(y.sizes))):
        return y
    found.steps = placed(found.steps, k, order, y.positions)
    found.moved += sum(c is not None and c != place for place, c in enumerate(order))
    chosen = np.array([-1 if c is None else c for c in order])
    there = chosen >= 0
    units, sizes = np.where(there[:, None], y.units[chosen], 0.0), np.where(there, y.sizes[chosen], 0.0)
    return _Channels(units, sizes, y.positions)


def _scaled(found: Paired, k: int, y: _Channels, factors: Array) -> _Channels:
    """Rescales the channels of the candidate's step k; what they compute then."""
    if (factors == 1.0).all():
        return y
    found.steps = rescaled(found.steps, k, factors, y.positions)
    found.scaled += int((factors != 1.0).sum())
    return _Channels(y.units, y.sizes * np.abs(factors), y.positions)


def _apart(a: Array, b: Array, cosines: Array) -> Array:
    """Squared distances of rows of these sizes, relative to the larger one."""
    largest = np.maximum(a, b) ** 2
    return np.asarray((a**2 + b**2 - 2.0 * a * b * cosines) / np.where(largest > 0.0, largest, 1.0))


def _rows_in_place(found: Paired, k: int, x: _Channels, y: _Channels) -> None:
    """Moves the rows of the candidate's step k where each computes what one of the reference does, at another place.

    So it is where one file has channels first and the other last.
    """
    rows = len(x.sizes) * x.positions
    if rows != len(y.sizes) * y.positions or not 1 < rows <= MOST:
        return
    first, second = _regrouped(x, rows), _regrouped(y, rows)
    sizes = [np.sort(one.sizes) for one in (first, second)]
    if (np.abs(sizes[0] - sizes[1]) > np.sqrt(_SAME) * sizes[0]).any():  # cheap, and most pairs differ in it
        return
    if _apart(first.sizes, second.sizes, np.sum(first.units * second.units, axis=1)).max() <= _SAME:
        return
    apart = _apart(first.sizes[:, None], second.sizes, first.units @ second.units.T)
    partner = apart.argmin(axis=1)
    if apart[np.arange(rows), partner].max() > _SAME:
        return
    if (np.sort(partner) != np.arange(rows)).any():
        return
    found.steps = placed(found.steps, k, partner.tolist(), 1)
    found.moved += int((partner != np.arange(rows)).sum())


def _order(x: _Channels, y: _Channels) -> list[int | None]:
    """Which channel of the candidate stands in each place: the assignment of least cost, if it halves that of now."""
    m, n = len(x.sizes), len(y.sizes)
    stay: list[int | None] = list(range(n))
    if min(m, n) < 2 or max(m, n) > MOST:
        return stay
    costs = _costs(x, y)
    now = costs.diagonal()
    both = min(m, n)
    if not ((now > costs[:both].min(axis=1) + 1e-12) | (now > costs[:, :both].min(axis=0) + 1e-12)).any():
        return stay
    biased = costs.copy()
    np.fill_diagonal(biased, biased.diagonal() - 1e-9)
    partner: list[int | None] = [None] * m
    if m <= n:
        partner = list(assign(biased))
    else:
        for j, i in enumerate(assign(biased.T)):
            partner[i] = j
    total = float(now.sum())
    gain = total - sum(float(costs[i, j]) for i, j in enumerate(partner) if j is not None)
    if gain <= max(0.5, 0.5 * total):
        return stay
    return [*partner, *sorted({*range(n)} - {*partner})]


def _factors(x: _Channels, y: _Channels) -> Array:
    """What each channel of the candidate is scaled by: 1 unless it is a multiple of its partner, but for rounding."""
    factors = np.ones(len(y.sizes))
    both = min(len(x.sizes), len(y.sizes))
    for c in range(both):
        if not (x.sizes[c] > 0.0 and y.sizes[c] > 0.0):
            continue
        factor = float(x.sizes[c] / y.sizes[c])
        if abs(factor - 1.0) < 1e-5 or not 2.0**-60 < factor < 2.0**60:
            continue
        apart = float(np.linalg.norm(x.units[c] - y.units[c]))
        if apart > min(ALIKE, abs(factor - 1.0) / 100):
            continue
        power = float(2.0 ** round(float(np.log2(factor))))
        factors[c] = power if abs(factor / power - 1.0) <= 1e-7 else factor  # a power of two rounds nothing
    return factors


def _near_factors(
    first: tuple[Step, _Channels],
    second: tuple[Step, _Channels],
    pairs: Pairs,
    computed: tuple[Sequence[_Channels], Array],
) -> Array:
    """What each channel of the candidate is scaled by to be near to that of the reference.

    By their weights after the steps before, or where tiles do not compare by what they compute. Channels that read what
    does not go together stay: they may differ in size because they are not the same function.
    """
    (a, x), (b, y) = first, second
    factors = np.ones(len(y.sizes))
    both = min(len(x.sizes), len(y.sizes))
    together = {INPUTS: INPUTS, **dict(pairs)}
    if [together.get(term.source) for term in a.terms] != [term.source for term in b.terms]:
        return factors
    one, other = _rows(a, b, x.positions, computed) or (_some_values(x), _some_values(y))
    factors[:both] = nearest_factors(one[:both], other[:both])
    return factors


def _some_values(channels: _Channels) -> Array:
    values: Array = channels.units[:, :: _stride(channels)] * channels.sizes[:, None]
    return values


def _rows(a: Step, b: Step, positions: int, computed: tuple[Sequence[_Channels], Array]) -> tuple[Array, Array] | None:
    """The weights of channels and their biases as rows (C, n) and (D, n), times the lengths of what they are read with.

    None where tiles do not compare.
    """
    channels, points = computed
    parts = []
    for term, other in zip(a.terms, b.terms, strict=True):
        one, two = same_taps(term.tile, other.tile)
        if one.positions != positions or one.index is not two.index:
            return None
        if term.source == INPUTS:
            lengths = np.linalg.norm(points, axis=0)
        else:
            read = channels[term.source]
            lengths = np.repeat(read.sizes / np.sqrt(read.positions), read.positions)
        if one.index.max(initial=NONE) >= len(lengths):
            return None  # the candidate's step reads more values than this one
        squares = np.append(np.square(lengths), 0.0)[one.index].mean(axis=1)
        parts.append([(t.weight * np.sqrt(squares)[:, None]).reshape(-1, t.taps) for t in (one, two)])
    biases = [step.bias.reshape(-1, positions).mean(axis=1, keepdims=True) for step in (a, b)]
    first, second = (
        np.concatenate([*columns, bias * np.sqrt(len(points))], axis=1)
        for columns, bias in zip(zip(*parts, strict=True), biases, strict=True)
    )
    return first, second
