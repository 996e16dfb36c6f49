"""What the auditor takes for the scores of a file is what the task takes for them, however its Softmax is written."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto

from eqspec.audit import Refused
from eqspec.audit.reading import File, Number
from eqspec.audit.witness import values_at
from eqspec.cli import main
from eqspec.networks import read_network
from unit.certificates.proofs import pack, unpack
from unit.networks.function_cases import weights
from unit.networks.models import model, node, save

SPEC = """eqspec 1
space s {{ features a, b, c, d outputs {outputs} }}
network f = "f.onnx" in s gives {gives}
network g = "g.onnx" in s gives {gives}
region r in s = box {{ all: -0.5 .. 0.5 }}
check close {{ prove g stays within {eps} of f on r }}
check sure {{ prove g keeps top1 of f when confidence >= 0.6 on r }}
"""


def literal(operator: str) -> list[NodeProto]:
    return [node(operator, ["z"], "p", axis=-1)]


def two_classes(*, first: bool) -> list[NodeProto]:
    names = ["s", "rest"] if first else ["rest", "s"]
    return [node("Sigmoid", ["z"], "s"), node("Sub", ["one", "s"], "rest"), node("Concat", names, "p", axis=1)]


def written_out(*, largest: bool, logarithm: bool) -> list[NodeProto]:
    nodes = [node("ReduceMax", ["z"], "m", axes=[-1]), node("Sub", ["z", "m"], "less")] if largest else []
    x = "less" if largest else "z"
    nodes += [node("Exp", [x], "e"), node("ReduceSum", ["e", "last"], "t", keepdims=1)]
    more = [node("Log", ["t"], "l"), node("Sub", [x, "l"], "p")]
    return nodes + (more if logarithm else [node("Div", ["e", "t"], "p")])


def shaped(before: str, behind: str, axis: int) -> list[NodeProto]:
    """A softmax of scores in one shape, whose results get another."""
    reshaped = node("Reshape", ["z", before], "z4"), node("Softmax", ["z4"], "p4", axis=axis)
    last = node("Reshape", ["p4", "row"], "p") if behind == "Reshape" else node(behind, ["p4"], "p")
    return [*reshaped, last]


ENDS: dict[str, Callable[[], list[NodeProto]]] = {
    "softmax": lambda: literal("Softmax"),
    "log softmax": lambda: literal("LogSoftmax"),
    "two classes, the second": lambda: two_classes(first=False),
    "two classes, the first": lambda: two_classes(first=True),
    "written out": lambda: written_out(largest=False, logarithm=False),
    "written out, largest off": lambda: written_out(largest=True, logarithm=False),
    "log written out": lambda: written_out(largest=False, logarithm=True),
    "log written out, largest off": lambda: written_out(largest=True, logarithm=True),
    "pixel, flattened": lambda: shaped("channels", "Flatten", 1),
    "pixel, reshaped": lambda: shaped("channels", "Reshape", -3),
    "pixel, channels moved last": lambda: [
        *shaped("channels", "Identity", 1)[:2],
        node("Transpose", ["p4"], "t", perm=[0, 2, 3, 1]),
        node("Flatten", ["t"], "p"),
    ],
    "image, flattened": lambda: shaped("image", "Flatten", -1),
}
SHAPES = {"channels": [1, 3, 1, 1], "image": [1, 1, 1, 3], "row": [1, 3]}


def pair(folder: Path, end: str, *, eps: str, gives: str = "logits", moved: float = 0.05) -> Path:
    """A spec about two networks that end so; the scores of the second are larger by a factor."""
    classes = 1 if end.startswith("two") else 3
    for name, factor in (("f", 1.0), ("g", 1.0 + moved)):
        nodes = [node("Gemm", ["x", "w"], "h"), node("Relu", ["h"], "r"), node("Gemm", ["r", "v"], "z"), *ENDS[end]()]
        nodes.append(node("Identity", ["p"], "y"))
        constants: dict[str, Any] = {"w": weights(4, 5), "v": (factor * weights(5, classes, seed=1)).astype(np.float32)}
        constants |= {"one": np.ones(1, np.float32)} if end.startswith("two") else {}
        constants |= {"last": np.array([-1])} if "written" in end else {}
        read = {name for one in nodes for name in one.input}
        constants |= {name: np.array(shape) for name, shape in SHAPES.items() if name in read}
        save(folder, model(nodes, constants, (1, 4)), f"{name}.onnx")
    spec = folder / "s.eqspec"
    spec.write_text(SPEC.format(outputs=max(classes, 2), eps=eps, gives=gives))
    return spec


def audit(folder: Path, spec: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = int(main(["audit", str(folder), "--spec", str(spec)]))
    found = capsys.readouterr()
    return code, found.out + found.err


@pytest.mark.parametrize("end", ENDS)
def test_scores_are_those_of_the_task(end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = pair(tmp_path, end, eps="1")
    assert read_network(str(tmp_path / "f.onnx")).stripped is not None
    assert main(["check", str(spec), "--certify", str(tmp_path / "made"), "--threads", "1", "--no-cache"]) == 0
    code, text = audit(tmp_path / "made", spec, capsys)
    assert code == 0, text
    assert text.count("its outputs here are what goes into that") == 4
    assert "2 of 2 tasks" in text


@pytest.mark.part(4)
@pytest.mark.parametrize("end", ["softmax", "two classes, the second", "two classes, the first", "written out"])
@pytest.mark.parametrize("gives", ["logits", "probabilities"])
def test_a_claim_about_shares_does_not_pass_for_one_about_scores(
    end: str, gives: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Scores differ by more than eps, shares by less: a certificate of a weaker claim, rewritten, shows nothing."""
    spec = pair(tmp_path, end, eps="1")
    made = tmp_path / "made"
    assert main(["check", str(spec), "--certify", str(made), "--threads", "1", "--no-cache"]) == 0
    spec.write_text(spec.read_text().replace("within 1 of", "within 0.01 of"))
    parts = unpack(made / "close.eqcert")
    parts.header["task"]["property"]["eps"] = "1/100"
    for role in ("reference", "candidate"):
        parts.header["task"][role]["gives"] = gives
    shutil.rmtree(made)
    made.mkdir()
    pack(made / "close.eqcert", parts)
    code, text = audit(made, spec, capsys)
    assert code != 0
    assert "close  not shown" in text
    if gives == "logits":
        assert "it ends in a Softmax, of which the task does not know" in text


