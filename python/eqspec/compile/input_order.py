"""W320: two files whose inputs or outputs are the same in another order (`eqspec.networks.input_order`)."""

from __future__ import annotations

from eqspec.compile.network_instance import Instance
from eqspec.errors import Diagnostic, Label
from eqspec.networks import Network
from eqspec.networks.input_order import in_another_order
from eqspec.spec.checks import CheckFacts
from eqspec.spec.findings import warning

Subject = tuple[Instance, Network]


def order_finding(facts: CheckFacts, candidate: Subject, reference: Subject) -> Diagnostic | None:
    """The finding about a pair, None where it does not take and give the same, or in one order."""
    (one, first), (other, second) = candidate, reference
    found = in_another_order(first, second)
    if found is None:
        return None
    verb, here, there, why = found
    message = f"'{one.name}' {verb} {here} where '{other.name}' {verb} {there}: {why}"
    labels = [Label(instance.declaration.path.span, "this file") for instance in (one, other)]
    hint = "both are one vector, in the order of the file: export both files in one order"
    return warning("W320", message, facts.claim.candidate.span, *labels, help=hint)
