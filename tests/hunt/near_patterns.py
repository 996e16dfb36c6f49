"""Subgraphs that are nearly the one operator that exporters mean by them: `python -m hunt.near_patterns --cases N`.

Readers see a normalisation, a GELU or a softmax in the operators that a file writes out. Here each is drawn with small
changes: a constant that is a little different, an axis, the place of an epsilon, operands in another order, a vector in
place of a number, a value inside of it that is read once more. What the file defines is computed operator by operator
to sixty digits, and must lie within what the network encloses exactly, and within what the auditor reads, if it does.
Nothing of eqspec is used for that. Differences of 1e-7 count, which no comparison in floats would see.

    PYTHONPATH=python:tests python -m hunt.near_patterns --cases 10000 --seed 1
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mpmath
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from conformance.judging import audited
from eqspec.audit import Refused
from eqspec.audit.witness import values_at
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from hunt import by_seeds
from oracle.pairs import Random

SHAPE = (1, 2, 3)
POINTS = 3
DIGITS = 60
_MOST_WIDTH = Fraction(1, 10**9)
"""Enclosures that are wider tell little; they are counted."""
_SWAPPED = ("Add", "Max", "Min", "Mul")


@dataclass
class Graph:
    """A graph that is being written; operands are swapped, and values passed on, at random."""

    rng: Random
    nodes: list[NodeProto] = field(default_factory=list)
    stored: dict[str, NDArray[Any]] = field(default_factory=dict)
    inner: list[str] = field(default_factory=list)

    def of(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node."""
        given = list(inputs)
        if operator in _SWAPPED and self.rng.random() < 0.5:
            given.reverse()
        name = f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, given, [name], **attributes))
        self.inner.append(name)
        if self.rng.random() < 0.03:
            return self.of("Identity", name)
        return name

    def number(self, value: float, *, near: bool = True) -> str:
        """A constant, now and then a little off, or a vector."""
        array = np.array(value, np.float32)
        match float(self.rng.random()):
            case chance if not near or chance < 0.8:
                pass
            case chance if chance < 0.86:
                array = np.nextafter(array, np.float32(np.inf))
            case chance if chance < 0.93:
                array = np.array(value * (1 + float(self.rng.choice([1e-3, 1e-5, -1e-2]))), np.float32)
            case _:
                array = np.full(3, value, np.float32)
                array[int(self.rng.integers(3))] *= np.float32(self.rng.choice([1, 1.001, 1.25]))
        return self.store(array)

    def store(self, array: NDArray[Any]) -> str:
        """A stored array."""
        name = f"c{len(self.stored)}"
        self.stored[name] = array
        return name

    def axis(self, usual: int = -1) -> int:
        """An axis, mostly the usual one."""
        return usual if self.rng.random() < 0.9 else 1

    def reduced(self, operator: str, x: str, axis: int) -> str:
        """Over one axis, which stays."""
        if operator == "ReduceSum":
            return self.of(operator, x, self.store(np.array([axis], np.int64)), keepdims=1)
        return self.of(operator, x, axes=[axis], keepdims=1)

    def one_of(self, *values: Any) -> Any:
        """One of some."""
        return values[int(self.rng.integers(len(values)))]


def _square(g: Graph, x: str) -> str:
    return g.of("Mul", x, x) if g.rng.random() < 0.5 else g.of("Pow", x, g.number(2.0, near=False))


