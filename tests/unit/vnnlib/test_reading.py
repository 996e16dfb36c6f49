"""Files are read as they are, or refused with a finding at its place: nothing is skipped, nothing runs away."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.errors import SpecError
from eqspec.report import diagnostics
from eqspec.vnnlib.importing import import_query
from eqspec.vnnlib.query import All, Comparison, Element, Some
from eqspec.vnnlib.reading import read_text

HEAD = "(vnnlib-version <2.0>) (declare-network f (declare-input X real [2]) (declare-output Y real [2]))\n"
PAIR = HEAD + "(declare-network g (declare-input U real [2]) (declare-output V real [2]))\n"
BOX = "(assert (and (>= X[0] 0) (<= X[0] 1) (>= X[1] 0) (<= X[1] 1)))\n"
TIED = BOX + "(assert (== X[0] U[0])) (assert (== X[1] U[1]))\n"
OLD = "(declare-const X_0 Real) (declare-const Y_0 Real)\n"
OLD_BOX = "(assert (>= X_0 0)) (assert (<= X_0 1))\n"


def codes(text: str) -> list[tuple[str, str]]:
    """The findings of reading and importing: code, and the text they point at."""
    try:
        made = import_query(read_text(text))
    except SpecError as problem:
        diagnostics.of_error(problem)  # every finding can be shown
        return [(d.code, d.span.text if d.span else "") for d in problem.diagnostics if d.severity == "error"]
    return [(d.code, d.span.text if d.span else "") for d in made.warnings if d.code != "W605"]


REFUSED = {
    "an open bracket": ("(assert (<= X_0 1)", "E600", "("),
    "a bracket too many": (OLD + "(assert (<= X_0 1)))", "E600", ")"),
    "a word outside": (OLD + "hello (assert (<= X_0 1))", "E600", "hello"),
    "an unknown command": (OLD + "(asert (<= X_0 1))", "E600", "asert"),
    "nothing asserted": (OLD, "E600", "("),
    "infix": (OLD + "(assert (X_0 <= 1))", "E600", "<="),
    "three sides": (OLD + "(assert (<= 0 X_0 1))", "E600", "(<= 0 X_0 1)"),
    "and of nothing": (OLD + "(assert (and))", "E600", "(and)"),
    "two formulas": (OLD + "(assert (<= X_0 1) (<= X_0 2))", "E600", "(assert (<= X_0 1) (<= X_0 2))"),
    "not": (OLD + "(assert (not (<= X_0 1)))", "E603", "not"),
    "division": (OLD + "(assert (<= (/ X_0 2) 1))", "E603", "/"),
    "undeclared": (OLD + "(assert (<= X_1 1))", "E604", "X_1"),
    "a minus in a name": (OLD + "(assert (<= X-0 1))", "E604", "X-0"),
    "a gap": ("(declare-const X_1 Real) (assert (<= X_1 1))", "E604", "X_1"),
    "twice": (OLD + "(declare-const X_0 Real) (assert (<= X_0 1))", "E604", "X_0"),
    "another letter": ("(declare-const Z_0 Real) (assert (<= Z_0 1))", "E604", "Z_0"),
    "not a number": (OLD + "(assert (<= X_0 1.2.3))", "E604", "1.2.3"),
    "a huge exponent": (OLD + "(assert (<= X_0 1e999999999))", "E612", "1e999999999"),
    "a string": (OLD + '(assert (<= X_0 "1"))', "E604", '"1"'),
    "another version": ("(vnnlib-version <3.0>)", "E603", "<3.0>"),
    "out of the shape": (HEAD + "(assert (<= X[2] 1))", "E604", "X[2]"),
    "too few axes": (HEAD + "(assert (<= X 1))", "E604", "X"),
    "a negative place": (HEAD + "(assert (<= X[-1] 1))", "E600", "X[-1]"),
    "integers": (HEAD.replace("real", "int8") + BOX, "E603", "int8 [2]"),
    "a huge shape": (HEAD.replace("[2]", "[99999,99999]") + BOX, "E612", "real [99999,99999]"),
    "an empty shape": (HEAD.replace("X real [2]", "X real [0]") + BOX, "E600", "real [0]"),
    "several inputs": (
        HEAD.replace("(declare-output", "(declare-input Z real [1]) (declare-output") + BOX,
        "E603",
        "(declare-input Z real [1])",
    ),
    "no bound": (HEAD + "(assert (<= X[0] 1)) (assert (<= Y[0] 1))", "E132", "(assert (<= X[0] 1))"),
    "crossed bounds": (HEAD + BOX + "(assert (<= X[0] -1)) (assert (<= Y[0] 1))", "E133", "(<= X[0] -1)"),
    "a half-tied pair": (PAIR + BOX + "(assert (== X[0] U[0])) (assert (<= V[0] 1))", "E610", "g"),
    "monotonicity": (
        PAIR + BOX + "(assert (== X[0] U[0])) (assert (<= X[1] U[1])) (assert (<= V[0] 1))",
        "E610",
        "(<= X[1] U[1])",
    ),
    "swapped inputs": (
        PAIR + BOX + "(assert (== X[0] U[1])) (assert (== X[1] U[0])) (assert (<= V[0] 1))",
        "E610",
        "(== X[0] U[1])",
    ),
    "turned inputs": (
        PAIR + BOX + "(assert (== X[0] (- U[0]))) (assert (== X[1] U[1])) (assert (<= V[0] 1))",
        "E610",
        "(== X[0] (- U[0]))",
    ),
    "inputs with outputs": (HEAD + BOX + "(assert (<= X[0] Y[0]))", "E611", "(<= X[0] Y[0])"),
    "two at once": (HEAD + BOX + "(assert (>= Y[0] 1)) (assert (>= Y[1] 1))", "E611", "(>= Y[0] 1)"),
    "half of top1": (
        PAIR + TIED + "(assert (and (>= Y[0] Y[1]) (> V[1] V[0])))",
        "E611",
        "(>= Y[0] Y[1])",
    ),
    "closed top1": (
        PAIR + TIED + "(assert (or (and (>= Y[0] Y[1]) (>= V[1] V[0])) (and (>= Y[1] Y[0]) (>= V[0] V[1]))))",
        "E611",
        "(>= Y[0] Y[1])",
    ),
    "agreement": (
        PAIR + TIED + "(assert (and (<= V[0] (+ Y[0] 0.1)) (>= V[0] (- Y[0] 0.1))))",
        "E601",
        "(<= V[0] (+ Y[0] 0.1))",
    ),
    "both sides at once": (
        PAIR + TIED + "(assert (and (> V[0] (+ Y[0] 0.1)) (< V[0] (- Y[0] 0.1))))",
        "E602",
        "(> V[0] (+ Y[0] 0.1))",
    ),
    "round in circles": (
        HEAD.replace("Y real [2]", "Y real [3]") + BOX + "(assert (and (< Y[0] Y[1]) (<= Y[1] Y[2]) (<= Y[2] Y[0])))",
        "E602",
        "(< Y[0] Y[1])",
    ),
    "plainly false": (HEAD + BOX + "(assert (and (<= Y[0] 1) (< 2 1)))", "E133", ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, code, place = REFUSED[name]
    found = codes(text)
    assert code in [c for c, _ in found]
    if place:
        assert (code, place) in found


NOTICED = {
    "Real": (HEAD.replace("X real", "X Real") + BOX, "W601"),
    "an exponent": (HEAD + BOX + "(assert (<= Y[0] 1e-3))", "W601"),
    "one equals sign": (HEAD + BOX + "(assert (= X[0] 0)) (assert (<= Y[0] 1))", "W601"),
    "a missing input": (
        HEAD + BOX + "(declare-network g (declare-output V real [2])) (assert (> V[0] (+ Y[0] 1)))",
        "W601",
    ),
    "a strict input": (HEAD + BOX + "(assert (< X[0] 0.5)) (assert (<= Y[0] 1))", "W602"),
    "numbers compared": (HEAD + BOX + "(assert (<= (- X[0] X[0]) 0)) (assert (<= Y[0] 1))", "W603"),
    "float32": (HEAD.replace("real", "float32") + BOX + "(assert (<= Y[0] 1))", "W604"),
}


@pytest.mark.parametrize("name", NOTICED)
def test_noticed(name: str) -> None:
    text, code = NOTICED[name]
    assert code in [c for c, _ in codes(text)]


def test_line_ends_of_all_systems_end_comments() -> None:
    text = OLD + "; a\n" + OLD_BOX + "; (assert\n(assert (<= Y_0 1)) ; b\n; c"
    wanted = len(read_text(text).query.assertions)
    assert len(read_text(text.replace("\n", "\r\n")).query.assertions) == wanted
    assert len(read_text(text.replace("\n", "\r\r\n") + "\r").query.assertions) == wanted


def test_all_errors_of_a_file_are_reported_together() -> None:
    found = codes(OLD + "(assert (<= X_7 1)) (assert (X_0 <= 1)) (assert (not (<= X_0 1)))")
    assert [code for code, _ in found] == ["E604", "E600", "E603"]


def test_or_stays_or_and_and_stays_and() -> None:
    query = read_text(OLD + "(assert (or (<= X_0 1) (and (>= X_0 2) (<= Y_0 3))))").query
    x, y = Element(0, False, 0), Element(0, True, 0)
    (assertion,) = query.assertions
    assert isinstance(assertion.formula, Some)
    first, second = assertion.formula.parts
    assert isinstance(first, Comparison)
    assert (first.coefficients, first.bound) == ({x: 1}, 1)
    assert isinstance(second, All)
    found = [(part.coefficients, part.bound) for part in second.parts if isinstance(part, Comparison)]
    assert found == [({x: -1}, -2), ({y: 1}, 3)]


def test_numbers_are_exact() -> None:
    query = read_text(OLD + "(assert (<= (* 3 X_0) 0.1))").query
    comparison = query.assertions[0].formula
    assert isinstance(comparison, Comparison)
    assert comparison.bound == Fraction(1, 30)


TIMES = " ".join(f"(or (<= {{0}}[0] {i}) (<= {{0}}[1] {i}))" for i in range(60))
HOSTILE = {
    "deep brackets": ("(" * 200_000, "E612"),
    "deep ands": (OLD + "(assert " + "(and " * 5000 + "(<= X_0 1)" + ")" * 5001, "E612"),
    "alternatives that multiply": (HEAD + BOX + f"(assert (and {TIMES.format('Y')}))", "E612"),
    "areas that multiply": (HEAD + BOX + f"(assert (and {TIMES.format('X')}))", "E612"),
    "a long number": (OLD + f"(assert (<= X_0 {'9' * 100_000}))", "E612"),
    "numbers that multiply": (OLD + f"(assert (<= (* {'1e399 ' * 2000} X_0) 1))", "E612"),
    "sums that multiply": (
        HEAD.replace("[2]", "[1000]")
        + f"(assert (<= (* (+ {' '.join(f'X[{i}]' for i in range(1000))}) (+ "
        + f"{' '.join(f'Y[{i}]' for i in range(1000))})) 1))",
        "E612",
    ),
    "many variables at once": (HEAD + f"(assert (<= (* {'X[0] ' * 5000}) 1))", "E603"),
    "no end of a string": (HEAD + '"' * 100_001, "E600"),
    "many brackets": (OLD + "()" * 5_000, "E600"),
    "one long word": (OLD + "a" * 1_000_000, "E600"),
    "a line that ends inside of a comment": (
        OLD + OLD_BOX + "; no bound\r(assert (>= Y_0 2))\n(assert (<= Y_0 9))",
        "E600",
    ),
    "control characters": (OLD + "(assert (<= X_0 \x00\x1b[31m))", "E600"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(name: str) -> None:
    """Before they cost anything: what multiplies here would take hours, and more memory than there is."""
    text, code = HOSTILE[name]
    assert code in [c for c, _ in codes(text)]


def test_large_files_are_read_in_proportion() -> None:
    """As many inputs as an image has."""
    size = 5_000
    lines = [f"(declare-const X_{i} Real)" for i in range(size)] + ["(declare-const Y_0 Real)"]
    lines += [f"(assert (<= X_{i} 1)) (assert (>= X_{i} 0.5))" for i in range(size)] + ["(assert (<= Y_0 0))"]
    made = import_query(read_text("\n".join(lines)))
    assert made.text.count("0.5 .. 1") == size


WORDS = [
    "(",
    ")",
    "and",
    "or",
    "<=",
    ">",
    "==",
    "X[0]",
    "X[1]",
    "Y[0]",
    "V[1]",
    "U[0]",
    "0.5",
    "-1",
    "+",
    "-",
    "*",
    "assert",
    "1e5",
    ";",
    "[",
    "]",
]


@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_any_words_are_read_or_refused(words: list[str]) -> None:
    codes(PAIR + TIED + "(assert " + " ".join(words) + ")")


@given(st.randoms(use_true_random=False))
def test_damaged_files_are_read_or_refused(random: Random) -> None:
    text = PAIR + TIED + "(assert (or (> V[0] (+ Y[0] 0.5)) (and (<= Y[0] Y[1]) (or (< V[0] V[1]) (== V[0] 1)))))"
    for _ in range(random.randint(1, 4)):
        at, length = random.randrange(len(text)), random.randint(0, 6)
        text = (
            text[:at] + random.choice(["", " ", "(", ")", "9", "[", "-", "X", "\u00e9", "\x00"]) + text[at + length :]
        )
    codes(text)


@given(st.text(max_size=60))
def test_any_text_is_refused_without_an_exception(text: str) -> None:
    assert codes(text)
