"""W320: two files with the same inputs, by their names, in another order.

Several inputs are one vector, one behind the other as the file has them, and a task gives both networks one vector.
Runtimes are given inputs by their names, so that two such files would be compared as nobody runs them.
"""

from __future__ import annotations

from eqspec.compile.network_instance import Instance
from eqspec.errors import Diagnostic, Label
from eqspec.networks import Network
from eqspec.spec.checks import CheckFacts
from eqspec.spec.findings import warning


def order_finding(
    facts: CheckFacts, both: tuple[tuple[Instance, Network], tuple[Instance, Network]]
) -> Diagnostic | None:
    """The finding about a candidate and its reference, None where they do not take the same inputs, or in one order."""
    (candidate, first), (reference, second) = both
    here, there = ([port.name for port in network.ports] for network in (first, second))
    if here == there or sorted(here) != sorted(there):
        return None
    place = next(i for i, (a, b) in enumerate(zip(here, there, strict=True)) if a != b)
    message = (
        f"'{candidate.name}' takes '{here[place]}' where '{reference.name}' takes '{there[place]}': the same inputs "
    )
    message += "in another order"
    labels = [Label(one.declaration.path.span, "this file") for one in (candidate, reference)]
    hint = "inputs are one vector in the order of the file: export both in one order"
    return warning("W320", message, facts.claim.candidate.span, *labels, help=hint)
