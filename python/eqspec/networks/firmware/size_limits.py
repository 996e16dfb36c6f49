"""How large a firmware project may be: its types are followed entry by entry in whole numbers, which is slow."""

MAX_NEURONS = 20_000
"""Entries of an input, and rounded values of a network."""

MAX_PRODUCTS = 5_000_000
"""Products of one evaluation."""
