"""Stanford's .nnet text format (Julian, 2016).

Lines: comments starting with //; sizes (layers, inputs, outputs, widest layer); layer widths; an unused flag; minima,
maxima, means and ranges of the inputs (the last two with one more number for the outputs); then per layer the weight
rows and the biases, one number a line.

Decisions. A weight is the float64 nearest to its text, which is what every reader of the format computes with (numpy,
C's double), so the network is exactly the one that runs; no error is carried. Means and ranges describe how *raw*
inputs are normalised before, and outputs after, the network; as in Marabou and in the ONNX files made from these by
nnet2onnx, they are not applied: the network reads normalised inputs and gives normalised outputs. They are reported
in the notes, to be declared in the spec. Minima and maxima clip raw inputs and are likewise only checked; they may be
infinite.

Writers of the format differ in what is not applied, so none of it decides which network is read: there may be no mean
and range of the outputs, a 0 in place of each of these lines, no sizes but the number of layers, and the number of
hidden layers in place of that of all layers. The widths decide, and the file must hold exactly the weights and biases
that they ask for.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from itertools import pairwise
from math import isfinite, isinf

import numpy as np

from eqspec.errors import NetworkError
from eqspec.networks.matrices import MAX_ENTRIES
from eqspec.networks.network import AffineLayer, Network

_COMMENTS = ("//", "#", "%")
FIX = "compare with the format's description at github.com/sisl/NNet, or export the network as ONNX"


def read(path: str, content: bytes) -> Network:
    """A .nnet file's network. Raises NetworkError naming the line."""
    return _Reader(path, content).network(hashlib.sha256(content).hexdigest())


class _Reader:
    """The lines of a file, one after the other."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path, self.line = path, 0
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.line = content[: error.start].count(b"\n") + 1
            raise self._error("not a text file", "check that it is a .nnet file") from error
        self.limit = len(content)
        self.lines: Iterator[str] = iter(io.StringIO(text, None))  # a form feed in a comment ends no line

    def _error(self, message: str, fix: str = FIX) -> NetworkError:
        return NetworkError(self.path, f"line {self.line}: {message}", fix=fix)

    def _fields(self, what: str) -> list[str]:
        """The numbers of the next line that is neither empty nor a comment, as text."""
        for line in self.lines:
            self.line += 1
            text = line.strip()
            if text and not text.startswith(_COMMENTS):
                if not text.isascii():
                    raise self._error("not a text file", "check that it is a .nnet file")
                return [field.strip() for field in text.removesuffix(",").split(",")]
        self.line += 1
        raise self._error(f"the file ends where {what} should be")

    def _wholes(self, what: str) -> list[int]:
        fields = self._fields(what)
        wrong = next((f for f in fields if not f.isdecimal() or len(f) > 9), None)
        if wrong is not None:
            raise self._error(f"{what}: {wrong[:40]!r} is not a whole number")
        return [int(f) for f in fields]

    def _reals(self, what: str, count: int) -> list[float]:
        fields = self._fields(what)
        if len(fields) != count:
            raise self._error(f"{what}: {len(fields)} numbers, {count} expected")
        return [self._real(what, field) for field in fields]

    def _limits(self, what: str, count: int) -> None:
        """Minima or maxima, which are not applied: at least one for each input, or a 0 for nothing."""
        fields = self._fields(what)
        numbers = [self._real(what, field, infinite=True) for field in fields]
        if len(numbers) < count and numbers != [0.0]:
            raise self._error(f"{what}: {len(fields)} numbers, {count} expected")

    def _normal(self, what: str, count: int) -> tuple[list[float], float | None] | None:
        """Means or ranges of so many inputs, and that of the outputs where it stands there; None for a 0 for nothing.

        Some files describe more inputs than they have.
        """
        numbers = [self._real(what, field) for field in self._fields(what)]
        if len(numbers) < count:
            if numbers == [0.0]:
                return None
            raise self._error(f"{what}: {len(numbers)} numbers, {count + 1} expected")
        return numbers[:count], numbers[-1] if len(numbers) > count else None

    def _real(self, what: str, field: str, *, infinite: bool = False) -> float:
        try:
            number = float(field) if "_" not in field else None
        except ValueError:
            number = None
        if number is None:
            raise self._error(f"{what}: {field[:40]!r} is not a number")
        if not isfinite(number) and not (infinite and isinf(number)):
            raise self._error(f"{what}: {field[:40]!r} is not finite", "repair the training or the export that made it")
        return number

    def _widths(self) -> list[int]:
        sizes = self._wholes("the sizes (layers, inputs, outputs, widest layer)")
        if len(sizes) not in (1, 4):
            raise self._error(f"the sizes: {len(sizes)} numbers, 4 expected (layers, inputs, outputs, widest layer)")
        layers = sizes[0]
        widths = self._wholes("the layer widths")
        hidden = len(sizes) == 4 and len(widths) == layers + 2
        if (len(widths) != layers + 1 and not hidden) or layers == 0:
            raise self._error(f"the layer widths: {len(widths)} numbers, {layers} layers have {layers + 1}")
        inputs, outputs = sizes[1:3] if len(sizes) == 4 else (widths[0], widths[-1])
        if widths[0] != inputs or widths[-1] != outputs or 0 in widths:
            raise self._error(f"the layer widths {widths[:20]} do not lead from {inputs} inputs to {outputs} outputs")
        needed = sum((n + 1) * m for n, m in pairwise(widths))
        if needed > min(MAX_ENTRIES, self.limit):
            raise self._error(
                f"the layer widths ask for {needed} weights and biases, the file has {self.limit} characters"
            )
        return widths

    def network(self, digest: str) -> Network:
        """The whole file."""
        widths = self._widths()
        inputs = widths[0]
        self._fields("the unused flag")
        for what in ("minima", "maxima"):
            self._limits(f"the input {what}", inputs)
        means, ranges = (self._normal(f"the {what} of inputs and outputs", inputs) for what in ("means", "ranges"))
        layers = []
        for number, (columns, rows) in enumerate(pairwise(widths)):
            weight = [self._reals(f"row {row} of weight {number}", columns) for row in range(rows)]
            bias = [self._reals(f"bias {row} of layer {number}", 1)[0] for row in range(rows)]
            layers.append(AffineLayer(np.array(weight), np.array(bias)))
        for line in self.lines:
            self.line += 1
            if line.strip() and not line.strip().startswith(_COMMENTS):
                raise self._error("text after the last layer")
        return Network.of_layers(
            tuple(layers),
            self.path,
            digest,
            "input",
            (inputs,),
            "output",
            (widths[-1],),
            notes=_normalisation(means, ranges),
        )


def _normalisation(
    means: tuple[list[float], float | None] | None, ranges: tuple[list[float], float | None] | None
) -> tuple[str, ...]:
    """A sentence on the normalisation that the file states and that is not applied; none where it states none."""
    if means is None or ranges is None:
        return ()
    (mean, output_mean), (spread, output_range) = means, ranges
    if all(m == 0 for m in [*mean, output_mean or 0]) and all(r == 1 for r in spread):
        return ()
    if (flat := [number for number, r in enumerate(spread) if r <= 0]) != []:
        return (
            f"the file gives input {flat[0]} a range of {spread[flat[0]]}, by which nothing can be divided, so it does "
            "not say how inputs are normalised; the network reads them as they come",
        )
    outputs = f" (mean {output_mean}, range {output_range})" if output_mean is not None else ""
    return (
        "the network reads normalised inputs, (raw - mean) / range, "
        f"with mean {mean} and range {spread}; "
        f"its outputs are not rescaled{outputs}",
    )
