"""RNN, GRU and LSTM over sequences of a fixed length, written out step by step as the standard defines their cells:

    RNN    h' = f(W x + R h + b)
    GRU    h' = g + z (h - g),  z, r = f(W x + R h + b),  g = g(W x + R (r h) + b), or g(W x + b + r (R h + b'))
    LSTM   c' = f c + i g,  h' = o h(c'),  i, o, f = f(W x + R h + b),  g = g(W x + R h + b)

Lengths of single samples, samples in front of steps, peepholes, limits of cells, parameters of functions and coupled
gates are refused, and float32 is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..functions import BENT
from ..rounding import Array, Refused
from . import affine, unary
from .program import Given, Operand, Operands, Program, constants
from .value import Value

GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}
"""In the order of the rows of the weights: z, r, g; i, o, f, g."""
_FUNCTIONS = {"GRU": [b"Sigmoid", b"Tanh"], "LSTM": [b"Sigmoid", b"Tanh", b"Tanh"], "RNN": [b"Tanh"]}
_READ = {"activations", "direction", "hidden_size", "input_forget", "layout", "linear_before_reset"}
_TURNED = {b"bidirectional": (False, True), b"forward": (False,), b"reverse": (True,)}


@dataclass(frozen=True)
class _Cell:
    """Of one direction: W (gates H, I), R (gates H, H), and both biases (gates H,)."""

    program: Program
    functions: Sequence[bytes]
    given: Array
    again: Array
    bias: Array

    def function(self, number: int, x: Operand) -> Value:
        value, name = self.program.value(x), self.functions[number].decode("ascii", "replace")
        if name not in ("Relu", "Sigmoid", "Softplus", "Softsign", "Tanh"):
            raise Refused("the auditor does not read this function of a recurrent cell")
        return self.program.step(value, BENT) if name == "Relu" else unary.computed(self.program, name, value, {}, None)

    def part(self, gate: int, x: Operand, again: bool) -> Operand:
        """W x + b of a gate, or R x + b' of the state."""
        hidden, count = self.again.shape[1], len(self.given)
        rows = slice(gate * hidden, (gate + 1) * hidden)
        made = affine.product(self.program, x, (self.again if again else self.given)[rows].T)
        bias = (self.bias[count:] if again else self.bias[:count])[rows]
        return affine.elementwise(self.program, "Add", [made, bias])

    def gate(self, gate: int, x: Operand, h: Operand, function: int = 0) -> Value:
        """Both together, and the function of the gate."""
        return self.function(function, self.program.added(self.part(gate, x, False), self.part(gate, h, True)))

    def times(self, a: Operand, b: Operand) -> Operand:
        """a b; nothing of a state that is zero."""
        if any(not isinstance(one, Value) and one.dtype != object and not one.any() for one in (a, b)):
            return np.zeros(np.broadcast_shapes(a.shape, b.shape))
        return affine.elementwise(self.program, "Mul", [a, b])


def _rnn(cell: _Cell, x: Operand, h: Operand, c: Operand, _: bool) -> tuple[Value, Operand]:
    return cell.gate(0, x, h), c


def _gru(cell: _Cell, x: Operand, h: Operand, c: Operand, linear: bool) -> tuple[Value, Operand]:
    program = cell.program
    z, r = (cell.gate(number, x, h) for number in (0, 1))
    if linear:
        state = cell.part(2, h, True)
        inner = cell.times(r, program.settled(state) if isinstance(state, Value) else state)
    else:
        inner = cell.part(2, cell.times(r, h), True)
    new = cell.function(1, program.added(cell.part(2, x, False), inner))
    return program.settled(program.added(new, cell.times(z, program.settled(program.apart(h, new))))), c


def _lstm(cell: _Cell, x: Operand, h: Operand, c: Operand, _: bool) -> tuple[Value, Operand]:
    program = cell.program
    i, f = (cell.gate(number, x, h) for number in (0, 2))
    kept = cell.times(f, c)
    made = program.settled(program.added(kept, cell.times(i, cell.gate(3, x, h, 1))))
    o = cell.gate(1, x, h)
    return program.settled(program.value(cell.times(o, cell.function(2, made)))), made


_STEPS = {"GRU": _gru, "LSTM": _lstm, "RNN": _rnn}


def computed(program: Program, operator: str, operands: Operands, attributes: Given) -> list[Operand]:
    """All states (T, D, N, H), the last of each direction (D, N, H), and its last cell."""
    other = not set(attributes) <= _READ or attributes.get("layout", 0) or attributes.get("input_forget", 0)
    if program.kind.rounds or other:
        raise Refused(f"the auditor does not read {operator} in float32, or with limits, parameters or coupled gates")
    x, _, _, b, lengths, h0, c0, p = list[Any](operands) + [None] * (8 - len(operands))
    lstm, turned, gates = operator == "LSTM", _TURNED.get(attributes.get("direction", b"forward")), GATES[operator]
    if x is None or len(x.shape) != 3 or turned is None or p is not None:
        raise Refused(f"{operator} of what is no sequence, in no direction, or with peepholes")
    value, weight, again = program.value(x), constants(operands, 1), constants(operands, 2)
    (length, batch, size), count, hidden = x.shape, len(turned), again.shape[-1] if again.ndim else 0
    if not (length and batch and hidden) or attributes.get("hidden_size", hidden) != hidden:
        raise Refused(f"{operator} without steps, samples or a state")
    bias = np.zeros((count, 2 * gates * hidden)) if b is None else constants(operands, 3)
    shapes = [(count, gates * hidden, size), (count, gates * hidden, hidden), (count, 2 * gates * hidden)]
    functions = list(attributes.get("activations") or _FUNCTIONS[operator] * count)
    if [one.shape for one in (weight, again, bias)] != shapes or len(functions) != count * len(_FUNCTIONS[operator]):
        raise Refused(f"{operator} with weights of other shapes, or with another number of functions")
    if lengths is not None and (isinstance(lengths, Value) or lengths.dtype.kind != "i" or (lengths != length).any()):
        raise Refused(f"{operator} of sequences that end earlier than others")
    program.effort.name(length, count, batch, gates * hidden, size + hidden)
    states, ends, cells, each = list[Value](), list[Operand](), list[Operand](), len(functions) // count
    for d, backwards in enumerate(turned):
        cell = _Cell(program, functions[d * each : (d + 1) * each], weight[d], again[d], bias[d])
        h, c = (_begin(program, one, d, (count, batch, hidden)) for one in (h0, c0))
        every = list[Value]()
        for at in range(length)[:: -1 if backwards else 1]:
            step = program.taken(value, value.places[at])
            made, c = _STEPS[operator](cell, step, h, c, bool(attributes.get("linear_before_reset", 0)))
            every, h = [*every, made], made
        ends, cells = [*ends, every[-1]], [*cells, c]
        states += every[:: -1 if backwards else 1]
    found = program.stacked(states).reshaped((count, length, batch, hidden))
    found = program.taken(found, found.places.swapaxes(0, 1))
    return [found, *(program.stacked(last).reshaped((count, batch, hidden)) for last in (ends, cells)[: 1 + lstm])]


def _begin(program: Program, given: Operand | None, d: int, shape: tuple[int, ...]) -> Operand:
    """The state (N, H) that a direction begins with."""
    if given is None:
        return np.zeros(shape[1:])
    if given.shape != shape:
        raise Refused("a state of another shape than its cells")
    return program.taken(given, given.places[d]) if isinstance(given, Value) else given[d]
