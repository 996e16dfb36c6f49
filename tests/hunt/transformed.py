"""A hunt by transformed questions: `PYTHONPATH=python:tests python -m hunt.transformed --cases N --seed S`.

Of networks of ordinary size nobody knows the truth, but a question and the same question written in another way cannot
have two answers. A case is a pair of files of any kind that is read (`transformed_files`), a box, and a claim near the
largest excess that a search of our own finds (`transformed_truth`). It is asked as it is; transformed (inputs,
outputs, the two files, the files' graphs, the form of the region: `transformed_questions`, `transformed_rewritings`);
of two parts of the box and with more room; and in other ways (`transformed_ways`).

What must never be: two answers; a proof that a point breaks which any of the questions found, or our own search; a
witness that lies outside of the box or, taken back to the pair as it was, breaks nothing in rationals (in float64 where
functions have no rational values); a transform that is another function. Where onnxruntime runs a file without levels
it is asked at the witness, and must see about the same outputs. Where a transform turns `equivalent` into `unknown`
with the same limit of boxes, that is counted as weaker, and printed with --weaker: a finding about strength.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from hunt import transformed_ways as ways
from hunt.onnx_values import given, inputs_of
from hunt.transformed_files import Pair, pair_of
from hunt.transformed_questions import Point, Question, first_question, less_asked, parts, transformed
from hunt.transformed_rewritings import Model, rewritten
from hunt.transformed_truth import Points, Truth, claim_of, excess, without_softmax
from hunt.transformed_ways import Answer, Desk
from oracle.pairs import Random

Array = NDArray[Any]
TRANSFORMS, WAYS = 4, 2
"""Of a case."""
_STEPS = {"int8", "int8 convolution", "qonnx"}
_MOST_EXACT = 4
"""Points at which a file is compared with the one that it was made of."""


@dataclass(frozen=True)
class Case:
    """A question as it is, what is known of it, and points of its box."""

    pair: Pair
    question: Question
    truth: Truth
    points: Points
    near: str


def generator(seed: int) -> Random:
    """What draws the case of a seed."""
    return np.random.default_rng([seed, 61])


def case_of(seed: int) -> Case:
    """The case of a seed."""
    rng = generator(seed)
    pair = pair_of(rng)
    if rng.random() < 0.12:
        g, change = rewritten(pair.f, rng)
        pair = Pair(pair.kind, pair.f, g, pair.inputs, pair.outputs, f"same: {change}")
    box = _box(rng, pair.inputs)
    soft = pair.kind == "softmax" and rng.random() < 0.4
    truth = Truth(without_softmax(pair.f), without_softmax(pair.g), soft)
    claim, points, near = claim_of(rng, pair, truth, box)
    gives = ""
    if pair.kind == "softmax" and claim.kind in ("distance", "linear", "equal", "margin"):
        gives = " gives probabilities" if soft else " gives logits"
    elif soft:
        truth = Truth(truth.f, truth.g, soft=False)
    return Case(pair, first_question(pair, box, claim, gives), truth, points, near)


def _box(rng: Random, inputs: int) -> tuple[Point, Point]:
    centre = [Fraction(int(n), 8) for n in rng.integers(-12, 13, inputs)]
    count = int(rng.integers(1, 6))
    free = set(rng.permutation(inputs)[:count].tolist())
    alike, size = rng.random() < 0.5, int(rng.integers(0, 5))
    radii = [Fraction(1, 2 ** (size if alike else int(rng.integers(0, 5)))) if i in free else 0 for i in range(inputs)]
    low = [Fraction(c - r) for c, r in zip(centre, radii, strict=True)]
    return low, [Fraction(c + r) for c, r in zip(centre, radii, strict=True)]


@dataclass
class Findings:
    """What was met in a case."""

    seen: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    weaker: list[str] = field(default_factory=list)


def _others(question: Question, rng: Random) -> Iterator[Question]:
    """Questions that have the same answer, and some that ask for less."""
    for _ in range(TRANSFORMS):
        yield transformed(question, rng)
    yield from parts(question, rng)
    if (less := less_asked(question, rng)) is not None:
        yield transformed(less, rng) if rng.random() < 0.5 else less


def judge(case: Case, seed: int, desk: Desk) -> Findings:
    """Ask all the questions of a case, and hold the answers against one another."""
    rng, found, question = np.random.default_rng([seed, 62]), Findings(), case.question
    asked: list[tuple[Question, Answer, str]] = []
    for other in (question, *_others(question, rng)):
        if other is not question and (complaint := misread(case, other, rng)) is not None:
            found.wrong.append(f"{' | '.join(other.how)}: {complaint}")
            continue
        asked.append((other, ways.ask(ways.by_spec, other, desk, rng), " | ".join(other.how) or "as it is"))
    for place in rng.permutation(len(ways.WAYS))[:WAYS]:
        way, other = ways.WAYS[int(place)], asked[int(rng.integers(len(asked)))][0]
        asked.append((other, ways.ask(way, other, desk, rng), " | ".join([way.__name__, *other.how])))
    if seed % 40 == 0:
        asked.append((question, ways.ask(ways.RARE, question, desk, rng), ways.RARE.__name__))
    found.seen.update([f"kind {case.pair.kind}", f"claim {case.question.claim.kind}"])
    for other, answer, how in asked:
        found.seen["questions"] += 1
        refused = f" ({answer.detail[:60]})" if answer.verdict == "refused" else ""
        found.seen.update({f"{_short(step)}: {answer.verdict}{refused}" for step in (how.split(" | "))})
        if answer.detail.startswith("no certificate"):
            found.seen[answer.detail] += 1
        if answer.wrong is not None:
            found.wrong.append(f"{how}: {answer.wrong}")
        found.wrong += [f"{how}: {complaint}" for complaint in _of_witness(case, other, answer)]
    found.wrong += _contradictions(case, asked)
    first = asked[0][1]
    for other, answer, how in asked[1:]:
        if (
            first.verdict == "equivalent"
            and answer.verdict == "unknown"
            and "by_v" not in how
            and "by_inter" not in how
        ):
            found.seen.update({f"weaker: {_short(step)}" for step in how.split(" | ")})
            found.weaker.append(f"{how}: {answer.detail}, {case.pair.kind}, {other.claim.text()}")
    return found


def _short(how: str) -> str:
    """What was done, without which rewritings."""
    return "other files" if how.startswith("f(") else how


def misread(case: Case, question: Question, rng: Random) -> str | None:
    """Whether a question is about another function: its files at points of its box, in rationals if there are any."""
    rows = [_inside(rng, question.box) for _ in range(2)]
    back = [question.back(point) for point in rows]
    exact, soft = not case.truth.smooth, case.pair.kind == "softmax"
    first = (case.pair.f, case.pair.g) if soft else (case.truth.f, case.truth.g)
    names = {"f": 0, "g": 1}
    if "exchanged" in question.how and question.how.count("exchanged") % 2:
        names = {"f": 1, "g": 0}
    order = _order(case, question)
    for name, model in (("f", question.f), ("g", question.g)):
        exactly = exact and not soft
        mine = given(model, _points(rows, exactly), exactly).rows
        true = given(first[names[name]], _points(back, exactly), exactly).rows
        apart = abs(_sorted(mine) - _sorted(true)).max() if order is None else abs(mine - true[:, order]).max()
        if apart > (0 if exactly else 1e-7 * (1 + abs(true.astype(float)).max())):
            return f"{name} is another function, by {float(apart)}"
    return None


def _order(case: Case, question: Question) -> Array | None:
    """The order of outputs where it is that of the pair; None where only their numbers are compared."""
    return None if "outputs" in question.how else np.arange(case.pair.outputs)


def _sorted(rows: Array) -> Array:
    return np.sort(rows, axis=1)


def _points(rows: list[Point], exact: bool) -> Any:
    return rows if exact else np.array([[float(x) for x in row] for row in rows])


def _inside(rng: Random, box: tuple[Point, Point]) -> Point:
    return [a + (b - a) * Fraction(int(rng.integers(0, 17)), 16) for a, b in zip(*box, strict=True)]


def _of_witness(case: Case, question: Question, answer: Answer) -> list[str]:
    """What is wrong with a point that is said to break a claim."""
    if answer.witness is None:
        return []
    shown = [str(x) for x in answer.witness]
    if not _within(answer.witness, question.box):
        return [f"the witness {shown} is not in the region"]
    if not _within(question.back(answer.witness), question.there):
        return [f"the witness {shown}, taken back, is not where it is asked"]
    # A ReLU in front of a quantiser is one with it, which our own evaluation does not know of.
    plain = question.claim.kind != "saturates"
    if plain and case.truth.breaks(question.asked, question.back(answer.witness)) is False:
        return [f"the witness {shown} breaks nothing"]
    return [] if case.pair.kind in _STEPS else _of_runtime(question, answer.witness)


def _within(point: Point, box: tuple[Point, Point]) -> bool:
    return all(a <= x <= b for a, x, b in zip(box[0], point, box[1], strict=True))


def _of_runtime(question: Question, point: Point) -> list[str]:
    """Whether onnxruntime gives at a witness what the definition gives."""
    for name, model in (("f", question.f), ("g", question.g)):
        mine = given(model, _points([point], exact=False), exact=False).rows[0]
        theirs = run(model, point)
        scale = 1 + max(abs(float(x)) for x in point) + float(np.abs(mine).max())
        if not np.allclose(mine, theirs, rtol=0, atol=2e-3 * scale):
            return [f"onnxruntime gives {theirs} of {name} at the witness, and it is {mine}"]
    return []


def run(model: Model, point: Point) -> Array:
    """What onnxruntime gives."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds, at = {}, 0
    for name, sizes in inputs_of(model):
        count = int(np.prod(sizes))
        feeds[name] = np.array([float(x) for x in point[at : at + count]], np.float32).reshape(sizes)
        at += count
    (found,) = session.run(None, feeds)
    return np.asarray(found).ravel()


