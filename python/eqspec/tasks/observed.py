"""What a search showed of itself on the way, as plain data for reports. No verdict depends on any of it.

`Moment`: how the proved share grew. `Undecided`: where the boxes lie that were open at the end. `Sampled`: how far the
outputs of the pair lie apart at random inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Moment:
    """What was known after so many seconds: the proved share (0 to 1), boxes bounded and boxes waiting."""

    seconds: float
    certified: float
    boxes: int
    open_boxes: int

    def to_json(self) -> dict[str, Any]:
        """An element of `history` in the schema."""
        return {
            "seconds": self.seconds,
            "certified": self.certified,
            "boxes": self.boxes,
            "open_boxes": self.open_boxes,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Moment:
        """The moment that `to_json` wrote."""
        return cls(data["seconds"], data["certified"], data["boxes"], data["open_boxes"])


@dataclass(frozen=True)
class OpenBox:
    """`edges` has, by the feature's position, from where to where the box reaches, both 0 to 1."""

    share: float
    edges: Mapping[int, tuple[float, float]]

    def to_json(self) -> dict[str, Any]:
        """An element of `sample` in the schema."""
        return {"share": self.share, "edges": {str(i): list(edge) for i, edge in self.edges.items()}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OpenBox:
        """The box that `to_json` wrote."""
        return cls(data["share"], {int(i): (low, high) for i, (low, high) in data["edges"].items()})


@dataclass(frozen=True)
class Undecided:
    """`share` of the claim is not proved; `lower` and `upper` are the ends of the region in raw units."""

    share: float
    features: tuple[str, ...]
    units: tuple[str | None, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    sample: tuple[OpenBox, ...]

    def to_json(self) -> dict[str, Any]:
        """The `undecided` object of the schema."""
        return {
            "share": self.share,
            "features": list(self.features),
            "units": list(self.units),
            "lower": list(self.lower),
            "upper": list(self.upper),
            "sample": [box.to_json() for box in self.sample],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Undecided:
        """What `to_json` wrote."""
        return cls(
            share=data["share"],
            features=tuple(data["features"]),
            units=tuple(data["units"]),
            lower=tuple(data["lower"]),
            upper=tuple(data["upper"]),
            sample=tuple(map(OpenBox.from_json, data["sample"])),
        )


@dataclass(frozen=True)
class Sampled:
    """`points` inputs, uniform in the region; `largest` |g - f| by output.

    `counts` says how many of them have their largest difference in each of the equal steps from 0 to the largest of
    all. `limit` is the largest difference of an output that the claim allows, or None where it limits something else.
    """

    points: int
    largest: Mapping[str, float]
    counts: tuple[int, ...]
    limit: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The `sampled` object of the schema."""
        counts = list(self.counts)
        return {"points": self.points, "largest": dict(self.largest), "counts": counts, "limit": self.limit}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Sampled:
        """What `to_json` wrote."""
        return cls(data["points"], data["largest"], tuple(data["counts"]), data.get("limit"))
