"""Other forms of the same network: neurons moved, scaled, merged, copied.

None of these changes the function that a network computes. Layers are lists of `AffineLayer`, of which layer h is the
hidden one whose neurons are meant; its reader is layer h + 1, whose columns stand for them.
- Rows may be moved, with the columns that read them. A row of zeros that is read by zeros does nothing.
- relu(c z) = c relu(z) for c > 0: a row may be scaled if the column that reads it is divided by the same.
- If row i is exactly c times row j, then relu(z_i) w_i + relu(z_j) w_j = relu(z_j) (w_j + c w_i).
- A row of zeros with a bias that is not positive gives 0: the column that reads it may be anything. What a column of
  zeros reads may be anything.
- A row may be copied, and its column shared out among the copies.
- A layer of rows that come in opposite pairs, z and -z, read by opposite columns, w and -w, lets everything through:
  relu(z) w - relu(-z) w = z w. Such a layer and its reader are one affine map.
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


def silenced(layers: Layers) -> Layers:
    """Zeros before and behind neurons that give 0 for every input, as pruning leaves them, or that nothing reads."""
    for h in reversed(range(len(layers) - 1)):
        layers = _silenced(layers, h)
    for h in range(len(layers) - 1):
        layers = _silenced(layers, h)
    return layers


def _silenced(layers: Layers, h: int) -> Layers:
    layer, reader = layers[h], layers[h + 1]
    silent = ~reader.weight.any(axis=0)
    if reader.weight_error is not None:
        silent &= ~reader.weight_error.any(axis=0)
    off = layer.bias <= (0.0 if layer.bias_error is None else -layer.bias_error)
    off &= ~layer.weight.any(axis=1)
    if layer.weight_error is not None:
        off &= ~layer.weight_error.any(axis=1)
    silent |= off
    return placed(layers, h, [None if s else i for i, s in enumerate(silent.tolist())]) if silent.any() else layers


def without_linear(layers: Layers) -> Layers:
    """Without the hidden layers that let everything through, as exporters and graph tools write a missing ReLU."""
    kept = [layers[0]]
    for reader in layers[1:]:
        composed = _composed(kept[-1], reader)
        if composed is None:
            kept.append(reader)
        else:
            kept[-1] = composed
    return kept


def _composed(layer: AffineLayer, reader: AffineLayer) -> AffineLayer | None:
    """Both as one affine map, if all rows come in opposite pairs: row i is -c times row j, which is read for -c w_i."""
    if not (layer.exact and reader.exact):
        return None
    like = _cosines(layer)
    left = [i for i in range(len(layer.bias)) if like[i, i] > 0.5 or reader.weight[:, i].any()]
    taken = []
    while left:
        i = left.pop()
        opposite = (j for j in left if like[i, j] <= -1.0 + 1e-9 and _opposite(layer, reader, i, j))
        j = next(opposite, None)
        if j is None:
            return None
        left.remove(j)
        taken.append(j)
    if not taken:
        return None
    columns = en.exactly(reader.weight[:, taken])
    weight = en.matmul(columns, en.exactly(layer.weight[taken]))
    shift = en.matmul(columns, en.exactly(layer.bias[taken][:, None]))
    bias = en.add(shift, en.exactly(reader.bias[:, None]))
    error = None if bias.error is None else np.ascontiguousarray(bias.error[:, 0])
    return AffineLayer(
        np.ascontiguousarray(weight.value), np.ascontiguousarray(bias.value[:, 0]), weight.error, error, None
    )


def _opposite(layer: AffineLayer, reader: AffineLayer, i: int, j: int) -> bool:
    c = _multiple(layer, i, j)
    if c is None or c > 0:
        return False
    return all(Fraction(w) == c * Fraction(v) for w, v in zip(reader.weight[:, j], reader.weight[:, i], strict=True))


def _cosines(layer: AffineLayer) -> Array:
    """The cosines of the angles between rows with their biases; 0 for rows of zeros."""
    rows = np.append(layer.weight, layer.bias[:, None], axis=1)
    rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(float).tiny)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 0.5)
    cosines: Array = rows @ rows.T
    return cosines


def _multiple(layer: AffineLayer, i: int, j: int) -> Fraction | None:
    """c such that row i, with its bias, is exactly c times row j, neither of them zero; None if errors hide it."""
    errors = [e[[i, j]] for e in (layer.weight_error, layer.bias_error) if e is not None]
    if any(e.any() for e in errors):
        return None
    one, other = (np.append(layer.weight[k], layer.bias[k]) for k in (i, j))
    if not np.array_equal(one != 0.0, other != 0.0) or not other.any():
        return None
    at = int(np.abs(other).argmax())
    c = Fraction(one[at]) / Fraction(other[at])
    exact = all(Fraction(p) == c * Fraction(q) for p, q in zip(one.tolist(), other.tolist(), strict=True))
    return c if exact else None


def ratio(layer: AffineLayer, i: int, j: int) -> Fraction | None:
    """c > 0 such that row i, with its bias, is exactly c times row j; None if there is none or errors hide it."""
    c = _multiple(layer, i, j)
    return c if c is not None and c > 0 else None


def multiples(layer: AffineLayer) -> list[list[int]]:
    """Groups of two or more rows that are exact positive multiples of each other."""
    like = _cosines(layer) >= 1.0 - 1e-9
    groups, seen = [], set[int]()
    for i in np.flatnonzero(like.sum(axis=1) > 1).tolist():
        if i not in seen:
            group = [i, *(j for j in np.flatnonzero(like[i]).tolist() if j > i and ratio(layer, j, i) is not None)]
            seen |= {*group}
            if len(group) > 1:
                groups.append(group)
    return groups


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
                raise ValueError(f"row {row} is not an exact multiple of row {kept}")
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

    Row s is read there as `like` (outputs of a reader, m) reads it, as far as that has the same outputs, and by so much
    less at its first place, where it has another scale: c relu(z) w = c' relu(z) (c / c') w.
    """
    reader = layers[h + 1]
    columns = Enclosure(reader.weight, reader.weight_error)
    for s, row in enumerate(rows):
        if row is not None and row in rows[:s]:
            wanted, at = np.zeros(len(reader.bias)), rows.index(row)
            wanted[: len(like)] = like[: len(wanted), s]
            share = en.exactly(wanted)
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
