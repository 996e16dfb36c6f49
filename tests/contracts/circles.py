"""Circles in a directed graph of files: `graph[a]` holds the files that `a` uses."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping

Graph = Mapping[str, Collection[str]]


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """The largest sets of files that all reach each other, each sorted; a file that only uses itself is no circle."""
    below = {name: _reached(graph, name) for name in graph}
    found = {
        tuple(sorted(other for other in below[name] if name in below.get(other, ())))
        for name in graph
        if name in below[name]
    }
    return sorted(circle for circle in found if len(circle) > 1)


def _reached(graph: Graph, start: str) -> set[str]:
    """What is reached from a file in one step or more."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = set(graph.get(waiting.pop(), ())) - reached
        reached |= new
        waiting.extend(new)
    return reached


def shortest(graph: Graph, circle: Collection[str]) -> str:
    """A shortest way round within a circle, as `a -> b -> a`."""
    ways = [_way_back(graph, start) for start in sorted(circle)]
    return " -> ".join(min((len(way), way) for way in ways if way)[1])


def _way_back(graph: Graph, start: str) -> list[str]:
    """A shortest way from a file to itself, over other files."""
    before: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        name = waiting.popleft()
        for used in sorted(graph.get(name, ())):
            if used == start and name != start:
                way = [start, name]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            if used not in before and used != start:
                before[used] = name
                waiting.append(used)
    return []
