"""Linear programs: one solver, whose answers are suggestions and never verdicts; and mixed-integer ones with it."""

from eqspec.lp.highs import HighsSolver, LinearProgram, LpAnswer
from eqspec.lp.mixed import MixedAnswer, MixedProgram, MixedSolver

__all__ = ["HighsSolver", "LinearProgram", "LpAnswer", "MixedAnswer", "MixedProgram", "MixedSolver"]
