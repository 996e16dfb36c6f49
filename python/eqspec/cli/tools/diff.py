"""`eqspec diff`: how two networks differ where somebody looked, before a claim is made."""

from __future__ import annotations

import argparse
import json
from time import perf_counter

from rich.console import Console
from rich.text import Text

from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.pair_arguments import given_words, read, refuse_without_data
from eqspec.differences import page
from eqspec.differences.difference import difference
from eqspec.differences.places import CUBE, place
from eqspec.draft.verified_spec import Where
from eqspec.report.printable import shown_in_json


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    began = perf_counter()
    refuse_without_data(arguments)
    where = Where(arguments.sigma, arguments.lower, arguments.upper)
    pair, known = read(arguments, err, to_keep=False)
    looked = place(pair, known, where)
    if where == Where() and arguments.data is None:
        arguments.lower, arguments.upper = CUBE.lower, CUBE.upper
    words = [*given_words(arguments), *_region(arguments)]
    found = difference(pair, known, looked, words, began)
    if arguments.format == "json":
        out.file.write(f"{shown_in_json(json.dumps(found.to_json(), indent=2, allow_nan=False, ensure_ascii=False))}\n")
    else:
        page.show(found, out)
        err.print(Text(f"{found.seconds:.1f} s"), soft_wrap=True)
    return ExitCode.AS_EXPECTED


def _region(arguments: argparse.Namespace) -> list[str]:
    """The region that the command line describes."""
    options = ("sigma", "lower", "upper")
    return [f"--{name}={value}" for name in options if (value := getattr(arguments, name)) is not None]
