"""Operations on the stored numbers of a file: what `enclosure` gives, and a name for every result that is not exact.

Two files that compute a normalisation from the same stored statistics get the same names, and so it is known that the
two results are one number (see `names`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eqspec.networks import enclosure as en
from eqspec.networks import names
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.names import Names


def names_of(a: Enclosure) -> Names | None:
    """The names of all entries; None where they are not known, or too many."""
    if a.value.size > names.MOST or (a.error is not None and a.names is None):
        return None
    exact = names.of_floats(a.value)
    return exact if a.names is None else np.where(a.radius == 0, exact, a.names)


def named(result: Enclosure, operation: str, *operands: Enclosure) -> Enclosure:
    """The result of an exact operation on operands that broadcast to it, with names where it is not exact."""
    known = [] if result.error is None else [n for n in map(names_of, operands) if n is not None]
    if len(known) < len(operands):
        return result
    return replace(result, names=names.elementwise(operation, result.shape, *known))


def negate(a: Enclosure) -> Enclosure:
    """-a."""
    return named(en.negate(a), "negate", a)


def add(a: Enclosure, b: Enclosure) -> Enclosure:
    """a + b, broadcast."""
    return named(en.add(a, b), "add", a, b)


def multiply(a: Enclosure, b: Enclosure) -> Enclosure:
    """a b elementwise, broadcast."""
    return named(en.multiply(a, b), "multiply", a, b)


def divide(a: Enclosure, b: Enclosure) -> Enclosure:
    """a / b elementwise, broadcast. Raises ZeroDivisionError where b may be zero."""
    return named(en.divide(a, b), "divide", a, b)


def square_root(a: Enclosure) -> Enclosure:
    """The square root, elementwise. Raises ValueError where a may be negative or is zero but inexact."""
    return named(en.square_root(a), "square root", a)


def root_of_squares(a: Enclosure) -> Enclosure:
    """The square root, elementwise, of what is a sum of squares."""
    return named(en.root_of_squares(a), "square root", a)


def matmul(a: Enclosure, b: Enclosure) -> Enclosure:
    """a @ b with the shapes of numpy.matmul, both of rank 2 or more."""
    result = en.matmul(a, b)
    if result.error is None or (rows := names_of(a)) is None or (columns := names_of(b)) is None:
        return result
    left, right = names.joined(rows, -1)[..., :, None], names.joined(columns, -2)[..., None, :]
    return replace(result, names=names.elementwise("matmul", result.shape, left, right))
