"""Graphs in step: whatever is paired, moved, padded or rescaled, each network computes what it computed before."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from breadth import some
from eqspec.networks import Network, align, graph_matching, match, share
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.evaluation import values
from eqspec.networks.graph_matching import pair
from eqspec.networks.graph_rewriting import by_channels, by_rows, placed, rescaled, same_taps
from eqspec.networks.merging import merged, of_one_form
from eqspec.networks.program import Function, Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding
from programs import convolution, point, program, sparse, tile, without_unread

Random = np.random.Generator


def same_function(before: Network, after: Network, random: Random, *, rounded: bool = False) -> None:
    """On rational points: equal, or where rounding may stand in the errors, enclosed."""
    for _ in range(3):
        at = point(random, before.input_size)
        for (low, high), (after_low, after_high) in zip(
            before.evaluate_exact(at), after.evaluate_exact(at), strict=True
        ):
            if rounded:
                assert after_low <= low <= high <= after_high
                assert after_high - after_low <= high - low + Fraction(1, 10**9)
            else:
                assert (after_low, after_high) == (low, high)


def in_step(a: Network, b: Network) -> bool:
    return of_one_form(a.steps, b.steps)


@pytest.mark.part(24)
@pytest.mark.parametrize("seed", range(60))
def test_aligned_programs_compute_what_they_did(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = [int(n) for n in random.integers(1, 8, 2)]
    first = program(random, steps=count[0], errors=seed % 3 == 0)
    second = program(random, steps=count[1], errors=seed % 4 == 0)
    for a, b in ((first, second), align_chain(first, random)):
        p, q = align(a, b)
        assert in_step(p, q)
        rounded = not (a.exact and b.exact)  # errors of one weight may come to stand at several places
        for before, after in ((a, p), (b, q)):
            same_function(before, after, random, rounded=rounded) if before.exact else encloses(before, after, random)


@pytest.mark.parametrize("function", ["relu", Curves.all(Curve("square"))])
@pytest.mark.parametrize("seed", some(range(12), 3))
def test_rows_that_stand_at_other_places_are_found(seed: int, function: Function) -> None:
    """Channels last in one file and first in the other, or any other order: in step nothing is apart."""
    random = np.random.default_rng(seed)
    windows = Tile(np.array([[[0, 1], [1, 2], [2, 3]]], np.int32), random.normal(size=(1, 2, 2)))
    first = Step((Term(-1, windows),), random.normal(size=6), function=function)
    last = Step((Term(0, Tile.dense(random.normal(size=(3, 6)))),), random.normal(size=3), function="identity")
    order = random.permutation(6)
    moved = placed([first, last], 0, order.tolist(), 1)
    found = pair((first, last), moved, random.normal(size=(32, 4)))
    assert found is not None
    assert found.moved == (order != np.arange(6)).sum() > 0
    points = random.normal(size=(4, 10))
    for one, other in zip(values((first, last), points), values(found.steps, points), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def align_chain(network: Network, random: Random) -> tuple[Network, Network]:
    """A chain beside the graph."""
    wide = int(random.integers(1, 9))
    hidden = Step((Term(-1, Tile.dense(random.normal(size=(wide, 4)))),), random.normal(size=wide))
    last = Step((Term(0, Tile.dense(random.normal(size=(3, wide)))),), random.normal(size=3), function="identity")
    return Network((hidden, last), 4, "chain", "0"), network


def encloses(before: Network, after: Network, random: Random) -> None:
    at = point(random, before.input_size)
    for (low, high), (after_low, after_high) in zip(before.evaluate_exact(at), after.evaluate_exact(at), strict=True):
        assert after_low <= low <= high <= after_high


@pytest.mark.part(24)
@pytest.mark.parametrize("seed", range(60))
def test_any_pairs_are_sound(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = (program(random, steps=int(n)) for n in random.integers(2, 8, 2))
    pairs, i, k = [], 0, 0
    while i < len(a.steps) - 1 and k < len(b.steps) - 1:
        if random.integers(2) and a.steps[i].function == b.steps[k].function:
            pairs.append((i, k))
            i, k = i + 1, k + 1
        elif random.integers(2):
            i += 1
        else:
            k += 1
    pairs.append((len(a.steps) - 1, len(b.steps) - 1))
    first, second = merged(a.steps, b.steps, pairs)
    assert of_one_form(first, second)
    for before, after in ((a, first), (b, second)):
        same_function(before, replace(before, steps=tuple(after)), random)


@pytest.mark.part(24)
@pytest.mark.parametrize("seed", range(60))
def test_matched_programs_compute_what_they_did(seed: int) -> None:
    random = np.random.default_rng(seed)
    a = program(random, steps=int(random.integers(2, 7)))
    b = program(random, steps=int(random.integers(2, 7))) if seed % 2 else twin(a, random)
    p, q, _ = match(a, b)
    p, q = align(p, q)
    assert in_step(p, q)
    same_function(a, p, random)
    same_function(b, q, random, rounded=True)


@pytest.mark.part(15)
@pytest.mark.parametrize("seed", range(40))
def test_quantised_programs_compute_what_they_did(seed: int) -> None:
    """Ties and ends are at the same places after channels were moved, and nothing is rescaled across a step."""
    random = np.random.default_rng(seed)
    a = quantised(program(random, steps=int(random.integers(2, 7))), random)
    b = quantised(program(random, steps=int(random.integers(2, 7))), random)
    steps = list(a.steps)
    for at in range(len(steps) - 1):
        steps = placed(steps, at, random.permutation(steps[at].rows).tolist(), 1)
    for other in (a, b, replace(a, steps=tuple(steps))):
        p, q, _ = match(a, other)
        for made in (align(a, other), align(p, q)):
            assert in_step(*made)
            same_function(a, made[0], random)
            same_function(other, made[1], random, rounded=True)


def quantised(network: Network, random: Random) -> Network:
    """The network with quantisers in the place of some of its functions."""
    steps = list(network.steps)
    for at, step in enumerate(steps[:-1]):
        if random.integers(3):
            rounding = Rounding(int(random.integers(9)))
            several = [Quantiser(2.0**-k, -3, 4 + k, rounding, random.integers(3) / 2).curve for k in range(3)]
            rows = [several[int(k)] for k in random.integers(0, 3 if random.integers(2) else 1, step.rows)]
            steps[at] = replace(step, function=Curves.of_rows(rows))
    return replace(network, steps=tuple(steps))


def twin(network: Network, random: Random) -> Network:
    """Its rows permuted and rescaled, exactly."""
    steps = list(network.steps)
    for at in range(len(steps) - 1):
        order = random.permutation(steps[at].rows).tolist()
        steps = rescaled(
            placed(steps, at, order, 1), at, np.exp2(random.integers(-3, 4, steps[at].rows).astype(np.float64)), 1
        )
    return replace(network, steps=tuple(steps))


@pytest.mark.parametrize("seed", range(40))
def test_forms_of_a_tile_are_one_matrix(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns, rows = 7, 12
    made, other = tile(random, columns, rows), tile(random, columns, rows)
    matrix = made.matrix(columns)
    np.testing.assert_array_equal(by_rows(made).matrix(columns), matrix)
    for positions in (1, 2, 3, 12):
        if rows % positions == 0:
            np.testing.assert_array_equal(by_channels(made, positions).matrix(columns), matrix)
    one, two = same_taps(made, other)
    np.testing.assert_array_equal(one.matrix(columns), matrix)
    np.testing.assert_array_equal(two.matrix(columns), other.matrix(columns))


@pytest.mark.parametrize("rows", [2, 3, 5, 6, 7])
def test_tiles_of_other_sizes_share_their_taps_or_stay(rows: int) -> None:
    """Rows that are no multiple of the other tile's positions are no channels of it."""
    random = np.random.default_rng(rows)
    places = random.permutation(7)[:rows].astype(np.int32).reshape(1, rows, 1)
    moved = Tile(places, np.full((1, 1, 1), 2.0))
    convolved = Tile(random.integers(0, 7, (2, 3, 4)).astype(np.int32), random.normal(size=(2, 1, 4)))
    for one, two in ((moved, convolved), (convolved, moved)):
        a, b = same_taps(one, two)
        np.testing.assert_array_equal(a.matrix(7), one.matrix(7))
        np.testing.assert_array_equal(b.matrix(7), two.matrix(7))


