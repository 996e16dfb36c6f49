"""The closed vocabularies, and the words of each."""

from __future__ import annotations

from eqspec.errors import Fix
from eqspec.spec import ast
from eqspec.spec.findings import Fault, error
from eqspec.spec.suggest import closest

WORDS: dict[str, tuple[str, ...]] = {
    "norm": ("linf", "l1", "l2"),
    "verdict": ("equivalent", "different", "unknown", "vacuous"),
    "guard": ("confidence", "margin"),
    "normaliser": ("none", "zscore", "minmax"),
    "budget key": ("timeout", "memory", "threads", "jobs"),
    "input kind": ("raw", "normalised"),
    "output kind": ("logits", "probabilities"),
    "decision": ("max", "min"),
    "arithmetic": ("real", "float32"),
    "direction": ("smallest", "largest"),
    "ball": ("linf",),
    "overflow": ("wraps", "saturates"),
    "integer type": ("int4", "int8", "int16", "int"),
    "fixed point type": ("fixed", "ufixed"),
    "scale": ("tensor", "channel"),
    "end": ("input", "output"),
    "typed number": ("input", "weight", "bias", "accum", "result"),
    "rounding mode": ("TRN", "TRN_ZERO", "RND", "RND_ZERO", "RND_MIN_INF", "RND_INF", "RND_CONV"),
    "overflow mode": ("WRAP", "SAT", "SAT_SYM"),
}

SCALER_KEYS: dict[str, tuple[str, str]] = {"zscore": ("mean", "std"), "minmax": ("low", "high")}
"""The keys of numbers that each normaliser needs."""


def look_up(kind: str, name: ast.Name) -> str:
    """The word, if it is one of its kind; Fault E103 if not."""
    words = WORDS[kind]
    if name.text in words:
        return name.text
    one_of = f"one of {', '.join(words)}"
    bare = name.text[3:] if name.text.lower().startswith("ap_") else name.text  # as C++ writes types and modes
    meant = bare if bare in words else closest(bare, words)
    help_text = one_of if meant is None else f"did you mean '{meant}'? {one_of}"
    fixes = () if meant is None else (Fix(name.span, meant),)
    raise Fault(error("E103", f"unknown {kind} '{name}'", name.span, help=help_text, fixes=fixes))
