"""A network as a program of steps: sums of structured affine terms of earlier steps, each followed by a function.

    v_s = sum over terms (j, A) of A X_j + b_s,      X_s = f_s(v_s),      j < s,      X_-1 = the inputs.

The last step has f = identity: its rows are the outputs. A term's A is a `Tile`: rows gathered by an index, times a
small matrix that all positions share,

    out[(g O + o) P + p] = sum over k of weight[g, o, k] x[index[g, p, k]]       index -1 reads 0,

with groups g < G, outputs o < O, positions p < P and taps k < K. So rows are channel-major, as NCHW of one sample is. A
matrix (m, n) is the tile of one group and one position; a convolution has its channels as groups or outputs, its pixels
as positions and its receptive field as taps; pooling, slices, transposes and paddings are tiles as well. No matrix of
a convolution is ever formed.

Weights and biases are float64. Where they are not exact, errors bound elementwise how far the exact number may lie from
the stored one. The error of a tile's entry bounds the exact number at each position by itself: with `arithmetic
float32` every position rounds otherwise, and folded scales of one value and error are taken together though the exact
ones may differ. So one error is stored for all positions, and nothing may be concluded from their sharing it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import curve_definitions
from eqspec.networks.curves import Curves
from eqspec.networks.names import Name

Array = NDArray[np.float64]
Index = NDArray[np.int32]
Function: TypeAlias = Literal["identity", "relu"] | Curves
FUNCTIONS = ("identity", "relu")
"""The functions that are strings; every other one is `Curves`."""
INPUTS = -1
"""The source of a term that reads the inputs of the network."""
NONE = -1
"""The index of a tap that reads 0."""


@dataclass(frozen=True, eq=False)
class Tile:
    """index (G, P, K), weight (G, O, K) and the error of each weight (None: exact); see the head of this file."""

    index: Index
    weight: Array
    weight_error: Array | None = None

    @classmethod
    def dense(cls, weight: Array, weight_error: Array | None = None) -> Tile:
        """The tile of a matrix (m, n), whose numbers it shares."""
        index = np.arange(weight.shape[1], dtype=np.int32).reshape(1, 1, -1)
        return cls(index, weight[None], None if weight_error is None else weight_error[None])

    @classmethod
    def rearranged(cls, rows: NDArray[np.integer]) -> Tile:
        """out[i] = x[rows[i]], 0 where that is -1."""
        return cls(rows.astype(np.int32).reshape(1, -1, 1), np.ones((1, 1, 1)))

    @property
    def groups(self) -> int:
        """The number of groups, G."""
        return int(self.weight.shape[0])

    @property
    def outputs(self) -> int:
        """O, the outputs of a group."""
        return int(self.weight.shape[1])

    @property
    def positions(self) -> int:
        """The number of positions, P."""
        return int(self.index.shape[1])

    @property
    def taps(self) -> int:
        """The number of taps, K."""
        return int(self.index.shape[2])

    @property
    def rows(self) -> int:
        """The number of rows of the result, G O P."""
        return self.groups * self.outputs * self.positions

    @property
    def channels(self) -> int:
        """Rows that share a position: G O."""
        return self.groups * self.outputs

    @property
    def products(self) -> int:
        """How many products one application costs, those with 0 included."""
        return self.rows * self.taps

    @property
    def exact(self) -> bool:
        """Whether the stored weights are the exact ones."""
        return self.weight_error is None or not self.weight_error.any()

    def is_dense(self, columns: int) -> bool:
        """Whether this is a matrix that reads all of so many rows in their order."""
        return self.taps == columns and self._in_order

    def matrix(self, columns: int) -> Array:
        """The dense matrix (rows, columns), in floats: of small tiles, where nothing else will do."""
        made = np.zeros((self.groups, self.outputs, self.positions, columns + 1))
        at = np.where(self.index == NONE, columns, self.index)
        group, position = np.ogrid[: self.groups, : self.positions]
        for tap in range(self.taps):
            np.add.at(
                made,
                (group[..., None], np.arange(self.outputs), position[..., None], at[:, :, tap, None]),
                self.weight[:, None, :, tap],
            )
        return np.ascontiguousarray(made.reshape(self.rows, columns + 1)[:, :columns])

    def gathered(self, values: NDArray[Any]) -> NDArray[Any]:
        """The rows (G, K, P, ...) that are read of values (n, ...), zeros where nothing is read."""
        taken: NDArray[Any] = np.take(values, self._by_tap, axis=0, mode="clip")
        if self._nothing is not None:
            taken[self._nothing] = 0
        return taken

    def apply(self, values: Array) -> Array:
        """Results (rows, N) at values (n, N), in floats."""
        if self.is_dense(len(values)):
            products: Array = self.weight[0] @ values
            return products
        taken = self.gathered(values).reshape(self.groups, self.taps, -1)
        results: Array = np.matmul(self.weight, taken).reshape(self.rows, -1)
        return results

    def pull_back(self, change: Array, columns: int) -> Array:
        """The transposed tile at coefficients (rows, N) of its rows: (columns, N), in floats."""
        if self.is_dense(columns):
            pulled: Array = self.weight[0].T @ change
            return pulled
        wide = change.reshape(self.groups, self.outputs, -1)
        taken = np.matmul(self.weight.transpose(0, 2, 1), wide).reshape(self.index.size, -1)
        order, starts, targets = self._readers
        made = np.zeros((columns, taken.shape[1]))
        if len(order):
            made[targets] = np.add.reduceat(taken[order], starts, axis=0)
        return made

    @cached_property
    def _in_order(self) -> bool:
        """Whether there is one group and one position, and taps read one row after the other from the first."""
        return self.index.shape[:2] == (1, 1) and bool((self.index.reshape(-1) == np.arange(self.taps)).all())

    @cached_property
    def _by_tap(self) -> Index:
        return np.ascontiguousarray(self.index.transpose(0, 2, 1))

    @cached_property
    def _nothing(self) -> NDArray[np.bool_] | None:
        nothing = self._by_tap == NONE
        return nothing if nothing.any() else None

    @cached_property
    def _readers(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Index]:
        """Entries (g, k, p) in the order of the rows that they read, where those of a row start, and these rows."""
        flat = self._by_tap.reshape(-1)
        order = np.argsort(flat, kind="stable")
        order = order[np.searchsorted(flat[order], 0) :]
        targets, starts = np.unique(flat[order], return_index=True)
        return order, starts, targets


@dataclass(frozen=True, eq=False)
class Term:
    """A tile of what an earlier step gives, or of the inputs (source -1)."""

    source: int
    tile: Tile


@dataclass(frozen=True, eq=False)
class Step:
    """function(sum of terms + bias), with bias (rows,) and its error (None: exact).

    `names` (rows) say which exact function of its sources a row stands for, its entry of the bias included (see
    `names`); None where that is not known. A step without terms is constant.
    """

    terms: tuple[Term, ...]
    bias: Array
    bias_error: Array | None = None
    function: Function = "relu"
    names: tuple[Name, ...] | None = None

    @property
    def rows(self) -> int:
        """How many values it gives."""
        return len(self.bias)

    @property
    def exact(self) -> bool:
        """Whether the stored numbers are the step: no error stands beside them."""
        return (self.bias_error is None or not self.bias_error.any()) and all(t.tile.exact for t in self.terms)

    @property
    def sources(self) -> tuple[int, ...]:
        """The steps that its terms read, -1 for the inputs."""
        return tuple(term.source for term in self.terms)

    @property
    def products(self) -> int:
        """How many products one evaluation costs."""
        return sum(term.tile.products for term in self.terms)


class _Reading(Protocol):
    @property
    def sources(self) -> tuple[int, ...]: ...


def last_readers(steps: Sequence[_Reading]) -> list[int]:
    """For each step the last one that reads it; itself where none does, and for the last."""
    last = list(range(len(steps)))
    for number, step in enumerate(steps):
        for source in step.sources:
            if source >= 0:
                last[source] = number
    return last


def needed(steps: Sequence[Step]) -> list[bool]:
    """Which steps the last one depends on, itself included."""
    found = [False] * len(steps)
    found[-1] = True
    for number in reversed(range(len(steps))):
        if found[number]:
            for source in steps[number].sources:
                if source >= 0:
                    found[source] = True
    return found


def copied_step(step: Step, steps: Sequence[Step]) -> int | None:
    """The step whose rows this one passes on unchanged, all of them in their order; None where there is none."""
    if len(step.terms) != 1 or step.bias.any() or not step.exact:
        return None
    (term,) = step.terms
    tile = term.tile
    if term.source == INPUTS or tile.taps != 1 or tile.outputs != 1 or tile.rows != steps[term.source].rows:
        return None
    in_order = (tile.index.reshape(-1) == np.arange(tile.rows)).all()
    return term.source if in_order and (tile.weight == 1.0).all() else None


def renumbered(step: Step, place: dict[int, int]) -> Step:
    """The step with other numbers for what its terms read."""
    terms = tuple(Term(place[term.source], term.tile) for term in step.terms)
    return Step(terms, step.bias, step.bias_error, step.function, step.names)


def content(steps: Sequence[Step]) -> Iterator[bytes]:
    """The content of a program without its names, for a digest: programs of equal content compute the same."""
    for step in steps:
        yield f"step {step.rows} {step.sources}".encode()
        yield from function_content(step.function)
        for term in step.terms:
            yield f"tile {term.tile.index.shape} {term.tile.weight.shape}".encode()
            yield np.ascontiguousarray(term.tile.index).tobytes()
        for array in (a for t in step.terms for a in (t.tile.weight, t.tile.weight_error)):
            yield b"exact" if array is None else array.tobytes()
        for array in (step.bias, step.bias_error):
            yield b"exact" if array is None else array.tobytes()


def function_content(function: Function) -> Iterator[bytes]:
    """Which functions the rows have, for a digest."""
    if not isinstance(function, Curves):
        yield function.encode()
        return
    for curve in function.kinds:
        yield f"{curve.name} {' '.join(p.hex() for p in curve.parameters)}".encode()
    yield b"every row" if function.of_row is None else np.ascontiguousarray(function.of_row).tobytes()


def problems(steps: Sequence[Step], inputs: int) -> Iterator[tuple[str, str]]:
    """The faults of a program, each with a fix."""
    if not steps:
        yield "the network has no steps", "give at least one step"
        return
    for number, step in enumerate(steps):
        for where, fault, fix in _problems(step, number, [inputs, *(s.rows for s in steps[:number])]):
            yield f"step {number}{where}: {fault}", fix
    if steps[-1].function != "identity":
        yield f"step {len(steps) - 1}: the last step has the function {steps[-1].function}", "give it the identity"


def _problems(step: Step, number: int, sizes: Sequence[int]) -> Iterator[tuple[str, str, str]]:
    if isinstance(step.function, Curves):
        yield from _function_problems(step.function, step.rows)
    elif step.function not in FUNCTIONS:
        yield "", f"unknown function {step.function!r}", f"it is one of {', '.join(FUNCTIONS)}, or Curves"
    yield from _numbers(", bias", step.bias, step.bias_error, 1)
    if step.names is not None and len(step.names) != step.rows:
        yield "", f"{len(step.names)} names of {step.rows} rows", "give one for each row, or None"
    for place, term in enumerate(step.terms):
        where, tile = f", term {place}", term.tile
        if not INPUTS <= term.source < number:
            yield where, f"it reads step {term.source}", "a term reads an earlier step, or the inputs (-1)"
            continue
        index = tile.index
        if not isinstance(index, np.ndarray) or index.dtype != np.int32 or index.ndim != 3:
            yield where, "the index is not an int32 array (groups, positions, taps)", "convert it with numpy.asarray"
            continue
        wrong = list(_numbers(f"{where}, weight", tile.weight, tile.weight_error, 3))
        yield from wrong
        if wrong:
            continue
        if tile.weight.shape[::2] != index.shape[::2] or index.size == 0:
            fix = "weight is (groups, outputs, taps), index (groups, positions, taps), none of them 0"
            yield where, f"weight {tile.weight.shape} does not fit index {index.shape}", fix
        elif tile.rows != step.rows:
            yield where, f"{tile.rows} rows, the step has {step.rows}", "all terms have the rows of the bias"
        elif index.min() < NONE or index.max() >= sizes[term.source + 1]:
            fix = f"entries are -1 or below the {sizes[term.source + 1]} rows of what is read"
            yield where, f"the index goes from {index.min()} to {index.max()}", fix


def _function_problems(curves: Curves, rows: int) -> Iterator[tuple[str, str, str]]:
    for curve in curves.kinds:
        wrong = curve_definitions.problem(curve)
        if wrong is not None:
            yield ", function", wrong, f"these are known: {', '.join(curve_definitions.DEFINITIONS)}"
    chosen = curves.of_row
    if not curves.kinds:
        yield ", function", "no curves", "give at least one"
    elif chosen is not None and (not isinstance(chosen, np.ndarray) or chosen.dtype != np.int32):
        yield ", function", "the kinds of its rows are not an int32 array", "convert them with numpy.asarray"
    elif chosen is not None and chosen.shape != (rows,):
        yield ", function", f"kinds of {chosen.shape} rows, the step has {rows}", "give one for each row, or None"
    elif chosen is not None and not (chosen.min() >= 0 and chosen.max() < len(curves.kinds)):
        yield ", function", f"its rows have kinds {chosen.min()} to {chosen.max()}", f"there are {len(curves.kinds)}"


def _numbers(where: str, values: Array, errors: Array | None, axes: int) -> Iterator[tuple[str, str, str]]:
    for name, array in ((where, values), (f"{where}_error", errors)):
        if array is None:
            continue
        if not isinstance(array, np.ndarray) or array.dtype != np.float64 or not array.flags.c_contiguous:
            fix = "convert it with numpy.ascontiguousarray(array, dtype=numpy.float64)"
            yield name, "not a C-contiguous float64 array", fix
        elif array.ndim != axes or array.size == 0 or array.shape != values.shape:
            yield name, f"shape {array.shape} does not fit", f"{axes} axes, none of them 0; errors have the same shape"
        elif not np.isfinite(array).all():
            yield name, "a number that is not finite", "repair the training or the export that made it"
        elif array is errors and (array < 0).any():
            yield name, "a negative error", "repair the training or the export that made it"
