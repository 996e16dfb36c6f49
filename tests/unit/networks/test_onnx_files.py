"""Files as a whole: inputs, external data, what is refused and how it is said, damaged bytes."""

from __future__ import annotations

import hashlib
import tracemalloc
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from breadth import is_part, some
from eqspec.audit import Refused
from eqspec.audit.reading import File, Number
from eqspec.errors import NetworkError, UnsupportedOperatorError
from eqspec.networks import read_network
from eqspec.networks.readers import onnx_definition, onnx_model
from unit.networks.models import CURRENT, model, node, save

WEIGHT = np.arange(-6, 6, dtype=np.float32).reshape(3, 4) / 4
LINEAR = [node("MatMul", ["x", "w"], "h"), node("Relu", ["h"], "y")]


def linear(shape: Any = (1, 3), **options: Any) -> onnx.ModelProto:
    return model(LINEAR, {"w": WEIGHT}, shape, **options)


def refused(path: Path | str) -> NetworkError:
    with pytest.raises(NetworkError) as caught:
        read_network(path)
    assert caught.value.path == str(path)
    assert caught.value.fix
    return caught.value


def test_initialisers_listed_as_inputs_are_no_inputs(tmp_path: Path) -> None:
    network = read_network(save(tmp_path, linear(listed=True)))
    assert network.input_name == "x"
    assert np.array_equal(network.layers[0].weight, WEIGHT.T)


def test_a_relu_at_either_end_gets_an_exact_identity(tmp_path: Path) -> None:
    proto = model([node("Relu", ["x"], "y")], {}, (1, 3))
    network = read_network(save(tmp_path, proto))
    assert [layer.weight.tolist() for layer in network.layers] == [np.eye(3).tolist()] * 2
    assert all(layer.weight_error is None and not layer.bias.any() for layer in network.layers)


def test_nodes_that_the_output_does_not_need_are_not_read(tmp_path: Path) -> None:
    nodes = [*LINEAR, node("Tanh", ["x"], "unused"), node("Identity", ["nowhere"], "too")]
    read_network(save(tmp_path, model(nodes, {"w": WEIGHT, "bad": np.array(["s"])}, (1, 3))))


def test_an_output_that_does_not_depend_on_the_input(tmp_path: Path) -> None:
    network = read_network(
        save(tmp_path, model([node("Relu", ["c"], "y")], {"c": np.array([-1, 2], np.float32)}, (1, 3)))
    )
    assert np.array_equal(network.evaluate(np.ones((1, 3))), [[0, 2]])


def test_a_dead_branch_across_levels(tmp_path: Path) -> None:
    nodes = [
        node("Relu", ["x"], "r"), node("MatMul", ["r", "zero"], "d"),
        node("Relu", ["r"], "s"), node("Add", ["d", "s"], "y"),
    ]  # fmt: skip
    network = read_network(save(tmp_path, model(nodes, {"zero": np.zeros((3, 3), np.float32)}, (1, 3))))
    assert np.array_equal(network.evaluate(np.array([[1.0, -2.0, 3.0]])), [[1, 0, 3]])


def test_metadata(tmp_path: Path) -> None:
    path = save(tmp_path, linear(("batch", 3), output_shape=("batch", 4)))
    network = read_network(path)
    assert (network.source, network.sha256) == (path, hashlib.sha256(Path(path).read_bytes()).hexdigest())
    assert (network.input_name, network.input_shape) == ("x", ("batch", 3))
    assert (network.output_name, network.output_shape) == ("y", ("batch", 4))


def external(folder: Path, location: str = "weights.bin", **entries: str) -> Path:
    """A model whose weight is in another file, written or not."""
    proto = linear()
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return Path(save(folder, proto))


