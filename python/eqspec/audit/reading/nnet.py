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
    if widths[0] != value.size or len(widths) != int(fields[0][0]) + 1:
        raise Refused("its sizes do not fit")
    for layer, (n, m) in enumerate(pairwise(widths)):
        weight, bias = np.split(stored[at : at + n * m + m], [n * m])
        read = program.step(value, BENT) if layer else value
        value, at = program.added(product(program, weight.reshape(m, n), read), bias.reshape(m)), at + n * m + m
    if at != len(stored):
        raise Refused("text after the last layer")
    return value
