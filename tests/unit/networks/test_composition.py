"""Steps that are put into what reads them: the same functions in rationals, shared rows that are the same, and no more
products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from eqspec.networks import Network
from eqspec.networks.composition import composed
from eqspec.networks.program import INPUTS, Step, Term, Tile
from eqspec.run.core_pairs import pair_of
from programs import naive, point, taps_of_row, without_unread

Random = np.random.Generator

INPUT, HIDDEN = 4, 6


def step(function: str, *terms: tuple[int, Tile]) -> Step:
    rows = terms[0][1].rows
    return Step(tuple(Term(*term) for term in terms), np.zeros(rows), None, function)  # type: ignore[arg-type]


def dense(random: Random, rows: int, columns: int) -> Tile:
    return Tile.dense(random.normal(size=(rows, columns)))


def powers(random: Random, shape: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(random.choice([-2.0, -1.0, 0.25, 0.5, 1.0, 4.0], size=shape))


def some_tile(random: Random, columns: int, rows: int) -> Tile:
    """A selection, sums of a few rows, or windows that share weights, with powers of two for weights."""
    kind = random.integers(3)
    taps = 1 if kind == 0 else int(random.integers(1, 4))
    groups = rows if kind == 1 else int(random.choice([g for g in range(1, rows + 1) if rows % g == 0]))
    index = random.integers(-1, columns, size=(groups, rows // groups, taps)).astype(np.int32)
    return Tile(index, powers(random, (groups, 1, taps)))


def with_sums(random: Random) -> Network:
    """ReLUs, sums of them that nobody bends, some read by several steps and some through each other, and outputs."""
    first = [step("relu", (INPUTS, dense(random, HIDDEN, INPUT))), step("relu", (INPUTS, dense(random, HIDDEN, INPUT)))]
    steps = list(first)
    for _ in range(int(random.integers(1, 4))):
        rows = int(random.choice([4, 6, 12]))
        sources = random.permutation(len(steps))[: int(random.integers(1, 3))]
        steps.append(step("identity", *((int(s), some_tile(random, steps[s].rows, rows)) for s in sources)))
    last = len(steps) - 1
    reads = [(last, some_tile(random, steps[last].rows, 6)), (int(random.integers(last)), None)]
    other = reads[1][0]
    steps.append(step("relu", reads[0], (other, some_tile(random, steps[other].rows, 6))))  # type: ignore[arg-type]
    steps.append(step("identity", (len(steps) - 1, dense(random, 3, 6)), (last, dense(random, 3, steps[last].rows))))
    return network(without_unread(steps))


def network(steps: Sequence[Step]) -> Network:
    return Network(tuple(steps), INPUT, "made", "of these steps")


def retrained(random: Random, of: Network) -> Network:
    """The same structure and the same sums, with other weights in front of ReLUs and of the outputs."""
    steps = []
    for one in of.steps:
        tiles = [Tile(t.tile.index, random.normal(size=t.tile.weight.shape)) for t in one.terms]
        other = tuple(Term(t.source, tile) for t, tile in zip(one.terms, tiles, strict=True))
        changes = any(t.source == INPUTS for t in one.terms) or one is of.steps[-1]
        steps.append(replace(one, terms=other) if changes else one)
    return network(steps)


def unshared(of: Network) -> list[list[bool]]:
    return [[False] * one.rows for one in of.steps]


@pytest.mark.parametrize("seed", range(60))
def test_both_programs_compute_what_they_did(seed: int) -> None:
    random = np.random.default_rng(seed)
    first = with_sums(random)
    second = retrained(random, first)
    one, other, shared = composed(first.steps, second.steps, unshared(first))
    assert len(one) == len(other) == len(shared)
    for before, after in ((first, one), (second, other)):
        made = network(after)
        assert sum(s.products for s in after) <= sum(s.products for s in before.steps)
        for _ in range(4):
            x = point(random, INPUT)
            assert naive(made, x) == naive(before, x)
    pair_of(first, second, composing=True)


def test_something_is_put_into_its_readers() -> None:
    left = []
    for seed in range(60):
        first = with_sums(np.random.default_rng(seed))
        left.append(len(first.steps) - len(composed(first.steps, first.steps, unshared(first))[0]))
    assert sum(count > 0 for count in left) > 20, left


def product_and_sum(weight: float = 1.0, bias: float = 0.0, function: str = "identity") -> list[Step]:
    """Two ReLU layers, the sums of their rows, and the sum of all of them."""
    random = np.random.default_rng(1)
    steps = [step("relu", (INPUTS, dense(random, HIDDEN, INPUT))) for _ in range(2)]
    rows = Tile.rearranged(np.arange(HIDDEN))
    steps.append(step(function, *((k, Tile(rows.index, weight * rows.weight)) for k in range(2))))
    steps[-1] = replace(steps[-1], bias=np.full(HIDDEN, bias))
    steps.append(step("identity", (2, Tile.dense(np.ones((1, HIDDEN))))))
    return steps


@pytest.mark.parametrize(
    ("changed", "left"),
    [({}, 3), ({"weight": 0.5}, 3), ({"weight": 0.3}, 4), ({"bias": 1.0}, 4), ({"function": "relu"}, 4)],
)
def test_what_would_be_rounded_or_is_no_sum_stays(changed: dict[str, float], left: int) -> None:
    steps = product_and_sum(**changed)  # type: ignore[arg-type]
    assert len(composed(steps, steps, [[False] * s.rows for s in steps])[0]) == left


def test_weights_that_are_not_known_exactly_stay() -> None:
    steps = product_and_sum()
    tile = steps[2].terms[0].tile
    off = Tile(tile.index, tile.weight, np.full(tile.weight.shape, 1e-9))
    steps[2] = replace(steps[2], terms=(Term(0, off), steps[2].terms[1]))
    assert len(composed(steps, steps, [[False] * s.rows for s in steps])[0]) == 4


def test_errors_of_a_reader_go_along() -> None:
    steps = product_and_sum(weight=-2.0)
    tile = steps[3].terms[0].tile
    steps[3] = replace(steps[3], terms=(Term(2, Tile(tile.index, tile.weight, np.full(tile.weight.shape, 1e-9))),))
    made = composed(steps, steps, [[False] * s.rows for s in steps])[0]
    assert [(t.tile.weight.tolist(), t.tile.weight_error.tolist()) for t in made[-1].terms] == [  # type: ignore[union-attr]
        ([[[-2.0] * HIDDEN]], [[[2e-9] * HIDDEN]])
    ] * 2


def test_a_step_that_only_one_network_has_stays() -> None:
    steps = product_and_sum()
    nothing = Step((), np.zeros(HIDDEN), None, "identity")
    other = [*steps[:2], nothing, step("identity", (0, dense(np.random.default_rng(2), 1, HIDDEN)))]
    assert len(composed(steps, other, [[False] * s.rows for s in steps])[0]) == 4


def test_networks_that_read_otherwise_keep_the_step() -> None:
    steps = product_and_sum()
    turned = list(steps)
    tile = Tile.rearranged(np.arange(HIDDEN)[::-1])
    turned[2] = replace(steps[2], terms=(Term(0, tile), steps[2].terms[1]))
    assert len(composed(steps, turned, [[False] * s.rows for s in steps])[0]) == 4


def test_what_would_take_more_products_stays() -> None:
    steps = product_and_sum()
    steps[3] = step("relu", (2, Tile.dense(np.ones((9, HIDDEN)))))
    steps.append(step("identity", (3, Tile.dense(np.ones((1, 9))))))
    assert len(composed(steps, steps, [[False] * s.rows for s in steps])[0]) == 5


def test_windows_whose_weights_would_differ_from_place_to_place_stay() -> None:
    steps = product_and_sum()[:2]
    scaled = Tile(
        np.arange(HIDDEN, dtype=np.int32).reshape(-1, 1, 1), np.ldexp(1.0, np.arange(HIDDEN)).reshape(-1, 1, 1)
    )
    steps.append(step("identity", (0, scaled)))
    steps.append(step("relu", (2, Tile(np.arange(HIDDEN, dtype=np.int32).reshape(1, 3, 2), np.ones((1, 1, 2))))))
    steps.append(step("identity", (3, Tile.dense(np.ones((1, 3))))))
    assert len(composed(steps, steps, [[False] * s.rows for s in steps])[0]) == 5


@pytest.mark.parametrize("seed", range(30))
def test_shared_rows_read_shared_rows_alone(seed: int) -> None:
    """A row is shared afterwards only if it was and if every row of a step that is left out that it reads was."""
    random = np.random.default_rng(seed)
    first = with_sums(random)
    rows = [(random.random(s.rows) < 0.7).tolist() for s in first.steps]
    after, _, shared = composed(first.steps, first.steps, rows)
    kept = {id(s.bias): n for n, s in enumerate(first.steps)}
    numbers = [kept[id(s.bias)] for s in after]
    out = set(range(len(first.steps))) - set(numbers)
    for number, found in zip(numbers, shared, strict=True):
        for row, told in enumerate(found):
            assert told == (rows[number][row] and _all_shared(first, number, row, rows, out))


def _all_shared(of: Network, number: int, row: int, shared: list[list[bool]], out: set[int]) -> bool:
    for term in of.steps[number].terms:
        if term.source not in out:
            continue
        for read, _ in taps_of_row(term.tile, row):
            if not (shared[term.source][read] and _all_shared(of, term.source, read, shared, out)):
                return False
    return True


@pytest.mark.parametrize("size", [2.0**-1070, 2.0**1020])
def test_numbers_near_the_ends_of_the_floats_stay(size: float) -> None:
    steps = product_and_sum(weight=4.0 if size > 1 else 0.5)
    steps[3] = step("identity", (2, Tile.dense(np.full((1, HIDDEN), size))))
    assert len(composed(steps, steps, [[False] * s.rows for s in steps])[0]) == 4
    tile = Tile.dense(np.ones((1, HIDDEN)), np.full((1, HIDDEN), size))
    steps[3] = step("identity", (2, tile))
    assert len(composed(steps, steps, [[False] * s.rows for s in steps])[0]) == 4
