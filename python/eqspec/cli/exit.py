"""What the exit code of a run says."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from eqspec.api import Report
from eqspec.errors import EqspecError


class ExitCode(IntEnum):
    """Exit codes. If several apply, the first of 143, 130, 2, 4, 1, 5, 3, 0 counts."""

    AS_EXPECTED = 0
    """Every task came out as expected; one without an expectation is expected to hold, and not vacuously."""
    NOT_AS_EXPECTED = 1
    """A task was decided, and not as expected."""
    BAD_INPUT = 2
    """A spec, a network, a file or an argument cannot be used; the other specs were run all the same."""
    UNDECIDED = 3
    """Tasks were left undecided, and nothing else is wrong."""
    INTERNAL = 4
    """eqspec failed at a task; this is a defect of eqspec."""
    NOT_CERTIFIED = 5
    """A verdict has no certificate, though `--certify` asked for one; the verdicts are as expected or undecided."""
    INTERRUPTED = 130
    """Ctrl-C; what was known by then was printed."""
    TERMINATED = 143
    """SIGTERM; the same otherwise."""


def exit_code(reports: Iterable[Report], *, bad_input: bool, certified: bool = True) -> ExitCode:
    """The exit code for reports, one per spec that could be used; `certified` unless a certificate is missing."""
    reports = list(reports)
    results = [result for report in reports for result in report]
    failures = [error for report in reports for _, error in report.failures]
    if any(report.interrupted for report in reports):
        return ExitCode.INTERRUPTED
    if bad_input or any(isinstance(error, EqspecError) for error in failures):
        return ExitCode.BAD_INPUT
    if failures:
        return ExitCode.INTERNAL
    if any(result.as_expected is False for result in results):
        return ExitCode.NOT_AS_EXPECTED
    if not certified:
        return ExitCode.NOT_CERTIFIED
    if any(result.as_expected is None for result in results):
        return ExitCode.UNDECIDED
    return ExitCode.AS_EXPECTED
