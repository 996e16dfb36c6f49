"""Networks from models in memory: ONNX, PyTorch, Keras, scikit-learn.

Every model becomes an ONNX model in memory and is read like a file, so there is one reader to trust. What a framework
exports may still not be what the framework computes (a branch that was followed only one way, a layer that was
replaced), so the network is compared with the model itself at random inputs; if they differ, it is refused.

No framework is imported here: an object of a framework brings its module along.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import onnx

from eqspec.errors import InputError, NetworkError
from eqspec.networks import agreement
from eqspec.networks.dequantised import Dequantised
from eqspec.networks.network import Network
from eqspec.networks.readers import onnx_reader
from eqspec.networks.readers.network_file import read_network
from eqspec.networks.readers.open_sizes import InputShape

Model: TypeAlias = Network | str | os.PathLike[str] | onnx.ModelProto | Any
"""A path, an `onnx.ModelProto`, a torch module, a Keras model, a scikit-learn MLP (or a pipeline that ends in one)."""


def as_network(
    model: Model,
    *,
    input_shape: InputShape | None = None,
    output: str | None = None,
    dequantised: Dequantised | None = None,
) -> Network:
    """The network of a model, wherever it is.

    Args:
        model: a network, a path (.onnx, .nnet), an `onnx.ModelProto`, a `torch.nn.Module` (in evaluation mode, whatever
            mode it is in), a built Keras model, a fitted scikit-learn `MLPClassifier` or `MLPRegressor`, or a pipeline
            of scalers that ends in one.
        input_shape: of one sample, without the batch, or of inputs by name with it. A torch module may need it, and a
            file or an `onnx.ModelProto` that leaves other sizes open than that of the batch.
        output: the name of one of several outputs, of a file or an `onnx.ModelProto`.
        dequantised: of a file or an `onnx.ModelProto` that takes or gives integers of a quantiser, what they stand for:
            the network is then one of real numbers. `Dequantised()` takes scales and zero points from the file.

    A binary `MLPClassifier` has one output z, the log-odds of its second class; its network has the scores (0, z),
    which give the same decision and the same confidence. A softmax at the end is left out, as in files.

    Raises NetworkError where the model is not a network eqspec reads, or its conversion computes something else than
    the model; InputError for objects of another kind.
    """
    if isinstance(model, Network):
        return model
    if isinstance(model, str | os.PathLike):
        return read_network(model, output=output, dequantised=dequantised, input_shape=input_shape)
    if isinstance(model, onnx.ModelProto):
        return _read("<onnx model>", model, output, dequantised, input_shape)
    if output is not None:
        raise InputError(f"output = {output!r}: only a file or an onnx.ModelProto has outputs to choose from")
    if dequantised is not None:
        raise InputError(f"dequantised = {dequantised!r}: only a file or an onnx.ModelProto has integers at its ends")
    if isinstance(input_shape, Mapping):
        raise InputError(f"input_shape = {input_shape!r}: only a file or an onnx.ModelProto has inputs with names")
    # For models in memory alone.
    from eqspec.networks.frameworks import comparing, keras_model, sklearn_model, torch_module

    for kind in (keras_model, torch_module, sklearn_model):  # a Keras model may be a torch module, too
        if kind.recognises(model):
            name = f"<{kind.LIBRARY} {type(model).__name__}>"
            converted = kind.convert(name, model, None if input_shape is None else tuple(input_shape))
            network = _read(name, converted.model)
            comparing.check(network, converted)
            return network
    raise InputError(
        f"{type(model).__module__}.{type(model).__name__} is not a model eqspec knows; give a path, "
        "an onnx.ModelProto, a torch module, a Keras model or a scikit-learn MLP"
    )


def _read(
    name: str,
    model: onnx.ModelProto,
    output: str | None = None,
    dequantised: Dequantised | None = None,
    input_shape: InputShape | None = None,
) -> Network:
    fix = "load it with its data (onnx.load does so), or give the path of its file"
    beside = NetworkError(name, "the weights are in a file beside the model", fix=fix)
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in model.graph.initializer):
        raise beside
    try:
        content = model.SerializeToString()
    except Exception as error:  # protobuf names its errors differently from version to version
        raise NetworkError(name, f"cannot be serialised ({error})", fix="use a model below 2 GiB") from error
    with np.errstate(all="ignore"):
        network = onnx_reader.read(name, content, output=output, dequantised=dequantised, input_shape=input_shape)
    # The digest is that of a file with these bytes: saved and read again it is the same network. Where it covers more,
    # a constant of a node was read from the working directory.
    if network.sha256 != hashlib.sha256(content).hexdigest():
        raise beside
    network = replace(network, content=content)
    said = agreement.check(network, lambda: content)
    return replace(network, notes=(*network.notes, *said))


__all__ = ["Model", "as_network"]
