"""What eqspec makes of a folder of ONNX files: read or refused, and how far from onnxruntime at random points.

    python table.py FOLDER [--points 200] [--json KEPT]

Every file is read in a process of its own, which has a minute. Its values are compared with those of onnxruntime
without optimisations, at points of three sizes; the number shown is the largest difference, relative to the largest
output. A file with several outputs is read output by output.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import onnx

SECONDS = 60


def judge(path: str, points: int) -> dict[str, Any]:
    """One file: every output with its verdict."""
    from eqspec.errors import NetworkError, OutputChoiceError
    from eqspec.networks import read_network

    try:
        return {"": _compared(path, read_network(path), None, points)}
    except OutputChoiceError:
        outputs = [value.name for value in onnx.load(path, load_external_data=False).graph.output]
    except NetworkError as error:
        return {"": {"refused": _words(error)}}
    found: dict[str, Any] = {}
    for output in outputs:
        try:
            found[output] = _compared(path, read_network(path, output=output), output, points)
        except NetworkError as error:
            found[output] = {"refused": _words(error)}
    return found


def _words(error: Exception) -> str:
    return " ".join(str(error).split())


def _compared(path: str, network: Any, output: str | None, points: int) -> dict[str, Any]:
    from eqspec.networks.session import CannotRunError, Session

    try:
        session = Session(network)
    except CannotRunError as error:
        return {"read": True, "unrun": _words(error)}
    rng = np.random.default_rng(0)
    scales = rng.choice([0.1, 1.0, 4.0], size=(points, 1))
    given = session.rounded(rng.normal(size=(points, network.input_size)) * scales)
    ours = network.evaluate(given)
    theirs = np.full_like(ours, np.nan)
    for answer, point in zip(theirs, given, strict=True):
        with contextlib.suppress(CannotRunError):  # where an exponential is beyond the range
            answer[:] = session.run(point)
    both = np.isfinite(ours).all(axis=1) & np.isfinite(theirs).all(axis=1)
    if not both.any():
        return {"read": True, "unrun": "no finite answers"}
    off = float(np.abs(ours - theirs)[both].max() / max(1e-30, float(np.abs(theirs[both]).max())))
    return {"read": True, "off": off, "inputs": network.input_size, "steps": len(network.steps)}


def _work(path: str, points: int, pipe: Any) -> None:
    try:
        pipe.send(judge(path, points))
    except BaseException:
        pipe.send({"": {"crash": traceback.format_exc()[-1500:]}})


def judged(path: Path, points: int) -> dict[str, Any]:
    """One file in a process of its own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(str(path), points, theirs))
    process.start()
    theirs.close()
    try:
        found = ours.recv() if ours.poll(SECONDS) else {"": {"crash": f"no answer within {SECONDS} s"}}
    except EOFError:
        found = {"": {"crash": "the process died"}}
    process.kill()
    process.join()
    return dict(found)


def main() -> None:
    """Print the table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    kept: dict[str, Any] = {}
    for path in sorted(asked.folder.rglob("*.onnx")):
        name = str(path.relative_to(asked.folder).with_suffix(""))
        kept[name] = judged(path, asked.points)
        for output, found in kept[name].items():
            label = f"{name} {output!r}" if output else name
            if "off" in found:
                flag = "  LARGE" if found["off"] > 1e-4 else ""
                print(f"{label}: read, off by {found['off']:.1e}{flag}", flush=True)
            else:
                kind = next(iter(found)) if "unrun" not in found else "unrun"
                print(f"{label}: {kind}: {found[kind]}", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(kept, indent=1))
    read = sum(any("read" in f for f in found.values()) for found in kept.values())
    print(f"{read} of {len(kept)} files read", file=sys.stderr)


if __name__ == "__main__":
    main()
