"""What the exit code of a run says."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

from eqspec.errors import FULL, SCARCE, ResourceError, explained

if TYPE_CHECKING:
    from eqspec.api.report import Report


class ExitCode(IntEnum):
    """Exit codes. If several apply, the first of 143, 130, 2, 4, 75, 1, 5, 3, 0 counts."""

    AS_EXPECTED = 0
    """Every task came out as expected; one without an expectation is expected to hold, and not vacuously."""
    NOT_AS_EXPECTED = 1
    """A task was decided, but not as expected."""
    BAD_INPUT = 2
    """A spec, a network, a file or an argument cannot be used; the other specs were run all the same."""
    UNDECIDED = 3
    """Tasks were left undecided, and nothing else is wrong."""
    INTERNAL = 4
    """eqspec failed at a task; this is a defect of eqspec."""
    NOT_CERTIFIED = 5
    """A verdict has no certificate, though `--certify` asked for one; the verdicts are as expected or undecided."""
    RESOURCES = 75
    """The machine did not give what was needed: threads, memory, room on a disk. Trying again later may help."""
    INTERRUPTED = 130
    """Ctrl-C; what was known by then was printed."""
    NOT_READ = 141
    """The program that reads the output ended before all was written, as `head` does; that says nothing of claims."""
    TERMINATED = 143
    """SIGTERM; as for Ctrl-C otherwise."""


def exit_code(reports: Iterable[Report], *, bad_input: bool, certified: bool = True, room: bool = True) -> ExitCode:
    """The exit code for reports, one per spec that could be used; `certified` unless a certificate is missing, and
    `room` unless that is because the machine did not give what was needed to write it.
    """
    reports = list(reports)
    results = [result for report in reports for result in report]
    failures = [error for report in reports for _, error in report.failures]
    if any(report.interrupted for report in reports):
        return ExitCode.INTERRUPTED
    kinds = {of_error(error) for error in failures}
    if bad_input or ExitCode.BAD_INPUT in kinds:
        return ExitCode.BAD_INPUT
    if ExitCode.INTERNAL in kinds:
        return ExitCode.INTERNAL
    if ExitCode.RESOURCES in kinds or not room:
        return ExitCode.RESOURCES
    if any(result.as_expected is False for result in results):
        return ExitCode.NOT_AS_EXPECTED
    if not certified:
        return ExitCode.NOT_CERTIFIED
    if any(result.as_expected is None for result in results):
        return ExitCode.UNDECIDED
    return ExitCode.AS_EXPECTED


def of_error(error: BaseException) -> ExitCode:
    """The exit code of a run that an error ended, by whose doing it is."""
    if isinstance(error, ResourceError | MemoryError):
        return ExitCode.RESOURCES
    if isinstance(error, OSError) and error.errno in (*FULL, *SCARCE):
        return ExitCode.RESOURCES
    return ExitCode.INTERNAL if explained(error) is None else ExitCode.BAD_INPUT
