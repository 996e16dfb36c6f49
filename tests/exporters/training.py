"""Models of exporters' tests trained for a short while, so that their weights are those of training and not of chance.

A model learns a fixed function of its inputs, sines of random sums of them, at random points, by Adam; whatever it ends
in (scores, probabilities, images) learns as many of these as it has outputs. Statistics of normalisations are learnt as
well. A model without weights, or whose output has no gradient (labels), stays as it is. How far weights moved, relative
to what they were, and what became of the loss is returned, because a model that did not move was not trained.
"""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS, ROWS = 300, 32


def target(rows: np.ndarray, outputs: int) -> np.ndarray:
    """What the outputs are to learn at these rows: numbers between 0 and 1, which every kind of end can reach."""
    rng = np.random.default_rng(5)
    flat = rows.reshape(len(rows), -1).astype(float)
    sums = flat @ rng.normal(size=(flat.shape[1], outputs)) / np.sqrt(flat.shape[1])
    return 0.5 + 0.4 * np.sin(2.0 * sums)  # type: ignore[no-any-return]


def moved(before: list[np.ndarray], after: list[np.ndarray]) -> float:
    """The norm of what changed, relative to the norm of what was there."""
    change = sum(float(np.sum((a - b) ** 2)) for a, b in zip(after, before, strict=True))
    return float(np.sqrt(change / max(1e-30, sum(float(np.sum(b**2)) for b in before))))


def train_torch(model: Any, inputs: tuple[Any, ...], seed: int = 0) -> tuple[float, float, float] | None:
    """Train in place: how far weights moved, the loss before and after; none where there is nothing to learn."""
    import torch

    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        return None
    kind = parameters[0].dtype
    model.float() if kind == torch.float16 else None
    before = [p.detach().double().numpy().copy() for p in parameters]
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(parameters, lr=3e-3)
    losses: list[float] = []
    model.train()
    try:
        for _ in range(STEPS):
            given = [_points(rng, value) for value in inputs]
            answers = model(*given)
            answers = answers if isinstance(answers, tuple) else (answers,)
            usable = [a for a in answers if a.requires_grad]
            if not usable:
                return None
            seen = np.concatenate([np.asarray(g.detach().double()).reshape(len(given[0]), -1) for g in given], 1)
            loss = sum(_loss(a, seen) for a in usable)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            losses.append(float(loss.detach()))
    finally:
        model.to(kind)
        model.eval()
    after = [p.detach().double().numpy() for p in parameters]
    return moved(before, after), float(np.mean(losses[:10])), float(np.mean(losses[-10:]))


def _points(rng: np.random.Generator, value: Any) -> Any:
    """Random rows of the form of an example; without an axis of samples, one point."""
    import torch

    shape = tuple(value.shape) if value.dim() < 2 and value.is_floating_point() else (ROWS, *value.shape[1:])
    if value.dtype == torch.bool:
        flags = rng.random(shape) < 0.7
        flags[..., :1], flags[..., 1:2] = False, True  # whether flags hide or keep, one entry is seen
        return torch.from_numpy(flags)
    if not value.is_floating_point():
        highest = 255 if value.dtype == torch.uint8 else max(1, int(value.max()))
        return torch.from_numpy(rng.integers(0, highest + 1, size=shape)).to(value.dtype)
    kind = torch.float32 if value.dtype == torch.float16 else value.dtype
    return torch.from_numpy(rng.normal(size=shape)).to(kind)


def _loss(answer: Any, seen: np.ndarray) -> Any:
    import torch

    rows = len(seen) if answer.dim() and answer.shape[0] == len(seen) else 1
    flat = answer.reshape(rows, -1)
    wanted = target(seen[:rows] if rows > 1 else seen.reshape(1, -1), flat.shape[1])
    return ((flat - torch.from_numpy(wanted).to(flat.dtype)) ** 2).mean()


def train_keras(keras: Any, model: Any, seed: int = 0) -> tuple[float, float, float] | None:
    """The same for a model of Keras."""
    if not model.trainable_weights:
        return None
    before = [np.asarray(w, dtype=float) for w in model.get_weights()]
    rng = np.random.default_rng(seed)
    given = [rng.normal(size=(ROWS * 4, *value.shape[1:])).astype(np.float32) for value in model.inputs]
    for i, value in enumerate(model.inputs):
        if "int" in str(value.dtype):
            given[i] = rng.integers(0, 4, size=given[i].shape).astype(np.int32)
    seen = np.concatenate([g.reshape(len(g), -1) for g in given], 1)
    wanted = [target(seen, int(np.prod(o.shape[1:]))).reshape(-1, *o.shape[1:]) for o in model.outputs]
    model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
    kept = model.fit(given, wanted, batch_size=ROWS, epochs=STEPS // 4, verbose=0)
    losses = kept.history["loss"]
    after = [np.asarray(w, dtype=float) for w in model.get_weights()]
    return moved(before, after), float(losses[0]), float(losses[-1])
