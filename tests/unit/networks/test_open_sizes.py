"""Sizes that a file leaves open, given by a shape, by a count or by name: read as onnxruntime runs the file there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from eqspec import as_network, quantised
from eqspec.errors import DerivationError, NetworkError, OpenSizesError
from eqspec.networks import Network, in_float32, read_network
from eqspec.networks.readers.open_sizes import with_sizes
from unit.networks.models import model, node, run_onnxruntime, save
from unit.networks.test_batches import RECURRENT, THROUGH_TIME
from unit.networks.test_onnx_files import refused

KERNEL = np.random.default_rng(0).normal(size=(2, 3, 3, 3)).astype(np.float32)
IMAGE = [node("Conv", ["x", "k"], "c", pads=[1] * 4), node("Relu", ["c"], "r"), node("GlobalAveragePool", ["r"], "y")]


def image(shape: Any = ("batch", 3, "height", "width")) -> onnx.ModelProto:
    return model(IMAGE, {"k": KERNEL}, shape, output_shape=("batch", 2, 1, 1))


def as_onnxruntime(network: Network, proto: onnx.ModelProto, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    found = network.evaluate(x.reshape(1, -1).astype(np.float64)).ravel()
    np.testing.assert_allclose(found, run_onnxruntime(proto, x).ravel(), atol=1e-5)


@pytest.mark.parametrize(
    "given", [(3, 4, 5), (1, 3, 4, 5), {"x": (1, 3, 4, 5)}, [3, 4, 5], {"x": np.array([1, 3, 4, 5])}]
)
def test_an_image_of_open_size_is_read_at_the_shape_that_is_given(given: Any, tmp_path: Path) -> None:
    proto = image()
    network = read_network(save(tmp_path, proto), input_shape=given)
    assert (network.input_size, network.fixed) == (60, (("x", (1, 3, 4, 5)),))
    assert "input 'x' is read as [1, 3, 4, 5]" in " ".join(network.notes)
    as_onnxruntime(network, proto, (1, 3, 4, 5))
    assert as_network(proto, input_shape=given).fixed == network.fixed


@pytest.mark.parametrize(
    ("nodes", "constants", "declared", "count", "shape"),
    [
        (THROUGH_TIME, RECURRENT, ("steps", 1, 3), 12, (4, 1, 3)),  # the one open size is not that of samples
        (THROUGH_TIME, RECURRENT, ("steps", "batch", 3), 12, (4, 1, 3)),
        ([node("ReduceMax", ["x"], "y", axes=[2])], {}, ("batch", 5, "width"), 10, (1, 5, 2)),
        ([node("Relu", ["x"], "y")], {}, ("features",), 7, (7,)),
        ([node("Relu", ["x"], "y")], {}, ("batch", "side", "side"), 9, (1, 3, 3)),
    ],
)
def test_a_count_tells_the_one_size_that_is_missing(
    nodes: Any, constants: Any, declared: Any, count: int, shape: tuple[int, ...], tmp_path: Path
) -> None:
    proto = model(nodes, constants, declared)
    path = save(tmp_path, proto)
    assert isinstance(refused(path), OpenSizesError)
    network = read_network(path, input_shape=(count,))
    assert network.fixed == (("x", shape),)
    as_onnxruntime(network, proto, shape)
    with pytest.raises(OpenSizesError, match="not fit"):
        read_network(path, input_shape=(count + 1,)) if len(declared) > 1 else read_network(path, input_shape=(2, 4))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((60,), "several of its sizes are open"),
        ((4, 4, 5), "does not fit"),
        ((3, 4), "does not fit"),
        ({"x": (1, 4, 4, 5)}, "the batch is one of them"),
        ({"x": (3, 4, 5)}, "the batch is one of them"),
        ({"z": (1, 3, 4, 5)}, "has no input 'z'"),
        ((3, 0, 5), "holds no numbers"),
        ((3, 1 << 20, 1 << 20), "holds no numbers"),
        ((3, 4.5, 5), "is no shape"),
        ("3x4x5", "is no shape"),
        ((), "holds no numbers"),
    ],
)
def test_what_does_not_fit_or_is_not_clear_is_refused(given: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=said):
        read_network(save(tmp_path, image()), input_shape=given)


def test_sizes_of_one_name_are_one_size_and_fixed_ones_stay() -> None:
    two = {"ids": ("batch", "n"), "mask": ("batch", "n")}
    assert with_sizes("f", two, (8,)) == {"ids": ("batch", 4), "mask": ("batch", 4)}
    assert with_sizes("f", two, {"ids": (1, 3)}) == {"ids": (1, 3), "mask": (1, 3)}
    assert with_sizes("f", two, {"ids": (1, 3), "z": (9,)}, {"z"}) == {"ids": (1, 3), "mask": (1, 3)}
    with pytest.raises(OpenSizesError):
        with_sizes("f", two, {"ids": (1, 3), "mask": (1, 4)})
    with pytest.raises(OpenSizesError):
        with_sizes("f", two, (7,))
    assert with_sizes("f", {"x": (1, 5)}, (5,)) == {"x": (1, 5)}
    with pytest.raises(OpenSizesError):
        with_sizes("f", {"x": (1, 5)}, (6,))
    assert with_sizes("f", {"x": (3, "n")}, (6,)) == {"x": (3, 2)}
    assert with_sizes("f", {"x": None}, (1, 5)) == {"x": (1, 5)}
    with pytest.raises(OpenSizesError):
        with_sizes("f", {"x": ("side", "side")}, (1, 2))


def test_the_message_says_what_to_write(tmp_path: Path) -> None:
    found = refused(save(tmp_path, image()))
    assert "'shape [3, N, M]' in the space of a spec, --input-shape 3xNxM on the command line" in str(found.fix)
    assert "input_shape=(3, N, M) in Python" in str(found.fix)


def test_given_sizes_stay_through_every_other_reading(tmp_path: Path) -> None:
    path = save(tmp_path, image())
    network = read_network(path, input_shape=(3, 4, 5))
    rounded = in_float32(network)
    assert (rounded.fixed, rounded.input_size) == (network.fixed, 60)
    assert read_network(path, input_shape=(3, 5, 4)).identity != network.identity
    with pytest.raises(DerivationError, match="leaves open"):
        quantised(network, "int8", calibration=np.zeros((2, 60)))
