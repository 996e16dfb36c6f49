"""A case: a claim about a pair whose truth is known, and one way of all to decide it; as text for `tests/regress/`.

`breaks` is the truth (None where the oracle itself is not sure), found on the pair as it is here. How the engine sees
the pair is a matter of the mode: over more inputs, with weights known only up to an error, by which channel.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from eqspec import _core
from eqspec.networks.network import Arithmetic
from eqspec.property import Property
from eqspec.tasks.task import Domain
from oracle.decide import Oracle
from oracle.pairs import Pair
from oracle.queries import Query, oracle_of
from oracle.record import claim_record, pair_record, read_claim, read_pair

Channel = Literal["refusing", "confirming", "runner", "spec", "certified", "cached"]
CHANNELS: tuple[Channel, ...] = get_args(Channel)
"""refusing: the core, and no counterexample is believed, so that only a proof can end the search.
confirming: the core, and candidates are evaluated by the oracle. runner: as users run a task, replay included.
spec: as a spec with files and another normalisation (or a runner, where the language has no words for it).
certified: as a runner, with a certificate that is audited. cached: as a runner with a cache, several times."""

_SHARES: Mapping[Channel, float] = {
    "refusing": 0.5,
    "confirming": 0.29,
    "runner": 0.146,
    "spec": 0.04,
    "certified": 0.012,
    "cached": 0.012,
}

Solver = Literal["highs", "noise", "none"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)
"""Who answers linear programs: noise answers at random, and must not matter to the truth of a verdict."""


@dataclass(frozen=True)
class Mode:
    """How a case is decided; every field is a dimension of the hunt.

    `inputs` is the least number of free inputs over which the engine sees the pair (see `spreading`), `smudge` by
    which share weights are moved and declared uncertain, `few_bytes` a budget of memory that is spent at once,
    `no_zonotopes` one that no zonotope fits into,
    `styled` whether files and specs are written in a random style (see `onnx_styles`, `spec_styles`).
    """

    channel: Channel = "refusing"
    domain: Domain = "shared"
    threads: int = 1
    lp: bool = True
    contract: bool = True
    contract_above: int = 8
    wide_above: int = 64
    selected: int = 32
    boxes: int = 40
    attack: bool = True
    link: bool = True
    entropy: bool = True
    phases: bool = True
    dual: bool = True
    back_substitution: bool = True
    singles: bool = True
    stable_left_out: bool = True
    root_bounds: bool = True
    joint_rounding: bool = True
    alone: bool = True
    hulls: bool = True
    sign_trees: bool = True
    euclidean_norms: bool = True
    second_order: bool = True
    corner_slopes: bool = True
    solver: Solver = "highs"
    inputs: int = 0
    smudge: float = 0.0
    few_bytes: bool = False
    no_zonotopes: bool = False
    styled: bool = False
    arithmetic: Arithmetic = "real"
    seed: int = 0

    def settings(self, record: Path | None = None) -> _core.Settings:
        """For the core, which records its proof in a file if it is given one."""
        given: dict[str, Any] = {"memory": 1} if self.few_bytes else {}
        if self.no_zonotopes:
            given["zonotope_memory"] = 1
        if record is not None:
            given["record"] = record
        return _core.Settings(**{name: getattr(self, name) for name in _SETTINGS}, timeout=30.0, **given)

    def words(self) -> list[str]:
        """What this is an example of."""
        return [
            self.channel,
            f"domain {self.domain}",
            f"{self.threads} threads",
            "lp" if self.lp else "no lp",
            "contract" if self.contract else "no contract",
            f"solver {self.solver}",
            f"inputs >= {self.inputs}" if self.inputs else "inputs as they are",
            *(["contract always"] if self.contract and not self.contract_above else []),
            *(["few neurons chosen"] if self.contract and not self.wide_above and 0 < self.selected < 32 else []),
            *(f"no {word}" for word in STAGES_OFF if not getattr(self, word)),
            *(["smudged"] if self.smudge else []),
            *(["few bytes"] if self.few_bytes else []),
            *(["no zonotopes"] if self.no_zonotopes else []),
            *(["styled"] if self.styled else []),
            *([self.arithmetic] if self.arithmetic != "real" else []),
        ]


_SETTINGS = tuple(field.name for field in fields(Mode) if field.name in _core.SETTINGS)
"""The fields that are settings of the core."""
STAGES_OFF = tuple(
    field.name for field in fields(Mode) if field.default is True and field.name not in ("lp", "contract")
)
"""What can be switched off besides linear programs and contraction."""


@dataclass(frozen=True)
class Case:
    """A claim about a pair, its truth, and how to decide it. `relaxed`: it breaks on the polytope around a guard."""

    pair: Pair
    oracle: Oracle
    claim: Property
    breaks: bool | None
    mode: Mode
    relaxed: bool = False

    @property
    def query(self) -> Query:
        """For the oracle's own checks."""
        return Query(self.pair, self.oracle, self.claim, self.breaks, None, "shared", 1, True)

    def with_pair(self, pair: Pair) -> Case:
        """The same claim about another pair, its truth found anew."""
        oracle = oracle_of(pair)
        return replace(self, pair=pair, oracle=oracle, breaks=oracle.breaks(self.claim))

    def with_claim(self, claim: Property) -> Case:
        """Another claim about the same pair, its truth found anew."""
        return replace(self, claim=claim, breaks=self.oracle.breaks(claim))


