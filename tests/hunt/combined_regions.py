"""Regions in the forms of the language, with the points that lie in them, by the sentences of its page.

A region is terms joined by `and`. Each term is its text and what it asks: bounds of features, lattices, half-spaces. A
term may depend on the region's formal parameter. Where every feature lies on a lattice all points are listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil, floor

from oracle.pairs import Random

Numbers = tuple[Fraction, ...]
FORMAL = "v"


@dataclass(frozen=True)
class Space:
    """Raw inputs, and their normalisation N(x) = (x - mean) / std, which has no name if it is none."""

    mean: Numbers
    std: Numbers
    normaliser: str
    domain: tuple[Fraction, Fraction] | None

    def normalised(self, x: Numbers) -> Numbers:
        """N(x)."""
        return tuple((v - m) / s for v, m, s in zip(x, self.mean, self.std, strict=True))

    @property
    def features(self) -> list[str]:
        """Their names."""
        return [f"x{i}" for i in range(len(self.mean))]

    def text(self, outputs: int, decide: str) -> str:
        """The declaration."""
        low = self.mean
        high = tuple(m + s for m, s in zip(self.mean, self.std, strict=True))
        said = {
            "none": "",
            "zscore": f"normalise zscore mean {listed(self.mean)} std {listed(self.std)}",
            "minmax": f"normalise minmax low {listed(low)} high {listed(high)}",
        }[self.normaliser]
        domain = "" if self.domain is None else f"domain {self.domain[0]} .. {self.domain[1]}"
        return f"space s {{ features {', '.join(self.features)} {domain} {said} outputs {outputs} decide {decide} }}"


def listed(numbers: Numbers) -> str:
    """As a spec has a list."""
    return f"[{', '.join(map(str, numbers))}]"


@dataclass
class Points:
    """What the terms of a region ask, at one value of the formal parameter."""

    low: list[Fraction]
    high: list[Fraction]
    lattices: list[list[tuple[Fraction, Fraction]]]
    halves: list[tuple[Numbers, Fraction]] = field(default_factory=list)

    def bound(self, feature: int, low: Fraction, high: Fraction) -> None:
        """One feature lies between."""
        self.low[feature] = max(self.low[feature], low)
        self.high[feature] = min(self.high[feature], high)

    def has(self, x: Numbers) -> bool:
        """Whether a point is in the region."""
        return (
            all(a <= v <= b for a, v, b in zip(self.low, x, self.high, strict=True))
            and all(((v - c) / d).denominator == 1 for v, on in zip(x, self.lattices, strict=True) for c, d in on)
            and all(sum((a * v for a, v in zip(row, x, strict=True)), Fraction(0)) <= b for row, b in self.halves)
        )

    def along(self, feature: int, rng: Random, most: int) -> tuple[list[Fraction], bool]:
        """Values of a feature to be tried, and whether there are no others."""
        low, high = self.low[feature], self.high[feature]
        if low > high:
            return [], True
        if self.lattices[feature]:
            offset, step = self.lattices[feature][0]
            first, last = ceil((low - offset) / step), floor((high - offset) / step)
            if last - first < most:
                return [offset + k * step for k in range(first, last + 1)], True
            chosen = {first, last, *(first + int(k) for k in rng.integers(0, min(last - first, 2**40), most))}
            return [offset + k * step for k in sorted(chosen)], False
        if low == high:
            return [low], True
        parts = {0, 840, 420, *(int(n) for n in rng.integers(0, 841, max(most // 2, 4)))}
        inside = [low + (high - low) * Fraction(n, 840) for n in sorted(parts)]
        whole = range(ceil(low), floor(high) + 1)
        return inside + [Fraction(n) for n in whole[: most // 2]], False

    def listed(self, rng: Random) -> tuple[list[Numbers], bool]:
        """Points of the region, and whether these are all."""
        most = {1: 600, 2: 30, 3: 10}[len(self.low)]
        axes = [self.along(feature, rng, most) for feature in range(len(self.low))]
        return [x for x in product(*(values for values, _ in axes)) if self.has(x)], all(whole for _, whole in axes)


@dataclass(frozen=True)
class Term:
    """A term of a region: its text, and the numbers that it is made of, one of which may be the formal parameter."""

    kind: str
    text: str
    numbers: tuple[tuple[int, Fraction | None, Fraction, bool], ...]

    def ask(self, points: Points, space: Space, formal: Fraction) -> None:
        """What the term asks. A number that is None is the formal parameter.

        box and ball: (feature, radius, centre, of sigmas); grid: (feature, step, offset, of sigmas); where: (feature,
        coefficient, bound, whether it is the last).
        """
        row = [Fraction(0)] * len(points.low)
        for feature, first, second, flag in self.numbers:
            size = formal if first is None else first
            if self.kind == "where":
                row[feature] += size
                if flag:
                    points.halves.append((tuple(row), second))
                continue
            size *= space.std[feature] if flag else 1
            if self.kind == "grid":
                points.lattices[feature].append((second, size))
            else:
                points.bound(feature, second - size, second + size)


def _small(rng: Random, parts: int = 4, most: int = 12) -> Fraction:
    return Fraction(int(rng.integers(-most, most + 1)), parts)


def _size(rng: Random) -> Fraction:
    return Fraction(int(rng.integers(1, 13)), int(rng.choice([1, 2, 3, 4])))


def _radius(rng: Random, *, formal: bool) -> tuple[Fraction | None, str]:
    if formal and rng.random() < 0.6:
        return None, FORMAL
    size = _size(rng)
    return size, str(size)


def box(rng: Random, space: Space, *, formal: bool) -> Term:
    """Bounds of every feature, one by one or all at once."""
    features, texts, numbers = space.features, [], []
    scored = space.normaliser == "zscore"
    together = scored and rng.random() < 0.3
    common, written = _radius(rng, formal=formal)
    for i, name in enumerate(features):
        if together and rng.random() < 0.6:
            numbers.append((i, common, space.mean[i], True))
            continue
        centre = _small(rng) + (space.mean[i] if space.normaliser != "none" else 0)
        match int(rng.integers(5)):
            case 0:
                texts.append(f"{name} = {centre}")
                numbers.append((i, Fraction(0), centre, False))
            case 1 if scored:
                size, text = _radius(rng, formal=formal)
                of = rng.random() < 0.5
                texts.append(f"{name} within {text} sigma" + (f" of {centre}" if of else ""))
                numbers.append((i, size, centre if of else space.mean[i], True))
            case _:
                size, text = _radius(rng, formal=formal)
                texts.append(f"{name}: {centre} - {text} .. {centre} + {text}")
                numbers.append((i, size, centre, False))
    if together:
        texts.insert(int(rng.integers(len(texts) + 1)), f"all within {written} sigma")
    return Term("box", f"box {{ {'  '.join(texts)} }}", tuple(numbers))


def ball(rng: Random, space: Space, *, formal: bool) -> Term:
    """A ball around a point or the mean."""
    size, text = _radius(rng, formal=formal)
    sigma = space.normaliser == "zscore" and rng.random() < 0.5
    if space.normaliser == "zscore" and rng.random() < 0.3:
        centre, where = space.mean, "mean"
    else:
        centre = tuple(_small(rng) + (m if space.normaliser != "none" else 0) for m in space.mean)
        where = f"point {listed(centre)}"
    said = f"ball linf {text}{' sigma' if sigma else ''} around {where}"
    return Term("ball", said, tuple((i, size, c, sigma) for i, c in enumerate(centre)))


def grid(rng: Random, space: Space) -> Term:
    """Lattices of all features, or of some."""
    texts, numbers = [], []
    scored = space.normaliser == "zscore"
    step = Fraction(1, int(rng.choice([1, 2, 4, 3])))
    common = rng.random() < 0.5
    sigmas = scored and rng.random() < 0.5
    for i, name in enumerate(space.features):
        if common and rng.random() < 0.7:
            numbers.append((i, step, space.mean[i] if sigmas else Fraction(0), sigmas))
        elif common or rng.random() < 0.85:
            own, of = Fraction(1, int(rng.choice([1, 2, 5]))), rng.random() < 0.5
            own_sigma = scored and rng.random() < 0.4
            offset = _small(rng, 3) if of else space.mean[i] if own_sigma else Fraction(0)
            texts.append(f"{name} step {own}{' sigma' if own_sigma else ''}{f' from {offset}' if of else ''}")
            numbers.append((i, own, offset, own_sigma))
    if common:
        texts.append(f"all step {step}{' sigma' if sigmas else ''}")
    if not texts:
        return Term("grid", f"grid {{ {space.features[0]} step 1 }}", ((0, Fraction(1), Fraction(0), False),))
    return Term("grid", f"grid {{ {'  '.join(texts)} }}", tuple(numbers))


def where(rng: Random, space: Space) -> Term:
    """One inequality between features."""
    row = [Fraction(int(n), 2) for n in rng.integers(-3, 4, len(space.mean))]
    if not any(row):
        row[0] = Fraction(1)
    centre = sum((a * m for a, m in zip(row, space.mean, strict=True) if space.normaliser != "none"), Fraction(0))
    bound = centre + _small(rng, 4, 24)
    used = [i for i, a in enumerate(row) if a]
    text = " + ".join(f"({row[i]}) * x{i}" for i in used)
    numbers = tuple((i, row[i], bound, i == used[-1]) for i in used)
    return Term("where", f"where {{ {text} <= {bound} }}", numbers)


@dataclass(frozen=True)
class Region:
    """Terms, which may be given in two regions of which one is a part of the other."""

    space: Space
    terms: tuple[Term, ...]
    nested: bool
    formal: bool

    def points(self, formal: Fraction) -> Points:
        """What is asked of points at a value of the formal parameter."""
        size = len(self.space.mean)
        domain = self.space.domain
        far = Fraction(10**6)
        low, high = (-far, far) if domain is None else domain
        points = Points([low] * size, [high] * size, [[] for _ in range(size)])
        for term in self.terms:
            term.ask(points, self.space, formal)
        return points

    def declared(self) -> Iterator[str]:
        """The declarations; the region is called r."""
        formals = f"({FORMAL})" if self.formal else ""
        texts = [term.text for term in self.terms]
        if self.nested:
            yield f"region inner{formals} in s = {texts[0]}"
            texts[0] = f"inner{formals}"
        yield f"region r{formals} in s = {' and '.join(texts)}"


def random_region(rng: Random, space: Space, *, formal: bool) -> Region:
    """Any region."""
    terms = [box(rng, space, formal=formal) if rng.random() < 0.7 else ball(rng, space, formal=formal)]
    if rng.random() < 0.2:
        terms.append(ball(rng, space, formal=formal))
    if rng.random() < 0.6:
        terms.append(grid(rng, space))
    if rng.random() < 0.35:
        terms.append(where(rng, space))
    return Region(space, tuple(terms), bool(rng.random() < 0.4), formal)


def random_space(rng: Random, size: int) -> Space:
    """Any space of so many inputs."""
    normaliser = str(rng.choice(["none", "zscore", "zscore", "minmax"]))
    if normaliser == "none":
        mean, std = (Fraction(0),) * size, (Fraction(1),) * size
    else:
        mean = tuple(_small(rng, int(rng.choice([1, 3]))) for _ in range(size))
        std = tuple(_size(rng) for _ in range(size))
    domain = (Fraction(-20), Fraction(int(rng.integers(0, 20)))) if rng.random() < 0.2 else None
    return Space(mean, std, normaliser, domain)
