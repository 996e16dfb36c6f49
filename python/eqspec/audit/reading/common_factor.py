"""Sums of products with one factor in common are one product: u m + w m = (u + w) m, over the reals.

`Program.origins` has the operator and the operands of sums, differences and products of values, as the file writes
them; a sum is followed back to its products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import unary
from .program import Operand, Program
from .value import Value

_SUMS, _DEEPEST = ("Add", "Sub"), 4
_Term = tuple[Operand, int]


def joined(program: Program, operator: str, operands: Sequence[Operand]) -> Value | None:
    """The result of an Add or a Sub of which two products have a factor in common; None of any other."""
    known = operator in _SUMS and not program.kind.rounds
    terms = list(_terms(program, operator, operands, 1, _DEEPEST)) if known else []
    factors = [_factors(program, term) for term, _ in terms]
    for factor in (one for both in factors for one in both):
        among = [k for k, other in enumerate(factors) if any(one is factor for one in other)]
        if len(among) > 1:
            beside = [(next(v for v in factors[k] if v is not factor), terms[k][1]) for k in among]
            made = unary.product(program, program.added(*_signed(program, beside)), factor)
            return program.added(made, *_signed(program, [t for k, t in enumerate(terms) if k not in among]))
    return None


def _terms(program: Program, operator: str, operands: Sequence[Operand], sign: int, deep: int) -> Iterator[_Term]:
    for place, operand in enumerate(operands):
        own, made = -sign if place and operator == "Sub" else sign, _origin(program, operand)
        more = made[0] in _SUMS and deep > 0
        yield from _terms(program, *made, own, deep - 1) if more else [(operand, own)]


def _origin(program: Program, x: Operand) -> tuple[str, Sequence[Operand]]:
    return program.origins.get(x, ("", ())) if isinstance(x, Value) else ("", ())


def _factors(program: Program, term: Operand) -> Sequence[Value]:
    operator, operands = _origin(program, term)
    values = [one for one in operands if isinstance(one, Value)]
    return values if operator == "Mul" and len(values) == 2 and values[0] is not values[1] else ()


def _signed(program: Program, terms: Sequence[_Term]) -> list[Operand]:
    return [term if sign > 0 else program.negative(term) for term, sign in terms]