def _contradictions(case: Case, asked: list[tuple[Question, Answer, str]]) -> list[str]:
    """Proofs that points break which are known by now; and two answers to what is one question."""
    known = [(question.back(answer.witness), how) for question, answer, how in asked if answer.witness is not None]
    wrong = []
    refuted = [how for _, answer, how in asked if answer.verdict == "different"]
    for question, answer, how in asked:
        if answer.verdict not in ("equivalent", "float32 equivalent"):
            continue
        real = answer.verdict == "equivalent"
        if real and not question.less and refuted:
            wrong.append(f"proved ({how}), and refuted ({refuted[0]})")
        for point, other in known if real else []:
            if _within(point, question.there) and case.truth.breaks(question.asked, point):
                wrong.append(f"proved ({how}), and broken at {[str(x) for x in point]} (found: {other})")
                break
        if real and (point_ := _broken(case, question)) is not None:
            wrong.append(f"proved ({how}), and broken at {[str(x) for x in point_]}, which a search of ours found")
        if not real and (complaint := _broken_in_float32(case, question)) is not None:
            wrong.append(f"proved ({how}), and {complaint}")
    return wrong


def _broken(case: Case, question: Question) -> Point | None:
    """One of our own points that breaks what is proved."""
    by = case.truth.excess(question.asked, case.points.rows, exact=False)
    low, high = (np.array([float(x) for x in end]) for end in question.there)
    rows = case.points.rows
    inside = np.asarray(((rows >= low) & (rows <= high)).all(axis=1))
    for number in np.argsort(np.where(inside, by, -np.inf))[::-1][:_MOST_EXACT]:
        if (
            bool(inside[number])
            and by[number] > -1e-6
            and case.truth.breaks(question.asked, case.points.exact(int(number)))
        ):
            return case.points.exact(int(number))
    return None


