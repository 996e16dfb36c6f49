"""VNN-LIB files made to do harm: depth, numbers that cannot be formed, and formulas with more cases than atoms.

The network has two inputs and two outputs. Reading, importing and answering must each end in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

NAMES = ("X_0", "X_1", "Y_0", "Y_1")
DECLARED = "\n".join(f"(declare-const {name} Real)" for name in NAMES)
BOX = "(assert (and (>= X_0 0) (<= X_0 1) (>= X_1 0) (<= X_1 1)))"


def _asking(*asserts: str, declared: str = DECLARED, box: str = BOX) -> Callable[[Path], bytes]:
    text = "\n".join([declared, box, *(f"(assert {a})" for a in asserts)])
    return lambda _: text.encode()


def _tensor(shape: str) -> str:
    return (
        f"(vnnlib-version <2.0>)\n(declare-network f (declare-input X real {shape}) (declare-output Y real {shape}))\n"
    )


def _network(number: int) -> str:
    return f"(declare-network f{number} (declare-input X{number} real [2]) (declare-output Y{number} real [2]))\n"


def _both(number: int) -> str:
    return f"(and (>= Y_0 {number}) (>= Y_1 {number}))"


def _either(number: int) -> str:
    return f"(or (>= Y_0 {number}) (>= Y_1 {number}) (<= (+ Y_0 Y_1) -{number}))"


def _nested(depth: int, inner: str = "(>= Y_0 1)") -> str:
    for level in range(depth):
        inner = f"({'or' if level % 2 else 'and'} {inner} (>= Y_1 {level}))"
    return inner


QUERIES: dict[str, Callable[[Path], bytes]] = {
    "depth": lambda _: b"(" * 1_000_000,
    "depth that ends": lambda _: b"(" * 200_000 + b")" * 200_000,
    "depth of and": _asking("(and " * 50_000 + "(>= Y_0 1)" + ")" * 50_000),
    "depth of sums": _asking("(>= " + "(+ Y_0 " * 50_000 + "Y_1" + ")" * 50_000 + " 1)"),
    "depth of signs": _asking("(>= " + "(- " * 50_000 + "Y_1" + ")" * 50_000 + " 1)"),
    "and and or in turns": _asking(_nested(600)),
    "an exponent": _asking("(>= Y_0 1e999999999)"),
    "an exponent of an input": _asking("(>= Y_0 1)", "(<= X_0 1e999999999)"),
    "a negative exponent": _asking("(>= Y_0 1e-999999999)"),
    "an exponent of many digits": _asking("(>= Y_0 1e" + "9" * 100_000 + ")"),
    "a coefficient that is huge": _asking("(>= (* 1e999999999 Y_0) 1)"),
    "a million digits": _asking("(>= Y_0 " + "7" * 1_000_000 + ")"),
    "digits behind the point": _asking("(>= Y_0 0." + "3" * 1_000_000 + ")"),
    "no number": _asking("(>= Y_0 nan)"),
    "infinity": _asking("(>= Y_0 1)", "(<= X_0 inf)"),
    "large beyond floats": _asking("(>= Y_0 1e400)", "(>= Y_1 1e400)"),
    "coefficients beyond floats": _asking("(and (>= (* 1e400 Y_0) 1) (>= (+ Y_0 Y_1) 1))"),
    "cases to the fortieth": _asking(*(_either(n) for n in range(40))),
    "cases to the thousandth": _asking("(and " + " ".join(map(_either, range(1000))) + ")"),
    "alternatives": _asking("(or " + " ".join(f"(>= Y_0 {n})" for n in range(20_000)) + ")"),
    "alternatives of pairs": _asking("(or " + " ".join(map(_both, range(12_000))) + ")"),
    "a long conjunction": _asking("(and " + " ".join(f"(>= (+ Y_0 (* {n} Y_1)) 1)" for n in range(1, 2000)) + ")"),
    "asserts": _asking(*(f"(>= Y_0 {n})" for n in range(6_000))),
    "alternatives of inputs": _asking(
        "(>= Y_0 1)", *(f"(or (<= X_0 0.{n}) (>= X_1 0.{n}))" for n in range(10, 60)), box=BOX
    ),
    "a power": _asking("(>= (* " + "X_0 " * 6_000 + ") 1)"),
    "a power of a sum": _asking("(>= " + "(* (+ Y_0 Y_1 X_0 X_1) " * 40 + "1" + ")" * 40 + " 1)"),
    "squares of squares": _asking("(>= " + "(* Y_0 " * 2_000 + "Y_1" + ")" * 2_000 + " 1)"),
    "a constant that grows": _asking("(>= (* " + "1e300 " * 6_000 + "Y_0) 1)"),
    "a constant power of sums": _asking("(>= (* Y_0 " + "(+ 1e300 1e-300) " * 6_000 + ") 1)"),
    "declarations": _asking("(>= Y_0 1)", declared="\n".join(f"(declare-const X_{n} Real)" for n in range(20_000))),
    "an index": _asking("(>= Y_0 1)", declared=DECLARED + "\n(declare-const X_999999999999 Real)"),
    "a name of a million letters": _asking(f"(>= {'Y' * 1_000_000} 1)"),
    "a tensor": lambda _: _tensor("[999999999999]").encode(),
    "a tensor beyond 64 bits": lambda _: _tensor("[4294967296,4294967296,4294967296]").encode(),
    "a tensor of many axes": lambda _: _tensor("[" + ",".join("2" * 1000) + "]").encode(),
    "a tensor of a size of many digits": lambda _: _tensor("[" + "9" * 100_000 + "]").encode(),
    "places of a tensor": lambda _: (
        _tensor("[1000000]") + "(assert (and " + " ".join(f"(>= X[{n}] 0)" for n in range(6_000)) + "))"
    ).encode(),
    "networks": lambda _: ("(vnnlib-version <2.0>)\n" + "".join(map(_network, range(6_000)))).encode(),
    "comments": lambda _: b"; a\n" * 500_000,
    "no text": lambda _: bytes(range(256)) * 2000,
    "zeros": lambda _: bytes(1_000_000),
    "nothing": lambda _: b"",
}  # fmt: skip
