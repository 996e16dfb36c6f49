"""Architectures as users of Keras have them, written by tf2onnx from tf_keras and by the exporter of Keras 3.

    python tensorflow_models.py FOLDER

Runs where tensorflow, keras, tf_keras and tf2onnx are installed. Every model is trained for a short while, and its twin
in Keras 3 gets the same weights, where both then answer alike. What an exporter itself cannot do is said, left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras as keras3
import numpy as np
import tensorflow as tf
import tf2onnx
import tf_keras
from training import train_keras

ACTIVATIONS = (
    "relu", "relu6", "elu", "selu", "gelu", "silu", "mish", "sigmoid", "tanh", "softplus", "softsign", "hard_sigmoid",
    "exponential", "leaky_relu", "softmax", "log_softmax",
)  # fmt: skip


def models(keras: Any) -> Iterator[tuple[str, Any]]:
    """Every model in one of both libraries."""
    layers, sequential, model = keras.layers, keras.Sequential, keras.Model

    def given(*shape: int) -> Any:
        return keras.Input(shape=shape)

    def head(x: Any) -> Any:
        return layers.Dense(3)(layers.GlobalAveragePooling2D()(x))

    def act(x: Any) -> Any:
        return layers.ReLU()(layers.BatchNormalization()(x))

    def op(function: Any, *values: Any) -> Any:
        return layers.Lambda(function)(*values)

    for name in ACTIVATIONS:
        if hasattr(keras.activations, name):
            yield f"mlp-{name}", sequential([given(6), layers.Dense(8, name), layers.Dense(3, name), layers.Dense(2)])
    ends = (("softmax", 3), ("sigmoid", 1), ("linear", 1))
    for end, size in ends:
        yield f"end-{end}", sequential([given(6), layers.Dense(8, "relu"), layers.Dense(size, end)])
    yield "batchnorm", sequential([
        given(6), layers.Dense(8, use_bias=False), layers.BatchNormalization(), layers.ReLU(), layers.Dropout(0.3),
        layers.Dense(3),
    ])  # fmt: skip
    yield "layernorm", sequential([given(6), layers.Dense(8), layers.LayerNormalization(), layers.Dense(3)])
    yield "unitnorm", sequential([given(6), layers.UnitNormalization(), layers.Dense(3)])
    normalise = layers.Normalization(mean=[0.5] * 6, variance=[2.0] * 6)
    yield "normalization", sequential([given(6), normalise, layers.Dense(4, "tanh"), layers.Dense(2)])
    yield "rescaling", sequential([given(8, 8, 1), layers.Rescaling(1 / 255), layers.Conv2D(2, 3), layers.Flatten()])
    yield "relu-max", sequential([given(6), layers.Dense(8), layers.ReLU(6.0, 0.1, 0.5), layers.Dense(2)])
    yield "prelu", sequential([given(6), layers.Dense(8), layers.PReLU(), layers.Dense(2)])
    image = given(12, 12, 1)
    x = layers.MaxPooling2D(2)(layers.Conv2D(4, 3, activation="relu")(image))
    yield "lenet", model(image, layers.Dense(3, "softmax")(layers.Flatten()(layers.Conv2D(4, 3)(x))))
    x = act(layers.Conv2D(4, 3, 2, "same")(image))
    yield "same-stride", model(image, head(x))
    x = act(layers.DepthwiseConv2D(3, padding="same")(x))
    yield "depthwise", model(image, head(act(layers.Conv2D(4, 1)(x))))
    yield "separable", model(image, head(layers.SeparableConv2D(4, 3, activation="relu")(image)))
    x = act(layers.Conv2D(4, 3, padding="same")(image))
    gate = layers.Reshape((1, 1, 4))(layers.Dense(4, "sigmoid")(layers.GlobalAveragePooling2D()(x)))
    yield "squeeze-excite", model(image, head(layers.Multiply()([x, gate])))
    yield "resnet", model(image, head(layers.ReLU()(layers.Add()([x, act(layers.Conv2D(4, 3, padding="same")(x))]))))
    for how in ("nearest", "bilinear"):
        down = layers.AveragePooling2D(2)(x)
        up = layers.UpSampling2D(interpolation=how)(down)
        yield f"unet-{how}", model(image, layers.Conv2D(1, 1)(layers.Concatenate()([x, up])))
    up = layers.Conv2DTranspose(2, 3, 2, "same", activation="relu")(layers.MaxPooling2D(2)(x))
    yield "unet-transpose", model(image, layers.Conv2D(1, 1)(layers.Concatenate()([x, up])))
    yield "cropping", model(image, head(layers.ZeroPadding2D(1)(layers.Cropping2D(1)(x))))
    yield "global-max", model(image, layers.Dense(2)(layers.GlobalMaxPooling2D()(x)))
    yield "permute", model(image, layers.Dense(2)(layers.Flatten()(layers.Permute((3, 1, 2))(x))))
    series = given(16, 2)
    x = layers.Conv1D(4, 3, padding="causal", dilation_rate=2, activation="relu")(series)
    yield "conv1d", model(series, layers.Dense(2)(layers.Flatten()(layers.MaxPooling1D(2)(x))))
    yield "conv1d-pooled", model(series, layers.Dense(2)(layers.GlobalAveragePooling1D()(x)))
    yield "separable1d", model(series, layers.GlobalMaxPooling1D()(layers.SeparableConv1D(3, 3)(series)))
    yield "upsample1d", model(series, layers.UpSampling1D(2)(x))
    for kind in ("LSTM", "GRU", "SimpleRNN"):
        yield f"sequence-{kind.lower()}", model(series, layers.Dense(2)(getattr(layers, kind)(4)(series)))
    yield "time-distributed", model(series, layers.Flatten()(layers.TimeDistributed(layers.Dense(2, "relu"))(series)))
    yield "attention", model(series, layers.Dense(2)(layers.GlobalAveragePooling1D()(
        layers.MultiHeadAttention(2, 3)(series, series))))  # fmt: skip
    particles = given(6, 4)
    phi = layers.Dense(8, "relu")(layers.Dense(8, "relu")(particles))
    yield "deepsets", model(particles, layers.Dense(3)(layers.GlobalAveragePooling1D()(phi)))
    yield "masking", model(particles, layers.Dense(3)(layers.GlobalAveragePooling1D()(layers.Masking()(particles))))
    a, b = given(5), given(3)
    joined = layers.Dense(8, "relu")(layers.Concatenate()([layers.Dense(4, "relu")(a), b]))
    yield "two-inputs", model([a, b], layers.Dense(2)(joined))
    yield "actor-critic", model(a, [layers.Dense(2, "tanh", name="pi")(a), layers.Dense(1, name="v")(a)])
    yield "minimum", model([a, b], layers.Minimum()([layers.Dense(2)(a), layers.Dense(2)(b)]))
    yield "dot", model([a, b], layers.Dot(1)([layers.Dense(2)(a), layers.Dense(2)(b)]))
    yield "autoencoder", sequential([given(6), layers.Dense(2, "elu"), layers.Dense(6, "sigmoid")])
    words, codes = keras.Input(shape=(5,), dtype="int32"), keras.Input(shape=(2,), dtype="int32")
    yield "embedding", model(words, layers.Dense(2)(layers.Flatten()(layers.Embedding(4, 3)(words))))
    yield (
        "embedding-pooled",
        model(words, layers.Dense(2)(layers.GlobalAveragePooling1D()(layers.Embedding(4, 3)(words)))),
    )
    table = layers.Flatten()(layers.Embedding(4, 3)(codes))
    yield "embedding-mixed", model([a, codes], layers.Dense(2)(layers.Concatenate()([a, table])))
    if keras is tf_keras:
        yield "scaled-policy", model(a, op(lambda y: 2.0 * tf.tanh(y) + 0.5, layers.Dense(2)(a)))
        yield "clipped-policy", model(a, op(lambda y: tf.clip_by_value(y, -1.0, [1.0, 2.0]), layers.Dense(2)(a)))
        yield "dueling", model(a, op(lambda y: y[:, :1] + y[:, 1:] - tf.reduce_mean(y[:, 1:], 1, keepdims=True),
                                     layers.Dense(4)(a)))  # fmt: skip
        yield "vae", model(a, op(lambda y: y[:, :2] + tf.random.normal((1, 2)) * tf.exp(y[:, 2:]), layers.Dense(4)(a)))
        yield "einsum", model(particles, op(lambda y: tf.einsum("bpf,fg->bg", y, tf.ones((4, 3))), particles))
        yield "swish-hard", model(a, op(lambda y: y * tf.nn.relu6(y + 3) / 6, layers.Dense(3)(a)))
        yield "depth-to-space", model(image, op(lambda y: tf.nn.depth_to_space(y, 2), layers.Conv2D(4, 3)(image)))
        yield "resize", model(image, op(lambda y: tf.image.resize(y, (9, 7)), layers.Conv2D(2, 3)(image)))
        yield "argmax", model(a, op(lambda y: tf.argmax(y, 1), layers.Dense(3)(a)))
        yield "masked-mean", model(particles, op(
            lambda y: tf.reduce_mean(tf.where(tf.not_equal(y[..., :1], 0.0), y, 0.0), 1), particles))  # fmt: skip
        yield "mask-product", model(particles, op(
            lambda y: tf.reduce_sum(y * tf.cast(y[..., :1] > 0.1, tf.float32), 1), particles))  # fmt: skip


def write(path: Path, library: str, opset: int, model: Any) -> None:
    """Export one model; what goes wrong in the exporter is said."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        if library == "keras3":
            model([tf.zeros((1, *i.shape[1:]), i.dtype) for i in model.inputs])
            model.export(str(path), format="onnx", verbose=False, opset_version=opset)
            return
        given = [tf.TensorSpec((None, *i.shape[1:]), i.dtype, i.name) for i in model.inputs]
        channels = {"inputs_as_nchw": [given[0].name]} if opset == 18 and len(given[0].shape) == 4 else {}
        tf2onnx.convert.from_keras(model, given, opset=opset, output_path=str(path), **channels)
    except Exception as error:
        path.unlink(missing_ok=True)
        first = (str(error).strip().splitlines() or [""])[0][:120]
        print(f"{library} {opset} {path.stem}: {type(error).__name__}: {first}", flush=True)


