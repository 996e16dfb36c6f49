"""Levels of quantisers beside what is not rounded, or beside levels of other scales: both in the same units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest
from onnx import ModelProto, NodeProto, helper, numpy_helper

from eqspec.audit import audit
from eqspec.audit.curved import Functions
from eqspec.audit.functions import BENT, Curve, Curves, Relaxation, behind, clip
from eqspec.audit.reading import INPUTS, Pair
from eqspec.audit.reading.pair import in_units_of_inputs
from eqspec.audit.reading.program import Step
from eqspec.audit.reading.value import Part, Value, units
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from small_tasks import task as task_of
from unit.certificates import graphs
from unit.certificates.proofs import certify
from unit.certificates.test_curves import (
    OUTPUTS,
    Array,
    Exact,
    boxes,
    chain,
    moved,
    points,
    quantities,
    trace,
    weights,
)
from unit.certificates.test_grids import files
from unit.certificates.true_functions import contains

SCALES = [0.25, 0.125, float(np.float32(0.3)), 1.0 / 64.0]


@pytest.fixture(autouse=True)
def many_digits() -> None:
    flint.ctx.prec = 200
    np.seterr(all="ignore")


def levels(rng: np.random.Generator) -> Curve:
    low = float(rng.choice([-8.0, 0.0, -128.0]))
    zero = float(rng.choice([0.0, low, 3.0]))
    return Curve("levels", (float(rng.choice(SCALES)), zero, low, low + 255.0, float(rng.integers(7))))


def drawn(rng: np.random.Generator, width: int, rounds: bool) -> Curves:
    """One function for all rows, or one for each; some of them quantisers, or all others."""
    others = [clip(-0.5, 1.0), clip(0.0, 63.0 / 64.0), Curve("relu"), Curve("tanh"), clip(-8.0, 8.0)]
    count = 1 if rng.random() < 0.5 else width
    made = [levels(rng) if rounds and rng.random() < 0.8 else others[rng.integers(5)] for _ in range(count)]
    return tuple(made)


@pytest.mark.part(20)
@pytest.mark.parametrize("seed", range(40))
def test_enclosures_contain_what_happens(seed: int) -> None:
    """Of chains whose steps have quantisers in one network, in both or in none, row by row of several scales."""
    rng = np.random.default_rng(seed)
    first = weights(rng, (3, 6, 5, 2))
    second = moved(first, rng, float(rng.choice([0.0, 1e-7, 0.02])))
    mine = [drawn(rng, width, bool(rng.random() < 0.5)) for width in (6, 5)]
    other = [drawn(rng, width, bool(rng.random() < 0.7)) for width in (6, 5)]
    pair = Pair(chain(first, mine), chain(second, other), 3, (OUTPUTS, OUTPUTS))
    lower = 0.6 * rng.normal(size=(3, 1))
    upper = lower + float(rng.choice([0.0, 1e-9, 0.1, 1.0]))
    reached = boxes(pair, lower, upper)
    assert not reached.empty.any()
    for point in points(rng, lower[:, 0], upper[:, 0], 6):
        for q, value in enumerate(quantities(trace(first, mine, point), trace(second, other, point), point)):
            assert contains(reached.low[q, 0], value, reached.high[q, 0]), q


VALUES: dict[Curve, Callable[[Array], Array]] = {
    clip(-8.0, 8.0): lambda x: np.clip(x, -8.0, 8.0),
    clip(0.0, 1.0): lambda x: np.clip(x, 0.0, 1.0),
    Curve("floor"): np.floor,
    Curve("tanh"): np.tanh,
    Curve("multiples", (0.25, 0.0, 0.0, 7.0, 0.0)): lambda x: 0.25 * np.clip(np.rint(4.0 * x), 0.0, 7.0),
}


@pytest.mark.parametrize(("f", "g"), list(product(VALUES, VALUES)), ids=lambda f: f.name)
def test_differences_are_slopes_times_d_and_a_rest(f: Curve, g: Curve) -> None:
    """f(x) - g(y) of functions that are far from each other, on ranges of x and of y that are, too."""
    rng = np.random.default_rng(9)
    low = rng.uniform(-2.0, 2.0, (2, 40, 1))
    high = low + rng.choice([0.0, 0.1, 1.0], size=(2, 40, 1))
    ends = np.concatenate([low, low[:1] - high[1:]]), np.concatenate([high, high[:1] - low[1:]])
    first, second = (Relaxation((h,), 40) for h in (f, g))
    slopes, rest = Functions(first, second, np.full(40, f != g)).rise(*ends)
    for _ in range(50):
        x, y = low + rng.random((2, 40, 1)) * (high - low)
        true, found = VALUES[f](x) - VALUES[g](y), slopes * (x - y) + rest
        assert not (true < found.low - 1e-12).any()
        assert not (true > found.high + 1e-12).any()
    if not {f.name, g.name} <= {"floor", "multiples"}:
        assert np.isfinite([slopes.low, slopes.high]).all(), "of the function that does not jump"


def test_the_function_stays_the_same() -> None:
    """Kernels that rows share, of sources with one scale for each unit, and of places that are no unit."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        kernels = np.rint(8.0 * rng.normal(size=(2, 3))) / 8.0
        index = rng.integers(-1, 4, size=(5, 3)).astype(np.int32)
        part = Part(INPUTS, np.arange(4), np.arange(4, dtype=np.int32)[:, None], np.zeros(4, int), np.ones((1, 1)))
        curves = (levels(rng),) if rng.random() < 0.4 else (levels(rng), clip(-1.0, 1.0), levels(rng), BENT[0])
        shared = Part(0, np.arange(5), index, rng.integers(0, 2, 5), kernels)
        steps = [Step(Value((4,), (part,)), curves), Step(Value((5,), (shared,)))]
        turned = in_units_of_inputs(steps, {0})
        assert {curve.name for curve in turned[0].curves}.isdisjoint({"levels"})
        for _ in range(5):
            point = [Fraction(int(n), 64) for n in rng.integers(-200, 200, 4)]
            assert (graphs.trace(steps, point)[1] == graphs.trace(turned, point)[1]).all()