def audited(path: str, outputs: int) -> File:
    one, none = ((Fraction(c),) * 4 for c in (1, 0))
    return File(path, Path(path).read_bytes(), Number, one, none, (0.0,) * 4, False, outputs)


@pytest.mark.parametrize(("axis", "opset"), [(-1, 17), (1, 17), (2, 11), (1, 11)])
def test_a_softmax_over_some_of_the_outputs_is_part_of_the_function(axis: int, opset: int, tmp_path: Path) -> None:
    """Two groups of two, whether or not their shape is another behind; before opset 13 an axis begins what is one."""
    reshaped = node("Reshape", ["x", "groups"], "z"), node("Softmax", ["z"], "p", axis=axis)
    nodes = [*reshaped, node("Reshape", ["p", "row"], "y")]
    path = save(tmp_path, model(nodes, {"groups": np.array([1, 2, 2]), "row": np.array([1, 4])}, (1, 4), opset=opset))
    network, file = read_network(path), audited(path, 4)
    whole = opset < 13 and axis == 1
    assert file.softmax == (network.stripped is not None) == whole
    point = [Fraction(n, 3) for n in (1, -2, 5, 0)]
    for (least, most), (low, high) in zip(values_at(file, point), network.evaluate_exact(point), strict=True):
        assert low <= most
        assert least <= high


@pytest.mark.parametrize(
    ("shape", "axis", "whole"), [([1, 4, 1], 1, True), ([1, 2, 2], 1, False), ([1, 2, 2], 2, False)]
)
def test_a_transpose_behind_a_softmax_is_seen_through_where_it_moves_nothing(
    shape: list[int], axis: int, whole: bool, tmp_path: Path
) -> None:
    reshaped = node("Reshape", ["x", "groups"], "z"), node("Softmax", ["z"], "p", axis=axis)
    nodes = [*reshaped, node("Transpose", ["p"], "y", perm=[0, 2, 1])]
    path = save(tmp_path, model(nodes, {"groups": np.array(shape)}, (1, 4)))
    network, file = read_network(path), audited(path, 4)
    assert file.softmax == (network.stripped is not None) == whole
    point = [Fraction(n, 3) for n in (1, -2, 5, 0)]
    for (least, most), (low, high) in zip(values_at(file, point), network.evaluate_exact(point), strict=True):
        assert low <= most
        assert least <= high


def test_nodes_that_pass_on_what_nothing_makes_are_refused(tmp_path: Path) -> None:
    """A file whose result is passed on in a circle."""
    proto = model([node("Identity", ["b"], "y"), node("Flatten", ["y"], "b")], {}, (1, 4))
    with pytest.raises(Refused, match="nothing before it makes 'b'"):
        audited(save(tmp_path, proto), 4).steps()
