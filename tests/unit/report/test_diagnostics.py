"""How findings look: the layouts of the language description, and everything that could break a layout."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from eqspec.errors import Diagnostic, Label, SpecError
from eqspec.report.diagnostics import of_error, plain, text, to_json
from eqspec.report.printable import harmless
from eqspec.span import Source, Span

LINES = (
    "\n" * 9 + 'netwrok ref = "models/2_20.onnx" in jet\nnetwork pruned = "models/2_20-p10.onnx" in jet\n' + "\n" * 5
)
LHC = Source("lhc.eqspec", LINES + "  prove  pruned keeps top1 of ref when confidence >= delta\n")


def place(source: Source, words: str) -> Span:
    start = source.text.index(words)
    return Span(source, start, start + len(words))


def test_a_finding_with_a_text_at_its_caret() -> None:
    span = place(LHC, "netwrok")
    label = Label(span, "expected one of include, let, param, space, network, region, check, budget")
    found = Diagnostic("E002", "error", "unknown declaration 'netwrok'", span, (label,), "did you mean 'network'?")
    assert plain([found]) == (
        "error[E002]: unknown declaration 'netwrok'\n"
        "  --> lhc.eqspec:10:1\n"
        "   |\n"
        '10 | netwrok ref = "models/2_20.onnx" in jet\n'
        "   | ^^^^^^^ expected one of include, let, param, space, network, region, check, budget\n"
        "   = help: did you mean 'network'?\n"
    )


def test_a_second_place_stands_in_order_of_lines() -> None:
    span, file = place(LHC, "pruned keeps"), place(LHC, '"models/2_20-p10.onnx"')
    span = Span(LHC, span.start, span.start + len("pruned"))
    labels = (
        Label(file, "output 'Y' has shape [1, 4] in this file"),
        Label(span, "space 'jet' declares 5 outputs: g, q, w, z, t"),
    )
    message = "networks 'pruned' and 'ref' do not compare: 4 outputs against 5"
    found = Diagnostic("E201", "error", message, span, labels, "is this the right file?")
    assert plain([found]) == (
        "error[E201]: networks 'pruned' and 'ref' do not compare: 4 outputs against 5\n"
        "  --> lhc.eqspec:17:10\n"
        "   |\n"
        '11 | network pruned = "models/2_20-p10.onnx" in jet\n'
        "   |                  ---------------------- output 'Y' has shape [1, 4] in this file\n"
        "17 |   prove  pruned keeps top1 of ref when confidence >= delta\n"
        "   |          ^^^^^^ space 'jet' declares 5 outputs: g, q, w, z, t\n"
        "   = help: is this the right file?\n"
    )


def test_a_place_in_another_file_is_shown_under_its_name() -> None:
    other = Source("common.eqspec", "eqspec 1\nlet a = 2\n")
    span = place(LHC, "ref =")
    found = Diagnostic("E104", "error", "'a' is declared twice", span, (Label(place(other, "a ="), "first here"),))
    assert harmless(plain([found])) == plain([found])  # no line of it is a command to a workflow of GitHub
    assert plain([found]).splitlines()[-3:] == ["  --> common.eqspec:2:5", " 2 | let a = 2", "   |     --- first here"]


def test_long_lines_are_cut_around_the_caret() -> None:
    source = Source("long.eqspec", "a" * 300 + " here " + "b" * 300)
    found = plain([Diagnostic("E001", "error", "m", place(source, "here"))], width=60)
    lines = found.splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[3].startswith("1 | ...aaa")
    assert lines[3].endswith("bbb...")
    assert lines[3][lines[4].index("^") : lines[4].rindex("^") + 1] == "here"


def test_wide_characters_and_tabs_keep_the_caret_in_place() -> None:
    source = Source("wide.eqspec", "\t\u6f22\u5b57 x\n")
    lines = plain([Diagnostic("E001", "error", "m", place(source, "x"))]).splitlines()
    assert lines[4] == " " * 2 + "| " + " " * (4 + 4 + 1) + "^"


def test_control_characters_cannot_reach_the_terminal() -> None:
    source = Source("evil\x1b[2J.eqspec", "a \x1b[31m b\n")
    found = plain([Diagnostic("E001", "error", "m \x07", place(source, "b"), (), "h \x1b")])
    assert "\x1b" not in found
    assert "\x07" not in found


def test_an_end_of_file_and_no_place_at_all() -> None:
    source = Source("end.eqspec", "a")
    assert plain([Diagnostic("E001", "error", "m", Span(source, 1, 1))]).splitlines()[-1] == "  |  ^"
    assert plain([Diagnostic("E001", "error", "m", Span(Source("empty", ""), 0, 0))]).splitlines()[-1] == "  | ^"
    assert plain([Diagnostic("E101", "error", "m", None, (), "h")]) == "error[E101]: m\n = help: h\n"


def test_findings_are_counted() -> None:
    span = place(LHC, "netwrok")
    wrong, warned = Diagnostic("E001", "error", "m", span), Diagnostic("W301", "warning", "m", span)
    assert plain([wrong, warned]).splitlines()[-1] == "1 error, 1 warning"
    assert plain([wrong, wrong], hidden=13).splitlines()[-3:] == ["... and 13 more errors", "", "15 errors"]
    assert of_error(SpecError([wrong], hidden=2)).plain.splitlines()[-1] == "3 errors"


def test_colour_only_where_a_console_wants_it() -> None:
    found = text([Diagnostic("E001", "error", "m", place(LHC, "netwrok"))])
    out = StringIO()
    Console(file=out, force_terminal=True, color_system="standard", no_color=False).print(found)
    assert "\x1b[" in out.getvalue()
    out = StringIO()
    Console(file=out).print(found)
    assert "\x1b[" not in out.getvalue()


def test_json_has_all_of_it() -> None:
    span = place(LHC, "netwrok")
    found = to_json(Diagnostic("E001", "error", "m", span, (Label(span, "l"),), "h"))
    assert (found["file"], found["line"], found["column"], found["end_line"], found["end_column"]) == (
        "lhc.eqspec",
        10,
        1,
        10,
        8,
    )
    assert (found["code"], found["message"], found["help"], found["labels"][0]["text"]) == ("E001", "m", "h", "l")
    assert to_json(Diagnostic("E101", "error", "m", None))["file"] is None
