"""Two quantised networks that give the same numbers: the kernel follows them through their levels."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from eqspec.audit import audit
from eqspec.kernel import check, find
from eqspec.kernel.binary import ask, stream
from eqspec.property import Epsilon, Property, Top1
from eqspec.tasks.verdict import Verdict
from small_tasks import task as task_of
from unit.certificates.proofs import certify
from unit.certificates.test_grids import chain, files, quarters
from unit.certificates.test_levels_beside_numbers import rounding
from unit.kernel.pairs import points, question, twins
from unit.kernel.test_graphs import changes_are_noticed, in_file
from unit.kernel.test_kernel import needs_kernel


@needs_kernel
def test_equality_is_accepted_only_where_no_point_breaks_it() -> None:
    """Random networks and points, many of them ties of a rounding or ends of a clip."""
    random, accepted, broken = Random(26), 0, 0
    for _ in range(60):
        pair = twins(random)
        every = " ".join(map(str, [pair.outputs, *range(pair.outputs)]))
        data = stream(pair.text(), question(pair, f"distance {every} 0 1"), ["P 0"])
        differs = any(pair.at(point, 0) != pair.at(point, 1) for point in points(pair, random, 40))
        holds = ask(find(), data, 20).refused is None
        assert not (holds and differs), pair
        accepted, broken = accepted + holds, broken + differs
    assert accepted >= 10, "zero points that are moved, and ends that are not reached"
    assert broken >= 10


def deep(rng: np.random.Generator, styles: tuple[Any, Any], last: bool) -> list[Any]:
    """Two files of three layers of the same weights, each with quantisers of its own style."""
    weights = [
        quarters(rng, 6, 3),
        quarters(rng, 6),
        quarters(rng, 6, 6),
        quarters(rng, 6),
        quarters(rng, 2, 6),
        quarters(rng, 2),
    ]
    protos = []
    for zero, kind in styles:
        made = chain().qdq(0.25, zero, kind)
        for w, b in zip(weights[::2], weights[1::2], strict=True):
            made.then("Gemm", w, b, transB=1)
            if last or len(w) > 2:
                made.qdq(0.5, zero, kind)
        protos.append(made.proto(3))
    return protos


@needs_kernel
@pytest.mark.parametrize("last", [False, True], ids=["plain-outputs", "quantised-outputs"])
@pytest.mark.parametrize("claim", [Epsilon(0), Top1()], ids=["equals", "top1"])
def test_decisions_by_exact_integers_are_accepted(claim: Property, last: bool, tmp_path: Path) -> None:
    """int8 beside uint8 with a zero point of 128, and int16: the auditor decides by forms, the kernel by d = 0."""
    for number, styles in enumerate([((0, np.int8), (128, np.uint8)), ((0, np.int8), (0, np.int16))]):
        folder = tmp_path / str(number)
        folder.mkdir()
        pair = files(folder, *deep(np.random.default_rng(number), styles, last))
        box = [[Fraction(side, 2)] * 3 for side in (-1, 1)]
        result, made = certify(task_of(pair[0], pair[1], claim, *box), folder / "proofs")
        assert result.verdict is Verdict.EQUIVALENT
        assert made is not None
        assert made.reason is None
        assert audit(made.path, folder).verdict == "equivalent"
        assert check(made.path, folder, seconds=60).refused is None
        if last and number == 0 and claim == Epsilon(0):
            steps, inputs = in_file(made.path, folder)
            changes_are_noticed(steps, inputs, 40)


@needs_kernel
@pytest.mark.parametrize("bits", [4, 6])
def test_clips_beside_quantisers_are_accepted(bits: int, tmp_path: Path) -> None:
    """As taggers of jets beside what they were before they were quantised: within their roundings, on the first box."""
    rng = np.random.default_rng(bits)
    pair = files(tmp_path, *rounding(rng, bits))
    box = [[Fraction(side) for _ in range(4)] for side in (-1, 1)]
    x = rng.uniform(-1.0, 1.0, size=(2000, 4))
    seen = float(np.abs(pair[0].evaluate(x) - pair[1].evaluate(x)).max())
    _, made = certify(task_of(pair[0], pair[1], Epsilon(Fraction(9 * seen)), *box), tmp_path / "proofs")
    assert made is not None
    assert made.reason is None
    assert audit(made.path, tmp_path).verdict == "equivalent"
    assert check(made.path, tmp_path, seconds=60).refused is None
