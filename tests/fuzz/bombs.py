"""Tables and scalers made to take memory or time: small files that claim to hold much, and large files of little."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

MIB = 1 << 20
Files = dict[str, Callable[[Path], bytes]]


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An array with any header."""
    text = header.encode()
    length = struct.pack("<H" if version == b"\x01\x00" else "<I", len(text))
    return b"\x93NUMPY" + version + length + text + data


def array(shape: str, kind: str = "<f8", data: bytes = b"") -> bytes:
    """An array that claims a shape and a type."""
    return npy(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n", data)


def inflated(head: bytes, size: int, claimed: int | None = None, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An npz file with one array: a head, and so many zeros behind it, of which a list may claim to have others.

    A megabyte is packed once and repeated; the checksum is none, since what is too large is not to be read that far.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    begun = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = begun + block * (size // MIB) + packer.compress(bytes(size % MIB)) + packer.flush()
    claimed = len(head) + size if claimed is None else claimed
    name, checksum = b"x.npy", zlib.crc32(head + bytes(size)) if size <= MIB else 0
    wide = struct.pack("<HHQQ", 1, 16, claimed, len(packed))
    sizes = struct.pack("<III", checksum, 0xFFFFFFFF, 0xFFFFFFFF)
    start = b"PK\x03\x04" + struct.pack("<HHHI", 45, 0, method, 0) + sizes
    entry = b"PK\x01\x02" + struct.pack("<HHHHI", 45, 45, 0, method, 0) + sizes
    content = start + struct.pack("<HH", len(name), len(wide)) + name + wide + packed
    listed = entry + struct.pack("<HHHHHII", len(name), len(wide), 0, 0, 0, 0, 0) + name + wide
    return content + listed + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(listed), len(content), 0)


def many(count: int, body: bytes = b"") -> bytes:
    """An npz file with so many members."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for number in range(count):
            archive.writestr(f"m{number}.npy", body)
    return content.getvalue()


def twice(body: bytes) -> bytes:
    """Two members of one name, which readers may take either of."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("x.npy", body)
        archive.writestr("y.npy", body)
    return content.getvalue().replace(b"y.npy", b"x.npy")


ROWS = 600 * MIB
"""Numbers of eight bytes in the largest bomb: 4.7 GiB, packed into under 5 MiB."""
BOMB = array(f"({ROWS // 2}, 2)")
PAIR = array("(2, 2)", data=bytes(32))

ARCHIVES: Files = {
    "five gigabytes in five megabytes": lambda _: inflated(BOMB, 8 * ROWS),
    "a gigabyte more than it claims": lambda _: inflated(PAIR, 1024 * MIB, len(PAIR)),
    "packed by bzip2": lambda _: inflated(BOMB, MIB, method=zipfile.ZIP_BZIP2),
    "packed by lzma": lambda _: inflated(BOMB, MIB, method=zipfile.ZIP_LZMA),
    "eighty thousand arrays": lambda _: many(80_000),
    "arrays without end": lambda _: many(20_000, array("(1000000000,)")),
    "two arrays of one name": lambda _: twice(PAIR),
    "a terabyte of rows": lambda _: inflated(array("(1000000000000, 2)"), 16),
    "more rows than numbers can count": lambda _: inflated(array("(2305843009213693952, 2, 8)"), 16),
    "rows of nothing": lambda _: inflated(array("(1000000000000, 0)"), 0),
    "entries of no size": lambda _: inflated(array("(1000000000000, 2)", "|V0"), 0),
    "texts": lambda _: inflated(array("(2, 2)", "<U1000000"), 16 * MIB),
}
ARRAYS: Files = {
    "a terabyte of rows": lambda _: array("(1000000000000, 2)", data=bytes(64)),
    "a header of four gigabytes": lambda _: b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * MIB,
    "a header of brackets": lambda _: npy("(" * 9000),
    "a header that multiplies": lambda _: npy("'a' * 10 ** 10"),
    "a later version": lambda _: npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)}", version=b"\x03\x00"),
    "objects": lambda _: array("(1, 2)", "|O", b"cos\nsystem\n(S'echo harm'\ntR."),
    "records": lambda _: npy(
        "{'descr': [('a', '<f8'), ('b', '|O')], 'fortran_order': False, 'shape': (1,)}\n", bytes(16)
    ),
    "more than it claims": lambda _: array("(1, 2)", data=bytes(MIB)),
    "less than it claims": lambda _: array("(9, 2)", data=bytes(16)),
    "nothing but a name": lambda _: b"\x93NUMPY",
    "a zip inside": lambda _: inflated(BOMB, MIB),
}
TEXTS: Files = {
    "a million columns": lambda _: b",".join([b"1.5"] * 1_000_001) + b"\n",
    "two million columns": lambda _: b"1," * 2_000_000 + b"1\n2,3\n",
    "a million names": lambda _: b",".join(b"c%d" % n for n in range(1_000_000)) + b"\n" + b"1," * 999_999 + b"1\n",
    "lines without end": lambda _: b"1,2\n" * 6_000_000,
    "empty lines without end": lambda _: b"\n" * (100 * MIB),
    "a line of sixty megabytes": lambda _: b"mean,std\n" + b"7" * (60 * MIB) + b"\n",
    "words without end": lambda _: b"mean,std\n" + b"a," * (10 * MIB) + b"\n",
    "quotes": lambda _: b"mean,std\n" + b'""' * (10 * MIB) + b"\n",
    "blanks": lambda _: b"mean std\n" + b" " * (20 * MIB) + b"1 1\n",
    "more than 256 megabytes": lambda _: b"mean,std\n" + b"1,2\n" * (65 * MIB),
}
NAMED: Files = {
    "a hundred megabytes": lambda _: b'{"mean": [' + b"1," * (50 * MIB) + b'1], "std": [1, 1]}',
    "ten million lists": lambda _: b'{"mean": [' + b"[]," * 10_000_000 + b'1], "std": [1, 1]}',
    "two million numbers": lambda _: b'{"mean": [' + b"1," * 2_000_000 + b'1], "std": [1, 1]}',
    "a million names": lambda _: (
        b'{"mean": {' + b",".join(b'"%d":1' % n for n in range(1_000_000)) + b'}, "std": [1, 1]}'
    ),
    "three million names": lambda _: (
        b'{"mean": {' + b",".join(b'"%d":1' % n for n in range(3_000_000)) + b'}, "std": [1, 1]}'
    ),
}
