"""What two networks take and give in another order: inputs by their names, or axes by their sizes.

All inputs of a file are one vector, one behind the other as the file has them and each in its own order of axes, and
a pair is given one vector. Runtimes are given inputs by their names, and an image with its channels first is no image
with its channels last: such a pair would be compared as nobody runs it. The same holds of outputs. And where each of
two files has both inputs, and leaves another one without use, the one that is left is not the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from eqspec.networks.network import Network

_TURNED = "the same in another order"


def in_another_order(first: Network, second: Network) -> tuple[str, str, str, str] | None:
    """Whether it is what they take or what they give ("takes", "gives"), what each does, and why that is not the same.

    None if it is the same, or may be.
    """
    here, there = ([port.name for port in network.ports] for network in (first, second))
    if here != there and sorted(here) == sorted(there):
        place = next(i for i, (a, b) in enumerate(zip(here, there, strict=True)) if a != b)
        return "takes", f"'{here[place]}'", f"'{there[place]}'", _TURNED
    for a, b in zip(here, there, strict=False):
        if a != b and (a in second.unread or b in first.unread):
            return "takes", f"'{a}'", f"'{b}'", "of these inputs one does not reach the output of the other file"
    if len(here) != len(there):
        return None
    inputs = [("takes", a.shape, b.shape) for a, b in zip(first.ports, second.ports, strict=True)]
    for verb, one, other in (*inputs, ("gives", first.output_shape, second.output_shape)):
        if _turned(one, other):
            return verb, f"[{', '.join(map(str, one))}]", f"[{', '.join(map(str, other))}]", _TURNED
    return None


def _turned(one: Sequence[int | str], other: Sequence[int | str]) -> bool:
    """Whether axes of one shape are those of another in another order, but for axes of one entry and open ones."""
    here, there = ([size for size in shape if isinstance(size, int) and size > 1] for shape in (one, other))
    return here != there and sorted(here) == sorted(there)
