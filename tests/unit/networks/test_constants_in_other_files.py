"""Files whose constants all lie in another file: the same network, wherever the process runs, and a digest of both."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.errors import NetworkError
from eqspec.networks import as_network, read_network
from unit.networks.composed_cases import COMPOSED_CASES
from unit.networks.function_cases import OPERATOR_CASES, RECOGNISED_CASES, REDUCED_CASES, Case, numbers
from unit.networks.graph_operator_cases import CASES
from unit.networks.models import model, node

_SPECIAL: dict[str, Case] = {
    "a NaN that is never chosen": (
        [node("Where", ["c", "x", "n"], "y")],
        {"c": np.array([True, True]), "n": np.array(np.nan, np.float32)}, (1, 2), 17,
    ),
    "a guarded logarithm": (
        [node("Greater", ["x", "z"], "g"), node("Log", ["x"], "l"), node("Where", ["g", "l", "o"], "y")],
        {"z": np.array(0, np.float32), "o": numbers(0.5)}, (1, 3), 17,
    ),
    "levels behind a Clip": (
        [
            node("Clip", ["x", "low", "high"], "c"),
            helper.make_node("DynamicQuantizeLinear", ["c"], ["q", "s", "z"]),
            node("DequantizeLinear", ["q", "s", "z"], "y"),
        ],
        {"low": np.array(-1, np.float32), "high": np.array(1, np.float32)}, (1, 3), 17,
    ),
}  # fmt: skip
ALL: dict[str, Case] = {
    **{f"graph {name}": made() for name, made in CASES.items()},
    **{f"composed {name}": made for name, made in COMPOSED_CASES.items()},
    **{f"operator {name}": made for name, made in OPERATOR_CASES.items()},
    **{f"reduced {name}": made for name, made in REDUCED_CASES.items()},
    **{f"recognised {name}": made for name, (_, made) in RECOGNISED_CASES.items()},
    **_SPECIAL,
}


def _saved(proto: onnx.ModelProto, folder: Path) -> tuple[Path, Path]:
    """One file with everything, and one with all constants in a file beside it."""
    whole, parted = folder / "whole.onnx", folder / "parted.onnx"
    onnx.save(proto, str(whole))
    onnx.save(
        proto, str(parted), save_as_external_data=True, location="beside", size_threshold=0, convert_attribute=True
    )
    return whole, parted


def _digest(parted: Path) -> str:
    """What the file and all that lies beside it are called."""
    beside, made = parted.parent / "beside", hashlib.sha256(parted.read_bytes())
    if beside.exists():
        made.update(b"beside" + hashlib.sha256(beside.read_bytes()).digest())
    return made.hexdigest()


def _read(path: Path) -> Any:
    try:
        return read_network(path)
    except NetworkError as error:
        return error.message


@pytest.mark.parametrize("name", ALL)
def test_constants_may_lie_in_other_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, constants, shape, opset = ALL[name]
    folder, elsewhere = tmp_path / "model", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    whole, parted = _saved(model(nodes, constants, shape, opset=opset), folder)
    first, second = _read(whole), _read(parted)
    if isinstance(first, str):
        assert first == second
        return
    assert not isinstance(second, str), second
    points = np.random.default_rng(0).normal(size=(3, first.input_size))
    np.testing.assert_array_equal(first.evaluate(points), second.evaluate(points))
    assert second.sha256 == _digest(parted)


def _looked_up(table: np.ndarray[Any, Any], folder: Path) -> Path:
    """An embedding as Keras writes it."""
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    nodes = [
        node("Less", ["i", "zero"], "below"), node("Add", ["i", "rows"], "moved"),
        node("Where", ["below", "moved", "i"], "place"), node("Gather", ["table", "place"], "found"),
        node("Flatten", ["found"], "y"),
    ]  # fmt: skip
    given = {"zero": np.array(0), "rows": np.array(len(table)), "table": table}
    stored = [numpy_helper.from_array(array, name) for name, array in given.items()]
    integers = helper.make_tensor_value_info("i", TensorProto.INT64, [1, 1])
    rows = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, table.shape[1]])
    graph = helper.make_graph(nodes, "g", [integers], [rows], stored)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return _saved(proto, folder)[1]


def test_a_table_is_read_from_beside_its_file_and_belongs_to_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read from the working directory, and two networks whose tables differ had one digest."""
    table = np.arange(20, dtype=np.float32).reshape(10, 2)
    _looked_up(table + 100, tmp_path / "elsewhere")
    path = _looked_up(table, tmp_path / "model")
    places = np.array([[3.0], [-3.0]])
    for directory in (tmp_path / "model", tmp_path / "elsewhere", tmp_path):
        monkeypatch.chdir(directory)
        network = read_network(path)
        np.testing.assert_array_equal(network.evaluate(places), table[[3, 7]])
        assert network.sha256 == _digest(path)
    assert read_network(_looked_up(table + 1, tmp_path / "model")).sha256 != network.sha256


@pytest.mark.parametrize("name", _SPECIAL)
def test_constants_that_are_nowhere_are_refused(name: str, tmp_path: Path) -> None:
    nodes, constants, shape, opset = _SPECIAL[name]
    _, parted = _saved(model(nodes, constants, shape, opset=opset), tmp_path)
    (tmp_path / "beside").unlink()
    with pytest.raises(NetworkError, match="no external data file"):
        read_network(parted)


def test_models_in_memory_read_nothing_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = numpy_helper.from_array(np.ones((2, 2), np.float32))
    proto = model([helper.make_node("Constant", [], ["w"], value=weights), node("MatMul", ["x", "w"], "y")], {}, [1, 2])
    _, parted = _saved(proto, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert as_network(onnx.load(parted)).input_size == 2
    with pytest.raises(NetworkError, match="in a file beside the model"):
        as_network(onnx.load(parted, load_external_data=False))
