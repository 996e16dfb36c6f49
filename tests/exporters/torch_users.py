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
from torch_models import Model, Of, Residual, conv, mlp, write


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


def densities() -> Iterator[tuple[str, Model]]:
    """Flows, mixtures, splines, capsules and other heads."""
    x = (torch.randn(1, 4),)
    halves = {"s": mlp(2, 8, 2, act=nn.Tanh), "t": mlp(2, 8, 2)}
    yield "realnvp", (
        Of(lambda m, x: torch.cat([x[:, :2], x[:, 2:] * torch.exp(torch.tanh(m.s(x[:, :2]))) + m.t(x[:, :2])], 1),
           **halves), x,
    )  # fmt: skip
    yield "realnvp-log-density", (
        Of(lambda m, x: (lambda s: -0.5 * (x[:, :2] ** 2).sum(1) - 0.5 * ((x[:, 2:] * torch.exp(s)
            + m.t(x[:, :2])) ** 2).sum(1) + s.sum(1))(m.s(x[:, :2])), **halves), x,
    )  # fmt: skip
    yield "made-masked", (
        Of(lambda m, x: functional.linear(functional.linear(x, m.w * m.m, m.b).relu(), m.v), w=torch.randn(8, 4),
           m=(torch.rand(8, 4) > 0.5).float(), b=torch.randn(8), v=torch.randn(4, 8)), x,
    )  # fmt: skip
    yield "mixture-density", (
        Of(lambda m, x: (lambda h: (torch.log_softmax(m.p(h), -1), m.u(h), functional.softplus(m.g(h)) + 1e-3))(
            m.t(x)), t=mlp(4, 8), p=nn.Linear(8, 3), u=nn.Linear(8, 3), g=nn.Linear(8, 3)), x,
    )  # fmt: skip
    yield "mixture-mean", (
        Of(lambda m, x: (torch.softmax(m.p(m.t(x)), -1) * m.u(m.t(x))).sum(-1, keepdim=True), t=mlp(4, 8),
           p=nn.Linear(8, 3), u=nn.Linear(8, 3)), x,
    )  # fmt: skip
    yield "gaussian-nll", (
        Of(lambda m, x: torch.cat([m.u(m.t(x)), torch.exp(0.5 * torch.clamp(m.l(m.t(x)), -4, 4))], 1), t=mlp(4, 8),
           u=nn.Linear(8, 2), l=nn.Linear(8, 2)), x,
    )  # fmt: skip
    yield "quantile-head", (
        Of(lambda m, x: torch.cumsum(torch.cat([m.a(x), functional.softplus(m.b(x))], 1), 1), a=nn.Linear(4, 1),
           b=nn.Linear(4, 3)), x,
    )  # fmt: skip
    yield "evidential", (
        Of(lambda m, x: (lambda e: e / e.sum(1, keepdim=True))(functional.softplus(m.t(x)) + 1), t=mlp(4, 8, 3)), x,
    )  # fmt: skip
    knots = torch.linspace(-2, 2, 7)

    def splines(m: Any, x: Tensor) -> Tensor:
        """B-splines of degree 2 by the recursion of Cox and de Boor, as in efficient-kan."""
        x = x[..., None]
        b = ((x >= m.k[:-1]) & (x < m.k[1:])).to(x.dtype)
        for d in (1, 2):
            left = (x - m.k[: -d - 1]) / (m.k[d:-1] - m.k[: -d - 1]) * b[..., :-1]
            right = (m.k[d + 1 :] - x) / (m.k[d + 1 :] - m.k[1:-d]) * b[..., 1:]
            b = left + right
        return m.f(b.flatten(1)) + m.g(functional.silu(x[..., 0]))

    yield "kan-splines", (Of(splines, k=knots, f=nn.Linear(16, 2), g=nn.Linear(4, 2)), x)
    yield "kan-chebyshev", (
        Of(lambda m, x: torch.einsum("bid,iod->bo", torch.cos(torch.arange(4.0) * torch.acos(torch.tanh(x)[..., None])),
                                     m.w), w=torch.randn(4, 2, 4)), x,
    )  # fmt: skip
    yield "kan-rbf", (
        Of(lambda m, x: m.f(torch.exp(-(((x[..., None] - m.k) / 0.5) ** 2)).flatten(1)), k=knots, f=nn.Linear(28, 2)), x,
    )  # fmt: skip
    yield "hat-table", (
        Of(lambda m, x: m.f((1 - (x[..., None] - m.k).abs()).clamp(min=0).flatten(1)), k=knots, f=nn.Linear(28, 2)), x,
    )  # fmt: skip

    def table(m: Any, x: Tensor) -> Tensor:
        at = torch.clamp(torch.floor((x[:, 0] + 2) * 4), 0, 15).long()
        return m.table[at] + m.f(x)

    yield "lut", (Of(table, table=torch.randn(16, 2), f=nn.Linear(4, 2)), x)
    yield "bucketised", (Of(lambda m, x: m.e(torch.bucketize(x[:, 0], m.k)) + m.f(x), k=knots, e=nn.Embedding(8, 2),
                            f=nn.Linear(4, 2)), x)  # fmt: skip

    def squash(v: Tensor) -> Tensor:
        n = (v**2).sum(-1, keepdim=True)
        return n / (1 + n) * v / torch.sqrt(n + 1e-3)

    def routed(m: Any, x: Tensor) -> Tensor:
        u = torch.einsum("bid,ijde->bije", squash(m.p(x).view(-1, 3, 2)), m.w)
        b = torch.zeros(x.shape[0], 3, 2)
        for _ in range(2):
            v = squash((torch.softmax(b, 2)[..., None] * u).sum(1))
            b = b + (u * v[:, None]).sum(-1)
        return torch.sqrt((v**2).sum(-1) + 1e-3)

    yield "capsules", (Of(routed, p=nn.Linear(4, 6), w=torch.randn(3, 2, 2, 2)), x)
    yield "prototypes", (
        Of(lambda m, x: -((m.t(x)[:, None] - m.c) ** 2).sum(-1), t=mlp(4, 8, 3), c=torch.randn(3, 3)), x,
    )  # fmt: skip
    yield "cosine-classifier", (
        Of(lambda m, x: 10 * functional.linear(functional.normalize(m.t(x)), functional.normalize(m.w)),
           t=mlp(4, 8, 5), w=torch.randn(3, 5)), x,
    )  # fmt: skip
    yield "soft-tree", (
        Of(lambda m, x: (lambda p: torch.stack([p[:, 0] * p[:, 1], p[:, 0] * (1 - p[:, 1]), (1 - p[:, 0]) * p[:, 2],
                                               (1 - p[:, 0]) * (1 - p[:, 2])], 1) @ m.l)(torch.sigmoid(m.g(x))),
           g=nn.Linear(4, 3), l=torch.randn(4, 2)), x,
    )  # fmt: skip
    yield "hypernetwork", (
        Of(lambda m, x: torch.bmm(m.h(x[:, :2]).view(-1, 2, 2), x[:, 2:, None]).squeeze(-1), h=mlp(2, 8, 4)), x,
    )  # fmt: skip
    yield "film", (Of(lambda m, x: m.f(m.g(x[:, :2]) * m.h(x[:, 2:]).relu() + m.b(x[:, :2])), g=nn.Linear(2, 6),
                      b=nn.Linear(2, 6), h=nn.Linear(2, 6), f=nn.Linear(6, 2)), x)  # fmt: skip
    yield "factorisation-machine", (
        Of(lambda m, x: m.l(x) + 0.5 * ((x @ m.v) ** 2 - (x**2) @ (m.v**2)).sum(1, keepdim=True), l=nn.Linear(4, 1),
           v=torch.randn(4, 3)), x,
    )  # fmt: skip
    yield "cross-network", (
        Of(lambda m, x: m.f(x * m.w(x) + x), w=nn.Linear(4, 1), f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "highway", (
        Of(lambda m, x: (lambda t: t * m.h(x).relu() + (1 - t) * x)(torch.sigmoid(m.t(x))), t=nn.Linear(4, 4),
           h=nn.Linear(4, 4)), x,
    )  # fmt: skip
    yield "monotone", (Of(lambda m, x: functional.linear(functional.linear(x, m.w.exp()).tanh(), m.v.exp()),
                          w=torch.randn(6, 4), v=torch.randn(1, 6)), x)  # fmt: skip
    yield "input-convex", (
        Of(lambda m, x: functional.linear(functional.softplus(m.a(x)), functional.softplus(m.w)) + m.b(x),
           a=nn.Linear(4, 6), b=nn.Linear(4, 1), w=torch.randn(1, 6)), x,
    )  # fmt: skip
    yield "neural-ode-euler", (
        Of(lambda m, x: m.f(_euler(m, x)), g=mlp(4, 8, 4, act=nn.Tanh), f=nn.Linear(4, 2)), x,
    )  # fmt: skip
    yield "deep-equilibrium", (
        Of(lambda m, x: m.f(_fixed(m, x)), w=nn.Linear(6, 6), u=nn.Linear(4, 6), f=nn.Linear(6, 2)), x,
    )  # fmt: skip
    yield "group-sort", (
        Of(lambda m, x: m.f(torch.cat([m.h(x)[:, 0::2].maximum(m.h(x)[:, 1::2]),
                                       m.h(x)[:, 0::2].minimum(m.h(x)[:, 1::2])], 1)), h=nn.Linear(4, 6),
           f=nn.Linear(6, 2)), x,
    )  # fmt: skip
    yield "ternary-straight-through", (
        Of(lambda m, x: m.f(torch.sign(m.h(x)) * (m.h(x).abs() > 0.5).float()), h=nn.Linear(4, 6), f=nn.Linear(6, 2)), x,
    )  # fmt: skip
    yield "physics-bounded", (
        Of(lambda m, x: torch.atan2(m.t(x)[:, :1], m.t(x)[:, 1:].abs() + 0.1), t=mlp(4, 8, 2)), x,
    )  # fmt: skip
    yield "rational", (
        Of(lambda m, x: m.f((lambda z: (z**3 + z) / (1 + z**2))(m.h(x))), h=nn.Linear(4, 6), f=nn.Linear(6, 2)), x,
    )  # fmt: skip
    yield "log-sum-exp-pool", (Of(lambda m, x: torch.logsumexp(m.t(x).view(-1, 2, 3), 2), t=mlp(4, 8, 6)), x)
    yield "gumbel-hard", (Of(lambda m, x: functional.one_hot(m.t(x).argmax(-1), 3).float(), t=mlp(4, 8, 3)), x)


def _euler(m: Any, x: Tensor) -> Tensor:
    for _ in range(4):
        x = x + 0.25 * m.g(x)
    return x


def _fixed(m: Any, x: Tensor) -> Tensor:
    z = torch.zeros(x.shape[0], 6)
    for _ in range(3):
        z = torch.tanh(m.w(z) + m.u(x))
    return z


def decisions() -> Iterator[tuple[str, Model]]:
    """Siamese networks, policies and ensembles with several inputs."""
    x = (torch.randn(1, 4),)
    yield "siamese-distance", (
        Of(lambda m, x, y: (m.t(x) - m.t(y)).pow(2).sum(1, keepdim=True).add(1e-6).sqrt(), t=mlp(4, 8, 3)),
        (*x, torch.randn(1, 4)),
    )  # fmt: skip
    yield "siamese-cosine", (
        Of(lambda m, x, y: functional.cosine_similarity(m.t(x), m.t(y), dim=1), t=mlp(4, 8, 3)),
        (*x, torch.randn(1, 4)),
    )  # fmt: skip
    yield "siamese-absolute", (
        Of(lambda m, x, y: torch.sigmoid(m.f((m.t(x) - m.t(y)).abs())), t=mlp(4, 8, 3), f=nn.Linear(3, 1)),
        (*x, torch.randn(1, 4)),
    )  # fmt: skip
    yield "triplet", (Of(lambda m, a, b, c: (m.t(a) * m.t(b)).sum(1) - (m.t(a) * m.t(c)).sum(1), t=mlp(4, 8, 3)),
                      (*x, torch.randn(1, 4), torch.randn(1, 4)))  # fmt: skip
    yield "squashed-gaussian", (
        Of(lambda m, x: (torch.tanh(m.u(m.t(x))) * m.scale + m.bias, m.l(m.t(x)).clamp(-5, 2)), t=mlp(4, 8), u=nn.Linear(8, 2),
           l=nn.Linear(8, 2), scale=torch.tensor([2.0, 0.5]), bias=torch.tensor([0.0, 0.5])), x,
    )  # fmt: skip
    yield "recurrent-policy", (
        Of(lambda m, x, h: (lambda n: (torch.tanh(m.f(n)), n))(m.g(m.e(x).relu(), h)), e=nn.Linear(4, 6), g=nn.GRUCell(6, 5),
           f=nn.Linear(5, 2)), (*x, torch.zeros(1, 5)),
    )  # fmt: skip
    yield "lstm-cell-policy", (
        Of(lambda m, x, h, c: (lambda n: (m.f(n[0]), *n))(m.g(x, (h, c))), g=nn.LSTMCell(4, 5), f=nn.Linear(5, 2)),
        (*x, torch.zeros(1, 5), torch.zeros(1, 5)),
    )  # fmt: skip
    yield "action-mask", (
        Of(lambda m, x, k: torch.softmax(torch.where(k > 0, m.t(x), torch.full((), -1e8)), -1), t=mlp(4, 8, 3)),
        (*x, torch.ones(1, 3)),
    )  # fmt: skip
    yield "critic-minimum", (
        Of(lambda m, x, a: torch.min(m.p(torch.cat([x, a], 1)), m.q(torch.cat([x, a], 1))), p=mlp(6, 8, 1),
           q=mlp(6, 8, 1)), (*x, torch.randn(1, 2)),
    )  # fmt: skip
    yield "distributional", (
        Of(lambda m, x: (torch.softmax(m.t(x).view(-1, 2, 5), -1) * torch.linspace(-1, 1, 5)).sum(-1), t=mlp(4, 8, 10)), x,
    )  # fmt: skip
    yield "ensemble-probabilities", (
        Of(lambda m, x: (torch.softmax(m.a(x), 1) + torch.softmax(m.b(x), 1)) / 2, a=mlp(4, 6, 3), b=mlp(4, 6, 3)), x,
    )  # fmt: skip
    yield "ensemble-variance", (
        Of(lambda m, x: (lambda s: torch.cat([s.mean(0), s.std(0)], 1))(torch.stack([m.a(x), m.b(x), m.c(x)])),
           a=mlp(4, 6, 2), b=mlp(4, 6, 2), c=mlp(4, 6, 2)), x,
    )  # fmt: skip
    yield "ensemble-vmap", (
        Of(lambda m, x: torch.baddbmm(m.c, torch.baddbmm(m.b, x.expand(3, -1, -1), m.w).relu(), m.v).mean(0),
           w=torch.randn(3, 4, 6), b=torch.randn(3, 1, 6), v=torch.randn(3, 6, 2), c=torch.randn(3, 1, 2)), x,
    )  # fmt: skip
    yield "ensemble-vote", (
        Of(lambda m, x: sum(functional.one_hot(t(x).argmax(1), 3).float() for t in (m.a, m.b, m.c)) / 3, a=mlp(4, 6, 3),
           b=mlp(4, 6, 3), c=mlp(4, 6, 3)), x,
    )  # fmt: skip
    yield "multi-task", (
        Of(lambda m, x: {"energy": m.e(m.t(x)), "class": torch.softmax(m.c(m.t(x)), 1)}, t=mlp(4, 8), e=nn.Linear(8, 1),
           c=nn.Linear(8, 3)), x,
    )  # fmt: skip
    yield "early-exit", (
        Of(lambda m, x: torch.where(torch.softmax(m.a(x), 1).amax(1, keepdim=True) > 0.9, m.a(x), m.b(x)), a=nn.Linear(4, 3),
           b=mlp(4, 8, 3)), x,
    )  # fmt: skip
    yield "cascade-conditions", (
        Of(lambda m, x: m.a(x) * (x[:, :1] > 0).float() + m.b(x) * (x[:, :1] <= 0).float(), a=mlp(4, 6, 2), b=mlp(4, 6, 2)), x,
    )  # fmt: skip
    yield "residual-policy", (
        Of(lambda m, x: torch.clamp(x[:, :2] * m.k + 0.1 * torch.tanh(m.t(x)), -1, 1), k=torch.tensor([-0.5, -0.2]),
           t=mlp(4, 8, 2)), x,
    )  # fmt: skip


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
            model.eval()
            with torch.no_grad():
                model(*inputs)
            for exporter, opset in (("legacy", 17), ("dynamo", 18), ("fixed", 20)):
                write(folder, name, model, inputs, exporter, opset)


if __name__ == "__main__":
    main()
