"""pytest with the plugin, on specs in a folder of its own, and what came of it."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

PLUGIN = ("-p", "no:eqspec", "-p", "eqspec.pytest_plugin", "-p", "no:cacheprovider")


NO_TIME = "--eqspec-timeout=0"
"""Even a claim that is decided on the first box stays undecided."""


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Pytest with the plugin, as if it were installed."""
    return pytester.runpytest_inprocess(*PLUGIN, *arguments)


def outcome(result: pytest.RunResult, **expected: int) -> None:
    found = {kind: n for kind, n in result.parseoutcomes().items() if kind != "warnings"}
    assert found == expected, result.stdout.str()


def properties(pytester: pytest.Pytester) -> dict[str, str]:
    """The properties of the first test in the JUnit file."""
    case = ElementTree.parse(pytester.path / "found.xml").getroot().find(".//testcase")
    assert case is not None
    return {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}
