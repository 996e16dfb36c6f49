"""Programs of steps: tiles, checks, evaluation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eqspec.errors import InputError, NetworkError
from eqspec.networks.network import AffineLayer, Network
from eqspec.networks.program import Step, Term, Tile, problems
from programs import convolution, floats, naive, point, program, taps_of_row, tile, without_unread


@pytest.mark.parametrize("seed", range(40))
def test_a_tile_is_its_matrix(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns, rows = (int(n) for n in random.integers(1, 13, size=2))
    made = tile(random, columns, rows)
    matrix = made.matrix(columns)
    values, change = random.normal(size=(columns, 3)), random.normal(size=(rows, 3))
    np.testing.assert_allclose(made.apply(values), matrix @ values, atol=1e-12)
    np.testing.assert_allclose(made.pull_back(change, columns), matrix.T @ change, atol=1e-12)
    by_rows = np.zeros((rows, columns))
    for row in range(rows):
        for at, weight in taps_of_row(made, row):
            by_rows[row, at] += float(weight)
    np.testing.assert_allclose(by_rows, matrix, atol=1e-12)
    assert made.rows == rows
    assert made.products == rows * made.taps


def test_a_convolution_is_a_tile() -> None:
    random = np.random.default_rng(0)
    made = convolution(random, 2, 5, 3, stride=2)
    image = random.normal(size=(2, 5, 5))
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1)))
    kernel = made.weight.reshape(3, 2, 3, 3)
    expected = [
        (kernel[o] * padded[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]).sum()
        for o in range(3)
        for i in range(3)
        for j in range(3)
    ]
    np.testing.assert_allclose(made.apply(image.reshape(-1, 1))[:, 0], expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_a_program_is_evaluated(seed: int) -> None:
    random = np.random.default_rng(seed)
    network = program(random)
    points = [point(random, 4) for _ in range(3)]
    found = network.evaluate(np.array([floats(p) for p in points]))
    np.testing.assert_allclose(found, [floats(naive(network, p)) for p in points], rtol=1e-9, atol=1e-9)


def test_a_chain_is_seen_as_layers() -> None:
    random = np.random.default_rng(0)
    layers = (
        AffineLayer(random.normal(size=(3, 4)), random.normal(size=3), np.ones((3, 4)), None, (b"a", None, b"c")),
        AffineLayer(random.normal(size=(2, 3)), random.normal(size=2), None, np.ones(2)),
    )
    network = Network.of_layers(layers, "f", "0")
    assert network.is_chain
    assert network.layers == layers
    again = replace(network, source="g")
    for ours, given in zip(again.layers, layers, strict=True):
        assert ours.weight.base is given.weight or ours.weight is given.weight
        np.testing.assert_array_equal(ours.weight, given.weight)
        assert (ours.bias, ours.bias_error, ours.names) == (given.bias, given.bias_error, given.names)
    assert network.neurons == 3
    assert network.products == 18
    assert not network.exact


def test_a_graph_is_no_chain() -> None:
    step = Step((Term(-1, Tile.dense(np.eye(2))),), np.zeros(2))
    skip = Step((Term(0, Tile.dense(np.eye(2))), Term(-1, Tile.dense(np.eye(2)))), np.zeros(2), function="identity")
    network = Network((step, skip), 2, "f", "0")
    assert not network.is_chain
    with pytest.raises(InputError, match="f is a graph"):
        _ = network.layers
    np.testing.assert_array_equal(network.evaluate(np.array([[1.0, -2.0]])), [[2.0, -2.0]])
    assert repr(network) == "<Network f: 2 -> 2 steps, 2 neurons -> 2, sha256 0>"


def test_what_does_not_fit_is_refused() -> None:
    good = Step((Term(-1, Tile.dense(np.eye(2))),), np.zeros(2), function="identity")

    def wrong(step: Step) -> str:
        with pytest.raises(NetworkError) as caught:
            Network((step,), 2, "f", "0")
        return str(caught.value)

    assert not list(problems([good], 2))
    assert "function relu" in wrong(replace(good, function="relu"))
    assert "reads step 0" in wrong(replace(good, terms=(Term(0, Tile.dense(np.eye(2))),)))
    assert "3 rows" in wrong(replace(good, terms=(Term(-1, Tile.dense(np.ones((3, 2)))),)))
    assert "from 0 to 2" in wrong(replace(good, terms=(Term(-1, Tile.dense(np.ones((2, 3)))),)))
    assert "not finite" in wrong(replace(good, bias=np.array([0.0, np.nan])))
    assert "negative error" in wrong(replace(good, bias_error=np.array([0.0, -1.0])))
    assert "not finite" in wrong(replace(good, terms=(Term(-1, Tile.dense(np.full((2, 2), np.inf))),)))
    assert "does not fit index" in wrong(
        replace(good, terms=(Term(-1, Tile(np.zeros((1, 1, 3), np.int32), np.eye(2)[None])),))
    )
    assert "not an int32" in wrong(replace(good, terms=(Term(-1, Tile(np.zeros((1, 1, 2)), np.eye(2)[None])),)))  # type: ignore[arg-type]
    assert "no steps" in "".join(message for message, _ in problems([], 2))


def test_steps_that_nobody_reads_are_dropped() -> None:
    first = Step((Term(-1, Tile.dense(np.eye(2))),), np.zeros(2))
    dead = Step((Term(0, Tile.dense(np.eye(2))),), np.ones(2))
    last = Step((Term(0, Tile.dense(np.eye(2))),), np.zeros(2), function="identity")
    kept = without_unread(
        [
            dead.__class__((), np.zeros(1)),
            first,
            replace(dead, terms=(Term(1, dead.terms[0].tile),)),
            replace(last, terms=(Term(1, last.terms[0].tile),)),
        ]
    )
    assert [step.sources for step in kept] == [(-1,), (0,)]
