"""Constants that a file stores sparsely, as the dense tensors that they are: numbers at listed places, and zeros.

Shapes: N numbers beside their places, (N,) in C order of the entries or (N, R) with one index for each of R axes. ONNX
asks for places in ascending order, each once; whatever else stands there is refused, as runtimes differ on it.
"""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, SparseTensorProto, TensorProto, numpy_helper

from eqspec.networks.onnx_tensor import ExternalData, UnreadableError, decode
from eqspec.networks.readers.onnx_names import MODEL_FIX

MOST = 10_000_000
"""The most entries that are written out, of all sparse initialisers of a file together."""
_FIX = "save it densely"


def write_out(graph: GraphProto) -> None:
    """Put dense initialisers in place of the sparse ones of a graph. Raises UnreadableError."""
    entries = sum(prod(max(0, size) for size in sparse.dims) for sparse in graph.sparse_initializer)
    if entries > MOST:
        raise UnreadableError(
            f"the sparse constants have {entries} entries; up to {MOST} entries are written out", _FIX
        )
    for sparse in graph.sparse_initializer:
        graph.initializer.append(dense(sparse))
    del graph.sparse_initializer[:]


def dense(sparse: SparseTensorProto) -> TensorProto:
    """The tensor, with the name of its numbers. Raises UnreadableError where it is none."""
    name, shape = sparse.values.name, tuple(sparse.dims)
    if not isinstance(name, str):
        raise UnreadableError(f"the name {name!r} is not UTF-8", MODEL_FIX)
    what = f"the sparse constant {name!r}" if name else "a sparse constant"
    if any(tensor.data_location == TensorProto.EXTERNAL for tensor in (sparse.values, sparse.indices)):
        raise UnreadableError(f"{what} lies outside of the file", _FIX)
    if any(size < 0 for size in shape):
        raise UnreadableError(f"{what} has shape {shape}", _FIX)
    for tensor in (sparse.values, sparse.indices):
        decode(tensor, ExternalData(Path()))  # refuses what can be read in two ways
    numbers, places = numpy_helper.to_array(sparse.values), numpy_helper.to_array(sparse.indices)
    flat = _flat(places, shape)
    if numbers.ndim != 1 or flat is None or len(flat) != len(numbers) or (np.diff(flat) <= 0).any():
        raise UnreadableError(f"{what} does not list every place once, in ascending order", _FIX)
    written = np.zeros(shape, numbers.dtype)
    written.reshape(-1)[flat] = numbers
    return numpy_helper.from_array(written, name)


def _flat(places: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64] | None:
    """Places (N,) in C order; None where they are none of this shape."""
    if places.dtype != np.int64:
        return None
    if places.ndim == 1:
        return places if ((places >= 0) & (places < prod(shape))).all() else None
    if places.ndim != 2 or places.shape[1] != len(shape) or ((places < 0) | (places >= shape)).any():
        return None
    flat: NDArray[np.int64] = np.ravel_multi_index(tuple(places.T), shape).astype(np.int64)
    return flat
