"""The auditor's own radii for what is assumed of functions in float32, against what runtimes answer."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import pytest

from breadth import some
from eqspec.audit import Refused, audit
from eqspec.audit.reading import Float32
from eqspec.audit.witness import values_at
from eqspec.networks import in_float32, read_network
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from property.test_float32_functions import KINDS, Runtimes, network_of
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.graphs import read
from unit.certificates.proofs import certify, pack, unpack
from unit.networks.models import save

F = np.float32
BY_OTHERS = {"gelu", "hardswish", "mish", "product", "silu"}
"""Products of two values are not read in float32."""
TOO_LARGE = {"Exp"}
"""Exponentials of exponentials, which coarse bounds do not keep within the range of float32."""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in BY_OTHERS | TOO_LARGE])
def test_what_runtimes_answer_lies_within_the_radii(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    proto = network_of(kind, rng)
    file = read(proto, 4, Float32)
    runtimes = Runtimes(proto)
    for _ in some(range(4), 2):
        x = rng.uniform(-1, 1, size=4).astype(F)
        intervals = values_at(file, [Fraction(float(v)) for v in x])
        for found in runtimes(x[None]):
            for (low, high), y in zip(intervals, found.ravel().tolist(), strict=True):
                assert low <= Fraction(y) <= high
                assert high - low < 2e-3 * max(1.0, abs(y)) or kind == "cube"


@pytest.mark.parametrize("kind", sorted(BY_OTHERS))
def test_products_of_values_are_refused(kind: str) -> None:
    with pytest.raises(Refused, match="float32"):
        values_at(read(network_of(kind, np.random.default_rng(0)), 4, Float32), [Fraction(0)] * 4)


@pytest.mark.parametrize("kind", ["Tanh", "Sigmoid", "Gelu", "softmax"])
def test_a_proof_with_an_assumption_is_certified(kind: str, tmp_path: Path) -> None:
    """And says so; the certificate of a proof over the reals is refused as one about float32."""
    first = network_of(kind, np.random.default_rng(7))
    second = onnx.ModelProto()
    second.CopyFrom(first)
    stored = next(t for t in second.graph.initializer if t.name == "u")
    stored.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(stored) * F(1 + 2e-6), "u"))
    a, b = (read_network(save(tmp_path, proto, f"{n}.onnx")) for n, proto in enumerate((first, second)))
    reach = [Fraction(1, 50)] * 4
    lower, four = [-r for r in reach], space(4, 4)
    result, made = certify(
        task_of(in_float32(a), in_float32(b), Epsilon(Fraction(1, 2000)), lower=lower, upper=reach, space=four),
        tmp_path,
    )
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    assert any("2^-20" in text for _, text in audit(made.path).said)
    tight = task_of(a, b, Epsilon(Fraction(1, 10**5)), lower=lower, upper=reach, space=four)
    result, made = certify(tight, tmp_path)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    parts = unpack(made.path)
    parts.header["task"]["arithmetic"] = "float32"
    with pytest.raises(Refused, match="not proved"):
        audit(pack(tmp_path / "forged", parts))
