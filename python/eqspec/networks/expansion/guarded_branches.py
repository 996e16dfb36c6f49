"""Functions that have no value where a Where does not choose them: Where(x > 0, log x, c), Where(d != 0, n / d, c).

A runtime answers c where x is not positive; a sum of products C log x + (1 - C) c has no value there. So the argument
of the function, wherever C does not choose it, is replaced by a number at which the function has a value:

    Where(C, f(a), b) = Where(C, f(Where(C, a, 1)), b).

Where C holds, both sides are f(a), and elsewhere both are b: the same function, which now has values wherever the file
has. Between f and the Where there may be further operators of single entries, and casts, as of the logarithms that give
T5 its buckets of distances; they are copied, so that other readers keep what they read. Where C compares a with a
number t at which f has a value, t stands for the 1: the argument is then continuous, and read as the larger or the
smaller one of a and t. In Or(C, IsNaN(f(a))) the second is asked only where C does not hold, and is guarded likewise.
Arguments that cannot leave the domain, by their form, are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, numpy_helper

from eqspec.networks.expansion.graph_pieces import Pieces, tensor_of
from eqspec.networks.onnx_tensor import FLOATS, WHOLES

_STANDARD = ("", "ai.onnx")
_BETWEEN = {
    "Abs", "Add", "Ceil", "Cos", "Div", "Exp", "Floor", "Identity", "Log", "Max", "Min", "Mul", "Neg", "Pow",
    "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Sqrt", "Sub", "Sum", "Tanh", "Where",
}  # fmt: skip
"""Operators of single entries, whose operands (`_operands`) and result have one type."""
_OF_FLOATS = frozenset(("Cos", "Exp", "Log", "Reciprocal", "Sigmoid", "Sin", "Sqrt", "Tanh"))
_MOVING = {
    "Expand", "Flatten", "Gather", "GatherElements", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"
}  # fmt: skip
"""Operators whose result has the type of their first input."""
_COMPARISONS = frozenset(("Greater", "GreaterOrEqual", "Less", "LessOrEqual"))
_MOST_COPIED, _MOST_ADDED = 32, 4096
"""Nodes behind one Where, and in all."""
_DEEPEST = 6
_MOST_LOOKED_AT = 4096


def expand(pieces: Pieces) -> None:
    """Guard the arguments in the branches of every Where, the inner ones first."""
    if any(node.op_type == "Where" for node in pieces.nodes):
        _Guards(pieces).set()


class _Guards:
    """The nodes with their makers, while guards are put in front of functions."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._makers = dict[str, NodeProto]()
        self._places = dict[str, int]()
        self._ours = set[str]()  # what is guarded already, once for each Where around it
        self._added = 0

    def set(self) -> None:
        before, self._pieces.nodes = self._pieces.nodes, []
        for given in before:
            node = given
            if given.domain in _STANDARD and len(given.output) == 1 and self._added < _MOST_ADDED:
                if given.op_type == "Where" and len(given.input) == 3:
                    node = self._choice(given)
                elif given.op_type == "Or" and len(given.input) == 2:
                    node = self._either(given)
            self._put(node)

    def _choice(self, where: NodeProto) -> NodeProto:
        """A Where both of whose branches are guarded by its condition."""
        condition, *branches = where.input
        if self._pieces.stored(condition) is not None:  # then only what is chosen is read
            return where
        kind = next((k for name in branches if (k := self._kind(name)) is not None), None)
        made = [self._guarded(where, condition, name, kind, chosen=n == 0) for n, name in enumerate(branches)]
        return _with_inputs(where, [condition, *made])

    def _either(self, given: NodeProto) -> NodeProto:
        """An Or that asks of a value whether it is NaN, where its other operand does not hold."""
        inputs = list(given.input)
        for place, other in ((0, 1), (1, 0)):
            asked = self._maker(inputs[place])
            if asked is None or asked.op_type != "IsNaN" or len(asked.input) != 1:
                continue
            name = self._guarded(given, inputs[other], asked.input[0], None, chosen=False)
            if name != asked.input[0]:
                inputs[place] = self._add(given, "IsNaN", [name])
                break
        return _with_inputs(given, inputs)

    def _guarded(self, at: NodeProto, condition: str, name: str, kind: int | None, *, chosen: bool) -> str:
        """What stands for a value that counts only where the condition has this truth value; itself, if it may stay."""
        nodes, asked = self._between(name, casts=True)
        partial = [n for n in nodes if (a := _argument(n, self._pieces)) is not None and not self._inside(n, a)]
        cast = any(node.op_type == "Cast" for node in nodes)
        kind = self._type_of(nodes, condition) if kind is None and not cast else kind
        if not partial or (kind not in FLOATS and not cast) or asked > _MOST_COPIED:
            return name
        copies = dict[str, str]()
        for node in reversed(nodes):
            inputs = [copies.get(i, i) for i in node.input]
            argument = _argument(node, self._pieces) if node in partial else None
            kind = self._type_of([node, *self._between(argument)[0]], condition) if cast and argument else kind
            if argument is not None and kind in FLOATS:
                place = list(node.input).index(argument) if node.op_type != "Div" else 1
                stand_in = self._stand_in(node, condition, argument, kind)
                pair = [inputs[place], stand_in] if chosen else [stand_in, inputs[place]]
                inputs[place] = self._add(at, "Where", [condition, *pair])
                self._ours.add(inputs[place])
            if inputs != list(node.input):
                copy = _with_inputs(node, inputs)
                copy.output[0] = copies[node.output[0]] = self._pieces.name(node.output[0])
                self._put(copy)
        return copies.get(name, name)

    def _between(self, name: str, *, casts: bool = False) -> tuple[list[NodeProto], int]:
        """The operators of single entries that a value is made by, readers first, and how many there are.

        Without casts all of them have one type.
        """
        between = _BETWEEN | {"Cast"} if casts else _BETWEEN
        found, todo, seen = list[NodeProto](), [name], set[str]()
        while todo and len(found) <= _MOST_COPIED:
            node = self._maker(todo.pop())
            if node is not None and node.op_type in between and len(node.output) == 1 and node.output[0] not in seen:
                seen.add(node.output[0])
                found.append(node)
                todo += _operands(node)
        return sorted(found, key=lambda node: -self._places[node.output[0]]), len(found)

    def _inside(self, node: NodeProto, argument: str) -> bool:
        """Whether a partial function has a value wherever its argument has, by the form of that."""
        return self._sign(argument, _DEEPEST) >= (1 if _needs_more(node, self._pieces) else 0)

    def _sign(self, name: str, depth: int) -> int:
        """1 where a value is positive throughout, 0 where it is not negative; else, or if it is not seen, -1."""
        if (stored := self._pieces.stored(name)) is not None:
            return _sign_of(self._pieces, stored)
        node = self._maker(name)
        if node is None or depth == 0 or name in self._ours:
            return -1
        signs = [self._sign(i, depth - 1) for i in node.input if i]
        match node.op_type:
            case "Exp" | "Sigmoid" | "Softplus":
                return 1
            case "Abs" | "Relu" | "Softmax":
                return 0
            case "Pow":
                return 0 if _is_even(self._pieces, self._pieces.stored(node.input[1])) else signs[0]
            case "Mul" if node.input[0] == node.input[1]:
                return max(0, signs[0])
            case "Add" | "Sum":
                return -1 if min(signs) < 0 else max(signs)
            case "Max" | "Clip":
                return max(signs[:2])
            case "Where":  # chosen so that a division is defined
                return max(signs[1:])
            case "Mul" | "Div":
                return min(signs)
            case "Identity" | "Cast" | "Sqrt" | "Reshape" | "Expand" | "Unsqueeze" | "ReduceSum" | "ReduceMean":
                return signs[0]
            case "ReduceL2" | "ReduceL1" | "ReduceSumSquare":
                return 0
        return -1

    def _stand_in(self, node: NodeProto, condition: str, argument: str, kind: int) -> str:
        """A number at which the function has a value: what the argument is compared with, if it is one, or 1."""
        test = self._maker(condition)
        if test is not None and test.op_type in _COMPARISONS and argument in test.input:
            other = next((i for i in test.input if i != argument), "")
            stored = self._pieces.stored(other)
            least = 1 if _needs_more(node, self._pieces) else 0
            alike = stored is not None and stored.data_type == kind and set(stored.dims) <= {1}
            if stored is not None and alike and _sign_of(self._pieces, stored) >= least:
                return other
        one = numpy_helper.to_array(TensorProto(data_type=kind, dims=[], raw_data=_ONES[kind]))
        return self._pieces.constant(one, argument)

    def _type_of(self, nodes: list[NodeProto], condition: str) -> int | None:
        """The type that operators of one type share, told by a number of theirs, or one that they are compared with."""
        operands = [name for node in nodes for name in _operands(node)]
        for test in self._tests(condition):
            compared = [name for one in test.input for node in self._between(one)[0] for name in _operands(node)]
            compared += test.input
            if not set(operands).isdisjoint(compared):
                operands += compared
        told = next((kind for name in operands if (kind := self._kind(name)) is not None), None)
        return TensorProto.FLOAT if told is None and any(n.op_type in _OF_FLOATS for n in nodes) else told

    def _tests(self, condition: str) -> Iterator[NodeProto]:
        """The comparisons that a condition is made of."""
        todo = [condition]
        for _ in range(_MOST_COPIED):
            test = self._maker(todo.pop()) if todo else None
            if test is not None and test.op_type in (*_COMPARISONS, "Equal"):
                yield test
            elif test is not None and test.op_type in ("And", "Not", "Or", "Xor"):
                todo += test.input

    def _kind(self, name: str) -> int | None:
        """The type of a stored number, also where it is repeated to a shape or looked up."""
        for _ in range(_DEEPEST):
            stored, node = self._pieces.stored(name), self._maker(name)
            if stored is not None:
                return stored.data_type
            if node is not None and node.op_type == "ConstantOfShape":
                value = tensor_of(node)
                return TensorProto.FLOAT if value is None else value.data_type
            if node is not None and node.op_type == "Cast":
                return next((a.i for a in node.attribute if a.name == "to"), None)
            if node is None or node.op_type not in _MOVING:
                return None
            name = node.input[0]
        return None

    def _maker(self, name: str) -> NodeProto | None:
        node = self._makers.get(name)
        return node if node is not None and node.domain in _STANDARD else None

    def _add(self, at: NodeProto, operator: str, inputs: list[str]) -> str:
        name = self._pieces.add(at, operator, inputs)
        self._put(self._pieces.nodes.pop())
        self._added += 1
        return name

    def _put(self, node: NodeProto) -> None:
        for name in filter(None, node.output):
            self._makers[name], self._places[name] = node, len(self._pieces.nodes)
        self._pieces.nodes.append(node)


