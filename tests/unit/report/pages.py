"""Pages of reports as trees, and the results that are put on them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from xml.etree.ElementTree import Element

import html5lib

from eqspec.report.html import page
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness

WHEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def parsed(text: str) -> Element:
    """The tree of a page that keeps every rule of HTML."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree: Element = parser.parse(text)
    return tree


def shown(made: list[Result], title: str | None = None) -> Element:
    return parsed(page(made, title, WHEN))


def said(element: Element | None) -> str:
    assert element is not None
    return " ".join("".join(element.itertext()).split())


def with_class(tree: Element, name: str, tag: str = "*") -> list[Element]:
    return [e for e in tree.iter() if name in (e.get("class") or "").split() and (tag == "*" or e.tag == tag)]


def result(verdict: Verdict = Verdict.EQUIVALENT, name: str = "near", **fields: object) -> Result:
    reason = Reason.TIMEOUT if verdict is Verdict.UNKNOWN else None
    seen = witness() if verdict is Verdict.DIFFERENT else None
    return replace(Result(name, name, {}, verdict, reason, witness=seen), **fields)  # type: ignore[arg-type]


def witness(**fields: object) -> Witness:
    made = Witness(
        normalised=(Fraction(1, 2), Fraction(-3), Fraction(0)),
        raw=(Fraction(11), Fraction(-4), Fraction(7)),
        features=("mass", "charge", "spin"),
        units=("GeV", None, None),
        outputs=("q", "g"),
        reference=(1.5, 1.25),
        candidate=(1.0, 1.75),
        confidence=0.5622,
        statement="f decides q, but g has g higher by 0.75",
        onnxruntime_confirms=True,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def table_after(tree: Element, heading: str) -> list[list[str]]:
    """Rows of the first table in the figure with this caption."""
    for figure in tree.iter("figure"):
        if said(figure.find("figcaption")).startswith(heading):
            return [[said(cell) for cell in row] for row in figure.iter("tr")]
    raise AssertionError(heading)


def numbers(path: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", path)]
