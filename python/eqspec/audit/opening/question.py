"""The question of a certificate: the fields of its task that the audit reads, each of the type and size it must have.

What is proved and what is said about it are both made from this alone, so that nothing can be said that was not
checked. It has the form of a task, in which names are replaced by numbers from 0, and exact numbers are text such as
"-1/10" in lowest terms, as Python writes a fraction. Every other field of the task is a label at most.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, TypeAlias

from ..rounding import Refused
from . import limits
from .printable import label

Question: TypeAlias = dict[str, Any]
"""`reference`, `candidate`, `space`, `region`, `property` and `arithmetic`, as in a task, with nothing else in them."""

Balances: TypeAlias = tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]
"""Exponents of both networks, for the rows of each of their products."""

SCHEMA = "eqspec-task/1"
MOST_EXPONENT = 24
"""Of the power of two by which a product is balanced: within it the factors are floats."""
_DIGITS = rf"[0-9]{{1,{limits.DIGITS}}}"
_NUMBER = re.compile(rf"-?{_DIGITS}(?:/{_DIGITS})?")
_REGION = {"lo", "hi", "lo_exact", "hi_exact", "A", "b", "strict", "row", "around", "grid"}


def question(task: Any) -> Question:
    """The question that a task asks. Refused if a field is missing, of another type, or too large."""
    whole = _object(task, "task")
    if _of(whole, "schema", "task") != SCHEMA:
        raise Refused(f"its task is of no schema that this auditor reads, which is {SCHEMA}")
    space, region = (_object(_of(whole, name, "task"), name) for name in ("space", "region"))
    if unknown := sorted(region.keys() - _REGION):
        raise Refused(f"region has a field {label(unknown[0])}, which this auditor does not know")
    inputs = len(_list(space, "features", "space", limits.INPUTS, least=1))
    outputs = len(_list(space, "outputs", "space", limits.OUTPUTS, least=1))
    found: Question = {role: _network(whole, role) for role in ("reference", "candidate")}
    found["space"] = {
        "features": [str(number) for number in range(inputs)],
        "outputs": [str(number) for number in range(outputs)],
        "mean_exact": _numbers(space, "mean_exact", "space", inputs),
        "std_exact": _numbers(space, "std_exact", "space", inputs),
    }
    if any(Fraction(std) <= 0 for std in found["space"]["std_exact"]):
        raise Refused("space.std_exact has a number that is not positive; no normalisation divides by it")
    sides = {name: _numbers(region, name, "region", inputs) for name in ("lo_exact", "hi_exact")}
    found["region"] = sides | _constraints(region, inputs) | _lattices(region, inputs)
    found["property"] = _property(_object(_of(whole, "property", "task"), "property"), outputs)
    found["arithmetic"] = _word(whole, "arithmetic", "task", ("real", "float32")) if "arithmetic" in whole else "real"
    return found


def witness(head: dict[str, Any], asked: Question) -> list[str]:
    """The input at which a claim is said to break, in exact numbers."""
    return _numbers(head, "witness", "certificate", len(asked["space"]["features"]))


def balances(head: dict[str, Any]) -> Balances:
    """The exponents with which products of both networks are written, for each product and row; () is none."""
    given = head.get("balances", [[], []])
    made = [
        tuple(
            tuple(_whole(_list({"k": k}, "k", "balances", limits.BALANCED), "balances", -MOST_EXPONENT, MOST_EXPONENT))
            for k in _list({"k": one}, "k", "balances", limits.STEPS)
        )
        for one in _list({"k": given}, "k", "balances", 2, 2)
    ]
    return made[0], made[1]


def _whole(given: list[Any], where: str, least: int, most: int) -> list[int]:
    if not all(type(k) is int and least <= k <= most for k in given):
        raise Refused(f"{where} has something else than whole numbers from {least} to {most}")
    return given


def _network(task: dict[str, Any], role: str) -> dict[str, Any]:
    data = _object(_of(task, role, "task"), role)
    path, digest = (_of(data, name, role) for name in ("path", "sha256"))
    if not isinstance(path, str) or not 0 < len(path) <= 4096 or "\0" in path:
        raise Refused(f"{role}.path is no path of a file")
    if not isinstance(digest, str) or not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise Refused(f"{role}.sha256 is no sha256, which has 64 hexadecimal digits")
    if "scores" in data:
        raise Refused(f"{role}.scores: it is about what a Softmax at its end gives, which the auditor does not derive")
    takes, gives = (
        _word(data, name, role, words)
        for name, words in (("takes", ("raw", "normalised")), ("gives", ("logits", "probabilities")))
    )
    made: dict[str, Any] = {"path": path, "sha256": digest, "takes": takes, "gives": gives}
    if "output" in data:
        if not isinstance(data["output"], str) or not 0 < len(data["output"]) <= 4096:
            raise Refused(f"{role}.output is no name of an output")
        made["output"] = data["output"]
    if data.get("two_classes", True) is not True:
        raise Refused(f"{role}.two_classes is not true, and is left out where it does not hold")
    made |= dict.fromkeys(data.keys() & {"two_classes"}, True)
    if "shapes" in data:
        shapes, where = _object(data["shapes"], f"{role}.shapes"), f"{role}.shapes"
        made["shapes"] = {n: _whole(_list(shapes, n, where, limits.PORTS, least=1), where, 1, 2**24) for n in shapes}
    return {**made, "dequantised": _ends(data, role)} if "dequantised" in data else made


def _ends(network: dict[str, Any], role: str) -> dict[str, Any]:
    """What integers at the ends of a file stand for: of inputs by name, and of the output if that holds some."""
    given, where = _object(network["dequantised"], f"{role}.dequantised"), f"{role}.dequantised"
    inputs = _object(_of(given, "inputs", where), where)
    if given.keys() - {"inputs", "output"} or len(inputs) > limits.PORTS or not all(0 < len(n) <= 4096 for n in inputs):
        raise Refused(f"{where} has something else than inputs, of which there are few, and output")
    found: dict[str, Any] = {"inputs": {name: _integers(one, where) for name, one in inputs.items()}}
    return found | ({"output": _integers(given["output"], where)} if "output" in given else {})


def _integers(given: Any, where: str) -> dict[str, Any]:
    """scale (k - zero): a scale that a float holds, and a zero point."""
    one = _object(given, where)
    if one.keys() != {"scale", "zero"} or type(one["zero"]) is not int or abs(one["zero"]) > 2**16:
        raise Refused(f"{where} has something else than a scale and a zero point")
    if not 0 < (scale := Fraction(_number(one["scale"], where))) < 2**128 or Fraction(float(scale)) != scale:
        raise Refused(f"{where} has a scale that is not positive, or no float")
    return {"scale": str(scale), "zero": one["zero"]}


def _constraints(region: dict[str, Any], inputs: int) -> dict[str, Any]:
    rows = _list(region, "A", "region", limits.COEFFICIENTS // inputs)
    strict = _list(region, "strict", "region", len(rows), len(rows))
    if not all(isinstance(one, bool) for one in strict):
        raise Refused("region.strict has something else than true and false")
    return {
        "A": [_numbers({"A": row}, "A", "region", inputs) for row in rows],
        "b": _numbers(region, "b", "region", len(rows)),
        "strict": list(strict),
    }


def _lattices(region: dict[str, Any], inputs: int) -> dict[str, Any]:
    """The points that a region is about, where inputs lie on origin + step Z; of others None."""
    if "grid" not in region:
        return {}
    found: list[dict[str, str] | None] = []
    for one in _list(region, "grid", "region", inputs, inputs):
        if one is None:
            found.append(None)
            continue
        one = _object(one, "region.grid")
        if one.keys() != {"origin", "step"}:
            raise Refused("region.grid has other fields than origin and step")
        found.append({name: _number(one[name], f"region.grid.{name}") for name in ("origin", "step")})
        if Fraction(one["step"]) <= 0:
            raise Refused("region.grid.step has a number that is not positive; points of a grid are apart")
    return {"grid": found}


def _property(data: dict[str, Any], outputs: int) -> dict[str, Any]:
    kind = _word(data, "kind", "property", tuple(_FIELDS))
    if data.keys() != {"kind", "decide", *_FIELDS[kind]}:
        raise Refused(f"property has other fields than a claim of kind {kind} has")
    found: dict[str, Any] = {"kind": kind, "decide": _word(data, "decide", "property", ("max", "min"))}
    if kind == "epsilon":
        found |= {
            "eps": _number(data["eps"], "property.eps"),
            "norm": _word(data, "norm", "property", ("linf", "l1", "l2")),
        }
        chosen = _chosen(data, outputs)
        if 2 * (outputs if chosen is None else len(chosen)) * outputs > limits.SIDES:
            raise Refused(f"a claim about so many of {outputs} outputs is larger than the auditor reads")
        return found | {"outputs": chosen}
    if kind == "linear":
        found |= {role: _numbers(data, role, "property", outputs) for role in ("candidate", "reference")}
        if not isinstance(data["strict"], bool):
            raise Refused("property.strict is neither true nor false")
        return found | {"bound": _number(data["bound"], "property.bound"), "strict": data["strict"]}
    if kind == "never":
        return found | {"overflow": _word(data, "overflow", "property", ("wraps", "saturates"))}
    if outputs**3 * (outputs - 1) > limits.SIDES:
        raise Refused(f"a claim about the first of {outputs} classes is larger than the auditor reads")
    return found | {"guard": None if data["guard"] is None else _guard(_object(data["guard"], "property.guard"))}


_FIELDS = {"epsilon": ("eps", "norm", "outputs"), "linear": ("candidate", "reference", "bound", "strict")}
_FIELDS |= {"top1": ("guard",), "never": ("overflow",)}


def _chosen(data: dict[str, Any], outputs: int) -> list[int] | None:
    if data["outputs"] is None:
        return None
    chosen = _list(data, "outputs", "property", outputs, least=1)
    if not all(type(one) is int and 0 <= one < outputs for one in chosen) or len(set(chosen)) < len(chosen):
        raise Refused("property.outputs names an output that does not exist, or one of them twice")
    return list(chosen)


def _guard(data: dict[str, Any]) -> dict[str, Any]:
    kind = _word(data, "kind", "property.guard", ("margin", "confidence"))
    threshold = _number(_of(data, "threshold", "property.guard"), "property.guard.threshold")
    value = Fraction(threshold)
    if len(data) != 2 or value < 0 or (kind == "confidence" and not 0 < value < 1):
        raise Refused("property.guard is no margin of 0 or more, and no confidence between 0 and 1")
    return {"kind": kind, "threshold": threshold}


def _of(data: dict[str, Any], name: str, where: str) -> Any:
    if name not in data:
        raise Refused(f"{where} lacks the field {name!r}")
    return data[name]


def _object(data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Refused(f"{where} is no JSON object")
    return data


def _list(data: dict[str, Any], name: str, where: str, most: int, exactly: int | None = None, least: int = 0) -> Any:
    found = _of(data, name, where)
    if not isinstance(found, list) or len(found) < least:
        raise Refused(f"{where}.{name} is no list of {least} or more")
    if exactly is not None and len(found) != exactly:
        raise Refused(f"{where}.{name} has {len(found)} entries; {exactly} are due")
    if len(found) > most:
        raise Refused(f"{where}.{name} has {len(found)} entries; the auditor reads at most {most}")
    return found


def _word(data: dict[str, Any], name: str, where: str, words: tuple[str, ...]) -> str:
    found = _of(data, name, where)
    if not isinstance(found, str) or found not in words:
        raise Refused(f"{where}.{name} is {label(str(found)[:100])}; one of {', '.join(words)} is due")
    return found


def _numbers(data: dict[str, Any], name: str, where: str, count: int) -> list[str]:
    return [_number(one, f"{where}.{name}") for one in _list(data, name, where, count, count)]


def _number(text: Any, where: str) -> str:
    """The canonical text of an exact number."""
    if not isinstance(text, str) or _NUMBER.fullmatch(text) is None:
        shown = label(text) if isinstance(text, str) else f"a {type(text).__name__}"
        raise Refused(
            f'{where} has {shown}, which is no exact number such as "-1/10" of at most {limits.DIGITS} digits above'
            " and below the line"
        )
    if text.partition("/")[2].strip("0") == "" and "/" in text:
        raise Refused(f"{where} has {label(text)}, which divides by zero")
    return str(Fraction(text))
