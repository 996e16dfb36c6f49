"""Is a file read as the function that onnxruntime computes? Asked at some hundred points whenever a file is read.

Shapes: N points (N, I), outputs (N, O). A reader that is wrong about an operator would prove things about another
network, so a disagreement that rounding does not explain stops. It is no proof of the reader: what is not seen at the
points stays unseen.

Nothing is refused without need: the radii of `roundoff`, in the type of the file, hold whatever a runtime may round in
any order of summation. They take two more readings of the file, so a point is first put to a bound of the same kind on
the folded steps, of about that size; only where that does not explain it, the radii are formed. Where a file has none,
because it decides by comparisons or casts, a share of the points has to be far off. Bounds for any order say nothing of
long sums in 16 bits, where they reach the size of the sum: there most points must not be off by more than onnxruntime
usually rounds, which adds up in float32. Bounds are in float64 and pay for their own rounding. What onnxruntime cannot
run, or answers with something not finite, is passed over. A file with a fixed batch is asked about many points at once,
and each of its samples has to answer as the network of one does: the reader has not looked at all of them where the
batch is large (`readers.batches`).

What was compared at all points and agreed need not be compared again by the same program (`agreed`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto

from eqspec.errors import DisagreementError, NetworkError
from eqspec.networks import agreed, curve_values, entries_apart, roundoff, whole_ranges
from eqspec.networks.curves import Curves
from eqspec.networks.network import Array, Network
from eqspec.networks.program import INPUTS, Step, Tile, function_content, last_readers
from eqspec.networks.readers import onnx_reader
from eqspec.networks.roundoff import Precision
from eqspec.networks.session import CannotRunError, Session

SECONDS = 0.5
"""After so long no further points are tried; one always is."""
_SCALES = (1e-2, 0.1, 1.0, 10.0, 100.0, 1e3)
_PER_SCALE = 24
_CORNERS, _AXES, _IN_BOX = 16, 16, 16
_MOST_NUMBERS = 1 << 22
"""The most numbers of the points that are tried at a time."""
_MOST_PRODUCTS = 1 << 26
"""The most products that the points of a box may take together: a second or so, unless one of them takes more."""
_PRECISIONS = {
    TensorProto.BFLOAT16: roundoff.BFLOAT16,
    TensorProto.FLOAT16: roundoff.FLOAT16,
    TensorProto.FLOAT: roundoff.FLOAT32,
    TensorProto.DOUBLE: roundoff.FLOAT64,
}
"""What each element type rounds, the coarsest first."""
_FIX = (
    "export the model again with another opset, or without optimisations; and report it with the file, because either "
    "eqspec reads it wrongly or onnxruntime runs it wrongly"
)
_FUNCTION_UNITS, _FUNCTION_LEAST = 32, 2.0**-20
"""By how much runtimes may miss a smooth function, times max(1, |x|, |f(x)|): units of their type, and at least
so much, because some are computed in float32 also of double."""
_FEWEST, _FAR, _FAR_SHARE = 6, 16, 0.25
"""Where radii are not known, so many points are needed to judge, what so many times the usual rounding does not explain
is far off, and more than such a share of the points must not be."""
_SINGLE = frozenset(("BlackmanWindow", "GroupNormalization", "HammingWindow"))
"""Operators that onnxruntime computes in float32, also of double."""
_SUMS, _OFF_SHARE, _SMALLEST = 8.0, 0.5, 2.0**-24
"""In 16 bits a sum is usually missed by less than so many units of the sum of sizes, however long it is; more than such
a share of the points must not be off by more. Nothing is flushed to 0 that float16 holds, the last of these."""
_DIVISION_UNITS = 4
"""By how many units what rounds to levels may miss its quotient, and the sum with the level that stands for 0."""
_JUMPING = frozenset(("floor", "quantiser", "sign"))
_SEEN, _OFTEN, _ENOUGH = 1e-4, 20, 8
"""An answer has other levels where so much of it is another number, which rounding alone does not explain; it is said
where one point in so many has, of so many at least."""
OTHER_LEVELS = (
    "onnxruntime often answers another level: values lie in the middle between two levels, up to rounding, as the mean "
    "of some levels does. Claims are about the real numbers, where ties are decided as the file says; `arithmetic "
    "float32` is about what runtimes may answer"
)
NOT_RUN = "onnxruntime does not run this file: how it is read was not compared with it"
_agreed: dict[str, tuple[str, ...]] = {}
"""What is said of files, by digests of them together with the steps that they were read as, in this process."""


def check(network: Network, content: Callable[[], bytes]) -> tuple[str, ...]:
    """Compare a network with its file at points of many sizes, once in a process; notes of what was seen.

    Raises DisagreementError where they differ by more than rounding.
    """
    key = _key(network)
    if key not in _agreed:
        said: tuple[str, ...] = ()
        if not agreed.before(key):
            compared = Comparison(network, content)
            compared.at(points(network.input_size))
            compared.at_two_entries()
            said = (OTHER_LEVELS,) if compared.often_has_other_levels else ()
            if compared.unrun:
                said = (NOT_RUN,)
            if compared.complete and not said:
                agreed.keep(key)
        _agreed[key] = said
    return _agreed[key]


class Comparison:
    """A network and its file in onnxruntime; nothing is compared where that does not run the file.

    `content` gives the bytes that the network was read from.
    """

    def __init__(self, network: Network, content: Callable[[], bytes]) -> None:
        self._network, self._content = network, content
        self._key: str | None = None
        self._opened = False
        self._session: Session | None = None
        self.unrun = False
        """Whether onnxruntime does not load the file."""
        self.complete = False
        """Whether the last points were all answered and compared, and none of them was far off."""
        self._precision: Precision | None = None
        self._rounded: Sequence[Step] | None = None
        """The steps with radii, once they are formed; none where it is not known what a runtime rounds."""
        self._usual: Sequence[Step] | None = None
        """The same with what 16 bits usually round."""
        self._answered, self._finite = 0, False
        """How many points were answered, and whether one of the answers was finite."""
        self._far = list[bool]()
        """Which of the points that were compared are far off, as far as can be told without radii."""
        self._unusual = list[bool]()
        """Which of them are further off than 16 bits usually round; none where the file has more bits."""
        kinds = [c.name for s in network.steps if isinstance(s.function, Curves) for c in s.function.kinds]
        self._jumps = not _JUMPING.isdisjoint(kinds)
        self._other_levels = list[bool]()
        """At which of them a network that jumps is another number than the answer, as far as anybody would see."""

    def _running(self) -> Session | None:
        """The file in onnxruntime, loaded once; None if it cannot be run."""
        if not self._opened:
            self._opened = True
            try:
                self._session = Session(self._network)
            except CannotRunError:
                self.unrun = True
        return self._session

    @property
    def often_has_other_levels(self) -> bool:
        """Whether thresholds are met within rounding at more points than by chance: it is not refused, but said."""
        seen, other = len(self._other_levels), sum(self._other_levels)
        return seen >= _ENOUGH and other > 1 and other * _OFTEN >= seen

    def within(self, lower: Array, upper: Array) -> int:
        """Compare them on a box (I,) in the units that the file takes. Raises DisagreementError.

        The number of points at which onnxruntime answered infinities or NaN, if it did so at all that were tried; else
        0. Where whole numbers may lie beyond what is read of them, nothing is compared: tasks there are refused.
        """
        if whole_ranges.beyond(self._network, (lower, upper)) is not None:
            return 0
        self._key = self._key or _key(self._network)
        key = f"{self._key} {hashlib.sha256(lower.tobytes() + upper.tobytes()).hexdigest()}"
        if agreed.before(key):
            return 0
        self._answered, self._finite = 0, False
        shares = np.random.default_rng(0).uniform(size=(_IN_BOX, len(lower)))
        shares[0], shares[1], shares[2] = 0.5, 0.0, 1.0
        products = sum(term.tile.products for step in self._network.steps for term in step.terms)
        most = max(1, min(_MOST_NUMBERS // max(1, len(lower)), _MOST_PRODUCTS // max(1, products)))
        self.at(iter([lower * (1.0 - shares[:most]) + upper * shares[:most]]))
        if self.complete and self._finite:
            agreed.keep(key)
        return 0 if self._finite else self._answered

    def at(self, points: Iterator[Array]) -> None:
        """Compare them at points in the units that the file takes. Raises DisagreementError."""
        self.complete, whole = False, True
        self._running()  # which may load onnxruntime, in no time of this comparison
        began = perf_counter()
        for some in points:
            if (session := self._running()) is None:
                return
            tried = some if perf_counter() - began < SECONDS / 2 else some[:1]
            whole &= self._compare(session, tried, began) and len(tried) == len(some)
            if perf_counter() - began > SECONDS:
                return
        self.complete = whole and not any(self._far)

    def at_two_entries(self) -> None:
        """Ask whether samples stand along an open axis (`entries_apart`). Raises OpenSizesError."""
        if (session := self._running()) is not None:
            short = self._precision in (roundoff.FLOAT16, roundoff.BFLOAT16)
            entries_apart.check(self._network, session, self._content(), short=short)

    def _compare(self, session: Session, points: Array, began: float) -> bool:
        """Whether all of the points were answered and compared."""
        with np.errstate(over="ignore"):
            points = session.rounded(points)
        points = points[np.isfinite(points).all(axis=1)]
        answered, answers, whole = list[Array](), list[Array](), True
        for first in range(0, len(points), session.samples):
            some = points[first : first + session.samples]
            try:
                for answer in self._answers(session, some):
                    answered.append(some)
                    answers.append(answer)
            except CannotRunError:  # at these points alone, as where they are no places of a table
                whole = False
                continue
            if perf_counter() - began > SECONDS:
                break
        if not answers:
            return False
        points, found = np.concatenate(answered), np.concatenate(answers)
        self._answered += len(found)
        self._finite |= bool(np.isfinite(found).all(axis=1).any())
        if self._precision is None:
            self._precision = precision_of(self._content())
            if self._network.dequantised is not None and self._precision is roundoff.FLOAT64:
                self._precision = roundoff.FLOAT32  # the type of scales
        excess, radius, here = _excess(self._network.steps, points, found, self._precision, self._precision)
        if self._jumps:
            self._other_levels += self._have_other_levels(points, found, here, excess)
        if self._precision in (roundoff.FLOAT16, roundoff.BFLOAT16):
            self._judge_in_16_bits(points, found)
        if not (excess > 0).any():
            self._far.extend([False] * len(points))
            return whole
        if self._rounded is None:
            self._rounded = self._with_radii(self._precision)
        if not self._rounded:
            self._judge_without_radii(points, found)
            return whole
        where = beyond(self._rounded, points, found, None, self._precision) or self._unlike(points, here, radius)
        if where is not None:
            raise self._disagreement(points, found, where)
        return whole

    def _have_other_levels(self, points: Array, found: Array, here: Array, excess: Array) -> list[bool]:
        """Which of the points that both answer have another number than rounding explains where no level changes.

        Where levels that change do not explain it either (`excess`), it is something else.
        """
        assert self._precision is not None
        finite = np.isfinite(here).all(axis=1) & np.isfinite(found).all(axis=1)
        with np.errstate(all="ignore"):
            apart = finite & (np.abs(found - here).max(axis=1) > _SEEN * np.abs(found).max(axis=1))
        apart &= ~(excess > 0).any(axis=1)
        if apart.any():
            some = points[apart], found[apart]
            held, _, _ = _excess(self._network.steps, *some, self._precision, self._precision, jumps=False)
            apart[apart] = (held > 0).any(axis=1)
        return [bool(x) for x in apart[finite]]

    def _unlike(self, points: Array, here: Array, radius: Array) -> tuple[int, int, float] | None:
        """As `beyond`, of what the network gives: what a runtime rounds may be read of other nodes than it was."""
        assert self._rounded is not None
        assert self._precision is not None
        excess, allowed, _ = _excess(self._rounded, points, here, None, self._precision)
        with np.errstate(all="ignore"):
            apart = np.nan_to_num(excess - radius, nan=-np.inf)
        return _farthest(apart, allowed)

    def _judge_without_radii(self, points: Array, found: Array) -> None:
        """Raise where many points that were tried are far off: no rounding moves so many over a threshold."""
        assert self._precision is not None
        wide = replace(self._precision, unit=_FAR * self._precision.unit)
        excess, radius, _ = _excess(self._network.steps, points, found, wide, wide)
        self._far += [bool(row.any()) for row in excess > 0]
        self._judge(self._far, _FAR_SHARE, points, found, excess, radius)

    def _judge_in_16_bits(self, points: Array, found: Array) -> None:
        """Raise where most points are off by more than sums in 16 bits usually are."""
        assert self._precision is not None
        precision = replace(self._precision, tiny=min(self._precision.tiny, _SMALLEST))
        excess, radius, _ = _excess(self._network.steps, points, found, precision, precision, sums=_SUMS)
        if (excess > 0).any():
            if self._usual is None:
                self._usual = self._with_radii(precision, _SUMS * float(precision.unit))
            if not self._usual:
                return
            unfolded, radius, _ = _excess(self._usual, points, found, None, precision)
            excess = np.minimum(excess, unfolded)
        self._unusual += [bool(row.any()) for row in excess > 0]
        self._judge(self._unusual, _OFF_SHARE, points, found, excess, radius)

    def _with_radii(self, precision: Precision, share: float | None = None) -> Sequence[Step]:
        """The steps with radii for what a runtime rounds, or of a share of each monomial; none where they have none."""
        network, content = self._network, self._content()
        given = network.chosen, network.dequantised, network.fixed or None
        try:
            return onnx_reader.read_rounded(network.source, content, precision, *given, share=share).steps
        except NetworkError:  # it jumps, or leaves the range of the type: nothing is known of what it rounds
            return ()

    def _judge(
        self, off: Sequence[bool], share: float, points: Array, found: Array, excess: Array, radius: Array
    ) -> None:
        """Raise where more than a share of the points up to these is off, and one of these."""
        if len(off) < _FEWEST or sum(off) <= share * len(off) or (where := _farthest(excess, radius)) is None:
            return
        raise self._disagreement(points, found, where)

    def _answers(self, session: Session, points: Array) -> Sequence[Array]:
        """The answers (N, O) to at most as many points (N, I) as the file takes at once.

        Where a point is repeated to fill the batch, the least and the largest ones: all others lie between.
        """
        answer, outputs = session.answers(points), self._network.output_size
        if answer.size != session.samples * outputs:
            several = f" for each of {session.samples} samples" if session.samples > 1 else ""
            message = f"it is read as a function with {outputs} outputs{several}, but onnxruntime answers"
            raise DisagreementError(self._network.source, f"{message} {answer.size} numbers", fix=_FIX)
        rows, count = answer.reshape(session.samples, outputs), len(points)
        if session.samples == count:
            return [rows]
        finite = np.where(np.isfinite(rows), rows, np.nan)
        return [np.array([bound.reduce(finite[i::count]) for i in range(count)]) for bound in (np.fmin, np.fmax)]

    def _disagreement(self, points: Array, found: Array, where: tuple[int, int, float]) -> DisagreementError:
        row, output, allowed = where
        point, here = points[row], self._network.evaluate(points[row : row + 1])[0]
        shown = ", ".join(f"{x:.6g}" for x in point[:8]) + (", ..." if len(point) > 8 else "")
        message = (
            f"it is read as another function than onnxruntime computes: at input [{shown}] output {output} is "
            f"{here[output]:.9g} here and {found[row, output]:.9g} there; rounding explains {allowed:.2g} of that"
        )
        if not (lost := subnormal_constants(self._content())):
            return DisagreementError(self._network.source, message, fix=_FIX)
        listed = ", ".join(map(repr, lost[:3])) + (", ..." if len(lost) > 3 else "")
        message += f"; it holds constants ({listed}) so small that a runtime keeps few digits or takes them for 0"
        return DisagreementError(self._network.source, message, fix="store 0 in their place, or rescale the weights")


def beyond(
    steps: Sequence[Step],
    points: Array,
    found: Array,
    precision: Precision | None = None,
    kind: Precision = roundoff.FLOAT32,
) -> tuple[int, int, float] | None:
    """Row, output and radius of the answer that is furthest outside of what the steps enclose; None if all are inside.

    With a precision, the steps are without what a runtime rounds, and some units in their last places are allowed for
    it. Without one, the steps have the radii of `roundoff`. Smooth functions are computed by runtimes of this `kind`.
    Answers and bounds that are not finite count as inside, and points at which some value is too large for the type:
    what a runtime makes of an infinity on its way, such as 0 from max(0, NaN), is no answer of the function.
    """
    excess, radius, _ = _excess(steps, points, found, precision, kind)
    return _farthest(excess, radius)


def _farthest(excess: Array, radius: Array) -> tuple[int, int, float] | None:
    """Row, output and radius where the excess is largest; None where there is none."""
    if not (excess > 0).any():
        return None
    row, output = (int(i) for i in np.unravel_index(np.argmax(excess), excess.shape))
    return row, output, float(radius[row, output])


def _excess(
    steps: Sequence[Step],
    points: Array,
    found: Array,
    precision: Precision | None,
    kind: Precision,
    *,
    jumps: bool = True,
    sums: float = np.inf,
) -> tuple[Array, Array, Array]:
    """By how much each answer (N, O) lies outside of what the steps enclose, or -inf; radii; values.

    Without `jumps` all levels and signs are taken to be those of the values here. `sums` is how many units of the sum
    of sizes a sum is missed by at most.
    """
    last = last_readers(steps)
    overflown = np.zeros(len(points), bool)
    with np.errstate(all="ignore"):
        values: dict[int, tuple[Array, Array]] = {INPUTS: (points.T, np.zeros_like(points.T))}
        for number, step in enumerate(steps):
            centre, radius = _through(step, values, precision, sums)
            if isinstance(step.function, Curves):
                centre, radius = _bent(step.function, centre, radius, kind, jumps=jumps)
            elif step.function == "relu":
                centre = np.maximum(centre, 0.0)  # which moves no two numbers further apart
            values[number] = centre, radius
            overflown |= (np.abs(centre) > 4 * kind.largest).any(axis=0)
            for source in step.sources:
                if source >= 0 and last[source] == number:
                    values.pop(source, None)
        centre, radius = values[len(steps) - 1]
        excess = np.where(np.isfinite(found.T) & np.isfinite(radius), np.abs(found.T - centre) - radius, -np.inf).T
        excess[overflown] = -np.inf
    return excess, radius.T, centre.T


def _through(
    step: Step, values: dict[int, tuple[Array, Array]], precision: Precision | None, sums: float
) -> tuple[Array, Array]:
    """Centre and radius (rows, N) behind a step, its errors and the rounding of this computation included."""
    count = values[INPUTS][0].shape[1]
    terms = sum(term.tile.taps for term in step.terms)
    centre = np.repeat(step.bias[:, None], count, axis=1)
    size, grown = np.abs(centre), np.zeros_like(centre)
    for term in step.terms:
        tile, (before, radius) = term.tile, values[term.source]
        centre = centre + tile.apply(before)
        weight = Tile(tile.index, np.abs(tile.weight))
        size += weight.apply(np.abs(before))
        if radius.any():
            grown += weight.apply(radius)
        if tile.weight_error is not None:
            grown += Tile(tile.index, tile.weight_error).apply(np.abs(before) + radius)
    if step.bias_error is not None:
        grown += step.bias_error[:, None]
    share = (terms + 4) * 2.0**-52
    if precision is not None:
        share += min(terms + 2, sums) * float(precision.unit)
        grown += (terms + 2) * precision.tiny
    grown = (grown + size * share) * (1.0 + 2 * (terms + 8) * 2.0**-52) + (terms + 2) * 2.0**-1022
    return centre, grown


def _bent(curves: Curves, centre: Array, radius: Array, kind: Precision, *, jumps: bool = True) -> tuple[Array, Array]:
    """Centre and radius behind functions, with what a runtime may miss them by; infinite off their domain."""
    after = curve_values.value(curves, centre)
    own = max(_FUNCTION_UNITS * float(kind.unit), _FUNCTION_LEAST)
    missed = own * np.maximum(1.0, np.maximum(np.abs(centre) + radius, np.abs(after)))
    grown = curve_values.spread(curves, centre, radius, _DIVISION_UNITS * float(kind.unit)) * 1.01 + missed
    if not jumps:
        for curve, rows in curves.groups(len(centre)):
            if curve.name in _JUMPING:
                grown[rows] = 0.0
    return after, np.where(np.isfinite(after) & np.isfinite(grown), grown, np.inf)


def precision_of(content: bytes) -> Precision:
    """The coarsest type of floating-point numbers that occurs in a model."""
    model = onnx.load_model_from_string(content)
    kinds = {value.type.tensor_type.elem_type for value in model.graph.input}
    kinds |= {tensor.data_type for tensor in model.graph.initializer}
    for node in model.graph.node:
        kinds |= {TensorProto.FLOAT} if node.op_type in _SINGLE else set()
        for attribute in node.attribute:
            kinds |= {attribute.i} if node.op_type == "Cast" and attribute.name == "to" else set()
            kinds |= {attribute.t.data_type} if attribute.HasField("t") else set()
    return next((precision for kind, precision in _PRECISIONS.items() if kind in kinds), roundoff.FLOAT64)


def subnormal_constants(content: bytes) -> list[str]:
    """The names of stored tensors with an entry below the normal numbers of its type, other than 0."""
    model = onnx.load_model_from_string(content)
    stored = [(tensor.name, tensor) for tensor in model.graph.initializer]
    stored += [(n.output[0], a.t) for n in model.graph.node for a in n.attribute if a.HasField("t") and n.output]
    found = []
    for name, tensor in stored:
        if tensor.data_type in _PRECISIONS and tensor.data_location != TensorProto.EXTERNAL:
            size = np.abs(onnx.numpy_helper.to_array(tensor).astype(np.float64))
            if ((size > 0) & (size < _PRECISIONS[tensor.data_type].tiny)).any():
                found.append(name)
    return found


def points(size: int) -> Iterator[Array]:
    """Points in parts that grow: at once one of usual size, then a few of every kind, then all others."""
    random = np.random.default_rng(0)
    yield random.normal(size=(1, size))
    most = max(1, _MOST_NUMBERS // size)
    some = random.normal(size=(min(len(_SCALES), most), size)) * np.array(_SCALES)[: min(len(_SCALES), most), None]
    yield some
    if most < 16:
        return
    axes = np.zeros((2 * min(_AXES, size), size))
    for row, axis in enumerate(random.choice(size, min(_AXES, size), replace=False)):
        axes[2 * row, axis], axes[2 * row + 1, axis] = 1.0, -1.0
    corners = random.choice([-1.0, 1.0], size=(min(_CORNERS, most), size))
    yield np.concatenate([np.zeros((1, size)), np.ones((1, size)), axes[:most], corners])
    yield random.uniform(size=(min(_CORNERS, most), size))
    for scale in _SCALES:
        yield random.normal(size=(min(_PER_SCALE, most), size)) * scale


def _key(network: Network) -> str:
    digest = hashlib.sha256(f"{network.identity} {network.stripped}".encode())
    for step in network.steps:
        digest.update(f"step {step.sources}".encode())
        for part in function_content(step.function):
            digest.update(part)
        for array in (step.bias, step.bias_error, *(a for term in step.terms for a in _arrays(term.tile))):
            digest.update(b"exact" if array is None else np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _arrays(tile: Tile) -> tuple[NDArray[Any] | None, ...]:
    return tile.index, tile.weight, tile.weight_error
