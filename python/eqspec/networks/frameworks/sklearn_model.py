"""scikit-learn's MLPs by their weights, behind scalers in a pipeline.

An `MLPClassifier` of two classes has one output z and decides for its second class where sigmoid(z) > 1/2. With the
scores (0, z) the softmax gives the second class exp(z) / (1 + exp(z)) = sigmoid(z), so decisions and confidences are
the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eqspec.errors import NetworkError
from eqspec.networks.frameworks.chain import INPUT, Chain
from eqspec.networks.frameworks.converted import Converted
from eqspec.networks.network import Array

LIBRARY = "scikit-learn"
_MLPS = ("MLPClassifier", "MLPRegressor")
_ACTIVATIONS = {"identity": None, "logistic": "Sigmoid", "relu": "Relu", "tanh": "Tanh"}
_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")


def recognises(model: object) -> bool:
    """Whether it is an MLP or a pipeline of scikit-learn; classes derived from them may compute anything."""
    return _is(model, "neural_network", _MLPS) or _is(model, "pipeline", ("Pipeline",))


def convert(name: str, model: Any, shape: tuple[int, ...] | None) -> Converted:  # noqa: ARG001 - it is known
    """Its ONNX form; NetworkError where a step or an activation is not supported."""
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    *scalers, mlp = [step for step in steps if step is not None and step != "passthrough"] or [None]
    if not _is(mlp, "neural_network", _MLPS):
        fix = f"the last step must be one of {', '.join(_MLPS)}"
        raise NetworkError(name, f"the pipeline ends in {type(mlp).__name__}", fix=fix)
    if not hasattr(mlp, "coefs_"):
        raise NetworkError(name, "it is not fitted", fix="call fit first")
    chain = Chain([len(mlp.coefs_[0])], np.dtype(np.float64))
    value = INPUT
    for scaler in scalers:
        value = _scaled(name, chain, value, scaler)
    value = _layers(name, chain, value, mlp)
    answers = model.predict_proba if type(mlp).__name__ == "MLPClassifier" else model.predict

    def outputs(inputs: Array) -> Array:
        answer: Array = np.asarray(answers(inputs))
        return answer.reshape(len(inputs), -1)

    return Converted(chain.model(value, [None]), outputs)


def _is(model: object, part: str, names: tuple[str, ...]) -> bool:
    kind = type(model)
    return kind.__module__.split(".")[:2] == ["sklearn", part] and kind.__name__ in names


def _scaled(name: str, chain: Chain, value: str, scaler: Any) -> str:
    """What `transform` computes, with the numbers the scaler keeps."""
    kind = type(scaler).__name__
    if not _is(scaler, "preprocessing", _SCALERS):
        fix = f"these steps are read before the network: {', '.join(_SCALERS)}"
        raise NetworkError(name, f"the step {kind} is not supported", fix=fix)
    if kind == "MinMaxScaler":
        value = chain.add("Add", chain.add("Mul", value, _floats(scaler.scale_)), _floats(scaler.min_))
        return chain.add("Clip", value, *map(_floats, scaler.feature_range)) if scaler.clip else value
    if getattr(scaler, "clip", False):
        raise NetworkError(name, f"{kind}(clip=True) is not supported", fix="scale without clipping")
    centre = {"StandardScaler": "mean_", "RobustScaler": "center_"}.get(kind)
    numbers = None if centre is None else getattr(scaler, centre)
    if numbers is not None and getattr(scaler, "with_mean", True) and getattr(scaler, "with_centering", True):
        value = chain.add("Sub", value, _floats(numbers))
    return value if scaler.scale_ is None else chain.add("Div", value, _floats(scaler.scale_))


def _layers(name: str, chain: Chain, value: str, mlp: Any) -> str:
    if mlp.activation not in _ACTIVATIONS:
        fix = f"train it with one of {', '.join(map(repr, _ACTIVATIONS))}"
        raise NetworkError(name, f"activation {mlp.activation!r} is not supported", fix=fix)
    if type(mlp).__name__ == "MLPClassifier" and mlp.out_activation_ == "logistic" and mlp.n_outputs_ > 1:
        fix = "train one classifier for each label, and compare these"
        raise NetworkError(name, "it gives several labels at once, each with a sigmoid of its own", fix=fix)
    if mlp.out_activation_ not in ("identity", "softmax", "logistic"):
        fix = "train it with the loss 'squared_error'"
        raise NetworkError(name, f"the output activation {mlp.out_activation_!r} is not supported", fix=fix)
    weights = [_floats(weight) for weight in mlp.coefs_]
    biases = [_floats(bias) for bias in mlp.intercepts_]
    if mlp.out_activation_ == "logistic":
        weights[-1] = np.hstack([np.zeros_like(weights[-1]), weights[-1]])
        biases[-1] = np.hstack([np.zeros_like(biases[-1]), biases[-1]])
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        if number and (operator := _ACTIVATIONS[mlp.activation]) is not None:
            value = chain.add(operator, value)
        value = chain.add("Gemm", value, weight, bias)
    return value if mlp.out_activation_ == "identity" else chain.add("Softmax", value, axis=1)


def _floats(numbers: Any) -> Array:
    return np.asarray(numbers, np.float64)