def _layer_norm(g: Graph, x: str) -> str:
    axis, epsilon = g.axis(), g.number(g.one_of(1e-5, 1e-3, 0.25))
    mean = g.reduced("ReduceMean", x, axis)
    apart = g.of("Sub", x, mean)
    spread = g.reduced("ReduceMean", _square(g, g.of("Sub", x, mean) if g.rng.random() < 0.2 else apart), g.axis(axis))
    if g.rng.random() < 0.1:
        spread = g.of("Mul", spread, g.number(1.5, near=False))
    late = g.rng.random() < 0.1
    root = g.of("Sqrt", spread if late else g.of("Add", spread, epsilon))
    root = g.of("Add", root, epsilon) if late else root
    scale = g.store((g.rng.integers(-8, 9, 3) / 8).astype(np.float32))
    shift = g.store((g.rng.integers(-8, 9, 3) / 8).astype(np.float32))
    match int(g.rng.integers(3)):
        case 0:
            return g.of("Add", g.of("Mul", g.of("Div", apart, root), scale), shift)
        case 1:
            return g.of("Add", g.of("Mul", apart, g.of("Mul", g.of("Reciprocal", root), scale)), shift)
    factor = g.of("Mul", g.of("Reciprocal", root), scale)
    return g.of("Add", g.of("Mul", x, factor), g.of("Sub", shift, g.of("Mul", mean, factor)))


def _rms_norm(g: Graph, x: str) -> str:
    spread = g.of("Add", g.reduced("ReduceMean", _square(g, x), g.axis()), g.number(g.one_of(1e-5, 0.125)))
    found = g.of("Mul", x, g.of("Reciprocal", g.of("Sqrt", spread)))
    return g.of("Mul", found, g.store((g.rng.integers(-8, 9, 3) / 8).astype(np.float32)))


def _gelu(g: Graph, x: str) -> str:
    inside = g.of("Div", x, g.number(2**0.5)) if g.rng.random() < 0.5 else g.of("Mul", x, g.number(0.5**0.5))
    one = g.number(1.0)
    if g.rng.random() < 0.2:
        gate = g.of("Sub", one, g.of("Erf", g.of("Neg", inside)))
    else:
        gate = g.of("Add", g.of("Erf", inside), one)
    if g.rng.random() < 0.5:
        return g.of("Mul", g.of("Mul", x, gate), g.number(0.5))
    return g.of("Mul", g.of("Mul", x, g.number(0.5)), gate)


def _gelu_tanh(g: Graph, x: str) -> str:
    cube = g.of("Mul", x, _square(g, x)) if g.rng.random() < 0.5 else g.of("Pow", x, g.number(3.0, near=False))
    inside = g.of("Mul", g.of("Add", x, g.of("Mul", cube, g.number(0.044715))), g.number((2 / np.pi) ** 0.5))
    gate = g.of("Add", g.of("Tanh", inside), g.number(1.0))
    return g.of("Mul", g.of("Mul", x, g.number(0.5)), gate)


def _silu(g: Graph, x: str) -> str:
    inside = g.of("Mul", x, g.number(g.one_of(1.0, 1.702, -2.0)))
    match int(g.rng.integers(3)):
        case 0:
            return g.of("Mul", x, g.of("Sigmoid", inside))
        case 1:
            return g.of("Div", x, g.of("Add", g.of("Exp", g.of("Neg", inside)), g.number(1.0)))
    power = g.of("Exp", inside)
    return g.of("Mul", x, g.of("Div", power, g.of("Add", power, g.number(1.0))))


def _hard_swish(g: Graph, x: str) -> str:
    moved = g.of("Add", x, g.number(3.0))
    if g.rng.random() < 0.5:
        gate = g.of("Min", g.of("Max", moved, g.number(0.0)), g.number(6.0))
    else:
        gate = g.of("Clip", moved, g.store(np.array(0, np.float32)), g.store(np.array(g.one_of(6, 6, 5), np.float32)))
    gate = g.of("Div", gate, g.number(6.0)) if g.rng.random() < 0.5 else g.of("Mul", gate, g.number(1 / 6))
    return g.of("Mul", x, gate)


def _softsign(g: Graph, x: str) -> str:
    return g.of("Div", x, g.of("Add", g.of("Abs", g.of("Mul", x, g.number(2.0))), g.number(1.0)))


def _mish(g: Graph, x: str) -> str:
    bent = g.of("Softplus", x) if g.rng.random() < 0.5 else g.of("Log", g.of("Add", g.of("Exp", x), g.number(1.0)))
    return g.of("Mul", x, g.of("Tanh", bent))


