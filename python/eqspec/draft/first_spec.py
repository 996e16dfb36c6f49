"""The text that `eqspec init` leaves behind: a spec with one claim, and comments that say where its parts come from."""

from __future__ import annotations

import shlex
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eqspec import compile as compiler
from eqspec.draft import drafted_claim, drafted_numbers, region
from eqspec.draft.comment_lines import comment
from eqspec.draft.completed import Completed
from eqspec.draft.named_pair import Pair
from eqspec.draft.neighbourhood import NAME, neighbourhood
from eqspec.draft.observed_pair import Observed, observe, row_places
from eqspec.draft.probe import Probed, probe
from eqspec.draft.space import DraftedSpace, draft_space, networks
from eqspec.draft.two_classes import TwoClasses
from eqspec.errors import InputError, SpecError
from eqspec.lazy_dataclass import dataclass
from eqspec.spec import ast, printer
from eqspec.spec.formatting import formatted
from eqspec.spec.numbers import shown
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict

SIZES = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.3", "0.5", "0.75", "1", "1.5", "2", "3")
"""The regions that are tried."""
_BUDGET = ast.Budget((ast.Setting(ast.Name("timeout"), ast.Quantity("60s")),))
_ANY = ast.Box((ast.Ranged(None, ast.Range(ast.Number("0"), ast.Number("1"))),))
_HEAD = (
    "A first spec, drafted by 'eqspec init'. Writing it has proved nothing: read it, correct it, and keep it beside "
    "the models."
)


def first_spec(pair: Pair, known: Completed, path: Path, seconds: float) -> str:
    """The text of a spec that will lie at `path`. At most so many seconds go into trying its claim.

    InputError where what is known of the inputs does not fit the networks.
    """
    folder, inputs = path.parent, known.inputs
    sigma = inputs.scaler is None and inputs.scaling is None and inputs.data is not None
    space = draft_space(pair, inputs, folder, sigma=sigma)
    parts = _Parts(pair, space, folder)
    any_claim = drafted_claim.stays_within(pair, ast.Number("1"))
    (trial,) = parts.tasks(any_claim, region.region(NAME, _ANY), None)
    near = neighbourhood(space, inputs.data, _ranges(trial, space), folder)
    if inputs.data is None:
        (trial,) = parts.tasks(any_claim, near.node, "1")
    as_scores = None if known.between is None else known.between.logits
    seen = observe(trial, None if inputs.data is None else inputs.data.values, as_scores)
    chosen, notes, telling = _claim(pair, seen, known)
    if inputs.data is not None and telling is not None:
        places = row_places(len(inputs.data.values), trial)[telling].tolist()
        near = neighbourhood(space, inputs.data, _ranges(trial, space), folder, places)
    found = Probed()
    if seconds > 0:
        found = probe(lambda size: parts.tasks(chosen, near.node, size), SIZES, seconds)
    size = ast.Number(found.proved or found.failed or "0.1")
    kind = "decides" if known.decides or known.between is not None else "close"
    check = ast.Check(ast.Name(kind), (chosen, region.use(NAME, size), _BUDGET))
    name = shlex.quote(path.name)
    lines = [
        "eqspec 1",
        *comment(_HEAD),
        "#",
        f"#   eqspec check {name}     prove every claim, or show an input where it does not hold",
        f"#   eqspec explain {name}   say what is claimed, and what is not",
        "",
        *comment("What goes in and comes out:"),
        *(line for note in known.notes for line in comment(f"- {note}")),
        printer.text(space.node),
        "",
        *comment(f"{pair.reference_name} is right, {pair.candidate_name} is to behave like it."),
        *map(printer.text, parts.networks(chosen)),
        "",
        *comment(near.words),
        printer.text(near.node),
        "",
        *(line for note in (*notes, _tried(found)) for line in comment(note)),
        printer.text(check),
    ]
    return formatted("\n".join(lines) + "\n", str(path))


@dataclass(frozen=True)
class _Parts:
    """A space with its networks, to which regions and claims are added."""

    pair: Pair
    space: DraftedSpace
    folder: Path

    def networks(self, claimed: ast.Claim) -> tuple[ast.Network, ast.Network]:
        """The networks as a claim needs them: a distance of files that end in Softmax is one of logits, and says so."""
        softened = self.pair.reference.stripped or self.pair.candidate.stripped
        logits = "logits" if isinstance(claimed, ast.StaysWithin) and softened is not None else None
        first, second = networks(self.pair, self.space, self.folder, gives=logits)
        if self.pair.reference.inner_softmax is not None:  # what such a file gives are no logits
            first = replace(first, gives=None)
        if self.pair.candidate.inner_softmax is not None:
            second = replace(second, gives=None)
        return first, second

    def tasks(self, claimed: ast.Claim, where: ast.Region, size: str | None) -> tuple[Task, ...]:
        """The tasks of a claim on a region of some size. InputError where the spec cannot be used."""
        value = None if size is None else ast.Number(size)
        check = ast.Check(ast.Name("trial"), (claimed, region.use(where.name.text, value)))
        file = ast.File(ast.Number("1"), (self.space.node, *self.networks(claimed), where, check))
        try:
            return compiler.loads(printer.text(file), directory=self.folder).tasks
        except SpecError as problem:
            first = problem.diagnostics[0]
            raise InputError(first.message + (f"; {first.help}" if first.help else "")) from None


