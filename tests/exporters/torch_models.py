"""Architectures as users of torch have them, written by both of its exporters.

    python torch_models.py FOLDER

Runs where torch, onnx and onnxscript are installed; eqspec need not be. Every model is small and is trained for a
short while (`training.py`). What an exporter itself cannot do is said and left out.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from training import train_torch

Model = tuple[nn.Module, tuple[Tensor, ...]]
ACTIVATIONS = (
    "ReLU", "LeakyReLU", "PReLU", "RReLU", "ReLU6", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "Hardswish",
    "Hardsigmoid", "Hardtanh", "Sigmoid", "Tanh", "Softplus", "Softsign", "LogSigmoid", "Tanhshrink", "Softshrink",
    "Hardshrink", "Identity",
)  # fmt: skip


class Of(nn.Module):
    """A function of layers, which are its attributes by name."""

    def __init__(self, function: Callable[..., Any], **layers: Any) -> None:
        super().__init__()
        for name, layer in layers.items():
            if isinstance(layer, Tensor):
                self.register_buffer(name, layer)
            else:
                setattr(self, name, layer)
        self.function = function

    def forward(self, *values: Tensor) -> Any:
        """The function of the layers and the inputs."""
        return self.function(self, *values)


def mlp(*sizes: int, act: Callable[[], nn.Module] = nn.ReLU) -> nn.Sequential:
    """Fully connected layers with a function between them."""
    layers: list[nn.Module] = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:-1])


def conv(a: int, b: int, act: Callable[[], nn.Module] = nn.ReLU, **named: Any) -> nn.Sequential:
    """A convolution with normalisation and a function."""
    named = {"kernel_size": 3, "padding": 1, **named}
    return nn.Sequential(nn.Conv2d(a, b, **named), nn.BatchNorm2d(b), act())


class SqueezeExcite(nn.Module):
    """Channels scaled by a gate of their means."""

    def __init__(self, channels: int, gate: type[nn.Module] = nn.Hardsigmoid) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(channels, 2, 1), nn.ReLU(), nn.Conv2d(2, channels, 1), gate())

    def forward(self, x: Tensor) -> Tensor:
        """The gated value."""
        return x * self.inner(functional.adaptive_avg_pool2d(x, 1))


class Residual(nn.Module):
    """A block that is added to its input."""

    def __init__(self, *layers: nn.Module, last: nn.Module | None = None, skip: nn.Module | None = None) -> None:
        super().__init__()
        self.inner, self.last, self.skip = nn.Sequential(*layers), last or nn.Identity(), skip or nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """The sum of both ways."""
        return self.last(self.inner(x) + self.skip(x))


def unet(mode: str) -> Model:
    """A small U-Net."""

    def run(m: Any, x: Tensor) -> Tensor:
        first = m.a(x)
        deep = m.b(functional.max_pool2d(first, 2))
        if mode == "transpose":
            up = m.up(deep)
        else:
            up = functional.interpolate(
                deep, scale_factor=2, mode=mode, align_corners=None if mode == "nearest" else False
            )
        return m.c(torch.cat([first, up], 1))

    layers = {"a": conv(1, 3), "b": conv(3, 4), "up": nn.ConvTranspose2d(4, 4, 2, 2), "c": nn.Conv2d(7, 1, 1)}
    return Of(run, **layers), (torch.randn(1, 1, 8, 8),)


def interpolated(corners: bool | None, mode: str, **named: Any) -> Model:
    """A convolution with a resize behind it."""
    return (
        Of(lambda m, x: functional.interpolate(m.c(x), mode=mode, align_corners=corners, **named), c=conv(1, 2)),
        (torch.randn(1, 1, 6, 6),),
    )


def attention(heads: int, functional: bool) -> Model:
    """A transformer block on four tokens."""
    if not functional:
        block = nn.TransformerEncoderLayer(8, heads, 16, batch_first=True, dropout=0.1)
        return Of(lambda m, x: m.out(m.block(x).mean(1)), block=block, out=nn.Linear(8, 3)), (torch.randn(1, 4, 8),)

    def run(m: Any, x: Tensor) -> Tensor:
        y = m.norm(x)
        q, k, v = (p.view(p.shape[0], 4, heads, -1).transpose(1, 2) for p in m.qkv(y).chunk(3, -1))
        y = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape[0], 4, 8)
        return m.out((x + m.last(y)).mean(1))

    layers = {"norm": nn.LayerNorm(8), "qkv": nn.Linear(8, 24), "last": nn.Linear(8, 8), "out": nn.Linear(8, 2)}
    return Of(run, **layers), (torch.randn(1, 4, 8),)


def deep_sets(kind: str) -> Model:
    """Particles to features, which are pooled, to scores."""
    particles = (torch.randn(1, 6, 4),)
    layers = {"phi": mlp(4, 8, 8), "rho": mlp(8, 8, 3)}
    match kind:
        case "masked":

            def run(m, x, k):
                return m.rho((m.phi(x) * k).sum(1) / k.sum(1).clamp(min=1.0))

            return Of(run, **layers), (*particles, torch.ones(1, 6, 1))
        case "zeros":

            def run(m, x):
                return m.rho((m.phi(x) * (x[..., :1] != 0).float()).mean(1))
        case "filled":

            def run(m, x):
                return m.rho(m.phi(x).masked_fill(x[..., :1] <= 0, 0.0).sum(1))
        case "where":

            def run(m, x):
                return m.rho(torch.where(x[..., :1] > 0, m.phi(x), torch.zeros(())).amax(1))
        case "max":

            def run(m, x):
                return m.rho(m.phi(x).max(1).values)
        case "conv":
            layers["phi"] = nn.Sequential(nn.Conv1d(4, 8, 1), nn.BatchNorm1d(8), nn.ReLU())

            def run(m, x):
                return m.rho(m.phi(x.transpose(1, 2)).mean(-1))
        case _:

            def run(m, x):
                return m.rho(m.phi(x).mean(1))

    return Of(run, **layers), particles


def interaction() -> Model:
    """An interaction network: all pairs of particles by fixed matrices."""
    n = 4
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    receive, send = torch.zeros(n, len(pairs)), torch.zeros(n, len(pairs))
    for k, (i, j) in enumerate(pairs):
        receive[i, k], send[j, k] = 1, 1

    def run(m: Any, x: Tensor) -> Tensor:
        edges = torch.cat([x @ m.receive, x @ m.send], 1).transpose(1, 2)
        effects = m.fr(edges).transpose(1, 2) @ m.receive.t()
        return m.out(m.fo(torch.cat([x, effects], 1).transpose(1, 2)).sum(1))

    layers = {"fr": mlp(6, 8, 4), "fo": mlp(7, 8, 4), "out": nn.Linear(4, 3), "receive": receive, "send": send}
    return Of(run, **layers), (torch.randn(1, 3, n),)


def edge_convolution() -> Model:
    """ParticleNet: the nearest neighbours of every particle."""

    def run(m: Any, x: Tensor) -> Tensor:
        distance = ((x[:, :, None] - x[:, None]) ** 2).sum(-1)
        nearest = distance.topk(2, largest=False).indices
        return m.out(m.phi(x[torch.arange(x.shape[0])[:, None, None], nearest]).mean((1, 2)))

    return Of(run, phi=mlp(3, 8, 8), out=nn.Linear(8, 2)), (torch.randn(1, 4, 3),)


def policies() -> Iterator[tuple[str, Model]]:
    """Actors and critics of reinforcement learning."""
    obs = (torch.randn(1, 5),)
    trunk = {"trunk": mlp(5, 16, 16, act=nn.Tanh)}
    yield "actor-critic", (
        Of(
            lambda m, x: (m.a(m.trunk(x)), m.v(m.trunk(x)), m.log_std.expand(x.shape[0], 2).exp()),
            **trunk, a=nn.Linear(16, 2), v=nn.Linear(16, 1), log_std=nn.Parameter(torch.zeros(2)),
        ), obs,
    )  # fmt: skip
    yield "policy-clipped", (
        Of(lambda m, x: torch.clamp(m.a(m.trunk(x)), m.low, m.high), **trunk, a=nn.Linear(16, 2),
           low=torch.tensor([-1.0, -2.0]), high=torch.tensor([1.0, 2.0])), obs,
    )  # fmt: skip
    yield "policy-scaled", (
        Of(lambda m, x: m.low + 0.5 * (torch.tanh(m.a(m.trunk(x))) + 1.0) * (m.high - m.low), **trunk,
           a=nn.Linear(16, 2), low=torch.tensor([-1.0, -2.0]), high=torch.tensor([1.0, 2.0])), obs,
    )  # fmt: skip
    yield "policy-sac", (
        Of(lambda m, x: torch.tanh(m.mu(m.trunk(x))) + 0 * m.ls(m.trunk(x)).clamp(-20, 2).exp(), trunk=mlp(5, 16, 16),
           mu=nn.Linear(16, 2), ls=nn.Linear(16, 2)), obs,
    )  # fmt: skip
    yield "dueling", (
        Of(lambda m, x: m.v(m.t(x)) + m.a(m.t(x)) - m.a(m.t(x)).mean(1, keepdim=True), t=mlp(5, 16),
           v=nn.Linear(16, 1), a=nn.Linear(16, 4)), obs,
    )  # fmt: skip
    yield "categorical-log-prob", (Of(lambda m, x: torch.distributions.Categorical(logits=m.t(x)).logits,
                                      t=mlp(5, 16, 3)), obs)  # fmt: skip
    yield "greedy", (Of(lambda m, x: m.t(x).argmax(1), t=mlp(5, 16, 3)), obs)
    yield "scores-and-greedy", (Of(lambda m, x: (m.t(x), m.t(x).argmax(1)), t=mlp(5, 16, 3)), obs)
    yield "normalised-inside", (
        Of(lambda m, x: m.t(((x - m.mean) / torch.sqrt(m.var + 1e-8)).clamp(-5, 5)) * m.scale, t=mlp(5, 16, 2),
           mean=torch.randn(5), var=torch.rand(5) + 0.5, scale=torch.tensor([2.0, 3.0])), obs,
    )  # fmt: skip
    yield (
        "asymmetric-critic",
        (
            Of(lambda m, x, y: m.t(torch.cat([m.o(x), m.p(y)], -1)), o=mlp(5, 8), p=mlp(3, 8), t=mlp(16, 8, 1)),
            (*obs, torch.randn(1, 3)),
        ),
    )
    yield (
        "wrapped-angle",
        (
            Of(lambda m, x: m.t(torch.cat([torch.cos(x[:, :1]), torch.sin(x[:, :1]), x[:, 1:]], 1)), t=mlp(6, 16, 2)),
            obs,
        ),
    )
    yield "atan2", (Of(lambda m, x: m.t(torch.atan(x)), t=mlp(5, 8, 2)), obs)
    yield "history", (Of(lambda m, h: m.t(h.flatten(1)[:, -8:]), t=mlp(8, 8, 2)), (torch.randn(1, 4, 5),))
    yield "memory-lstm", (Of(lambda m, x: m.out(m.lstm(x)[0][:, -1]), lstm=nn.LSTM(5, 8, batch_first=True),
                             out=nn.Linear(8, 2)), (torch.randn(1, 3, 5),))  # fmt: skip
    yield (
        "memory-gru-cell",
        (
            Of(lambda m, x, h: (m.out(m.gru(x, h)), m.gru(x, h)), gru=nn.GRUCell(5, 8), out=nn.Linear(8, 2)),
            (*obs, torch.randn(1, 8)),
        ),
    )


def dense() -> Iterator[tuple[str, Model]]:
    """Fully connected networks."""
    x = (torch.randn(1, 6),)
    for name in ACTIVATIONS:
        yield f"mlp-{name}", (mlp(6, 10, 8, 3, act=getattr(nn, name)), x)
    yield "mlp-gelu-tanh", (mlp(6, 10, 3, act=lambda: nn.GELU("tanh")), x)
    yield "mlp-glu", (nn.Sequential(nn.Linear(6, 10), nn.GLU(), nn.Linear(5, 2)), x)
    yield "mlp-batchnorm-dropout", (
        nn.Sequential(nn.Linear(6, 10), nn.BatchNorm1d(10), nn.ReLU(), nn.Dropout(0.2), nn.Linear(10, 3)), x,
    )  # fmt: skip
    yield "mlp-batchnorm-first", (nn.Sequential(nn.BatchNorm1d(6), *mlp(6, 10, 3), nn.Softmax(1)), x)
    yield "mlp-layernorm", (nn.Sequential(nn.Linear(6, 10), nn.LayerNorm(10), nn.ReLU(), nn.Linear(10, 3)), x)
    yield "mlp-rmsnorm", (nn.Sequential(nn.Linear(6, 10), nn.RMSNorm(10), nn.ReLU(), nn.Linear(10, 3)), x)
    yield "mlp-logsoftmax", (nn.Sequential(*mlp(6, 8, 3), nn.LogSoftmax(-1)), x)
    yield "mlp-temperature", (Of(lambda m, x: functional.softmax(m.t(x) / 2.5, -1), t=mlp(6, 8, 3)), x)
    yield "mlp-residual", (nn.Sequential(nn.Linear(6, 8), Residual(*mlp(8, 8, 8)), nn.ReLU(), nn.Linear(8, 2)), x)
    yield "mlp-one-output", (Of(lambda m, x: torch.sigmoid(m.t(x)).squeeze(-1), t=mlp(6, 8, 1)), x)
    yield "mlp-double", (mlp(6, 8, 2).double(), (x[0].double(),))
    yield "mlp-half", (mlp(6, 8, 2).half(), (x[0].half(),))
    yield "mlp-no-batch", (mlp(6, 8, 2), (torch.randn(6),))
    yield "mlp-maxout", (Of(lambda m, x: m.b(m.a(x).view(-1, 4, 2).amax(-1)), a=nn.Linear(6, 8), b=nn.Linear(4, 2)), x)
    yield "mlp-cumulative", (Of(lambda m, x: torch.cumsum(functional.softplus(m.t(x)), 1), t=mlp(6, 8, 3)), x)
    yield "mlp-round", (Of(lambda m, x: torch.round(m.t(x) * 8) / 8, t=mlp(6, 8, 3)), x)
    yield "mlp-fake-quantised", (
        Of(lambda m, x: torch.fake_quantize_per_tensor_affine(m.t(x), 0.1, 0, -128, 127), t=mlp(6, 8, 3)), x,
    )  # fmt: skip
    yield "mlp-normalised-input", (Of(lambda m, x: m.t(functional.normalize(x, dim=1)), t=mlp(6, 8, 3)), x)
    yield "mlp-weight-norm", (nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(6, 4)), nn.ReLU(),
                                            nn.Linear(4, 2)), x)  # fmt: skip
    yield "mlp-spectral-norm", (nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(6, 4)), nn.ReLU(),
                                              nn.Linear(4, 2)), x)  # fmt: skip
    yield (
        "mlp-ensemble",
        (
            Of(
                lambda m, x: torch.stack([m.a(x), m.b(x), m.c(x)]).mean(0),
                a=mlp(6, 5, 2),
                b=mlp(6, 5, 2),
                c=mlp(6, 5, 2),
            ),
            x,
        ),
    )
    yield "mlp-batched-ensemble", (
        Of(lambda m, x: torch.einsum("bi,eio->beo", x, m.w).relu().sum((1, 2)).unsqueeze(1), w=torch.randn(3, 6, 4)), x,
    )  # fmt: skip
    yield "bilinear", (Of(lambda m, x: m.f(x[:, :3], x[:, 3:]), f=nn.Bilinear(3, 3, 2)), x)
    yield "polynomial", (Of(lambda m, x: m.f(torch.cat([x, x**2, x**3], 1)), f=nn.Linear(18, 2)), x)
    yield "rbf", (Of(lambda m, x: m.f(torch.exp(-((x[:, None] - m.c) ** 2).sum(-1))), f=nn.Linear(4, 2),
                     c=torch.randn(4, 6)), x)  # fmt: skip
    yield "log-inputs", (Of(lambda m, x: m.t(torch.log1p(x.abs()) * torch.sign(x)), t=mlp(6, 8, 2)), x)
    yield "kan-like", (Of(lambda m, x: m.f((x[..., None] - m.g).relu().flatten(1)), f=nn.Linear(24, 2),
                          g=torch.linspace(-1, 1, 4)), x)  # fmt: skip
    yield "siren", (Of(lambda m, x: m.b(torch.sin(30 * m.a(x))), a=nn.Linear(6, 8), b=nn.Linear(8, 1)), x)
    yield "pinn", (mlp(6, 10, 10, 1, act=nn.Tanh), x)
    yield "fourier-features", (
        Of(lambda m, x: m.t(torch.cat([torch.sin(x @ m.f), torch.cos(x @ m.f)], -1)), t=mlp(8, 8, 1),
           f=torch.randn(6, 4)), x,
    )  # fmt: skip
    yield (
        "embedding",
        (
            Of(lambda m, k, x: m.t(torch.cat([m.e(k), x], 1)), e=nn.Embedding(4, 3), t=mlp(9, 8, 2)),
            (torch.zeros(1, dtype=torch.int64), *x),
        ),
    )
    yield "autoencoder", (nn.Sequential(*mlp(6, 4, 2), *mlp(2, 4, 6)), x)
    yield "autoencoder-loss", (Of(lambda m, x: ((m.a(x) - x) ** 2).mean(1, keepdim=True), a=mlp(6, 3, 6)), x)
    yield "vae-encoder", (Of(lambda m, x: (m.mu(m.t(x)), m.lv(m.t(x))), t=mlp(6, 8), mu=nn.Linear(8, 2),
                             lv=nn.Linear(8, 2)), x)  # fmt: skip
    yield "vae-sampling", (
        Of(lambda m, x: m.mu(m.t(x)) + torch.randn_like(m.mu(m.t(x))) * torch.exp(0.5 * m.lv(m.t(x))), t=mlp(6, 8),
           mu=nn.Linear(8, 2), lv=nn.Linear(8, 2)), x,
    )  # fmt: skip


def images() -> Iterator[tuple[str, Model]]:
    """Convolutions over one or two axes."""
    x = (torch.randn(1, 1, 12, 12),)

    def head(channels):
        return (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 3))

    yield "lenet", (nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(3, 4, 2), nn.ReLU(),
                                  nn.AvgPool2d(2), nn.Flatten(), nn.Linear(16, 3)), x)  # fmt: skip
    yield "depthwise-separable", (
        nn.Sequential(conv(1, 4, stride=2), conv(4, 4, groups=4), conv(4, 6, kernel_size=1, padding=0), *head(6)), x,
    )  # fmt: skip
    inverted = (conv(4, 8, nn.ReLU6, kernel_size=1, padding=0), conv(8, 8, nn.ReLU6, groups=8),
                nn.Conv2d(8, 4, 1), nn.BatchNorm2d(4))  # fmt: skip
    yield "mobilenet-v2", (nn.Sequential(conv(1, 4, nn.ReLU6, stride=2), Residual(*inverted), *head(4)), x)
    yield "mobilenet-v3", (
        nn.Sequential(conv(1, 4, nn.Hardswish, stride=2), Residual(conv(4, 4, nn.Hardswish, groups=4), SqueezeExcite(4)),  # noqa: E501
                      *head(4)), x,
    )  # fmt: skip
    yield "efficientnet", (
        nn.Sequential(conv(1, 4, nn.SiLU, stride=2), Residual(conv(4, 4, nn.SiLU), SqueezeExcite(4, nn.Sigmoid)),
                      *head(4)), x,
    )  # fmt: skip
    block = Residual(conv(1, 4, stride=2), nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), last=nn.ReLU(),
                     skip=nn.Conv2d(1, 4, 1, stride=2))  # fmt: skip
    yield "resnet", (nn.Sequential(block, *head(4)), x)
    yield "densenet", (Of(lambda m, x: m.h(torch.cat([x, m.a(x), m.b(torch.cat([x, m.a(x)], 1))], 1)), a=conv(1, 2),
                          b=conv(3, 2), h=nn.Sequential(*head(5))), x)  # fmt: skip
    yield "groupnorm", (nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.GroupNorm(2, 4), nn.ReLU(), *head(4)), x)
    yield "instancenorm", (nn.Sequential(nn.Conv2d(1, 2, 3, stride=3), nn.InstanceNorm2d(2), nn.ReLU(), *head(2)), x)
    yield "pixelshuffle", (nn.Sequential(conv(1, 4), nn.PixelShuffle(2)), (torch.randn(1, 1, 4, 4),))
    yield "pixelunshuffle", (nn.Sequential(nn.PixelUnshuffle(2), conv(4, 2), *head(2)), x)
    yield "channel-shuffle", (nn.Sequential(conv(1, 4), nn.ChannelShuffle(2), conv(4, 4, groups=2), *head(4)), x)
    yield "padding-reflect", (nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(1, 2, 3), nn.ReLU(), *head(2)), x)
    yield "padding-replicate", (nn.Sequential(nn.ReplicationPad2d(1), nn.Conv2d(1, 2, 3), nn.ReLU(), *head(2)), x)
    yield "padding-circular", (nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), nn.ReLU(),
                                             *head(2)), x)  # fmt: skip
    yield "same-even", (nn.Sequential(nn.Conv2d(1, 2, 4, padding="same"), nn.ReLU(), *head(2)), x)
    yield "adaptive-pool", (nn.Sequential(conv(1, 2), nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(18, 2)), x)
    yield "adaptive-max", (nn.Sequential(conv(1, 2), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(2, 2)), x)
    yield "local-response", (nn.Sequential(nn.Conv2d(1, 4, 3, stride=3), nn.LocalResponseNorm(2), *head(4)), x)
    yield "lp-pool", (nn.Sequential(conv(1, 2), nn.LPPool2d(2, 2), *head(2)), x)
    yield "unfold", (Of(lambda m, x: m.f(functional.unfold(x, 3, stride=3)).mean(1), f=nn.Linear(16, 2)), x)
    yield "conv1d", (nn.Sequential(nn.Conv1d(2, 4, 3, padding=1), nn.BatchNorm1d(4), nn.ReLU(), nn.MaxPool1d(2),
                                   nn.Conv1d(4, 4, 3, dilation=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
                                   nn.Linear(4, 2)), (torch.randn(1, 2, 16),))  # fmt: skip
    yield "tcn", (Of(lambda m, x: m.f(functional.relu(m.c(functional.pad(x, (4, 0))) + x)[:, :, -1]), c=nn.Conv1d(2, 2, 3, dilation=2),  # noqa: E501
                     f=nn.Linear(2, 2)), (torch.randn(1, 2, 10),))  # fmt: skip
    yield "wavenet-gate", (Of(lambda m, x: m.f((torch.tanh(m.a(x)) * torch.sigmoid(m.b(x))).mean(-1)),
                              a=nn.Conv1d(2, 2, 3), b=nn.Conv1d(2, 2, 3), f=nn.Linear(2, 2)),
                           (torch.randn(1, 2, 8),))  # fmt: skip
    yield "conv3d", (nn.Sequential(nn.Conv3d(1, 2, 2), nn.ReLU(), nn.AdaptiveAvgPool3d(1), nn.Flatten(),
                                   nn.Linear(2, 2)), (torch.randn(1, 1, 4, 4, 4),))  # fmt: skip
    yield "conv-autoencoder", (
        nn.Sequential(conv(1, 2, stride=2), nn.ConvTranspose2d(2, 1, 3, stride=2, padding=1, output_padding=1),
                      nn.Sigmoid()), (torch.randn(1, 1, 8, 8),),
    )  # fmt: skip
    for mode in ("transpose", "nearest", "bilinear"):
        yield f"unet-{mode}", unet(mode)
    yield "resize-corners", interpolated(True, "bilinear", scale_factor=2)
    yield "resize-size", interpolated(False, "bilinear", size=(9, 4))
    yield "resize-bicubic", interpolated(False, "bicubic", scale_factor=2)
    yield "resize-area", (Of(lambda m, x: functional.interpolate(m.c(x), size=(3, 3), mode="area"), c=conv(1, 2)),
                          (torch.randn(1, 1, 6, 6),))  # fmt: skip
    yield "upsample-1d", (nn.Sequential(nn.Conv1d(2, 2, 3), nn.Upsample(scale_factor=2, mode="linear")),
                          (torch.randn(1, 2, 8),))  # fmt: skip
    yield "image-uint8", (Of(lambda m, x: m.c((x.float() / 255 - 0.5) / 0.25), c=nn.Sequential(conv(1, 2), *head(2))),
                          (torch.zeros(1, 1, 8, 8, dtype=torch.uint8),))  # fmt: skip
    yield "channels-last", (Of(lambda m, x: m.c(x.permute(0, 3, 1, 2)), c=nn.Sequential(conv(1, 2), *head(2))),
                            (torch.randn(1, 8, 8, 1),))  # fmt: skip
    yield "vit", (
        Of(lambda m, x: m.out(m.block(torch.cat([m.cls.expand(x.shape[0], -1, -1),
                                                 m.patch(x).flatten(2).transpose(1, 2)], 1) + m.pos)[:, 0]),
           patch=nn.Conv2d(1, 8, 4, stride=4), cls=nn.Parameter(torch.randn(1, 1, 8)), pos=torch.randn(1, 5, 8),
           block=nn.TransformerEncoderLayer(8, 2, 8, batch_first=True, activation="gelu"), out=nn.Linear(8, 2)),
        (torch.randn(1, 1, 8, 8),),
    )  # fmt: skip


def sets() -> Iterator[tuple[str, Model]]:
    """Sets of particles and tokens."""
    for kind in ("mean", "max", "conv", "masked", "zeros", "filled", "where"):
        yield f"deepsets-{kind}", deep_sets(kind)
    yield "interaction", interaction()
    yield "particlenet", edge_convolution()
    yield "attention-block", attention(2, functional=False)
    yield "attention-sdpa", attention(2, functional=True)
    tagger = {"g": mlp(4, 6), "t": nn.Conv1d(3, 4, 1), "v": nn.Conv1d(2, 4, 1), "h": mlp(6 + 4 * 5 + 4 * 2, 16, 3)}
    yield (
        "b-tagger",
        (
            Of(
                lambda m, g, t, v: m.h(torch.cat([m.g(g), m.t(t).relu().flatten(1), m.v(v).relu().flatten(1)], 1)),
                **tagger,
            ),
            (torch.randn(1, 4), torch.randn(1, 3, 5), torch.randn(1, 2, 2)),
        ),
    )
    yield (
        "attention-pooling",
        (
            Of(lambda m, x: m.out((torch.softmax(m.w(x), 1) * x).sum(1)), w=nn.Linear(4, 1), out=nn.Linear(4, 2)),
            (torch.randn(1, 5, 4),),
        ),
    )
    yield "causal-mask", (
        Of(lambda m, x: m.out((torch.softmax((m.q(x) @ m.k(x).transpose(1, 2)).masked_fill(
            torch.triu(torch.ones(3, 3, dtype=torch.bool), 1), float("-inf")), -1) @ x)[:, -1]),
           q=nn.Linear(4, 4), k=nn.Linear(4, 4), out=nn.Linear(4, 2)), (torch.randn(1, 3, 4),),
    )  # fmt: skip


def models() -> Iterator[tuple[str, Model]]:
    """Every model with an example of its inputs."""
    for family in (dense, images, sets, policies):
        torch.manual_seed(0)
        yield from family()


def train(name: str, model: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    """Train one model, and say how far its weights moved; what cannot be trained keeps its weights, which is said."""
    with torch.no_grad():
        model.eval()(*inputs)  # lazy layers get their sizes
    try:
        moved = train_torch(model, inputs)
    except Exception as error:
        print(f"untrained {name}: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}", flush=True)
        model.eval()
        return
    said = "nothing to train" if moved is None else "moved {:.2f}, loss {:.4f} to {:.4f}".format(*moved)
    print(f"trained {name}: {said}", flush=True)


def write(folder: Path, name: str, model: nn.Module, inputs: tuple[Tensor, ...], exporter: str, opset: int) -> None:
    """Export one model; what goes wrong in the exporter is said."""
    path = folder / f"torch-{exporter}-{opset}" / f"{name}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    names = [f"x{i}" for i in range(len(inputs))]
    named: dict[str, Any] = {"opset_version": opset, "input_names": names}
    if exporter != "fixed" and inputs[0].dim() > 1:
        if exporter == "dynamo":
            batch = torch.export.Dim("batch")
            named["dynamic_shapes"] = (tuple({0: batch} for _ in inputs),) if isinstance(model, Of) else ({0: batch},)
        else:
            named["dynamic_axes"] = {n: {0: "batch"} for n in names}
    try:
        torch.onnx.export(model, inputs, str(path), dynamo=exporter in ("dynamo", "fixed"), verbose=False, **named)
    except Exception as error:
        path.unlink(missing_ok=True)
        first = str(error).strip().splitlines() or [""]
        print(f"{exporter} {opset} {name}: {type(error).__name__}: {first[0][:120]}", flush=True)


def main() -> None:
    """Write everything."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    wanted = sys.argv[2:]
    for name, (model, inputs) in models():
        if wanted and name not in wanted:
            continue
        train(name, model, inputs)
        for exporter, opset in (("legacy", 17), ("dynamo", 18), ("legacy", 11), ("fixed", 20)):
            write(folder, name, model, inputs, exporter, opset)


if __name__ == "__main__":
    main()
