"""Constants that a file stores sparsely, as the dense tensors that they are: numbers at listed places, and zeros.

They stand among the initialisers of a graph, also of one inside of a node, and in nodes Constant (`sparse_value`).

Shapes: N numbers beside their places, (N,) in C order of the entries or (N, R) with one index for each of R axes. ONNX
asks for places in ascending order, each once; whatever else stands there is refused, as runtimes differ on it.
"""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, ModelProto, SparseTensorProto, TensorProto, helper, numpy_helper

from eqspec.networks.onnx_tensor import ExternalData, UnreadableError, decode
from eqspec.networks.readers.onnx_ends import all_nodes, inner_graphs
from eqspec.networks.readers.onnx_names import MODEL_FIX, STANDARD

MOST = 10_000_000
"""The most entries that are written out, of all sparse constants of a file together."""
_FIX = "save it densely"


def write_out(model: ModelProto) -> None:
    """Put dense constants in place of the sparse ones of a model. Raises UnreadableError."""
    nodes = [*all_nodes(model.graph.node), *(node for function in model.functions for node in all_nodes(function.node))]
    graphs = [model.graph, *(graph for node in nodes for graph in inner_graphs(node))]
    constants = [
        attribute
        for node in nodes
        if node.op_type == "Constant" and node.domain in STANDARD
        for attribute in node.attribute
        if attribute.type == AttributeProto.SPARSE_TENSOR and attribute.name == "sparse_value"
    ]
    found = [*(one for graph in graphs for one in graph.sparse_initializer), *(a.sparse_tensor for a in constants)]
    entries = sum(prod(max(0, size) for size in sparse.dims) for sparse in found)
    if entries > MOST:
        raise UnreadableError(
            f"the sparse constants have {entries} entries; up to {MOST} entries are written out", _FIX
        )
    for graph in graphs:
        graph.initializer.extend(dense(sparse) for sparse in graph.sparse_initializer)
        del graph.sparse_initializer[:]
    for attribute in constants:
        attribute.CopyFrom(helper.make_attribute("value", dense(attribute.sparse_tensor)))


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