# Real structures.


def images(random: Random, *, removed: tuple[int, ...] = (), blocks: int = 2) -> Network:
    """A small residual network on 2 x 6 x 6: a convolution, blocks of two with a skip, a pool, a matrix."""
    steps = [Step((Term(-1, convolution(random, 2, 6, 8)),), random.normal(size=8 * 36))]
    for _ in range(blocks):
        at = len(steps) - 1
        steps.append(Step((Term(at, convolution(random, 8, 6, 8)),), random.normal(size=8 * 36)))
        skip = Tile.rearranged(np.arange(8 * 36))
        both = (Term(at + 1, scaled(convolution(random, 8, 6, 8), 0.05)), Term(at, skip))
        steps.append(Step(both, np.repeat(random.normal(size=8), 36)))
    at = len(steps) - 1
    pool = Tile(np.arange(8 * 36, dtype=np.int32).reshape(8, 1, 36), np.full((8, 1, 36), 1 / 32))
    steps.append(Step((Term(at, pool),), np.zeros(8), function="identity"))
    steps.append(Step((Term(at + 1, Tile.dense(random.normal(size=(3, 8)))),), np.zeros(3), function="identity"))
    return Network(tuple(steps), 72, "images", "0")


def scaled(made: Tile, factor: float) -> Tile:
    return Tile(made.index, made.weight * factor)


