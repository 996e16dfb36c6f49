"""`eqspec inspect`: what a network file holds, and whether it can be used; of two, which neurons go together."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import Commands, command
from eqspec.errors import NetworkError
from eqspec.networks import match, read_network
from eqspec.networks.network import Network
from eqspec.networks.readers.onnx_overview import Overview, overview
from eqspec.report.numbers import count


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "inspect", "show what a network file holds, and whether it can be used")
    made.add_argument("files", nargs="+", metavar="NETWORK", help="network files (*.onnx, *.nnet)")
    made.epilog = "exit codes: 0 every file can be used; 2 one cannot"
    made.set_defaults(run=run)


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    code = ExitCode.AS_EXPECTED
    networks = []
    for number, file in enumerate(arguments.files):
        if number:
            out.print()
        out.print(Text(file, "bold"), soft_wrap=True)
        try:
            if Path(file).suffix.lower() != ".nnet" and Path(file).is_file():
                _show_file(overview(file), out)
            networks.append(read_network(file))
            _show_network(networks[-1], out)
        except NetworkError as problem:
            err.print(Text.assemble(("cannot be used", "bold red"), f": {problem}"), soft_wrap=True)
            code = ExitCode.BAD_INPUT
    if len(networks) == 2 == len(arguments.files):
        first, second = networks
        _show_pair(first, second, out)
    return code


def _show_file(file: Overview, out: Console) -> None:
    rows = [("input", f"{name} {kind}[{_shape(shape)}]") for name, kind, shape in file.inputs]
    rows += [("output", f"{name} {kind}[{_shape(shape)}]") for name, kind, shape in file.outputs]
    rows.append(("operators", ", ".join(f"{name} × {n}" if n > 1 else name for name, n in file.operators)))
    if file.unsupported:
        rows.append(("not supported", ", ".join(name for name, _ in file.unsupported)))
    tail = f"{file.tail}: left out, the outputs are its scores" if file.tail else "none: the outputs are scores"
    rows.append(("softmax tail", tail))
    made_by = f", made by {file.producer}" if file.producer else ""
    rows.append(("file", f"opset {file.opset}, {count(file.parameters)} numbers{made_by}"))
    _show_rows(rows, out)


def _show_network(network: Network, out: Console) -> None:
    widths = [network.input_size, *(layer.bias.size for layer in network.layers)]
    hidden = sum(widths[1:-1])
    exact = all(layer.weight_error is None and layer.bias_error is None for layer in network.layers)
    rows = [
        ("network", f"{network.input_size} inputs -> {network.output_size} outputs"),
        ("layers", f"{'-'.join(map(str, widths))}, {count(hidden)} ReLU neurons"),
        ("weights", "taken exactly" if exact else "folded; their rounding is part of every proof"),
        ("sha256", network.sha256),
    ]
    _show_rows(rows, out)
    for note in network.notes:
        out.print(Padding(Text(f"note: {note}"), (0, 0, 0, 2), expand=False))


def _show_pair(first: Network, second: Network, out: Console) -> None:
    """Whether two networks compare, and what a search takes together."""
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
        table.add_row(Text(name), Text(value))
    out.print(Padding(table, (0, 0, 0, 2), expand=False))


def _shape(shape: tuple[int | str, ...]) -> str:
    return ", ".join(map(str, shape))
