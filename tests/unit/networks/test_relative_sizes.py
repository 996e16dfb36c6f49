"""Neurons of another size: a candidate that was rescaled, and then rounded or pruned, is compared as it was before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from eqspec.networks import AffineLayer, Network, align, match
from eqspec.networks.graph_rewriting import rescaled
from eqspec.networks.network import Array
from eqspec.networks.program import Step, Term, Tile
from eqspec.networks.relative_sizes import nearest_factors, of_other_size
from eqspec.networks.rewriting import Layers, placed, scaled
from programs import convolution

Random = np.random.Generator
Change = Callable[[Array, Random], Array]


def rounded(a: Array, random: Random) -> Array:
    step = np.abs(a).max() / 127
    return np.asarray(np.round(a / step) * step)


def noisy(a: Array, random: Random) -> Array:
    return np.asarray(a * (1 + 0.01 * random.normal(size=a.shape)))


def pruned(a: Array, random: Random) -> Array:
    return np.where(np.abs(a) < np.quantile(np.abs(a), 0.3, axis=-1, keepdims=True), 0.0, a)


CHANGES: dict[str, Change] = {"rounded": rounded, "noisy": noisy, "pruned": pruned}


def chain(random: Random) -> Layers:
    return [
        AffineLayer(random.normal(size=(m, n)) / n**0.5, 0.3 * random.normal(size=m)) for n, m in pairwise((5, 9, 8, 7))
    ]


def network(layers: Layers) -> Network:
    return Network.of_layers(tuple(layers), "net", "0")


def graph(random: Random, change: Change | None = None) -> Network:
    """Two convolutions with a skip beside the second one, a pool and a matrix, of 1 x 6 x 6 inputs; weights changed."""
    first = Step((Term(-1, convolution(random, 1, 6, 4)),), np.repeat(0.3 * random.normal(size=4), 36))
    both = (Term(0, convolution(random, 4, 6, 4)), Term(0, Tile.rearranged(np.arange(4 * 36))))
    second = Step(both, np.repeat(0.3 * random.normal(size=4), 36))
    pool = Tile(np.arange(4 * 36, dtype=np.int32).reshape(4, 1, 36), np.full((4, 1, 36), 1 / 36))
    means = Step((Term(1, pool),), np.zeros(4), function="identity")
    hidden = Step((Term(2, Tile.dense(random.normal(size=(7, 4)))),), 0.3 * random.normal(size=7))
    last = Step((Term(3, Tile.dense(random.normal(size=(6, 7)))),), np.zeros(6), function="identity")
    return Network((first, second, means, hidden, last), 36, "graph", "0")


def changed(a: Network, change: Change, random: Random) -> Network:
    def weights(tile: Tile) -> Tile:
        return tile if tile.outputs == 1 else Tile(tile.index, change(tile.weight, random))

    steps = (replace(s, terms=tuple(Term(t.source, weights(t.tile)) for t in s.terms)) for s in a.steps)
    return replace(a, steps=tuple(steps))


def powers(random: Random, count: int) -> Array:
    return np.exp2(random.integers(-5, 6, count))


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("seed", range(6))
def test_powers_of_two_are_undone_whatever_else_was_done(name: str, seed: int) -> None:
    """Rescaled neurons of a chain, and channels of a graph, are given back the size that they had, or nearly."""
    random = np.random.default_rng(seed)
    layers = chain(random)
    twin = [replace(x, weight=CHANGES[name](x.weight, random)) for x in layers]
    other = twin
    for h in range(2):
        other = scaled(other, h, powers(random, len(other[h].bias)))
    assert not match(network(layers), network(twin))[2]
    first, second, found = match(network(layers), network(other))
    assert found.scaled
    same_function(network(other), second, random)
    close(network(layers), network(twin), first, second)

    a = graph(random)
    b = changed(a, CHANGES[name], random)
    steps = list(b.steps)
    for at, count in enumerate((4, 4, 4, 7)):
        steps = rescaled(steps, at, powers(random, count), steps[at].rows // count)
    assert not match(a, b)[2]
    first, second, found = match(a, replace(b, steps=tuple(steps)))
    assert found.scaled
    same_function(b, second, random)
    close(a, b, first, second)


def misfits(a: Network, b: Network) -> list[float]:
    """What is left of the weights of each step, as a share of the reference's; rows that nobody reads are gone."""
    found = []
    for x, y in zip(*(n.steps for n in align(a, b)), strict=True):
        pairs = [(s.tile.weight, t.tile.weight) for s, t in zip(x.terms, y.terms, strict=True)]
        assert all(s.shape == t.shape for s, t in pairs)
        pairs = [(np.where(t.any(axis=-1, keepdims=True), s, 0.0), t) for s, t in pairs]
        pairs.append((np.where(y.bias != 0.0, x.bias, 0.0), y.bias))
        total = sum(float(np.abs(s).sum()) for s, _ in pairs)
        found.append(sum(float(np.abs(s - t).sum()) for s, t in pairs) / total)
    return found


def close(a: Network, b: Network, first: Network, second: Network) -> None:
    """The pair as it was matched is nearly as close as the one that was not rescaled."""
    for before, after in zip(misfits(a, b), misfits(first, second), strict=True):
        assert after <= 2.0 * before + 5e-3


