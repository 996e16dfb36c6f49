"""Products and normalisations of onnxruntime, and MeanVarianceNormalization, written out once shapes are known.

SkipLayerNormalization:    LayerNormalization(x + skip + bias), and the sum itself
EmbedLayerNormalization:   LayerNormalization of the sum of rows of two or three tables
MeanVarianceNormalization: (x - mean) / (sqrt(variance) + 10^-9), the variance a mean of squares
FusedMatMul:               alpha A' B', with axes in another order
"""

from __future__ import annotations

import numpy as np

from eqspec.networks.expansion.graph_pieces import attributes, counts
from eqspec.networks.expansion.in_place import AGAIN, InPlace
from eqspec.networks.onnx_tensor import UnreadableError

MICROSOFT = "com.microsoft"


def fused_matmul(made: InPlace) -> None:
    """FusedMatMul: `transBatch` puts the first axis behind those of the batch, `trans` turns the last two round."""
    given = attributes(made.node, ("alpha", "transA", "transB", "transBatchA", "transBatchB"))
    counts(made.node, (2, 2), (1, 1))
    factors = []
    for index, side in enumerate("AB"):
        name, rank = made.given(index), len(made.shape(index))
        order = list(range(rank))
        if int(given.get(f"transBatch{side}", 0)) and rank > 2:
            order = [*order[1:-1], 0, order[-1]]
        if int(given.get(f"trans{side}", 0)) and rank > 1:
            order = [*order[:-2], order[-1], order[-2]]
        factors.append(name if order == list(range(rank)) else made.turned(name, *order))
    alpha = float(given.get("alpha", 1.0))
    if alpha == 1.0:
        made.of("MatMul", *factors, to=made.wanted(0))
    else:
        made.of("Mul", made.of("MatMul", *factors), made.real(alpha), to=made.wanted(0))


def skip_layer_normalization(made: InPlace) -> None:
    """SkipLayerNormalization and SkipSimplifiedLayerNormalization, which does not take the mean off."""
    given = attributes(made.node, ("epsilon",))
    simple = made.node.op_type == "SkipSimplifiedLayerNormalization"
    counts(made.node, (3, 4 if simple else 5), (1, 4))
    if made.wanted(1) or made.wanted(2):
        raise UnreadableError("the statistics are asked for as well", "remove the other outputs")
    total = made.of("Add", made.given(0), made.given(1))
    biased = made.given(3 if simple else 4)
    if biased:
        total = made.of("Add", total, biased)
    if made.wanted(3):
        made.of("Identity", total, to=made.wanted(3))
    _normalised(made, total, [made.given(2)] if simple else [made.given(2), made.given(3)], given, simple=simple)


def _normalised(made: InPlace, value: str, scales: list[str], given: dict[str, float], *, simple: bool) -> None:
    kind = "RMSNormalization" if simple else "LayerNormalization"
    epsilon = float(given.get("epsilon", np.float32(1e-12)))
    while scales and not scales[-1]:
        scales.pop()
    made.of(kind, value, *scales, to=made.wanted(0), domain=MICROSOFT, axis=-1, epsilon=epsilon)


def simplified_layer_normalization(made: InPlace) -> None:
    """SimplifiedLayerNormalization: by the mean of squares."""
    given = attributes(made.node, ("axis", "epsilon", "stash_type"))
    counts(made.node, (2, 2), (1, 3))
    if made.wanted(1) or made.wanted(2):
        raise UnreadableError("the statistics are asked for as well", "remove the other outputs")
    epsilon = float(given.get("epsilon", np.float32(1e-5)))
    axis = int(given.get("axis", -1))
    made.of("RMSNormalization", *made.node.input, to=made.wanted(0), domain=MICROSOFT, axis=axis, epsilon=epsilon)


def embed_layer_normalization(made: InPlace) -> None:
    """EmbedLayerNormalization: rows of words, of places and of segments; how many places count, if it is asked."""
    given = attributes(made.node, ("epsilon", "mask_index_type"))
    counts(made.node, (7, 9), (1, 3))
    places = made.shape(0, 2)[1]
    total = made.of("Gather", made.given(2), made.given(0), axis=0)
    where = made.given(8) or made.whole(*range(places))
    total = made.of("Add", total, made.of("Gather", made.given(3), where, axis=0))
    if made.given(1) and made.given(4):
        total = made.of("Add", total, made.of("Gather", made.given(4), made.given(1), axis=0))
    if made.wanted(2):
        made.of("Identity", total, to=made.wanted(2))
    if made.wanted(1):
        if not made.given(7):
            raise UnreadableError("the number of places that count, without a mask", AGAIN)
        if made.opset >= 13:
            made.of("ReduceSum", made.given(7), made.whole(1), to=made.wanted(1), keepdims=0)
        else:
            made.of("ReduceSum", made.given(7), to=made.wanted(1), axes=[1], keepdims=0)
    _normalised(made, total, [made.given(5), made.given(6)], given, simple=False)


def mean_variance_normalization(made: InPlace) -> None:
    """MeanVarianceNormalization, over the axes 0, 2 and 3 by default."""
    given = attributes(made.node, ("axes",))
    counts(made.node, (1, 1), (1, 1))
    rank = len(made.shape(0))
    axes = [int(axis) for axis in given.get("axes", (0, 2, 3))]
    if any(not -rank <= axis < rank for axis in axes):
        raise UnreadableError(f"axes {axes} of a value with {rank} axes", AGAIN)
    apart = made.of("Sub", made.given(0), _mean(made, made.given(0), axes))
    spread = made.of("Sqrt", _mean(made, made.of("Mul", apart, apart), axes))
    made.of("Div", apart, made.of("Add", spread, made.real(1e-9)), to=made.wanted(0))


def _mean(made: InPlace, value: str, axes: list[int]) -> str:
    if made.opset >= 18:
        return made.of("ReduceMean", value, made.whole(*axes), keepdims=1)
    return made.of("ReduceMean", value, axes=axes, keepdims=1)


def center_crop_or_pad(made: InPlace) -> None:
    """CenterCropPad: the middle of some axes, as long as a constant says, with zeros around where there is less."""
    given = attributes(made.node, ("axes",))
    counts(made.node, (2, 2), (1, 1))
    shape = made.shape(0)
    axes = [int(axis) % len(shape) for axis in given.get("axes", range(len(shape)))]
    sizes = made.numbers(1)
    if len(sizes) != len(axes):
        raise UnreadableError(f"{len(sizes)} sizes of {len(axes)} axes", AGAIN)
    value = made.given(0)
    before, behind = [0] * len(shape), [0] * len(shape)
    for axis, size in zip(axes, sizes, strict=True):
        more = size - shape[axis]
        if more < 0:
            begin = -more // 2
            value = made.part(value, begin, begin + size, axis)
        before[axis], behind[axis] = max(0, more) // 2, max(0, more) - max(0, more) // 2
    made.of("Pad", value, made.whole(*before, *behind), to=made.wanted(0))
