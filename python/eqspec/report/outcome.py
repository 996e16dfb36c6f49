"""What a result amounts to for a test runner: passed, failed, undecided or broken, and why in one line."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from itertools import takewhile

from eqspec.report.inputs import inputs, nearest_row
from eqspec.report.missing import Missing, in_a_sentence
from eqspec.report.numbers import bound_value, count, value
from eqspec.report.table import remark
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness


class Outcome(StrEnum):
    """As a test runner sees a task."""

    PASSED = "passed"
    """The outcome is the expected one."""
    FAILED = "failed"
    """It was decided, but not as expected."""
    UNDECIDED = "undecided"
    """Nothing was shown in the time it had."""
    BROKEN = "broken"
    """eqspec, or a file it needed, failed."""


def outcome(result: Result) -> Outcome:
    """What a result amounts to."""
    if result.reason is Reason.ERROR:
        return Outcome.BROKEN
    return {True: Outcome.PASSED, False: Outcome.FAILED, None: Outcome.UNDECIDED}[result.as_expected]


def witness_of(result: Result) -> Witness | None:
    """The input that breaks the claim, or that of a search's refuted value."""
    return result.witness or (result.find.witness if result.find else None)


def headline(result: Result) -> str:
    """One line: verdict, what was expected, how the claim breaks."""
    verdict = "vacuous" if result.vacuous else result.verdict.value
    said = remark(result).plain
    line = said if said.startswith(verdict) else f"{verdict}: {said}" if said else verdict
    if result.as_expected is False and result.expected is None:
        line += " (the claim is meant to hold)"
    seen = witness_of(result)
    return f"{line}; {seen.statement}" if seen is not None and result.as_expected is not True else line


def standing(results: Sequence[Result], missing: Sequence[Missing] = ()) -> str:
    """The outcome of a run: that of its worst task, failed before undecided before passed; "none" without results.

    Where results are missing nothing has passed: the run failed, or is undecided if somebody stopped it.
    """
    found = set(map(outcome, results))
    if missing:
        whole = all(one.interrupted for one in missing) and not found & {Outcome.FAILED, Outcome.BROKEN}
        return "undecided" if whole else "failed"
    if not found:
        return "none"
    if found & {Outcome.FAILED, Outcome.BROKEN}:
        return "failed"
    return "undecided" if Outcome.UNDECIDED in found else "passed"


def sentence(results: Sequence[Result], missing: Sequence[Missing] = ()) -> str:
    """The run in one sentence, no task counted twice: FAILED: 2 of 29 not as expected; 8 undecided.

    What is missing comes first, and then what became of the rest: FAILED: 1 spec cannot be used. Of the rest: ...
    """
    if missing:
        head = "FAILED" if standing(results, missing) == "failed" else "INTERRUPTED"
        _, _, rest = sentence(results).partition(": ")
        return f"{head}: {in_a_sentence(missing)}" + (f". Of the rest {rest}" if results else "")
    found = Counter(map(outcome, results))
    total = count(len(results))
    wrong, broken, open_ones = (found[kind] for kind in (Outcome.FAILED, Outcome.BROKEN, Outcome.UNDECIDED))
    match standing(results):
        case "none":
            return "NOTHING CHECKED"
        case "failed":
            parts = [f"{count(wrong)} of {total} not as expected"] if wrong else []
            if broken:
                parts.append(
                    f"{count(broken)} could not be run" if wrong else f"{count(broken)} of {total} could not be run"
                )
            return f"FAILED: {'; '.join(parts + ([f'{count(open_ones)} undecided'] if open_ones else []))}"
        case "undecided":
            rest = "" if open_ones == len(results) else "; the rest as expected"
            return f"UNDECIDED: {count(open_ones)} of {total}{rest}"
        case _:
            said = "as expected" if any(r.expected for r in results) else "proved"
            return f"PASSED: {f'all {total}' if len(results) > 1 else 'the one task'} {said}"


def account(result: Result) -> str:
    """Several lines: what was claimed, and where it breaks."""
    lines = [f"claim: {result.claim}"]
    if said := result.scores_in_words:
        lines.append(said)
    if result.source:
        lines.append(f"in: {result.source}")
    seen = witness_of(result)
    if seen is not None:
        at = inputs(seen)
        lines.append("at: " + ", ".join(at.parts) + (f"; {at.others}" if at.others else ""))
        lines += [near] if (near := nearest_row(seen)) else []
        for name, reference, candidate in zip(seen.outputs, seen.reference, seen.candidate, strict=True):
            lines.append(f"output {name}: reference {value(reference)}, candidate {value(candidate)}")
    if result.verdict is Verdict.UNKNOWN and result.initial_bound is not None and math.isfinite(result.initial_bound):
        lines.append(f"bound on the whole region: {bound_value(result.initial_bound)}")
    return "\n".join(lines)


def place(result: Result) -> tuple[str, int, int] | None:
    """File, line and column of the check in its spec; None if it came from elsewhere."""
    parts = (result.source or "").rsplit(":", 2)
    if len(parts) != 3 or not (parts[0] and parts[1].isdecimal() and parts[2].isdecimal()):
        return None
    return parts[0], int(parts[1]), int(parts[2])


def without_common_folder(files: Sequence[str]) -> list[str]:
    """The same names without the folders that all of them are in."""
    folders = [file.split("/")[:-1] for file in files]
    common = len(list(takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False))))
    return ["/".join(file.split("/")[common:]) for file in files]
