"""The long text of each finding about a VNN-LIB file, from the file beside this module."""

from __future__ import annotations

from eqspec.spec.explanations import Explanation, read
from eqspec.vnnlib.codes import CODES


def explanation(code: str) -> Explanation | None:
    """The explanation of a code, None if there is no such code."""
    return read("eqspec.vnnlib", CODES).get(code)
