"""What a VNN-LIB file says at one point, read by a few lines of its own: the oracle for `eqspec.vnnlib`.

Nothing of the package is used. Only well-formed files are read; variables are looked up by the words they are written
with, such as X_0 or Y_f[0,3].
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any


def tree(text: str) -> list[Any]:
    """Nested lists of words; the subscript stays with its name."""
    bare = re.sub(r";[^\n]*", "", text)
    bare = re.sub(r"\s*\[\s*([^\]]*?)\s*\]", lambda m: "[" + re.sub(r"\s", "", m[1]) + "]", bare)
    stack: list[list[Any]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", bare):
        if word == "(":
            stack.append([])
        elif word == ")":
            inner = stack.pop()
            stack[-1].append(inner)
        else:
            stack[-1].append(word)
    (top,) = stack
    return top


def satisfied(text: str, values: Mapping[str, Fraction]) -> bool:
    """Whether all asserts of a file hold for these values."""
    asserted = [command[1] for command in tree(text) if command[0] == "assert"]
    assert asserted
    return all(_true(formula, values) for formula in asserted)


def _true(formula: Any, values: Mapping[str, Fraction]) -> bool:
    head, *rest = formula
    if head == "and":
        return all(_true(part, values) for part in rest)
    if head == "or":
        return any(_true(part, values) for part in rest)
    a, b = (_number(part, values) for part in rest)
    answers = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "=": a == b, "!=": a != b}
    return answers[head]


def _number(expression: Any, values: Mapping[str, Fraction]) -> Fraction:
    if isinstance(expression, str):
        return values[expression] if expression in values else Fraction(expression)
    head, *rest = expression
    numbers = [_number(part, values) for part in rest]
    if head == "+":
        return sum(numbers, Fraction(0))
    if head == "-":
        return -numbers[0] if len(numbers) == 1 else numbers[0] - sum(numbers[1:], Fraction(0))
    assert head == "*"
    result = Fraction(1)
    for number in numbers:
        result *= number
    return result


def declared(text: str) -> dict[str, tuple[str, list[int]]]:
    """The tensors of a 2.0 file in order: name to network and sizes."""
    found: dict[str, tuple[str, list[int]]] = {}
    for command in tree(text):
        if command[0] == "declare-network":
            for part in command[2:]:
                if part[0] in ("declare-input", "declare-output"):
                    sizes = re.findall(r"[0-9]+", part[2].split("[")[1])
                    found[part[1]] = (command[1], [int(size) for size in sizes])
    return found


def entries(name: str, sizes: list[int]) -> list[str]:
    """The words for all entries of a tensor, in row-major order."""
    words = [""]
    for size in sizes:
        words = [f"{word},{i}" if word else str(i) for word in words for i in range(size)]
    return [f"{name}[{word}]" if word else name for word in words]
