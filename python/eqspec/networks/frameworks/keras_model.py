"""Keras models by their layers and weights, with any backend and without exporting.

The graph is walked from the output back to the input. Layers that are off when a model predicts (dropout, noise) are
passed through; a layer that is not known is refused by name. Only Keras' own classes count: a class derived from one
may compute anything.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from eqspec.errors import NetworkError
from eqspec.networks.frameworks.activations import ACTIVATIONS
from eqspec.networks.frameworks.chain import INPUT, Chain
from eqspec.networks.frameworks.converted import Converted
from eqspec.networks.network import Array

LIBRARY = "keras"
_PACKAGES = ("keras", "tf_keras")
_IDENTITIES = (
    "Dropout", "AlphaDropout", "SpatialDropout1D", "SpatialDropout2D", "GaussianDropout", "GaussianNoise",
    "ActivityRegularization", "Identity",
)  # fmt: skip
_MODELS = ("Sequential", "Functional", "Model")
_KNOWN = (
    "Activation", "Add", "BatchNormalization", "Concatenate", "Dense", "ELU", "Flatten", "LeakyReLU", "Normalization",
    "PReLU", "ReLU", "Rescaling", "Reshape", "Softmax", "Subtract",
)  # fmt: skip
_CALLED = {"hard_silu": "hard_swish", "swish": "silu"}
"""Functions that are called otherwise in `activations`."""


def recognises(model: object) -> bool:
    """Whether it is a Keras model, or of a class derived from one."""
    return any(_package(kind) in _PACKAGES and kind.__name__ == "Model" for kind in type(model).__mro__)


def convert(name: str, model: Any, shape: tuple[int, ...] | None) -> Converted:  # noqa: ARG001 - it is known
    """Its ONNX form; NetworkError where a layer is not supported."""
    given, answers = _ends(name, model)
    size = tuple(given.shape[1:])
    if not size or any(d is None for d in size):
        raise NetworkError(name, f"its input has the shape {tuple(given.shape)}", fix="fix every size but the batch's")
    kind = next((np.asarray(w).dtype for w in model.get_weights()), np.dtype(np.float32))
    if kind not in (np.float32, np.float64):
        raise NetworkError(name, f"its weights are {kind}", fix="build it with float32 weights")
    if (taken := str(getattr(given.dtype, "name", given.dtype))) != kind:
        raise NetworkError(name, f"it takes {taken}, and its weights are {kind}", fix="build it with one type for both")
    chain = Chain(size, kind)
    value = _Walk(name, chain, model, given, INPUT).value(answers)

    def outputs(inputs: Array) -> Array:
        rows = inputs.reshape(len(inputs), *size).astype(kind)
        answer: Array = np.asarray(model.predict(rows, verbose=0), np.float64)
        return answer.reshape(len(inputs), -1)

    return Converted(chain.model(value, answers.shape[1:]), outputs)


def _package(kind: type) -> str:
    return kind.__module__.split(".")[0]


def _ends(name: str, model: Any) -> tuple[Any, Any]:
    """The one input and the one output."""
    if type(model).__name__ not in _MODELS or _package(type(model)) not in _PACKAGES:
        fix = "build it from layers with keras.Sequential or the functional interface, or export it to ONNX"
        raise NetworkError(name, "a class derived from keras.Model may compute anything", fix=fix)
    try:
        inputs, outputs = list(model.inputs or ()), list(model.outputs or ())
    except (AttributeError, TypeError, ValueError):
        inputs, outputs = [], []
    if not inputs or not outputs:
        raise NetworkError(name, "it is not built", fix="put a keras.Input in front, or call build with its shape")
    if len(inputs) > 1 or len(outputs) > 1:
        raise NetworkError(name, f"it has {len(inputs)} inputs and {len(outputs)} outputs", fix="use one of each")
    return inputs[0], outputs[0]


class _Walk:
    """One pass over one model; models inside of it are walked in turn."""

    def __init__(self, name: str, chain: Chain, model: Any, given: Any, value: str) -> None:
        self._name, self._chain, self._model = name, chain, model
        self._done = {id(given): value}

    def value(self, tensor: Any) -> str:
        """The ONNX value of a symbolic tensor of the model."""
        order: list[Any] = []
        waiting = [tensor]
        while waiting:  # no recursion: models may be deep
            here = waiting[-1]
            if id(here) in self._done:
                waiting.pop()
                continue
            layer, inputs = _maker(here)
            open_inputs = [t for t in inputs if id(t) not in self._done]
            if not inputs or len(order) > 100_000:
                raise NetworkError(self._name, f"{layer.name} is not computed from the input", fix="use one input")
            if open_inputs:
                waiting += open_inputs
                continue
            self._done[id(here)] = self._layer(layer, [self._done[id(t)] for t in inputs], inputs)
            order.append(here)
            waiting.pop()
        return self._done[id(tensor)]

    def _layer(self, layer: Any, values: list[str], tensors: list[Any]) -> str:
        kind = type(layer).__name__
        if _package(type(layer)) not in _PACKAGES:
            raise self._unsupported(layer, "it is not a class of Keras")
        if (computed := str(getattr(layer, "compute_dtype", None) or self._chain.dtype)) != self._chain.dtype:
            raise self._unsupported(
                layer, f"it computes in {computed}, where the model's weights are {self._chain.dtype}"
            )
        if kind in _MODELS:
            given, answers = _ends(self._name, layer)
            return _Walk(self._name, self._chain, layer, given, values[0]).value(answers)
        if kind in _IDENTITIES:
            return values[0]
        if kind in ("Add", "Subtract", "Concatenate"):
            return self._joined(layer, kind, values, tensors)
        if kind not in _KNOWN:
            raise self._unsupported(layer, "this kind of layer is not known")
        step = getattr(self, f"_{kind.lower()}")
        result: str = step(layer, values[0], len(tensors[0].shape))
        return result

    def _joined(self, layer: Any, kind: str, values: list[str], tensors: list[Any]) -> str:
        rank = len(tensors[0].shape)
        if kind == "Concatenate":
            if layer.axis % rank == 0:
                raise self._unsupported(layer, "it joins samples")
            return self._chain.add("Concat", *values, axis=layer.axis % rank)
        result = values[0]
        for value in values[1:]:
            result = self._chain.add("Add" if kind == "Add" else "Sub", result, value)
        return result

    def _dense(self, layer: Any, value: str, rank: int) -> str:
        if rank != 2:
            raise self._unsupported(layer, f"it acts on inputs of {rank} axes; flatten them first")
        if getattr(layer, "lora_enabled", False) or getattr(layer, "quantization_mode", None):
            raise self._unsupported(layer, "its weights are quantised or have an adapter")
        kernel, *bias = layer.get_weights()
        result = self._chain.add("MatMul", value, np.asarray(kernel))
        result = self._chain.add("Add", result, np.asarray(bias[0])) if bias else result
        return self._activation(layer, result, rank)

    def _activation(self, layer: Any, value: str, rank: int) -> str:
        function = layer.activation
        if _package(type(function)) in _PACKAGES and type(function).__name__ in _KNOWN:  # a layer that is a function
            return str(getattr(self, f"_{type(function).__name__.lower()}")(function, value, rank))
        name, own = getattr(function, "__name__", str(function)), _package_of(function) in _PACKAGES
        if name == "linear" and own:
            return value
        if name in ("softmax", "log_softmax") and own:
            return self._chain.add("Softmax" if name == "softmax" else "LogSoftmax", value, axis=rank - 1)
        name = _CALLED.get(name, name)
        if name == "leaky_relu" and own:
            return self._chain.add("LeakyRelu", value, alpha=0.2)  # what Keras takes where nothing else is said
        if name == "hard_sigmoid" and own and _older(function):
            return self._chain.add("HardSigmoid", value, alpha=0.2, beta=0.5)
        if name not in ACTIVATIONS or not own:
            shown = ", ".join(sorted([*ACTIVATIONS, "leaky_relu", "linear", "log_softmax", "softmax"]))
            raise self._unsupported(layer, f"activation {name!r}; these are read: {shown}")
        return ACTIVATIONS[name](self._chain, value)

    def _relu(self, layer: Any, value: str, rank: int) -> str:  # noqa: ARG002
        if layer.threshold:
            raise self._unsupported(layer, "a ReLU with a threshold jumps")
        slope = float(layer.negative_slope or 0.0)
        made = self._chain.add("LeakyRelu", value, alpha=slope) if slope else self._chain.add("Relu", value)
        if layer.max_value is None:
            return made
        return self._chain.add("Min", made, np.array(layer.max_value, self._chain.dtype))

    def _leakyrelu(self, layer: Any, value: str, rank: int) -> str:  # noqa: ARG002
        slope = layer.negative_slope if hasattr(layer, "negative_slope") else layer.alpha
        return self._chain.add("LeakyRelu", value, alpha=float(_array(slope)))

    def _prelu(self, layer: Any, value: str, rank: int) -> str:  # noqa: ARG002
        (slopes,) = layer.get_weights()
        return self._chain.add("PRelu", value, np.asarray(slopes))

    def _elu(self, layer: Any, value: str, rank: int) -> str:  # noqa: ARG002
        alpha = float(_array(layer.alpha))
        if self._chain.dtype == np.float64 and alpha != np.float32(alpha):
            raise self._unsupported(layer, f"ONNX rounds alpha = {alpha} to float32; use float32 weights")
        return self._chain.add("Elu", value, alpha=alpha)

    def _softmax(self, layer: Any, value: str, rank: int) -> str:
        if not isinstance(layer.axis, int) or layer.axis % rank != rank - 1:
            raise self._unsupported(layer, "only a softmax over the last axis is read")
        return self._chain.add("Softmax", value, axis=rank - 1)

    def _flatten(self, layer: Any, value: str, rank: int) -> str:
        if getattr(layer, "data_format", "channels_last") == "channels_first" and rank > 2:
            raise self._unsupported(layer, "it moves the channels; use channels_last")
        return self._chain.add("Flatten", value, axis=1)

    def _reshape(self, layer: Any, value: str, rank: int) -> str:  # noqa: ARG002
        return self._chain.add("Reshape", value, np.array([1, *layer.target_shape], np.int64))

    def _rescaling(self, layer: Any, value: str, rank: int) -> str:  # noqa: ARG002
        kind = layer.compute_dtype
        scaled = self._chain.add("Mul", value, np.asarray(layer.scale, kind))
        return self._chain.add("Add", scaled, np.asarray(layer.offset, kind))

    def _normalization(self, layer: Any, value: str, rank: int) -> str:  # noqa: ARG002
        if getattr(layer, "invert", False):
            raise self._unsupported(layer, "it is inverted")
        if getattr(layer, "mean", None) is None:
            raise self._unsupported(layer, "it is not adapted to data")
        mean, variance = (np.asarray(_array(a), layer.compute_dtype) for a in (layer.mean, layer.variance))
        # Keras computes the divisor in its own precision; its result is the constant of this network.
        deviation = np.maximum(np.sqrt(variance), np.asarray(1e-7, variance.dtype))
        return self._chain.add("Div", self._chain.add("Sub", value, mean), deviation)

    def _batchnormalization(self, layer: Any, value: str, rank: int) -> str:
        axis = layer.axis[0] if isinstance(layer.axis, list | tuple) else layer.axis
        if rank != 2 or axis % rank != 1:
            raise self._unsupported(layer, f"it acts on inputs of {rank} axes; flatten them first")
        mean, variance = (np.asarray(_array(a), self._chain.dtype) for a in (layer.moving_mean, layer.moving_variance))
        scale = np.asarray(_array(layer.gamma)) if layer.scale else np.ones_like(mean)
        centre = np.asarray(_array(layer.beta)) if layer.center else np.zeros_like(mean)
        epsilon = float(layer.epsilon)
        if self._chain.dtype == np.float64:  # as Keras adds it; the attribute would be float32
            variance, epsilon = variance + epsilon, 0.0
        return self._chain.add("BatchNormalization", value, scale, centre, mean, variance, epsilon=epsilon)

    def _unsupported(self, layer: Any, why: str) -> NetworkError:
        fix = f"these layers are read: {', '.join(sorted(_KNOWN))}; or export the model to ONNX"
        return NetworkError(self._name, f"{why}", node=str(layer.name), operator=type(layer).__name__, fix=fix)


def _maker(tensor: Any) -> tuple[Any, list[Any]]:
    """The layer that computes a symbolic tensor, and what from."""
    layer, node, _ = tensor._keras_history
    inputs = layer._inbound_nodes[node].input_tensors
    return layer, list(inputs) if isinstance(inputs, list | tuple) else [inputs]


def _package_of(function: Any) -> str:
    return str(getattr(function, "__module__", "")).split(".")[0]


def _older(function: Any) -> bool:
    """Whether a function is that of Keras 2, whose hard sigmoid is x / 5 + 1 / 2 between 0 and 1, not x / 6 + 1 / 2."""
    package = _package_of(function)
    version = str(getattr(sys.modules.get(package), "__version__", "3"))
    return package == "tf_keras" or version.startswith("2.")


def _array(tensor: Any) -> Any:
    return (
        tensor.numpy() if hasattr(tensor, "numpy") else tensor.detach().cpu() if hasattr(tensor, "detach") else tensor
    )
