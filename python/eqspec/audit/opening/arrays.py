"""Arrays in numpy's format, of plain numbers and of a size that is allowed before memory is taken for it.

numpy reads the head of an array as Python text, and makes room for what it declares. Here it must be written exactly as
numpy writes it, in order, and the shape is looked at first.
"""

from __future__ import annotations

import math
import re

import numpy as np

from ..rounding import Array, Refused
from . import limits
from .files import Bounded

_MAGIC = b"\x93NUMPY\x01\x00"
_SHAPE = r"\(((?:[0-9]{1,10}, ?)*(?:[0-9]{1,10})?)\)"
_HEAD = re.compile(rf"\{{'descr': '([<|][fiu][1248])', 'fortran_order': False, 'shape': {_SHAPE}, \}} *\n")


def array(file: Bounded, dimensions: int, most: int = limits.ARRAY, columns: int | None = None) -> Array:
    """The next array, of so many dimensions and at most so many numbers; where it matters, of so many columns."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise Refused("it ends early, or has something else where an array is due")
    head = _HEAD.fullmatch(file.read(int.from_bytes(file.read(2), "little")).decode("latin-1"))
    if head is None:
        raise Refused("an array is not of plain numbers, row by row")
    shape = tuple(int(size) for size in head[2].replace(" ", "").split(",") if size)
    if len(shape) != dimensions or columns not in (None, shape[-1]):
        raise Refused(f"an array of the shape {shape} stands where one of {dimensions} dimensions is due")
    count, kind = math.prod(shape), np.dtype(head[1])
    if count > most or max(shape, default=0) > most:
        raise Refused(f"an array of {count} numbers is larger than the auditor reads here, which is {most}")
    data = file.read(count * kind.itemsize)
    if len(data) != count * kind.itemsize:
        raise Refused("it ends in the middle of an array")
    return np.frombuffer(data, kind).reshape(shape)
