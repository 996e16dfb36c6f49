"""Blocks of graphs in processes of their own, because an oracle that dies must not take the run with it."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait

import onnx

from conformance.generating import graph
from conformance.judging import judge
from conformance.shrinking import shrink

BLOCK = 250
"""Graphs that a process judges before it reports."""
SPAWN = multiprocessing.get_context("spawn")


@dataclass
class Catch:
    """What was seen, and what goes wrong: number, complaint, model and how it was spoiled."""

    graphs: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[int, str, bytes, str | None]] = field(default_factory=list)

    def add(self, other: Catch) -> None:
        """Take in what another block saw."""
        self.graphs += other.graphs
        self.seen.update(other.seen)
        self.wrong.extend(other.wrong)


def check(seed: int, numbers: range) -> Catch:
    """Judge these graphs of a seed."""
    catch = Catch()
    for number in numbers:
        model, spoiled, traits = graph(seed, number)
        found = judge(model, spoiled)
        catch.graphs += 1
        catch.seen.update({*traits, *found.traits})
        if found.complaint is not None:
            small = model if spoiled else shrink(model, found.complaint)
            catch.wrong.append((number, found.complaint, small.SerializeToString(), spoiled))
    return catch


def work(pipe: Connection, seed: int) -> None:
    """A process: ranges come in, catches go out. The number at hand is told first, for the case that it is the last."""
    while True:
        first, last = pipe.recv()
        pipe.send(check(seed, range(first, last)))


class _Worker:
    def __init__(self, seed: int, numbers: range) -> None:
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=work, args=(theirs, seed), daemon=True)
        self.process.start()
        theirs.close()
        self.give(numbers)

    def give(self, numbers: range) -> None:
        self.numbers = numbers
        self.pipe.send((numbers.start, numbers.stop))


def run(seed: int, graphs: int, jobs: int) -> Iterator[Catch]:
    """What the blocks up to so many graphs saw, as they are done. A block whose process dies is a finding."""
    blocks = iter([range(first, min(first + BLOCK, graphs)) for first in range(0, graphs, BLOCK)])
    workers = [_Worker(seed, block) for _, block in zip(range(jobs), blocks, strict=False)]
    try:
        while workers:
            pipes = {id(worker.pipe): worker for worker in workers}
            for pipe in wait([worker.pipe for worker in workers]):
                worker = pipes[id(pipe)]
                workers.remove(worker)
                try:
                    catch: Catch = worker.pipe.recv()
                except (EOFError, ConnectionError):
                    catch = _of_the_dead(seed, worker.numbers)
                    worker.process.join()
                yield catch
                block = next(blocks, None)
                if block is None:
                    worker.process.terminate()
                elif worker.process.is_alive():
                    worker.give(block)
                    workers.append(worker)
                else:
                    workers.append(_Worker(seed, block))
    finally:
        for worker in workers:
            worker.process.terminate()


def _of_the_dead(seed: int, numbers: range) -> Catch:
    """The graph at which a process dies, found by halving."""
    while len(numbers) > 1:
        half = range(numbers.start, numbers.start + len(numbers) // 2)
        numbers = range(half.stop, numbers.stop) if _survives(seed, half) else half
    model: onnx.ModelProto = graph(seed, numbers.start)[0]
    return Catch(1, Counter(), [(numbers.start, "the process dies", model.SerializeToString(), None)])


def _survives(seed: int, numbers: range) -> bool:
    worker = _Worker(seed, numbers)
    try:
        worker.pipe.recv()
    except (EOFError, ConnectionError):
        return False
    worker.process.terminate()
    return True