def in_sixty_fourths(layers: Exact) -> tuple[list[Step], list[Step]]:
    """Layers with a clip in front of the last one, and the same with a quantiser there."""
    *some, (last, bias) = layers
    cut, rounded = (clip(0.0, 63.0 / 64.0),), (Curve("levels", (1.0 / 64.0, 0.0, 0.0, 63.0, 0.0)),)
    return chain(layers, [cut]), chain([*some, (last / 64.0, bias)], [rounded])


def test_the_difference_of_a_step_is_what_it_rounds() -> None:
    """Behind weights W what is rounded to multiples of 2^-6 is at most sum |W| 2^-7 apart from what it was."""
    rng = np.random.default_rng(5)
    layers = weights(rng, (3, 8, 2))
    expected = np.abs(layers[1][0]).sum(axis=1) / 128.0
    for turn in (1, -1):
        for radius in (0.01, 1.0, 100.0):  # however far the ends of the clip are from each other on the box
            first, second = in_sixty_fourths(layers)[::turn]
            pair = Pair(first, second, 3, (OUTPUTS, OUTPUTS))
            low, high = boxes(pair, np.full((3, 1), -radius), np.full((3, 1), radius)).last()
            assert (np.abs([low[2, :, 0], high[2, :, 0]]) <= expected * (1.0 + 1e-9)).all()


def test_a_relu_in_front_of_levels_costs_nothing() -> None:
    """Whether a file has it or not: levels of no less than 0 cut off the same."""
    rng = np.random.default_rng(6)
    layers = weights(rng, (3, 8, 2))
    plain, found = in_sixty_fourths(layers), []
    for first, second in (plain, [behind_a_relu(one) for one in plain]):
        pair = Pair(first, second, 3, (OUTPUTS, OUTPUTS))
        found.append(boxes(pair, np.full((3, 1), -1.0), np.full((3, 1), 1.0)).last())
    assert np.array_equal(found[0], found[1])


