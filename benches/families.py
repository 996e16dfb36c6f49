"""What is measured: families of queries, those of the acceptance data where that is present, and our own always.

`Measurement` says how a family is run. Besides whole families there are plain ones, without contraction and attack and
up to a number of boxes: they show what a box costs, which whole families hide behind the few boxes they need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from making.export import to_onnx
from making.training import Mlp, initialise

from acceptance import families as acceptance
from acceptance.families import Family
from acceptance.published import Query
from benches import RESULTS, ROOT
from eqspec.api import load

PLAIN = frozenset({"contract", "attack"})


@dataclass(frozen=True)
class Measurement:
    """One row of the table. `every` takes only each so manieth query; `boxes` limits each."""

    name: str
    family: Family
    timeout: float
    boxes: int | None = None
    without: frozenset[str] = frozenset()
    every: int = 1

    def chosen(self) -> list[Query]:
        """The queries to run."""
        return self.family.queries()[:: self.every]


def measurements() -> list[Measurement]:
    """All rows; those of the acceptance data only where it is present."""
    return [*_own(), *(_acceptance() if acceptance.SHARED.is_dir() else [])]


def _acceptance() -> Iterator[Measurement]:
    known = acceptance.FAMILIES
    yield Measurement("acas-0.05", known["acas-0.05"], 120)
    yield Measurement("acas-0.5", known["acas-0.5"], 20)
    yield Measurement("lhc", known["lhc"], 120)
    yield Measurement("mnist-eps", known["mnist-eps"], 20, every=4)
    yield Measurement("mnist-top1", known["mnist-top1"], 20, every=3)
    yield Measurement("acas-0.05 plain", known["acas-0.05"], 20, 3000, PLAIN, every=4)
    yield Measurement("lhc plain", known["lhc"], 60, 1500, PLAIN)
    yield Measurement("mnist-eps plain", known["mnist-eps"], 20, 100, PLAIN, every=8)


def _own() -> Iterator[Measurement]:
    for name in ("lhc", "digits", "cells"):
        family = Family(f"own {name}", spec_queries(ROOT / "specs" / f"{name}.eqspec"), None)
        yield Measurement(f"own {name}", family, 60)
    yield Measurement("own wide plain", Family("own wide", wide, None), 60, 64, PLAIN)


def spec_queries(path: Path) -> Callable[[], list[Query]]:
    """All tasks of a spec, when they are asked for."""
    return lambda: [Query(task.id, task, None) for task in load(path).tasks]


def wide() -> list[Query]:
    """Two 784-512-512-10 networks, the second with a twentieth of its weights cut, on a box of all 784 inputs."""
    folder = RESULTS / "wide"
    folder.mkdir(parents=True, exist_ok=True)
    full = initialise((784, 512, 512, 10), np.random.default_rng(512))
    limits = [np.quantile(np.abs(w), 0.05) for w in full.weights]
    cut = Mlp(tuple(np.where(np.abs(w) < t, 0, w) for w, t in zip(full.weights, limits, strict=True)), full.biases)
    for name, network in {"full": full, "cut": cut}.items():
        content: Any = to_onnx(network, "gemm", "Random, for measuring.")
        (folder / f"{name}.onnx").write_bytes(content.SerializeToString())
    (folder / "wide.eqspec").write_text(
        "eqspec 1\n"
        "space image { shape [784]  domain 0 .. 1  outputs 10 }\n"
        'network full = "full.onnx" in image\n'
        'network cut  = "cut.onnx"  in image\n'
        "region near in image = box { all: 0.45 .. 0.55 }\n"
        "check close { prove cut stays within 0.3 of full  on near }\n"
    )
    return spec_queries(folder / "wide.eqspec")()
