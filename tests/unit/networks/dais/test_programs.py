"""Programs of da4ml are read as what da4ml computes, bit for bit, and everything else is refused by name.

`kept` holds programs that da4ml 0.6 made, with what its own interpreter answers. Where da4ml is installed, random ones
are made and compared as well.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import Network, read_network

KEPT = sorted((Path(__file__).parent / "kept").glob("*.json"))


def answers(network: Network, rows: Any) -> list[list[Fraction]]:
    """What it gives at some points, where that is one number."""
    found = []
    for row in rows:
        ends = network.evaluate_exact([Fraction(float(x)) for x in row])
        assert all(low == high for low, high in ends)
        found.append([low for low, _ in ends])
    return found


def written(folder: Path, program: Any, name: str = "comb.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(program))
    return folder / name


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_what_is_read_is_what_da4ml_computes(kept: Path, tmp_path: Path) -> None:
    found = json.loads(kept.read_text())
    network = read_network(written(tmp_path, found["program"]))
    expected = [[Fraction(x) for x in row] for row in found["outputs"]]
    assert answers(network, found["inputs"]) == expected
    assert np.array_equal(network.evaluate(np.array(found["inputs"])), np.array(found["outputs"]))


def test_random_programs_are_read_as_da4ml_runs_them(tmp_path: Path) -> None:
    trace = pytest.importorskip("da4ml.trace", reason="da4ml is not installed: pip install eqspec[firmware-tests]")
    ops = pytest.importorskip("da4ml.trace.ops")
    for seed in range(25):
        random = np.random.default_rng(seed)
        n, m, k = random.integers(1, 6, 3)
        inputs = trace.FixedVariableArrayInput(int(n))
        x = ops.quantize(inputs, random.integers(0, 2, n), random.integers(1, 5, n), random.integers(0, 5, n))
        h = x @ (random.integers(-15, 16, (n, m)) / 8) + random.integers(-15, 16, m) / 16
        h = ops.relu(
            h, i=random.integers(1, 6, m), f=random.integers(0, 5, m), round_mode=random.choice(["TRN", "RND"])
        )
        h = np.maximum(h, h[::-1]) if random.random() < 0.5 else np.abs(h - 1)
        y = ops.quantize(
            h @ (random.integers(-15, 16, (m, k)) / 4), 1, 3, 2, str(random.choice(["WRAP", "SAT"])), "RND"
        )
        program = trace.comb_trace(inputs, y)
        program.save(tmp_path / "made.json")
        rows = random.normal(size=(40, n)) * 5
        expected = [[Fraction(z) for z in row] for row in program.predict(rows).tolist()]
        assert answers(read_network(tmp_path / "made.json"), rows) == expected


def _drawn(x: Any, random: np.random.Generator, ops: Any) -> Any:
    """One of the things that a model does with its values."""
    half = int(random.integers(-8, 9)) / 2
    kinds: list[Any] = [
        lambda: x @ (random.integers(-15, 16, (len(x), 3)) / 8),
        lambda: x * 2.0 ** random.integers(-3, 4, len(x)),
        lambda: np.where(x > half, x * 2, -x + 1),
        lambda: np.concatenate([x, x.to_bool("any").reshape(-1)]),
        lambda: np.maximum(x, x[::-1] * 0.5),
        lambda: x >= half,
        lambda: x == half,
        lambda: np.abs(x - half),
        lambda: x.apply(np.tanh),
        lambda: x * x[::-1],
        lambda: x ^ x[::-1],
        lambda: ~x,
    ]
    made = kinds[int(random.integers(len(kinds)))]()
    n = made.shape
    if random.random() < 0.4:
        return made
    return ops.quantize(
        made, random.integers(0, 2, n), random.integers(1, 5, n), random.integers(0, 4, n), "SAT", "RND"
    )


def test_operations_one_behind_the_other_are_read_as_da4ml_runs_them(tmp_path: Path) -> None:
    """Or refused, where da4ml's interpreters differ."""
    trace = pytest.importorskip("da4ml.trace", reason="da4ml is not installed: pip install eqspec[firmware-tests]")
    ops = pytest.importorskip("da4ml.trace.ops")
    read = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        n = int(random.integers(1, 5))
        inputs = trace.FixedVariableArrayInput(n)
        x = ops.quantize(inputs, random.integers(0, 2, n), random.integers(1, 4, n), random.integers(0, 4, n))
        for _ in range(int(random.integers(1, 4))):
            x = _drawn(x, random, ops)
            x = x * 2.0 ** random.integers(-2, 3, len(x))
        program = trace.comb_trace(inputs, x)
        program.save(tmp_path / "made.json")
        try:
            network = read_network(tmp_path / "made.json")
        except NetworkError:
            continue
        rows = random.normal(size=(60, n)) * 5
        np.testing.assert_array_equal(network.evaluate(rows), np.asarray(program.predict(rows), float), str(seed))
        read += 1
    assert read > 30


