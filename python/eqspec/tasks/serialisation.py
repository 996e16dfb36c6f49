"""A task as plain data: everything a verdict depends on, exactly, and back again.

Exact numbers are text such as "1/10", with a float beside them where people or numpy will read them. The region is in
network units, the space says how raw units come from there: raw = mean + std * x. The schema is
`schema/task.schema.json`; fields are only ever added. `sha256` is of what decides the verdict alone: both files by
content, the normalisation, the region and the claim, whatever they are called.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqspec.errors import InputError
from eqspec.networks import (
    Arithmetic,
    Network,
    compose_affine,
    dequantised,
    in_float32,
    of_two_classes,
    read_network,
    softened,
)
from eqspec.networks.derived import DerivedNetwork, derived
from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Property, Top1, exact
from eqspec.tasks import derivation_json
from eqspec.tasks.directed_rounding import floats_above, floats_below
from eqspec.tasks.lattice import Lattice, Lattices, on
from eqspec.tasks.phrasing import approximately, claim_in_words
from eqspec.tasks.search import Search
from eqspec.tasks.task import LinearConstraint, Space, Task

TASK_SCHEMA = "eqspec-task/1"
FILE_SCHEMA = "eqspec-tasks/1"


def file_of(tasks: Sequence[Task], searches: Sequence[Search], engine_version: str) -> dict[str, Any]:
    """All tasks of a spec; a search comes with the tasks at both ends of its range."""
    return {
        "schema": FILE_SCHEMA,
        "engine_version": engine_version,
        "tasks": [to_json(task) for task in tasks],
        "searches": [_search(search) for search in searches],
    }


def to_json(task: Task) -> dict[str, Any]:
    """One task."""
    decides = _deciding(task)
    source = task.source
    place = {"file": source.source.name, "line": source.line, "col": source.column} if source else None
    return {
        "schema": TASK_SCHEMA,
        "id": task.id,
        "check": task.check,
        "claim": claim_in_words(task),
        "sha256": _digest(decides),
        "parameters": {name: str(value) for name, value in task.parameters.items()},
        "reference": _network(task.reference_name, task.reference, raw=task.reference_takes_raw),
        "candidate": _network(task.candidate_name, task.candidate, raw=task.candidate_takes_raw),
        "space": {
            "features": list(task.space.features),
            "units": list(task.space.units),
            "outputs": list(task.space.outputs),
            "mean": _floats(task.space.centre),
            "std": _floats(task.space.scale),
            "mean_exact": _exact(task.space.centre),
            "std_exact": _exact(task.space.scale),
        },
        "region": {
            "lo": task.lower.tolist(),
            "hi": task.upper.tolist(),
            **decides["region"],
            "row": _whole(task.parameters.get("row")),
            "around": None if task.around is None else _exact(task.around),
        },
        "property": decides["property"],
        "arithmetic": task.arithmetic,
        "budget": {
            "timeout": task.budget.timeout,
            "memory": task.budget.memory,
            "threads": task.budget.threads,
            "jobs": task.budget.jobs,
        },
        "expect": task.expected,
        "tags": list(task.tags),
        "source": place,
    }


def from_json(data: Mapping[str, Any], folder: Path | None = None, read: Callable[..., Network] = read_network) -> Task:
    """The task that `to_json` wrote, with its networks read from their paths, or from there as seen from `folder`.

    InputError if it is none, or if a file is not the one it was; NetworkError if one cannot be read.
    """
    try:
        if data["schema"] != TASK_SCHEMA:
            raise InputError(f"this is {data['schema']!r}; {TASK_SCHEMA!r} is read")
        space = Space(
            features=tuple(data["space"]["features"]),
            units=tuple(data["space"]["units"]),
            outputs=tuple(data["space"]["outputs"]),
            centre=_fractions(data["space"]["mean_exact"]),
            scale=_fractions(data["space"]["std_exact"]),
            decide=data["property"]["decide"],
        )
        region, arithmetic = data["region"], data.get("arithmetic", "real")
        if arithmetic not in ("real", "float32"):
            raise InputError(f"unknown arithmetic {arithmetic!r}; one of real, float32")
        low, high = _fractions(region["lo_exact"]), _fractions(region["hi_exact"])
        rows = zip(region["A"], region["b"], region["strict"], strict=True)
        return Task(
            id=data["id"],
            check=data["check"],
            parameters={name: Fraction(value) for name, value in data["parameters"].items()},
            reference=_read(data["reference"], space, folder, read, arithmetic),
            candidate=_read(data["candidate"], space, folder, read, arithmetic),
            reference_name=data["reference"]["name"],
            candidate_name=data["candidate"]["name"],
            reference_takes_raw=data["reference"]["takes"] == "raw",
            candidate_takes_raw=data["candidate"]["takes"] == "raw",
            space=space,
            lower_exact=low,
            upper_exact=high,
            lower=floats_below(low),
            upper=floats_above(high),
            property=_claim(data["property"]),
            constraints=tuple(LinearConstraint(_fractions(a), Fraction(b), strict) for a, b, strict in rows),
            expected=data["expect"],
            tags=tuple(data["tags"]),
            around=None if region.get("around") is None else _fractions(region["around"]),
            lattices=_lattices(region.get("grid") or (), low, high),
        )
    except (KeyError, TypeError, ValueError, ArithmeticError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"this is not a task: {type(problem).__name__} at {problem}") from None


def _deciding(task: Task) -> dict[str, Any]:
    """The parts of a task that its verdict depends on, apart from the content of the files and how they are read."""
    rounded = {} if task.arithmetic == "real" else {"arithmetic": task.arithmetic}
    return {
        **rounded,
        "networks": [
            [
                network.sha256,
                raw,
                *_chosen(network),
                *_scores(network),
                *_ends(network).values(),
                *_sizes(network).values(),
            ]
            for network, raw in (
                (task.reference, task.reference_takes_raw),
                (task.candidate, task.candidate_takes_raw),
            )
        ],
        "mean": _exact(task.space.centre),
        "std": _exact(task.space.scale),
        "region": {
            "lo_exact": _exact(task.lower_exact),
            "hi_exact": _exact(task.upper_exact),
            "A": [_exact(c.coefficients) for c in task.constraints],
            "b": [str(c.bound) for c in task.constraints],
            "strict": [c.strict for c in task.constraints],
            **({} if not task.lattices else {"grid": [_grid(lattice) for lattice in task.lattices]}),
        },
        "property": {**_property(task.property), "decide": task.space.decide},
    }


def digest(task: Task) -> str:
    """The `sha256` of a task; tasks with the same digest ask the same question."""
    return _digest(_deciding(task))


def _digest(decides: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(decides, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _chosen(network: Network) -> tuple[str, ...]:
    """The output that was chosen by its name, if one was; a file of which none is chosen has one that counts."""
    return () if network.chosen is None else (network.chosen,)


def _scores(network: Network) -> list[str]:
    """Which scores are compared, where it is not those in front of a Softmax."""
    return [] if network.softened is None else ["probabilities"]


def _ends(network: Network) -> dict[str, Any]:
    """What integers at the ends of its file stand for, where it is a network of real numbers."""
    return {} if network.dequantised is None else {"dequantised": dequantised.to_json(network.dequantised)}


def _sizes(network: Network) -> dict[str, Any]:
    """The shapes of all inputs, where sizes were given that the file leaves open."""
    return {"shapes": {name: list(shape) for name, shape in network.fixed}} if network.fixed else {}


def _network(name: str, network: Network, *, raw: bool) -> dict[str, Any]:
    path, chosen, made = network.source, network.chosen, {}
    if isinstance(network, DerivedNetwork):
        path, chosen = network.derivation.path, network.derivation.output
        made = {"derived": derivation_json.to_json(network.derivation)}
    sha256, classes = network.sha256, {}
    if network.sigmoid_of is not None:
        (sha256, chosen), classes = network.sigmoid_of, {"two_classes": True}
    output = {} if chosen is None else {"output": chosen}
    return {
        "name": name,
        "path": path,
        "sha256": sha256,
        "takes": "raw" if raw else "normalised",
        "gives": "logits" if network.stripped is None and network.softened is None else "probabilities",
        **({} if network.softened is None else {"scores": "probabilities"}),
        **output,
        **classes,
        **_ends(network),
        **_sizes(network),
        **made,
    }


def _property(claim: Property) -> dict[str, Any]:
    match claim:
        case Epsilon(eps, norm, outputs):
            chosen = None if outputs is None else list(outputs)
            return {"kind": "epsilon", "eps": str(exact(eps)), "norm": norm, "outputs": chosen}
        case Top1():
            return {"kind": "top1", "guard": None}
        case Margin(margin):
            return {"kind": "top1", "guard": {"kind": "margin", "threshold": str(exact(margin))}}
        case Confidence(delta):
            return {"kind": "top1", "guard": {"kind": "confidence", "threshold": str(exact(delta))}}
        case Linear(candidate, reference, bound, strict):
            return {
                "kind": "linear",
                "candidate": _exact([exact(c) for c in candidate]),
                "reference": _exact([exact(c) for c in reference]),
                "bound": str(exact(bound)),
                "strict": strict,
            }
        case NeverWraps() | NeverSaturates():
            return {"kind": "never", "overflow": "wraps" if isinstance(claim, NeverWraps) else "saturates"}


def _grid(lattice: Lattice | None) -> dict[str, str] | None:
    return None if lattice is None else {"origin": str(lattice.origin), "step": str(lattice.step)}


def _lattices(grid: Sequence[Mapping[str, str] | None], low: Sequence[Fraction], high: Sequence[Fraction]) -> Lattices:
    """The grids of a region, whose box has its ends on them; InputError if it has not."""
    found = tuple(None if g is None else Lattice(Fraction(g["origin"]), Fraction(g["step"])) for g in grid)
    if found and not (on(found, low) and on(found, high)):
        raise InputError("the box of the region has an end that is not a point of the grid")
    return found


def _claim(data: Mapping[str, Any]) -> Property:
    match data["kind"]:
        case "epsilon":
            outputs = data["outputs"]
            return Epsilon(Fraction(data["eps"]), data["norm"], None if outputs is None else tuple(outputs))
        case "linear":
            candidate, reference = _fractions(data["candidate"]), _fractions(data["reference"])
            return Linear(candidate, reference, Fraction(data["bound"]), data["strict"])
        case "top1" if data["guard"] is None:
            return Top1()
        case "top1":
            threshold = Fraction(data["guard"]["threshold"])
            return Margin(threshold) if data["guard"]["kind"] == "margin" else Confidence(threshold)
        case "never" if data["overflow"] in ("wraps", "saturates"):
            return NeverWraps() if data["overflow"] == "wraps" else NeverSaturates()
        case other:
            raise InputError(f"unknown kind of claim {other!r}; one of epsilon, top1, linear, never")


def _read(
    data: Mapping[str, Any], space: Space, folder: Path | None, read: Callable[..., Network], arithmetic: Arithmetic
) -> Network:
    path = data["path"]
    if folder is not None and not Path(path).exists() and (folder / path).exists():
        path = str(folder / path)
    named: dict[str, Any] = {} if data.get("output") is None else {"output": str(data["output"])}
    if "dequantised" in data:
        named["dequantised"] = dequantised.from_json(data["dequantised"])
    if "shapes" in data:
        named["input_shape"] = tuple((str(name), tuple(map(int, shape))) for name, shape in data["shapes"].items())
    network = read(path, **named)
    made = data.get("derived")
    expected = str((data if made is None else made)["sha256"])
    if network.sha256 != expected:
        now, then = network.sha256[:8], expected[:8]
        raise InputError(f"{path} is another file than it was: its sha256 starts with {now}, it was {then}")
    if made is not None:
        network = derived(network, *derivation_json.precision_from(made))
        if network.sha256 != data["sha256"]:
            raise InputError(f"what is derived from {path} is another network than it was: this eqspec makes it anew")
    if data.get("two_classes"):
        classes = of_two_classes(network)
        if classes is None:
            raise InputError(f"{path} has no Sigmoid as its one output that can be read as two classes")
        network = classes
    if arithmetic == "float32":
        network = in_float32(network)
    sizes = (network.input_size, network.output_size)
    if sizes != (len(space.features), len(space.outputs)):
        raise InputError(f"{path} has {sizes[0]} inputs and {sizes[1]} outputs, which is not what the task says")
    if data.get("scores") == "probabilities":
        if network.arithmetic == "float32" or network.stripped is None:
            raise InputError(f"{path} gives no probabilities that can be compared")
        network = softened(network)
    return compose_affine(network, space.scale, space.centre) if data["takes"] == "raw" else network


def _search(search: Search) -> dict[str, Any]:
    return {
        "id": search.id,
        "check": search.check,
        "variable": search.variable,
        "direction": search.direction,
        "low": str(search.low),
        "high": str(search.high),
        "width": None if search.width is None else str(search.width),
        "whole": search.whole,
        "parameters": {name: str(value) for name, value in search.parameters.items()},
        "at_low": to_json(search.task_at(search.low)),
        "at_high": to_json(search.task_at(search.high)),
    }


def _exact(numbers: Sequence[Fraction]) -> list[str]:
    return [str(number) for number in numbers]


def _fractions(texts: Sequence[str]) -> tuple[Fraction, ...]:
    return tuple(Fraction(text) for text in texts)


def _floats(numbers: Sequence[Fraction]) -> list[float | None]:
    """The nearest floats; null beyond them all."""
    nearest = (approximately(number) for number in numbers)
    return [x if abs(x) != float("inf") else None for x in nearest]


def _whole(number: Fraction | None) -> int | None:
    return None if number is None else int(number)
