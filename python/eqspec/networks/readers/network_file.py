"""From a path to a network: an ONNX file, a .nnet file or a program of da4ml by suffix, a folder by what it holds."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx

from eqspec.errors import NetworkError, NoIntegerEndsError, OutputChoiceError
from eqspec.networks import agreement
from eqspec.networks.dais import location
from eqspec.networks.dequantised import Dequantised
from eqspec.networks.firmware.folder import DEFINES, is_project
from eqspec.networks.network import Network
from eqspec.networks.onnx_tensor import MAX_BYTES
from eqspec.networks.readers import foreign_files, nnet, onnx_model, onnx_reader, two_class_output
from eqspec.networks.readers.onnx_names import STANDARD
from eqspec.networks.readers.open_sizes import InputShape


def read_network(
    path: str | os.PathLike[str],
    *,
    output: str | None = None,
    dequantised: Dequantised | None = None,
    input_shape: InputShape | None = None,
) -> Network:
    """Read a network from an .onnx or .nnet file, a program of da4ml, or a folder of hls4ml or da4ml.

    `output` is the name of one of several outputs; of hls4ml, of an array of the function. With `dequantised` a file
    that takes or gives integers of a quantiser is a function of the real numbers that these stand for; `Dequantised()`
    takes scales and zero points from the file. `input_shape` gives sizes that a file leaves open beside that of the
    batch: the shape of one sample, as `(3, 32, 32)`; how many numbers it has, as `(400,)`, where one size is all that
    is open; or the shapes of inputs by name, batch included, as `{"ids": (1, 16), "mask": (1, 16)}`.

    Where onnxruntime runs the file, it must answer what was read, up to rounding.

    Raises NetworkError, and nothing else, whatever the file holds; it names file, node, operator, cause and a fix.
    """
    name = os.fspath(path)
    path = Path(name)
    folder, program = is_network_folder(path), location.is_program(path)
    if dequantised is not None and (folder or program or path.suffix.lower() == ".nnet"):
        raise NoIntegerEndsError(name, "only an ONNX file has integers to dequantise", fix="leave 'dequantised' out")
    if folder or program:
        return _firmware(name, output)
    stored = content(name)
    text = path.suffix.lower() == ".nnet"
    if text and output is not None:
        raise OutputChoiceError(name, f"a .nnet file has no output called {output!r}", fix="leave the output out")
    with np.errstate(all="ignore"):  # whatever is not finite is refused where it arises
        network = (
            nnet.read(name, stored)
            if text
            else onnx_reader.read(name, stored, output=output, dequantised=dequantised, input_shape=input_shape)
        )
    said = () if text else agreement.check(network, lambda: stored)  # nothing else runs a .nnet file
    return replace(network, notes=(*network.notes, *said)) if said else network


def _firmware(name: str, output: str | None) -> Network:
    """What a folder of hls4ml or da4ml computes, or a program of da4ml. Their readers are loaded when needed."""
    if is_project(Path(name)):
        from eqspec.networks.firmware import project

        return project.read(name, output)
    if output is not None:
        raise OutputChoiceError(name, f"a program of da4ml has no output called {output!r}", fix="leave it out")
    from eqspec.networks.dais import reader

    return reader.read(name)


def is_network_folder(path: Path) -> bool:
    """Whether a path is a folder that is a network."""
    try:
        return is_project(path) or location.is_project(path)
    except (OSError, ValueError):
        return False


def of_two_classes(network: Network) -> Network | None:
    """A network whose one output is a Sigmoid, read as a softmax of two scores; None where it is another one.

    Raises NetworkError where its file cannot be read any more.
    """
    is_file = network.source.endswith(".onnx") and Path(network.source).is_file()
    if network.output_size != 1 or (network.content is None and not is_file):
        return None
    stored = content(network.source) if network.content is None else network.content
    with np.errstate(all="ignore"):
        return two_class_output.of_two_classes(network, stored)


def both_of_two_classes(first: Network, second: Network) -> tuple[Network, Network]:
    """Two networks with two classes each, where the one output of both is a Sigmoid; else as they are."""
    found = of_two_classes(first), of_two_classes(second)
    return (first, second) if found[0] is None or found[1] is None else (found[0], found[1])


def comparison(network: Network) -> agreement.Comparison:
    """The network beside its file in onnxruntime, for points of a caller's own."""
    stored = network.content
    return agreement.Comparison(network, lambda: content(network.source) if stored is None else stored)


def dequantised_model(network: Network) -> bytes | None:
    """The ONNX model of a dequantised network, with what quantises in front and dequantises behind as nodes of it.

    None where it takes several inputs, or holds operators of other domains.
    """
    stored = content(network.source) if network.content is None else network.content
    ready = onnx_model.ready(network.source, stored, network.chosen, network.dequantised)
    model = ready.model
    if any(node.domain not in STANDARD for node in model.graph.node):
        return None
    tensors = {tensor.name for tensor in model.graph.initializer}
    if len([value for value in model.graph.input if value.name not in tensors]) != 1:
        return None
    onnx.load_external_data_for_model(model, str(Path(network.source).parent))
    return bytes(model.SerializeToString())


def content(name: str) -> bytes:
    """The bytes of a file. Raises NetworkError."""
    file = Path(name)
    try:
        if not file.exists():
            raise NetworkError(
                name, "no such file", fix=f"check the path; it was looked up as {str(file.absolute())!r}"
            )
        if not file.is_file():
            if (foreign := foreign_files.of_folder(name)) is not None:
                raise NetworkError(name, f"{foreign.what}, not an ONNX model", fix=foreign.fix)
            fix = f"give an .onnx or .nnet file, a project of hls4ml, which holds {DEFINES}, or one of da4ml"
            raise NetworkError(name, "neither a file nor a project of hls4ml or da4ml", fix=fix)
        if file.stat().st_size > MAX_BYTES:
            raise NetworkError(
                name, "larger than 2 GiB", fix="store the weights as external data, or use a smaller network"
            )
        return file.read_bytes()
    except (OSError, ValueError) as error:
        raise NetworkError(name, f"cannot be read ({error})", fix="check the path and its permissions") from error
