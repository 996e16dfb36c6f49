"""The models of `beside_keras.py` in torch, with the weights that Keras has trained, and models of scikit-learn.

    python beside_torch.py FOLDER [legacy]

Runs where torch, onnxscript, scikit-learn, skl2onnx and onnxruntime are installed. `FOLDER/torch` gets a model for each
archive of weights in `FOLDER/keras`; `FOLDER/sklearn` and `FOLDER/copies` classifiers and regressors of scikit-learn by
skl2onnx, and the same in torch. Torch takes images and series as Keras does, channels last, so that both files have one
input; what onnxruntime answers to each is compared as they are written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn
from torch.nn import functional

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu, "tanh": torch.tanh, "gelu": lambda x: functional.gelu(x, approximate="none"),
    "silu": functional.silu, "elu": functional.elu, "selu": functional.selu, "softplus": functional.softplus,
    "sigmoid": torch.sigmoid, "leaky_relu": lambda x: functional.leaky_relu(x, 0.2),
}  # fmt: skip
IMAGE, SERIES = (12, 12, 1), (8, 2)


class Of(nn.Module):
    """A function of a model's parts and its input."""

    def __init__(self, function: Callable[[Any, Tensor], Tensor], **parts: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x: Tensor) -> Tensor:
        """The function."""
        return self.function(self, x)


