"""Specs to tasks: a spec, the networks and the data it names become claims with everything exact.

`compiler` does it. `network_pairs` reads the networks (`network_instance`, `derived_networks`, `score_findings`),
`tables` and `table_rows` the rows of tables (`csv_table`, `first_row`, `array_files`, within `file_limits`; those that
a region only compares with, `space_tables`), and `scalers` normalisations (`scaler_files`). `boxes` makes regions exact
in network units (`seen_region`, `drawn_rows`, `feasibility`), `task_expansion` lists the tasks of a check, `direction`
and `implication` say whether a search moves its claim one way. `used_files` lists the files that a spec rests on.
"""

from eqspec.compile.compiler import Compiled, Made, compile_spec, load, load_derived, loads, table_header
from eqspec.spec.scope import Override

__all__ = ["Compiled", "Made", "Override", "compile_spec", "load", "load_derived", "loads", "table_header"]
