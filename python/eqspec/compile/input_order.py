"""W320: two files whose inputs or outputs are the same in another order: inputs by their names, or axes by their sizes.

All inputs of a file are one vector, one behind the other as the file has them and each in its own order of axes, and
a task gives both networks one vector. Runtimes are given inputs by their names, and an image with its channels first
is no image with its channels last: such a pair would be compared as nobody runs it. The same holds of outputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from eqspec.compile.network_instance import Instance
from eqspec.errors import Diagnostic, Label
from eqspec.networks import Network
from eqspec.spec.checks import CheckFacts
from eqspec.spec.findings import warning

Subject = tuple[Instance, Network]


def order_finding(facts: CheckFacts, candidate: Subject, reference: Subject) -> Diagnostic | None:
    """The finding about a pair, None where it does not take and give the same, or in one order."""
    (one, first), (other, second) = candidate, reference
    here, there = ([port.name for port in network.ports] for network in (first, second))
    message = None
    if here != there and sorted(here) == sorted(there):
        place = next(i for i, (a, b) in enumerate(zip(here, there, strict=True)) if a != b)
        message = f"'{one.name}' takes '{here[place]}' where '{other.name}' takes '{there[place]}'"
    elif len(here) == len(there):
        inputs = [("takes", a.shape, b.shape) for a, b in zip(first.ports, second.ports, strict=True)]
        turned = [
            found for found in (*inputs, ("gives", first.output_shape, second.output_shape)) if _turned(*found[1:])
        ]
        for verb, a, b in turned[:1]:
            message = f"'{one.name}' {verb} [{_listed(a)}] where '{other.name}' {verb} [{_listed(b)}]"
    if message is None:
        return None
    labels = [Label(instance.declaration.path.span, "this file") for instance in (one, other)]
    hint = "both are one vector, in the order of the file: export both files in one order"
    return warning("W320", f"{message}: the same in another order", facts.claim.candidate.span, *labels, help=hint)


def _turned(one: Sequence[int | str], other: Sequence[int | str]) -> bool:
    """Whether axes of one shape are those of another in another order, but for axes of one entry and open ones."""
    here, there = ([size for size in shape if isinstance(size, int) and size > 1] for shape in (one, other))
    return here != there and sorted(here) == sorted(there)


def _listed(shape: Sequence[int | str]) -> str:
    return ", ".join(map(str, shape))
