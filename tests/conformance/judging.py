"""One graph: what the two readers make of it, against what others make of it at a few points.

A network is evaluated exactly, so that it differs from others by their rounding alone. Inputs and weights are small
multiples of a quarter; a wrong place, sign or weight shows as a difference of about that size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from conformance import oracles
from conformance.excuses import ONNXRUNTIME_BUGS, REFERENCE_BUGS, excuse_for_refusal, known_bug
from conformance.points import points
from eqspec.audit import Refused
from eqspec.audit.reading import File, Number
from eqspec.audit.witness import values_at
from eqspec.errors import NetworkError
from eqspec.networks import Network
from eqspec.networks.pair_saturation import NOTE as PAIRS
from eqspec.networks.readers import onnx_reader
from eqspec.networks.session import may_end_the_process

DTYPES: dict[int, Any] = {1: np.float32, 10: np.float16, 11: np.float64}
ROUNDING = {1: 2e-5, 10: 3e-2, 11: 1e-10}
_CERTAIN = Fraction(1, 10**12)
_BITS = {1: 22, 10: 9, 11: 22}
"""That rounding leaves, by type; some functions of double are computed in float32."""


@dataclass
class Judgement:
    """What was seen of a graph, and what is wrong with it."""

    traits: list[str] = field(default_factory=list)
    complaint: str | None = None


def judge(model: onnx.ModelProto, spoiled: str | None = None) -> Judgement:
    """Read a model with both readers, and compare."""
    content = model.SerializeToString()
    found = Judgement()
    try:
        with np.errstate(all="ignore"):
            network: Network | NetworkError = onnx_reader.read("m.onnx", content)
    except NetworkError as error:
        network = error
        if not error.message or not error.fix:
            return _complain(found, f"refused without a word or a fix: {error}")
    except Exception as error:
        return _complain(found, f"the reader fails: {type(error).__name__}: {error}")
    shape = [d.dim_value or 1 for d in model.graph.input[0].type.tensor_type.shape.dim]
    if spoiled is not None:
        return _spoiled(found, network, content, spoiled, prod(shape[1:]) if len(shape) > 1 else prod(shape))
    kind = model.graph.input[0].type.tensor_type.elem_type
    rng = np.random.default_rng(len(content))
    inputs = [np.asarray(at, DTYPES[kind]) for at in points(rng, shape)]
    sample = network.input_size if isinstance(network, Network) else prod(shape)
    batch = prod(shape) // sample
    if batch > 1:  # one sample is read of a fixed batch: all samples are the same
        inputs = [np.broadcast_to(x[:1], shape).copy() for x in inputs]
    answers = {"onnxruntime": oracles.by_onnxruntime(model, inputs), "onnx": oracles.by_reference(model, inputs)}
    died = answers["onnxruntime"][0] is oracles.DIED
    if died and isinstance(network, Network) and not may_end_the_process(content):  # it is asked when one is loaded
        return _complain(found, "onnxruntime ends its process at a model that is read")
    if died:
        found.traits.append("onnxruntime ends its process")
    if isinstance(network, NetworkError):
        found.traits.append("refused")
        _judge_refusal(found, network, answers, model)
    else:
        found.traits.append("read")
        _judge_network(found, network, answers, model, inputs, batch)
    if found.complaint is None:
        _judge_auditor(found, network, answers, model, content, inputs, batch)
    return found


def _complain(found: Judgement, words: str) -> Judgement:
    found.complaint = words
    return found


def _spoiled(found: Judgement, network: Network | NetworkError, content: bytes, spoiled: str, size: int) -> Judgement:
    found.traits.append(f"spoiled {spoiled}")
    if isinstance(network, Network):
        return _complain(found, f"read although spoiled: {spoiled}")
    try:
        audited(content, size, 1).steps()
    except Refused as reason:
        if not re.search(r"it has [1-9]\d* outputs, the task 1", str(reason)):
            return found
    except Exception as error:
        return _complain(found, f"the auditor fails: {type(error).__name__}: {error}")
    return _complain(found, f"the auditor reads it although spoiled: {spoiled}")


def audited(content: bytes, inputs: int, outputs: int) -> File:
    """A file as the auditor takes it, over the reals."""
    one, none = ((Fraction(c),) * inputs for c in (1, 0))
    return File("m.onnx", content, Number, one, none, (0.0,) * inputs, False, outputs)


def _judge_refusal(
    found: Judgement, error: NetworkError, answers: dict[str, list[oracles.Answer]], model: onnx.ModelProto
) -> None:
    """What all others read, and alike, is refused for a reason that is listed."""
    arrays = [answer[0] for answer in answers.values()]
    if any(isinstance(a, str) for a in arrays) or oracles.complaint_of_checker(model) is not None:
        found.traits.append("refused by another, too")
        return
    empty = any(np.asarray(a).size == 0 for a in arrays)
    last = error.__cause__ if isinstance(error.__cause__, NetworkError) else error  # the whole input as one sample
    excuse = "a network has at least one output" if empty else excuse_for_refusal(last.message)
    if excuse is None:
        first, second = (np.asarray(a, np.float64) for a in arrays)
        if first.shape != second.shape or not np.allclose(first, second, rtol=1e-2) or not np.isfinite(first).all():
            found.traits.append("refused, and others disagree")
            return
        _complain(found, f"refused although others read it: {last}")
    found.traits.append(f"refused: {excuse}")


def _judge_network(
    found: Judgement,
    network: Network,
    answers: dict[str, list[oracles.Answer]],
    model: onnx.ModelProto,
    inputs: list[NDArray[Any]],
    batch: int,
) -> None:
    if any("channels fit no other" in note for note in network.notes):  # as one exporter writes it; onnxruntime refuses
        found.traits.append("channels on axis 0")
        return
    checked = False
    for name, bugs in (("onnxruntime", ONNXRUNTIME_BUGS), ("onnx", REFERENCE_BUGS)):
        for x, answer in zip(inputs, answers[name], strict=True):
            if isinstance(answer, str):
                break
            first = x.reshape(batch, -1)[0] if batch > 1 else x.ravel()
            try:
                exact = network.evaluate_exact([Fraction(float(v)) for v in first])
            except ArithmeticError:  # outside of the domain of a function, or beyond all floats
                found.traits.append("without a value")
                continue
            if any(high - low > _CERTAIN * (1 + abs(low)) for low, high in exact):
                found.traits.append("beside a jump")  # of a function of numbers that are enclosed, not known
                continue
            middle = np.array([float((low + high) / 2) for low, high in exact])
            wrong = _difference(_ended(network, middle), answer, batch, model)  # what is left out, is put back
            if wrong is None:
                checked = True
            elif _within_float32(network, first, answer, batch, model):
                found.traits.append("float32 jumps elsewhere")
            elif name == "onnxruntime" and any(PAIRS in note for note in network.notes):
                found.traits.append("pairs of products may be cut off")
            elif bug := known_bug(bugs, model):
                found.traits.append(f"{name} is wrong: {bug}")
            else:
                _complain(found, f"{name} disagrees: {wrong}")
                return
    found.traits.append("checked" if checked else "read by no other")


def _within_float32(
    network: Network, point: NDArray[Any], answer: NDArray[Any], batch: int, model: onnx.ModelProto
) -> bool:
    """Whether an answer lies among those that rounding of functions to float32, or to float16 in such a file, admits.

    Where one saturates, as a Tanh of 16 and of 20, scores tie in floats that differ in real numbers, and a jump behind
    it, as of a Hardmax, lies elsewhere.
    """
    low, high = np.full(network.output_size, np.inf), np.full(network.output_size, -np.inf)
    bits = _BITS[model.graph.input[0].type.tensor_type.elem_type]
    for moved in (
        Fraction(sign, 1 << bits) for sign in (0, 1, -1)
    ):  # what is rounded in front of a jump may as well be the input
        try:
            ends = network.evaluate_exact([Fraction(float(v)) * (1 + moved) for v in point], bits)
        except ArithmeticError:
            return False
        low = np.minimum(low, [float(end[0]) for end in ends])
        high = np.maximum(high, [float(end[1]) for end in ends])
    if batch > 1 or answer.size != low.size:
        return False
    return (
        _difference(_ended(network, np.clip(answer.astype(np.float64).ravel(), low, high)), answer, batch, model)
        is None
    )


def _ended(network: Network, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """With the Softmax that was left out."""
    if network.stripped is None:
        return scores
    shifted = scores - scores.max()
    logs = shifted - np.log(np.exp(shifted).sum())
    ended: NDArray[np.float64] = logs if network.stripped == "log_softmax" else np.exp(logs)
    return ended


def _difference(ours: NDArray[np.float64], theirs: NDArray[Any], batch: int, model: onnx.ModelProto) -> str | None:
    """How two answers differ beyond rounding."""
    other = theirs.astype(np.float64)
    if not np.isfinite(other).all():
        return None if model.graph.input[0].type.tensor_type.elem_type == 10 else f"{other.ravel()[:8].tolist()}"
    if batch > 1:
        if other.size != batch * ours.size:
            return f"{other.size} outputs of {batch} samples, not {batch} times {ours.size}"
        ours, other = np.sort(np.repeat(ours, batch)), np.sort(other, axis=None)  # samples may be anywhere
    if other.size != ours.size:
        return f"{other.size} outputs, not {ours.size}"
    kind = model.graph.input[0].type.tensor_type.elem_type
    casts = {a.i for node in model.graph.node for a in node.attribute if node.op_type == "Cast"}
    tensors = [*model.graph.initializer, *(a.t for node in model.graph.node for a in node.attribute)]
    short = kind == 10 or 10 in casts or any(t.data_type == 10 for t in tensors)
    single = kind == 1 or 1 in casts or any(t.data_type == 1 for t in tensors)
    allowed = ROUNDING[10 if short else 1 if single else kind] * (1 + np.abs(ours).max(initial=0))
    if (np.abs(ours - other.ravel()) <= allowed).all():
        return None
    return f"{other.ravel()[:8].tolist()} instead of {ours[:8].tolist()}"


def _judge_auditor(
    found: Judgement,
    network: Network | NetworkError,
    answers: dict[str, list[oracles.Answer]],
    model: onnx.ModelProto,
    content: bytes,
    inputs: list[NDArray[Any]],
    batch: int,
) -> None:
    """The auditor refuses, or reads the same function: as we do, or else as others do."""
    theirs = [(name, a) for name, a in answers.items() if not isinstance(a[0], str)]
    if isinstance(network, Network):
        size, outputs = network.input_size, network.output_size
    elif theirs:
        size, outputs = inputs[0].size, int(np.asarray(theirs[0][1][0]).size)
    else:
        size, outputs = inputs[0].size, 1
    try:
        file = audited(content, size, outputs)
        file.steps()
    except Refused:
        found.traits.append("refused by the auditor")
        return None
    except Exception as error:
        _complain(found, f"the auditor fails: {type(error).__name__}: {error}")
        return None
    found.traits.append("read by the auditor")
    if isinstance(network, Network) and file.softmax != (network.stripped is not None):
        found.traits.append("a Softmax that one reader sets aside")  # a certificate of such a file is refused
        return None
    if isinstance(network, NetworkError):
        return _judge_auditor_alone(found, file, theirs, model, inputs, network)
    for x in inputs:
        point = [Fraction(float(v)) for v in (x.reshape(batch, -1)[0] if batch > 1 else x.ravel())]
        try:
            values, expected = values_at(file, point), network.evaluate_exact(point)
        except (ArithmeticError, Refused):  # where a root is of what is only known to be 0, within rounding
            continue
        for (least, most), (low, high) in zip(values, expected, strict=True):
            if low > most or least > high:
                _complain(found, f"the auditor reads {float(least)}, we read {float(low)}")
    return None


def _judge_auditor_alone(
    found: Judgement,
    file: File,
    answers: list[tuple[str, list[oracles.Answer]]],
    model: onnx.ModelProto,
    inputs: list[NDArray[Any]],
    error: NetworkError,
) -> None:
    """What we refuse, the auditor may read only as others do, but for types that no runtime loads."""
    if "does not take there" in error.message:
        found.traits.append("of a type that an operator does not take, read by the auditor alone")
        return
    for name, answer in answers:
        for x, other in zip(inputs, answer, strict=True):
            try:
                ends = values_at(file, [Fraction(float(v)) for v in x.ravel()])
            except Refused:  # where a root is of what is only known to be 0, within rounding
                continue
            low, high = (np.array([float(end[side]) for end in ends]) for side in (0, 1))
            theirs = np.asarray(other, np.float64).ravel()
            values = np.clip(theirs, low, high) if theirs.size == low.size else low  # at a jump the ends differ
            wrong = _difference(values, np.asarray(other), 1, model)
            softmax = any(node.op_type.endswith("Softmax") for node in model.graph.node)
            if wrong is not None and not softmax and known_bug(REFERENCE_BUGS, model) is None:
                _complain(found, f"the auditor reads what we refuse ({error.message}), and {name} disagrees: {wrong}")
    found.traits.append("read by the auditor alone")
