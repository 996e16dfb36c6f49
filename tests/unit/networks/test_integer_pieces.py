"""What operators make of one integer, as pieces, against numpy at many integers, the ends of the type among them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator

from breadth import some
from eqspec.networks.expansion.integer_pieces import OPERATORS, UnknownPiecesError, pieces_of

ENDS = np.iinfo(np.int32)
FAR = 2**25  # a cast to a float rounds from here on
INTEGERS = np.concatenate([
    np.arange(-40, 41), np.arange(ENDS.min, ENDS.min + 40), np.arange(ENDS.max - 40, ENDS.max + 1),
    [-FAR - 1, -FAR + 1, FAR - 1, FAR + 1],
]).astype(np.int32)  # fmt: skip


def graph(rng: np.random.Generator) -> tuple[list[NodeProto], dict[str, np.ndarray], str]:
    """Random nodes of one integer x; types are right, and the last is an integer."""
    kinds = {"x": "int", "a": "int", "b": "int", "f": "real", "yes": "truth"}
    stored: dict[str, np.generic] = {
        "a": np.int32(rng.integers(-9, 10)),
        "b": np.int32(rng.integers(0, 2)),
        "f": np.float32(rng.integers(-3, 4)),
    }
    nodes = list[NodeProto]()

    def one(kind: str) -> str:
        return str(rng.choice([name for name, k in kinds.items() if k == kind]))

    stored["yes"] = np.bool_(True)
    for at in range(int(rng.integers(3, 11))):
        operator = str(rng.choice(sorted(OPERATORS)))
        kind = str(rng.choice(["int", "real"] if operator not in ("And", "Or", "Not") else ["truth"]))
        name, to = f"v{at}", dict[str, Any]()
        match operator:
            case "Cast":
                made = str(rng.choice(["int", "real", "truth"]))
                given = [one(str(rng.choice(["int", "truth"])))]
                to = {"to": {"int": TensorProto.INT32, "real": TensorProto.FLOAT, "truth": TensorProto.BOOL}[made]}
            case "Where":
                given, made = [one("truth"), one("int"), one("int")], "int"
            case "Not" | "Identity":
                given, made = [one(kind)], kind
            case "Add" | "Sub" | "Mul" | "And" | "Or":
                given, made = [one(kind), one(kind)], kind
            case _:
                given, made = [one(kind), one(kind)], "truth"
        nodes.append(helper.make_node(operator, given, [name], **to))
        kinds[name] = made
    last = [name for name, kind in kinds.items() if kind == "int" and name.startswith("v")]
    return nodes, {name: np.asarray(a) for name, a in stored.items()}, last[-1] if last else ""


@pytest.mark.parametrize("seed", some(range(40), 8))
def test_random_nodes(seed: int) -> None:
    rng, known = np.random.default_rng(seed), 0
    for _ in range(60):
        nodes, stored, wanted = graph(rng)
        if not wanted:
            continue
        tensors = {name: onnx.numpy_helper.from_array(a, name) for name, a in stored.items()}
        try:
            pieces = pieces_of(nodes, stored, "x", wanted)
        except UnknownPiecesError:
            continue
        known += 1
        value = helper.make_tensor_value_info
        proto = helper.make_graph(
            nodes, "g", [value("x", TensorProto.INT32, [None])], [value(wanted, TensorProto.INT32, None)],
            list(tensors.values()),
        )  # fmt: skip
        made = helper.make_model(proto, opset_imports=[helper.make_opsetid("", 18)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (found,) = ReferenceEvaluator(made).run(None, {"x": INTEGERS})
        found = np.broadcast_to(found, INTEGERS.shape)
        assert [p.first for p in pieces[1:]] == [p.last + 1 for p in pieces[:-1]]
        for x, true in zip(INTEGERS.tolist(), found.tolist(), strict=True):
            (piece,) = (p for p in pieces if p.first <= x <= p.last)
            said = piece.line.at(x)
            assert said == true or min(abs(said), abs(true)) > 2**24, (nodes, stored, wanted, x)
    assert known >= 15
