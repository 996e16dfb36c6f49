"""Pairs of networks whose hidden neurons have other sizes: `python -m benches.rescaled`.

A hidden neuron before a ReLU or a leaky ReLU may be multiplied by a positive number if what reads it is divided by the
same, and the function stays. So one network comes in many sizes: cross-layer equalisation before quantisation (Nagel
et al., Data-Free Quantization Through Weight Equalization and Bias Correction, ICCV 2019, equation 11) makes the rows
of a layer as large as the columns that read them, and folded normalisations leave any sizes. A row of the table is one
network and one change of its weights; in columns are the boxes of the same question about the pair as it is and with
hidden neurons in other sizes: of g alone, of both by the same factors, of each by its own, powers of two from 1/8 to 8
that round nothing; and equalised, g alone and both. What is asked is decided for the pair as it is within `MOST` boxes,
or it is left out.
"""

from __future__ import annotations

import argparse
import resource
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import onnx

import eqspec
from benches.graphs import training
from benches.report import markdown, wide_console
from convolutional_models import Array, Conv, Dense, Function, Layer, Model, copied, initialise, on_a_grid, to_onnx
from eqspec.run.options import Options

MOST, FEWEST, LEAST_SECONDS = 800, 12, 0.1
"""Boxes of the pair as it is; or the seconds of its first box, where that has means of its own."""
LIMIT, LIMIT_SECONDS = 8000, 5
"""Boxes of every other pair, and the time of every question."""
SAMPLES = 4000
WAYS = ("as it is", "g", "both alike", "each by its own", "g equalised", "both equalised")


@dataclass(frozen=True)
class Question:
    """Two networks of one shape, and the box of inputs (I) in which they are compared."""

    name: str
    first: Model
    second: Model
    lower: Array
    upper: Array


def dense(function: str, seed: int) -> tuple[Model, Array, Array]:
    """A network of six inputs and three hidden layers, after some training on sums of waves, and its box."""
    rng = np.random.default_rng(seed)
    sizes = (6, 24, 24, 16, 3)
    layers: list[Layer] = []
    for n, m in pairwise(sizes):
        layers += [Dense(rng.normal(size=(m, n)) * np.sqrt(2 / n), 0.1 * rng.normal(size=m)), Function(function)]
    model = Model(layers[:-1], (sizes[0],))
    turn, shift = rng.normal(size=(sizes[0], 3)), rng.uniform(0, 6, 3)

    def batches() -> Iterator[tuple[Array, Array]]:
        for _ in range(600):
            points = rng.uniform(-1, 1, (64, sizes[0]))
            yield points, np.sin(points @ turn + shift)

    training.descend(model, batches(), lambda scores, wanted: scores - wanted, 3e-3)
    middle = rng.uniform(-0.3, 0.3, sizes[0])
    return model, middle - 0.3, middle + 0.3


