"""Certificates made to do harm, and the networks that they name: far larger than they look, without an end, or deep.

All start from a certificate that holds, of a claim so weak that a tree of any form proves it. What is large is made
when it is asked for: every process that tries some of the files imports all of them.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from unit.networks.models import model, node

Array = NDArray[Any]
Header = dict[str, Any]
Change = Callable[[Path, Header], object]
Part = Array | bytes | Callable[[], Array]
LEAF, CUT, ROUND, ASSUME = range(4)
LONG = "7" * 50_000


@cache
def network(inputs: int = 2, outputs: int = 2) -> bytes:
    """x W with ones."""
    weight = np.ones((inputs, outputs), np.float32)
    content: bytes = model([node("MatMul", ["x", "w"], "y")], {"w": weight}, [1, inputs]).SerializeToString()
    return content


def header(
    folder: Path, content: bytes | None = None, inputs: int = 2, outputs: int = 2, name: str = "h.onnx"
) -> Header:
    """Of a certificate of a network against itself, whose file is put into the folder."""
    content = network(inputs, outputs) if content is None else content
    (folder / name).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    role = {"name": "f", "path": name, "sha256": digest, "takes": "normalised", "gives": "logits"}
    return {
        "format": "eqspec-certificate/5",
        "verdict": "equivalent",
        "task": {
            "schema": "eqspec-task/1",
            "id": "t",
            "reference": role,
            "candidate": dict(role),
            "space": {
                "features": [f"x{i}" for i in range(inputs)],
                "outputs": [f"y{i}" for i in range(outputs)],
                "mean_exact": ["0"] * inputs,
                "std_exact": ["1"] * inputs,
            },
            "region": {"lo_exact": ["-1"] * inputs, "hi_exact": ["1"] * inputs, "A": [], "b": [], "strict": []},
            "property": {"kind": "epsilon", "eps": "1000", "norm": "linf", "outputs": None, "decide": "max"},
            "arithmetic": "real",
        },
    }


def packed(head: Header | bytes, *arrays: Array | bytes) -> bytes:
    """A certificate of a header and arrays."""
    content = io.BytesIO()
    content.write(head if isinstance(head, bytes) else json.dumps(head).encode() + b"\n")
    for array in arrays:
        if isinstance(array, bytes):
            content.write(array)
        else:
            npy.write_array(content, array)
    return gzip.compress(content.getvalue(), 1)


ONE_LEAF = np.zeros((1, 3))


def told(change: Change, *arrays: Array, inputs: int = 2) -> Callable[[Path], bytes]:
    """A certificate with a change in its header."""

    def made(folder: Path) -> bytes:
        head = header(folder, inputs=inputs)
        change(folder, head)
        return packed(head, *(arrays or (ONE_LEAF,)))

    return made


def _set(*keys: str | int, to: Any) -> Change:
    def change(_: Path, head: Header) -> None:
        at: Any = head["task"]
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = to

    return change


def _number(text: Any) -> Callable[[Path], bytes]:
    return told(_set("region", "hi_exact", 0, to=text))


def _at(path: str) -> Callable[[Path], bytes]:
    """The reference is at a path where no network should be."""
    return told(_set("reference", "path", to=path))


def _made(prepare: Callable[[Path], None]) -> Callable[[Path], bytes]:
    """The reference is what is prepared under the name `odd`."""

    def change(folder: Path, head: Header) -> None:
        (folder / "odd").unlink(missing_ok=True)
        prepare(folder / "odd")
        head["task"]["reference"]["path"] = "odd"

    return told(change)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def _line(text: str | bytes, times: int = 1, end: bytes = b"") -> Callable[[Path], bytes]:
    """A header of a text, so many times, and an end."""
    return lambda _: packed((text.encode() if isinstance(text, str) else text) * times + end)


def _twice(*keys: str, text: str) -> Callable[[Path], bytes]:
    """A field that stands twice, with two values."""

    def made(folder: Path) -> bytes:
        whole = json.dumps(header(folder))
        name = f'"{keys[-1]}": '
        return packed(whole.replace(name, f"{name}{text}, {name}", 1).encode() + b"\n", ONE_LEAF)

    return made


def _tree(*parts: Part) -> Callable[[Path], bytes]:
    return lambda folder: packed(header(folder), *(part() if callable(part) else part for part in parts))


def _records(*records: tuple[Array | list[tuple[float, float, float]], int]) -> Callable[[], Array]:
    return lambda: np.concatenate([np.tile(np.array(some, np.float64), (times, 1)) for some, times in records])


def _head(shape: str, kind: str = "<f8", order: str = "False") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _network(
    content: Callable[[], bytes], inputs: int = 2, outputs: int = 2, name: str = "h.onnx"
) -> Callable[[Path], bytes]:
    return lambda folder: packed(header(folder, content(), inputs, outputs, name), ONE_LEAF)


def _chain(width: int, count: int) -> bytes:
    """Products of matrices without a ReLU between them: every value is a sum over all inputs, many times."""
    nodes, before = [], "x"
    for n in range(count):
        nodes.append(node("MatMul", [before, "w"], "y" if n == count - 1 else f"t{n}"))
        before = f"t{n}"
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(width, width)).astype(np.float32)
    content: bytes = model(nodes, {"w": weight}, [1, width]).SerializeToString()
    return content


def _deep(count: int, kind: str = "Relu") -> bytes:
    nodes, before = [], "x"
    for n in range(count):
        nodes.append(node(kind, [before], "y" if n == count - 1 else f"t{n}"))
        before = f"t{n}"
    content: bytes = model(nodes, {}, [1, 2]).SerializeToString()
    return content


def _depth_and_width(folder: Path) -> bytes:
    """One network of many layers, the other wide: in step they would have as many wide layers."""
    head = header(folder, _deep(4000))
    wide = model(
        [node("MatMul", ["x", "w"], "a"), node("Relu", ["a"], "b"), node("MatMul", ["b", "v"], "y")],
        {"w": np.ones((2, 1000), np.float32), "v": np.ones((1000, 2), np.float32)},
        [1, 2],
    ).SerializeToString()
    (folder / "wide.onnx").write_bytes(wide)
    head["task"]["candidate"].update(path="wide.onnx", sha256=hashlib.sha256(wide).hexdigest())
    return packed(head, ONE_LEAF)


def _table(operator: str, dtype: Any) -> bytes:
    """A column and a row of constants, which together are a table of 10^10 numbers."""
    nodes = [node(operator, ["a", "b"], "c"), node("Add", ["x", "c"], "y")]
    column = np.ones((100_000, 1), dtype)
    content: bytes = model(nodes, {"a": column, "b": column.T.copy()}, [1, 2]).SerializeToString()
    return content


def _range(count: int) -> bytes:
    nodes = [node("Range", ["a", "b", "c"], "r"), node("Gather", ["r", "a"], "i"), node("Gather", ["x", "i"], "y")]
    numbers = {"a": np.array(0), "b": np.array(count), "c": np.array(1)}
    content: bytes = model(nodes, numbers, [1, 2]).SerializeToString()
    return content


def _sequence(length: int, hidden: int) -> bytes:
    """A cell with few weights that is written out many times."""
    weights = {"w": np.ones((1, 4 * hidden, 1), np.float32), "r": np.ones((1, 4 * hidden, hidden), np.float32)}
    nodes = [node("LSTM", ["x", "w", "r"], "y", hidden_size=hidden)]
    content: bytes = model(nodes, weights, [length, 1, 1]).SerializeToString()
    return content


def _declared(dims: tuple[int, ...]) -> bytes:
    proto = model([node("MatMul", ["x", "w"], "y")], {"w": np.ones((2, 2), np.float32)}, [1, 2])
    del proto.graph.initializer[0].dims[:]
    proto.graph.initializer[0].dims.extend(dims)
    content: bytes = proto.SerializeToString()
    return content


def _gathered() -> bytes:
    nodes = [node("Gather", ["x", "i"], "g"), node("Gather", ["g", "i"], "h"), node("Relu", ["h"], "y")]
    indices = np.zeros(3000, np.int64)
    content: bytes = model(nodes, {"i": indices}, [1, 2]).SerializeToString()
    return content


def _without_common_denominator(folder: Path) -> bytes:
    """A witness of 2000 numbers, none of whose long denominators divides another."""
    head = header(folder, inputs=2000) | {"verdict": "different"}
    rng = np.random.default_rng(0)
    ten = 10**3900
    head["witness"] = [str(Fraction(1, ten + int(k))) for k in rng.integers(1, 10**9, 2000)]
    return packed(head)


def _constraints(rows: int, columns: int, text: Callable[[int], str]) -> Callable[[Path], bytes]:
    def change(_: Path, head: Header) -> None:
        row = [text(n) for n in range(columns)]
        head["task"]["region"].update(A=[row] * rows, b=["100000"] * rows, strict=[False] * rows)

    return told(change, inputs=columns)


def _sums(folder: Path) -> bytes:
    """Coefficients that are no floats, on sides with long denominators."""
    head = header(folder, inputs=1000)
    ten = 10**3900
    head["task"]["region"].update(
        hi_exact=[f"1/{ten + n}" for n in range(1000)],
        A=[[f"1/{ten - n}" for n in range(1, 1001)]] * 2,
        b=["1"] * 2,
        strict=[False] * 2,
    )
    return packed(head, ONE_LEAF)


def _classes(folder: Path) -> bytes:
    head = header(folder, inputs=2, outputs=1000)
    head["task"]["property"] = {"kind": "top1", "guard": None, "decide": "max"}
    return packed(head, ONE_LEAF)


def _bomb(_: Path) -> bytes:
    """A line of three gigabytes, in three megabytes: members of gzip behind each other."""
    return gzip.compress(b" " * (1 << 24), 9) * 200


def _behind(folder: Path) -> bytes:
    """A tree of one leaf, and then three gigabytes of zeros."""
    return packed(header(folder), ONE_LEAF) + gzip.compress(bytes(1 << 24), 9) * 200


def _rounds(wanted: int, rows: int) -> Callable[[Path], bytes]:
    """One round that bounds so many quantities with so many facts."""
    tree = np.array([(ASSUME, 0, 0), (ROUND, 0, 0), (LEAF, 0, 0), (LEAF, 0, 0)], np.float64)
    return lambda folder: packed(
        header(folder),
        tree,
        np.ones(wanted, np.int32),
        np.arange(rows, dtype=np.int32),
        _head(f"({wanted}, {rows})", "|i1"),
        bytes(min(wanted * rows, 1 << 26)),
    )


CERTIFICATES: dict[str, Callable[[Path], bytes]] = {
    "whole": lambda folder: packed(header(folder), ONE_LEAF),
    "an exponent": _number("1e9999999999"),
    "a negative exponent": _number("1e-9999999999"),
    "an exponent in the claim": told(_set("property", "eps", to="1E9999999999")),
    "an exponent in the normalisation": told(_set("space", "std_exact", 0, to="1e9999999999")),
    "an exponent in the input": lambda folder: packed(
        header(folder) | {"verdict": "different", "witness": ["1e9999999999", "0"]}
    ),
    "fifty thousand digits": _number(LONG),
    "a third to the power of a hundred thousand": _number("1/" + LONG[:47_713]),
    "a number and not a text": _number(10**400),
    "a float": _number(0.5),
    "a division by zero": _number("1/0"),
    "digits of another script": _number("٣"),
    "digits with lines": _number("1_000"),
    "a fraction of fractions": _number("1/2/3"),
    "not a number": _number("nan"),
    "no common denominator": _without_common_denominator,
    "sums without a common denominator": _sums,
    "a million inputs": told(lambda _, head: head["task"]["space"].update(features=["x"] * 1_000_000)),
    "a thousand classes": _classes,
    "many constraints": _constraints(700, 300, lambda _: "1/3"),
    "more constraints": _constraints(60_000, 1, lambda _: "1"),
    "a network that never ends": _at("/dev/zero"),
    "a network from the terminal": _at("/dev/stdin"),
    "a network of the system": _at("/proc/kcore"),
    "a network of the process": _at("/proc/self/environ"),
    "a network that is a folder": _at("."),
    "a network with a zero in its path": _at("a\0b"),
    "a network with a long path": _at("a/" * 100_000),
    "a network with a long name": _at("a" * 3000),
    "a network without a path": _at(""),
    "a network that is no path": told(_set("reference", "path", to=["h.onnx"])),
    "a network behind a pipe": _made(os.mkfifo),
    "a network in a circle": _made(lambda path: path.symlink_to(path.name)),
    "a network of a terabyte": _made(_sparse),
    "a network of nothing": _made(Path.touch),
    "depth": _line(b"[", 10_000_000, b"\n"),
    "depth below the limit": _line(b"[" * 60_000 + b"\n"),
    "depth in depth": _line(b'{"a": ' * 60_000 + b"\n"),
    "many lists": lambda _: packed(b"[" + b"[]," * 5_000_000 + b"[]]\n"),
    "many numbers": lambda _: packed(b"[" + b"1," * 7_000_000 + b"1]\n"),
    "a line without an end": _bomb,
    "more behind the end": _behind,
    "a field twice": _twice("verdict", text='"different"'),
    "a claim twice": _twice("eps", text='"1/1000000"'),
    "a region twice": _twice("region", text="{}"),
    "nan": _line('{"format": NaN}\n'),
    "infinity": _line('{"format": -Infinity}\n'),
    "a long whole number": _line('{"format": ' + LONG + "}\n"),
    "a long float": _line('{"format": 1.' + LONG + "e" + LONG + "}\n"),
    "no UTF-8": _line(b'{"format": "\xff\xfe"}\n'),
    "UTF-16": _line('{"format": "eqspec-certificate/5"}\n'.encode("utf-16")),
    "half a character": lambda folder: packed(
        json.dumps(header(folder)).replace('"id": "t"', '"id": "\\ud800"').encode() + b"\n", ONE_LEAF
    ),
    "a list": _line("[]\n"),
    "a word": _line('"certificate"\n'),
    "a tree beyond memory": _tree(_head("(1000000000000, 3)")),
    "a tree of numbers beyond 64 bits": _tree(_head("(99999999999999999999999999, 3)")),
    "a tree of negative size": _tree(_head("(-1, 3)")),
    "a tree of no size": _tree(_head("()")),
    "a tree of nothing times much": _tree(_head("(0, 9999999999)")),
    "a tree by columns": _tree(_head("(1, 3)", order="True"), bytes(24)),
    "a tree of objects": _tree(_head("(1, 3)", "|O"), b"cos\nsystem\n(S'true'\ntR."),
    "a tree of texts": _tree(_head("(1, 3)", "<U100000000"), bytes(100)),
    "a tree with two columns": _tree(np.zeros((3, 2))),
    "a tree whose head runs code": _tree(b"\x93NUMPY\x01\x00\x1d\x00__import__('os').system('')\n "),
    "a tree with a long head": _tree(b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b"(" * 1_000_000),
    "a tree with a deep head": _tree(b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65_535),
    "a tree of ten million leaves": _tree(np.zeros((10_000_000, 3))),
    "a tree a million deep": _tree(_records(([(CUT, 0, 0.0)], 1_000_000), ([(LEAF, 0, 0)], 1_000_001))),
    "a tree a million deep on the other side": _tree(
        _records(([(CUT, 0, 0.0), (LEAF, 0, 0)], 1_000_000), ([(LEAF, 0, 0)], 1))
    ),
    "a tree that assumes for ever": _tree(_records(([(ASSUME, 0, 0)], 1_000_000), ([(LEAF, 0, 0)], 1))),
    "cuts of nothing": _tree(_records(([(CUT, 1e300, 0.0)], 1))),
    "cuts at nothing": _tree(_records(([(CUT, 0, np.nan)], 1))),
    "records of nothing": _tree(_records(([(np.nan, np.nan, np.nan)], 1))),
    "a round of many quantities": _rounds(30_000_000, 1),
    "a round of many facts": _rounds(1, 30_000_000),
    "a round of many of both": _rounds(20_000, 3000),
    "a round that bounds one thing a hundred thousand times": _rounds(100_000, 10),
    "no gzip": lambda _: b"PK\x03\x04" + bytes(100),
    "gzip in gzip": lambda folder: gzip.compress(packed(header(folder), ONE_LEAF)),
    "cut off": lambda folder: packed(header(folder), ONE_LEAF)[:-9],
    "a network of four million weights": _network(lambda: network(2000, 2000), 2000, 2000),
    "a network that declares what it has not": _network(lambda: _declared((2**40, 2**20))),
    "a network that declares less than nothing": _network(lambda: _declared((-1, -2))),
    "products of products": _network(lambda: _chain(260, 6), 260, 260),
    "a hundred thousand layers": _network(lambda: _deep(100_000)),
    "depth and width": _depth_and_width,
    "a table of products": _network(lambda: _table("Mul", np.float32)),
    "a table of products of whole numbers": _network(lambda: _table("Mul", np.int64)),
    "a table by a product of matrices": _network(lambda: _table("MatMul", np.int64)),
    "a table of sums": _network(lambda: _table("Add", np.float64)),
    "a table of comparisons of whole numbers": _network(lambda: _table("Less", np.int64)),
    "a range of two thousand million": _network(lambda: _range(2**31 - 1)),
    "a cell for fifty thousand steps": _network(lambda: _sequence(50_000, 1), 50_000),
    "a wide cell for some steps": _network(lambda: _sequence(400, 400), 400),
    "an output that is no text": told(_set("reference", "output", to=["y"])),
    "an output with a long name": told(_set("reference", "output", to="y" * 5000)),
    "an output that is not there": told(_set("reference", "output", to="x\u202ey")),
    "gathered and gathered again": _network(_gathered),
    "an nnet of many numbers": _network(lambda: b"1," * 20_000_000, name="h.nnet"),
    "an nnet of many lines": _network(lambda: b"1\n" * 20_000_000, name="h.nnet"),
    "an nnet of long numbers": _network(
        lambda: b"1,2,2,2,\n2,2,\n0\n0\n0\n0\n0\n" + b"9" * 10_000_000 + b",\n", name="h.nnet"
    ),
}  # fmt: skip


def networks(files: dict[str, Callable[[Path], bytes]], name: str = "h.onnx") -> dict[str, Callable[[Path], bytes]]:
    """The hostile networks of another reader, each named in a certificate."""

    def named(made: Callable[[Path], bytes]) -> Callable[[Path], bytes]:
        return lambda folder: packed(header(folder, made(folder), name=name), ONE_LEAF)

    return {f"{name}: {what}": named(made) for what, made in files.items()}
