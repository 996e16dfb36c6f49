"""Decisions by exact integers: two networks as affine forms over what quantisers and functions give on a region.

`atoms` are what everything is an affine function of, `forms` makes a network into forms over them, and `decision` says
which claims follow. Nothing here is rounded, and nothing of a certificate is needed: it says only that it may be done.
"""

from .decision import decide, exactly

__all__ = ["decide", "exactly"]
