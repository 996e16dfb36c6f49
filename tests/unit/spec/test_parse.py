"""Text to syntax tree: what is kept, where it stands, and that nothing else changes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from eqspec.errors import SpecError
from eqspec.spec import ast, printer
from eqspec.spec.parse import parse_expression, parse_text

SPEC = """eqspec 1   # the language
# a comment of its own
## The trigger network
##   must agree.
network ref = "models/2_20.onnx" in s.jet takes raw gives logits

## not above anything

let pi = 3.1415e0 # behind
let sum = 1 - 2*-x^2 + (a - b)/600s
"""


def declarations(text: str) -> tuple[ast.Declaration, ...]:
    return parse_text("eqspec 1\n" + text).declarations


def only(text: str) -> Any:
    (found,) = declarations(text)
    return found


def nodes(node: object) -> Iterator[ast.Node]:
    if isinstance(node, ast.Node):
        yield node
        for field in dataclasses.fields(node):
            yield from nodes(getattr(node, field.name))
    elif isinstance(node, tuple):
        for item in node:
            yield from nodes(item)


def test_a_declaration_has_its_words_and_its_documentation() -> None:
    network, pi, _ = parse_text(SPEC).declarations
    assert network == ast.Network(
        ast.Name("ref"),
        ast.Text("models/2_20.onnx"),
        ast.QualifiedName(("s", "jet")),
        ast.Name("raw"),
        ast.Name("logits"),
        doc="The trigger network\nmust agree.",
    )
    assert pi == ast.Let(ast.Name("pi"), ast.Number("3.1415e0"))


def test_precedence() -> None:
    x, a, b = (ast.Reference(ast.QualifiedName((n,))) for n in "xab")
    square = ast.Negation(ast.Power(x, ast.Number("2")))
    quotient = ast.Product(ast.Group(ast.Sum(a, (("-", b),))), (("/", ast.Quantity("600s")),))
    product = ast.Product(ast.Number("2"), (("*", square),))
    assert parse_text(SPEC).declarations[2].value == ast.Sum(ast.Number("1"), (("-", product), ("+", quotient)))  # type: ignore[union-attr]


def test_comments_are_kept_with_their_places() -> None:
    file = parse_text(SPEC)
    assert [(c.span.line, c.span.column, c.doc) for c in file.comments] == [
        (1, 12, False),
        (2, 1, False),
        (3, 1, True),
        (4, 1, True),
        (7, 1, True),
        (9, 19, False),
    ]
    assert all(c.text == c.span.text for c in file.comments)
    assert parse_text('eqspec 1 let a = "#1" # two').comments[0].text == "# two"


@pytest.mark.parametrize("end", ["\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\u202e", "\u2067"])
@pytest.mark.parametrize("start", ["# a comment", "## of x", 'let x = "a text'])
def test_nothing_hides_behind_what_looks_like_the_end_of_a_line(start: str, end: str) -> None:
    """An editor shows the declaration on a line of its own, or in front of the comment."""
    if end in "\u202e\u2067" and start.startswith("let"):  # such a file may be named
        parse_text(f'eqspec 1\n{start}{end}"\n')
        return
    with pytest.raises(SpecError) as refused:
        parse_text(f'eqspec 1\n{start}{end}let hidden = "1"\n')
    first = refused.value.diagnostics[0]
    assert (first.code, first.span and first.span.text) == ("E009", end)
    parse_text(f"eqspec 1{end if end.isspace() else ''}\nlet a = 1\r\n# ends here\r\n")


def test_every_place_covers_its_words() -> None:
    source = SPEC + "region r(k) in s.jet = box { all within k sigma a: 1 [ft/s] .. 2 } and where { a <= 1 }\n"
    found = list(nodes(parse_text(source)))
    assert len(found) > 50
    for node in found:
        words = node.span.text
        match node:
            case ast.Name(text) | ast.Quantity(text) | ast.Comment(text):
                assert words == text
            case ast.Number(text):
                assert words.startswith(text)
            case ast.Text(value):
                assert words == f'"{value}"'
            case ast.QualifiedName(parts):
                assert words == ".".join(parts)
            case ast.Network():
                assert words.startswith("network ref")
                assert words.endswith("gives logits")


def test_trees_are_equal_when_they_say_the_same() -> None:
    spaced = SPEC.replace(" in ", "  in\n ").replace("# behind", "").replace("# a comment of its own", "")
    assert parse_text(spaced).declarations == parse_text(SPEC).declarations
    assert parse_text(SPEC.replace("raw", "normalised")) != parse_text(SPEC)
    assert parse_text(SPEC.replace("3.1415e0", "3.1415")) != parse_text(SPEC)


def test_numbers_keep_their_text() -> None:
    values = [d.value for d in declarations("let a = 1e-7 let b = 0.50 [ft/s] let c = 007 let d = 1.5GB")]  # type: ignore[union-attr]
    assert values == [ast.Number("1e-7"), ast.Number("0.50", "ft/s"), ast.Number("007"), ast.Quantity("1.5GB")]


def test_keywords_are_names_where_names_stand() -> None:
    region = only("region check(sigma, box) in space = let and in.region(find, all)")
    assert region.name.text == "check"
    assert [f.text for f in region.formals] == ["sigma", "box"]
    assert region.terms[1] == ast.Use(
        ast.QualifiedName(("in", "region")),
        (ast.Reference(ast.QualifiedName(("find",))), ast.Reference(ast.QualifiedName(("all",)))),
    )


def test_a_box_needs_no_separators_but_takes_them() -> None:
    spaced = only("region r in s = box { all within 2 sigma  a within 1 sigma of 3 b: -1 .. 1 c = 0.88 }")
    separated = only("region r in s = box { all within 2 sigma, a within 1 sigma of 3, b: -1 .. 1, c = 0.88, }")
    assert spaced == separated
    assert [type(b) for b in spaced.terms[0].bounds] == [ast.Within, ast.Within, ast.Ranged, ast.Fixed]
    assert spaced.terms[0].bounds[0].feature is None


def test_ranges_touch_their_numbers() -> None:
    rows = only('region r in s = ball linf 2/255 around rows 0..99, 7 of "a.csv" columns 1..784').terms[0].centre
    assert rows.rows == (ast.Range(ast.Number("0"), ast.Number("99")), ast.Range(ast.Number("7")))
    assert rows.columns == ast.Range(ast.Number("1"), ast.Number("784"))


def test_claims() -> None:
    check = only(
        "check c { prove g stays within 0.1 of f in l2 comparing [a, 1]  on r(1)  find smallest e in 0 .. 1 to 1e-3"
        "  expect equivalent if e >= 0.5  tags x, y  budget { timeout 60s jobs 4 } }"
    )
    assert [type(c).__name__ for c in check.clauses] == ["StaysWithin", "On", "Find", "Expect", "Tags", "Budget"]
    assert check.clauses[0].norm == ast.Name("l2")
    assert check.clauses[0].comparing.items[1] == ast.Number("1")
    satisfies = only("check c { prove g satisfies g[a] - f[0] < 2 on r }").clauses[0]
    assert satisfies.comparison.left == ast.Sum(
        ast.Reference(ast.QualifiedName(("g",)), ast.Name("a")),
        (("-", ast.Reference(ast.QualifiedName(("f",)), ast.Number("0"))),),
    )


def test_five_thousand_declarations() -> None:
    text = "eqspec 1\n" + "".join(f"region r{i} in s = box {{ all within {i} sigma }}\n" for i in range(5_000))
    file = parse_text(text)
    assert len(file.declarations) == 5_000
    assert file.declarations[-1].span.line == 5_001


def test_errors_far_apart_are_all_found_and_the_rest_is_counted() -> None:
    lines = [f"let a{i} = {'' if i % 100 == 0 else i}" for i in range(1, 5_000)]
    with pytest.raises(SpecError) as caught:
        parse_text("eqspec 1\n" + "\n".join(lines))
    found = caught.value.diagnostics
    assert len(found) == 20
    assert [d.span.line for d in found if d.span] == [100 * i + 2 for i in range(1, 21)]


def test_single_expressions() -> None:
    assert parse_expression("1/3", "-p x") == ast.Product(ast.Number("1"), (("/", ast.Number("3")),))
    with pytest.raises(SpecError, match="expected a value"):
        parse_expression("1 +", "-p x")
    with pytest.raises(SpecError, match="deeper"):
        parse_expression("(" * 200 + "1" + ")" * 200, "-p x")


def test_words_of_later_sentences_are_still_names() -> None:
    """What was written before grids and claims about types means what it meant."""
    text = (
        "eqspec 1\n"
        "let step = 1\n"
        "space never { features step, grid, equals  outputs wraps }\n"
        'network equals = "a.onnx" in never\n'
        "region grid in never = box { step: 0 .. 1  grid: 0 .. 1  equals: 0 .. step }\n"
        "region saturates(never) in never = grid and box { all: 0 .. never }\n"
        "region other in never = saturates(1) and grid\n"
        "check never { prove equals stays within step of equals  on grid  tags wraps, grid }\n"
    )
    file = parse_text(text)
    regions = [d for d in file.declarations if isinstance(d, ast.Region)]
    kinds = [[type(term) for term in region.terms] for region in regions]
    assert kinds == [[ast.Box], [ast.Use, ast.Box], [ast.Use, ast.Use]]
    assert parse_text(printer.text(file)) == file


@pytest.mark.parametrize("between", ["", " ", "\n", " # a comment { with a brace\n  # and another\n", "\t\r\n"])
def test_a_grid_is_one_whatever_stands_before_its_brace(between: str) -> None:
    (region,) = parse_text(
        f"eqspec 1\nregion r in s = grid{between}{{ all step 2 sigma from 1, a step 1/2 }}"
    ).declarations
    assert isinstance(region, ast.Region)
    one, other = ast.Number("1"), ast.Product(ast.Number("1"), (("/", ast.Number("2")),))
    spacings = ast.Spacing(None, ast.Number("2"), True, one), ast.Spacing(ast.Name("a"), other)
    assert region.terms == (ast.Grid(spacings),)


def test_looking_for_the_brace_takes_no_time() -> None:
    parse_text("eqspec 1\nregion r in s = grid" + " # ####" * 3000 + "\n" * 3000 + "and box { }")
