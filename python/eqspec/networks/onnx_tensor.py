"""ONNX tensors as exact numbers: float16, bfloat16, float32 and float64 become float64, integers keep their type,
nothing is rounded.

External data is looked up relative to the model's folder and never outside it. Sizes are checked against the bytes at
hand before anything is allocated, so a hostile header cannot ask for more memory than its file has.
"""

from __future__ import annotations

import hashlib
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from eqspec.networks import masked
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.masked import Masked
from eqspec.networks.matrices import check_size

Whole: TypeAlias = NDArray[Any]
Constant: TypeAlias = Enclosure | Whole | Masked
"""A constant of the graph: real numbers, or integers of their own type (shapes, axes, indices, truth values)."""

MAX_BYTES = 1 << 31
"""Largest file that is read; protobuf itself allows no more."""

FLOATS: dict[int, str] = {
    TensorProto.FLOAT16: "<f2",
    TensorProto.FLOAT: "<f4",
    TensorProto.DOUBLE: "<f8",
    TensorProto.BFLOAT16: "<u2",
}
WHOLES: dict[int, str] = {
    TensorProto.INT8: "<i1", TensorProto.INT16: "<i2", TensorProto.INT32: "<i4", TensorProto.INT64: "<i8",
    TensorProto.UINT8: "<u1", TensorProto.UINT16: "<u2", TensorProto.UINT32: "<u4", TensorProto.UINT64: "<u8",
    TensorProto.BOOL: "|b1",
}  # fmt: skip

PACKED: dict[int, int] = {
    kind: bits
    for name, bits in (("INT2", 2), ("UINT2", 2), ("INT4", 4), ("UINT4", 4))
    for named, kind in TensorProto.DataType.items()
    if named == name
}
"""Integers of which several stand in a byte, the first in its lowest bits: how many bits each has."""

_FIELDS: dict[int, str] = {
    TensorProto.FLOAT: "float_data", TensorProto.DOUBLE: "double_data", TensorProto.INT64: "int64_data",
    TensorProto.UINT32: "uint64_data", TensorProto.UINT64: "uint64_data",
}  # fmt: skip
"""Where a tensor without raw bytes keeps its numbers; the others use int32_data."""
_CONTENTS = ("raw_data", "float_data", "int32_data", "int64_data", "uint64_data", "double_data", "string_data")


class UnreadableError(Exception):
    """Something in a model cannot be read; `fix` says what to do. The reader adds file, node and operator."""

    def __init__(self, message: str, fix: str) -> None:
        self.message, self.fix = message, fix
        super().__init__(message)