_ONES: dict[int, bytes] = {
    TensorProto.FLOAT: np.float32(1).tobytes(),
    TensorProto.DOUBLE: np.float64(1).tobytes(),
    TensorProto.FLOAT16: np.float16(1).tobytes(),
    TensorProto.BFLOAT16: b"\x80\x3f",
}


def _operands(node: NodeProto) -> list[str]:
    """The operands that have the type of the result: an exponent may have another, and a condition has."""
    return list(node.input[:1] if node.op_type == "Pow" else node.input[1:] if node.op_type == "Where" else node.input)


def _argument(node: NodeProto, pieces: Pieces) -> str | None:
    """The operand for some of whose values an operator has none; None where there is no such value."""
    match node.op_type:
        case "Log" | "Reciprocal" | "Sqrt":
            return str(node.input[0])
        case "Div" if len(node.input) == 2 and pieces.stored(node.input[1]) is None:
            return str(node.input[1])
        case "Pow" if len(node.input) == 2:
            powers = _numbers(pieces, pieces.stored(node.input[1]))
            if powers is not None and ((powers < 0) | (powers != np.rint(powers))).any():
                return str(node.input[0])
    return None


def _needs_more(node: NodeProto, pieces: Pieces) -> bool:
    """Whether 0 is no argument, where none below is."""
    if node.op_type != "Pow":
        return node.op_type != "Sqrt"
    powers = _numbers(pieces, pieces.stored(node.input[1]))
    return powers is None or bool((powers < 0).any())


def _numbers(pieces: Pieces, stored: TensorProto | None) -> NDArray[np.float64] | None:
    """What is stored, as far as it is few floating-point numbers or integers."""
    if stored is None or prod(stored.dims) > _MOST_LOOKED_AT:
        return None
    if stored.data_type not in {**FLOATS, **WHOLES}:
        return None
    return np.asarray(pieces.array(stored), np.float64)


def _sign_of(pieces: Pieces, stored: TensorProto) -> int:
    """1, 0 or -1: all numbers are positive, none is negative, or it is not known."""
    numbers = _numbers(pieces, stored)
    if numbers is None or not (numbers >= 0).all():
        return -1
    return int((numbers > 0).all())


def _is_even(pieces: Pieces, powers: TensorProto | None) -> bool:
    """Whether all exponents are even and not negative."""
    numbers = _numbers(pieces, powers)
    return numbers is not None and bool(((numbers >= 0) & (numbers % 2 == 0)).all())


def _with_inputs(node: NodeProto, inputs: Sequence[str]) -> NodeProto:
    """A node as it is, or a copy of it that reads other values."""
    if list(node.input) == list(inputs):
        return node
    made = NodeProto()
    made.CopyFrom(node)
    made.input[:] = inputs
    return made
