"""Keras models, layer by layer, where Keras is installed (with any backend)."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import eqspec
from eqspec import InputError, NetworkError, as_network
from eqspec.networks.frameworks import keras_model
from eqspec.networks.operators import OPERATORS

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def keras() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("keras")


def stack(keras: Any, *layers: Any, shape: tuple[int, ...] = (4,)) -> Any:
    return keras.Sequential([keras.Input(shape), *layers])


def agrees(model: Any) -> None:
    network = as_network(model)
    rows = RNG.normal(size=(20, *model.inputs[0].shape[1:])).astype(np.float32)
    wanted = np.asarray(model.predict(rows, verbose=0)).reshape(20, -1)
    found = network.evaluate(rows.reshape(20, -1).astype(np.float64))
    if network.stripped == "softmax":
        powers = np.exp(found - found.max(axis=1, keepdims=True))
        found = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def trained(keras: Any) -> Any:
    """With statistics that are not the first ones."""
    layers = keras.layers
    model = stack(
        keras,
        layers.Dense(8, activation="relu"),
        layers.BatchNormalization(),
        layers.Dropout(0.5),
        layers.Dense(3, activation="softmax"),
    )
    model.compile("sgd", "mse")
    model.fit(RNG.normal(size=(64, 4)) * 3 + 1, np.eye(3)[RNG.integers(0, 3, 64)], epochs=3, verbose=0)
    return model


def functional(keras: Any) -> Any:
    """A residual block, joined and shared layers, images."""
    layers = keras.layers
    image = keras.Input((2, 3))
    flat = layers.Flatten()(image)
    shared = layers.Dense(6, activation="relu")
    block = layers.Add()([shared(shared(flat)), flat])
    joined = layers.Concatenate()([block, layers.Subtract()([flat, block])])
    scaled = layers.Rescaling(2.0, offset=1.0)(layers.ReLU()(joined))
    return keras.Model(image, layers.Dense(2, use_bias=False)(scaled))


def nested(keras: Any) -> Any:
    layers = keras.layers
    normalised = layers.Normalization()
    normalised.adapt(RNG.normal(size=(50, 4)) * 3 + 1)
    inner = stack(keras, layers.Dense(6), layers.Activation("relu"))
    return stack(keras, normalised, inner, layers.Reshape((3, 2)), layers.Flatten(), layers.Dense(2), layers.Softmax())


@pytest.mark.parametrize("build", [trained, functional, nested])
def test_models_are_read_by_their_layers(keras: Any, build: Callable[[Any], Any]) -> None:
    agrees(build(keras))


def test_decisions_of_one_sigmoid_can_be_claimed(keras: Any) -> None:
    model = stack(keras, keras.layers.Dense(3, activation="relu"), keras.layers.Dense(1, activation="sigmoid"))
    assert eqspec.verify(model, model, [-1] * 4, [1] * 4, eqspec.Top1()).verdict == "equivalent"


def test_weights_are_stored_exactly(keras: Any) -> None:
    model = stack(keras, keras.layers.Dense(3))
    network = as_network(model)
    stored = onnx.load_from_string(network.content or b"").graph.initializer
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(stored[0]), np.asarray(model.get_weights()[0]))


FUNCTIONS = (
    "celu", "elu", "exponential", "gelu", "hard_sigmoid", "hard_silu", "hard_tanh", "leaky_relu", "log_sigmoid", "mish",
    "relu6", "selu", "sigmoid", "silu", "softplus", "softsign", "swish", "tanh",
)  # fmt: skip


def converts(model: Any) -> None:
    """The model as ONNX answers in onnxruntime what the model does."""
    converted = keras_model.convert("<model>", model, None)
    session = onnxruntime.InferenceSession(converted.model.SerializeToString(), providers=["CPUExecutionProvider"])
    rows = RNG.normal(size=(20, *model.inputs[0].shape[1:])).astype(np.float32) * 3
    found = np.asarray(session.run(None, {"input": rows})[0], np.float64)
    wanted = converted.outputs(rows.reshape(20, -1).astype(np.float64))
    np.testing.assert_allclose(found.reshape(20, -1), wanted, rtol=1e-4, atol=1e-5)
    if "Sigmoid" in OPERATORS:
        agrees(model)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_activations_by_name(keras: Any, name: str) -> None:
    if not hasattr(keras.activations, name):
        pytest.skip("a function of later versions")
    again = [] if name == "exponential" else [keras.layers.Activation(name)]  # whose exponential no float holds
    converts(stack(keras, keras.layers.Dense(5, activation=name), *again))


def test_activations_as_layers(keras: Any) -> None:
    layers = keras.layers
    slopes = layers.PReLU(alpha_initializer=keras.initializers.Constant(0.3))
    for layer in (layers.LeakyReLU(0.1), layers.ELU(0.7), layers.ReLU(6.0), layers.ReLU(6.0, 0.2), slopes):
        converts(stack(keras, layers.Dense(5), layer))
    converts(stack(keras, layers.Dense(5, activation=layers.LeakyReLU(0.3))))


def test_the_hard_sigmoid_of_an_older_keras_is_another_function(monkeypatch: pytest.MonkeyPatch) -> None:
    def hard_sigmoid(rows: Any) -> Any:
        return rows

    hard_sigmoid.__module__ = "tf_keras.src.activations"
    assert keras_model._older(hard_sigmoid)
    hard_sigmoid.__module__ = "keras.activations"
    monkeypatch.setitem(sys.modules, "keras", SimpleNamespace(__version__="2.15.0"))
    assert keras_model._older(hard_sigmoid)
    monkeypatch.setitem(sys.modules, "keras", SimpleNamespace(__version__="3.5.0"))
    assert not keras_model._older(hard_sigmoid)


def test_what_is_not_known_is_refused_by_name(keras: Any) -> None:
    layers = keras.layers

    class Mine(layers.Dense):  # type: ignore
        pass

    class Model(keras.Model):  # type: ignore[misc]
        def call(self, rows: Any) -> Any:
            return rows

    for model, message in (
        (stack(keras, Mine(3)), "not a class of Keras .operator 'Mine'"),
        (Model(), "derived from keras.Model may compute anything"),
        (stack(keras, layers.Dense(2, activation="squareplus")), "activation 'squareplus'; these are read: celu"),
        (stack(keras, layers.Dense(2, activation=lambda rows: rows)), "activation '<lambda>'"),
        (stack(keras, layers.ReLU(threshold=1.0)), "a threshold jumps"),
        (stack(keras, layers.GaussianDropout(0.1), layers.Lambda(lambda x: x)), "not known .operator 'Lambda'"),
        (stack(keras, layers.Conv2D(2, 3), layers.Flatten(), shape=(8, 8, 1)), "not known .operator 'Conv2D'"),
        (stack(keras, layers.Dense(2), shape=(3, 4)), "inputs of 3 axes; flatten them"),
        (stack(keras, layers.BatchNormalization(), shape=(3, 4)), "inputs of 3 axes"),
        (keras.Sequential([layers.Dense(2)]), "it is not built"),
    ):
        with pytest.raises(NetworkError, match=message):
            as_network(model)


def test_types_that_numbers_change_on_their_way_are_refused_by_name(keras: Any) -> None:
    """In mixed precision weights are rounded to 16 bits, which float32 weights with a tolerance do not show."""
    dense = keras.layers.Dense
    for policy, said in (("mixed_bfloat16", "it computes in bfloat16, where"), ("float64", "it computes in float64")):
        with pytest.raises(NetworkError, match=said):
            as_network(stack(keras, dense(5), dense(2, dtype=policy)))
    with pytest.raises(NetworkError, match="it takes int32, and its weights are float32"):
        as_network(keras.Sequential([keras.Input((4,), dtype="int32"), dense(2)]))


def test_a_function_of_ones_own_is_not_the_identity_because_of_its_name(keras: Any) -> None:
    def linear(x: Any) -> Any:
        return keras.ops.minimum(x, 400.0)

    with pytest.raises(NetworkError, match="activation 'linear'; these are read"):
        as_network(stack(keras, keras.layers.Dense(5, activation=linear), keras.layers.Dense(2)))


def test_numbers_of_double_models_are_not_rounded_on_the_way(keras: Any) -> None:
    layers, double = keras.layers, {"dtype": "float64"}

    def built(layer: Any) -> Any:
        return keras.Sequential([keras.Input((4,), **double), layers.Dense(5, **double), layer])

    network = as_network(model := built(layers.BatchNormalization(epsilon=0.1, **double)))
    rows = RNG.normal(size=(20, 4)).astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(network.evaluate(rows), model.predict(rows, verbose=0), rtol=1e-11, atol=1e-12)
    with pytest.raises(NetworkError, match=r"ONNX rounds alpha = 0\.3 to float32"):
        as_network(built(layers.ELU(0.3, **double)))


def test_a_class_called_like_one_of_keras_is_not_one() -> None:
    class Model:
        """Of this module, not of Keras."""

    assert not keras_model.recognises(Model())
    with pytest.raises(InputError, match="is not a model eqspec knows"):
        as_network(Model())


def test_only_a_model_of_keras_is_looked_into() -> None:
    """A class that says it is derived from a Keras model is recognised, and refused before anything of it is used."""
    base = type("Model", (), {"__module__": "keras.src.models.model"})
    derived = type("Trigger", (base,), {"__module__": "trigger"})
    assert keras_model.recognises(derived())
    with pytest.raises(NetworkError, match=r"<keras Trigger>: a class derived from keras\.Model may compute anything"):
        as_network(derived())
