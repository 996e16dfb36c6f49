"""The parser of the standard (vnnlib on PyPI) beside ours: it takes what we write, and reads what we read."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.cli import main
from eqspec.vnnlib.query import Element, holds
from eqspec.vnnlib.reading import read_file, read_text

vnnlib = pytest.importorskip("vnnlib", reason="the parser of the standard has no wheel for this system")
SPECS = Path(__file__).parents[3] / "specs"
HEAD = """(vnnlib-version <2.0>)
(declare-network f (declare-input X real [2]) (declare-output Y real [1,2]))
(declare-network g (isomorphic-to f) (declare-input U real [2]) (declare-output V real [1,2]))
"""
TENSORS = {"X": (0, False), "Y": (0, True), "U": (1, False), "V": (1, True)}


@pytest.mark.parametrize("spec", ["tiny/tiny.eqspec", "lhc.eqspec", "cells.eqspec"])
def test_it_takes_what_is_exported(spec: str, tmp_path: Path) -> None:
    assert main(["export", str(SPECS / spec), "--to", "vnnlib2", "-o", str(tmp_path)]) == 0
    files = sorted((tmp_path / "vnnlib").glob("*.vnnlib"))
    assert files
    rng = np.random.default_rng(0)
    for file in files[:12]:
        query, ours = vnnlib.parse_query_file(str(file)), read_file(file).query
        assert [n.name for n in query.networks] == [n.name for n in ours.networks]
        tensors = {
            t.name: (number, output)
            for number, n in enumerate(ours.networks)
            for t, output in ((n.input, False), (n.output, True))
            if t is not None
        }
        shapes = {t.name: t.shape for n in ours.networks for t in (n.input, n.output) if t is not None}
        sizes = {place: int(np.prod(shapes[name])) for name, place in tensors.items()}
        values = {place: [Fraction(int(v), 4) for v in rng.integers(-9, 9, size)] for place, size in sizes.items()}
        agree(query, ours, tensors, shapes, values)


@pytest.mark.part(15)
@pytest.mark.parametrize("seed", range(40))
def test_formulas_hold_at_the_same_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = HEAD + "".join(f"(assert {formula(rng, 3)})\n" for _ in range(2))
    query, ours = vnnlib.parse_query_string(text), read_text(text).query
    shapes = {"X": (2,), "U": (2,), "Y": (1, 2), "V": (1, 2)}
    for _ in range(25):
        values = {place: [Fraction(int(v), 4) for v in rng.integers(-5, 6, 2)] for place in TENSORS.values()}
        agree(query, ours, TENSORS, shapes, values)


def agree(query: Any, ours: Any, tensors: Any, shapes: Any, values: Any) -> None:
    """Every assert holds by both, or by none."""

    def at(element: Element) -> tuple[Fraction, Fraction]:
        number = values[element.network, element.output][element.entry]
        return number, number

    def variable(name: str, indices: list[int]) -> Fraction:
        return Fraction(values[tensors[name]][int(np.ravel_multi_index(tuple(indices), shapes[name]))])

    assert len(query.assertions) == len(ours.assertions)
    for theirs, own in zip(query.assertions, ours.assertions, strict=True):
        assert true(theirs.expr, variable) == holds(own.formula, at)


def true(expression: Any, variable: Any) -> bool:
    kind = type(expression).__name__
    if kind in ("And", "Or"):
        return (all if kind == "And" else any)(true(part, variable) for part in expression.args)
    left, right = number(expression.lhs, variable), number(expression.rhs, variable)
    return {
        "LessEqual": left <= right,
        "LessThan": left < right,
        "GreaterEqual": left >= right,
        "GreaterThan": left > right,
        "Equal": left == right,
        "NotEqual": left != right,
    }[kind]


def number(expression: Any, variable: Any) -> Fraction:
    kind = type(expression).__name__
    if kind == "Var":
        return Fraction(variable(expression.name, expression.indices))
    if kind in ("Float", "Int"):
        return Fraction(expression.lexeme)
    if kind == "Negate":
        return -number(expression.expr, variable)
    if kind == "Minus":
        rest = [number(part, variable) for part in expression.rest]
        return number(expression.head, variable) - sum(rest, Fraction(0))
    parts = [number(part, variable) for part in expression.args]
    return sum(parts, Fraction(0)) if kind == "Plus" else product(parts)


def product(numbers: list[Fraction]) -> Fraction:
    made = Fraction(1)
    for one in numbers:
        made *= one
    return made


def formula(rng: np.random.Generator, depth: int) -> str:
    """A formula of comparisons that vary, as the standard has them: real constants have a point."""
    if depth and rng.random() < 0.6:
        parts = " ".join(formula(rng, depth - 1) for _ in range(rng.integers(2, 4)))
        return f"({rng.choice(['and', 'or'])} {parts})"
    relation = rng.choice(["<=", ">=", "<", ">", "=="])
    return f"({relation} {term(rng, 2)} {rng.choice([term(rng, 1), constant(rng)])})"


def term(rng: np.random.Generator, depth: int) -> str:
    entry = int(rng.integers(2))
    element = str(rng.choice([f"X[{entry}]", f"U[{entry}]", f"Y[0,{entry}]", f"V[0,{entry}]"]))
    if not depth or rng.random() < 0.3:
        return element
    match int(rng.integers(4)):
        case 0:
            return f"(+ {term(rng, depth - 1)} {constant(rng)} {element})"
        case 1:
            return f"(- {term(rng, depth - 1)} {constant(rng)} {constant(rng)})"
        case 2:
            return f"(* {constant(rng)} {element})"
        case _:
            return f"(- {element})"


def constant(rng: np.random.Generator) -> str:
    return f"{int(rng.integers(-8, 9)) / 4}"
