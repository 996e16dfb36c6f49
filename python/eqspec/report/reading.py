"""Results from files: what `eqspec check --format json` or `jsonl` wrote, of this version or an older one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eqspec.errors import InputError
from eqspec.tasks.result import Result, refuse_other_schema

_WRITE_THEM = "give what 'eqspec check --format json -o FILE' wrote"


def read(path: Path) -> list[Result]:
    """All results of a file, in order; InputError if it cannot be read or holds something else."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text; {_WRITE_THEM}") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> list[Result]:
    """The same from text; `name` is for messages."""
    entries = _entries(text, name)
    return [_result(entry, f"{name}, entry {number}") for number, entry in enumerate(entries, start=1)]


def _entries(text: str, name: str) -> list[Any]:
    """The objects of a list, one object, or one object to a line."""
    if not text.strip():
        return []
    try:
        content = json.loads(text)
    except ValueError as whole:
        # Not splitlines: text in JSON may hold other characters that end lines elsewhere.
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        try:
            json.loads(lines[0][1])
        except ValueError:
            raise InputError(f"{name} is not JSON ({whole}); {_WRITE_THEM}") from None
        return [_line(line, f"{name}, line {number}") for number, line in lines]
    return content if isinstance(content, list) else [content]


def _line(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise InputError(f"{where} is not JSON ({error}); was it cut off?") from None


def _result(entry: Any, where: str) -> Result:
    if not isinstance(entry, Mapping) or "id" not in entry:
        raise InputError(f"{where} is not a result; {_WRITE_THEM}")
    if "verdict" not in entry:
        raise InputError(f"{where} ({entry['id']}) has no verdict: it is a saved witness or a task; {_WRITE_THEM}")
    refuse_other_schema(entry, f"{where} ({entry['id']})")
    try:
        return Result.from_json(entry)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as problem:
        raise InputError(
            f"{where} ({entry['id']}) is not a whole result: {type(problem).__name__} at {problem}"
        ) from None
