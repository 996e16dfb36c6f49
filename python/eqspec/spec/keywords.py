"""The words of the language, by what they are for: the one table that highlighting is generated from.

A test holds it against the grammar. Words with a closed vocabulary (norms, verdicts, units) stand in `vocabulary` and
`numbers`; they are ordinary names to the grammar.
"""

from __future__ import annotations

from eqspec.spec.grammar import DECLARATIONS

HEADER = ("eqspec",)
"""The word that every file starts with, in front of its version."""
CLAUSES = (
    "features", "shape", "normalise", "domain", "outputs", "decide", "prove", "on", "for", "find", "expect",
    "arithmetic", "tags",
)  # fmt: skip
"""The words that start a clause in a block; `budget` is missing, as it is also a declaration."""
TERMS = ("box", "ball", "where", "grid", "data", "rows", "mean", "point")
"""The words that start the terms of a region."""
CONNECTIVES = (
    "in", "from", "columns", "sample", "seed", "keeping", "with", "components", "output", "takes", "gives", "as",
    "dequantised", "scale", "zero", "quantised", "per", "calibrated", "and", "all", "within",
    "step", "sigma", "of", "around",
    "stays", "equals", "keeps", "top1", "satisfies", "never", "comparing", "when", "to", "if",
)  # fmt: skip
"""The words inside of sentences."""

KEYWORDS = frozenset((*HEADER, *DECLARATIONS, *CLAUSES, *TERMS, *CONNECTIVES))
FUNCTIONS = ("linspace", "logspace")
