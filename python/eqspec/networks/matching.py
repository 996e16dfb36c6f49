"""Two different networks brought into step: which neuron of the candidate goes with which neuron of the reference.

A difference of two networks is small only where like is subtracted from like. Exporters, optimisers and training leave
the same function in another form: neurons permuted, scaled by positive factors that the next layer takes back,
duplicated, or split in two. Here the candidate is rewritten until its neurons stand where those of the reference stand.

Every rewriting keeps the function of a network (`rewriting`), so any choice of partners is sound, and a poor one only
costs time. In `arithmetic float32` the errors of a layer cover what a runtime rounds for each neuron by itself, so
neurons are moved, scaled and copied there but not merged.

Partners are found by what neurons compute before their ReLU on some inputs: the cosine of these values is 1 for two
neurons of which one is a positive multiple of the other, whatever was done to the layers before. Layers of networks of
different depth are paired by the same measure; the shallower network gets identity layers in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.align import in_step
from eqspec.networks.graph_matching import pair
from eqspec.networks.linear_assignment import assign
from eqspec.networks.network import AffineLayer, Array, Network
from eqspec.networks.relative_sizes import nearest_factors, of_other_size
from eqspec.networks.rewriting import Layers, merged, multiples, placed, scaled, shared_out, silenced, without_linear

SAMPLES = 96
"""Inputs at which neurons are compared."""
ALIKE = 1e-3
"""Sine between the values of two neurons up to which one is taken for a multiple of the other."""
MOST = 1024
"""Neurons of a layer up to which partners are assigned: the time grows with their cube."""


@dataclass
class Matching:
    """What was done to bring two networks into step: counts over all hidden layers."""

    moved: int = 0
    scaled: int = 0
    merged: int = 0
    copied: int = 0
    deepened: bool = False
    silenced: bool = False
    steps: tuple[int, int, int] | None = None
    """How many steps of two graphs of different structure go together, and how many each has."""
    of: str = "neurons"
    """What was moved."""

    def __bool__(self) -> bool:
        counts = self.moved or self.scaled or self.merged or self.copied
        return bool(counts or self.deepened or self.silenced or self.steps)

    def __str__(self) -> str:
        """What was done, in words; empty if nothing was."""
        counts = ((self.moved, "moved"), (self.scaled, "rescaled"), (self.merged, "merged"), (self.copied, "copied"))
        parts = [f"{count} {what}" for count, what in counts if count]
        if self.deepened:
            parts.append("layers paired across different depths")
        if self.silenced:
            parts.append("neurons without effect left out")
        if self.steps:
            together, first, second = self.steps
            parts.append(f"{together} steps go together, of {first} and {second}")
        return f"{self.of} were matched: {', '.join(parts)}" if parts else ""


def match(a: Network, b: Network, check: Callable[[], None] = lambda: None) -> tuple[Network, Network, Matching]:
    """Both networks with their neurons in step as far as they are alike, and what was done for that.

    The functions stay as they were. `check` is called now and then, and may raise.

    Networks of which nothing is gained by matching come back as they are.
    """
    found = Matching()
    if a.input_size != b.input_size or a.output_size != b.output_size:
        return a, b, found
    if not (a.is_chain and b.is_chain):
        return _match_graphs(a, b, check)
    mergeable = "float32" not in (a.arithmetic, b.arithmetic)
    try:
        first, second = list(a.layers), list(b.layers)
        if len(first) != len(second):
            first, second = (_simplified(layers, found, mergeable) for layers in (first, second))
        first, second = _of_one_depth(first, second, found)
        if len(first) == len(second) > 1:
            first, second = _matched(first, second, mergeable, found)
    except OverflowError:  # a number would leave the range of floats
        return a, b, Matching()
    if not found:
        return a, b, found
    return (
        a.with_layers(first, largest_intermediates=()),
        b.with_layers(second, largest_intermediates=()),
        found,
    )


def _match_graphs(a: Network, b: Network, check: Callable[[], None]) -> tuple[Network, Network, Matching]:
    paired = pair(a.steps, b.steps, _samples(a.input_size), check)
    if paired is None or (paired.one_to_one and not paired.moved and not paired.scaled):
        return a, b, Matching()
    found = Matching(paired.moved, paired.scaled, of="channels")
    if not paired.one_to_one:
        found.steps = len(paired.pairs), len(a.steps), len(b.steps)
    return *in_step(a, b, paired.steps, paired.pairs), found


# Values on samples.


@dataclass
class _Values:
    """What the neurons of a layer compute before their ReLU: directions (m, P) of length 1 or 0, and lengths (m).

    `variation` (m) is how much of the length is no constant.
    """

    units: Array
    sizes: Array
    variation: Array

    def __getitem__(self, rows: Sequence[int | None]) -> _Values:
        """Those of some rows, zero where there is none."""
        chosen = np.array([-1 if row is None else row for row in rows], int)
        there = chosen >= 0
        sizes, variation = (np.where(there, a[chosen], 0.0) for a in (self.sizes, self.variation))
        return _Values(np.where(there[:, None], self.units[chosen], 0.0), sizes, variation)


def _samples(inputs: int) -> Array:
    """Points (P, I): around zero as normalised inputs lie, far out, and between 0 and 1 as pixels lie."""
    random = np.random.default_rng(0)
    third = SAMPLES // 3
    wide = random.normal(size=(2 * third, inputs)) * np.repeat([1.0, 3.0], third)[:, None]
    return np.concatenate([wide, random.uniform(size=(third, inputs))])


def _values(layers: Sequence[AffineLayer], points: Array) -> list[_Values]:
    """Those of each hidden layer. What overflows counts as zero, and is like nothing."""
    found, now = [], points.T
    with np.errstate(all="ignore"):
        for layer in layers[:-1]:
            before = layer.weight @ now + layer.bias[:, None]
            sizes = np.linalg.norm(before, axis=1)
            usable = np.isfinite(sizes) & (sizes > 0.0)
            units = np.where(usable[:, None], before / np.where(usable, sizes, 1.0)[:, None], 0.0)
            variation = np.linalg.norm(units - units.mean(axis=1, keepdims=True), axis=1)
            found.append(_Values(units, np.where(usable, sizes, 0.0), variation))
            now = np.nan_to_num(np.maximum(before, 0.0))
    return found


def _costs(x: Array, y: Array) -> Array:
    """1 - cos^2 of the angles between directions (m, P) and (n, P); 1 where two point into opposite half-spaces."""
    return 1.0 - np.square(np.clip(x @ y.T, 0.0, 1.0))


def _apart(x: Array, y: Array) -> float:
    """About the sine of the angle between two directions, without cancellation where it is small."""
    return float(np.linalg.norm(x - y)) if x.any() and y.any() else 1.0


# Depth.


def _of_one_depth(a: Layers, b: Layers, found: Matching) -> tuple[Layers, Layers]:
    """Identity layers in the shallower network, where what comes behind them pairs best.

    An identity layer stands behind a ReLU, whose values are never negative, so that relu(x) = x. Where pairing the
    first layers with the first is as good, they stand behind the last, where `align` has them too.
    """
    if len(a) == len(b) or min(len(a), len(b)) < 2:
        return a, b
    if len(a) > len(b):
        second, first = _of_one_depth(b, a, found)
        return first, second
    points = _samples(a[0].weight.shape[1])
    gains = [
        [float(np.mean(1.0 - _costs(x.units, y.units).min(axis=1, initial=1.0))) for y in _values(b, points)]
        for x in _values(a, points)
    ]
    places = _places(gains)
    plain = sum(gains[k][k] for k in range(len(gains)))
    if sum(gains[k][place] for k, place in enumerate(places)) < plain + 0.1:
        places = [*range(len(gains))]
    else:
        found.deepened = True
    layers: Layers = []
    for k, (layer, place) in enumerate(zip(a[:-1], places, strict=True)):
        layers.append(layer)
        following = places[k + 1] if k + 1 < len(places) else len(b) - 1
        layers += [_identity(len(layer.bias))] * (following - place - 1)
    return [*layers, a[-1]], b


def _simplified(layers: Layers, found: Matching, mergeable: bool) -> Layers:
    """The layers with multiples merged, and without those that let everything through."""
    shorter = layers
    if mergeable:
        shorter = silenced(shorter)
        for h in range(len(layers) - 1):
            shorter, _ = merged(shorter, h, multiples(shorter[h]))
    shorter = without_linear(shorter)
    if len(shorter) == len(layers):
        return layers
    found.deepened = True
    return shorter


def _places(gains: list[list[float]]) -> list[int]:
    """The increasing places, the first of them 0, with the largest sum of gains: by dynamic programming."""
    count, wide = len(gains), len(gains[0])
    best = [[-np.inf] * wide for _ in range(count)]
    came = [[0] * wide for _ in range(count)]
    best[0][0] = gains[0][0]
    for k in range(1, count):
        for place in range(k, wide):
            before = max(range(place), key=lambda p: best[k - 1][p])
            best[k][place], came[k][place] = best[k - 1][before] + gains[k][place], before
    places = [int(np.argmax(best[-1]))]
    for k in range(count - 1, 0, -1):
        places.append(came[k][places[-1]])
    return places[::-1]


def _identity(width: int) -> AffineLayer:
    return AffineLayer(np.eye(width), np.zeros(width))


# Width.


@dataclass
class _Slots:
    """Where the neurons of a layer go: `first[s]` and `second[s]` stand in slot s, None for a neuron that does nothing.

    A neuron may stand in several slots; the columns that read it are then shared out among them.
    """

    first: list[int | None]
    second: list[int | None]

    @property
    def plain(self) -> bool:
        """Whether every neuron stays where it is."""
        return all(
            side == [*range(known := len(_present(side))), *[None] * (len(side) - known)]
            for side in (self.first, self.second)
        )


def _present(side: Sequence[int | None]) -> list[int]:
    return [i for i in side if i is not None]


def _matched(first: Layers, second: Layers, mergeable: bool, found: Matching) -> tuple[Layers, Layers]:
    given = [*first, *second]
    first, second = silenced(first), silenced(second)
    points = _samples(first[0].weight.shape[1])
    of_first, of_second = _values(first, points), _values(second, points)
    copies: list[tuple[int, _Slots, Array]] = []
    inputs = np.linalg.norm(points, axis=0)
    for h, (x, y) in enumerate(zip(of_first, of_second, strict=True)):
        if mergeable:
            groups, others = _multiples(first[h], second[h], x, y)
            (first, stay), (second, others_stay) = merged(first, h, groups), merged(second, h, others)
            found.merged += len(x.sizes) - len(stay) + len(y.sizes) - len(others_stay)
            x, y = x[stay], y[others_stay]
        slots = _slots(x, y)
        if not slots.plain:
            found.moved += sum(j is not None and j != s for s, j in enumerate(slots.second))
            found.copied += sum(len(_present(side)) - len({*_present(side)}) for side in (slots.first, slots.second))
            first, second = placed(first, h, slots.first), placed(second, h, slots.second)
            x, y = x[slots.first], y[slots.second]
        factors = _factors(x, y)
        if of_other_size(x.sizes, y.sizes * factors):
            factors = np.where(factors == 1.0, _near_factors(first[h], second[h], inputs), factors)
        inputs = x.sizes
        if (factors != 1.0).any():
            found.scaled += int((factors != 1.0).sum())
            second = scaled(second, h, factors)
        if not slots.plain:
            copies.append((h, slots, factors))
    for h, slots, factors in copies:  # when the layers that read them are in place as well
        first = shared_out(first, h, slots.first, np.ones_like(factors), second[h + 1].weight)
        second = shared_out(second, h, slots.second, factors, first[h + 1].weight)
    changed = any(x is not y for x, y in zip([*first, *second], given, strict=True))
    found.silenced = changed and not found and _equal(first, second)
    return first, second


def _equal(first: Layers, second: Layers) -> bool:
    """Whether both are the same numbers but for rows and columns of zeros, which alignment adds."""
    for a, b in zip(first, second, strict=True):
        m, n = (max(x, y) for x, y in zip(a.weight.shape, b.weight.shape, strict=True))
        whole = [np.zeros((m, n + 1)) for _ in range(2)]
        for padded, layer in zip(whole, (a, b), strict=True):
            padded[: len(layer.bias), : layer.weight.shape[1]], padded[: len(layer.bias), n] = layer.weight, layer.bias
        if not np.array_equal(whole[0], whole[1]):
            return False
    return True


def _slots(x: _Values, y: _Values) -> _Slots:
    """Partners for the neurons of a layer: the assignment of least cost, if it halves the cost of the order given."""
    m, n = len(x.sizes), len(y.sizes)
    both = min(m, n)
    costs = _costs(x.units, y.units)
    diagonal = costs.diagonal()
    given = [i if i < n else None for i in range(m)]
    partner: list[int | None] = given
    beaten = (diagonal > costs[:both].min(axis=1) + 1e-12) | (diagonal > costs[:, :both].min(axis=0) + 1e-12)
    total = float(diagonal.sum())
    most = total - _least(costs)
    if beaten.any() and most > max(0.5, 0.5 * total) and max(m, n) <= MOST:
        found = _assigned(costs)
        gain = total - sum(float(costs[i, j]) for i, j in enumerate(found) if j is not None)
        if gain > max(0.5, 0.5 * total):
            partner = found
    return _with_copies(x, y, costs, partner)


def _least(costs: Array) -> float:
    """What every assignment costs at least, by weak duality: the cheapest partner of each neuron of the smaller layer;
    and in layers of one size, by what is left of each cost then, the cheapest partner of each neuron of the other one.
    """
    m, n = costs.shape
    of_rows = costs if m <= n else costs.T
    cheapest = of_rows.min(axis=1)
    if m != n:  # a neuron of the larger layer may have no partner
        return float(cheapest.sum())
    of_columns = costs.min(axis=0)
    rows_first = cheapest.sum() + (costs - cheapest[:, None]).min(axis=0).sum()
    columns_first = of_columns.sum() + (costs - of_columns).min(axis=1).sum()
    return float(max(rows_first, columns_first))


def _assigned(costs: Array) -> list[int | None]:
    """For each row its column in the cheapest assignment; of equal ones, what stands in the same place."""
    costs = costs.copy()
    np.fill_diagonal(costs, costs.diagonal() - 1e-9)
    m, n = costs.shape
    if m <= n:
        return list(assign(costs))
    partner: list[int | None] = [None] * m
    for j, i in enumerate(assign(costs.T)):
        partner[i] = j
    return partner


def _with_copies(x: _Values, y: _Values, costs: Array, partner: list[int | None]) -> _Slots:
    """Slots for pairs, with a neuron in two of them where the other network has it twice."""
    m, n = costs.shape
    poor = [i for i, j in enumerate(partner) if j is None or costs[i, j] > 0.5]
    taken = {partner[i] for i in {*range(m)} - {*poor}}
    slots = _Slots([], [])
    for i in range(m):
        j = partner[i]
        if i in poor:
            twin = int(costs[i].argmin()) if n else 0
            if n and twin in taken and _apart(x.units[i], y.units[twin]) <= ALIKE:
                j = twin
        slots.first.append(i)
        slots.second.append(j)
    for j in sorted({*range(n)} - {*_present(slots.second)}):
        twin = int(costs[:, j].argmin())
        copied = twin not in poor and _apart(x.units[twin], y.units[j]) <= ALIKE
        slots.first.append(twin if copied else None)
        slots.second.append(j)
    return _without_poor(slots, x, y, costs, poor)


def _without_poor(slots: _Slots, x: _Values, y: _Values, costs: Array, poor: list[int]) -> _Slots:
    """The slots, where a candidate's neuron in a poor pair leaves it to stand with the neuron that it copies."""
    for s in poor:
        j = slots.second[s]
        if j is None or slots.second.count(j) > 1:
            continue
        # Directions so close have a cost of at most the square of that; most neurons have none such.
        near = (i for i in np.flatnonzero(costs[:, j] <= ALIKE**2 + 1e-12).tolist() if i not in poor)
        twin = next((i for i in near if _apart(x.units[i], y.units[j]) <= ALIKE), None)
        if twin is not None:
            slots.second[s] = None
            slots.first.append(twin)
            slots.second.append(j)
    return slots


