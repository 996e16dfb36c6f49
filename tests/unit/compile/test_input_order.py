"""W320: pairs of files whose inputs or outputs are the same in another order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import eqspec
from eqspec.compile import load
from unit.networks.models import model, node, save

FLAT = {"shape": np.array([1, -1])}
SPEC = """eqspec 1
space s {{ features from "names.csv"  outputs {outputs} }}
network f = "f.onnx" in s
network g = "g.onnx" in s
region r in s = box {{ all: 0 .. 1 }}
check c {{ prove g stays within 1 of f  on r }}
"""


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ((1, 3, 2, 4), (1, 2, 4, 3), "takes [1, 2, 4, 3] where 'f' takes [1, 3, 2, 4]"),
        (("batch", 3, 8), ("batch", 8, 3), "takes [batch, 8, 3] where 'f' takes [batch, 3, 8]"),
        ((1, 3, 2, 4), (1, 3, 2, 4), None),
        ((1, 3, 2, 4), (1, 24), None),  # as flattened
        ((1, 3, 8), (1, 3, 1, 8), None),
    ],
)
def test_inputs_with_their_axes_in_another_order(
    first: tuple[int | str, ...], second: tuple[int | str, ...], said: str | None, tmp_path: Path
) -> None:
    for name, shape in (("f", first), ("g", second)):
        made = model([node("Reshape", ["x", "shape"], "y")], FLAT, shape, output_shape=(1, 24))
        save(tmp_path, made, f"{name}.onnx")
    assert messages(tmp_path, 24) == ([] if said is None else [f"'g' {said}: the same in another order"])


def test_outputs_with_their_axes_in_another_order(tmp_path: Path) -> None:
    for name, order in (("f", (0, 1, 2)), ("g", (0, 2, 1))):
        shape = tuple((1, 2, 3)[i] for i in order)
        made = model([node("Transpose", ["x"], "y", perm=list(order))], {}, (1, 2, 3), output_shape=shape)
        save(tmp_path, made, f"{name}.onnx")
    found = messages(tmp_path, 6)
    assert found == ["'g' gives [1, 3, 2] where 'f' gives [1, 2, 3]: the same in another order"]


@pytest.mark.parametrize(("used", "said"), [(("a", "b"), True), (("a", "a"), False)])
def test_files_that_leave_another_input_without_use(used: tuple[str, str], said: bool, tmp_path: Path) -> None:
    """What is left of each is one vector, of another input of both."""
    for name, one in zip("fg", used, strict=True):
        made = model([node("Relu", [one], "y")], {}, (1, 2), output_shape=(1, 2))
        del made.graph.input[:]
        made.graph.input.extend(helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 2)) for n in "ab")
        save(tmp_path, made, f"{name}.onnx")
    found = messages(tmp_path, 2)
    assert len(found) == said
    assert all("'g' takes 'b' where 'f' takes 'a'" in message for message in found)


def messages(folder: Path, size: int) -> list[str]:
    (folder / "names.csv").write_text(",".join(f"x{i}" for i in range(size)) + "\n" + ",".join(["0"] * size) + "\n")
    (folder / "s.eqspec").write_text(SPEC.format(outputs=size))
    return [d.message for d in load(folder / "s.eqspec").diagnostics if d.code == "W320"]


def test_a_pair_from_python_is_warned_of() -> None:
    shapes = {"f": (1, 3, 2), "g": (1, 2, 3)}
    f, g = (
        model([node("Reshape", ["x", "shape"], "y")], FLAT, shape, output_shape=(1, 6)) for shape in shapes.values()
    )
    with pytest.warns(UserWarning, match=r"the candidate takes \[1, 2, 3\] where the reference takes \[1, 3, 2\]"):
        eqspec.verify(f, g, [0] * 6, [1] * 6, eqspec.Epsilon(1))
    eqspec.verify(f, f, [0] * 6, [1] * 6, eqspec.Epsilon(1))  # warnings are errors in tests
