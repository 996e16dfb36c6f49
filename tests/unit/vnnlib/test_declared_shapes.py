"""Declared shapes and those of files: where entries of one are not those of the other, the file is refused."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.errors import SpecError
from eqspec.vnnlib.importing import import_query
from eqspec.vnnlib.reading import read_text


def identity(path: Path, shape: list[int | str]) -> Path:
    """What it gets, as it gets it."""
    zeros = numpy_helper.from_array(np.zeros((), np.float32), "zero")
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "zero"], ["y"])],
        "identity",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [zeros],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def query(shape: list[int]) -> str:
    places = [np.unravel_index(i, shape) for i in range(prod(shape))]
    entries = [",".join(map(str, place)) for place in places]
    bounds = " ".join(f"(>= X[{e}] {i}) (<= X[{e}] {i + 1})" for i, e in enumerate(entries))
    return (
        f"(vnnlib-version <2.0>) (declare-network f (declare-input X real {shape}) (declare-output Y real {shape}))"
        f"(assert (and {bounds})) (assert (>= Y[{entries[-1]}] 0))"
    )


@pytest.mark.parametrize(
    ("declared", "held", "fits"),
    [
        ([2, 3], [1, 2, 3], True),
        ([1, 2, 3], ["batch", 2, 3], True),
        ([2, 1, 3], [1, 2, 3, 1], True),
        ([2, 3], [1, 3, 2], False),
        ([2, 3], ["batch", 3, 2], False),
        ([2, 2, 3], [1, 2, 3, 2], False),
        ([4, 3], [1, 2, 2, 3], False),
        ([6], [1, 2, 3], True),
        ([2, 3], [1, 6], True),
    ],
)
def test_the_axes_of_a_declaration_are_those_of_its_file(
    tmp_path: Path, declared: list[int], held: list[int | str], fits: bool
) -> None:
    """A query about [2, 3] was answered for a file of [3, 2]."""
    path = identity(tmp_path / "f.onnx", held)
    if fits:
        assert import_query(read_text(query(declared)), {"f": path}).subject.inputs == prod(declared)
        return
    with pytest.raises(SpecError) as caught:
        import_query(read_text(query(declared)), {"f": path})
    (found,) = caught.value.diagnostics
    assert found.code == "E605"
    assert "entries of one are not those of the other" in found.message


@pytest.mark.parametrize(("called", "fits"), [(("x", "y"), True), (("y", "x"), False), (("x", "hidden"), False)])
def test_a_declared_node_is_the_one_of_the_file(tmp_path: Path, called: tuple[str, str], fits: bool) -> None:
    """A query about another tensor of the file was answered as if it were about the output."""
    path = identity(tmp_path / "f.onnx", [1, 2])
    text = query([2])
    for tensor, name in zip("XY", called, strict=True):
        text = text.replace(f"{tensor} real [2]", f'{tensor} real [2] "{name}"')
    assert all(f'"{name}")' in text for name in called)
    if fits:
        import_query(read_text(text), {"f": path})
        return
    with pytest.raises(SpecError, match=r"whose (input|output) is") as caught:
        import_query(read_text(text), {"f": path})
    assert {d.code for d in caught.value.diagnostics if d.severity == "error"} == {"E605"}
