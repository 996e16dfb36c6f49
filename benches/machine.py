"""The machine a measurement was made on: what it is called, how busy it is, and how fast it multiplies matrices.

The rate of the matrix product is that of numpy's BLAS on one core in binary64, taken in CPU time so that other
processes disturb it little: the yardstick for what propagation achieves.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DGEMM = """
import json, time, numpy as np
rng = np.random.default_rng(0)
rates = {}
for n in (64, 256, 1024):
    a, b, c = rng.normal(size=(n, n)), rng.normal(size=(n, n)), np.empty((n, n))
    repeat, best = max(1, 10**8 // n**3), 0.0
    for _ in range(7):
        began = time.process_time()
        for _ in range(repeat):
            np.matmul(a, b, out=c)
        best = max(best, 2 * n**3 * repeat / (time.process_time() - began))
    rates[n] = best / 1e9
print(json.dumps(rates))
"""


@dataclass(frozen=True)
class Machine:
    """`dgemm` is in GFLOP/s by size of the square matrices, `load` the mean number of running processes."""

    processor: str
    cores: int
    python: str
    dgemm: dict[int, float]
    load: float

    @property
    def peak(self) -> float:
        """The best rate seen, GFLOP/s."""
        return max(self.dgemm.values())

    def to_json(self) -> dict[str, Any]:
        """Plain types."""
        return {
            "processor": self.processor,
            "cores": self.cores,
            "python": self.python,
            "dgemm": {str(n): rate for n, rate in self.dgemm.items()},
            "load": self.load,
        }

    def describe(self) -> str:
        """One line."""
        sizes = ", ".join(f"{rate:.1f} at {n}" for n, rate in self.dgemm.items())
        return (
            f"{self.processor}, {self.cores} cores, Python {self.python}; dgemm on one core, GFLOP/s: {sizes}; "
            f"load {self.load:.1f}"
        )


def measure() -> Machine:
    """This machine, now; takes about three seconds of CPU."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    answer = subprocess.run(
        [sys.executable, "-c", _DGEMM], env=os.environ | one, check=True, capture_output=True, text=True
    )
    rates = {int(n): float(rate) for n, rate in json.loads(answer.stdout).items()}
    return Machine(_processor(), os.cpu_count() or 1, platform.python_version(), rates, load())


def load() -> float:
    """Mean number of processes that ran or wanted to, over the last minute; 0 where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def _processor() -> str:
    """Model, and the widest vector registers that count."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = facts.get("model name") or platform.machine()
    family = f" family {facts['cpu family']} model {facts['model']}" if "cpu family" in facts else ""
    vectors = [v for v in ("avx512f", "avx2") if v in facts.get("flags", "").split()]
    return f"{name}{family}" + (f" ({vectors[0]})" if vectors else "")
