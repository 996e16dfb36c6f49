"""`eqspec inspect`: what a network file holds, and whether it can be used; of two, which neurons go together."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eqspec.cli.exit import ExitCode
from eqspec.cli.options.input_shape import input_shape_of
from eqspec.cli.tools.common import show
from eqspec.compile import load_derived
from eqspec.errors import NetworkError, NoIntegerEndsError, SpecError
from eqspec.networks import Dequantised, match, read_network
from eqspec.networks.containment import quantised
from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS, Tile
from eqspec.networks.readers.onnx_overview import Overview, overview
from eqspec.networks.saturation import cut_off
from eqspec.networks.weight_grids import bits_of
from eqspec.report.network_in_words import shape_in_words, steps_in_words
from eqspec.report.numbers import count
from eqspec.report.printable import one_line
from eqspec.report.tiles_in_words import parameters, tile_in_words
from eqspec.tasks.score_meaning import ends_in_sigmoid, left_out

_SUFFIX = ".eqspec"
_NARROW = 80
"""On terminals with fewer columns than this the table of steps is shown with fewer of its own."""


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    code = ExitCode.AS_EXPECTED
    networks = []
    for number, file in enumerate(arguments.files):
        if number:
            out.print()
        out.print(Text(one_line(file), "bold"), soft_wrap=True)
        try:
            onnx = Path(file).suffix.lower() not in (".nnet", ".json") and Path(file).is_file()
            seen = overview(file) if onnx else None
            network: Network | None = None
            try:
                network = _network(file, arguments)
            finally:  # what the file holds is shown also where it cannot be used
                if seen is not None:
                    _show_file(seen, network, out)
            networks.append(network)
            _show_network(network, out)
        except SpecError as problem:
            show(problem, err)
            code = ExitCode.BAD_INPUT
        except NetworkError as problem:
            err.print(Text.assemble(("cannot be used", "bold red"), f": {problem}"), soft_wrap=True)
            code = ExitCode.BAD_INPUT
    if len(networks) == 2 == len(arguments.files):
        first, second = networks
        _show_pair(first, second, out)
    return code


def _network(file: str, arguments: argparse.Namespace) -> Network:
    """The network of a file, or one that a spec derives."""
    spec, _, name = file.partition(f"{_SUFFIX}:")
    if name and not Path(file).exists():
        return load_derived(spec + _SUFFIX, name, dict(arguments.param)).network
    named = {"output": arguments.network_output, "input_shape": input_shape_of(arguments.input_shape)}
    if arguments.dequantised:
        with suppress(NoIntegerEndsError):
            return read_network(file, **named, dequantised=Dequantised())
    return read_network(file, **named)


def _show_file(file: Overview, network: Network | None, out: Console) -> None:
    """What the file holds; of one that was read, what became of a Softmax and of operators that are not supported."""
    rows = [("input", f"{name} {kind}[{_shape(shape)}]") for name, kind, shape in file.inputs]
    rows += [("output", f"{name} {kind}[{_shape(shape)}]") for name, kind, shape in file.outputs]
    rows.append(("operators", ", ".join(f"{name} × {n}" if n > 1 else name for name, n in file.operators)))
    if file.unsupported:
        names = ", ".join(name for name, _ in file.unsupported)
        rows.append(
            ("not supported", names if network is None else f"{names}: left alone, the output needs none of it")
        )
    found = file.tail if network is None else left_out(network)
    tail = f"{found}: left out, the outputs are its scores" if found else "none: the outputs are scores"
    if network is not None and ends_in_sigmoid(network):
        tail = "none: the outputs are those of a Sigmoid, from 0 to 1"
    rows.append(("softmax tail", tail))
    made_by = f", made by {file.producer}" if file.producer else ""
    rows.append(("file", f"opset {file.opset}, {count(file.parameters)} numbers{made_by}"))
    _show_rows(rows, out)


def _show_network(network: Network, out: Console) -> None:
    exact = all(
        error is None
        for step in network.steps
        for error in (step.bias_error, *(t.tile.weight_error for t in step.terms))
    )
    rows = [
        ("network", shape_in_words(network)),
        steps_in_words(network),
        ("weights", "taken exactly" if exact else "folded; their rounding is part of every proof"),
        ("sha256", network.sha256),
    ]
    _show_rows(rows, out)
    if not network.is_chain:
        _show_steps(network, out)
    if network.casts:
        _show_casts(network, out)
    for note in network.notes:
        out.print(Padding(Text(f"note: {note}"), (0, 0, 0, 2), expand=False))


def _show_steps(network: Network, out: Console) -> None:
    """A row for each step: what it is, what it reads, how many rows it gives and numbers it holds.

    On a narrow terminal what it reads stands below what it is, or nothing would be left for either.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    is_narrow = out.width < _NARROW
    for name in ("step", "operator") if is_narrow else ("step", "reads", "operator"):
        table.add_column(Text(name), overflow="fold")
    rounds, beyond = quantised(network), cut_off(network.steps)
    said = any(beyond)
    for name in ("rows", "cut off", "parameters", "zeros") if said else ("rows", "parameters", "zeros"):
        table.add_column(Text(name), justify="right")
    for number, step in enumerate(network.steps):
        reads = " + ".join("inputs" if source == INPUTS else str(source) for source in step.sources) or "nothing"
        operator = " + ".join(_words(term.tile, quantised=rounds) for term in step.terms) or "constant"
        if step.function != "identity":
            operator += f", {_FUNCTIONS.get(step.function) if isinstance(step.function, str) else step.function}"
        held = sum(parameters(term.tile) for term in step.terms)
        zeros = sum(int((term.tile.weight == 0.0).sum()) for term in step.terms if parameters(term.tile))
        share = f"{100 * zeros / held:.0f} %" if zeros else ""
        rows = [count(step.rows), *([f"≤ {count(beyond[number] or 0)}" if beyond[number] else ""] if said else [])]
        what = [f"{operator}\n  of {reads}"] if is_narrow else [reads, operator]
        table.add_row(*map(Text, (str(number), *what, *rows, count(held) if held else "", share)))
    out.print(Padding(table, (0, 0, 0, 2), expand=False))
    if said:
        out.print(Padding(Text(_CUT_OFF), (0, 0, 0, 2), expand=False))


