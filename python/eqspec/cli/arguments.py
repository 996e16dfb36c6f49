"""The options of a search, as the command line says."""

from __future__ import annotations

import argparse
import re

from eqspec.errors import InputError
from eqspec.run.certifier import Certifier
from eqspec.run.options import Options
from eqspec.run.settings import SETTINGS


def options_of(arguments: argparse.Namespace, certifier: Certifier | None = None) -> Options:
    """How to run, as the command line says. InputError, in its words, for a value that makes no sense."""
    chosen = {setting.name: getattr(arguments, setting.name) for setting in SETTINGS}
    try:
        return Options(**chosen, certifier=certifier)
    except InputError as problem:  # 'since = there' is how Python says it
        raise InputError(re.sub(r"\A(\w+) = ", lambda name: f"--{name[1].replace('_', '-')} ", str(problem))) from None
