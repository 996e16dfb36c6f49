"""Weights of an ONNX file that lie in files beside it, put into it, as if it had been saved as one file.

Exporters write them so, torch.onnx by default. What such a network is, is the file and what lies beside it; its sha256
goes over the file, and then over the names and the sha256 of the others, in the order of the names. A place that could
be read in two ways is refused, and nothing outside of the folder is looked at.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import onnx
from onnx import TensorProto

from ..rounding import Refused
from . import limits
from .files import content
from .printable import label

_KEYS = {"location", "offset", "length", "checksum"}


def whole(path: Path, given: bytes) -> tuple[bytes, str, tuple[tuple[str, bytes], ...]]:
    """A network file with all of its weights; the sha256 of what it is made of; and the files beside it, by name."""
    digest, found, left, model = hashlib.sha256(given), dict[str, bytes](), limits.NETWORK, onnx.ModelProto()
    try:
        model.ParseFromString(given)
    except Exception:  # it is text, or no network, which is said where it is read
        return given, digest.hexdigest(), ()
    tensors = [*model.graph.initializer, *(a.t for node in model.graph.node for a in node.attribute)]
    for tensor in tensors:
        if tensor.data_location != TensorProto.EXTERNAL and not tensor.external_data:
            continue
        said = {entry.key: entry.value for entry in tensor.external_data}
        location = said.get("location", "")
        if not _inside(path.parent, location):
            raise Refused(f"weights of {path.name!r} lie in {label(location)}, which is not beside it")
        if location not in found:
            found[location] = content(path.parent / location, limits.NETWORK - sum(map(len, found.values())))
        begin = _count(said.get("offset", "0"))
        end = begin + _count(said["length"]) if "length" in said else len(found[location])
        twice = len(said) < len(tensor.external_data) or tensor.HasField("raw_data")
        if twice or not said.keys() <= _KEYS or not begin <= end <= len(found[location]):
            raise Refused(f"{path.name!r} does not say in one way where in {label(location)} its weights lie")
        left -= end - begin
        if left < 0:
            raise Refused(f"{path.name!r} has more weights in other files than the auditor reads")
        tensor.raw_data = found[location][begin:end]
        del tensor.external_data[:]
        tensor.ClearField("data_location")
    for location in sorted(found):
        digest.update(location.encode("utf-8", "surrogateescape"))
        digest.update(hashlib.sha256(found[location]).digest())
    return model.SerializeToString() if found else given, digest.hexdigest(), tuple(found.items())


def _inside(folder: Path, location: str) -> bool:
    try:
        return bool(location) and (folder / location).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, or links in a circle
        return False


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise Refused("a place in a file of weights is no number")
    return int(text)
