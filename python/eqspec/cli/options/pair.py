"""Options of `verify`, `diff` and `init`: two network files, what is known of their inputs and outputs, and where."""

from __future__ import annotations

import argparse
from re import compile as regex
from re import fullmatch

from eqspec.cli.options.input_shape import add_input_shape

_NEGATIVE = regex(r"^-[\d.].*$")


def add_pair(parser: argparse.ArgumentParser) -> None:
    """The two files, and the options that say what their inputs mean."""
    # So that `--lower -1,-2` is a value: argparse takes "-1" for one, but neither a list nor -1e-3.
    parser._negative_number_matcher = _NEGATIVE
    parser.add_argument(
        "reference", metavar="REFERENCE", help="the network that is right (*.onnx, *.nnet, a folder of hls4ml or da4ml)"
    )
    parser.add_argument("candidate", metavar="CANDIDATE", help="the network that is to behave like it")
    group = parser.add_argument_group("what the inputs and outputs are")
    group.add_argument(
        "--network-output",
        action="append",
        metavar="NAME",
        help="of files with several outputs, the one that is compared; twice: of the reference, and of the candidate",
    )
    group.add_argument("--reference-output", metavar="NAME", help="the same for the reference alone")
    group.add_argument("--candidate-output", metavar="NAME", help="the same for the candidate alone")
    add_input_shape(group)
    group.add_argument(
        "--dequantised",
        action="store_true",
        help="files that take or give integers of a quantiser count as networks of the real numbers that these stand "
        "for, with the scales and zero points of the file",
    )
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
        "--label-file",
        metavar="FILE",
        help="the labels of the rows of --data, where they lie in a file of their own (npy, npz, csv)",
    )
    group.add_argument(
        "--scaler", metavar="FILE", help="how inputs are normalised: mean and std, or low and high (json, npz, csv)"
    )
    group.add_argument(
        "--takes",
        choices=("raw", "normalised"),
        help="what the networks take (default: normalised with --scaler, else what --normalisation says)",
    )
    group.add_argument(
        "--normalisation",
        metavar="HOW",
        help="what the networks take: raw, zscore, minmax, max, column-max (by the table), 255, or the file of a "
        "scaler (default: what the labels in the table show; asked if they do not)",
    )
    group.add_argument(
        "--labels",
        type=names_of,
        metavar="A,B,...",
        help="the labels of the table in the order of the outputs, or none (default: what most rows agree with)",
    )
    group.add_argument("--outputs", type=names_of, metavar="A,B,...", help="names of the outputs")
    group.add_argument("--decide", choices=("max", "min"), default="max", help="which score decides (default: max)")


def add_where(group: argparse._ArgumentGroup) -> None:
    """The options that say on which inputs the two are compared."""
    group.add_argument("--sigma", metavar="K", help="every input within K standard deviations of its mean")
    group.add_argument("--lower", metavar="A,...", help="lower bounds: one for each input, or one for all")
    group.add_argument("--upper", metavar="B,...", help="upper bounds")


def _columns(text: str) -> tuple[int, int]:
    ends = fullmatch(r"\s*(\d+)\s*\.\.\s*(\d+)\s*", text)
    if ends is None or int(ends[1]) > int(ends[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of columns such as 1..16")
    return int(ends[1]), int(ends[2])


def names_of(text: str) -> tuple[str, ...]:
    """Names with commas between them; one that has a comma itself stands in double quotes."""
    import csv

    return tuple(name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row if name.strip())
