"""Results as a table for people, the inputs where a claim breaks, and one line that sums up.

Everything is a rich renderable, so it fits the terminal and loses its colours where there are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eqspec.lazy_dataclass import dataclass
from eqspec.report.inputs import inputs, nearest_row
from eqspec.report.numbers import count, duration, exact_value, plural, share, value
from eqspec.report.trimming import Trimmed
from eqspec.tasks.bracket import Bracket
from eqspec.tasks.phrasing import number_in_words
from eqspec.tasks.result import Nearly, Result
from eqspec.tasks.score_meaning import of_networks
from eqspec.tasks.search_statistics import Reused
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness

STYLES = {Verdict.EQUIVALENT: "green", Verdict.DIFFERENT: "red", Verdict.UNKNOWN: "yellow"}
_OUT_OF_TIME = " (time ran out)"
_MOST_WITNESSES = 20
_VERDICT = len(Verdict.EQUIVALENT.value)
_GAP = 2
_SAID = 24
"""Columns of the terminal that suffice for the remarks on a task, which wrap into further lines."""
_MOST_NUMBERS = 32
"""The most numbers of one output that are printed; a saved witness has them all."""
_MOST_FEATURES = 12
"""The same for an input: those that moved furthest."""


def results_table(results: Sequence[Result]) -> RenderableType:
    """One row per task: verdict, time, boxes, and what there is to say."""
    return _Results(results)


@dataclass(frozen=True)
class _Results:
    """Rows in which an id stands whole: where it leaves too little of a line to the rest, on a line of its own."""

    results: Sequence[Result]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        rows = [(Text(r.id), *self._row(r)) for r in self.results]
        names = [row[0].cell_len for row in rows]
        time, boxes = (max((len(row[i]) for row in rows), default=0) for i in (2, 3))
        said = max((row[4].cell_len for row in rows), default=0)
        beside = _VERDICT + max(time, len("time")) + max(boxes, len("boxes")) + min(said, _SAID) + 4 * _GAP
        if max(names, default=0) + beside <= options.max_width:
            table = self._table()
            for row in rows:
                table.add_row(*row)
            yield Trimmed(table)
            return
        for name, verdict, *numbers, remarks in rows:
            yield name
            table = self._table(show_header=False)
            verdict.pad_right(_VERDICT - verdict.cell_len)
            table.add_row("", verdict, numbers[0].rjust(time), numbers[1].rjust(boxes), remarks)
            yield Trimmed(table)

    def _row(self, result: Result) -> tuple[Text, str, str, Text]:
        verdict = Text(result.verdict.value, STYLES[result.verdict])
        return verdict, duration(result.seconds), count(result.boxes), remark(result)

    def _table(self, *, show_header: bool = True) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0), show_header=show_header)
        names = ("task", "verdict", "time", "boxes") if show_header else ("",) * 4
        for name, justify in zip(names, ("left", "left", "right", "right"), strict=True):
            table.add_column(name, no_wrap=True, justify="right" if justify == "right" else "left")
        table.add_column("", overflow="fold")
        return table


def indented(lines: Sequence[tuple[int, str]]) -> RenderableType:
    """Lines of text, each with so many blanks in front of it, also where it is wrapped."""
    return Trimmed(Group(*(Padding(Text(line), (0, 0, 0, blanks)) for blanks, line in lines)))


def remark(result: Result) -> Text:
    """The remark on a result: why it is unknown, whether it was expected, and what a search found."""
    parts: list[Text] = []
    said = "" if result.find is None else bracket_in_words(result.find)
    if result.reason not in (None, Reason.TIMEOUT):
        said = said.removesuffix(_OUT_OF_TIME)
    if said:
        parts.append(Text(said))
    if result.reason is not None and not said.endswith(_OUT_OF_TIME):
        parts.append(Text(_reason_in_words(result), "yellow"))
        if result.nearly is not None:
            parts.append(Text(f"because of rounding alone: {nearly_in_words(result.nearly)} is proved", "yellow"))
    if result.vacuous:
        empty = "vacuous: nothing in the region meets the condition"
        parts.append(Text(empty, "" if result.expected == "vacuous" else "red"))
    if result.cached or result.resumed:
        parts.append(Text("kept from before" if result.cached else "resumed", "dim"))
    elif result.reused is not None and result.reused.taken_up:
        parts.append(Text(reused_in_words(result.reused), "dim"))
    if result.as_expected is True and result.expected is not None:
        parts.append(Text("as expected", "green"))
    elif result.expected is not None:
        parts.append(Text(f"expected {result.expected}", "yellow" if result.as_expected is None else "red"))
    return Text(", ").join(parts)


def reused_in_words(reused: Reused) -> str:
    """How much of an earlier proof a search has used."""
    return f"from an earlier proof, {reused.taken_up / max(1, reused.steps):.0%} of its steps taken up"


def _reason_in_words(result: Result) -> str:
    match result.reason:
        case Reason.ERROR:
            return f"failed: {result.message}"
        case Reason.SPURIOUS:
            words = "only spurious points left"
        case Reason.INCOMPLETE:
            words = "boxes too small to split"
        case Reason.ROUNDING:
            words = "allows less than rounding may change"
        case Reason.OFF_GRID:
            words = "breaks only beside the grid"
        case Reason.UNDECIDED:
            words = "not settled by exact integers"
        case Reason.SIZE:
            words = "too large for bounds, attacked alone"
        case Reason.FLOAT_ONLY:
            words = "breaks in floating point only"
        case Reason.SOLVER:
            words = "equivalent if HiGHS is right"
        case Reason.BOXES:
            words = "limit on boxes reached"
        case _:
            words = str(result.reason)
    if result.message is not None and result.reason not in (Reason.ERROR, Reason.OFF_GRID):
        words = f"{words} ({result.message})"
    return words if result.find is not None else f"{words}, {share(result.certified_fraction)} proved"


def nearly_in_words(found: Nearly) -> str:
    """margin >= 3e-06, eps = 0.0500001: the number that a claim has instead."""
    relation = ">=" if found.name in ("margin", "confidence") else "="
    return f"{found.name} {relation} {number_in_words(found.value)}"


def bracket_in_words(bracket: Bracket) -> str:
    """holds at sigma = 0.12, not at 0.13."""
    if bracket.whole:
        return _whole_in_words(bracket)
    proved = None if bracket.proved is None else exact_value(bracket.proved)
    refuted = None if bracket.refuted is None else exact_value(bracket.refuted)
    if proved is None:
        return f"no {bracket.variable} proved" + (f", refuted at {refuted}" if refuted else "")
    held = f"holds at {bracket.variable} = {proved}"
    if refuted is None:
        hard = bracket.low if bracket.direction == "smallest" else bracket.high
        return f"{held}, the {bracket.direction} there is" if bracket.proved == hard else f"{held}, refuted nowhere"
    return f"{held}, not at {refuted}" + ("" if bracket.gap == "closed" else _OUT_OF_TIME)


def _whole_in_words(bracket: Bracket) -> str:
    """W = 12 is proved, 11 and every smaller one refuted."""
    hard = bracket.low if bracket.direction == "smallest" else bracket.high
    beyond = "every smaller one" if bracket.direction == "smallest" else "every larger one"
    proved, refuted = bracket.proved, bracket.refuted
    undecided, untried = bracket.open_values
    if bracket.gap == "closed" and proved is None:
        return f"refuted at every {bracket.variable} from {bracket.low} to {bracket.high}"
    said = f"no {bracket.variable} is proved" if proved is None else f"{bracket.variable} = {proved} is proved"
    if bracket.gap == "closed":
        if proved == hard:
            return f"{said}, the {bracket.direction} there is"
        return f"{said}, {refuted} {'is' if refuted == hard else f'and {beyond} are'} refuted"
    if refuted is not None:
        said += f", {refuted} is refuted"
    for values, words in ((undecided, "undecided"), (untried, "not tried")):
        said += f", {runs(values)} {words}" if values else ""
    below = [value for value in undecided if _of_rounding(bracket, value)]
    if below:
        said += f" ({'' if below == undecided else runs(below) + ': '}allows less than rounding may change)"
    return said + (_OUT_OF_TIME if untried else "")


def _of_rounding(bracket: Bracket, value: Fraction) -> bool:
    """Whether a value stayed undecided because the claim allows less than rounding may change."""
    return any(probe.value == value and probe.reason == Reason.ROUNDING.value for probe in bracket.probes)


def runs(values: Sequence[Fraction]) -> str:
    """Whole numbers, those that follow each other as 4 to 8."""
    found: list[list[Fraction]] = []
    for number in values:
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in found)


def witnesses(results: Sequence[Result]) -> RenderableType:
    """The inputs at which claims break, in raw units by name, with both outputs; those that were expected come last."""
    broken = [(r, w) for r in results if (w := r.witness or (r.find.witness if r.find else None)) is not None]
    broken.sort(key=lambda one: one[0].as_expected is True)
    shown: list[RenderableType] = [_witness(result, witness) for result, witness in broken[:_MOST_WITNESSES]]
    if hidden := len(broken) - len(shown):
        shown.append(Text(f"... and {plural(hidden, 'more input')}; --format json or --save-witness has them all"))
    return Trimmed(Group(*shown))


def _witness(result: Result, witness: Witness) -> RenderableType:
    where = Text.assemble((result.id, "bold"), f"  {witness.statement}")
    if result.find is not None and result.find.refuted is not None:
        where.append(f" (at {result.find.variable} = {exact_value(result.find.refuted)})")
    region = (result.task or {}).get("region")
    at, seen = Text("at ", "bold"), inputs(witness, region, _MOST_FEATURES)
    more = f", and {count(seen.more)} {'more' if region is None else 'that moved less'}" if seen.more else ""
    at.append(", ".join(seen.parts) + more + (f"; {seen.others}" if seen.others else ""), "not bold")
    outputs = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for heading in ("output", "reference", "candidate"):
        outputs.add_column(heading, justify="left" if heading == "output" else "right")
    rows = list(zip(witness.outputs, witness.reference, witness.candidate, strict=True))
    for name, reference, candidate in rows[:_MOST_NUMBERS]:
        outputs.add_row(Text(name), value(reference), value(candidate))
    if len(rows) > _MOST_NUMBERS:
        outputs.add_row(Text(f"... {len(rows) - _MOST_NUMBERS} more"), "", "")
    said = runtime_said(witness, logits=result.scores == "logits")
    beside = [Text(near)] if (near := nearest_row(witness)) else []
    return Group(where, Padding(Group(at, *beside, outputs, said), (0, 0, 1, 2)))


def runtime_said(witness: Witness, *, logits: bool = False) -> Text:
    """Whether onnxruntime agrees, and whether it still does where it optimises the files first.

    With `logits` it was asked about the scores in front of the files' Softmax.
    """
    if witness.onnxruntime_confirms is None:
        return Text(f"onnxruntime was not asked: {witness.onnxruntime_reason}", "yellow")
    if witness.onnxruntime_confirms:
        said = Text(f"onnxruntime agrees on the original files{', in front of their Softmax' if logits else ''}")
    else:
        said = Text("onnxruntime does not: in the files' own precision the claim holds here", "yellow")
    differs = optimised(witness)
    return said if differs is None else said.append(f"; {differs}", "yellow")


def optimised(witness: Witness) -> str | None:
    """What onnxruntime answers with its default settings, where that is something else than it does without them."""
    by_default = witness.onnxruntime_default_confirms
    if by_default is None or by_default is witness.onnxruntime_confirms:
        return None
    agrees = "the claim breaks" if by_default else "the claim holds"
    return f"with its default optimisations, which rewrite the models, {agrees} here"


def scores(results: Iterable[Result]) -> str:
    """What the claims compare, where that is not what the files give: said once, for all results; else empty."""
    said = of_networks(result.networks.values() for result in results)
    return said[:1].upper() + said[1:]


def summary(
    results: Sequence[Result], seconds: float, *, interrupted: bool = False, left_out: int = 0, unusable: int = 0
) -> Text:
    """8 tasks in 45.2 s: 2 equivalent, 5 different, 1 unknown. All as expected.

    What holds of nothing is counted apart, as `vacuous`.
    """
    found = Counter("vacuous" if result.vacuous else result.verdict.value for result in results)
    counts = ", ".join(f"{count(found[v])} {v}" for v in (*(v.value for v in Verdict), "vacuous") if found[v])
    text = Text(f"{plural(len(results), 'task')} in {duration(seconds)}" + (f": {counts}" if counts else ""))
    if kept := sum(result.cached for result in results):
        text.append(f" ({count(kept)} kept from before)")
    wrong = sum(r.as_expected is False for r in results)
    undecided = sum(r.as_expected is None for r in results)
    if interrupted:
        text.append(f". Interrupted, {plural(left_out, 'task')} not run" if left_out else ". Interrupted", "yellow")
    if unusable:
        text.append(f". {plural(unusable, 'spec')} cannot be used", "bold red")
    if wrong:
        empty = sum(r.as_expected is False and r.vacuous for r in results)
        among = "" if not empty else ": vacuous" if empty == wrong else f", {count(empty)} of them vacuous"
        text.append(f". {count(wrong)} not as expected{among}", "bold red")
    if undecided:
        text.append(f". {count(undecided)} undecided", "bold yellow")
    if results and not (wrong or undecided or interrupted or unusable):
        text.append(". All as expected" if any(r.expected for r in results) else ". All hold", "bold green")
    return text