def convolutional(function: str, seed: int) -> tuple[Model, Array, Array]:
    """A network of two convolutions and two dense layers, trained on digits, and a box of eight pixels of an image."""
    rng = np.random.default_rng(seed)
    model = initialise("plain", function, rng, width=4)
    training.fit(model, rng, epochs=2)
    image = training.digits()[2][seed].ravel()
    free = rng.permutation(36)[:8]
    radius = np.zeros((8, 8))
    radius[1 + free // 6, 1 + free % 6] = 0.15
    return model, image - radius.ravel(), image + radius.ravel()


def changes(model: Model, rng: np.random.Generator) -> dict[str, Model]:
    """The network with its weights changed as its users change them."""
    noisy, cut = copied(model), copied(model)
    for layer in noisy.layers:
        if isinstance(layer, Conv | Dense):
            layer.weight *= 1 + 0.01 * rng.normal(size=layer.weight.shape)
    for layer in cut.layers:
        if isinstance(layer, Conv | Dense):
            layer.weight[np.abs(layer.weight) < np.quantile(np.abs(layer.weight), 0.05)] = 0.0
    equalised = rescaled(model, equalising(model))
    grid = on_a_grid(equalised)
    back = rescaled(grid, [1 / f for f in equalising(model)])
    return {"8 bits": on_a_grid(model), "noise": noisy, "pruned": cut, "equalised, 8 bits": back}


# Sizes.


def _affine(model: Model) -> list[int]:
    return [at for at, layer in enumerate(model.layers) if isinstance(layer, Conv | Dense)]


def _of_inputs(layer: Conv | Dense, channels: int) -> Array:
    """Weights (O, C, rest) of what each channel of the layer before is read by."""
    return layer.weight.reshape(len(layer.weight), channels, -1)


def rescaled(model: Model, factors: Sequence[Array]) -> Model:
    """The same function with the channels of each hidden layer times positive factors (C)."""
    made = copied(model)
    places = _affine(made)
    for at, reader, by in zip(places, places[1:], factors, strict=False):
        layer, after = made.layers[at], made.layers[reader]
        assert isinstance(layer, Conv | Dense)
        assert isinstance(after, Conv | Dense)
        assert layer.bias is not None
        weight = layer.weight * by.reshape(-1, *[1] * (layer.weight.ndim - 1))
        divided = (_of_inputs(after, len(by)) / by[:, None]).reshape(after.weight.shape)
        made.layers[at] = replace(layer, weight=weight, bias=layer.bias * by)
        made.layers[reader] = replace(after, weight=divided)
    return made


def equalising(model: Model) -> list[Array]:
    """The factors of cross-layer equalisation, all layers in turn until nothing changes."""
    places = _affine(model)
    total = [np.ones(len(_weight(model, at))) for at in places[:-1]]
    for _ in range(40):
        now = rescaled(model, total)
        for k, (at, reader) in enumerate(pairwise(places)):
            rows = np.abs(_weight(now, at)).reshape(len(total[k]), -1).max(axis=1)
            after = now.layers[reader]
            assert isinstance(after, Conv | Dense)
            columns = np.abs(_of_inputs(after, len(rows))).max(axis=(0, 2))
            total[k] = total[k] * np.sqrt(np.maximum(columns, 1e-6) / np.maximum(rows, 1e-6))
            now = rescaled(model, total)
    return total


def _weight(model: Model, at: int) -> Array:
    layer = model.layers[at]
    assert isinstance(layer, Conv | Dense)
    return layer.weight


def powers(model: Model, rng: np.random.Generator) -> list[Array]:
    """Powers of two from 1/8 to 8 for every hidden channel."""
    return [np.exp2(rng.integers(-3, 4, len(_weight(model, at)))) for at in _affine(model)[:-1]]


def ways(question: Question, rng: np.random.Generator) -> dict[str, tuple[Model, Model]]:
    """The pair with its neurons in other sizes."""
    f, g = question.first, question.second
    some, others, even = powers(f, rng), powers(f, rng), equalising(f)
    pairs = [(f, g), (f, rescaled(g, some)), (rescaled(f, some), rescaled(g, some))]
    pairs += [(rescaled(f, others), rescaled(g, some)), (f, rescaled(g, even)), (rescaled(f, even), rescaled(g, even))]
    return dict(zip(WAYS, pairs, strict=True))


# Measuring.


def cpu() -> float:
    """Seconds of the processor that this process took so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Answer:
    """Whether it is a proof, the boxes and the seconds of the processor with one thread."""

    proved: bool
    boxes: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.boxes}{'' if self.proved else ' (open)'} {self.seconds:.2f} s"


def decided(pair: tuple[Model, Model], question: Question, eps: float, boxes: int) -> Answer:
    """The same question about a pair that computes what that of the question does."""
    options = Options(threads=1, boxes=boxes, timeout=LIMIT_SECONDS, weaken=False)
    files: list[onnx.ModelProto] = [to_onnx(model) for model in pair]
    began = cpu()
    result = eqspec.verify(files[0], files[1], question.lower, question.upper, eqspec.Epsilon(eps), options=options)
    return Answer(result.verdict.value == "equivalent", result.boxes, cpu() - began)


def apart(question: Question, rng: np.random.Generator) -> float:
    """The largest difference of an output on a sample of the box."""
    points = rng.uniform(question.lower, question.upper, (SAMPLES, len(question.lower)))
    corners = np.where(rng.random(points.shape) < 0.5, question.lower, question.upper)
    points = np.concatenate([points, corners]).reshape(-1, *question.first.shape)
    x, y = (training.forward(m.layers, points, training=False)[0] for m in (question.first, question.second))
    return float(np.abs(x - y).max())


def bound(question: Question, least: float) -> float | None:
    """A bound of which the pair as it is is proved neither at once nor in too many boxes."""
    low, high = 1.0, 64.0
    for _ in range(7):
        share = float(np.sqrt(low * high))
        found = decided((question.first, question.second), question, share * least, MOST)
        if found.proved and (found.boxes >= FEWEST or found.seconds >= LEAST_SECONDS):
            return share * least
        low, high = (low, share) if found.proved else (share, high)
    return None


def questions(seeds: int) -> Iterator[Question]:
    """All networks with all changes."""
    kinds: dict[str, tuple[Callable[[str, int], tuple[Model, Array, Array]], str]] = {
        "dense, ReLU": (dense, "relu"),
        "dense, leaky": (dense, "leaky"),
        "convolutions, ReLU": (convolutional, "relu"),
    }
    for kind, (make, function) in kinds.items():
        for seed in range(seeds):
            model, lower, upper = make(function, seed)
            for change, other in changes(model, np.random.default_rng(100 + seed)).items():
                yield Question(f"{kind}; {change}", model, other, lower, upper)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser("python -m benches.rescaled", description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3, help="networks of each kind")
    parser.add_argument("--only", default="", help="questions whose name has this")
    given = parser.parse_args()
    found: dict[str, list[list[Answer]]] = {}
    for number, question in enumerate(questions(given.seeds)):
        if given.only not in question.name:
            continue
        rng = np.random.default_rng(number)
        eps = bound(question, apart(question, rng))
        if eps is None:
            print(f"{question.name}: left out", flush=True)
            continue
        answers = [decided(pair, question, eps, LIMIT) for pair in ways(question, rng).values()]
        print(f"{question.name}, {eps:.3g}: {'; '.join(map(str, answers))}", flush=True)
        found.setdefault(question.name, []).append(answers)
    shown = markdown("pairs", "boxes", *WAYS[1:], "open", "CPU s")
    for name, of_all in found.items():
        shown.add_row(name, *row(of_all))
    wide_console().print(shown)


def row(answers: Sequence[Sequence[Answer]]) -> Iterator[str]:
    """Boxes of the pairs as they are, median; of the other ways as multiples of these, median and largest."""
    yield f"{statistics.median(one[0].boxes for one in answers):.0f}"
    for way in range(1, len(WAYS)):
        ratios = [one[way].boxes / one[0].boxes for one in answers]
        yield f"{statistics.median(ratios):.2f} ({max(ratios):.1f})"
    yield " / ".join(str(sum(not one[way].proved for one in answers)) for way in range(len(WAYS)))
    yield " / ".join(f"{sum(one[way].seconds for one in answers):.1f}" for way in range(len(WAYS)))


if __name__ == "__main__":
    main()
