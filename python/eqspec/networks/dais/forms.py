"""Sums of values of atoms: what adders make, written out.

    2^-bits (constant + sum over atoms of coefficient X)

An atom is an input of the network, or a value that is no sum of others: what a type rounds, a relu or a lookup gives.
All numbers are whole, so that nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Mapping

from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Form:
    """See the head of this file; no coefficient is 0."""

    coefficients: Mapping[int, int]
    constant: int = 0
    bits: int = 0

    @classmethod
    def of(cls, atom: int) -> Form:
        """The value of an atom."""
        return cls({atom: 1})

    def shifted(self, shift: int) -> Form:
        """Times 2^shift."""
        return Form(self.coefficients, self.constant, self.bits - shift)

    def times(self, n: int) -> Form:
        """Times a whole number."""
        made = {atom: n * c for atom, c in self.coefficients.items()} if n else {}
        return Form(made, n * self.constant, self.bits)

    def negative(self) -> Form:
        """Times -1."""
        return Form({atom: -c for atom, c in self.coefficients.items()}, -self.constant, self.bits)

    def plus(self, other: Form) -> Form:
        """The sum of two."""
        bits = max(self.bits, other.bits)
        mine, theirs = bits - self.bits, bits - other.bits
        made = {atom: c << mine for atom, c in self.coefficients.items()}
        for atom, c in other.coefficients.items():
            if total := made.get(atom, 0) + (c << theirs):
                made[atom] = total
            else:
                del made[atom]
        return Form(made, (self.constant << mine) + (other.constant << theirs), bits)

    def minus(self, other: Form) -> Form:
        """The difference of two."""
        return self.plus(other.negative())

    @property
    def is_zero(self) -> bool:
        """Whether it is 0 whatever its atoms are."""
        return not self.coefficients and not self.constant

    def ratio_to(self, other: Form) -> tuple[int, int] | None:
        """(n, d) with d > 0 and self = n / d other, None where one is not a multiple of the other, which is not 0."""
        n, d = 0, 0
        bits = max(self.bits, other.bits)
        pairs = [(self.constant, other.constant)]
        pairs += [(self.coefficients.get(atom, 0), c) for atom, c in other.coefficients.items()]
        if self.coefficients.keys() - other.coefficients.keys():
            return None
        for mine, theirs in pairs:
            a, b = mine << (bits - self.bits), theirs << (bits - other.bits)
            if b and not d:
                n, d = (a, b) if b > 0 else (-a, -b)
            if (b or a) and (not d or a * d != n * b):
                return None
        return (n, d) if d else None
