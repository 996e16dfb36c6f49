"""Spectra, windows and remainders of values, and operators that others stand in place of once shapes are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from conformance.building import FLOATS, Builder, Value
from conformance.functions import add
from conformance.operators import Generator, sample_of
from conformance.products import small


def _as(g: Builder, v: Value, *shape: int) -> Value:
    return add(g, "Reshape", [v, g.indices(shape)])[0]


def fourier(g: Builder) -> None:
    """DFT of a real or complex signal, along one of two axes, of another length than it has, or its inverse."""
    v = small(g, 24)
    if v is None or not sample_of(v).size:
        return
    size, parts = sample_of(v).size, 2 if sample_of(v).size % 2 == 0 and g.chance(0.4) else 1
    rows = 2 if size % (2 * parts) == 0 and g.chance(0.4) else 1
    signal = _as(g, v, 1, rows, size // parts // rows, parts)
    axis = g.one([1, 2, -2]) if g.opset >= 20 else g.one([1, 2])
    length = g.constant(np.array(g.whole(1, 6), np.int64)) if g.chance(0.4) else None
    attributes: dict[str, Any] = {name: 1 for name, often in (("inverse", 0.3), ("onesided", 0.4)) if g.chance(often)}
    if g.opset < 20:
        add(g, "DFT", [signal, length], axis=axis, **attributes)
    else:
        add(g, "DFT", [signal, length, g.constant(np.array(axis, np.int64))], **attributes)


def short_fourier(g: Builder) -> None:
    """STFT with or without a window or a length."""
    v = small(g, 24)
    if v is None or sample_of(v).size < 3:
        return
    size = sample_of(v).size
    length = g.whole(2, size)
    window = g.constant(g.floats((length,))) if g.chance(0.6) else None
    numbers = None if window is not None and g.chance(0.5) else g.constant(np.array(length, np.int64))
    step = g.constant(np.array(g.whole(1, 3), np.int64))
    attributes = {"onesided": g.one([0, 1])} if g.chance(0.6) else {}
    add(g, "STFT", [_as(g, v, 1, size, 1), step, window, numbers], **attributes)


def window(kind: str) -> Generator:
    def make(g: Builder) -> None:
        attributes = {"periodic": g.one([0, 1])} if g.chance(0.6) else {}
        add(g, kind, [g.constant(np.array(g.whole(2, 6), np.int64))], output_datatype=g.kind, **attributes)

    return make


def remainder(g: Builder) -> None:
    v = g.operand(floats=True, dependent=g.chance(0.9))
    divisor = np.array(g.one([0.5, 1.0, 3.0, 0.3, -0.75]), sample_of(v).dtype)
    add(g, "Mod", [v, g.constant(divisor)], fmod=g.one([1, 1, 1, 0]))


def in_place(g: Builder) -> None:
    """One of those that are written out when they are met."""
    some: list[Generator] = [listed, scanned]
    some += [mean_variance] if g.opset >= 13 else []
    some += [cropped] if g.opset >= 18 else []
    some += [attending, turned] * 2 if g.opset >= 23 else []
    g.one(some)(g)


def listed(g: Builder) -> None:
    """A list of the parts of a value, or of a value and another, of which one is taken or all are joined."""
    v = small(g, 24)
    if v is None or g.opset < 11 or not sample_of(v).ndim or not sample_of(v).size:
        return
    sample = sample_of(v)
    other = g.constant(g.floats(sample.shape)) if g.chance(0.4) else None
    name, axis = g.name(), g.whole(-sample.ndim, sample.ndim - 1)
    if other is None:
        keep = g.one([0, 1])
        g.nodes.append(
            helper.make_node("SplitToSequence", [v.name], [name], name=f"n_{name}", axis=axis, keepdims=keep)
        )
        parts = np.split(sample, sample.shape[axis], axis)
        parts = parts if keep else [np.squeeze(p, axis) for p in parts]
    else:
        g.nodes.append(helper.make_node("SequenceConstruct", [v.name, other.name], [name], name=f"n_{name}"))
        parts = [sample, sample_of(other)]
    held = Value(name, None, False)
    if g.chance(0.5):
        place = g.whole(-len(parts), len(parts) - 1)
        g.add("SequenceAt", [held, g.constant(np.array(place, np.int64))], lambda: parts[place])
    elif g.chance(0.5) and parts[0].ndim:
        at = g.whole(-parts[0].ndim, parts[0].ndim - 1)
        g.add("ConcatFromSequence", [held], lambda: np.concatenate(parts, at), axis=at)
    else:
        at = g.whole(-parts[0].ndim - 1, parts[0].ndim)
        g.add("ConcatFromSequence", [held], lambda: np.stack(parts, at), axis=at, new_axis=1)


def scanned(g: Builder) -> None:
    """A Scan over a value, forwards or backwards along one of its axes: what was seen before is added up."""
    v = small(g, 12)
    if v is None or g.opset < 9 or sample_of(v).ndim < 2 or not sample_of(v).size:
        return
    sample = sample_of(v)
    axis, back, out = g.whole(0, sample.ndim - 1), g.one([0, 1]), g.one([0, 1])
    state = g.constant(g.floats(tuple(np.delete(sample.shape, axis))))
    nodes = [helper.make_node("Add", ["s", "e"], ["t"]), helper.make_node("Neg", ["t"], ["u"])]
    known = {name: helper.make_tensor_value_info(name, g.kind, None) for name in "setu"}
    body = helper.make_graph(nodes, "body", [known["s"], known["e"]], [known["t"], known["u"]])
    entries = [np.take(sample, i, axis) for i in range(sample.shape[axis])]
    sums = -(np.cumsum(np.stack(entries[::-1] if back else entries), 0) + sample_of(state))
    found = g.add(
        "Scan", [state, v], lambda: [-sums[-1], sums[::-1] if out else sums], 2, body=body, num_scan_inputs=1,
        scan_input_axes=[axis], scan_input_directions=[back], scan_output_directions=[out],
    )  # fmt: skip
    g.values.append(g.one(found))


def mean_variance(g: Builder) -> None:
    v = small(g, 24)
    if v is None or sample_of(v).ndim < 2 or not sample_of(v).size:
        return
    axes = sorted(g.rng.choice(sample_of(v).ndim, g.whole(1, sample_of(v).ndim - 1), replace=False).tolist())
    add(g, "MeanVarianceNormalization", [v], axes=axes)


def cropped(g: Builder) -> None:
    v = small(g, 24)
    if v is None or not sample_of(v).ndim or not sample_of(v).size:
        return
    rank = sample_of(v).ndim
    axes = sorted(g.rng.choice(rank, g.whole(1, rank), replace=False).tolist())
    add(g, "CenterCropPad", [v, g.constant(np.array([g.whole(1, 4) for _ in axes], np.int64))], axes=axes)


def attending(g: Builder) -> None:
    """Attention of a value to itself and constants, with heads that share, masks of both kinds and a limit."""
    v = small(g, 24)
    if v is None or sample_of(v).size % 2:
        return
    places, heads = g.one([1, 2]), g.one([1, 2])
    width = sample_of(v).size // places
    if width % heads:
        return
    flat = g.chance(0.5)
    shape = (1, places, width) if flat else (1, heads, places, width // heads)
    q = _as(g, v, *shape)
    share = 1 if g.chance(0.5) else heads
    other = (1, 3, share * (width // heads)) if flat else (1, share, 3, width // heads)
    k, w = g.constant(g.floats(other)), g.constant(g.floats(other))
    attributes: dict[str, Any] = {"q_num_heads": heads, "kv_num_heads": share} if flat else {}
    if g.chance(0.4):
        attributes["scale"] = g.one([0.5, 1.0, 0.3])
    mask: Value | None = None
    if g.chance(0.4):
        flags = g.rng.random((places, 3)) < 0.7
        flags[:, g.whole(0, 2)] = True
        mask = g.constant(flags) if g.chance(0.5) else g.constant(g.floats((places, 3)))
    elif g.chance(0.3):
        attributes["softcap"] = g.one([1.0, 2.0])
    add(g, "Attention", [q, k, w, mask] if mask else [q, k, w], **attributes)


def turned(g: Builder) -> None:
    """RotaryEmbedding, of all entries or of some, of neighbours or of halves."""
    v = small(g, 24)
    if v is None or sample_of(v).size % 4:
        return
    places = 2 if sample_of(v).size % 8 == 0 and g.chance(0.7) else 1
    width = sample_of(v).size // places
    heads = 2 if width % 4 == 0 and width > 4 and g.chance(0.5) else 1
    flat = g.chance(0.5)
    x = _as(g, v, *((1, places, width) if flat else (1, heads, places, width // heads)))
    part = 2 if g.chance(0.3) else 0
    half = (part or width // heads) // 2
    attributes: dict[str, Any] = {"interleaved": g.one([0, 1]), "rotary_embedding_dim": part}
    if flat:
        attributes["num_heads"] = heads
    if g.chance(0.5):
        tables = [g.constant(g.floats((4, half))) for _ in range(2)]
        where = g.constant(np.asarray(g.rng.integers(0, 4, (1, places)), np.int64))
        add(g, "RotaryEmbedding", [x, *tables, where], **attributes)
    else:
        add(g, "RotaryEmbedding", [x, *(g.constant(g.floats((1, places, half))) for _ in range(2))], **attributes)


def mel_filters(g: Builder) -> None:
    """MelWeightMatrix, with filters that share a corner and, at times, with edges beyond the spectrum."""
    length, rate = g.one([1, 4, 8, 15, 16, 32]), g.one([16, 8000, 16000])
    edges = [np.array(rate / 2 * g.one(part), np.float32) for part in ([0, 0, 0.02, 0.1], [0.5, 0.9, 1, 1.2])]
    whole = [g.constant(np.array(n, np.int64)) for n in (g.whole(1, 6), length, rate)]
    (made,) = add(g, "MelWeightMatrix", [*whole, *map(g.constant, edges)])
    v = g.operand(floats=True, dependent=True)
    (x,) = g.add("ReduceSum", [v], lambda: sample_of(v).sum(keepdims=True))
    kind = FLOATS[g.kind]
    if made.sample is None or x.sample is None:
        return
    as_v = g.add("Cast", [made], lambda: sample_of(made).astype(kind), to=g.kind)[0]
    g.add("Mul", [as_v, x], lambda: (sample_of(as_v) * sample_of(x)).astype(kind))


SPECTRAL: dict[str, Generator] = {
    "BlackmanWindow": window("BlackmanWindow"),
    "DFT": fourier,
    "HammingWindow": window("HammingWindow"),
    "HannWindow": window("HannWindow"),
    "MelWeightMatrix": mel_filters,
    "STFT": short_fourier,
}