def test_external_data(tmp_path: Path) -> None:
    path = external(tmp_path, "weights.bin", offset="8", length="48")
    (tmp_path / "weights.bin").write_bytes(b"padding!" + WEIGHT.tobytes() + b"more")
    network = read_network(path)
    assert np.array_equal(network.layers[0].weight, WEIGHT.T)
    (tmp_path / "weights.bin").write_bytes(b"padding!" + (WEIGHT * 2).tobytes() + b"more")
    assert read_network(path).sha256 != network.sha256


def test_external_data_as_onnx_saves_it(tmp_path: Path) -> None:
    onnx.save(linear(), str(tmp_path / "m.onnx"), save_as_external_data=True, size_threshold=0)
    assert np.array_equal(read_network(tmp_path / "m.onnx").layers[0].weight, WEIGHT.T)


@pytest.mark.parametrize(
    ("location", "entries", "words"),
    [
        ("weights.bin", {}, "no external data file 'weights.bin'"),
        ("../weights.bin", {}, "outside the model's folder"),
        ("/etc/hostname", {}, "outside the model's folder"),
        ("", {}, "without a location"),
        ("m.onnx", {"offset": "10", "length": "9999"}, "asks for bytes"),
        ("m.onnx", {"offset": "one"}, "not a number"),
        *[
            ("m.onnx", {"offset": o}, "not a number")
            for o in ("-5", "+4", "1_0", " 4", "4\n", "0x4", "\uff14", "4.0", "9" * 5000)
        ],
        ("m.onnx", {"length": "4_8"}, "not a number"),
        ("m.onnx", {"length": "7"}, "whole number"),
        ("m.onnx", {"length": "8"}, "needs 12 numbers"),
        ("nul\0l", {}, "external data"),
    ],
)
def test_external_data_that_cannot_be_read(location: str, entries: dict[str, str], words: str, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    error = refused(external(folder, location, **entries))
    assert words in error.message
    assert "'w'" in error.message
    assert (error.operator, error.node) == ("MatMul", "MatMul_h")


@pytest.mark.parametrize("key", ["location", "offset", "length"])
def test_external_data_with_a_key_twice(key: str, tmp_path: Path) -> None:
    """Whichever of them counts, some runtime takes the other one."""
    path = external(tmp_path, "weights.bin", offset="0", length="48")
    for name in ("weights.bin", "other.bin"):
        (tmp_path / name).write_bytes(WEIGHT.tobytes() * 2)
    assert read_network(path)
    proto = onnx.load(path, load_external_data=False)
    proto.graph.initializer[0].external_data.add(key=key, value={"location": "other.bin"}.get(key, "48"))
    path.write_bytes(proto.SerializeToString())
    error = refused(path)
    assert f"the key {key!r} twice" in error.message
    assert "'w'" in error.message


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite(number: float, tmp_path: Path) -> None:
    weight = WEIGHT.copy()
    weight[1, 2] = number
    error = refused(save(tmp_path, model(LINEAR, {"w": weight}, (1, 3))))
    assert "'w'" in error.message
    assert "[1, 2]" in error.message
    assert error.operator == "MatMul"


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_number_that_is_not_finite(number: float, shape: tuple[int, ...], tmp_path: Path) -> None:
    """1 / NaN was computed from its bits where the tensor has rank 0, and a file that answers NaN was a network."""
    nodes = [node("Reciprocal", ["c"], "r"), node("Mul", ["x", "r"], "y")]
    error = refused(save(tmp_path, model(nodes, {"c": np.full(shape, number, np.float32)}, (1, 3))))
    assert "'c': a number that is not finite" in error.message


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((), "rank 0"),
        (None, "no declared shape"),
        (("a", "b"), "not fixed"),
        (("a",), "not fixed"),
        (("a", 3, "b"), "not fixed"),
        ((1, 2**40), "beyond the limit"),
        ((2**62, 2**62), "beyond the limit"),
        ((2**40,), "beyond the limit"),
    ],
)
def test_input_shapes_that_cannot_be_read(shape: Any, words: str, tmp_path: Path) -> None:
    assert words in refused(save(tmp_path, linear(shape))).message


