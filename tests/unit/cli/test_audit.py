"""`eqspec audit` in brief: a line under each heading, and nothing left out that changes what is claimed."""

from __future__ import annotations

from eqspec.cli.tools.audit import _in_brief

SAID = [
    ("claim", "the same"),
    ("region", "9 normalised inputs"),
    *[("region", f"input {i}: 0 .. {i}") for i in range(9)],
    ("region", "and of it only the points of a grid"),
    ("region", "inputs 0 to 8: 0 + k * 1, k a whole number"),
    ("region", "and 1 linear constraints, 0 of them strict"),
    ("raw units", "by the normalisation that the certificate states"),
    ("raw units", "inputs 0 to 8: 0 .. 1"),
    ("reference", "a.onnx"),
    ("reference", "integers of its output stand for numbers"),
    ("sha256", "aa"),
    ("candidate", "b.onnx"),
    ("sha256", "bb"),
    ("note", "VACUOUS"),
]


def test_each_heading_has_a_line_and_each_file_its_digest() -> None:
    assert dict(_in_brief(SAID)) == {
        "claim": "the same",
        "region": "9 normalised inputs; input 0: 0 .. 0; input 1: 0 .. 1; input 2: 0 .. 2;"
        " and of it only the points of a grid; and 1 linear constraints, 0 of them strict; 7 lines more with --verbose",
        "raw units": "by the normalisation that the certificate states; 1 line more with --verbose",
        "reference": "a.onnx; integers of its output stand for numbers; sha256 aa",
        "candidate": "b.onnx; sha256 bb",
        "note": "VACUOUS",
    }
    assert len(_in_brief(SAID)) == 6


def test_a_single_line_more_is_shown() -> None:
    assert _in_brief([("input", f"input {i}: 0") for i in range(4)]) == [
        ("input", "input 0: 0; input 1: 0; input 2: 0; input 3: 0")
    ]
