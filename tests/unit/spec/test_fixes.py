"""What a finding proposes to write: with it in place, that finding is gone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.errors import Diagnostic, Fix
from eqspec.span import Source
from eqspec.spec.check import check
from eqspec.spec.findings import Findings
from eqspec.spec.program import load_program

HEAD = """eqspec 1
space jet { features mass [GeV], tau normalise zscore mean 0 std 1 outputs quark, gluon }
network reference = "reference.onnx" in jet
network pruned = "pruned.onnx" in jet
region core(s) in jet = box { all within s sigma }
let many = [1, 2]
"""
CLAIM = "check c { prove pruned keeps top1 of reference on core(1) }"


def found(text: str) -> tuple[Diagnostic, ...]:
    findings = Findings()
    program = load_program(Source("spec", text), Path("/nowhere"), findings)
    if not findings.errors:
        check(program, findings)
    return findings.errors


def mended(text: str, fix: Fix) -> str:
    return text[: fix.span.start] + fix.text + text[fix.span.end :]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("let a = .05", "let a = 0.05"),
        ("let a = 90%", "let a = 0.9"),
        ("let a = 3;", "let a = 3"),
        ("let a = 3 − 1", "let a = 3 - 1"),
        ("chek c { prove pruned equals reference on core(1) }", "check c { prove pruned equals reference on core(1) }"),
        ("check c { prov pruned equals reference on core(1) }", "check c { prove pruned equals reference on core(1) }"),
        (CLAIM.replace("top1", "top-1"), CLAIM),
        (CLAIM.replace("keeps", "kepes"), CLAIM),
        (CLAIM.replace("pruned", "prunde"), CLAIM),
        (CLAIM.replace("core", "cores"), CLAIM),
        (CLAIM[:-1], CLAIM[:-1].rstrip() + "\n}"),
        (CLAIM[:-1] + "expect equivalnet }", CLAIM[:-1] + "expect equivalent }"),
        (CLAIM[:-1] + "for a in 1 .. 3 }", CLAIM[:-1] + "for a in [1, 3] }"),
        (CLAIM[:-1] + "budget { memory 8gib } }", CLAIM[:-1] + "budget { memory 8GiB } }"),
        ("region r in jet = box { maas: 0 .. 1 }", "region r in jet = box { mass: 0 .. 1 }"),
        ("region r in jet = where { maas <= 1 [GeV] }", "region r in jet = where { mass <= 1 [GeV] }"),
        ("let b = mnay", "let b = many"),
        ("let b = linspce(0, 1, 3)", "let b = linspace(0, 1, 3)"),
    ],
)
def test_the_first_finding_is_mended_as_it_should_be(wrong: str, right: str) -> None:
    text = HEAD + wrong + "\n"
    first = found(text)[0]
    (fix,) = first.fixes
    assert mended(text, fix).rstrip() == (HEAD + right).rstrip()
    assert (first.code, first.message) not in {(d.code, d.message) for d in found(mended(text, fix))}


def slips() -> Iterator[str]:
    """A whole spec with one letter less, twice, or with another one behind it."""
    text = HEAD + CLAIM + "\n"
    for place, letter in enumerate(text):
        if letter.isalpha():
            yield text[:place] + text[place + 1 :]
            yield text[:place] + letter + text[place:]


@given(st.sampled_from(list(slips())))
def test_every_fix_of_a_slip_removes_its_finding(text: str) -> None:
    for finding in found(text):
        for fix in finding.fixes:
            again = mended(text, fix)
            left = [(d.code, d.message, d.span.start) for d in found(again) if d.span is not None]
            assert finding.span is not None
            assert (finding.code, finding.message, finding.span.start) not in left
            assert again != text


@given(st.integers(0, 10**6), st.integers(0, 4))
def test_a_percentage_is_written_as_the_same_number(digits: int, places: int) -> None:
    written = f"{digits // 10**places}" + (f".{digits % 10**places:0{places}}" if places else "")
    (finding,) = found(f"eqspec 1\nlet a = {written} %\n")
    (fix,) = finding.fixes
    assert Fraction(fix.text) == Fraction(written) / 100
