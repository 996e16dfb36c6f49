"""The arguments of `verify` and `init`: two network files, and what is known of their inputs and outputs."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from re import compile as regex
from re import fullmatch

from rich.console import Console
from rich.text import Text

from eqspec.draft.completed import Completed, complete
from eqspec.draft.data import read_data
from eqspec.draft.evidence import may_decide
from eqspec.draft.named_pair import Pair, read_pair, with_two_classes
from eqspec.draft.open_question import Question
from eqspec.draft.space import Inputs
from eqspec.errors import InputError, unwritten

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
        type=_names,
        metavar="A,B,...",
        help="the labels of the table in the order of the outputs, or none (default: what most rows agree with)",
    )
    group.add_argument("--outputs", type=_names, metavar="A,B,...", help="names of the outputs")
    group.add_argument("--decide", choices=("max", "min"), default="max", help="which score decides (default: max)")


def add_where(group: argparse._ArgumentGroup) -> None:
    """The options that say on which inputs the two are compared."""
    group.add_argument("--sigma", metavar="K", help="every input within K standard deviations of its mean")
    group.add_argument("--lower", metavar="A,...", help="lower bounds: one for each input, or one for all")
    group.add_argument("--upper", metavar="B,...", help="upper bounds")


def given_words(arguments: argparse.Namespace) -> list[str]:
    """What `add_pair` puts into the arguments, as words of a command line: the files, and what was said of them."""
    words = [arguments.reference, arguments.candidate]
    for name in arguments.network_output or ():
        words += ["--network-output", name]
    if arguments.dequantised:
        words.append("--dequantised")
    for name in ("reference_output", "candidate_output", "data", "label_file", "scaler", "takes", "normalisation"):
        if (value := getattr(arguments, name)) is not None:
            words += [f"--{name.replace('_', '-')}", value]
    if arguments.columns is not None:
        words += ["--columns", "{}..{}".format(*arguments.columns)]
    for name in ("labels", "outputs"):
        if (names := getattr(arguments, name)) is not None:
            words += [f"--{name}", ",".join(names)]
    return words if arguments.decide == "max" else [*words, "--decide", arguments.decide]


def read(arguments: argparse.Namespace, err: Console, *, to_keep: bool) -> tuple[Pair, Completed]:
    """The networks, and what is known of their inputs; what was found out is told on the way.

    What cannot be found out is asked on a terminal; elsewhere the Question is raised. NetworkError or InputError where
    something does not fit.
    """
    refuse_without_data(arguments)
    outputs = _chosen_outputs(arguments)
    pair = read_pair(arguments.reference, arguments.candidate, outputs, dequantised=arguments.dequantised)
    if len(arguments.outputs or arguments.labels or ()) == 2 or _claims_a_decision(arguments):
        pair = with_two_classes(pair)
    data = None
    if arguments.data is not None:
        try:
            data = read_data(arguments.data, pair.inputs, arguments.columns, pair.outputs, arguments.label_file)
        except InputError as problem:
            raise InputError(f"{problem}{_of_several(pair)}") from None
    if to_keep and arguments.outputs is None and may_decide(data, pair.outputs):
        pair = with_two_classes(pair)
    while True:
        inputs = Inputs(
            arguments.scaler,
            data,
            arguments.takes,
            arguments.outputs,
            arguments.decide,
            arguments.normalisation,
            arguments.labels,
        )
        try:
            known = complete(pair, inputs, to_keep=to_keep)
        except Question as question:
            _ask(question, arguments, err)
            continue
        for line in known.said:
            err.print(Text(line), soft_wrap=True)
        return pair, known


def _claims_a_decision(arguments: argparse.Namespace) -> bool:
    """Whether one of the options of 'verify' claims a decision of a classifier."""
    return any(getattr(arguments, name, None) not in (None, False) for name in ("top1", "confidence", "margin"))


def _chosen_outputs(arguments: argparse.Namespace) -> tuple[str | None, str | None]:
    """The outputs that are compared, by name; None where a file is said to have just one."""
    each: tuple[str | None, str | None] = (arguments.reference_output, arguments.candidate_output)
    both: list[str] = arguments.network_output or []
    if not both:
        return each
    if len(both) > 2:
        raise InputError(f"{len(both)} outputs are chosen; give one for both networks, or one for each")
    if each != (None, None):
        raise InputError("--network-output is for both networks; leave it out where one has an option of its own")
    return both[0], both[-1]


def _of_several(pair: Pair) -> str:
    """A sentence that lists the inputs of a file with several: one may be a constant that the exporter left out."""
    ports = pair.reference.ports
    if len(ports) < 2:
        return ""
    listed = ", ".join(f"{port.name!r} ({port.size})" for port in ports[:8])
    return f". The networks take several inputs, one behind the other: {listed}{', ...' if len(ports) > 8 else ''}"


def refuse_without_data(arguments: argparse.Namespace) -> None:
    """InputError for options about a table where none is given."""
    if arguments.data is not None:
        return
    if arguments.columns is not None:
        raise InputError("--columns says which columns of --data; give that, too")
    if arguments.label_file is not None:
        raise InputError("--label-file has the labels of the rows of --data; give that, too")
    if arguments.labels is not None:
        raise InputError("--labels says which labels of --data belong to the outputs; give that, too")


def _ask(question: Question, arguments: argparse.Namespace, err: Console) -> None:
    """Put the answer into the arguments. Without a terminal, or without an answer, the Question is raised."""
    if not (sys.stdin is not None and sys.stdin.isatty() and err.is_terminal):
        raise question
    err.print(Text(question.asked), soft_wrap=True)
    for number, answer in enumerate(question.answers, 1):
        err.print(Text(f"  [{number}] {answer.words}   ({answer.typed})"), soft_wrap=True)
    while True:
        try:
            typed = err.input(f"1 to {len(question.answers)}: ").strip()
        except EOFError:
            raise question from None
        if typed.isdecimal() and 1 <= int(typed) <= len(question.answers):
            break
    answer = question.answers[int(typed) - 1]
    value = _names(answer.value) if answer.option == "--labels" else answer.value
    setattr(arguments, answer.option.removeprefix("--"), value)


def write_new(path: Path, text: str) -> None:
    """Write a file that must not be there yet. InputError if it is, or if it cannot be written."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path} is there already and is left as it is; choose another name or remove it") from None
    except OSError as error:
        with suppress(OSError):
            path.unlink()  # nothing is left of what was begun
        raise unwritten(path, error) from None


def _columns(text: str) -> tuple[int, int]:
    ends = fullmatch(r"\s*(\d+)\s*\.\.\s*(\d+)\s*", text)
    if ends is None or int(ends[1]) > int(ends[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of columns such as 1..16")
    return int(ends[1]), int(ends[2])


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