def _softmax(g: Graph, x: str) -> str:
    axis, moved = g.axis(), x
    if g.rng.random() < 0.6:
        moved = g.of("Sub", x, g.reduced("ReduceMax", x, g.axis(axis)))
    power = g.of("Exp", moved)
    total = g.reduced("ReduceSum", power, g.axis(axis))
    if g.rng.random() < 0.2:
        total = g.of("Add", total, g.number(1e-6))
    if g.rng.random() < 0.3:
        return g.of("Sub", moved, g.of("Log", total))
    return g.of("Div", power, total)


def _gem(g: Graph, x: str) -> str:
    power = g.number(g.one_of(3.0, 2.5))
    low = g.of("Clip", x, g.store(np.array(1e-6, np.float32)))
    mean = g.reduced("ReduceMean", g.of("Pow", low, power), g.axis())
    return g.of("Add", x, g.of("Pow", mean, g.of("Div", g.number(1.0), power)))


def _unit_length(g: Graph, x: str) -> str:
    axis = g.axis()
    length = g.of("Sqrt", g.reduced("ReduceSum", _square(g, x), axis))
    if g.rng.random() < 0.3:
        length = g.of("ReduceL2", x, axes=[axis], keepdims=1)
    return g.of("Div", x, g.of("Max", length, g.number(g.one_of(1e-6, 0.5))))


def _bends(g: Graph, x: str) -> str:
    match int(g.rng.integers(4)):
        case 0:
            return g.of("Max", x, g.of("Mul", x, g.number(0.01)))
        case 1:
            return g.of("Max", x, g.of("Neg", x))
        case 2:
            low, high = g.store(np.array(-0.25, np.float32)), g.store(np.array(0.75, np.float32))
            return g.of("Relu", g.of("Clip", x, low, high))
    both = g.of("Mul", g.of("Relu", g.of("Neg", x)), g.number(0.2))
    return g.of("Sub", g.of("Relu", x), both)


PATTERNS: dict[str, Callable[[Graph, str], str]] = {
    "layer norm": _layer_norm, "rms norm": _rms_norm, "gelu": _gelu, "gelu by tanh": _gelu_tanh, "silu": _silu,
    "hardswish": _hard_swish, "softsign": _softsign, "mish": _mish, "softmax": _softmax, "generalised mean": _gem,
    "unit length": _unit_length, "bends": _bends,
}  # fmt: skip


def _real(x: Any) -> Any:
    return mpmath.mpf(float(x))


def _each(function: Callable[..., Any], *arrays: Any) -> Any:
    return np.frompyfunc(function, len(arrays), 1)(*arrays)


def _power(x: Any, y: Any) -> Any:
    return x ** int(y) if y == int(y) else mpmath.power(x, y)


def _clip(x: Any, low: Any, high: Any = None) -> Any:
    return max(x, low) if high is None else min(max(x, low), high)


_DEFINED: dict[str, Callable[..., Any]] = {
    "Abs": abs, "Add": lambda a, b: a + b, "Clip": _clip, "Div": lambda a, b: a / b, "Erf": mpmath.erf,
    "Exp": mpmath.exp,
    "Identity": lambda x: x, "Log": mpmath.log, "Max": max, "Min": min, "Mul": lambda a, b: a * b, "Neg": lambda x: -x,
    "Pow": _power, "Reciprocal": lambda x: 1 / x, "Relu": lambda x: max(x, mpmath.mpf(0)),
    "Sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)), "Softplus": lambda x: mpmath.log(1 + mpmath.exp(x)),
    "Sqrt": mpmath.sqrt, "Sub": lambda a, b: a - b, "Tanh": mpmath.tanh,
}  # fmt: skip


def defined(nodes: list[NodeProto], values: dict[str, Any], output: str) -> Any:
    """The output, operator by operator."""
    values = dict(values)
    for node in nodes:
        given = [values[name] for name in node.input]
        if node.op_type.startswith("Reduce"):
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            axis = int(given[1][0]) if len(given) > 1 else attributes["axes"][0]
            values[node.output[0]] = _REDUCED[node.op_type](given[0], axis)
        else:
            values[node.output[0]] = _each(_DEFINED[node.op_type], *given)
    return values[output]