def test_an_axis_without_entries_is_none_of_open_size(tmp_path: Path) -> None:
    """Beside another input it was read as one more number, which no runtime takes. Both readers are asked."""
    proto = model([node("Concat", ["x", "e"], "y", axis=1)], {}, (1, 3))
    proto.graph.input.append(helper.make_tensor_value_info("e", TensorProto.FLOAT, [1, 0]))
    path = Path(save(tmp_path, proto))
    assert "'e' has an axis of size 0" in refused(path).message
    one, none = ((Fraction(c),) * 4 for c in (1, 0))
    with pytest.raises(Refused, match="it takes 3 numbers"):
        File(str(path), path.read_bytes(), Number, one, none, (0.0,) * 4, False, 4).steps()


@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.STRING, TensorProto.UNDEFINED])
def test_input_types_that_cannot_be_read(kind: int, tmp_path: Path) -> None:
    proto = linear()
    proto.graph.input[0].type.tensor_type.elem_type = kind
    assert "has type" in refused(save(tmp_path, proto)).message


def test_no_input(tmp_path: Path) -> None:
    proto = linear()
    del proto.graph.input[:]
    assert "no input" in refused(save(tmp_path, proto)).message


@pytest.mark.parametrize(
    ("opset", "words"),
    [(5, "older than 6"), (CURRENT + 1000, "newer than the installed"), (None, "does not say which")],
)
def test_opsets(opset: int | None, words: str, tmp_path: Path) -> None:
    proto = linear(opset=opset or 17)
    if opset is None:
        del proto.opset_import[:]
    assert words in refused(save(tmp_path, proto)).message


def test_operators_redefined_after_the_reviewed_opset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_definition, "REVIEWED_OPSET", 12)
    error = refused(save(tmp_path, linear(opset=13)))
    assert "redefined in opset 13" in error.message
    assert error.operator == "MatMul"
    read_network(save(tmp_path, linear(opset=12)))


def graph_of(*nodes: onnx.NodeProto, constants: Any = None, kind: int = TensorProto.FLOAT) -> onnx.ModelProto:
    return model(nodes, {"w": WEIGHT} if constants is None else constants, (1, 3), kind=kind)


@pytest.mark.parametrize(
    ("proto", "words", "operator"),
    [
        (graph_of(node("MatMul", ["x", "w"], "z")), "no node computes the output 'y'", None),
        (graph_of(node("Add", ["x", "y"], "y")), "it reads 'y', which depends on it", "Add"),
        (graph_of(node("Relu", ["x"], "y"), node("Neg", ["x"], "y")), "computed twice", "Neg"),
        (graph_of(node("MatMul", ["x", "missing"], "y")), "nothing computes 'missing'", "MatMul"),
        (graph_of(node("Relu", ["x"], "y", domain="com.example")), "com.example.Relu is not supported", "Relu"),
        (graph_of(node("Identity", ["s"], "y"), constants={"s": np.array([1])}), "output holds integers", None),
        (
            graph_of(node("MatMul", ["x", "s"], "y"), constants={"s": np.ones((3, 3), np.int64)}),
            "input 1 ('s') has type int64, another one float",
            "MatMul",
        ),
        (graph_of(node("Mul", ["x", "s"], "y"), constants={"s": np.array(["a"])}), "tensor of type string", "Mul"),
        (
            graph_of(node("MatMul", ["x", "s"], "y"), constants={"s": np.ones((3, 0), np.float32)}),
            "output is empty",
            None,
        ),
        (
            graph_of(
                node("Mul", ["x", "s"], "t"),
                node("Mul", ["t", "s"], "y"),
                constants={"s": np.full(3, 1e200)},
                kind=TensorProto.DOUBLE,
            ),
            "range of float64",
            "Mul",
        ),
    ],
)
def test_graphs_that_cannot_be_read(proto: onnx.ModelProto, words: str, operator: str | None, tmp_path: Path) -> None:
    error = refused(save(tmp_path, proto))
    assert words in error.message
    assert error.operator == operator