def copied(model: Any, twin: Any, weights: list[Any]) -> bool:
    """Give a model of Keras 3 the weights with which its twin was exported; whether both then answer alike.

    Models share layers, so the twin has other weights by now if a later model was trained.
    """
    try:
        for layer, other, kept in zip(model.layers, twin.layers, weights, strict=True):
            layer.set_weights(kept)
            other.set_weights(kept)
        rng = np.random.default_rng(1)
        given = [rng.integers(0, 4, size=(8, *value.shape[1:])).astype(value.dtype) for value in model.inputs]
        one, other = (np.asarray(tf.nest.flatten(m(given if len(given) > 1 else given[0]))[0]) for m in (model, twin))
        return bool(np.allclose(one, other, atol=1e-4))
    except Exception as error:
        print(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}", flush=True)
        return False


def main() -> None:
    """Write everything."""
    folder, wanted, twins = Path(sys.argv[1]), sys.argv[2:], {}
    for library, keras in (("tf2onnx", tf_keras), ("keras3", keras3)):
        keras.utils.set_random_seed(0)
        for name, model in models(keras):
            if wanted and name not in wanted:
                continue
            if name in twins and copied(model, *twins[name]):
                print(f"copied {library} {name}", flush=True)
            else:
                try:
                    moved = train_keras(keras, model)
                    said = "nothing" if moved is None else "moved {:.2f}, loss {:.4f} to {:.4f}".format(*moved)
                except Exception as error:
                    said = f"untrained: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}"
                print(f"trained {library} {name}: {said}", flush=True)
            if library == "tf2onnx":
                twins[name] = model, [layer.get_weights() for layer in model.layers]
            for opset in (13, 18) if library == "tf2onnx" else (18,):
                write(folder / f"{library}-{opset}" / f"{name}.onnx", library, opset, model)


if __name__ == "__main__":
    main()
