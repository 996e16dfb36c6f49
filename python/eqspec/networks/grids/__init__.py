"""What a network is on a region, exactly: grids and intervals of everything it computes, and which parts are equal.

`atoms` has the region and what is known of inputs and of the results of functions; `forms` are affine functions of
atoms, `piecewise_linear` functions with rational knots, `functions` what a function is behind a form, `analysis` goes
through a program.
"""

from eqspec.networks.grids.analysis import Analysis, NotKnownError, analyse
from eqspec.networks.grids.atoms import Atoms, EmptyRegionError, Grid, Lattice, Region

__all__ = ["Analysis", "Atoms", "EmptyRegionError", "Grid", "Lattice", "NotKnownError", "Region", "analyse"]
