"""Random pairs in the kernel's form, evaluated in rationals; claims about them that break; records that were changed.

What breaks is known from a point: both networks are evaluated there as the grammar of `kernel/README.md` says, logistic
functions by mpmath to 60 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from random import Random

from mpmath import exp, mpf, workdps

from eqspec.kernel.smooth import written
from eqspec.networks.quantiser import Rounding
from quantiser_definition import rounded

Bent = tuple[int, int, tuple[tuple[int, int], ...]]
Levels = tuple[int, int, int, int, str, bool]
"""The size of a step in multiples of 1 / grain, the zero point, both ends, how it rounds, and whether it wraps."""


@dataclass(frozen=True)
class Logistic:
    """foot + rise sigmoid(v / stretch), in multiples of 1 / grain, and the text with a function that follows it."""

    rise: int
    stretch: int
    foot: int
    text: str

    @classmethod
    def followed(cls, rise: int, stretch: int, foot: int) -> Logistic:
        """As nearly as eqspec does."""
        return cls(rise, stretch, foot, written(rise, stretch, foot))

    def at(self, v: Fraction) -> Fraction:
        """Its value, off by less than SLIVER."""
        with workdps(60):
            x = v * GRAIN / self.stretch
            sigmoid = 1 / (1 + exp(-mpf(x.numerator) / x.denominator))
            whole = int(sigmoid * 10**50)
        return Fraction(self.foot, GRAIN) + Fraction(self.rise, GRAIN) * Fraction(whole, 10**50)


Function = Bent | Levels | Logistic
SLIVER = Fraction(1, 10**40)
ROUNDINGS = {
    "half-even": Rounding.HALF_EVEN,
    "half-away": Rounding.HALF_AWAY,
    "half-zero": Rounding.HALF_ZERO,
    "down": Rounding.FLOOR,
    "up": Rounding.CEIL,
    "to-zero": Rounding.ZERO,
    "from-zero": Rounding.AWAY,
}
GRAIN = 2**12
ONE = GRAIN
FUNCTIONS: tuple[Function, ...] = (
    (0, 0, ((0, 1),)),  # ReLU
    (1, 0, ((0, 3),)),  # 4 times a leaky ReLU of slope 1/4
    (0, 0, ((0, 1), (ONE, -1))),  # a clip to 0 .. 1
    (-1, 0, ((0, 2),)),  # the absolute value
    (0, -ONE, ((-ONE, 1), (ONE, -1))),  # a clip to -1 .. 1
    (2, ONE // 2, ((-ONE // 2, -3), (0, 1), (ONE // 4, 2))),  # neither monotone nor convex
)
SMOOTH = (
    Logistic.followed(64 * ONE, ONE, 0),  # 64 times a sigmoid
    Logistic.followed(32 * ONE, ONE // 2, -16 * ONE),  # 16 times a tanh
    Logistic.followed(100 * ONE, 3 * ONE, -7),
)
IDENTITY: Function = (1, 0, ())


@dataclass(frozen=True)
class Neuron:
    """In either network a function, a bias in multiples of 1 / grain and a row; and what the text says instead."""

    functions: tuple[Function, Function]
    biases: tuple[int, int]
    rows: tuple[tuple[int, ...], tuple[int, ...]]
    said: tuple[tuple[int, tuple[int, ...]], ...] = ()

    def words(self) -> Iterator[object]:
        """Biases and rows as the kernel reads them, with errors that just cover what is said instead."""
        said = self.said or tuple(zip(self.biases, self.rows, strict=True))
        for bias, row, (other, near) in zip(self.biases, self.rows, said, strict=True):
            off, slack = sum(abs(a - b) for a, b in zip(row, near, strict=True)), abs(bias - other)
            short = in_runs(near)
            yield from [f"{other}~{off}~{slack}" if off or slack else other, len(short), *short]


@dataclass(frozen=True)
class Pair:
    """Layers from the first to the last, each with its denominator."""

    inputs: int
    layers: tuple[tuple[int, tuple[Neuron, ...]], ...]

    @property
    def outputs(self) -> int:
        """Of either network."""
        return len(self.layers[-1][1])

    def text(self) -> str:
        """As the kernel reads it."""
        words: list[object] = ["pair", self.inputs, len(self.layers)]
        for denominator, neurons in self.layers:
            functions = list(dict.fromkeys(f for neuron in neurons for f in neuron.functions))
            words += ["layer", denominator, len(functions)]
            for function in functions:
                if isinstance(function, Logistic):
                    words.append(function.text)
                elif len(function) == 6:
                    words += ["wrapping" if function[5] else "levels", *function[:5]]
                else:
                    base, shift, kinks = function
                    words += [base, shift, len(kinks), *(number for kink in kinks for number in kink)]
            words.append(len(neurons))
            for neuron in neurons:
                one, other = map(functions.index, neuron.functions)
                words.append(one if one == other else f"{one}/{other}")
                words += neuron.words()
        return " ".join(map(str, [*words, "end"]))

    def arguments(self, point: Sequence[Fraction], side: int) -> Iterator[list[tuple[Function, Fraction]]]:
        """Of the functions of one of the networks, layer by layer."""
        values = list(point)
        for denominator, neurons in self.layers:
            sums = [
                (sum(w * x for w, x in zip(n.rows[side], values, strict=True)) + Fraction(n.biases[side], GRAIN))
                / denominator
                for n in neurons
            ]
            yield [(n.functions[side], v) for n, v in zip(neurons, sums, strict=True)]
            values = [value(n.functions[side], v) for n, v in zip(neurons, sums, strict=True)]

    def at(self, point: Sequence[Fraction], side: int) -> list[Fraction]:
        """What one of the networks computes."""
        *_, last = self.arguments(point, side)
        return [value(function, v) for function, v in last]

    def fits(self, point: Sequence[Fraction], wrapping: bool) -> bool:
        """Whether every level of the second network that may wrap (or saturate) lies in its type at a point."""
        every = [(f, v) for layer in self.arguments(point, 1) for f, v in layer if not isinstance(f, Logistic)]
        return all(f[2] <= level_of(f, v) <= f[3] for f, v in every if len(f) == 6 and f[5] == wrapping)

    @property
    def is_rational(self) -> bool:
        """Whether it is evaluated exactly."""
        functions = [f for _, neurons in self.layers for neuron in neurons for f in neuron.functions]
        return not any(isinstance(f, Logistic) for f in functions)


def in_runs(row: Sequence[int]) -> list[object]:
    """A row with *K for K zeros, wherever they are; a zero behind an odd weight is written out."""
    words = list[object]()
    for w, several in groupby(row):
        zeros = len(list(several))
        written_out = w != 0 or (words and not str(words[-1]).startswith("*") and int(str(words[-1])) % 2 == 1)
        words += [w] * zeros if written_out else [f"*{zeros}"]
    return words


def value(function: Function, v: Fraction) -> Fraction:
    """Of a function."""
    if isinstance(function, Logistic):
        return function.at(v)
    if len(function) == 6:
        size, zero, least, greatest, _, wraps = function
        level = level_of(function, v)
        brought = least + (level - least) % (greatest - least + 1) if wraps else min(max(level, least), greatest)
        return Fraction(size, GRAIN) * (brought - zero)
    base, shift, kinks = function
    return base * v + Fraction(shift, GRAIN) + sum(s * max(Fraction(0), v - Fraction(b, GRAIN)) for b, s in kinks)


def level_of(function: Levels, v: Fraction) -> int:
    """Before it is brought into the type."""
    size, zero, *_, rounding, _ = function
    return rounded(v * GRAIN / size + zero, ROUNDINGS[rounding])


def quantiser(random: Random) -> Function:
    """With any rounding, and few or many levels; one in four wraps."""
    least = random.randint(-3, 2)
    size = random.choice([ONE // 64, ONE // 8, ONE // 3, ONE])
    return (
        size,
        random.choice([0, 0, 1, -2]),
        least,
        least + random.choice([0, 1, 15, 200]),
        random.choice([*ROUNDINGS]),
        random.random() < 0.25,
    )


def misfollowed(function: Logistic, random: Random) -> Logistic:
    """The same function with a text that says something else of what follows it, or of how near that is."""
    words = function.text.split()
    at = random.randrange(4, len(words))
    old = int(words[at])
    words[at] = str(random.choice([old - 1, old + 1, old // 2, 0, -old, old - GRAIN, 2 * old]))
    return replace(function, text=" ".join(words))


def random_pair(random: Random) -> Pair:
    """Two networks that are alike; often with quantisers or logistic functions, on one side or on both."""
    inputs, function = random.randint(1, 3), random.choice(FUNCTIONS)
    few = [*FUNCTIONS, quantiser(random), quantiser(random), random.choice(SMOOTH), IDENTITY]
    kind = random.random()
    if kind < 0.3:
        function = quantiser(random)
    elif kind < 0.5:
        smooth = random.choice(SMOOTH)
        function = misfollowed(smooth, random) if random.random() < 0.2 else smooth
    sizes = [random.randint(1, 4) for _ in range(random.randint(1, 2))] + [random.randint(1, 3)]
    layers, before = [], inputs
    for depth, width in enumerate(sizes):
        denominator, neurons = random.choice([4, 7, 16]), []
        for _ in range(width):
            row = [random.randint(-12, 12) for _ in range(before)]
            bias = random.randint(-8, 8) * GRAIN
            other = [w + random.choice([-1, 0, 0, 1]) for w in row]
            f = IDENTITY if depth == len(sizes) - 1 else function if random.random() < 0.8 else random.choice(few)
            g = random.choice(few) if f is not IDENTITY and random.random() < 0.2 else f
            if random.random() < 0.3:
                for at in random.sample(range(before), random.randint(1, before)):
                    row[at] = other[at] = 0
            neurons.append(Neuron((f, g), (bias, bias + random.randint(-GRAIN, GRAIN)), (tuple(row), tuple(other))))
        layers.append((denominator, tuple(neurons)))
        before = width
    return Pair(inputs, tuple(layers))


def written_otherwise(function: Levels, random: Random) -> Levels:
    """A quantiser with another zero point, other ends or another rounding, which may be the same function or not."""
    size, zero, least, greatest, rounding, wraps = function
    kind = random.random()
    if kind < 0.4:
        more = random.choice([1, 2, -2, 128])
        return size, zero + more, least + more, greatest + more, rounding, wraps
    if kind < 0.7:
        wraps ^= random.random() < 0.3
        return size, zero, least - random.choice([0, 1, 100]), greatest + random.choice([0, 1, 100]), rounding, wraps
    return (size, zero, least, greatest, random.choice([*ROUNDINGS]), wraps) if kind < 0.75 else function


def twins(random: Random) -> Pair:
    """Two quantised networks of the same rows, with quantisers written in different ways; seldom one weight differs."""
    before = inputs = random.randint(1, 3)
    layers = []
    sizes = [random.randint(1, 3) for _ in range(random.randint(1, 2))] + [random.randint(1, 2)]
    for depth, width in enumerate(sizes):
        neurons = []
        for _ in range(width):
            row, bias = [random.randint(-6, 6) for _ in range(before)], random.randint(-4, 4) * GRAIN // 2
            other = [w + (random.random() < 0.01) for w in row]
            f: Function = IDENTITY
            g: Function = IDENTITY
            if depth < len(sizes) - 1:
                least = random.choice([-128, -8, 0])
                rounding = random.choice(["half-even", "half-even", "down", "up", *ROUNDINGS])
                levels = ONE // random.choice([2, 4, 8]), 0, least, least + 255, rounding, random.random() < 0.3
                f, g = levels, written_otherwise(levels, random)
            neurons.append(Neuron((f, g), (bias, bias), (tuple(row), tuple(other))))
        layers.append((random.choice([4, 8]), tuple(neurons)))
        before = width
    return Pair(inputs, tuple(layers))


def blurred(pair: Pair, random: Random) -> Pair:
    """The same networks, of which the text says something near; often one and the same row for both."""

    def near(neuron: Neuron) -> Neuron:
        said = []
        for bias, row in zip(neuron.biases, neuron.rows, strict=True):
            moved = tuple(w + random.choice([-1, 0, 0, 1]) for w in row)
            said.append((bias + random.choice([0, 0, GRAIN // 8, 1]), moved))
        if random.random() < 0.5:
            said[1] = said[0]
        return replace(neuron, said=tuple(said)) if random.random() < 0.6 else neuron

    return Pair(pair.inputs, tuple((d, tuple(map(near, neurons))) for d, neurons in pair.layers))


def question(pair: Pair, claim: str) -> str:
    """A claim on the box -1 .. 1, of which a corner is cut off."""
    sides = " ".join(["-1 1 1 1"] * pair.inputs)
    corner = " ".join(["1"] * pair.inputs)
    return f"question {GRAIN} ranges {sides} inequalities 1 {pair.inputs} {corner} {pair.inputs} 2 claim {claim} end"


def points(pair: Pair, random: Random, count: int) -> list[list[Fraction]]:
    """Of the region."""
    found: list[list[Fraction]] = []
    while len(found) < count:
        ends = random.random() < 0.3
        point = [Fraction(random.choice([-8, 8]) if ends else random.randint(-8, 8), 8) for _ in range(pair.inputs)]
        if sum(point) <= Fraction(pair.inputs, 2):
            found.append(point)
    return found


def stored(random: Random) -> Pair:
    """A quantised network beside itself, whose types are often just large enough."""
    before = inputs = random.randint(1, 3)
    layers = []
    for width in [random.randint(1, 3) for _ in range(random.randint(1, 3))]:
        neurons = []
        for _ in range(width):
            row = tuple(random.randint(-6, 6) for _ in range(before))
            bias = random.randint(-4, 4) * GRAIN // 2
            bits, zero = random.choice([3, 4, 5]), random.choice([0, 0, 1, -2])
            least = -(1 << bits) + zero
            greatest, rounding = least + (2 << bits) - 1, random.choice([*ROUNDINGS])
            f: Function = (ONE // 4, zero, least, greatest, rounding, random.random() < 0.5)
            neurons.append(Neuron((f, f), (bias, bias), (row, row)))
        layers.append((random.choice([2, 4]), tuple(neurons)))
        before = width
    return Pair(inputs, tuple(layers))


def with_room(pair: Pair) -> Pair:
    """The same with wider types, so that its text has the same layers and its proofs the same records."""

    def wider(f: Function) -> Function:
        return f if isinstance(f, Logistic) or len(f) != 6 else (*f[:2], f[2] - 1000, f[3] + 1000, *f[4:])

    layers = [
        (denominator, tuple(replace(n, functions=(wider(n.functions[0]), wider(n.functions[1]))) for n in neurons))
        for denominator, neurons in pair.layers
    ]
    return Pair(pair.inputs, tuple(layers))


Claim = Callable[[Fraction], str]


def claims(pair: Pair, random: Random) -> list[tuple[Claim, Fraction]]:
    """Claims by their threshold, and a threshold at which they are broken by a point, as is every smaller one."""
    ends = [(pair.at(point, 0), pair.at(point, 1)) for point in points(pair, random, 40)]
    every = " ".join(map(str, [pair.outputs, *range(pair.outputs)]))
    row = [random.randint(-3, 3) for _ in range(pair.outputs)]
    less = random.randint(0, 1)
    factors = " ".join(map(str, [pair.outputs, *row, pair.outputs, *(-w for w in row)]))
    largest = max(max(abs(a - b) for a, b in zip(f, g, strict=True)) for f, g in ends)
    summed = max(sum(abs(a - b) for a, b in zip(f, g, strict=True)) for f, g in ends)
    linear = max(sum(w * (a - b) for w, a, b in zip(row, f, g, strict=True)) for f, g in ends)
    tiny = Fraction(1, 10**6)
    found: list[tuple[Claim, Fraction]] = [
        (lambda t: f"distance {every} {t.numerator} {t.denominator}", largest - tiny),
        (lambda t: f"manhattan {every} {t.numerator} {t.denominator}", summed - tiny),
        (lambda t: f"inequality {factors} {t.numerator} {t.denominator} {less}", linear - (1 - less) * tiny),
    ]
    leads = [lead(f, g) for f, g in ends]
    if any(one is not None for one in leads):
        most = max(one for one in leads if one is not None)
        found.append((lambda t: f"keeps-first {t.numerator} {t.denominator}", most))
    off = Fraction(0) if pair.is_rational else SLIVER
    return [(claim, threshold - off) for claim, threshold in found if threshold > off]


def lead(reference: Sequence[Fraction], candidate: Sequence[Fraction]) -> Fraction | None:
    """By how much the reference puts a class first that the candidate does not put first."""
    k = max(range(len(reference)), key=lambda i: reference[i])
    if max(candidate) <= candidate[k]:
        return None
    return min(reference[k] - x for i, x in enumerate(reference) if i != k)


NUMBERS = (-1, 0, 1, 2, 3, 7, 2**20, -(2**20), 2**40, 2**70)
RECORDS = ("I 0 0", "I 1 7", "I 0 99999999", "C 1 0 x 0", "C 2 1 d 2", "A 0", "A 1", "D", "F 1", "F 9", "V 0 0", "E 0",
    "C 9 9 y 4", "L 0", "B 0 0 d 0 1 0", "B 1 0 x 1 -3 1 -5 0", "N 0 1 1 0", "P 2", "M 1 0 0 7 1 L 0 1 0",
    "M 2 0 0 10 1 0 2 3 B 1 0 x 1 4 9 -3 N 0 0 1 1 1 L 20 1048576 7 0")  # fmt: skip


def changed(records: Sequence[str], random: Random) -> list[str]:
    """Numbers replaced, records put in, left out, exchanged or repeated; sometimes nothing."""
    found = list(records)
    for _ in range(random.randint(0, 4)):
        if not found:
            break
        at = random.randrange(len(found))
        words = found[at].split(" ")
        kind = random.random()
        if kind < 0.7 and len(words) > 1:
            place = random.randrange(1, len(words))
            old = int(words[place]) if words[place].lstrip("-").isdigit() else 0
            words[place] = str(random.choice([*NUMBERS, 2 * old, -old, old + 1, old - 1]))
            found[at] = " ".join(words)
        elif kind < 0.8:
            found.insert(at, random.choice(RECORDS))
        elif kind < 0.88:
            del found[at]
        elif kind < 0.94:
            other = random.randrange(len(found))
            found[at], found[other] = found[other], found[at]
        else:
            found.insert(at, found[random.randrange(len(found))])
    return found