def test_values_that_grow_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    """Twenty-six times twice as large; or a few large values of which all are needed at the end."""
    names = ["x", *(f"d{n}" for n in range(25)), "y"]
    doubling = [node("Concat", [a, a], b, axis=1) for a, b in pairwise(names)]
    kept = [node("Transpose", ["d19"], f"t{n}", perm=[1, 0]) for n in range(200)]
    together = [*doubling[:20], *kept, node("Sum", [f"t{n}" for n in range(200)], "y")]
    for nodes, operator, most in ((doubling, "Concat", 512), (together, "Transpose", 4096)):
        path = save(tmp_path, model(nodes, {}, [1, 2]))
        tracemalloc.start()
        error = refused(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert "limit" in error.message
        assert error.operator == operator
        assert peak < most << 20


def test_a_value_is_kept_until_its_last_use(tmp_path: Path) -> None:
    """x is used three times, once twice by one node, and an initialiser twice; t is the argument of two ReLUs."""
    nodes = [
        node("Add", ["x", "x"], "a"), node("Add", ["a", "c"], "t"), node("Relu", ["t"], "r"),
        node("Add", ["r", "x"], "s"), node("Relu", ["t"], "q"), node("Sub", ["s", "q"], "d"),
        node("Add", ["d", "c"], "y"),
    ]  # fmt: skip
    network = read_network(save(tmp_path, model(nodes, {"c": np.array([1, 2], np.float32)}, [1, 2])))
    point = [Fraction(-5, 2), Fraction(3)]
    assert [low for low, _ in network.evaluate_exact(point)] == [x + c for x, c in zip(point, (1, 2), strict=True)]


def test_the_huge_is_refused_before_it_is_allocated(tmp_path: Path) -> None:
    huge = np.array([2**31, 2**31])
    for nodes in (
        [node("ConstantOfShape", ["s"], "c"), node("Add", ["x", "c"], "y")],
        [node("Expand", ["x", "s"], "y")],
        [node("Unsqueeze", ["x", "s"], "y")],
    ):
        assert refused(save(tmp_path, graph_of(*nodes, constants={"s": huge}))).operator == nodes[0].op_type
    proto = linear()
    del proto.graph.initializer[0].dims[:]
    proto.graph.initializer[0].dims.extend([9000, 9000])
    assert "beyond the limit" in refused(save(tmp_path, proto)).message
    proto.graph.initializer[0].dims[:] = [2**40, 2**40]
    assert f"has {2**80} weights" in refused(save(tmp_path, proto)).message
    wide = graph_of(
        node("MatMul", ["x", "a"], "h"), node("MatMul", ["b", "g"], "y"), constants={"a": np.ones((3, 1), np.float32)}
    )
    wide.graph.node.insert(1, node("Transpose", ["h"], "g"))
    wide.graph.initializer.append(numpy_helper.from_array(np.ones((5000, 1), np.float32), "b"))
    assert read_network(save(tmp_path, wide)).output_size == 5000


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"not a model", b"<html>404</html>", b"\x08\x07"])
def test_files_that_are_no_models(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    assert "Fix: check" in str(refused(tmp_path / "m.onnx"))


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "missing.onnx").message
    assert "neither a file nor a project" in refused(tmp_path).message
    with pytest.raises(NetworkError):
        read_network("nul\0l.onnx")


