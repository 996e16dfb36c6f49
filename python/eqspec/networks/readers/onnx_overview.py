"""What an ONNX file holds, for people: also of files that cannot be read as a network."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import onnx

from eqspec.errors import NetworkError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.expansion import EXPANDED
from eqspec.networks.operators import OPERATORS, QUANTISING
from eqspec.networks.readers import foreign_files, several_opsets

_OTHERWISE = ("CastLike", "DynamicQuantizeLinear", "If", "ai.onnx.ml.ZipMap")
"""Operators that the reader replaces by others; where it cannot, the refusal of the file names them."""
TAILS = ("Softmax", "LogSoftmax")


@dataclass(frozen=True)
class Overview:
    """Inputs and outputs with their shapes, operators by count, and those that are not supported, by count."""

    producer: str
    opset: int | None
    inputs: tuple[tuple[str, str, tuple[int | str, ...]], ...]
    outputs: tuple[tuple[str, str, tuple[int | str, ...]], ...]
    operators: tuple[tuple[str, int], ...]
    unsupported: tuple[tuple[str, int], ...]
    parameters: int
    tail: str | None


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def overview(path: str) -> Overview:
    """Look into an ONNX file; NetworkError if it is none."""
    try:
        model = onnx.load(path, load_external_data=False)
    except OSError as error:
        cause = f"cannot be read ({error.strerror or error})"
        raise NetworkError(path, cause, fix="check the path and its permissions") from error
    except Exception as error:  # protobuf raises what it likes
        raise foreign_files.refusal(path, _content(path), f"not an ONNX model ({error})") from error
    graph = model.graph
    given = {tensor.name for tensor in graph.initializer}
    names = [f"{n.domain}.{n.op_type}" if n.domain not in ("", "ai.onnx") else n.op_type for n in graph.node]
    counted = Counter(names)
    sizes = []
    for tensor in graph.initializer:
        size = 1
        for dimension in tensor.dims:
            size *= dimension
        sizes.append(size)
    ends = {output.name for output in graph.output}
    tail = next((n.op_type for n in graph.node if n.op_type in TAILS and ends & set(n.output)), None)
    own = {f"{function.domain}.{function.name}" for function in model.functions}
    known = {*OPERATORS, *QUANTISING, *EXPANDED, *own, *_OTHERWISE}
    return Overview(
        producer=" ".join(filter(None, (model.producer_name, model.producer_version))),
        opset=next(iter(several_opsets.imported(model)), None),
        inputs=tuple(_value(v) for v in graph.input if v.name not in given),
        outputs=tuple(_value(v) for v in graph.output),
        operators=tuple(counted.most_common()),
        unsupported=tuple((name, count) for name, count in counted.most_common() if name not in known),
        parameters=sum(sizes),
        tail=tail,
    )


def weight_files(path: Path) -> set[Path]:
    """The files beside an ONNX file that it says hold its tensors; none of a file that is no ONNX file."""
    if path.suffix.lower() != ".onnx" or not path.is_file():
        return set()
    try:
        graph = onnx.load(path, load_external_data=False).graph
    except Exception:  # protobuf raises what it likes, and whoever reads the file says so
        return set()
    inside = [attribute.t for node in graph.node for attribute in node.attribute if attribute.HasField("t")]
    entries = [entry for tensor in (*graph.initializer, *inside) for entry in tensor.external_data]
    return {path.parent / entry.value for entry in entries if entry.key == "location"}


def _value(value: onnx.ValueInfoProto) -> tuple[str, str, tuple[int | str, ...]]:
    kind = value.type.tensor_type
    known = kind.elem_type in onnx.TensorProto.DataType.values()
    name = onnx.TensorProto.DataType.Name(kind.elem_type).lower() if known else "?"
    return value.name, name, tuple(d.dim_value if d.dim_value > 0 else d.dim_param or "?" for d in kind.shape.dim)
