"""RNN, GRU and LSTM over sequences of a fixed length, unrolled: step by step what the standard says of their cells.

    RNN    h' = f(W x + R h + b)
    GRU    h' = g + z (h - g),  z, r = f(...),  g = f(W x + R (r h) + b), or W x + r (R h + b) where a file says so
    LSTM   c' = f c + i g,  h' = o t(c'),  i, o, f = f(... + P c),  g = t(W x + R h + b)

Gates are functions of one variable, and their products products of two values, so bounds get looser from step to step.
A sequence that may end earlier, by lengths that are no constants, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import curves, functions
from eqspec.networks.operators.elementwise import add, multiply
from eqspec.networks.operators.matrix_products import multiply_matrices
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import apply, check_made, concatenated

Real = Affine | Enclosure
Function = Callable[[Real], Real]
_AGAIN = "export the model again"
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_USUAL = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
_CURVES = {name.lower(): Curve(name.lower()) for name in ("Sigmoid", "Softplus", "Softsign", "Tanh")}


@dataclass(frozen=True)
class _Weights:
    """Of one direction: W (G H, I), R (G H, H), both biases (G H,), and those of peepholes (3 H,), gate behind gate."""

    given: Enclosure
    again: Enclosure
    bias: Enclosure
    bias_again: Enclosure
    peepholes: Enclosure | None
    hidden: int

    def of_gate(self, number: int, x: Real) -> Real:
        """What a gate has of the input at a step, with its bias."""
        return add(_times(x, self.given, self._rows(number)), self._bias(self.bias, number))

    def of_state(self, number: int, h: Real) -> Real:
        """What it has of the state, with its bias."""
        return add(_times(h, self.again, self._rows(number)), self._bias(self.bias_again, number))

    def gate(self, number: int, x: Real, h: Real) -> Real:
        """Both together."""
        return add(self.of_gate(number, x), self.of_state(number, h))

    def peeking(self, gate: Real, number: int, c: Real) -> Real:
        """A gate that also sees the cell."""
        if self.peepholes is None:
            return gate
        return add(gate, multiply(c, self.peepholes.rearranged(lambda a: a[self._rows(number)])))

    def _rows(self, number: int) -> slice:
        return slice(number * self.hidden, (number + 1) * self.hidden)

    def _bias(self, bias: Enclosure, number: int) -> Enclosure:
        return bias.rearranged(lambda a: a[self._rows(number)])


def _times(x: Real, weight: Enclosure, rows: slice) -> Real:
    return multiply_matrices(x, weight.rearranged(lambda a: a[rows].T))


def _settled(x: Real) -> Real:
    """A value that the next step reads several times."""
    return functions.argument(x) if isinstance(x, Affine) else x


def _less(a: Real, b: Real) -> Real:
    return add(a, multiply(b, en.exactly(-1.0)))


def _zero(x: Real) -> bool:
    return isinstance(x, Enclosure) and x.error is None and not x.value.any()


def _product(a: Real, b: Real) -> Real:
    """a b; nothing is formed of a state that is zero."""
    for one, other in ((a, b), (b, a)):
        if _zero(one):
            return en.exactly(np.zeros(np.broadcast_shapes(one.shape, other.shape)))
    return multiply(a, b)


def _step_rnn(w: _Weights, f: Sequence[Function], x: Real, h: Real, c: Real, _: OperatorCall) -> tuple[Real, Real]:
    return _settled(f[0](w.gate(0, x, h))), c


def _step_gru(w: _Weights, f: Sequence[Function], x: Real, h: Real, c: Real, call: OperatorCall) -> tuple[Real, Real]:
    z, r = (f[0](w.gate(number, x, h)) for number in (0, 1))
    if call.integer("linear_before_reset", 0):
        inner = _product(r, _settled(w.of_state(2, h)))
    else:
        inner = w.of_state(2, _product(r, h))
    new = f[1](add(w.of_gate(2, x), inner))
    return _settled(add(new, _product(z, _settled(_less(h, new))))), c


def _step_lstm(w: _Weights, f: Sequence[Function], x: Real, h: Real, c: Real, call: OperatorCall) -> tuple[Real, Real]:
    i = f[0](w.peeking(w.gate(0, x, h), 0, c))
    if call.integer("input_forget", 0):
        forget = _less(en.exactly(np.ones(i.shape)), i)
    else:
        forget = f[0](w.peeking(w.gate(2, x, h), 2, c))
    made = _settled(add(_product(forget, c), _product(i, f[1](w.gate(3, x, h)))))
    o = f[0](w.peeking(w.gate(1, x, h), 1, made))
    return _settled(_product(o, f[2](made))), made


_STEPS = {"RNN": _step_rnn, "GRU": _step_gru, "LSTM": _step_lstm}


def _functions(call: OperatorCall, directions: int) -> list[Function]:
    """The functions of all directions, each limited before where the file says so."""
    kind = call.node.op_type
    found = call.attribute("activations")
    names = [n.decode("utf-8", "replace") for n in found.strings] if found is not None else []
    names = names or [*_USUAL[kind]] * directions
    if kind == "RNN" and directions == 1 and names == ["Tanh", "Tanh"]:
        names = ["Tanh"]  # the default of ONNX, for both directions; onnxruntime writes it out for one as well
    if len(names) != len(_USUAL[kind]) * directions:
        raise UnreadableError(f"{len(names)} activations for {directions} directions", _AGAIN)
    if call.attribute("activation_alpha") is not None or call.attribute("activation_beta") is not None:
        raise UnreadableError("activations with parameters of their own", "export it with Sigmoid, Tanh or Relu")
    limit = call.real("clip", 0.0)
    if call.attribute("clip") is not None and not limit > 0:
        raise UnreadableError(f"limits of {limit:g}, which some runtimes take for none", "leave clip out")
    if limit and kind == "LSTM":
        raise UnreadableError("limits of a cell, which runtimes apply to its result or not", "export it without clip")

    def limited(f: Function) -> Function:
        ends = en.exactly(-limit), en.exactly(limit)
        return lambda x: f(functions.clipped(x, *ends)) if limit > 0 else f(x)

    return [limited(_function(name)) for name in names]


def _function(name: str) -> Function:
    if name.lower() in _CURVES:
        return lambda x: curves.of(_CURVES[name.lower()], x)
    if name.lower() == "relu":
        return lambda x: af.relu(x) if isinstance(x, Affine) else functions.maximum(x, en.exactly(0.0))
    raise UnreadableError(f"the activation {name!r}", "Sigmoid, Tanh, Relu, Softplus and Softsign are read")


def _state(call: OperatorCall, index: int, direction: int, batch: int, hidden: int, *, first: bool) -> Real:
    """The state (N, H) that a direction begins with; `first`: the axis of the samples is the first one."""
    if not call.has(index):
        return en.exactly(np.zeros((batch, hidden)))
    given = call.real_value(index)
    own = apply(given, lambda a: a[:, direction] if first else a[direction])
    assert isinstance(own, Affine | Enclosure)
    if own.shape == (batch, hidden):
        return own
    stored = isinstance(own, Enclosure) and own.error is None and own.shape[1:] == (hidden,)
    if isinstance(own, Enclosure) and stored and (own.value == own.value[:1]).all():
        return en.exactly(np.broadcast_to(own.value[:1], (batch, hidden)).copy())  # of a batch that was set aside
    raise UnreadableError(f"a state of shape {given.shape} for {batch} samples of {hidden} numbers", _AGAIN)


def _read(call: OperatorCall, direction: int, directions: int, size: int) -> _Weights:
    """The weights of a direction for inputs of a size."""
    gates, given, again = _GATES[call.node.op_type], call.number(1), call.number(2)
    hidden = again.shape[-1] if again.shape else 0
    shapes = (directions, gates * hidden, size), (directions, gates * hidden, hidden)
    if (given.shape, again.shape) != shapes or not hidden or call.integer("hidden_size", hidden) != hidden:
        message = f"weights of shapes {given.shape} and {again.shape} for inputs of {size} numbers"
        raise UnreadableError(message, _AGAIN)
    both = call.number(3) if call.has(3) else en.exactly(np.zeros((directions, 2 * gates * hidden)))
    peepholes = call.number(7) if call.node.op_type == "LSTM" and call.has(7) else None
    if both.shape != (directions, 2 * gates * hidden):
        raise UnreadableError(f"biases of shape {both.shape} for {gates} gates of {hidden} numbers", _AGAIN)
    if peepholes is not None and peepholes.shape != (directions, 3 * hidden):
        raise UnreadableError(f"peepholes of shape {peepholes.shape} for {hidden} numbers", _AGAIN)
    bias, bias_again = (
        both.rearranged(lambda a, begin=begin: a[direction, begin : begin + gates * hidden])  # type: ignore[misc]
        for begin in (0, gates * hidden)
    )
    own = None if peepholes is None else peepholes.rearranged(lambda a: a[direction])
    w, r = (one.rearranged(lambda a: a[direction]) for one in (given, again))
    return _Weights(w, r, bias, bias_again, own, hidden)


def recurrent(call: OperatorCall) -> Sequence[Value]:
    """RNN, GRU or LSTM: all states (T, D, N, H), the last of each direction (D, N, H), and its last cell."""
    kind, x = call.node.op_type, call.real_value(0)
    first = bool(call.integer("layout", 0))
    if len(x.shape) != 3 or not all(x.shape):
        raise UnreadableError(f"a sequence of shape {x.shape}", _AGAIN)
    if isinstance(x, Enclosure):
        x = af.constant(call.given, x)
    if first:
        x = af.rearrange(x, lambda p: np.swapaxes(p, 0, 1))
    length, batch, size = x.shape
    if call.has(4) and (call.whole(4) != length).any():
        raise UnreadableError("sequences that end earlier than others", "export it for one length")
    found = call.attribute("direction")
    named = b"forward" if found is None else found.s
    turned = {b"forward": (False,), b"reverse": (True,), b"bidirectional": (False, True)}.get(named)
    if turned is None:
        raise UnreadableError(f"the direction {named.decode('utf-8', 'replace')!r}", _AGAIN)
    given = _functions(call, len(turned))
    each = len(given) // len(turned)
    weights = [_read(call, number, len(turned), size) for number in range(len(turned))]
    hidden = weights[0].hidden
    check_made([x], (length, len(turned), batch, _GATES[kind] * hidden))
    states: list[list[Affine]] = []
    cells: list[Affine] = []
    for number, (w, backwards) in enumerate(zip(weights, turned, strict=True)):
        h = _state(call, 5, number, batch, hidden, first=first)
        c = _state(call, 6, number, batch, hidden, first=first) if kind == "LSTM" else en.exactly(np.zeros(1))
        every: list[Affine] = []
        for step in range(length)[:: -1 if backwards else 1]:
            own = af.rearrange(x, lambda p, step=step: p[step])  # type: ignore[misc]
            h, c = _STEPS[kind](w, given[number * each : (number + 1) * each], own, h, c, call)
            every.append(h if isinstance(h, Affine) else af.constant(call.given, h))
        states.append(every[:: -1 if backwards else 1])
        cells.append(c if isinstance(c, Affine) else af.constant(call.given, c))
    one = batch * hidden
    form = length, len(turned), batch, hidden
    places = np.arange(len(turned) * length * one).reshape(len(turned), length, batch, hidden).swapaxes(0, 1)
    last = np.arange(len(turned) * one).reshape(len(turned), batch, hidden)
    if first:
        places, last = places.transpose(2, 0, 1, 3), last.swapaxes(0, 1)
        form = batch, length, len(turned), hidden
    all_states = concatenated([h for every in states for h in every], places.reshape(form))
    ends = [every[0] if backwards else every[-1] for every, backwards in zip(states, turned, strict=True)]
    made: list[Value] = [all_states, concatenated(ends, last)]
    return [*made, concatenated(cells, last)] if kind == "LSTM" else made


OPERATORS: dict[str, Operator] = dict.fromkeys(_GATES, recurrent)
