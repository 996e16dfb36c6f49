"""W321: a decision by the largest score where the file's own label is the place of the smallest, or the other way."""

from __future__ import annotations

from typing import Literal

from eqspec.compile.network_instance import Instance
from eqspec.errors import Diagnostic, Label
from eqspec.networks import Network
from eqspec.spec import ast
from eqspec.spec.checks import CheckFacts
from eqspec.spec.findings import warning

_WORDS = {"max": "largest", "min": "smallest"}


def label_finding(
    facts: CheckFacts, decide: Literal["max", "min"], *subjects: tuple[Instance, Network]
) -> Diagnostic | None:
    """The finding about the first network that decides otherwise than its space says; None where none does."""
    if not isinstance(facts.claim, ast.KeepsTop1):
        return None
    for instance, network in subjects:
        if network.label not in (None, decide):
            said, meant = _WORDS[network.label or decide], _WORDS[decide]
            message = f"the {meant} score decides here, and the label that '{instance.name}' gives is the {said} one's"
            label = Label(instance.declaration.path.span, "this file")
            hint = f"write 'decide {network.label}' in the space, unless the other end is meant"
            return warning("W321", message, facts.claim.span, label, help=hint)
    return None
