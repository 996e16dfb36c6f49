# ruff: noqa: E501
"""More architectures in the style of users of torch: signals, sets, graphs, flows, splines, state and ensembles.

    python torch_users.py FOLDER [NAME ...]

As `torch_models.py`, whose exporters it uses.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_models import Model, Of, Residual, conv, mlp, train, write
from torch_states import decisions, densities


def signals() -> Iterator[tuple[str, Model]]:
    """Front ends of signal processing, and networks over time."""
    x = (torch.randn(1, 1, 32),)
    n = 8
    basis = torch.stack(
        [torch.cos(2 * math.pi * torch.arange(n) * k / n) for k in range(5)]
        + [torch.sin(2 * math.pi * torch.arange(n) * k / n) for k in range(5)]
    )[:, None]
    mel = torch.rand(3, 5)

    def spectrogram(m: Any, x: Tensor) -> Tensor:
        y = functional.conv1d(x, m.basis, stride=4)
        power = y[:, :5] ** 2 + y[:, 5:] ** 2
        return m.out(torch.log(torch.matmul(m.mel, power) + 1e-3).flatten(1))

    yield "log-mel", (Of(spectrogram, basis=basis, mel=mel, out=nn.Linear(21, 3)), x)
    yield "power-to-db", (
        Of(lambda m, x: m.out((10 * torch.log10(torch.clamp(functional.conv1d(x, m.basis, stride=8)[:, :5] ** 2, min=1e-5))).mean(-1)),
           basis=basis, out=nn.Linear(5, 2)), x,
    )  # fmt: skip
    yield "pre-emphasis", (
        Of(lambda m, x: m.c(x[:, :, 1:] - 0.97 * x[:, :, :-1]).mean(-1), c=nn.Conv1d(1, 2, 5, stride=2)), x,
    )  # fmt: skip
    yield "framed", (Of(lambda m, x: m.f(x.unfold(-1, 8, 4) * torch.hann_window(8)).relu().mean((1, 2)),
                        f=nn.Linear(8, 3)), x)  # fmt: skip
    yield "stft", (Of(lambda m, x: m.f(torch.stft(x[:, 0], 8, 4, window=torch.ones(8), return_complex=False)
                                       .flatten(1)), f=nn.LazyLinear(2)), x)  # fmt: skip
    yield "energy-normalised", (
        Of(lambda m, x: m.c(x / (x.pow(2).mean(-1, keepdim=True).sqrt() + 1e-3)).mean(-1), c=nn.Conv1d(1, 2, 3)), x,
    )  # fmt: skip
    weighted = nn.utils.parametrizations.weight_norm

    class Block(nn.Module):
        """A block of a temporal convolutional network (Bai et al.)."""

        def __init__(self, a: int, b: int, dilation: int) -> None:
            super().__init__()
            self.c1 = weighted(nn.Conv1d(a, b, 3, dilation=dilation, padding=2 * dilation))
            self.c2 = weighted(nn.Conv1d(b, b, 3, dilation=dilation, padding=2 * dilation))
            self.skip, self.cut = nn.Conv1d(a, b, 1), 2 * dilation

        def forward(self, x: Tensor) -> Tensor:
            """Chomped on the right."""
            y = self.c1(x)[..., : -self.cut].relu()
            return (self.c2(y)[..., : -self.cut].relu() + self.skip(x)).relu()

    yield "tcn-weight-norm", (Of(lambda m, x: m.f(m.b(m.a(x))[..., -1]), a=Block(1, 3, 1), b=Block(3, 3, 2),
                                 f=nn.Linear(3, 2)), x)  # fmt: skip
    yield "wavenet-stack", (
        Of(lambda m, x: m.f((torch.tanh(m.a(x)) * torch.sigmoid(m.b(x)) + x[..., 4:]).relu().mean(-1)),
           a=nn.Conv1d(2, 2, 3, dilation=2), b=nn.Conv1d(2, 2, 3, dilation=2), f=nn.Linear(2, 2)),
        (torch.randn(1, 2, 12),),
    )  # fmt: skip
    yield "statistics-pooling", (
        Of(lambda m, x: m.f(torch.cat([m.c(x).mean(-1), m.c(x).std(-1)], 1)), c=nn.Conv1d(1, 3, 5, stride=3),
           f=nn.Linear(6, 2)), x,
    )  # fmt: skip
    yield "statistics-variance", (
        Of(lambda m, x: m.f(torch.cat([x.mean(-1), x.var(-1, unbiased=False), x.amax(-1), x.amin(-1)], 1)),
           f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "squeezeformer", (
        Of(lambda m, x: m.f(functional.glu(m.p(m.n(x).transpose(1, 2)), 1).transpose(1, 2).mean(1)), n=nn.LayerNorm(4),
           p=nn.Conv1d(4, 8, 1), f=nn.Linear(4, 2)), (torch.randn(1, 6, 4),),
    )  # fmt: skip
    yield "gru-tagger", (Of(lambda m, x: m.f(m.g(x)[0]).flatten(1), g=nn.GRU(3, 4, batch_first=True,
                                                                            bidirectional=True), f=nn.Linear(8, 2)),
                         (torch.randn(1, 4, 3),))  # fmt: skip
    yield "lstm-state", (
        Of(lambda m, x, h, c: (lambda o: (m.f(o[0][:, -1]), *o[1]))(m.l(x, (h, c))), l=nn.LSTM(3, 4, batch_first=True),
           f=nn.Linear(4, 2)), (torch.randn(1, 1, 3), torch.zeros(1, 1, 4), torch.zeros(1, 1, 4)),
    )  # fmt: skip


def attentive() -> Iterator[tuple[str, Model]]:
    """Attention in the many ways that users write it."""
    x = (torch.randn(1, 5, 4),)
    yield "attention-additive", (
        Of(lambda m, x: m.f((torch.softmax(m.v(torch.tanh(m.w(x))), 1) * x).sum(1)), w=nn.Linear(4, 6),
           v=nn.Linear(6, 1), f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "attention-multihead-mask", (
        Of(lambda m, x: m.f(m.a(x, x, x, attn_mask=torch.triu(torch.full((5, 5), float("-inf")), 1),
                                need_weights=False)[0].mean(1)), a=nn.MultiheadAttention(4, 2, batch_first=True),
           f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "attention-padding-input", (
        Of(lambda m, x, k: m.f((torch.softmax(m.w(x).squeeze(-1).masked_fill(k < 0.5, -1e9), 1)[..., None] * x).sum(1)),
           w=nn.Linear(4, 1), f=nn.Linear(4, 2)), (*x, torch.ones(1, 5)),
    )  # fmt: skip
    yield "attention-padding-bool", (
        Of(lambda m, x, k: m.f((torch.softmax(m.w(x).squeeze(-1).masked_fill(k, float("-inf")), 1)[..., None] * x)
                               .sum(1)), w=nn.Linear(4, 1), f=nn.Linear(4, 2)),
        (*x, torch.zeros(1, 5, dtype=torch.bool)),
    )  # fmt: skip
    yield "attention-linear", (
        Of(lambda m, x: (lambda q, k, v: m.f(((q @ (k.transpose(1, 2) @ v)) / (q @ k.sum(1)[..., None])).mean(1)))(
            functional.elu(m.q(x)) + 1, functional.elu(m.k(x)) + 1, m.v(x)), q=nn.Linear(4, 4), k=nn.Linear(4, 4),
           v=nn.Linear(4, 4), f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "attention-cosine", (
        Of(lambda m, x: m.f((torch.softmax(functional.normalize(m.q(x), dim=-1)
                                           @ functional.normalize(m.k(x), dim=-1).transpose(1, 2) / 0.1, -1) @ x)
                            .mean(1)), q=nn.Linear(4, 4), k=nn.Linear(4, 4), f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "set-transformer", (
        Of(lambda m, x: m.f(m.a(m.s.expand(x.shape[0], -1, -1), x, x, need_weights=False)[0].flatten(1)),
           a=nn.MultiheadAttention(4, 2, batch_first=True), s=nn.Parameter(torch.randn(1, 2, 4)), f=nn.Linear(8, 2)), x,
    )  # fmt: skip
    yield "class-token", (
        Of(lambda m, x: m.f(m.b(torch.cat([m.c.expand(x.shape[0], -1, -1), x], 1) + m.p)[:, 0]),
           c=nn.Parameter(torch.randn(1, 1, 4)), p=nn.Parameter(torch.randn(1, 6, 4)),
           b=nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=True, activation="gelu"),
           f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "transformer-decoder", (
        Of(lambda m, x, y: m.f(m.b(x, y).mean(1)), b=nn.TransformerDecoderLayer(4, 2, 8, batch_first=True),
           f=nn.Linear(4, 2)), (*x, torch.randn(1, 3, 4)),
    )  # fmt: skip
    rotary = torch.outer(torch.arange(5.0), torch.tensor([1.0, 0.1]))

    def rotated(m: Any, x: Tensor) -> Tensor:
        def turn(z: Tensor) -> Tensor:
            a, b = z[..., 0::2], z[..., 1::2]
            return torch.stack([a * m.c - b * m.s, a * m.s + b * m.c], -1).flatten(-2)

        q, k, v = m.qkv(x).chunk(3, -1)
        return m.f((torch.softmax(turn(q) @ turn(k).transpose(1, 2) / 2, -1) @ v).mean(1))

    yield "attention-rotary", (Of(rotated, c=rotary.cos(), s=rotary.sin(), qkv=nn.Linear(4, 12), f=nn.Linear(4, 2)), x)
    yield "mlp-mixer", (
        Of(lambda m, x: m.f((lambda z: z + m.d(m.n2(z)))(x + m.t(m.n1(x).transpose(1, 2)).transpose(1, 2)).mean(1)),
           n1=nn.LayerNorm(4), n2=nn.LayerNorm(4), t=mlp(5, 6, 5, act=nn.GELU), d=mlp(4, 8, 4, act=nn.GELU),
           f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "gmlp", (
        Of(lambda m, x: m.f((lambda z: z[..., :4] * m.s(m.n(z[..., 4:]).transpose(1, 2)).transpose(1, 2))(
            functional.gelu(m.a(x))).mean(1)), a=nn.Linear(4, 8), n=nn.LayerNorm(4), s=nn.Linear(5, 5),
           f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "mixture-of-experts", (
        Of(lambda m, x: (torch.softmax(m.g(x), -1)[..., None] * torch.stack([m.a(x), m.b(x)], -2)).sum(-2).mean(1),
           g=nn.Linear(4, 2), a=mlp(4, 8, 3), b=mlp(4, 8, 3)), x,
    )  # fmt: skip


def graphs() -> Iterator[tuple[str, Model]]:
    """Graph layers with fixed edges, and point clouds."""
    x = (torch.randn(1, 5, 3),)
    adjacency = (torch.rand(5, 5) > 0.5).float()
    adjacency = torch.maximum(adjacency, adjacency.t()).fill_diagonal_(1)
    normed = adjacency / adjacency.sum(1, keepdim=True)
    yield "gcn", (Of(lambda m, x: m.f(torch.relu(m.a @ m.w(torch.relu(m.a @ m.v(x)))).mean(1)), a=normed,
                     v=nn.Linear(3, 6), w=nn.Linear(6, 6), f=nn.Linear(6, 2)), x)  # fmt: skip
    yield "gcn-einsum", (Of(lambda m, x: m.f(torch.einsum("ij,bjd,de->bie", m.a, x, m.w).relu().mean(1)), a=normed,
                            w=torch.randn(3, 6), f=nn.Linear(6, 2)), x)  # fmt: skip
    yield "gat-fixed", (
        Of(lambda m, x: (lambda h: m.f((torch.softmax(functional.leaky_relu(m.s(h) + m.d(h).transpose(1, 2), 0.2)
                                                      .masked_fill(m.a == 0, float("-inf")), -1) @ h).mean(1)))(m.w(x)),
           a=adjacency, w=nn.Linear(3, 4), s=nn.Linear(4, 1), d=nn.Linear(4, 1), f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    edges = torch.tensor([[0, 1, 2, 3, 4, 1], [1, 2, 3, 4, 0, 0]])

    def messages(m: Any, x: Tensor) -> Tensor:
        sent = m.e(torch.cat([x[:, m.edges[0]], x[:, m.edges[1]]], -1)).relu()
        taken = torch.zeros(x.shape[0], 5, 6).index_add(1, m.edges[1], sent)
        return m.f(taken.mean(1))

    yield "message-passing-scatter", (Of(messages, edges=edges, e=nn.Linear(6, 6), f=nn.Linear(6, 2)), x)
    yield "adjacency-input", (
        Of(lambda m, x, a: m.f((a @ m.w(x)).relu().mean(1)), w=nn.Linear(3, 4), f=nn.Linear(4, 2)),
        (*x, torch.rand(1, 5, 5)),
    )  # fmt: skip
    yield "pointnet", (
        Of(lambda m, x: m.f(m.p(x.transpose(1, 2)).amax(-1)), p=nn.Sequential(nn.Conv1d(3, 6, 1), nn.BatchNorm1d(6),
           nn.ReLU(), nn.Conv1d(6, 8, 1), nn.ReLU()), f=mlp(8, 8, 3)), x,
    )  # fmt: skip
    yield "distances", (
        Of(lambda m, x: m.f(torch.exp(-torch.cdist(x, x) ** 2).flatten(1)), f=nn.Linear(25, 2)), x,
    )  # fmt: skip
    yield "lorentz", (
        Of(lambda m, x: m.f((x[:, :, None] * x[:, None] * m.g).sum(-1).flatten(1)), g=torch.tensor([1.0, -1, -1]),
           f=nn.Linear(25, 2)), x,
    )  # fmt: skip
    yield "deep-sets-weighted", (
        Of(lambda m, x: m.r((m.p(x) * x[..., :1].relu()).sum(1) / (x[..., :1].relu().sum(1) + 1e-2)), p=mlp(3, 6, 6),
           r=mlp(6, 6, 2)), x,
    )  # fmt: skip
    yield "sorted-set", (Of(lambda m, x: m.f(torch.sort(x[..., 0], 1).values), f=nn.Linear(5, 2)), x)
    yield "median", (Of(lambda m, x: m.f(x.median(1).values), f=nn.Linear(3, 2)), x)


def images() -> Iterator[tuple[str, Model]]:
    """Convolutions as users have them today."""
    x = (torch.randn(1, 1, 8, 8),)

    def convnext(m: Any, x: Tensor) -> Tensor:
        y = m.w(x)
        z = m.n(m.d(y).permute(0, 2, 3, 1))
        return m.f((y + (m.s * m.q(functional.gelu(m.p(z)))).permute(0, 3, 1, 2)).mean((2, 3)))

    yield "convnext", (Of(convnext, w=nn.Conv2d(1, 4, 2, 2), d=nn.Conv2d(4, 4, 3, padding=1, groups=4),
                          n=nn.LayerNorm(4), p=nn.Linear(4, 8), q=nn.Linear(8, 4), s=torch.full((4,), 0.1),
                          f=nn.Linear(4, 2)), x)  # fmt: skip
    yield "anti-aliased", (
        Of(lambda m, x: m.f(functional.conv2d(functional.pad(m.c(x), (1, 1, 1, 1), "reflect"), m.k, stride=2, groups=2)
                            .mean((2, 3))), c=conv(1, 2),
           k=torch.outer(torch.tensor([0.25, 0.5, 0.25]), torch.tensor([0.25, 0.5, 0.25])).expand(2, 1, 3, 3).clone(),
           f=nn.Linear(2, 2)), x,
    )  # fmt: skip
    yield "coord-conv", (
        Of(lambda m, x: m.c(torch.cat([x, m.g.expand(x.shape[0], -1, -1, -1)], 1)).mean((2, 3)), g=torch.randn(1, 2, 8, 8),
           c=nn.Conv2d(3, 2, 3)), x,
    )  # fmt: skip
    yield "spatial-soft-argmax", (
        Of(lambda m, x: (torch.softmax(m.c(x).flatten(2), -1) @ m.g), c=nn.Conv2d(1, 2, 3, padding=1), g=torch.randn(64, 2)),
        x,
    )  # fmt: skip
    yield "cbam", (
        Of(lambda m, x: (lambda y: m.f((y * torch.sigmoid(m.s(torch.cat([y.mean(1, True), y.amax(1, True)], 1))))
                                       .mean((2, 3))))(m.c(x)), c=conv(1, 3), s=nn.Conv2d(2, 1, 3, padding=1),
           f=nn.Linear(3, 2)), x,
    )  # fmt: skip
    yield "unet-skip-odd", (
        Of(lambda m, x: m.o(torch.cat([m.a(x), functional.interpolate(m.b(functional.max_pool2d(m.a(x), 2)),
                                                                      size=x.shape[2:])], 1)), a=conv(1, 2), b=conv(2, 3),
           o=nn.Conv2d(5, 1, 1)), (torch.randn(1, 1, 7, 7),),
    )  # fmt: skip
    yield "pixel-norm", (
        Of(lambda m, x: m.f((lambda y: y * torch.rsqrt((y**2).mean(1, True) + 1e-4))(m.c(x)).mean((2, 3))), c=nn.Conv2d(1, 4, 3),
           f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "patch-embedding", (
        Of(lambda m, x: m.f(m.p(x.unfold(2, 4, 4).unfold(3, 4, 4).flatten(4).flatten(1, 3)).relu().mean(1)), p=nn.Linear(16, 4),
           f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "grid-sample-fixed", (
        Of(lambda m, x: m.f(functional.grid_sample(x, m.g.expand(x.shape[0], -1, -1, -1), align_corners=False).flatten(1)),
           g=torch.rand(1, 3, 3, 2) * 1.6 - 0.8, f=nn.Linear(9, 2)), x,
    )  # fmt: skip
    yield "residual-scaled", (
        nn.Sequential(conv(1, 2), Residual(nn.Conv2d(2, 2, 3, padding=1), nn.GELU(), nn.Conv2d(2, 2, 1)), nn.Flatten(),
                      nn.Linear(128, 2)), x,
    )  # fmt: skip
    yield "multi-scale", (
        Of(lambda m, x: m.f(torch.cat([functional.adaptive_avg_pool2d(m.c(x), k).flatten(1) for k in (1, 2, 4)], 1)),
           c=conv(1, 2), f=nn.Linear(42, 2)), x,
    )  # fmt: skip
    yield "hard-attention", (
        Of(lambda m, x: m.f((m.c(x) * (m.c(x) >= m.c(x).amax((2, 3), True)).float()).sum((2, 3))), c=nn.Conv2d(1, 2, 3, stride=3),
           f=nn.Linear(2, 2)), x,
    )  # fmt: skip


def main() -> None:
    """Write everything."""
    warnings.simplefilter("ignore")
    folder, wanted = Path(sys.argv[1]), sys.argv[2:]
    for family in (signals, attentive, graphs, densities, decisions, images):
        torch.manual_seed(0)
        for name, (model, inputs) in family():
            if wanted and name not in wanted:
                continue
            train(name, model, inputs)
            for exporter, opset in (("legacy", 17), ("dynamo", 18), ("fixed", 20)):
                write(folder, name, model, inputs, exporter, opset)


if __name__ == "__main__":
    main()
