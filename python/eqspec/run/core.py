"""The names of the compiled core: the only module that imports it. `_core.pyi` describes them."""

import sys
from typing import TYPE_CHECKING, TypeAlias

from eqspec._core import (
    SETTINGS,
    CellProgram,
    Ledger,
    Pair,
    Progress,
    Property,
    Settings,
    Solution,
    __version__,
    clearer,
    evaluate,
    factor_radii,
    fingerprint,
    processors,
    solve,
)

__all__ = [
    "FILE",
    "SETTINGS",
    "CellProgram",
    "Function",
    "Ledger",
    "Pair",
    "Progress",
    "Property",
    "Settings",
    "Solution",
    "Step",
    "Term",
    "__version__",
    "clearer",
    "evaluate",
    "factor_radii",
    "fingerprint",
    "processors",
    "solve",
]

FILE = str(sys.modules[Pair.__module__].__file__)
"""The file of the core that was loaded."""

if TYPE_CHECKING:  # numpy is not loaded where the version alone is asked for
    import numpy as np
    from numpy.typing import NDArray

_Array: TypeAlias = "NDArray[np.float64]"
_Index: TypeAlias = "NDArray[np.int32]"
Term: TypeAlias = "tuple[int, _Index | None, _Array, _Array | None]"
"""Source (-1: the inputs), index (g, p, k) or None of a matrix, weight (g, o, k), its error or None."""
Function: TypeAlias = "str | tuple[list[tuple[str, list[float]]], _Index | None]"
"""`identity` or `relu`; or kinds of functions by name and parameters, and which each row has (None: the first)."""
Step: TypeAlias = "tuple[list[Term], _Array, _Array | None, Function]"
"""Terms, bias (rows,), its error or None, and the function."""