def without_channels(network: Network, at: int, gone: list[int], positions: int) -> Network:
    """The network without these channels of a step that only one convolution reads, as pruning leaves it."""
    steps, step = list(network.steps), network.steps[at]
    stay = [c for c in range(step.rows // positions) if c not in gone]
    rows = (np.array(stay)[:, None] * positions + np.arange(positions)).ravel()
    (term,) = step.terms
    made = Term(term.source, Tile(term.tile.index, np.ascontiguousarray(term.tile.weight[:, stay])))
    steps[at] = Step((made,), np.ascontiguousarray(step.bias[rows]), None, step.function)
    place = np.full(step.rows + 1, -1, np.int32)
    place[rows] = np.arange(len(rows))
    reader = steps[at + 1]
    kept = np.isin(np.arange(reader.terms[0].tile.taps) // 9, stay)
    read = reader.terms[0].tile
    first = Term(at, Tile(place[read.index[:, :, kept]], np.ascontiguousarray(read.weight[:, :, kept])))
    steps[at + 1] = replace(reader, terms=(first, *reader.terms[1:]))
    return replace(network, steps=tuple(steps))


def apart(a: Network, b: Network) -> list[float]:
    """How far weights and biases of two aligned networks lie apart, step by step; infinite where tiles differ."""
    found = []
    for x, y in zip(a.steps, b.steps, strict=True):
        if x.sources != y.sources:
            found.append(np.inf)
            continue
        now = float(np.abs(x.bias - y.bias).max())
        for s, t in zip(x.terms, y.terms, strict=True):
            alike = np.array_equal(s.tile.index, t.tile.index) and s.tile.weight.shape == t.tile.weight.shape
            now = max(now, float(np.abs(s.tile.weight - t.tile.weight).max()) if alike else np.inf)
        found.append(now)
    return found


@pytest.mark.parametrize("scales", [False, True])
def test_permuted_channels_are_found(scales: bool) -> None:
    random = np.random.default_rng(0)
    a = images(random)
    steps = list(a.steps)
    for at, positions in enumerate([36] * 5):
        steps = placed(steps, at, random.permutation(8).tolist(), positions)
        if scales and at in (1, 3):
            steps = rescaled(steps, at, random.uniform(0.2, 5.0, 8), positions)
    b = replace(a, steps=tuple(steps))
    p, q, found = match(a, b)
    p, q = align(p, q)
    assert found.moved > 20
    assert (found.scaled == 16) == scales
    assert max(apart(p, q)) <= 1e-12
    same_function(a, p, random)
    same_function(b, q, random, rounded=True)


def pooled(random: Random) -> Network:
    """A convolution, a max pool as b + relu(a - b) of two halves, the channels of a second one beside it, a matrix."""
    first = Step((Term(-1, convolution(random, 1, 4, 6)),), random.normal(size=96))
    second = Step((Term(-1, convolution(random, 1, 4, 5, stride=2)),), random.normal(size=20))
    pixel = np.arange(96).reshape(6, 2, 2, 2, 2).transpose(0, 1, 3, 2, 4).reshape(24, 4).astype(np.int32)
    differ = Step((Term(0, Tile(pixel[None, :, :2], np.array([[[1.0, -1.0]]]))),), np.zeros(24))
    larger = (Term(0, Tile(pixel[None, :, 1:2], np.ones((1, 1, 1)))), Term(2, Tile.rearranged(np.arange(24))))
    pool = Step(larger, np.zeros(24), function="identity")
    none = np.full(24, -1)
    both = (
        Term(3, Tile.rearranged(np.append(np.arange(24), none[:20]))),
        Term(1, Tile.rearranged(np.append(none, np.arange(20)))),
    )
    joined = Step(both, np.zeros(44), function="identity")
    last = Step((Term(4, Tile.dense(random.normal(size=(3, 44)))),), np.zeros(3), function="identity")
    return Network((first, second, differ, pool, joined, last), 16, "pooled", "0")


@pytest.mark.parametrize("scales", [False, True])
def test_channels_are_followed_through_pools(scales: bool) -> None:
    random = np.random.default_rng(7)
    a = pooled(random)
    steps = list(a.steps)
    for at, channels in enumerate((6, 5, 6, 6, 11)):
        positions = steps[at].rows // channels
        steps = placed(steps, at, random.permutation(channels).tolist(), positions)
        if scales:
            steps = rescaled(steps, at, random.uniform(0.2, 5.0, channels), positions)
    b = replace(a, steps=tuple(steps))
    p, q, found = match(a, b)
    p, q = align(p, q)
    assert found.moved > 20
    assert max(apart(p, q)) <= 1e-12
    same_function(b, q, random, rounded=True)


def test_removed_channels_are_found() -> None:
    random = np.random.default_rng(1)
    a = images(random)
    b = without_channels(a, 1, [2, 5], 36)
    p, q, found = match(a, b)
    p, q = align(p, q)
    assert in_step(p, q)
    same_function(b, q, random)
    assert found.moved > 0
    first, second = p.steps[1].terms[0].tile.weight, q.steps[1].terms[0].tile.weight
    differ = np.flatnonzero(np.abs(first - second).max(axis=(0, 2)))
    assert differ.tolist() == [2, 5]
    read = np.abs(p.steps[2].terms[0].tile.weight - q.steps[2].terms[0].tile.weight).max(axis=(0, 1))
    assert sorted({*(np.flatnonzero(read) // 9).tolist()}) == [2, 5]


def test_a_missing_block_stands_against_nothing() -> None:
    random = np.random.default_rng(2)
    a = images(random)
    steps = list(a.steps)
    steps[-2] = replace(steps[-2], terms=(Term(2, steps[-2].terms[0].tile),))
    b = replace(a, steps=without_unread(steps))
    assert len(b.steps) == len(a.steps) - 2
    p, q, found = match(a, b)
    assert found.steps == (5, 7, 5)
    assert "5 steps go together, of 7 and 5" in str(found)
    p, q = align(p, q)
    assert [bool(step.terms) for step in q.steps] == [True, True, True, False, False, True, True]
    same_function(a, p, random)
    same_function(b, q, random)


def test_what_is_alike_is_left_alone() -> None:
    random = np.random.default_rng(3)
    a = images(random)
    b = replace(a, steps=tuple(replace(s, bias=s.bias + 1e-3) for s in a.steps))
    p, q, found = match(a, b)
    assert (p, q) == (a, b)
    assert not found
    p, q = align(p, q)
    assert max(apart(p, q)) <= 1.1e-3


def test_names_say_what_is_shared() -> None:
    random = np.random.default_rng(4)
    weight = sparse(random, 4, 6)
    names = (b"a", None, b"c", b"d", b"e", b"f")
    last = Step((Term(0, Tile.dense(random.normal(size=(3, 6)))),), np.zeros(3), function="identity")

    def made(error: float, names: tuple[bytes | None, ...]) -> Network:
        tile = Tile(weight.index, weight.weight + error, np.full_like(weight.weight, 2 * error))
        return Network((Step((Term(-1, tile),), np.zeros(6), None, "identity", names), last), 4, "f", "0")

    a, b = made(1e-9, names), made(3e-9, (*names[:5], b"g"))
    after, found = share(a, b)
    assert found[0] == [True, False, True, True, True, False]
    assert found[1] == [False] * 3
    chosen = np.array(found[0])
    np.testing.assert_array_equal(after.steps[0].terms[0].tile.weight[chosen], a.steps[0].terms[0].tile.weight[chosen])
    np.testing.assert_array_equal(
        after.steps[0].terms[0].tile.weight[~chosen], b.steps[0].terms[0].tile.weight[~chosen]
    )


@pytest.mark.parametrize(("positions", "points"), [(400, 24), (1000, 96), (2049, 12), (4096, 16), (30, 20)])
def test_channels_of_many_positions_are_told_apart_by_some_at_all_points(positions: int, points: int) -> None:
    """A stride that divides the points would see few of them, at each position the same."""
    at_point = np.tile(np.eye(points), positions)  # one channel for each point: there it has its value, else nothing
    found = graph_matching._thinned(graph_matching._Channels(at_point, np.ones(points), positions))
    assert found.units.shape[1] <= max(graph_matching._COLUMNS, 30 * 20)
    if positions * points <= graph_matching._COLUMNS:
        np.testing.assert_array_equal(found.units, at_point)
        return
    np.testing.assert_allclose(np.linalg.norm(found.units, axis=1), 1.0, rtol=1e-12)
