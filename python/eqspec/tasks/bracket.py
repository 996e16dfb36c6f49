"""The answer to a search for the best value: between which values the border lies.

Truth is monotone in the variable, from the hard end of its range to the easy one; what can be proved in a given
time need not be. So the answer is a bracket: the hardest value proved, and the easiest one refuted by an input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from eqspec.tasks.witness import Witness

Direction = Literal["smallest", "largest"]
Gap = Literal["closed", "budget"]


@dataclass(frozen=True)
class Probe:
    """One value that was tried; `seconds` 0 and no boxes if a known input refuted it at once."""

    value: Fraction
    verdict: str
    reason: str | None
    seconds: float
    boxes: int

    def to_json(self) -> dict[str, Any]:
        """An element of `probes` in the schema."""
        return {
            "value": float(self.value),
            "value_exact": str(self.value),
            "verdict": self.verdict,
            "reason": self.reason,
            "seconds": self.seconds,
            "boxes": self.boxes,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Probe:
        """The probe that `to_json` wrote."""
        return cls(Fraction(data["value_exact"]), data["verdict"], data["reason"], data["seconds"], data["boxes"])


@dataclass(frozen=True)
class Bracket:
    """Between `refuted` (None: no value was) and `proved` (None: no value was) lies the border.

    `gap` is closed if they are as close as wished (`width`; None: within one hundredth), or if one end of the range
    answers the question. `witness` breaks the claim at `refuted`.
    """

    variable: str
    direction: Direction
    low: Fraction
    high: Fraction
    width: Fraction | None
    proved: Fraction | None
    refuted: Fraction | None
    gap: Gap
    probes: tuple[Probe, ...] = ()
    witness: Witness | None = None

    def to_json(self) -> dict[str, Any]:
        """The `find` object of the schema."""
        return {
            "variable": self.variable,
            "direction": self.direction,
            **_both("low", self.low),
            **_both("high", self.high),
            **_both("width", self.width),
            **_both("proved", self.proved),
            **_both("refuted", self.refuted),
            "gap": self.gap,
            "probes": [probe.to_json() for probe in self.probes],
            "witness": self.witness.to_json() if self.witness else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Bracket:
        """The bracket that `to_json` wrote."""

        def number(name: str) -> Fraction | None:
            text = data[f"{name}_exact"]
            return None if text is None else Fraction(text)

        return cls(
            variable=data["variable"],
            direction=data["direction"],
            low=Fraction(data["low_exact"]),
            high=Fraction(data["high_exact"]),
            width=number("width"),
            proved=number("proved"),
            refuted=number("refuted"),
            gap=data["gap"],
            probes=tuple(map(Probe.from_json, data["probes"])),
            witness=Witness.from_json(data["witness"]) if data["witness"] else None,
        )


def _both(name: str, number: Fraction | None) -> dict[str, Any]:
    return {
        name: None if number is None else float(number),
        f"{name}_exact": None if number is None else str(number),
    }
