"""Files made to do harm: they declare more than memory holds, point elsewhere, turn in circles or grow as they go."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fuzz.bombs import ARCHIVES, ARRAYS, NAMED, TEXTS
from fuzz.hostile_certificates import CERTIFICATES, networks
from fuzz.hostile_queries import QUERIES
from unit.networks.models import model, node

ONE = np.ones((2, 2), np.float32)
Files = dict[str, Callable[[Path], bytes]]


def _sizes(*sizes: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(sizes, np.int64)


def _onnx(*nodes: onnx.NodeProto, shape: tuple[int, ...] = (1, 2), **constants: object) -> Callable[[Path], bytes]:
    arrays = {name: np.asarray(array) for name, array in ({"w": ONE} | constants).items()}

    def made(_: Path) -> bytes:
        content: bytes = model(list(nodes), arrays, list(shape)).SerializeToString()
        return content

    return made


def _declared(dims: tuple[int, ...], content: bytes = b"", kind: int = TensorProto.FLOAT) -> Callable[[Path], bytes]:
    """A weight of these sizes with other content."""

    def made(_: Path) -> bytes:
        proto = model([node("MatMul", ["x", "w"], "y")], {"w": ONE}, [1, 2])
        tensor = proto.graph.initializer[0]
        del tensor.dims[:]
        tensor.dims.extend(dims)
        tensor.raw_data, tensor.data_type = content, kind
        whole: bytes = proto.SerializeToString()
        return whole

    return made


def _external(location: str, **entries: str) -> Callable[[Path], bytes]:
    def made(folder: Path) -> bytes:
        pipe = folder / "pipe"
        if not pipe.exists():
            os.mkfifo(pipe)
        (folder / "weights.bin").write_bytes(bytes(16))
        proto = model([node("MatMul", ["x", "w"], "y")], {"w": ONE}, [1, 2])
        tensor = proto.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, **entries}.items():
            tensor.external_data.add(key=key, value=value)
        whole: bytes = proto.SerializeToString()
        return whole

    return made


def _kept(count: int) -> Callable[[Path], bytes]:
    """A value of two million numbers in so many copies, all of which are needed at the end."""

    def made(_: Path) -> bytes:
        nodes, before = [], "x"
        for n in range(20):
            nodes.append(node("Concat", [before, before], f"d{n}", axis=1))
            before = f"d{n}"
        nodes += [node("Transpose", [before], f"t{n}", perm=[1, 0]) for n in range(count)]
        nodes.append(node("Sum", [f"t{n}" for n in range(count)], "y"))
        whole: bytes = model(nodes, {}, [1, 2]).SerializeToString()
        return whole

    return made


def _many(count: int, operator: str) -> Callable[[Path], bytes]:
    """A chain of nodes, each of which uses the one before twice."""

    def made(_: Path) -> bytes:
        nodes, before = [], "x"
        for n in range(count):
            after = "y" if n == count - 1 else f"t{n}"
            extra = {"axis": 1} if operator == "Concat" else {}
            nodes.append(node(operator, [before, before], after, **extra))
            before = after
        whole: bytes = model(nodes, {}, [1, 2]).SerializeToString()
        return whole

    return made


def _nested(depth: int) -> Callable[[Path], bytes]:
    def made(_: Path) -> bytes:
        graph = helper.make_graph([node("Relu", ["x"], "y")], "g", [], [])
        for _level in range(depth):
            inner = helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=graph)
            graph = helper.make_graph([inner], "g", [], [])
        proto = model([node("Relu", ["x"], "y")], {}, [1, 2])
        proto.graph.node.insert(0, graph.node[0])
        whole: bytes = proto.SerializeToString()
        return whole

    return made


def _no_finite(number: float) -> Callable[[Path], bytes]:
    return _onnx(node("MatMul", ["x", "w"], "y"), w=np.full((2, 2), number, np.float32))


def _sparse(_: Path) -> bytes:
    proto = model([node("MatMul", ["x", "w"], "y")], {}, [1, 2])
    values = numpy_helper.from_array(np.ones(1, np.float32), "w")
    indices = numpy_helper.from_array(_sizes(2**62), "i")
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2**31, 2**31]))
    whole: bytes = proto.SerializeToString()
    return whole


def _chain(count: int, operator: str, *constants: str) -> Callable[[Path], bytes]:
    """So many nodes one after the other."""

    def made(_: Path) -> bytes:
        names = ["x", *(f"t{n}" for n in range(count - 1)), "y"]
        nodes = [node(operator, [a, *constants], b) for a, b in pairwise(names)]
        content: bytes = model(nodes, {"c": np.array([1 / 3], np.float32)}, [1, 2]).SerializeToString()
        return content

    return made


def _squares(count: int) -> Callable[[Path], bytes]:
    """A constant with twice as many digits after every node."""

    def made(_: Path) -> bytes:
        names = ["c", *(f"t{n}" for n in range(count))]
        nodes = [node("Mul", [a, a], b) for a, b in pairwise(names)]
        nodes.append(node("Mul", ["x", names[-1]], "y"))
        content: bytes = model(nodes, {"c": np.array([1.0000001], np.float32)}, [1, 2]).SerializeToString()
        return content

    return made


def _functions(depth: int) -> Callable[[Path], bytes]:
    """A function that calls one twice that calls one twice."""

    def made(_: Path) -> bytes:
        proto = model([node("F0", ["x"], "y", domain="own")], {}, [1, 2])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
        for n in range(depth):
            calls = [
                helper.make_node(f"F{n + 1}", ["a"], ["b"], domain="own"),
                helper.make_node(f"F{n + 1}", ["b"], ["c"], domain="own"),
            ]
            proto.functions.append(helper.make_function("own", f"F{n}", ["a"], ["c"], calls, opsets))
        proto.opset_import.append(opsets[1])
        content: bytes = proto.SerializeToString()
        return content

    return made


def _row(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.ones((1, count), np.float32)


BIG = 1_000_000_000
ONNX: Files = {
    "dims beyond memory": _declared((2**40, 2**20)),
    "dims beyond 64 bits in all": _declared((2**62, 2**62, 2**62)),
    "dims that are negative": _declared((-1, 2), bytes(8)),
    "no rows": _declared((0, 2)),
    "no columns": _declared((2, 0)),
    "nothing times much": _declared((0, 2**62)),
    "more content than declared": _declared((1, 2), bytes(10_000)),
    "a type of none": _declared((2, 2), bytes(16), 0),
    "a type of the future": _declared((2, 2), bytes(16), 99),
    "texts for weights": _declared((2, 2), bytes(16), TensorProto.STRING),
    "expand to a billion": _onnx(
        node("Expand", ["w", "s"], "e"), node("MatMul", ["x", "e"], "y"), s=_sizes(BIG, 2, 2)
    ),
    "expand the input": _onnx(node("Expand", ["x", "s"], "y"), s=_sizes(BIG, 2)),
    "expand to less than nothing": _onnx(node("Expand", ["x", "s"], "y"), s=_sizes(-5, 2)),
    "a constant of a billion": _onnx(
        node("ConstantOfShape", ["s"], "e"), node("Add", ["x", "e"], "y"), s=_sizes(BIG, 2)
    ),
    "a constant of 2^186": _onnx(
        node("ConstantOfShape", ["s"], "e"), node("Add", ["x", "e"], "y"), s=_sizes(2**62, 2**62, 2**62)
    ),
    "tiles": _onnx(node("Tile", ["x", "s"], "y"), s=_sizes(1, BIG)),
    "padding": _onnx(node("Pad", ["x", "s"], "y"), s=_sizes(0, BIG, 0, BIG)),
    "padding of 2^63": _onnx(node("Pad", ["x", "s"], "y"), s=_sizes(0, 2**63 - 1, 0, 2**63 - 1)),
    "a range of everything": _onnx(
        node("Range", ["a", "b", "c"], "e"), node("Add", ["x", "e"], "y"),
        a=np.int64(0), b=np.int64(2**62), c=np.int64(1),
    ),
    "a range without steps": _onnx(
        node("Range", ["a", "b", "c"], "e"), node("Add", ["x", "e"], "y"),
        a=np.int64(0), b=np.int64(10), c=np.int64(0),
    ),
    "an input beyond memory": _onnx(node("Relu", ["x"], "y"), shape=(1, 2**40)),
    "an input of a billion": _onnx(node("Relu", ["x"], "y"), shape=(1, BIG)),
    "an input times itself": _onnx(node("MatMul", ["x", "x"], "y"), shape=(2, 2)),
    "a square of everything": _onnx(node("Flatten", ["x"], "f"), node("Relu", ["f"], "y"), shape=(1, 60_000, 60_000)),
    "a reshape of nothing": _onnx(node("Reshape", ["x", "s"], "y"), s=_sizes(0, -1, 0, 2**62)),
    "two sizes to be guessed": _onnx(node("Reshape", ["x", "s"], "y"), s=_sizes(-1, -1)),
    "a convolution with a huge kernel": _onnx(
        node("Conv", ["x", "k"], "y", pads=[BIG] * 4), shape=(1, 1, 4, 4), k=np.ones((1, 1, 2, 2), np.float32)
    ),
    "a convolution with huge steps": _onnx(
        node("Conv", ["x", "k"], "y", strides=[2**62, 0], dilations=[2**62, 2**62]),
        shape=(1, 1, 4, 4), k=np.ones((1, 1, 2, 2), np.float32),
    ),
    "a convolution of negative groups": _onnx(
        node("Conv", ["x", "k"], "y", group=-(2**62)), shape=(1, 1, 4, 4), k=np.ones((1, 1, 2, 2), np.float32)
    ),
    "pooling with a huge window": _onnx(
        node("AveragePool", ["x"], "y", kernel_shape=[2**31, 2**31], pads=[2**31] * 4), shape=(1, 1, 4, 4)
    ),
    "a transpose of axes there are not": _onnx(node("Transpose", ["x"], "y", perm=[5, -9])),
    "a gemm times infinity": _onnx(node("Gemm", ["x", "w"], "y", alpha=float("inf"))),
    "a normalisation by nothing": _onnx(
        node("BatchNormalization", ["x", "o", "o", "o", "z"], "y", epsilon=0.0),
        o=np.ones(2, np.float32), z=np.zeros(2, np.float32),
    ),
    "a normalisation by less than nothing": _onnx(
        node("BatchNormalization", ["x", "o", "o", "o", "z"], "y", epsilon=-1.0),
        o=np.ones(2, np.float32), z=np.zeros(2, np.float32),
    ),
    "a division by zero": _onnx(node("Div", ["x", "z"], "y"), z=np.zeros(2, np.float32)),
    "a circle of one": _onnx(node("Relu", ["y"], "y")),
    "a circle of two": _onnx(node("Relu", ["b"], "a"), node("Relu", ["a"], "b"), node("Add", ["x", "b"], "y")),
    "one name twice": _onnx(node("Relu", ["x"], "y"), node("MatMul", ["x", "w"], "y")),
    "a name for everything": _onnx(node("Relu", ["x"], "x"), node("Relu", ["x"], "y")),
    "doubling by concat": _many(20, "Concat"),
    "doubling by concat beyond memory": _many(26, "Concat"),
    "many values at once": _kept(400),
    "doubling by addition": _many(3000, "Add"),
    "graphs in graphs": _nested(12),
    "functions in functions": _functions(60),
    "a chain of relus": _chain(1200, "Relu"),
    "a chain of products": _chain(20_000, "Mul", "c"),
    "a chain of sums": _chain(20_000, "Add", "c"),
    "squares of squares": _squares(60),
    "an outer product": _onnx(
        node("Mul", ["a", "b"], "m"), node("MatMul", ["x", "m"], "y"),
        shape=(1, 20_000), a=_row(20_000).T, b=_row(20_000),
    ),
    "an outer product of the input": _onnx(node("Mul", ["x", "b"], "y"), shape=(20_000, 1), b=_row(20_000)),
    "a product of long vectors": _onnx(
        node("MatMul", ["a", "b"], "m"), node("MatMul", ["x", "m"], "y"), shape=(1, 9000), a=_row(9000).T, b=_row(9000)
    ),
    "a product of outer products": _onnx(
        node("MatMul", ["a", "b"], "m"), node("MatMul", ["m", "m"], "n"), node("MatMul", ["x", "n"], "y"),
        shape=(1, 900), a=_row(900).T, b=_row(900),
    ),
    "a gathering of everything": _onnx(
        node("Gather", ["x", "i"], "g", axis=1), node("Gather", ["g", "i"], "y", axis=1), i=np.zeros(40_000, np.int64)
    ),
    "a gathering of constants": _onnx(
        node("Gather", ["w", "i"], "g", axis=1), node("Gather", ["g", "i"], "h", axis=0), node("Add", ["x", "h"], "y"),
        i=np.zeros(40_000, np.int64),
    ),
    "integers from nothing": _onnx(
        node("ConstantOfShape", ["s"], "a", value=numpy_helper.from_array(np.ones(1, np.int64))),
        node("Mul", ["a", "a"], "b"), node("Cast", ["b"], "f", to=TensorProto.FLOAT), node("Add", ["x", "f"], "y"),
        s=_sizes(60_000_000),
    ),
    "a slice with the longest step": _onnx(
        node("Slice", ["x", "s", "e", "a", "p"], "y"),
        s=_sizes(2**63 - 1), e=_sizes(-(2**63)), a=_sizes(1), p=_sizes(-(2**63)),
    ),
    "thirty-three axes": _onnx(node("Unsqueeze", ["x", "a"], "y"), a=np.arange(40)),
    "an axis of 2^63": _onnx(node("Concat", ["x", "x"], "y", axis=2**63 - 1)),
    "parts without number": _onnx(node("Split", ["x", "s"], "y", axis=1), s=np.zeros(100_000, np.int64)),
    "two gibibytes in a few bytes": _declared((2**29,), bytes(8)),
    "all names the same": _onnx(*(node("Relu", ["x"], "y") for _ in range(20_000))),
    "sparse": _sparse,
    "weights nan": _no_finite(float("nan")),
    "weights inf": _no_finite(float("inf")),
    "data elsewhere": _external("../../../../../../../../etc/passwd"),
    "data at an absolute place": _external("/etc/passwd"),
    "data without end": _external("/dev/zero"),
    "data from a pipe": _external("pipe"),
    "data in a folder": _external("."),
    "data before its file": _external("weights.bin", offset="-16", length="16"),
    "data beyond its file": _external("weights.bin", offset="8", length="1000000000000"),
    "data at no number": _external("weights.bin", offset="nan", length="1e3"),
    "no data": _external(""),
    "a length that lies": lambda _: b"\x08\x08\x3a\xff\xff\xff\xff\x0f" + bytes(20),
    "only zeros": lambda _: bytes(100_000),
    "empty": lambda _: b"",
}  # fmt: skip


def _npz(**members: bytes) -> Callable[[Path], bytes]:
    def made(_: Path) -> bytes:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(f"{name}.npy", data)
        return content.getvalue()

    return made


def _npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def _array_of(shape: str, kind: str = "<f8", data: bytes = b"") -> bytes:
    return _npy(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n", data)


def _zip_bomb(folder: Path) -> bytes:
    zeros = _array_of("(25000000,)", data=bytes(BIG // 5))
    return _npz(mean=zeros, std=_array_of("(2,)", data=bytes(16)))(folder)


NPZ: Files = {
    "an array beyond memory": _npz(mean=_array_of("(1000000000000,)"), std=_array_of("(2,)", data=bytes(16))),
    "an array of negative size": _npz(mean=_array_of("(-2,)"), std=_array_of("(2,)", data=bytes(16))),
    "pickled objects": _npz(mean=_array_of("(1,)", "|O", b"cos\nsystem\n(S'echo harm'\ntR."), std=_array_of("(2,)")),
    "a zip bomb": _zip_bomb,
    "a header that runs code": _npz(mean=_npy("__import__('os').system('true')\n"), std=b""),
    "no zip": lambda _: b"PK\x03\x04" + bytes(100),
}
JSON: Files = {
    "depth": lambda _: b"[" * 1_000_000,
    "depth in depth": lambda _: b'{"mean": ' * 100_000,
    "an exponent": lambda _: b'{"mean": [1e1000000000, 1], "std": [1, 1]}',
    "a negative exponent": lambda _: b'{"mean": [1e-1000000000, 1], "std": [1, 1]}',
    "a million digits": lambda _: b'{"mean": [' + b"7" * 1_000_000 + b', 1], "std": [1, 1]}',
    "numbers that are none": lambda _: b'{"mean": [NaN, Infinity], "std": [1, 1]}',
    "a lot of numbers": lambda _: json.dumps({"mean": [1] * 500_000, "std": [1, 1]}).encode(),
}
CSV: Files = {
    "an exponent": lambda _: b"mean,std\n1e1000000000,1\n1,1\n",
    "a long line": lambda _: b"mean,std\n" + b"1," * 2_000_000 + b"\n",
    "a long number": lambda _: b"1" * 100_000 + b"x\n1\n",
    "a wide header": lambda _: b",".join(b"c%d [m" % n for n in range(100_000)) + b"\n1\n",
    "brackets": lambda _: b"[" * 100_000 + b" " * 100_000 + b"]]\n1\n",
    "an open quote": lambda _: b'mean,std\n"' + b"1\n" * 500_000,
    "zeros": lambda _: bytes(1_000_000),
    "no text": lambda _: bytes(range(256)) * 100,
}
NNET: Files = {
    "layers beyond memory": lambda _: b"1000000000000,2,1,3,\n2,3,1,\n",
    "widths beyond memory": lambda _: b"2,2,1,3,\n2,1000000000000,1,\n0,\n-1,-1,\n1,1,\n0,0,0,\n1,1,1,\n",
    "negative widths": lambda _: b"2,2,1,3,\n2,-3,1,\n0,\n-1,-1,\n1,1,\n0,0,0,\n1,1,1,\n",
    "no widths": lambda _: b"2,0,0,0,\n0,0,0,\n",
    "a million digits": lambda _: b"2,2,1," + b"3" * 1_000_000 + b",\n",
    "comments only": lambda _: b"// a\n" * 200_000,
}
_PARAMETERS, _DEFINES, _CALLS = b"firmware/parameters.h\n", b"firmware/defines.h\n", b"firmware/myproject.cpp\n"
FIRMWARE: Files = {
    "brackets": lambda _: _DEFINES + b"typedef ap_fixed<" + b"(" * 100_000 + b"6,2> input_t;",
    "signs": lambda _: _DEFINES + b"typedef ap_fixed<" + b"-" * 100_000 + b"6,2> input_t;",
    "open blocks": lambda _: _PARAMETERS + b"struct a : nnet::b { template<" * 100_000,
    "inputs beyond memory": lambda _: _CALLS + b"void f(input_t x[999999999999], layer3_t y[1]) {}",
    "weights beyond memory": lambda _: b"firmware/weights/w1.h\nweight1_t w1[999999999999] = {1};",
    "many weights": lambda _: b"firmware/weights/w1.h\nweight1_t w1[20000001] = {" + b"1," * 20_000_000 + b"1};",
    "members of each other": lambda _: (
        _PARAMETERS
        + b"struct config1 : nnet::dense_config { static const unsigned n_in = a0;"
        + b"".join(b"static const unsigned a%d = a%d;" % (n, n + 1) for n in range(20_000))
        + b"};"
    ),
    "comments only": lambda _: _DEFINES + b"// a\n" * 200_000,
}
HOSTILE: dict[str, Files] = {
    "certificate": CERTIFICATES | networks(ONNX) | networks(NNET, "h.nnet"),
    "onnx graphs": ONNX,
    "audited graphs": ONNX,
    "nnet": NNET,
    "firmware": FIRMWARE,
    "scaler npz": NPZ | ARCHIVES,
    "rows npz": NPZ | ARCHIVES,
    "rows npy": ARRAYS,
    "table npz": ARCHIVES,
    "table npy": ARRAYS,
    "table csv": CSV | TEXTS,
    "scaler json": JSON | NAMED,
    "scaler csv": CSV | TEXTS,
    "rows csv": CSV | TEXTS,
    "header csv": CSV | TEXTS,
    "vnnlib": QUERIES,
    "vnnlib answered": QUERIES,
}
