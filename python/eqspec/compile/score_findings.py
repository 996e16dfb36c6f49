"""Whether a claim says which scores it is about: E208 where it does not, W309 where it can only mean logits.

What the scores of a file that ends in Softmax are, and why a distance may tell by itself, stands in
`eqspec.tasks.score_meaning`.
"""

from __future__ import annotations

from typing import cast

from eqspec.compile.network_pairs import Networks, gives
from eqspec.errors import Diagnostic, Label
from eqspec.property import Containment, Decision, Property
from eqspec.spec import ast
from eqspec.spec.checks import CheckFacts
from eqspec.spec.claims import SENTENCES
from eqspec.spec.findings import error, warning
from eqspec.spec.program import Binding
from eqspec.tasks.score_meaning import beyond_probabilities, left_out


def scores_finding(facts: CheckFacts, claim: Property, networks: Networks) -> Diagnostic | None:
    """The finding about a claim at one point; for a search, about the claim at the easy end of its range."""
    if isinstance(claim, Decision | Containment):
        return None
    subjects = [facts.subjects.candidate]
    if facts.subjects.reference is not facts.subjects.candidate:
        subjects.append(facts.subjects.reference)
    unsaid = [b for b in subjects if left_out(networks.as_given(b)) is not None and gives(b) is None]
    if not unsaid:
        return None
    tails = dict.fromkeys(left_out(networks.as_given(binding)) for binding in unsaid)
    names = " and ".join(f"'{binding.name}'" for binding in unsaid)
    who = f"{names} end{'s' if len(unsaid) == 1 else ''} in {' and '.join(map(str, tails))}"
    labels = [Label(cast(ast.Network, binding.declaration).path.span, "this file") for binding in unsaid]
    hint = f"write 'gives logits' behind {'it' if len(unsaid) == 1 else 'both'}, as in '{_declared(unsaid[0])}'"
    span = facts.claim.eps.span if isinstance(facts.claim, ast.StaysWithin) else facts.claim.span
    if beyond_probabilities(claim, [networks.as_given(binding) for binding in subjects]):
        message = f"{who}, and this is more than probabilities can differ by: it is taken for a distance of logits"
        return warning("W309", message, span, *labels, help=hint)
    message = f"{who}, but '{SENTENCES[type(facts.claim)]}' compares the logits in front of it, not probabilities"
    return error(
        "E208", message, span, *labels, help=f"if logits are meant, {hint}; 'gives probabilities' if these are"
    )


def _declared(binding: Binding) -> str:
    declaration = cast(ast.Network, binding.declaration)
    written = " ".join(declaration.path.span.text.split())
    return f"network {binding.name} = {written} in {declaration.space} gives logits"
