"""Balances in certificates are hints: with any of them the audit is sound, and what is not of their form is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.audit.reading import File, Float32, Pair
from eqspec.audit.reading.balance import balanced, products
from eqspec.audit.reading.program import Step
from eqspec.audit.reading.tiles import exactly as exactly_of
from eqspec.audit.reading.value import CONSTANT, INPUTS
from eqspec.audit.rounding import Refused
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.graphs import read
from unit.certificates.proofs import Parts, certify, holds, unpack
from unit.networks.models import model, node
from unit.networks.test_balancing import attention, gated, weights


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """A certificate of two gated layers with factors of unlike scales."""
    folder = tmp_path_factory.mktemp("gated")
    first, second = gated(folder, 1e4), gated(folder, 1e4, 1e-3)
    ends: dict[str, Any] = {"lower": [Fraction(-1)] * 4, "upper": [Fraction(1)] * 4}
    task = task_of(first, second, Epsilon("0.1"), space=space(4, 3), **ends)
    result, certificate = certify(task, folder / "proofs")
    assert result.verdict is Verdict.EQUIVALENT
    assert certificate is not None
    assert certificate.reason is None
    return unpack(certificate.path)


def test_a_proof_that_needs_a_balance_says_it(accepted: Parts, tmp_path: Path) -> None:
    one, other = accepted.header["balances"]
    assert one == other
    assert [len(k) for k in one] == [6]
    assert holds(accepted, tmp_path)
    without = accepted.copy()
    del without.header["balances"]
    assert not holds(without, tmp_path)


def test_a_proof_of_attention_has_a_certificate(tmp_path: Path) -> None:
    first, second = attention(tmp_path), attention(tmp_path, 1e-3)
    ends: dict[str, Any] = {"lower": [Fraction(-1, 50)] * 8, "upper": [Fraction(1, 50)] * 8}
    task = task_of(first, second, Epsilon("0.05"), space=space(8, 3), **ends)
    result, certificate = certify(task, tmp_path / "proofs")
    assert result.verdict is Verdict.EQUIVALENT
    assert certificate is not None
    assert certificate.reason is None


WRONG: dict[str, Callable[[Any], Any]] = {
    "no list": lambda given: 3,
    "one network": lambda given: given[:1],
    "three networks": lambda given: [*given, []],
    "too many products": lambda given: [[*given[0], given[0][0]], given[1]],
    "too few rows": lambda given: [[given[0][0][1:]], given[1]],
    "no whole number": lambda given: [[[0.5, *given[0][0][1:]]], given[1]],
    "true": lambda given: [[[True, *given[0][0][1:]]], given[1]],
    "text": lambda given: [[["1", *given[0][0][1:]]], given[1]],
    "beyond floats": lambda given: [[[25, *given[0][0][1:]]], given[1]],
    "far beyond": lambda given: [[[-(10**30), *given[0][0][1:]]], given[1]],
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_balance_is_refused(name: str, accepted: Parts, tmp_path: Path) -> None:
    changed = accepted.copy()
    changed.header["balances"] = WRONG[name](changed.header["balances"])
    assert not holds(changed, tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_with_other_exponents_nothing_false_is_proved(seed: int, accepted: Parts, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    changed = accepted.copy()
    changed.header["balances"] = [[random.integers(-24, 25, 6).tolist()] for _ in range(2)]
    changed.header["task"]["property"]["eps"] = "1/1000000"
    assert not holds(changed, tmp_path)


def test_products_in_float32_are_not_balanced(tmp_path: Path) -> None:
    path = Path(gated(tmp_path, 1e4).source)
    one, none = ((Fraction(c),) * 4 for c in (1, 0))
    file = File(str(path), path.read_bytes(), Float32, one, none, (1.0,) * 4, False, 3)
    rows = [{o: Fraction(1)} for o in range(3)]
    with pytest.raises(Refused, match="in float32"):
        Pair.of(file, file, (rows, rows), (((1,) * 6,), ()))


def exactly(steps: list[Step], point: list[Fraction]) -> list[Fraction]:
    """The last step in rationals, with squares that nothing rounds."""
    values = {INPUTS: point, CONSTANT: [Fraction(1)]}
    for number, step in enumerate(steps):
        now = [Fraction(0)] * step.value.size
        for part in step.value.parts:
            kernels, missing = exactly_of(part.kernels)
            assert missing is None
            for row, units, kind in zip(part.rows.tolist(), part.index.tolist(), part.kind.tolist(), strict=True):
                taps = zip(units, kernels[kind].tolist(), strict=True)
                now[row] += sum(Fraction(c) * values[part.source][at] for at, c in taps if at >= 0)
        if step.curves:
            (curve,) = step.curves
            now = [x * x if curve.name == "square" else max(x, Fraction(0)) for x in now]
        values[number] = now
    return values[len(steps) - 1]


@pytest.mark.parametrize("seed", range(4))
def test_steps_stay_the_same_function(seed: int) -> None:
    """As the auditor reads and writes them, in rationals."""
    random = np.random.default_rng(seed)
    nodes = [
        node("MatMul", ["x", "a"], "u"), node("MatMul", ["x", "b"], "h"), node("Relu", ["h"], "v"),
        node("Mul", ["u", "v"], "p"), node("Mul", ["p", "third"], "q"), node("MatMul", ["q", "c"], "y"),
    ]  # fmt: skip
    constants: dict[str, Any] = {
        "a": weights(1, 4, 5), "b": weights(2, 4, 5), "c": weights(3, 5, 2), "third": np.float32(1 / 3)
    }  # fmt: skip
    steps = read(model(nodes, constants, [1, 4]), 2).steps()
    assert len(products(steps)) == 1
    made = balanced(steps, (tuple(random.integers(-24, 25, 5).tolist()),))
    assert len(made) == len(steps) + 2
    for _ in range(3):
        point = [Fraction(int(n), 7) for n in random.integers(-20, 21, 4)]
        assert exactly(made, point) == exactly(steps, point)


def test_a_balance_of_other_products_is_refused() -> None:
    steps = read(model([node("MatMul", ["x", "a"], "y")], {"a": weights(1, 4, 5)}, [1, 4]), 5).steps()
    assert balanced(steps, ()) == steps
    with pytest.raises(Refused, match="other products"):
        balanced(steps, ((1, 2),))
