"""A difference on the terminal: one page, which says of every number that it was seen and not proved."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eqspec.differences.layers import Layer
from eqspec.differences.seen import Seen
from eqspec.report.numbers import count, plural, share
from eqspec.report.terminal import Terminal
from eqspec.tasks.phrasing import number_in_words
from eqspec.tasks.score_meaning import range_of_outputs

_MOST_LAYERS = 24
"""Steps that are listed, those that do most to the outputs first to be kept."""
_COLUMNS = 80
_NARROW = 80
"""Columns below which what is known of a layer does not fit on a line."""


def text(difference: Seen) -> str:
    """The page as plain text."""
    console = Terminal(file=io.StringIO(), width=_COLUMNS, no_color=True)
    show(difference, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def show(difference: Seen, console: Console) -> None:
    """Print the page."""
    pair = difference.pair
    head = Text.assemble((pair.candidate.source, "bold"), " against ", (pair.reference.source, "bold"))
    console.print(head, soft_wrap=True)
    console.print(Text(f"Seen at {difference.place.words}. Samples: {_standing(difference)}."))
    console.print()
    _section("outputs", _outputs(difference), console)
    _section("layers", _layers(difference, narrow=console.width < _NARROW), console)
    _section("worth claiming", _claims(difference), console)
    if commands := difference.commands():
        console.print(Text("to prove it, on all of the region:", "bold"))
        for command in commands:
            console.print(Text(f"  {command}", no_wrap=True), soft_wrap=True)


def _standing(difference: Seen) -> str:
    """Which parts of the page are proved."""
    proved = difference.claims.any_proved
    return "nothing is proved but what is said to be, at the end" if proved else "nothing here is proved"


def _section(title: str, lines: list[RenderableType], console: Console) -> None:
    console.print(Text(title, "bold"))
    console.print(Padding(Group(*lines), (0, 0, 0, 2), expand=False))
    console.print()


def _outputs(difference: Seen) -> list[RenderableType]:
    outputs, seen = difference.outputs, difference.outputs.seen
    largest, attacked = outputs.largest, outputs.attacked
    logits = difference.pair.reference.stripped is not None or difference.pair.candidate.stripped is not None
    where = f" in output {largest.output}" + (f", row {largest.row}" if largest.row is not None else "")
    rows = [("largest difference", f"{largest.difference:.3g}{where if largest.difference else ''}")]
    if attacked is not None:
        rows.append(("by a short attack", f"{attacked.difference:.3g} in output {attacked.output}"))
    rows.append(("in half of the points", f"at most {np.median(seen.distance):.3g}"))
    if difference.decides:
        differ = int((~seen.agree).sum())
        said = f"in {count(differ)} of {plural(len(seen.agree), 'point')}, {share(differ / len(seen.agree))}"
        if differ:
            said += f"; the reference was up to {share(seen.surest_difference)} sure there"
        rows.append(("other top class", said))
    if logits:
        rows.append(("scores", "those in front of the Softmax at the end of the files"))
    return [_pairs(rows)]


def _layers(difference: Seen, *, narrow: bool) -> list[RenderableType]:
    layers = difference.layers
    if difference.same_steps:
        matched = f" ({layers.matching})" if layers.matching else ""
        return [Text(f"no weight, bias or function differs{matched}")]
    shown, notes = [layer for layer in layers.steps if _tells(layer)], []
    if len(shown) > _MOST_LAYERS:
        notes.append(f"the {_MOST_LAYERS} of {len(shown)} steps that differ most; --format json has all")
        kept = sorted(shown, key=_weight, reverse=True)[:_MOST_LAYERS]
        shown = [layer for layer in shown if layer in kept]
    if layers.matching:
        notes.append(layers.matching)
    if _alone(shown):
        said = "alone: change of the outputs if only this layer is replaced"
    else:
        said = "apart: largest difference of what the layers compute, relative"
    notes.append(f"{said}, at {plural(layers.points, 'point')}")
    return [_in_words(shown) if narrow else _table(shown), *map(Text, notes)]


def _alone(shown: list[Layer]) -> bool:
    return any(layer.alone is not None for layer in shown)


def _tells(layer: Layer) -> bool:
    """Whether a step gets a line: it holds weights, or something changed there."""
    sides = [side for side in (layer.reference, layer.candidate) if side is not None]
    return any(side.weights for side in sides) or (len(sides) == 2 and not layer.same)


def _weight(layer: Layer) -> float:
    return max(layer.alone or 0.0, layer.apart or 0.0)


def _table(shown: list[Layer]) -> Table:
    alone = _alone(shown)
    bits = any(side and side.bits for layer in shown for side in (layer.reference, layer.candidate))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(Text("layer"), overflow="fold")
    for name in _columns(bits=bits, alone=alone):
        table.add_column(Text(name), justify="right")
    for layer in shown:
        table.add_row(*map(Text, _cells(layer, bits=bits, alone=alone)))
    return table


def _columns(*, bits: bool, alone: bool) -> list[str]:
    """What the cells behind the name of a layer are."""
    last = "alone" if alone else "apart"
    return ["weights", "changed", "by up to", "bias by", "zeros", *(["bits"] if bits else []), last]


def _in_words(shown: list[Layer]) -> Table:
    """The same table with the cells of a layer one behind the other, each with its name."""
    alone = _alone(shown)
    bits = any(side and side.bits for layer in shown for side in (layer.reference, layer.candidate))
    rows = []
    for layer in shown:
        name, *cells = _cells(layer, bits=bits, alone=alone)
        named = zip(_columns(bits=bits, alone=alone), cells, strict=True)
        number, _, operator = name.partition(" ")
        rows.append((number, f"{operator}: " + ", ".join(f"{what} {cell}" for what, cell in named if cell)))
    return _pairs(rows)


def _cells(layer: Layer, *, bits: bool, alone: bool) -> list[str]:
    a, b = layer.reference, layer.candidate
    name = f"{layer.number} {layer.operator}"
    if a is None or b is None:
        side = b if a is None else a
        assert side is not None
        which = "candidate" if a is None else "reference"
        return [f"{name}, only in the {which}", count(side.weights), *[""] * (5 + bits)]
    if a.function != b.function:
        name += f", {_short(a.function)} → {_short(b.function)}"
    return [
        name,
        _both(count(a.weights), count(b.weights)),
        "" if layer.changed is None or not a.weights else share(layer.changed / a.weights),
        "" if layer.largest_change is None else f"{layer.largest_change:.2g}",
        "" if layer.bias_change is None else f"{layer.bias_change:.2g}",
        _both(_percent(a.zeros), _percent(b.zeros)),
        *([_both(str(a.bits or "real"), str(b.bits or "real"))] if bits else []),
        f"{(layer.alone if alone else layer.apart) or 0.0:.2g}",
    ]


def _short(function: str) -> str:
    return function.split(",")[0]


def _percent(zeros: float) -> str:
    return f"{100 * zeros:.0f} %"


def _both(a: str, b: str) -> str:
    return a if a == b else f"{a} → {b}"


def _claims(difference: Seen) -> list[RenderableType]:
    claims, seen = difference.claims, difference.outputs.seen
    if not np.isfinite(difference.outputs.worst.difference):
        return [Text("nothing: the outputs are not finite at all of the points")]
    rows = [("distance", f"nothing: {_why_none(difference)}")]
    if claims.eps is not None:
        tried = _tried(claims.eps_proved) + _not_before(claims.first_eps)
        rows = [("distance", f"eps = {claims.eps:g}{tried}{_twice(difference)}")]
    if claims.confidence is not None:
        where = f"where the reference is {share(claims.confidence)} sure or more"
        tried = _tried(claims.confidence_proved) + _not_before(claims.first_confidence, share)
        rows.append(("same class", f"{where}{tried}; {share(seen.share_above(claims.confidence))} of the points"))
    elif claims.margin is not None:
        where = f"where the best score of the reference leads by {claims.margin:g} or more"
        tried = _tried(claims.margin_proved) + _not_before(claims.first_margin)
        rows.append(("same class", f"{where}{tried}; {share(seen.share_leading(claims.margin))} of the points"))
    elif difference.decides and difference.pair.outputs > 1:
        rows.append(("same class", "at no confidence and no margin that the reference has at these points"))
    if claims.floor is not None:
        rows.append(("noise floor", f"{claims.floor:.2g}: by so much rounding inside moves an output"))
    return [_pairs(rows)]


def _why_none(difference: Seen) -> str:
    """Why no distance is worth claiming."""
    ends = range_of_outputs([difference.place.task.reference, difference.place.task.candidate])
    if ends is None:
        return f"every one that was tried breaks at some input{_twice(difference)}"
    low, high = map(number_in_words, ends)
    most = difference.outputs.worst.difference
    return f"{most:.3g} was found, and twice that says nothing of outputs that lie between {low} and {high} anyway"


def _tried(proved: bool) -> str:
    return ": proved on all of the region, in a moment" if proved else ": not proved in a moment; it may take longer"


def _not_before(first: float | None, shown: Callable[[float], str] = "{:g}".format) -> str:
    """What was tried before it, and not proved."""
    return "" if first is None else f" ({shown(first)} was not, in that time)"


def _twice(difference: Seen) -> str:
    """Where the distance comes from."""
    most, claims = difference.outputs.worst.difference, difference.claims
    if claims.by_floor:
        return "; less was found than the noise floor"
    return f"; {most:.3g} was found" if most else "; no difference was found"


def _pairs(rows: list[tuple[str, str]]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    return table
