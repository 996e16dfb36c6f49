"""Linear programs: one solver, whose answers are suggestions and never verdicts."""

from eqspec.lp.highs import HighsSolver, LinearProgram, LpAnswer

__all__ = ["HighsSolver", "LinearProgram", "LpAnswer"]