def same_function(before: Network, after: Network, random: Random) -> None:
    """On rational points what is enclosed afterwards contains what there was."""
    for _ in range(2):
        at = [Fraction(int(n), 8) for n in random.integers(-16, 17, before.input_size)]
        for (low, high), (least, most) in zip(before.evaluate_exact(at), after.evaluate_exact(at), strict=True):
            assert least <= low <= high <= most
            assert most - least <= high - low + Fraction(1, 10**9)


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("seed", range(6))
def test_any_factors_are_undone_up_to_what_else_was_done(name: str, seed: int) -> None:
    """Neurons in another order, too."""
    random = np.random.default_rng([seed, 1])
    layers = chain(random)
    twin = [replace(x, weight=CHANGES[name](x.weight, random)) for x in layers]
    other = twin
    for h in range(2):
        count = len(other[h].bias)
        other = placed(scaled(other, h, np.exp(random.normal(size=count))), h, random.permutation(count).tolist())
    first, second, found = match(network(layers), network(other))
    assert found.scaled
    same_function(network(other), second, random)
    close(network(layers), network(twin), first, second)


@pytest.mark.parametrize("turned", [False, True])
def test_a_rescaled_convolution_stands_beside_its_matrix(turned: bool) -> None:
    """One file writes a convolution as a matrix of all positions, the other one has its channels in other sizes."""
    random = np.random.default_rng(3)
    a = graph(random)
    steps = [replace(s, terms=tuple(Term(t.source, dense(t.tile, columns(a, t))) for t in s.terms)) for s in a.steps]
    as_matrices = replace(a, steps=tuple(steps))
    other = list(a.steps)
    for at, count in enumerate((4, 4, 4, 7)):
        other = rescaled(other, at, powers(random, count), other[at].rows // count)
    of_other_sizes = replace(a, steps=tuple(other))
    pair = (as_matrices, of_other_sizes) if turned else (of_other_sizes, as_matrices)
    first, second, found = match(*pair)
    assert found.scaled
    same_function(pair[1], second, random)
    points = random.normal(size=(20, 36))
    for x, y in zip(hidden(first, points), hidden(second, points), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def columns(a: Network, term: Term) -> int:
    return a.input_size if term.source == -1 else a.steps[term.source].rows


def dense(tile: Tile, size: int) -> Tile:
    """The tile as a matrix (rows, size)."""
    made = np.zeros((tile.rows, size + 1))
    for g in range(tile.groups):
        for o in range(tile.outputs):
            for p in range(tile.positions):
                np.add.at(made[(g * tile.outputs + o) * tile.positions + p], tile.index[g, p], tile.weight[g, o])
    return Tile.dense(np.ascontiguousarray(made[:, :size]))


def hidden(a: Network, points: Array) -> list[Array]:
    """The sums of all steps at points (P, I), straight from the definition of a program."""
    done: list[Array] = []
    for step in a.steps:
        total = np.repeat(step.bias[:, None], len(points), axis=1)
        for term in step.terms:
            read = points.T if term.source == -1 else done[term.source]
            total = total + dense(term.tile, len(read)).weight[0] @ read
        done.append(total if step.function == "identity" else np.maximum(total, 0.0))
    return done


def test_the_factor_of_what_was_pruned_is_that_of_what_is_left() -> None:
    random = np.random.default_rng(0)
    a = random.normal(size=(5, 40))
    cut = np.where(np.abs(a) < 0.6, 0.0, a) / np.array([3.0, 0.25, 1.0, 1.1, 64.0])[:, None]
    np.testing.assert_allclose(nearest_factors(a, cut), [3.0, 0.25, 1.0, 1.1, 64.0], rtol=1e-15)
    assert nearest_factors(a, cut)[[1, 2, 4]].tolist() == [0.25, 1.0, 64.0]


def test_rows_of_one_size_stay() -> None:
    """What rounding does to sizes is no scale, though a factor would bring some rows nearer."""
    random = np.random.default_rng(0)
    a = random.normal(size=(50, 3))
    for other in (a.astype(np.float16).astype(float), rounded(a, random), a * 1.0002):
        assert (nearest_factors(a, other) == 1.0).all()
    assert not of_other_size(np.ones(3), np.array([1.01, 0.99, 1.0]))
    assert of_other_size(np.ones(3), np.array([1.01, 0.5, 1.0]))


def test_rows_that_are_not_alike_stay() -> None:
    random = np.random.default_rng(0)
    a = random.normal(size=(20, 30))
    for other in (-a, np.zeros_like(a), random.normal(size=a.shape), np.where(a > 0, np.inf, a), a * np.nan):
        with np.errstate(invalid="ignore"):
            assert (nearest_factors(a, other) == 1.0).all()
    assert (nearest_factors(np.zeros_like(a), a) == 1.0).all()
    assert (nearest_factors(a, a * 1e-30) == 1.0).all()  # beyond what weights can be divided by


def wide(random: Random) -> Network:
    """Matrices of any widths, of which some read what the first step computes besides, of three inputs."""
    steps, sizes = [], [3]
    for number in range(int(random.integers(2, 6))):
        rows = int(random.integers(1, 10))
        read = [(number - 1, sizes[-1]), *([(0, sizes[1])] if number > 1 and random.random() < 0.5 else [])]
        terms = (Term(source, Tile.dense(random.normal(size=(rows, size)))) for source, size in read)
        steps.append(Step(tuple(terms), random.normal(size=rows)))
        sizes.append(rows)
    last = Step(
        (Term(len(steps) - 1, Tile.dense(random.normal(size=(2, sizes[-1])))),), np.zeros(2), function="identity"
    )
    return Network((*steps, last), 3, "wide", "0")


def test_steps_that_go_together_may_read_steps_of_other_widths() -> None:
    """As of two graphs that somebody shaped: no tap of the one need be a value that the other has."""
    for seed in range(300):
        random = np.random.default_rng(seed)
        a, b = wide(random), wide(random)
        first, second, _ = match(a, b)
        point = [Fraction(x) for x in random.normal(size=3)]
        for before, now in ((a, first), (b, second)):
            for (low, high), (least, most) in zip(before.evaluate_exact(point), now.evaluate_exact(point), strict=True):
                assert low <= most
                assert least <= high
