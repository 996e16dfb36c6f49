"""The two networks that are to be compared, and what a spec calls them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from re import sub

from eqspec.errors import InputError, NoIntegerEndsError, OpenSizesError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Dequantised, Network, both_of_two_classes, read_network
from eqspec.networks.readers.open_sizes import InputShape


@dataclass(frozen=True)
class Pair:
    """Two networks with as many inputs and outputs, and their names.

    `two_classes` says that each gives one output in its file, a Sigmoid, and is read with two.
    """

    reference: Network
    candidate: Network
    reference_name: str
    candidate_name: str
    two_classes: bool = False

    @property
    def inputs(self) -> int:
        """How many numbers both take."""
        return self.reference.input_size

    @property
    def outputs(self) -> int:
        """How many numbers both answer."""
        return self.reference.output_size


def read_pair(
    reference: str,
    candidate: str,
    outputs: tuple[str | None, str | None] = (None, None),
    *,
    dequantised: bool = False,
    input_shape: InputShape | None = None,
) -> Pair:
    """Read both files, of several outputs those of these names; with `dequantised` those that take or give integers of
    a quantiser as networks of the real numbers that these stand for. `input_shape` is that of files which leave sizes
    open; another one may have them fixed.

    NetworkError where one cannot be used, InputError where they do not fit together.
    """
    files = tuple(zip((reference, candidate), outputs, strict=True))
    if not dequantised:
        first, second = (_sized(file, output, input_shape) for file, output in files)
        return paired(first, second)
    read = [_dequantised(file, output, input_shape) for file, output in files]
    if all(network.dequantised is None for network in read):
        raise InputError(f"neither {reference} nor {candidate} takes or gives integers: leave --dequantised out")
    return paired(*read)


def with_two_classes(pair: Pair) -> Pair:
    """The pair, with two classes in place of one output where that is a Sigmoid in both files."""
    read = both_of_two_classes(pair.reference, pair.candidate)
    return pair if read[0] is pair.reference else replace(paired(*read), two_classes=True)


def _sized(file: str, output: str | None, shape: InputShape | None, ends: Dequantised | None = None) -> Network:
    """A file, with sizes of which it leaves some open."""
    try:
        return read_network(file, output=output, dequantised=ends)
    except OpenSizesError:
        if shape is None:
            raise
        return read_network(file, output=output, dequantised=ends, input_shape=shape)


def _dequantised(file: str, output: str | None, shape: InputShape | None) -> Network:
    try:
        return _sized(file, output, shape, Dequantised())
    except NoIntegerEndsError:
        return _sized(file, output, shape)


def paired(first: Network, second: Network) -> Pair:
    """Two networks as a pair, with names. InputError where they do not fit together."""
    for what, one, other in (
        ("inputs", first.input_size, second.input_size),
        ("outputs", first.output_size, second.output_size),
    ):
        if one != other:
            raise InputError(
                f"{first.source} has {one} {what}, but {second.source} has {other}; only networks of the same inputs "
                "and outputs can be compared"
            )
    called = (identifier(Path(first.source).stem), identifier(Path(second.source).stem))
    if called[0] == called[1]:
        called = ("reference", "candidate")
    return Pair(first, second, *called)


def identifier(text: str) -> str:
    """The text as a name of the language: letters, digits and _, not starting with a digit."""
    name = sub(r"\W+", "_", text).strip("_")
    return name if name and not name[0].isdigit() else f"n{name}"


def sayable(name: str) -> str:
    """The name of an input or output of a file, as a text of a spec. InputError where the language cannot write it."""
    if '"' in name or "\n" in name:
        raise InputError(
            f"a spec cannot name {name!r}, which holds a quotation mark or a line end; rename it in the file, or ask "
            "eqspec.verify in Python about read_network(FILE, output=NAME)"
        )
    return name


def path_from(folder: Path, file: str) -> str:
    """A file as a spec in a folder names it. InputError where the language cannot write such a path."""
    try:
        written = Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:  # on another drive
        written = Path(file).absolute().as_posix()
    if '"' in written or "\n" in written:
        raise InputError(f"a spec cannot name the file {file!r}; rename it without quotes and line ends")
    return written
