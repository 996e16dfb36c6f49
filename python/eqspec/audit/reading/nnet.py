"""Networks as .nnet: sizes, widths, five lines that are not applied, then per layer its rows and its biases."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np

from ..functions import BENT
from ..opening import limits
from ..rounding import Refused
from .affine import product
from .program import Program
from .value import Value


def run(content: bytes, program: Program, value: Value) -> Value:
    """What comes out of a network that is given a value."""
    if content.count(b",") > limits.TERMS or content.count(b"\n") > limits.TERMS:
        raise Refused("it has more numbers than the auditor reads")
    text = io.StringIO(content.decode("ascii"), None)  # a form feed in a comment ends no line
    lines = [line for line in text if line.strip() and line.strip()[:2] != "//"]
    fields = [[f.strip() for f in line.strip().removesuffix(",").split(",")] for line in lines]
    widths, stored, at = [int(f) for f in fields[1]], np.array([float(f) for line in fields[7:] for f in line]), 0
    due = [k for n, m in pairwise(widths) if m <= len(lines) for k in [n] * m + [1] * m]  # numbers in each line
    fit = widths[0] == value.size and len(widths) == int(fields[0][0]) + 1 and [len(line) for line in fields[7:]] == due
    if not fit or "_" in "".join(lines):  # Python's own way to group digits
        raise Refused("its sizes do not fit, or something is no number")
    for layer, (n, m) in enumerate(pairwise(widths)):
        weight, bias = np.split(stored[at : at + n * m + m], [n * m])
        read = program.step(value, BENT) if layer else value
        value, at = program.added(product(program, weight.reshape(m, n), read), bias.reshape(m)), at + n * m + m
    return value
