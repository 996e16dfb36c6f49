"""The one door to the compiled core; see `_core.pyi` for what is behind it."""

from typing import TYPE_CHECKING

from eqspec._core import Pair, Property, Settings, Solution, __version__, evaluate, solve

if TYPE_CHECKING:
    from eqspec._core import Layer as Layer

__all__ = ["Pair", "Property", "Settings", "Solution", "__version__", "evaluate", "solve"]
