"""Multipliers of our own for a node on which those of the search do not suffice, found by linear programs.

The search and the auditor enclose the same box in different ways, and the search stops as soon as a bound is below its
limit. So a bound that the search proved narrowly may narrowly fail in the enclosures of the auditor. Then HiGHS is
asked what the facts of the auditor come to, the facts being those that `audit/bounds.py` numbers.

Shapes: G generators, each in [-1, 1], and R facts, F (R, 1 + G), the constants first. With a slack t, relative to the
size of each fact, the program is

    minimise t  subject to  F_i (1, g) + err_i + size_i t >= 0.

If the least t is positive no input satisfies all facts, and the multipliers of the rows show it. If not, the point that
attains it tells which neuron is farthest from its function there, and so where to cut; and with t = 0 the same program
bounds quantities. Nothing here is trusted: the auditor evaluates whatever multipliers come out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.audit.bounds import Reached
from eqspec.audit.forms import Form, join
from eqspec.audit.functions import Relaxation
from eqspec.audit.proof import Node, Proof
from eqspec.audit.reading import Both
from eqspec.certificates.deadline import Deadline
from eqspec.certificates.fact_multipliers import Found, LastLayerFacts
from eqspec.lazy_dataclass import dataclass
from eqspec.lp import HighsSolver

Array = NDArray[Any]
TANGENTS = 8
"""A confidence says sum exp(-(z - t)) <= 1, which is a line for any weights; so many weights are tried one by one."""
BOUNDED = 48
"""So many neurons are bounded before a node is cut, those first that are farthest from their function."""
EMPTY = np.zeros((0, 1))


@dataclass(frozen=True)
class _Program:
    """As `HighsSolver` takes it."""

    matrix: Array
    lower: Array
    upper: Array
    objectives: Array


class Settling:
    """The program of one node under an assumption. Once the deadline is over it ends with IncompleteError."""

    def __init__(self, proof: Proof, node: Node, reached: Reached, solver: HighsSolver, deadline: Deadline) -> None:
        self.proof, self.node, self.reached, self.solver = proof, node, reached, solver
        self.deadline = deadline
        self.obligation = proof.obligations[node.open[0]]
        every = np.arange(LastLayerFacts(proof, node.open[0]).facts)
        form, kinds = reached.facts(self.obligation, proof.region, every)
        low, high = (ends[:, 0] for ends in form.bounds())
        either = kinds == 1
        may_fail = (low < 0.0) | (either & (high > 0.0)) | (kinds == 2)
        used = np.flatnonzero(may_fail & np.isfinite(form.size[:, 0]))
        self.z, self.err, self.size = form.z[used, 0], form.err[used, 0], np.maximum(form.size[used, 0], 1e-300)
        self.rows, self.either = every[used], either[used]
        self.exact = np.flatnonzero(kinds[used] == 2)
        self.generators = self.z.shape[1] - 1
        self.point = np.zeros(self.generators)
        self.weights = np.zeros((0, len(self.exact)))

    def contradiction(self) -> Found | None:
        """Multipliers that may show that nothing satisfies all facts; `point` is where they are satisfied best."""
        aim = np.append(np.zeros(self.generators), -1.0)[None]
        for _ in range(1 + TANGENTS):
            matrix, need, scale = self._program()
            # No row is farther from being satisfied than this, and t is a column like the others, between -1 and 1.
            most = 1.0 + float(np.abs(need).max(initial=0.0) + np.abs(matrix).sum(axis=1).max(initial=0.0))
            duals, points = self._answer(np.pad(matrix, ((0, 0), (0, 1)), constant_values=most), need, aim)
            if not (np.isfinite(duals).all() and np.isfinite(points).all()):
                return None
            self.point = points[0, :-1]
            found = self._found(np.zeros(1), np.abs(duals) / scale)
            if not len(self.exact) or self.proof.round(self.node, *found).infeasible:
                return found
            at = self.z[self.exact] @ np.append(1.0, self.point)
            weights = np.exp(at.min() - at)
            self.weights = np.concatenate([self.weights, [weights / weights.sum()]])
        return None

    def bounds(self) -> Found | None:
        """Multipliers that are meant to bound the neurons that are farthest from their function, both ways."""
        chosen = self.unsettled()[:BOUNDED]
        if self.obligation.norm:
            first = len(self.node.low) - self.proof.pair.widths[-1]
            chosen = np.append(chosen, first + np.array(self.obligation.rows))
        if not len(chosen):
            return None
        wanted = np.concatenate([1 + chosen, -1 - chosen])
        every = join([self.reached.quantities(chosen), Form(np.zeros((0, 1, 1 + self.generators)), EMPTY)])
        aims = every.z[:, 0, 1:]
        matrix, need, scale = self._program()
        duals, _ = self._answer(matrix, need, np.concatenate([-aims, aims]))
        good = np.isfinite(duals).all(axis=1)
        return self._found(wanted[good], np.abs(duals[good]) / scale) if good.any() else None

    def unsettled(self) -> Array:
        """Neurons that may bend, as quantities, those first whose values at `point` differ most from their function."""
        pair, one, found = self.proof.pair, np.append(1.0, self.point), []
        low, high = self.reached.low[:, 0], self.reached.high[:, 0]
        weights = self._weights()
        for number, step in enumerate(pair.steps):
            if not step.curves:
                continue
            m, start, every = step.width, self.reached.parts[number].start, np.arange(3 * step.width)
            before, after = self.reached.before[number].form, self.reached.after[number].rows(every)
            value, given = after.z[:, 0] @ one[: after.z.shape[2]], before.z[:, 0] @ one[: before.z.shape[2]]
            x, y, _ = given.reshape(3, m)
            both = (step.curves, x), (step.others, y)
            first, second = (Relaxation(curves, m).near(v[:, None])[:, 0] for curves, v in both)
            gap = np.abs(value - np.concatenate([first, second, first - second])) * weights[number]
            some = range(2 * m if step.curved else 3 * m)  # D of a function that bends everywhere has no side
            found += [(gap[i], start + i) for i in some if self._bends(step, low[start + i], high[start + i])]
        return np.array([q for gap, q in sorted(found, key=lambda one: -one[0])], int)

    @staticmethod
    def _bends(step: Both, low: float, high: float) -> bool:
        """Whether a function is not a line between these ends: ReLU where they have different signs."""
        return bool(low < high if step.curved else low < 0.0 < high)

    def _weights(self) -> dict[int, Array]:
        """By how much all together that is read from a step weighs, for each of its quantities."""
        pair = self.proof.pair
        found = {number: np.zeros(3 * step.width + 1) for number, step in enumerate(pair.steps)}
        for link in (link for step in pair.steps for link in step.links if link.source >= 0):
            for start, _ in link.pairs:
                for tile in link.tiles:
                    size = np.broadcast_to(np.abs(tile.near).sum(axis=1)[:, None], tile.index.shape)
                    place = np.where(tile.index < 0, -1, tile.index + start * pair.widths[link.source])
                    np.add.at(found[link.source], place, size)
        return {number: weight[:-1] for number, weight in found.items()}

    def cut(self) -> tuple[int, float] | None:
        """Where to cut the node: the sign of a neuron, or the middle of what is not 0 to both sides.

        Where none is left only a norm needs to be cut, at an input.
        """
        if len(found := self.unsettled()):
            neuron = int(found[0])
            least, most = float(self.reached.low[neuron, 0]), float(self.reached.high[neuron, 0])
            place = 0.0 if least < 0.0 < most else 0.5 * least + 0.5 * most
            return (neuron, place) if least < place < most else None
        low, high = (ends[: self.proof.pair.inputs, 0] for ends in (self.reached.low, self.reached.high))
        widest = int(np.argmax(high - low))
        middle = float(0.5 * low[widest] + 0.5 * high[widest])
        return (widest, middle) if self.obligation.norm and low[widest] < middle < high[widest] else None

    def _program(self) -> tuple[Array, Array, Array]:
        """Rows of generators, what they must be at least, and what they were divided by.

        They are the facts, the equations once more with the other sign, and the lines of a confidence.
        """
        z = np.concatenate([self.z, -self.z[self.either], self.weights @ self.z[self.exact]])
        gain = -(self.weights * np.log(np.maximum(self.weights, 1e-300))).sum(axis=1)
        err = np.concatenate([self.err, self.err[self.either], self.weights @ self.err[self.exact] - gain])
        size = np.concatenate([self.size, self.size[self.either], self.weights @ self.size[self.exact]])
        return z[:, 1:] / size[:, None], -(z[:, 0] + err) / size, size

    def _answer(self, matrix: Array, need: Array, aims: Array) -> tuple[Array, Array]:
        program = _Program(matrix, need, np.full(len(need), np.inf), aims)
        duals, points, _ = self.solver.answer([program], self.deadline.left)[0]
        self.deadline.keep()
        return duals, points

    def _found(self, wanted: Array, y: Array) -> Found:
        """Multipliers of the rows of the program (F, rows) as a round, the largest about 1 where nothing is bounded."""
        count, both = len(self.rows), int(self.either.sum())
        m = y[:, :count].copy()
        m[:, self.either] -= y[:, count : count + both]
        m[:, self.exact] += y[:, count + both :] @ self.weights
        if not wanted.any():
            m /= max(float(np.abs(m).max(initial=0.0)), 1e-300)
        used = np.flatnonzero(np.abs(m).max(axis=0, initial=0.0) > 1e-12 * np.abs(m).max(initial=0.0))
        return wanted.astype(np.int32), self.rows[used].astype(np.int32), m[:, used]
