"""A query as text, complete and exact, so that a failure seen anywhere can be asked again: `read(text)`."""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np

from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.tasks.task import LinearConstraint
from oracle.pairs import Pair
from oracle.pieces import Layers
from oracle.queries import Query, oracle_of


def write(asked: Query) -> str:
    """The query as JSON. Rationals are text, floats their shortest decimals."""
    written = pair_record(asked.pair) | {
        "claim": claim_record(asked.claim),
        "settings": {"domain": asked.domain, "threads": asked.threads, "lp": asked.lp, "dual": asked.dual},
        "breaks": asked.breaks,
        "excuse": asked.excuse,
    }
    return json.dumps(written, default=str)


def read(text: str) -> Query:
    """The query that `write` wrote, with its truth found anew."""
    data = json.loads(text)
    pair, claim = read_pair(data), read_claim(data["claim"])
    oracle = oracle_of(pair)
    return Query(pair, oracle, claim, oracle.breaks(claim), data["excuse"], **data["settings"])


def pair_record(pair: Pair) -> dict[str, Any]:
    """A pair and its region; rationals are left to `str`."""
    return {
        "kind": pair.kind,
        "reference": [[weight.tolist(), bias.tolist()] for weight, bias in pair.reference],
        "candidate": [[weight.tolist(), bias.tolist()] for weight, bias in pair.candidate],
        "lower": pair.lower,
        "upper": pair.upper,
        "constraints": [asdict(constraint) for constraint in pair.constraints],
        "decide": pair.decide,
    }


def claim_record(claim: Property) -> dict[str, Any]:
    """A claim; rationals are left to `str`."""
    return {"kind": type(claim).__name__, **asdict(claim)}


def read_pair(data: dict[str, Any]) -> Pair:
    """The pair of a record."""
    return Pair(
        data["kind"],
        _layers(data["reference"]),
        _layers(data["candidate"]),
        tuple(map(Fraction, data["lower"])),
        tuple(map(Fraction, data["upper"])),
        tuple(
            LinearConstraint(tuple(map(Fraction, c["coefficients"])), Fraction(c["bound"]), c["strict"])
            for c in data["constraints"]
        ),
        data["decide"],
    )


def read_claim(data: dict[str, Any]) -> Property:
    match data["kind"]:
        case "Epsilon":
            chosen = data["outputs"]
            return Epsilon(Fraction(data["eps"]), data["norm"], None if chosen is None else tuple(chosen))
        case "Margin":
            return Margin(Fraction(data["margin"]))
        case "Confidence":
            return Confidence(Fraction(data["delta"]))
        case "Linear":
            candidate, reference = (tuple(map(Fraction, data[name])) for name in ("candidate", "reference"))
            return Linear(candidate, reference, Fraction(data["bound"]), data["strict"])
        case _:
            return Top1()


def _layers(data: list[list[list[float]]]) -> Layers:
    return [(np.array(weight, np.float64), np.array(bias, np.float64)) for weight, bias in data]
