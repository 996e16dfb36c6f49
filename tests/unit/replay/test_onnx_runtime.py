"""Original files in onnxruntime: input layouts, precision, a stripped softmax, and files that cannot be run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.networks import Network, compose_affine, read_network
from eqspec.property import Confidence, Epsilon, Top1
from eqspec.replay.onnx_runtime import CannotRunError, RuntimeReplay
from eqspec.replay.replay import Replay
from eqspec.report.table import runtime_said
from eqspec.tasks.witness import Witness
from small_tasks import network, space, task
from unit.networks.models import model, node, save

WEIGHT = [[1.0, -2.0], [0.5, 0.25]]


def write(
    path: Path,
    shape: Sequence[int | str],
    weight: Sequence[Sequence[float]] = WEIGHT,
    *,
    softmax: bool = False,
    kind: int = TensorProto.FLOAT,
) -> Network:
    """x -> x W^T, for x of the given shape, as a file; and as a network, without the softmax."""
    stored = np.array(weight, np.float64).T.astype(helper.tensor_dtype_to_np_dtype(kind))
    nodes = [helper.make_node("MatMul", ["x", "w"], ["z"])]
    if softmax:
        nodes.append(helper.make_node("Softmax", ["z"], ["p"], axis=-1))
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("p" if softmax else "z", kind, None)],
        [numpy_helper.from_array(stored, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)
    layer = (stored.T.astype(np.float64), np.zeros(len(weight)))
    return network(layer, source=str(path), stripped="softmax" if softmax else None)


POINT = (Fraction(1, 2), Fraction(1, 4))


@pytest.mark.parametrize("shape", [(2,), (1, 2), ("batch", 2), ("N", "C"), (5, 2), (789, 2), (1, 1, 2), ("a", 1, 2)])
def test_a_point_is_laid_out_as_the_file_takes_it(tmp_path: Path, shape: tuple[int | str, ...]) -> None:
    net = write(tmp_path / "a.onnx", shape)
    if shape == ("N", "C"):
        with pytest.raises(CannotRunError, match="does not hold one point of 2"):
            RuntimeReplay().outputs(net, POINT)
    else:
        assert RuntimeReplay().outputs(net, POINT).tolist() == [0.0, 0.3125]


@pytest.mark.parametrize(("kind", "answer"), [(TensorProto.FLOAT16, 2048.0), (TensorProto.DOUBLE, 2049.0)])
def test_the_input_is_rounded_to_the_type_of_the_file(tmp_path: Path, kind: int, answer: float) -> None:
    net = write(tmp_path / "a.onnx", (1, 2), [[1.0, 0.0]], kind=kind)
    assert RuntimeReplay().outputs(net, (Fraction(2049), Fraction(0))).tolist() == [answer]


def test_behind_a_softmax_the_scores_are_read(tmp_path: Path) -> None:
    net = write(tmp_path / "a.onnx", (1, 2), softmax=True)
    assert RuntimeReplay().outputs(net, POINT).tolist() == [0.0, 0.3125]
    other = write(tmp_path / "b.onnx", (1, 2), [[1.0, -2.0], [0.5, -8.0]], softmax=True)
    made = task(net, other, Confidence("0.57"))
    assert RuntimeReplay().confirms(made, POINT) == (True, None)  # sigmoid(0.3125) is 0.5775
    assert RuntimeReplay().confirms(replace(made, property=Confidence("0.58")), POINT) == (False, None)


def test_a_violation_too_small_for_the_file_is_not_confirmed(tmp_path: Path) -> None:
    """1 + 2^-30 is not a float32: over the reals the two differ, as float32 files they do not."""
    file = write(tmp_path / "a.onnx", (1, 1), [[1.0]])
    shift = compose_affine(file, [Fraction(1)], [Fraction(1, 2**30)])
    made = task(file, shift, Epsilon(Fraction(1, 2**31)), [1], [1], candidate_takes_raw=False)
    witness = Replay(made, RuntimeReplay()).replay((Fraction(1),))
    assert witness is not None
    assert witness.onnxruntime_confirms is False


def test_what_the_default_settings_rewrite_is_said_beside(tmp_path: Path) -> None:
    """x a w with w = 3 and a next to 1/3: rounded after each product it is x, with a put into w it is not."""
    third = np.float32(1) / np.float32(3)
    nodes = [node("Mul", ["x", "a"], "h"), node("MatMul", ["h", "w"], "y")]
    constants = {"a": np.full(1, third, np.float32), "w": 3 * np.eye(1, dtype=np.float32)}
    scaled = read_network(save(tmp_path, model(nodes, constants, [1, 1]), "scaled.onnx"))
    plain = write(tmp_path / "plain.onnx", (1, 1), [[1.0]])
    x = Fraction(float(np.float32(1.1)))
    run = RuntimeReplay()
    answers = [run.outputs(scaled, [x], rewritten=rewritten).tolist() for rewritten in (False, True)]
    assert answers[0] == [float(x)] != answers[1]
    witness = Replay(task(plain, scaled, Epsilon("1e-8"), [1], [2]), run).replay((x,))
    assert witness is not None
    assert (witness.onnxruntime_confirms, witness.onnxruntime_default_confirms) == (False, True)
    assert "default optimisations, which rewrite the models, the claim breaks here" in runtime_said(witness).plain
    assert Witness.from_json(json.loads(json.dumps(witness.to_json()))) == witness
    older = {key: value for key, value in witness.to_json().items() if key != "onnxruntime_default_confirms"}
    assert Witness.from_json(older).onnxruntime_default_confirms is None


def test_both_ways_alike_are_one_sentence(tmp_path: Path) -> None:
    net = write(tmp_path / "a.onnx", (1, 2))
    other = write(tmp_path / "b.onnx", (1, 2), [[1.0, -2.0], [0.5, 8.0]])
    replay, point = Replay(task(net, other, Epsilon(1)), RuntimeReplay()), (Fraction(0), Fraction(1))
    witness = replay.replay(point)
    assert witness is not None
    assert (witness.onnxruntime_confirms, witness.onnxruntime_default_confirms) == (True, True)
    later = replay.confirm(np.array([0.0, 1.0]), ask=False)
    assert later is not None
    assert later.onnxruntime_confirms is None
    assert replay.asked(later) == replay.asked(witness) == witness
    assert Replay(task(net, other, Epsilon(1))).asked(later) == later
    assert runtime_said(witness).plain == "onnxruntime agrees on the original files"


def test_each_file_gets_the_units_it_takes(tmp_path: Path) -> None:
    """raw = 10 + 2 x. The candidate takes raw units, and adds up to the same as the reference on normalised ones."""
    normalised = write(tmp_path / "a.onnx", (1, 1), [[2.0]])
    raw = write(tmp_path / "b.onnx", (1, 1), [[1.0]])
    composed = compose_affine(raw, [Fraction(2)], [Fraction(10)])
    made = task(
        normalised,
        composed,
        Epsilon("9.999"),
        space=space(1, 1, centre=(Fraction(10),), scale=(Fraction(2),)),
        candidate_takes_raw=True,
    )
    witness = Replay(made, RuntimeReplay()).replay((Fraction(1, 2),))
    assert witness is not None
    assert (witness.reference, witness.candidate) == ((1.0,), (11.0,))
    assert witness.raw == (Fraction(11),)
    assert witness.onnxruntime_confirms is True


def test_what_cannot_be_run_is_a_reason_and_not_an_error(tmp_path: Path) -> None:
    good = write(tmp_path / "a.onnx", (1, 2))
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"no model")
    strange = tmp_path / "strange.onnx"
    model = onnx.load(str(tmp_path / "a.onnx"))
    model.graph.node[0].op_type, model.graph.node[0].domain = "Quant", "qonnx.custom_op.general"
    model.opset_import.append(onnx.helper.make_opsetid("qonnx.custom_op.general", 1))
    onnx.save(model, str(strange))
    cases = {
        "<memory>": "not an ONNX file",
        "net.nnet": "not an ONNX file",
        str(tmp_path / "gone.onnx"): "there is no file",
        str(bad): "does not load",
        str(strange): f"{strange} has the operator qonnx.custom_op.general:Quant, which it does not know",
    }
    for source, reason in cases.items():
        made = task(good, replace(good, source=source), Top1())
        confirms, why = RuntimeReplay().confirms(made, POINT)
        assert confirms is None
        assert why is not None
        assert reason in why
        assert "\n" not in why


def test_an_answer_that_is_no_number_confirms_nothing(tmp_path: Path) -> None:
    huge = write(tmp_path / "a.onnx", (1, 1), [[3e38]])
    confirms, why = RuntimeReplay().confirms(task(huge, huge, Epsilon(1), [10], [10]), (Fraction(10),))
    assert confirms is None
    assert why is not None
    assert "not all of them finite" in why


def test_the_real_files_run_at_a_point_or_say_why_not(shared: Path) -> None:
    """One point each against the folded network; those that onnxruntime refuses are known."""
    refused = set()
    runtime = RuntimeReplay()
    paths = sorted(path for path in (shared / "data").glob("**/*.onnx") if "graphs" not in path.parts)
    assert len(paths) > 10
    for path in paths:
        net = read_network(path)
        point = [Fraction(k % 7 - 3, 8) for k in range(net.input_size)]
        try:
            found = runtime.outputs(net, point)
        except CannotRunError:
            refused.add(path.name)
            continue
        expected = net.evaluate(np.array([[float(x) for x in point]]))[0]
        assert np.allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max()), path
    assert refused <= {"acc_NET_2.onnx", "drones_AC1.onnx", "three_layer_bn_keras.onnx", "three_layer_bn_pytorch.onnx"}
