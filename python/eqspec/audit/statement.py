"""What a certificate shows, in sentences made from what was checked and from nothing else.

Inputs and outputs are called by their numbers, from 0, and the networks reference and candidate. Names are the
certificate's own words: they are listed apart, and stand in no sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import inf
from typing import Any

from .claimed import claim_in_words, sum_in_words
from .emptiness import condition_met, met_on_grids, region_inhabited
from .opening import Question, label, number_in_words
from .proof import Proof
from .reading import File

MOST_LINES = 12
"""Runs of inputs, or constraints, that are listed; of the others their extent is told."""


@dataclass(frozen=True)
class Audit:
    """What a certificate shows, all of it derived from what was checked.

    `claim` is in words and `question` exact; `said` are headings and sentences about all that was checked. `vacuous`
    says whether the claim holds for no input at all, None if that was not found out. `labels` are the certificate's own
    words.

    Of a `part` of a proof (its first leaf, the one after its last, and how many there are in all) the verdict is
    "part": the claim holds if the same is said of every other leaf.
    """

    verdict: str
    claim: str
    leaves: int
    rounds: int
    vacuous: bool | None
    question: Question
    said: list[tuple[str, str]]
    labels: dict[str, Any]
    part: tuple[int, int, int] | None = None


def audited(
    head: dict[str, Any],
    asked: Question,
    files: Sequence[File],
    proof: Proof | None = None,
    leaves: int = 0,
    rounds: int = 0,
    witness: Sequence[str] = (),
    part: tuple[int, int] | None = None,
    until: float = inf,
) -> Audit:
    """What a certificate that holds shows: the claim, by a proof or by exact integers, or that it breaks there.

    With a `part`, what was checked of a proof of so many leaves. Of exact integers it is looked `until` then whether
    the claim is about anything.
    """
    claim = claim_in_words(asked)
    said = [("does not hold" if witness else "claim", claim)]
    said += [("region", text) for text in _region(asked)]
    said += [("raw units", text) for text in _raw(asked)]
    if witness:
        point = [Fraction(x) for x in witness]
        said += [("input", text) for text in _runs([(x, x) for x in point])]
    said.append(("arithmetic", _ARITHMETIC[asked["arithmetic"]]))
    for role, file in zip(("reference", "candidate"), files, strict=True):
        given = "raw" if asked[role]["takes"] == "raw" else "normalised"
        softmax = "; it ends in a Softmax, and its outputs here are what goes into that" if file.softmax else ""
        output = "" if file.named is None else f", of its outputs {label(file.named)}"
        sizes = "".join(f", its input {label(name)} as {list(shape)}" for name, shape in file.shapes)
        said.append((role, f"{label(file.path, 500)}{output}{sizes}, given {given} inputs{softmax}"))
        said += [(role, text) for text in (*_ends(asked[role]), *file.said)]
        said.append(("sha256", asked[role]["sha256"]))
    if asked["reference"]["sha256"] == asked["candidate"]["sha256"]:
        said.append(("note", "the reference and the candidate are the same file"))
    if not (witness or proof):
        said.append(("shown by", "exact integers, without a search: grids and intervals of what both networks compute"))
    vacuous, note = (
        (False, "") if witness else _emptiness(asked, proof) if proof else _by_integers(asked, files[0], until)
    )
    said += [("note", note)] if note else []
    labels = _labels(head["task"])
    if part is None:
        return Audit(head["verdict"], claim, leaves, rounds, vacuous, asked, said, labels)
    first, last = (min(max(end, 0), leaves) for end in part)
    return Audit("part", claim, max(last - first, 0), rounds, vacuous, asked, said, labels, (first, last, leaves))


_ARITHMETIC = {
    "real": "real numbers: the networks as exact functions of their stored weights, without rounding",
    "float32": "float32: whatever order of summation and fused operations a runtime uses, if functions that are not "
    "piecewise linear are within 2^-20 (1 + |f(x)|) of f(x), and x times a function of x within 2^-18 |x| of it",
}


def _region(asked: Question) -> Iterator[str]:
    """The box, in the units of the proof, and how many constraints cut it."""
    region = asked["region"]
    ends = [(Fraction(a), Fraction(b)) for a, b in zip(region["lo_exact"], region["hi_exact"], strict=True)]
    fixed, empty = sum(a == b for a, b in ends), sum(a > b for a, b in ends)
    what = f"{len(ends)} normalised inputs"
    if empty:
        what += f"; the box is EMPTY, since {empty} of them have a lower end above the upper one"
    elif fixed == len(ends):
        what += ", each fixed: the region is a single point"
    elif fixed:
        what += f", {fixed} of them fixed"
    yield what
    yield from _runs(ends)
    grids = [one and (one["origin"], one["step"]) for one in region.get("grid", ())]
    if any(grids):
        yield "and of it only the points of a grid"
        at = 0
        for one, several in groupby(grids):
            first, at = at, at + len(list(several))
            names = f"input {first}" if at == first + 1 else f"inputs {first} to {at - 1}"
            yield f"{names}: " + (f"{one[0]} + k * {one[1]}, k a whole number" if one else "every number")
    if region["A"]:
        strict = sum(region["strict"])
        yield f"and {len(region['A'])} linear constraints, {strict} of them strict"
        rows = zip(region["A"], region["b"], region["strict"], strict=True)
        for number, (row, bound, open_) in enumerate(rows):
            if number == MOST_LINES:
                yield f"and {len(region['A']) - MOST_LINES} constraints more"
                break
            left = sum_in_words([(Fraction(a), f"input {i}") for i, a in enumerate(row)])
            yield f"{left} {'<' if open_ else '<='} {number_in_words(Fraction(bound))}"


def _raw(asked: Question) -> Iterator[str]:
    """The box in raw units, as the normalisation of the certificate has it, and whether the networks read that."""
    space, region = asked["space"], asked["region"]
    means, stds = ([Fraction(x) for x in space[name]] for name in ("mean_exact", "std_exact"))
    if not any(means) and all(std == 1 for std in stds):
        yield "the same: the inputs are not normalised"
        return
    takes = [role for role in ("reference", "candidate") if asked[role]["takes"] == "raw"]
    if takes:
        which = " and the ".join(takes) + (" takes" if len(takes) == 1 else " take")
        yield f"by a normalisation that is part of what was checked, since the {which} raw inputs"
    else:
        yield "by the normalisation that the certificate states; no network takes raw inputs, so no check depends on it"
    low, high = ([Fraction(x) for x in region[name]] for name in ("lo_exact", "hi_exact"))
    yield from _runs([(m + s * a, m + s * b) for m, s, a, b in zip(means, stds, low, high, strict=True)])


def _ends(network: dict[str, Any]) -> Iterator[str]:
    """What integers at the ends of a file stand for."""
    said = network.get("dequantised", {})
    ends = [(f"its input {label(name)}", one) for name, one in said.get("inputs", {}).items()]
    for what, one in [*ends, *([("its output", said["output"])] if "output" in said else [])]:
        number = f"{number_in_words(Fraction(one['scale']))} (k - {one['zero']})"
        how = "rounded to the nearest, ties to even, and cut off; " if what != "its output" else ""
        yield f"integers k of {what} stand for {number}: {how}the claim is about these real numbers"


def _runs(ends: Sequence[tuple[Fraction, Fraction]]) -> Iterator[str]:
    """Inputs with the same ends beside each other, in one line each; of too many lines the rest is summed up."""
    at = 0
    lines: list[tuple[int, str]] = []
    for (low, high), several in groupby(ends):
        count = len(list(several))
        names = f"input {at}" if count == 1 else f"inputs {at} to {at + count - 1}"
        where = number_in_words(low) if low == high else f"{number_in_words(low)} .. {number_in_words(high)}"
        lines.append((at, f"{names}: {where}"))
        at += count
    if len(lines) <= MOST_LINES:
        yield from (text for _, text in lines)
        return
    yield from (text for _, text in lines[: MOST_LINES - 1])
    rest = ends[lines[MOST_LINES - 1][0] :]
    least, most = number_in_words(min(a for a, _ in rest)), number_in_words(max(b for _, b in rest))
    widths = [b - a for a, b in rest]
    yield (
        f"{len(rest)} inputs more, between {least} and {most}, {number_in_words(min(widths))} to"
        f" {number_in_words(max(widths))} wide, {sum(not w for w in widths)} of them fixed"
    )


def _emptiness(asked: Question, proof: Proof) -> tuple[bool | None, str]:
    """Whether a proof is about nothing, and a sentence if it is or may be."""
    inhabited = region_inhabited(proof)
    if inhabited is False:
        return True, "VACUOUS: no input lies in the region, so that the claim holds for nothing"
    if asked["property"]["kind"] == "top1" and not proof.obligations:
        return True, "VACUOUS: there is one output only, which every network puts first"
    met = condition_met(proof) if asked["property"].get("guard") else True
    if met is False:
        return True, "VACUOUS: no input of the region meets the condition, so that the claim holds for nothing"
    if inhabited and met:
        return False, ""
    what = "meets the condition" if inhabited else "meets all constraints"
    return None, f"no input that {what} was found; if there is none, the claim holds for nothing"


def _by_integers(asked: Question, reference: File, until: float) -> tuple[bool | None, str]:
    """The same of a decision by exact integers, for which the box and its grid have points."""
    what = "meets all constraints" if asked["region"]["A"] else ""
    if asked["property"].get("guard"):
        what += " and the condition" if what else "meets the condition"
    met = met_on_grids(asked, reference, until) if what else True
    if met is False:
        return True, f"VACUOUS: no input of the region {what}, so that the claim holds for nothing"
    return (
        (False, "") if met else (None, f"no input that {what} was found; if there is none, the claim holds for nothing")
    )


def _labels(task: dict[str, Any]) -> dict[str, Any]:
    """The certificate's own words, which nothing was checked against; what is no text is left out."""
    space, parameters = task["space"], task.get("parameters")
    texts = {"task": task.get("id")} | {role: task[role].get("name") for role in ("reference", "candidate")}
    found: dict[str, Any] = {name: text[:1000] for name, text in texts.items() if isinstance(text, str)}
    for name in ("features", "outputs"):
        found[name] = [text[:1000] if isinstance(text, str) else "" for text in space[name]]
    given = parameters.items() if isinstance(parameters, dict) else []
    return found | {"parameters": {n[:1000]: v for n, v in given if isinstance(v, str) and len(v) <= 1000}}
