"""Attention and rotary positions, of the standard (opset 23 on) and of onnxruntime, as the products that they are.

    Y = softmax(scale Q K' + mask) V        scale = 1 / sqrt(width of a head), unless it is given

for each head; several heads of Q may share one of K and V. Where a mask says so an entry counts for nothing, as minus
infinity. A rotary embedding turns pairs of entries by angles that depend on the place:

    (a, b)  ->  (cos a - sin b, sin a + cos b)

What has no such form (weights over the past of unknown length, scores as an output) is refused.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from onnx import TensorProto, helper

from eqspec.networks.expansion.graph_pieces import attributes, counts
from eqspec.networks.expansion.in_place import AGAIN, InPlace, Shape
from eqspec.networks.onnx_tensor import UnreadableError

_MOST = 2_000
"""Places of a causal mask: the entries of a value are limited."""
_UNFUSED = "export the model with an older opset, or without fused operators"


def attention(made: InPlace) -> None:
    """Attention of the standard: Q, K and V of (batch, heads, places, width), or of (batch, places, heads * width)."""
    known = ("is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode", "scale", "softcap",
             "softmax_precision")  # fmt: skip
    given = attributes(made.node, known)
    counts(made.node, (3, 7), (1, 4))
    if made.given(6) or made.wanted(3):
        raise UnreadableError("numbers of places that are filled, or scores as an output", _UNFUSED)
    flat = len(made.shape(0, 3, 4)) == 3
    heads = [int(given.get(n, 0)) for n in ("q_num_heads", "kv_num_heads", "kv_num_heads")]
    q, k, v = (_headed(made, i, heads[i] if flat else None) for i in range(3))
    names = [q[0]]
    for (name, _), index in ((k, 4), (v, 5)):
        names.append(made.of("Concat", made.given(index), name, axis=2) if made.given(index) else name)
    before = made.shape(4, 4)[2] if made.given(4) else 0
    if bool(made.given(4)) != bool(made.given(5)):
        raise UnreadableError("past keys without past values", AGAIN)
    for name, output in ((names[1], made.wanted(1)), (names[2], made.wanted(2))):
        if output:
            made.of("Identity", name, to=output)
    places, total = q[1][2], before + k[1][2]
    scores = _scores(made, names[0], _repeated(made, names[1], k[1], q[1][1], total), q[1][3], given.get("scale"))
    cap = float(given.get("softcap", 0.0))
    if cap and made.given(3):
        raise UnreadableError("scores that are capped beside a mask, in an order that runtimes differ in", _UNFUSED)
    if cap:
        scores = made.of("Mul", made.of("Tanh", made.of("Div", scores, made.real(cap))), made.real(cap))
    if made.given(3):
        scores = _masked(made, scores, 3, total)
    if int(given.get("is_causal", 0)):
        if before or places != total or places > _MOST:
            raise UnreadableError(f"a causal mask over places of the past, or over {places}", _UNFUSED)
        scores = _hidden(made, scores, made.constant(np.tril(np.ones((places, places), bool))))
    found = made.of("MatMul", made.of("Softmax", scores, axis=-1), _repeated(made, names[2], v[1], q[1][1], total))
    if flat:
        made.of("Reshape", made.turned(found, 0, 2, 1, 3), made.whole(0, 0, q[1][1] * v[1][3]), to=made.wanted(0))
    else:
        made.of("Identity", found, to=made.wanted(0))


def _headed(made: InPlace, index: int, heads: int | None) -> tuple[str, Shape]:
    """An input as (batch, heads, places, width), and this shape."""
    name, shape = made.given(index), made.shape(index, 3 if heads is not None else 4)
    if heads is None:
        return name, shape
    return _split_up(made, name, shape, heads)


def _split_up(made: InPlace, name: str, shape: Shape, heads: int) -> tuple[str, Shape]:
    """(batch, places, heads * width) as (batch, heads, places, width)."""
    if heads < 1 or shape[2] % heads:
        raise UnreadableError(f"{heads} heads of {shape[2]} entries", AGAIN)
    wide = made.turned(made.reshaped(name, 0, 0, heads, shape[2] // heads), 0, 2, 1, 3)
    return wide, (shape[0], heads, shape[1], shape[2] // heads)


def _repeated(made: InPlace, name: str, shape: Shape, heads: int, places: int) -> str:
    """Each head of a value as often as heads of Q share it."""
    if heads % shape[1]:
        raise UnreadableError(f"{heads} heads that share {shape[1]}", AGAIN)
    if heads == shape[1]:
        return name
    number = heads // shape[1]
    wide = made.of(
        "Expand", made.reshaped(name, shape[0], shape[1], 1, places, shape[3]),
        made.whole(shape[0], shape[1], number, places, shape[3]),
    )  # fmt: skip
    return made.reshaped(wide, shape[0], heads, places, shape[3])


def _scores(made: InPlace, q: str, k: str, width: int, scale: float | None) -> str:
    product = made.of("MatMul", q, made.turned(k, 0, 1, 3, 2))
    if scale:
        return made.of("Mul", product, made.real(float(scale)))
    return made.of("Div", product, made.of("Sqrt", made.real(float(width))))


def _masked(made: InPlace, scores: str, index: int, places: int) -> str:
    """Scores with a mask: truth values say which ones count, numbers are added."""
    shape = made.shape(index)
    if not shape or shape[-1] != places:
        raise UnreadableError(f"a mask of shape {shape} over {places} places", AGAIN)
    if made.kinds[index] is None:
        raise UnreadableError("a mask of a type that is not known", AGAIN)
    if made.kinds[index] == TensorProto.BOOL:
        return _hidden(made, scores, made.given(index))
    return made.of("Add", scores, made.given(index))


def _hidden(made: InPlace, scores: str, shown: str) -> str:
    return made.of("Where", shown, scores, made.constant(np.array(-np.inf, np.float32)))


def rotary_embedding(made: InPlace) -> None:
    """RotaryEmbedding of the standard: a value of (batch, heads, places, width) or (batch, places, heads * width)."""
    given = attributes(made.node, ("interleaved", "num_heads", "rotary_embedding_dim"))
    counts(made.node, (3, 4), (1, 1))
    shape = made.shape(0, 3, 4)
    flat = len(shape) == 3
    name, wide = made.given(0), shape
    if flat:
        name, wide = _split_up(made, name, shape, int(given.get("num_heads", 0)))
    width = wide[3]
    turned = int(given.get("rotary_embedding_dim", 0)) or width
    if turned % 2 or turned > width:
        raise UnreadableError(f"{turned} of {width} entries are turned", AGAIN)
    half = turned // 2
    angles = [_angles(made, index, wide, half) for index in (1, 2)]
    if int(given.get("interleaved", 0)):
        first, second = range(0, turned, 2), range(1, turned, 2)
        back = [i // 2 + half * (i % 2) for i in range(turned)]
    else:
        first, second, back = range(half), range(half, turned), list(range(turned))
    a, b = (made.of("Gather", name, made.whole(*some), axis=3) for some in (first, second))
    cos, sin = angles
    left = made.of("Sub", made.of("Mul", a, cos), made.of("Mul", b, sin))
    right = made.of("Add", made.of("Mul", a, sin), made.of("Mul", b, cos))
    found = made.of("Gather", made.of("Concat", left, right, axis=3), made.whole(*back), axis=3)
    if turned < width:
        found = made.of("Concat", found, made.part(name, turned, width, 3), axis=3)
    if flat:
        made.of("Reshape", made.turned(found, 0, 2, 1, 3), made.whole(*shape), to=made.wanted(0))
    else:
        made.of("Identity", found, to=made.wanted(0))


def rotary_embedding_of_onnxruntime(made: InPlace) -> None:
    """RotaryEmbedding of com.microsoft: the places stand second, and one number is that of the first place."""
    known = ("interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale")
    given = attributes(made.node, known)
    counts(made.node, (4, 4), (1, 1))
    if int(given.get("is_packed_batching", 0)) or float(given.get("scale", 1.0)) != 1.0:
        raise UnreadableError("sequences of several lengths, or a scale", AGAIN)
    shape, table, at, where = made.shape(0, 3, 4), made.shape(2, 2), made.shape(1, 1, 2), made.given(1)
    places = shape[1] if len(shape) == 3 else shape[2]
    if len(at) == 1:
        first = made.numbers(1)[0]
        where = made.constant(np.tile(np.arange(first, first + places), (shape[0], 1)))
    heads = int(given.get("num_heads", 0)) or (shape[2] // (2 * table[1]) if len(shape) == 3 else shape[1])
    node = helper.make_node(
        "RotaryEmbedding", [made.given(0), made.given(2), made.given(3), where], [*made.node.output],
        name=made.node.name, num_heads=heads, interleaved=int(given.get("interleaved", 0)),
        rotary_embedding_dim=int(given.get("rotary_embedding_dim", 0)),
    )  # fmt: skip
    rotary_embedding(replace(made, node=node, shapes=[shape, table, made.shape(3, 2), (shape[0], places)]))


def _angles(made: InPlace, index: int, wide: Shape, half: int) -> str:
    """Cosines or sines by place, (batch, 1, places, half): those of each place, or a table in which they are found."""
    name = made.given(index)
    shape = made.shape(index, 2) if made.given(3) else made.shape(index, 3)
    if made.given(3):
        name = made.of("Gather", name, made.given(3), axis=0)
        if made.shape(3, 2)[1] != wide[2] or shape[1] != half:
            raise UnreadableError(f"angles of shape {shape} for {wide[2]} places and {half} pairs", AGAIN)
        return made.reshaped(name, made.shape(3)[0], 1, wide[2], half)
    if shape[1:] != (wide[2], half):
        raise UnreadableError(f"angles of shape {shape} for {wide[2]} places and {half} pairs", AGAIN)
    return made.reshaped(name, shape[0], 1, wide[2], half)


def packed_attention(made: InPlace) -> None:
    """Attention of onnxruntime: one matrix for queries, keys and values, and a mask of the places that count."""
    known = ("num_heads", "mask_filter_value", "scale", "unidirectional", "do_rotary", "qkv_hidden_sizes",
             "past_present_share_buffer", "rotary_embedding_dim")  # fmt: skip
    given = attributes(made.node, known)
    counts(made.node, (2, 7), (1, 2))
    odd = [n for n in ("unidirectional", "do_rotary", "past_present_share_buffer") if int(given.get(n, 0))]
    if odd or made.wanted(1) or any(made.given(i) for i in (4, 6)) or given.get("qkv_hidden_sizes"):
        raise UnreadableError(f"attention over what was before ({', '.join(odd) or 'past'})", _UNFUSED)
    shape, weights = made.shape(0, 3), made.shape(1, 2)
    if weights[1] % 3:
        raise UnreadableError(f"weights of shape {weights} for queries, keys and values", AGAIN)
    width, heads = weights[1] // 3, int(given.get("num_heads", 0))
    all_three = made.of("MatMul", made.given(0), made.given(1))
    if made.given(2):
        all_three = made.of("Add", all_three, made.given(2))
    thirds = [made.part(all_three, width * i, width * (i + 1), 2) for i in range(3)]
    q, k, v = (_split_up(made, name, (shape[0], shape[1], width), heads) for name in thirds)
    scores = _scores(made, q[0], k[0], q[1][3], given.get("scale"))
    if made.given(5):
        scores = made.of("Add", scores, made.given(5))
    if made.given(3):
        scores = made.of("Add", scores, _filling(made, 3, shape, float(given.get("mask_filter_value", -10000.0))))
    found = made.of("MatMul", made.of("Softmax", scores, axis=-1), v[0])
    made.of("Reshape", made.turned(found, 0, 2, 1, 3), made.whole(0, 0, width), to=made.wanted(0))


def _filling(made: InPlace, index: int, shape: Shape, filler: float) -> str:
    """What is added to scores of places that do not count: (batch, 1, 1, places).

    The mask says 1 of each place that counts, or how many of the first ones do.
    """
    found = made.shape(index, 1, 2)
    if len(found) == 2 and found == (shape[0], shape[1]):
        counted = made.of("Greater", made.given(index), _integer(made, index, 0))
        wide = made.reshaped(counted, shape[0], 1, 1, shape[1])
    elif found == (shape[0],):
        places = made.constant(np.arange(shape[1]).astype(_dtype(made, index)))
        wide = made.reshaped(made.of("Less", places, made.reshaped(made.given(index), -1, 1)), shape[0], 1, 1, shape[1])
    else:
        raise UnreadableError(f"a mask of shape {found} over {shape[1]} places", _UNFUSED)
    return made.of("Where", wide, made.real(0.0), made.real(filler))


def _dtype(made: InPlace, index: int) -> type[np.int32] | type[np.int64]:
    return np.int64 if made.kinds[index] == TensorProto.INT64 else np.int32


def _integer(made: InPlace, index: int, number: int) -> str:
    return made.constant(np.array(number, _dtype(made, index)))


def multi_head_attention(made: InPlace) -> None:
    """MultiHeadAttention of onnxruntime: queries, keys and values of (batch, places, heads * width)."""
    given = attributes(made.node, ("num_heads", "mask_filter_value", "scale", "unidirectional"))
    counts(made.node, (1, 10), (1, 4))
    if any(made.given(i) for i in range(6, 10)) or any(made.wanted(i) for i in (1, 2, 3)):
        raise UnreadableError("attention over what was before", _UNFUSED)
    if int(given.get("unidirectional", 0)) or not (made.given(1) and made.given(2)):
        raise UnreadableError("a causal mask, or queries, keys and values in one tensor", _UNFUSED)
    heads, bias = int(given.get("num_heads", 0)), made.given(3)
    names, begin, parts = list[str](), 0, list[tuple[str, Shape]]()
    for index in range(3):
        shape, name = made.shape(index, 3), made.given(index)
        if bias:
            name = made.of("Add", name, made.part(bias, begin, begin + shape[2], 0))
            begin += shape[2]
        names.append(name)
        parts.append(_split_up(made, name, shape, heads))
    q, k, v = parts
    scores = _scores(made, q[0], k[0], q[1][3], given.get("scale"))
    if made.given(5):
        scores = made.of("Add", scores, made.given(5))
    if made.given(4):
        over = (k[1][0], k[1][2])
        scores = made.of("Add", scores, _filling(made, 4, over, float(given.get("mask_filter_value", -10000.0))))
    found = made.of("MatMul", made.of("Softmax", scores, axis=-1), v[0])
    made.of("Reshape", made.turned(found, 0, 2, 1, 3), made.whole(0, 0, heads * v[1][3]), to=made.wanted(0))
