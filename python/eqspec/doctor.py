"""Does everything work on this machine? Each check does the thing itself, small, and compares with the known answer."""

from __future__ import annotations

import math
import os
import platform
import re
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import numpy as np
import onnx
from onnx import TensorProto, helper

from eqspec import float_mode
from eqspec.cache import ENVIRONMENT, Store, chosen_folder
from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.lp import HighsSolver
from eqspec.networks import Network, read_network
from eqspec.networks.network import AffineLayer
from eqspec.property import Epsilon
from eqspec.replay.onnx_runtime import RuntimeReplay
from eqspec.run import core
from eqspec.run.options import Options, cores
from eqspec.run.runner import Runner
from eqspec.tasks.task import Space, Task
from eqspec.tasks.verdict import Verdict

State = Literal["ok", "note", "problem"]
_FOR_DEVELOPERS = ("dev", "docs", "bench")
_NEEDED = ("numpy", "onnx", "onnxruntime", "lark", "highspy", "rich")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what was found, and what to do about it if it is not well."""

    name: str
    state: State
    value: str
    advice: str = ""


def examine() -> Iterator[Finding]:
    """Look at everything, one after the other; nothing raises."""
    for name, check in _CHECKS:
        try:
            yield from check()
        except Exception as error:  # whatever is broken here is what is being looked for
            message = (str(error).strip().splitlines() or [""])[0]
            advice = "reinstall eqspec in a fresh environment; if this stays, report it with this output"
            yield Finding(name, "problem", f"{type(error).__name__}: {message}", advice)


def _versions() -> Iterator[Finding]:
    where = Path(core.__file__).parents[1]
    yield Finding("eqspec", "ok", f"{core.__version__} in {where}")
    yield Finding(
        "python", "ok", f"{platform.python_version()} ({platform.python_implementation()}), {platform.platform()}"
    )
    found = ", ".join(f"{name} {metadata.version(name)}" for name in _NEEDED)
    yield Finding("packages", "ok", found)


def _prover() -> Iterator[Finding]:
    """relu(x) and relu(x) + x / 4 on [-1, 1] differ by 1/4 at most: provable for 0.3, refutable for 0.2."""
    one, zero = np.ones((1, 1)), np.zeros(1)
    first = Network.of_layers((AffineLayer(one, zero), AffineLayer(one, zero)), "f", "f")
    both = np.array([[1.0], [-1.0]])
    second = Network.of_layers((AffineLayer(both, np.zeros(2)), AffineLayer(np.array([[1.25, -0.25]]), zero)), "g", "g")
    for eps, expected in (("0.3", Verdict.EQUIVALENT), ("0.2", Verdict.DIFFERENT)):
        verdict = Runner(Options(timeout=60)).run(_task(first, second, eps)).verdict
        if verdict is not expected:
            yield Finding("prover", "problem", f"eps = {eps} came out {verdict}, not {expected}", "report this")
            return
    yield Finding("prover", "ok", "decides a known pair both ways")


def _task(first: Network, second: Network, eps: str) -> Task:
    one, zero = (Fraction(1),), (Fraction(0),)
    return Task(
        "doctor", "doctor", {}, first, second, "f", "g", False, False, Space(("x",), (None,), ("y",), zero, one),
        (Fraction(-1),), one, np.array([-1.0]), np.array([1.0]), Epsilon(Fraction(eps), "linf", None),
    )  # fmt: skip


@dataclass(frozen=True)
class _Program:
    """maximise e0 + e1 with e0 + e1 <= 1 on the square: 1."""

    matrix: Any = None
    lower: Any = None
    upper: Any = None
    objectives: Any = None


def _solver() -> Iterator[Finding]:
    row = np.ones((1, 2))
    program = _Program(row, np.array([-math.inf]), np.array([1.0]), row)
    duals, _, _ = HighsSolver().answer([program])[0]
    y = float(duals[0, 0])
    bound = float(np.abs(1 - row[0] * y).sum() + max(0.0, y))
    version = metadata.version("highspy")
    if abs(bound - 1) > 1e-6:
        yield Finding(
            "HiGHS", "problem", f"{version} answers {bound} for a program whose answer is 1", "reinstall highspy"
        )
    else:
        yield Finding("HiGHS", "ok", f"{version} solves a small program")


def _runtime() -> Iterator[Finding]:
    """relu in float32, through a file, as witnesses are replayed; this needs a place for temporary files, too."""
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "relu",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    version = metadata.version("onnxruntime")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "relu.onnx"
        onnx.save(model, path)
        answer = RuntimeReplay().outputs(read_network(path), [Fraction(-1, 2), Fraction(1, 2)])
    if answer.tolist() == [0.0, 0.5]:
        yield Finding("onnxruntime", "ok", f"{version} runs a small network")
    else:
        yield Finding(
            "onnxruntime", "problem", f"{version} answers {answer.tolist()} for relu", "reinstall onnxruntime"
        )


def _floating_point() -> Iterator[Finding]:
    """Every bound assumes that sums are rounded to the nearest float and that small numbers are not flushed to 0."""
    if not float_mode.keeps_subnormals():
        advice = "a library of this process switches on flush-to-zero (often by -ffast-math); find it and leave it out"
        yield Finding("floating point", "problem", "small numbers are flushed to zero", advice)
    elif float_mode.rounds_to_nearest():
        yield Finding("floating point", "ok", "rounds to nearest, keeps small numbers")
    else:
        advice = "a library of this process changes the rounding mode; find it and leave it out"
        yield Finding("floating point", "problem", "does not round to nearest", advice)


def _processor() -> Iterator[Finding]:
    features = _vector_features()
    name = platform.processor() or platform.machine()
    yield Finding("processor", "ok", f"{name}, {', '.join(features) if features else 'no wide vector registers known'}")
    yield Finding("threads", "ok", f"{cores()} of {os.cpu_count() or 1} cores")
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
        small = memory < 4
        advice = "give tasks a budget: budget { memory 1GB }" if small else ""
        yield Finding("memory", "note" if small else "ok", f"{memory:.1f} GiB", advice)


def _vector_features() -> list[str]:
    """What numpy found out about the processor; the core looks for itself and uses the widest registers there are."""
    try:
        found = import_module("numpy._core._multiarray_umath").__cpu_features__
    except (ImportError, AttributeError):  # it is no promise of numpy's
        return []
    return [name for name in ("AVX512F", "AVX2", "FMA3", "NEON", "SVE") if found.get(name)]


def _cache() -> Iterator[Finding]:
    """Something is written to where results are kept, read back and removed."""
    folder = chosen_folder()
    if folder is None:
        yield Finding("cache", "ok", f"{ENVIRONMENT} is off: no result is kept")
        return
    told: list[str] = []
    try:
        store, key = Store(folder, tell=told.append), uuid4().hex
    except InputError as problem:  # a key in the environment that is none
        yield Finding("cache", "problem", str(problem))
        return
    if store.write("result", key, b"doctor") and store.read("result", key) == b"doctor":
        store.remove("result", key)
        usage = store.usage()
        yield Finding("cache", "ok", f"{folder}: {usage.results} results and {usage.searches} stopped searches")
        return
    advice = f"runs work, but keep nothing: make it writable, or name another folder with --cache or {ENVIRONMENT}"
    yield Finding("cache", "note", told[0] if told else f"{folder} does not give back what was written", advice)


def _extras() -> Iterator[Finding]:
    """What is not installed and not needed: each extra of the package with a package that is missing."""
    wanted: dict[str, list[str]] = {}
    for requirement in (metadata.requires("eqspec") or []) if _installed("eqspec") else []:
        found = re.match(r"([\w.-]+).*\bextra\s*==\s*['\"]([\w.-]+)['\"]", requirement)
        if found is not None and found[2] not in _FOR_DEVELOPERS and not _installed(found[1]):
            wanted.setdefault(found[2], []).append(found[1])
    for extra, missing in wanted.items():
        value = f"not there: {', '.join(missing)}"
        yield Finding(f"extra {extra}", "note", value, f"not needed; if you want it: pip install 'eqspec[{extra}]'")


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


_CHECKS: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
    ("eqspec", _versions),
    ("prover", _prover),
    ("HiGHS", _solver),
    ("onnxruntime", _runtime),
    ("floating point", _floating_point),
    ("processor", _processor),
    ("cache", _cache),
    ("extras", _extras),
)