def _ranges(trial: Task, space: DraftedSpace) -> list[tuple[Fraction, Fraction]]:
    """Low and high of each feature, where a minmax scaler says so."""
    if space.normaliser != "minmax":
        return []
    return [(low, low + scale) for low, scale in zip(trial.space.centre, trial.space.scale, strict=True)]


def _claim(pair: Pair, seen: Observed, known: Completed) -> tuple[ast.Claim, list[str], NDArray[np.bool_] | None]:
    """The claim that fits what was seen, why, and at which of the points it says something; None: at all."""
    points = "rows of the table" if known.inputs.data is not None else "points drawn at random"
    if known.between is not None:
        return *_same_side(pair, seen, known, known.between), None
    if not known.decides:
        far = f"On the {points} the two differ by at most {float(seen.distance.max()):.3g}; twice that is claimed."
        eps = drafted_numbers.exactly(Fraction(repr(seen.tolerance())))
        return drafted_claim.stays_within(pair, eps), [f"{known.why} {far}"], None
    threshold = seen.threshold()
    agreed = f"On the {points} both decide the same in {_percent(seen.agreement)}"
    if seen.surest_difference > 0:
        agreed += f", and where they do not, {pair.reference_name} is at most {_percent(seen.surest_difference)} sure"
    share = f"{pair.reference_name} is {_percent(threshold)} sure or more in {_percent(seen.share_above(threshold))}."
    if seen.share_above(threshold) == 0 and (margin := seen.least_margin()) is not None:
        led = _percent(float((seen.margin >= margin).mean()))
        share += f" So the claim is about how far its best score leads, which is {margin:g} or more in {led}."
        guard = drafted_numbers.exactly(Fraction(repr(margin)))
        why = [f"{known.why} {agreed}. {share}"]
        return drafted_claim.keeps_top1(pair, "margin", guard), why, seen.margin >= margin
    if seen.share_above(threshold) == 0:
        share += " So the claim says nothing of them: ask for less confidence, or for a margin ('when margin >= 0.5')."
    guard = drafted_numbers.exactly(Fraction(repr(threshold)))
    why = [f"{known.why} {agreed}. {share}"]
    return drafted_claim.keeps_top1(pair, "confidence", guard), why, seen.confidence >= threshold


def _same_side(pair: Pair, seen: Observed, known: Completed, between: TwoClasses) -> tuple[ast.Claim, list[str]]:
    """The decision of a single output between two classes, claimed as the distance that keeps it."""
    far = float(seen.distance.max())
    eps = between.claimed(far)
    agreed = f"On the rows of the table both decide the same in {_percent(seen.agreement)}"
    if seen.surest_difference > 0:
        agreed += f", and where they do not, {pair.reference_name} is at most {_percent(seen.surest_difference)} sure"
    sure = between.confidence(float(eps))
    level = f"{_percent(sure)} sure" if sure < 0.9995 else "over 99.9 % sure"
    keeps = (
        "No sentence is about the decision of a single output, but a distance is: "
        f"{pair.candidate_name} then decides the same wherever the output of {pair.reference_name} "
        f"is farther than {shown(eps)} from {between.border}, which is {level}, as in "
        f"{_percent(seen.share_above(sure))} of the rows."
    )
    if far > eps:
        keeps += f" Some rows differ by more, so {shown(eps)} is claimed of a region that is small enough."
    claim = drafted_claim.stays_within(pair, drafted_numbers.exactly(eps))
    return claim, [f"{known.why} {agreed}; their outputs differ by at most {far:.3g}. {keeps}"]


def _tried(found: Probed) -> str:
    """What trying has shown."""
    proved, failed = (f"s = {size}" if size else "" for size in (found.proved, found.failed))
    refuted = found.verdict is Verdict.DIFFERENT
    if found.proved is not None:
        note = f"When this was written it was proved for {proved} in {max(found.seconds, 0.01):.2f} s"
        if refuted:
            return f"{note}; for {failed} there is an input where it does not hold."
        return f"{note}; {failed} took longer than was tried." if failed else f"{note}."
    if found.empty:
        return "Careful: on smaller regions no input meets the condition, so the claim would hold for nothing."
    if refuted:
        return f"Already for {failed} there is an input where it does not hold: claim less, or find out why."
    return (
        f"For {failed} it was left undecided when this was written." if failed else "Not tried when this was written."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
