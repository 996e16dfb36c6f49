"""Assignments that other verifiers answer to exported tasks, evaluated here: `sat` becomes `different`, or does not.

Read are the competition's list ((X_0 0.5) ...) and the standard's lines, `name type [sizes]` and then entries, with or
without `sat` in front. Only the input of the reference counts; outputs are computed. Sound because the point must lie
in the exact region and break the claim in exact arithmetic; verifiers compute in floats, so where the point itself does
not, the nearest points of the region are tried.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from eqspec.errors import InputError
from eqspec.replay.onnx_runtime import RuntimeReplay
from eqspec.replay.recheck import Replayed
from eqspec.replay.replay import Replay, contains
from eqspec.spec.numbers import NumberError, literal
from eqspec.tasks import serialisation
from eqspec.tasks.phrasing import approximately

EXPORT = "export"
"""The field of a written task that says in which units its property has the inputs: raw or normalised."""
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_PAIR = re.compile(rf"\(\s*X_([0-9]{{1,9}})\s+({_NUMBER})\s*\)")
_HEAD = re.compile(r"(\S+)\s+\S+\s+\[([0-9,\s]*)\]")


def replay_assignment(task_data: Mapping[str, Any], text: str, folder: Path | None = None) -> Replayed | str:
    """The witness that an assignment is of a written task, or why it is none.

    InputError where the task or the assignment cannot be read, NetworkError for a network.
    """
    task = serialisation.from_json(task_data, folder)
    point = read_input(text, len(task.space.features))
    if task_data.get(EXPORT, {}).get("inputs") == "raw":
        units = zip(point, task.space.centre, task.space.scale, strict=True)
        point = tuple((x - centre) / scale for x, centre, scale in units)
    replay = Replay(task, RuntimeReplay())
    found = replay.replay(point)
    if found is None:
        found = replay.confirm(np.array([approximately(x) for x in point]))
    if found is None:
        return "the claim holds there" if contains(task, point) else "the input lies outside of the region"
    return Replayed(task.id, str(task_data.get("claim", "")), found, found)


def read_input(text: str, size: int) -> tuple[Fraction, ...]:
    """The input of the first network; InputError unless it has `size` entries."""
    found = {int(number): value for number, value in _PAIR.findall(text)}
    values = [found.get(i) for i in range(len(found))]
    if not found:
        lines = [line.strip() for line in text.splitlines() if line.strip() and line.strip() != "sat"]
        if lines and _HEAD.fullmatch(lines[0]):
            after = (i for i, line in enumerate(lines) if i and not re.fullmatch(_NUMBER, line))
            values = list(lines[1 : next(after, len(lines))])
    if None in values or len(values) != size:
        kinds = "give ((X_0 0.5) ...), or a line 'X real [5]' and then one number on each"
        raise InputError(f"{len(values)} numbers found for {size} inputs; {kinds}")
    try:
        return tuple(literal(value) for value in values if value is not None)
    except (NumberError, ValueError) as problem:
        raise InputError(f"a number of the assignment cannot be formed: {problem}") from None
