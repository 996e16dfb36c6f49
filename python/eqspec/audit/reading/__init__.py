"""Reading: from network files to what the proof is about, exactly, and to floats that say how far they are off."""

from .file import File, network
from .number import Float32, Number
from .pair import Pair
from .surd import rational

__all__ = ["File", "Float32", "Number", "Pair", "network", "rational"]
