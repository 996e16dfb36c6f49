"""Networks that were made of another one by quantising it, with what they were made of.

A derived network has no file. What a task, a result or a certificate says of it is how to make it again: the file of
its reference by path and content, the precision, and, of integers, the ranges that its scales were calibrated on. Made
again it has the same digest, which is of all of these and of the steps themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.deriving import FixedPointFormat, Precision, Ranges, calibrate, derive
from eqspec.networks.network import Network

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Derivation:
    """What a network was made of: a reference, by `path`, `sha256` and chosen `output`, a precision, and of integers
    the least and the largest number of each value that was measured, by its name.
    """

    path: str
    sha256: str
    output: str | None
    precision: Precision
    ranges: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class DerivedNetwork(Network):
    """A network that was made of another one; `dataclasses.replace` keeps what it was made of."""

    derivation: Derivation = field(kw_only=True)

    @classmethod
    def of(cls, network: Network, derivation: Derivation) -> DerivedNetwork:
        """A network with what it was made of."""
        return cls(**{one.name: getattr(network, one.name) for one in fields(Network)}, derivation=derivation)


def derived(reference: Network, precision: Precision, calibration: Rows | Ranges | None = None) -> DerivedNetwork:
    """The reference in another precision; integers are calibrated on rows (N, I) in its units, or on known ranges.

    Raises DerivationError where it cannot be quantised so.
    """
    ranges: Ranges = {}
    if isinstance(calibration, Mapping):
        ranges = calibration
    elif not isinstance(precision, FixedPointFormat) and calibration is not None:
        ranges = calibrate(reference, calibration)
    made = derive(reference, precision, ranges or None)
    listed = tuple((name, least, most) for name, (least, most) in ranges.items())
    derivation = Derivation(reference.source, reference.sha256, reference.chosen, precision, listed)
    return DerivedNetwork.of(made, derivation)
