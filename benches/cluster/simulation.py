"""How the coordinator's policy would do with many workers: simulated, with no cluster at all.

`python -m benches.cluster.simulation --tree FILE.npz` runs `eqspec.cluster.policy.Policy`, the very class that runs on
clusters, against simulated workers. What they search is the tree of a real search, or one drawn at random with its size
given: for every node its children and the seconds that bounding it takes. A leg works off its boxes depth first for its
seconds and returns the rest. Time passes for a message either way (`latency`), for every action and every answer in the
coordinator (`cost`), of which there is one, and for a box that is under way when a leg is called back. Workers may die.

What is not simulated: that boxes are bounded in another order than by one machine, transfer of networks, machines of
different speed. Every number from here is to be called simulated.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from eqspec.cluster.policy import Drop, Finish, Limits, Policy, Recall, Send

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """A binary search tree in preorder: the size of the subtree below and with each node, and seconds for a node."""

    size: Index
    seconds: float

    @property
    def boxes(self) -> int:
        """All nodes."""
        return int(self.size[0])


def drawn(boxes: int, seconds: float, seed: int = 0) -> Tree:
    """A tree of about so many nodes, whose halves are as uneven as those of hard searches.

    The larger part of a subtree has a share of it that is uniform between a half and nearly all.
    """
    random = np.random.default_rng(seed)
    size = np.ones(boxes | 1, np.int64)
    stack = [(0, boxes | 1)]
    while stack:
        at, below = stack.pop()
        size[at] = below
        if below < 3:
            continue
        parts = (below - 1) // 2 - 1  # each part is odd, and at least 1
        first = 1 + 2 * round(parts * random.uniform(0.02, 0.5))
        first = min(first, below - 2)
        if random.random() < 0.5:
            first = below - 1 - first
        stack += [(at + 1, first), (at + 1 + first, below - 1 - first)]
    return Tree(size, seconds)


@dataclass(frozen=True)
class Machine:
    """Seconds for a message, for what the coordinator does once, for a leg to begin, and until one that is called back
    looks; and how often workers die."""

    latency: float = 0.005
    cost: float = 0.001
    start: float = 0.02
    look: float = 0.05
    deaths: float = 0.0
    """Deaths of a worker for each second that it works."""


@dataclass(frozen=True)
class Outcome:
    """What a simulated run took."""

    seconds: float
    legs: int
    busy: float
    """Share of the time in which the coordinator had something to do."""
    work: float

    def efficiency(self, workers: int) -> float:
        """Work over what all workers could have done in that time."""
        return self.work / (self.seconds * workers)


def worked(tree: Tree, nodes: Sequence[int], count: int) -> tuple[list[int], int]:
    """What is open after so many nodes were bounded depth first, and how many really were."""
    stack, done = list(nodes), 0
    size = tree.size
    while stack and done < count:
        at = stack.pop()
        below = int(size[at])
        if below <= count - done:
            done += below
            continue
        done += 1
        if below > 1:
            second = at + 1 + int(size[at + 1])
            stack += [second, at + 1]
    return stack, done


def depths(tree: Tree) -> Index:
    """How many halvings above each node."""
    depth = np.zeros(len(tree.size), np.int64)
    for at in range(len(depth)):
        if tree.size[at] > 1:
            first = at + 1
            depth[first] = depth[first + tree.size[first]] = depth[at] + 1
    return depth


class Simulation:
    """One run."""

    def __init__(self, tree: Tree, workers: int, machine: Machine, limits: Limits, seed: int = 0) -> None:
        self.tree, self.machine, self.workers = tree, machine, workers
        self.policy = Policy(limits)
        self.random = np.random.default_rng(seed)
        self.waiting = [(0, 0)]
        self.depth = depths(tree)
        self.out: dict[int, list[int]] = {}
        self.lost: dict[int, list[int]] = {}
        self.events: list[tuple[float, int, str, int]] = []
        self.order = itertools.count()
        self.sent: dict[int, tuple[float, float, str]] = {}
        self.legs = 0
        self.done = 0
        self.spent = 0.0

    def at(self, time: float, what: str, number: int) -> None:
        """Let something happen."""
        heapq.heappush(self.events, (time, next(self.order), what, number))

    def run(self, boxes: float = inf) -> Outcome:
        """Until the tree is closed, or so many boxes are bounded."""
        policy, machine = self.policy, self.machine
        for i in range(self.workers):
            policy.joined(f"w{i}")
        policy.begin(0, len(self.waiting), boxes=boxes)
        now, free = 0.0, 0.0
        self.at(0.0, "look", 0)
        while self.events:
            time, _, what, leg = heapq.heappop(self.events)
            now = max(time, free)
            if what == "answer" and leg in self.out and self.sent[leg][1] == time:
                self.answer(leg, now)
                free = now + machine.cost
                self.spent += machine.cost
            elif what == "death" and leg in self.out:
                _, _, worker = self.sent.pop(leg)
                self.lost[leg] = self.out.pop(leg)
                policy.left(worker)
                policy.lost(leg)
                policy.joined(f"{worker}'")
            elif what == "answer":
                continue
            for action in policy.next(now):
                match action:
                    case Send():
                        free = max(free, now) + machine.cost
                        self.spent += machine.cost
                        self.send(action, free)
                    case Recall(legs):
                        free = max(free, now) + machine.cost
                        self.spent += machine.cost
                        for number in legs:
                            self.recall(number, free + machine.latency + machine.look)
                    case Finish():
                        return Outcome(now, self.legs, self.spent / max(now, 1e-9), self.done * self.tree.seconds)
                    case Drop():
                        raise AssertionError("no simulated leg is late")
            if what == "look":
                self.at(now + 0.05, "look", 0)
        raise AssertionError("the simulation ended before the search")

    def send(self, action: Send, now: float) -> None:
        """A leg sets out."""
        if action.again is not None:
            nodes = self.lost.pop(action.again)
        else:
            # The hardest first, as far as anybody knows: here the highest.
            nodes = [heapq.heappop(self.waiting)[1] for _ in range(action.boxes)]
        self.legs += 1
        begin = now + self.machine.latency + self.machine.start
        work = sum(int(self.tree.size[n]) for n in nodes) * self.tree.seconds
        seconds = action.seconds if action.limit is None else min(action.seconds, action.limit * self.tree.seconds)
        end = begin + min(seconds, ceil(work / self.tree.seconds) * self.tree.seconds)
        back = end + self.machine.latency
        self.out[action.leg], self.sent[action.leg] = nodes, (begin, back, action.worker)
        self.at(back, "answer", action.leg)
        if self.machine.deaths and (dies := self.random.exponential(1 / self.machine.deaths)) < end - begin:
            self.at(begin + dies, "death", action.leg)

    def recall(self, leg: int, now: float) -> None:
        """A leg returns what it has after the box that it is at."""
        begin, back, worker = self.sent[leg]
        boxes = max(1, ceil((now - begin) / self.tree.seconds))
        sooner = max(begin, now, begin + boxes * self.tree.seconds) + self.machine.latency
        if sooner < back:
            self.sent[leg] = (begin, sooner, worker)
            self.at(sooner, "answer", leg)

    def answer(self, leg: int, now: float) -> None:
        """A leg is back."""
        begin, back, _ = self.sent.pop(leg)
        nodes = self.out.pop(leg)
        count = max(1, round((back - self.machine.latency - begin) / self.tree.seconds))
        left, done = worked(self.tree, nodes, count)
        for node in left:
            heapq.heappush(self.waiting, (int(self.depth[node]), node))
        self.done += done
        self.policy.answered(leg, len(self.waiting), done, now)


def main() -> None:
    """A table by workers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", help="what benches.cluster.recording wrote: `size` in preorder, `seconds` for a node")
    parser.add_argument("--boxes", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, help="seconds for a node (default: as recorded, else 0.01)")
    parser.add_argument("--cut-off", type=float, default=inf, help="end each search after so many boxes")
    parser.add_argument("--deaths", type=float, default=0.0, help="deaths of a worker in an hour")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 10, 100, 1000, 10000])
    arguments = parser.parse_args()
    if arguments.tree:
        with np.load(arguments.tree) as kept:
            tree = Tree(kept["size"], arguments.seconds or float(kept["seconds"]))
    else:
        tree = drawn(arguments.boxes, arguments.seconds or 0.01)
    machine = Machine(deaths=arguments.deaths / 3600)
    print(f"simulated: {tree.boxes} boxes of {tree.seconds} s, {tree.boxes * tree.seconds:.0f} s of work")
    print("workers  simulated s  efficiency     legs  coordinator busy")
    for workers in arguments.workers:
        found = Simulation(tree, workers, machine, Limits()).run(arguments.cut_off)
        efficiency = found.efficiency(workers)
        print(f"{workers:7} {found.seconds:12.1f} {efficiency:11.0%} {found.legs:8} {min(found.busy, inf):13.0%}")


if __name__ == "__main__":
    main()
