"""Cases of the hunt through what a spec can say together: a claim, two networks and a region, and their truth.

All is rational, so that every point has its truth by the sentences of the page of the language; confidences and
probabilities are computed to sixty digits, and what these do not tell is unsure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np

from hunt.combined_networks import Fixed, Net, Numbers, TieError, declared, moved, random_net, with_form, written
from hunt.combined_regions import FORMAL, Region, Space, random_region, random_space
from oracle.pairs import Random

DIGITS = 60
_CLOSE = mpmath.mpf(10) ** -40


@dataclass(frozen=True)
class Truth:
    """What a claim says of one point: whether it speaks of it, and whether it is broken there; None where unsure."""

    met: bool | None
    broken: bool | None


UNSURE = Truth(None, None)


@dataclass(frozen=True)
class Claim:
    """One sentence. `bound` is None where it is the variable."""

    kind: str
    bound: Fraction | None
    norm: str
    chosen: tuple[int, ...]
    places: tuple[int, int]
    sign: int

    def text(self) -> str:
        """As a spec has it."""
        bound = "b" if self.bound is None else str(self.bound)
        match self.kind:
            case "distance":
                comparing = f" comparing {list(self.chosen)}" if self.chosen else ""
                return f"g stays within {bound} of f in {self.norm}{comparing}"
            case "linear":
                return f"g satisfies g[{self.places[0]}] - f[{self.places[1]}] <= {bound}"
            case "equal":
                return "g equals f"
            case "top1":
                return "g keeps top1 of f"
            case "wraps" | "saturates":
                return f"g never {self.kind}"
        return f"g keeps top1 of f when {self.kind} >= {bound}"

    def truth(self, f: Values, g: Values, bound: Fraction) -> Truth:
        """What it says of the values of both networks at a point."""
        match self.kind:
            case "distance" | "equal":
                apart = [abs(less(a, b)) for a, b in zip(f.given, g.given, strict=True)]
                if self.chosen and self.kind == "distance":
                    apart = [apart[i] for i in self.chosen]
                size: object = max(apart)
                if self.norm == "l1" and self.kind == "distance":
                    size = sum(apart)
                if self.norm == "l2" and self.kind == "distance":
                    return Truth(True, above(sum(a * a for a in apart), bound * bound if bound >= 0 else Fraction(-1)))
                return Truth(True, above(size, bound if self.kind == "distance" else Fraction(0)))
            case "linear":
                return Truth(True, above(less(g.given[self.places[0]], f.given[self.places[1]]), bound))
        return self._decision(f, g, bound)

    def _decision(self, f: Values, g: Values, bound: Fraction) -> Truth:
        first = [self.sign * s for s in f.scores]
        second = [self.sign * s for s in g.scores]
        met, broken = False, False
        for k, score in enumerate(first):
            if score < max(first):
                continue
            meets = self._meets(f, k, bound)
            if meets is None:
                return UNSURE
            met = met or meets
            broken = broken or (meets and max(second) > second[k])
        return Truth(met, broken)

    def _meets(self, f: Values, k: int, bound: Fraction) -> bool | None:
        if self.kind == "top1":
            return True
        if self.kind == "margin":
            leads = [self.sign * less(f.given[k], f.given[j]) for j in range(len(f.given)) if j != k]
            below = [above(bound, lead) for lead in leads]
            return None if None in below else not any(below)
        scores = [self.sign * s for s in f.scores]
        share = 1 / sum(mpmath.exp(real(s - scores[k])) for s in scores)
        below_bound = above(bound, share)
        return None if below_bound is None else not below_bound


@dataclass(frozen=True)
class Values:
    """The scores of a network at a point, and what distances are about: `given`, scores or probabilities."""

    scores: Numbers
    given: Sequence[Fraction | mpmath.mpf]


def real(x: Fraction | mpmath.mpf) -> mpmath.mpf:
    """In sixty digits."""
    return mpmath.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else x


def less(a: Fraction | mpmath.mpf, b: Fraction | mpmath.mpf) -> Fraction | mpmath.mpf:
    """a - b, exactly if both are fractions."""
    return a - b if isinstance(a, Fraction) and isinstance(b, Fraction) else real(a) - real(b)


def above(first: object, second: object) -> bool | None:
    """Whether one number is above another; None where sixty digits are too few to tell."""
    if isinstance(first, Fraction | int) and isinstance(second, Fraction | int):
        return first > second
    apart = real(first) - real(second)
    return None if abs(apart) < _CLOSE else bool(apart > 0)


def values(net: Net, space: Space, x: Numbers, outputs: int) -> Values:
    """What a network gives at a raw point, as the space reads it."""
    scores = net.scores(x, space.normalised(x))
    if net.ending == "sigmoid" and outputs == 2:
        scores = (Fraction(0), *scores)
    given: Sequence[Fraction | mpmath.mpf] = scores
    if net.ending == "sigmoid" and outputs == 1:
        given = [1 / (1 + mpmath.exp(-real(scores[0])))]
    elif net.gives == "probabilities":
        powers = [mpmath.exp(real(s)) for s in scores]
        given = [p / sum(powers) for p in powers]
    return Values(scores, given)


@dataclass(frozen=True)
class Case:
    """A spec and what its parts mean. `tried` are the values of the variables (the formal parameter, the bound)."""

    space: Space
    outputs: int
    f: Net
    g: Net
    region: Region
    claim: Claim
    sweep: tuple[Fraction, ...]
    find: tuple[str, str, Fraction, Fraction] | None
    arithmetic: str

    def spec(self) -> str:
        """The text."""
        on = "r(v)" if self.region.formal else "r"
        parts = [f"prove {self.claim.text()}", f"on {on}"]
        if self.sweep:
            parts.append(f"for {FORMAL if self.region.formal else 'b'} in [{', '.join(map(str, self.sweep))}]")
        if self.find is not None:
            direction, name, low, high = self.find
            parts.append(f"find {direction} {name} in {low} .. {high} to {(high - low) / 64}")
        if self.arithmetic == "float32":
            parts.append("arithmetic float32")
        decide = "max" if self.claim.sign > 0 else "min"
        return "\n".join([
            "eqspec 1",
            self.space.text(self.outputs, decide),
            declared(self.f, "f"),
            declared(self.g, "g", "f"),
            *self.region.declared(),
            f"check c {{ {'  '.join(parts)} }}\n",
        ])  # fmt: skip

    def truth(self, x: Numbers, bound: Fraction) -> Truth:
        """What the claim says of a raw point."""
        with mpmath.workdps(DIGITS):
            try:
                if self.claim.kind in ("wraps", "saturates"):
                    return Truth(True, self._out_of_type(x))
                first, second = (values(net, self.space, x, self.outputs) for net in (self.f, self.g))
                return self.claim.truth(first, second, bound)
            except TieError:
                return UNSURE

    def _out_of_type(self, x: Numbers) -> bool | None:
        """Whether a number of the candidate wraps or saturates; of a type that does the other one, none does."""
        held = self.g.type
        assert held is not None
        if held.saturates != (self.claim.kind == "saturates"):
            return False
        return self.g.leaves_types(x, self.space.normalised(x))


def claim_of(rng: Random, outputs: int, *, variable: bool) -> Claim:
    kinds = ["distance", "distance", "linear", "equal"]
    kinds += ["top1", "top1", "confidence", "margin"] if outputs > 1 else []
    kind = str(rng.choice(kinds))
    bound: Fraction | None = Fraction(int(rng.choice([0, 1, 2, 4, 8, 16, 32])), 16)
    if kind == "linear":
        bound = Fraction(int(rng.integers(-16, 17)), 16)
    if kind == "confidence":
        bound = Fraction(int(rng.choice([4, 5, 6, 7, 9])), 10)
    if variable and kind in ("distance", "linear", "confidence", "margin"):
        bound = None
    size = int(rng.integers(1, outputs + 1))
    chosen = tuple(int(n) for n in rng.permutation(outputs)[:size]) if rng.random() < 0.3 else ()
    i, j = (int(n) for n in rng.integers(0, outputs, 2))
    norm = str(rng.choice(["linf", "linf", "l1", "l2"]))
    return Claim(kind, bound, norm, chosen, (i, j), -1 if rng.random() < 0.3 else 1)


def case_of(seed: int) -> Case:
    """The case of a seed."""
    rng = np.random.default_rng([seed, 31])
    inputs, outputs = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    space = random_space(rng, inputs)
    f = random_net(rng, inputs, outputs)
    formal, variable = bool(rng.random() < 0.35), bool(rng.random() < 0.3)
    claim = claim_of(rng, outputs, variable=variable and not formal)
    g = partner(rng, f)
    if g.type is not None and not (formal or variable) and rng.random() < 0.4:
        claim = replace(claim, kind=str(rng.choice(["wraps", "wraps", "saturates"])))
    f, g = said(rng, f, claim), said(rng, g, claim)
    g = g if g.type is None else replace(f, type=g.type)  # it gives what the other one gives
    region = random_region(rng, space, formal=formal)
    sweep: tuple[Fraction, ...] = ()
    find = None
    if formal:
        if rng.random() < 0.5:
            sweep = tuple(Fraction(int(n), 4) for n in rng.integers(1, 13, 2))
        else:
            find = ("largest", FORMAL, Fraction(1, 8), Fraction(int(rng.integers(1, 9)), 2))
    elif claim.bound is None:
        low, high = {"confidence": (Fraction(2, 5), Fraction(99, 100)), "linear": (Fraction(-2), Fraction(4))}.get(
            claim.kind, (Fraction(1, 64), Fraction(4))
        )
        if rng.random() < 0.3:
            sweep = tuple(low + (high - low) * Fraction(int(n), 16) for n in rng.integers(1, 17, 2))
        else:
            find = ("smallest", "b", low, high)
    arithmetic = "float32" if rng.random() < 0.1 else "real"
    return Case(space, outputs, f, g, region, claim, tuple(dict.fromkeys(sweep)), find, arithmetic)


def partner(rng: Random, f: Net) -> Net:
    """The same layers in another form, moved a little; or a type of the network itself."""
    chained = f == Net(f.layers, f.tensors, ("float",), f.raw, ending=f.ending) and f.ending != "hidden"
    if chained and rng.random() < 0.5:
        whole = int(rng.integers(2, 7))
        held = Fixed(whole + int(rng.integers(0, 7)), whole, bool(rng.random() < 0.3), bool(rng.random() < 0.2))
        return replace(f, type=held)
    near = f if rng.random() < 0.3 else moved(rng, f)
    return near if rng.random() < 0.4 else with_form(rng, near)


def said(rng: Random, net: Net, claim: Claim) -> Net:
    """With what it gives, where it has to be said, or now and then."""
    if net.ending != "softmax" or (claim.kind in ("top1", "confidence") and rng.random() < 0.6):
        return net
    return replace(net, gives=str(rng.choice(["logits", "probabilities"])))


def write_files(case: Case, folder: Path) -> None:
    """The files that the spec names."""
    for name, net in (("f", case.f), ("g", case.g)):
        if net.type is None:
            (folder / f"{name}.onnx").write_bytes(written(net).SerializeToString())
