"""torch modules, exported to ONNX in memory, in evaluation mode and without anything folded or fused.

Tracing follows one path through the code. torch warns at most places where the path may depend on the input, and
`torch_paths` sees the others. The newer exporter, which evaluates with symbols and knows that shapes do not, is asked
then; where it fails as well, the module is refused.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx

from eqspec.errors import NetworkError
from eqspec.networks.frameworks import torch_paths
from eqspec.networks.frameworks.converted import Converted
from eqspec.networks.network import Array

LIBRARY = "torch"


def recognises(model: object) -> bool:
    """Whether it is a torch module; if it is, torch has been imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def convert(name: str, model: Any, shape: tuple[int, ...] | None) -> Converted:
    """Its ONNX form; NetworkError where torch cannot export it faithfully."""
    torch: Any = sys.modules["torch"]
    shape = _shape(name, model) if shape is None else shape
    first = next((p for p in model.parameters() if p.is_floating_point()), torch.zeros(1))

    def outputs(inputs: Array) -> Array:
        rows = torch.as_tensor(inputs.reshape(len(inputs), *shape), dtype=first.dtype, device=first.device)
        with _evaluating(model), torch.no_grad():
            # One by one, as the export takes them: whatever mixes samples has no place in a network.
            answers = [model(row[None]) for row in rows]
        if not all(isinstance(answer, torch.Tensor) for answer in answers):
            kind = type(answers[0]).__name__
            raise NetworkError(name, f"it answers a {kind}, no tensor", fix="wrap it in a module that gives one tensor")
        return np.stack([answer.detach().cpu().double().numpy().reshape(-1) for answer in answers])

    example = torch.zeros(1, *shape, dtype=first.dtype, device=first.device)
    try:
        with _evaluating(model), torch.no_grad():
            exported = _exported(torch, name, model, example)
        return Converted(exported, outputs)
    except NetworkError:
        raise
    except Exception as error:
        fix = "give input_shape=... if the shape is wrong, or export it with torch.onnx.export and give the file's path"
        message = f"torch does not export it at inputs of shape {shape} ({_first_line(error)})"
        raise NetworkError(name, message, fix=fix) from error


def _exported(torch: Any, name: str, model: Any, example: Any) -> onnx.ModelProto:
    names = {"input_names": ["input"], "output_names": ["output"]}
    model(example)  # whatever is wrong with the shape is said here, in the words of the layer
    asked = torch_paths.number_asked_for(model, example)
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        try:
            torch.onnx.export(
                model,
                (example,),
                buffer := io.BytesIO(),
                dynamo=False,
                training=torch.onnx.TrainingMode.PRESERVE,  # EVAL would fuse layers in float32
                do_constant_folding=False,
                **names,
            )
            exported = onnx.load_from_string(buffer.getvalue())
        except Exception:  # the newer exporter may know more; it refuses such paths by itself
            return _by_the_newer(torch, model, example, names)
    tracer = next((w.message for w in noticed if issubclass(w.category, torch.jit.TracerWarning)), None)
    if not isinstance(tracer, Warning) and asked is None:
        return exported
    try:  # torch itself looks at shapes in this way, in GroupNorm and LSTM; the newer exporter can tell
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _by_the_newer(torch, model, example, names)
    except Exception as error:
        fix = "rewrite the branch with torch operators, such as torch.relu"
        why = f"{asked} gives Python a number" if tracer is None else str(tracer).strip().partition("\n")[0]
        said = f"the way through its code may depend on the input: {why}"
        raise NetworkError(name, said, fix=fix) from error


def _by_the_newer(torch: Any, model: Any, example: Any, names: dict[str, Any]) -> onnx.ModelProto:
    """The export by symbolic evaluation, which fails at a branch that depends on numbers."""
    program = torch.onnx.export(model, (example,), dynamo=True, optimize=False, verbose=False, **names)
    made: onnx.ModelProto = program.model_proto
    return made


def _shape(name: str, model: Any) -> tuple[int, ...]:
    """What one sample looks like: as Lightning modules say, else as the first layer with parameters takes it."""
    example = getattr(model, "example_input_array", None)
    if example is not None and hasattr(example, "shape"):
        return tuple(example.shape[1:])
    for layer in model.modules():
        if any(True for _ in layer.parameters(recurse=False)):
            for size in ("in_features", "num_features"):
                if isinstance(found := getattr(layer, size, None), int) and found and "2d" not in type(layer).__name__:
                    return (found,)
            break
    fix = "say it: eqspec.as_network(module, input_shape=(1, 28, 28))"
    raise NetworkError(name, "the shape of its input is not known", fix=fix)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Evaluation mode, and afterwards every layer in the mode it was in."""
    modes = [(layer, layer.training) for layer in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for layer, mode in modes:
            layer.training = mode


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
