"""What is said of the integers at the ends of a file: words, numbers, and slips where they are."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest

from eqspec.errors import SpecError
from eqspec.span import Source
from eqspec.spec import ast, printer
from eqspec.spec.check import check
from eqspec.spec.findings import Findings
from eqspec.spec.integer_ends import IntegerEnds, integer_ends
from eqspec.spec.parse import parse_text
from eqspec.spec.program import load_program

HEAD = 'eqspec 1\nspace s { features a, b  outputs y, z }\nlet unit = 1/2\nnetwork f = "f.onnx" in s '


def said(text: str) -> object:
    findings = Findings()
    program = load_program(Source("<text>", f"{HEAD}{text}\n"), Path(), findings)
    spec = check(program, findings)
    findings.raise_errors()
    declared = cast(ast.Network, dict(program.root.visible("network"))["f"].declaration)
    assert declared.dequantised is not None
    return integer_ends(declared.dequantised, spec.scope(program.root))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dequantised", IntegerEnds()),
        ("takes raw gives probabilities dequantised { }", IntegerEnds()),
        ("dequantised { input scale 0.58 zero 83 }", IntegerEnds((("", Fraction("0.58"), 83),))),
        ("dequantised { output scale unit/128, }", IntegerEnds((), (Fraction(1, 256), 0))),
        (
            'dequantised { input "a" scale 1 zero -128 input scale unit  output scale 2^-8 zero unit*2 }',
            IntegerEnds((("a", Fraction(1), -128), ("", Fraction(1, 2), 0)), (Fraction(1, 256), 1)),
        ),
    ],
)
def test_what_is_said(text: str, expected: IntegerEnds) -> None:
    assert said(text) == expected
    tree = parse_text(f"{HEAD}{text}\n")
    assert parse_text(printer.text(tree)) == tree


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("dequantised { weight scale 1 }", "E103", "weight"),
        ('dequantised { output "y" scale 1 }', "E112", '"y"'),
        ("dequantised { input scale 1 input scale 2 }", "E204", "input"),
        ("dequantised { output scale 1 output scale 1 }", "E204", "output"),
        ("dequantised { input scale 0 }", "E138", "0"),
        ("dequantised { input scale -0.5 }", "E138", "-0.5"),
        ("dequantised { input scale 1e39 }", "E138", "1e39"),
        ("dequantised { input scale 1 zero 1/2 }", "E138", "1/2"),
        ("dequantised { input scale 1 [m] }", "E130", "1 [m]"),
        ('dequantised { input scale "x" }', "E134", '"x"'),
        ("dequantised { input scale nothing }", "E101", "nothing"),
        ("dequantised { input }", "E008", "}"),
    ],
)
def test_slips_are_found_where_they_are(text: str, code: str, place: str) -> None:
    with pytest.raises(SpecError) as caught:
        said(text)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.span is not None
    assert found.span.text == place