def test_a_project_is_its_program(tmp_path: Path) -> None:
    """In stages where it has them: those are what the hardware description is made of."""
    whole, staged = (json.loads(path.read_text()) for path in KEPT if path.stem.startswith("tables"))
    written(tmp_path / "whole" / "model", whole["program"])
    written(tmp_path / "staged" / "model", whole["program"])
    written(tmp_path / "staged" / "model", staged["program"], "pipeline.json")
    networks = [read_network(tmp_path / name) for name in ("whole", "staged")]
    assert answers(networks[0], whole["inputs"]) == answers(networks[1], whole["inputs"])
    assert "model/comb.json" in networks[0].notes[0]
    assert "model/pipeline.json" in networks[1].notes[0]
    result = eqspec.verify(networks[0], networks[1], [-4, -4], [4, 4], eqspec.Epsilon(0))
    assert result.verdict is eqspec.Verdict.EQUIVALENT


def operation(code: int, first: int = -1, second: int = -1, data: int = 0, of: Any = (-8, 7, 1)) -> list[Any]:
    return [first, second, code, data, list(map(float, of)), 0.0, 0.0]


def program(*operations: list[Any], inputs: int = 1, outputs: Any = None, tables: Any = None) -> list[Any]:
    places = [len(operations) - 1] if outputs is None else outputs
    nothing = [0] * len(places)
    made = [[inputs, len(places)], [0] * inputs, places, nothing, nothing, [*operations], -1, -1]
    return made if tables is None else [*made, tables]


INPUT = operation(-1, 0)
HALF = operation(-1, 0, of=(-2, 1.5, 0.5))
TABLE = {"spec": {"out_qint": {"min": 0.0, "max": 3.0, "step": 1.0}, "inp_width": 4}, "table": [1, 2, 0, 3]}


