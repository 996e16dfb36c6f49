"""Tiles, the affine maps of a network, in words."""

from __future__ import annotations

from eqspec.networks.program import Tile
from eqspec.report.numbers import count, plural


def tile_in_words(tile: Tile) -> str:
    """Dense, sparse or scaled; or the channels, positions and taps of a convolution."""
    if tile.positions == 1 and tile.groups == 1:
        return "dense"
    if tile.taps == 1 and tile.outputs == 1:
        return "scaled"
    if tile.positions == 1:
        return "sparse"
    kind = f"{plural(tile.channels, 'channel')} of {count(tile.positions)}, {plural(tile.taps, 'tap')}"
    return kind if tile.groups == 1 else f"{kind}, {count(tile.groups)} groups"


def parameters(tile: Tile) -> int:
    """How many numbers it holds; none if it only moves rows."""
    moves = tile.taps == 1 and bool((tile.weight == 1.0).all())
    return 0 if moves else int(tile.weight.size)
