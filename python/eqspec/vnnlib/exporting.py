"""Tasks to files for other verifiers: a folder with properties, networks where ours have to be written, and a list.

    FOLDER/instances.csv            network(s), property, seconds: a line for every task, as the competitions have it
    FOLDER/vnnlib/TASK.vnnlib       the property
    FOLDER/vnnlib/TASK.task.json    the task itself, exact, with names and units
    FOLDER/onnx/...                 product networks, and files that cannot be named as they are

A network file is named as it is unless the property is about something else than its outputs (the scores before a
Softmax), or it is no ONNX file of a single sample; then its folded layers are written, and compared with the original;
where folding rounded them, they are refused.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InputError, unwritten
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Network, exact_layers
from eqspec.networks.derived import DerivedNetwork
from eqspec.networks.readers.network_file import dequantised_model
from eqspec.networks.without_telemetry import onnxruntime
from eqspec.property import Top1
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task
from eqspec.vnnlib.isomorphism import isomorphism
from eqspec.vnnlib.onnx_file import write_layers
from eqspec.vnnlib.onnx_program import ExactProgram, exact_program, write_program
from eqspec.vnnlib.product import about_one_network, product
from eqspec.vnnlib.replaying import EXPORT
from eqspec.vnnlib.writing import Side, network_name, networks_apart, one_network, output_shape, shape_of

Array = NDArray[np.float64]
Target = Literal["vnnlib2", "product-onnx"]
_LIST = "instances.csv"
DEFAULT_SECONDS = 300
SAMPLES = 16
"""Inputs at which a written network is compared with the pair."""
TOLERANCE = 1e-3
"""Of the outputs' size: float32 arithmetic is far below, a wrong weight far above."""
_FIX = "give an ONNX file of a single sample that ends in the scores, without Softmax, which is named as it is"


@dataclass(frozen=True)
class Exported:
    """What was written for a task.

    `deviation` is the largest difference seen between a written network and ours, None where nothing could be compared;
    with `raw` the property has its inputs in raw units.
    """

    task: str
    property: Path
    networks: tuple[Path, ...]
    deviation: float | None
    raw: bool = False


def export(tasks: Sequence[Task], target: Target, folder: Path) -> list[Exported]:
    """Write all tasks. InputError where one cannot be written, or the folder cannot."""
    rounded = next((task.id for task in tasks if task.arithmetic != "real"), None)
    if rounded is not None:
        raise InputError(
            f"{rounded}: VNN-LIB cannot say 'arithmetic float32'; leave the clause out to export the claim"
        )
    for task in tasks:
        if task.lattices:
            raise InputError(
                f"{task.id}: VNN-LIB cannot say a grid; leave it out of the region to export the whole box"
            )
        for name, network in ((task.reference_name, task.reference), (task.candidate_name, task.candidate)):
            if isinstance(network, DerivedNetwork):
                write = f"'eqspec export FILE \"{name}\" -o ...'"
                raise InputError(
                    f"{task.id}: '{name}' is derived from another network and has no file; write one with {write} and "
                    "declare that"
                )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder, prefix=".exporting-") as name:  # whole, or what was there stays
            stage = Path(name)
            done = [_moved(made, stage, folder) for made in _written(tasks, target, stage)]
            listed = io.StringIO()
            rows = [_instance(task, made, target, folder) for task, made in zip(tasks, done, strict=True)]
            csv.writer(listed, lineterminator="\n").writerows(rows)
            (stage / _LIST).write_text(listed.getvalue(), encoding="utf-8")
            for file in (*stage.glob("*/*"), stage / _LIST):
                place = folder / file.relative_to(stage)
                place.parent.mkdir(exist_ok=True)
                file.replace(place)
    except OSError as error:
        raise unwritten(folder, error) from None
    return done


def _written(tasks: Sequence[Task], target: Target, folder: Path) -> list[Exported]:
    """Write all tasks, without the list of them, to a folder that is empty."""
    done = []
    for part in ("vnnlib", "onnx"):
        (folder / part).mkdir()
    for task, name in zip(tasks, _file_names(tasks), strict=True):
        made = _pair(task, folder, name) if target == "vnnlib2" else _single(task, folder, name)
        done.append(made)
        data = {**serialisation.to_json(task), EXPORT: {"inputs": "raw" if made.raw else "normalised"}}
        text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
        (folder / "vnnlib" / f"{name}.task.json").write_text(text + "\n", encoding="utf-8")
    return done


def _moved(made: Exported, stage: Path, folder: Path) -> Exported:
    """The same with the paths that its files will have."""
    file, *networks = (
        folder / path.relative_to(stage) if path.is_relative_to(stage) else path
        for path in (made.property, *made.networks)
    )
    return replace(made, property=file, networks=tuple(networks))


def _file_names(tasks: Sequence[Task]) -> list[str]:
    """A file name for each task: its id without brackets; with a number where two would be the same."""
    names: list[str] = []
    for task in tasks:
        name = re.sub(r"[^A-Za-z0-9.=-]+", "_", task.id).strip("_.")
        if len(name) > 100:
            name = f"{name[:80]}_{hashlib.sha256(task.id.encode()).hexdigest()[:12]}"
        base, number = name, 1
        while name.lower() in (n.lower() for n in names):
            number += 1
            name = f"{base}_{number}"
        names.append(name)
    return names


