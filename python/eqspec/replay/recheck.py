"""Witnesses from files, evaluated again: nothing in the file is believed but the input itself.

The task a result carries names the networks by hash, the region and the claim, all exact. The point must lie in that
region and break that claim in exact arithmetic, with the files as they are now; then onnxruntime is asked too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Network, read_network
from eqspec.replay.onnx_runtime import RuntimeReplay
from eqspec.replay.replay import Replay, contains
from eqspec.tasks import serialisation
from eqspec.tasks.result import refuse_other_schema
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from eqspec.tasks.witness import Witness


@dataclass(frozen=True)
class Replayed:
    """What became of one witness: `witness` as it was found again, or None and why not."""

    id: str
    claim: str
    recorded: Witness
    witness: Witness | None
    reason: str | None = None


def replay_all(content: object, folder: Path | None = None) -> Iterator[Replayed]:
    """Replay every witness in what `eqspec check --format json` or `--save-witness` wrote, or one object of it.

    InputError where it is something else or a file changed, NetworkError where a network cannot be read.
    """
    read = lru_cache(maxsize=None)(read_network)
    runtime = RuntimeReplay()
    for entry in content if isinstance(content, list) else [content]:
        if not isinstance(entry, Mapping) or "id" not in entry or "witness" not in entry:
            raise InputError("this holds no results; give what 'eqspec check --format json -o' or --save-witness wrote")
        if "verdict" in entry or "schema_version" in entry:  # a saved witness is no result and has neither
            refuse_other_schema(entry, str(entry["id"]))
        witness = entry["witness"] or (entry.get("find") or {}).get("witness")
        if witness is not None:
            yield _replay(entry, witness, folder, read, runtime)
        elif entry.get("verdict") == Verdict.DIFFERENT:
            raise InputError(f"{entry['id']} is different, but its input is missing: the file was changed or cut")


def _replay(
    entry: Mapping[str, Any],
    data: Mapping[str, Any],
    folder: Path | None,
    read: Callable[..., Network],
    runtime: RuntimeReplay,
) -> Replayed:
    name = str(entry["id"])
    if entry.get("task") is None:
        raise InputError(f"{name} does not carry its task: it was written by an older eqspec; check the spec again")
    task = serialisation.from_json(entry["task"], folder, read)
    try:
        recorded = Witness.from_json(data)
    except (KeyError, TypeError, ValueError, ArithmeticError) as problem:
        raise InputError(f"{name}: this is not a witness: {type(problem).__name__} at {problem}") from None
    if len(recorded.normalised) != len(task.space.features):
        raise InputError(
            f"{name}: the witness has {len(recorded.normalised)} numbers for {len(task.space.features)} inputs"
        )
    found = Replay(task, runtime).replay(recorded.normalised)
    reason = None if found is not None else _why_not(task, recorded.normalised)
    return Replayed(name, str(entry.get("claim", "")), recorded, found, reason)


def _why_not(task: Task, point: tuple[Fraction, ...]) -> str:
    return "it holds there" if contains(task, point) else "the input lies outside of the region"
