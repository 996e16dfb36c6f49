"""What a search showed of itself on the way, as plain data for reports. No verdict depends on any of it.

`Moment`: how the proved share grew. `Reused`: what of an earlier proof was of use. `Undecided`: where the boxes lie
that were open at the end. `Sampled`: how far the outputs of the pair lie apart at random inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.json_form import Form, JsonObject, as_json, count, listed, number, table, text, texts


@dataclass(frozen=True)
class Moment(JsonObject):
    """What was known after `seconds` seconds: the proved share (0 to 1), boxes bounded and boxes waiting."""

    seconds: float = field(metadata=as_json(number(minimum=0)))
    certified: float = field(metadata=as_json(number(minimum=0, maximum=1)))
    boxes: int = field(metadata=as_json(count()))
    open_boxes: int = field(metadata=as_json(count()))


def _write_edges(edges: Mapping[int, tuple[float, float]]) -> dict[str, Any]:
    return {str(i): list(edge) for i, edge in edges.items()}


def _read_edges(data: Mapping[str, Any]) -> dict[int, tuple[float, float]]:
    return {int(i): (low, high) for i, (low, high) in data.items()}


_EDGES = {
    "type": "object",
    "description": "By position of the feature: from where to where, as parts of the region's range. A feature that is "
    "left out is spanned.",
    "additionalProperties": {
        "type": "array",
        "items": {"type": "number", "minimum": 0, "maximum": 1},
        "minItems": 2,
        "maxItems": 2,
    },
}


@dataclass(frozen=True)
class Reused(JsonObject):
    """How much of an earlier proof a search used: `taken_up` of its `steps`.

    A step is a box that was halved, or a contraction; each is one that the search made again, with bounds of its own.
    """

    source: str = field(metadata=as_json(text('The folder of the earlier run, or "cache".')))
    steps: int = field(metadata=as_json(count("Steps of the earlier proof: boxes halved, and contractions.")))
    taken_up: int = field(metadata=as_json(count("Those of them that were done again.")))


@dataclass(frozen=True)
class OpenBox(JsonObject):
    """`edges` has, by the feature's position, from where to where the box reaches, both 0 to 1."""

    share: float = field(metadata=as_json(number("What it stands for: they add up to the whole.", minimum=0)))
    edges: Mapping[int, tuple[float, float]] = field(metadata=as_json(Form(_EDGES, _write_edges, _read_edges)))


@dataclass(frozen=True)
class Undecided(JsonObject):
    """`share` of the claim is not proved; `lower` and `upper` are the ends of the region in raw units."""

    share: float = field(metadata=as_json(number("What is not proved.", minimum=0)))
    features: tuple[str, ...] = field(metadata=as_json(texts()))
    units: tuple[str | None, ...] = field(metadata=as_json(texts(optional=True)))
    lower: tuple[float, ...] = field(
        metadata=as_json(listed({"type": "number"}, "Lower ends of the region, raw units."))
    )
    upper: tuple[float, ...] = field(metadata=as_json(listed({"type": "number"})))
    sample: tuple[OpenBox, ...] = field(
        metadata=as_json(
            listed(OpenBox.schema(), "Open boxes, or a weighted sample of them.", OpenBox.to_json, OpenBox.from_json)
        )
    )


@dataclass(frozen=True)
class Sampled(JsonObject):
    """`points` inputs, uniform in the region; `largest` |g - f| by output, of those that the claim compares.

    `counts` says how many of them have their largest difference in each of the equal steps from 0 to the largest of
    all. `limit` is the largest difference of an output that the claim allows, or None where it limits something else.
    Beside these `undefined` inputs were drawn at which an output is no finite number; if there were no others, `points`
    is 0 and `largest` empty.
    """

    points: int = field(metadata=as_json(count()))
    largest: Mapping[str, float] = field(
        metadata=as_json(table({"type": "number"}, "The largest |g - f| seen, by output that the claim compares."))
    )
    counts: tuple[int, ...] = field(
        metadata=as_json(
            listed(
                {"type": "integer", "minimum": 0},
                "Inputs by their largest difference, in equal steps from 0 to the largest of all.",
            )
        )
    )
    limit: float | None = field(
        default=None,
        metadata=as_json(
            Form(
                {
                    "type": ["number", "null"],
                    "description": "The largest |g - f| of an output that the claim allows; null where it limits "
                    "something else.",
                },
                required=False,
            )
        ),
    )
    undefined: int = field(
        default=0,
        metadata=as_json(count("Inputs drawn besides, at which an output is no finite number.", required=False)),
    )
