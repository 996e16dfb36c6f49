# ruff: noqa: E501
"""Architectures of users of torch that have densities, splines or a state: flows, mixtures, ensembles, policies.

Written and compared by `torch_users.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_models import Model, Of, mlp


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
