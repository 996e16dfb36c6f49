"""Two networks as the pair of programs that the core takes: in step, with what both define alike given as shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eqspec.networks import Network, align, negate_outputs, share
from eqspec.networks.curves import Curves, leaky
from eqspec.networks.network import Array
from eqspec.networks.program import Function, Term
from eqspec.run import core

PARTIAL = frozenset({"log", "sqrt", "reciprocal", "power"})
"""Functions that have no value at some numbers."""
_MEMORY = 1 << 28
"""Bytes that the forms of a pair may take where it is looked whether it has values."""
_LEAST = 5e-324


def pair_of(first: Network, second: Network, *, negated: bool = False, one_function: bool = True) -> core.Pair:
    """The pair of two networks, with their outputs turned round where that is asked for.

    Of networks that are one function the core proves claims that hold of any function and itself without looking at
    values. Without `one_function` it does not: the outputs of the second are then known up to the least float.
    """
    first, second = align(first, second)
    if negated:
        first, second = negate_outputs(first), negate_outputs(second)
    second, shared = share(first, second)
    if not one_function:
        last = second.steps[-1]
        error = np.maximum(0.0 if last.bias_error is None else last.bias_error, np.full(last.rows, _LEAST))
        second = replace(second, steps=(*second.steps[:-1], replace(last, bias_error=error)))
        shared = [*shared[:-1], [False] * last.rows]
    pair = zip(first.steps, second.steps, strict=True)
    alike = [of_one_kind(a.function, b.function) for a, b in pair]
    reference, candidate = (steps(n, [f[k] for f in alike]) for k, n in enumerate((first, second)))
    return core.Pair(first.input_size, reference, candidate, shared=shared)


def has_values(pair: core.Pair, first: Network, second: Network, box: tuple[Array, Array]) -> bool:
    """Whether two networks have values on a whole box, as far as that matters: where they may be one function.

    A logarithm has none at 0 and below, nor has what is made of it. The core encloses the box up to the first step
    that may have none.
    """
    functions = [step.function for network in (first, second) for step in network.steps]
    partial = any(kind.name in PARTIAL for f in functions if isinstance(f, Curves) for kind in f.kinds)
    if not partial or not _look_alike(first, second):
        return True
    last = len(align(first, second)[0].steps) - 1
    return core.factor_radii(pair, *box, [(last, last)], _MEMORY)[0] is not None


def _look_alike(first: Network, second: Network) -> bool:
    """Whether all numbers of two networks are the same, but for what is known up to an error."""
    return len(first.steps) == len(second.steps) and all(
        a.function == b.function
        and len(a.terms) == len(b.terms)
        and all(np.array_equal(t.tile.weight, u.tile.weight) for t, u in zip(a.terms, b.terms, strict=True))
        for a, b in zip(first.steps, second.steps, strict=True)
    )


def steps(network: Network, functions: Sequence[Function]) -> list[core.Step]:
    """The steps for the core, with these functions."""
    sizes = [network.input_size, *(step.rows for step in network.steps)]
    return [
        ([_term(t, sizes[t.source + 1]) for t in step.terms], step.bias, step.bias_error, _function(function))
        for step, function in zip(network.steps, functions, strict=True)
    ]


def of_one_kind(a: Function, b: Function) -> tuple[Function, Function]:
    """The functions of two steps that stand together, both as curves if one of them is: ReLU is one, too."""
    if isinstance(a, Curves) == isinstance(b, Curves):
        return a, b
    first, second = (f if isinstance(f, Curves) else Curves.all(leaky(0.0)) for f in (a, b))
    return first, second


def _function(function: Function) -> core.Function:
    if not isinstance(function, Curves):
        return function
    return [(curve.name, list(curve.parameters)) for curve in function.kinds], function.of_row


def _term(term: Term, columns: int) -> core.Term:
    tile = term.tile
    return term.source, None if tile.is_dense(columns) else tile.index, tile.weight, tile.weight_error
