"""For every operator that is read, what makes nodes of it, and in which opsets ONNX has it."""

from __future__ import annotations

from conformance.counting import COUNTED_SINCE, COUNTING
from conformance.deciding import counted, found_again, hidden_softmax, placed, put_back, reached, sampled, top
from conformance.functions import FUNCTIONS
from conformance.moving import MOVING
from conformance.operators import ARITHMETIC, Generator
from conformance.products import PRODUCTS, composed, masked_softmax, never
from conformance.quantising import QUANTISED
from conformance.sequences import SEQUENCES
from conformance.smooth import SMOOTH
from conformance.spatial import SPATIAL
from conformance.spectral import SPECTRAL, in_place, remainder
from conformance.truth import TRUTH


def _either(one: Generator, other: Generator) -> Generator:
    return lambda g: one(g) if g.chance(0.5) else other(g)


GENERATORS: dict[str, Generator] = {
    **ARITHMETIC, **COUNTING, **FUNCTIONS, **MOVING, **QUANTISED, **SMOOTH, **SPATIAL, **TRUTH, **PRODUCTS,
    **SEQUENCES, **SPECTRAL,
    "IsInf": never("IsInf"), "IsNaN": never("IsNaN"),
}  # fmt: skip
GENERATORS |= {kind: _either(COUNTING[kind], TRUTH[kind]) for kind in COUNTING.keys() & TRUTH.keys()}
"""Comparisons and the like are made of constants alone in the one, of values that depend on the input in the other."""
GENERATORS["ReduceProd"] = _either(COUNTING["ReduceProd"], PRODUCTS["ReduceProd"])
GENERATORS["Atan"] = _either(SMOOTH["Atan"], composed)
GENERATORS["Softmax"] = _either(ARITHMETIC["Softmax"], _either(masked_softmax, hidden_softmax))
GENERATORS["GridSample"] = sampled
GENERATORS["Einsum"] = _either(PRODUCTS["Einsum"], in_place)
GENERATORS["Mod"] = _either(COUNTING["Mod"], remainder)
GENERATORS["OneHot"] = _either(COUNTING["OneHot"], counted)
GENERATORS |= {kind: _either(COUNTING[kind], placed(kind)) for kind in ("ArgMax", "ArgMin")}
GENERATORS["GatherElements"] = _either(GENERATORS["GatherElements"], found_again)
GENERATORS["Hardmax"] = placed("Hardmax")
GENERATORS["ScatterElements"] = _either(GENERATORS["ScatterElements"], put_back)
for _kind in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
    GENERATORS[_kind] = _either(GENERATORS[_kind], reached(_kind))
GENERATORS["TopK"] = lambda g: top(g) if g.opset < 11 or g.chance(0.5) else COUNTING["TopK"](g)
"""Written out with others, Asin and its kin have no line of their own; nor have masks."""
SINCE = {
    **COUNTED_SINCE,
    "BlackmanWindow": 17, "DFT": 17, "HammingWindow": 17, "HannWindow": 17, "MelWeightMatrix": 17, "STFT": 17,
    "And": 7, "Atan": 7, "Col2Im": 18, "CumSum": 11, "Einsum": 12, "IsInf": 10, "IsNaN": 9, "Equal": 11, "Greater": 9,
    "GreaterOrEqual": 12, "Less": 9, "LessOrEqual": 12, "Or": 7, "Xor": 7, "Celu": 12, "Compress": 9,
    "ConstantOfShape": 9, "ConvInteger": 10, "Cos": 7, "DequantizeLinear": 10, "Erf": 9, "Expand": 8, "GRU": 7,
    "GridSample": 16, "GatherElements": 11, "GatherND": 11, "Gelu": 20, "GroupNormalization": 18, "HardSwish": 14,
    "LSTM": 7, "LayerNormalization": 17, "MatMulInteger": 10, "Mish": 18, "QLinearConv": 10, "QLinearMatMul": 10,
    "QuantizeLinear": 10, "RMSNormalization": 23, "RNN": 7, "Resize": 10, "ReverseSequence": 10, "Round": 11,
    "Scatter": 9, "ScatterElements": 11, "ScatterND": 11, "Sign": 9, "Sin": 7, "Swish": 24, "ThresholdedRelu": 10,
    "TopK": 7, "Trilu": 14, "Upsample": 7, "Where": 9, "DynamicQuantizeLinear": 11,
}  # fmt: skip
UNTIL = {"Scatter": 10, "Upsample": 9}


def of_opset(opset: int) -> list[str]:
    """The operators that an opset has."""
    return [name for name in GENERATORS if SINCE.get(name, 1) <= opset <= UNTIL.get(name, opset)]
