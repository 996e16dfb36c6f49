"""Results as SARIF 2.1.0, as code scanning reads it: one finding for every task that is not as expected or undecided.

What is as expected is no finding: readers that know no `kind` would show it as one. Paths are relative to the place
where eqspec ran, under the name `%SRCROOT%`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from eqspec.report.missing import Missing
from eqspec.report.outcome import Outcome, account, headline, outcome, place
from eqspec.report.printable import shown_in_json
from eqspec.report.table import scores
from eqspec.run.core import __version__
from eqspec.tasks.result import Result

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_RULES = {
    Outcome.FAILED: ("not-as-expected", "error", "A claim was decided, and not as the spec expects."),
    Outcome.UNDECIDED: ("undecided", "warning", "Neither a proof nor a counterexample was found within the budget."),
    Outcome.BROKEN: ("broken", "error", "A task failed, so nothing is known about its claim."),
}


def to_text(results: Sequence[Result], missing: Sequence[Missing] = ()) -> str:
    """The log file."""
    return shown_in_json(json.dumps(document(results, missing), indent=2, allow_nan=False, ensure_ascii=False))


def document(results: Sequence[Result], missing: Sequence[Missing] = ()) -> dict[str, Any]:
    """The log as plain data."""
    rules = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}
        for name, level, text in _RULES.values()
    ]
    findings = [(result, found) for result in results if (found := outcome(result)) in _RULES]
    run = {
        "tool": {"driver": {"name": "eqspec", "semanticVersion": __version__, "rules": rules}},
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "Where eqspec ran."}}},
        "invocations": [_invocation(missing)],
        "columnKind": "unicodeCodePoints",
        "results": [_finding(result, found) for result, found in findings],
        "properties": {"tasks": len(results), "findings": len(findings), "scores": scores(results) or "outputs"},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _invocation(missing: Sequence[Missing]) -> dict[str, Any]:
    """Whether everything ran that was to run, and what did not."""
    said = [
        {
            "level": "warning" if one.interrupted else "error",
            "message": {"text": one.why},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(one.file)}}],
        }
        for one in missing
    ]
    return {"executionSuccessful": not missing, "toolExecutionNotifications": said}


def _finding(result: Result, found: Outcome) -> dict[str, Any]:
    name, level, _ = _RULES[found]
    finding: dict[str, Any] = {
        "ruleId": name,
        "ruleIndex": list(_RULES).index(found),
        "kind": "fail",
        "level": level,
        "message": {"text": f"{result.id}: {headline(result)}\n\n{account(result)}"},
        "partialFingerprints": {"eqspecTask/v1": _fingerprint(result)},
        "properties": {
            "verdict": result.verdict.value,
            "seconds": result.seconds,
            "tags": list(dict.fromkeys(result.tags)),
        },
    }
    where = place(result)
    if where is not None:
        file, line, column = where
        finding["locations"] = [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(file),
                    "region": {"startLine": line, "startColumn": column},
                },
                "logicalLocations": [{"name": result.check, "fullyQualifiedName": result.id, "kind": "member"}],
            }
        ]
    return finding


def _artifact(file: str) -> dict[str, str]:
    path = PurePath(file)
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(path.as_posix()), "uriBaseId": "%SRCROOT%"}


def _fingerprint(result: Result) -> str:
    """The same for the same task of the same spec, whatever else changes."""
    where = place(result)
    return hashlib.sha256(f"{where[0] if where else ''}\n{result.id}".encode()).hexdigest()
