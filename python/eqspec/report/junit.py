"""Results as JUnit XML, as CI servers read it: a suite per spec file, a test case per task.

What is not as expected is a failure; what stayed undecided, or broke, is an error. The elements and attributes are
those that the schemas of Jenkins (xUnit plugin) and Ant have in common.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias
from xml.etree import ElementTree as Xml

from eqspec.lazy_dataclass import dataclass
from eqspec.report.missing import Missing
from eqspec.report.outcome import Outcome, account, headline, outcome, place
from eqspec.report.printable import shown
from eqspec.report.table import scores
from eqspec.tasks.result import Result

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOWHERE = "eqspec"
_TAGS: Mapping[Outcome, Literal["failure", "error"]] = {
    Outcome.FAILED: "failure",
    Outcome.UNDECIDED: "error",
    Outcome.BROKEN: "error",
}


@dataclass(frozen=True)
class Problem:
    """What is wrong with a test case: the element that says so, its attributes and its text."""

    tag: Literal["failure", "error"]
    type: str
    message: str
    text: str


Judged: TypeAlias = "tuple[Result, Problem | None]"


def to_text(results: Sequence[Result], missing: Sequence[Missing] = ()) -> str:
    """The document, with its XML declaration."""
    return document([(result, _problem(result)) for result in results], scores, missing)


def document(judged: Sequence[Judged], said: Callable[[Sequence[Result]], str], missing: Sequence[Missing] = ()) -> str:
    """A document of results with what is wrong with each; what is `said` of a suite stands at its end.

    A spec of which results are missing has a suite of its own with an error.
    """
    root = Xml.Element("testsuites", {"name": "eqspec", **_counts(judged, len(missing))})
    suites: dict[str, list[Judged]] = {}
    for result, problem in judged:
        where = place(result)
        suites.setdefault(where[0] if where else _NOWHERE, []).append((result, problem))
    classes = _classes(dict.fromkeys([*suites, *(one.file for one in missing)]))
    for name, members in suites.items():
        suite = Xml.SubElement(root, "testsuite", {"name": _clean(name), **_counts(members)})
        for result, problem in members:
            _case(suite, classes[name], result, problem)
        if words := said([result for result, _ in members]):
            Xml.SubElement(suite, "system-out").text = _clean(words)
    for one in missing:
        suite = Xml.SubElement(root, "testsuite", {"name": _clean(one.file), **_counts((), 1)})
        named = {"classname": classes[one.file], "name": "the whole spec", "time": "0.000"}
        case = Xml.SubElement(suite, "testcase", named)
        Xml.SubElement(case, "error", {"type": "missing", "message": _clean(one.why)}).text = _clean(one.why)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _problem(result: Result) -> Problem | None:
    found = outcome(result)
    if (tag := _TAGS.get(found)) is None:
        return None
    return Problem(tag, str(found), headline(result), f"{headline(result)}\n{account(result)}")


def _counts(judged: Sequence[Judged], missing: int = 0) -> dict[str, str]:
    found = [problem.tag for _, problem in judged if problem is not None]
    return {
        "tests": str(len(judged) + missing),
        "failures": str(found.count("failure")),
        "errors": str(found.count("error") + missing),
        "time": f"{sum(result.seconds for result, _ in judged):.3f}",
    }


def _case(suite: Xml.Element, spec: str, result: Result, problem: Problem | None) -> None:
    named = {
        "classname": f"{spec}.{_clean(result.check)}",
        "name": _clean(result.id),
        "time": f"{result.seconds:.3f}",
    }
    case = Xml.SubElement(suite, "testcase", named)
    if problem is not None:
        inside = Xml.SubElement(case, problem.tag, {"type": problem.type, "message": _clean(problem.message)})
        inside.text = _clean(problem.text)


def _classes(files: Iterable[str]) -> dict[str, str]:
    """What the cases of each spec are called after: its file's name, with its folders where another one has that name.

    CI servers tell cases apart by these names alone, whatever suite they stand in.
    """
    paths = {file: _clean(file).removesuffix(".eqspec") for file in files}
    stems = Counter(path.rpartition("/")[2] for path in paths.values())
    return {file: stem if stems[stem := path.rpartition("/")[2]] == 1 else path for file, path in paths.items()}


def _clean(text: str) -> str:
    """What XML 1.0 can hold."""
    return _NOT_XML.sub("\ufffd", shown(text))
