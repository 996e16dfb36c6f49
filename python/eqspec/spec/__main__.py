"""`python -m eqspec.spec` writes the tables of the parser beside the grammar that they are made from."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path
from typing import Any

import lark

from eqspec.spec.grammar import built, grammar_text
from eqspec.spec.parse_tables import FILE, digest

_SHIFT = 0
"""How lark writes an action that goes on to a state; any other reduces by a rule."""


def to_text(parser: lark.Lark, grammar: str) -> str:
    """The tables of the parser that was built from a grammar, as `parse_tables.from_text` reads them.

    The states of the automaton have a line each, so that a change of the grammar is not a change of one long line.
    """
    saved = io.BytesIO()
    parser.save(saved, exclude_options=["postlex"])
    tables = pickle.loads(saved.getvalue())  # lark writes this form alone; it was written a line above
    data = tables["data"]
    automaton = data["parser"]["parser"] = _renumbered(data["parser"]["parser"])
    states = automaton.pop("states")
    parts = {
        "grammar": digest(grammar),
        "lark": lark.__version__,
        "data": data,
        "memo": list(tables["memo"].items()),
        "states": states,
    }
    return "{\n" + ",\n".join(f'"{name}": {_lines(part)}' for name, part in parts.items()) + "\n}\n"


def _renumbered(automaton: dict[str, Any]) -> dict[str, Any]:
    """The automaton as lists of pairs. Its states are numbered by the grammar alone; lark's numbers vary between runs.

    Tokens are numbered by name, states in the order in which they are reached from the start states, token by token.
    """
    names: dict[int, str] = automaton["tokens"]
    tokens = {name: number for number, name in enumerate(sorted(names.values()))}
    reached = dict.fromkeys(automaton["start_states"].values())
    rows: list[tuple[int, list[tuple[int, tuple[int, Any]]]]] = []
    waiting = list(reached)
    for state in waiting:  # which grows
        actions = sorted((tokens[names[token]], action) for token, action in automaton["states"][state].items())
        rows.append((state, actions))
        found = [to for _, (kind, to) in actions if kind == _SHIFT and to not in reached]
        reached.update(dict.fromkeys(found))
        waiting += dict.fromkeys(found)
    number = {state: place for place, state in enumerate(waiting)}

    def action(kind: int, to: Any) -> tuple[int, Any]:
        return kind, number[to] if kind == _SHIFT else to

    return {
        **automaton,
        "tokens": [(place, name) for name, place in tokens.items()],
        "start_states": {rule: number[state] for rule, state in automaton["start_states"].items()},
        "end_states": {rule: number[state] for rule, state in automaton["end_states"].items()},
        "states": [(number[state], [(token, action(*taken)) for token, taken in actions]) for state, actions in rows],
    }


def _lines(part: Any) -> str:
    """JSON, with a line for each item of a list."""
    if not isinstance(part, list):
        return json.dumps(part, separators=(",", ":"), sort_keys=True)
    return "[\n" + ",\n".join(json.dumps(item, separators=(",", ":"), sort_keys=True) for item in part) + "\n]"


if __name__ == "__main__":
    grammar = grammar_text()
    Path(__file__).with_name(FILE).write_text(to_text(built(grammar), grammar), encoding="utf-8")
