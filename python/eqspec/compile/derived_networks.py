"""Networks that a spec derives from another one: the precision as `eqspec.networks` takes it, and the rows of the table
that integers are calibrated on.

Shapes: N rows of I raw inputs become inputs (N, I) in the units that the network takes. They are rounded to floats on
the way, which is harmless: which inputs a network is calibrated on is a choice, and what it was calibrated on is part
of what is proved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.scalers import Scaler
from eqspec.compile.table_rows import Tables
from eqspec.errors import InputError, NetworkError
from eqspec.networks.derived import DerivedNetwork, derived
from eqspec.networks.deriving import FixedPointFormat, Integers, Precision
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.network import Network
from eqspec.span import Span
from eqspec.spec import derivations
from eqspec.spec.derivations import CalibrationTable, FixedPrecision, FixedType, IntegerPrecision
from eqspec.spec.findings import Fault, error
from eqspec.spec.spaces import Names
from eqspec.tasks.phrasing import approximately

Rows = NDArray[np.float64]
_ROLES = {"input": "inputs", "weight": "weights", "bias": "biases", "accum": "accumulators", "result": "results"}
"""The words of the language, and what they are called where networks are derived."""
MOST_ROWS = 100_000


def format_of(precision: derivations.Precision) -> Precision:
    """A precision that a spec says, as networks are derived with it."""
    match precision:
        case IntegerPrecision(bits, per_channel):
            return Integers(bits, per_channel)
        case FixedPrecision(value, others):
            return FixedPointFormat(_type(value), **{_ROLES[key]: _type(held) for key, held in others})


def _type(held: FixedType) -> FixedPoint:
    rounding, overflow = f"AP_{held.rounding}", f"AP_{held.overflow}"
    return FixedPoint.of(held.width, held.integer, signed=held.signed, rounding=rounding, overflow=overflow)


def make(reference: Network, precision: Precision, rows: Rows | None, name: str, place: Span) -> DerivedNetwork:
    """The network; Fault E213 at `place` where it cannot be made."""
    try:
        return derived(reference, precision, rows)
    except NetworkError as problem:
        at = f" (operator '{problem.operator}', node '{problem.node}')" if problem.operator else ""
        message = f"'{name}' cannot be derived: {problem.message}{at}"
        raise Fault(error("E213", message, place, help=problem.fix)) from None
    except InputError as problem:
        raise Fault(error("E213", f"'{name}' cannot be derived: {problem}", place)) from None


def calibration_rows(table: CalibrationTable, tables: Tables, features: Names, scaler: Scaler, *, raw: bool) -> Rows:
    """The rows of a table in the units that a network takes; Fault E138 to E144 where the table does not have them."""
    found = tables.all_rows(table, features, MOST_ROWS)
    inputs = np.array([[float(x) for x in row] for row in found]).reshape(len(found), len(features))
    if raw:
        return inputs
    centre, scale = (np.array([approximately(x) for x in numbers]) for numbers in (scaler.centre, scaler.scale))
    normalised: Rows = (inputs - centre) / scale
    return normalised
