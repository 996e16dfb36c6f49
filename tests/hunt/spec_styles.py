"""How the parts of a spec are written: plainly, or in one of the many ways that mean the same.

Numbers are exact rationals, so a decimal, a fraction, a sum and a name with a value are one number; a box is bounds
one by one, distances from a centre, or two boxes that only together are as small; an inequality may be turned around.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from oracle.pairs import Random

Numbers = Sequence[Fraction]
Terms = Sequence[tuple[Fraction, str]]


class Plain:
    """Everything in one way."""

    def __init__(self) -> None:
        self.declared: list[str] = []
        """Declarations that the parts written so far need."""

    def number(self, number: Fraction) -> str:
        """An exact number."""
        return str(number)

    def listed(self, numbers: Numbers) -> str:
        """Numbers, one for each feature."""
        return f"[{', '.join(map(self.number, numbers))}]"

    def below(self, terms: Terms, bound: Fraction, *, strict: bool) -> str:
        """The sum of the terms is at most the bound, or below it."""
        return f"{self.sum(terms)} {'<' if strict else '<='} {self.number(bound)}"

    def sum(self, terms: Terms) -> str:
        """The sum of multiples of named things."""
        return " + ".join(f"({self.number(c)}) * {name}" for c, name in terms)

    def region(self, low: Numbers, high: Numbers, mean: Numbers, std: Numbers, where: Sequence[str]) -> str:
        """A box in raw units under linear constraints."""
        return f"box {{ {'  '.join(self.bounds(low, high))} }}{self.joined(where)}"

    def bounds(self, low: Numbers, high: Numbers) -> list[str]:
        """The features' bounds, each by its ends."""
        return [
            f"x{i} = {self.number(a)}" if a == b else f"x{i}: {self.number(a)} .. {self.number(b)}"
            for i, (a, b) in enumerate(zip(low, high, strict=True))
        ]

    def joined(self, where: Sequence[str]) -> str:
        """The constraints behind a box."""
        return f" and where {{ {', '.join(where)} }}" if where else ""


class Styled(Plain):
    """Each part in a way drawn at random."""

    def __init__(self, rng: Random) -> None:
        super().__init__()
        self._rng = rng

    def number(self, number: Fraction) -> str:
        match int(self._rng.integers(8)):
            case 0 if (decimal := _decimal(number)) is not None:
                return decimal
            case 1 if (decimal := _decimal(number)) is not None:
                return f"{decimal}e{self._rng.choice(['0', '+0', '-0', '00'])}"
            case 2:
                return f"({number} + {Fraction(1, 3)} - {Fraction(1, 3)})"
            case 3:
                return f"({number * 7})/7"
            case 4:
                name = f"v{len(self.declared)}"
                kind = self._rng.choice(["let", "param"])
                self.declared.append(f"{kind} {name} = {number}")
                return name
            case 5:
                return f"-({-number})"
            case 6:
                name = f"v{len(self.declared)}"
                self.declared.append(f"let {name} = [0, {number}]")
                return f"{name}[1]"
        return str(number)

    def listed(self, numbers: Numbers) -> str:
        if len(set(numbers)) == 1 and self._rng.random() < 0.5:
            return self.number(numbers[0])
        return super().listed(numbers)

    def below(self, terms: Terms, bound: Fraction, *, strict: bool) -> str:
        terms = [terms[i] for i in self._rng.permutation(len(terms))]
        if self._rng.random() < 0.5:
            return super().below(terms, bound, strict=strict)
        turned = [(-c, name) for c, name in terms]
        return f"{self.sum(turned)} {'>' if strict else '>='} {self.number(-bound)}"

    def region(self, low: Numbers, high: Numbers, mean: Numbers, std: Numbers, where: Sequence[str]) -> str:
        constraints = self.joined(where)
        match int(self._rng.integers(4)):
            case 0:  # two boxes, each too large by itself
                wide = [(b - a + 1) * int(self._rng.integers(0, 3)) for a, b in zip(low, high, strict=True)]
                first = self.bounds([a - w for a, w in zip(low, wide, strict=True)], high)
                second = self.bounds(low, [b + w for b, w in zip(high, wide, strict=True)])
                return f"box {{ {'  '.join(first)} }} and box {{ {'  '.join(second)} }}{constraints}"
            case 1:
                middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
                radius = [(b - a) / 2 / s for a, b, s in zip(low, high, std, strict=True)]
                bounds = [
                    f"x{i} within {self.number(r)} sigma of {self.number(c)}"
                    for i, (r, c) in enumerate(zip(radius, middle, strict=True))
                ]
                return f"box {{ {'  '.join(bounds)} }}{constraints}"
            case 2 if len({b - a for a, b in zip(low, high, strict=True)}) == 1:
                middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
                ball = f"ball linf {self.number((high[0] - low[0]) / 2)} around point {Plain.listed(self, middle)}"
                return f"{ball}{constraints}"
        order = self._rng.permutation(len(low))
        bounds = self.bounds(low, high)
        return f"box {{ {'  '.join(bounds[i] for i in order)} }}{constraints}"


def _decimal(number: Fraction) -> str | None:
    """The number as a decimal of moderate length, None where it has none."""
    for places in range(19):
        scaled = number * 10**places
        if scaled.denominator == 1:
            digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
            whole, part = digits[: len(digits) - places], digits[len(digits) - places :]
            return ("-" if number < 0 else "") + whole + (f".{part}" if part else "")
    return None
