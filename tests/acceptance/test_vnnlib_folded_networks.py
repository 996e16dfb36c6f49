"""Networks whose operators fold into one layer with rounding, asked with random conjunctions: every answer is true.

Two products in a row are one layer. Where their numbers do not fit a float, the layer says by how much it may be off,
and an answer must hold whatever the exact number is. The oracle never folds: it takes v = relu(v) - relu(-v) between
the two products, and decides each conjunction exactly on every linear piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from breadth import some
from eqspec.networks import read_network
from eqspec.property import Epsilon
from eqspec.tasks.task import Task
from eqspec.vnnlib import query
from eqspec.vnnlib.answering import Answer, answer
from eqspec.vnnlib.conjunctions import conjunction
from eqspec.vnnlib.query import All
from eqspec.vnnlib.reading import read_text
from oracle.evaluate import outputs
from oracle.pieces import Layers, pieces
from oracle.polytope import Polytope, whole
from small_tasks import task as small_task
from unit.networks.models import model, node, save
from vnnlib_text import satisfied

Array = NDArray[np.float64]
Comparison = tuple[dict[int, int], Fraction]
"""sum of c_i Y_i >= bound, Y the outputs of all networks side by side."""
OUTPUTS = 2


def write(folder: Path, name: str, chain: Sequence[Sequence[Array]]) -> Path:
    """x through groups of products without anything between them, a ReLU between groups."""
    nodes, constants, value = [], {}, "x"
    for i, group in enumerate(chain):
        for j, weight in enumerate(group):
            last = i == len(chain) - 1 and j == len(group) - 1
            constants[f"w{i}{j}"] = weight.T.copy()
            nodes.append(node("MatMul", [value, f"w{i}{j}"], "y" if last else f"v{i}{j}"))
            value = f"v{i}{j}"
        if i < len(chain) - 1:
            nodes.append(node("Relu", [value], f"r{i}"))
            value = f"r{i}"
    proto = model(nodes, constants, [1, chain[0][0].shape[1]], kind=onnx.TensorProto.DOUBLE)
    return Path(save(folder, proto, f"{name}.onnx"))


def unfolded(chain: Sequence[Sequence[Array]]) -> Layers:
    """The same function with a ReLU behind every product."""
    layers: list[tuple[Array, Array]] = []
    join: Array | None = None  # of halves that were taken apart
    for group in chain:
        for j, weight in enumerate(group):
            ahead = weight if join is None else np.concatenate([weight, -weight], axis=1)
            inside = j < len(group) - 1
            rows = np.concatenate([ahead, -ahead]) if inside else ahead
            layers.append((rows, np.zeros(len(rows))))
            join = weight if inside else None
    return layers


def numbers(random: Random, *shape: int) -> Array:
    """Numbers whose products seldom fit a float, and now and then cancel."""

    def one() -> float:
        kind = random.random()
        if kind < 0.15:
            return random.choice([-1, 1]) * 2.0 ** random.randint(40, 60)
        return float(random.randint(-2, 2)) if kind < 0.5 else random.uniform(-2, 2)

    return np.array([one() for _ in range(int(np.prod(shape)))], np.float64).reshape(shape)


def chain_of(random: Random, inputs: int) -> list[list[Array]]:
    """Two or three products, some of them in a row; of three in a row the sum often cancels what is huge."""
    hidden = random.randint(2, 3)
    first = [numbers(random, hidden, inputs)]
    if random.random() < 0.5:
        return [[*first, numbers(random, OUTPUTS, hidden)]]
    second = [numbers(random, 2, hidden), numbers(random, OUTPUTS, 2)]
    return [first, second] if random.random() < 0.5 else [[numbers(random, inputs, inputs), *first], second]


def comparisons(random: Random, values: Sequence[Fraction]) -> list[Comparison]:
    """Two or three, each of them met with equality at these outputs, missed by a hair, or far away."""
    made: list[Comparison] = []
    offsets: list[int | Fraction] = (
        [0, 0, 0, Fraction(1, 2**70), Fraction(-1, 2**20)] if random.random() < 0.6 else [0, 8, 8]
    )
    for _ in range(random.randint(2, 3)):
        chosen = random.sample(range(len(values)), random.randint(1, 2))
        row = {i: random.choice([-2, -1, 1, 3]) for i in chosen}
        here = sum((c * values[i] for i, c in row.items()), Fraction(0))
        size = abs(here) or Fraction(1)
        made.append((row, here + size * random.choice(offsets)))
    return made


def sum_of(row: dict[int, int], words: Sequence[str]) -> str:
    return "(+ " + " ".join(f"(* {c} {words[i]})" for i, c in row.items()) + " 0)"


def exactly(number: Fraction) -> str:
    """A number over a power of two, as a decimal."""
    places = number.denominator.bit_length() - 1
    assert number.denominator == 1 << places
    digits = str(abs(number.numerator) * 5**places).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[: len(digits) - places]}.{digits[len(digits) - places :]}0"


def single(inputs: int, lower: int, upper: int, asked: Sequence[Comparison]) -> str:
    """A 1.0 file."""
    names = [*(f"X_{i}" for i in range(inputs)), *(f"Y_{i}" for i in range(OUTPUTS))]
    lines = [f"(declare-const {n} Real)" for n in names]
    lines += [f"(assert (>= X_{i} {lower}))\n(assert (<= X_{i} {upper}))" for i in range(inputs)]
    parts = [f"(>= {sum_of(row, names[inputs:])} {exactly(bound)})" for row, bound in asked]
    return "\n".join([*lines, f"(assert (and {' '.join(parts)}))"])


def double(inputs: int, lower: int, upper: int, asked: Sequence[Comparison]) -> str:
    """A 2.0 file over f and g."""
    shapes = f"real [1,{inputs}]", f"real [1,{OUTPUTS}]"
    lines = ["(vnnlib-version <2.0>)"]
    lines += [
        f"(declare-network {n} (declare-input X_{n} {shapes[0]}) (declare-output Y_{n} {shapes[1]}))" for n in "fg"
    ]
    lines += [f"(assert (and (>= X_f[0,{i}] {lower}) (<= X_f[0,{i}] {upper})))" for i in range(inputs)]
    lines += [f"(assert (== X_f[0,{i}] X_g[0,{i}]))" for i in range(inputs)]
    words = [f"Y_{n}[0,{i}]" for n in "fg" for i in range(OUTPUTS)]
    parts = [f"(>= {sum_of(row, words)} {exactly(bound)})" for row, bound in asked]
    return "\n".join([*lines, f"(assert (and {' '.join(parts)}))"])


def is_met(networks: Sequence[Layers], lower: int, upper: int, inputs: int, asked: Sequence[Comparison]) -> bool:
    """Whether an input of the box meets all comparisons, exactly."""
    box = Polytope.box([Fraction(lower)] * inputs, [Fraction(upper)] * inputs)
    for piece in pieces(box, networks[0], networks[-1]):
        rows = [*piece.reference, *piece.candidate]
        part = piece.polytope
        for row, bound in asked:
            functional = [
                sum((Fraction(c * rows[i][at], piece.denominator) for i, c in row.items()), Fraction(0))
                - (bound if at == inputs else 0)
                for at in range(inputs + 1)
            ]
            part = part.cut(whole(functional)[0])
        if part:
            return True
    return False


def test_what_folding_rounds_away_is_not_proved_away(tmp_path: Path) -> None:
    """Both outputs are x, which 2^60 + 1 - 2^60 loses in floats, on [1, 2]: both are at least 1/2 everywhere."""
    first = np.array([[1.0], [1.0], [1.0]])
    second = np.array([[2.0**60, 1.0, -(2.0**60)]] * 2)
    path = write(tmp_path, "f", [[first, second]])
    file = tmp_path / "q.vnnlib"
    file.write_text(single(1, 1, 2, [({0: 1}, Fraction(1, 2)), ({1: 1}, Fraction(1, 2))]), encoding="utf-8")
    assert answer(file, {"f": path}, timeout=30, threads=1).answer is not Answer.UNSAT


def test_what_folding_adds_is_no_counterexample(tmp_path: Path) -> None:
    """Outputs of x that a float stores as 0, or as some other number: at most 1/2 they are nowhere on [1, 2]."""
    first = np.array([[1.0], [1.0], [1.0]])
    second = np.array([[2.0**60, 1.0, -(2.0**60)]] * 2)
    path = write(tmp_path, "f", [[first, second]])
    file = tmp_path / "q.vnnlib"
    file.write_text(single(1, 1, 2, [({0: -1}, Fraction(-1, 2)), ({1: -1}, Fraction(-1, 2))]), encoding="utf-8")
    assert answer(file, {"f": path}, timeout=30, threads=1).answer is not Answer.SAT


@pytest.mark.parametrize("names", ["f", "fg"])
def test_random_conjunctions_over_folded_networks(names: str, tmp_path: Path) -> None:
    random = Random(f"{names}0")
    answers, truths, folded = set(), set(), 0
    numbers = some(range(20), 10)
    for number in numbers:
        inputs = random.randint(1, 2)
        chains = [chain_of(random, inputs) for _ in names]
        exact = [unfolded(chain) for chain in chains]
        files = {n: write(tmp_path, n, chain) for n, chain in zip(names, chains, strict=True)}
        lower, upper = random.choice([(-1, 1), (1, 2), (0, 1)])
        planted = tuple(Fraction(random.randint(4 * lower, 4 * upper), 4) for _ in range(inputs))
        values = [y for layers in exact for y in outputs(layers, planted)]
        asked = comparisons(random, values)
        text = (single if names == "f" else double)(inputs, lower, upper, asked)
        file = tmp_path / f"{number}.vnnlib"
        file.write_text(text, encoding="utf-8")
        truth = is_met(exact, lower, upper, inputs, asked)
        found = answer(file, files, timeout=0.5, threads=1).answer
        assert found is not Answer.UNSAT or not truth, text
        assert found is not Answer.SAT or truth, text
        folded += any(not layer.exact for path in files.values() for layer in read_network(str(path)).layers)
        answers.add(found)
        truths.add(truth)
    assert Answer.SAT in answers
    assert Answer.UNSAT in answers
    assert truths == {True, False}
    assert folded >= len(numbers) / 2


@pytest.mark.parametrize("seed", range(6))
def test_a_conjunction_breaks_wherever_the_exact_outputs_meet_it(seed: int, tmp_path: Path) -> None:
    """The claim may break (its enclosures leave it open) at every point that the exact outputs make unsafe."""
    random = Random(seed)
    chains = [chain_of(random, 2) for _ in range(2)]
    networks = [read_network(str(write(tmp_path, n, c))) for n, c in zip("fg", chains, strict=True)]
    area = small_task(networks[0], networks[1], Epsilon(1, "linf", None))
    grid = [tuple(Fraction(n, 2) for n in point) for point in product(range(-2, 3), repeat=2)]
    for planted in random.sample(grid, 6):
        values = [y for chain in chains for y in outputs(unfolded(chain), planted)]
        asked = [({i: s}, s * values[i]) for i, s in enumerate(random.choices([-1, 1], k=4))]
        text = double(2, -1, 1, asked[: random.randint(2, 4)])
        words = [f"Y_{n}[0,{i}]" for n in "fg" for i in range(OUTPUTS)]
        assert satisfied(text.split("(assert (== X_f[0,1] X_g[0,1]))")[1], dict(zip(words, values, strict=True)))
        asserted = read_text(text).query.assertions[-1].formula
        assert isinstance(asserted, All)
        case = tuple(part for part in asserted.parts if isinstance(part, query.Comparison))
        assert may_break(conjunction(area, case, outer=True), planted)


def may_break(task: Task, point: tuple[Fraction, ...]) -> bool:
    """Whether some outputs within the enclosures put class 0 a margin of 1 ahead in f and behind in g."""
    f, g = task.reference.evaluate_exact(point), task.candidate.evaluate_exact(point)
    leads = all(f[0][1] - low >= 1 for low, _ in f[1:])
    return leads and any(high > g[0][0] for _, high in g[1:])
