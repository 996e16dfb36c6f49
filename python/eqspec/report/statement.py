"""What a task claims, in words and as a formula with its names and numbers, and what a proof of it does not promise.

f is the reference, g the candidate, x a raw input, X the region; `f̂` and `ĝ` are the scores the networks give at x.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Arithmetic
from eqspec.networks.runtime_functions import ASSUMPTION
from eqspec.property import (
    Comparison,
    Confidence,
    Containment,
    Decision,
    Epsilon,
    Linear,
    Margin,
    NeverSaturates,
    NeverWraps,
    Top1,
    exact,
)
from eqspec.replay.replay import raw_point
from eqspec.report.row_counts import table_of
from eqspec.tasks.directed_rounding import log_odds_below
from eqspec.tasks.phrasing import approximately, claim_in_words, inequality, number_in_words
from eqspec.tasks.question import constraints_in_words, points_in_words, short_number
from eqspec.tasks.score_meaning import left_out
from eqspec.tasks.task import Space, Task

NOT_PROMISED = (
    "anything about inputs outside of X",
    "what a runtime's float32 arithmetic rounds: both networks are read as functions of real numbers, their stored "
    "weights taken exactly",
    "anything under another normalisation than the one given here",
    "that either network is right: the claim compares them",
)
_ROUNDED = (
    "arithmetic in fewer than 32 bits, such as TF32, or by other formulas than the file's, such as Strassen's: what is "
    "proved is for float32, in any order of summation, fused or not, at inputs that may be rounded to float32 first; "
    f"or functions that are further off than is assumed: {ASSUMPTION}"
)
_MOST = 24
_SHORT_HASH = 12


def not_promised(arithmetic: Arithmetic) -> tuple[str, ...]:
    """Sentences on what a proof of the task does not cover."""
    return NOT_PROMISED if arithmetic == "real" else (NOT_PROMISED[0], _ROUNDED, *NOT_PROMISED[2:])


@dataclass(frozen=True)
class Statement:
    """One task, explained. Lines are plain text; `region` has one per feature and per constraint."""

    claim: str
    words: str
    formula: str
    symbols: tuple[str, ...]
    region: tuple[str, ...]
    notes: tuple[str, ...]


def statement(task: Task) -> Statement:
    """The statement of a task."""
    return Statement(
        claim=claim_in_words(task),
        words=_words(task),
        formula=_formula(task),
        symbols=_symbols(task),
        region=_region(task),
        notes=_notes(task),
    )


def _words(task: Task) -> str:
    f, g = task.reference_name, task.candidate_name
    best = "smallest" if task.space.decide == "min" else "largest"
    top = f"every class whose score is the {best} of {f} also has the {best} score of {g}"
    match task.property:
        case Epsilon(eps, _, outputs) if exact(eps) == 0:
            which = "all outputs" if outputs is None else _listed([task.space.outputs[i] for i in outputs])
            return f"At every input of the region, {which} of {g} and {f} are the same numbers."
        case Epsilon(eps, norm, outputs):
            which = "the outputs" if outputs is None else _listed([task.space.outputs[i] for i in outputs])
            measure = {
                "linf": "differ by at most {} each",
                "l1": "differ by at most {} in the sum of absolute differences",
                "l2": "have a Euclidean distance of at most {}",
            }[norm]
            return f"At every input of the region, {which} of {g} and {f} {measure.format(number_in_words(eps))}."
        case Top1():
            return f"At every input of the region, {top}."
        case Margin(margin):
            lead = f"leads every other by at least {number_in_words(margin)}"
            return f"At every input of the region where the best class of {f} {lead}, {top}."
        case Confidence(delta):
            scores = "the softmax of minus the scores of " if task.space.decide == "min" else ""
            sure = f"{scores}{f} gives some class {'' if scores else 'a softmax of '}at least {number_in_words(delta)}"
            return f"At every input of the region where {sure}, {top}."
        case Linear() as claim:
            return f"At every input of the region, {inequality(claim, task)}."
        case NeverWraps():
            return (
                f"At every input of the region, every number that {g} computes in a type that wraps lies in its type."
            )
        case NeverSaturates():
            return (
                f"At every input of the region, every number that {g} computes in a type that saturates lies in its "
                "type."
            )


def _formula(task: Task) -> str:
    kept = "(∀j: f̂ₖ(x) ≥ f̂ⱼ(x))"
    keeps = "(∀j: ĝₖ(x) ≥ ĝⱼ(x))"
    match task.property:
        case Epsilon(eps, _, None) if exact(eps) == 0:
            return "∀x ∈ X:  ĝ(x) = f̂(x)"
        case Epsilon(eps, norm, outputs):
            part = "" if outputs is None else "|S"
            index = {"linf": "∞", "l1": "1", "l2": "2"}[norm]
            return f"∀x ∈ X:  ‖ĝ(x) − f̂(x)‖{part}_{index} ≤ {number_in_words(eps)}"
        case Top1():
            return f"∀x ∈ X ∀k:  {kept} ⇒ {keeps}"
        case Margin(margin):
            guard = f"(∀j ≠ k: f̂ₖ(x) − f̂ⱼ(x) ≥ {number_in_words(margin)})"
            return f"∀x ∈ X ∀k:  {guard} ⇒ {keeps}"
        case Confidence(delta):
            guard = f"softmaxₖ(f̂(x)) ≥ {number_in_words(delta)}"
            return f"∀x ∈ X ∀k:  {kept} ∧ {guard} ⇒ {keeps}"
        case Linear() as claim:
            return f"∀x ∈ X:  {inequality(claim, task).replace('<=', '≤')}"
        case NeverWraps() | NeverSaturates():
            return "∀x ∈ X ∀q:  low_q ≤ k_q(x) ≤ high_q"


def _normalisation(space: Space) -> str:
    """N(x). Of a mean and a std, or a low and a high end, a task has what is subtracted and what it is divided by."""
    shifts, scales = set(space.centre), set(space.scale)
    if len(shifts) > 1 or len(scales) > 1:
        return "(x − shift) / scale, feature by feature"
    (shift,), (scale,) = shifts, scales
    moved = f"x {'−' if shift > 0 else '+'} {number_in_words(abs(shift))}" if shift else "x"
    if scale == 1:
        return moved
    return f"{f'({moved})' if shift else moved} / {number_in_words(scale)}"


def _symbols(task: Task) -> tuple[str, ...]:
    lines = []
    subjects = [("g", task.candidate_name, task.candidate, task.candidate_takes_raw)]
    if not isinstance(task.property, Containment):
        subjects.insert(0, ("f", task.reference_name, task.reference, task.reference_takes_raw))
    for letter, name, network, raw in subjects:
        taken = "x" if raw else "N(x)"
        sign = "−" if task.space.decide == "min" and isinstance(task.property, Decision) else ""
        chosen = "" if network.chosen is None else f"output {network.chosen!r}, "
        ends = "" if network.dequantised is None else f"dequantised: {network.dequantised}, "
        sizes = "".join(f"input {name!r} as {list(shape)}, " for name, shape in network.fixed)
        source = f"{network.source}, {chosen}{ends}{sizes}sha256 {network.sha256[:_SHORT_HASH]}…"
        lines.append(f"{letter}̂(x) = {sign}{letter}({taken}), {letter} = {name} ({source})")
    if not all(raw for _, _, _, raw in subjects):
        lines.append(f"N(x) = {_normalisation(task.space)}")
    match task.property:
        case Epsilon(_, _, outputs):
            if outputs is not None:
                lines.append(f"S = {{{', '.join(task.space.outputs[i] for i in outputs)}}}")
        case Top1() | Margin() | Confidence():
            lines.append(f"j, k over the classes {_listed(task.space.outputs)}")
        case Linear():
            pass
        case NeverWraps() | NeverSaturates():
            which = "wraps" if isinstance(task.property, NeverWraps) else "saturates"
            lines.append(f"q over the numbers of {task.candidate_name} whose type {which}, low_q .. high_q its levels")
            lines.append("k_q(x): the level of the number at x, rounded, before it is brought into its type")
        case never:
            assert_never(never)
    return tuple(lines)


def _region(task: Task) -> tuple[str, ...]:
    """X in raw units: bounds feature by feature, then the constraints."""
    low, high = raw_point(task, task.lower_exact), raw_point(task, task.upper_exact)
    names = list(zip(task.space.features, task.space.units, strict=True))
    width = max(len(name) for name, _ in names)
    lines = []
    grids = task.lattices or (None,) * len(names)
    for i, ((name, unit), a, b) in enumerate(list(zip(names, low, high, strict=True))[:_MOST]):
        bound = f"= {short_number(a)}" if a == b else f"∈ [{short_number(a)}, {short_number(b)}]"
        lattice = grids[i]
        step = "" if lattice is None or a == b else f" in steps of {short_number(task.space.scale[i] * lattice.step)}"
        lines.append(f"{name.ljust(width)} {bound}{step}{f' {unit}' if unit else ''}")
    if len(names) > _MOST:
        lines.append(f"... and {len(names) - _MOST} more")
    lines += constraints_in_words(task)
    if points := points_in_words(task):
        lines.append(points)
    return tuple(lines)


def _notes(task: Task) -> tuple[str, ...]:
    f, g = task.reference_name, task.candidate_name
    notes = []
    if task.row_source is not None:
        notes.append(f"X lies around a row of {table_of(task.row_source)}; each of the rows is a task of its own")
    match task.property:
        case Epsilon(eps) if exact(eps) == 0:
            notes.append(f"{f} and {g} may be exchanged; a counterexample is any input where some output differs")
        case Epsilon():
            notes.append("the bound itself is allowed; a counterexample exceeds it")
            notes.append(f"{f} and {g} may be exchanged")
        case Linear(strict=strict):
            notes.append("the bound itself is " + ("not allowed" if strict else "allowed; a counterexample exceeds it"))
        case Top1() | Margin() | Confidence():
            notes.append(f"a tie in {g} alone is allowed; a tie in {f} that {g} breaks is a violation")
            notes.append(f"{f} and {g} may not be exchanged, and this is not 'the same argmax': see the tie")
        case NeverWraps():
            notes.append("a sum that wraps on its way and comes back has not left its type: only what is stored counts")
        case NeverSaturates():
            notes.append("cutting off at 0, as a ReLU in a type without sign does, is saturating too")
        case never:
            assert_never(never)
    if isinstance(task.property, Confidence):
        notes += _confidence_notes(task, exact(task.property.delta))
    softened = [name for name, n in ((f, task.reference), (g, task.candidate)) if left_out(n) is not None]
    if softened and isinstance(task.property, Comparison):
        notes.append(f"scores are logits, in front of the Softmax of {' and '.join(softened)}, not probabilities")
    if softened and isinstance(task.property, Margin):
        notes.append(
            f"the margin is one of logits, in front of the Softmax of {' and '.join(softened)}; a margin of "
            "probabilities of the same size implies it, so a proof covers that, too"
        )
    if softened and task.arithmetic == "float32":
        notes.append(
            "what decides are the scores in front of the Softmax; its own rounding in float32 may make a tie of "
            "probabilities that are nearly equal, as it does in any runtime"
        )
    for name, network in ((f, task.reference), (g, task.candidate)):
        notes += [said for note in network.notes if (said := f"{name}: {note}") not in notes]
    if task.lower_exact != tuple(map(Fraction, task.lower.tolist())) or task.upper_exact != tuple(
        map(Fraction, task.upper.tolist())
    ):
        notes.append("proofs cover X rounded outward to floats; a counterexample lies in X itself")
    return tuple(notes)


def _confidence_notes(task: Task, delta: Fraction) -> list[str]:
    classes = task.reference.output_size
    lead = f"{log_odds_below(delta):.6g}"
    notes = [
        f"confidence is that of {task.reference_name}; softmax is exp(f̂ₖ) / Σⱼ exp(f̂ⱼ), evaluated exactly at a witness"
    ]
    if classes == 2:
        notes.append(f"for 2 classes the guard is exactly a lead of ln(δ/(1−δ)) = {lead}")
    else:
        least = delta / (delta * (2 - classes) + classes - 1)
        notes.append(
            f"every input the guard admits has f̂ₖ − f̂ⱼ ≥ ln(δ/(1−δ)) = {lead} for all j ≠ k; where a proof uses only "
            f"that, it covers confidences down to {approximately(least):.4g}, which is more than was asked"
        )
    return notes


def _listed(names: Sequence[str]) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
