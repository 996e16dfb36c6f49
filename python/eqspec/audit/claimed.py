"""The claim of a question in words: inputs and outputs by their numbers, the networks as reference and candidate."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .opening import Question, number_in_words

MOST_TERMS = 12
"""Outputs, or terms of a sum, that are listed; of the others it is told how many there are."""


def claim_in_words(asked: Question) -> str:
    """What is to hold at every input of the region."""
    said, outputs = asked["property"], len(asked["space"]["outputs"])
    if said["kind"] == "epsilon":
        eps, chosen = number_in_words(Fraction(said["eps"])), said["outputs"]
        which = f"all {outputs} outputs" if chosen is None else f"outputs {', '.join(map(str, sorted(chosen)))} alone"
        if chosen is not None and len(chosen) > MOST_TERMS:
            which = f"{len(chosen)} of {outputs} outputs alone"
        measure = {
            "linf": f"in each of {which} the candidate differs from the reference",
            "l1": f"over {which} together, in l1, the candidate differs from the reference",
            "l2": f"over {which} together, in l2, the candidate differs from the reference",
        }
        return f"{measure[said['norm']]} by at most {eps}"
    if said["kind"] == "linear":
        terms = [
            (Fraction(c), f"{role}[{number}]")
            for role in ("candidate", "reference")
            for number, c in enumerate(said[role])
        ]
        relation = "is below" if said["strict"] else "is at most"
        return f"{sum_in_words(terms)} {relation} {number_in_words(Fraction(said['bound']))}"
    if said["kind"] == "never":
        return f"no quantiser of the candidate {said['overflow']}, of numbers that depend on the input"
    first = "puts first (the lowest score wins)" if said["decide"] == "min" else "puts first (the highest score wins)"
    claim = f"a class that the reference {first}, the candidate puts first too"
    if said["guard"] is None:
        return claim
    least = number_in_words(Fraction(said["guard"]["threshold"]))
    if said["guard"]["kind"] == "margin":
        return f"{claim}, wherever the reference puts it ahead of every other by at least {least}"
    return f"{claim}, wherever the softmax of the reference gives it at least {least}"


def sum_in_words(terms: Sequence[tuple[Fraction, str]]) -> str:
    """A sum of named quantities times numbers."""
    used = [(c, name) for c, name in terms if c]
    text = ""
    for factor, name in used[:MOST_TERMS]:
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        text += sign + ("" if abs(factor) == 1 else f"{number_in_words(abs(factor))} * ") + name
    if len(used) > MOST_TERMS:
        text += f" and {len(used) - MOST_TERMS} more terms, all together,"
    return text or "0"
