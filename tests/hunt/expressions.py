"""Random small expressions of functions that jump or have no value somewhere, as ONNX files and exactly evaluated.

An expression is a list of nodes; node i reads earlier values, of which the first are the inputs. Every value is one
number. Constants are dyadic with few bits. `evaluate` follows the definition of each operator, in rationals as long as
it can and else to 60 digits, and uses nothing of eqspec. It raises `NoValueError` where the function has none, and
`UnsureError` where 60 digits do not tell on which side of a jump a number lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf
from onnx import TensorProto, helper, numpy_helper

Random = np.random.Generator
Value = Any
"""A Fraction, or an mpf that is right to about 50 digits."""
DIGITS = 60
_NEAR = mpf(10) ** -40


class NoValueError(ArithmeticError):
    """The function has no value at this point."""


class UnsureError(ArithmeticError):
    """A number lies too near to a jump to be told from it."""


@dataclass(frozen=True)
class Node:
    """An operator, the numbers of the values that it reads, and its constants."""

    kind: str
    reads: tuple[int, ...]
    constants: tuple[float, ...] = ()


@dataclass(frozen=True)
class Expression:
    """Nodes over `inputs` numbers, and the numbers of the values that are the outputs."""

    inputs: int
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]


EXACT = ("Neg", "Abs", "Relu", "Floor", "Ceil", "Round", "Sign", "Reciprocal", "Clip")
SMOOTH = ("Exp", "Log", "Sqrt", "Sin", "Tanh", "Sigmoid", "Tan", "Asin", "Acos", "Atanh", "Acosh", "Atan")
BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
SEVERAL = (
    "ArgMax",
    "ArgMin",
    "Hardmax",
    "Softmax",
    "LogSoftmax",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceProd",
)
"""Of two or three values, of which the first counts where several are given."""
AFFINE = ("AddConstant", "MulConstant", "AddConstant", "MulConstant", "Pow", "Mod", "Choose", "Choose")
_POWERS = (0.5, -1.0, -2.0, 0.0, 3.0, -0.5, 1.5, 2.0, 1.0)


def random_expression(rng: Random, inputs: int, outputs: int) -> Expression:
    """One to seven nodes that read what is there, the newest with preference."""
    nodes: list[Node] = []
    kinds = [AFFINE, EXACT, BINARY, SMOOTH, SEVERAL]
    for _ in range(int(rng.integers(1, 8))):
        kind = str(rng.choice(kinds[int(rng.choice(5, p=[0.27, 0.26, 0.2, 0.17, 0.1]))]))
        nodes.append(_node(rng, kind, inputs + len(nodes)))
    last = inputs + len(nodes) - 1
    chosen = [last, *(int(k) for k in rng.integers(0, last + 1, outputs - 1))]
    return Expression(inputs, tuple(nodes), tuple(chosen))


def _node(rng: Random, kind: str, values: int) -> Node:
    def one() -> int:
        return values - 1 if rng.random() < 0.6 else int(rng.integers(values))

    def constant() -> float:
        return float(rng.integers(-12, 13)) / float(rng.choice([1, 2, 4]))

    match kind:
        case "AddConstant" | "MulConstant":
            return Node(kind, (one(),), (constant(),))
        case "Pow":
            return Node(kind, (one(),), (float(rng.choice(_POWERS)),))
        case "Mod":
            return Node(kind, (one(),), (float(rng.choice([0.5, 1.0, 3.0])),))
        case "Clip":
            return Node(kind, (one(),), tuple(sorted((constant(), constant()))))
        case "Choose":  # where value > constant (or another comparison) then one value, else another
            return Node(
                f"Choose{rng.choice(['Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', 'Equal'])}",
                (one(), int(rng.integers(values)), int(rng.integers(values))),
                (float(rng.integers(-4, 5)) / 2,),
            )
    if kind in SEVERAL:
        return Node(kind, (one(), *(int(k) for k in rng.integers(0, values, int(rng.integers(1, 3))))))
    return Node(kind, (one(), int(rng.integers(values))) if kind in BINARY else (one(),))


def evaluate(expression: Expression, point: Sequence[Fraction]) -> list[Value]:
    """The outputs at a point."""
    with mp.workdps(DIGITS):
        values: list[Value] = list(point)
        for node in expression.nodes:
            try:
                values.append(_value(node, [values[k] for k in node.reads]))
            except (NoValueError, UnsureError) as error:  # which matters only to what reads it
                values.append(error)
        made = [values[k] for k in expression.outputs]
        for value in made:
            if isinstance(value, ArithmeticError):
                raise value
        return made


def _value(node: Node, given: list[Value]) -> Value:
    constants = [Fraction(c) for c in node.constants]
    if node.kind.startswith("Choose"):
        if isinstance(given[0], ArithmeticError):
            raise given[0]
        value = given[1] if _compare(node.kind[6:], given[0], constants[0]) else given[2]
        if isinstance(value, ArithmeticError):
            raise value
        return value
    for value in given:
        if isinstance(value, ArithmeticError):
            raise value
    if node.kind in SEVERAL:
        return _of_several(node.kind, given)
    if node.kind in _BINARY:
        return _BINARY[node.kind](*_alike(*given))
    if node.kind in BINARY:
        return Fraction(int(_compare(node.kind, *given)))
    x = given[0]
    match node.kind:
        case "AddConstant":
            return sum(_alike(x, constants[0]))
        case "MulConstant":
            return _times(*_alike(x, constants[0]))
        case "Clip":
            return _least(_most(x, constants[0]), constants[1])
        case "Pow":
            return _power(x, constants[0])
        case "Mod":
            quotient = _divided(*_alike(x, constants[0]))
            return _sum(x, _times(*_alike(-constants[0], _truncated(quotient))))
    return _UNARY[node.kind](x)


def _of_several(kind: str, given: list[Value]) -> Value:
    match kind:
        case "ArgMax" | "ArgMin" | "Hardmax":
            better = "Less" if kind == "ArgMin" else "Greater"
            best = 0
            for k, value in enumerate(given):
                best = k if _compare(better, value, given[best]) else best
            return Fraction(int(best == 0) if kind == "Hardmax" else best)
        case "ReduceProd":
            product: Value = Fraction(1)
            for value in given:
                product = _times(*_alike(product, value))
            return product
        case "ReduceL1":
            return _added([abs(value) for value in given])
        case "ReduceL2":
            return mpmath.sqrt(real(_added([value * value for value in given])))
    shifted = [real(value) - max(map(real, given)) for value in given]
    logarithm = mpmath.log(sum(map(mpmath.exp, shifted)))
    if kind == "ReduceLogSumExp":
        return logarithm + max(map(real, given))
    return mpmath.exp(shifted[0] - logarithm) if kind == "Softmax" else shifted[0] - logarithm


def _added(given: list[Value]) -> Value:
    total: Value = Fraction(0)
    for value in given:
        total = _sum(total, value)
    return total


def _alike(a: Value, b: Value) -> tuple[Value, Value]:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a, b
    return real(a), real(b)


def real(a: Value) -> mpf:
    """A value to 60 digits."""
    return mpf(a.numerator) / a.denominator if isinstance(a, Fraction) else a


def _sum(a: Value, b: Value) -> Value:
    a, b = _alike(a, b)
    return a + b


def _times(a: Value, b: Value) -> Value:
    return a * b


def _sign(a: Value) -> int:
    if isinstance(a, Fraction):
        return (a > 0) - (a < 0)
    if abs(a) < _NEAR:
        raise UnsureError
    return 1 if a > 0 else -1


def _compare(kind: str, a: Value, b: Value) -> bool:
    a, b = _alike(a, b)
    sign = _sign(a - b)
    return {"Equal": sign == 0, "Less": sign < 0, "LessOrEqual": sign <= 0, "Greater": sign > 0}.get(kind, sign >= 0)


def _most(a: Value, b: Value) -> Value:
    a, b = _alike(a, b)
    return max(a, b)


def _least(a: Value, b: Value) -> Value:
    a, b = _alike(a, b)
    return min(a, b)


def _divided(a: Value, b: Value) -> Value:
    if _sign(b) == 0:
        raise NoValueError
    return a / b


def _stepped(rounded: Callable[[Any], int]) -> Callable[[Value], Value]:
    def at(a: Value) -> Value:
        if not isinstance(a, Fraction):
            twice = 2 * a
            if abs(twice - mpmath.nint(twice)) < _NEAR:
                raise UnsureError
            a = Fraction(int(mpmath.floor(a * 10**30)), 10**30)
        return Fraction(rounded(a))

    return at


def _truncated(a: Value) -> Value:
    return _stepped(lambda x: int(x))(a)


def _power(a: Value, exponent: Fraction) -> Value:
    sign = _sign(a) if exponent <= 0 or exponent.denominator > 1 else 1
    if (sign == 0 and exponent < 0) or (sign < 0 and exponent.denominator > 1):
        raise NoValueError
    if exponent.denominator == 1 and (isinstance(a, Fraction) or exponent == 0):
        return Fraction(1) if exponent == 0 else a ** int(exponent)
    return real(a) ** real(exponent)


def _within(low: int | None, high: int | None, *, open_ends: bool, then: Callable[[Any], Any]) -> Any:
    def at(a: Value) -> Value:
        for end, inside in ((low, 1), (high, -1)):
            if end is None:
                continue
            sign = _sign(_sum(a, Fraction(-end))) * inside
            if sign < 0 or (open_ends and sign == 0):
                raise NoValueError
        return then(real(a))

    return at


def _tangent(a: Value) -> Value:
    if _sign(mpmath.cos(real(a))) == 0:
        raise NoValueError
    return mpmath.tan(real(a))


_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": _times, "Div": _divided, "Max": max, "Min": min,
}  # fmt: skip
_UNARY: dict[str, Callable[[Value], Value]] = {
    "Neg": lambda a: -a,
    "Abs": abs,
    "Relu": lambda a: _most(a, Fraction(0)),
    "Floor": _stepped(floor),
    "Ceil": _stepped(ceil),
    "Round": _stepped(round),
    "Sign": lambda a: Fraction(_sign(a)),
    "Reciprocal": lambda a: _divided(Fraction(1) if isinstance(a, Fraction) else mpf(1), a),
    "Exp": lambda a: mpmath.exp(real(a)) if a < 10**5 else _refuse(),
    "Log": _within(0, None, open_ends=True, then=mpmath.log),
    "Sqrt": _within(0, None, open_ends=False, then=mpmath.sqrt),
    "Sin": lambda a: mpmath.sin(real(a)),
    "Atan": lambda a: mpmath.atan(real(a)),
    "Tanh": lambda a: mpmath.tanh(real(a)),
    "Sigmoid": lambda a: 1 / (1 + mpmath.exp(-real(a))) if a > -(10**5) else _refuse(),
    "Tan": _tangent,
    "Asin": _within(-1, 1, open_ends=False, then=mpmath.asin),
    "Acos": _within(-1, 1, open_ends=False, then=mpmath.acos),
    "Atanh": _within(-1, 1, open_ends=True, then=mpmath.atanh),
    "Acosh": _within(1, None, open_ends=False, then=mpmath.acosh),
}


def _refuse() -> Value:
    raise UnsureError


def changed(expression: Expression, rng: Random) -> tuple[Expression, bool]:
    """A partner of it, and whether it is the same function."""
    if rng.random() < 0.45:
        return expression, True
    at = int(rng.integers(len(expression.nodes)))
    node = expression.nodes[at]
    other = _LIKE.get(node.kind.removeprefix("Choose"))
    if other is not None:
        node = replace(node, kind=("Choose" if node.kind.startswith("Choose") else "") + str(rng.choice(other)))
    elif node.constants:
        moved = float(rng.choice([-1, 1])) * 2.0 ** -int(rng.integers(0, 20))
        node = replace(node, constants=(node.constants[0] + moved, *node.constants[1:]))
        if node.kind == "Clip":
            node = replace(node, constants=tuple(sorted(node.constants)))
        if node.kind in ("Pow", "Mod"):
            return expression, True
    else:
        return expression, True
    return replace(expression, nodes=(*expression.nodes[:at], node, *expression.nodes[at + 1 :])), False


_LIKE: dict[str, tuple[str, ...]] = {
    "Floor": ("Ceil", "Round"), "Ceil": ("Floor", "Round"), "Round": ("Floor", "Ceil"),
    "Greater": ("GreaterOrEqual",), "GreaterOrEqual": ("Greater", "Less"), "Less": ("LessOrEqual",),
    "LessOrEqual": ("Less",), "Relu": ("Abs",), "Max": ("Add",), "Sqrt": ("Abs",), "Tanh": ("Atan",),
}  # fmt: skip


def _write_several(kind: str, given: list[str], add: Callable[..., str], keep: Callable[..., str]) -> str:
    joined = add("Concat", given, axis=1)
    if kind.startswith("Reduce"):
        return add(kind, [joined, keep([1], np.int64)], keepdims=1)
    if kind.startswith("Arg"):
        return add("Cast", [add(kind, [joined], axis=1, keepdims=1)], to=TensorProto.FLOAT)
    return add("Gather", [add(kind, [joined], axis=1), keep([0], np.int64)], axis=1)


def write(path: Path, expression: Expression, rng: Random) -> None:
    """The expression as a file; where it matters not, in one of two ways."""
    nodes: list[Any] = []
    stored: list[Any] = []

    def keep(number: Any, kind: Any = np.float32) -> str:
        name = f"c{len(stored)}"
        stored.append(numpy_helper.from_array(np.asarray(number, kind), name))
        return name

    def add(kind: str, given: list[str], **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, given, [f"v{len(nodes)}"], **attributes))
        return f"v{len(nodes) - 1}"

    values = [add("Gather", ["x", keep([k], np.int64)], axis=1) for k in range(expression.inputs)]
    for node in expression.nodes:
        given, kind = [values[k] for k in node.reads], node.kind
        if kind.startswith("Choose"):
            condition = add(kind[6:], [given[0], keep([[node.constants[0]]])])
            values.append(add("Where", [condition, *given[1:]]))
        elif kind in ("AddConstant", "MulConstant"):
            order = [given[0], keep([[node.constants[0]]])]
            values.append(add(kind[:3], order if rng.random() < 0.5 else order[::-1]))
        elif kind == "Clip":
            values.append(add(kind, [given[0], *(keep(c) for c in node.constants)]))
        elif kind in ("Pow", "Mod"):
            values.append(add(kind, [given[0], keep([[node.constants[0]]])], **({"fmod": 1} if kind == "Mod" else {})))
        elif kind in SEVERAL:
            values.append(_write_several(kind, given, add, keep))
        elif kind in BINARY and kind not in _BINARY:
            values.append(add("Cast", [add(kind, given)], to=TensorProto.FLOAT))
        else:
            values.append(add(kind, given))
        if rng.random() < 0.1:
            values[-1] = add("Identity", [values[-1]])
    add("Concat", [values[k] for k in expression.outputs], axis=1)
    nodes[-1].output[0] = "y"
    ends = (("x", expression.inputs), ("y", len(expression.outputs)))
    given_, made = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, s]) for n, s in ends)
    graph = helper.make_graph(nodes, "expression", [given_], [made], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    path.write_bytes(model.SerializeToString())
