"""The language: text to a checked syntax tree. Knows no networks and no data.

`grammar` and `parse` read, `ast` is what was read, `program` follows includes, `check` finds what is wrong without
opening a model file.
"""

from eqspec.spec.parse import parse_expression, parse_text

__all__ = ["parse_expression", "parse_text"]
