"""The commands beside `check`; each module adds one."""

from eqspec.cli.tools import compile as compile_
from eqspec.cli.tools import explain, fmt, inspect, lint, replay, schema

TOOLS = (lint, explain, fmt, inspect, compile_, replay, schema)
