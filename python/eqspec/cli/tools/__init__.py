"""The commands beside `check`; each module adds one."""

from eqspec.cli.tools import compile as compile_
from eqspec.cli.tools import fmt, lint, replay, schema

TOOLS = (lint, fmt, compile_, replay, schema)
