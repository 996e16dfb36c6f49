"""Steps of atoms: those of one depth are the rows of one step, so that the layers of the model come back.

The depth of an atom is one more than the largest of those that it reads; inputs have depth 0. Atoms that no output
depends on are left out. The last step has the outputs as its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.curves import Curves
from eqspec.networks.dais.forms import Form
from eqspec.networks.dais.known import RELU, Atom
from eqspec.networks.dais.values import SIMPLER, Refuse
from eqspec.networks.firmware.size_limits import MAX_NEURONS, MAX_PRODUCTS
from eqspec.networks.network import Cast
from eqspec.networks.program import INPUTS, NONE, Function, Step, Term, Tile

_MOST_DIGITS, _MOST_BITS = 53, 900
_DENSE = 0.25
"""From which share of numbers that are not 0 a term is a matrix."""


def steps(
    atoms: Sequence[Atom | None], outputs: Sequence[Form], refuse: Refuse
) -> tuple[tuple[Step, ...], tuple[Cast, ...]]:
    """The program of these outputs, and what its rows are assignments to. The first atoms are the inputs, None each."""
    layers = _layers(atoms, outputs)
    place = {atom: (INPUTS, atom) for atom in range(len(atoms)) if atoms[atom] is None}
    made, casts = list[Step](), list[Cast]()
    neurons = products = 0
    for layer in layers:
        rows = [atom for number in layer if (atom := atoms[number]) is not None]
        curves = Curves.of_rows([atom.curve for atom in rows])
        function: Function = "relu" if curves.uniform == RELU else curves
        casts += _casts(rows, len(made))
        made.append(_step([atom.argument for atom in rows], place, function, refuse))
        place |= {number: (len(made) - 1, row) for row, number in enumerate(layer)}
        neurons, products = neurons + len(rows), products + made[-1].products
        if neurons > MAX_NEURONS or products > MAX_PRODUCTS:
            message = f"the network has {neurons} neurons and {products} products or more"
            refuse(message, f"programs of up to {MAX_NEURONS} neurons and {MAX_PRODUCTS} products are decided")
    made.append(_step(outputs, place, "identity", refuse))
    return tuple(made), tuple(casts)


def _layers(atoms: Sequence[Atom | None], outputs: Sequence[Form]) -> list[list[int]]:
    """The atoms that outputs depend on by their depth, from 1 on, each in the order in which they were made."""
    needed = {atom for form in outputs for atom in form.coefficients}
    for number in reversed(range(len(atoms))):
        atom = atoms[number]
        if atom is not None and number in needed:
            needed |= atom.argument.coefficients.keys()
    depth = dict[int, int]()
    layers = list[list[int]]()
    for number in sorted(needed):
        atom = atoms[number]
        depth[number] = 0 if atom is None else 1 + max((depth[n] for n in atom.argument.coefficients), default=0)
        if depth[number]:
            if len(layers) < depth[number]:
                layers.append([])
            layers[depth[number] - 1].append(number)
    return layers


def _casts(rows: Sequence[Atom], step: int) -> Iterator[Cast]:
    """One for each run of rows that are assignments to one type."""
    start = 0
    for row in range(1, len(rows) + 1):
        if row == len(rows) or rows[row].type != rows[start].type:
            if (of := rows[start].type) is not None:
                last = rows[row - 1].name
                name = last if row - start == 1 else f"{rows[start].name} to {last.rpartition(' ')[2]}"
                yield Cast(step, slice(start, row), name, of.text)
            start = row


def _step(
    forms: Sequence[Form],
    place: dict[int, tuple[int, int]],
    function: Function,
    refuse: Refuse,
) -> Step:
    """The sums of some forms, as one term for each step that they read."""
    entries = dict[int, list[tuple[int, int, float]]]()
    for row, form in enumerate(forms):
        for atom, coefficient in form.coefficients.items():
            source, column = place[atom]
            entries.setdefault(source, []).append((row, column, _float(coefficient, form.bits, refuse)))
    sizes = dict.fromkeys(entries, 0)
    for source, column in place.values():
        if source in sizes:
            sizes[source] = max(sizes[source], column + 1)
    terms = tuple(Term(source, _tile(found, len(forms), sizes[source])) for source, found in sorted(entries.items()))
    bias = np.array([_float(form.constant, form.bits, refuse) for form in forms])
    return Step(terms, bias, None, function)


def _tile(entries: Sequence[tuple[int, int, float]], rows: int, columns: int) -> Tile:
    """A matrix where much of it is not 0, else the numbers of each row with where they stand."""
    if len(entries) >= _DENSE * rows * columns and len(entries) > rows:
        matrix = np.zeros((rows, columns))
        for row, column, number in entries:
            matrix[row, column] = number
        return Tile.dense(matrix)
    of_row: list[list[tuple[int, float]]] = [[] for _ in range(rows)]
    for row, column, number in entries:
        of_row[row].append((column, number))
    taps = max(map(len, of_row))
    index: NDArray[np.int32] = np.full((rows, 1, taps), NONE, np.int32)
    weight = np.zeros((rows, 1, taps))
    for row, some in enumerate(of_row):
        for tap, (column, number) in enumerate(sorted(some)):
            index[row, 0, tap], weight[row, 0, tap] = column, number
    return Tile(index, weight)


def _float(n: int, bits: int, refuse: Refuse) -> float:
    """n times 2^-bits as a float64, which it has to be exactly."""
    if n and ((abs(n) // (n & -n)).bit_length() > _MOST_DIGITS or max(abs(bits), n.bit_length()) > _MOST_BITS):
        _too_long(refuse)
    return float(n) * 2.0**-bits if n else 0.0


def _too_long(refuse: Refuse) -> NoReturn:
    refuse("a weight has more than 53 bits, or its point lies too far away", SIMPLER)
