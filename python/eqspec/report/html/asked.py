"""What a verdict is about, ready to be shown: the region in words and in raw units, the normalisation and the networks.

All of it comes from the result; results of older versions have no region, and show what they have.
"""

from __future__ import annotations

from eqspec.lazy_dataclass import dataclass
from eqspec.report.numbers import value
from eqspec.tasks.question import Question, Range
from eqspec.tasks.result import Result

_NONE = "–"
_SHORT_HASH = 12


@dataclass(frozen=True)
class Asked:
    """Lines of plain text by what they are about; the region as a table under `heads`; the spec's own text."""

    lines: tuple[tuple[str, str], ...]
    heads: tuple[str, ...]
    ranges: tuple[tuple[str, ...], ...]
    left_out: int
    written: str


def asked(result: Result) -> Asked | None:
    """Of a result; None if it says nothing of its region, as those of older versions."""
    found = result.question
    if found is None:
        return None
    heads = ["feature", "from", "to", "centre" if found.row is None else f"row {found.row}"]
    heads += ["shift", "scale"] if found.normalised else []
    stepped = any(one.step is not None for one in found.ranges)
    heads += ["step"] if stepped else []
    return Asked(
        lines=_lines(result, found),
        heads=tuple(heads),
        ranges=tuple(_row(one, normalised=found.normalised, stepped=stepped) for one in found.ranges),
        left_out=found.left_out,
        written=found.written,
    )


def _lines(result: Result, found: Question) -> tuple[tuple[str, str], ...]:
    lines = [("region", found.words + (f", {found.points}" if found.points else ""))]
    lines += [("and", constraint) for constraint in found.constraints]
    lines.append(("normalised", _normalised(result, found)))
    exact = "real numbers, the weights taken as they are stored"
    lines.append(("arithmetic", exact if found.arithmetic == "real" else "float32, summed in any order"))
    if said := result.scores_in_words:
        lines.append(("scores", said.removeprefix("scores are ")))
    for role, network in result.networks.items():
        digest = str(network.get("sha256") or "")[:_SHORT_HASH]
        lines.append((role, f"{network.get('name')}, {network.get('path')}, sha256 {digest}…"))
    if found.row is not None:
        lines.append(("around", f"row {found.row} of its table"))
    return tuple(lines)


def _normalised(result: Result, found: Question) -> str:
    raw = [str(network.get("name")) for network in result.networks.values() if network.get("takes") == "raw"]
    if not found.normalised or len(raw) == len(result.networks):
        return "no: networks take the values as they are"
    return "(value − shift) / scale" + "".join(f"; {name} takes the values as they are" for name in raw)


def _row(one: Range, *, normalised: bool, stepped: bool) -> tuple[str, ...]:
    name = f"{one.name} [{one.unit}]" if one.unit else one.name
    numbers = [one.low, one.high, one.centre]
    numbers += [one.mean, one.std] if normalised else []
    numbers += [one.step] if stepped else []
    return (name, *(_NONE if number is None else value(number) for number in numbers))