def rich_model(tmp_path: Path) -> bytes:
    """A model with many operators, for damage."""
    nodes = [
        node("Sub", ["x", "m"], "c"), node("Div", ["c", "d"], "n"), node("Gemm", ["n", "w", "b"], "g", alpha=0.5),
        node("Unsqueeze", ["g", "axis"], "u"), node("BatchNormalization", ["u", "b", "b", "b", "v"], "bn"),
        node("Squeeze", ["bn", "axis"], "s"), node("Relu", ["s"], "r"), node("Reshape", ["r", "shape"], "q"),
        node("Transpose", ["q"], "t", perm=[0, 2, 1]), node("Flatten", ["t"], "f"),
        node("Slice", ["f", "zero", "three", "one"], "k"), node("Concat", ["f", "k"], "j", axis=1),
        node("Gather", ["j", "shape"], "p", axis=1), node("Softmax", ["p"], "y", axis=1),
    ]  # fmt: skip
    constants: dict[str, Any] = {
        "m": np.ones(3, np.float32), "d": np.array([1, 2, 3], np.float32), "w": WEIGHT,
        "b": np.arange(4, dtype=np.float32), "axis": np.array([2]), "v": np.ones(4, np.float32),
        "shape": np.array([1, 2, 2]), "zero": np.array([0]), "three": np.array([3]), "one": np.array([1]),
    }  # fmt: skip
    return Path(save(tmp_path, model(nodes, constants, ("n", 3)))).read_bytes()


def test_damaged_bytes_give_a_network_or_a_network_error(tmp_path: Path) -> None:
    content = rich_model(tmp_path)
    path = tmp_path / "m.onnx"
    assert read_network(path).output_size == 3
    random = np.random.default_rng(0)
    read, refusals = 0, set()
    trials = some(range(1200), 500)
    for trial in trials:
        damaged = bytearray(content)
        if trial % 10 == 0:
            del damaged[int(random.integers(len(content))) :]
        for _ in range(int(random.integers(1, 4))):
            at, count = int(random.integers(max(1, len(damaged)))), int(random.integers(1, 3))
            damaged[at : at + count] = random.bytes(count)
        path.write_bytes(bytes(damaged))
        try:
            network = read_network(path)
        except NetworkError as error:
            refusals.add(error.message.split("(")[0][:30])
        else:
            read += 1
            assert all(np.isfinite(layer.weight).all() for layer in network.layers)
    assert read > len(trials) / 24
    assert len(refusals) > (40 if is_part() else 60)


def test_a_graph_of_too_many_nodes(tmp_path: Path) -> None:
    """Each takes a part of a millisecond; what the output does not need does not count."""
    names = ["x", *(f"t{n}" for n in range(onnx_model.MAX_NODES)), "y"]
    chain = [node("Relu", [a], b) for a, b in pairwise(names)]
    assert "the limit is" in refused(save(tmp_path, model(chain, {}, [1, 2]))).message
    unused = [*chain[:-1], node("Relu", ["x"], "y")]
    assert read_network(save(tmp_path, model(unused, {}, [1, 2]))).output_size == 2


def test_an_operator_that_is_not_read_is_an_error_of_its_own(tmp_path: Path) -> None:
    """The compiler tells it from other faults of a file by the type of the error."""
    path = tmp_path / "n.onnx"
    onnx.save(graph_of(node("Relu", ["x"], "y", domain="com.example")), path)
    with pytest.raises(UnsupportedOperatorError) as caught:
        read_network(path)
    assert caught.value.operator == "Relu"
    onnx.save(graph_of(node("MatMul", ["x", "missing"], "y")), path)
    with pytest.raises(NetworkError) as caught_other:
        read_network(path)
    assert not isinstance(caught_other.value, UnsupportedOperatorError)


def test_too_many_weights_are_counted_before_one_is_read(tmp_path: Path) -> None:
    """Dense layers were counted once all of them were held as float64. None of these tensors has its numbers."""
    file = model(
        [node("MatMul", ["x", "a"], "h"), node("Relu", ["h"], "r"), node("MatMul", ["r", "b"], "y")], {}, (1, 8192)
    )
    for name in ("a", "b", "unused"):
        file.graph.initializer.append(TensorProto(name=name, data_type=TensorProto.FLOAT, dims=(8192, 8192)))
    error = refused(save(tmp_path, file))
    assert (
        error.message == "the network has 134217728 weights and other constants; networks of up to 100000000 are read"
    )
