"""Counterexamples as the competitions and the standard write them.

For a 1.0 file one list ((X_0 0.5) (X_1 ...) (Y_0 ...)); for a 2.0 file, for every tensor in the order of its
declaration, a line `name type [sizes]` and then its entries, one on each line. Inputs are exact: what does not end as a
decimal is written with 24 digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Network
from eqspec.networks.exact import BITS
from eqspec.networks.fixed_point import UndefinedError
from eqspec.tasks.phrasing import approximately
from eqspec.vnnlib import decimals
from eqspec.vnnlib.network_binding import Subject
from eqspec.vnnlib.query import Element, Interval, holds

Point = Sequence[Fraction]


@dataclass(frozen=True, eq=False)
class Assignment:
    """An input for each network of a query, and what encloses the outputs there; the ends are the same where they are
    exact, which they are unless operators of a network were folded with rounding.
    """

    subject: Subject
    inputs: tuple[tuple[Fraction, ...], ...]
    enclosures: tuple[tuple[Interval, ...], ...]

    @property
    def outputs(self) -> tuple[tuple[Fraction, ...], ...]:
        """The scores, or the middles of what encloses them."""
        return tuple(tuple((low + high) / 2 for low, high in several) for several in self.enclosures)

    def value(self, element: Element) -> Interval:
        """The numbers that an element may have."""
        if element.output:
            return self.enclosures[element.network][element.entry]
        number = self.inputs[element.network][element.entry]
        return number, number

    @property
    def satisfies(self) -> bool:
        """Whether all asserts of the query hold, whatever the outputs are within their enclosures.

        A Softmax is passed over: only order counts then.
        """
        return all(holds(assertion.formula, self.value) for assertion in self.subject.query.assertions)

    def written(self) -> str:
        """The text, without a newline at its end."""
        shown = [_shown_outputs(b.network, y) for b, y in zip(self.subject.networks, self.outputs, strict=True)]
        if self.subject.query.version == "1.0":
            pairs = [(f"X_{i}", _exact(x)) for i, x in enumerate(self.inputs[0])]
            pairs += [(f"Y_{i}", y) for i, y in enumerate(y for several in shown for y in several)]
            return "(" + "\n".join(f"({name} {value})" for name, value in pairs) + ")"
        lines = []
        for declared, inputs, outputs in zip(self.subject.query.networks, self.inputs, shown, strict=True):
            tensors = [(declared.output, outputs)]
            if declared.input is not None:
                tensors.insert(0, (declared.input, [_exact(x) for x in inputs]))
            for tensor, values in tensors:
                lines.append(f"{tensor.name} {tensor.kind} [{','.join(map(str, tensor.shape))}]")
                lines += [_short(value) for value in values] if tensor.kind == "float32" else values
        return "\n".join(lines)


def at(subject: Subject, inputs: Sequence[Point]) -> Assignment:
    """The assignment with these inputs; every network must have been read."""
    outputs = []
    for bound, point in zip(subject.networks, inputs, strict=True):
        assert bound.network is not None
        outputs.append(_outputs(bound.network, point))
    return Assignment(subject, tuple(tuple(point) for point in inputs), tuple(outputs))


def _outputs(network: Network, point: Point) -> tuple[tuple[Fraction, Fraction], ...]:
    """Enclosures of the outputs, in as many bits as arguments need to be known to lie in the domain of a function."""
    for bits in (BITS, 4 * BITS):
        try:
            return tuple(network.evaluate_exact(point, bits))
        except UndefinedError:
            continue
    return tuple(network.evaluate_exact(point, 16 * BITS))


def _short(value: str) -> str:
    """The float32 next to a number, in as few digits as tell it from others."""
    return repr(float(str(np.float32(float(value)))))


def _exact(value: Fraction) -> str:
    return decimals.plain(value) or decimals.below(value)


def _shown_outputs(network: Network | None, scores: Point) -> list[str]:
    """What the file itself answers, in floats: behind its Softmax, if it ends in one."""
    numbers = [approximately(y) for y in scores]
    if network is not None and network.stripped is not None and all(map(math.isfinite, numbers)):
        largest = max(numbers)
        total = largest + math.log(sum(math.exp(y - largest) for y in numbers))
        numbers = [y - total if network.stripped == "log_softmax" else math.exp(y - total) for y in numbers]
    return [repr(y) for y in numbers]
