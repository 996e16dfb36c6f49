"""The tables of the parser, read from a file of the package: to make them from the grammar takes longer than a proof.

The file says of which grammar and of which lark it was made, by the digest of the grammar's text and lark's version.
Where either differs nothing of it is used: the tables are then made from the grammar, as if there were no file. So
tables that are out of date cost time and never change what a spec means. They are names and numbers as JSON, and
nothing in them is run.

After a change of the grammar `python -m eqspec.spec` writes the file; a test says when that was forgotten.
"""

from __future__ import annotations

import json
from hashlib import sha256
from importlib.resources import files
from typing import Any

import lark

FILE = "parse_tables.json"


def digest(grammar: str) -> str:
    """A digest of the grammar."""
    return sha256(grammar.encode()).hexdigest()


def stored(grammar: str, **options: Any) -> lark.Lark | None:
    """The parser of the file in the package, or None if that has none for this grammar and this lark."""
    try:
        text = files("eqspec.spec").joinpath(FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    return from_text(text, grammar, **options)


def from_text(text: str, grammar: str, **options: Any) -> lark.Lark | None:
    """The parser of a file's text, with `options` that such a file does not hold; None if it is of something else."""
    parts = json.loads(text)
    if parts["grammar"] != digest(grammar) or parts["lark"] != lark.__version__:
        return None
    data = parts["data"]
    data["options"].update(options)
    # What has numbers for keys is a list of pairs in JSON.
    automaton = data["parser"]["parser"]
    automaton["tokens"] = dict(automaton["tokens"])
    automaton["states"] = {state: dict(actions) for state, actions in parts["states"]}
    return lark.Lark.load({"data": data, "memo": dict(parts["memo"])})
