"""Cases of a seed, and hunts through blocks of seeds; counts what was seen, and shrinks what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hunt.cases import CHANNELS, Case, Channel, Mode, random_mode, random_offset, write
from hunt.judging import judge
from hunt.pairs import random_pair
from hunt.shrinking import shrink
from oracle.queries import Claim, ask, oracle_of

CLAIMS: tuple[Claim, ...] = ("epsilon", "epsilon", "linear", "top1", "margin", "confidence", "confidence")
MODES = 6
"""Each claim is decided in so many modes."""
MOST_SHRUNK = 3
"""Of a block; where much is wrong, little of it is enough."""


@dataclass
class Catch:
    """What a hunt saw: how many cases, of what, and the cases (shrunk, as text) that went wrong."""

    cases: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Catch) -> None:
        """Take in what another hunt saw."""
        self.cases += other.cases
        self.seen.update(other.seen)
        self.wrong.extend(other.wrong)


def cases(seed: int, channels: Sequence[Channel] = CHANNELS) -> Iterator[tuple[Case, str]]:
    """Every case of a seed, by some of the channels, and what was done to its pair."""
    pair, change = random_pair(seed)
    oracle = oracle_of(pair)
    for number, kind in enumerate(CLAIMS):
        rng = np.random.default_rng([seed, 11, number])
        try:
            asked = ask(rng, kind, pair, oracle, random_offset(rng))
        except ArithmeticError:
            continue  # the oracle's square roots and softmax are for numbers of ordinary size
        case = Case(asked.pair, asked.oracle, asked.claim, asked.breaks, Mode(), asked.excuse == "softmax")
        for _ in range(MODES):
            yield replace(case, mode=random_mode(rng, channels)), change


def hunt(first: int, seeds: int, channels: Sequence[Channel] = CHANNELS) -> Catch:
    """All cases of a block of seeds, by some of the channels."""
    catch = Catch()
    for seed in range(first, first + seeds):
        for case, change in cases(seed, channels):
            judgement = judge(case)
            catch.cases += 1
            catch.seen.update([*judgement.traits, f"pair {change}", f"pair {case.pair.kind}"])
            if judgement.complaint:
                catch.seen["wrong"] += 1
                if len(catch.wrong) < MOST_SHRUNK:
                    small, complaint = shrink(case, judgement.complaint)
                    catch.wrong.append(write(small, complaint))
    return catch
