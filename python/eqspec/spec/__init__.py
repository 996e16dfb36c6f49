"""The language: text to a checked syntax tree. Knows no networks and no data.

`grammar` and `parse` read, `ast` is what was read, `program` follows includes, `check` finds what is wrong without
opening a model file. `ast` has everything a file can say as frozen dataclasses; `printer.text` of one is how
`eqspec fmt` writes it.
"""

from eqspec.spec import ast, printer
from eqspec.spec.formatting import formatted
from eqspec.spec.parse import parse_expression, parse_text

__all__ = ["ast", "formatted", "parse_expression", "parse_text", "printer"]
