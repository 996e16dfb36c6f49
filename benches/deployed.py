"""Float networks beside their int8 files: how far apart can they be? `python -m benches.deployed`

For each pair and a ball of so many percent of what the input's quantiser takes, around some random points:

    replay     of some points those at which exact evaluation has the very levels of onnxruntime, without optimisations
    found      the largest difference that climbing over corners of the ball finds: the true one is at least that
    floor      the noise floor: no proof that takes roundings for any numbers of their range can go below
    first      the bound of the first zonotope alone
    proved     the least distance that is proved within the limit of boxes, to a few percent; none where nothing is

Scores are those in front of a last Softmax, in both files. Public pairs are asked about where they stand beside the
repository; those made here by onnxruntime (`quantize_static`, calibrated at normal inputs) everywhere.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console

from acceptance.families import SHARED
from benches.graphs.__main__ import cpu
from benches.report import markdown, wide_console
from convolutional_models import Array
from eqspec.networks import read_network
from eqspec.networks.network import Network
from eqspec.networks.session import Session
from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.rounding import noise_floor
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import task

GRAPHS = SHARED / "data" / "graphs"
PUBLIC = {
    "WISDM": ("stm32/stm32_WISDM_ign_wl_24.onnx", "stm32/ign_wl_24_int8__206791.tflite.onnx"),
    "mobility": ("stm32/stm32_mobility_v1_ign_wl_24.onnx", "stm32/ign_wl_24_int8__6d7dc4.tflite.onnx"),
    "kws": ("mlperf_tiny/kws_ref_model_float32__e5004c.tflite.onnx", "mlperf_tiny/kws_ref_model__aeea43.tflite.onnx"),
    "ToyCar": (
        "mlperf_tiny/model_ToyCar__c66636.tflite.onnx",
        "mlperf_tiny/model_ToyCar_quant_fullint__861f3d.tflite.onnx",
    ),
}
MADE = {"autoenc": ((32, 16, 4, 16, 32), "Relu"), "gelu_mlp": ((16, 32, 32, 5), "Gelu")}
"""Widths, and what stands between them."""
POINTS, TRIED, CLIMBS = 20, 400, 4_000
"""At which a file is run, that climbing begins from, and evaluations of it."""
STEPS = 6
"""Of a bisection between what was found and what the first zonotope has."""


@dataclass(frozen=True)
class Pair:
    """A network, its int8 file, and the ends of what that one's input quantiser takes."""

    name: str
    float_: Network
    int8: Network
    low: float
    high: float


def pairs(folder: Path, chosen: Sequence[str]) -> Iterator[Pair]:
    """Those whose names begin so; files are made in this folder."""
    for name, files in PUBLIC.items() if GRAPHS.is_dir() else ():
        if name.startswith(tuple(chosen)):
            one, other = (onnx.load(GRAPHS / file) for file in files)
            yield _pair(name, one, other, folder)
    for number, (name, (widths, function)) in enumerate(MADE.items()):
        if name.startswith(tuple(chosen)):
            one = _dense(widths, function, number)
            yield _pair(name, one, _quantised(name, one, folder), folder)


def _pair(name: str, one: onnx.ModelProto, other: onnx.ModelProto, folder: Path) -> Pair:
    read = []
    for kind, model in (("float", one), ("int8", other)):
        path = folder / f"{name}_{kind}.onnx"
        onnx.save(_without_softmax(model), path)
        read.append(read_network(path))
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in other.graph.initializer}
    first = next(node for node in other.graph.node if _quantises(node) and node.input[0] not in stored)
    scale, zero = (stored[given].astype(float).reshape(()) for given in first.input[1:3])
    ends = np.iinfo(stored[first.input[2]].dtype)
    return Pair(name, read[0], read[1], *(float(scale * (end - zero)) for end in (ends.min, ends.max)))


