"""The question as the kernel reads it: region and claim of a task in exact rationals.

Trusted: that the text says what the task says. The kernel rounds to its grain by itself, and proves that it does so to
the safe side. Strict constraints are taken as ones that may hold with equality, which is a larger region.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import exp, floor, lcm, log
from typing import Any

from eqspec.audit.rounding import Refused

Group = tuple[tuple[int, int], ...]
"""Classes with weights."""
MOST_SUMMED = 10
"""The most outputs of a distance in l1, each of which doubles the rows."""
MOST_CLASSES = 64
"""The most classes of which one is put first: rows grow with their square, obligations with the third power."""
SQUARINGS = 12
"""A margin t follows from a confidence where (1 - t / n)^n is large enough, n = 2 to this power."""
MOST_GROUPED = 6
"""Classes of which all groups are named; of more, those that leave one class out."""


def question(task: dict[str, Any], grain: int, weighted: Sequence[Group] = ()) -> str:
    """The text; of a confidence, `weighted` are groups that a proof uses besides the usual ones."""
    region, lines = task["region"], [f"question {grain}", "ranges"]
    ends = zip(region["lo_exact"], region["hi_exact"], strict=True)
    lines += [f"{_rational(Fraction(low))} {_rational(Fraction(high))}" for low, high in ends]
    lines += ["inequalities", str(len(region["A"]))]
    for row, bound in zip(region["A"], region["b"], strict=True):
        factors = [Fraction(a) for a in row]
        one = lcm(*(a.denominator for a in factors))
        lines.append(f"{_row([a * one for a in factors])} {_rational(Fraction(bound) * one)}")
    return "\n".join([*lines, f"claim {claim(task, weighted)}", "end", ""])


def claim(task: dict[str, Any], weighted: Sequence[Group] = ()) -> str:
    """What is claimed, or why the kernel cannot check it, by name."""
    said, outputs = task["property"], len(task["space"]["outputs"])
    if task["arithmetic"] not in ("real", "float32"):  # the pair has the errors of float32
        raise Refused("the kernel checks claims over the real numbers and about float32")
    if said["kind"] == "epsilon":
        chosen = list(range(outputs)) if said["outputs"] is None else said["outputs"]
        if said["norm"] == "l2":
            raise Refused("the kernel checks distances in linf and l1; this one is in l2")
        if said["norm"] == "l1" and len(chosen) > MOST_SUMMED:
            raise Refused(
                f"the kernel checks distances in l1 of up to {MOST_SUMMED} outputs; this one has {len(chosen)}"
            )
        name = "distance" if said["norm"] == "linf" else "manhattan"
        return f"{name} {len(chosen)} {' '.join(map(str, chosen))} {_rational(Fraction(said['eps']))}"
    if said["kind"] == "linear":
        reference, candidate = ([Fraction(c) for c in said[role]] for role in ("reference", "candidate"))
        one, bound = lcm(*(c.denominator for c in reference + candidate)), Fraction(said["bound"])
        rows = " ".join(_row([c * one for c in part]) for part in (reference, candidate))
        return f"inequality {rows} {_rational(bound * one)} {int(said['strict'])}"
    if said["kind"] == "top1":
        if outputs > MOST_CLASSES:
            raise Refused(f"the kernel checks which of up to {MOST_CLASSES} classes is first; here there are {outputs}")
        guard = said["guard"] or {"kind": "margin", "threshold": 0}
        threshold = Fraction(guard["threshold"])
        if guard["kind"] == "margin":
            return f"keeps-first {_rational(max(threshold, Fraction(0)))}"
        named = [_group(g, threshold) for g in dict.fromkeys([*map(_equal, groups(outputs)), *weighted])]
        first = f"{_rational(threshold)} {_rational(margin(threshold))} {SQUARINGS}"
        return " ".join([f"keeps-confident {first} {len(named)}", *named])
    if said["kind"] == "never":
        return f"fits {int(said['overflow'] == 'wraps')}"
    raise Refused(f"the kernel has no rule for a claim of kind {said['kind']}")


def groups(outputs: int) -> list[tuple[int, ...]]:
    """Groups of classes of which more is known together than of each: their softmax adds up to what confidence leaves.

    A class of confidence delta is ahead of s others by log(s delta / (1 - delta)) in the mean. Where the entropy of
    weights of classes bounds the softmax, mixtures of these groups come close to it.
    """
    sizes = range(2, outputs) if outputs <= MOST_GROUPED else [outputs - 1]
    return [group for size in sizes for group in combinations(range(outputs), size)]


def margin(confidence: Fraction, others: Fraction | int = 1) -> Fraction:
    """How far a class with this softmax is ahead of others in the mean: a little less, which the kernel can show."""
    n, odds = 2**SQUARINGS, log(confidence / (1 - confidence)) + log(others)
    return Fraction(floor(n * (1.0 - exp(-odds / n)) * (1.0 - 1e-9) * 2**24 - 1), 2**24)


def _equal(classes: Sequence[int]) -> Group:
    return tuple((j, 1) for j in classes)


def _group(group: Group, confidence: Fraction) -> str:
    """Classes with weights, and with the margin of a class that has this share of the weight."""
    total = sum(weight for _, weight in group)
    parts = (f"{j} {weight} {_rational(margin(confidence, Fraction(total, weight)))}" for j, weight in group)
    return " ".join([str(len(group)), *parts])


def _rational(value: Fraction) -> str:
    return f"{value.numerator} {value.denominator}"


def _row(values: Sequence[Fraction]) -> str:
    return " ".join([str(len(values)), *(str(v.numerator) for v in values)])
