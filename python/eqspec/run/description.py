"""A result as far as it is known before the task is run: names, claim, settings and networks."""

from __future__ import annotations

from math import nextafter
from typing import Any

from eqspec.networks import Network, dequantised
from eqspec.run import core
from eqspec.run.options import Options
from eqspec.tasks import serialisation
from eqspec.tasks.phrasing import claim_in_words
from eqspec.tasks.question import question
from eqspec.tasks.result import Result
from eqspec.tasks.score_meaning import left_out
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict

_NOT_ALL = nextafter(1.0, 0.0)


def describe(task: Task, options: Options, verdict: Verdict, seconds: float, **found: Any) -> Result:
    """A result, made of what is known of the task and of what was found; with a witness, the task to replay it on."""
    if verdict is not Verdict.EQUIVALENT and found.get("find") is None:
        # What is left may be less than a float tells from nothing, as beside a border where a claim turns.
        found["certified_fraction"] = min(found.get("certified_fraction", 0.0), _NOT_ALL)
    return Result(
        id=task.id,
        check=task.check,
        parameters=dict(task.parameters),
        verdict=verdict,
        expected=task.expected,
        seconds=seconds,
        claim=claim_in_words(task),
        tags=task.tags,
        settings=options.record(task),
        networks={
            "reference": _network_record(task.reference_name, task.reference, raw=task.reference_takes_raw),
            "candidate": _network_record(task.candidate_name, task.candidate, raw=task.candidate_takes_raw),
        },
        engine_version=core.__version__,
        source=str(task.source) if task.source else None,
        task=serialisation.to_json(task) if found.get("witness") is not None else None,
        question=question(task),
        **found,
    )


def _network_record(name: str, network: Network, *, raw: bool) -> dict[str, Any]:
    output = {} if network.chosen is None else {"output": network.chosen}
    ends = {} if network.dequantised is None else {"dequantised": dequantised.to_json(network.dequantised)}
    sizes = {"shapes": {port: list(shape) for port, shape in network.fixed}} if network.fixed else {}
    found = {"name": name, "path": network.source, "sha256": network.sha256, **output, **ends, **sizes}
    taken = {"takes": "raw"} if raw else {}
    return {**found, **taken, "left_out": left_out(network)}
