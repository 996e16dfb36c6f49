"""Other forms of the same network: neurons moved, scaled, merged, copied.

None of these changes the function that a network computes. Layers are lists of `AffineLayer`, of which layer h is the
hidden one whose neurons are meant; its reader is layer h + 1, whose columns stand for them.
- Rows may be moved, with the columns that read them. A row of zeros that is read by zeros does nothing.
- relu(c z) = c relu(z) for c > 0: a row may be scaled if the column that reads it is divided by the same.
- If row i is exactly c times row j, then relu(z_i) w_i + relu(z_j) w_j = relu(z_j) (w_j + c w_i).
- A row of zeros with a bias that is not positive gives 0: it may be replaced by zeros, and so may the column that reads
  it.
- A row may be copied, and its column shared out among the copies.
What is rounded on the way goes into the errors of the layers (`enclosure`). A layer whose columns were changed loses
its names (`names`), which are of a row with its columns in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from eqspec.networks import enclosure as en
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.network import AffineLayer, Array

Layers = list[AffineLayer]


def silenced(layers: Layers, h: int) -> Layers:
    """Neurons that give 0 for every input, as pruning leaves them, with zeros before and behind them."""
    layer = layers[h]
    errors = np.zeros_like(layer.bias) if layer.bias_error is None else layer.bias_error
    dead = ~layer.weight.any(axis=1) & (layer.bias <= -errors)  # -errors is a float
    if layer.weight_error is not None:
        dead &= ~layer.weight_error.any(axis=1)
    return placed(layers, h, [None if d else i for i, d in enumerate(dead.tolist())]) if dead.any() else layers


def ratio(layer: AffineLayer, i: int, j: int) -> Fraction | None:
    """c > 0 such that row i, with its bias, is exactly c times row j; None if there is none or errors hide it."""
    errors = [e[[i, j]] for e in (layer.weight_error, layer.bias_error) if e is not None]
    if any(e.any() for e in errors):
        return None
    one, other = (np.append(layer.weight[k], layer.bias[k]) for k in (i, j))
    if not np.array_equal(one != 0.0, other != 0.0) or not other.any():
        return None
    at = int(np.abs(other).argmax())
    c = Fraction(one[at]) / Fraction(other[at])
    exact = c > 0 and all(Fraction(p) == c * Fraction(q) for p, q in zip(one.tolist(), other.tolist(), strict=True))
    return c if exact else None


def merged(layers: Layers, h: int, groups: Sequence[Sequence[int]]) -> tuple[Layers, list[int]]:
    """Of each group of exact multiples only the first row, read by whatever read any of them; and the rows that stay.

    Raises ValueError where a group is none.
    """
    if not groups:
        return layers, list(range(len(layers[h].bias)))
    gone: set[int] = set()
    reader = layers[h + 1]
    columns = Enclosure(reader.weight, reader.weight_error)
    for kept, *others in groups:
        for row in others:
            c = ratio(layers[h], row, kept)
            if c is None:
                raise ValueError(f"row {row} is no exact multiple of row {kept}")
            moved = en.multiply(_column(columns, row), en.from_fractions([c]))
            columns = _with_column(columns, kept, en.add(_column(columns, kept), moved))
            gone.add(row)
    stay = [i for i in range(len(layers[h].bias)) if i not in gone]
    changed = list(layers)
    changed[h + 1] = replace(reader, weight=columns.value, weight_error=columns.error, names=None)
    return placed(changed, h, stay), stay


def placed(layers: Layers, h: int, rows: Sequence[int | None]) -> Layers:
    """Hidden layer h with these rows, zero for None. A row that comes twice is read at its first place alone."""
    layer, reader = layers[h], layers[h + 1]
    chosen = np.array([-1 if row is None else row for row in rows], int)
    there = chosen >= 0
    first_place = np.array([row is not None and row not in rows[:s] for s, row in enumerate(rows)], bool)

    def moved(a: Array | None) -> Array | None:
        if a is None:
            return None
        return np.ascontiguousarray(np.where(there.reshape(-1, *[1] * (a.ndim - 1)), a[chosen], 0.0))

    def read(a: Array | None) -> Array | None:
        return None if a is None else np.ascontiguousarray(np.where(first_place, a[:, chosen], 0.0))

    names = None if layer.names is None else tuple(None if row is None else layer.names[row] for row in rows)
    weight, bias, columns = moved(layer.weight), moved(layer.bias), read(reader.weight)
    assert weight is not None
    assert bias is not None
    assert columns is not None
    changed = list(layers)
    changed[h] = AffineLayer(weight, bias, moved(layer.weight_error), moved(layer.bias_error), names)
    changed[h + 1] = AffineLayer(columns, reader.bias, read(reader.weight_error), reader.bias_error, None)
    return changed


def scaled(layers: Layers, h: int, factors: Array) -> Layers:
    """Rows of hidden layer h times positive factors (m), the columns that read them divided by the same."""
    layer, reader = layers[h], layers[h + 1]
    weight = en.multiply(Enclosure(layer.weight, layer.weight_error), en.exactly(factors[:, None]))
    bias = en.multiply(Enclosure(layer.bias, layer.bias_error), en.exactly(factors))
    columns = en.divide(Enclosure(reader.weight, reader.weight_error), en.exactly(factors[None, :]))
    names = layer.names and tuple(n if c == 1.0 else None for n, c in zip(layer.names, factors.tolist(), strict=True))
    changed = list(layers)
    changed[h] = AffineLayer(weight.value, bias.value, weight.error, bias.error, names)
    changed[h + 1] = AffineLayer(columns.value, reader.bias, columns.error, reader.bias_error, None)
    return changed


def shared_out(layers: Layers, h: int, rows: Sequence[int | None], factors: Array, like: Array) -> Layers:
    """After `placed` with these rows and `scaled` by these factors (m): shares out the columns of what comes again.

    Row s is read there as `like` (outputs of the reader, m) reads it, and by so much less at its first place, where it
    has another scale: c relu(z) w = c' relu(z) (c / c') w.
    """
    reader = layers[h + 1]
    columns = Enclosure(reader.weight, reader.weight_error)
    for s, row in enumerate(rows):
        if row is not None and row in rows[:s]:
            share, at = en.exactly(like[:, s]), rows.index(row)
            scale = Fraction(float(factors[s])) / Fraction(float(factors[at]))
            moved = en.multiply(share, en.from_fractions([-scale]))
            columns = _with_column(columns, at, en.add(_column(columns, at), moved))
            columns = _with_column(columns, s, share)
    if columns.value is reader.weight:
        return layers
    changed = list(layers)
    changed[h + 1] = AffineLayer(columns.value, reader.bias, columns.error, reader.bias_error, None)
    return changed


def _column(a: Enclosure, j: int) -> Enclosure:
    return Enclosure(a.value[:, j], None if a.error is None else a.error[:, j])


def _with_column(a: Enclosure, j: int, column: Enclosure) -> Enclosure:
    value, error = a.value.copy(), a.radius.copy()
    value[:, j], error[:, j] = column.value, column.radius
    return Enclosure(value, error if error.any() else None)