def _quantises(node: onnx.NodeProto) -> bool:
    return node.op_type in ("QuantizeLinear", "DequantizeLinear")


def _without_softmax(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model up to its Softmax, if it ends in one, whose result may be quantised."""
    graph = model.graph
    makers = {made: node for node in graph.node for made in node.output}
    name = graph.output[0].name
    if any(node.op_type == "Softmax" for node in graph.node):
        while _quantises(node := makers[name]):
            name = node.input[0]
        name = node.input[0]
    made = onnx.ModelProto()
    made.CopyFrom(model)
    del made.graph.output[:]
    made.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return made


def _dense(widths: Sequence[int], function: str, seed: int) -> onnx.ModelProto:
    """Dense layers with random weights that keep the size of what they are given, mostly."""
    random = np.random.default_rng(seed)
    nodes, stored, name = [], [], "x"
    for k, (before, behind) in enumerate(pairwise(widths)):
        weight = random.normal(size=(before, behind)) * np.sqrt(2 / before)
        for kind, array in (("w", weight), ("b", 0.1 * random.normal(size=behind))):
            stored.append(numpy_helper.from_array(array.astype(np.float32), f"{kind}{k}"))
        last = k == len(widths) - 2
        nodes += [helper.make_node("Gemm", [name, f"w{k}", f"b{k}"], ["y" if last else f"a{k}"])]
        if not last:
            nodes.append(helper.make_node(function, [f"a{k}"], [name := f"c{k}"]))
    first, final = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])
        for name, width in (("x", widths[0]), ("y", widths[-1]))
    )
    graph = helper.make_graph(nodes, "dense", [first], [final], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def _quantised(name: str, model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    """What `quantize_static` makes of a model."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    given = np.random.default_rng(9).normal(size=(500, 1, model.graph.input[0].type.tensor_type.shape.dim[1].dim_value))

    class Samples(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self._left = iter(given.astype(np.float32))

        def get_next(self) -> dict[str, Array] | None:
            one = next(self._left, None)
            return None if one is None else {"x": one}

    source, made = folder / f"{name}_source.onnx", folder / f"{name}_quantised.onnx"
    onnx.save(model, source)
    quantize_static(source, made, Samples(), quant_format=QuantFormat.QDQ)
    return onnx.load(made)


def replayed(network: Network, lower: Array, upper: Array) -> int:
    """Of POINTS random inputs those with the very numbers of onnxruntime."""
    session, random = Session(network), np.random.default_rng(1)
    points = session.rounded(lower + (upper - lower) * random.random((POINTS, len(lower))))
    same = 0
    for point in points:
        exact = network.evaluate_exact([Fraction(float(x)) for x in point])
        found = np.asarray(session.run(point)).reshape(-1)
        size = np.abs(found).max()
        same += bool(all(abs(float(low) - y) <= 1e-5 * size for (low, _), y in zip(exact, found, strict=True)))
    return same


def climbed(pair: Pair, lower: Array, upper: Array, evaluations: int) -> float:
    """The largest difference that climbing finds which draws some inputs anew: ends, thresholds and anything."""
    random = np.random.default_rng(2)
    level = (pair.high - pair.low) / 255

    def apart(points: Array) -> Array:
        return np.asarray(np.abs(pair.float_.evaluate(points) - pair.int8.evaluate(points)).max(axis=1))

    def drawn(count: int) -> Array:
        values = lower + (upper - lower) * random.random((count, len(lower)))
        values[::4] = np.where(random.random(values[::4].shape) < 0.5, lower, upper)
        beside = np.floor((values[1::2] - pair.low) / level) + 0.5 + random.choice([-1e-4, 1e-4], values[1::2].shape)
        values[1::2] = np.clip(pair.low + level * beside, lower, upper)
        return values

    points = drawn(TRIED)
    found = apart(points)
    best, most = points[found.argmax()], float(found.max())
    for _ in range((evaluations - TRIED) // 40):
        share = max(random.choice([0.01, 0.03, 0.1]), 1.5 / len(lower))
        moved = np.where(random.random((40, len(lower))) < share, drawn(40), best)
        found = apart(moved)
        if found.max() > most:
            best, most = moved[found.argmax()], float(found.max())
    return most


@dataclass(frozen=True)
class Bracket:
    """The largest difference lies above what was `found` and is at most what is `proved`; and the first bound."""

    found: float
    proved: float | None
    first: float


def bracket(asked: Task, found: float, options: Options) -> Bracket:
    """Claims between what was found and the bound of the first zonotope, by bisection."""
    known = Bracket(found, None, np.inf)

    def ask(eps: float) -> bool:
        nonlocal known
        result = Runner(options).run(replace(asked, property=Epsilon(Fraction(eps))))
        first = known.first if result.initial_bound is None else result.initial_bound
        known = replace(known, first=first)
        if result.verdict is Verdict.DIFFERENT:
            known = replace(known, found=max(known.found, eps))
        if result.verdict is Verdict.EQUIVALENT:
            known = replace(known, proved=eps)
        return result.verdict is Verdict.EQUIVALENT

    ask(1.01 * found)
    if np.isfinite(known.first) and known.proved is None and ask(1.0001 * known.first):
        low = known.found
        for _ in range(STEPS):
            middle = float(np.sqrt(max(low, known.found) * (known.proved or known.first)))
            if not ask(middle):
                low = middle
    return known


def measured(pair: Pair, percent: float, number: int, evaluations: int, options: Options) -> tuple[str, ...]:
    """One row of the table."""
    before = cpu()
    inner = np.random.default_rng(number).uniform(0.25, 0.75, pair.float_.input_size)
    centre, radius = pair.low + (pair.high - pair.low) * inner, percent / 100 * (pair.high - pair.low)
    lower, upper = centre - radius, centre + radius
    same, climb = replayed(pair.int8, lower, upper), climbed(pair, lower, upper, evaluations)
    ends = ([Fraction(float(x)) for x in end] for end in (lower, upper))
    asked = task(pair.float_, pair.int8, Epsilon(Fraction(0)), *ends, id=f"{pair.name}_{number}")
    floor = noise_floor(asked) or 0.0
    known = bracket(asked, climb, options)
    least = ("none", "") if known.proved is None else (f"{known.proved:.3g}", f"{known.proved / (floor or 1):.2f}")
    numbers = (f"{known.found:.3g}", f"{floor:.3g}", f"{known.first:.3g}", *least, f"{cpu() - before:.1f}")
    return (f"{pair.name} {number}", f"{same} of {POINTS}", *numbers)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser("python -m benches.deployed", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pairs", nargs="*", help=f"those whose names begin so; all of {', '.join([*PUBLIC, *MADE])}")
    parser.add_argument("--percent", type=float, default=1, help="radius of the balls, of the range of the input")
    parser.add_argument("--points", type=int, default=3, help="balls of each pair")
    parser.add_argument("--boxes", type=int, default=1, help="limit of each question")
    parser.add_argument("--timeout", type=float, default=20, help="seconds of each question")
    parser.add_argument("--climbs", type=int, default=CLIMBS, help="evaluations of each climb")
    given = parser.parse_args(arguments)
    options = Options(threads=1, boxes=given.boxes, timeout=given.timeout, weaken=False)
    columns = ("ball", "replay", "found", "floor", "first", "proved", "of the floor", "CPU s")
    table = markdown(*columns)
    say: Callable[..., None] = Console(stderr=True, highlight=False).print
    with tempfile.TemporaryDirectory() as folder:
        for pair in pairs(Path(folder), given.pairs or [""]):
            for number in range(given.points):
                row = measured(pair, given.percent, number, given.climbs, options)
                say("  ".join(row), markup=False)
                table.add_row(*row)
    wide_console().print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
