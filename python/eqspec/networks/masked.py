"""Numbers some of which are minus infinity: the masks that attention adds to its scores, and scores that have them.

Only what a mask goes through in front of a Softmax takes such values (`operators/masking`); everywhere else they are
refused, as other numbers are that are not finite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure


@dataclass(frozen=True, eq=False)
class Masked:
    """`value` with zeros where `infinite` says that a number is minus infinity."""

    value: Affine | Enclosure
    infinite: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self.value.shape

    def rearranged(self, f: Callable[[NDArray[Any]], NDArray[Any]]) -> Masked:
        """Entries put elsewhere."""
        moved = af.rearrange(self.value, f) if isinstance(self.value, Affine) else self.value.rearranged(f)
        return Masked(moved, np.asarray(f(self.infinite)))


@dataclass(frozen=True, eq=False)
class Hidden:
    """`value` where `shown`, a truth value by entry that depends on the input, is 1; minus infinity where it is 0."""

    value: Affine | Enclosure
    shown: Affine

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self.shown.shape

    def rearranged(self, f: Callable[[NDArray[Any]], NDArray[Any]]) -> Hidden:
        """Entries put elsewhere."""
        moved = af.rearrange(self.value, f) if isinstance(self.value, Affine) else self.value.rearranged(f)
        return Hidden(moved, af.rearrange(self.shown, f))


def constant(numbers: NDArray[np.float64]) -> Masked:
    """Stored numbers that are finite or minus infinity."""
    infinite = np.isneginf(numbers)
    return Masked(Enclosure(np.where(infinite, 0.0, numbers)), infinite)
