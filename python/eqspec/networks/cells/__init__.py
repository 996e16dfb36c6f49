"""Regions on which networks take finitely many values, because they begin with steps or because inputs lie on lattices.

`input_steps` finds what quantises the inputs, `cutting` cuts a region into cells on which all networks are constant,
`certain_values` evaluates programs at many cells at once with proven errors, most of them 0, and `everywhere` says how
large these are in all cells at once.
"""

from eqspec.networks.cells.certain_values import CertainProgram, Values
from eqspec.networks.cells.cutting import Cells, cut
from eqspec.networks.cells.everywhere import Everywhere, everywhere
from eqspec.networks.cells.input_steps import InputStep, InputSteps, find

__all__ = ["Cells", "CertainProgram", "Everywhere", "InputStep", "InputSteps", "Values", "cut", "everywhere", "find"]
