"""Questions about a pair of files on a box, their texts, and other questions that must have the same answer.

A question knows what it says of the pair and the box that it was made of: the box and the claim there, and where a
point of its own lies there. So one list of points refutes all questions that were made of one.

All transforms are exact in real arithmetic. Inputs are permuted, scaled by powers of two or taken apart into a sum of
two, in the first weights or by nodes in front; outputs are permuted, with the claim. Some questions ask for less: a
part of the box, or a larger distance. They hold where the first one does, and need not break where it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from hunt.onnx_values import attributes, inputs_of
from hunt.transformed_files import Pair
from hunt.transformed_rewritings import Edited, Model, rewritten
from oracle.pairs import Random

Array = NDArray[Any]
Point = list[Fraction]
FORMS = ("box", "ball", "where")


@dataclass(frozen=True)
class Claim:
    """One sentence. `exchanged` says that the file of the candidate is called f."""

    kind: str
    bound: Fraction = Fraction(0)
    norm: str = "linf"
    outputs: tuple[int, int] = (0, 0)
    exchanged: bool = False

    def text(self) -> str:
        """As a spec has it."""
        f, g = ("g", "f") if self.exchanged else ("f", "g")
        match self.kind:
            case "distance":
                return f"{g} stays within {self.bound} of {f} in {self.norm}"
            case "equal":
                return f"{g} equals {f}"
            case "linear":
                return f"{g} satisfies {g}[{self.outputs[0]}] - {f}[{self.outputs[1]}] <= {self.bound}"
            case "saturates":
                return f"{g} never saturates"
            case "top1":
                return f"{g} keeps top1 of {f}"
        return f"{g} keeps top1 of {f} when {self.kind} >= {self.bound}"


@dataclass(frozen=True)
class Question:
    """Two files, a box, a claim; and what it says of the pair that it was made of.

    Point y of the box is the point `sources` y there, each number of it a sum of multiples of numbers of y. `asked` and
    `box` are the claim and the box there; with `less` it asks for less than the question that it was made of.
    """

    f: Model
    g: Model
    box: tuple[Point, Point]
    claim: Claim
    inputs: int
    outputs: int
    there: tuple[Point, Point]
    asked: Claim
    sources: list[list[tuple[int, Fraction]]]
    gives: str = ""
    form: str = "box"
    less: bool = False
    how: tuple[str, ...] = ()

    def back(self, point: Point) -> Point:
        """The point of the first pair that one of this question is."""
        return [sum((point[i] * by for i, by in terms), Fraction(0)) for terms in self.sources]

    def spec(self, clauses: str = "") -> str:
        """The text of the spec."""
        return "\n".join([
            "eqspec 1",
            f"space s {{ shape [{self.inputs}] outputs {self.outputs} }}",
            *(f'network {name} = "{name}.onnx" in s{self.gives}' for name in "fg"),
            f"region r in s = {self._region()}",
            f"check c {{ prove {self.claim.text()} on r {clauses} }}\n",
        ])  # fmt: skip

    def _region(self) -> str:
        ends = list(zip(*self.box, strict=True))
        box = " ".join(f"x{i} = {a}" if a == b else f"x{i}: {a} .. {b}" for i, (a, b) in enumerate(ends))
        if self.form == "ball":
            centre = ", ".join(f"{(a + b) / 2}" for a, b in ends)
            radius = max((b - a) / 2 for a, b in ends)
            cut = [n for n, (a, b) in zip(box.split(" x"), ends, strict=True) if b - a < 2 * radius]
            inner = " ".join(n if n.startswith("x") else f"x{n}" for n in cut)
            return f"ball linf {radius} around point [{centre}]" + (f" and box {{ {inner} }}" if cut else "")
        if self.form == "where":
            free = [i for i, (a, b) in enumerate(ends) if a < b]
            first, last = free[0], free[-1]
            most, least = ends[first][1] + 2 * ends[last][1], ends[first][0] - ends[last][1]
            redundant = f"x{first} + 2 * x{last} <= {most}" + (
                f", x{first} - x{last} >= {least}" if first != last else ""
            )
            return f"box {{ {box} }} and where {{ {redundant} }}"
        return f"box {{ {box} }}"


def first_question(pair: Pair, box: tuple[Point, Point], claim: Claim, gives: str) -> Question:
    """The question about a pair as it is."""
    same = [[(i, Fraction(1))] for i in range(pair.inputs)]
    return Question(pair.f, pair.g, box, claim, pair.inputs, pair.outputs, box, claim, same, gives)


def _other_inputs(model: Model, matrix: Array, at: int, rng: Random) -> Model:
    """The file for an input y in place of the input x = matrix y; in the weights, if only products take x and `rng`
    says so.
    """
    edited = Edited(model)
    old = inputs_of(model)[at]
    users, new = edited.users(old[0]), f"{old[0]}_y"
    plain = all(u.op_type == "Gemm" and attributes(u).get("transB") and u.input[0] == old[0] for u in users)
    if plain and all(edited.stored(u.input[1]) is not None for u in users) and rng.random() < 0.6:
        for user in users:
            weight = edited.stored(user.input[1])
            assert weight is not None
            user.input[1] = edited.store((weight @ matrix).astype(np.float32))
            user.input[0] = new
        front: list[onnx.NodeProto] = []
    else:
        floats = matrix.T.astype(np.float32)
        product = helper.make_node("MatMul", [new, edited.store(floats)], [f"{old[0]}_flat"], name=f"{old[0]}_m")
        shape = edited.store(np.array(old[1]))
        front = [product, helper.make_node("Reshape", [f"{old[0]}_flat", shape], [old[0]], name=f"{old[0]}_r")]
    shapes = [(name, list(sizes)) for name, sizes in inputs_of(model)]
    shapes[at] = (new, [1, matrix.shape[1]])
    given = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, sizes) for name, sizes in shapes]
    graph = helper.make_graph([*front, *edited.graph.node], "g", given, edited.graph.output, edited.graph.initializer)
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def _through(question: Question, matrix: Array, at: int, box: tuple[Point, Point], rng: Random, how: str) -> Question:
    """The question with another input, in place of that at a place."""
    sizes = [int(np.prod(shape)) for _, shape in inputs_of(question.f)]
    start, end = sum(sizes[:at]), sum(sizes[: at + 1])
    width = matrix.shape[1]
    forms: list[list[tuple[int, Fraction]]] = []
    for i in range(question.inputs):
        if start <= i < end:
            row = matrix[i - start]
            forms.append([(start + int(j), Fraction(float(row[j]))) for j in row.nonzero()[0]])
        else:
            forms.append([(i if i < start else i - (end - start) + width, Fraction(1))])
    sources = [[(j, by * more) for i, by in terms for j, more in forms[i]] for terms in question.sources]
    f, g = (_other_inputs(model, matrix, at, rng) for model in (question.f, question.g))
    low, high = ([*old[:start], *new, *old[end:]] for old, new in zip(question.box, box, strict=True))
    return replace(
        question, f=f, g=g, box=(low, high), inputs=question.inputs - (end - start) + width, sources=sources,
        how=(*question.how, how),
    )  # fmt: skip


def _chosen(question: Question, rng: Random) -> tuple[int, Point, Point]:
    """One of the inputs of the files, and its part of the box."""
    sizes = [int(np.prod(shape)) for _, shape in inputs_of(question.f)]
    at = int(rng.integers(len(sizes)))
    start, end = sum(sizes[:at]), sum(sizes[: at + 1])
    return at, question.box[0][start:end], question.box[1][start:end]


def permuted_inputs(question: Question, rng: Random) -> Question:
    """Inputs in another order."""
    at, lower, upper = _chosen(question, rng)
    order = rng.permutation(len(lower))
    matrix = np.eye(len(lower))[:, order]
    return _through(question, matrix, at, ([lower[i] for i in order], [upper[i] for i in order]), rng, "permuted")


def scaled_inputs(question: Question, rng: Random) -> Question:
    """Inputs in other units, some of them with the other sign."""
    at, lower, upper = _chosen(question, rng)
    by = [Fraction(2) ** int(n) for n in rng.integers(-4, 5, len(lower))]
    by = [b * (-1 if rng.random() < 0.2 else 1) for b in by]
    ends = [sorted((a / b, c / b)) for a, c, b in zip(lower, upper, by, strict=True)]
    box = ([a for a, _ in ends], [b for _, b in ends])
    return _through(question, np.diag([float(b) for b in by]), at, box, rng, "scaled")


def split_input(question: Question, rng: Random) -> Question:
    """An input as the sum of two."""
    at, lower, upper = _chosen(question, rng)
    free = [i for i, (a, b) in enumerate(zip(lower, upper, strict=True)) if a < b] or [0]
    chosen = free[int(rng.integers(len(free)))]
    matrix = np.concatenate([np.eye(len(lower)), np.eye(len(lower))[:, [chosen]]], axis=1)
    share = Fraction(int(rng.integers(1, 8)), 8)
    ends = [list(lower), list(upper)]
    for end, value in zip(ends, (lower[chosen], upper[chosen]), strict=True):
        end[chosen] = value * share
        end.append(value * (1 - share))
    return _through(question, matrix, at, (ends[0], ends[1]), rng, "split")


def permuted_outputs(question: Question, rng: Random) -> Question:
    """Outputs in another order, in the last weights or by a Gather."""
    order = rng.permutation(question.outputs)
    place = {int(old): new for new, old in enumerate(order)}
    first, second = question.claim.outputs
    claim = replace(question.claim, outputs=(place[first], place[second]))
    inner = rng.random() < 0.5
    f, g = (_other_outputs(model, order, inner) for model in (question.f, question.g))
    return replace(question, f=f, g=g, claim=claim, how=(*question.how, "outputs"))


def _other_outputs(model: Model, order: Array, inner: bool) -> Model:
    edited = Edited(model)
    name = edited.graph.output[0].name
    (last,) = [node for node in edited.graph.node if name in node.output]
    made = {node.output[0]: node for node in edited.graph.node}
    before = last
    while before.op_type in ("Identity", "Softmax") and before.input[0] in made:
        before = made[before.input[0]]
    stored = [edited.stored(n) for n in before.input[1:]]
    soft = any(node.op_type == "Softmax" for node in edited.graph.node)
    if (inner or soft) and before.op_type == "Gemm" and attributes(before).get("transB") and len(stored) == 2:
        weight, bias = stored
        if weight is not None and bias is not None:
            before.input[1], before.input[2] = edited.store(weight[order]), edited.store(bias[order])
            return edited.model
    middle = edited.name("o")
    last.output[0] = middle
    gather = helper.make_node("Gather", [middle, edited.store(order.astype(np.int64))], [name], axis=1)
    edited.graph.node.append(gather)
    return edited.model


def exchanged(question: Question, _: Random) -> Question:
    """The files exchanged, and their names in the claim, which a distance need not."""
    claim = question.claim
    if claim.kind not in ("distance", "equal"):
        claim = replace(claim, exchanged=not claim.exchanged)
    return replace(question, f=question.g, g=question.f, claim=claim, how=(*question.how, "exchanged"))


def other_files(question: Question, rng: Random) -> Question:
    """Other files of the same functions: of both, rewritten each in its own way, or of one."""
    f, first = rewritten(question.f, rng) if rng.random() < 0.7 else (question.f, "")
    g, second = rewritten(question.g, rng) if not first or rng.random() < 0.6 else (question.g, "")
    return replace(question, f=f, g=g, how=(*question.how, f"f({first}) g({second})"))


def other_form(question: Question, rng: Random) -> Question:
    """The box written as a ball, or with linear constraints that cut nothing off."""
    form = str(rng.choice(FORMS[1:]))
    return replace(question, form=form, how=(*question.how, form))


SAME = (
    permuted_inputs, scaled_inputs, split_input, permuted_outputs, exchanged, other_files, other_files, other_form,
)  # fmt: skip


def transformed(question: Question, rng: Random) -> Question:
    """The question after one or two transforms."""
    for _ in range(int(rng.integers(1, 3))):
        question = SAME[int(rng.integers(len(SAME)))](question, rng)
    return question


def parts(question: Question, rng: Random) -> Iterator[Question]:
    """Two parts that are the whole, cut along an input; they overlap, or share a face."""
    lower, upper = question.box
    free = [i for i, (a, b) in enumerate(zip(lower, upper, strict=True)) if a < b]
    at = free[int(rng.integers(len(free)))]
    width = upper[at] - lower[at]
    cut = lower[at] + width * Fraction(int(rng.integers(1, 16)), 16)
    beyond = cut + (0 if rng.random() < 0.5 else min(width / 16, upper[at] - cut))
    first = [*upper[:at], beyond, *upper[at + 1 :]]
    second = [*lower[:at], cut, *lower[at + 1 :]]
    for name, box in (("first part", (lower, first)), ("second part", (second, upper))):
        yield replace(question, box=box, there=box, less=True, how=(*question.how, name))


def less_asked(question: Question, rng: Random) -> Question | None:
    """The claim with more room."""
    claim = question.claim
    by = 1 + Fraction(1, 2 ** int(rng.integers(1, 21)))
    match claim.kind:
        case "distance" | "margin":
            bound = claim.bound * by
        case "linear":
            bound = claim.bound + abs(claim.bound) * (by - 1) + Fraction(1, 2**20)
        case "confidence":
            bound = 1 - (1 - claim.bound) / by
        case _:
            return None
    weaker = replace(claim, bound=bound)
    return replace(question, claim=weaker, asked=weaker, less=True, how=(*question.how, "more room"))