def _show_casts(network: Network, out: Console) -> None:
    """A row for each assignment to a type that may change a number."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("assigned to", "type", "step"):
        table.add_column(Text(name), overflow="fold")
    table.add_column(Text("rows"), justify="right")
    for cast in network.casts:
        rows = cast.rows.indices(network.steps[cast.step].rows)
        table.add_row(*map(Text, (cast.name, cast.type, str(cast.step), count(len(range(*rows))))))
    out.print(Padding(table, (0, 0, 0, 2), expand=False))


_CUT_OFF = "cut off: rows that some inputs may saturate, where it is known; at 0 counts as ReLU"
_FUNCTIONS = {"relu": "ReLU"}


def _words(tile: Tile, *, quantised: bool = False) -> str:
    """The kind of affine map that a tile is, with the bits of its weights where these are quantised."""
    if not parameters(tile):
        return "rearranged"
    bits = bits_of(tile) if quantised else None
    return tile_in_words(tile) + (f" ({bits} bit weights)" if bits else "")


def _show_pair(first: Network, second: Network, out: Console) -> None:
    """Whether two networks can be compared, and which of their neurons a search treats as pairs."""
    out.print()
    out.print(Text("as a pair", "bold"))
    sizes = [(network.input_size, network.output_size) for network in (first, second)]
    if sizes[0] != sizes[1]:
        a, b = (f"{inputs} inputs and {outputs} outputs" for inputs, outputs in sizes)
        _show_rows([("comparable", f"no: {a} against {b}")], out)
        return
    *_, matching = match(first, second)
    together = str(matching) or "neurons go together in the order of the files"
    _show_rows([("comparable", "yes"), ("matching", together)], out)


def _show_rows(rows: list[tuple[str, str]], out: Console) -> None:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(width=13)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(one_line(value)))
    out.print(Padding(table, (0, 0, 0, 2), expand=False))


def _shape(shape: tuple[int | str, ...]) -> str:
    return ", ".join(map(str, shape))