def _factors(x: _Values, y: _Values) -> Array:
    """What each neuron of the candidate is scaled by: 1 unless it is a multiple of its partner, but for rounding."""
    factors = np.ones(len(y.sizes))
    both = min(len(x.sizes), len(y.sizes))
    sizes, others = x.sizes[:both], y.sizes[:both]
    there = (sizes > 0.0) & (others > 0.0)
    with np.errstate(all="ignore"):
        ratios = np.where(there, sizes / np.where(there, others, 1.0), 1.0)
        before = np.linalg.norm(x.units[:both] - y.units[:both] / ratios[:, None], axis=1)
        after = np.linalg.norm(x.units[:both] - y.units[:both], axis=1)
    close = np.minimum(ALIKE * np.minimum(x.variation[:both], y.variation[:both]), before / 100)
    gains = (before >= 1e-6) & (close >= 1e-12) & (after <= close)
    for s in np.flatnonzero(there & gains & (ratios > 2.0**-60) & (ratios < 2.0**60)).tolist():
        factor = float(ratios[s])
        power = float(2.0 ** round(float(np.log2(factor))))
        factors[s] = power if abs(factor / power - 1.0) <= 1e-7 else factor  # a power of two rounds nothing
    return factors


def _near_factors(first: AffineLayer, second: AffineLayer, inputs: Array) -> Array:
    """What each neuron of the candidate is scaled by to be near to that of the reference, after the layers before.

    `inputs` are the lengths of what the columns read, on the samples.
    """
    factors = np.ones(len(second.bias))
    m, n = (min(sizes) for sizes in zip(first.weight.shape, second.weight.shape, strict=True))
    n = min(n, len(inputs))
    lengths = np.append(inputs[:n], np.sqrt(SAMPLES))
    rows = [np.append(one.weight[:m, :n], one.bias[:m, None], axis=1) * lengths for one in (first, second)]
    factors[:m] = nearest_factors(*rows)
    return factors


def _multiples(a: AffineLayer, b: AffineLayer, x: _Values, y: _Values) -> tuple[list[list[int]], list[list[int]]]:
    """Groups of neurons that are exact multiples of each other, which the other network has once or as such a group."""
    in_first, in_second = multiples(a), multiples(b)
    found: tuple[list[list[int]], list[list[int]]] = ([], [])
    if not (in_first or in_second):
        return found
    costs = _costs(x.units, y.units)
    near = 0.05**2
    for group in in_first:
        other = np.flatnonzero(costs[group[0]] <= near).tolist()
        if len(other) == 1 or other in in_second:
            found[0].append(group)
    for group in in_second:
        other = np.flatnonzero(costs[:, group[0]] <= near).tolist()
        if len(other) == 1 or other in in_first:
            found[1].append(group)
    return found
