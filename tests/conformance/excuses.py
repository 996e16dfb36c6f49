"""Where we need not agree: what is refused although others read it, and what others are known to do wrong.

Both are counted under their reasons. A reason that no graph ever meets is removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import onnx

REFUSALS: dict[str, str] = {
    r"entries along the open axis": "the samples of a batch meet, or the axis is none of samples",
    r"integers that depend on the input are compared": "levels of quantisers are compared behind a cast",
    r"minus infinity": "only masks in front of a Softmax may be so",
    r"outside of its domain|division by zero|variance \+ epsilon is not positive": "nothing finite comes out",
    r"leaves the range of u?int|beyond the range of u?int": "signed overflow, and casts out of range, are not defined",
    r"cast to integers": "no affine function, or a constant that was rounded before it became an integer",
    r"rounded by a cast|rounded to bfloat16|by way of|the range of float16": "runtimes round in other ways",
    r"Softmax over \d+ of \d+": "a Softmax over samples",
    r"the output is empty|has 0 inputs|neither of them 0": "a network has at least one input and one output",
    r"training mode": "training is another function",
    r"slices an empty axis": "onnxruntime may end the process with a failed assertion",
    r"backwards to the largest integer": "onnxruntime slices to the other end, onnx to the end of the axis",
    r"no axes, which some runtimes take for all": "onnxruntime squeezes all axes, onnx none",
    r"\d+ outputs, but|nothing computes": "the mask of a Dropout, which no inference needs",
    r"normalis|channels|scale, bias, mean and variance": "channels are on axis 1 of a value with axes",
    r"a constant that is not a dense tensor": "constants that are texts are not read",
    r"holds integers|is not a constant of integers": "operators on integers are those that shapes are computed with",
    r"a remainder of integers": "a remainder of integers jumps as they do",
    r"neither sizes nor a number of parts|both sizes and a number": "Split asks for one of the two",
    r"cannot be split into": "parts that are not equal, or empty",
    r"beyond 2\^53": "integers that no float holds",
    r"do not broadcast as opset 6 asks": "before opset 7 onnx's reference implementation broadcasts as later ones do",
    r"a constant with \d+ values": "a constant has one value",
    r"a slope of shape .* does not broadcast": "a slope broadcasts to the value, not the other way round",
    r"rounding is not known": "what moves entries of constants that are rounded is not folded",
    r"lies within rounding of a step": "a window or another constant that is rounded lies at a tie, or next to one",
    r"places of the maxima": "which entry is the largest is no piecewise linear function",
    r"antialias|aspect ratio|coordinates by": "sizes, coordinates and shares for which runtimes differ",
    r"runtimes may choose different entries": "a runtime rounds coordinates to float32 before it chooses the nearest",
    r"divide by different numbers": "onnx and onnxruntime count the padding beyond the end in different ways",
    r"auto_pad of dilated windows": "onnxruntime pads a pool as if it were not dilated",
    r"a reduction over no axes|where it has no axes": "older runtimes give the entries, newer ones their squares",
    r"it reduces a value of shape": "a sum or maximum of nothing",
    r"two entries at one place": "which of two updates of one place stands is not defined",
    r"over padding alone": "a mean or maximum of nothing",
    r"negative pads in mode|reflects more|wraps more": "onnxruntime and onnx continue differently what is not there",
    r"column-major": "places of maxima, in another order",
    r"has type": "operands of types that do not go together",
    r"a scale, is not positive": "a scale of no sense",
    r"lies at a threshold of the quantiser": "which level a constant has that a runtime may have rounded",
    r"windows of .* do not fit": "windows larger than what they lie on, of which only a rounding up makes one",
    r"runtimes may take either|where runtimes differ": "which entry is the nearest, or stands beyond a border",
    r"are the largest depends|order of what it gives": "places of sorted entries, which jump, or of no order",
    r"one side of complex numbers": "the inverse of a spectrum of one side is another matrix",
    r"is a label: a place among": "a distance between labels is none between scores",
    r"has no spatial axes": "images without entries",
    r"output_shape .* is larger than": "a ConvTranspose that leaves entries which no window reaches, before or behind",
    r"NonZero of a single number": "the standard has no axis, onnxruntime one",
    r"the batch": "a batch of fixed size whose samples meet",
}
"""Words of a refusal, and why it may be although others read the model."""


@dataclass(frozen=True)
class Bug:
    """What an oracle is known to do wrong: with an operator, from one opset up to another, perhaps only in training."""

    operator: str
    reason: str
    first: int = 1
    last: int = 99
    training: bool = False
    with_value: bytes = b""
    """Of one of its attributes."""
    in_front_of: str = ""
    """Another operator of the model, where this one does it no harm otherwise."""


REFERENCE_BUGS = (
    Bug("Slice", "numpy's slices are not clamped as ONNX says, where a step is negative"),
    Bug("BatchNormalization", "before opset 14 a momentum, which is there by default, makes it train", 9, 13),
    Bug("BatchNormalization", "`spatial` is ignored, and outputs do not count", 6, 8),
    Bug("Squeeze", "before opset 13 axes are squeezed one after the other, so that later ones may mean others", 1, 12),
    Bug("Unsqueeze", "before opset 13 axes are added one after the other, so that later ones may mean others", 1, 12),
    Bug("Gemm", "before opset 7 `broadcast` is ignored", 6, 6),
    Bug("Add", "before opset 7 `axis` is ignored", 6, 6),
    Bug("Sub", "before opset 7 `axis` is ignored", 6, 6),
    Bug("Mul", "before opset 7 `axis` is ignored", 6, 6),
    Bug("Div", "before opset 7 `axis` is ignored", 6, 6),
    Bug("PRelu", "before opset 7 slopes broadcast to the last axis, not to channels", 6, 6),
    Bug("Softmax", "before opset 13 it is taken over one axis", 1, 12),
    Bug("Hardmax", "before opset 13 it is taken over one axis", 1, 12),
    Bug("AveragePool", "with pads that differ before and behind, padding is counted"),
    Bug("ConvTranspose", "every group gets the bias of the first"),
    Bug("GridSample", "coordinates are computed in float32, also of double"),
    Bug("Unique", "along an axis, in the order of appearance, it takes places of slices for those of numbers"),
    Bug("Erf", "it is computed in float32, also of double"),
    Bug("Gelu", "it is computed in float32, also of double"),
    Bug("GroupNormalization", "it is computed in float32, its `stash_type`, also of double", 21),
    Bug("GlobalMaxPool", "it takes the maximum over all axes of a value with one spatial axis"),
    Bug("MaxPool", "windows beyond the end (`ceil_mode`), or that `auto_pad` pads, are counted otherwise"),
    Bug("QLinearMatMul", "the zero point is added in front of the rounding, which is another one at ties"),
    Bug("QLinearConv", "the zero point is added in front of the rounding, and groups have too many outputs"),
    Bug("MeanVarianceNormalization", "its variance is a difference of means of squares, which float32 cancels"),
    Bug("LRN", "it stops at as many channels as there are samples"),
    Bug("Resize", "a single entry lies half a place in front of the first", with_value=b"pytorch_half_pixel"),
    Bug("Resize", "the length is that by the scale, not the one rounded down to entries", with_value=b"align_corners"),
    Bug("Resize", "what entries count for is computed in float32, also of double", with_value=b"cubic"),
    Bug("LogSoftmax", "it is the logarithm of a Softmax, which underflows; before opset 13 it is taken over one axis"),
)
ONNXRUNTIME_BUGS = (
    Bug("BlackmanWindow", "its numbers are those of float32, also of double"),
    Bug("HammingWindow", "its numbers are those of float32, also of double"),
    Bug("MeanVarianceNormalization", "the variance of entries that are equal may be negative"),
    Bug("GroupNormalization", "it is computed in float32, also of double"),
    Bug("BatchNormalization", "what it learns is written over initialisers that other nodes use", training=True),
    Bug("Gelu", "its tanh form has constants of float32, also of double"),
    Bug("Tanh", "in float32 it may be 1.0000001, which is above a threshold of 1", in_front_of="ThresholdedRelu"),
)


def excuse_for_refusal(message: str) -> str | None:
    """Why a model may be refused with these words."""
    return next((reason for words, reason in REFUSALS.items() if re.search(words, message)), None)


def known_bug(bugs: tuple[Bug, ...], model: onnx.ModelProto) -> str | None:
    """What an oracle does wrong with an operator of this model."""
    opset = model.opset_import[0].version
    for node in model.graph.node:
        for bug in bugs:
            if bug.training and len(node.output) < 2:
                continue
            if bug.with_value and all(a.s != bug.with_value for a in node.attribute):
                continue
            if bug.in_front_of and all(other.op_type != bug.in_front_of for other in model.graph.node):
                continue
            if node.op_type == bug.operator and bug.first <= opset <= bug.last:
                return f"{bug.operator}: {bug.reason}"
    return None