def write(case: Case, complaint: str) -> str:
    """The case as JSON, complete and exact, with what was wrong about it."""
    record = {
        "complaint": complaint,
        "claim": claim_record(case.claim),
        "mode": asdict(case.mode),
        **pair_record(case.pair),
    }
    return json.dumps(record, default=str, indent=1) + "\n"


def read(text: str) -> Case:
    """The case that `write` wrote; modes that came later have their defaults."""
    data = json.loads(text)
    known = {field.name for field in fields(Mode)}
    mode = Mode(**{name: value for name, value in data["mode"].items() if name in known})
    pair, claim = read_pair(data), read_claim(data["claim"])
    oracle = oracle_of(pair)
    return Case(pair, oracle, claim, oracle.breaks(claim), mode)


THROUGH_FILES: tuple[Channel, ...] = ("spec", "certified")
"""The channels in which networks are written to files and read again."""


def random_mode(rng: np.random.Generator, channels: Sequence[Channel] = CHANNELS) -> Mode:
    """Most cases on one thread with the strongest bounds; everything else often enough.

    Certificates are about files, whose weights are exact; what runtimes round is known of weights without other errors.
    What runtimes round is a matter of how a file writes its function, so under float32 files are written plainly.
    """

    def one(share: float) -> bool:
        return bool(rng.random() < share)

    inputs = int(rng.choice([0, 9, 66], p=[0.75, 0.22, 0.03]))
    shares = np.array([_SHARES[channel] for channel in channels])
    channel = channels[int(rng.choice(len(channels), p=shares / shares.sum()))]
    in_float32, smudged = one(0.04), one(0.08) and channel != "certified"
    return Mode(
        channel=channel,
        domain=("shared", "paper", "naive")[int(rng.choice(3, p=[0.6, 0.2, 0.2]))],
        threads=2 if one(0.15) else 1,
        lp=one(0.75),
        contract=one(0.75),
        contract_above=0 if one(0.4) else 8,
        wide_above=0 if one(0.3) else 64,
        selected=int(rng.choice([32, 6, 1, 0])),
        attack=one(0.85),
        link=one(0.9),
        entropy=one(0.9),
        phases=one(0.9),
        dual=one(0.7),
        back_substitution=one(0.8),
        singles=one(0.8),
        stable_left_out=one(0.8),
        root_bounds=one(0.8),
        joint_rounding=one(0.8),
        alone=one(0.85),
        boxes=int(rng.choice([1, 3, 10]) if inputs else rng.choice([1, 3, 10, 40])),
        solver=SOLVERS[int(rng.choice(3, p=[0.85, 0.1, 0.05]))],
        inputs=inputs,
        smudge=float(rng.choice([2.0**-50, 2.0**-20, 2.0**-8])) if smudged and not in_float32 else 0.0,
        arithmetic="float32" if in_float32 else "real",
        few_bytes=one(0.05),
        no_zonotopes=one(0.05),
        styled=channel in THROUGH_FILES and not in_float32 and one(0.8),
        seed=int(rng.integers(1 << 30)),
        hulls=one(0.85),
        sign_trees=one(0.85),
        euclidean_norms=one(0.85),
        corner_slopes=one(0.85),
        second_order=one(0.85),
    )


TINY = (Fraction(1, 2**18), Fraction(1, 2**30), Fraction(1, 2**45), Fraction(1, 2**51))
OFFSETS = tuple(map(Fraction, ("0.001", "0.02", "0.3"))) + TINY
"""How far from where a claim turns, as shares of the threshold; the tiniest are a last digit or two of a float."""


def random_offset(rng: np.random.Generator) -> Fraction:
    """Above or below; now and then nothing at all."""
    if rng.random() < 0.04:
        return Fraction(0)
    return OFFSETS[int(rng.integers(len(OFFSETS)))] * int(rng.choice([-1, 1]))