class ExternalData:
    """The files beside a model that hold its tensors, each read once; `digest` covers what was read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, bytes] = {}

    def read(self, tensor: TensorProto) -> bytes:
        """The bytes of a tensor that is stored outside the model."""
        entries = {entry.key: entry.value for entry in tensor.external_data}
        if len(entries) < len(tensor.external_data):
            keys = [entry.key for entry in tensor.external_data]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise UnreadableError(f"external data with the key {twice!r} twice", "save the model again with onnx.save")
        location = entries.get("location", "")
        if not location:
            raise UnreadableError("external data without a location", "save the model again with onnx.save")
        content = self._files.get(location)
        if content is None:
            content = self._files[location] = self._load(location)
        try:
            offset = _count(entries.get("offset") or "0")
            length = _count(entries.get("length") or str(max(len(content) - offset, 0)))
        except ValueError as error:
            raise UnreadableError(
                "external data with an offset or length that is not a number", "save it again"
            ) from error
        if offset + length > len(content):
            message = (
                f"external data asks for bytes {offset} to {offset + length} of {location!r}, which has {len(content)}"
            )
            raise UnreadableError(message, "copy the data file again: it is truncated or belongs to another model")
        return content[offset : offset + length]

    def _load(self, location: str) -> bytes:
        try:
            root, path = self._folder.resolve(), (self._folder / location).resolve()
            if not path.is_relative_to(root):
                message = f"external data {location!r} lies outside the model's folder"
                raise UnreadableError(message, "move the data file beside the model and save it again")
            if not path.is_file():
                message = f"no external data file {location!r} in {str(self._folder)!r}"
                raise UnreadableError(message, "copy the data file beside the model, or save the model as one file")
            if path.stat().st_size > MAX_BYTES:
                raise UnreadableError(f"external data file {location!r} is larger than 2 GiB", "split it")
            return path.read_bytes()
        except (OSError, ValueError) as error:
            message = f"external data file {location!r} cannot be read: {error}"
            raise UnreadableError(message, "check the path and its permissions") from error

    def inside(self, tensor: TensorProto) -> TensorProto:
        """A tensor with its numbers in it: a copy of one that is stored outside the model."""
        if tensor.data_location != TensorProto.EXTERNAL:
            return tensor
        raw = self.read(tensor)
        copy = TensorProto()
        copy.CopyFrom(tensor)
        del copy.external_data[:]
        copy.ClearField("data_location")
        copy.raw_data = raw
        return copy

    def update(self, digest: hashlib._Hash) -> None:
        """Add what was read to a digest, in the order of the names."""
        for location in sorted(self._files):
            digest.update(location.encode("utf-8", "surrogateescape"))
            digest.update(hashlib.sha256(self._files[location]).digest())


def decode(tensor: TensorProto, external: ExternalData) -> Constant:
    """The numbers of a tensor.

    Raises UnreadableError for other types, sizes that do not fit and numbers that are not finite.
    """
    if tensor.data_type in PACKED:
        return _unpacked(tensor, external)
    return _exact(stored(tensor, external), tensor.data_type)


def stored(tensor: TensorProto, external: ExternalData) -> NDArray[Any]:
    """The numbers of a tensor as they stand in the file, finite or not.

    Raises UnreadableError for other types, among them those of less than 8 bits, and sizes that do not fit.
    """
    kind = tensor.data_type
    dtype = FLOATS.get(kind) or WHOLES.get(kind)
    if dtype is None:
        name = TensorProto.DataType.Name(kind) if kind in TensorProto.DataType.values() else str(kind)
        accepted = ", ".join(TensorProto.DataType.Name(k).lower() for k in (*FLOATS, *WHOLES))
        raise UnreadableError(f"tensor of type {name.lower()}", f"convert it to one of {accepted}")
    shape = tuple(tensor.dims)
    if any(d < 0 for d in shape):
        raise UnreadableError(f"tensor with the shape {shape}", "save the model again: sizes cannot be negative")
    check_size(shape)
    numbers = _stored(tensor, dtype, external)
    _check_count(numbers, shape)
    return numbers.reshape(shape)


def _count(text: str) -> int:
    """A number of bytes, written in ASCII digits alone.

    `int` also takes signs, spaces, 1_0 and digits of other scripts, which runtimes refuse.
    """
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(text)
    return int(text)


def _check_count(stored: NDArray[Any], shape: tuple[int, ...]) -> None:
    if stored.size != prod(shape):
        message = f"tensor of shape {shape} needs {prod(shape)} numbers, the file has {stored.size}"
        raise UnreadableError(message, "copy or export the model again: it is truncated or damaged")


def _unpacked(tensor: TensorProto, external: ExternalData) -> Whole:
    """Integers of fewer than 8 bits, one behind the other in bytes; what is left of the last byte is not looked at."""
    shape, bits = tuple(tensor.dims), PACKED[tensor.data_type]
    if any(d < 0 for d in shape):
        raise UnreadableError(f"tensor with the shape {shape}", "save the model again: sizes cannot be negative")
    check_size(shape)
    each = 8 // bits
    stored = _stored(tensor, "|u1", external)
    _check_count(stored, (-(-prod(shape) // each),))
    parts = [(stored >> (bits * place)) & (2**bits - 1) for place in range(each)]
    numbers = np.stack(parts, axis=1).reshape(-1)[: prod(shape)].astype(np.int16)
    signed = TensorProto.DataType.Name(tensor.data_type).startswith("INT")
    if signed:
        numbers = np.where(numbers >= 2 ** (bits - 1), numbers - 2**bits, numbers)
    return np.asarray(numbers.reshape(shape), np.int8 if signed else np.uint8)


def _stored(tensor: TensorProto, dtype: str, external: ExternalData) -> NDArray[Any]:
    outside = tensor.data_location == TensorProto.EXTERNAL
    raw_data = tensor.HasField("raw_data")
    field = _FIELDS.get(tensor.data_type, "int32_data")
    expected = None if outside else "raw_data" if raw_data else field
    others = [name for name in _CONTENTS if name != expected and len(getattr(tensor, name))]
    if others or tensor.HasField("segment"):
        message = f"numbers in {others[0]!r}, where a tensor of this type has none" if others else "a part of a tensor"
        raise UnreadableError(message, "save the model again: what it holds can be read in more than one way")
    if outside or raw_data:
        raw = external.read(tensor) if outside else tensor.raw_data
        size = np.dtype(dtype).itemsize
        if len(raw) % size:
            message = f"{len(raw)} bytes are not a whole number of {size}-byte numbers"
            raise UnreadableError(message, "copy or export the model again: it is truncated or damaged")
        return np.frombuffer(raw, dtype=dtype)
    given = getattr(tensor, field)
    numbers = np.array(given, dtype=None if given else dtype)
    if tensor.data_type in (TensorProto.FLOAT16, TensorProto.BFLOAT16):  # bit patterns, one to an integer
        return _fitting(numbers, "<u2").view(dtype)
    return numbers.astype(dtype) if tensor.data_type in FLOATS else _fitting(numbers, dtype)


def _fitting(numbers: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Integers in the type of their tensor, which must hold them."""
    fit = numbers.astype(dtype)
    if (fit.astype(numbers.dtype) != numbers).any():
        raise UnreadableError("an integer beyond the range of its tensor's type", "save the model again")
    return fit


def _exact(stored: NDArray[Any], kind: int) -> Constant:
    if kind == TensorProto.BOOL:
        if (stored.view(np.uint8) > 1).any():
            raise UnreadableError("a truth value that is neither 0 nor 1", "save the model again")
        return np.array(stored, dtype=np.bool_)
    if kind in WHOLES:
        return np.array(stored, dtype=stored.dtype.newbyteorder("="))
    if kind == TensorProto.BFLOAT16:
        stored = (stored.astype("<u4") << 16).view("<f4")
    numbers = np.ascontiguousarray(stored, dtype=np.float64).reshape(stored.shape)
    if np.isneginf(numbers).any() and not (np.isnan(numbers) | np.isposinf(numbers)).any():
        return masked.constant(numbers)
    finite = np.isfinite(numbers)
    if not finite.all():
        place = [int(i) for i in np.argwhere(~finite)[0]]  # none in a tensor of rank 0
        what = f"{numbers[tuple(place)]} at {place}" if place else str(float(numbers))
        raise UnreadableError(f"a number that is not finite ({what})", "repair the training or the export that made it")
    return Enclosure(numbers)
