"""`eqspec schema`: the JSON Schemas (2020-12) of everything eqspec writes for other programs."""

from __future__ import annotations

import argparse
import json
from importlib.resources import files

from rich.console import Console

from eqspec.cli.exit import ExitCode
from eqspec.tasks.result_schema import result_schema


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:  # noqa: ARG001
    """Run the command."""
    out.file.write(text(arguments.kind))
    return ExitCode.AS_EXPECTED


def text(kind: str) -> str:
    """The schema, made of the fields of results or as it ships."""
    if kind == "result":
        return json.dumps(result_schema(), indent=2) + "\n"
    return files("eqspec.tasks").joinpath("schema", f"{kind}.schema.json").read_text(encoding="utf-8")
