"""Whether eqspec proves that two exporters wrote one network: files of one name in two folders, on a ball.

    python pairs.py FOLDER FOLDER [--eps 1e-3] [--radius 0.01] [--timeout 20]

The ball lies around one random point, the same for both. Files with several outputs, those that take integers, and
those that one exporter could not write are passed over and counted.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np

from eqspec import Epsilon, read_network, verify
from eqspec.errors import EqspecError, OutputChoiceError


def judged(first: Path, second: Path, options: argparse.Namespace) -> str:
    """What became of a pair, in words."""
    try:
        one, other = (read_network(path) for path in (first, second))
    except OutputChoiceError:
        return "several outputs"
    except EqspecError as error:
        return f"refused: {' '.join(str(error).split())[:150]}"
    if one.input_size != other.input_size:
        return f"{one.input_size} inputs beside {other.input_size}"
    centre = np.random.default_rng(0).normal(size=one.input_size)
    try:
        result = verify(
            one, other, centre - options.radius, centre + options.radius, Epsilon(options.eps),
            scores=None if one.stripped is None else "logits", timeout=options.timeout, threads=1, cache=False,
        )  # fmt: skip
    except EqspecError as error:
        return f"no claim: {' '.join(str(error).split())[:150]}"
    return f"{result.verdict} ({result.reason})" if result.reason else f"{result.verdict}, {result.boxes} boxes"


def main() -> None:
    """Print a line for each pair, and how many there are of each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs=2, type=Path)
    parser.add_argument("--eps", type=float, default=1e-3)
    parser.add_argument("--radius", type=float, default=0.01)
    parser.add_argument("--timeout", type=float, default=20.0)
    options = parser.parse_args()
    kinds = Counter[str]()
    for first in sorted(options.folders[0].glob("*.onnx")):
        second = options.folders[1] / first.name
        said = judged(first, second, options) if second.exists() else "one file alone"
        kinds[said.split(":")[0].split(",")[0]] += 1
        print(f"{first.stem}: {said}", flush=True)
    print(", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))


if __name__ == "__main__":
    main()
