"""What `verify` and `init` are told: two network files, and what is known of their inputs and outputs."""

from __future__ import annotations

import argparse
from pathlib import Path
from re import compile as regex
from re import fullmatch

from eqspec.draft.data import read_data
from eqspec.draft.pair import Pair, read_pair
from eqspec.draft.space import Inputs
from eqspec.errors import InputError

_NEGATIVE = regex(r"^-[\d.].*$")


def add_pair(parser: argparse.ArgumentParser) -> None:
    """The two files, and the options that say what their inputs mean."""
    # So that `--lower -1,-2` is a value: argparse takes "-1" for one, but neither a list nor -1e-3.
    parser._negative_number_matcher = _NEGATIVE
    parser.add_argument("reference", metavar="REFERENCE", help="the network that is right (*.onnx, *.nnet)")
    parser.add_argument("candidate", metavar="CANDIDATE", help="the network that is to behave like it")
    group = parser.add_argument_group("what the inputs and outputs are")
    group.add_argument(
        "--data", metavar="FILE", help="a table of inputs in raw units (csv, npy, npz), for names and ranges"
    )
    group.add_argument(
        "--columns",
        type=_columns,
        metavar="A..B",
        help="the columns of the table that the networks take, counted from 0 (default: found if that is clear)",
    )
    group.add_argument(
        "--scaler", metavar="FILE", help="how inputs are normalised: mean and std, or low and high (json, npz, csv)"
    )
    group.add_argument(
        "--takes",
        choices=("raw", "normalised"),
        help="what the networks take (default: normalised with --scaler, else raw)",
    )
    group.add_argument("--outputs", type=_names, metavar="A,B,...", help="names of the outputs")
    group.add_argument("--decide", choices=("max", "min"), default="max", help="which score decides (default: max)")


def read(arguments: argparse.Namespace) -> tuple[Pair, Inputs]:
    """The networks, and what is known of their inputs. NetworkError or InputError where something does not fit."""
    pair = read_pair(arguments.reference, arguments.candidate)
    if arguments.columns is not None and arguments.data is None:
        raise InputError("--columns says which columns of --data; give that, too")
    data = None if arguments.data is None else read_data(arguments.data, pair.inputs, arguments.columns)
    return pair, Inputs(arguments.scaler, data, arguments.takes, arguments.outputs, arguments.decide)


def write_new(path: Path, text: str) -> None:
    """Write a file that must not be there yet. InputError if it is, or if it cannot be written."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path} is there already and is left as it is; choose another name or remove it") from None
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def _columns(text: str) -> tuple[int, int]:
    ends = fullmatch(r"\s*(\d+)\s*\.\.\s*(\d+)\s*", text)
    if ends is None or int(ends[1]) > int(ends[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is no range of columns such as 1..16")
    return int(ends[1]), int(ends[2])


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
