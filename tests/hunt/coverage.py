"""What a hunt must have seen to mean anything: every mode, claim, stage and verdict in a share of the cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import exp, lgamma, log

from hunt.cases import CHANNELS, SOLVERS, STAGES_OFF
from hunt.judging import STAGES
from hunt.pairs import CHANGES
from oracle.pairs import KINDS

LEAST: Mapping[str, float] = {
    **{f"no {word}": 0.04 for word in STAGES_OFF},
    **dict.fromkeys(CHANNELS, 0.003),
    **{f"domain {word}": 0.1 for word in ("shared", "paper", "naive")},
    **{f"solver {word}": 0.02 for word in SOLVERS},
    **dict.fromkeys(("1 threads", "2 threads", "lp", "no lp", "contract", "no contract", "contract always"), 0.08),
    "inputs as they are": 0.3,
    "inputs >= 9": 0.1,
    "inputs >= 66": 0.01,
    "smudged": 0.03,
    "few bytes": 0.02,
    "no zonotopes": 0.02,
    "float32": 0.01,
    "float32 refused": 0.0005,
    **{f"float32 {verdict}": 0.0005 for verdict in ("equivalent", "different", "unknown")},
    **{f"audited {verdict}": 0.0005 for verdict in ("equivalent", "different")},
    **dict.fromkeys(("forged", "resumed"), 0.0003),
    **dict.fromkeys(("from the cache", "asked changed"), 0.003),
    **{
        f"{claim} {verdict}": 0.005
        for claim in ("Epsilon", "Top1", "Margin", "Confidence", "Linear")
        for verdict in ("equivalent", "different", "unknown")
    },
    **{
        f"{domain} {verdict}": 0.005
        for domain in ("shared", "paper", "naive")
        for verdict in ("equivalent", "different")
    },
    **{f"norm {norm}": 0.03 for norm in ("linf", "l1", "l2")},
    **{f"stage {stage}": 0.002 for stage in STAGES},
    "breaks True": 0.2,
    "breaks False": 0.3,
    "vacuous": 0.01,
    "constraints": 0.1,
    "lowest wins": 0.05,
    "fixed input": 0.05,
    "a point": 0.003,
    "splits": 0.1,
    "exact softmax": 0.0005,
    "contracted after a split": 0.002,
    "split by phase": 0.002,
    **{f"because {reason}": 0.002 for reason in ("boxes", "float_only")},
    **{f"pair {word}": 0.005 for word in (*KINDS, *CHANGES, "plain")},
}
"""Shares of all cases; about a third of what a long hunt sees. Of what is rare, a short hunt may see none by chance."""

REFUSED_AT_MOST = 0.005
"""Proofs without a certificate, as a share of those that were to have one."""

_BY_CHANCE = 0.005
"""What comes as seldom in at most this share of hunts is missing; what comes so more often may be missed by chance."""


def missing(seen: Counter[str], cases: int) -> dict[str, str]:
    """What was seen too rarely, or too often: how often, and how often it should have been."""
    found = {
        trait: f"{seen[trait]} of at least {share * cases:.0f}"
        for trait, share in LEAST.items()
        if seen[trait] < share * cases and _chance(seen[trait], 3 * share * cases) < _BY_CHANCE
    }
    refused, most = seen["no certificate"], REFUSED_AT_MOST * (seen["no certificate"] + seen["audited equivalent"])
    return found | ({"no certificate": f"{refused} of at most {most:.0f}"} if refused > max(most, 3) else {})


def _chance(most: int, mean: float) -> float:
    """How likely what comes so often on average comes at most so often: the sum of Poisson's terms."""
    return sum(exp(count * log(mean) - mean - lgamma(count + 1)) for count in range(most + 1))
