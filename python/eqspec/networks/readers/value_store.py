"""The values of a graph while it is evaluated, by name. They are removed after their last use and limited in size.

A file of two kilobytes can ask for a thousand values of a million numbers. What a node makes is bounded before it is
made (see `affine`); this bounds what is kept of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from onnx import NodeProto

from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Levels
from eqspec.networks.masked import Hidden, Masked
from eqspec.networks.matrices import Matrix, Selection, Tiled, TooLargeError, numbers
from eqspec.networks.names import Names
from eqspec.networks.operators.operator_call import Scores, Value
from eqspec.networks.readers.onnx_ends import names_read

MAX_STORED = 1 << 28
"""The largest number of numbers in all values that are still needed: two GiB of float64."""


class ValueStore:
    """Values by name. `nodes` are all that will use them, `output` is needed at the end."""

    def __init__(self, nodes: Sequence[NodeProto], output: str) -> None:
        self._uses = Counter([output])
        self._readers = Counter([output])
        self._values: dict[str, Value] = {}
        self._numbers = 0
        self.expect(nodes)

    def expect(self, nodes: Sequence[NodeProto]) -> None:
        """Count the reads of further nodes."""
        names = [name for node in nodes for name in names_read(node)]
        self._uses.update(names)
        self._readers.update(names)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def keep(self, name: str, value: Value) -> None:
        """Keep a value if anything will use it. TooLargeError if that is too much."""
        self._remove(name)
        if self._uses[name] > 0:
            self._values[name] = value
            self._add(_numbers(value))

    def read_once(self, name: str) -> bool:
        """Whether one node alone reads a value, and that once."""
        return self._readers[name] == 1

    def is_read(self, name: str) -> bool:
        """Whether a node will read a value, or it is the output."""
        return self._uses[name] > 0

    def used(self, node: NodeProto) -> None:
        """A node has been evaluated: values that no other node needs are removed. A ReLU's argument still counts."""
        for name in names_read(node):
            self._uses[name] -= 1
            if node.op_type == "Relu" and name in self._values:
                self._add(_numbers(self._values[name]))
            if self._uses[name] == 0:
                self._remove(name)

    def _remove(self, name: str) -> None:
        if name in self._values:
            self._numbers -= _numbers(self._values.pop(name))

    def _add(self, numbers: int) -> None:
        self._numbers += numbers
        if self._numbers > MAX_STORED:
            raise TooLargeError(f"the values up to here are {self._numbers} numbers; the limit is {MAX_STORED}")


def _numbers(value: Value) -> int:
    """How many numbers a value consists of."""
    match value:
        case Affine(parts, bias, names):
            return sum(_size(part.matrix) for part in parts) + _numbers(bias) + _size_of(names)
        case Enclosure(reals, error, names):
            return reals.size * (1 if error is None else 2) + _size_of(names)
        case Scores():
            return _numbers(value.scores)
        case Levels():
            return value.size
        case Masked():
            return _numbers(value.value) + value.infinite.size
        case Hidden():
            return _numbers(value.value) + _numbers(value.shown)
        case _:
            return int(np.asarray(value).size)


def _size(matrix: Matrix) -> int:
    return _numbers(numbers(matrix)) + (matrix.index.size if isinstance(matrix, Selection | Tiled) else 0)


def _size_of(names: Names | None) -> int:
    """The room of names, counted in numbers: a pointer, and a digest with its header."""
    return 0 if names is None else 10 * names.size
