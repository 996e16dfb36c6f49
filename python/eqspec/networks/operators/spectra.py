"""DFT, STFT, windows and mel filters: products with cosines and sines, and with triangles, as ONNX defines them.

    X_k = sum over n of x_n e^(-2 pi i n k / N)        (inverse: + in the exponent, and 1 / N)

A complex number is a last axis of two, a real one of one. The inverse of one side of a spectrum is a real signal:
what stands for two frequencies counts twice, and the imaginary parts of the first and of half the length not at all.
STFT is the DFT of frames of a signal, each times a window.
Cosines are enclosed: pi is known to a few units in the last place of a float64, and so is everything made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.matrices import check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import curves
from eqspec.networks.operators.folding import IN_FRONT_OF_A_STEP
from eqspec.networks.operators.matrix_products import multiply_matrices
from eqspec.networks.operators.operator_call import IN_REAL, Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import apply, axis_of

_AGAIN = "export the model again"
_HALF = "give it one frequency more than half the length of the signal, rounded down"
_LONGEST, _MOST = 1 << 14, 1 << 25
"""Entries of a window, whose cosines take some seconds, and numbers of a matrix."""
_MEL_SLACK = 4 * IN_FRONT_OF_A_STEP
"""Of one more than a corner: the room on either side of it for what runtimes round. It is four times that of other
steps, since logarithms and a power of ten in float32 stand in front of a corner."""
_TWO_PI = Enclosure(np.array(2 * np.pi), np.array(2.0**-50))
"""2 pi lies within 2^-51 of its float64."""


def _exact_only(call: OperatorCall) -> None:
    """Refuse it where what float32 rounds is proved; what is only compared with a runtime gets room in `_rounded`."""
    if call.given.reading.missed:
        message = "what float32 rounds in cosines and sines that a runtime makes differs from runtime to runtime"
        raise UnreadableError(message, IN_REAL)


def _rounded(call: OperatorCall, made: Enclosure, length: int) -> Enclosure:
    """Sines and cosines of a sum of so many terms, by which a runtime misses each where its type rounds."""
    if not call.given.unit:
        return made
    return en.enclose(made.value, en.add_up(made.radius, np.full(made.shape, (2 * length + 64) * call.given.unit)))


def _turns(numerators: Array, denominator: int) -> tuple[Enclosure, Enclosure]:
    """Cosine and sine of 2 pi n / d."""
    share = constants.divide(en.exactly(numerators), en.exactly(float(denominator)))
    angle = constants.multiply(share, _TWO_PI)
    cosine, sine = (curves.of(Curve(name), angle) for name in ("cos", "sin"))
    assert isinstance(cosine, Enclosure)
    assert isinstance(sine, Enclosure)
    return cosine, sine


def _matrix(count: int, parts: int, length: int, results: int, *, inverse: bool) -> Enclosure:
    """What takes (entries, real and imaginary) to (frequencies, real and imaginary), both flat."""
    if length > _LONGEST or count * parts * 2 * results > _MOST:
        raise UnreadableError(f"a spectrum of {length} entries", f"use frames of up to {_LONGEST} entries")
    cosine, sine = _turns(np.arange(length, dtype=np.float64), length)
    turn = np.outer(np.arange(count), np.arange(results)) % length
    sign = en.exactly(1.0 if inverse else -1.0)
    real, up = (part.rearranged(lambda a: a[turn]) for part in (cosine, sine))
    up = constants.multiply(up, sign)
    rows = [(real, up), (constants.negate(up), real)][:parts]  # of the real part, and of the imaginary one
    value = np.zeros((count, parts, results, 2))
    error = np.zeros_like(value)
    for part, row in enumerate(rows):
        for place, made in enumerate(row):
            value[:, part, :, place], error[:, part, :, place] = made.value, made.radius
    found = en.enclose(value.reshape(count * parts, -1), error.reshape(count * parts, -1))
    return constants.divide(found, en.exactly(float(length))) if inverse else found


def _from_one_side(count: int, length: int) -> Enclosure:
    """What takes (frequencies, real and imaginary) of one side to the signal, flat."""
    matrix = _matrix(count, 2, length, length, inverse=True).rearranged(
        lambda a: a.reshape(count, 2, length, 2)[..., 0]
    )
    times = np.full((count, 2, 1), 2.0)
    for alone in {0, length / 2}:
        times[np.arange(count) == alone] = [[1.0], [0.0]]
    return constants.multiply(matrix, en.exactly(times)).rearranged(lambda a: a.reshape(count * 2, length))


def dft(call: OperatorCall) -> Sequence[Value]:
    """DFT along an axis, which is an attribute before opset 20; the whole spectrum, or one side of it, and back."""
    _exact_only(call)
    x = call.real_value(0)
    rank = len(x.shape)
    if rank < 2 or x.shape[-1] not in (1, 2):
        raise UnreadableError(f"a signal of shape {x.shape}: its last axis has real and imaginary parts", _AGAIN)
    axis = call.integer("axis", 1)
    if call.opset >= 20:
        axis = _one(call, 2) if call.has(2) else -2
    axis = axis_of(axis, rank)
    inverse, onesided = bool(call.integer("inverse", 0)), bool(call.integer("onesided", 0))
    to_signal = inverse and onesided
    if axis == rank - 1 or (onesided and x.shape[-1] != (2 if inverse else 1)):
        raise UnreadableError("one side of a spectrum of complex numbers, or a spectrum along their parts", _AGAIN)
    length = _one(call, 1) if call.has(1) else 2 * (x.shape[axis] - 1) if to_signal else x.shape[axis]
    if length < 1:
        raise UnreadableError(f"a spectrum of {length} entries", _AGAIN)
    if to_signal and x.shape[axis] != length // 2 + 1:  # what runtimes leave out or fill in differs
        raise UnreadableError(f"a signal of {length} entries from {x.shape[axis]} frequencies", _HALF)
    count, parts = x.shape[axis] if to_signal else min(length, x.shape[axis]), x.shape[-1]
    results = length // 2 + 1 if onesided and not inverse else length
    rest = (*x.shape[:axis], *x.shape[axis + 1 : -1])
    given = 1 if to_signal else 2
    check_value((*rest, results, given))

    def rows(a: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
        return np.moveaxis(a, axis, -2)[..., :count, :].reshape(-1, count * parts)

    matrix = _from_one_side(count, length) if to_signal else _matrix(count, parts, length, results, inverse=inverse)
    made = _product(apply(x, rows), _rounded(call, matrix, length))
    return [apply(made, lambda a: np.moveaxis(a.reshape(*rest, results, given), -2, axis))]


def _product(rows: Value, matrix: Enclosure) -> Affine | Enclosure:
    assert isinstance(rows, Affine | Enclosure)
    return multiply_matrices(rows, matrix)


def _one(call: OperatorCall, index: int) -> int:
    found = call.whole(index)
    if found.size != 1:
        raise UnreadableError(f"input {index} is {found.size} numbers", _AGAIN)
    return int(found.reshape(()))


def stft(call: OperatorCall) -> Sequence[Value]:
    """STFT of a signal (batch, length) or (batch, length, parts): (batch, frames, frequencies, 2)."""
    _exact_only(call)
    x, step = call.real_value(0), _one(call, 1)
    if len(x.shape) not in (2, 3) or (len(x.shape) == 3 and x.shape[2] not in (1, 2)) or step < 1:
        raise UnreadableError(f"a signal of shape {x.shape} in steps of {step}", _AGAIN)
    batch, size, parts = x.shape[0], x.shape[1], x.shape[2] if len(x.shape) == 3 else 1
    window = call.number(2) if call.has(2) else None
    length = _one(call, 3) if call.has(3) else size if window is None else window.value.size
    if (window is not None and window.shape != (length,)) or not 1 <= length <= size:
        raise UnreadableError(f"frames of {length} of {size} entries", _AGAIN)
    onesided = bool(call.integer("onesided", 1))
    if onesided and parts == 2:
        raise UnreadableError("a spectrum of one side of complex numbers", _AGAIN)
    frames, results = 1 + (size - length) // step, length // 2 + 1 if onesided else length
    check_value((batch, frames, max(length * parts, 2 * results)))
    places = np.arange(frames)[:, None] * step + np.arange(length)
    matrix = _rounded(call, _matrix(length, parts, length, results, inverse=False), length)
    if window is not None:
        matrix = constants.multiply(matrix, window.rearranged(lambda a: np.repeat(a, parts).reshape(-1, 1)))
    rows = apply(x, lambda a: a.reshape(batch, size, parts)[:, places, :].reshape(batch * frames, -1))
    return [apply(_product(rows, matrix), lambda a: a.reshape(batch, frames, results, 2))]


_WINDOWS = {
    "BlackmanWindow": (Fraction(42, 100), Fraction(1, 2), Fraction(8, 100)),
    "HammingWindow": (Fraction(25, 46), Fraction(21, 46), Fraction(0)),
    "HannWindow": (Fraction(1, 2), Fraction(1, 2), Fraction(0)),
}
"""a - b cos(2 pi n / N) + c cos(4 pi n / N)."""


def window(call: OperatorCall) -> Sequence[Value]:
    """HannWindow, HammingWindow, BlackmanWindow: periodic, or symmetric."""
    _exact_only(call)
    size = _one(call, 0)
    over = size if call.integer("periodic", 1) else size - 1
    if not 1 <= over <= _LONGEST:
        raise UnreadableError(f"a window of {size} entries", _AGAIN)
    places = np.arange(size, dtype=np.float64)
    total = en.exactly(np.zeros(size))
    for factor, sign, turns in zip(_WINDOWS[call.node.op_type], (1, -1, 1), range(3), strict=True):
        share = en.from_fractions([factor * sign])
        total = constants.add(total, constants.multiply(share, _turns(places * turns, over)[0]))
    return [_rounded(call, total, 1)]


def mel_weights(call: OperatorCall) -> Sequence[Value]:
    """MelWeightMatrix: triangles over the bins of a spectrum, between corners that are evenly spaced in mel.

    corner i = floor((length + 1) 700 (10^(m_i / 2595) - 1) / rate),   m_i = low + i (high - low) / (filters + 2)

    with low and high the mel, 2595 log10(1 + f / 700), of both edges. A corner is a whole number; one that rounding
    could take to the next one is refused.
    """
    _exact_only(call)
    filters, length, rate = (_one(call, i) for i in range(3))
    edges = [call.number(i).rearranged(lambda a: a.reshape(-1)) for i in (3, 4)]
    if not (filters > 0 and 0 < length <= _LONGEST and rate > 0) or any(e.shape != (1,) for e in edges):
        raise UnreadableError(f"{filters} mel filters of a spectrum of {length} entries", _AGAIN)
    check_value((length // 2 + 1, filters))
    bins, corners = length // 2 + 1, _mel_corners(filters, length, rate, edges)
    if corners[0] < 0 or max(corners[1:-1]) >= bins or corners[-1] > bins or corners != sorted(corners):
        raise UnreadableError("mel filters beyond the spectrum", "use edges between 0 and half of the sample rate")
    made = [[Fraction(0)] * filters for _ in range(bins)]
    for i, (low, peak, high) in enumerate(zip(corners, corners[1:], corners[2:], strict=False)):
        rising = {k: Fraction(k - low, peak - low) for k in range(low, peak + 1)} if low < peak else {peak: Fraction(1)}
        falling = {k: Fraction(high - k, high - peak) for k in range(peak, high)}
        for k, share in (rising | falling).items():
            made[k][i] = share
    weights = en.from_fractions([share for row in made for share in row])
    return [_rounded(call, weights.rearranged(lambda a: a.reshape(bins, filters)), 1)]


def _mel_corners(filters: int, length: int, rate: int, edges: Sequence[Enclosure]) -> list[int]:
    """The corners, filters + 2 of them."""
    base, top = en.exactly(np.array([700.0])), en.exactly(np.array([2595.0]))
    ten = curves.of(Curve("log"), en.exactly(np.array([10.0])))
    assert isinstance(ten, Enclosure)

    def mel(frequency: Enclosure) -> Enclosure:
        found = curves.of(Curve("log"), constants.add(constants.divide(frequency, base), en.exactly(np.ones(1))))
        assert isinstance(found, Enclosure)
        return constants.divide(constants.multiply(found, top), ten)

    low, high = map(mel, edges)
    step = constants.divide(constants.add(high, constants.negate(low)), en.exactly(float(filters + 2)))
    at = constants.add(constants.multiply(step, en.exactly(np.arange(filters + 2, dtype=np.float64))), low)
    power = curves.of(Curve("exp"), constants.divide(constants.multiply(at, ten), top))
    assert isinstance(power, Enclosure)
    apart = constants.multiply(constants.add(power, en.exactly(-np.ones(1))), base)
    share = constants.divide(en.exactly(float(length + 1)), en.exactly(float(rate)))
    found = constants.multiply(apart, share)
    slack = found.radius + _MEL_SLACK * (1.0 + np.abs(found.value))
    below, above = (np.floor(found.value + sign * slack) for sign in (-1, 1))
    if edges[0].error is None and edges[0].value == 0.0:
        below[0] = above[0] = 0.0  # without rounding, in every runtime
    if (below != above).any():
        message = "a corner of its mel filters lies so near to a whole number that runtimes may round it to either side"
        raise UnreadableError(message, "store the matrix in the file")
    return [int(corner) for corner in below]


OPERATORS: dict[str, Operator] = {
    "BlackmanWindow": window,
    "DFT": dft,
    "HammingWindow": window,
    "HannWindow": window,
    "MelWeightMatrix": mel_weights,
    "STFT": stft,
}
