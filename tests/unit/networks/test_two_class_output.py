"""One output that is a Sigmoid, read as two classes where the space or the claim has two: against the definition."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import eqspec
from eqspec import compile as compiler
from eqspec.audit import Refused, audit
from eqspec.cli import main
from eqspec.networks import Network, of_two_classes, read_network
from eqspec.networks.expansion import graph_pieces
from eqspec.networks.frameworks.chain import INPUT, Chain
from eqspec.networks.session import Session
from eqspec.tasks import serialisation
from unit.certificates.proofs import pack, unpack
from unit.networks.exported import FLOAT, several, value
from unit.networks.models import node, save

HIDDEN = np.array([[1.0, -2.0, 0.5], [0.25, 1.0, -1.0]], np.float32)
LAST = np.array([[1.0], [0.5], [-1.5]], np.float32)
POINTS = np.array([[0.5, -0.25], [-1.0, 2.0], [0.0, 0.0], [3.0, 1.0]])


def classifier(
    *tail: onnx.NodeProto, step: float = 0.0, opset: int = 17, shape: tuple[int, ...] = (1, 1)
) -> onnx.ModelProto:
    last = LAST if not step else np.round(LAST / step).astype(np.float32) * np.float32(step)
    nodes = [node("MatMul", ["x", "h"], "a"), node("Relu", ["a"], "b"), node("MatMul", ["b", "w"], "z")]
    nodes += [node("Sigmoid", ["z"], "p" if tail else "y"), *tail]
    ends = [value("x", FLOAT, (1, 2))], [value("y", FLOAT, shape)]
    return several(nodes, {"h": HIDDEN, "w": last, "n": np.array([-1], np.int64)}, *ends, opset=opset)


def written(folder: Path, model: onnx.ModelProto, name: str = "m.onnx") -> Network:
    return read_network(Path(save(folder, model)).rename(folder / name))


@pytest.mark.parametrize("opset", [9, 13, 21])
@pytest.mark.parametrize("tail", [(), (node("Identity", ["p"], "y"),)], ids=["alone", "behind a name"])
def test_its_scores_are_nothing_and_what_the_sigmoid_is_of(
    tail: tuple[onnx.NodeProto, ...], opset: int, tmp_path: Path
) -> None:
    one = written(tmp_path, classifier(*tail, opset=opset))
    two = of_two_classes(one)
    assert two is not None
    assert (two.output_size, two.stripped) == (2, "softmax")
    scores = np.maximum(POINTS @ HIDDEN, 0) @ LAST
    assert np.allclose(two.evaluate(POINTS), np.hstack([np.zeros_like(scores), scores]))
    assert np.allclose(1 / (1 + np.exp(-scores)), one.evaluate(POINTS))
    answers = [Session(two).run(point) for point in POINTS]
    assert np.allclose(answers, two.evaluate(POINTS), atol=1e-5)
    assert one.sha256 in two.notes[-1]


def cast(*kinds: int) -> list[onnx.NodeProto]:
    names = ["p", *(f"p{at}" for at in range(1, len(kinds))), "y"]
    return [node("Cast", [a], b, to=kind) for a, b, kind in zip(names[:-1], names[1:], kinds, strict=True)]


@pytest.mark.parametrize(
    "kinds", [(onnx.TensorProto.DOUBLE, FLOAT), (onnx.TensorProto.DOUBLE,), (FLOAT, FLOAT)], ids=str
)
def test_casts_to_real_numbers_are_seen_through(kinds: tuple[int, ...], tmp_path: Path) -> None:
    model = classifier(*cast(*kinds))
    model.graph.output[0].type.tensor_type.elem_type = kinds[-1]
    two = of_two_classes(written(tmp_path, model))
    assert two is not None
    scores = np.maximum(POINTS @ HIDDEN, 0) @ LAST
    assert np.allclose(
        [Session(two).run(point) for point in POINTS], np.hstack([np.zeros_like(scores), scores]), atol=1e-5
    )


@pytest.mark.parametrize("kind", [onnx.TensorProto.INT64, onnx.TensorProto.BOOL, onnx.TensorProto.INT32], ids=str)
def test_a_cast_to_integers_decides_otherwise(kind: int, tmp_path: Path) -> None:
    """What is cut off or compared with 0 is above one half nowhere, or everywhere."""
    one = written(tmp_path, classifier(*cast(kind, FLOAT)))
    assert np.unique(one.evaluate(POINTS) >= 0.5).size == 1
    assert of_two_classes(one) is None


@pytest.mark.parametrize(
    "model",
    [
        classifier(node("Tanh", ["p"], "y")),
        classifier(node("Reshape", ["p", "n"], "y"), shape=(1,)),
        several([node("Sigmoid", ["x"], "y")], {}, [value("x", FLOAT, (1, 2))], [value("y", FLOAT, (1, 2))]),
    ],
    ids=["another function behind it", "one number without its axis", "two outputs"],
)
def test_what_else_is_no_classifier_of_two_classes(model: onnx.ModelProto, tmp_path: Path) -> None:
    assert of_two_classes(written(tmp_path, model)) is None


def test_a_file_that_changed_in_between_is_not_read_in_its_place(tmp_path: Path) -> None:
    one = written(tmp_path, classifier())
    written(tmp_path, classifier(step=0.4))
    with pytest.raises(eqspec.NetworkError, match="has changed"):
        of_two_classes(one)


def test_a_model_that_was_walked_layer_by_layer_is_a_classifier_too() -> None:
    """As one of Keras: its conversion says which shape the output has."""
    chain = Chain([2], np.dtype(np.float32))
    score = chain.add("MatMul", chain.add("Relu", chain.add("MatMul", INPUT, HIDDEN)), LAST)
    model = chain.model(chain.add("Sigmoid", score), [1])
    assert eqspec.verify(model, model, [-1, -1], [1, 1], eqspec.Top1()).verdict == "equivalent"


def test_decisions_are_decided(tmp_path: Path) -> None:
    """Where |z| is large enough both decide alike; at the border they do not."""
    reference = written(tmp_path, classifier(), "reference.onnx")
    candidate = written(tmp_path, classifier(step=0.4), "candidate.onnx")
    lower, upper = [-1.0, -1.0], [1.0, 1.0]
    result = eqspec.verify(reference, candidate, lower, upper, eqspec.Top1())
    assert result.verdict is eqspec.Verdict.DIFFERENT
    assert result.witness is not None
    x = np.array([result.witness.normalised], dtype=float)
    signs = [np.sign(network.evaluate(x) - 0.5).item() for network in (reference, candidate)]
    assert signs[0] != signs[1]
    sure = eqspec.verify(reference, candidate, lower, upper, eqspec.Confidence("0.75"))
    assert sure.verdict is eqspec.Verdict.EQUIVALENT


SPEC = """eqspec 1
space two { features a, b  outputs no, yes }
space one { features a, b  outputs p }
network f = "reference.onnx" in two
network g = "candidate.onnx" in two
network k = "reference.onnx" in one
network m = "candidate.onnx" in one
region r in two = box { all: -1 .. 1 }
region q in one = box { all: -1 .. 1 }
check decisions { prove g keeps top1 of f when confidence >= 0.75  on r }
check distance { prove m stays within 0.3 of k  on q }
check too_close { prove m stays within 0.001 of k  on q }
"""


def test_a_space_of_two_outputs_reads_it_so(tmp_path: Path) -> None:
    """Beside one of one output, for which the same files are one number each."""
    written(tmp_path, classifier(), "reference.onnx")
    written(tmp_path, classifier(step=0.4), "candidate.onnx")
    (tmp_path / "s.eqspec").write_text(SPEC)
    report = eqspec.check(tmp_path / "s.eqspec", cache=False, progress=False)
    found = {result.check: result.verdict.value for result in report}
    assert found == {"decisions": "equivalent", "distance": "equivalent", "too_close": "different"}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (onnx.helper.make_node("Identity", ["p"], ["y"]), True),
        (onnx.helper.make_node("Identity", ["p"], ["y"], domain="ai.onnx"), True),
        (onnx.helper.make_node("Identity", ["p"], ["y"], domain="own"), False),
        *((onnx.helper.make_node("Cast", ["p"], ["y"], to=kind), True) for kind in (1, 10, 11, 16)),
        *((onnx.helper.make_node("Cast", ["p"], ["y"], to=kind), False) for kind in (3, 7, 8, 9)),
        (onnx.helper.make_node("Cast", ["p"], ["y"]), False),
    ],
)
def test_what_is_seen_through(made: onnx.NodeProto, expected: bool) -> None:
    """One definition: casts among real numbers, and no other."""
    assert graph_pieces.hands_on(made) == expected


CLAIMS = SPEC[: SPEC.index("check distance")] + "check alike { prove g keeps top1 of f  on r }\n"


def test_a_certificate_says_so_and_the_auditor_derives_the_second_output(tmp_path: Path) -> None:
    """For a proof and for a witness; without a Sigmoid, or with another word about it, it is refused."""
    for name, step in (("reference.onnx", 0.0), ("candidate.onnx", 0.4)):
        written(tmp_path, classifier(step=step), name)
    (tmp_path / "s.eqspec").write_text(CLAIMS)
    assert main(["check", str(tmp_path / "s.eqspec"), "--certify", str(tmp_path / "c"), "--no-cache"]) == 1
    for name, verdict in (("decisions", "equivalent"), ("alike", "different")):
        path = tmp_path / "c" / f"{name}.eqcert"
        found = audit(path, tmp_path)
        assert found.verdict == verdict
        assert len([text for _, text in found.said if "read as two classes" in text]) == 2
        parts, forged = unpack(path), tmp_path / "forged.eqcert"
        task = parts.header["task"]
        asked = task["reference"]
        plain = {name: said for name, said in asked.items() if name != "two_classes"}
        tanh = written(tmp_path, classifier(node("Tanh", ["p"], "y")), "tanh.onnx").sha256
        for changed, reason in (
            ({**plain, "two_classes": "yes"}, "two_classes is not true"),
            (plain, "in front of a Softmax at its end, and the auditor sees none"),
            ({**asked, "path": "tanh.onnx", "sha256": tanh}, "no Sigmoid"),
        ):
            task["reference"] = changed
            with pytest.raises(Refused, match=reason):
                audit(pack(forged, parts), tmp_path)


def test_a_task_names_the_file_and_is_read_again(tmp_path: Path) -> None:
    for name in ("reference.onnx", "candidate.onnx"):
        one = written(tmp_path, classifier(step=0.4 * (name[0] == "c")), name)
    (tmp_path / "s.eqspec").write_text(CLAIMS)
    task = compiler.load(str(tmp_path / "s.eqspec")).tasks[0]
    data = json.loads(json.dumps(serialisation.to_json(task)))
    assert (data["candidate"]["sha256"], data["candidate"]["two_classes"]) == (one.sha256, True)
    again = serialisation.from_json(data)
    assert again.candidate == task.candidate or again.candidate.identity == task.candidate.identity
    assert again.reference.output_size == 2
    assert {**serialisation.to_json(again), "source": data["source"]} == data
