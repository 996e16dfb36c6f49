"""torch modules: real ones where torch is installed, and what is done around the export with a stand-in for torch."""

from __future__ import annotations

import io
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest

import eqspec
from eqspec import NetworkError, as_network
from eqspec.networks.frameworks import torch_paths
from small_specs import write_onnx


class TracerWarning(Warning):
    """What torch warns of where the code depends on the input."""


class Parameter:
    """The little that is asked of a tensor."""

    dtype, device = "float32", "cpu"

    def is_floating_point(self) -> bool:
        return True


class Rows(Parameter):
    """Rows of numbers, or one of them."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = np.asarray(numbers, np.float64)

    def __iter__(self) -> Any:
        return iter(Rows(row) for row in self.numbers)

    def __getitem__(self, index: None) -> Rows:
        return Rows(self.numbers[None])

    def detach(self) -> Rows:
        return self

    cpu = double = detach

    def numpy(self) -> Any:
        return self.numbers


class Module:
    """A layer x -> W x + b in training mode, whose answers can be bent."""

    in_features = 2

    def __init__(self, weight: Any, bias: Any, bend: float = 0.0) -> None:
        self.weight, self.bias, self.bend, self.training = np.asarray(weight), np.asarray(bias), bend, True
        self.modes: list[bool] = []
        self.above = 0.0

    def parameters(self, recurse: bool = True) -> Any:
        return iter([Parameter()])

    def modules(self) -> list[Module]:
        return [self]

    def eval(self) -> None:
        self.training = False

    def __call__(self, rows: Rows) -> Rows:
        self.modes.append(self.training)
        if rows.numbers.shape[1:] != (2,):
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows.numbers.shape})\nand more")
        return Rows(rows.numbers @ self.weight.T + self.bias + self.bend * (rows.numbers.sum() > self.above))


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """A torch that exports the layer as a file of ours."""
    calls: list[dict[str, Any]] = []

    def export(model: Module, args: tuple[Rows], buffer: io.BytesIO | None = None, **settings: Any) -> Any:
        calls.append({**settings, "in training mode": model.training})
        if settings["dynamo"] is False and fake.removed:
            raise TypeError("export() got an unexpected keyword argument 'training'")
        if settings["dynamo"] and fake.branches:
            raise ValueError("Could not guard on data-dependent expression")
        if fake.warns and not settings["dynamo"]:
            warnings.warn(TracerWarning("a Python boolean\nmight be wrong"), stacklevel=1)
        path = write_onnx(tmp_path / "exported.onnx", model.weight, model.bias, (1, 2))
        if buffer is None:
            return SimpleNamespace(model_proto=onnx.load(path))
        buffer.write(path.read_bytes())
        return None

    class Quiet:
        def __enter__(self) -> None: ...
        def __exit__(self, *error: object) -> None: ...

    fake = SimpleNamespace(
        nn=SimpleNamespace(Module=Module),
        jit=SimpleNamespace(TracerWarning=TracerWarning),
        onnx=SimpleNamespace(export=export, TrainingMode=SimpleNamespace(PRESERVE="preserve")),
        zeros=lambda *shape, **kind: Rows(np.zeros(shape)),
        as_tensor=lambda rows, **kind: Rows(rows),
        no_grad=Quiet,
        calls=calls,
        Tensor=Rows,
        warns=False,
        branches=False,
        removed=False,
    )
    monkeypatch.setitem(sys.modules, "torch", fake)
    return fake


WEIGHT, BIAS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0.5, 0.0, 0.0]


def test_a_module_is_exported_in_evaluation_mode_and_left_as_it_was(stand_in: SimpleNamespace) -> None:
    module = Module(WEIGHT, BIAS)
    network = as_network(module)
    np.testing.assert_array_equal(network.evaluate(np.array([[1.0, 10.0]])), [[21.5, 43.0, 65.0]])
    assert module.training
    assert not any(module.modes)
    (call,) = stand_in.calls
    assert not call["in training mode"]
    assert (call["training"], call["do_constant_folding"]) == ("preserve", False)


def test_the_newer_exporter_is_asked_where_the_older_one_fails(stand_in: SimpleNamespace) -> None:
    stand_in.removed = True
    assert as_network(Module(WEIGHT, BIAS)).output_size == 3
    assert [call["dynamo"] for call in stand_in.calls] == [False, True]
    assert stand_in.calls[1]["optimize"] is False


def test_a_path_that_depends_on_the_input_is_refused(stand_in: SimpleNamespace) -> None:
    stand_in.warns = stand_in.branches = True
    with pytest.raises(NetworkError, match=r"may depend on the input: a Python boolean\. Fix"):
        as_network(Module(WEIGHT, BIAS))


def test_a_number_that_depends_on_the_input_is_refused_though_torch_does_not_warn(
    stand_in: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_paths, "number_asked_for", lambda model, example: "aten.equal.default")
    assert as_network(Module(WEIGHT, BIAS)).output_size == 3  # the newer exporter knows better
    stand_in.branches = True
    with pytest.raises(
        NetworkError, match=r"may depend on the input: aten\.equal\.default gives Python a number\. Fix"
    ):
        as_network(Module(WEIGHT, BIAS))


def test_of_shapes_alone_the_newer_exporter_knows_that_they_do_not(stand_in: SimpleNamespace) -> None:
    stand_in.warns = True
    assert as_network(Module(WEIGHT, BIAS)).output_size == 3
    assert [call["dynamo"] for call in stand_in.calls] == [False, True]


@pytest.mark.parametrize(("size", "bend", "above"), [(1.0, 2e-5, 0.0), (1e-5, 1e-6, 0.0), (1.0, 5.0, 150.0)])
def test_little_and_far_away_differences_are_seen(
    stand_in: SimpleNamespace, size: float, bend: float, above: float
) -> None:
    """Below a thousandth of the answers, of answers that are all small, and at larger inputs alone."""
    module = Module(size * np.array([[1.0, 2.0], [3.0, 4.0]]), [0.0, 0.0])
    assert as_network(module).output_size == 2
    module.bend, module.above = bend, above
    with pytest.raises(NetworkError, match=r"differ: at input \[.*\] output \d of the model is .* of the export"):
        as_network(module)


def test_an_answer_that_is_no_tensor_is_refused(stand_in: SimpleNamespace) -> None:
    stand_in.Tensor = int
    with pytest.raises(NetworkError, match=r"it answers a Rows, no tensor\. Fix: wrap it"):
        as_network(Module(WEIGHT, BIAS))


def test_an_export_that_is_not_the_module_is_refused(stand_in: SimpleNamespace) -> None:
    with pytest.raises(NetworkError, match="<torch Module>: the model and its ONNX export differ by up to"):
        as_network(Module([[1.0, 2.0], [3.0, 4.0]], [0.0, 0.0], bend=0.3))


def test_a_shape_that_does_not_fit_is_said_in_one_line(stand_in: SimpleNamespace) -> None:
    with pytest.raises(NetworkError, match=r"inputs of shape \(3,\) \(mat1 and mat2 .*\(1, 3\)\)\). Fix: give input"):
        as_network(Module(WEIGHT, BIAS), input_shape=(3,))
    assert stand_in.calls == []


def test_a_shape_that_nobody_says_is_asked_for(stand_in: SimpleNamespace) -> None:
    module = Module(WEIGHT, BIAS)
    module.in_features = None  # type: ignore[assignment]
    with pytest.raises(NetworkError, match=r"the shape of its input is not known\. Fix: .*input_shape="):
        as_network(module)
    module.example_input_array = np.zeros((7, 2))  # type: ignore[attr-defined]
    assert as_network(module).input_size == 2


@pytest.fixture(scope="module")
def torch() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pytest.importorskip("torch")
    found.manual_seed(0)
    return found


@pytest.mark.filterwarnings("ignore")
def test_real_modules(torch: Any) -> None:
    nn = torch.nn
    layers = [nn.BatchNorm1d(4), nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3)]
    module = nn.Sequential(*layers)
    for _ in range(5):
        module(torch.randn(32, 4) * 3 + 1)
    network = as_network(module)
    assert module.training
    rows = torch.randn(20, 4)
    wanted = module.eval()(rows).detach().numpy()
    np.testing.assert_allclose(network.evaluate(rows.numpy()), wanted, rtol=1e-4, atol=1e-5)
    # Nothing is fused in float32: the stored weights are those of the module.
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in proto(network).graph.initializer}
    np.testing.assert_array_equal(stored["1.weight"], module[1].weight.detach().numpy())
    scored = as_network(nn.Sequential(*layers, nn.Softmax(1)))
    assert scored.stripped == "softmax"
    claim = eqspec.Epsilon(1e-6)
    assert eqspec.verify(module, scored, [-1] * 4, [1] * 4, claim, scores="logits").verdict == "equivalent"


def proto(network: eqspec.Network) -> onnx.ModelProto:
    return onnx.load_from_string(network.content or b"")


@pytest.mark.filterwarnings("ignore")
def test_real_branches_are_refused(torch: Any) -> None:
    class Branch(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, rows: Any) -> Any:
            scores = self.layer(rows)
            return torch.relu(scores) if scores.sum() > 0 else scores

    with pytest.raises(NetworkError, match="may depend on the input"):
        as_network(Branch())


def of_a_list(torch: Any, rows: Any) -> Any:
    return [1.0, 2.0][(rows > 1e6).any().long()]


def of_a_range(torch: Any, rows: Any) -> Any:
    return 1.0 + len(range((rows > 1e6).any().long()))


def of_a_comparison(torch: Any, rows: Any) -> Any:
    return 1.0 if torch.equal(rows, rows.clamp(max=1e6)) else 2.0


def of_closeness(torch: Any, rows: Any) -> Any:
    return 1.0 if torch.allclose(rows, rows.clamp(max=1e6)) else 2.0


def of_a_flag(torch: Any, rows: Any) -> Any:
    flags = torch.zeros(3, dtype=torch.bool)
    flags[1:] = (rows[0, :2] > 1e6).view(2)  # what a tensor is written into depends on it, and so do its views
    return 2.0 if torch.is_nonzero(flags[2]) else 1.0


def of_stored_numbers(torch: Any, rows: Any) -> Any:
    return 1.0 if torch.equal(torch.ones(2), torch.ones(2)) else 2.0


FACTORS = (of_a_list, of_a_range, of_a_comparison, of_closeness, of_a_flag, of_stored_numbers)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("factor", FACTORS)
def test_real_branches_of_which_torch_does_not_warn_are_refused(torch: Any, factor: Any) -> None:
    """They are taken at inputs that are larger than those at which a model is compared with its export."""

    class Branch(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, rows: Any) -> Any:
            return self.layer(rows) * factor(torch, rows)

    if factor is of_stored_numbers:
        assert as_network(Branch()).output_size == 4
    else:
        with pytest.raises(NetworkError, match=r"may depend on the input: aten.* gives Python a number"):
            as_network(Branch())


@pytest.mark.filterwarnings("ignore")
def test_real_images_and_residual_blocks(torch: Any) -> None:
    class Residual(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(12, 12), torch.nn.Linear(12, 2)

        def forward(self, images: Any) -> Any:
            rows = images.view(images.size(0), -1)
            return self.second(torch.relu(self.first(rows)) + rows)

    module = Residual()
    network = as_network(module, input_shape=(3, 2, 2))
    rows = torch.randn(5, 3, 2, 2)
    wanted = module(rows).detach().numpy()
    np.testing.assert_allclose(network.evaluate(rows.numpy().reshape(5, 12)), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_what_torch_exports_as_another_function_is_refused(torch: Any) -> None:
    """Its exporter leaves out the threshold of a Softplus, and believes what a function says of itself."""

    class Rounded(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, rows: Any) -> Any:
            return torch.round(rows * 4) / 4

        @staticmethod
        def symbolic(graph: Any, rows: Any) -> Any:
            return graph.op("Identity", rows)

    class Small(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, rows: Any) -> Any:
            return 1e-4 * torch.relu(Rounded.apply(self.layer(rows)))

    nn = torch.nn
    softplus = nn.Sequential(nn.Linear(4, 8), nn.Softplus(threshold=5), nn.Linear(8, 2))
    for module in (softplus, Small()):
        with pytest.raises(NetworkError, match="the model and its ONNX export differ"):
            as_network(module)
    assert as_network(nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.Linear(8, 2))).output_size == 2


@pytest.mark.filterwarnings("ignore")
def test_layers_that_look_at_shapes_are_read(torch: Any) -> None:
    class Last(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.steps = torch.nn.LSTM(3, 4, batch_first=True)

        def forward(self, rows: Any) -> Any:
            return self.steps(rows)[0][:, -1]

    nn = torch.nn
    blocks = nn.Sequential(nn.Linear(4, 6), nn.GroupNorm(2, 6), nn.ReLU(), nn.Linear(6, 2))
    for module, shape in ((blocks, (4,)), (Last(), (2, 3))):
        network = as_network(module, input_shape=shape)
        rows = torch.randn(5, *shape)
        wanted = module.eval()(rows).detach().numpy()
        np.testing.assert_allclose(network.evaluate(rows.numpy().reshape(5, -1)), wanted, rtol=1e-4, atol=1e-5)