@pytest.mark.parametrize(
    ("given", "x", "expected"),
    [
        pytest.param(program(INPUT), "-8.5", 7, id="an input counts modulo its type"),
        pytest.param(program(INPUT), "2.999", 2, id="an input is cut off downwards"),
        pytest.param(program(INPUT, operation(0, 0, 0, 2, (-40, 35, 1))), "-7", -35, id="a + 4 a"),
        pytest.param(program(INPUT, operation(1, 0, 0, -1, (-11.5, 11, 0.5))), "3", 1.5, id="a - a / 2"),
        pytest.param(program(INPUT, operation(2, 0, of=(0, 3, 1))), "6", 2, id="max(0, a) counts modulo"),
        pytest.param(program(INPUT, operation(-2, 0, of=(0, 8, 1))), "-8", 8, id="max(0, -a)"),
        pytest.param(program(INPUT, operation(2, 0, of=(0, 6, 2))), "7", 6, id="max(0, a), cut off"),
        pytest.param(program(INPUT, operation(3, 0, of=(-8, 4, 4))), "-1", -4, id="a, cut off"),
        pytest.param(program(INPUT, operation(-3, 0, of=(-2, 1, 1))), "-5", 1, id="-a modulo 4"),
        pytest.param(program(INPUT, operation(4, 0, data=-3, of=(-11, 4, 1))), "7", 4, id="a - 3"),
        pytest.param(program(INPUT, operation(5, data=-3, of=(-1.5, -1.5, 0.5))), "7", -1.5, id="-3 halves"),
        pytest.param(program(INPUT, operation(3, 0, of=(0, 0, 1))), "7", 0, id="a type of no bits"),
        pytest.param(
            program(operation(-1, 0, of=(-2, 1, 1)), operation(8, 0, of=(0, 3, 1)), tables=[TABLE]),
            "1",
            3,
            id="a table",
        ),
        pytest.param(program(INPUT, operation(7, 0, 0, of=(0, 64, 1))), "-5", 25, id="a square"),
        pytest.param(program(HALF, INPUT, operation(7, 0, 1, of=(-14, 16, 0.5))), "-1", 1, id="a product"),
        pytest.param(
            program(INPUT, operation(5, data=-3, of=(-3, -3, 1)), operation(7, 0, 1, of=(-21, 24, 1))),
            "5",
            -15,
            id="a product with a constant",
        ),
        pytest.param(
            program(INPUT, operation(1, 0, 0, of=(-15, 15, 1)), operation(7, 0, 1, of=(-120, 120, 1))),
            "5",
            0,
            id="a product with what is 0",
        ),
        pytest.param(
            program(INPUT, HALF, operation(-1, 0, of=(0, 3, 1)), operation(6, 0, 2, 1, of=(-8, 7, 1))),
            "-1",
            -1,
            id="a choice",
        ),
        pytest.param(
            program(INPUT, HALF, operation(-1, 0, of=(0, 3, 1)), operation(6, 0, 2, 1, of=(-8, 7, 1))),
            "5",
            1,
            id="a choice of the other",
        ),
        pytest.param(program(INPUT, operation(9, 0, data=0)), "5", -6, id="bits inverted"),
        pytest.param(
            program(operation(-1, 0, of=(0, 7, 1)), operation(9, 0, data=0, of=(0, 7, 1))),
            "5",
            2,
            id="bits inverted, no sign",
        ),
        pytest.param(program(INPUT, operation(9, 0, data=1, of=(0, 1, 1))), "-2", 1, id="any bit"),
        pytest.param(program(INPUT, operation(9, 0, data=1, of=(0, 1, 1))), "0.5", 0, id="no bit"),
        pytest.param(program(INPUT, operation(9, 0, data=2, of=(0, 1, 1))), "-1", 1, id="all bits"),
        pytest.param(program(INPUT, operation(9, 0, data=2, of=(0, 1, 1))), "7", 0, id="not all bits"),
        pytest.param(program(INPUT, HALF, operation(10, 0, 1, of=(-8, 7.5, 0.5))), "-3", 1, id="a and b"),
        pytest.param(
            program(INPUT, operation(5, data=5, of=(5, 5, 1)), operation(10, 0, 1, 1 << 56)), "-8", -3, id="a or 5"
        ),
        pytest.param(
            program(INPUT, operation(5, data=5, of=(5, 5, 1)), operation(10, 0, 1, 2 << 56)),
            "7",
            2,
            id="a exclusive or 5",
        ),
        pytest.param(program(INPUT, operation(10, 0, 0, 1 << 33, (-8, 8, 1))), "-8", 8, id="a and -a"),
        pytest.param(program(INPUT, outputs=[-1]), "7", 0, id="an output that is nothing"),
    ],
)
def test_instructions_do_what_they_are_defined_to_do(given: Any, x: str, expected: float, tmp_path: Path) -> None:
    assert answers(read_network(written(tmp_path, given)), [[float(x)]]) == [[Fraction(expected)]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            program(INPUT, operation(0, 0, 0)),
            r"operation 1: its type ap_fixed<4,4> does not hold all numbers .* from -16",
        ),
        (program(INPUT, operation(0, 0, 0, -1, (-16, 15, 1))), "operation 1: its type .* does not hold all numbers"),
        (program(INPUT, operation(0, 0, 0, 0, (-8, 7.5, 0.5))), "operation 1: its type .* does not hold .* from -16"),
        # Of which da4ml's interpreter and its Verilog make half of it, its C++ 0.
        (
            program(INPUT, operation(9, 0, data=1, of=(0, 0.5, 0.5))),
            "operation 1: its type .* does not hold .* from 0 to 1",
        ),
        (program(INPUT, operation(7, 0, 0, of=(0, 63, 1))), "operation 1: its type .* does not hold .* from 0 to 64"),
        (program(INPUT, operation(10, 0, 0, 3 << 56)), "operation 1: an operation on the bits of two .* and code 3"),
        (program(INPUT, operation(10, 0, 0, of=(-16, 15, 0.5))), "operation 1: an operation on the bits of two values"),
        (program(INPUT, operation(9, 0, data=0, of=(-16, 15, 1))), "an inversion on the bits of ap_fixed<4,4>, for ap"),
        (program(INPUT, operation(9, 0, data=7)), "operation 1: an unknown operation on the bits of"),
        (
            program(operation(-1, 0, of=(0, 6, 1)), operation(9, 0, data=2)),
            "the conjunction of all on the bits of ap_u",
        ),
        (program(INPUT, operation(77, 0, 0)), "operation 1: operation code 77 is not read"),
        (program(INPUT, operation(0, 0, 1)), "operation 1: it reads a value that is not there yet"),
        (program(INPUT, operation(0, 0)), "operation 1: it reads a value that is not there"),
        (program(operation(-1, 3)), "operation 0: it reads input 3 of 1"),
        (program(operation(-1, 0, of=(-1, 1, 0.3))), r"the step of its interval, 0\.3, is not a power of two"),
        (program(operation(-1, 0, of=(-1, float("nan"), 1))), "more than finite numbers"),
        (program(operation(-1, 0, of=(-1, 0.5, 1))), "the ends of its interval are not multiples of its step"),
        (program(INPUT, operation(8, 0)), "there is no lookup table 0"),
        (program(INPUT, operation(8, 0), tables=[TABLE]), "it may look up more than the 4 entries of its table"),
        (program(INPUT, operation(2, 0, of=(-2, 1, 1))), r"max\(0, x\) may leave its type ap_fixed<2,2>"),
        (program(operation(-1, 0, of=(0, 7, 1)), operation(6, 0, 0, 0)), "by the first bit of a number without a sign"),
        (program(INPUT, operation(0, 0, 0, 4000)), "a shift by 4000 bits"),
        (program(INPUT, outputs=[5]), "an output is of an operation that it does not have"),
        ([[program(INPUT), program(INPUT, inputs=2)]], "stage 0 gives 1 numbers, stage 1 takes 2"),
        ({"layers": []}, "JSON, but not a program of da4ml"),
        ([1, 2, 3, 4, 5, 6, 7, 8], "shape is not a list"),
    ],
)
def test_what_is_not_read_is_refused_by_name(given: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=message) as found:
        read_network(written(tmp_path, given))
    assert found.value.fix


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[" * 100_000, b"[1e999, {}]", b"{}", b"9" * 5000], ids=range(6)
)
def test_what_is_no_program_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "some.json").write_bytes(content)
    with pytest.raises(NetworkError, match="not a program of da4ml"):
        read_network(tmp_path / "some.json")


def test_damaged_programs_are_read_or_refused(tmp_path: Path) -> None:
    """Any field replaced by anything raises nothing but NetworkError."""
    random = np.random.default_rng(3)
    others = [None, -1, 0, 7, 2**40, -(2**70), 0.5, float("inf"), "x", [], {}, True, [1], {"spec": 1}]
    refused = 0
    for kept in KEPT:
        whole = json.loads(kept.read_text())["program"]
        for _ in range(40):
            damaged = json.loads(json.dumps(whole))
            place: Any = damaged
            while True:
                at = random.choice([*place]) if isinstance(place, dict) else int(random.integers(len(place)))
                inner = place[at]
                if not isinstance(inner, list | dict) or not inner or random.random() < 0.1:
                    place[at] = others[int(random.integers(len(others)))]
                    break
                place = inner
            try:
                read_network(written(tmp_path, damaged))
            except NetworkError:
                refused += 1
    assert refused > 100
