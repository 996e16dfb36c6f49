"""Intervals of the values of programs, and what of them float32 does not hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.networks import read_network
from eqspec.networks.curve_definitions import DEFINITIONS
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.float32 import in_float32, overflow
from eqspec.networks.program import Step, Term, Tile
from eqspec.networks.value_ranges import before, behind
from unit.networks.function_cases import numbers
from unit.networks.models import model, node, save

PARAMETERS: dict[str, tuple[tuple[float, ...], ...]] = {
    "pieces": ((2.0, -1.0, 0.5, 0.25, -1.0, 2.0, 1.0),),
    "power": ((-0.5,), (-1.0,), (-2.0,), (0.5,), (3.0,), (2.5,)),
    "elu": ((1.5,),), "celu": ((0.5,),), "selu": ((1.6, 1.05),), "hardswish": ((1 / 6, 0.5),), "thresholded": ((0.3,),),
}  # fmt: skip
CURVES = [Curve(n, p) for n in DEFINITIONS if n != "quantiser" for p in PARAMETERS.get(n, ((),))]


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_functions_stay_within_what_is_said_of_them(curve: Curve) -> None:
    rng = np.random.default_rng(len(str(curve)))
    ends = np.sort(rng.normal(size=(200, 2)) * 10.0 ** rng.integers(-3, 3, (200, 1)), axis=1)
    ends[::3] = np.abs(ends[::3])[:, ::-1]  # to the right of 0, where all of them have values
    ends = np.sort(ends, axis=1)
    low, high = behind(Curves.all(curve), (ends[:, 0], ends[:, 1]))
    inside = ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * np.linspace(0, 1, 50)
    with np.errstate(all="ignore"):
        found = DEFINITIONS[curve.name].value(inside, curve.parameters)
    known = np.isfinite(found)
    assert ((low[:, None] <= found) & (found <= high[:, None]))[known].all()
    assert np.isfinite(low[::3]).any()


def test_sums_stay_within_what_is_said_of_them() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        weight, error = rng.normal(size=(2, 3, 4)), 0.3 * np.abs(rng.normal(size=(2, 3, 4)))
        tile = Tile(rng.integers(-1, 5, (2, 3, 4)).astype(np.int32), weight, error)
        bias, of_bias = rng.normal(size=tile.rows), np.abs(rng.normal(size=tile.rows))
        low = rng.normal(size=5)
        high = low + np.abs(rng.normal(size=5))
        least, most = before(
            Step((Term(-1, tile), Term(0, tile)), bias, of_bias), {-1: (low, high), 0: (low - 1, high)}
        )
        for _ in range(50):
            chosen, moved = (rng.choice([-1.0, 1.0], size=weight.shape) for _ in range(2))
            x, y = (rng.choice([0.0, 1.0], size=5) for _ in range(2))
            x, y = low + (high - low) * x, low - 1 + (high - low + 1) * y
            values = [
                Tile(tile.index, weight + s * error).apply(v[:, None])[:, 0] for s, v in ((chosen, x), (moved, y))
            ]
            total = values[0] + values[1] + bias + rng.choice([-1.0, 1.0]) * of_bias
            assert ((least <= total) & (total <= most)).all()


SIGMOID = [
    node("Neg", ["x"], "m"), node("Exp", ["m"], "e"), node("Add", ["e", "one"], "d"), node("Reciprocal", ["d"], "y"),
]  # fmt: skip
ROOT = [node("Mul", ["x", "x"], "q"), node("Add", ["q", "one"], "a"), node("Sqrt", ["a"], "y")]


@pytest.mark.parametrize(
    ("nodes", "low", "high", "beyond"),
    [
        ([node("Exp", ["x"], "y")], 80.0, 100.0, True),
        ([node("Exp", ["x"], "e"), node("Identity", ["e"], "y")], -1.0, 100.0, True),
        ([node("Exp", ["x"], "e"), node("Clip", ["e", "one", "two"], "y")], -1.0, 100.0, True),
        ([node("Exp", ["x"], "y")], -150.0, -100.0, False),
        ([node("Exp", ["x"], "y")], -150.0, 80.0, False),
        ([node("Exp", ["x"], "e"), node("Add", ["e", "one"], "y")], -150.0, 80.0, False),
        ([node("Exp", ["x"], "y")], 1e3, 1e4, True),
        (SIGMOID, -100.0, 80.0, False),  # the reciprocal of an infinity is 0, as it should be
        (ROOT, -2.0, 3.0, False),
        (ROOT, -2e20, 3e20, True),
        ([node("Exp", ["x"], "e"), node("Mul", ["e", "small"], "y")], -1.0, 95.0, True),
        ([node("Exp", ["x"], "e"), node("Mul", ["e", "small"], "y")], -1.0, 80.0, False),
        ([node("ReduceL2", ["x"], "y", axes=[1])], -2e20, 3e20, True),
        ([node("ReduceL2", ["x"], "y", axes=[1])], -2e17, 3e17, False),
        (
            [node("MatMul", ["x", "w"], "s"), node("Softmax", ["s"], "p"), node("Mul", ["p", "two"], "y")],
            -900.0,
            900.0,
            False,
        ),
    ],
)
def test_what_leaves_float32_is_found(nodes: list[Any], low: float, high: float, beyond: bool, tmp_path: Path) -> None:
    constants = {"one": numbers(1.0), "two": numbers(2.0), "small": numbers(1e-30), "w": np.eye(3, dtype=np.float32)}
    used = {name: array for name, array in constants.items() if any(name in n.input for n in nodes)}
    path = save(tmp_path, model(nodes, used, (1, 3), opset=13))
    box = np.full(3, low), np.full(3, high)
    network = in_float32(read_network(path))
    assert (overflow(network, np.maximum(*map(np.abs, box)), np.maximum(*map(np.abs, box)), box) is not None) == beyond
