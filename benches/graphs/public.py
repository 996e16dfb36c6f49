"""Public networks beside the repository (`shared/data`), and partners derived from them: what is asked.

No image of CIFAR-10 is there; smooth random images in [0, 1] stand for them, and random points for sensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from acceptance.families import SHARED
from acceptance.published import Query
from benches.graphs.digits import FOLDER, box, largest
from convolutional_models import Array
from eqspec.networks import read_network
from eqspec.networks.network import Network
from eqspec.property import Confidence, Epsilon, Property, Top1
from small_tasks import task

GRAPHS = SHARED / "data" / "graphs"
CONV_SMALL = "eran/convSmallRELU__Point__4c6a5e.onnx"
BASE = "oval/cifar_base_kw__e39711.onnx"
RESNET = "resnet/resnet_2b__791aa2.onnx"
TAGGER = "hls4ml/conv1d_small_keras__37464a.onnx"
SCALES: dict[str, tuple[list[float], list[float]]] = {
    BASE: ([0.485, 0.456, 0.406], [0.225] * 3),
    RESNET: ([0.4914, 0.4822, 0.4465], [0.2471, 0.2435, 0.2616]),
}
"""Mean and deviation of each colour, as these networks' benchmarks normalise their images."""


def gridded(name: str, bits: int = 8) -> Path:
    """The file with every weight tensor on a grid, biases left alone; made below benches/results."""
    path = FOLDER / f"{Path(name).stem}_{bits}.onnx"
    if path.exists():
        return path
    model = onnx.load(GRAPHS / name)
    constants = [a.t for n in model.graph.node if n.op_type == "Constant" for a in n.attribute if a.HasField("t")]
    for tensor in [*model.graph.initializer, *constants]:
        weight = numpy_helper.to_array(tensor)
        step = np.abs(weight).max() / (2 ** (bits - 1) - 1) if weight.dtype == np.float32 and weight.ndim > 1 else 0
        if step:
            rounded = (np.round(weight / step) * step).astype(np.float32)
            tensor.CopyFrom(numpy_helper.from_array(rounded, tensor.name))
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)
    return path


def pair(name: str) -> tuple[Network, Network]:
    """A network and the same with weights of 8 bits."""
    return read_network(GRAPHS / name), read_network(gridded(name))


def _query(identity: str, one: Network, other: Network, claim: Property, ends: Any) -> Query:
    return Query(identity, task(one, other, claim, *ends, id=identity.replace(" ", "_")), None)


def conv_small(radius: float = 0.1) -> list[Query]:
    """Ten images of MNIST, eps .25."""
    one, other = pair(CONV_SMALL)
    images = np.loadtxt(SHARED / "data" / "mnist" / "ref_images_100x784.csv", delimiter=",", max_rows=10) / 255
    claim = Epsilon(Fraction("0.25"))
    return [_query(f"convSmall {i}", one, other, claim, box(x, radius)) for i, x in enumerate(images)]


def smooth_images(count: int) -> Iterator[Array]:
    """Colour images (3, 32, 32) of blocks of eight by eight with a little noise."""
    rng = np.random.default_rng(3)
    for _ in range(count):
        blocks = np.kron(rng.random((3, 4, 4)), np.ones((8, 8)))
        yield 0.8 * blocks + 0.1 + 0.05 * rng.random((3, 32, 32))


def colours(name: str, steps: int, claim: Property, count: int) -> list[Query]:
    """Around random images, `steps` of 1/255, on the scale of the network."""
    one, other = pair(name)
    mean, deviation = (np.repeat(np.array(v), 32 * 32) for v in SCALES[name])
    made = []
    for number, image in enumerate(smooth_images(count)):
        ends = [np.clip(image.ravel() + sign * steps / 255, 0, 1) for sign in (-1, 1)]
        exact = [[Fraction(float(v)) for v in (end - mean) / deviation] for end in ends]
        made.append(_query(f"{Path(name).stem.split('__')[0]} {number}", one, other, claim, exact))
    return made


def tagger(radius: float, kind: str) -> list[Query]:
    """Random particles of the 1-d tagger; 3 times the largest sampled difference, or where it is sure."""
    one, other = pair(TAGGER)
    made = []
    for number in range(5):
        centre = 0.5 * np.random.default_rng(number).normal(size=one.input_size)
        lower, upper = box(centre, radius, -100, 100)
        seen = Fraction(largest(one, other, lower, upper))
        claim = Epsilon(3 * seen) if kind == "eps" else Confidence(Fraction("0.9"))
        made.append(_query(f"conv1d {number}", one, other, claim, (lower, upper)))
    return made


EXPORTERS = {
    "conv1d": (TAGGER, "hls4ml/hls4ml_KERAS_conv1d_small.onnx", -1.0, 1.0),
    "cifar_base_kw simplified": ("oval/cifar_base_kw__7352c6.onnx", "oval/cifar_base_kw_simp__247b85.onnx", 0.0, 1.0),
    "cifar_base_kw": (BASE, "oval/cifar_base_kw__7352c6.onnx", 0.0, 1.0),
    "ToyCar": ("mlperf_tiny/mlperf_ToyCar.onnx", "mlperf_tiny/model_ToyCar__c66636.tflite.onnx", -1.0, 1.0),
}
"""One model as two programs wrote it."""


def exporters() -> list[Query]:
    """The same function within 1e-4, on a box of radius .02 inside the range that is named."""
    made = []
    for name, (one, other, low, high) in EXPORTERS.items():
        first, second = read_network(GRAPHS / one), read_network(GRAPHS / other)
        centre = np.random.default_rng(7).uniform(low, high, first.input_size)
        ends = box(centre, 0.02, -100, 100)
        made.append(_query(name, first, second, Epsilon(Fraction("0.0001")), ends))
    return made


def resnet_classes() -> list[Query]:
    """Ten images, 2/255, the same class."""
    return colours(RESNET, 2, Top1(), 10)