def behind_a_relu(steps: list[Step]) -> list[Step]:
    """The same with a ReLU in front of the functions of the first step."""
    first, last = steps
    size = first.value.size
    again = Step(units(0, (size,), np.ones((1, 1))), first.curves)
    parts = tuple(replace(part, source=1) if part.source == 0 else part for part in last.value.parts)
    return [Step(first.value, BENT), again, Step(Value(last.value.shape, parts))]


def rounding(rng: np.random.Generator, bits: int) -> tuple[ModelProto, ModelProto]:
    """Three layers with clips, and the same with quantisers of QONNX, as QKeras has them behind every ReLU."""
    nodes: list[list[NodeProto]] = [[], []]
    top, scale = 1.0 - 2.0**-bits, 2.0**-bits
    stored = {"zero": 0.0, "top": top, "scale": scale, "bits": float(bits)}
    tensors = [numpy_helper.from_array(np.array(v, np.float32), name) for name, v in stored.items()]
    now = "x"
    for number, (m, n) in enumerate(((8, 4), (8, 8), (3, 8))):
        for name, shape, size in ((f"w{number}", (n, m), 1.5 / np.sqrt(n)), (f"b{number}", (m,), 0.3)):
            array = np.rint(32.0 * size * rng.normal(size=shape)) / 32.0
            tensors.append(numpy_helper.from_array(array.astype(np.float32), name))
        made = [helper.make_node("Gemm", [now, f"w{number}", f"b{number}"], [f"g{number}"])]
        now = f"g{number}"
        for part in nodes:
            part += made
        if number < 2:
            relu = helper.make_node("Relu", [now], [f"r{number}"])
            cut = helper.make_node("Clip", [f"r{number}", "zero", "top"], [f"h{number}"])
            given: dict[str, Any] = {
                "signed": 0,
                "narrow": 0,
                "rounding_mode": "ROUND",
                "domain": "qonnx.custom_op.general",
            }
            quant = helper.make_node("Quant", [f"r{number}", "scale", "zero", "bits"], [f"h{number}"], **given)
            nodes[0] += [relu, cut]
            nodes[1] += [relu, quant]
            now = f"h{number}"
    value = helper.make_tensor_value_info
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("qonnx.custom_op.general", 1)]
    one, other = (
        helper.make_model(
            helper.make_graph(part, "g", [value("x", 1, (1, 4))], [value("g2", 1, (1, 3))], tensors),
            opset_imports=opsets,
            ir_version=8,
        )
        for part in nodes
    )
    return one, other


@pytest.mark.parametrize("bits", [4, 6])
@pytest.mark.parametrize("turned", [False, True], ids=["clips-first", "levels-first"])
def test_what_the_search_proves_has_a_certificate(bits: int, turned: bool, tmp_path: Path) -> None:
    """On the first box, by the roundings alone; and nothing below what a point shows is proved."""
    rng = np.random.default_rng(bits)
    pair = files(tmp_path, *rounding(rng, bits)[:: -1 if turned else 1])
    box = [[Fraction(side) for _ in range(4)] for side in (-1, 1)]
    x = rng.uniform(-1.0, 1.0, size=(2000, 4))
    seen = float(np.abs(pair[0].evaluate(x) - pair[1].evaluate(x)).max())
    assert seen > 0.0
    result, made = certify(task_of(pair[0], pair[1], Epsilon(Fraction(9 * seen)), *box), tmp_path / "proofs")
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    assert audit(made.path, tmp_path).verdict == "equivalent"


def test_multiples_are_levels_times_their_scale() -> None:
    rng = np.random.default_rng(8)
    for _ in range(40):
        curve = levels(rng)
        x = np.array([Fraction(int(n), 512) for n in rng.integers(-3000, 3000, 20)], object)
        (low, _), (same, _) = (behind((Curve(name, curve.parameters),), x, x) for name in ("levels", "multiples"))
        assert (same == low * Fraction(curve.parameters[0])).all()
