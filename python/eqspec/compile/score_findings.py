"""Whether a claim says which scores it is about: E208 where it does not or compares two kinds, W309 where it can only
mean logits, W314 where only one of its files says what logits are, W316 where a confidence is the softmax of what has
been through one already, W319 where a distance holds for any two networks whose outputs lie between the same numbers.

What the scores of a file that ends in Softmax are, and why a distance may tell by itself, stands in
`eqspec.tasks.score_meaning`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eqspec.compile.network_instance import Instance
from eqspec.compile.network_pairs import Networks, Pair
from eqspec.errors import Diagnostic, Label
from eqspec.networks import Network
from eqspec.property import Confidence, Containment, Decision, Property
from eqspec.spec import ast
from eqspec.spec.checks import CheckFacts
from eqspec.spec.claims import SENTENCES
from eqspec.spec.findings import error, warning
from eqspec.tasks.phrasing import number_in_words
from eqspec.tasks.score_meaning import (
    alone_with_logits,
    beyond_probabilities,
    ends_in_sigmoid,
    left_out,
    logarithm_beside,
    range_of_outputs,
    says_nothing,
)


def scores_finding(facts: CheckFacts, pair: Pair, claim: Property, networks: Networks) -> Diagnostic | None:
    """The finding about a claim at one point; for a search, about the claim at the easy end of its range."""
    if isinstance(claim, Confidence):
        return _softmax_twice(facts, networks.as_given(pair.reference).inner_softmax)
    if isinstance(claim, Decision | Containment):
        return None
    subjects = list(dict.fromkeys(pair))
    unsaid = [one for one in subjects if left_out(networks.as_given(one)) is not None and one.gives is None]
    if not unsaid:
        return (
            _logarithms(facts, subjects, networks)
            or _holds_for_any_two(facts, pair, claim, networks)
            or _one_sided(facts, subjects, networks)
        )
    tails = dict.fromkeys(left_out(networks.as_given(one)) for one in unsaid)
    names = " and ".join(f"'{one.name}'" for one in unsaid)
    who = f"{names} end{'s' if len(unsaid) == 1 else ''} in {' and '.join(map(str, tails))}"
    files = list(dict.fromkeys(one.file for one in unsaid))
    labels = [Label(one.declaration.path.span, "this file") for one in unsaid[: len(files)]]
    hint = f"write 'gives logits' behind {'it' if len(files) == 1 else 'both'}, as in '{_declared(unsaid[0])}'"
    span = facts.claim.eps.span if isinstance(facts.claim, ast.StaysWithin) else facts.claim.span
    if beyond_probabilities(claim, [networks.as_given(one) for one in subjects]):
        message = f"{who}, and this is more than probabilities can differ by: it is taken for a distance of logits"
        return warning("W309", message, span, *labels, help=hint)
    message = f"{who}, but '{SENTENCES[type(facts.claim)]}' compares the logits in front of it, not probabilities"
    return error(
        "E208", message, span, *labels, help=f"if logits are meant, {hint}; 'gives probabilities' if these are"
    )


def _softmax_twice(facts: CheckFacts, inner: str | None) -> Diagnostic | None:
    """W316 where the reference has a Softmax that is not left out, so that a confidence is another than it seems."""
    if inner is None:
        return None
    message = f"a confidence is the softmax of what the reference gives, and that has been through one: {inner}"
    hint = "export the reference without what stands behind its Softmax, or claim 'when margin >= ...'"
    return warning("W316", message, facts.claim.span, help=hint)


def _holds_for_any_two(facts: CheckFacts, pair: Pair, claim: Property, networks: Networks) -> Diagnostic | None:
    """W319 for a distance as large as any between such outputs. The easy end of a search may be one."""
    given = [_with_its_softmax(one, networks.as_given(one)) for one in pair]
    if facts.search is not None or not says_nothing(claim, given) or (ends := range_of_outputs(given)) is None:
        return None
    low, high = map(number_in_words, ends)
    whose = " and ".join(dict.fromkeys(f"'{one.name}'" for one in pair))
    message = f"outputs of {whose} always lie between {low} and {high}: any two such networks stay within this distance"
    hint = "claim less"
    if all(map(ends_in_sigmoid, given)) and given[0].output_size == 1:
        hint += "; where such an output decides at 1/2, 0.4 keeps every decision of which the reference is 90 % sure"
    span = facts.claim.eps.span if isinstance(facts.claim, ast.StaysWithin) else facts.claim.span
    return warning("W319", message, span, help=hint)


def _with_its_softmax(instance: Instance, network: Network) -> Network:
    """The network, said to end in the Softmax that was left out of it where its probabilities are compared."""
    back = instance.gives == "probabilities" and network.stripped == "softmax"
    return replace(network, softened="softmax") if back else network


def _one_sided(facts: CheckFacts, subjects: Sequence[Instance], networks: Networks) -> Diagnostic | None:
    """W314 where one file ends in Softmax and is read without it, and the other has nothing to leave out."""
    numbers = alone_with_logits([networks.as_given(one) for one in subjects])
    bare = [subjects[number] for number in numbers if subjects[number].gives is None]
    soft = next((one for one in subjects if one not in bare and one.gives == "logits"), None)
    if not bare or soft is None:
        return None
    one = bare[0]
    message = f"logits of '{soft.name}' are compared with what '{one.name}' gives, which ends in no Softmax"
    hint = f"if those are logits, too, say so: '{_declared(one)}'; if not, export it without what stands behind them"
    return warning("W314", message, facts.claim.span, Label(one.declaration.path.span, "this file"), help=hint)


def _logarithms(facts: CheckFacts, subjects: Sequence[Instance], networks: Networks) -> Diagnostic | None:
    """E208 where what one file gives are logarithms of probabilities, and what the other one gives probabilities."""
    given = [one for one in subjects if one.gives == "probabilities"]
    found = logarithm_beside([networks.as_given(one) for one in given])
    if found is None:
        return None
    one, other = (given[number] for number in found)
    message = f"'{one.name}' gives logarithms of probabilities (LogSoftmax), '{other.name}' gives probabilities"
    labels = [Label(instance.declaration.path.span, "this file") for instance in (one, other)]
    hint = "export both with the same end"
    if left_out(networks.as_given(other)) is not None:
        hint = f"compare the logits in front of both: write 'gives logits' behind each, as in '{_declared(one)}'"
    return error("E208", message, facts.claim.candidate.span, *labels, help=hint)


def _declared(instance: Instance) -> str:
    declaration = instance.declaration
    written = " ".join(declaration.path.span.text.split())
    return f"network {declaration.name} = {written} in {declaration.space} gives logits"
