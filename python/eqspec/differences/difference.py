"""How two networks differ, all of it: as data, as JSON, and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from time import perf_counter
from typing import Any

from eqspec.differences import page
from eqspec.differences.layers import compare_layers
from eqspec.differences.outputs import Found, compare_outputs
from eqspec.differences.places import Place
from eqspec.differences.seen import Seen
from eqspec.differences.worth_claiming import worth_claiming
from eqspec.draft.completed import Completed
from eqspec.draft.named_pair import Pair
from eqspec.networks.network import Network


class Difference(Seen):
    """What was seen of a pair, which `print` shows as a page. Only what `claims` call proved is."""

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and texts; inputs are in network units."""
        outputs, seen = self.outputs, self.outputs.seen
        differ = int((~seen.agree).sum())
        made = {
            "reference": _network(self.pair.reference),
            "candidate": _network(self.pair.candidate),
            "proved": False,
            "points": {"where": self.place.words, "count": len(self.place.points)},
            "largest": _found(outputs.largest),
            "attack": None if outputs.attacked is None else _found(outputs.attacked),
            "by_output": dict(zip(self.place.task.space.outputs, outputs.apart.max(axis=0).tolist(), strict=True)),
            "decisions": {"differ": differ, "surest": seen.surest_difference} if self.decides else None,
            "layers": {
                "steps": [asdict(layer) for layer in self.layers.steps],
                "matching": self.layers.matching,
                "points": self.layers.points,
            },
            "worth_claiming": asdict(self.claims),
            "commands": self.commands(),
            "remarks": list(self.remarks),
            "seconds": self.seconds,
        }
        return {name: _plain(value) for name, value in made.items()}

    def __repr__(self) -> str:
        sources = self.pair.candidate.source, self.pair.reference.source
        found = f"{self.outputs.worst.difference:.3g} found at {len(self.place.points)} points"
        return f"<Difference of {' and '.join(sources)}: {found}>"

    def __str__(self) -> str:
        return page.text(self)


def difference(
    pair: Pair, known: Completed, place: Place, words: Sequence[str] | None = None, began: float | None = None
) -> Difference:
    """Look at a pair at a place; `words` as in `Difference`, seconds count from `began`."""
    began = perf_counter() if began is None else began
    outputs = compare_outputs(place)
    layers = compare_layers(pair.reference, pair.candidate, place.read)
    claims = worth_claiming(place, outputs, decides=known.decides)
    said = known.said
    given = None if words is None else tuple(words)
    return Difference(pair, place, outputs, layers, claims, known.decides, said, given, perf_counter() - began)


def _plain(value: Any) -> Any:
    """The value as JSON has it: no NaN and no infinity, which become null."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _network(network: Network) -> dict[str, str]:
    return {"path": network.source, "sha256": network.sha256}


def _found(found: Found) -> dict[str, Any]:
    return {
        "difference": found.difference,
        "output": found.output,
        "row": found.row,
        "input": found.point.tolist(),
    }
