"""Products with one factor in common are one product of the sum: u m + w m = (u + w) m, over the reals.

TensorFlow normalises by x m - mean m, where others write (x - mean) m. Each product of two values that depend on the
input is two squares, which bounds know nothing of: two files that say the same in both ways had nothing in common but
their outputs. `unary` keeps of every operator what it was applied to, so a sum is followed back to its products here.
"""

from __future__ import annotations

from collections.abc import Iterator

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import affine as af
from eqspec.networks import constants
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.operators.elementwise import add
from eqspec.networks.operators.operator_call import OperatorCall, Value
from eqspec.networks.operators.variable_products import product

_SUMS = ("Add", "Sub")
_DEEPEST = 4


@dataclass(frozen=True)
class _Term:
    """`sign` times a value or constant."""

    value: Affine | Enclosure
    sign: int

    @property
    def factors(self) -> tuple[Affine, ...]:
        """Both factors of a product of two values; a square stays one function."""
        made = self.value._origin[0] if isinstance(self.value, Affine) and self.value._origin else None
        if made is None or made.kind != "Mul":
            return ()
        first, second = made.operands
        return (
            (first, second) if isinstance(first, Affine) and isinstance(second, Affine) and first is not second else ()
        )

    def signed(self, value: Affine | Enclosure) -> Affine | Enclosure:
        """A value with this sign."""
        if self.sign > 0:
            return value
        return af.negate(value) if isinstance(value, Affine) else constants.negate(value)


def joined(call: OperatorCall) -> list[Value] | None:
    """The result of a sum of products of which two have a factor in common; None of any other."""
    if call.node.op_type not in _SUMS or call.opset < 7 or call.given.unit:
        return None
    terms = list(_terms(call))
    for term in terms:
        for factor in term.factors:
            among = [k for k, other in enumerate(terms) if any(one is factor for one in other.factors)]
            if len(among) > 1:
                return [_together(terms, among, factor)]
    return None


def _terms(call: OperatorCall) -> Iterator[_Term]:
    for place, operand in enumerate(call.inputs):
        if not isinstance(operand, Affine | Enclosure):
            return
        sign = -1 if place and call.node.op_type == "Sub" else 1
        yield from _apart(_Term(operand, sign), _DEEPEST)


def _apart(term: _Term, deep: int) -> Iterator[_Term]:
    """The terms of a sum, which may be of sums."""
    made = term.value._origin[0] if isinstance(term.value, Affine) and term.value._origin else None
    if made is None or made.kind not in _SUMS or not deep:
        yield term
        return
    for place, operand in enumerate(made.operands):
        yield from _apart(_Term(operand, -term.sign if place and made.kind == "Sub" else term.sign), deep - 1)


def _together(terms: list[_Term], among: list[int], factor: Affine) -> Affine:
    """One product of the sum of what stands beside the factor, and what is left."""
    total: Affine | Enclosure | None = None
    for at in among:
        first, second = terms[at].factors
        beside = terms[at].signed(second if first is factor else first)
        total = beside if total is None else add(total, beside)
    assert isinstance(total, Affine)
    made: Affine | Enclosure = product(total, factor)
    for at, term in enumerate(terms):
        if at not in among:
            made = add(made, term.signed(term.value))
    assert isinstance(made, Affine)
    return made
