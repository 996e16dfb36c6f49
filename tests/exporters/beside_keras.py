"""Models of Keras 3, trained and written by its own exporter, with their weights beside: `beside_torch.py` copies them.

    python beside_keras.py FOLDER

Runs where tensorflow, keras and tf2onnx are installed. `FOLDER/keras` gets a file and an archive of weights, in the
order of the layers, for each of `models`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
from training import train_keras


def models() -> Iterator[tuple[str, Any]]:
    """Every model; layers with weights stand in one order, and `beside_torch.MODELS` takes them so."""
    layers, sequential, model = keras.layers, keras.Sequential, keras.Model
    for name in ("relu", "tanh", "gelu", "silu", "elu", "selu", "softplus", "sigmoid", "leaky_relu"):
        yield (
            f"mlp-{name}",
            sequential([keras.Input((6,)), layers.Dense(8, name), layers.Dense(8, name), layers.Dense(3)]),
        )
    norms = {"batchnorm": layers.BatchNormalization, "layernorm": layers.LayerNormalization, "prelu": layers.PReLU}
    for name, layer in norms.items():
        yield name, sequential([keras.Input((6,)), layers.Dense(8), layer(), layers.Dense(3)])
    image = keras.Input((12, 12, 1))

    def act(x: Any) -> Any:
        return layers.ReLU()(layers.BatchNormalization()(x))

    def head(x: Any) -> Any:
        return layers.Dense(3)(layers.GlobalAveragePooling2D()(x))

    x = layers.MaxPooling2D(2)(layers.Conv2D(4, 3, activation="relu")(image))
    yield "lenet", model(image, layers.Dense(3)(layers.Flatten()(layers.Conv2D(4, 3, activation="relu")(x))))
    x = act(layers.Conv2D(4, 3, padding="same")(image))
    yield "resnet", model(image, head(layers.ReLU()(layers.Add()([x, act(layers.Conv2D(4, 3, padding="same")(x))]))))
    x = act(layers.Conv2D(4, 3, padding="same")(image))
    yield "mobilenet", model(image, head(act(layers.Conv2D(6, 1)(act(layers.DepthwiseConv2D(3, padding="same")(x))))))
    x = layers.Conv2D(4, 3, padding="same", activation="relu")(image)
    gate = layers.Dense(4, "sigmoid")(layers.GlobalAveragePooling2D()(x))
    yield "squeeze-excite", model(image, head(layers.Multiply()([x, layers.Reshape((1, 1, 4))(gate)])))
    x = layers.Conv2D(4, 3, padding="same", activation="relu")(image)
    up = layers.UpSampling2D()(layers.AveragePooling2D(2)(x))
    yield "unet", model(image, layers.Conv2D(1, 1)(layers.Concatenate()([x, up])))
    series = keras.Input((8, 2))
    for kind in ("LSTM", "GRU", "SimpleRNN"):
        yield kind.lower(), model(series, layers.Dense(2)(getattr(layers, kind)(4)(series)))
    x = layers.Conv1D(4, 3, padding="causal", dilation_rate=2, activation="relu")(series)
    yield "conv1d", model(series, layers.Dense(2)(layers.Flatten()(layers.MaxPooling1D(2)(x))))
    x = layers.LayerNormalization()(layers.Add()([series, layers.MultiHeadAttention(2, 3)(series, series)]))
    x = layers.LayerNormalization()(layers.Add()([x, layers.Dense(2)(layers.Dense(6, "gelu")(x))]))
    yield "transformer", model(series, layers.Dense(2)(layers.GlobalAveragePooling1D()(x)))
    particles = keras.Input((6, 4))
    phi = layers.Dense(8, "relu")(layers.Dense(8, "relu")(particles))
    yield "deepsets", model(particles, layers.Dense(3)(layers.GlobalAveragePooling1D()(phi)))
    words = keras.Input((5,), dtype="int32")
    yield "embedding", model(words, layers.Dense(2)(layers.Flatten()(layers.Embedding(4, 3)(words))))


def main() -> None:
    """Write everything."""
    folder = Path(sys.argv[1]) / "keras"
    folder.mkdir(parents=True, exist_ok=True)
    keras.utils.set_random_seed(0)
    for name, made in models():
        moved = train_keras(keras, made)
        print(name, "moved {:.2f}, loss {:.4f} to {:.4f}".format(*moved) if moved else "nothing", flush=True)
        weights = [np.asarray(w) for layer in made.layers for w in layer.get_weights()]
        np.savez(folder / f"{name}.npz", *weights)
        made([np.zeros((1, *i.shape[1:]), i.dtype) for i in made.inputs])
        made.export(str(folder / f"{name}.onnx"), format="onnx", verbose=False, opset_version=18)


if __name__ == "__main__":
    main()
