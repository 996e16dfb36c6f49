"""The sums of a layer in its accumulator: which products it rounds, and what the sums may be.

hls4ml assigns every product to the accumulator's type by itself, then adds them up in that type. Rounding a product is
a function of one input, and so a row of its own, one for each pair of an input and a weight that differ from all
others. What wraps needs no row: addition modulo 2^W is associative, so that wrapped products and partial sums differ
from the true ones by multiples of 2^W, which wrapping the whole sum takes away. Where the whole sum lies in the type,
nothing is wrapped at all. An accumulator that saturates depends on the order of its sums. Where no partial sum, in
whatever order, can reach its ends, it is a plain sum; elsewhere the sum is cut into parts, in the order of the kernel,
behind each of which it is cut off (`Builder.added`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import Lattice, integers


@dataclass(frozen=True, eq=False)
class Sums:
    """What a layer adds up: entry index[p, k] times weights[o, k] over k, and bias[o]; index -1 adds nothing.

    The entries of the result are those of position p and output o, in the order p O + o.
    """

    index: NDArray[np.intp]
    weights: Integers
    weight_bits: int
    bias: Integers
    bias_bits: int
    order: NDArray[np.intp] | None = None
    """In which order the kernel adds up k, behind the bias: (G, M), of whose rows each output takes one entry at most.
    None where that is not known.
    """


class Products:
    """The products of a layer: which are rounded by the accumulator, and what their sums may be.

    `direct` (O, K) are the weights of those that are not. The others are `pairs` of an entry and a weight, each with a
    row of its own, which `taps` (O, P, K') gather, and `pair_of` (O, P, K) by their place. `each` are the products of
    each output (P, K), as they are added up. `sums` are the whole sums in the order of the entries, and `partial`
    what the sums may be on the way, in any order.
    """

    def __init__(self, lattice: Lattice, sums: Sums, accumulator: FixedPoint | None) -> None:
        positions = len(sums.index)
        outputs = len(sums.weights)
        nothing = sums.index < 0
        given = lattice.taken(np.maximum(sums.index, 0))
        self.direct = sums.weights.copy()
        known: dict[tuple[int, int], int] = {}
        gathered = list[NDArray[np.intp]]()
        self.pair_of = np.full((outputs, *sums.index.shape), -1, np.intp)
        self.each = list[Lattice]()
        totals, partials = list[Lattice](), list[Lattice]()
        self.exact_bits = 0
        self.bits = sums.bias_bits
        self.bias = sums.bias
        if accumulator is not None:
            # The bias is assigned to the accumulator as well.
            self.bits = accumulator.bits
            levels = accumulator.levels(sums.bias, sums.bias_bits)
            self.bias = levels if accumulator.wraps else accumulator.brought(levels)
        for output in range(outputs):
            weights = np.where(nothing, 0, sums.weights[output])
            products = given.times(integers(weights), sums.weight_bits)
            rounded = products
            chosen = np.empty(0, np.intp)
            if accumulator is not None:
                inexact = ~products.on_grid(accumulator)
                if not accumulator.wraps:
                    inexact |= ~products.levels(accumulator).inside(accumulator)
                chosen = np.flatnonzero(inexact.any(axis=0))
            rows = np.full((positions, len(chosen)), -1, np.intp)
            if accumulator is not None and len(chosen):
                self.direct[output, chosen] = 0
                for place, tap in enumerate(chosen.tolist()):
                    weight = int(sums.weights[output, tap])
                    for position, entry in enumerate(sums.index[:, tap].tolist()):
                        if entry >= 0:
                            rows[position, place] = known.setdefault((entry, weight), len(known))
                self.exact_bits = max(self.exact_bits, _bits_needed(products, chosen))
                rounded = _mixed(products, chosen, accumulator)
            gathered.append(rows)
            self.pair_of[output][:, chosen] = rows
            self.each.append(rounded)
            whole = rounded.summed().plus(integers([self.bias[output]] * positions), self.bits)
            totals.append(whole)
            zero = integers(np.zeros(rounded.least.shape))
            way = Lattice(np.minimum(rounded.least, zero), np.maximum(rounded.most, zero), rounded.step, rounded.bits)
            partials.append(way.summed().plus(integers([self.bias[output]] * positions), self.bits))
        self.pairs = list(known)
        widest = max(rows.shape[1] for rows in gathered)
        self.taps = np.full((outputs, positions, widest), -1, np.intp)
        for output, rows in enumerate(gathered):
            self.taps[output, :, : rows.shape[1]] = rows
        self.sums = _by_position(totals)
        on_way = _by_position(partials)
        self.partial = on_way if accumulator is None else on_way.levels(accumulator)


def _mixed(products: Lattice, chosen: NDArray[np.intp], accumulator: FixedPoint) -> Lattice:
    """The products, those that are chosen as the accumulator stores them before it wraps."""
    levels = products.levels(accumulator) if accumulator.wraps else products.assigned(accumulator)
    bits = max(products.bits, accumulator.bits)
    wide, stored = products.at(bits), levels.at(bits)
    mask = np.zeros((1, products.least.shape[1]), bool)
    mask[0, chosen] = True

    def either(a: Integers, b: Integers) -> Integers:
        return integers(np.where(mask, a, b))

    return Lattice(
        either(stored.least, wide.least), either(stored.most, wide.most), either(stored.step, wide.step), bits
    )


def _bits_needed(products: Lattice, chosen: NDArray[np.intp]) -> int:
    """How many bits behind the point hold these products."""
    grid = np.gcd(products.least[:, chosen], products.step[:, chosen])
    common = int(np.gcd.reduce(integers(grid), axis=None))
    return products.bits - ((common & -common).bit_length() - 1)


def _by_position(of_outputs: Sequence[Lattice]) -> Lattice:
    """Lattices of the outputs, each over the positions, in the order of the entries."""
    bits = max(one.bits for one in of_outputs)
    wide = [one.at(bits) for one in of_outputs]

    def together(parts: Sequence[Integers]) -> Integers:
        return np.stack(parts, axis=1).reshape(-1)

    ends = [one.least for one in wide], [one.most for one in wide]
    return Lattice(together(ends[0]), together(ends[1]), together([one.step for one in wide]), bits)
