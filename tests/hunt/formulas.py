"""Satisfiability as equivalence: a formula becomes a pair that is equivalent iff no assignment satisfies it.

Deciding equivalence of ReLU networks is coNP-hard by a reduction of this shape ([VD]; Katz et al. 2017 for one
network). For a formula with m clauses in n variables let, on [0, 1]^n,

    F(x) = sum over clauses of min(1, sum of its literals) - m - sum over variables of K_i min(x_i, 1 - x_i),

where a literal is x_i or 1 - x_i, and K_i is at least the number of clauses with variable i. In each x_i alone F does
not rise from 0 to 1/2 (a clause rises by at most 1 per unit, the penalty falls by K_i) and does not fall from 1/2 to 1,
so F is greatest at a corner, where it is minus the number of clauses that the assignment leaves unsatisfied. Hence
max F is 0 iff the formula is satisfiable, and at most -1 otherwise; -1 also bounds what any query below may round.

All weights are small integers, so F is exact in floating point, and one hidden layer is enough:
min(1, s) = 1 - relu(1 - s) for s >= 0 and min(x, 1 - x) = x - relu(2x - 1) for 0 <= x <= 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from pysat.solvers import Solver

from oracle.pairs import Random
from oracle.pieces import Layers

Formula = Sequence[tuple[int, ...]]
"""Clauses of literals +i or -i for variables i = 1, ..., n, as in DIMACS files."""


def random_formula(rng: Random, variables: int, clauses: int) -> Formula:
    """Three different variables in each clause, or all there are."""
    return [
        tuple(int(v) * int(rng.choice([-1, 1])) for v in rng.choice(variables, min(3, variables), replace=False) + 1)
        for _ in range(clauses)
    ]


def satisfies(assignment: Sequence[bool], formula: Formula) -> bool:
    """Whether each clause has a literal that is true."""
    return all(any(assignment[abs(literal) - 1] == (literal > 0) for literal in clause) for clause in formula)


def satisfiable(formula: Formula) -> bool:
    """Asked of a SAT solver."""
    with Solver(name="cadical153", bootstrap_with=formula) as solver:
        return bool(solver.solve())


def by_enumeration(formula: Formula, variables: int) -> bool:
    """The same by trying all assignments."""
    return any(satisfies(assignment, formula) for assignment in product((False, True), repeat=variables))


def network(formula: Formula, variables: int) -> Layers:
    """x -> F(x), with one hidden layer of a neuron for each clause and each variable."""
    m = len(formula)
    weight, bias = np.zeros((m + variables, variables)), np.zeros(m + variables)
    out, constant = np.zeros((1, m + variables)), 0.0
    direct = np.zeros(variables)  # coefficients of x itself, which is relu(x) on the box
    for row, clause in enumerate(formula):
        bias[row] = 1.0
        for literal in clause:  # 1 - s
            weight[row, abs(literal) - 1] -= 1.0 if literal > 0 else -1.0
            bias[row] -= 0.0 if literal > 0 else 1.0
        out[0, row] = -1.0
    for i in range(variables):
        penalty = float(max(1, sum(any(abs(literal) == i + 1 for literal in clause) for clause in formula)))
        weight[m + i, i], bias[m + i] = 2.0, -1.0
        out[0, m + i] = penalty
        direct[i] = -penalty
    return _with_inputs([(weight, bias), (out, np.array([constant]))], direct)


def _with_inputs(layers: Layers, direct: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Layers:
    """The network plus direct . x for x >= 0."""
    (weight, bias), (out, constant) = layers
    size = len(direct)
    return [
        (np.concatenate([weight, np.eye(size)]), np.append(bias, np.zeros(size))),
        (np.concatenate([out, direct[None, :]], axis=1), constant),
    ]


def scores(layers: Layers, slope: Fraction, offset: Fraction, others: Sequence[Fraction]) -> Layers:
    """(slope F + offset, *others): classes of which only the first depends on the input."""
    *hidden, (out, constant) = layers
    rest = len(others)
    return [
        *hidden,
        (
            np.concatenate([out * float(slope), np.zeros((rest, out.shape[1]))]),
            np.append(constant * float(slope) + float(offset), [float(o) for o in others]),
        ),
    ]


def constant(values: Sequence[Fraction], inputs: int) -> Layers:
    """The same scores everywhere."""
    return [(np.zeros((len(values), inputs)), np.array([float(v) for v in values]))]
