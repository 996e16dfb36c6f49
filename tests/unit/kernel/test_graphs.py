"""Graphs and quantisers in the kernel's form: what is accepted, and that the form is the networks and nothing else."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from breadth import some
from convolutional_models import folded, initialise, on_a_grid, settle, write
from eqspec.audit import audit
from eqspec.audit.functions import Curve
from eqspec.audit.opening import Bounded, header, opened
from eqspec.audit.opening.question import question as asked_of
from eqspec.audit.reading import Step, network
from eqspec.audit.rounding import Refused
from eqspec.kernel import check
from eqspec.kernel.canonical import canonical
from eqspec.kernel.validation import validate
from eqspec.networks import read_network
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from small_tasks import task as task_of
from unit.certificates.proofs import certify
from unit.certificates.test_merging import after_a_relu
from unit.kernel.test_kernel import needs_kernel


def certified(first: Path, second: Path, eps: Fraction, radius: Fraction, centre: float, folder: Path) -> Path:
    """The certificate that no output differs by more."""
    pair = read_network(first), read_network(second)
    box = [[Fraction(centre) + side] * pair[0].input_size for side in (-radius, radius)]
    result, made = certify(task_of(*pair, Epsilon(eps), *box), folder, timeout=60)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    return made.path


def images(kind: Any, folder: Path) -> Path:
    """A certificate about a small network of convolutions and one whose weights lie on a grid."""
    rng = np.random.default_rng(1)
    model = folded(settle(initialise(kind, "relu", rng, 2), rng))
    files = write(model, folder / "a.onnx"), write(on_a_grid(model), folder / "b.onnx")
    return certified(*files, Fraction(1, 2), Fraction(1, 100), 0.5, folder)


@needs_kernel
@pytest.mark.parametrize("kind", ["plain", "pool", "residual"])
def test_convolutions_pools_and_residuals_are_accepted(kind: str, tmp_path: Path) -> None:
    path = images(kind, tmp_path)
    assert audit(path).verdict == "equivalent"
    assert check(path, seconds=60).refused is None


def in_file(path: Path, folder: Path | None = None) -> tuple[list[list[Step]], int]:
    """The steps of both networks of a certificate, and how many inputs they have."""
    with opened(path, 1 << 20) as file:
        asked = asked_of(header(Bounded(file))["task"])
    return [network(asked, role, folder or path.parent).steps() for role in ("reference", "candidate")], len(
        asked["space"]["features"]
    )


def changes_are_noticed(steps: list[list[Step]], inputs: int, count: int) -> None:
    """Of the canonical text, number by number."""
    pair = canonical(steps[0], steps[1], inputs)
    validate(pair.text, pair.grain, steps)
    words, random = pair.text.split(), Random(3)
    for at in random.sample(range(2, len(words) - 1), count):
        word = words[at]
        if word.lstrip("-").isdigit():
            word = str(int(word) + random.choice([-1, 1]))
        elif word.startswith("*"):
            word = f"*{int(word[1:]) + 1}"
        else:
            continue
        with pytest.raises(Refused, match="not what the network files say"):
            validate(" ".join([*words[:at], word, *words[at + 1 :]]), pair.grain, steps)


def test_every_number_of_an_unrolled_graph_counts(tmp_path: Path) -> None:
    steps, inputs = in_file(images("residual", tmp_path))
    assert any(part.source < number - 1 for number, step in enumerate(steps[0]) for part in step.value.parts)
    changes_are_noticed(steps, inputs, 12)


def quantised(folder: Path, clip: bool, zero: int, relu: bool, rng: np.random.Generator) -> Path:
    """Two dense layers with a quantiser of steps of 1/16 between them, or with a clip at the same ends."""
    weights = [np.round(rng.normal(size=shape) * 8) / 8 for shape in ((6, 3), (2, 6))]
    tensors = [numpy_helper.from_array(w.astype(np.float32), f"w{i}") for i, w in enumerate(weights)]
    nodes = [helper.make_node("Gemm", ["x", "w0"], ["v0"], transB=1)]
    if relu:
        nodes.append(helper.make_node("Relu", ["v0"], ["v1"]))
    before = "v1" if relu else "v0"
    if clip:
        ends = np.array([-zero / 16, (255 - zero) / 16], np.float32)
        tensors += [numpy_helper.from_array(end, f"end{i}") for i, end in enumerate(ends)]
        nodes.append(helper.make_node("Clip", [before, "end0", "end1"], ["v2"]))
    else:
        tensors += [numpy_helper.from_array(np.array(1 / 16, np.float32), "s")]
        tensors.append(numpy_helper.from_array(np.array(zero, np.uint8), "z"))
        nodes.append(helper.make_node("QuantizeLinear", [before, "s", "z"], ["q"]))
        nodes.append(helper.make_node("DequantizeLinear", ["q", "s", "z"], ["v2"]))
    nodes.append(helper.make_node("Gemm", ["v2", "w1"], ["y"], transB=1))
    shapes = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", m]) for n, m in (("x", 3), ("y", 2))]
    graph = helper.make_graph(nodes, "model", shapes[:1], shapes[1:], tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    path = folder / f"{clip}.onnx"
    path.write_bytes(made.SerializeToString())
    return path


@pytest.mark.part(2)
@needs_kernel
@pytest.mark.parametrize(("zero", "relu"), [(0, True), (128, False), (128, True)])
def test_quantised_networks_beside_their_clips_are_accepted(zero: int, relu: bool, tmp_path: Path) -> None:
    """A zero point of 128 cuts off below -8, so that a ReLU before it counts."""
    files = [quantised(tmp_path, clip, zero, relu, np.random.default_rng(4)) for clip in (True, False)]
    path = certified(files[0], files[1], Fraction(2), Fraction(2), 0.0, tmp_path)
    assert audit(path).verdict == "equivalent"
    assert check(path, seconds=60).refused is None
    steps, inputs = in_file(path)
    changes_are_noticed(steps, inputs, len(some(range(40), 16)))


def test_a_zero_point_is_taken_off_by_the_kernel_and_added_by_what_reads() -> None:
    one, other = (after_a_relu(Curve("levels", (0.25, zero, 0.0, 9.0, 0.0))) for zero in (3.0, 2.0))
    changes_are_noticed([one, other], 1, 40)
    pair = canonical(one, other, 1)
    with pytest.raises(Refused, match="not what the network files say"):
        validate(pair.text, pair.grain, [one, one])
