"""Reading: from network files to what the proof is about, exactly, and to floats that say how far they are off."""

from .file import File, network
from .number import Float32, Number
from .pair import Both, Pair
from .program import Step
from .tiles import DIFFERENCE, FIRST, SECOND, Link, Tile
from .value import INPUTS

__all__ = [
    "DIFFERENCE", "FIRST", "INPUTS", "SECOND", "Both", "File", "Float32", "Link", "Number", "Pair", "Step", "Tile",
    "network",
]  # fmt: skip
