"""What exports of scikit-learn have around a network, as the auditor reads it, against onnxruntime."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.audit import Refused, audit
from eqspec.audit.witness import values_at
from eqspec.networks import read_network
from eqspec.property import Epsilon, Top1
from eqspec.tasks.verdict import Verdict
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.graphs import read
from unit.certificates.proofs import certify

ML = "ai.onnx.ml"


def pipeline(
    seed: int, norm: str | None = None, dictionary: bool = False, softmax: bool = True, **changed: Any
) -> onnx.ModelProto:
    """A Scaler, a Normalizer, a network, probabilities by class, and the branch of the label beside them."""
    rng, node = np.random.default_rng(seed), helper.make_node
    scaler = {"offset": [0.25, -0.5, 1.0], "scale": [2.0, 0.5, 1.5]} | changed
    nodes = [node("Scaler", ["x"], ["s"], domain=ML, **{k: v for k, v in scaler.items() if v is not None})]
    now = "s"
    if norm is not None:
        nodes.append(node("Normalizer", ["s"], ["n"], domain=ML, norm=norm))
        now = "n"
    nodes += [node("MatMul", [now, "w"], ["h"]), node("Relu", ["h"], ["r"]), node("MatMul", ["r", "v"], ["z"])]
    nodes.append(node("Softmax", ["z"], ["p"], axis=1) if softmax else node("Identity", ["z"], ["p"]))
    nodes += [node("ArgMax", ["p"], ["a"], axis=1), node("ArrayFeatureExtractor", ["classes", "a"], ["f"], domain=ML)]
    nodes += [node("Cast", ["f"], ["label"], to=TensorProto.INT64)]
    value = helper.make_tensor_value_info
    ends = [value("label", TensorProto.INT64, None), value("p", TensorProto.FLOAT, [1, 3])]
    if dictionary:
        nodes.append(node("ZipMap", ["p"], ["d"], domain=ML, classlabels_int64s=[5, 7, 9]))
        kind = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
        ends[1] = helper.make_value_info("d", helper.make_sequence_type_proto(kind))
    constants = {"w": rng.integers(-4, 5, (3, 4)) / 4, "v": rng.integers(-4, 5, (4, 3)) / 4}
    stored = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in constants.items()]
    stored.append(numpy_helper.from_array(np.array([5, 7, 9]), "classes"))
    graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [1, 3])], ends, stored)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def choosing(*places: int) -> onnx.ModelProto:
    """Features at stored places, as a selection of features is exported."""
    nodes = [
        helper.make_node("ArrayFeatureExtractor", ["x", "i"], ["f"], domain=ML),
        helper.make_node("Relu", ["f"], ["y"]),
    ]
    value = helper.make_tensor_value_info
    ends = [value("x", TensorProto.FLOAT, [1, 4])], [value("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", *ends, [numpy_helper.from_array(np.array([places], np.int64), "i")])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def test_features_at_stored_places() -> None:
    proto, x = choosing(3, 0, 3), np.array([[0.5, -1.0, 2.0, 4.0]], np.float32)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    found = values_at(read(proto, 3), [Fraction(float(v)) for v in x.ravel()])
    assert [float(low) for low, _ in found] == session.run(None, {"x": x})[0].ravel().tolist() == [4.0, 0.5, 4.0]


@pytest.mark.parametrize("place", [4, -1])
def test_features_at_places_that_there_are_not(place: int) -> None:
    with pytest.raises(Refused, match="places that there are not"):
        read(choosing(0, place), 2).steps()


@pytest.mark.parametrize("norm", [None, "L1", "L2"])
def test_numbers_are_those_of_onnxruntime(norm: str | None) -> None:
    proto, rng = pipeline(1, norm, softmax=False), np.random.default_rng(2)
    own, run = (
        read(proto, 3),
        onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"]),
    )
    for _ in range(8):
        x = (rng.integers(-16, 17, (1, 3)) / 8).astype(np.float32)
        found = values_at(own, [Fraction(float(v)) for v in x.ravel()])
        np.testing.assert_allclose([float(low) for low, _ in found], run.run(["p"], {"x": x})[0].ravel(), atol=1e-5)
        assert norm == "L2" or all(high - low < 1e-9 for low, high in found)


@pytest.mark.parametrize("dictionary", [False, True])
def test_exports_have_certificates(dictionary: bool, tmp_path: Path) -> None:
    """Also where probabilities are a dictionary by class; the Softmax is set aside as the task says."""
    pair = []
    moved: dict[str, Any] = {"offset": [0.25, -0.5, 1.0625]}
    for name, changed in (("one", {}), ("other", moved)):
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(pipeline(1, dictionary=dictionary, **changed).SerializeToString())
        pair.append(read_network(path))
    box = [[Fraction(end)] * 3 for end in (-1, 1)]
    for claim, verdict in ((Epsilon(1), Verdict.EQUIVALENT), (Top1(), Verdict.DIFFERENT)):
        task = task_of(pair[0], pair[1], claim, box[0], box[1], space=space(3, 3))
        result, certificate = certify(task, tmp_path / "proofs")
        assert result.verdict is verdict
        assert certificate is not None
        assert certificate.reason is None
        assert audit(certificate.path, tmp_path).verdict == verdict.value


REFUSED: dict[str, dict[str, Any]] = {
    "the largest entry": {"norm": "MAX"}, "no scale": {"scale": None}, "two offsets": {"offset": [1.0, 2.0]},
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_one_meaning_is_refused(name: str) -> None:
    with pytest.raises(Refused):
        read(pipeline(1, **REFUSED[name]), 3).steps()
