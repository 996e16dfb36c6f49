"""Two networks as the pair of programs that the core takes: in step, with what both define alike given as shared."""

from __future__ import annotations

from collections.abc import Sequence

from eqspec.networks import Network, align, negate_outputs, share
from eqspec.networks.composition import composed
from eqspec.networks.curves import Curves, leaky
from eqspec.networks.program import Function, Step, Term
from eqspec.run import core


def pair_of(first: Network, second: Network, *, negated: bool = False, composing: bool = False) -> core.Pair:
    """The pair of two networks for the core, with all outputs negated where that is asked for.

    With `composing`, without the steps that their readers can do without (`networks.composition`).
    """
    first, second = align(first, second)
    if negated:
        first, second = negate_outputs(first), negate_outputs(second)
    second, shared = share(first, second)
    one, other = list(first.steps), list(second.steps)
    if composing:
        one, other, shared = composed(one, other, shared)
    alike = [of_one_kind(a.function, b.function) for a, b in zip(one, other, strict=True)]
    reference, candidate = (steps(s, first.input_size, [f[k] for f in alike]) for k, s in enumerate((one, other)))
    return core.Pair(first.input_size, reference, candidate, shared=shared)


def steps(program: Sequence[Step], inputs: int, functions: Sequence[Function]) -> list[core.Step]:
    """The steps for the core, with these functions."""
    sizes = [inputs, *(step.rows for step in program)]
    return [
        ([_term(t, sizes[t.source + 1]) for t in step.terms], step.bias, step.bias_error, _function(function))
        for step, function in zip(program, functions, strict=True)
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
