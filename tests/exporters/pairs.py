"""Whether eqspec proves that two exporters wrote one network: files of one name in two folders, on a ball.

    python pairs.py FOLDER FOLDER [--eps 1e-3] [--radius 0.01] [--timeout 20]

The ball lies around one random point, the same for both. A file with several outputs counts as its worst; those that
one exporter could not write are passed over and counted. CPU seconds are those of reading both files and of the proof.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np
import onnx

from eqspec import Epsilon, Network, read_network, verify
from eqspec.errors import EqspecError, OutputChoiceError


def _badness(said: str) -> int:
    return 0 if said == "equivalent" else 1


def judged(first: Path, second: Path, options: argparse.Namespace) -> dict[str, str]:
    """What became of a pair, in words; of several outputs each by itself, in the order of the files."""
    try:
        return {"": _decided(read_network(first), read_network(second), options)}
    except OutputChoiceError:
        names = [[value.name for value in onnx.load(path).graph.output] for path in (first, second)]
    except EqspecError as error:
        return {"": f"refused: {_words(error)}"}
    if len(names[0]) != len(names[1]):
        return {"": f"{len(names[0])} outputs beside {len(names[1])}"}
    found = {}
    for one, other in zip(*names, strict=True):
        try:
            found[one] = _decided(read_network(first, output=one), read_network(second, output=other), options)
        except EqspecError as error:
            found[one] = f"refused: {_words(error)}"
    return found


def _decided(one: Network, other: Network, options: argparse.Namespace) -> str:
    if one.input_size != other.input_size:
        return f"{one.input_size} inputs beside {other.input_size}"
    centre = np.random.default_rng(0).normal(size=one.input_size)
    try:
        result = verify(
            one, other, centre - options.radius, centre + options.radius, Epsilon(options.eps),
            scores=None if one.stripped is None else "logits", timeout=options.timeout, threads=1, cache=False,
        )  # fmt: skip
    except EqspecError as error:
        return f"no claim: {_words(error)}"
    return f"{result.verdict} ({result.reason})" if result.reason else f"{result.verdict}, {result.boxes} boxes"


def _words(error: EqspecError) -> str:
    return " ".join(str(error).split())[:300]


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
        started = time.process_time()
        found = judged(first, second, options) if second.exists() else {"": "one file alone"}
        seconds = time.process_time() - started
        kinds[max((said.split(":")[0].split(",")[0] for said in found.values()), key=_badness)] += 1
        for output, said in found.items():
            print(f"{first.stem}{' ' if output else ''}{output}: {said}", flush=True)
        print(f"    {seconds:.2f} CPU s", flush=True)
    print(", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))


if __name__ == "__main__":
    main()
