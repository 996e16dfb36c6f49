"""Order and cycles of what depends on what, by a loop, so that depth costs no stack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


def dependencies_first(nodes: Iterable[T], needs: Mapping[T, Iterable[T]]) -> tuple[list[T], list[list[T]]]:
    """All nodes, each behind what it needs, and the cycles met, each from the node it was entered by."""
    order: list[T] = []
    cycles: list[list[T]] = []
    done: set[T] = set()
    path: list[T] = []
    place: dict[T, int] = {}
    for start in nodes:
        if start in done:
            continue
        waiting = [(start, iter(needs.get(start, ())))]
        path.append(start)
        place[start] = 0
        while waiting:
            node, rest = waiting[-1]
            following = next((n for n in rest if n not in done), None)
            if following is None:
                waiting.pop()
                path.pop()
                del place[node]
                done.add(node)
                order.append(node)
            elif following in place:
                cycles.append(path[place[following] :])
            else:
                place[following] = len(path)
                path.append(following)
                waiting.append((following, iter(needs.get(following, ()))))
    return order, cycles
