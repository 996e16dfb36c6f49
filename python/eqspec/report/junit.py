"""Results as JUnit XML, as CI servers read it: a suite per spec file, a test case per task.

What is not as expected is a failure; what stayed undecided, or broke, is an error. The elements and attributes are
those that the schemas of Jenkins (xUnit plugin) and Ant have in common.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from eqspec.report.outcome import Outcome, account, headline, outcome, place
from eqspec.report.printable import shown
from eqspec.report.table import scores
from eqspec.tasks.result import Result

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOWHERE = "eqspec"
_TAGS = {Outcome.FAILED: "failure", Outcome.UNDECIDED: "error", Outcome.BROKEN: "error"}


def to_text(results: Sequence[Result]) -> str:
    """The document, with its XML declaration."""
    root = Xml.Element("testsuites", {"name": "eqspec", **_counts(results)})
    suites: dict[str, list[Result]] = {}
    for result in results:
        where = place(result)
        suites.setdefault(where[0] if where else _NOWHERE, []).append(result)
    for name, members in suites.items():
        suite = Xml.SubElement(root, "testsuite", {"name": _clean(name), **_counts(members)})
        for result in members:
            _case(suite, result)
        if said := scores(members):
            Xml.SubElement(suite, "system-out").text = _clean(said)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _counts(results: Sequence[Result]) -> dict[str, str]:
    found = [_TAGS.get(outcome(result)) for result in results]
    return {
        "tests": str(len(results)),
        "failures": str(found.count("failure")),
        "errors": str(found.count("error")),
        "time": f"{sum(result.seconds for result in results):.3f}",
    }


def _case(suite: Xml.Element, result: Result) -> None:
    stem = suite.get("name", "").rpartition("/")[2].removesuffix(".eqspec")
    named = {"classname": f"{stem}.{_clean(result.check)}", "name": _clean(result.id), "time": f"{result.seconds:.3f}"}
    case = Xml.SubElement(suite, "testcase", named)
    found = outcome(result)
    if tag := _TAGS.get(found):
        problem = Xml.SubElement(case, tag, {"type": str(found), "message": _clean(headline(result))})
        problem.text = _clean(f"{headline(result)}\n{account(result)}")


def _clean(text: str) -> str:
    """What XML 1.0 can hold."""
    return _NOT_XML.sub("\ufffd", shown(text))