_REDUCED: dict[str, Callable[[Any, int], Any]] = {
    "ReduceL2": lambda x, a: _each(mpmath.sqrt, (x * x).sum(axis=a, keepdims=True)),
    "ReduceMax": lambda x, a: x.max(axis=a, keepdims=True),
    "ReduceMean": lambda x, a: x.sum(axis=a, keepdims=True) / x.shape[a],
    "ReduceSum": lambda x, a: x.sum(axis=a, keepdims=True),
}


def drawn(seed: int) -> tuple[str, Graph, str]:
    """The name of the pattern of a seed, the graph, and its output."""
    rng = np.random.default_rng([seed, 41])
    name = str(rng.choice(list(PATTERNS)))
    g, x = Graph(rng), "x"
    if rng.random() < 0.6:
        x = g.of("Mul", x, g.store((rng.integers(1, 9, 3) / 4).astype(np.float32)))
    if rng.random() < 0.5:
        x = g.of("Add", x, g.store((rng.integers(-8, 9, 3) / 4).astype(np.float32)))
    y = PATTERNS[name](g, x)
    if rng.random() < 0.25:
        y = g.of("Add", y, g.of("Mul", str(rng.choice(g.inner)), g.number(0.5)))
    return name, g, y


def judge(seed: int, folder: Path) -> tuple[str, str | None]:
    """What became of a case, and what is wrong with it."""
    name, g, output = drawn(seed)
    path = folder / "near.onnx"
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)
    made = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    stored = [numpy_helper.from_array(array, key) for key, array in g.stored.items()]
    graph = helper.make_graph(g.nodes, name, [given], [made], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = read_network(path)
    except NetworkError as error:
        return f"{name} refused", f"{error}" if "onnxruntime" in str(error) else None
    try:
        read = audited(path.read_bytes(), network.input_size, network.output_size)
        read.steps()
    except Refused:
        read = None
    rng, wide = np.random.default_rng([seed, 42]), False
    for _ in range(POINTS):
        point = rng.integers(-40, 41, 6) / 16
        exact = [Fraction(float(p)) for p in point]
        truth = _truth(g, output, point)
        if truth is None:
            continue
        try:
            enclosed = {"the network": network.evaluate_exact(exact)}
            if read is not None:
                enclosed["the auditor"] = values_at(read, exact)
        except (ArithmeticError, Refused):
            return f"{name} without value", None
        for who, ends in enclosed.items():
            wide = wide or any(high - low > _MOST_WIDTH for low, high in ends)
            off = max(map(_off, truth, ends))
            if off > 0:
                return f"{name} wrong", f"{name}: {who} is off by {float(off)} at {point.tolist()}"
    return f"{name} {'wide' if wide else 'read'}{'' if read is None else ', audited'}", None


def _truth(g: Graph, output: str, point: NDArray[Any]) -> list[Any] | None:
    """What the file defines, None where it defines nothing."""
    with mpmath.workdps(DIGITS):
        values = {key: _each(_real, a) if a.dtype == np.float32 else a for key, a in g.stored.items()}
        values["x"] = _each(_real, point.reshape(SHAPE))
        try:
            found = np.atleast_1d(defined(g.nodes, values, output)).ravel().tolist()
        except ZeroDivisionError:
            return None
        return None if any(isinstance(t, mpmath.mpc) for t in found) else found


def _off(truth: Any, ends: tuple[Fraction, Fraction]) -> Any:
    """By how much a number lies outside, less what sixty digits round."""
    with mpmath.workdps(DIGITS):
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in ends)
        return max(low - truth, truth - high) - (1 + abs(truth)) * mpmath.mpf(10) ** -40


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m hunt.near_patterns", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory(prefix="hunt-near-") as name:
        return by_seeds.run(lambda seed: judge(seed, Path(name)), given.cases, given.seed)


if __name__ == "__main__":
    sys.exit(main())
