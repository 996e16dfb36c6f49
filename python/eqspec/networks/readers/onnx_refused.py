"""Operators that no program of steps expresses, by name with their domain: why, and what helps.

Those of the standard domain on values that depend on the input stand beside the operators that are read
(`operators.REFUSED`); here are the others, and what is refused whatever it is given.
"""

from __future__ import annotations

from eqspec.networks.operators import REFUSED, qonnx
from eqspec.networks.readers.onnx_names import TREES_FIX

_TREES = (
    "a tree jumps from leaf to leaf where an input crosses a threshold, and is not a network",
    TREES_FIX,
)
_LABELS = ("it maps numbers or texts to others by a table, which jumps", "end the model at its scores or probabilities")
_FLOAT_LEVELS = ("its levels are not evenly spaced", "quantise to integers (Quant, QuantizeLinear)")
_NO_INTEGERS = (
    "it is an operator on levels that is not read yet",
    "export the model with QuantizeLinear and DequantizeLinear around real operators (QDQ)",
)
_DYNAMIC = (
    "its scale follows from the smallest and the largest value of each input, so thresholds move with the data; "
    "that is read where its levels are dequantised at once, or go into products with stored integers alone",
    "quantise statically, with scales that a calibration found (quantize_static of onnxruntime)",
)
_PACKED = (
    "its weights are packed bits, and which precision a runtime multiplies them in is left to it",
    "quantise with quant_format=QuantFormat.QDQ: DequantizeLinear of 4 bits in blocks, in front of a MatMul, is read",
)
_BLOCKS = (
    "its channels lie in blocks that suit the processor on which the file was written",
    "save the model with graph_optimization_level ORT_ENABLE_EXTENDED or below",
)
_CHANNELS_LAST = (
    "its channels stand behind the places",
    "convert the model without qonnx-to-channels-last",
)
_SEQUENCE = ("the number of its steps, or which of them are done, may depend on the input", "unroll it when exporting")
_CHOICE = ("which entries it gives depends on the input", "end the model before it, at the scores")
_BENT_WINDOWS = ("where its windows lie depends on values", "replace it by a Conv, or end the model before it")
_IMAGES = (
    "a compressed image is not a vector of numbers",
    "give the model pixels, and leave the decoding out of the file",
)
_SIGNALS = (
    "it computes in fixed point as the signal library of TensorFlow Lite for microcontrollers does",
    "compare the network behind the spectrogram",
)
_LITE = (
    "tf2onnx has left it as TensorFlow Lite has it, so no runtime of ONNX knows it",
    "convert the model of Keras that the TFLite file was made of (tf2onnx.convert.from_keras)",
)
_MCT = (
    "it is a quantiser of Sony's model compression toolkit, which its own runtime knows alone",
    "export with quantization_format=QuantizationFormat.FAKELY_QUANT, which writes QuantizeLinear and DequantizeLinear",
)
_RANDOM = ("what it gives is random", "export the model in inference mode, without sampling")
_ATTENTION = (
    "it may extend a cache of keys and values, and is not read",
    "export the model without a cache and without fused operators: MatMul and Softmax are read",
)

_OTHERS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("ai.onnx.ml.TreeEnsemble", "ai.onnx.ml.TreeEnsembleClassifier", "ai.onnx.ml.TreeEnsembleRegressor"), _TREES
    ),
    **dict.fromkeys(
        (
            "ai.onnx.ml.CastMap", "ai.onnx.ml.CategoryMapper", "ai.onnx.ml.DictVectorizer", "ai.onnx.ml.LabelEncoder",
            "OneHot", "StringNormalizer", "TfIdfVectorizer",
        ),
        _LABELS,
    ),
    "ai.onnx.ml.ZipMap": ("a dictionary is not a tensor", "end the model at the tensor in front of it"),
    "com.microsoft.SampleOp": _CHOICE,
    **dict.fromkeys(("DeformConv",), _BENT_WINDOWS),
    **dict.fromkeys(("ai.onnx.contrib.DecodeImage", "ai.onnx.contrib.EncodeImage", "ImageDecoder"), _IMAGES),
    **dict.fromkeys(("If", "SequenceMap", "OptionalHasElement"), _SEQUENCE),
    **dict.fromkeys(
        ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"), _RANDOM
    ),
    **dict.fromkeys(
        (
            "DynamicQuantizeLinear", "com.microsoft.DynamicQuantizeLSTM",
        ),
        _DYNAMIC,
    ),
    **dict.fromkeys(
        (
            "com.microsoft.QLinearReduceMean", "com.microsoft.QAttention",
            "qonnx.custom_op.general.MultiThreshold", "qonnx.custom_op.general.QuantAvgPool2d",
            "qonnx.custom_op.general.XnorPopcountMatMul",
        ),
        _NO_INTEGERS,
    ),
    **dict.fromkeys(
        ("com.microsoft.MatMulBnb4", "com.microsoft.GatherBlockQuantized"), _PACKED
    ),
    **dict.fromkeys((f"{domain}.FloatQuant" for domain in qonnx.DOMAINS), _FLOAT_LEVELS),
    "qonnx.custom_op.channels_last.AveragePool": _CHANNELS_LAST,
    "com.microsoft.GroupQueryAttention": _ATTENTION,
    "NonMaxSuppression": _CHOICE,
    "MaxRoiPool": _CHOICE,
    "RoiAlign": _CHOICE,
    "Det": ("a determinant is a sum of products of its entries", "end the model before it"),
    "CumProd": ("it is not read as the products that it consists of", "write it as products (Split, Mul)"),
}  # fmt: skip


def reason(operator: str, domain: str) -> tuple[str, str] | None:
    """Why an operator is not read, and what helps; None where nothing more can be said than that it is not."""
    name = operator if domain in ("", "ai.onnx") else f"{domain}.{operator}"
    if operator.startswith("TFL_Signal"):
        return _SIGNALS
    if operator.startswith("TFL_"):
        return _LITE
    if domain == "mct_quantizers":
        return _MCT
    if domain == "com.microsoft.nchwc":
        return _BLOCKS
    if operator.lower() in ("deform_conv2d", "mmcvdeformconv2d", "mmcvmodulateddeformconv2d"):
        return _BENT_WINDOWS
    found = _OTHERS.get(name)
    return REFUSED.get(name, found)
