"""What the tester knows: a tiny pair and claims about it whose truth an exact oracle finds, and the files for it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from eqspec.property import Property
from eqspec.tasks import serialisation
from eqspec.tasks.task import LinearConstraint
from hunt.as_specs import expressible, write_spec
from hunt.caching import moved, nudged
from oracle.decide import Oracle
from oracle.pairs import Pair, make
from oracle.queries import CLAIMS, Query, ask, oracle_of
from oracle.search import is_witness

SPEC = "pair.eqspec"


class WrongError(AssertionError):
    """eqspec said something that is not so."""


@dataclass(frozen=True)
class World:
    """A pair, and two claims about it: the first of any kind, the second about a distance."""

    pair: Pair
    oracle: Oracle
    claims: tuple[Property, Property]
    seed: int

    @property
    def truth(self) -> dict[str, bool | None]:
        """Whether each check breaks; None where the oracle itself is not sure."""
        return {name: self.oracle.breaks(claim) for name, claim in zip(NAMES, self.claims, strict=True)}

    def write(self, folder: Path) -> None:
        """The networks and the spec. Files that were there keep their times, so that nobody can tell by these."""
        paths = [folder / name for name in ("f.onnx", "g.onnx", SPEC)]
        times = [(path.stat().st_atime_ns, path.stat().st_mtime_ns) if path.exists() else None for path in paths]
        first, second = self.claims
        text = write_spec(self.pair, first, folder, np.random.default_rng([self.seed, 5]), "real", second)
        (folder / SPEC).write_text(text)
        for path, time in zip(paths, times, strict=True):
            if time is not None:
                os.utime(path, ns=time)

    def with_network(self, by: int, role: str) -> World:
        """A weight of one network moved: in its last digit, or by a lot."""
        rng = np.random.default_rng([self.seed, 6, by])
        layers = nudged(self.pair.reference if role == "reference" else self.pair.candidate, rng)
        if by % 2:
            weight, bias = layers[-1]
            layers = [*layers[:-1], (weight, bias + 0.5 * rng.normal(size=bias.shape).round(2))]
        reference, candidate = (layers, self.pair.candidate) if role == "reference" else (self.pair.reference, layers)
        pair = replace(self.pair, reference=reference, candidate=candidate)
        return replace(self, pair=pair, oracle=oracle_of(pair))

    def with_claim(self, number: int, by: int) -> World:
        """A claim moved: by less than a float can tell, or across where it turns."""
        claims = list(self.claims)
        claims[number] = moved(claims[number])
        if by % 2:
            claims = list(_claims(self.pair, self.oracle, by))
        changed = replace(self, claims=(claims[0], claims[1]))
        return changed if all(expressible(self.pair, claim) for claim in changed.claims) else self


NAMES = ("c", "c1")


def world(seed: int) -> World | None:
    """The world of a seed; None where the language has no words for it, or nothing is in its region."""
    rng = np.random.default_rng([seed, 7])
    pair = make(seed)
    kind = CLAIMS[int(rng.integers(len(CLAIMS)))]
    try:
        asked = ask(rng, kind, pair, oracle_of(pair), Fraction(str(rng.choice(_OFFSETS))))
        second = ask(rng, "epsilon", asked.pair, asked.oracle, Fraction(str(rng.choice(_OFFSETS))))
    except ArithmeticError:  # the oracle's own, about numbers that are not of ordinary size
        return None
    made = World(asked.pair, asked.oracle, (asked.claim, second.claim), seed)
    if not asked.oracle.pieces or not all(expressible(made.pair, claim) for claim in made.claims):
        return None
    return made


_OFFSETS = (-0.3, -0.05, -0.001, 0.001, 0.05, 0.5)


def _claims(pair: Pair, oracle: Oracle, by: int) -> Sequence[Property]:
    rng = np.random.default_rng([by, 8])
    return [ask(rng, kind, pair, oracle, Fraction(str(rng.choice(_OFFSETS)))).claim for kind in ("linear", "epsilon")]


def judge(world: World, results: Sequence[Mapping[str, Any]]) -> None:
    """Every verdict against the truth. WrongError if one is not so."""
    truth = world.truth
    for result in results:
        name, verdict = result["id"], result["verdict"]
        if result["reason"] == "error":
            raise WrongError(f"{name} failed: {result['message']}")
        if verdict == "equivalent" and truth[name] is True:
            whence = "from the cache" if result["cached"] else "resumed" if result["resumed"] else "anew"
            raise WrongError(f"{name} is proved {whence}, but it breaks")
        if verdict == "different":
            if truth[name] is False:
                raise WrongError(f"{name} is refuted, but it holds")
            claim = world.claims[NAMES.index(name)]
            point = [Fraction(x) for x in result["witness"]["normalised_exact"]]
            if not is_witness(Query(world.pair, world.oracle, claim, truth[name], None, "shared", 1, True), point):
                raise WrongError(f"the witness of {name} is none")
        if result["vacuous"] and world.oracle.is_vacuous(world.claims[NAMES.index(name)]) is False:
            raise WrongError(f"{name} is called vacuous, but its guard is met")
        if not 0.0 <= result["certified_fraction"] <= 1.0:
            raise WrongError(f"{name}: {result['certified_fraction']} of the region is proved")


def as_expected(result: Mapping[str, Any]) -> bool | None:
    """What a result amounts to where the spec says nothing else."""
    if result["verdict"] == "unknown":
        return None
    return result["verdict"] == "equivalent" and not result["vacuous"]


def exit_code(results: Sequence[Mapping[str, Any]]) -> int:
    """What a run with these results must end with."""
    found = [as_expected(result) for result in results]
    return 1 if False in found else 3 if None in found else 0


def breaks(world: World, header: Mapping[str, Any]) -> bool | None:
    """Whether the claim in the head of a certificate breaks, for the networks as they are now."""
    task = header["task"]
    region = task["region"]
    low, high = ([Fraction(x) for x in region[name]] for name in ("lo_exact", "hi_exact"))
    rows = zip(region["A"], region["b"], region["strict"], strict=True)
    constraints = [LinearConstraint(tuple(map(Fraction, a)), Fraction(b), strict) for a, b, strict in rows]
    lowest = task["property"]["decide"] == "min"
    oracle = Oracle(world.pair.reference, world.pair.candidate, low, high, constraints, lowest_wins=lowest)
    return oracle.breaks(serialisation._claim(task["property"]))


def load(path: Path) -> list[dict[str, Any]]:
    """Results in a file."""
    results: list[dict[str, Any]] = json.loads(path.read_text())
    return results
