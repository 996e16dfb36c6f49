"""The cases of onnx's test suite with one thing changed: `python -m hunt.changed_cases --cases N`.

An attribute gets another value or is left out, the model asks for another opset, an optional input is left out, a
stored number is another one. What both readers then make of the model must be what onnxruntime computes, node by node,
or else what onnx's reference implementation does, at the numbers of the case and some in another order; or it is
refused. Where the two differ onnxruntime counts, but for what `conformance.excuses` lists.

    PYTHONPATH=python:tests python -m hunt.changed_cases --cases 10000 --seed 1
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto
from onnx.reference import ReferenceEvaluator

from conformance.excuses import ONNXRUNTIME_BUGS, REFERENCE_BUGS, known_bug
from conformance.judging import _ended, audited
from conformance.oracles import DIED, Answer, the_process
from eqspec.audit import Refused
from eqspec.audit.witness import values_at
from eqspec.errors import NetworkError
from eqspec.networks import Network
from eqspec.networks.readers import onnx_reader
from eqspec.networks.session import may_end_the_process
from hunt import by_seeds
from hunt.onnx_cases import Case, Feeds, change, of_modules, summed_along_an_axis
from oracle.pairs import Random

ORDERS = 2
_SHORT = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
Answers = dict[str, list[NDArray[Any]]]
Ends = list[tuple[Fraction, Fraction]]
Reader = Callable[[list[Fraction]], Ends | None]
"""Enclosures of the outputs at a point; None where there is none."""


@cache
def by_operator(modules: tuple[str, ...] = ()) -> dict[str, list[Case]]:
    """Cases of few nodes, those of some modules of onnx or all."""
    found: dict[str, list[Case]] = {}
    for case in of_modules(modules):
        if len(case.model.graph.node) <= 12:
            found.setdefault(case.model.graph.node[0].op_type, []).append(case)
    return found


def judge(seed: int, modules: tuple[str, ...] = ()) -> tuple[str, str | None]:
    """A case with one thing changed."""
    random, cases = np.random.default_rng(seed), by_operator(modules)
    operator = sorted(cases)[int(random.integers(len(cases)))]
    case = cases[operator][int(random.integers(len(cases[operator])))]
    model = ModelProto()
    model.CopyFrom(case.model)
    said = change(random, model)
    if random.random() < 0.3:
        summed_along_an_axis(random, model)
    what, wrong = judged(model, case.feeds, random)
    what = what if wrong is None else "read otherwise"
    return what, wrong and f"{case.name}, {said}: {wrong}"


def judged(
    model: ModelProto,
    feeds: Feeds,
    random: Random,
    *,
    reader_sees: ModelProto | None = None,
    auditor_sees: ModelProto | None = None,
) -> tuple[str, str | None]:
    """What became of a model, and what is wrong with that; a reader that overlooks something sees another model.

    The auditor is asked about all of the input, our reader about the first sample where it reads one, of samples that
    are made alike.
    """
    points = [feeds, *_in_other_orders(feeds, random)]
    oracles = _oracles(model, points)
    if not oracles:
        return _unrun(model, points)
    readers = list[str]()
    numbers = sum(x.size for x in feeds.values())
    outputs = next(iter(oracles.values()))[0].size
    if (auditor := _auditor((auditor_sees or model).SerializeToString(), numbers, outputs)) is not None:
        readers.append("the auditor")
        if (wrong := _wrong(auditor, points, oracles, model, one=False)) is not None:
            return "wrong", f"the auditor has {wrong}"
    if (network := _network((reader_sees or model).SerializeToString())) is not None:
        one = network.input_size != numbers
        if one:
            alike = {name: np.broadcast_to(x[:1], x.shape).copy() for name, x in feeds.items()}
            if len(feeds) > 1 or network.input_size * next(iter(alike.values())).shape[0] != numbers:
                return "of several samples", None
            points, oracles = [alike], _oracles(model, [alike])
        readers.append("eqspec")
        if (wrong := _wrong(_exactly(network), points, oracles, model, one=one)) is not None:
            return "wrong", f"eqspec has {wrong}"
    return ("read by " + " and ".join(readers) if readers else "refused"), None


def _unrun(model: ModelProto, points: list[Feeds]) -> tuple[str, str | None]:
    """Where onnxruntime ends its process, eqspec must refuse the file or know that it may."""
    content = model.SerializeToString()
    if the_process().ask(content, points[:1])[0] is not DIED:  # type: ignore[arg-type]
        return "run by no other", None
    if _network(content) is None or may_end_the_process(content):
        return "onnxruntime ends its process", None
    return "wrong", "onnxruntime ends its process at a model that is read"


def _network(content: bytes) -> Network | None:
    try:
        with np.errstate(all="ignore"):
            return onnx_reader.read("m.onnx", content)
    except NetworkError:
        return None


def _exactly(network: Network) -> Reader:
    def at(point: list[Fraction]) -> Ends | None:
        with suppress(ArithmeticError):
            ends = network.evaluate_exact(point)
            if network.stripped is None:
                return list(ends)
            scores = np.array([float((low + high) / 2) for low, high in ends])
            return [(Fraction(float(v)),) * 2 for v in _ended(network, scores)]
        return None

    return at


def _auditor(content: bytes, inputs: int, outputs: int) -> Reader | None:
    """It refuses, or answers; a Softmax that it sets aside is compared by the reader alone."""
    file = audited(content, inputs, outputs)
    try:
        file.steps()
    except Refused:
        return None

    def at(point: list[Fraction]) -> Ends | None:
        if file.softmax:
            return None
        with suppress(Refused, ArithmeticError):
            return list(values_at(file, point))
        return None

    return at


def _in_other_orders(feeds: Feeds, random: Random) -> Iterator[Feeds]:
    for _ in range(ORDERS):
        yield {name: random.permuted(x.reshape(-1)).reshape(x.shape) for name, x in feeds.items()}


def _oracles(model: ModelProto, points: list[Feeds]) -> Answers:
    """The answers of those who answer all, as numbers."""
    asked: dict[str, list[Answer]] = {"onnxruntime": the_process().ask(model.SerializeToString(), points)}  # type: ignore[arg-type]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluator = ReferenceEvaluator(model)
            asked["onnx"] = [np.asarray(evaluator.run(None, point)[0]) for point in points]  # type: ignore[index]
    except Exception as error:  # whatever numpy raises
        asked["onnx"] = [str(error)]
    found = {name: [a for a in answers if not isinstance(a, str)] for name, answers in asked.items()}
    return {name: answers for name, answers in found.items() if len(answers) == len(points)}


def _wrong(reader: Reader, points: list[Feeds], oracles: Answers, model: ModelProto, *, one: bool) -> str | None:
    """What a reader has otherwise than the others, at one of the points."""
    for number, point in enumerate(points):
        at = [Fraction(float(v)) for x in point.values() for v in (x[:1] if one else x).ravel()]
        ends = reader(at)
        found = None if ends is None else _apart(ends, {name: a[number] for name, a in oracles.items()}, model, one)
        if found is not None:
            return found
    return None


def _apart(ends: Ends, expected: dict[str, NDArray[Any]], model: ModelProto, one: bool) -> str | None:
    """What differs: from onnxruntime, or from onnx's reference where that alone answers or both say the same."""
    said = {name: _difference(ends, answer, model, one) for name, answer in expected.items()}
    theirs = said.get("onnxruntime", "absent")
    if theirs is None:
        return None
    bugs = [known_bug(ONNXRUNTIME_BUGS, model), known_bug(REFERENCE_BUGS, model)]
    if "onnx" in said and said["onnx"] is None and bugs[0]:
        return None
    if "onnxruntime" not in said and bugs[1]:
        return None
    return "; ".join(f"{words} by {name}" for name, words in said.items() if words) or None


def _difference(ends: Ends, answer: NDArray[Any], model: ModelProto, one: bool) -> str | None:
    low, high = (np.array([float(end[side]) for end in ends]) for side in (0, 1))
    other = np.asarray(answer, np.float64).ravel()
    if other.size != low.size:
        if not (one and other.size and other.size % low.size == 0):
            return f"{low.size} numbers instead of {other.size}"
        other = other[: low.size]  # the first of several samples
    finite = np.isfinite(other)
    kinds = {i.type.tensor_type.elem_type for i in model.graph.input} | {t.data_type for t in model.graph.initializer}
    share = 3e-2 if kinds & {*_SHORT} or answer.dtype == np.float16 else 2e-5
    allowed = share * (1 + np.abs(other[finite]).max(initial=0))
    apart = np.abs(np.clip(other, low, high) - other)[finite]
    return f"{low[:6].tolist()} instead of {other[:6].tolist()}" if (apart > allowed).any() else None


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m hunt.changed_cases", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1, help="another number makes other cases")
    given = parser.parse_args()
    return by_seeds.run(judge, given.cases, given.seed)


if __name__ == "__main__":
    sys.exit(main())