class Weights:
    """The arrays of an archive, taken in their order and put into layers of torch."""

    def __init__(self, path: Path) -> None:
        archive = np.load(path)
        self.left = [torch.from_numpy(archive[name]).float() for name in archive.files]

    def take(self, count: int) -> list[Tensor]:
        """The next arrays."""
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def dense(self) -> nn.Linear:
        """A fully connected layer."""
        kernel, bias = self.take(2)
        return _set(nn.Linear(*kernel.shape), kernel.T, bias)

    def conv(self, **options: Any) -> Any:
        """A convolution along one or two axes."""
        kernel, bias = self.take(2)
        kind = nn.Conv2d if kernel.dim() == 4 else nn.Conv1d
        order = (*range(kernel.dim() - 1, kernel.dim() - 3, -1), *range(kernel.dim() - 2))
        layer = kind(kernel.shape[-2], kernel.shape[-1], tuple(kernel.shape[:-2]), **options)
        return _set(layer, kernel.permute(order), bias)

    def depthwise(self) -> nn.Conv2d:
        """A convolution of each channel by itself."""
        kernel, bias = self.take(2)
        channels = kernel.shape[2]
        return _set(nn.Conv2d(channels, channels, 3, padding=1, groups=channels), kernel.permute(2, 3, 0, 1), bias)

    def norm(self, *, images: bool = False) -> Any:
        """A BatchNormalization in inference."""
        scale, shift, mean, variance = self.take(4)
        layer = (nn.BatchNorm2d if images else nn.BatchNorm1d)(len(scale), eps=1e-3)
        layer.running_mean, layer.running_var = mean, variance
        return _set(layer, scale, shift)

    def layer_norm(self) -> nn.LayerNorm:
        """A LayerNormalization."""
        scale, shift = self.take(2)
        return _set(nn.LayerNorm(len(scale), eps=1e-3), scale, shift)

    def recurrent(self, kind: str) -> nn.Module:
        """An RNN whose gates torch has in another order."""
        kernel, inner, bias = self.take(3)
        units = inner.shape[0]
        layer = {"lstm": nn.LSTM, "gru": nn.GRU, "simplernn": nn.RNN}[kind](kernel.shape[0], units, batch_first=True)
        order = [1, 0, 2] if kind == "gru" else range(kernel.shape[1] // units)
        rows = torch.cat([torch.arange(units) + units * gate for gate in order])
        biases = (bias[0], bias[1]) if kind == "gru" else (bias, torch.zeros_like(bias))
        with torch.no_grad():
            layer.weight_ih_l0.copy_(kernel.T[rows])
            layer.weight_hh_l0.copy_(inner.T[rows])
            layer.bias_ih_l0.copy_(biases[0][rows])
            layer.bias_hh_l0.copy_(biases[1][rows])
        return layer

    def attention(self) -> nn.MultiheadAttention | nn.Module:
        """Attention of several heads, whose keys have a size of their own, by products of matrices."""
        parts = [_set(nn.Linear(k.shape[0], k[0].numel()), k.flatten(1).T, b.flatten()) for k, b in
                 (self.take(2) for _ in range(3))]  # fmt: skip
        kernel, bias = self.take(2)
        heads, size, width = kernel.shape
        out = _set(nn.Linear(heads * size, width), kernel.flatten(0, 1).T, bias)

        def attend(m: Any, x: Tensor) -> Tensor:
            q, k, v = (p(x).view(x.shape[0], -1, heads, size).transpose(1, 2) for p in (m.q, m.k, m.v))
            shares = torch.softmax(q @ k.transpose(-1, -2) / size**0.5, -1)
            return m.o((shares @ v).transpose(1, 2).reshape(x.shape[0], -1, heads * size))

        return Of(attend, q=parts[0], k=parts[1], v=parts[2], o=out)


def _set(layer: Any, weight: Tensor, bias: Tensor) -> Any:
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.copy_(bias)
    return layer


def _first(x: Tensor) -> Tensor:
    """Channels last to first."""
    return x.movedim(-1, 1)


def _last(x: Tensor) -> Tensor:
    return x.movedim(1, -1)


def copied(name: str, w: Weights) -> tuple[nn.Module, tuple[int, ...]]:
    """The model of this name with these weights, and the shape of its input."""
    if name.startswith("mlp-"):
        f = ACTIVATIONS[name.removeprefix("mlp-")]
        return Of(lambda m, x: m.c(f(m.b(f(m.a(x))))), a=w.dense(), b=w.dense(), c=w.dense()), (6,)
    match name:
        case "batchnorm":
            return nn.Sequential(w.dense(), w.norm(), w.dense()), (6,)
        case "layernorm":
            return nn.Sequential(w.dense(), w.layer_norm(), w.dense()), (6,)
        case "prelu":
            first, (slopes,) = w.dense(), w.take(1)
            middle = nn.PReLU(len(slopes))
            middle.weight.data.copy_(slopes)
            return nn.Sequential(first, middle, w.dense()), (6,)
        case "lenet":
            parts = {"a": w.conv(), "b": w.conv(), "o": w.dense()}
            return Of(lambda m, x: m.o(_last(m.b(functional.max_pool2d(m.a(_first(x)).relu(), 2)).relu()).flatten(1)),
                      **parts), IMAGE  # fmt: skip
        case "resnet":
            parts = {"a": w.conv(padding=1), "n": w.norm(images=True), "b": w.conv(padding=1)}
            parts |= {"k": w.norm(images=True), "o": w.dense()}

            def residual(m: Any, x: Tensor) -> Tensor:
                x = m.n(m.a(_first(x))).relu()
                return m.o((x + m.k(m.b(x)).relu()).relu().mean((2, 3)))

            return Of(residual, **parts), IMAGE
        case "mobilenet":
            layers = [w.conv(padding=1), w.norm(images=True), nn.ReLU(), w.depthwise(), w.norm(images=True), nn.ReLU()]
            layers += [w.conv(), w.norm(images=True), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), w.dense()]
            return Of(lambda m, x: m.all(_first(x)), all=nn.Sequential(*layers)), IMAGE
        case "squeeze-excite":
            parts = {"a": w.conv(padding=1), "g": w.dense(), "o": w.dense()}

            def excite(m: Any, x: Tensor) -> Tensor:
                x = m.a(_first(x)).relu()
                return m.o((x * torch.sigmoid(m.g(x.mean((2, 3))))[..., None, None]).mean((2, 3)))

            return Of(excite, **parts), IMAGE
        case "unet":
            parts = {"a": w.conv(padding=1), "o": w.conv()}

            def skip(m: Any, x: Tensor) -> Tensor:
                x = m.a(_first(x)).relu()
                up = functional.interpolate(functional.avg_pool2d(x, 2), scale_factor=2.0)
                return _last(m.o(torch.cat([x, up], 1)))

            return Of(skip, **parts), IMAGE
        case "lstm" | "gru" | "simplernn":
            return Of(lambda m, x: m.o(m.r(x)[0][:, -1]), r=w.recurrent(name), o=w.dense()), SERIES
        case "conv1d":
            parts = {"a": w.conv(dilation=2), "o": w.dense()}
            return Of(lambda m, x: m.o(_last(functional.max_pool1d(m.a(functional.pad(_first(x), (4, 0))).relu(), 2))
                                       .flatten(1)), **parts), SERIES  # fmt: skip
        case "transformer":
            parts = {"t": w.attention(), "n": w.layer_norm(), "a": w.dense(), "b": w.dense(), "k": w.layer_norm()}
            parts["o"] = w.dense()

            def block(m: Any, x: Tensor) -> Tensor:
                x = m.n(x + m.t(x))
                return m.o(m.k(x + m.b(functional.gelu(m.a(x)))).mean(1))

            return Of(block, **parts), SERIES
        case "deepsets":
            parts = {"a": w.dense(), "b": w.dense(), "o": w.dense()}
            return Of(lambda m, x: m.o(m.b(m.a(x).relu()).relu().mean(1)), **parts), (6, 4)
        case "embedding":
            (table,) = w.take(1)
            looked = nn.Embedding.from_pretrained(table)
            return Of(lambda m, x: m.o(m.e(x).flatten(1)), e=looked, o=w.dense()), (5,)
    raise LookupError(name)


