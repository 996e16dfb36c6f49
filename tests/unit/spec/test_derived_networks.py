"""Networks that a spec derives: what is said of them means what it says, and every slip is found where it is."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from eqspec.errors import SpecError
from eqspec.span import Source
from eqspec.spec import ast, printer
from eqspec.spec.check import CheckedSpec, check
from eqspec.spec.derivations import (
    FixedPrecision,
    FixedType,
    IntegerPrecision,
    precision,
)
from eqspec.spec.findings import Findings
from eqspec.spec.parse import parse_number_type, parse_subject, parse_text
from eqspec.spec.program import load_program
from eqspec.spec.values import UNKNOWN, Form

HEAD = """eqspec 1
space s { features a, b  outputs y, z }
space other { features a, b  outputs y, z }
network f = "f.onnx" in s
region all_of(r) in s = box { all: -r .. r }
"""


def checked(text: str, findings: Findings | None = None) -> CheckedSpec:
    findings = findings or Findings()
    program = load_program(Source("<text>", HEAD + text), Path(), findings)
    spec = check(program, findings)
    findings.raise_errors()
    return spec


def made(text: str, *given: int) -> object:
    """The precision of the network `g`, with values for its formal parameters."""
    spec = checked(f"{text}\n")
    binding = dict(spec.program.root.visible("network"))["g"]
    return precision(
        binding, tuple(Form(Fraction(value)) for value in given), spec.scope(spec.program.root), Findings()
    )


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ('network g = f quantised to int8 calibrated on "t.csv"', (), IntegerPrecision(8, per_channel=False)),
        ('network g = f quantised to int4 per tensor calibrated on "t"', (), IntegerPrecision(4, per_channel=False)),
        (
            'network g(B) = f quantised to int<B - 1> per channel calibrated on "t" + ".csv"',
            (9,),
            IntegerPrecision(8, per_channel=True),
        ),
        ("network g = f as fixed<16, 6>", (), FixedPrecision(FixedType(True, 16, 6))),
        ("network g(W) = f as ufixed<W, W/2, RND, SAT>", (8,), FixedPrecision(FixedType(False, 8, 4, "RND", "SAT"))),
        (
            "let w = 12 network g(W) = f as fixed<w, 6> { accum fixed<W, W - 6>, result ufixed<w, 0, TRN, SAT_SYM> }",
            (24,),
            FixedPrecision(
                FixedType(True, 12, 6),
                (("accum", FixedType(True, 24, 18)), ("result", FixedType(False, 12, 0, "TRN", "SAT_SYM"))),
            ),
        ),
        ("network g(W) = f as fixed<4, W>", (6,), FixedPrecision(FixedType(True, 4, 6))),
        ("network g(W) = f as fixed<4, 6 - W>", (8,), FixedPrecision(FixedType(True, 4, -2))),
    ],
)  # fmt: skip
def test_what_is_said_is_meant(text: str, given: tuple[int, ...], expected: object) -> None:
    assert made(text, *given) == expected


def test_values_that_are_not_known_leave_the_precision_open() -> None:
    spec = checked("network g(W) = f as fixed<W, 6>\n")
    binding = dict(spec.program.root.visible("network"))["g"]
    assert precision(binding, (UNKNOWN,), spec.scope(spec.program.root), Findings()) is UNKNOWN


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("network g = f quantised to int7 calibrated on \"t\"", "E103", "unknown integer type 'int7'"),
        ("network g = f quantised to int<1> calibrated on \"t\"", "E138", "from 2 to 16, not 1"),
        ("network g = f quantised to int<17> calibrated on \"t\"", "E138", "from 2 to 16, not 17"),
        ("network g = f quantised to int<5/2> calibrated on \"t\"", "E138", "not 2.5"),
        ("network g = f quantised to int8<8> calibrated on \"t\"", "E112", "'int8' takes no bits"),
        ("network g = f quantised to int calibrated on \"t\"", "E112", "found 0 values"),
        ("network g = f quantised to int7 calibrated on \"t\"", "E103", "write 'int<7>'"),
        ("network g = f quantised to int32 calibrated on \"t\"", "E103", "with B from 2 to 16"),
        ("network g = f as ap_fixed<16, 6>", "E103", "did you mean 'fixed'?"),
        ("network g = f as fixed<8, 6, AP_RND, SAT>", "E103", "did you mean 'RND'?"),
        ("network g = f as fixed<8, 6, RND, AP_SAT>", "E103", "did you mean 'SAT'?"),
        ("network g = f quantised to int8 per row calibrated on \"t\"", "E103", "unknown scale 'row'"),
        ("network g = f quantised to int8 calibrated on 3", "E134", "expected a text"),
        ("network g = f quantised to int8", "E214", "which inputs 'g' is calibrated on"),
        ("network g = f as float<16, 6>", "E103", "unknown fixed point type 'float'"),
        ("network g = f as fixed<16>", "E112", "found 1 value"),
        ("network g = f as fixed<0, 0>", "E138", "bits are a whole number from 1 to 64, not 0"),
        ("network g = f as fixed<65, 6>", "E138", "not 65"),
        ("network g = f as fixed<8, 65>", "E138", "bits in front of the point"),
        ("network g = f as fixed<8 [m], 6>", "E130", "have no unit"),
        ("network g = f as fixed<8, 6, ROUND>", "E103", "unknown rounding mode 'ROUND'"),
        ("network g = f as fixed<8, 6, 3>", "E134", "expected a rounding mode"),
        ("network g = f as fixed<8, 6, RND, CLIP>", "E103", "unknown overflow mode 'CLIP'"),
        ("network g = f as fixed<8, 6> { sums fixed<8, 6> }", "E103", "unknown typed number 'sums'"),
        ("network g = f as fixed<8, 6> { accum fixed<8, 6>, accum fixed<9, 6> }", "E204", "'accum' is given twice"),
        ("network g = h as fixed<8, 6>", "E101", "no network named 'h'"),
        ("network g = f as fixed<W, 6>", "E101", "no value named 'W'"),
        ("network g(W, W) = f as fixed<W, 6>", "E104", "'W' is declared twice"),
        ("let W = 3 network g(W) = f as fixed<W, 6>", "E104", "'W' is declared twice"),
        ("network g = g as fixed<8, 6>", "E106", "g -> g"),
        ("network g = h as fixed<8, 6> network h = g as fixed<8, 6>", "E106", "through itself"),
        ("network h = f as fixed<8, 6> network g = h as fixed<8, 6>", "E213", "which is itself derived"),
        ("network g = f as fixed<8, 6> in other", "E202", "'f' lives in 's'"),
        ('network g(W) = "g.onnx" in s', "E112", "is a file, which takes no values"),
    ],
)  # fmt: skip
def test_every_slip_is_found(text: str, code: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        checked(f"{text}\n")
    assert code in [d.code for d in caught.value.diagnostics]
    (found,) = [d for d in caught.value.diagnostics if d.code == code][:1]
    assert said in f"{found.message} {found.help}"
    assert found.span is not None


GIVEN = "network g(W) = f as fixed<W, 6>\n"


@pytest.mark.parametrize(
    ("clauses", "code", "said"),
    [
        ("prove g keeps top1 of f", "E112", "network 'g' takes 1 value (W), found 0"),
        ("prove g(1, 2) keeps top1 of f", "E112", "found 2"),
        ("prove f(1) keeps top1 of f", "E112", "network 'f' takes 0 values, found 1"),
        ("prove g(99) keeps top1 of f", "E138", "from 1 to 64, not 99"),
        ("prove g(W) keeps top1 of f", "E105", "'W' has no value here"),
        ('prove g("8") keeps top1 of f', "E134", "expected a number, found a text"),
        ("prove f satisfies g[y] <= 1", "E112", "network 'g' takes 1 value (W), found 0"),
        ("prove g(W) keeps top1 of f find smallest W in 4 .. 18 to 1", "E305", "'to' has no meaning"),
        ("prove g(W) keeps top1 of f find smallest W in 4.5 .. 18", "E138", "a whole number, not 4.5"),
        ("prove g(W) keeps top1 of f find smallest W in 1 .. 1000", "E138", "at most 256 whole numbers"),
        ("prove g(8) keeps top1 of f for W in [8, 9]", "W307", "nothing in check 'c' depends on 'W'"),
    ],
)
def test_values_of_networks_are_checked_where_they_are_given(clauses: str, code: str, said: str) -> None:
    findings = Findings()
    with suppress(SpecError):
        checked(f"{GIVEN}check c {{ {clauses} on all_of(1) }}\n", findings)
    assert [d.code for d in (*findings.errors, *findings.warnings)] == [code]
    assert said in (*findings.errors, *findings.warnings)[0].message


def test_a_search_for_a_value_of_a_network_is_over_whole_numbers() -> None:
    text = (
        f"{GIVEN}check c {{ prove g(2*W + 1) never wraps on all_of(1) find largest W in 4 .. 8 }}\n"
        "check d { prove g(8) stays within e of f on all_of(1) find smallest e in 1 .. 2 }\n"
    )
    whole = [facts.search.whole for facts in checked(text).checks if facts.search is not None]
    assert whole == [True, False]


def test_a_type_without_digits_behind_the_point_is_mentioned_where_it_is_written() -> None:
    findings = Findings()
    checked("network g = f as fixed<6, 16> { accum fixed<24, 10> }\n", findings)
    assert [d.code for d in findings.warnings] == ["W312"]
    findings = Findings()
    checked("network g(W) = f as fixed<W, 16>\n", findings)
    assert findings.warnings == ()


def test_what_stands_alone_is_read_and_written() -> None:
    for text in ("f", "s.f", "g(12)", "s.g(1, 2)"):
        assert printer.text(parse_subject(text, "NETWORK")).replace("\n", " ") == text
    for text in ("int8", "int<7>", "fixed<16, 6, RND, SAT>"):
        assert printer.text(parse_number_type(text, "to")) == text
    for wrong in ("f(", "", "f g"):
        with pytest.raises(SpecError):
            parse_subject(wrong, "NETWORK")


def test_comparisons_are_still_comparisons() -> None:
    file = parse_text("eqspec 1\ncheck c { prove f satisfies 3 > f[y] - g[y] on r expect different if a < 2 }\n")
    (declared,) = file.declarations
    assert isinstance(declared, ast.Check)
    satisfied = declared.clauses[0]
    assert isinstance(satisfied, ast.Satisfies)
    assert satisfied.comparison.operator == ">"
