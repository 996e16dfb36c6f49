"""A hunt for wrong verdicts, as long as you like: `PYTHONPATH=python:tests python -m hunt --cases 1000000 --jobs 2`.

Shrunk cases that go wrong are written to `tests/regress/`, where the test suite replays them. With `--state FILE` a
hunt that is stopped goes on where it was. It ends with what was seen, and with status 1 if anything was wrong, or if
something that matters was hardly exercised. A process that dies or hangs is a finding too: its block is named.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from eqspec.kernel import BinaryError, find
from hunt.cases import CHANNELS, THROUGH_FILES, Channel
from hunt.coverage import missing
from hunt.hunting import Catch
from hunt.working import SEEDS, work

REGRESS = Path(__file__).resolve().parents[1] / "regress"
SPAWN = multiprocessing.get_context("spawn")
MOST_DEATHS = 5


@dataclass
class State:
    """How far a hunt is."""

    seed: int
    channels: tuple[Channel, ...] = CHANNELS
    next: int = 0
    ahead: set[int] = field(default_factory=set)
    catch: Catch = field(default_factory=Catch)
    seconds: float = 0.0

    def finish(self, block: int, catch: Catch) -> None:
        """A block is done."""
        self.catch.add(catch)
        self.ahead.add(block)
        while self.next in self.ahead:
            self.ahead.remove(self.next)
            self.next += 1

    def blocks(self) -> Iterator[int]:
        """Those that are not done."""
        done = set(self.ahead)
        return (block for block in count(self.next) if block not in done)

    def save(self, path: Path) -> None:
        """Written beside and moved, so that no half of it is ever read."""
        record = {
            "seed": self.seed,
            "channels": self.channels,
            "next": self.next,
            "ahead": sorted(self.ahead),
            "cases": self.catch.cases,
            "seconds": self.seconds,
            "seen": dict(sorted(self.catch.seen.items())),
        }
        part = path.with_suffix(".part")
        part.write_text(json.dumps(record, indent=1))
        part.replace(path)

    @classmethod
    def load(cls, path: Path, seed: int, channels: tuple[Channel, ...] = CHANNELS) -> State:
        """Where the hunt with this seed and these channels was; its start if there is no such file."""
        if not path.is_file():
            return cls(seed, channels)
        data: dict[str, Any] = json.loads(path.read_text())
        if data["seed"] != seed or tuple(data.get("channels", CHANNELS)) != channels:
            through = ", ".join(data.get("channels", CHANNELS))
            raise SystemExit(f"{path} is about seed {data['seed']} through {through}; give these, or another file")
        catch = Catch(data["cases"], Counter(data["seen"]))
        return cls(seed, channels, data["next"], set(data["ahead"]), catch, data["seconds"])


class _Worker:
    """A process, and the block it is at."""

    def __init__(self, state: State, block: int, kernel: bool) -> None:
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=work, args=(theirs, state.seed, state.channels, kernel), daemon=True)
        self.process.start()
        theirs.close()
        self.give(block)

    def give(self, block: int) -> None:
        self.block = block
        self.pipe.send(block)


def run(state: State, cases: int, jobs: int, path: Path | None, folder: Path, kernel: bool = False) -> None:
    """Hunt until so many cases are done, in all."""
    blocks, began, said = state.blocks(), monotonic() - state.seconds, 0.0
    workers = [_Worker(state, next(blocks), kernel) for _ in range(jobs)]
    try:
        while state.catch.cases < cases:
            pipes = {worker.pipe: worker for worker in workers}
            for pipe in wait(list(pipes), timeout=5.0):
                worker = pipes[pipe]  # type: ignore[index]  # wait gives back what it got
                try:
                    catch: Catch = worker.pipe.recv()
                except (EOFError, ConnectionError):
                    block = worker.block
                    catch = Catch(
                        seen=Counter({"wrong": 1}),
                        wrong=[f"seeds from {state.seed * 10**9 + block * SEEDS}: died or hung"],
                    )
                    workers[workers.index(worker)] = _Worker(state, next(blocks), kernel)
                else:
                    block = worker.block
                    worker.give(next(blocks))
                for text in catch.wrong:
                    keep(text, folder)
                state.finish(block, catch)
                state.seconds = monotonic() - began
                if path:
                    state.save(path)
            if monotonic() - said > 20:
                said = monotonic()
                say(state, cases)
    finally:
        for worker in workers:
            worker.process.terminate()
            worker.process.join()


def keep(text: str, folder: Path) -> None:
    """Write a case that went wrong where it will be replayed, unless it is there already."""
    print(text, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(text.encode()).hexdigest()[:10]
    (folder / f"{name}.{'json' if text.startswith('{') else 'txt'}").write_text(text)


def say(state: State, cases: int) -> None:
    """One line on how far it is."""
    done, seconds = state.catch.cases, max(state.seconds, 1e-9)
    print(f"{done} of {cases} cases, {done / seconds:.0f} a second, {state.catch.seen['wrong']} wrong", flush=True)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m hunt", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1, help="another number hunts elsewhere")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--state", type=Path, help="a file that remembers how far the hunt is")
    parser.add_argument("--regress", type=Path, default=REGRESS, help="where cases that go wrong are written")
    parser.add_argument(
        "--files", action="store_true", help="only through files: networks in random ONNX styles, specs, certificates"
    )
    parser.add_argument(
        "--kernel", action="store_true", help="have the proved checker read every certificate too (make -C kernel)"
    )
    given = parser.parse_args()
    if given.kernel:
        try:
            find()
        except BinaryError as problem:
            parser.error(str(problem))
    channels = THROUGH_FILES if given.files else CHANNELS
    state = State.load(given.state, given.seed, channels) if given.state else State(given.seed, channels)
    try:
        run(state, given.cases, given.jobs, given.state, given.regress, given.kernel)
    except KeyboardInterrupt:
        sleep(0)  # the summary of what was seen so far follows
    for trait, times in sorted(state.catch.seen.items()):
        print(f"{times:9d}  {trait}")
    say(state, given.cases)
    lacking = {} if given.files else missing(state.catch.seen, state.catch.cases)
    for trait, words in lacking.items():
        print(f"not as it should be: {trait}, {words}")
    return 1 if lacking or state.catch.seen["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
