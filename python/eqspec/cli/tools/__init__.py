"""The commands beside `check`; each module adds one."""

from eqspec.cli.tools import fmt

TOOLS = (fmt,)
