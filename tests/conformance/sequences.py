"""RNN, GRU and LSTM over short sequences: directions, activations, biases, peepholes, which of the results are read."""

from __future__ import annotations

from typing import Any

from conformance.building import Builder, Value
from conformance.functions import add
from conformance.operators import Generator, sample_of
from conformance.products import small

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(kind: str) -> Generator:
    def make(g: Builder) -> None:
        v = small(g, 12)
        if v is None or sample_of(v).size % 2:
            return
        length = g.one([1, 2])
        size, hidden, gates = sample_of(v).size // length, g.whole(1, 2), _GATES[kind]
        (sequence,) = add(g, "Reshape", [v, g.indices([length, 1, size])])
        shapes = (1, gates * hidden, size), (1, gates * hidden, hidden)
        inputs: list[Value | None] = [sequence, *(g.constant(g.floats(shape)) for shape in shapes)]
        if g.chance(0.7):
            inputs.append(g.constant(g.floats((1, 2 * gates * hidden))))
        attributes: dict[str, Any] = {"hidden_size": hidden}
        if kind == "GRU" and g.chance(0.5):
            attributes["linear_before_reset"] = 1
        add(g, kind, inputs, **attributes)

    return make


SEQUENCES: dict[str, Generator] = {kind: recurrent(kind) for kind in _GATES}