def _instance(task: Task, made: Exported, target: Target, folder: Path) -> list[str]:
    networks = [os.path.relpath(path, folder) for path in made.networks]
    named = networks[0]
    if target == "vnnlib2":
        named = repr([(name, path) for (name, _, _), path in zip(_networks(task), networks, strict=True)])
    seconds = DEFAULT_SECONDS if task.budget.timeout is None else task.budget.timeout
    return [named, os.path.relpath(made.property, folder), f"{seconds:g}"]


def _networks(task: Task) -> list[tuple[str, Network, bool]]:
    """Names, networks and whether their files take raw inputs: the pair, or the one network that is claimed about."""
    reference = (network_name(task.reference_name), task.reference, task.reference_takes_raw)
    candidate = (network_name(task.candidate_name), task.candidate, task.candidate_takes_raw)
    if about_one_network(task):
        return [candidate]
    if reference[0] == candidate[0]:
        return [(f"{reference[0]}_1", *reference[1:]), (f"{candidate[0]}_2", *candidate[1:])]
    return [reference, candidate]


def _pair(task: Task, folder: Path, name: str) -> Exported:
    sides, paths, deviations = [], [], []
    networks = _networks(task)
    for label, network, raw in networks:
        as_is = _usable(network, task)
        path = Path(network.source).resolve()
        shape, outputs = shape_of(network.input_shape, network.input_size), output_shape(network)
        model = dequantised_model(network) if network.dequantised is not None and _scores(network, task) else None
        if model is not None and shape is not None:
            path = folder / "onnx" / f"{label}_{network.sha256[:12]}_dequantised.onnx"
            path.write_bytes(model)
        elif not as_is or shape is None:
            path = folder / "onnx" / f"{label}_{network.sha256[:12]}{'_raw' if raw else ''}.onnx"
            comment = f"folded from a file with sha256 {network.sha256}"
            if network.is_chain:
                write_layers(exact_layers(network.layers, network.source, _FIX), path, comment)
            else:
                write_program(exact_program(network, _FIX), path, comment)
            deviations.append(deviation(path, [network], None, task))
            shape, outputs, raw = (1, network.input_size), (1, network.output_size), False
        paths.append(path)
        sides.append(Side(label, shape, outputs, raw))
    like = None
    if len(sides) == 2 and paths == [Path(n.source).resolve() for _, n, _ in networks]:
        same = sides[0].shape == sides[1].shape and sides[0].output_shape == sides[1].output_shape
        like = isomorphism(task.reference, task.candidate, raw_alike=True) if same else None
    text = networks_apart(task, sides, like)
    file = folder / "vnnlib" / f"{name}.vnnlib"
    file.write_text(text, encoding="utf-8")
    return Exported(
        task.id, file, tuple(paths), max((d for d in deviations if d is not None), default=None), sides[0].raw
    )


def _usable(network: Network, task: Task) -> bool:
    """Whether the property can be about the outputs of the file as it is."""
    if Path(network.source).suffix.lower() != ".onnx" or not Path(network.source).is_file() or not network.alone:
        return False
    return _scores(network, task)


def _scores(network: Network, task: Task) -> bool:
    """Whether the outputs of the file, a Softmax at its end included, say what the scores in front of it do."""
    return network.stripped is None or isinstance(task.property, Top1)


def _single(task: Task, folder: Path, name: str) -> Exported:
    made = product(task)
    path = folder / "onnx" / f"{name}.onnx"
    comment = f"product of two networks for the task {task.id}"
    if isinstance(made.network, ExactProgram):
        outputs = write_program(made.network, path, comment, made.rows)
    else:
        outputs = write_layers(made.network, path, comment, made.rows)
    file = folder / "vnnlib" / f"{name}.vnnlib"
    file.write_text(one_network(task, made, outputs), encoding="utf-8")
    return Exported(
        task.id, file, (path,), deviation(path, [network for _, network, _ in _networks(task)], made.rows, task)
    )


def deviation(path: Path, networks: Sequence[Network], rows: Array | None, task: Task) -> float | None:
    """The largest difference between a written file in onnxruntime and these networks side by side, at random inputs.

    The networks are evaluated in float64, apart from each other, and put through `rows` (O, O_1 + O_2 + ...). Inputs
    at which either leaves the range of its floats say nothing; None if all do. RuntimeError if they disagree by more
    than rounding: the file would ask about other networks.
    """
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    kind = np.float32 if session.get_inputs()[0].type == "tensor(float)" else np.float64
    shares = np.random.default_rng(0).random((SAMPLES, len(task.lower)))
    with np.errstate(all="ignore"):  # what is not finite is left out below
        points = (task.lower * (1.0 - shares) + task.upper * shares).astype(kind)
        expected = np.concatenate([network.evaluate(points.astype(np.float64)) for network in networks], axis=1)
        sizes = np.abs(expected).max(axis=1)
        if rows is not None:
            expected, sizes = expected @ rows.T, sizes * max(1.0, float(np.abs(rows).sum(axis=1).max()))
        found = np.array([session.run(None, {"X": point[None]})[0][0] for point in points], np.float64)
        finite = np.isfinite(expected).all(axis=1) & np.isfinite(found).all(axis=1) & np.isfinite(sizes)
        if not finite.any():
            return None
        scale = max(1.0, float(sizes[finite].max()))
        gap = float(np.abs(found - expected)[finite].max())
    if not gap <= TOLERANCE * scale:
        raise RuntimeError(f"{path} computes something else than the networks: off by {gap:.3g} at one input")
    return gap