def _broken_in_float32(case: Case, question: Question) -> str | None:
    """Whether what onnxruntime computes breaks what is proved of every float32 runtime."""
    claim = question.asked
    if case.pair.kind in {"qonnx", "softmax"} or claim.kind not in ("distance", "linear", "top1", "margin"):
        return None
    by = case.truth.excess(claim, case.points.rows, exact=False)
    for number in np.argsort(by)[::-1][:_MOST_EXACT]:
        point = case.points.exact(int(number))
        if not _within(point, question.there):
            continue
        f, g = (run(model, point).astype(np.float64) for model in (case.pair.f, case.pair.g))
        if float(excess(claim, f, g)) > 0:  # differences of float32 numbers are nearly exact in float64
            return f"onnxruntime breaks it at {[str(x) for x in point]}"
    return None


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m hunt.transformed", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--weaker", action="store_true", help="print what a transform left undecided")
    parsed = parser.parse_args()
    seen: Counter[str] = Counter()
    with TemporaryDirectory(prefix="hunt-transformed-") as name:
        for seed in range(parsed.seed * 10**9, parsed.seed * 10**9 + parsed.cases):
            try:
                found = judge(case_of(seed), seed, Desk(Path(name)))
            except KeyboardInterrupt:
                break  # what was seen by then is counted
            except Exception as error:  # nothing that a user could have done wrong
                found = Findings(wrong=[f"raised {type(error).__name__}: {error}"])
            seen.update(found.seen)
            seen["cases"] += 1
            seen["wrong"] += len(found.wrong)
            told = [*found.wrong, *([f"weaker: {w}" for w in found.weaker] if parsed.weaker else [])]
            print(*(f"seed {seed}: {complaint}" for complaint in told), sep="\n", end="\n" if told else "", flush=True)
    for trait, times in sorted(seen.items()):
        print(f"{times:9d}  {trait}")
    return 1 if seen["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