def of_sklearn() -> Iterator[tuple[str, Any, nn.Module]]:
    """Fitted models, and what torch makes of their numbers."""
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 5)).astype(np.float32)
    several, one = (x[:, :3].argmax(1), np.sin(x[:, 0]) + x[:, 1] ** 2)
    acts = {"relu": nn.ReLU, "tanh": nn.Tanh, "logistic": nn.Sigmoid}

    def dense(weight: Any, bias: Any) -> nn.Linear:
        kernel = torch.tensor(np.atleast_2d(weight)).float()
        return _set(nn.Linear(kernel.shape[1], kernel.shape[0]), kernel, torch.tensor(np.atleast_1d(bias)).float())

    def layers(fitted: Any) -> list[nn.Module]:
        made: list[nn.Module] = []
        for weight, bias in zip(fitted.coefs_, fitted.intercepts_, strict=True):
            made += [dense(weight.T, bias), acts[fitted.activation]()]
        return made[:-1]

    for name in acts:
        classifier = MLPClassifier((8, 8), activation=name, max_iter=300, random_state=0).fit(x, several)
        yield f"classifier-{name}", classifier, nn.Sequential(*layers(classifier), nn.Softmax(1))
        regressor = MLPRegressor(hidden_layer_sizes=(8,), activation=name, max_iter=300, random_state=0).fit(x, one)
        yield f"regressor-{name}", regressor, nn.Sequential(*layers(regressor))
    fitted = make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(8,), max_iter=300, random_state=0)).fit(
        x, one
    )
    scale = fitted[0]
    first = dense(np.diag(1 / scale.scale_), -scale.mean_ / scale.scale_)
    yield "pipeline-standard", fitted, nn.Sequential(first, *layers(fitted[1]))
    fitted = make_pipeline(MinMaxScaler(), LogisticRegression()).fit(x, several)
    first = dense(np.diag(fitted[0].scale_), fitted[0].min_)
    yield "pipeline-logistic", fitted, nn.Sequential(first, dense(fitted[1].coef_, fitted[1].intercept_), nn.Softmax(1))
    fitted = make_pipeline(PCA(3), Ridge()).fit(x, one)
    first = dense(fitted[0].components_, -fitted[0].components_ @ fitted[0].mean_)
    yield "pipeline-components", fitted, nn.Sequential(first, dense(fitted[1].coef_, fitted[1].intercept_))


def _written(model: nn.Module, given: Tensor, path: Path, *, legacy: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    model.eval()
    if legacy:
        torch.onnx.export(model, (given,), str(path), dynamo=False, opset_version=15, input_names=["x"],
                          output_names=["y"], dynamic_axes={"x": {0: "n"}})  # fmt: skip
    else:
        torch.onnx.export(model, (given,), str(path), dynamo=True, opset_version=18, external_data=False,
                          verbose=False)  # fmt: skip


def _compared(name: str, *paths: Path) -> None:
    """How far the answers of onnxruntime to both files are apart."""
    rng, far = np.random.default_rng(0), 0.0
    try:
        sessions = [onnxruntime.InferenceSession(str(path)) for path in paths]
    except Exception as error:  # Keras writes operators that ONNX has not
        print(f"{name}: onnxruntime does not load it: {str(error)[-120:]}", flush=True)
        return
    for _ in range(20):
        answers = []
        for session, seed in zip(sessions, [int(rng.integers(1 << 30))] * 2, strict=True):
            (one,) = session.get_inputs()
            draw, whole = np.random.default_rng(seed), "int" in one.type
            shape = (1, *one.shape[1:])
            point = draw.integers(0, 4, shape) if whole else draw.normal(size=shape).astype(np.float32)
            kind = {"tensor(int32)": np.int32, "tensor(int64)": np.int64}.get(one.type, np.float32)
            answers.append(np.asarray(session.run([session.get_outputs()[-1].name], {one.name: point.astype(kind)})[0]))
        far = max(far, float(np.abs(answers[0].ravel() - answers[1].ravel()).max()))
    print(f"{name}: apart by {far:.1e}", flush=True)


def main() -> None:
    """Write everything."""
    folder, legacy = Path(sys.argv[1]), sys.argv[2:] == ["legacy"]
    for path in sorted((folder / "keras").glob("*.npz")):
        model, shape = copied(path.stem, weights := Weights(path))
        assert not weights.left, path
        given = torch.zeros((2, *shape), dtype=torch.int64 if path.stem == "embedding" else torch.float32)
        _written(
            model, given[:1] if not legacy else given, out := folder / "torch" / f"{path.stem}.onnx", legacy=legacy
        )
        _compared(path.stem, path.with_suffix(".onnx"), out)
    from skl2onnx import to_onnx

    for name, fitted, model in of_sklearn():
        path, out = (folder / kind / f"{name}.onnx" for kind in ("sklearn", "copies"))
        path.parent.mkdir(parents=True, exist_ok=True)
        options = {"zipmap": False} if hasattr(fitted, "predict_proba") else None
        path.write_bytes(to_onnx(fitted, np.zeros((1, 5), np.float32), options=options).SerializeToString())
        _written(model, torch.zeros(1, 5), out, legacy=legacy)
        _compared(name, path, out)


if __name__ == "__main__":
    main()
