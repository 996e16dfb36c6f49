"""The option that gives sizes which a file leaves open: `--input-shape 3x32x32`, or `NAME=1x3x32x32` for one input."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from re import fullmatch


def add_input_shape(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """The option, which is repeated for several inputs."""
    parser.add_argument(
        "--input-shape",
        action="append",
        type=_shape,
        metavar="SIZES",
        help="of a file that leaves other sizes open than that of the batch: 3x32x32 for one sample, or "
        "NAME=1x3x32x32 for each input, with the batch",
    )


def input_shape_of(
    given: Sequence[tuple[str, tuple[int, ...]]] | None,
) -> tuple[int, ...] | dict[str, tuple[int, ...]] | None:
    """What was said as `read_network` takes it; None where nothing was."""
    if not given:
        return None
    return given[-1][1] if given[-1][0] == "" else {name: sizes for name, sizes in given if name}


def words_of(given: Sequence[tuple[str, tuple[int, ...]]] | None) -> list[str]:
    """The same as words of a command line."""
    words = list[str]()
    for name, sizes in given or ():
        words += ["--input-shape", f"{name}{'=' if name else ''}{'x'.join(map(str, sizes))}"]
    return words


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    """The name of an input, "" without one, and its sizes."""
    name, _, sizes = text.rpartition("=")
    if fullmatch(r"[1-9]\d{0,8}(x[1-9]\d{0,8})*", sizes) is None or ("=" in text and not name):
        raise argparse.ArgumentTypeError(f"{text!r} is no shape such as 3x32x32, or NAME=1x3x32x32 for one input")
    return name, tuple(map(int, sizes.split("x")))
