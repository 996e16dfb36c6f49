"""Random small graphs as plans, and partners that are derived from them (`graph_values` has what they compute).

A plan is a list of blocks on images (channels, height, width); each reads earlier values by number, the input being
number 0. Weights are dyadic with few bits, so that a file holds them as they are, and so does any of its styles.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hunt import smooth

Random = np.random.Generator
Array = NDArray[np.float64]
FUNCTIONS = ("relu", "relu", "relu", "leaky", "prelu", "clip", "abs", "floor", "hard")
SMOOTH = tuple(smooth.FUNCTIONS)
LEVELS = ("levels",) * 8


BYTES = (np.array([-128.0, 127.0]), np.array([0.0, 255.0]))


@dataclass(frozen=True)
class Block:
    """One value: `kind`, what it reads, its shape, and its numbers.

    conv: weight (o, c, h, w), bias (o), stride, pad. dense: weight (m, n), bias (m). norm: scale and shift (c).
    Functions: relu, leaky (alpha), prelu (slopes), clip (low, high), abs, floor (max with a constant), hard (hard
    sigmoid), levels (to the nearest multiple of a scale, ties to even, in a signed byte or not), and smooth ones
    (`smooth`). maxpool, meanpool: windows of 2 x 2 with stride. add, subtract,
    concat: two values.
    """

    kind: str
    reads: tuple[int, ...]
    shape: tuple[int, ...]
    arrays: dict[str, Array] = field(default_factory=dict)
    stride: int = 1
    pad: int = 0

    def array(self, name: str) -> Array:
        """One of its arrays."""
        return self.arrays[name]


@dataclass(frozen=True)
class Plan:
    """A graph: the shape of its input, and its blocks, the last of which gives the outputs."""

    shape: tuple[int, ...]
    blocks: tuple[Block, ...]

    @property
    def inputs(self) -> int:
        """How many numbers go in."""
        return int(np.prod(self.shape))

    @property
    def exact(self) -> bool:
        """Whether its values are known exactly; else they are off by less than `smooth.TOLERANCE`."""
        return all(block.kind not in SMOOTH for block in self.blocks)

    @property
    def quantised(self) -> bool:
        """Whether anything is rounded to levels."""
        return any(block.kind == "levels" for block in self.blocks)


def dyadic(rng: Random, shape: tuple[int, ...], bits: int = 3) -> Array:
    """Numbers with few bits, not all of them zero."""
    return np.asarray(rng.integers(-12, 13, shape) / 2.0**bits)


def random_plan(rng: Random) -> Plan:
    """Two to six blocks, and a dense layer behind them."""
    shapes = [(1, 3, 3), (2, 2, 2), (1, 2, 3), (1, 4, 2), (2, 3, 2)]
    shape = shapes[int(rng.integers(len(shapes)))]
    blocks: list[Block] = []
    values: list[tuple[int, ...]] = [shape]
    functions = [FUNCTIONS, FUNCTIONS + SMOOTH, FUNCTIONS + LEVELS][int(rng.choice(3, p=[0.4, 0.35, 0.25]))]
    for _ in range(int(rng.integers(2, 7))):
        block = _block(rng, values, functions)
        blocks.append(block)
        values.append(block.shape)
    size, outputs = int(np.prod(values[-1])), int(rng.integers(1, 4))
    arrays = {"weight": dyadic(rng, (outputs, size)), "bias": dyadic(rng, (outputs,))}
    blocks.append(Block("dense", (len(values) - 1,), (outputs,), arrays))
    return Plan(shape, tuple(blocks))


def _block(rng: Random, values: list[tuple[int, ...]], functions: tuple[str, ...]) -> Block:
    last = len(values) - 1
    channels, height, width = values[last]
    alike = [i for i, shape in enumerate(values[:-1]) if shape == values[last]]
    beside = [i for i, shape in enumerate(values) if shape[1:] == values[last][1:] and shape[0] + channels <= 4]
    chance = rng.random()
    if chance < 0.35:
        return _convolution(rng, values[last], last)
    if chance < 0.45 and alike:
        kind = str(rng.choice(["add", "add", "subtract"]))
        return Block(kind, (last, int(rng.choice(alike))), values[last])
    if chance < 0.52 and beside:
        other = int(rng.choice(beside))
        return Block("concat", (last, other), (channels + values[other][0], height, width))
    if chance < 0.60:
        arrays = {"scale": np.exp2(rng.integers(-1, 2, channels).astype(np.float64)), "shift": dyadic(rng, (channels,))}
        return Block("norm", (last,), values[last], arrays)
    if chance < 0.70 and height > 1 and width > 1:
        stride = int(rng.integers(1, 3))
        shape = (channels, (height - 2) // stride + 1, (width - 2) // stride + 1)
        return Block(str(rng.choice(["maxpool", "meanpool"])), (last,), shape, stride=stride)
    return _function(rng, values[last], last, functions)


def _convolution(rng: Random, shape: tuple[int, ...], source: int) -> Block:
    channels, height, width = shape
    kernel, stride = int(rng.choice([1, 2, 3])), int(rng.choice([1, 1, 2]))
    pad = int(rng.integers(0, 2)) if kernel > 1 else 0
    if min(height, width) + 2 * pad < kernel:
        kernel, pad = 1, 0
    outputs = int(rng.integers(1, 4))
    made = (outputs, *((n + 2 * pad - kernel) // stride + 1 for n in (height, width)))
    arrays = {"weight": dyadic(rng, (outputs, channels, kernel, kernel)), "bias": dyadic(rng, (outputs,))}
    return Block("conv", (source,), made, arrays, stride, pad)


def _function(rng: Random, shape: tuple[int, ...], source: int, functions: tuple[str, ...]) -> Block:
    kind = str(rng.choice(functions))
    arrays: dict[str, Array] = {}
    if kind == "leaky":
        arrays = {"alpha": np.array(float(rng.choice([0.25, 0.5, -0.5, 0.125])))}
    elif kind == "prelu":
        arrays = {"slopes": dyadic(rng, (shape[0],))}
    elif kind == "levels":
        arrays = {"scale": np.array(2.0 ** -int(rng.integers(0, 7))), "ends": BYTES[int(rng.integers(2))]}
    elif kind == "clip":
        arrays = {"ends": np.sort(dyadic(rng, (2,)))}
    elif kind == "floor":
        arrays = {"least": dyadic(rng, (shape[0],))}
    elif kind == "hard":
        arrays = {"line": np.array([float(rng.choice([0.25, 0.5])), float(rng.choice([0.5, 0.0]))])}
    return Block(kind, (source,), shape, arrays)


def changed(plan: Plan, rng: Random) -> tuple[Plan, str]:
    """A partner of it and how it was derived; `same`, `folded` and `permuted` ones are the same function exactly."""
    kind = str(rng.choice(["same", "folded", "permuted", "rounded", "pruned", "moved", "swapped", "another"]))
    if kind == "another":
        return another(plan, rng), kind
    if kind == "folded":
        return folded(plan), kind
    if kind == "permuted":
        return permuted(plan, rng), kind
    if kind == "same":
        return plan, kind
    if kind == "swapped":
        return replace(plan, blocks=tuple(swapped(block, rng) for block in plan.blocks)), kind
    blocks = [replace(b, arrays={n: _changed(b, n, kind, rng) for n in b.arrays}) for b in plan.blocks]
    return replace(plan, blocks=tuple(blocks)), kind


def another(plan: Plan, rng: Random) -> Plan:
    """A plan of other blocks for the same inputs and outputs, exact if this one is."""
    found = random_plan(rng)
    while found.shape != plan.shape or (plan.exact and not found.exact):
        found = random_plan(rng)
    last, outputs = found.blocks[-1], plan.blocks[-1].shape[0]
    arrays = {"weight": dyadic(rng, (outputs, last.array("weight").shape[1])), "bias": dyadic(rng, (outputs,))}
    return replace(found, blocks=(*found.blocks[:-1], replace(last, shape=(outputs,), arrays=arrays)))


def swapped(block: Block, rng: Random) -> Block:
    """A function in place of another one that is like it; other blocks as they are."""
    near = float(rng.choice([0.0625, 0.25]))
    match block.kind:
        case "relu" | "leaky" | "elu" | "silu" | "gelu":
            return replace(block, kind="leaky", arrays={"alpha": np.array(near)})
        case "prelu":
            return replace(block, arrays={"slopes": block.array("slopes") + near})
        case "levels" if near > 0.1:
            return replace(block, kind="clip", arrays={"ends": block.array("scale") * block.array("ends")})
        case "levels":
            return replace(block, arrays={**block.arrays, "scale": block.array("scale") * 2.0})
        case "clip":
            return replace(block, arrays={"ends": block.array("ends") + np.array([-near, near])})
        case "sigmoid":
            return replace(block, kind="hard", arrays={"line": np.array([near, 0.5])})
        case "tanh" | "softsign":
            return replace(block, kind="clip", arrays={"ends": np.array([-1.0, 1.0])})
    return block


def _changed(block: Block, name: str, kind: str, rng: Random) -> Array:
    array = block.array(name)
    if block.kind not in ("conv", "dense"):
        return array
    if kind == "rounded":  # to the quarters, as a coarse quantiser does
        return np.asarray(np.round(array * 4) / 4)
    if kind == "pruned":
        return np.where(np.abs(array) < 0.3, 0.0, array) if name == "weight" else array
    moved = array.copy()
    moved.flat[int(rng.integers(array.size))] += float(rng.choice([-1, 1])) / 2.0 ** int(rng.integers(3, 12))
    return moved


def folded(plan: Plan) -> Plan:
    """Every norm that alone reads a convolution as that convolution with other weights, which are short enough."""
    readers: list[list[int]] = [[] for _ in range(len(plan.blocks) + 1)]
    for number, block in enumerate(plan.blocks):
        for source in block.reads:
            readers[source].append(number)
    blocks = [*plan.blocks]
    for number, block in enumerate(plan.blocks):
        source = block.reads[0]
        if block.kind != "norm" or source == 0 or readers[source] != [number]:
            continue
        conv = blocks[source - 1]
        if conv.kind != "conv":
            continue
        scale, shift = block.array("scale"), block.array("shift")
        arrays = {
            "weight": conv.array("weight") * scale[:, None, None, None],
            "bias": conv.array("bias") * scale + shift,
        }
        blocks[source - 1] = replace(conv, arrays=arrays)
        blocks[number] = replace(block, arrays={"scale": np.ones(len(scale)), "shift": np.zeros(len(scale))})
    return replace(plan, blocks=tuple(blocks))


def permuted(plan: Plan, rng: Random) -> Plan:
    """Channels in another order, from every convolution on until a convolution or dense layer reads them."""
    orders: list[NDArray[np.intp]] = [np.arange(plan.shape[0])]
    blocks = []
    for block in plan.blocks:
        arrays = dict(block.arrays)
        order = orders[block.reads[0]]
        if block.kind == "conv":
            new = rng.permutation(block.shape[0])
            arrays = {"weight": arrays["weight"][new][:, order], "bias": arrays["bias"][new]}
            order = new
        elif block.kind == "dense":
            size = arrays["weight"].shape[1] // len(order)
            places = (order[:, None] * size + np.arange(size)).ravel()
            arrays["weight"] = np.ascontiguousarray(arrays["weight"][:, places])
        elif block.kind in ("add", "subtract"):
            if not np.array_equal(order, orders[block.reads[1]]):
                return plan  # two orders meet; the plan as it is
        elif block.kind == "concat":
            order = np.concatenate([order, len(order) + orders[block.reads[1]]])
        else:
            arrays = {n: v[order] if v.shape == (block.shape[0],) and _by_channel(n) else v for n, v in arrays.items()}
        orders.append(order)
        blocks.append(replace(block, arrays=arrays))
    return replace(plan, blocks=tuple(blocks))


def _by_channel(name: str) -> bool:
    return name in ("scale", "shift", "slopes", "least")
