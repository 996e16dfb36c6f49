"""Certificates, checked while they are read: a gzip file of a line that names the format, a JSON line with the task and
the verdict, and for `equivalent` the tree of the proof in preorder. The last record is a sha256 of all before it.

Records (little endian). Hints, valid on a node and below: `m` obligation, multipliers; `g` guard, multipliers. Then
`p` count, obligations: proved here. Then one of
`l`  leaf: everything open is proved here, by an empty box, excluded guards, bounds of rows, or multipliers;
`i`  input, cut: two nodes follow, below and above the cut;
`x`  for each open obligation what follows from its violation: rounds (a count, then functionals with multipliers), or
     2^32 - 1, a cut, which half is impossible (2: both), and the rounds that show it; 0 ends them. Then `v` (they
     contradict the violation), `o` (one node follows, on which this is known), or `s` and a cut (two nodes follow).
     Such a cut is kind, layer, index and place: the sign of x, y or d of a neuron, or an input.
Boxes are never stored: a cut gives both halves, so that together they cover what was cut.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .backward import DIFFERENCE, FIRST, INPUT, SECOND, TARGET, Functionals, lower_bounds
from .claim import Guard, Obligation, Region, obligations
from .enclosure import Known, Reached, exchange, reach
from .networks import Pair, Refused, network
from .rounding import Array, down, exp_below, gamma, up
from .witness import breaks

MAGIC = b"eqspec-certificate/1\n"


@dataclass(frozen=True)
class Audit:
    """What a certificate shows: the verdict, the claim in words, and how much was checked."""

    verdict: str
    claim: str
    leaves: int = 0
    rounds: int = 0

    @property
    def statement(self) -> str:
        """One line."""
        return f"{self.verdict}: {self.claim}"


def audit(path: Path, folder: Path | None = None) -> Audit:
    """Check a certificate, with the networks where the task says, or in `folder`. Refused if it does not hold."""
    try:
        with np.errstate(all="ignore"), gzip.open(path, "rb") as file:
            return _audit(_Reader(file), folder or path.parent)
    except Refused:
        raise
    except (EOFError, OSError, zlib.error) as problem:
        raise Refused(f"cannot read it: {problem}") from None
    except Exception as problem:  # whatever went wrong, nothing is shown
        raise Refused(f"this is no certificate: {type(problem).__name__}: {problem}") from None


def _audit(reader: _Reader, folder: Path) -> Audit:
    if reader.take(len(MAGIC)) != MAGIC:
        raise Refused("this is no certificate of a format that this auditor reads")
    if np.float64(2.0**-1074) == 0.0 or 1.0 + 2.0**-53 != 1.0 or np.float64(2.0**-1074) / 2.0 != 0.0:
        raise Refused("this processor does not round as binary64 asks")
    header = json.loads(reader.line())
    task, verdict = header["task"], header["verdict"]
    if task.get("arithmetic", "real") != "real" or task["schema"] != "eqspec-task/1":
        raise Refused("the auditor only knows exact arithmetic on the stored weights")
    first, second = network(task, "reference", folder), network(task, "candidate", folder)
    if verdict == "different":
        breaks(task, Region(task, first[0][0].shape[1]), first, second, header["witness"])
        found = Audit(verdict, task["claim"])
    elif verdict == "equivalent":
        found = Proof(task, Pair(first, second), reader).check()
    else:
        raise Refused(f"{verdict!r} is nothing that can be certified")
    digest = reader.digest.digest()
    if reader.take(32) != digest or reader.file.read(1):
        raise Refused("it was changed after it was written")
    return found


class _Reader:
    """Numbers from a stream, which must be there."""

    def __init__(self, file: BinaryIO | gzip.GzipFile) -> None:
        self.file, self.digest = file, hashlib.sha256()

    def take(self, size: int) -> bytes:
        data = self.file.read(size)
        if len(data) != size:
            raise Refused("it ends early")
        self.digest.update(data)
        return data

    def line(self) -> bytes:
        data = self.file.readline()
        self.digest.update(data)
        return data

    def numbers(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def array(self, kind: str, *shape: int) -> Array:
        count, size = int(np.prod(shape)), np.dtype(kind).itemsize
        if count * size > 1 << 30:
            raise Refused("a record is larger than anything a proof needs")
        values = np.frombuffer(self.take(count * size), "<" + kind).astype(np.float64).reshape(shape)
        if not np.isfinite(values).all():
            raise Refused("a multiplier is not finite")
        return values


@dataclass
class _Node:
    """A box (n,), what is open on it, hints by obligation (m) and guard (g), and what is known under an assumption."""

    lower: Array
    upper: Array
    open: tuple[int, ...]
    hints: dict[tuple[str, int], Array] = field(default_factory=dict)
    known: Known | None = None


class Proof:
    """A proof under audit. Leaves are bounded many at a time."""

    def __init__(self, task: dict[str, Any], pair: Pair, reader: _Reader | None = None) -> None:
        self.pair, self.claim = pair, task["claim"]
        self.reader = reader or _Reader(io.BytesIO())
        self.region = Region(task, pair.inputs)
        self.free = np.flatnonzero(self.region.lower < self.region.upper)
        self.guards, self.obligations = obligations(task, pair.outputs)
        self.waiting: list[tuple[_Node, tuple[int, ...]]] = []
        weights = sum(layer.weight.size for layer in pair.first)
        self.batch = max(1, min(256, 200_000 // (8 * max(1, weights // 100))))
        self.leaves = self.rounds = 0
        rows = [o.writings for o in self.obligations]
        self.rows = np.array([w.reshape(-1) for ws in rows for w in ws]).reshape(-1, 3 * pair.outputs)
        self.owner = np.repeat(np.arange(len(rows)), [len(ws) for ws in rows])
        self.constants = np.array([self.obligations[o].constant for o in self.owner])

    def check(self) -> Audit:
        """Read and check the tree."""
        region, open_ = self.region, self.open()
        if open_ and all(a <= b for a, b in zip(region.low, region.high, strict=True)):
            todo: list[Iterator[_Node]] = [iter([_Node(region.lower, region.upper, open_)])]
            while todo:
                if (node := next(todo[-1], None)) is None:
                    todo.pop()
                else:
                    todo.append(self._node(node))
            self._flush()
        return Audit("equivalent", self.claim, self.leaves, self.rounds)

    def open(self) -> tuple[int, ...]:
        """The obligations that the tree must prove."""
        return tuple(o for o in range(len(self.obligations)) if not self._settled(self.obligations[o]))

    def _settled(self, o: Obligation) -> bool:
        """One function against itself, D = 0: the violation is v.f1 + v0, v = 0, or contradicts a guard -v.f1 + c."""
        if not self.pair.identical:
            return False
        v = (o.writings[0][0] + o.writings[0][1]) if o.writings else np.zeros(1)
        rows = self.guards[o.guard] if o.guard is not None else None
        against = rows is not None and o.constant == 0.0 and ((rows.rows == -v).all(1) & (rows.constants <= 0.0)).any()
        return bool((not v.any() and o.excluded_by(o.constant)) or (against and not o.strict))

    def _node(self, node: _Node) -> Iterator[_Node]:
        """Check one node; the nodes below it, each to be checked before the next is asked for."""
        reader = self.reader
        if node.known is None and (left := self.region.shrink(node.lower, node.upper)) is not None:
            node.lower, node.upper = left
        while True:
            kind = reader.take(1)
            if kind in (b"m", b"g"):
                (number,) = reader.numbers("i")
                guard = self.obligations[number].guard if kind == b"m" else number if number >= 0 else None
                rows = len(self.guards[guard].constants) if guard is not None else 0
                values = reader.array("f8", rows + self.pair.outputs + len(self.region.bounds))
                node.hints = {**node.hints, (kind.decode(), number): values}
            elif kind == b"p":
                (count,) = reader.numbers("H")
                here = tuple(int(o) for o in reader.array("u4", count))
                if not set(here) <= set(node.open):
                    raise Refused("a proof of something that is not open")
                self._wait(node, here)
                node.open = tuple(o for o in node.open if o not in here)
            elif kind == b"l":
                self._wait(node, node.open)
                return
            elif kind == b"i":
                yield from self._cut(node)
                return
            elif kind == b"x":
                for o in node.open:
                    yield from self._contract(node, o)
                return
            else:
                raise Refused(f"unknown record {kind!r}")

    def _cut(self, node: _Node) -> Iterator[_Node]:
        """Both halves of a node, along an input."""
        i, cut = self.reader.numbers("Id")
        if not np.isfinite(cut):
            raise Refused("a cut that is none")
        i = int(self.free[i])
        below, above = _with(node.upper, i, min(cut, node.upper[i])), _with(node.lower, i, max(cut, node.lower[i]))
        for lower, upper in ((node.lower, below), (above, node.upper)):
            known = node.known and replace(
                node.known,
                lower=np.maximum(node.known.lower, lower),
                upper=np.minimum(node.known.upper, upper),
                layers=list(node.known.layers),
            )
            yield _Node(lower, upper, node.open, node.hints, known)

    def _wait(self, node: _Node, claimed: tuple[int, ...]) -> None:
        """These obligations must be excluded on this box: now if much is known there, else with the next batch."""
        self.leaves += 1
        if node.known is not None:
            reached, contradiction = self._within(node)
            if not contradiction:
                self._prove(reached, [(node, claimed)])
            return
        self.waiting.append((node, claimed))
        if len(self.waiting) >= self.batch:
            self._flush()

    def _flush(self) -> None:
        boxes, self.waiting = self.waiting, []
        boxes = [(n, c) for n, c in boxes if c and (n.lower <= n.upper).all() and self.region.shrink(n.lower, n.upper)]
        if boxes:
            lower, upper = (np.array([getattr(n, side) for n, _ in boxes]).T for side in ("lower", "upper"))
            self._prove(reach(self.pair, lower, upper), boxes)

    def _prove(self, reached: Reached, boxes: list[tuple[_Node, tuple[int, ...]]]) -> None:
        """Raise Refused unless the enclosure excludes what is claimed on each box."""
        count = len(self.obligations)
        best = np.full((count, len(boxes)), np.inf)
        bounds = reached.upper(self.rows, self.constants)
        np.minimum.at(best, self.owner, np.where(np.isnan(bounds), np.inf, bounds))
        done = np.array([self.obligations[o].excluded_by(b) for o in range(count) for b in best[o]]).reshape(count, -1)
        for o, obligation in enumerate(self.obligations):
            if obligation.norm:
                done[o] = _distance(obligation, reached.layers[-1]) <= 0.0
        impossible = [self._impossible(reached, guard) for guard in self.guards]
        for b, (node, claimed) in enumerate(boxes):
            one = None
            for o in claimed:
                guard = self.obligations[o].guard
                if done[o, b] or (guard is not None and impossible[guard][b]):
                    continue
                one = one or reached.box(b)
                if not self._multiplied(one, node, o):
                    raise Refused(f"obligation {o} is not proved on a leaf: {best[o, b]:.6g} is not below its limit")

    def _impossible(self, reached: Reached, guard: Guard) -> Array:
        """On which boxes (B,) no output of f1 satisfies a guard: a row is negative, or exponentials sum to over 1."""
        rows = np.concatenate([guard.rows, np.zeros((len(guard.rows), 2 * self.pair.outputs))], axis=1)
        upper = reached.upper(rows, guard.constants)
        total = np.zeros(upper.shape[1])
        for row in exp_below(-upper[guard.exact]):
            total = down(total + row)
        result: Array = (upper < 0.0).any(axis=0) | (total > 1.0)
        return result

    def _multiplied(self, reached: Reached, node: _Node, o: int) -> bool:
        """Whether multipliers of guard rows, of f1 - f2 - D = 0 and of the constraints exclude an obligation.

        V <= V + lam . guard + nu . (f1 - f2 - D) + mu . (b - A x); with V = 0 a negative bound excludes the guard.
        """
        obligation, outputs = self.obligations[o], self.pair.outputs
        guard = self.guards[obligation.guard] if obligation.guard is not None else None
        rows, constants = (guard.rows, guard.constants) if guard else (np.zeros((0, outputs)), np.zeros(0))
        about_guard = ("g", -1 if obligation.guard is None else obligation.guard)
        for key, objective in ((("m", o), obligation.writings[:1]), (about_guard, (np.zeros((3, outputs)),))):
            y = node.hints.get(key)
            if y is None or not objective:
                continue
            lam, nu, mu = np.split(y, [len(rows), len(rows) + outputs])
            lam, mu = np.maximum(lam, 0.0), np.maximum(mu, 0.0)
            parts = [objective[0], np.array([nu, -nu, -nu])]
            parts += [np.array([k * row, 0.0 * row, 0.0 * row]) for k, row in zip(lam, rows, strict=True)]
            terms = [np.concatenate([part.reshape(-1), np.zeros(self.pair.inputs)]) for part in parts]
            outputs_ = np.zeros(3 * outputs)
            terms += [np.concatenate([outputs_, -m * row]) for m, row in zip(mu, self.region.rows, strict=True)]
            numbers = [obligation.constant if key[0] == "m" else 0.0, *(lam * constants), *(mu * self.region.bounds)]
            stack, more = np.array(terms), 1.0 + gamma(len(terms) + 4)
            sizes, total = np.abs(stack).sum(0)[None] * more, np.abs(numbers).sum(keepdims=True) * more
            bound = reached.upper(stack.sum(0)[None], np.array([sum(numbers)]), sizes, total, len(terms))[0, 0]
            if obligation.excluded_by(bound) if key[0] == "m" else bound < 0.0:
                return True
        return False

    def _within(self, node: _Node) -> tuple[Reached, bool]:
        """The enclosure of a node on which more is known, which it joins; whether they contradict each other."""
        known = node.known
        assert known is not None
        if known.empty():
            return None, True  # type: ignore[return-value]
        reached = reach(self.pair, known.lower[:, None], known.upper[:, None], known)
        layers = [b[:, :, 0] for b in reached.layers]
        contradiction = any((b[0::2] > b[1::2]).any() for b in layers)
        if all(np.isfinite(b).all() for b in layers):
            known.meet(layers)
        return reached, contradiction or known.empty()

    def _contract(self, node: _Node, o: int) -> Iterator[_Node]:
        """Rounds of bounds under the violation of one obligation, and what is left to split."""
        reader, pair = self.reader, self.pair
        if not self.obligations[o].writings:
            raise Refused("a violation that is not linear cannot be assumed")
        if node.known is None:
            layers = [b[:, :, 0] for b in reach(pair, node.lower[:, None], node.upper[:, None]).layers]
            known = Known(node.lower, node.upper, [exchange(b) for b in layers])
        else:
            known = replace(node.known, layers=list(node.known.layers))
        here = _Node(node.lower, node.upper, (o,), node.hints, known)
        over = node.known is not None and self._within(here)[1]
        over = self._rounds(here, o, over, nested=False)
        kind, left = reader.take(1), here.known
        assert left is not None
        if kind == b"v":
            if not over:
                raise Refused(f"obligation {o} is not contradicted")
        elif kind == b"o":
            yield here
        elif kind == b"s":
            for half in self._halves(left, reader.numbers("BIId")):
                yield _Node(half.lower, half.upper, (o,), node.hints, half)
        else:
            raise Refused(f"unknown record {kind!r}")

    def _rounds(self, node: _Node, o: int, over: bool, *, nested: bool) -> bool:
        """Bounds under the violation of an obligation, which join what is known; whether they contradict it."""
        obligation, reader = self.obligations[o], self.reader
        guard = self.guards[obligation.guard] if obligation.guard is not None else None
        while (count := reader.numbers("I")[0]) > 0:
            assert node.known is not None
            if count == 2**32 - 1 and not nested:
                halves, (which,) = self._halves(node.known, reader.numbers("BIId")), reader.numbers("B")
                for half in halves if which == 2 else (halves[which],):
                    excluded = replace(node, known=half)
                    if not self._rounds(excluded, o, over or self._within(excluded)[1], nested=True):
                        raise Refused(f"obligation {o} is possible on a half that was left out")
                over = over or which == 2
                node.known = halves[0 if which == 1 else 1]
                continue
            self.rounds += 1
            f = self._functionals(count, guard, len(node.known.signs))
            if over:
                continue
            bounds = lower_bounds(self.pair, node.known, obligation, guard, f)
            target = bounds[f.kind == TARGET]
            over = bool((target > 0.0).any() if obligation.strict else (target >= 0.0).any())
            self._learn(node.known, f, bounds)
            over = over or self._within(node)[1]
        return over

    def _halves(self, known: Known, cut: tuple[int, int, int, float]) -> tuple[Known, Known]:
        """Both halves of what is known: where an input is below or above a place, or where a sign is <= 0 or >= 0."""
        kind, layer, index, at = cut
        if kind == INPUT:
            i = int(self.free[index])
            if not np.isfinite(at):
                raise Refused("a cut that is none")
            upper, lower = (
                _with(known.upper, i, min(at, known.upper[i])),
                _with(known.lower, i, max(at, known.lower[i])),
            )
            low, high = (replace(known, layers=list(known.layers)) for _ in range(2))
            low.upper, high.lower = upper, lower
            return low, high
        if kind not in (FIRST, SECOND, DIFFERENCE) or layer >= self.pair.depth - 1:
            raise Refused("a sign of nothing")
        found = []
        for positive in (False, True):
            half = replace(known, layers=list(known.layers), signs=[*known.signs, (kind, layer, index, positive)])
            b = half.layers[layer] = half.layers[layer].copy()
            row = 2 * (kind - FIRST) + (0 if positive else 1)
            b[row, index] = max(b[row, index], 0.0) if positive else min(b[row, index], 0.0)
            found.append(half)
        return found[0], found[1]

    def _functionals(self, count: int, guard: Guard | None, signs: int) -> Functionals:
        reader, pair = self.reader, self.pair
        hidden = [layer.bias.size for layer in pair.first[:-1]]
        code = reader.array("u1", count)
        layer, index = (reader.array("u4", count).astype(int) for _ in range(2))
        kind = (code // 2).astype(int)
        widths = np.array([*hidden, 0])
        if (kind > INPUT).any() or (layer >= len(widths)).any():
            raise Refused("a bound of nothing")
        limit = np.where(kind == INPUT, self.free.size, np.where(kind == TARGET, 1, widths[layer]))
        if (index >= limit).any():
            raise Refused("a bound of nothing")
        index[kind == INPUT] = self.free[index[kind == INPUT]]
        rows = len(guard.constants) if guard else 0
        lam, nu, output, beta = (reader.array("f4", count, n) for n in (rows, 1, pair.outputs, signs))
        sign = np.where(code % 2 == 1, -1.0, 1.0)
        found = Functionals(kind, sign, layer, index, lam, nu[:, 0], output, beta, [], [])
        for m in hidden:
            found.link.append(reader.array("i2", count, m) / 256.0)
            found.slopes.append((reader.array("u1", count, m) / 128.0, reader.array("u1", count, m) / 128.0))
            if any((alpha > 1.0).any() for alpha in found.slopes[-1]):
                raise Refused("a slope above 1")
        return found

    def _learn(self, known: Known, f: Functionals, bounds: Array) -> None:
        """Enter lower bounds of signed quantities."""
        known.layers, known.lower, known.upper = (
            [b.copy() for b in known.layers],
            known.lower.copy(),
            known.upper.copy(),
        )
        for kind, sign, layer, index, bound in zip(f.kind, f.sign, f.layer, f.index, bounds, strict=True):
            if kind == TARGET or not np.isfinite(bound):
                continue
            low, high = (known.lower, known.upper) if kind == INPUT else known.layers[layer][2 * (kind - FIRST) :][:2]
            if sign > 0.0:
                low[index] = max(low[index], bound)
            else:
                high[index] = min(high[index], -bound)
        known.layers = [b if (b[0::2] > b[1::2]).any() else exchange(b) for b in known.layers]


def _with(array: Array, index: int, value: float) -> Array:
    changed = array.copy()
    changed[index] = value
    return changed


def _distance(obligation: Obligation, bounds: Array) -> Array:
    """An upper bound (B,) of a norm of f1 - f2, plus the constant."""
    sizes = np.maximum(-bounds[4], bounds[5])[list(obligation.outputs)]
    total = np.zeros(sizes.shape[1])
    for size in sizes:
        total = (
            np.maximum(total, size)
            if obligation.norm == "linf"
            else up(total + (size if obligation.norm == "l1" else up(size * size)))
        )
    length = up(np.sqrt(total)) if obligation.norm == "l2" else total
    result: Array = up(length + obligation.constant)
    return result
