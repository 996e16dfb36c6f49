"""The two networks that are to be compared, and what a spec calls them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from re import sub

from eqspec.errors import InputError, NoIntegerEndsError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Dequantised, Network, both_of_two_classes, read_network


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
) -> Pair:
    """Read both files, of several outputs those of these names; with `dequantised` those that take or give integers of
    a quantiser as networks of the real numbers that these stand for.

    NetworkError where one cannot be used, InputError where they do not fit together.
    """
    if not dequantised:
        return paired(read_network(reference, output=outputs[0]), read_network(candidate, output=outputs[1]))
    read = [_dequantised(file, output) for file, output in zip((reference, candidate), outputs, strict=True)]
    if all(network.dequantised is None for network in read):
        raise InputError(f"neither {reference} nor {candidate} takes or gives integers: leave --dequantised out")
    return paired(*read)


def with_two_classes(pair: Pair) -> Pair:
    """The pair, with two classes in place of one output where that is a Sigmoid in both files."""
    read = both_of_two_classes(pair.reference, pair.candidate)
    return pair if read[0] is pair.reference else replace(paired(*read), two_classes=True)


def _dequantised(file: str, output: str | None) -> Network:
    try:
        return read_network(file, output=output, dequantised=Dequantised())
    except NoIntegerEndsError:
        return read_network(file, output=output)


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


def path_from(folder: Path, file: str) -> str:
    """A file as a spec in a folder names it. InputError where the language cannot write such a path."""
    try:
        written = Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:  # on another drive
        written = Path(file).absolute().as_posix()
    if '"' in written or "\n" in written:
        raise InputError(f"a spec cannot name the file {file!r}; rename it without quotes and line ends")
    return written
