"""How much the auditor takes from a file. Each limit is far above what any true certificate was seen to need.

They are checked on what a file declares, before memory is taken for it. The largest certificates so far have 152 000
records and 6 MB. Whatever passes all of these is still held by the limits on time and memory of the whole process.
"""

from __future__ import annotations

SECONDS = 600.0
"""For one certificate; the longest audit so far took a minute."""
MEMORY = 3 << 30
"""Bytes for the process of the auditor, where the system can hold it to that; a pair of half a million weights takes
one gigabyte."""

CERTIFICATE = 1 << 28
"""Bytes of a certificate file."""
INFLATED = 1 << 31
"""Bytes that come out of it. gzip packs a thousand zeros into one byte."""
NETWORK = 1 << 26
"""Bytes of a network file: more weights than `TERMS` allows, written as text."""

HEADER = 1 << 24
"""Bytes of the line of JSON. As lists it takes up to thirty times as much memory."""
LISTS = 1 << 16
"""Brackets and braces in that line: a list for every constraint, and few others. It bounds the nesting too."""
DIGITS = 4000
"""Digits of a numerator or a denominator. Any float has at most 324, and a region is made of a few products of them."""
INPUTS = 1 << 16
"""The rounding of longer sums is not counted (`rounding.gamma`)."""
OUTPUTS = 1 << 12
PORTS = 64
"""Inputs of a file whose integers stand for real numbers, and axes of an input."""
COEFFICIENTS = 1 << 18
"""Numbers in all constraints together."""

BALANCED = 1 << 20
"""Rows of a product that is balanced."""

SIDES = 1 << 23
"""Bounds in the boxes of all obligations: a claim about the first of 50 classes has 2450 boxes of 2500 rows."""
RECORDS = 4_000_000
"""Records of the tree."""
DIGESTS = 1 << 20
"""Leaves of a draft that need not be bounded again in the next one."""
KNOWN = 1 << 26
"""Bytes of lower bounds that rounds of drafts led to, which need not be found again. There are as many upper ones."""
WAITING = 1 << 28
"""Bytes of nodes of the tree that were made and not yet looked at. A tree that goes deep on one side makes many."""
ARRAY = 1 << 25
"""Numbers in one array."""
ROUND = 1 << 26
"""Numbers in the matrix of a round, and in the forms that it is multiplied by."""

NODES = 4096
"""Operators of a network."""
STEPS = 512
"""Of a network. The generators of all steps before stand in every form."""
TERMS = 3_000_000
"""Constants that reading a network may compute, each of some 300 bytes; those that are stored as floats stay floats."""
UNITS = 1 << 26
"""Places that reading may name, four or eight bytes each: an entry of a matrix, or what one entry of a convolution
looks at, is one, and operators that put entries elsewhere name them again. A fourth of them may be in the steps."""
FORM = 1 << 27
"""Numbers in the enclosure of a step on some boxes."""
BITS = 1 << 18
"""Of a common denominator in exact arithmetic."""
WHOLE = 1 << 31
"""Bits of all integers over one common denominator together."""
LABEL = 60
"""Characters of a name that are shown."""
